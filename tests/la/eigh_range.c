/* eigh_range.c - eigenvectors of matrices whose entries are near the ends
 * of double's range, or that are hard, and products with a small matrix, by
 * each width of registers: against their definition. */
#include <float.h>

#include "la_case.h"

static const char *const widths[] = {"plain", "avx2", "avx512"};
static const int64_t sides[] = {1, 2, 3, 8, 9, 30, 64, 80};
/* Powers of two that entries are multiplied by. */
static const int powers[] = {0, -500, -1000, -1018, -1023, -1030, -1050, 1000};

static la_array made(la *h, int64_t n, int power, uint64_t *seed)
{
  la_array C = la_case_new(h, n, n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++)
      *la_case_at(&C, i, j) = *la_case_at(&C, j, i) =
          ldexp(2 * check_uniform(seed) - 1, power);
  return C;
}

/* Matrices that QL finds hard, of largest entry 1 or so. */
enum { GRADED, RISING, CLUSTER, WILKINSON, GLUED, BLOCKS, RANK_ONE, KINDS };

static double entry(int kind, int64_t n, int64_t i, int64_t j, uint64_t *seed)
{
  double u = 2 * check_uniform(seed) - 1, apart = (double)(i - j);
  int64_t late = kind == RISING ? 2 * n - i - j : i + j;
  double glue = j % 21 == 0 ? 1e-9 : 1,
         centre = (double)(kind == GLUED ? 10 : n / 2);
  double from = fabs(centre - (double)(kind == GLUED ? i % 21 : i)) / 32;
  switch (kind) {
  case GRADED:
  case RISING:
    return u * pow(1e-15, (double)late / (double)n);
  case CLUSTER:
    return (i == j) + 1e-12 * u;
  case WILKINSON:
    return i == j ? from : fabs(apart) < 2 ? 1.0 / 32 : 0;
  case GLUED:
    return i == j ? from : fabs(apart) < 2 ? glue / 32 : 0;
  case BLOCKS:
    return i / 3 == j / 3 ? u : 0;
  default:
    return 1 + (i == j ? 1e-14 * u : 0);
  }
}

static la_array hard(la *h, int64_t n, int kind, uint64_t *seed)
{
  la_array C = la_case_new(h, n, n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++)
      *la_case_at(&C, i, j) = *la_case_at(&C, j, i) =
          entry(kind, n, i, j, seed);
  return C;
}

/* max |2^-power C q - q 2^-power value|. */
static double residual(const la_array *C, const la_array *Q,
                       const double *values, int64_t k, int power)
{
  double worst = 0;
  for (int64_t i = 0; i < C->rows; i++) {
    double sum = -ldexp(values[k], -power) * *la_case_at(Q, i, k);
    for (int64_t j = 0; j < C->rows; j++)
      sum += ldexp(*la_case_at(C, i, j), -power) * *la_case_at(Q, j, k);
    if (!(fabs(sum) <= worst)) worst = fabs(sum);
  }
  return worst;
}

/* C, which is released, by all its eigenvectors. */
static void check(la *h, la_array *made, int power)
{
  int64_t n = made->rows;
  double values[80],
      spacing = ldexp(DBL_EPSILON, power < -1021 ? -1021 : power);
  int64_t count = -1;
  la_array C = *made, A = la_case_copy(h, &C);
  la_array Q = la_case_new(h, n, n);
  assert_int_equal(h->ops->eigh(h, &A, -INFINITY, values, &Q, &count),
                   LAPIS_OK);
  assert_int_equal(count, n);
  for (int64_t k = 0; k < n; k++)
    CHECK_AT_MOST(residual(&C, &Q, values, k, power),
                  (double)(20 * n) * ldexp(spacing, -power));
  CHECK_AT_MOST(la_case_skew(&Q), (double)(20 * n) * DBL_EPSILON);
  LA_RELEASE(h, &C, &A, &Q);
}

static void one(la *h, int64_t n, int power)
{
  uint64_t seed = (uint64_t)n;
  la_array C = made(h, n, power, &seed);
  check(h, &C, power);
}

static la opened(lapis_ctx *ctx, int width, bool *there)
{
  *there = lapis_ctx_set(ctx, "kernels", widths[width]) >= 0;
  return la_case_open(ctx, "openblas", "1");
}

static void small_and_large_entries(void **state)
{
  for (int w = 0; w < 3; w++) {
    bool there;
    lapis_ctx *ctx = lapis_ctx_new();
    la h = opened(ctx, w, &there);
    for (int k = 0; there && k < 8 * 8; k++)
      one(&h, sides[k / 8], powers[k % 8]);
    lapis_ctx_free(ctx);
  }
}

static void hard_matrices(void **state)
{
  for (int w = 0; w < 3; w++) {
    bool there;
    uint64_t seed = 5;
    lapis_ctx *ctx = lapis_ctx_new();
    la h = opened(ctx, w, &there);
    for (int kind = 0; there && kind < KINDS; kind++)
      for (int64_t n = 1; n <= 64; n++) {
        la_array C = hard(&h, n, kind, &seed);
        check(&h, &C, 0);
      }
    lapis_ctx_free(ctx);
  }
}

/* Products with a small matrix, by its definition. */
static void small_products(void **state)
{
  static const int64_t shapes[][3] = {{8, 1, 1},    {9, 2, 3},   {500, 30, 30},
                                      {67, 32, 32}, {31, 7, 13}, {1000, 5, 1}};
  for (int k = 0; k < 6 * 3; k++) {
    bool there;
    uint64_t seed = 7;
    const int64_t *shape = shapes[k / 3];
    lapis_ctx *ctx = lapis_ctx_new();
    la h = opened(ctx, k % 3, &there);
    la_array A = la_case_random(&h, shape[0], shape[1], &seed);
    la_array B = la_case_random(&h, shape[1], shape[2], &seed);
    la_array C = la_case_random(&h, shape[0], shape[2], &seed);
    assert_int_equal(h.ops->gemm(&h, LA_N, LA_N, 1, &A, &B, 0, &C), LAPIS_OK);
    for (int64_t j = 0; there && j < C.cols; j++)
      for (int64_t i = 0; i < C.rows; i++) {
        double sum = 0, size = 0;
        for (int64_t l = 0; l < A.cols; l++) {
          double term = *la_case_at(&A, i, l) * *la_case_at(&B, l, j);
          sum += term;
          size += fabs(term);
        }
        CHECK_NEAR(*la_case_at(&C, i, j), sum,
                   (double)(2 * A.cols) * DBL_EPSILON * size);
      }
    LA_RELEASE(&h, &A, &B, &C);
    lapis_ctx_free(ctx);
  }
}

/* Entries that are numbers, of eigenvalues that are none: no answer. */
static void too_large_is_refused(void **state)
{
  enum { N = 8 };
  for (int sign = -1; sign <= 1; sign += 2)
    for (int w = 0; w < 3; w++) {
      bool there;
      double values[N];
      int64_t count;
      lapis_ctx *ctx = lapis_ctx_new();
      la h = opened(ctx, w, &there);
      la_array C = la_case_new(&h, N, N), Q = la_case_new(&h, N, N);
      for (int64_t k = 0; k < N * N; k++)
        *la_case_at(&C, k / N, k % N) = sign * 0.9 * DBL_MAX;
      assert_int_equal(h.ops->eigh(&h, &C, -INFINITY, values, &Q, &count),
                       LAPIS_ENUMERIC);
      assert_non_null(strstr(lapis_ctx_error(ctx), "eigenvalue"));
      LA_RELEASE(&h, &C, &Q);
      lapis_ctx_free(ctx);
    }
}

int test_eigh_range(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_and_large_entries),
      cmocka_unit_test(hard_matrices),
      cmocka_unit_test(small_products),
      cmocka_unit_test(too_large_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
