/* Robust LDA whose lambda and gamma nobody gave, and how scores become
 * classes. */
#include "fixture.h"

enum { D = 5, N = 90, CLASSES = 3 };

typedef struct table {
  double X[D * N], Y[N];
  lapis_data data;
} table;

/* Three blobs, features in units from .01 to 1e4, a share of entries wrong. */
static void begin(table *t, uint64_t seed, double wrong)
{
  for (int j = 0; j < N; j++) {
    t->Y[j] = j % CLASSES + 1;
    for (int i = 0; i < D; i++) {
      double unit = pow(10, 1.5 * i - 2), side = (j + i) % CLASSES == 0;
      double x = 3 * side + check_normal(&seed);
      if (check_uniform(&seed) < wrong) x += 30;
      t->X[j * D + i] = unit * (x + 4);
    }
  }
  t->data = (lapis_data){.X = lapis_mat_f64(t->X, D, N),
                         .Y = lapis_mat_f64(t->Y, 1, N)};
}

static lapis_solver *solve(lapis_ctx *ctx, const table *t,
                           const lapis_rr_settings *set)
{
  lapis_solver *s;
  if (lapis_rlda_new(ctx, &t->data, set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

/* Share of t that the model of s tells right. */
static double told(lapis_ctx *ctx, lapis_solver *s, const table *t,
                   const char *knn)
{
  lapis_model *m;
  lapis_solver *p;
  lapis_data data = {.X = t->data.X};
  union {
    double align;
    char bytes[512];
  } how;
  assert_int_equal(lapis_model_new(s, &m), 0);
  const lapis_method *table_of =
      lapis_predict_method(lapis_method_find("rlda"));
  lapis_settings_default(table_of, &how);
  assert_int_equal(lapis_settings_set(ctx, table_of, &how, "knn", knn), 0);
  if (lapis_predict_new(ctx, &data, m, &how, &p) < 0 || lapis_solve(p) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const double *label = check_result(p, "labels");
  double right = 0;
  for (int j = 0; j < N; j++) right += fabs(label[j] - t->Y[j]) <= 0;
  lapis_solver_free(p);
  lapis_model_free(m);
  return right / N;
}

static void left_open_it_minds_no_units(void **state)
{
  (void)state;
  lapis_ctx *ctx = lapis_ctx_new();
  table a, b;
  begin(&a, 1, 0);
  begin(&b, 2, 0);
  lapis_rr_settings set = lapis_rlda_defaults();
  lapis_solver *s = solve(ctx, &a, &set);
  CHECK_AT_LEAST(told(ctx, s, &b, "0"), 0.95);
  /* nothing is wrong in a: no cleaning is worth its while */
  const lapis_rr_settings *used = lapis_result_settings(s);
  CHECK_NEAR(used->lambda, 10 / sqrt(N), 1e-12);
  const double *low_rank = check_result(s, "low_rank");
  for (int k = 0; k < D * N; k++)
    CHECK_NEAR(low_rank[k], a.X[k], 1e-5 * (fabs(a.X[k]) + 1));
  lapis_solver_free(s);
  set.gamma = .1; /* as stated: the largest unit decides */
  s = solve(ctx, &a, &set);
  CHECK_AT_MOST(told(ctx, s, &b, "0"), 0.9);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* scores = T [D; 1] of what is published, in the units of the data. */
static void check_units(int assign)
{
  lapis_ctx *ctx = lapis_ctx_new();
  table a;
  begin(&a, 3, .05);
  a.X[7] = NAN;
  lapis_rr_settings set = lapis_rlda_defaults();
  set.assign = assign;
  lapis_solver *s = solve(ctx, &a, &set);
  const double *T = check_result(s, "weights"), *f = check_result(s, "scores");
  const double *A = check_result(s, "low_rank"), *E = check_result(s, "sparse");
  for (int j = 0; j < N; j++) {
    for (int k = 0; k < CLASSES; k++) {
      double sum = T[k * (D + 1) + D];
      for (int i = 0; i < D; i++) sum += T[k * (D + 1) + i] * A[j * D + i];
      CHECK_NEAR(f[j * CLASSES + k], sum, 1e-8);
    }
    for (int i = 0; i < D; i++) {
      double x = a.X[j * D + i], made = A[j * D + i] + E[j * D + i];
      if (!isnan(x)) CHECK_NEAR(made, x, 1e-9 * (fabs(x) + 1));
    }
  }
  const double *tried = check_result(s, "tried");
  const lapis_rr_settings *used = lapis_result_settings(s);
  bool there = false;
  for (int t = 0; t < 6; t++)
    there = there || (fabs(tried[3 * t] - used->lambda) < 1e-12 &&
                      fabs(tried[3 * t + 1] - used->gamma) < 1e-12);
  assert_true(there);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

static void answers_are_in_the_units_of_the_data(void **state)
{
  (void)state;
  check_units(LAPIS_RLDA_AUTO);
  check_units(LAPIS_RLDA_KNN);
  check_units(LAPIS_RLDA_SCORE);
}

/* One setting given: the problem as stated, with the other's old default. */
static void what_is_stated_stays(void **state)
{
  (void)state;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat none;
  table a;
  begin(&a, 4, 0);
  lapis_rr_settings set = lapis_rlda_defaults(), other = set;
  set.gamma = .1;
  other.lambda = 1 / sqrt(N);
  lapis_solver *s = solve(ctx, &a, &set), *t = solve(ctx, &a, &other);
  assert_memory_equal(check_result(s, "scores"), check_result(t, "scores"),
                      N * CLASSES * sizeof(double));
  assert_int_equal(lapis_result_get(s, "tried", &none), LAPIS_EINVAL);
  lapis_solver_free(s);
  lapis_solver_free(t);
  lapis_ctx_free(ctx);
}

static void neighbours_may_assign(void **state)
{
  (void)state;
  lapis_ctx *ctx = lapis_ctx_new();
  table a, b;
  begin(&a, 5, 0);
  begin(&b, 6, 0);
  lapis_rr_settings set = lapis_rlda_defaults(), by_score;
  set.denoise = LAPIS_RR_NONE;
  by_score = set;
  set.assign = LAPIS_RLDA_KNN;
  lapis_solver *s = solve(ctx, &a, &set), *t = solve(ctx, &a, &by_score);
  CHECK_NEAR(told(ctx, s, &b, "0"), told(ctx, t, &b, "5"), 1e-12);
  CHECK_AT_LEAST(told(ctx, s, &b, "0"), 0.9);
  lapis_solver_free(s);
  lapis_solver_free(t);
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  (void)state;
  lapis_ctx *ctx = lapis_ctx_new();
  double X[2 * 6] = {1, 2, 3, 4, 5, 7, 1, 0, 2, 2, 9, 1};
  double Y[2 * 6] = {0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 1, 0};
  lapis_data data = {.X = lapis_mat_f64(X, 2, 6), .Y = lapis_mat_f64(Y, 2, 6)};
  lapis_rr_settings set = lapis_rlda_defaults();
  lapis_solver *s;
  set.assign = LAPIS_RLDA_MEAN;
  lapis_status status = lapis_rlda_new(ctx, &data, &set, &s);
  check_refused(ctx, status, LAPIS_EINVAL, s, "one class a sample");
  lapis_ctx_free(ctx);
}

/* As irises are: one class far off, two side by side, features that go
 * together. What tells the two is small in plain scores. */
static void as_irises(table *t, uint64_t seed)
{
  begin(t, seed, 0);
  for (int j = 0; j < N; j++) {
    double *x = t->X + j * D, kind = t->Y[j], size = check_normal(&seed);
    for (int i = 0; i < D; i++) x[i] = .4 * check_normal(&seed) + size;
    x[0] += kind > 1 ? 6 + 1.4 * kind : 0;
    x[1] += kind > 1 ? 3 + .7 * kind : 0;
  }
}

static void scores_are_as_long_as_they_vary(void **state)
{
  (void)state;
  lapis_ctx *ctx = lapis_ctx_new();
  table a, b;
  double by[2] = {0, 0};
  for (uint64_t seed = 1; seed <= 5; seed++) {
    as_irises(&a, 10 * seed);
    as_irises(&b, 10 * seed + 5);
    lapis_rr_settings set = lapis_rlda_defaults();
    lapis_solver *s = solve(ctx, &a, &set);
    by[0] += told(ctx, s, &b, "0") / 5;
    lapis_solver_free(s);
    set.lambda = 10 / sqrt(N); /* as stated: plain distances of scores */
    set.gamma = .1;
    set.assign = LAPIS_RLDA_MEAN;
    s = solve(ctx, &a, &set);
    by[1] += told(ctx, s, &b, "0") / 5;
    lapis_solver_free(s);
  }
  print_message("%.3f left open, %.3f by plain distances\n", by[0], by[1]);
  CHECK_AT_LEAST(by[0], .9);
  CHECK_AT_LEAST(by[0], by[1] + .02);
  lapis_ctx_free(ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(left_open_it_minds_no_units),
      cmocka_unit_test(answers_are_in_the_units_of_the_data),
      cmocka_unit_test(what_is_stated_stays),
      cmocka_unit_test(scores_are_as_long_as_they_vary),
      cmocka_unit_test(neighbours_may_assign),
      cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
