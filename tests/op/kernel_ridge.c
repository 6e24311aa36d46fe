/* Ridge regression behind a kernel: of few samples that of the kernel itself,
 * by its optimality; of many about that. */
#include "op/learn/kernel_ridge.h"
#include "check.h"

enum { D = 3, MOST = 600 };

/* w = C sum of v_j r_j g(x_j), and the residuals r weigh 0: with g'g the kernel
 * f(x_i) - b = C sum_j k(x_i, x_j) v_j r_j, which needs no g. */
static void few_samples_are_optimal(void **state)
{
  (void)state;
  enum { N = 40 };
  uint64_t seed = 3;
  lapis_ctx *ctx = lapis_ctx_new();
  la h;
  assert_int_equal(la_open_host(ctx, &h), LAPIS_OK);
  for (int trial = 0; trial < 20; trial++) {
    double X[D * N], Y[N], weight[N], A[N], sum = 0, b = NAN;
    double C = pow(10, 2 * check_uniform(&seed) - .5), width = 2;
    for (int k = 0; k < D * N; k++) X[k] = check_normal(&seed);
    for (int j = 0; j < N; j++) {
      Y[j] = j % 7 == 3 ? NAN : check_normal(&seed) + 4;
      weight[j] = j % 5 == 1 ? 0 : 1 + (j % 2);
    }
    ridge_problem p = {
        .X = lapis_mat_f64(X, D, N), .Y = Y, .K = 1, .weight = weight, .C = C};
    assert_int_equal(op_kernel_ridge(&h, &p, width, A), LAPIS_OK);
    for (int j = 0; j < N; j++)
      if (!isnan(Y[j])) sum += weight[j] * (Y[j] - A[j]);
    CHECK_NEAR(sum, 0, 1e-7);
    for (int i = 0; i < N; i++) {
      double f = 0;
      for (int j = 0; j < N; j++) {
        double far = 0;
        for (int k = 0; k < D; k++) far += pow(X[D * i + k] - X[D * j + k], 2);
        if (!isnan(Y[j]))
          f += C * exp(-far / width) * weight[j] * (Y[j] - A[j]);
      }
      if (i == 0) b = A[i] - f;
      CHECK_NEAR(A[i] - f, b, 1e-4);
    }
  }
  lapis_ctx_free(ctx);
}

/* More samples than centres: a smooth function is still found. */
static void many_samples_are_learnt(void **state)
{
  (void)state;
  uint64_t seed = 5;
  lapis_ctx *ctx = lapis_ctx_new();
  la h;
  double X[MOST], Y[MOST], A[MOST], most = 0;
  assert_int_equal(la_open_host(ctx, &h), LAPIS_OK);
  for (int j = 0; j < MOST; j++) {
    X[j] = 4 * check_uniform(&seed) - 2;
    Y[j] = j % 3 == 0 ? NAN : sin(3 * X[j]);
  }
  ridge_problem p = {.X = lapis_mat_f64(X, 1, MOST), .Y = Y, .K = 1, .C = 1000};
  assert_int_equal(op_kernel_ridge(&h, &p, .5, A), LAPIS_OK);
  for (int j = 0; j < MOST; j++) most = fmax(most, fabs(A[j] - sin(3 * X[j])));
  CHECK_AT_MOST(most, .02);
  lapis_ctx_free(ctx);
}

int test_kernel_ridge(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_samples_are_optimal),
      cmocka_unit_test(many_samples_are_learnt),
  };
  return run_cases(tests, NULL, NULL);
}
