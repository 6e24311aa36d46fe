/* Logistic regression: scikit-learn's numbers, and optimality recomputed. */
#include "op/learn/logistic.h"
#include "check.h"

static lapis_status fit(lapis_ctx *ctx, const logistic_problem *p, double *W)
{
  la h;
  double left;
  assert_int_equal(la_open(ctx, &h), 0);
  lapis_status s = op_logistic(&h, p, W, &left);
  if (s >= 0) CHECK_AT_MOST(left, p->tol);
  return s;
}

/* LogisticRegression(C=.1 and 10, tol=1e-12) of scikit-learn 1.2 */
static void known_weights(void **state)
{
  static double X[] = {.5,   -1.2, 1.5, .3,  -.7, 2.1, .1, .4,
                       -1.3, -.6,  2.2, 1.1, -.2, -.9, .8, 1.7};
  static const double sign[] = {-1, 1, -1, 1, -1, 1, 1, -1};
  static const double C[] = {.1, 10};
  static const double want[][3] = {
      {0.17730836895198612, -0.05116410704464479, -0.04575414235136458},
      {1.2205695024404162, -0.5018124088650722, -0.2883051927359423}};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 2; k++) {
    double W[3];
    logistic_problem p = {.of = {.X = lapis_mat_f64(X, 2, 8)},
                          .sign = sign,
                          .K = 1,
                          .C = C[k],
                          .tol = 1e-10,
                          .max_iters = 1000};
    assert_int_equal(fit(ctx, &p, W), 0);
    for (int i = 0; i < 3; i++) CHECK_NEAR(W[i], want[k][i], 1e-5);
  }
  lapis_ctx_free(ctx);
}

/* w + C sum_j -s_j sigma(-s_j f_j) x_j = 0 of every label, over shapes, with
 * signs that are not known; a label of one kind has weights 0. */
static void gradients_vanish(void **state)
{
  enum { D = 12, N = 20, K = 4 };
  static double X[D * N], sign[K * N], W[(D + 1) * K];
  static const double C[] = {.01, 1, 100};
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t seed = 4;
  for (int k = 0; k < D * N; k++) X[k] = check_normal(&seed);
  for (int k = 0; k < K * N; k++)
    sign[k] = k % 7 == 3                  ? NAN
              : k % K == K - 1            ? 1
              : check_uniform(&seed) > .4 ? 1
                                          : -1;
  for (int c = 0; c < 3; c++) {
    logistic_problem p = {.of = {.X = lapis_mat_f64(X, D, N)},
                          .sign = sign,
                          .K = K,
                          .C = C[c],
                          .tol = 1e-8,
                          .max_iters = 2000};
    assert_int_equal(fit(ctx, &p, W), 0);
    for (int k = 0; k < K - 1; k++) {
      double g[D + 1] = {0}, *w = W + k * (D + 1);
      for (int i = 0; i < D; i++) g[i] = w[i];
      for (int j = 0; j < N; j++) {
        double s = sign[j * K + k], f = w[D];
        if (isnan(s)) continue;
        for (int i = 0; i < D; i++) f += w[i] * X[j * D + i];
        double r = -C[c] * s / (1 + exp(s * f));
        for (int i = 0; i < D; i++) g[i] += r * X[j * D + i];
        g[D] += r;
      }
      for (int i = 0; i <= D; i++) CHECK_NEAR(g[i], 0, 1e-6 * C[c] * N);
    }
    for (int i = 0; i < D; i++) CHECK_NEAR(W[(K - 1) * (D + 1) + i], 0, 0);
    CHECK_AT_LEAST(W[K * (D + 1) - 1], 1);
  }
  lapis_ctx_free(ctx);
}

/* The same of three classes at once (multinomial). */
static void known_weights_of_classes(void **state)
{
  static double X[] = {.1,   -.1, .6, .1,   -.5, .4,   1.3, .9,  -.7,
                       -1.3, -.6, 0,  -2.3, -.2, -1.2, -.7, -.5, -.3};
  static const int y[] = {0, 1, 2, 0, 1, 2, 1, 2, 0};
  static const double C[] = {.1, 10};
  static const double want[][9] = {
      {0.1640879214072482, 0.06682263736624404, 0.07025955045803223,
       -0.08261283054789761, -0.08331193654730303, -0.04399887547960292,
       -0.08147509085935059, 0.016489299181058976, -0.02626067497842906},
      {0.9728975479998135, 0.06336728447593784, 0.28299283087083826,
       -0.39138411583648647, -0.6903504389610311, -0.24617924909665323,
       -0.5815134321633282, 0.6269831544850926, -0.036813581774183375}};
  lapis_ctx *ctx = lapis_ctx_new();
  double sign[3 * 10];
  /* a tenth sample has no class */
  double more[20];
  for (int j = 0; j < 10; j++)
    for (int c = 0; c < 3; c++)
      sign[3 * j + c] = j == 9 ? NAN : y[j] == c ? 1 : -1;
  memcpy(more, X, sizeof X);
  more[18] = more[19] = 5;
  for (int k = 0; k < 2; k++) {
    double W[9];
    logistic_problem p = {.of = {.X = lapis_mat_f64(more, 2, 10)},
                          .sign = sign,
                          .K = 3,
                          .classes = true,
                          .C = C[k],
                          .tol = 1e-8,
                          .max_iters = 2000};
    assert_int_equal(fit(ctx, &p, W), 0);
    for (int i = 0; i < 9; i++) CHECK_NEAR(W[i], want[k][i], 1e-6);
  }
  lapis_ctx_free(ctx);
}

int test_logistic(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_weights),
      cmocka_unit_test(gradients_vanish),
      cmocka_unit_test(known_weights_of_classes),
  };
  return run_cases(tests, NULL, NULL);
}
