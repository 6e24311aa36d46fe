/* losses.c - losses against their formulas, slopes against differences,
 * conjugates against their definition (Fenchel and Young), verified answers. */
#include "la/losses.h"
#include "fixture.h"
#include "lapis/methods.h"

enum { CASES = 5000 };

static double power(uint64_t *seed, double low, double high)
{
  return pow(10, low + (high - low) * check_uniform(seed));
}

static void chi2_by_hand(void **state)
{
  CHECK_NEAR(k_chi2(1, 3), 1, 0);
  CHECK_NEAR(k_chi2(0, 3), 3, 0);
  CHECK_NEAR(k_chi2(3, 0), 3, 0);
  CHECK_NEAR(k_chi2(0, 0), 0, 0);
  assert_true(isinf(k_chi2(-1e-9, 3)));
  CHECK_NEAR(k_chi2_slope(0, 0), 1, 0);
  CHECK_NEAR(k_chi2_slope(5, 0), 1, 0);
  CHECK_NEAR(k_chi2_slope(0, 2), -3, 0);
  CHECK_NEAR(k_chi2_slope(2, 2), 0, 0);
  CHECK_NEAR(k_chi2_conjugate(-3, 2), -2, 0); /* z = 0 from here down */
  CHECK_NEAR(k_chi2_conjugate(-9, 2), -2, 0);
  CHECK_NEAR(k_chi2_conjugate(0, 2), 0, 0);
  CHECK_NEAR(k_chi2_conjugate(1, 2), 6, 0);
  assert_true(isinf(k_chi2_conjugate(1.001, 2)));
  assert_true(isnan(k_chi2(NAN, 1)) && isnan(k_chi2(1, NAN)));
}

static void logistic_by_hand(void **state)
{
  CHECK_NEAR(k_logistic(0, 1, 0, 2), log(2) / 2, 1e-16);
  CHECK_NEAR(k_logistic(-1e6, 1, 0, 30), 1e6, 1e-9); /* no overflow */
  CHECK_NEAR(k_logistic(1e6, 1, 0, 30), 0, 0);
  CHECK_NEAR(k_logistic_slope(-1e6, 1, 0, 30), -1, 0);
  CHECK_NEAR(k_logistic_slope(1e6, 1, 0, 30), 0, 0);
  CHECK_NEAR(k_logistic_slope(1, -1, 1, 30), 0.5, 0);
  CHECK_NEAR(k_logistic_conjugate(0, 1, 0, 3), 0, 0); /* p ln p at 0 */
  CHECK_NEAR(k_logistic_conjugate(-1, 1, 0, 3), 0, 0);
  CHECK_NEAR(k_logistic_conjugate(-0.5, 1, 1, 2), -0.5 - log(2) / 2, 1e-16);
  assert_true(isinf(k_logistic_conjugate(0.1, 1, 0, 3)));
  assert_true(isinf(k_logistic_conjugate(-1.1, 1, 0, 3)));
}

static void slopes_are_derivatives(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = i;
    double z0 = 2 * check_uniform(&seed), z = 0.1 + 2 * check_uniform(&seed);
    double h = 1e-5, gamma = power(&seed, -1, 1), c = i % 2, s = 2 * c - 1;
    double a = (k_chi2(z + h, z0) - k_chi2(z - h, z0)) / (2 * h);
    CHECK_NEAR(a, k_chi2_slope(z, z0), 1e-6);
    double up = k_logistic(z + h, s, c, gamma);
    double down = k_logistic(z - h, s, c, gamma);
    double slope = k_logistic_slope(z, s, c, gamma);
    CHECK_NEAR((up - down) / (2 * h), slope, 1e-6);
  }
}

/* f(z) + f*(y) >= y z for all pairs, with equality at y = f'(z). */
static void chi2_fenchel_young(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 20000 + i;
    double z0 = i % 5 == 0 ? 0 : power(&seed, -12, 6);
    double z = i % 7 == 0 ? 0 : power(&seed, -12, 6);
    double y = 1 - power(&seed, -6, 2), size = z + z0 + 1e-300;
    double sum = k_chi2(z, z0) + k_chi2_conjugate(y, z0);
    CHECK_AT_LEAST(sum, y * z - 1e-14 * (1 + fabs(y)) * size);
    y = k_chi2_slope(z, z0);
    sum = k_chi2(z, z0) + k_chi2_conjugate(y, z0);
    /* near y = 1 the conjugate is steep: rounding of y counts z eps */
    CHECK_NEAR(sum, y * z, 1e-14 * size);
  }
}

static void logistic_fenchel_young(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 40000 + i;
    double gamma = power(&seed, -2, 2), c = i % 2, s = i % 3 ? 1 : -1;
    double z = 3 * check_normal(&seed), y = -s * check_uniform(&seed);
    double f = k_logistic(z, s, c, gamma);
    double sum = f + k_logistic_conjugate(y, s, c, gamma);
    double tolerance = 1e-14 * (1 + fabs(z) + 1 / gamma);
    CHECK_AT_LEAST(sum, y * z - tolerance);
    y = k_logistic_slope(z, s, c, gamma);
    sum = f + k_logistic_conjugate(y, s, c, gamma);
    CHECK_NEAR(sum, y * z, tolerance);
  }
}

static void chi2_matches_fixture(void **state)
{
  fixture f;
  fixture_open(&f, "scalar_chi2", false);
  int64_t n = fixture_mat(&f.data, "z").cols;
  double *z = fixture_values(&f, "z"), *z0 = fixture_values(&f, "z0"),
         *y = fixture_values(&f, "y");
  assert_true(n > 10);
  for (int64_t i = 0; i < n; i++) {
    fixture_near(k_chi2(z[i], z0[i]), fixture_values(&f, "value")[i]);
    fixture_near(k_chi2_slope(z[i], z0[i]), fixture_values(&f, "grad")[i]);
    fixture_near(k_chi2_conjugate(y[i], z0[i]), fixture_values(&f, "conj")[i]);
  }
  fixture_close(&f);
}

/* gamma 10 for labels {0, 1}, 30 for {-1, 1}, as case.json says. */
static void logistic_matches_fixture(void **state)
{
  fixture f;
  fixture_open(&f, "scalar_log", false);
  int64_t n = fixture_mat(&f.data, "v").cols;
  double *v = fixture_values(&f, "v"), *y = fixture_values(&f, "y01");
  assert_true(n > 10);
  for (int64_t i = 0; i < n; i++) {
    double s = 2 * y[i] - 1;
    fixture_near(k_logistic(v[i], s, y[i], 10),
                 fixture_values(&f, "loss01")[i]);
    fixture_near(k_logistic(v[i], s, 0, 30), fixture_values(&f, "losspm")[i]);
    fixture_near(k_logistic_slope(v[i], s, y[i], 10),
                 fixture_values(&f, "grad01")[i]);
    fixture_near(k_logistic_slope(v[i], s, 0, 30),
                 fixture_values(&f, "gradpm")[i]);
  }
  fixture_close(&f);
}

int test_losses(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chi2_by_hand),
      cmocka_unit_test(logistic_by_hand),
      cmocka_unit_test(slopes_are_derivatives),
      cmocka_unit_test(chi2_fenchel_young),
      cmocka_unit_test(logistic_fenchel_young),
      cmocka_unit_test(chi2_matches_fixture),
      cmocka_unit_test(logistic_matches_fixture),
  };
  return run_cases(tests, NULL, NULL);
}
