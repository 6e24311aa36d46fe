/* A table's way to be written, semicolons, decimal commas, a byte order mark
 * and CR LF, as a German spreadsheet saves it, goes to all that is written of
 * it: a test for each file that is a table, and the pages. */
#include <ctype.h>

#include "label_case.h"
#include "people_case.h"

enum { ROWS = 30 };
static const char MARK[] = "\xef\xbb\xbf";

static void append(char *text, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  (void)vsprintf(text + strlen(text), format, args);
  va_end(args);
}

/* name;a;b;kind;size, the last labels missing, one of them wrong; the decimal
 * mark is that of the numbers. */
static void put_table(const command *c, const char *name, char mark)
{
  static char text[8192];
  uint64_t seed = 5;
  *text = '\0';
  append(text, "%sname;a;b;kind;size\r\n", MARK);
  for (int j = 0; j < ROWS; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    bool high = (a + b / 4 > 0) != (j == 3), known = j < ROWS - 6;
    char line[128], size[32] = "";
    if (known) sprintf(size, "%.1f", 9 + a - b);
    sprintf(line, "n%02d;%.3f;%.2f;%s;%s\r\n", j, a, b,
            !known ? ""
            : high ? "high"
                   : "low",
            size);
    for (char *at = line; mark != '.' && (at = strchr(at, '.')) != NULL;)
      *at = mark;
    strcat(text, line);
  }
  put(c, name, text);
}

static void begin_german(command *c)
{
  command_begin(c);
  put_table(c, "t.csv", ',');
}

static bool has_point(const char *text)
{
  for (; *text != '\0'; text++)
    if (isdigit((unsigned char)text[0]) && text[1] == '.' &&
        isdigit((unsigned char)text[2]))
      return true;
  return false;
}

/* Fails unless the file is written as t.csv is. */
static void german(const command *c, const char *name)
{
  static char text[65536];
  int lines = 0;
  command_slurp(c, name, text, sizeof text);
  bool fine = strncmp(text, MARK, 3) == 0 && !has_point(text);
  fine = fine && strchr(text, ';') != NULL &&
         strchr(text, ';') < strchr(text, '\n');
  for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++, lines++)
    fine = fine && at[-1] == '\r';
  if (!fine || lines < 2) fail_msg("%s:\n%s", name, text);
}

static bool holds(const command *c, const char *name, const char *words)
{
  static char text[1 << 22];
  command_slurp(c, name, text, sizeof text);
  return strstr(text, words) != NULL;
}

#define GERMAN "--id name --target kind --drop size --decimal , -q "
#define NUMBERS "--id name --target size --drop kind --decimal , -q "

static void answers_have_it(void **state)
{
  command c;
  begin_german(&c);
  command_do(&c, "fit linear t.csv " GERMAN "-o a.csv");
  german(&c, "a.csv");
  assert_true(holds(&c, "a.csv", "name;kind;origin;rather;probability of low"));
  assert_true(holds(&c, "a.csv", ";0,"));
  command_do(&c, "eval accuracy --truth t.csv --scores a.csv --id name "
                 "--target kind --decimal ,"); /* reads it back */
  command_do(&c, "eval auroc --truth t.csv --scores a.csv --id name "
                 "--target kind --decimal , -o figures.csv");
  german(&c, "figures.csv");
  command_do(&c, "fit linear t.csv " GERMAN "--suspects 3 -o s.csv");
  german(&c, "s.csv");
  command_do(&c, "fit rr t.csv " NUMBERS "--lambda .1 --gamma .1 -o n.csv");
  german(&c, "n.csv");
  command_do(&c, "fit linear t.csv " GERMAN "-o a.tsv");
  assert_true(holds(&c, "a.tsv", "name\tkind\torigin"));
  assert_true(holds(&c, "a.tsv", "\t0,"));
  command_end(&c);
}

static void tables_again_have_it(void **state)
{
  command c;
  begin_german(&c);
  command_do(&c, "fit mc t.csv " GERMAN "--mu-rel .1 --completed full.csv");
  german(&c, "full.csv");
  command_do(&c, "convert t.csv plain.csv --id name --target kind --drop size "
                 "--decimal ,"); /* the way from one dialect to another */
  assert_true(holds(&c, "plain.csv", "name,a,b,kind\n"));
  command_do(&c, "fit rpca t.csv --id name --drop kind,size --decimal , -q "
                 "-o low.csv");
  german(&c, "low.csv");
  command_end(&c);
}

/* The table at hand has its own; of an array it is the model's. */
static void models_remember_it(void **state)
{
  command c;
  begin_german(&c);
  command_do(&c, "fit linear t.csv " GERMAN "--model m.lapis");
  command_do(&c, "predict m.lapis t.csv --id name -o p.csv");
  german(&c, "p.csv");
  put(&c, "x.csv", "1,2\n3,4\n");
  command_do(&c, "convert x.csv x.npy");
  command_do(&c, "predict m.lapis x.npy -o array.csv");
  german(&c, "array.csv");
  command_do(&c, "predict m.lapis x.csv -o own.csv");
  static char text[1024];
  command_slurp(&c, "own.csv", text, sizeof text);
  assert_int_equal(strncmp(text, "row;kind;", 9), 0); /* decimal commas */
  command_do(&c, "fit mc t.csv --id name --drop kind,size --decimal , -q "
                 "--solver factored --mu-rel .1 --model f.lapis");
  put(&c, "pairs.csv", "\xef\xbb\xbfrow;column\r\n1;1\r\n2;2\r\n");
  command_do(&c, "predict f.lapis --pairs pairs.csv -o pairs-out.csv");
  assert_true(holds(&c, "pairs-out.csv", "\xef\xbb\xbfrow;column;value\r\n"));
  command_end(&c);
}

/* The same study again, without --decimal. */
static void the_choice_remembers_it(void **state)
{
  command c;
  begin_german(&c);
  command_do(&c, "fit auto t.csv " GERMAN "--candidates linear,trees -o f.npz");
  command_do(&c, "fit auto t.csv --again f.npz --id name --target kind "
                 "--drop size -q -o again.csv --model m.lapis");
  german(&c, "again.csv");
  command_do(&c, "predict m.lapis t.csv --id name -o p.csv");
  german(&c, "p.csv");
  command_end(&c);
}

static void pages_have_it(void **state)
{
  command c;
  begin_german(&c);
  command_do(&c, "fit linear t.csv " GERMAN "--suspects 3 -o a.html");
  assert_true(holds(&c, "a.html", "</meter> 0,"));
  assert_true(holds(&c, "a.html", "\"decimal\":\",\""));
  assert_true(holds(&c, "a.html",
                    "\"delimiter\":\";\",\"begin\":\"\xef\xbb\xbf\","
                    "\"end\":\"\\r\\n\""));
  assert_true(holds(&c, "a.html", "<meter value=\"0."));
  command_do(&c, "fit linear t.csv " GERMAN "-o a.npz");
  command_do(&c, "report a.npz -o r.html");
  assert_true(holds(&c, "r.html", "\"decimal\":\",\""));
  command_end(&c);
}

static void labels_of_images_have_it(void **state)
{
  command c;
  command_need_images();
  begin_stripes(&c, 2);
  char table[4096] = "\xef\xbb\xbf"
                     "file;what\r\n";
  for (int i = 0; i < 16; i++)
    append(table, "a%02d.pgm;%s\r\n", i, i % 2 == 0 ? "up" : "flat");
  write_text(&c, "labels.csv", table);
  command_do(&c, LABEL " --suspects 2 -o a.csv --labels-out all.csv -q");
  assert_true(holds(&c, "a.csv", MARK) && holds(&c, "a.csv", ";"));
  german(&c, "all.csv");
  command_do(&c, "label in --labels all.csv --features hog --size 32x32 " GIVEN
                 " -o a.html -q");
  assert_true(holds(&c, "a.html", "\"delimiter\":\";\""));
  command_end(&c);
}

/* Semicolons do not make commas decimal: what is written is read back alike. */
static void points_stay(void **state)
{
  command c;
  command_begin(&c);
  put_table(&c, "t.csv", '.');
  command_do(&c, "fit linear t.csv --id name --target kind --drop size -q "
                 "-o a.csv");
  assert_true(holds(&c, "a.csv", "name;kind;"));
  assert_true(holds(&c, "a.csv", ";0."));
  char text[2048] = "sep=;\na;b;kind\n";
  for (int j = 0; j < 20; j++)
    append(text, "%d;%d;%s\n", 5 + 7 * j % 11, 9 - 3 * j % 7,
           j % 5 == 0           ? ""
           : 7 * j % 11 > j % 6 ? "yes"
                                : "no");
  put(&c, "whole.csv", text);
  command_do(&c, "fit linear whole.csv --target kind -q -o w.csv");
  assert_true(holds(&c, "w.csv", "sep=;\nrow;kind;origin;rather;"));
  assert_true(holds(&c, "w.csv", ";0."));
  command_do(&c, "eval accuracy --truth w.csv --scores w.csv --target kind");
  command_end(&c);
}

/* What means unknown is filled in where there is something to fill in: a name,
 * a column that is not read and an unsure answer stay as they are. */
static void cells_without_a_fill_stay(void **state)
{
  static const char table[] =
      "code;house;note;km;age;ok\n0997;12;-;800;41;ja\n0998;999;ok;1200;35;"
      "nein\n0999;7;-;999;62;ja\n1000;999;n/a;700;28;nein\n1001;3;?;1100;999;"
      "ja\n1002;8;neu;650;30;-\n1003;5;-;820;55;ja\n1004;999;NA;760;33;nein\n";
  char full[sizeof table + 64], made[sizeof table + 64] = "";
  command c;
  command_begin(&c);
  put(&c, "t.csv", table);
  command_do(&c, "fit auto t.csv --id code --target ok --drop house,note "
                 "--missing -,999 --sure 1 --model m.lapis --completed f.csv");
  for (int from = 0; from < 2; from++) {
    command_slurp(&c, "f.csv", full, sizeof full);
    *made = '\0';
    const char *a = table, *b = full;
    for (; *a != '\0' && *b != '\0'; a++, b++) { /* km and age of two rows */
      bool filled = (a[0] == ';' && strncmp(a, ";999;62", 7) == 0) ||
                    strncmp(a, ";999;ja", 7) == 0;
      assert_int_equal(*a, *b);
      if (!filled) continue;
      assert_true(b[1] != ';');
      if (from == 0) assert_true(strncmp(b, ";999;", 5) != 0);
      a += 4, b += 1 + strcspn(b + 1, ";");
    }
    assert_string_equal(a, b);
    command_do(&c, "predict m.lapis t.csv --target ok --sure 1 --completed "
                   "f.csv -o p.csv");
  }
  command_end(&c);
}

/* A number of --missing is met however the table writes it. */
static void codes_are_read_by_the_decimal_mark(void **state)
{
  command c;
  command_begin(&c);
  put(&c, "t.csv",
      "id;a;y\nr1;1,5;99999\nr2;2,5;99999,0\nr3;3,5;99999,00\n"
      "r4;2,7;12,5\nr5;99.999,0;10,7\n");
  command_do(&c, "info t.csv --decimal , --missing 99999 --id id");
  assert_non_null(strstr(c.out, "2 features (4 missing)"));
  command_end(&c);
}

/* With its mark between thousands; of a column that is empty, as the one that
 * was learnt from. */
static void fills_are_written_as_their_column(void **state)
{
  char text[4096] = "id;x;eur\n", asked[512] = "id;x;eur\n", full[8192];
  command c;
  command_begin(&c);
  for (int j = 0; j < 40; j++) {
    int x = 7 * j % 40;
    double eur = 1500 + 31.27 * x + j % 3;
    if (j % 5 == 0) append(text, "k%d;%d;\n", j, x);
    if (j % 5 != 0)
      append(text, "k%d;%d;%d.%03d,%02d\n", j, x, (int)eur / 1000,
             (int)eur % 1000, (int)(100 * eur) % 100);
    if (j < 6) append(asked, "k%d;%d;\n", j, x);
  }
  put(&c, "t.csv", text);
  put(&c, "asked.csv", asked);
  command_do(&c, "fit auto t.csv --id id --target eur --decimal , --candidates "
                 "linear --model m.lapis --completed full.csv");
  command_slurp(&c, "full.csv", full, sizeof full);
  int rows = 0, marked = 0;
  for (const char *at = full; (at = strstr(at, "\nk")) != NULL; at++, rows++) {
    const char *eur = strchr(strchr(at, ';') + 1, ';') + 1;
    marked += isdigit((unsigned char)eur[0]) && eur[1] == '.' && eur[5] == ',';
  }
  assert_int_equal(marked, rows);
  command_do(&c, "predict m.lapis asked.csv --id id --target eur -o p.csv "
                 "--completed full.csv");
  command_slurp(&c, "full.csv", full, sizeof full);
  command_slurp(&c, "p.csv", text, sizeof text);
  for (int j = 0; j < 6; j++) {
    char name[16];
    sprintf(name, "\nk%d;", j);
    const char *said = strstr(text, name) + strlen(name);
    size_t size = strcspn(said, "\n;");
    const char *cell = strchr(strstr(full, name) + strlen(name), ';') + 1;
    assert_int_equal(size, 7); /* 1500,00 */
    assert_memory_equal(cell, said, size);
  }
  command_end(&c);
}

int test_dialect(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_have_it),
      cmocka_unit_test(tables_again_have_it),
      cmocka_unit_test(models_remember_it),
      cmocka_unit_test(the_choice_remembers_it),
      cmocka_unit_test(pages_have_it),
      cmocka_unit_test(labels_of_images_have_it),
      cmocka_unit_test(points_stay),
      cmocka_unit_test(cells_without_a_fill_stay),
      cmocka_unit_test(codes_are_read_by_the_decimal_mark),
      cmocka_unit_test(fills_are_written_as_their_column),
  };
  return run_cases(tests, NULL, NULL);
}
