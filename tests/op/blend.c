/* Weights of a mean: optimal by what optimal means. */
#include "op/learn/blend.h"
#include "check.h"

/* At the least x'Gx of the simplex no gradient is below that of where weight
 * is. */
static void no_other_way_is_better(void **state)
{
  (void)state;
  enum { MOST = 7, ERRORS = 30 };
  uint64_t seed = 11;
  for (int trial = 0; trial < 200; trial++) {
    int n = 1 + trial % MOST;
    double e[MOST * ERRORS], G[MOST * MOST] = {0}, x[MOST], sum = 0;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < ERRORS; k++) {
      double common = check_normal(&seed);
      for (int a = 0; a < n; a++)
        e[k * n + a] = common + (1 + a) * check_normal(&seed) / 3;
      for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
          G[a * MOST + b] += e[k * n + a] * e[k * n + b];
    }
    op_blend(G, MOST, n, x);
    double size = op_blend_error(G, MOST, n, x);
    for (int a = 0; a < n; a++) {
      double slope = 0;
      assert_true(x[a] >= 0);
      sum += x[a];
      for (int b = 0; b < n; b++) slope += G[a * MOST + b] * x[b];
      least = fmin(least, slope);
      if (x[a] > 1e-6) most = fmax(most, slope);
    }
    CHECK_NEAR(sum, 1, 1e-12);
    CHECK_AT_MOST(most - least, 1e-3 * size);
  }
}

int test_blend(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_other_way_is_better),
  };
  return run_cases(tests, NULL, NULL);
}
