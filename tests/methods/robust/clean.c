/* Cleaning: certificates recomputed from outside, verified answers, laws,
 * refusals. */
#include "fixture.h"
#include "oracle.h"

static lapis_solver *solve(lapis_ctx *ctx, const lapis_mat *X,
                           const lapis_clean_settings *set)
{
  lapis_data data = {.X = *X};
  lapis_solver *s;
  if (lapis_clean_new(ctx, &data, set, &s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  if (lapis_solve(s) < 0) fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

/* Sum of the lengths of columns, or the nuclear norm; the largest length, or
 * the spectral norm. */
static void norms(const double *A, int64_t m, int64_t n, bool joint,
                  double *sum, double *largest)
{
  *sum = *largest = 0;
  if (joint) {
    oracle_norms(A, m, n, sum, largest);
    return;
  }
  for (int64_t j = 0; j < n; j++) {
    double square = 0;
    for (int64_t i = 0; i < m; i++) square += A[j * m + i] * A[j * m + i];
    *sum += sqrt(square);
    *largest = fmax(*largest, sqrt(square));
  }
}

/* From X, D, Z, C and w alone. */
static void check_certificate(const lapis_mat *X, const lapis_mat *D,
                              const lapis_solver *s, bool joint, double tol)
{
  const double *Z = check_result(s, "coefficients"),
               *C = check_result(s, "dual");
  const double *fit = check_result(s, "low_rank"),
               w = *check_result(s, "weight");
  int64_t d = X->rows, n = X->cols, N = D->cols;
  double primal, dual = 0, unused, largest, outside = 0;
  double *DC = calloc((size_t)(N * n), sizeof *DC);
  norms(Z, N, n, joint, &primal, &unused);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < d; i++) {
      double x = lapis_mat_at(X, i, j), c = C[j * d + i], a = 0;
      for (int64_t k = 0; k < N; k++) {
        a += lapis_mat_at(D, i, k) * Z[j * N + k];
        DC[j * N + k] += lapis_mat_at(D, i, k) * c;
      }
      CHECK_NEAR(a, fit[j * d + i], 1e-12);
      outside = fmax(outside, isnan(x) ? fabs(c) : fabs(c) - w);
      if (!isnan(x)) primal += w * fabs(x - a);
      if (!isnan(x)) dual += c * x;
    }
  norms(DC, N, n, joint, &unused, &largest);
  free(DC);
  CHECK_AT_MOST(largest, 1 + 1e-9);
  CHECK_AT_MOST(outside, 1e-14);
  CHECK_AT_MOST((primal - dual) / primal, tol);
  CHECK_AT_LEAST((primal - dual) / primal, -1e-12);
  CHECK_NEAR(lapis_result_info(s)->objective, primal, 1e-11 * primal);
}

static void check_fixture(const char *name)
{
  fixture f;
  fixture_open(&f, name, true);
  lapis_mat X = fixture_mat(&f.data, "X");
  lapis_clean_settings set = lapis_clean_defaults();
  set.dictionary = fixture_mat(&f.data, "dictionary");
  set.lambda = fixture_number(&f, "lam");
  set.weight = "paper";
  set.joint = set.certificate = true;
  set.stop.tol = 1e-9;
  lapis_solver *s = solve(f.ctx, &X, &set);
  double best = fixture_number(&f, "objective");
  CHECK_NEAR(*check_result(s, "weight"), fixture_number(&f, "lam_over_nuclear"),
             1e-14);
  CHECK_NEAR(lapis_result_info(s)->objective, best, 1e-8 * best);
  check_certificate(&X, &set.dictionary, s, true, 1e-8);
  lapis_solver_free(s);
  set.joint = false;
  set.weight = NULL;
  s = solve(f.ctx, &X, &set);
  check_certificate(&X, &set.dictionary, s, false, 1e-8);
  lapis_solver_free(s);
  fixture_close(&f);
}

static void verified(void **state)
{
  check_fixture("clean_test");
  check_fixture("clean_test_missing");
}

/* A sample's answer does not depend on its batch. */
static void alone_means_alone(void **state)
{
  enum { d = 25, N = 12, n = 7 };
  double D[d * N], X[d * n];
  uint64_t seed = 99;
  for (int k = 0; k < d * N; k++) D[k] = check_normal(&seed);
  for (int k = 0; k < d * n; k++) X[k] = check_normal(&seed);
  X[3] = X[60] = NAN;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_clean_settings set = lapis_clean_defaults();
  set.dictionary = lapis_mat_f64(D, d, N);
  set.stop.tol = 1e-9;
  lapis_mat all = lapis_mat_f64(X, d, n);
  lapis_solver *s = solve(ctx, &all, &set);
  const double *Z = check_result(s, "coefficients");
  for (int j = 0; j < n; j++) {
    lapis_mat one = lapis_mat_f64(X + j * d, d, 1);
    lapis_solver *t = solve(ctx, &one, &set);
    const double *z = check_result(t, "coefficients");
    for (int k = 0; k < N; k++) CHECK_NEAR(z[k], Z[j * N + k], 1e-10);
    lapis_solver_free(t);
  }
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* Gross errors are removed from samples of the dictionary's span. */
static void removes_gross_errors(void **state)
{
  enum { d = 60, N = 40, n = 5, r = 3 };
  double A[d * r], D[d * N] = {0}, clean[d * n] = {0}, X[d * n];
  uint64_t seed = 4;
  for (int k = 0; k < d * r; k++) A[k] = check_normal(&seed);
  for (int j = 0; j < N + n; j++) {
    double *to = j < N ? D + j * d : clean + (j - N) * d;
    for (int k = 0; k < r; k++) {
      double b = check_normal(&seed);
      for (int i = 0; i < d; i++) to[i] += A[k * d + i] * b;
    }
  }
  for (int k = 0; k < d * n; k++) X[k] = clean[k] + (k % 7 == 0 ? 5 : 0);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_clean_settings set = lapis_clean_defaults();
  set.dictionary = lapis_mat_f64(D, d, N);
  lapis_mat view = lapis_mat_f64(X, d, n);
  lapis_solver *s = solve(ctx, &view, &set);
  const double *fit = check_result(s, "low_rank");
  for (int k = 0; k < d * n; k++) CHECK_NEAR(fit[k], clean[k], 0.3);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* The rounds one by one: 2 w, then 4 w on what D z came near. */
static void refill_is_its_rounds(void **state)
{
  enum { d = 40, N = 30, n = 6, r = 3 };
  double A[d * r], D[d * N] = {0}, X[d * n] = {0}, masked[d * n];
  uint64_t seed = 8;
  char text[40];
  for (int k = 0; k < d * r; k++) A[k] = check_uniform(&seed);
  for (int j = 0; j < N + n; j++)
    for (int k = 0; k < r; k++) {
      double b = check_uniform(&seed) / r, *to = D + j * d;
      if (j >= N) to = X + (j - N) * d;
      for (int i = 0; i < d; i++) to[i] += A[k * d + i] * b;
    }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 12; i++) X[j * d + (3 * j + i) % d] = 1;
  memcpy(masked, X, sizeof masked);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_clean_settings set = lapis_clean_defaults();
  set.dictionary = lapis_mat_f64(D, d, N);
  set.stop.tol = 1e-9;
  lapis_mat view = lapis_mat_f64(X, d, n), left = lapis_mat_f64(masked, d, n);
  set.refill = 3;
  lapis_solver *s = solve(ctx, &view, &set);
  const double *filled = check_result(s, "filled"),
               w = *check_result(s, "weight");
  set.refill = 0;
  set.weight = text;
  for (int round = 0; round < 3; round++) {
    snprintf(text, sizeof text, "%.17g", (round == 0 ? 2 : 4) * w);
    lapis_solver *t = solve(ctx, &left, &set);
    const double *fit = check_result(t, "low_rank");
    for (int k = 0; k < d * n; k++) {
      bool far = fabs(X[k] - fit[k]) > set.tau;
      masked[k] = !far ? X[k] : round < 2 ? NAN : fit[k];
    }
    lapis_solver_free(t);
  }
  for (int k = 0; k < d * n; k++) CHECK_NEAR(filled[k], masked[k], 1e-4);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

static void refused(const lapis_mat *X, const lapis_clean_settings *set,
                    lapis_status wanted, const char *words)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = {.X = *X};
  lapis_solver *s;
  lapis_status got = lapis_clean_new(ctx, &data, set, &s);
  check_refused(ctx, got, wanted, s, words);
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  double X[4] = {1, 2, 3, 4}, D[6] = {1, 2, 3, 4, 5, 6}, zero[4] = {0};
  lapis_mat view = lapis_mat_f64(X, 2, 2);
  lapis_clean_settings set = lapis_clean_defaults();
  refused(&view, &set, LAPIS_EMISSING, "dictionary");
  set.dictionary = lapis_mat_f64(D, 3, 2);
  refused(&view, &set, LAPIS_ESHAPE, "3");
  set.dictionary = lapis_mat_f64(zero, 2, 2);
  refused(&view, &set, LAPIS_EDATA, "zeros");
  set.dictionary = lapis_mat_f64(D, 2, 3);
  set.weight = "heavy";
  refused(&view, &set, LAPIS_EINVAL, "heavy");
  set.weight = NULL;
  X[2] = X[3] = NAN;
  refused(&view, &set, LAPIS_EMISSING, "2");
}

int test_clean(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verified),
      cmocka_unit_test(alone_means_alone),
      cmocka_unit_test(removes_gross_errors),
      cmocka_unit_test(refill_is_its_rounds),
      cmocka_unit_test(refusals),
  };
  return run_cases(tests, NULL, NULL);
}
