/* Kernels against their definitions; G by its ways; low rank. */
#include "op/dense/kernel.h"
#include "check.h"
#include "methods/svmplus/svmplus.h"
#include "op/dense/lowrank.h"

typedef struct setup {
  lapis_ctx *ctx;
  la h;
} setup;

static setup begin(void)
{
  setup s = {.ctx = lapis_ctx_new()};
  assert_int_equal(la_open(s.ctx, &s.h), LAPIS_OK);
  return s;
}

static double *samples(uint64_t seed, int64_t d, int64_t n, double offset)
{
  double *X = malloc((size_t)(d * n) * sizeof *X);
  for (int64_t k = 0; k < d * n; k++) X[k] = offset + check_uniform(&seed);
  return X;
}

/* The definition, without tricks. */
static double plain_kernel(int kind, double width, const double *x,
                           const double *z, int64_t d)
{
  double product = 0, far = 0, chi2 = 0;
  for (int64_t i = 0; i < d; i++) {
    product += x[i] * z[i];
    far += (x[i] - z[i]) * (x[i] - z[i]);
    if (x[i] + z[i] > 0) chi2 += (x[i] - z[i]) * (x[i] - z[i]) / (x[i] + z[i]);
  }
  if (kind == LAPIS_KERNEL_LINEAR) return product;
  return exp(-(kind == LAPIS_KERNEL_RBF ? far : chi2) / width);
}

static double mean_distance(int kind, const double *X, int64_t d, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      sum -= log(plain_kernel(kind, 1, X + i * d, X + j * d, d));
  return sum / (double)(n * n);
}

static void check_kind(int kind, int64_t d, int64_t n, double offset)
{
  setup s = begin();
  double *X = samples(1, d, n, offset), *B = samples(2, d, 5, offset);
  lapis_mat mX = lapis_mat_f64(X, d, n), mB = lapis_mat_f64(B, d, 5);
  op_kernel k;
  double *K = malloc((size_t)(n * n + 5 * n) * sizeof *K), *N = K + n * n;
  assert_int_equal(op_kernel_new(&s.h, kind, NAN, "X", &mX, &k), 0);
  if (kind != LAPIS_KERNEL_LINEAR && n > 1) {
    double mean = mean_distance(kind, X, d, n);
    CHECK_NEAR(k.width, mean, 1e-12 * mean);
  }
  assert_int_equal(op_kernel_own(&s.h, &k, 0, n, K), 0);
  assert_int_equal(op_kernel_block(&s.h, &k, &mB, N), 0);
  double scale = kind == LAPIS_KERNEL_LINEAR ? (double)d * offset * offset : 1;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++)
      CHECK_NEAR(K[j * n + i],
                 plain_kernel(kind, k.width, X + i * d, X + j * d, d),
                 1e-12 * (1 + scale));
  for (int64_t j = 0; j < 5; j++)
    for (int64_t i = 0; i < n; i++)
      CHECK_NEAR(N[j * n + i],
                 plain_kernel(kind, k.width, X + i * d, B + j * d, d),
                 1e-12 * (1 + scale));
  /* a block of columns is part of the whole */
  assert_int_equal(op_kernel_own(&s.h, &k, n / 2, n - n / 2, N), 0);
  for (int64_t c = 0; c < (n - n / 2 < 5 ? n - n / 2 : 5) * n; c++)
    CHECK_NEAR(N[c], K[n / 2 * n + c], 1e-13 * (1 + scale));
  op_kernel_free(&k);
  free(X);
  free(B);
  free(K);
  lapis_ctx_free(s.ctx);
}

static void kernels_are_their_definitions(void **state)
{
  for (int kind = LAPIS_KERNEL_LINEAR; kind <= LAPIS_KERNEL_CHI2; kind++) {
    check_kind(kind, 7, 9, 0);
    check_kind(kind, 1, 6, 0);
    check_kind(kind, 3, 1, 0);
    check_kind(kind, 40, 8, 1000); /* far from the origin */
  }
}

/* Identity through G: (gamma I + C Kt) G = Kt. */
static double residual(const double *Kt, const double *G, int64_t n, double C,
                       double gamma)
{
  double worst = 0;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      double sum = gamma * G[j * n + i] - Kt[j * n + i], size = 0;
      for (int64_t k = 0; k < n; k++) {
        sum += C * Kt[k * n + i] * G[j * n + k];
        size += fabs(C * Kt[k * n + i] * G[j * n + k]);
      }
      worst = fmax(worst, fabs(sum) / fmax(size, fabs(Kt[j * n + i])));
    }
  return worst;
}

static void check_G(double C, double gamma, int64_t rank)
{
  enum { D = 4, N = 30 };
  setup s = begin();
  double *X = samples(3, D, N, 0), *Kt = calloc(N * N, sizeof *Kt);
  double *G = calloc(N * N, sizeof *G);
  lapis_data data = {.X = lapis_mat_f64(X, D, N), .P = lapis_mat_f64(X, D, N)};
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.kernel = LAPIS_KERNEL_RBF;
  set.kernel_priv = rank == 0 ? LAPIS_KERNEL_LINEAR : LAPIS_KERNEL_RBF;
  set.rank = rank == 0 ? -1 : rank;
  sv_gram k;
  assert_int_equal(sv_gram_new(&s.h, &set, &data, &k), 0);
  assert_int_equal(sv_gram_make(&k), 0);
  assert_int_equal(sv_gram_slack(&k, C, gamma, NULL), 0);
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < N; i++) {
      Kt[j * N + i] = 1 + plain_kernel(set.kernel_priv, k.priv.width, X + i * D,
                                       X + j * D, D);
      if (k.L == NULL) G[j * N + i] = k.G[j * N + i];
      for (int64_t c = 0; k.L != NULL && c < k.r; c++)
        G[j * N + i] += k.G[i * k.r + c] * k.G[j * k.r + c];
    }
  CHECK_AT_MOST(residual(Kt, G, N, C, gamma), 1e-9);
  if (rank == 0) assert_int_equal(k.r, D + 1);
  sv_gram_free(&k);
  free(X);
  free(Kt);
  free(G);
  lapis_ctx_free(s.ctx);
}

/* Inverse where gamma <= 1e4 C, else solve; exact and low rank. */
static void G_solves_its_equation(void **state)
{
  for (int a = -3; a <= 3; a++)
    for (int b = -3; b <= 3; b++) {
      check_G(pow(10, a), pow(10, b), -1);
      check_G(pow(10, a), pow(10, b), 0);
      check_G(pow(10, a), pow(10, b), 30);
    }
}

static void low_rank_bounds_its_error(void **state)
{
  enum { D = 3, N = 25 };
  setup s = begin();
  double *X = samples(4, D, N, 0), *L, left, last = 1;
  lapis_mat mX = lapis_mat_f64(X, D, N);
  op_kernel k;
  int64_t r;
  assert_int_equal(op_kernel_new(&s.h, LAPIS_KERNEL_RBF, NAN, "X", &mX, &k), 0);
  for (int64_t most = 1; most <= N; most += 6) {
    assert_int_equal(op_low_rank(&s.h, &k, most, 0, &L, &r, &left), 0);
    double trace = 0, worst = 0;
    for (int64_t j = 0; j < N; j++)
      for (int64_t i = 0; i < N; i++) {
        double rest = 1 + plain_kernel(LAPIS_KERNEL_RBF, k.width, X + i * D,
                                       X + j * D, D);
        for (int64_t c = 0; c < r; c++) rest -= L[i * r + c] * L[j * r + c];
        if (i == j) trace += rest;
        worst = fmax(worst, fabs(rest));
      }
    CHECK_NEAR(left, trace / (2.0 * N), 1e-12);
    CHECK_AT_MOST(worst, trace + 1e-10); /* entries of a psd rest */
    CHECK_AT_MOST(left, last + 1e-15);
    last = left;
    base_free(L);
  }
  op_kernel_free(&k);
  free(X);
  lapis_ctx_free(s.ctx);
}

/* The inverse of a random positive definite matrix, by both backends. */
static void potri_inverts(void **state)
{
  enum { N = 23 };
  static const char *const names[] = {"reference", "openblas"};
  for (int b = 0; b < 2; b++) {
    lapis_ctx *ctx = lapis_ctx_new();
    la h;
    double *X = samples(5, N, N, 0), A[N * N], L[N * N];
    assert_int_equal(lapis_ctx_set(ctx, "backend", names[b]), 0);
    assert_int_equal(la_open(ctx, &h), 0);
    la_array x = la_wrap(X, N, N), a = la_wrap(A, N, N), l = la_wrap(L, N, N);
    assert_int_equal(h.ops->syrk(&h, LA_T, &x, &a), 0);
    for (int i = 0; i < N; i++) A[i * N + i] += 1;
    memcpy(L, A, sizeof A);
    assert_int_equal(h.ops->potrf(&h, &l), 0);
    assert_int_equal(h.ops->potri(&h, &l), 0);
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++) {
        double sum = i == j ? -1 : 0;
        for (int k = 0; k < N; k++) sum += A[k * N + i] * L[j * N + k];
        CHECK_NEAR(sum, 0, 1e-11);
      }
    free(X);
    lapis_ctx_free(ctx);
  }
}

int test_kernel(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_are_their_definitions),
      cmocka_unit_test(G_solves_its_equation),
      cmocka_unit_test(low_rank_bounds_its_error),
      cmocka_unit_test(potri_inverts)};
  return run_cases(tests, NULL, NULL);
}
