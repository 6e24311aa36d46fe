/* Numbers far from all others are found at either end, in any unit, and tails
 * that go on are none, whatever their kind. */
#include <stdlib.h>

#include "check.h"
#include "mat/far.h"

enum { N = 200, COLUMNS = 300 };

static int64_t count(const double *x, int64_t n, int64_t of, double *low,
                     double *high)
{
  double sorted[N];
  memcpy(sorted, x, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, base_ascending);
  return mat_count_apart(sorted, n, of, low, high);
}

static void slips_and_codes_are_found(void **state)
{
  (void)state;
  double x[N], y[N], low, high;
  uint64_t seed = 4;
  for (int i = 0; i < N; i++) x[i] = 50 + 10 * check_normal(&seed);
  assert_int_equal(count(x, N, 10, &low, &high), 0);
  x[5] = 512;
  x[6] = x[7] = 999;
  x[8] = -999;
  assert_int_equal(count(x, N, 10, &low, &high), 4);
  assert_true(low > 0 && low < 50 && high > 50 && high < 100);
  for (int i = 0; i < N; i++) y[i] = -1e-3 * x[i] + 7;
  assert_int_equal(count(y, N, 10, &low, &high), 4);
  assert_int_equal(count(x, 40, 10, &low, &high), 0); /* they are too many */
  for (int i = 0; i < N; i++) y[i] = i < 4 ? 9 : i % 2;
  assert_int_equal(count(y, N, 10, &low, &high), 4);
  for (int i = 0; i < N; i++) y[i] = i < 4 ? 9 : 1; /* no range to compare */
  assert_int_equal(count(y, N, 10, &low, &high), 0);
}

static double draw(int kind, uint64_t *seed)
{
  double u = 1 - check_uniform(seed), z = check_normal(seed);
  if (kind == 0) return z;
  if (kind == 1) return exp(z);
  if (kind == 2) return -exp(2 * z);
  if (kind == 3) return -log(u);
  if (kind == 4) return pow(u, -1 / 1.5);
  if (kind == 5) return floor(-log(u));
  return tan(3.14159265 * (u - .5)); /* Cauchy */
}

static void tails_that_go_on_are_not(void **state)
{
  (void)state;
  double x[N], low, high;
  uint64_t seed = 11;
  for (int kind = 0; kind < 7; kind++) {
    int found = 0, of_all = 0;
    for (int k = 0; k < COLUMNS; k++) {
      for (int i = 0; i < N; i++) x[i] = draw(kind, &seed);
      found += count(x, N, 1, &low, &high) > 0;
      of_all += count(x, N, COLUMNS, &low, &high) > 0;
    }
    CHECK_AT_MOST(of_all, 1);
    CHECK_AT_MOST(found, .04 * COLUMNS); /* 2 / n each, at both ends */
  }
}

/* Two units leave a gap between two heaps; tails and few codes are none. */
static void two_heaps_are_found(void **state)
{
  (void)state;
  double x[N];
  uint64_t seed = 6;
  for (int share = 0; share < 3; share++) {
    int64_t upper = share == 0 ? 0 : share == 1 ? 20 : 100;
    for (int i = 0; i < N; i++)
      x[i] = (.3 + check_uniform(&seed)) * (i < upper ? 88.4 : 1);
    qsort(x, N, sizeof *x, base_ascending);
    assert_int_equal(mat_upper_heap(x, N), upper == 0 ? 0 : N - upper);
  }
  for (int i = 0; i < N; i++) x[i] = i < 150 ? 1 : 99; /* codes */
  assert_int_equal(mat_upper_heap(x, N), 0);
  for (int kind = 1; kind < 7; kind++)
    for (int k = 0; k < COLUMNS; k++) {
      for (int i = 0; i < N; i++) x[i] = fabs(draw(kind, &seed));
      qsort(x, N, sizeof *x, base_ascending);
      assert_int_equal(mat_upper_heap(x, N), 0);
    }
}

int test_far(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slips_and_codes_are_found),
      cmocka_unit_test(tails_that_go_on_are_not),
      cmocka_unit_test(two_heaps_are_found)};
  return run_cases(tests, NULL, NULL);
}
