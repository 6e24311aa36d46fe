/* lapis info: of anything that is at hand it says what that is, and of what it
 * cannot read what to do. */
#include "command.h"

static void put(const command *c, const char *name, const char *text)
{
  command_write(c, name, text, strlen(text));
}

static void says(const command *c, const char *words)
{
  if (strstr(c->out, words) == NULL) fail_msg("no '%s' in: %s", words, c->out);
}

static void put_tables(const command *c)
{
  put(c, "oats.tsv",
      "farm\tyield\tsoil\topen\na\t1.5\tclay\tyes\nb\t2.5\tsand\tno\n"
      "c\t3.5\tclay\t\nd\t\tsand\tyes\ne\t5.5\tclay\tno\n");
  put(c, "two.arff",
      "@relation two\n@attribute wide numeric\n@attribute b {no,yes}\n@data\n"
      "1,no\n2,yes\n?,yes\n7,no\n");
}

static void columns_of_a_table(void **state)
{
  command c;
  command_begin(&c);
  put_tables(&c);
  command_do(&c, "info oats.tsv");
  says(&c, "a table, 4 columns, 5 rows below a header, tabs between cells");
  says(&c, "soil             class          0 missing   clay 3, sand 2");
  const char *reason = strstr(c.out, "cannot be used as data: oats.tsv:2:1");
  const char *advice = strstr(
      c.out,
      "for example: lapis fit auto oats.tsv --id farm --target open --one-hot "
      "soil\n");
  assert_true(reason != NULL && advice > reason);
  command_run(&c, "fit mc oats.tsv --id farm --target open --one-hot soil "
                  "--mu-rel .1 -q"); /* what it says can be done */
  command_expect(&c, 0, "");
  command_do(&c, "formats >/dev/null; (cat %s/oats.tsv | %s info -)", c.folder,
             getenv("LAPIS_COMMAND"));
  says(&c, "standard input: a table, 4 columns");
  says(&c, "for example: lapis fit auto - --id farm");
  command_run(&c, "info oats.tsv:soil");
  command_expect(&c, 0, "");
  says(&c, "soil ");
  says(&c, "clay                                 3\n");
  assert_null(strstr(c.out, "yield"));
  command_do(&c, "info oats.tsv:2 --json");
  lapis_json *v = command_json(c.out);
  assert_string_equal(lapis_json_text(v, "title", ""), "yield");
  assert_true(lapis_json_number(v, "missing", -1) == 1);
  assert_true(lapis_json_number(v, "high", -1) == 5.5);
  lapis_json_free(v);
  command_run(&c, "info oats.tsv:soli");
  command_expect(&c, 4, "soli soil");
  command_run(&c, "info oats.tsv:5");
  command_expect(&c, 4, "5");
  command_do(&c, "info two.arff");
  says(&c, "two.arff: a table, 2 columns, 4 rows, ARFF\n");
  says(&c, "wide             whole          1 missing   1 .. 7");
  says(&c, "b                class          0 missing   no 2, yes 2");
  says(&c, "--target TITLE");
  says(&c, "for example: lapis fit auto two.arff --target wide\n");
  command_do(&c, "info two.arff:b");
  says(&c, "yes                                  2\n");
  assert_null(strstr(c.out, "wide"));
  command_end(&c);
}

/* What is declared is no name of a sample however many words there are, needs
 * no --one-hot, and is counted in sparse rows too, where the first word is not
 * written. */
static void columns_of_arff(void **state)
{
  command c;
  char text[4096];
  int n = snprintf(text, sizeof text,
                   "@relation r\n@attribute who string\n"
                   "@attribute town {");
  for (int i = 0; i < 15; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%st%d", i > 0 ? "," : "",
                  i);
  n += snprintf(text + n, sizeof text - (size_t)n,
                "}\n@attribute 'its size' numeric\n"
                "@attribute sold {'not yet', 'it\\'s', maybe}\n@data\n");
  for (int i = 0; i < 15; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "w%d,t%d,%d.5,%s\n", i, i,
                  i,
                  i % 5 == 0 ? "?"
                  : i % 2    ? "'it\\'s'"
                             : "'not yet'");
  command_begin(&c);
  put(&c, "r.arff", text);
  command_do(&c, "info r.arff");
  says(&c, "who              text           0 missing");
  says(&c, "town             class          0 missing   15 different: t0 1");
  says(&c, "sold             class          3 missing   ");
  says(&c, "it's 6");
  says(&c, "for example: lapis fit auto r.arff --id who --target sold\n");
  command_run(&c, "fit mc r.arff --id who --target sold --mu-rel .1 -q");
  command_expect(&c, 0, "");
  put(&c, "s.arff",
      "@relation s\n@attribute a numeric\n@attribute b {no,yes}\n"
      "@attribute c {2,3}\n@data\n{}\n{0 2}\n{1 yes}\n{0 ?,2 3}\n");
  command_do(&c, "info s.arff");
  says(&c, "a                whole          1 missing   0 .. 2");
  says(&c, "b                class          0 missing   no 3, yes 1");
  says(&c, "c                whole          0 missing   2 3, 3 1");
  assert_null(strstr(c.out, "spelt"));
  command_end(&c);
}

/* What is not read is named, with what to do instead. */
static void strangers_are_named(void **state)
{
  static const struct {
    const char *bytes;
    int size;
    const char *said;
  } files[] = {
      {"GIF89a\1\0\1\0", 10, "is a GIF picture, which LAPIS does not read"},
      {"RIFF\0\0\0\0WEBPVP8 ", 16, "is a WebP picture"},
      {"II*\0\10\0\0\0", 8, "is a TIFF picture"},
      {"MM\0*\0\0\0\10", 8, "is a TIFF picture"},
      {"<!DOCTYPE html>\n<html></html>\n", 30, "is a web page"},
      {"<html>\n</html>\n", 15, "is a web page"},
      {"{\"a\": [1, 2]}\n", 14, "is JSON; save it as a table"},
      {"[{\"a\": 1}]\n", 11, "is JSON; save it as a table"},
      {"%PDF-1.4\n", 9, "is a PDF document"},
  };
  command c;
  command_begin(&c);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    command_write(&c, "it", files[i].bytes, (size_t)files[i].size);
    command_run(&c, "info it");
    command_expect(&c, 4, files[i].said);
  }
  put(&c, "json.csv", "a,{\"b\n1,2\n3,4\n"); /* looks so further on: a table */
  command_do(&c, "info json.csv");
  command_end(&c);
}

/* The line that info prints, run as it stands. */
static void run_advice(command *c)
{
  static const char before[] = "for example: lapis ";
  char line[2048];
  const char *at = strstr(c->out, before);
  if (at == NULL) fail_msg("no advice in: %s", c->out);
  at += sizeof before - 1;
  snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
  command_run(c, "%s -q", line);
  if (c->code != 0) fail_msg("lapis %s: %s", line, c->err);
}

/* A pipe can be read once: by info it is kept, and --completed reads it again
 * as well. */
static void pipes_are_tables(void **state)
{
  command c;
  const char *lapis = getenv("LAPIS_COMMAND");
  char plain[65536];
  command_begin(&c);
  put_tables(&c);
  command_do(&c, "info oats.tsv");
  const char *from = strstr(c.out, ": a table");
  snprintf(plain, sizeof plain, "%.*s",
           (int)(strstr(from, "  cannot be used") - from), from);
  command_run(&c, "formats >/dev/null; (mkfifo %s/pipe)", c.folder);
  command_do(&c, "formats >/dev/null; (cat oats.tsv >pipe & %s info pipe)",
             lapis);
  says(&c, plain);
  says(&c, "for example: lapis fit auto pipe --id farm");
  command_run(&c,
              "formats >/dev/null; (cat oats.tsv >pipe & %s info --json "
              "pipe)",
              lapis);
  command_expect(&c, 0, "");
  lapis_json *v = command_json(c.out);
  assert_string_equal(lapis_json_text(v, "file", ""), "pipe");
  lapis_json_free(v);
  command_do(&c, "formats >/dev/null; (bash -c '%s info <(cat oats.tsv)')",
             lapis);
  says(&c, plain);
  command_do(&c,
             "formats >/dev/null; (cat oats.tsv >pipe & %s fit mc pipe "
             "--id farm --target open --one-hot soil --mu-rel .1 -q "
             "--completed full.csv --model m.lapis)",
             lapis);
  command_slurp(&c, "full.csv", plain, sizeof plain);
  assert_non_null(strstr(plain, "farm,yield,soil,open\na,1.5,clay,yes\n"));
  command_do(&c,
             "formats >/dev/null; (cat oats.tsv >pipe & %s predict m.lapis "
             "pipe)",
             lapis);
  strcpy(plain, c.out);
  command_do(&c, "predict m.lapis oats.tsv");
  assert_string_equal(plain, c.out);
  command_run(&c, "formats >/dev/null; (: >pipe & %s info pipe)", lapis);
  command_expect(&c, 4, "");
  command_end(&c);
}

typedef struct advice {
  const char *name, *options, *text, *asked;
} advice;

static void try_advice(command *c, const advice *of)
{
  put(c, of->name, of->text);
  command_do(c, "info \"%s\" %s", of->name, of->options);
  says(c, of->asked);
  run_advice(c);
}

static void titles_are_asked(void **state)
{
  static const advice tried[] = {
      /* a title says what is asked, a few gaps do not */
      {"titled.csv", "",
       "city,plan,fee,Target (EUR)\nx,a,1.5,10.5\ny,,2,11\nx,b,3,12.5\n"
       "z,a,,13\ny,b,5,10\nz,a,6,14.5\nx,b,7.5,15\n",
       "--target 'Target (EUR)' --one-hot city,plan\n"},
      {"ship.csv", "",
       "Survived,Class,Sex,Age,Deck\n1,1,f,20.5,A\n0,2,m,,\n0,3,m,30,\n"
       "1,1,f,41,B\n0,2,f,,\n0,3,m,50,\n1,1,f,60,A\n0,2,m,22,B\n",
       "--target Survived --one-hot Sex,Deck\n"},
      {"half.csv", "",
       "colour,h,class\nr,1,u\n,2,\nb,1.5,v\nr,2.5,\nb,1,u\n,3,\nr,2,v\n"
       "b,4,u\n",
       "--target class --one-hot colour\n"},
      /* and many gaps say more than what often titles a feature */
      {"open.csv", "",
       "class,h,colour\nu,1,r\nv,2,\nu,1.5,b\nv,2.5,\nu,1,r\nv,3,\nu,2,b\n",
       "--target colour --one-hot class\n"},
      {"open.csv", "",
       "h,w,kind,y\n1,2,a,1.5\n2,,a,2.5\n1.5,3,b,3\n2,4,b,4\n3,5,a,5.5\n2,2,b,"
       "1\n",
       "--target y --one-hot kind\n"},
  };
  command c;
  command_begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
    try_advice(&c, &tried[i]);
  command_end(&c);
}

/* What info proposes can be done as it stands, whatever the table. */
static void advice_runs(void **state)
{
  static const advice tried[] = {
      {"words.csv", "",
       "name,h,w,kind,sick\na,1,2,x,yes\nb,2,3,y,no\nc,1.5,2.5,z,\n"
       "d,1.2,2.2,,yes\ne,2.2,3.3,y,no\nf,2.3,3.1,,no\ng,2,3,x,\n"
       "h,1.1,2.1,x,yes\ni,2.1,2.9,z,no\nj,1.3,2.3,z,yes\n",
       "--id name --target sick --one-hot kind"},
      {"both.csv", "",
       "h,tree,w,sky\n1,yes,2,no\n2,no,3,\n1.5,,2.5,yes\n1.2,yes,2,\n"
       "2.2,no,3.3,yes\n2.3,no,3.1,yes\n2,,3,no\n1.1,yes,2.1,no\n",
       "--target tree,sky"},
      {"once.csv", "",
       "h,w,kind\n1,2,x\n2,3,y\n1.5,2.5,y\n1.2,2.2,x\n2.2,3.3,y\n"
       "2.3,3.1,\n2,3,z\n",
       "--target kind"},
      {"numbers.csv", "",
       "h,w,sick,size\n1,2.5,0,3\n3,4,1,5\n5,6.5,1,3\n1,1,,3\n2,2,0,\n"
       "3,5,1,5\n7,8,0,7\n2,4,1,7\n1,8,0,5\n",
       "--target size"},
      {"signs.csv", "",
       "h,a,b\n1.5,0,1\n3,1,0\n5,1,\n1,,0\n2,0,1\n3,1,0\n7,0,1\n",
       "--target a,b"},
      {"same.csv", "",
       "h,w,all,kind\n1,2,x,u\n2,3,x,v\n1.5,2.5,x,u\n1.2,2.2,,v\n",
       "--target kind --one-hot all"},
      {"price.csv", "",
       "name,a,b,kind,price\nx1,1,2.5,u,10.5\nx2,2,3,v,\nx3,3,4,u,12\n"
       "x4,2,4,v,11.5\nx5,1,2,u,13\nx6,4,2,u,13.5\n",
       "lapis fit auto price.csv --id name --target price --one-hot kind\n"},
      {"sizes.csv", "--decimal ,",
       "sex;a;b\n1;1,5;10\n2;2,5;\n1;3,5;30\n2;4,5;45\n1;6,5;60\n2;7,5;11\n",
       "lapis fit auto sizes.csv --target b --decimal ,\n"},
      {"holes.csv", "",
       "name,a,b,c,kind\nx1,1,2,3.5,u\nx2,,3,4,v\nx3,3,,5,u\n"
       "x4,2,4,,v\nx5,1,2,,u\n",
       "lapis fit auto holes.csv --id name --one-hot kind --completed "
       "completed.csv\n"},
      {"bare.csv", "", "1,2\n,3\n3,\n4,5\n",
       "lapis fit auto bare.csv --completed completed.csv\n"},
      {"whole.csv", "", "a,b,kind\n9,2.5,u\n2,3.5,v\n3,1,u\n4,5,v\n",
       "lapis fit auto whole.csv --target kind\n"}, /* nothing is
                                                               missing */
      /* a question has more gaps than a mishap; two are called kim */
      {"ships.csv", "",
       "nr,saved,name,town\n1,yes,ann,x\n2,,kim,y\n3,no,bob,x\n4,,eve,y\n"
       "5,no,ian,x\n6,yes,joe,y\n7,no,ada,\n8,,lea,x\n9,yes,kim,y\n"
       "10,,tom,x\n11,no,una,y\n12,yes,mia,x\n13,no,leo,y\n14,yes,ivo,x\n"
       "15,no,nil,y\n",
       "--id nr --target saved --one-hot town --drop name\n"},
      {"ships01.csv", "",
       "nr,saved,name,town\n1,1,ann,x\n2,,kim,y\n3,0,bob,x\n4,,eve,y\n"
       "5,0,ian,x\n6,1,joe,y\n7,0,ada,\n8,,lea,x\n9,1,kim,y\n"
       "10,,tom,x\n11,0,una,y\n12,1,mia,x\n13,0,leo,y\n14,1,ivo,x\n"
       "15,0,nil,y\n",
       "--id nr --target saved --one-hot town --drop name\n"},
      {"mixed.csv", "",
       "h,state,kind\n1,1,u\n2,1,v\n1.5,bad,u\n1.2,bad,v\n3,,u\n",
       "--target kind --one-hot state"},
      {"od'd name.csv", "",
       "the h,\"a \"\"q\"\"\",1,k,k,\"p,q\"\n1,2,3.5,u,x,yes\n"
       "3,4,,v,y,no\n5,6,1,v,x,\n1,1,5,u,y,yes\n2,2,2,u,x,no\n",
       "--target 6 --one-hot 4,5"},
      {"comma.csv", "",
       "h;w;kind\n1,5;2;u\n3,5;4;v\n5,5;6;v\n1;1;\n2,4;2;u\n3;5;v\n",
       "--target kind --decimal ,"},
      {"comma.csv", "--decimal ,",
       "h;w;kind\n1,5;2;u\n3,5;4;v\n5,5;6;v\n1;1;\n2,4;2;u\n3;5;v\n",
       "--target kind --decimal ,"},
      {"unknown.csv", "",
       "h;w;g;kind\n1,5;2;k.A.;u\n3,5;4;1,5;v\n5,5;6;2,5;v\n1;1;k.A.;\n"
       "2,4;2;3,5;u\n3;5;4,5;v\n2,1;7;5,5;u\n2,2;8;6,5;v\n2,3;1;7,5;u\n"
       "2,5;1;8,5;v\n1,9;3;9,5;u\n2,8;3;10,5;v\n1,8;4;11,5;u\n2,9;4;12,5;v\n",
       "--target kind --missing k.A. --decimal ,\n"},
      {"plain.csv", "--header yes",
       "1,2,3\n1,2.5,u\n3,4,v\n5,6.5,v\n1,1,\n2,2,u\n3,5,v\n",
       "--target 3 --header yes"},
  };
  command c;
  command_begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    try_advice(&c, &tried[i]);
    if (strstr(tried[i].asked, "--completed") == NULL) continue;
    command_run(&c, "info completed.csv"); /* what was asked is answered */
    if (strstr(c.out, " 0 missing") == NULL || strstr(c.out, "1 missing"))
      fail_msg("%s: %s", tried[i].name, c.out);
  }
  command_end(&c);
}

/* "10 cm" is no number, and of such a column nothing would be read; names and
 * classes that hold numbers are none. */
/* A table of n rows: a text of so many values beside a number and, in every
 * other row, a target of so many. */
static void put_words(const command *c, int n, int texts, int targets, bool all)
{
  char table[16384];
  size_t used = (size_t)sprintf(table, "cap,size,kind\n");
  for (int j = 0; j < n; j++) {
    used += (size_t)sprintf(table + used, "c%d,%d.5,", j * j % texts, j % 7);
    if (all || j % 2 == 0)
      used += (size_t)sprintf(table + used, "k%d", j / 2 % targets);
    used += (size_t)sprintf(table + used, "\n");
  }
  put(c, "words.csv", table);
}

/* Words that repeat are classes or features, however many there are; those that
 * do not are names.  Where no label is missing, info asks. */
static void words_that_repeat(void **state)
{
  command c;
  command_begin(&c);
  put_words(&c, 240, 53, 19, false);
  command_run(&c, "info words.csv");
  command_expect(&c, 0, "");
  says(&c,
       "kind             class        120 missing   19 different: k0 7, k1 7");
  says(&c, "lapis fit auto words.csv --target kind --one-hot cap\n");
  run_advice(&c);
  put_words(&c, 240, 1000000, 40, false); /* names but for a few */
  command_run(&c, "info words.csv");
  says(&c, "--id cap --target kind");
  run_advice(&c);
  put_words(&c, 240, 2 * 97, 5, false); /* neither */
  command_run(&c, "info words.csv");
  if (strstr(c.out, "--id cap") != NULL) fail_msg("%s", c.out);
  says(&c, "--target kind");
  run_advice(&c);
  put_words(&c, 120, 11, 3, true);
  command_run(&c, "info words.csv");
  says(&c, "which column is to be predicted? --drop those that new samples "
           "will not have\n"
           "    kind: lapis fit auto words.csv --target kind --one-hot cap\n"
           "    cap: lapis fit auto words.csv --target cap --one-hot kind\n");
  if (strstr(c.out, "for example") != NULL) fail_msg("%s", c.out);
  command_end(&c);
}

/* Of a table of numbers without gaps each may be asked; what a title or a class
 * of words says comes first. */
static void numbers_without_gaps_may_be_asked(void **state)
{
  static const char *const titles[] = {"rooms,area,price", "rooms,area,target",
                                       "size,area,kind"};
  command c;
  char text[1024];
  command_begin(&c);
  for (int t = 0; t < 3; t++) {
    int used = sprintf(text, "%s\n", titles[t]);
    for (int j = 0; j < 20; j++)
      used += sprintf(text + used, t < 2 ? "%d,%d,%d.5\n" : "%d,%d,k%d\n",
                      t < 2 ? j % 4 : j, 10 + 7 * j % 19,
                      t < 2 ? 3 * j % 17 : j % 2);
    put(&c, "t.csv", text);
    command_do(&c, "info t.csv");
    assert_null(strstr(c.out, "--completed"));
    assert_int_equal(strstr(c.out, "for example: ") != NULL, t > 0);
    if (t == 0)
      says(&c,
           "    price: lapis fit auto t.csv --target price\n"
           "    area: lapis fit auto t.csv --target area --targets numbers\n"
           "    rooms: lapis fit auto t.csv --target rooms\n");
    if (t > 0) run_advice(&c);
  }
  command_end(&c);
}

/* A table of n rows: two columns of numbers, tall and size, of which each is
 * given for some of the rows. */
static void put_two_labels(command *c, int gaps_of_f)
{
  static char text[8192];
  uint64_t seed = 4;
  int used = sprintf(text, "id,f,g,h,tall,size\n");
  for (int j = 0; j < 60; j++) {
    double f = check_normal(&seed), g = check_normal(&seed);
    used += sprintf(text + used, "n%d,", j);
    if (j >= gaps_of_f) used += sprintf(text + used, "%.3f", f);
    used += sprintf(text + used, ",%.3f,%.3f,%s,%s\n", g, f * g,
                    j % 3 == 0 ? ""
                    : f > 0    ? "yes"
                               : "no",
                    j % 3 == 1 ? ""
                    : g > 0    ? "L"
                               : "S");
  }
  command_write(c, "two.csv", text, (size_t)used);
}

/* What is a label, too, is no feature, but where all columns have gaps. */
static void second_labels_are_left_out(void **state)
{
  command c;
  command_begin(&c);
  put_two_labels(&c, 0);
  command_do(&c, "info two.csv");
  says(&c, "note: tall has gaps as labels have: it is left out");
  says(&c, "--id id --target size --drop tall\n");
  run_advice(&c);
  put_two_labels(&c, 3);
  command_do(&c, "info two.csv");
  says(&c, "--id id --target size --drop tall\n");
  command_do(&c, "fit auto two.csv --id id --target size --drop tall -q -o "
                 "a.csv --coverage .9");
  command_do(&c, "info a.csv"); /* answers */
  says(&c, " accuracy --truth TRUTH.csv --scores a.csv --target size\n");
  command_do(&c, "fit auto two.csv --id id --target h --use f,g -q -o b.csv");
  command_do(&c, "info b.csv");
  says(&c, "lapis eval r2 --truth TRUTH.csv --scores b.csv --target h\n");
  if (strstr(c.out, "for example") != NULL) fail_msg("%s", c.out);
  command_do(&c, "eval r2 --truth two.csv --target h --id id --scores b.csv");
  command_end(&c);
}

/* Arrays: data, features alone, features by another name, numbers to be
 * predicted, a result. */
static void arrays_have_a_next_step(void **state)
{
  command c;
  command_begin(&c);
  put_two_labels(&c, 0);
  put(&c, "LABELS.csv",
      "row,label\n1,a\n2,b\n3,a\n5,b\n6,a\n7,b\n9,a\n11,b\n"
      "12,b\n13,a\n");
  command_do(&c, "convert two.csv d.npz --id id --target size --use f,g,h");
  command_do(&c, "convert two.csv X.npy --use f,g,h");
  command_do(&c, "convert two.csv y.npy --use h");
  static const char *const file[] = {"d.npz", "X.npy", "y.npy"};
  for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
    command_do(&c, "info %s", file[k]);
    run_advice(&c);
  }
  command_do(&c, "fit auto d.npz -q -o r.npz");
  command_do(&c, "info r.npz");
  says(&c, "for example: lapis report r.npz -o page.html\n");
  run_advice(&c);
  command_end(&c);
}

/* Numbers of rows are names, in any order where their title says so: nothing,
 * as R and pandas write the rows of a sample, or id. */
static void numbers_under_titles_of_names(void **state)
{
  static const struct {
    const char *titles, *id; /* id: what the proposal names; NULL: nothing */
    bool words;
  } tried[] = {
      {"\"\",size,kind", "--id 1 --target kind", false},
      {"Id,size,kind", "--id Id --target kind", false},
      {"\"\",\"size\",\"kind\"", "--id 1 --target kind", true},
      {"weight,size,kind", "lapis fit auto t.csv --target kind", false}};
  command c;
  command_begin(&c);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    char table[8192];
    size_t used = (size_t)sprintf(table, "%s\n", tried[k].titles);
    for (int j = 0; j < 60; j++) { /* words: the rows are counted */
      int row = tried[k].words ? j + 1 : 1000 + 17 * j % 60 / (1 + (k == 1));
      used += (size_t)sprintf(table + used, "\"%d\",", row);
      used += (size_t)sprintf(table + used, tried[k].words ? "s%d," : "%d.5,",
                              j % 5);
      used += (size_t)sprintf(table + used, "%s\n",
                              j % 3 == 2   ? ""
                              : row & 1024 ? "no"
                              : j % 2      ? "yes"
                                           : "no");
    }
    put(&c, "t.csv", table);
    command_run(&c, "info t.csv");
    command_expect(&c, 0, "");
    says(&c, tried[k].id);
    run_advice(&c);
    if (tried[k].words) continue;
    command_run(&c, "fit linear t.csv --target kind");
    command_expect(&c, 0, "");
    says(&c, k < 3 ? "of 1 feature," : "of 2 features,");
  }
  command_end(&c);
}

static void units_are_told(void **state)
{
  static const char text[] =
      "size,price,share,who,row,grade,v,kind\n"
      "10 cm,$5,10%,p1,1a,1st,3,u\n12 cm,$7.50,12 %,p2,2b,2nd,1,v\n"
      "9.5cm,$1.200,9%,p3,3c,1st,7,u\n11 cm,$8,50%,p4,4d,2nd,2,\n"
      "13 cm,$9,51%,p5,5e,1st,4,v\n";
  command c;
  command_begin(&c);
  put(&c, "t.csv", text);
  command_do(&c, "info t.csv");
  says(&c, "note: size holds numbers with units (\"10 cm\")");
  says(&c, "note: price holds numbers with units (\"$5\")");
  says(&c, "note: share holds numbers with units (\"10%\")");
  assert_null(strstr(c.out, "note: who"));
  assert_null(strstr(c.out, "note: row"));
  assert_null(strstr(c.out, "note: grade"));
  says(&c, "--id who --target kind"); /* not --id size */
  run_advice(&c);
  put(&c, "u.csv", "who,share,kind\np1,1%,u\np2,2%,v\np3,3%,u\np4,4%,v\n");
  command_run(&c, "info u.csv"); /* no table of labels alone */
  command_expect(&c, 0, "");
  says(&c, "note: share holds numbers with units (\"1%\")");
  assert_null(strstr(c.out, "lapis label"));
  command_end(&c);
}

/* 1,234 is 1234 to some and 1.234 to others: both readings are said, the likely
 * one first, by info and by what refuses the cell; and where one was asked for
 * that the cells speak against, that is doubted. */
static void marks_have_two_readings(void **state)
{
  static const struct {
    const char *text, *decimal, *said, *first; /* first: in the example */
    bool read;                                 /* so that said is a warning */
  } tried[] = {
      /* whole numbers below 1000 without a comma */
      {"p,k\n\"1,234\",u\n567,v\n\"12,345\",u\n890,v\n45,\n", "",
       "its commas look like thousands: \"1,234\" is 1234 with --decimal . and "
       "1.234 with --decimal ,",
       "--decimal .", false},
      /* two commas */
      {"p,k\n\"3,100\",u\n\"1,234,567\",v\n\"2,100\",u\n100,v\n1234,\n", "",
       "its commas look like thousands: \"1,234,567\" is 1234567 with "
       "--decimal "
       ". and no number with --decimal ,",
       "--decimal .", false},
      /* a comma and a point; a point alone, in the column and beside it */
      {"p,k\n\"3,100\",u\n\"1,234.5\",v\n\"2,100\",u\n\"-4,000\",v\n0,\n", "",
       "\"1,234.5\" is 1234.5 with --decimal . and no number", "--decimal .",
       false},
      {"p,k\n\"3,100\",u\n0.5,v\n\"2,100\",u\n1234,v\n1,\n", "",
       "look like thousands: \"3,100\" is 3100 with --decimal . and 3.1",
       "--decimal .", false},
      {"p;q;k\n3,100;1.5;u\n4,100;2.5;v\n2,100;1;u\n5,000;2;v\n6,000;;\n", "",
       "may separate thousands, or be decimal: \"3,100\" is 3100 with "
       "--decimal . and 3.1 with --decimal ,",
       "--decimal .", false},
      /* nothing but the delimiter tells */
      {"p,k\n\"1,234\",u\n\"2,567\",v\n\"12,345\",u\n\"3,890\",v\n,\n", "",
       "its commas may separate thousands, or be decimal: \"1,234\" is "
       "1234 "
       "with --decimal . and 1.234 with --decimal ,",
       "--decimal .", false},
      {"p;k\n1,234;u\n2,567;v\n12,345;u\n3,890;v\n;\n", "",
       "its commas may be decimal, or separate thousands: \"1,234\" is "
       "1.234 with --decimal , and 1234 with --decimal .",
       "--decimal ,", false},
      /* a decimal comma in the table, or in the column */
      {"p;q;k\n1,234;0,5;u\n567;1,5;v\n2,345;2,5;u\n1;1;v\n2;2;\n", "",
       "\"1,234\" is 1.234 with --decimal , and 1234 with --decimal .",
       "--decimal ,", false},
      {"p,k\n\"1,234\",u\n\"1234,567\",v\n567,u\n\"1,23\",v\n1,\n", "",
       "--decimal ,", "--decimal ,", false},
      {"p,k\n\"1,234\",u\n\"0,567\",v\n567,u\n\"2,345\",v\n1,\n", "",
       "--decimal ,", "--decimal ,", false},
      /* points between thousands */
      {"p;k\n3.100;u\n1.234.567;v\n2.100;u\n100;v\n1;\n", "",
       "its points look like thousands: \"1.234.567\" is 1234567 with "
       "--decimal "
       ", and no number with --decimal .",
       "--decimal ,", false},
      {"p;k\n1.234;u\n567;v\n12.345;u\n890;v\n45;\n", "",
       "\"1.234\" is read as 1.234, next to \"567\"; if its points separate "
       "thousands, --decimal , reads it as 1234",
       NULL, true},
      /* the other reading was asked for */
      {"p,k\n\"1,234\",u\n567,v\n\"12,345\",u\n890,v\n45,\n", "--decimal ,",
       "\"1,234\" is read as 1.234, next to \"567\"; if its commas separate "
       "thousands, --decimal . reads it as 1234",
       "--decimal ,", true},
      {"p,k\n\"1,234,567\",u\n567,v\n\"12,345\",u\n890,v\n45,\n", "--decimal ,",
       "\"1,234,567\" is 1234567 with --decimal . and no number with --decimal "
       ",",
       NULL, false},
      {"p;k\n0.5;u\n567;v\n12;u\n890;v\n45;\n", "--decimal ,",
       "its points are decimal marks: \"0.5\" is 0.5 with --decimal . and no "
       "number with --decimal ,",
       NULL, false},
  };
  command c;
  command_begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    put(&c, "t.csv", tried[i].text);
    command_do(&c, "info t.csv %s", tried[i].decimal);
    says(&c, tried[i].said);
    if (tried[i].first != NULL) {
      const char *example = strstr(c.out, "for example: ");
      if (example == NULL || strstr(example, tried[i].first) == NULL)
        fail_msg("table %zu: no %s in: %s", i, tried[i].first, c.out);
    }
    command_run(&c, "convert t.csv o.csv --target k %s", tried[i].decimal);
    command_expect(&c, tried[i].read ? 0 : 4, tried[i].said);
    if (!tried[i].read) continue;
    const char *again = strstr(c.err, "next to");
    if (again == NULL || strstr(again + 1, "next to") != NULL)
      fail_msg("not once: %s", c.err);
  }
  command_end(&c);
}

/* What may not be doubted: marks that were named and fit, points before three
 * digits where commas delimit, and a column that has fewer digits somewhere. */
static void marks_that_are_plain(void **state)
{
  static const struct {
    const char *text, *decimal;
  } tried[] = {
      {"p,k\n\"1,234\",u\n567,v\n\"12,345\",u\n", "--decimal ."},
      {"p,k\n\"1,234\",u\n\"2,567\",v\n", "--decimal ,"},
      {"p,k\n\"1,234\",u\n5,v\n\"2,5\",u\n", "--decimal ,"},
      {"p,k\n\"1,234\",u\n5,v\n\"0,567\",u\n", "--decimal ,"},
      {"p,k\n\"1,234\",u\n5,v\n1234,u\n", "--decimal ,"},
      {"p,q,k\n\"1,234\",\"1,5\",u\n5,\"2,5\",v\n", "--decimal ,"},
      {"p,k\n1.234,u\n567,v\n12.345,u\n", ""},
      {"p;k\n1.234;u\n567;v\n12.34;u\n", ""},
      {"p;k\n0.234;u\n567;v\n12.345;u\n", ""},
      {"p;k\n1.234;u\n567;v\n12.345;u\n", "--decimal ,"},
  };
  command c;
  command_begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    put(&c, "t.csv", tried[i].text);
    command_do(&c, "convert t.csv o.csv --target k %s", tried[i].decimal);
    if (c.err[0] != '\0') fail_msg("table %zu: %s", i, c.err);
    command_run(&c, "info t.csv %s", tried[i].decimal);
    if (strstr(c.out, "note: p") != NULL) fail_msg("table %zu: %s", i, c.out);
  }
  command_end(&c);
}

/* Writes an archive as runs leave them: a header, and what stands for a part.
 */
static void put_run(const command *c, const char *name, const char *header,
                    lapis_mat part)
{
  char path[160];
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_named item[] = {{.name = "lapis",
                         .mat = {.dtype = LAPIS_TEXT,
                                 .rows = 1,
                                 .cols = 1,
                                 .ld = 1,
                                 .val = &header}},
                        {.name = "part", .mat = part}};
  (void)snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), LAPIS_OK);
  lapis_ctx_free(ctx);
}

/* A header may hold anything; what is no checkpoint is not called one. */
static void headers_of_runs_may_hold_anything(void **state)
{
  static const char *const values[] = {"",
                                       ",\"%s\":[1,2]",
                                       ",\"%s\":{}",
                                       ",\"%s\":7",
                                       ",\"%s\":\"a\"",
                                       ",\"%s\":{\"b\":[1],\"c\":{}}",
                                       ",\"%s\":{\"d\":\"3 x 4\"}"};
  static const char *const fields[] = {"settings", "also", "data"};
  const char *words[] = {"one", "two", "three"};
  double number[] = {1, 1e300, NAN};
  const lapis_mat parts[] = {
      lapis_mat_f64(number, 1, 3),
      {.dtype = LAPIS_TEXT, .rows = 1, .cols = 3, .ld = 1, .val = words}};
  command c;
  command_begin(&c);
  for (int kind = 0; kind < 2; kind++)
    for (int f = 0; f < 3; f++)
      for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        char header[256], field[64];
        (void)snprintf(field, sizeof field, values[v], fields[f]);
        (void)snprintf(header, sizeof header,
                       "{\"kind\":\"%s\",\"format\":1%s}",
                       kind == 0 ? "checkpoint" : "cv-part", field);
        put_run(&c, "run.npz", header, parts[v % 2]);
        command_do(&c, "info run.npz");
        says(&c, kind == 0 ? "run.npz: checkpoint: " : "run.npz: folds of ");
        assert_null(strstr(c.out, "done: part"));
        command_do(&c, "info run.npz --json");
        lapis_json_free(command_json(c.out));
      }
  put_run(&c, "run.npz", "{\"kind\":\"checkpoint\"}", parts[0]);
  command_do(&c, "info run.npz");
  says(&c, "run.npz: numpy archive");
  command_end(&c);
}

/* A few rows of which nothing is known, or that are all 0, are no holes to be
 * filled: images that could not be read. */
static void rows_that_could_not_be_read(void **state)
{
  enum { N = 300, D = 9 };
  static char text[N * D * 12];
  command c;
  command_begin(&c);
  for (int holes = 0; holes < 2; holes++) {
    uint64_t seed = 5;
    size_t at = 0;
    for (int k = 0; k < N * D; k++) {
      int j = k / D, i = k % D;
      double x = j % 100 == 50 ? 0 : check_normal(&seed);
      if (j == 7 || j == 9 || (holes && j == i)) x = NAN;
      if (j == 30 && i == 4) x = INFINITY;
      at += (size_t)sprintf(text + at, "%.3f%c", x, i == D - 1 ? '\n' : ',');
    }
    put(&c, "t.csv", text);
    command_do(&c, "convert t.csv x.npy --header no");
    command_do(&c, "info x.npy");
    says(&c, "2 rows wholly missing, 3 rows all zero, 1 infinite value");
    assert_int_equal(strstr(c.out, "LABELS.csv") != NULL, holes == 0);
    assert_int_equal(strstr(c.out, "filled.npz") != NULL, holes == 1);
    command_do(&c, "info x.npy --json");
    lapis_json *v = command_json(c.out);
    assert_true(lapis_json_number(v, "missing_rows", -1) == 2);
    assert_true(lapis_json_number(v, "zero_rows", -1) == 3);
    assert_true(lapis_json_number(v, "infinite", -1) == 1);
    lapis_json_free(v);
  }
  command_end(&c);
}

int test_info(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_of_a_table),
      cmocka_unit_test(columns_of_arff),
      cmocka_unit_test(pipes_are_tables),
      cmocka_unit_test(advice_runs),
      cmocka_unit_test(titles_are_asked),
      cmocka_unit_test(words_that_repeat),
      cmocka_unit_test(numbers_without_gaps_may_be_asked),
      cmocka_unit_test(second_labels_are_left_out),
      cmocka_unit_test(arrays_have_a_next_step),
      cmocka_unit_test(numbers_under_titles_of_names),
      cmocka_unit_test(rows_that_could_not_be_read),
      cmocka_unit_test(units_are_told),
      cmocka_unit_test(strangers_are_named),
      cmocka_unit_test(marks_have_two_readings),
      cmocka_unit_test(marks_that_are_plain),
      cmocka_unit_test(headers_of_runs_may_hold_anything),
  };
  return run_cases(tests, NULL, NULL);
}
