/* auto --importance: what shuffling a feature costs, against what it costs who
 * knows how the data were made. */
#include "check.h"
#include "remarks.h"

enum { N = 600, D = 6, STRONG = 0, WEAK = 3, NOISE = 4, SQUARE = 5 };
static const char *const names[D] = {"strong", "dye=red", "dye=blue",
                                     "weak",   "noise",   "square"};

typedef struct table {
  lapis_ctx *ctx;
  double X[D * N], z[N], Y[N];
  lapis_data data;
} table;

static double signal(const double *x)
{
  return 1.5 * x[STRONG] + 2 * (x[1] - x[2]) - .7 * x[WEAK];
}

/* Labels with log-odds signal, or numbers. */
static table *make(bool numbers, uint64_t seed)
{
  table *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->ctx = lapis_ctx_new();
  for (int j = 0; j < N; j++) {
    double *x = t->X + (size_t)j * D;
    for (int i = 0; i < D; i++) x[i] = check_normal(&seed);
    x[1] = check_uniform(&seed) < .5;
    x[2] = 1 - x[1];
    t->z[j] = signal(x);
    double p = 1 / (1 + exp(-t->z[j]));
    t->Y[j] =
        numbers ? t->z[j] + .3 * check_normal(&seed) : check_uniform(&seed) < p;
  }
  t->data = (lapis_data){.X = lapis_mat_f64(t->X, D, N),
                         .Y = lapis_mat_f64(t->Y, 1, N),
                         .feature_names = lapis_mat_text(names, 1, D)};
  return t;
}

static void discard(table *t, lapis_solver *s)
{
  lapis_solver_free(s);
  lapis_ctx_free(t->ctx);
  free(t);
}

static lapis_solver *fit(table *t, lapis_auto_settings *set)
{
  lapis_solver *s;
  set->importance = true;
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  return s;
}

static double loss(double z, double y)
{
  return log1p(exp(y > 0 ? -z : z));
}

/* The rise of the log-loss of who knows the log-odds: features first .. last
 * of sample j stand with those of 37 others. */
static double known_rise(const table *t, int first, int last)
{
  enum { OTHERS = 37 };
  double sum = 0, x[D];
  for (int j = 0; j < N; j++)
    for (int k = 1; k <= OTHERS; k++) {
      int other = (j + k * 16) % N;
      memcpy(x, t->X + (size_t)j * D, sizeof x);
      for (int i = first; i <= last; i++) x[i] = t->X[(size_t)other * D + i];
      sum += loss(signal(x), t->Y[j]) - loss(t->z[j], t->Y[j]);
    }
  return sum / (N * OTHERS);
}

static lapis_mat importance(const lapis_solver *s)
{
  lapis_mat out;
  assert_int_equal(lapis_result_get(s, "importance", &out), LAPIS_OK);
  assert_int_equal(out.rows, 3);
  assert_int_equal(out.cols, D);
  return out;
}

static void labels_cost_what_is_known(void **state)
{
  table *t = make(false, 3);
  lapis_auto_settings set = lapis_auto_defaults();
  set.candidates = "linear";
  lapis_solver *s = fit(t, &set);
  lapis_mat got = importance(s);
  static const int first[] = {STRONG, 1, WEAK, NOISE};
  static const int last[] = {STRONG, 2, WEAK, NOISE};
  for (int k = 0; k < 4; k++) { /* fits to two thirds of the labels are held
                                   back: they lean on less */
    double known = known_rise(t, first[k], last[k]);
    double error = 4 * lapis_mat_at(&got, 1, first[k]);
    CHECK_AT_MOST(lapis_mat_at(&got, 0, first[k]), known + error);
    CHECK_AT_LEAST(lapis_mat_at(&got, 0, first[k]), .6 * known - error);
  }
  for (int r = 0; r < 2; r++) /* one column, and so one answer */
    CHECK_NEAR(lapis_mat_at(&got, r, 1), lapis_mat_at(&got, r, 2), 0);
  CHECK_AT_LEAST(lapis_mat_at(&got, 2, STRONG), .6);
  CHECK_AT_MOST(lapis_mat_at(&got, 2, WEAK), -.6);
  discard(t, s);
}

/* Of a sum R^2 loses twice the share of the variance. */
static void numbers_cost_what_is_known(void **state)
{
  table *t = make(true, 4);
  lapis_auto_settings set = lapis_auto_defaults();
  set.targets = LAPIS_TARGETS_NUMBERS;
  set.candidates = "linear";
  lapis_solver *s = fit(t, &set);
  lapis_mat got = importance(s);
  double mean = 0, square = 0;
  for (int j = 0; j < N; j++) mean += t->Y[j] / N;
  for (int j = 0; j < N; j++) square += (t->Y[j] - mean) * (t->Y[j] - mean) / N;
  CHECK_NEAR(lapis_mat_at(&got, 0, STRONG), 2 * 1.5 * 1.5 / square, .06);
  CHECK_NEAR(lapis_mat_at(&got, 0, 1), 2 * 4 / square, .1);
  CHECK_NEAR(lapis_mat_at(&got, 0, WEAK), 2 * .7 * .7 / square, .03);
  CHECK_AT_LEAST(lapis_mat_at(&got, 2, STRONG), .9);
  CHECK_AT_MOST(lapis_mat_at(&got, 2, WEAK), -.9);
  discard(t, s);
}

/* It matters, and goes no way. */
static void a_square_goes_no_way(void **state)
{
  table *t = make(true, 4);
  lapis_auto_settings set = lapis_auto_defaults();
  set.targets = LAPIS_TARGETS_NUMBERS;
  for (int j = 0; j < N; j++)
    t->Y[j] += t->X[j * D + SQUARE] * t->X[j * D + SQUARE];
  lapis_solver *s = fit(t, &set);
  lapis_mat got = importance(s);
  CHECK_AT_LEAST(lapis_mat_at(&got, 0, SQUARE), .1);
  CHECK_AT_MOST(fabs(lapis_mat_at(&got, 2, SQUARE)), .4);
  discard(t, s);
}

/* Noise is above two errors about as often as chance has it. */
static void noise_is_not_missed(void **state)
{
  int above = 0;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    table *t = make(false, 100 + seed);
    lapis_auto_settings set = lapis_auto_defaults();
    set.candidates = "linear";
    lapis_solver *s = fit(t, &set);
    lapis_mat got = importance(s);
    for (int i = NOISE; i <= SQUARE; i++)
      above += lapis_mat_at(&got, 0, i) > 2 * lapis_mat_at(&got, 1, i);
    discard(t, s);
  }
  CHECK_AT_MOST(above, 4);
}

/* The same folds serve sets; they neither change what matters much nor are
 * missed by the model. */
static void folds_are_shared(void **state)
{
  table *t = make(false, 5);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s, *sets;
  lapis_model *m;
  lapis_mat kept;
  set.candidates = "linear";
  s = fit(t, &set);
  assert_int_not_equal(lapis_result_get(s, "classes_kept", &kept), LAPIS_OK);
  set.coverage = .9;
  sets = fit(t, &set);
  assert_int_equal(lapis_result_get(sets, "classes_kept", &kept), LAPIS_OK);
  lapis_mat a = importance(s), b = importance(sets);
  CHECK_NEAR(lapis_mat_at(&a, 0, STRONG), lapis_mat_at(&b, 0, STRONG), .1);
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  assert_int_not_equal(
      lapis_model_set_coverage(t->ctx, m, .9, LAPIS_COVERAGE_ALL), LAPIS_OK);
  lapis_model_free(m);
  lapis_solver_free(sets);
  discard(t, s);
}

static void what_cannot_be_shuffled_is_refused(void **state)
{
  table *t = make(false, 6);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s = NULL;
  int64_t start[N + 1] = {0};
  int32_t row = 0;
  set.importance = true;
  lapis_data sparse = t->data;
  sparse.X.colptr = start;
  sparse.X.rowidx = &row;
  assert_int_not_equal(lapis_auto_new(t->ctx, &sparse, &set, &s), LAPIS_OK);
  assert_non_null(strstr(lapis_ctx_error(t->ctx), DENSE_IS_SHUFFLED));
  for (int j = 0; j < N; j++) t->Y[j] = j < 2 ? j : NAN; /* hides nothing */
  s = fit(t, &set);
  lapis_mat none;
  assert_int_not_equal(lapis_result_get(s, "importance", &none), LAPIS_OK);
  discard(t, s);
}

int test_importance(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(labels_cost_what_is_known),
      cmocka_unit_test(numbers_cost_what_is_known),
      cmocka_unit_test(a_square_goes_no_way),
      cmocka_unit_test(noise_is_not_missed),
      cmocka_unit_test(folds_are_shared),
      cmocka_unit_test(what_cannot_be_shuffled_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
