/* The command on cells that mean something else than they seem to: identity is
 * text, and missing is what the owner says. */
#include "command/verbs/people_case.h"
#include "remarks.h"

/* How many lines of a file hold the text. */
static int lines_with(const command *c, const char *name, const char *text)
{
  static char all[65536];
  int count = 0;
  command_slurp(c, name, all, sizeof all);
  for (char *at = strtok(all, "\n"); at != NULL; at = strtok(NULL, "\n"))
    count += strstr(at, text) != NULL;
  return count;
}

/* 40 rows "sK,A,B,LABEL" of two features apart by class; every fifth label is
 * `unknown`. */
static void put_classes(const command *c, const char *name,
                        const char *const *label, int classes,
                        const char *unknown)
{
  char text[8192];
  int used = snprintf(text, sizeof text, "id,a,b,kind\n");
  for (int i = 0; i < 40; i++) {
    int k = i % classes;
    bool asked = unknown != NULL && i / classes % 5 == 4;
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "s%d,%.2f,%.2f,%s\n", i, 3. * (k % 2) + .01 * i,
                     3. * (k / 2) - .01 * i, asked ? unknown : label[k]);
  }
  put(c, name, text);
}

static void spellings_of_one_number_are_classes(void **state)
{
  static const char *const labels[][2] = {
      {"01234", "1234"},
      {"1.1", "1.10"},
      {"9007199254740992", "9007199254740993"},
      {"007", "08"},
      {"1e3", "1000"},
      {"12345678901234567890", "12345678901234567891"}};
  command c;
  char text[64];
  begin(&c);
  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
    put_classes(&c, "t.csv", labels[i], 2, "");
    command_run(&c, "fit mc t.csv --id id --target kind --map standard "
                    "--mu-rel .02 -o a.csv --completed full.csv --model m");
    command_expect(&c, 0, i == 3 ? "" : TWO_SPELLINGS);
    for (int k = 0; k < 2; k++) {
      snprintf(text, sizeof text, ",%s,given", labels[i][k]);
      assert_int_equal(lines_with(&c, "a.csv", text), 16);
      snprintf(text, sizeof text, ",%s,filled", labels[i][k]);
      assert_int_equal(lines_with(&c, "a.csv", text), 4);
    }
    command_do(&c, "eval accuracy --truth full.csv --id id --target kind "
                   "--scores a.csv");
    assert_non_null(strstr(c.out, "accuracy 1.000000"));
    command_do(&c, "predict m t.csv -q -o p.csv");
    assert_true(lines_with(&c, "p.csv", text + 1) == 0);
    snprintf(text, sizeof text, ",%s", labels[i][1]);
    assert_int_equal(lines_with(&c, "p.csv", text), 20 + 0 * i);
    command_do(&c, "convert t.csv - --as csv --id id --target kind");
    snprintf(text, sizeof text, ",%s\n", labels[i][0]);
    assert_non_null(strstr(c.out, text));
  }
  command_end(&c);
}

/* Spelt in one way they are numbers, and a quantity is none of codes. */
static void quantities_stay_numbers(void **state)
{
  static const char *const floats[] = {"0.0", "1.0"};
  command c;
  char text[4096] = "a,y\n";
  begin(&c);
  put_classes(&c, "t.csv", floats, 2, "");
  command_do(&c, "convert t.csv - --as csv --id id --target kind");
  assert_null(strstr(c.out, "1.0\n"));
  for (int i = 0; i < 30; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%d.5,%d.%s\n",
             i * i % 17, 2 * i, i == 7 ? "50" : "5");
  put(&c, "q.csv", text);
  command_do(&c, "fit rr q.csv --target y -q -o a.csv");
  command_end(&c);
}

static void groups_are_texts_where_they_are_spelt_so(void **state)
{
  command c;
  begin(&c);
  put(&c, "t.csv", "a,b,who\n1,2,01\n2,3,1\n3,1,02\n4,5,2\n");
  command_do(&c, "convert t.csv g.npz -G who");
  lapis_arrays all;
  command_arrays(&c, "g.npz", &all);
  const lapis_array *group = lapis_arrays_find(&all, "group");
  assert_non_null(group);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++)
      assert_true(lapis_mat_at(&group->mat, 0, i) !=
                  lapis_mat_at(&group->mat, 0, j));
  lapis_arrays_free(&all);
  command_end(&c);
}

/* What a spreadsheet would run is written with a mark, which is no part of it,
 * and given cells stay to the byte. */
static void marks_against_formulas_come_off(void **state)
{
  static const char *const labels[] = {"@home", "=at \"\"work", "-out", "+up"};
  static const char table[] =
      "id,a,b,kind\n"
      "=bob, 1.0,2.0,@home\n'@ann,0.1,2.2,'@home\n\"+x, y\",3.0,0.2,\"-o\"\n"
      "-eve,3.1,0.1,-o\n''=q,1.1,,@home\n+ian,3.2,0.3,\n5' 3,0.9,2.1,\n";
  command c;
  char before[4096], after[4096];
  begin(&c);
  put(&c, "t.csv", table);
  command_do(&c, "fit mc t.csv --id id --target kind --map standard "
                 "--mu-rel .02 -q -o a.csv --completed full.csv");
  command_slurp(&c, "t.csv", before, sizeof before);
  command_slurp(&c, "full.csv", after, sizeof after);
  assert_memory_equal(after, before, strstr(before, "''=q") - before);
  assert_non_null(strstr(after, "+ian,3.2,0.3,'-o\n"));
  assert_non_null(strstr(after, "5' 3,0.9,2.1,'@home\n"));
  command_do(&c, "eval accuracy --truth full.csv --id id --target kind "
                 "--scores a.csv");
  assert_non_null(strstr(c.out, "accuracy 1.000000"));
  for (int k = 0; k < 4; k++) { /* there and back */
    const char *pair[] = {"plain", labels[k]};
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", labels[k]);
    pair[1] = quoted;
    put_classes(&c, "u.csv", pair, 2, "");
    command_run(&c, "convert u.csv u.npz --id id --target kind");
    command_run(&c, "convert u.npz v.csv");
    command_do(&c, "convert v.csv v.npz --id id --target kind");
    lapis_arrays all[2];
    command_arrays(&c, "u.npz", &all[0]);
    command_arrays(&c, "v.npz", &all[1]);
    for (int j = 0; j < 2; j++)
      assert_string_equal(
          ((char **)lapis_arrays_find(&all[0], "class_names")->mat.val)[j],
          ((char **)lapis_arrays_find(&all[1], "class_names")->mat.val)[j]);
    lapis_arrays_free(&all[0]);
    lapis_arrays_free(&all[1]);
  }
  command_end(&c);
}

static void classes_that_differ_in_case_are_told(void **state)
{
  static const char *const labels[][2] = {
      {"yes", "Yes"}, {"NSW", "nsw"}, {"a", "\" a\""}};
  static const char *const fine[] = {"yes", "yess"};
  command c;
  begin(&c);
  for (int i = 0; i < 3; i++) {
    put_classes(&c, "t.csv", labels[i], 2, "");
    command_run(&c, "fit mc t.csv --id id --target kind --mu-rel .1");
    command_expect(&c, 0, DIFFER_IN_CASE);
    command_run(&c, "info t.csv");
    assert_non_null(strstr(c.out, DIFFER_IN_CASE));
  }
  put_classes(&c, "t.csv", fine, 2, "");
  command_run(&c, "fit mc t.csv --id id --target kind --mu-rel .1");
  assert_null(strstr(c.err, "differ"));
  command_end(&c);
}

/* none beside empty cells is an answer; alone it is not. */
static void none_is_a_word_beside_empty_cells(void **state)
{
  static const char *const words[] = {"none", "None", "null", "NULL"};
  command c;
  char text[64];
  begin(&c);
  for (int i = 0; i < 4; i++) {
    const char *const labels[] = {words[i], "mild"};
    put_classes(&c, "t.csv", labels, 2, i % 2 ? "NA" : "");
    command_run(&c, "fit mc t.csv --id id --target kind --map standard "
                    "--mu-rel .02 -o a.csv --completed full.csv");
    command_expect(&c, 0, "is read as a word; --missing ");
    snprintf(text, sizeof text, "\"%s\",given", words[i]);
    assert_int_equal(lines_with(&c, "a.csv", text), 16);
    snprintf(text, sizeof text, "\"%s\",filled", words[i]);
    assert_int_equal(lines_with(&c, "a.csv", text), 4);
    snprintf(text, sizeof text, ",%s", words[i]);
    assert_int_equal(lines_with(&c, "full.csv", text), 16);
    command_do(&c, "eval accuracy --truth full.csv --id id --target kind "
                   "--scores a.csv");
    assert_non_null(strstr(c.out, "accuracy 1.000000"));
    const char *const three[] = {words[i], "mild", "severe"};
    put_classes(&c, "u.csv", three, 3, NULL);
    command_run(&c, "fit mc u.csv --id id --target kind --mu-rel .1 -o u.npz");
    command_expect(&c, 0, "is read as unknown; --missing '' reads it as");
    command_run(&c, "info u.csv --missing ''");
    snprintf(text, sizeof text, "%s 14", words[i]);
    assert_non_null(strstr(c.out, text));
    command_run(&c, "info t.csv --missing %s,NA", words[i]);
    assert_non_null(strstr(c.out, "mild 16"));
    assert_null(strstr(c.out, words[i]));
  }
  put(&c, "g.csv", "a,garage\n1,\n2,none\n3,none\n4,built\n5,built\n6,\n");
  command_run(&c, "convert g.csv - --as csv --one-hot garage");
  assert_non_null(strstr(c.out, "a,garage=built,garage=none\n1,,\n2,0,1\n"));
  command_end(&c);
}

static void words_in_quotes_are_words(void **state)
{
  static const char *const words[] = {"NA", "none", "?", "nan"};
  command c;
  char quoted[32], text[64];
  begin(&c);
  for (int i = 0; i < 4; i++) {
    snprintf(quoted, sizeof quoted, "\"%s\"", words[i]);
    const char *const labels[] = {quoted, "\"ZA\""};
    put_classes(&c, "t.csv", labels, 2, i % 2 ? "" : "NA");
    command_do(&c, "fit mc t.csv --id id --target kind --map standard "
                   "--mu-rel .02 -q -o a.csv");
    snprintf(text, sizeof text, "%s,given", quoted);
    assert_int_equal(lines_with(&c, "a.csv", text), 16);
    put_classes(&c, "u.csv", labels, 2, NULL);
    command_run(&c, "convert u.csv u.npz --id id --target kind");
    command_do(&c, "convert u.npz v.csv");
    assert_int_equal(lines_with(&c, "v.csv", quoted), 20);
    command_run(&c, "info v.csv");
    assert_non_null(strstr(c.out, "kind             class          0 missing"));
  }
  /* quotes around everything say nothing */
  put(&c, "q.csv",
      "\"a\",\"y\"\n\"1\",\"NA\"\n\"2\",\"x\"\n\"3\",\"z\"\n"
      "\"4\",\"x\"\n\"NA\",\"z\"\n");
  command_run(&c, "info q.csv");
  assert_non_null(strstr(c.out, "y                class          1 missing"));
  command_run(&c, "info q.csv --header yes --missing ''");
  assert_non_null(strstr(c.out, "y                class          0 missing"));
  command_end(&c);
}

static void numbers_that_mean_unknown_are_told(void **state)
{
  static const char *const codes[] = {"-999", "9999", "-99.0", "1e20"};
  command c;
  char text[4096], note[64];
  begin(&c);
  for (int i = 0; i < 4; i++) {
    strcpy(text, "age,dose,y\n");
    for (int k = 0; k < 40; k++) {
      snprintf(note, sizeof note, "%.2f", 2.5 + .75 * (k * 5 % 8));
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s,%.2f,%s\n",
               k % 6 == 2 ? codes[i] : note, .1 * (k * 7 % 31),
               k % 5 ? k % 2 ? "yes" : "no" : "");
    }
    put(&c, "t.csv", text);
    command_run(&c, "info t.csv");
    snprintf(note, sizeof note, "give --missing %.15g", strtod(codes[i], NULL));
    if (strstr(c.out, note) == NULL) fail_msg("%s: %s", note, c.out);
    command_run(&c, "fit mc t.csv --target y --mu-rel .1");
    command_expect(&c, 0, note);
    command_do(&c, "fit mc t.csv --target y --mu-rel .1 --missing %.15g",
               strtod(codes[i], NULL));
    assert_null(strstr(c.err, "--missing"));
  }
  strcpy(text, "n,y\n"); /* many zeros below are none */
  for (int k = 0; k < 40; k++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d.5\n",
             k % 3 ? k % 7 * 3 : 0, k);
  put(&c, "z.csv", text);
  command_run(&c, "info z.csv");
  assert_null(strstr(c.out, FAR_FROM_OTHERS));
  command_end(&c);
}

/* 17 811 and 17'811, with blanks of any kind; 12 34 is no number, and a mark
 * that changes within one is none. */
static void thousands_may_stand_apart(void **state)
{
  static const char *const between[] = {" ",      "'",      "\u00a0",
                                        "\u2009", "\u202f", "\u2019"};
  static const char *const none[] = {"12 34",     "0 123",    "1 2345",
                                     "1 234'567", "1234 567", "1  234"};
  command c;
  char text[256];
  begin(&c);
  for (size_t k = 0; k < sizeof between / sizeof *between; k++) {
    const char *m = between[k];
    snprintf(text, sizeof text, "a,b\n17%s811,1\n-1%s234%s567.5,2\n%d,3\n", m,
             m, m, 950);
    put(&c, "t.csv", text);
    command_do(&c, "convert t.csv - --as csv");
    assert_non_null(strstr(c.out, "a,b\n17811,1\n-1234567.5,2\n950,3\n"));
    snprintf(text, sizeof text, "a;b\n17%s811,25;1\n950;3\n", m);
    put(&c, "u.csv", text);
    command_do(&c, "convert u.csv - --as csv --decimal ,");
    assert_non_null(strstr(c.out, "a,b\n17811.25,1\n950,3\n"));
  }
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
    snprintf(text, sizeof text, "a,b\n\"%s\",1\n5,2\n", none[k]);
    put(&c, "v.csv", text);
    command_run(&c, "convert v.csv - --as csv");
    command_expect(&c, 4, "holds the text");
  }
  command_end(&c);
}

static void a_list_adds_to_the_usual_words(void **state)
{
  command c;
  begin(&c);
  put(&c, "t.csv", "a,b\n1,-9\nNA,2\n-9.0,3\n4,5\n");
  command_do(&c, "convert t.csv - --as csv --missing -9");
  assert_non_null(strstr(c.out, "a,b\n1,\n,2\n,3\n4,5\n"));
  command_do(&c, "convert t.csv - --as csv --missing -9,unknown");
  assert_non_null(strstr(c.out, "a,b\n1,\n,2\n,3\n4,5\n"));
  command_run(&c, "convert t.csv - --as csv --missing ,unknown");
  command_expect(&c, 4, "NA");
  put(&c, "u.csv", "a,b\n1,Unknown\nunknown,2\n3,4\n");
  command_do(&c, "convert u.csv - --as csv --missing UNKNOWN");
  assert_non_null(strstr(c.out, "a,b\n1,\n,2\n3,4\n"));
  assert_null(strstr(c.err, IS_NAMED_MISSING));
  put(&c, "v.csv", "a,b\n1,2\n,3\n");
  command_do(&c, "convert v.csv - --as csv --missing unknwon");
  assert_non_null(strstr(c.err, IS_NAMED_MISSING));
  command_end(&c);
}

/* Sex is 1 or 2, children come whole, and 0123 stays 0123. */
static void codes_are_filled_with_codes(void **state)
{
  command c;
  char text[4096] = "sex,stage,age,bmi\n";
  begin(&c);
  for (int k = 0; k < 24; k++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s,%s,%s,%.1f\n",
             k % 5 == 1 ? ""
             : k % 2    ? "1"
                        : "2",
             k % 7 == 2 ? ""
             : k % 2    ? "01"
                        : "04",
             k % 6 == 3 ? ""
             : k % 2    ? (k % 4 == 1 ? "40" : "43")
                        : "61",
             k % 2 ? 20 + .1 * k : 30 - .1 * k);
  put(&c, "t.csv", text);
  command_do(&c, "fit mc t.csv --map standard --mu-rel .05 -q --completed "
                 "full.csv");
  for (int k = 1; k <= 24; k++) {
    const char *sex = cell(&c, "full.csv", k, 0, ',');
    assert_true(strcmp(sex, "1") == 0 || strcmp(sex, "2") == 0);
    const char *stage = cell(&c, "full.csv", k, 1, ',');
    assert_true(strcmp(stage, "01") == 0 || strcmp(stage, "04") == 0);
    double age = number(&c, "full.csv", k, 2);
    assert_true(age == floor(age));
  }
  command_end(&c);
}

/* "first" above `rows` rows of `columns` columns, of numbers with fractions;
 * the last two are whole. */
static void put_matrix(const command *c, const char *first, int rows,
                       int columns, bool index)
{
  char text[16384];
  int used = snprintf(text, sizeof text, "%s\n", first);
  for (int i = 0; i < rows; i++) {
    if (index)
      used += snprintf(text + used, sizeof text - (size_t)used, "%d,", i);
    for (int j = 0; j < columns; j++)
      used += snprintf(text + used, sizeof text - (size_t)used, "%s%.*f",
                       j > 0 ? "," : "", j + 2 < columns ? 2 : 0,
                       (i * 7 + j * 5) % 13 * .37 + .1 * i * (j % 2));
    used += snprintf(text + used, sizeof text - (size_t)used, "\n");
  }
  put(c, "t.csv", text);
}

static void numbers_in_the_first_row_are_titles(void **state)
{
  static const struct {
    const char *first;
    int columns;
    bool index, said;
  } tried[] = {{"0,1,2,3", 4, false, true},
               {",0,1,2,3", 4, true, false},
               {"1,2,3,4", 4, false, true},
               {"2018,2019,2020,2021", 4, false, true},
               {"1999,2004,2010", 3, false, true},
               {"-2,-1,0,1", 4, false, true},
               {"400,410,420,430,440", 5, false, true},
               {"name,2018,2019,2020", 3, true, true},
               {",b,c", 2, true, false}};
  command c;
  begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    put_matrix(&c, tried[i].first, 20, tried[i].columns, tried[i].index);
    command_run(&c, "convert t.csv t.npz");
    if (strstr(c.err, tried[i].said ? "--header no reads" : "") == NULL)
      fail_msg("%s: %s", tried[i].first, c.err);
    command_expect(&c, 0, "");
    command_run(&c, "info t.npz:X");
    char shape[32];
    snprintf(shape, sizeof shape, "20 x %d", tried[i].columns + tried[i].index);
    if (strstr(c.out, shape) == NULL) fail_msg("%s: %s", tried[i].first, c.out);
    command_do(&c, "fit mc t.csv --mu-rel .1 --completed full.csv");
    assert_true(strncmp(tried[i].first, cell(&c, "full.csv", 0, 0, '\n'),
                        strlen(tried[i].first)) == 0);
  }
  command_end(&c);
}

static void numbers_in_the_first_row_are_a_sample(void **state)
{
  static const char *const tried[] = {
      "1,2,3\n2,3,4\n3,4,5\n4,5,6\n",         /* lags */
      "0,1\n1,0\n1,1\n0,0\n",                 /* bits */
      "1,2,3\n3,1,2\n2,3,1\n3,2,1\n",         /* ranks */
      "1.5,2.5,3.5\n2,1,.5\n3,3.5,2\n1,1,1\n" /* no titles */
  };
  command c;
  begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    put(&c, "t.csv", tried[i]);
    command_run(&c, "info t.csv");
    if (strstr(c.out, "4 rows,") == NULL) fail_msg("%zu: %s", i, c.out);
  }
  put(&c, "t.csv", tried[2]);
  command_run(&c, "convert t.csv t.npz");
  command_expect(&c, 0, "--header yes reads it as titles");
  command_end(&c);
}

static void a_title_comes_before_a_number(void **state)
{
  command c;
  begin(&c);
  put(&c, "t.csv",
      "0,1,2,-1,a[1],a1\n1.5,2.5,3.5,4.5,5.5,6.5\n"
      "2.5,3.5,4,5,6,7\n");
  command_run(&c, "convert t.csv - --as csv --header yes --use 0,1");
  command_expect(&c, 0, TAKEN_FOR_TITLE);
  assert_non_null(strstr(c.out, "0,1\n1.5,2.5\n"));
  command_do(&c, "convert t.csv - --as csv --header yes --use '#1,#2'");
  assert_string_equal(c.err, "");
  assert_non_null(strstr(c.out, "0,1\n1.5,2.5\n"));
  command_run(&c, "convert t.csv - --as csv --header yes --drop -1");
  assert_non_null(strstr(c.out, "0,1,2,a[1],a1\n"));
  command_do(&c, "convert t.csv - --as csv --header yes --use 'a[1]'");
  assert_non_null(strstr(c.out, "a[1]\n5.5\n"));
  command_run(&c, "convert t.csv - --as csv --header yes --use 'a*' --target "
                  "6");
  assert_non_null(strstr(c.out, "a[1],a1\n")); /* no title 6: the sixth */
  command_run(&c, "convert t.csv - --as csv --header yes --use 7");
  command_expect(&c, 2, "7");
  command_run(&c, "convert t.csv - --as csv --header yes --use '#7'");
  command_expect(&c, 2, "#7");
  command_end(&c);
}

static void numbers_of_rows_are_no_features(void **state)
{
  static const struct {
    int start, step, gap, place;
  } tried[] = {{1001, 1, 0, 0}, {40, 1, 3, 0},    {90, -1, 0, 0},
               {1, 1, 0, 2},    {5000, -7, 2, 1}, {0, 1, 0, 2}};
  command c;
  char text[8192], said[64];
  begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    static const char *const titles[] = {"k,a,b,y\n", "a,k,b,y\n", "a,b,k,y\n"};
    int p = tried[i].place, used = snprintf(text, sizeof text, "%s", titles[p]);
    for (int r = 0; r < 30; r++) {
      int k = tried[i].start + tried[i].step * (r + tried[i].gap * (r / 5));
      for (int j = 0, v = 0; j < 3; j++)
        used +=
            j == p ? snprintf(text + used, sizeof text - (size_t)used, "%d,", k)
                   : snprintf(text + used, sizeof text - (size_t)used, "%.2f,",
                              (r * 7 % 11) * .3 + v++);
      used += snprintf(text + used, sizeof text - (size_t)used, "%s\n",
                       r % 6 == 5 ? ""
                       : r < 15   ? "no"
                                  : "yes");
    }
    put(&c, "t.csv", text);
    snprintf(said, sizeof said, "column %d (\"k\") numbers the rows", p + 1);
    command_run(&c, "fit linear t.csv --target y --model m");
    command_expect(&c, 0, said);
    check_says(c.err, "* --use");
    assert_non_null(strstr(c.out, "2 features"));
    command_do(&c, "predict m t.csv -q -o p.csv");
    command_run(&c, "fit linear t.csv --target y --use '*'");
    assert_non_null(strstr(c.out, "3 features"));
    assert_string_equal(c.err, "");
    command_run(&c, "info t.csv");
    assert_non_null(strstr(c.out, NUMBERS_THE_ROWS));
    command_run(&c, "convert t.csv t.npz --target y");
    command_expect(&c, 0, "is read as a feature");
    command_run(&c, "info t.npz:X");
    assert_non_null(strstr(c.out, "30 x 3"));
  }
  command_end(&c);
}

static void measures_that_rise_are_features(void **state)
{
  command c;
  char text[4096] = "h,w,y\n";
  begin(&c);
  for (int r = 0; r < 30; r++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%.1f,%s\n",
             150 + r - r % 10 / 9, r + .5, r % 2 ? "a" : "b");
  put(&c, "t.csv", text);
  command_do(&c, "fit linear t.csv --target y");
  assert_non_null(strstr(c.out, "2 features"));
  put(&c, "t.csv",
      "year,y\n1990,1.5\n1991,2.5\n1992,3\n1993,4\n1994,4.5\n"
      "1995,6\n");
  command_run(&c, "fit rr t.csv --target y"); /* there is no other */
  command_expect(&c, 0, "is read as a feature");
  command_end(&c);
}

static void a_quote_does_not_swallow_rows(void **state)
{
  static const char *const refused[] = {
      "n,a,b\nx,1,2\n\"20 inch,3,4\ny,5,6\n21 inch\",7,8\nz,9,10\n",
      "n,a,b\nx,1,2\ny,3,\"4\nz,5,6\"\nu,7,8\n",
      "n;a;b\r\nx;1;2\r\n\"y;3;4\r\nz\";5;6\r\nu;7;8\r\n"};
  static const char *const fine[] = {
      "n,a,b\nx,1,2\n\"two, or\nthree, four\",3,4\nz,5,6\n",
      "n,a,b\nx,1,2\n\"two\nlines\",3,4\nz,5,6\n",
      "a,b,n\n1,2,\"12 Main St, X\nUSA\"\n3,4,\"5, Y\nUK\"\n5,6,z\n",
      "n,m\nx,y\n\"one\ntwo\",y\n\"a, b\nc\",z\nx,z\n"};
  command c;
  begin(&c);
  for (int i = 0; i < 3; i++) {
    put(&c, "t.csv", refused[i]);
    command_run(&c, "convert t.csv o.csv --id n");
    command_expect(&c, 4,
                   i == 1 ? "t.csv:3:5: this quote is closed 1 line"
                          : "t.csv:3:1: this quote is closed");
    assert_false(command_exists(&c, "o.csv"));
    command_run(&c, "info t.csv");
    command_expect(&c, 4, "");
  }
  for (int i = 0; i < 4; i++) {
    put(&c, "t.csv", fine[i]);
    command_do(&c, "info t.csv");
  }
  command_end(&c);
}

static void a_class_the_truth_lacks_is_wrong(void **state)
{
  static const char *const tried[][2] = {
      /* truth, answers of four */
      {"cat,dog,cat,dog", "cat,bird,cat,dog"},
      {"1,2,1,2", "1,3,1,2"},
      {"cat,cat,cat,cat", "cat,ox,cat,cat"},
      {"7,7,7,7", "7,9,7,7"},
      {"01,1,01,1", "01,001,01,1"},
      {"a,b,c,a", "a,b,d,a"}};
  command c;
  begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    for (int f = 0; f < 2; f++) {
      char text[256] = "id,kind\n", cells[64];
      strcpy(cells, tried[i][f]);
      char row = 'r';
      for (char *at = strtok(cells, ","); at != NULL; at = strtok(NULL, ","))
        snprintf(text + strlen(text), 64, "%c,%s\n", row++, at);
      put(&c, f == 0 ? "t.csv" : "a.csv", text);
    }
    command_do(&c, "eval accuracy --truth t.csv --id id --target kind "
                   "--scores a.csv");
    if (strstr(c.out, "accuracy 0.750000") == NULL)
      fail_msg("%zu: %s", i, c.out);
    command_run(&c, "eval hamming --truth t.csv --id id --target kind "
                    "--scores a.csv");
    assert_non_null(strstr(c.out, "hamming 0.250000"));
  }
  put(&c, "a.csv", "id,kind\nr,.5\ns,.25\nt,1\nu,2\n");
  put(&c, "t.csv", "id,kind\nr,1\ns,2\nt,1\nu,2\n");
  command_run(&c, "eval accuracy --truth t.csv --id id --target kind "
                  "--scores a.csv");
  command_expect(&c, 4, "scores");
  command_end(&c);
}

static void scores_of_numbered_classes_go_by_their_title(void **state)
{
  static const char *const tried[][3] = {
      {"5", "7", "7"}, {"0", "1", "1"}, {"2", "10", "10.0"}, {"-1", "1", "1"}};
  command c;
  char text[256];
  begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    const char *a = tried[i][0], *b = tried[i][1];
    snprintf(text, sizeof text, "id,kind\na,%s\nb,%s\nc,%s\nd,%s\n", a, b, a,
             b);
    put(&c, "t.csv", text);
    snprintf(text, sizeof text,
             "id,probability of %s\na,.1\nb,.8\nc,.6\nd,.4\n", tried[i][2]);
    put(&c, "s.csv", text);
    command_do(&c, "eval auroc --truth t.csv --id id --target kind --scores "
                   "s.csv");
    assert_non_null(strstr(c.out, "auroc 0.750000"));
    snprintf(text, sizeof text, "id,score of %s\na,.9\nb,.2\nc,.4\nd,.6\n", a);
    put(&c, "s.csv", text);
    command_run(&c, "eval auroc --truth t.csv --id id --target kind --scores "
                    "s.csv");
    command_expect(&c, 4, "");
  }
  command_end(&c);
}

/* One new word, or a row without a value, stops no other answer. */
static void what_is_unknown_stops_no_answer(void **state)
{
  static const char *const methods[] = {"svmplus",
                                        "svmplus --kernel rbf",
                                        "svmplus --kernel rbf --scale standard",
                                        "linear",
                                        "trees",
                                        "rlda",
                                        "mc --map standard --mu-rel .05"};
  command c;
  char text[4096] = "id,a,colour,kind\n";
  begin(&c);
  for (int i = 0; i < 40; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "s%d,%.2f,%s,%s\n", i, 3. * (i % 2) + .1 * (i % 7),
             i % 3 == 0   ? "red"
             : i % 3 == 1 ? "green"
                          : "blue",
             i % 2 ? "yes" : "no");
  put(&c, "t.csv", text);
  put(&c, "n.csv",
      "id,a,colour\nn1,0.1,red\nn2,3.2,green\nn3,3.4,pink\n"
      "n4,,\nn5,.2,\n");
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    command_do(&c,
               "fit %s t.csv --id id --one-hot colour --target kind -q "
               "--model m",
               methods[i]);
    command_run(&c, "predict m n.csv -o p.csv");
    command_expect(&c, 0, NO_VALUE_OF);
    if (strstr(c.err, "row 4 of X: no feature is observed") == NULL &&
        strcmp(methods[i], "linear") != 0 && strcmp(methods[i], "trees") != 0)
      fail_msg("%s: %s", methods[i], c.err);
    assert_string_equal(cell(&c, "p.csv", 1, 1, ','), "no");
    assert_string_equal(cell(&c, "p.csv", 2, 1, ','), "yes");
    if (i < 5) assert_string_equal(cell(&c, "p.csv", 3, 1, ','), "yes");
    assert_true(*cell(&c, "p.csv", 4, 1, ',') != '\0');
    if (i < 5) assert_string_equal(cell(&c, "p.csv", 5, 1, ','), "no");
  }
  command_end(&c);
}

/* Answers are of the samples that the labels' file names. */
static void answers_keep_the_ids_of_labels(void **state)
{
  static const char *const titles[] = {"id", "ID", "number", "other"};
  command c;
  char x[2048] = "", y[2048], first[32];
  begin(&c);
  for (int i = 0; i < 20; i++)
    snprintf(x + strlen(x), sizeof x - strlen(x), "%.1f,%.1f\n", i % 2 * 3 + .1,
             i % 2 * -2 + .1 * i);
  put(&c, "x.csv", x);
  command_run(&c, "convert x.csv x.npz");
  for (int t = 0; t < 4; t++) {
    snprintf(y, sizeof y, "%s,label\n", titles[t]);
    for (int i = 0; i < 20; i++)
      snprintf(y + strlen(y), sizeof y - strlen(y), "%s%d,%s\n",
               t == 2 ? "" : "k", t == 2 ? 100 + i : 99 - i,
               i > 12  ? ""
               : i % 2 ? "yes"
                       : "no");
    put(&c, "l.csv", y);
    command_do(&c, "fit mc -X x.npz -Y l.csv:label --mu-rel .1 -q -o a.csv");
    snprintf(first, sizeof first, t == 2 ? "100" : t == 3 ? "1" : "k99");
    assert_string_equal(cell(&c, "a.csv", 0, 0, ','),
                        t == 3 ? "row" : titles[t]);
    assert_string_equal(cell(&c, "a.csv", 1, 0, ','), first);
    command_do(&c,
               "fit mc -X x.npz -Y l.csv --target label --id %s --mu-rel "
               ".1 -q -o a.csv",
               titles[t]);
    assert_string_equal(cell(&c, "a.csv", 0, 0, ','), titles[t]);
  }
  command_end(&c);
}

/* In .svm what is left out is 0, the last features, too. */
static void a_short_svm_file_is_answered(void **state)
{
  static const char *const methods[] = {"linear", "rlda", "svmplus",
                                        "linear --map standard"};
  command c;
  begin(&c);
  put(&c, "t.svm",
      "1 1:2 2:1 5:1\n-1 1:-2 3:1\n1 1:3 2:2\n-1 1:-3 4:1\n"
      "1 1:2.5 5:2\n-1 1:-2.5\n");
  put(&c, "n.svm", "1 1:2.5\n-1 1:-2.5\n");
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    command_do(&c, "fit %s t.svm --model m -q", methods[i]);
    command_do(&c, "predict m n.svm");
    assert_string_equal(c.out, "1\t1\n2\t-1\n");
  }
  put(&c, "n.svm", "1 1:2 6:1\n");
  command_run(&c, "predict m n.svm");
  command_expect(&c, 4, "6 5");
  command_end(&c);
}

/* Files of others are read, or refused with what they are. */
static void files_from_elsewhere_are_named(void **state)
{
  static const char *const tables[] = {
      "sep=;\nid;a;b\nx;1;2\ny;3;4\n", "sep=,\r\nid,a,b\r\nx,1,2\r\ny,3,4\r\n",
      "SEP=|\nid|a|b\nx|1|2\ny|3|4\n", "id|a|b\nx|1|2\ny|3|4\n"};
  static const struct {
    const char *name, *text, *said;
  } refused[] = {
      {"o.mat", "# Created by Octave 8.4\n# name: X\n# type: matrix\n1 2\n",
       "is Octave's text format; save it with -v7"},
      {"o.mat", "# name: X\n# type: scalar\n1\n", "is Octave's text format"},
      {"r.csv", "# made by x\na,b\n1,2\n", "if it is a remark, take it out"}};
  command c;
  begin(&c);
  for (int i = 0; i < 4; i++) {
    put(&c, "t.csv", tables[i]);
    command_do(&c, "convert t.csv - --as csv --id id");
    assert_string_equal(c.out, "id,a,b\nx,1,2\ny,3,4\n");
  }
  for (int i = 0; i < 3; i++) {
    put(&c, refused[i].name, refused[i].text);
    command_run(&c, "convert %s o.npz", refused[i].name);
    command_expect(&c, 4, refused[i].said);
    assert_false(command_exists(&c, "o.npz"));
  }
  static const char matlab_4[] = "\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0X\0"
                                 "\0\0\0\0\0\0\360?";
  command_write(&c, "m.mat", matlab_4, sizeof matlab_4 - 1);
  command_run(&c, "convert m.mat o.npz");
  command_expect(&c, 4, "4 -v7");
  command_end(&c);
}

int test_meaning(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spellings_of_one_number_are_classes),
      cmocka_unit_test(quantities_stay_numbers),
      cmocka_unit_test(groups_are_texts_where_they_are_spelt_so),
      cmocka_unit_test(marks_against_formulas_come_off),
      cmocka_unit_test(classes_that_differ_in_case_are_told),
      cmocka_unit_test(none_is_a_word_beside_empty_cells),
      cmocka_unit_test(words_in_quotes_are_words),
      cmocka_unit_test(numbers_that_mean_unknown_are_told),
      cmocka_unit_test(thousands_may_stand_apart),
      cmocka_unit_test(a_list_adds_to_the_usual_words),
      cmocka_unit_test(codes_are_filled_with_codes),
      cmocka_unit_test(numbers_in_the_first_row_are_titles),
      cmocka_unit_test(numbers_in_the_first_row_are_a_sample),
      cmocka_unit_test(a_title_comes_before_a_number),
      cmocka_unit_test(numbers_of_rows_are_no_features),
      cmocka_unit_test(measures_that_rise_are_features),
      cmocka_unit_test(a_quote_does_not_swallow_rows),
      cmocka_unit_test(a_class_the_truth_lacks_is_wrong),
      cmocka_unit_test(what_is_unknown_stops_no_answer),
      cmocka_unit_test(answers_keep_the_ids_of_labels),
      cmocka_unit_test(a_short_svm_file_is_answered),
      cmocka_unit_test(files_from_elsewhere_are_named),
      cmocka_unit_test(scores_of_numbered_classes_go_by_their_title),
  };
  return run_cases(tests, NULL, NULL);
}
