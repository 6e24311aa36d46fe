/* Targets that nothing can be learnt from are refused before the work, by the
 * name of their column; where little was learnt it is said; rows are named as
 * they stand in the file. */
#include "command.h"
#include "lapis/choose.h"
#include "remarks.h"

enum { N = 60, D = 4, KNOWN = 30 };

/* What the column y of row j holds, whose features are x; to: room for it. */
typedef const char *(*answer_fn)(int j, const double *x, char *to);

static void write_table(const command *c, const char *name, const char *titles,
                        int blank, answer_fn answer)
{
  static char text[16384];
  char room[64];
  uint64_t seed = 11;
  int used = snprintf(text, sizeof text, "a,b,c,d,%s\n", titles);
  for (int j = 0; j < N; j++) {
    double x[D];
    for (int i = 0; i < D; i++) x[i] = check_normal(&seed);
    for (int i = 0; i < D; i++)
      used += j + 1 == blank
                  ? snprintf(text + used, 2, ",")
                  : snprintf(text + used, sizeof text - used, "%.6g,", x[i]);
    used +=
        snprintf(text + used, sizeof text - used, "%s\n", answer(j, x, room));
  }
  command_write(c, name, text, (size_t)used);
}

static const char *word(int j, const double *x, char *to)
{
  (void)to;
  return j >= KNOWN ? "" : x[0] + x[1] > 0 ? "pine" : "oak";
}

static const char *two_words(int j, const double *x, char *to)
{
  (void)to;
  return j >= KNOWN ? "," : x[0] + x[1] > 0 ? "yes,open" : "no,shut";
}

static const char *nothing_between(int j, const double *x, char *to)
{
  (void)j;
  snprintf(to, 64, ",%g,,%s", x[0], x[1] > 0 ? "pine" : "oak");
  return to;
}

static const char *only_yes(int j, const double *x, char *to)
{
  (void)x;
  (void)to;
  return j >= KNOWN ? "" : "yes";
}

static const char *only_1(int j, const double *x, char *to)
{
  (void)x;
  (void)to;
  return j >= KNOWN ? "" : "1";
}

static const char *empty(int j, const double *x, char *to)
{
  (void)j;
  (void)x;
  (void)to;
  return "";
}

static const char *number(int j, const double *x, char *to)
{
  snprintf(to, 64, j >= KNOWN ? "" : "%.6g", x[0] - 2 * x[1]);
  return to;
}

static const char *sign(int j, const double *x, char *to)
{
  snprintf(to, 64, j >= KNOWN ? "" : "%d", x[0] + x[1] > 0);
  return to;
}

static void words_are_no_numbers(void **state)
{
  static const char *const verb[] = {"fit rr", "cv rr --grid lambda=.1,1",
                                     "fit rr -o out.csv"};
  command c;
  command_begin(&c);
  write_table(&c, "word.csv", "tree", 0, word);
  write_table(&c, "two.csv", "good,door", 0, two_words);
  write_table(&c, "one.csv", "tree", 0, only_yes);
  write_table(&c, "numbers.csv", "tree", 0, number);
  write_table(&c, "signs.csv", "tree", 0, sign);
  for (int k = 0; k < 3; k++) {
    command_run(&c, "%s word.csv --target tree", verb[k]);
    command_expect(&c, 4, "oak");
    command_expect(&c, 4, "rlda mc linear svmplus");
    command_run(&c, "%s two.csv --target good,door", verb[k]);
    command_expect(&c, 4, "");
    command_run(&c, "%s one.csv --target tree", verb[k]);
    command_expect(&c, 4, "yes");
    assert_false(command_exists(&c, "out.csv"));
  }
  command_do(&c, "convert word.csv word.npz --target tree");
  command_run(&c, "fit rr word.npz");
  command_expect(&c, 4, "oak");
  command_do(&c, "fit rlda word.csv --target tree");
  command_do(&c, "fit rr numbers.csv --target tree --model m.lapis");
  command_do(&c, "fit rr signs.csv --target tree");
  /* whoever asks a model has no say in what it was taught */
  command_do(&c, "predict m.lapis word.csv --target tree");
  command_end(&c);
}

static void labels_of_both_kinds_are_needed(void **state)
{
  static const char *const method[] = {"linear",  "trees", "rlda",
                                       "svmplus", "mc",    "mc --mu-rel .1"};
  command c;
  command_begin(&c);
  write_table(&c, "empty.csv", "k", 0, empty);
  write_table(&c, "yes.csv", "k", 0, only_yes);
  write_table(&c, "one.csv", "k", 0, only_1);
  for (int k = 0; k < 6; k++) {
    command_run(&c, "fit %s empty.csv --target k", method[k]);
    command_expect(&c, 4, "");
    command_expect(&c, 4, k < 4 ? "" : FEATURES_ALONE);
    command_run(&c, "fit %s yes.csv --target k", method[k]);
    command_expect(&c, 4, "column k");
    command_run(&c, "fit %s one.csv --target k", method[k]);
    command_expect(&c, 4, "column k");
  }
  command_run(&c, "fit rr empty.csv --target k");
  command_expect(&c, 4, "");
  command_run(&c, "cv linear empty.csv --target k --grid C=1,2");
  command_expect(&c, 4, "");
  command_end(&c);
}

static void rows_are_those_of_the_file(void **state)
{
  static const char *const method[] = {"rr", "rlda"};
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", "k", 41, sign); /* the 11th of those asked */
  for (int k = 0; k < 2; k++) {
    command_run(&c, "fit %s t.csv --target k", method[k]);
    command_expect(&c, 0, "row 41 of X: no feature is observed");
    assert_null(strstr(c.err, "predict"));
  }
  command_end(&c);
}

/* A target that is share x of the first feature and for the rest chance. */
static void write_share(const command *c, double share, int draw)
{
  static char text[16384];
  uint64_t seed = 100 + (uint64_t)draw;
  int used = snprintf(text, sizeof text, "a,b,c,d,y\n");
  for (int j = 0; j < N; j++) {
    double x[D], y = check_normal(&seed);
    for (int i = 0; i < D; i++) x[i] = check_normal(&seed);
    for (int i = 0; i < D; i++)
      used += snprintf(text + used, sizeof text - used, "%.6g,", x[i]);
    used += snprintf(text + used, sizeof text - used, j < 40 ? "%.6g\n" : "\n",
                     share * x[0] + (1 - share) * y);
  }
  command_write(c, "t.csv", text, (size_t)used);
}

/* The most that was told in two folds, against its standard error. */
static bool is_clear(const command *c)
{
  lapis_arrays all;
  command_arrays(c, "o.npz", &all);
  const lapis_array *found = lapis_arrays_find(&all, "tried");
  assert_non_null(found);
  const lapis_mat *tried = &found->mat;
  assert_int_equal(tried->rows, 5);
  int64_t best = 0;
  for (int64_t t = 0; t < tried->cols; t++)
    if (lapis_mat_at(tried, 2, t) > lapis_mat_at(tried, 2, best)) best = t;
  bool clear = lapis_mat_at(tried, 2, best) >
               lapis_far_errors(40) * lapis_mat_at(tried, 4, best);
  lapis_arrays_free(&all);
  return clear;
}

static void little_learnt_is_said(void **state)
{
  enum { DRAWS = 12 };
  static const char no_better[] = "predicted no better than by their mean";
  static const char unclear[] = "not clearly better than by their mean";
  int warned[2] = {0, 0};
  command c;
  command_begin(&c);
  for (int draw = 0; draw < DRAWS; draw++)
    for (int signal = 0; signal < 2; signal++) {
      write_share(&c, signal ? .7 : 0, draw);
      command_do(&c, "fit rr t.csv --target y -o o.npz");
      bool said = strstr(c.err, no_better) || strstr(c.err, unclear);
      assert_true((strstr(c.err, no_better) != NULL) ==
                  (strstr(c.err, "R^2 -") != NULL));
      assert_true(said == !is_clear(&c));
      warned[signal] += said;
    }
  assert_true(warned[0] >= DRAWS * 2 / 3);
  assert_int_equal(warned[1], 0);
  write_share(&c, 0, 1);
  command_do(&c, "fit rr t.csv --target y -q");
  assert_string_equal(c.err, "");
  command_end(&c);
}

/* A target of one value: one sentence, whoever is asked. */
static void a_constant_target_is_said(void **state)
{
  static const char *const verbs[] = {"fit rr t.csv",
                                      "fit auto t.csv --targets numbers",
                                      "fit linear t.csv --targets numbers",
                                      "fit trees t.csv --targets numbers"};
  static char text[8192];
  uint64_t seed = 1;
  int used = snprintf(text, sizeof text, "a,b,y\n");
  command c;
  command_begin(&c);
  for (int j = 0; j < 40; j++)
    used +=
        snprintf(text + used, sizeof text - (size_t)used, "%g,%g,%s\n",
                 check_normal(&seed), check_normal(&seed), j < 30 ? "2.5" : "");
  command_write(&c, "t.csv", text, (size_t)used);
  for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++) {
    command_do(&c, "%s --target y -o o.csv", verbs[k]);
    assert_non_null(strstr(c.err, SAME_IN_ALL " (2.5)"));
    assert_null(strstr(c.err, "too few"));
    assert_null(strstr(c.err, "R^2 1"));
  }
  command_do(&c, "eval r2 --truth t.csv --target y --scores o.csv");
  assert_non_null(strstr(c.err, SAME_IN_ALL " (2.5)"));
  command_end(&c);
}

/* Iterations and a rank are of methods that have them. */
static void the_end_is_that_of_the_method(void **state)
{
  command c;
  command_begin(&c);
  write_share(&c, .7, 1);
  command_do(&c, "fit trees t.csv --target y");
  assert_false(check_has(c.out, "iteration") || check_has(c.out, "rank"));
  command_do(&c, "fit linear t.csv --target y");
  assert_false(check_has(c.out, "iteration") || check_has(c.out, "rank"));
  command_do(&c, "fit rpca t.csv --drop y");
  assert_true(strstr(c.out, " iterations, ") && strstr(c.out, "  rank "));
  command_do(&c, "fit rpca t.csv --drop y --max-iters 1");
  assert_non_null(strstr(c.out, "after 1 iteration, "));
  command_end(&c);
}

/* A table is asked of by --target; "Y" says nothing to who has a table. */
static void who_asks_nothing_is_told_how(void **state)
{
  static const char *const methods[] = {"rr",    "rlda",   "svmplus",
                                        "misvm", "linear", "trees"};
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", "y", 0, only_1);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    command_run(&c, "fit %s t.csv --drop y", methods[k]);
    command_expect(&c, 4, "--target");
    command_run(&c, "cv %s t.csv --drop y --grid max-iters=10", methods[k]);
    command_expect(&c, 4, "--target");
  }
  command_run(&c, "cv mc t.csv --drop y --grid lambda=1,2");
  command_expect(&c, 4, "--target");
  command_run(&c, "fit mc t.csv --drop y -q"); /* completes */
  command_expect(&c, 0, "");
  command_end(&c);
}

/* A feature that no row has is told by its title, not by its place in X; zeros
 * would be no values of it. */
static void empty_columns_are_named(void **state)
{
  static const char *const asks[] = {"mc t.csv --target y -o o.npz",
                                     "mc t.csv --drop y --completed f.csv",
                                     "rpca t.csv --drop y --completed f.csv"};
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", "e,f,g,y", 0, nothing_between);
  for (size_t k = 0; k < sizeof asks / sizeof *asks; k++) {
    command_run(&c, "fit %s", asks[k]);
    command_expect(&c, 4, "e 1 --drop");
  }
  assert_false(command_exists(&c, "f.csv"));
  command_do(&c, "fit rpca t.csv --drop y,e,g --completed f.csv");
  command_do(&c, "fit trees t.csv --target y -q");
  command_run(&c, "fit svmplus t.csv --target y");
  command_expect(&c, 4, "--map");
  command_end(&c);
}

/* Three heaps, each of which a line tells from the others. */
static const char *heap(int j, const double *x, char *to)
{
  static const double at[3][2] = {{0, 9}, {-9, -9}, {9, -9}};
  snprintf(to, 64, "%g,%g,%s", at[j % 3][0] + x[0], at[j % 3][1] + x[1],
           j % 3 == 0   ? "oak"
           : j % 3 == 1 ? "pine"
                        : "elm");
  return to;
}

/* What stands beside cv tells one class of several, too, by the same folds;
 * numbers are not its. */
static void the_rival_knows_classes(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", "e,f,y", 0, heap);
  command_do(&c, "cv linear t.csv --target y --grid C=1 --baseline");
  assert_non_null(strstr(c.out, BASELINE_BEST));
  assert_non_null(strstr(c.out, BASELINE_ITSELF));
  assert_non_null(strstr(c.out, "\nlinear as asked for is"));
  command_do(&c, "cv linear t.csv --target y --grid C=1,10 --map standard "
                 "--baseline --json");
  const char *of[] = {strstr(c.out, "\"best\""), strstr(c.out, "\"baseline\"")};
  double mean[2];
  for (int k = 0; k < 2; k++) {
    assert_non_null(of[k]);
    mean[k] = strtod(strstr(of[k], "\"mean\": ") + 8, NULL);
  }
  CHECK_NEAR(mean[1], mean[0], 1e-9);
  command_run(&c, "cv rr t.csv --target f --drop y --grid lambda=1 --baseline");
  command_expect(&c, 2, "rr");
  command_end(&c);
}

/* Classes that are numbers: 1.50 and 2.00. */
static void put_classes(command *c)
{
  char text[512] = "a,y\n";
  for (int j = 0; j < 20; j++)
    snprintf(text + strlen(text), 32, "%d,%s\n", j % 2 ? 5 + j : -5 - j,
             j > 15  ? ""
             : j % 2 ? "2.00"
                     : "1.50");
  command_write(c, "k.csv", text, strlen(text));
}

/* Prices in cents, of which each ends in 0 and the first two are alike. */
static const char *price(int j, const double *x, char *to)
{
  snprintf(to, 64, j >= KNOWN ? "" : "%.1f0", j < 2 ? 3. : 5 + x[0] + x[1]);
  return to;
}

/* Whether every cell of the column behind the first comma, of the lines below
 * the first, has that many decimals. */
static void expect_decimals(const char *text, char before, size_t decimals)
{
  int lines = 0;
  for (const char *at = text; (at = strchr(at, '\n')) != NULL; lines++) {
    if (*++at == '\0') break;
    const char *cell = strchr(at, before) + 1;
    size_t whole = strcspn(cell, ".,\n"), size = strcspn(cell, ",\n");
    if (size != whole + 1 + decimals) fail_msg("%.30s in %.200s", cell, text);
  }
  assert_true(lines >= N - 1);
}

/* As the table writes its own, wherever the answers go. */
static void answers_have_the_decimals_of_the_table(void **state)
{
  static const char *const methods[] = {"rr", "auto --candidates linear"};
  static char text[65536];
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", "price", 0, price);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    command_do(&c, "fit %s t.csv --target price -q -o a.csv --model m.lapis",
               methods[k]);
    command_slurp(&c, "a.csv", text, sizeof text);
    expect_decimals(text, ',', 2);
    command_do(&c, "predict m.lapis t.csv");
    expect_decimals(c.out, '\t', 2);
    command_do(&c, "predict m.lapis t.csv -o b.csv");
    command_slurp(&c, "b.csv", text, sizeof text);
    expect_decimals(text, ',', 2);
  }
  put_classes(&c);
  command_do(&c, "fit linear k.csv --target y -q -o a.csv --model m.lapis");
  command_slurp(&c, "a.csv", text, sizeof text);
  if (strstr(text, "\n1,1.50,") == NULL) fail_msg("%s", text);
  command_do(&c, "predict m.lapis k.csv");
  assert_true(check_has(c.out, "1\t1.50\n2\t2.00\n"));
  command_end(&c);
}

/* What goes to a file is not printed as well, but where it is asked for. */
static void files_keep_what_they_hold(void **state)
{
  static const char *const files[] = {"-o a.csv", "-o a.npz", "-o a.html",
                                      "-o parts/", "--completed c.csv"};
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", "tree", 0, word);
  command_do(&c, "fit linear t.csv --target tree -q --model m.lapis");
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char said[128];
    command_do(&c, "predict m.lapis t.csv %s", files[k]);
    snprintf(said, sizeof said, "%d samples predicted, written to %s\n", N,
             strchr(files[k], ' ') + 1);
    assert_string_equal(c.out, said);
    command_do(&c, "predict m.lapis t.csv %s --scores", files[k]);
    assert_true(check_has(c.out, "\n60\t"));
  }
  command_end(&c);
}

int test_targets(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_no_numbers),
      cmocka_unit_test(labels_of_both_kinds_are_needed),
      cmocka_unit_test(rows_are_those_of_the_file),
      cmocka_unit_test(little_learnt_is_said),
      cmocka_unit_test(a_constant_target_is_said),
      cmocka_unit_test(the_end_is_that_of_the_method),
      cmocka_unit_test(who_asks_nothing_is_told_how),
      cmocka_unit_test(the_rival_knows_classes),
      cmocka_unit_test(empty_columns_are_named),
      cmocka_unit_test(answers_have_the_decimals_of_the_table),
      cmocka_unit_test(files_keep_what_they_hold),
  };
  return run_cases(tests, NULL, NULL);
}
