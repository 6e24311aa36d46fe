/* projection.c - projections: optimal, idempotent, non-expansive, and
 * the conjugate of the simplex block against its definition. */
#include "fixture.h"
#include "la_case.h"
#include "lapis/methods.h"

enum { CASES = 3000, MOST = 80 };

static int random_column(uint64_t *seed, double *v)
{
  int n = 1 + (int)(MOST * check_uniform(seed));
  double scale = pow(10, 8 * check_uniform(seed) - 2);
  double shift = check_uniform(seed) < 0.3 ? 100 * scale : 0;
  for (int i = 0; i < n; i++) v[i] = shift + scale * check_normal(seed);
  if (check_uniform(seed) < 0.1)
    for (int i = 0; i < n; i++) v[i] = v[0]; /* ties */
  return n;
}

/* z = max(v - theta, 0) with one theta, and a sum of 1: that is optimality. */
static void simplex_is_optimal(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = i;
    double v[MOST + 1], z[MOST + 1], work[MOST + 1], sum = 0, top = 0;
    double low = -INFINITY, high = INFINITY;
    int n = random_column(&seed, v);
    lapis_project_simplex(n, v, work, z);
    for (int k = 0; k < n; k++) {
      CHECK_AT_LEAST(z[k], 0);
      sum += z[k];
      top = fmax(top, fabs(v[k]));
      low = fmax(low, v[k] - z[k]);
      if (z[k] > 0) high = fmin(high, v[k] - z[k]);
    }
    CHECK_NEAR(sum, 1, 2e-15 * n);
    CHECK_AT_MOST(low, high + 4e-16 * (top + 1));
  }
}

static void simplex_is_idempotent(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 10000 + i;
    double v[MOST + 1], z[MOST + 1], work[MOST + 1];
    int n = random_column(&seed, v);
    lapis_project_simplex(n, v, work, z);
    lapis_project_simplex(n, z, work, v); /* v as the result */
    for (int k = 0; k < n; k++) CHECK_NEAR(v[k], z[k], 2e-15);
    lapis_project_simplex(n, z, work, z); /* in place */
    for (int k = 0; k < n; k++) CHECK_NEAR(v[k], z[k], 0);
  }
}

static void simplex_is_non_expansive(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 20000 + i;
    double a[MOST], b[MOST], work[MOST], before = 0, after = 0;
    int n = 1 + (int)((MOST - 1) * check_uniform(&seed));
    for (int k = 0; k < n; k++) {
      a[k] = check_normal(&seed);
      b[k] = a[k] + 0.3 * check_normal(&seed);
      before += (a[k] - b[k]) * (a[k] - b[k]);
    }
    lapis_project_simplex(n, a, work, a);
    lapis_project_simplex(n, b, work, b);
    for (int k = 0; k < n; k++) after += (a[k] - b[k]) * (a[k] - b[k]);
    CHECK_AT_MOST(after, before * (1 + 1e-13));
  }
}

static void nan_shows(void **state)
{
  double v[3] = {1, NAN, 2}, work[3], z[3];
  lapis_project_simplex(3, v, work, z);
  assert_true(isnan(z[0]) && isnan(z[1]) && isnan(z[2]));
}

static void simplex_matches_fixture(void **state)
{
  fixture f;
  fixture_open(&f, "simplex_proj", false);
  lapis_mat V = fixture_mat(&f.data, "V"), W = fixture_mat(&f.data, "W");
  double *v = V.val, *w = W.val, z[64], work[64], column[64];
  /* stored (entries, columns) in C order: lapis sees columns as rows */
  int64_t n = V.cols, count = V.rows;
  assert_true(n > 1 && n <= 64 && count > 1);
  for (int64_t j = 0; j < count; j++) {
    for (int64_t i = 0; i < n; i++) column[i] = v[i * V.ld + j];
    lapis_project_simplex(n, column, work, z);
    for (int64_t i = 0; i < n; i++) CHECK_NEAR(z[i], w[i * W.ld + j], 1e-12);
  }
  fixture_close(&f);
}

/* ---- the pass -----------------------------------------------------------*/

static la_penalty penalty(la *h, la_kind kind, int64_t n, uint64_t *seed)
{
  la_penalty phi = {.n_blocks = 2,
                    .block = {{kind, 0, 7, 0.5, 0}, {LA_ONES, 7, 1, 0, 0}},
                    .Z0 = la_case_new(h, 8, n)};
  for (int64_t i = 0; i < 8 * n; i++) {
    double count = 3 * check_uniform(seed);
    double *z0 = (double *)phi.Z0.data + i;
    *z0 = count < 1 ? NAN : count < 2 ? 0 : check_uniform(seed) / 3;
  }
  return phi;
}

/* The pass finds the multiplier by Newton; sorting is its judge. */
static void pass_agrees_with_sorting(void **state)
{
  la_pair p = la_pair_open();
  la *h = &p.fast;
  for (uint64_t i = 0; i < 200; i++) {
    uint64_t seed = 30000 + i;
    la_penalty phi = penalty(h, LA_CHI2_SIMPLEX, 5, &seed);
    la_array Z = la_case_random(h, 8, 5, &seed), P = la_case_copy(h, &Z);
    assert_int_equal(h->ops->project(h, &phi, &P), LAPIS_OK);
    for (int64_t j = 0; j < 5; j++) {
      double work[7], z[7];
      lapis_project_simplex(7, la_case_at(&Z, 0, j), work, z);
      for (int k = 0; k < 7; k++)
        CHECK_NEAR(z[k], *la_case_at(&P, k, j), 1e-14);
      CHECK_NEAR(*la_case_at(&P, 7, j), 1, 0);
    }
    h->ops->free(h, &phi.Z0);
    h->ops->free(h, &Z);
    h->ops->free(h, &P);
  }
  lapis_ctx_free(p.ctx);
}

/* phi(Z) + phi*(G) >= <G, Z>, and equality where Z = prox(V), G = rho (V - Z):
 * the definition of both, for whole blocks. */
static void fenchel_young_holds(void **state)
{
  static const la_kind kinds[] = {LA_SQUARE, LA_CHI2, LA_CHI2_SIMPLEX};
  la_pair p = la_pair_open();
  la *h = &p.fast;
  for (uint64_t i = 0; i < 600; i++) {
    uint64_t seed = 40000 + i;
    la_penalty phi = penalty(h, kinds[i % 3], 4, &seed);
    la_array V = la_case_new(h, 8, 4), Z = la_case_new(h, 8, 4);
    double rho = pow(10, 2 * check_uniform(&seed) - 1), f, g, d;
    for (int k = 0; k < 32; k++)
      ((double *)V.data)[k] = 0.4 * check_normal(&seed);
    assert_int_equal(h->ops->prox(h, &phi, rho, &V, &Z), LAPIS_OK);
    assert_int_equal(h->ops->axpby(h, -rho, &Z, rho, &V), LAPIS_OK);
    la_array G = la_case_copy(h, &V);
    assert_int_equal(h->ops->clamp(h, &phi, &G), LAPIS_OK);
    CHECK_AT_MOST(la_case_distance(&V, &G), 1e-14); /* inside already */
    assert_int_equal(h->ops->loss(h, &phi, &Z, &f), LAPIS_OK);
    assert_int_equal(h->ops->conjugate(h, &phi, 1, &G, &g), LAPIS_OK);
    assert_int_equal(h->ops->dot(h, &G, &Z, &d), LAPIS_OK);
    CHECK_NEAR(f + g, d, 1e-13 * (1 + fabs(f) + fabs(d)));
    for (int k = 0; k < 32; k++) ((double *)G.data)[k] += check_normal(&seed);
    assert_int_equal(h->ops->clamp(h, &phi, &G), LAPIS_OK);
    assert_int_equal(h->ops->conjugate(h, &phi, 1, &G, &g), LAPIS_OK);
    assert_int_equal(h->ops->dot(h, &G, &Z, &d), LAPIS_OK);
    CHECK_AT_LEAST(f + g, d - 1e-13 * (1 + fabs(f) + fabs(d)));
    la_array *all[] = {&phi.Z0, &V, &Z, &G};
    for (int k = 0; k < 4; k++) h->ops->free(h, all[k]);
  }
  lapis_ctx_free(p.ctx);
}

int test_projection(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(simplex_is_optimal),
      cmocka_unit_test(simplex_is_idempotent),
      cmocka_unit_test(simplex_is_non_expansive),
      cmocka_unit_test(nan_shows),
      cmocka_unit_test(simplex_matches_fixture),
      cmocka_unit_test(pass_agrees_with_sorting),
      cmocka_unit_test(fenchel_young_holds),
  };
  return run_cases(tests, NULL, NULL);
}
