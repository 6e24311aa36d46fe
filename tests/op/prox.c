/* prox.c - proximal steps judged by their optimality conditions, which
 * need nothing but the definition, and by verified answers. */
#include "fixture.h"
#include "la/losses.h"
#include "lapis/methods.h"

enum { CASES = 50000 };

static double power(uint64_t *seed, double low, double high)
{
  return pow(10, low + (high - low) * check_uniform(seed));
}

/* v = z + t chi2'(z) solved by bisection of z (1 + 4t (z + 2 z0)/(z + z0)^2)
 * = v + 3t in extended precision: all terms positive, so that even the
 * smallest z is right to the last digits. */
static double chi2_by_bisection(double v, double z0, double t)
{
  long double d = v + 3 * (long double)t, low = 0, high = d;
  if (!(z0 > 0)) return v > t ? v - t : 0;
  if (d <= 0) return 0;
  for (int i = 0; i < 20000; i++) {
    long double z = low + (high - low) / 2, s = z + z0;
    if (!(z > low && z < high)) break;
    if (z + 4 * t * (z / s) * (1 + z0 / s) > d)
      high = z;
    else
      low = z;
  }
  return (double)high;
}

/* Relative accuracy over all sizes; v + 3t is a datum only to rounding, and
 * what that rounding moves is not counted. */
static void chi2_is_accurate(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = i;
    double z0 = power(&seed, -12, 6), t = power(&seed, -10, 6), z;
    double v = (check_uniform(&seed) < 0.5 ? -1 : 1) * power(&seed, -10, 6);
    if (i % 5 == 0) v = -3 * t * (1 - power(&seed, -12, 0)); /* near z = 0 */
    if (i % 7 == 0) z0 = 0;
    double truth = chi2_by_bisection(v, z0, t);
    double r = z0 / (truth + z0), slack = 0;
    if (z0 > 0)
      slack = 4e-16 * (fabs(v) + 3 * t) / (1 + 8 * t * r * r / (truth + z0));
    lapis_prox_chi2(1, &v, &z0, &t, &z);
    CHECK_NEAR(z, truth, 2e-14 * truth + slack + 1e-300);
    CHECK_AT_LEAST(z, 0);
  }
}

static void chi2_extremes(void **state)
{
  const double v[] = {1, -1e6, 5, 0, 1e-3, -2, 1e300, 3};
  const double z0[] = {2, 3, 0, 0, 1e-300, 4.9e-324, 1, 1e-310};
  const double t[] = {0, 1e-3, 7, 0, 1, 1, 1, 1};
  const double want[] = {1, 0, 0, 0, 0, 0, 1e300, 2};
  double z[8], nan = NAN, one = 1;
  lapis_prox_chi2(8, v, z0, t, z);
  for (int i = 0; i < 8; i++)
    CHECK_NEAR(z[i], want[i], 1e-15 * want[i] + 1e-290);
  lapis_prox_chi2(1, &nan, &one, &one, z);
  assert_true(isnan(z[0]));
  lapis_prox_chi2(1, &one, &nan, &one, z);
  assert_true(isnan(z[0]));
}

/* Compared with every nearby point and the far ones of a grid. */
static void chi2_is_minimal(void **state)
{
  for (uint64_t i = 0; i < 500; i++) {
    uint64_t seed = 100000 + i;
    double z0 = 3 * check_uniform(&seed), t = power(&seed, -2, 2), z;
    double v = 4 * check_normal(&seed);
    if (i % 3 == 0) z0 = 0;
    lapis_prox_chi2(1, &v, &z0, &t, &z);
    double best = t * k_chi2(z, z0) + 0.5 * (z - v) * (z - v);
    for (int k = 0; k <= 2000; k++) {
      double x = 10.0 * k / 2000;
      double f = t * k_chi2(x, z0) + 0.5 * (x - v) * (x - v);
      CHECK_AT_LEAST(f, best - 1e-13 * (1 + fabs(best)));
    }
  }
}

/* z - v + t f'(z) = 0, in units of what one rounding of z does to it. */
static void logistic_is_optimal(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 200000 + i;
    double gamma = power(&seed, -2, 3), t = power(&seed, -6, 5), z;
    double s = check_uniform(&seed) < 0.5 ? -1 : 1;
    double c = check_uniform(&seed) < 0.5 ? 0 : 1;
    double v = check_normal(&seed) * power(&seed, -3, 5);
    lapis_prox_logistic(1, &v, &s, &c, gamma, &t, &z);
    double slope = k_logistic_slope(z, s, c, gamma);
    double p = fabs(slope), bend = 1 + t * gamma * p * (1 - p);
    double size = fabs(v) + fabs(z) + 1;
    CHECK_NEAR(z - v + t * slope, 0, 1e-15 * (4 * size * bend + 4 * t * p));
    CHECK_AT_MOST(fabs(z - v), t * (1 + 1e-15) + 1e-15 * fabs(v));
  }
}

static void soft_shrinks(void **state)
{
  double v[] = {3, -3, 0.5, -0.5, 0, NAN}, z[6];
  const double want[] = {2, -2, 0, 0, 0};
  lapis_prox_soft(6, v, 1, z);
  for (int i = 0; i < 5; i++) CHECK_NEAR(z[i], want[i], 0);
  assert_true(isnan(z[5]));
  lapis_prox_soft(6, v, 1, v); /* in place */
  assert_memory_equal(v, z, sizeof z);
}

/* ---- simplex ------------------------------------------------------------*/

enum { MOST = 60 };

/* There must be one theta with z_i + t chi2'(z_i) - v_i = -theta where z_i > 0
 * and >= where z_i = 0.  Entries give bounds on it; they must agree. */
static void check_simplex(int n, const double *v, const double *z0, double t,
                          const double *z)
{
  double low = -INFINITY, high = INFINITY, sum = 0, size = 1 + 4 * t;
  for (int i = 0; i < n; i++) {
    double slope = isnan(z0[i]) ? 0 : t * k_chi2_slope(z[i], z0[i]);
    double theta = v[i] - z[i] - slope;
    CHECK_AT_LEAST(z[i], 0);
    sum += z[i];
    if (fabs(v[i]) > size) size = fabs(v[i]);
    double rough = 1e-13; /* what rounding of z does to a steep slope */
    if (!isnan(z0[i]) && z0[i] > 0) {
      double s = z[i] + z0[i];
      rough += 1e-15 * t * 8 * (z0[i] / s) * (z0[i] / s) * (z[i] / s);
    }
    if (theta - rough > low) low = theta - rough;
    if (z[i] > 0 && theta + rough < high) high = theta + rough;
  }
  CHECK_NEAR(sum, 1, 4e-15);
  CHECK_AT_MOST(low, high + 1e-13 * size);
}

static void simplex_is_optimal(void **state)
{
  for (uint64_t i = 0; i < 4000; i++) {
    uint64_t seed = 300000 + i;
    int n = 1 + (int)(MOST * check_uniform(&seed));
    double v[MOST], z0[MOST], z[MOST], t = power(&seed, -6, 2);
    double scale = power(&seed, -3, 3), missing = check_uniform(&seed);
    if (i % 4 == 0) missing = 0;
    for (int k = 0; k < n; k++) {
      double count = check_uniform(&seed);
      v[k] = scale * check_normal(&seed);
      z0[k] = count < 0.5 ? 0 : count < 0.6 ? 1e-12 : 2 * count / n;
      if (check_uniform(&seed) < missing) z0[k] = NAN;
    }
    lapis_prox_chi2_simplex(n, v, z0, t, z);
    check_simplex(n, v, z0, t, z);
    lapis_prox_chi2_simplex(n, v, z0, t, v); /* in place */
    for (int k = 0; k < n; k++) CHECK_NEAR(v[k], z[k], 0);
  }
}

/* A histogram that is already the observed one stays. */
static void simplex_keeps_what_fits(void **state)
{
  const double z0[4] = {0.1, 0.2, 0.3, 0.4};
  double z[4];
  lapis_prox_chi2_simplex(4, z0, z0, 5, z);
  for (int i = 0; i < 4; i++) CHECK_NEAR(z[i], z0[i], 1e-15);
}

/* ---- verified answers ---------------------------------------------------*/

static void chi2_matches_fixture(void **state)
{
  fixture f;
  fixture_open(&f, "scalar_chi2", false);
  int64_t n = fixture_mat(&f.data, "v").cols;
  double *v = fixture_values(&f, "v"), *z0 = fixture_values(&f, "z0"),
         *t = fixture_values(&f, "t");
  double *want = fixture_values(&f, "prox"), z;
  assert_true(n > 10);
  for (int64_t i = 0; i < n; i++) {
    lapis_prox_chi2(1, v + i, z0 + i, t + i, &z);
    fixture_near(z, want[i]);
  }
  fixture_close(&f);
}

static void logistic_matches_fixture(void **state)
{
  fixture f;
  fixture_open(&f, "scalar_log", false);
  int64_t n = fixture_mat(&f.data, "v").cols;
  double *v = fixture_values(&f, "v"), *y = fixture_values(&f, "y01"),
         *t = fixture_values(&f, "t");
  double *want01 = fixture_values(&f, "prox01"),
         *wantpm = fixture_values(&f, "proxpm"), z;
  assert_true(n > 10);
  for (int64_t i = 0; i < n; i++) {
    double s = 2 * y[i] - 1, zero = 0;
    lapis_prox_logistic(1, v + i, &s, y + i, 10, t + i, &z);
    fixture_near(z, want01[i]);
    lapis_prox_logistic(1, v + i, &s, &zero, 30, t + i, &z);
    fixture_near(z, wantpm[i]);
  }
  fixture_close(&f);
}

int test_prox(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chi2_is_accurate),
      cmocka_unit_test(chi2_extremes),
      cmocka_unit_test(chi2_is_minimal),
      cmocka_unit_test(logistic_is_optimal),
      cmocka_unit_test(soft_shrinks),
      cmocka_unit_test(simplex_is_optimal),
      cmocka_unit_test(simplex_keeps_what_fits),
      cmocka_unit_test(chi2_matches_fixture),
      cmocka_unit_test(logistic_matches_fixture),
  };
  return run_cases(tests, NULL, NULL);
}
