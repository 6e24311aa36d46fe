/* formats.c - formats, convert and info as commands; sparse data
 * give the answers of dense data. */
#include "command.h"
#include "remarks.h"
#include "room.h"

static void put(const command *c, const char *name, const char *text)
{
  command_write(c, name, text, strlen(text));
}

/* 12 samples, 3 features, as LIBSVM and as a table. */
static void put_both(const command *c)
{
  char svm[2048] = "", csv[2048] = "a,b,c,y\n";
  uint64_t seed = 3;
  for (int j = 0; j < 12; j++) {
    double a = floor(9 * check_uniform(&seed)) + 1, b = check_uniform(&seed);
    int y = j % 2 == 0 ? 1 : -1;
    size_t at = strlen(svm), to = strlen(csv);
    snprintf(svm + at, sizeof svm - at, "%d 1:%.17g 3:%.17g\n", y, a + y, b);
    snprintf(csv + to, sizeof csv - to, "%.17g,0,%.17g,%d\n", a + y, b, y);
  }
  put(c, "a.svm", svm);
  put(c, "a.csv", csv);
}

static void formats_are_listed(void **state)
{
  command c;
  command_begin(&c);
  command_do(&c, "formats");
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    assert_non_null(strstr(c.out, lapis_format_at(i)->name));
  command_run(&c, "formats --json");
  assert_non_null(strstr(c.out, "\"arff\""));
  command_run(&c, "info --json");
  assert_non_null(strstr(c.out, "\"parts\""));
  command_run(&c, "formats x");
  command_expect(&c, 2, "x");
  command_end(&c);
}

/* FILE:NAME is one array wherever a data file is named. */
static void one_array_is_converted(void **state)
{
  command c;
  char text[4096];
  command_begin(&c);
  put(&c, "t.csv", "n,a,b\nr,1,2\ns,2,4\nt,3,6\nu,4,9\n");
  command_do(&c, "fit rpca t.csv --id n -o F.npz -q");
  command_do(&c, "convert F.npz:low_rank x.csv");
  command_do(&c, "convert F.npz:sparse y.csv");
  double sum = 0;
  const char *const part[] = {"x.csv", "y.csv"};
  for (int k = 0; k < 2; k++) {
    command_slurp(&c, part[k], text, sizeof text);
    const char *row = text;
    for (int j = 0; j < 3; j++) row = strchr(row, '\n') + 1;
    sum += strtod(row, NULL);
  }
  CHECK_NEAR(sum, 4, 1e-6); /* of the parts it was divided into */
  command_do(&c, "fit rpca F.npz:low_rank -q");
  command_run(&c, "convert F.npz:lowrank x.csv");
  command_expect(&c, 4, "F.npz");
  command_run(&c, "convert t.csv:a x.csv");
  command_expect(&c, 2, "");
  command_run(&c, "convert none.npz:X x.csv");
  command_expect(&c, 4, "none.npz:X");
  command_run(&c, "convert F.npz:low_rank F.npz");
  command_expect(&c, 2, "");
  put(&c, "a:b.csv", "a,b\n1,2\n3,4\n"); /* a file of that name comes first */
  command_do(&c, "convert a:b.csv x.tsv");
  command_end(&c);
}

static double predict(command *c, const char *data, const char *model)
{
  command_do(c, "predict %s %s --scores -q", model, data);
  return strtod(c->out, NULL);
}

static void sparse_answers_are_dense_answers(void **state)
{
  static const char *const more[] = {"", "--map l2", "--map l1,scale:2",
                                     "--kernel rbf"};
  command c;
  command_begin(&c);
  put_both(&c);
  for (int i = 0; i < 4; i++) {
    command_do(&c, "fit svmplus a.svm %s --tol 1e-8 --model s.lapis -q",
               more[i]);
    command_do(&c,
               "fit svmplus a.csv --target y %s --tol 1e-8 --model d.lapis "
               "-q",
               more[i]);
    put(&c, "b.svm", "1 1:2 3:.5\n");
    put(&c, "short.svm", "1 1:2\n");
    put(&c, "b.csv", "a,b,c\n2,0,.5\n");
    CHECK_NEAR(predict(&c, "b.svm", "s.lapis"), predict(&c, "b.csv", "d.lapis"),
               1e-6);
  }
  command_run(&c, "fit svmplus a.svm --model s.lapis -q");
  (void)predict(&c, "short.svm", "s.lapis"); /* its last features are 0 */
  command_end(&c);
}

static void files_are_converted(void **state)
{
  command c;
  command_begin(&c);
  put_both(&c);
  command_do(&c, "convert a.svm b.npz && %s convert b.npz c.svm",
             getenv("LAPIS_COMMAND"));
  command_run(&c, "convert a.svm b.npz"); /* an old output is replaced */
  command_expect(&c, 0, "");
  command_run(&c, "convert a.svm a.svm");
  command_expect(&c, 2, "");
  command_run(&c, "convert a.svm b.xls");
  command_expect(&c, 2, "");
  command_run(&c, "convert a.svm b.npy --features 2");
  command_expect(&c, 4, "3 2");
  command_run(&c, "convert a.svm b.npy --features x");
  command_expect(&c, 2, "x --feature-count");
  command_do(&c, "info b.npz c.svm");
  assert_non_null(strstr(c.out, "24 stored"));
  assert_non_null(strstr(c.out, "12 samples, 3 features"));
  command_end(&c);
}

static void models_are_described(void **state)
{
  command c;
  command_begin(&c);
  put_both(&c);
  command_do(&c, "fit svmplus a.csv --target y --map l2 --C 3 --model m.lapis "
                 "-q");
  command_do(&c, "info m.lapis");
  static const char *const words[] = {"a model of svmplus", "features: 3",
                                      "a, b, c", "map: l2", "C 3"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(c.out, words[i]) == NULL) fail_msg("no %s: %s", words[i], c.out);
  command_run(&c, "info m.lapis --json");
  assert_non_null(strstr(c.out, "\"method\": \"svmplus\""));
  command_end(&c);
}

static const char people[] = "no;name;height;reach;born;price;tall\n"
                             "1;ann;1.81;1.84;1990-02-03;1,5;yes\n"
                             "2;bob;1.62;;1988-12-01;2,25;no\n"
                             "3;eve;1.85;1.88;;;yes\n"
                             "4;ian;1.60;1.61;2001-01-01;1,0;no\n"
                             "5;joe;1.7;1.8;2001-01-01;1,0;yse\n";

static void expect_words(const command *c, const char *const *words, int n)
{
  for (int i = 0; i < n; i++)
    if (strstr(c->out, words[i]) == NULL)
      fail_msg("no '%s' in: %s", words[i], c->out);
}

static void tables_are_described_by_their_columns(void **state)
{
  static const char *const words[] = {
      "a table, 7 columns, 5 rows below a header, semicolons",
      "no               counter        0 missing   1 .. 5",
      "height           number         0 missing   1.6 .. 1.85",
      "born             date           1 missing",
      "price            comma          1 missing",
      "tall             class          0 missing   yes 2, no 2, yse 1",
      "\"yse\" occurs once in tall",
      "fit auto t.csv --id no --one-hot tall --drop name,born --completed "
      "completed.csv --decimal ,\n",
      "cannot be used as data: t.csv:2:3: column 2 (\"name\") holds the "
      "text"};
  static const char *const piped[] = {"standard input: a table, 7 columns",
                                      "tall             class"};
  command c;
  command_begin(&c);
  put(&c, "t.csv", people);
  command_do(&c, "info t.csv");
  expect_words(&c, words, 9);
  command_run(&c, "formats >/dev/null; (%s info - <t.csv)",
              getenv("LAPIS_COMMAND")); /* a file, and what is no file */
  command_expect(&c, 0, "");
  expect_words(&c, piped, 2);
  command_do(&c, "formats >/dev/null; (cat t.csv | %s info -)",
             getenv("LAPIS_COMMAND"));
  expect_words(&c, piped, 2);
  command_run(&c, "info t.csv --json");
  assert_non_null(strstr(c.out, "\"type\": \"date\""));
  assert_non_null(strstr(c.out, "\"yse\": 1"));
  put(&c, "ragged.csv", "a,b\n1,2\n3\n");
  command_run(&c, "info ragged.csv");
  command_expect(&c, 4, "ragged.csv:3:1 1");
  command_end(&c);
}

static void columns_are_used_and_dropped(void **state)
{
  command c;
  command_begin(&c);
  put(&c, "t.csv", people);
  put_both(&c);
  command_do(&c, "fit mc t.csv --target tall --use 'h*,reach' --mu-rel .1");
  expect_words(&c, (const char *const[]){"5 samples of 2 features"}, 1);
  command_do(&c, "fit mc t.csv --target tall --id name --drop no,born,6 "
                 "--mu-rel .1");
  expect_words(&c, (const char *const[]){"5 samples of 2 features"}, 1);
  command_do(&c,
             "info t.csv --drop weight"); /* it says why under the listing */
  expect_words(&c, (const char *const[]){"has no column \"weight\""}, 1);
  command_run(&c, "fit mc t.csv --target tall --use 'w*' --mu-rel .1");
  command_expect(&c, 2, "w*");
  command_run(&c, "fit mc a.svm --drop 1 --mu-rel .1");
  command_expect(&c, 2, ".csv .tsv .arff");
  put(&c, "t.arff",
      "@relation r\n@attribute a numeric\n@attribute b numeric\n"
      "@attribute c numeric\n@attribute y {u,v}\n@data\n"
      "1,2,3,u\n2,1,5,v\n3,2,2,?\n");
  command_do(&c, "info t.arff --target y --drop b");
  expect_words(&c, (const char *const[]){"3 samples, 2 features"}, 1);
  command_run(&c, "info t.arff --target y --use b");
  expect_words(&c, (const char *const[]){"3 samples, 1 feature "}, 1);
  command_end(&c);
}

static void what_cannot_be_read_is_named(void **state)
{
  static const struct {
    const char *name, *hint;
    const char *bytes;
    size_t size;
  } files[] = {{"a.xlsx", "save the sheet as CSV",
                "PK\x03\x04"
                "xxxxxxxxxxxxxxxxxxxxxxxxxx[Content_Types].xml",
                49},
               {"a.ods", "LibreOffice",
                "PK\x03\x04"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxmimetypeapplication/vnd.oasis",
                59},
               {"a.pt", "pickle",
                "PK\x03\x04"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxnet/data.pkl",
                42},
               {"a.parquet", "Parquet", "PAR1abcdefgh", 12},
               {"a.png", "PNG: is cut short", "\x89PNG\r\n\x1a\n....", 12},
               {"a.xls", "old Excel", "\xd0\xcf\x11\xe0\xa1\xb1....", 10}};
  command c;
  command_begin(&c);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", c.folder, files[i].name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(files[i].bytes, 1, files[i].size, f),
                     files[i].size);
    fclose(f);
    command_run(&c, "info %s", files[i].name);
    command_expect(&c, 4, files[i].hint);
  }
  command_end(&c);
}

/* ---- there and back, over every pair of formats ---------------------------
 * Titles, names, holes, numbers of any size, and classes that a reader may take
 * for something else. */
static const char *const classes[][3] = {
    {"01", "1", "001"},
    {"none", "mild", "NA"},
    {"@a", "=b", "-c"},
    {"x;y", "a b", "it's"},
    {"1.10", "1.1", "1.100"},
    {"yes", "Yes", "yes "},
    {"9007199254740993", "9007199254740992", "12"},
    {"1", "2", "3"},
    {"\xc3\xa9", "\xc3\x89", "e"},
    {"\"q\"\"r\"", "true", "?x"}};
enum { KINDS = sizeof classes / sizeof *classes, ROWS = 11 };

static void put_random(const command *c, uint64_t seed)
{
  static const char *const third[] = {"x", "2", "\"f,1\""};
  const char *const *word = classes[seed % KINDS];
  char text[4096];
  size_t at = (size_t)sprintf(text, "name,a b,%s,kind\n", third[seed % 3]);
  for (int j = 0; j < ROWS; j++) {
    double x = check_normal(&seed);
    at += (size_t)sprintf(text + at, seed % 2 ? "@n%d," : "00%d,", j);
    at += (size_t)sprintf(text + at, "%.17g,",
                          x * pow(10, floor(600 * check_uniform(&seed)) - 300));
    at += (size_t)(j % 5 == 2 ? sprintf(text + at, ",")
                              : sprintf(text + at, "%.17g,", j * .1));
    at += (size_t)sprintf(text + at, "%s\n", j % 4 == 3 ? "" : word[j % 3]);
  }
  put(c, "t.csv", text);
}

static void convert(command *c, const char *from, const char *to)
{
  bool table = strstr(from, "sv") != NULL; /* .csv, .tsv */
  command_run(c, "convert %s %s%s", from, to,
              table ? " --id name --target kind" : "");
  command_expect(c, 0, "");
}

static void pairs_give_back(uint64_t first, uint64_t seeds)
{
  static const char *const endings[] = {"csv", "tsv", "npz", "mat", "h5"};
  static char direct[8192], last[8192];
  char one[16], two[16];
  command c;
  command_begin(&c);
  command_run(&c, "formats");
  int kinds = strstr(c.out, "not built") == NULL ? 5 : 4;
  for (uint64_t seed = first; seed < first + seeds; seed++) {
    put_random(&c, seed);
    convert(&c, "t.csv", "direct.csv");
    command_slurp(&c, "direct.csv", direct, sizeof direct);
    for (int i = 0; i < kinds * kinds; i++) {
      snprintf(one, sizeof one, "a.%s", endings[i / kinds]);
      snprintf(two, sizeof two, "b.%s", endings[i % kinds]);
      if (i % kinds == 0) convert(&c, "t.csv", one);
      convert(&c, one, two);
      convert(&c, two, "last.csv");
      command_slurp(&c, "last.csv", last, sizeof last);
      if (strcmp(direct, last) != 0)
        fail_msg("seed %d, %s, %s:\n%s\nnot\n%s", (int)seed, one, two, last,
                 direct);
    }
  }
  command_end(&c);
}

static void every_pair_gives_back(void **state)
{
  (void)state;
  pairs_give_back(0, 4);
}

static void many_pairs_give_back(void **state)
{
  (void)state;
  pairs_give_back(4, 66);
}

/* Nobody is told to name a member that is not read under any name. */
static void structs_are_no_arrays(void **state)
{
  static const char *const files[] = {"one", "two"};
  command c;
  command_begin(&c);
  for (int k = 0; k < 2; k++) {
    static const char *const asks[] = {"fit mc %s --mu-rel .1 -o o.npz",
                                       "convert %s o.npz",
                                       "fit mc -X %s:d --mu-rel .1 -o o.npz"};
    char path[600];
    snprintf(path, sizeof path, "%s/mat_struct/%s.mat", check_fixtures(),
             files[k]);
    for (int i = 0; i < 3; i++) {
      command_run(&c, asks[i], path);
      command_expect(&c, 4, TYPE_NOT_READ);
      check_says(c.err, "member d");
      assert_false(command_exists(&c, "o.npz"));
    }
  }
  if (lapis_format_of_name("deep.h5")->built) {
    const char *at = check_fixtures();
    command_run(&c, "fit linear %s/mat_struct/deep.h5", at);
    command_expect(&c, 4, "-X FILE:/data/NAME says which array of a group");
    command_do(&c,
               "fit linear -X %s/mat_struct/deep.h5:/data/X -Y "
               "%s/mat_struct/deep.h5:/data/Y",
               at, at);
  }
  command_end(&c);
}

/* A lone column of words may have a title, which shows; an array of words says
 * what it holds. */
static void words_alone(void **state)
{
  static const char *const first[] = {"photo", "p12"};
  char text[512];
  command c;
  command_begin(&c);
  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof text, "%s\np1\np2\np1\np4\np5\np6\np7\n", first[k]);
    put(&c, "g.csv", text);
    command_do(&c, "info g.csv");
    check_says(c.out, k == 0 ? "7 6 below photo" : "8 7");
  }
  put(&c, "w.csv", "a,y\n1,no\n2,no\n3,yes\n4,\n5,maybe\n6,no\n");
  command_do(&c, "convert w.csv w.npz --target y");
  command_do(&c, "info w.npz");
  check_says(c.out, "class_names 3 maybe 1,");
  command_end(&c);
}

int test_formats(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structs_are_no_arrays),
      cmocka_unit_test(formats_are_listed),
      cmocka_unit_test(sparse_answers_are_dense_answers),
      cmocka_unit_test(files_are_converted),
      cmocka_unit_test(one_array_is_converted),
      cmocka_unit_test(models_are_described),
      cmocka_unit_test(tables_are_described_by_their_columns),
      cmocka_unit_test(columns_are_used_and_dropped),
      cmocka_unit_test(what_cannot_be_read_is_named),
      cmocka_unit_test(words_alone),
      cmocka_unit_test(every_pair_gives_back),
      LONG(cmocka_unit_test(many_pairs_give_back)),
  };
  return run_cases(tests, NULL, NULL);
}
