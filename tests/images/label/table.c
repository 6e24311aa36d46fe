/* lapis label --features table:F: vectors made elsewhere, a row an image. */
#include "label_case.h"
#include "lapis/files.h"
#include "remarks.h"

enum { D = 6 };
static const char *const two[] = {"flat", "upright"};

/* Of image i: its kind shows in every number. */
static double number(int i, int k)
{
  return (i % 2 == 0 ? 1 : -1) * (1 + .1 * k) + .05 * ((7 * i + 3 * k) % 11);
}

static void begin(command *c)
{
  begin_stripes(c, 2);
  write_labels(c, two, 2, 10);
}

/* Rows from the last image to the first, or in order; row `odd` (-1: none)
 * holds text instead of its line. */
static void write_csv(const command *c, const char *name, bool titles,
                      bool names, bool backwards, int odd, const char *text)
{
  char table[8192] = "";
  if (titles) {
    if (names) strcat(table, "image,");
    for (int k = 0; k < D; k++)
      sprintf(table + strlen(table), "v%d%c", k, k + 1 < D ? ',' : '\n');
  }
  for (int row = 0; row < IMAGES; row++) {
    int i = backwards ? IMAGES - 1 - row : row;
    if (row == odd) {
      strcat(table, text);
      continue;
    }
    if (names) sprintf(table + strlen(table), "a%02d.pgm,", i);
    for (int k = 0; k < D; k++)
      sprintf(table + strlen(table), "%.17g%c", number(i, k),
              k + 1 < D ? ',' : '\n');
  }
  write_text(c, name, table);
}

/* An array of float or double, beside other arrays. */
static void write_arrays(const command *c, const char *name, bool single,
                         bool names, bool backwards)
{
  float narrow[IMAGES * D];
  double wide[IMAGES * D];
  char text[IMAGES][16];
  const char *at[IMAGES];
  for (int row = 0; row < IMAGES; row++) {
    int i = backwards ? IMAGES - 1 - row : row;
    snprintf(text[row], sizeof text[row], "a%02d", i);
    at[row] = text[row];
    for (int k = 0; k < D; k++)
      narrow[row * D + k] = (float)(wide[row * D + k] = number(i, k));
  }
  lapis_mat numbers = lapis_mat_f64(wide, D, IMAGES);
  if (single) {
    numbers.dtype = LAPIS_F32;
    numbers.val = narrow;
  }
  lapis_named item[] = {
      {.name = "clip", .mat = numbers},
      {.name = "names", .mat = lapis_mat_text(at, 1, IMAGES), .flat = true}};
  char path[200];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_status s =
      strstr(name, ".npy") != NULL
          ? lapis_arrays_write(ctx, path, "npy", item, 1)
          : lapis_arrays_write(ctx, path, "npz", item, names ? 2 : 1);
  assert_int_equal(s, LAPIS_OK);
  lapis_ctx_free(ctx);
}

#define TABLE "label in --labels labels.csv " GIVEN " --no-cache --features "

/* The same answer to the bit from every way to write the same vectors. */
static void vectors_become_labels(void **state)
{
  command c;
  begin(&c);
  write_csv(&c, "v.csv", true, true, true, -1, "");
  command_do(&c, TABLE "table:v.csv --result r.npz -o page.html");
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  assert_null(strstr(c.err, "order"));
  write_csv(&c, "bare.csv", false, true, false, -1, "");
  command_do(&c, TABLE "table:bare.csv --result s.npz");
  shell(&c, "cmp r.npz s.npz");
  write_arrays(&c, "v.npz", false, true, true);
  command_do(&c, TABLE "table:v.npz:clip --result s.npz");
  shell(&c, "cmp r.npz s.npz");
  command_do(&c, TABLE "table:v.npz --result s.npz");
  shell(&c, "cmp r.npz s.npz");
  command_end(&c);
}

static void rows_without_names_are_in_order(void **state)
{
  command c;
  char list[1024] = "";
  begin(&c);
  write_arrays(&c, "v.npy", false, false, false);
  command_run(&c, TABLE "table:v.npy --result r.npz");
  command_expect(&c, 0, "the first for in/a00.pgm, the last for in/a23.pgm");
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  write_arrays(&c, "back.npy", false, false, true);
  for (int i = IMAGES - 1; i >= 0; i--)
    sprintf(list + strlen(list), "in/a%02d.pgm\n", i);
  write_text(&c, "list.txt", list);
  command_do(&c, TABLE "table:back.npy --names list.txt --json");
  assert_null(strstr(c.err, "order"));
  command_run(&c, TABLE "table:back.npy --names list.txt");
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  write_csv(&c, "v.csv", false, false, false, -1, "");
  command_run(&c, TABLE "table:v.csv");
  command_expect(&c, 0, "in their order");
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  command_end(&c);
}

static void single_precision_is_read(void **state)
{
  command c;
  begin(&c);
  write_arrays(&c, "v.npz", true, true, true);
  command_do(&c, TABLE "table:v.npz");
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  command_end(&c);
}

static const struct {
  const char *line, *words;
} bad_rows[] = {
    {"a05.pgm,1,2,3,4,5,nan\n",
     "v.csv: row 6, column 7 is missing; every entry of a vector"},
    {"a05.pgm,1,2,inf,4,5,6\n", "row 6, column 4 is 'inf'"},
    {"a05.pgm,1,2,3,x,5,6\n", "row 6, column 5 is 'x'"},
    {"a05.pgm,1,2,3,4,5\n", "row 6, column 7 is missing"},
    {"a04.pgm,1,2,3,4,5,6\n", "row 6: 'a04.pgm' is in row 5 already"},
    {"zzz.pgm,1,2,3,4,5,6\n", "row 6: 'zzz.pgm' is not one of the 24 images"},
    {"", "v.csv: has no row for in/a05.pgm; --keep-going leaves such images"},
};

static void bad_rows_are_named(void **state)
{
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof bad_rows / sizeof *bad_rows; k++) {
    write_csv(&c, "v.csv", true, true, false, 5, bad_rows[k].line);
    command_run(&c, TABLE "table:v.csv --result r.npz");
    command_expect(&c, 4, bad_rows[k].words);
    assert_false(command_exists(&c, "r.npz"));
  }
  write_csv(&c, "v.csv", true, true, false, 5, "zzz.pgm,1,2,3,4,5,6\n");
  command_run(&c, TABLE "table:v.csv --keep-going");
  assert_int_equal(c.code, 4);
  check_says(c.err, "1");
  check_says(c.err, "in/a05.pgm v.csv");
  assert_null(strstr(c.out, "a05"));
  table_says(&c, 6, two[0]);
  command_end(&c);
}

static const command_misuse misuses[] = {
    {TABLE "table:", 2, ""},
    {TABLE "table:no.npy", 4, "no.npy"},
    {TABLE "table:v.npz:none", 4, "none"},
    {TABLE "table:v.npz:names", 4, "names"},
    {TABLE "table:short.csv", 4, "23 24"},
    {TABLE "table:v.npy --names labels.csv", 4, "labels.csv 11 v.npy 24"},
    {TABLE "table:v.npy --words 3", 2, "--words"},
    {TABLE "table:v.npy --where", 2, "--where"},
    {TABLE "hog --names labels.csv", 2, "--names --features"},
    {TABLE "table:v.npz --result v.npz", 2, ""},
    {TABLE "table:/dev/zero", 4, "/dev/zero"},
    {TABLE "table:v.npy -o in", 2, ""},
    {TABLE "table:v.npy -o .", 4, ""},
    {TABLE "hog,table:v.npy", 2, "table:v.npy"},
};

static void misuse_is_refused(void **state)
{
  command c;
  begin(&c);
  write_arrays(&c, "v.npz", false, true, false);
  write_arrays(&c, "v.npy", false, false, false);
  write_csv(&c, "short.csv", true, false, false, 3, "");
  command_refuses(&c, misuses, sizeof misuses / sizeof *misuses, "");
  command_end(&c);
}

/* The sheet's line of an image. */
static void sheet_says(const command *c, const char *image, const char *words)
{
  char line[200];
  snprintf(line, sizeof line, "grep '^%s' answers.csv | grep -q '%s'", image,
           words);
  shell(c, line);
}

/* Given cells are told from filled ones, doubts from both. */
static void answers_become_a_sheet(void **state)
{
  command c;
  char table[1024] = "file,what\n";
  begin(&c);
  write_csv(&c, "v.csv", true, true, false, -1, "");
  for (int i = 0; i < 12; i++) /* the label of a04 is wrong */
    sprintf(table + strlen(table), "a%02d.pgm,%s\n", i,
            two[(i + (i == 4)) % 2]);
  write_text(&c, "labels.csv", table);
  command_do(&c, TABLE "table:v.csv -o answers.csv");
  shell(&c, "head -n 1 answers.csv | "
            "grep -qx 'image,label,origin,rather,score of upright'");
  shell(&c, "test $(wc -l <answers.csv) = 25");
  sheet_says(&c, "in/a02.pgm", ",flat,given,,-[0-9.]*$");
  sheet_says(&c, "in/a04.pgm", ",upright,given,flat,");
  sheet_says(&c, "in/a20.pgm", ",flat,filled,,-[0-9.]*$");
  command_do(&c, TABLE "table:v.csv -o answers.tsv");
  shell(&c, "tr '\\t' , <answers.tsv | cmp - answers.csv");
  command_do(&c, TABLE "table:v.csv --coverage .6 -o answers.csv");
  assert_non_null(strstr(c.err, "of \"upright\"")); /* the least covered */
  shell(&c, "head -n 1 answers.csv | "
            "grep -qx 'image,label,origin,rather,set,score of upright'");
  sheet_says(&c, "in/a20.pgm", ",flat,filled,,flat,-[0-9.]*$");
  command_do(&c, TABLE "table:v.csv --coverage .95 -o answers.csv");
  sheet_says(&c, "in/a20.pgm", ",flat,filled,,\"flat;upright\",-[0-9.]*$");
  command_end(&c);
}

/* The line of an image ends so. */
static void given_says(const command *c, const char *line, const char *given)
{
  const char *at = strstr(c->out, line);
  assert_non_null(at);
  size_t size = strcspn(at, "\n"), n = strlen(given);
  assert_memory_equal(at + size - n - 2, "  ", 2);
  assert_memory_equal(at + size - n, given, n);
}

static void json_says(const command *c, const char *image, const char *given)
{
  const char *at = strstr(c->out, image);
  assert_non_null(at);
  const char *found = strstr(at, given), *scores = strstr(at, "\"scores\"");
  assert_true(found != NULL && found < scores);
}

/* Cells of several labels: each is given or filled. */
static void cells_of_the_sheet_have_an_origin(void **state)
{
  command c;
  char table[2048] = "file,flat,upright\n";
  begin(&c);
  write_csv(&c, "v.csv", true, true, false, -1, "");
  for (int i = 0; i < 16; i++)
    sprintf(table + strlen(table), "a%02d.pgm,%d,%s\n", i, i % 2 == 0,
            i == 3       ? ""
            : i % 2 == 1 ? "1"
                         : "0");
  write_text(&c, "labels.csv", table);
  command_do(&c, TABLE "table:v.csv -o answers.csv --suspects 0");
  shell(&c, "head -n 1 answers.csv | grep -qx 'image,label,origin,rather,"
            "origin of flat,origin of upright,score of flat,score of upright'");
  sheet_says(&c, "in/a02.pgm", ",flat,given,,given,given,");
  sheet_says(&c, "in/a03.pgm", ",upright,partly given,,given,filled,");
  sheet_says(&c, "in/a21.pgm", ",upright,filled,,filled,filled,");
  command_do(&c, TABLE "table:v.csv -o answers.csv --suspects 0 "
                       "--coverage .6");
  sheet_says(&c, "in/a21.pgm", ",upright,filled,,upright,filled,filled,");
  command_do(&c, TABLE "table:v.csv --suspects 0");
  given_says(&c, "in/a02.pgm  flat ", "yes");
  given_says(&c, "in/a03.pgm  upright ", "partly");
  given_says(&c, "in/a21.pgm  upright ", "-");
  command_do(&c, TABLE "table:v.csv --suspects 0 --json");
  json_says(&c, "in/a02.pgm", "\"given\": true");
  json_says(&c, "in/a02.pgm", "\"partly_given\": false");
  json_says(&c, "in/a03.pgm", "\"given\": false");
  json_says(&c, "in/a03.pgm", "\"partly_given\": true");
  command_end(&c);
}

/* ---- what is printed ----------------------------------------------------*/
/* Characters up to the score's last digit: three behind the last point. */
static int score_ends(const char *line, const char *end)
{
  int characters = 0, found = 0;
  for (const char *at = line; at < end; at++) {
    characters += ((unsigned char)*at & 0xc0) != 0x80;
    if (*at == '.' && end - at > 3 && strspn(at + 1, "0123456789") == 3)
      found = characters + 3;
  }
  return found;
}

/* Names of other alphabets, and a long one, break no line of the table. */
static void columns_stand_below_each_other(void **state)
{
  command c;
  int first = 0, lines = 0;
  begin(&c);
  shell(&c, "cd in && mv a20.pgm \303\251t\303\251.pgm && "
            "mv a21.pgm \316\251.pgm && mv a22.pgm "
            "$(printf 'n%.0s' $(seq 70)).pgm");
  command_do(&c, LABEL);
  const char *end, *line = strchr(c.out, '\n') + 1;
  for (; strncmp(line, "in/", 3) == 0; line = end + 1, lines++) {
    end = strchr(line, '\n');
    assert_non_null(end);
    assert_true(end[-1] != ' ');
    int ends = score_ends(line, end);
    if (lines == 0) first = ends;
    assert_true(ends > 0);
    assert_int_equal(ends, first);
  }
  assert_int_equal(lines, IMAGES);
  command_end(&c);
}

/* Eight people with three images each: who is on both sides of a fold makes
 * figures too good.  A column of measures, and one of one value, are none. */
static void a_column_that_repeats_is_named(void **state)
{
  command c;
  char table[4096] = "file,label,size,who,camera\n";
  begin(&c);
  for (int i = 0; i < 12; i++)
    sprintf(table + strlen(table), "a%02d,%s,%d.5,p%d,one\n", i, two[i % 2],
            i % 3, i / 3);
  write_text(&c, "people.csv", table);
  command_run(&c, "label in --labels people.csv --features hog " GIVEN);
  command_expect(&c, 0, LIKE_A_GROUP "give --groups who");
  command_do(&c, "label in --labels people.csv --groups who --features "
                 "hog " GIVEN);
  assert_null(strstr(c.err, "--groups"));
  command_run(&c, "label in --labels labels.csv --features hog " GIVEN);
  assert_null(strstr(c.err, "--groups"));
  command_end(&c);
}

static int count_of(const command *c, const char *name, const char *text)
{
  static char all[65536];
  int count = 0;
  command_slurp(c, name, all, sizeof all);
  for (const char *at = all; (at = strstr(at, text)) != NULL; at++) count++;
  return count;
}

/* Labels of strangers: what is a class, and how it is written. */
static void labels_are_what_is_written(void **state)
{
  static const struct {
    const char *label[2], *written[2], *said;
  } tried[] = {{{"01", "1"}, {"01", "1"}, ""},
               {{"1.0", "1.10"}, {"1.0", "1.10"}, ""},
               {{"3a", "4"}, {"3a", "4"}, ""},
               {{"none", "x"}, {"\"none\"", "x"}, "\"none\" occurs 5 times"},
               {{"\"NA\"", "x"}, {"\"NA\"", "x"}, ""},
               {{"Yes", "yes"}, {"Yes", "yes"}, "differ in case or blanks"},
               {{"@home", "-out"}, {"'@home", "'-out"}, ""}};
  command c;
  begin(&c);
  write_csv(&c, "v.csv", true, true, false, -1, NULL);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    char table[2048] = "file,label\n", wanted[64];
    for (int i = 0; i < IMAGES; i++)
      sprintf(table + strlen(table), "a%02d,%s\n", i,
              i < 10 ? tried[k].label[i % 2] : "");
    write_text(&c, "who.csv", table);
    command_run(&c, "label in --labels who.csv --labels-out out.csv "
                    "--features table:v.csv --no-cache " GIVEN);
    command_expect(&c, 0, tried[k].said);
    for (int i = 0; i < 2; i++) {
      snprintf(wanted, sizeof wanted, ",%s,", tried[k].written[i]);
      assert_int_equal(count_of(&c, "out.csv", wanted), IMAGES / 2);
    }
  }
  command_end(&c);
}

/* A class of one image is likely misspelt; of spellings that differ in case the
 * rarer ones are to be written as the commonest, in one remark. */
static void rare_spellings_are_told(void **state)
{
  static const char *const rare[][3] = {{"opne", "open", "shut"},
                                        {"Open", "open", "shut"},
                                        {"OPEN", "Open", "open"}};
  command c;
  begin(&c);
  write_csv(&c, "v.csv", true, true, false, -1, NULL);
  for (int k = 0; k < 3; k++) {
    char table[2048] = "file,label\n";
    for (int i = 0; i < IMAGES; i++)
      sprintf(table + strlen(table), "a%02d,%s\n", i,
              i < 10 ? rare[k][i == 0       ? 0
                               : i % 3 == 0 ? 1
                                            : 2]
                     : "");
    write_text(&c, "who.csv", table);
    command_run(&c, "label in --labels who.csv --features table:v.csv "
                    "--no-cache " GIVEN);
    command_expect(&c, 0, k == 0 ? CLASS_OF_ONE : DIFFER_IN_CASE);
    assert_int_equal(strstr(c.err, CLASS_OF_ONE) != NULL, k == 0);
    const char *first = strstr(c.err, DIFFER_IN_CASE);
    assert_true(first == NULL || strstr(first + 1, DIFFER_IN_CASE) == NULL);
    if (k == 1) check_says(c.err, "write \"Open\" as \"open\" in");
    if (k == 2)
      check_says(c.err, "write \"OPEN\" as \"open\", \"Open\" as \"open\" in");
  }
  command_end(&c);
}

/* All that has to be mended is told at once: rows of no image, images that are
 * none. */
static void all_faults_are_told_at_once(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_text(&c, "in/b0.png", "no picture");
  write_text(&c, "in/b1.pgm", "P5 9 9 255 short");
  write_text(&c, "labels.csv",
             "file,what\na00.pgm,u\na01.pgm,v\ny.pgm,u\na02.pgm,u\nz.pgm,v\n");
  command_run(&c, LABEL " -q");
  command_expect(&c, 4, "labels.csv:4: 'y.pgm'");
  check_says(c.err, "1 more, on line 6");
  check_says(c.err, "2 of 26 " CANNOT_BE_USED ": in/b0.png, in/b1.pgm");
  shell(&c, "rm in/b0.png in/b1.pgm");
  command_run(&c, LABEL " -q");
  command_expect(&c, 4, "labels.csv:4: 'y.pgm'");
  assert_null(strstr(c.err, CANNOT_BE_USED));
  command_end(&c);
}

int test_table(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_stand_below_each_other),
      cmocka_unit_test(a_column_that_repeats_is_named),
      cmocka_unit_test(labels_are_what_is_written),
      cmocka_unit_test(rare_spellings_are_told),
      cmocka_unit_test(vectors_become_labels),
      cmocka_unit_test(rows_without_names_are_in_order),
      cmocka_unit_test(single_precision_is_read),
      cmocka_unit_test(bad_rows_are_named),
      cmocka_unit_test(misuse_is_refused),
      cmocka_unit_test(answers_become_a_sheet),
      cmocka_unit_test(all_faults_are_told_at_once),
      cmocka_unit_test(cells_of_the_sheet_have_an_origin),
  };
  return run_cases(tests, NULL, NULL);
}
