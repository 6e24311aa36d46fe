/* Whether targets that are numbers are classes: one place says so, for every
 * method that tells classes, and of all samples, not of those a fold shows. */
#include "check.h"
#include "cv_points.h"
#include "lapis/choose.h"
#include "lapis/tools.h"
#include "room.h"

enum { N = 240, D = 3 };
typedef struct problem {
  double X[D * N], Y[N], P[N];
  int64_t group[N];
  lapis_data data;
} problem;

/* What each row has is written at its place by `of`. */
static void make(problem *p, double (*of)(int j))
{
  uint64_t seed = 7;
  for (int i = 0; i < D * N; i++) p->X[i] = check_normal(&seed);
  for (int j = 0; j < N; j++) {
    p->Y[j] = of(j);
    p->group[j] = j / 4;
  }
  p->data = (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                         .Y = lapis_mat_f64(p->Y, 1, N)};
}

static double prices(int j) /* fractions, few alike */
{
  return 5 + j % 200 / 10.;
}
static double progress(int j) /* whole, with gaps, two of most */
{
  return 25 + 3 * (j % 110) + j % 7;
}
static double ages(int j) /* in a row, most of them once */
{
  return j < 150 ? 100 : 20 + j % 90;
}
static double sizes(int j)
{
  return j % 60 + .5;
}
static double persons(int j) /* names of 60 persons, each with four pictures */
{
  return 3 * (j % 60) + 2;
}
static double numbered(int j)
{
  return j % 90;
}
static double halves(int j) /* stars */
{
  return 1 + j % 9 / 2.;
}
static double asked(int j) /* of persons, half is not known */
{
  return j % 240 < 180 ? persons(j) : NAN;
}

static const struct {
  const char *what;
  double (*of)(int j);
  bool numbers;
} rows[] = {{"prices", prices, true},    {"progress", progress, true},
            {"ages", ages, true},        {"sizes", sizes, true},
            {"persons", persons, false}, {"numbered", numbered, false},
            {"halves", halves, false},   {"asked", asked, false}};
enum { ROWS = sizeof rows / sizeof *rows };
static const char *const methods[] = {"mc", "rlda", "svmplus"};
enum { METHODS = sizeof methods / sizeof *methods };

static void every_method_says_the_same(void **state)
{
  static problem p;
  lapis_ctx *ctx = lapis_ctx_new();
  char first[512];
  for (int r = 0; r < ROWS; r++) {
    make(&p, rows[r].of);
    for (int m = 0; m < METHODS; m++) {
      const lapis_method *method = lapis_method_find(methods[m]);
      lapis_solver *s;
      lapis_status status = lapis_solver_new(ctx, method, &p.data, NULL, &s);
      if (status != (rows[r].numbers ? LAPIS_EDATA : LAPIS_OK))
        fail_msg("%s, %s: %d", methods[m], rows[r].what, status);
      lapis_solver_free(s);
      if (!rows[r].numbers) continue;
      const char *said = strchr(lapis_ctx_error(ctx), ':');
      if (m == 0) snprintf(first, sizeof first, "%s", said);
      assert_string_equal(first, said);
      assert_non_null(strstr(said, "rr"));
    }
    /* words are classes */
    char name[N][16];
    const char *word[N];
    lapis_data data = p.data;
    for (int j = 0; j < N; j++) {
      snprintf(name[j], sizeof name[j], "w%d", j);
      word[j] = name[j];
      p.Y[j] = j % 200;
    }
    data.words = (lapis_mat){
        .dtype = LAPIS_TEXT, .rows = 1, .cols = 200, .ld = 1, .val = word};
    lapis_solver *s;
    assert_int_equal(
        lapis_solver_new(ctx, lapis_method_find("linear"), &data, NULL, &s),
        LAPIS_OK);
    lapis_solver_free(s);
  }
  lapis_ctx_free(ctx);
}

/* rr is for them, and linear and trees decide by the same rule, or as they are
 * told. */
static void some_predict_numbers(void **state)
{
  static problem p;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_trees_settings set = lapis_trees_defaults();
  lapis_solver *s;
  make(&p, prices);
  assert_int_equal(
      lapis_solver_new(ctx, lapis_method_find("rr"), &p.data, NULL, &s),
      LAPIS_OK);
  lapis_solver_free(s);
  set.trees = 3;
  for (int r = 0; r < ROWS; r++) {
    lapis_mat labels;
    make(&p, rows[r].of);
    assert_int_equal(lapis_trees_new(ctx, &p.data, &set, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), LAPIS_OK);
    assert_true((lapis_result_get(s, "labels", &labels) < 0) ==
                rows[r].numbers);
    lapis_solver_free(s);
    assert_int_equal(
        lapis_solver_new(ctx, lapis_method_find("linear"), &p.data, NULL, &s),
        LAPIS_OK);
    lapis_solver_free(s);
  }
  const char *word[] = {"a", "b"};
  for (int j = 0; j < N; j++) p.Y[j] = j % 2;
  p.data.words = (lapis_mat){
      .dtype = LAPIS_TEXT, .rows = 1, .cols = 2, .ld = 1, .val = word};
  set.targets = LAPIS_TARGETS_NUMBERS;
  assert_int_equal(lapis_trees_new(ctx, &p.data, &set, &s), LAPIS_EDATA);
  p.data.words = (lapis_mat){0};
  lapis_ctx_free(ctx);
}

/* Persons of whom a fold shows one or two pictures are persons still; numbers
 * are refused before any fold is solved. */
static void folds_do_not_ask_again(void **state)
{
  static problem p;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_cv_options options = lapis_cv_defaults();
  options.folds = 2;
  options.metric = "accuracy";
  for (int r = 0; r < 2; r++) {
    make(&p, r == 0 ? persons : progress);
    for (int m = 1; m < 3; m++) {
      lapis_solver *cv = NULL;
      lapis_status s = cv_run(ctx, lapis_method_find(methods[m]), &p.data, NULL,
                              &options, NULL, 0, &cv);
      if (s != (r == 0 ? LAPIS_OK : LAPIS_EDATA))
        fail_msg("%s: %d %s", methods[m], s, lapis_ctx_error(ctx));
      lapis_solver_free(cv);
    }
  }
  lapis_ctx_free(ctx);
}

int test_classes(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_method_says_the_same),
      cmocka_unit_test(folds_do_not_ask_again),
      cmocka_unit_test(some_predict_numbers)};
  return run_cases(tests, NULL, NULL);
}
