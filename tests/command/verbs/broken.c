/* The command on files that are broken: one sentence, where it is and what
 * would be right, and nothing is written. */
#include "people_case.h"
#include "remarks.h"

typedef struct broken {
  const char *name, *text, *said;
  size_t size;
} broken;
#define FILE_OF(name, text, said)      \
  {                                    \
    name, text, said, sizeof(text) - 1 \
  }

static const broken tables[] = {
    FILE_OF("t.csv", "id,a,y\nr,1,u\ns,2\nt,3,v\n",
            "t.csv:3:3: this row has only 2 cells, the first row has 3; a cell "
            "that "
            "holds nothing is written, too"),
    FILE_OF("t.csv", "id,a,y\nr,1,u\ns,2,v,9\n",
            "t.csv:3:7: this row has more than 3 cells, the first row has 3; a "
            "cell "
            "that holds a comma is quoted"),
    FILE_OF("t.tsv", "id\ta\ty\nr\t1\tu\tw\n", "holds a tab is quoted"),
    FILE_OF("t.csv", "id;a;y\nr;1;u\ns;2;v;w\n", "holds a semicolon is quoted"),
    FILE_OF("t.csv", "Claims of 2023\n\nid;a;y\nr;1,5;u\n", IS_A_TITLE),
    FILE_OF("t.csv", "Claims, 2023\nid;a;y\nr;1;u\n", IS_A_TITLE),
    FILE_OF("t.csv", "Claims 2023;;\nid;a;y\nr;1,5;u\n",
            STANDS_ALONE_AS_A_TITLE),
    FILE_OF("t.csv", "id,a,y\nr,1,u\ns,x,v\n",
            "t.csv:3:3: column 2 (\"a\") holds the text \"x\""),
    FILE_OF("t.csv", "id,a,y\nr,1,u\ns,1/2,v\n", "t.csv:3:3: column 2 (\"a\")"),
    FILE_OF("t.csv", "id,a,y\nr,1 5,u\ns,2,v\n", "t.csv:2:3: column 2 (\"a\")"),
    FILE_OF("t.csv", "id,a,y\nr,$5,u\ns,2,v\n", "t.csv:2:3: column 2 (\"a\")"),
    FILE_OF("t.csv", "id,a,y\nr,5%,u\ns,2,v\n", "t.csv:2:3: column 2 (\"a\")"),
    FILE_OF("t.csv", "id,a,y\nr,2020-01-01,u\ns,2020-01-02,v\n",
            "t.csv:2:3: column 2 (\"a\") holds the date"),
    FILE_OF("t.csv", "id;a;y\nr;1,5;u\ns;2,25;v\n", "--decimal ,"),
    FILE_OF("t.csv", "", "t.csv: is empty; was it written to its end?"),
    FILE_OF("t.csv", "\n\n\n", "t.csv: holds no rows; write one on each line"),
    FILE_OF("t.csv", "id,a,y\n", "--header no says so"),
    FILE_OF("t.csv", "id,a,y\nr,1\0,u\n",
            "t.csv:2:4: is not UTF-8 text but the byte "
            "0x00, as in UTF-16; save the table as UTF-8: iconv -f utf-16 "),
    FILE_OF("t.csv", "i\0d\0,\0a\0\n\0", "t.csv:1:2: is not UTF-8"),
    FILE_OF(
        "t.csv", "id,a,y\nr\xe9,1,u\n",
        "t.csv:2:2: is not UTF-8 text but the byte 0xE9, as in Latin-1; save "
        "the table as UTF-8: iconv -f cp1252"),
    FILE_OF("t.csv", "\xff\xfei\0d\0", "is UTF-16 text; save it as UTF-8"),
    FILE_OF("t.csv", "id,a,y\nr,1,\"u\ns,2,v\n",
            "t.csv:2:5: this quote is never"),
    FILE_OF("t.csv", "id,a,y\nr,1,\"u\"x\ns,2,v\n",
            "t.csv:2:5: something follows the closing quote; a quote inside a "
            "cell is "
            "written twice"),
    FILE_OF("t.csv", "id,a,y\nr,1,\"u\ns,2,v\nt,3,v\"\nw,4,u\n",
            "t.csv:2:5: this quote is closed 2 lines later"),
    FILE_OF("t.csv", "id,a,y\nr,1,\ns,2,\n", "column y holds no known label"),
    FILE_OF("t.csv", "id,a,y\nr,1,1\ns,2,2\nt,3,x\n",
            "t.csv:4:5: column 3 (\"y\") holds the text \"x\""),
    FILE_OF("t.csv", "id,a,z\nr,1,u\ns,2,v\n", "has no column \"y\""),
    FILE_OF("t.csv", "id,y,y\nr,1,u\ns,2,v\n", "2 columns are named \"y\""),
    FILE_OF("t.csv", "id,y\nr,u\ns,v\n", "no column is left for X"),
    FILE_OF("t.csv", "{\"id\": 1, \"a\": 2}\n", "is JSON; save it as a table"),
    FILE_OF("t.csv", "<!DOCTYPE html><table>\n",
            "is a web page; save the table"),
    FILE_OF("t.csv", "# Created by Octave\n# name: y\n", "save it with -v7"),
    FILE_OF("t.csv", "# by me\nid,a,y\nr,1,u\n",
            "if it is a remark, take it out")};

static const broken others[] = {
    FILE_OF("t.svm", "1 1:2 0:3\n", "t.svm:1:7: \"0:3\" has an index below 1"),
    FILE_OF("t.svm", "1 2:2 1:3\n",
            "t.svm:1:7: \"1:3\" comes after a larger index"),
    FILE_OF("t.svm", "1 1:x\n",
            "t.svm:1:3: \"1:x\" has no number after its colon"),
    FILE_OF("t.arff", "@relation x\n@attribute a numeric\n@data\n1\n1,2\n",
            "t.arff:5"),
    FILE_OF("t.arff", "@relation x\n@attribute a {u,v}\n@data\nw\n",
            "t.arff:4:1: \"w\""),
    FILE_OF("t.arff", "@relation x\n@attribute a foo\n@data\n1\n",
            "t.arff:2:14: \"foo\""),
    FILE_OF("t.csv", "row,column,value\n1,1,2\n1,1,3\n", "t.csv:3"),
    FILE_OF("t.csv", "row,column,value\n0,1,2\n", "t.csv:2:1: the row '0'"),
    FILE_OF("t.npz", "PK\3\4abc",
            "is not a readable zip archive (was it written to its "
            "end?)"),
    FILE_OF("t.bin", "\1\2\3\4\5", "is in no known format")};

static void refuse(command *c, const broken *b, const char *words)
{
  command_write(c, b->name, b->text, b->size);
  command_run(c, words, b->name);
  if (c->code != 4 && c->code != 2)
    fail_msg("%s: exit %d: %s%s", b->said, c->code, c->out, c->err);
  command_expect(c, c->code, b->said);
  if (command_exists(c, "o.npz") || command_exists(c, "o.csv"))
    fail_msg("%s: something is written", b->said);
}

static void broken_tables_are_told_by_place(void **state)
{
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
    refuse(&c, &tables[k],
           "fit mc %s --id id --target y --mu-rel .1 -o o.npz --completed "
           "o.csv");
    if (k % 3 == 0)
      refuse(&c, &tables[k], "fit linear %s --id id --target y --model o.npz");
  }
  command_end(&c);
}

static void other_broken_files_are_told_by_place(void **state)
{
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    refuse(&c, &others[k], "fit mc %s --mu-rel .1 -o o.npz");
    refuse(&c, &others[k], "convert %s o.npz");
  }
  command_end(&c);
}

int test_broken(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broken_tables_are_told_by_place),
      cmocka_unit_test(other_broken_files_are_told_by_place)};
  return run_cases(tests, NULL, NULL);
}
