/* Samples whose features are all 0 among others that are not. */
#include "check.h"
#include "mat/mat.h"

enum { D = 8, N = 60 };

static void count_said(int level, const char *text, void *user)
{
  (void)text;
  *(int *)user += level <= 0;
}

static int said_of(const double *x, int64_t n, bool twice)
{
  int said = 0;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat X = lapis_mat_f64((double *)(uintptr_t)x, D, n);
  lapis_ctx_on_message(ctx, count_said, &said);
  mat_say_zeros(ctx, &X);
  if (twice) mat_say_zeros(ctx, &X);
  lapis_ctx_free(ctx);
  return said;
}

/* Of a few, once; not of many, of counts, or where there is none. */
static void few_rows_of_zeros_are_said(void **state)
{
  double x[D * N], counts[D * N];
  uint64_t seed = 3;
  (void)state;
  for (int k = 0; k < D * N; k++) {
    x[k] = check_normal(&seed);
    counts[k] = floor(fabs(4 * x[k]));
  }
  assert_int_equal(said_of(x, N, true), 0);
  memset(x + 7 * D, 0, D * sizeof *x);
  memset(counts + 7 * D, 0, D * sizeof *x);
  assert_int_equal(said_of(x, N, true), 1);
  assert_int_equal(said_of(counts, N, true), 0);
  x[0] = NAN;
  assert_int_equal(said_of(x, N, false), 1);
  assert_int_equal(said_of(x, 20, false), 0); /* one in twenty */
}

int test_zeros(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_rows_of_zeros_are_said),
  };
  return run_cases(tests, NULL, NULL);
}
