/* auto: a map that shifts and scales features makes no copy of X, and says what
 * X that was changed before says. */
#include "check.h"
#include "lapis/methods.h"

enum { D = 6, N = 240 };

static int copies;
lapis_status __real_lapis_map_make(lapis_ctx *ctx, const lapis_map *map,
                                   const lapis_mat *X, double **memory,
                                   lapis_mat *out);
lapis_status __wrap_lapis_map_make(lapis_ctx *ctx, const lapis_map *map,
                                   const lapis_mat *X, double **memory,
                                   lapis_mat *out);
lapis_status __wrap_lapis_map_make(lapis_ctx *ctx, const lapis_map *map,
                                   const lapis_mat *X, double **memory,
                                   lapis_mat *out)
{
  copies++;
  return __real_lapis_map_make(ctx, map, X, memory, out);
}

typedef struct problem {
  double X[D * N], Y[2 * N];
} problem;

/* Two labels, known in the first `known` samples; features in other units. */
static problem make(int known)
{
  problem p;
  uint64_t seed = 11;
  for (int j = 0; j < N; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    for (int i = 0; i < D; i++)
      p.X[j * D + i] = 5 + i +
                       (i + 1) * (a * (i % 3) + b * ((i + 1) % 2) +
                                  .5 * check_normal(&seed));
    p.Y[2 * j] = j >= known ? NAN : a > 0;
    p.Y[2 * j + 1] = j >= known ? NAN : a + b > .3;
  }
  return p;
}

/* Scores, for the caller to free. */
static double *scores(lapis_ctx *ctx, const lapis_mat *X, problem *p,
                      const char *map, int solver)
{
  lapis_data data = {.X = *X, .Y = lapis_mat_f64(p->Y, 2, N)};
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_solver *s;
  lapis_mat got;
  set.map = map;
  set.solver = solver;
  copies = 0;
  if (lapis_mc_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_int_equal(lapis_result_get(s, "scores", &got), LAPIS_OK);
  double *out = test_calloc(2 * N, sizeof *out);
  for (int k = 0; k < 2 * N; k++) out[k] = lapis_mat_at(&got, k % 2, k / 2);
  lapis_solver_free(s);
  return out;
}

static void changed_before(lapis_ctx *ctx, const lapis_mat *X, const char *spec,
                           double *out)
{
  lapis_map *map;
  assert_int_equal(lapis_map_new(ctx, spec, &map), LAPIS_OK);
  assert_int_equal(lapis_map_fit(ctx, map, X), LAPIS_OK);
  assert_int_equal(lapis_map_apply(ctx, map, X, out), LAPIS_OK);
  lapis_map_free(map);
}

static void assert_alike(double *a, double *b)
{
  for (int k = 0; k < 2 * N; k++) CHECK_NEAR(a[k], b[k], 1e-9);
  test_free(a);
  test_free(b);
}

/* Of doubles and of float32; where rows without labels become few columns, and
 * where all have one. */
static void no_copy_is_made_of_x(void **state)
{
  static const int known[] = {40, N};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 2; k++) {
    problem p = make(known[k]);
    static double Z[D * N], wide[D * N];
    static float narrow[D * N];
    for (int i = 0; i < D * N; i++) wide[i] = narrow[i] = (float)p.X[i];
    lapis_mat X = lapis_mat_f64(wide, D, N), x = lapis_mat_f32(narrow, D, N);
    lapis_mat z = lapis_mat_f64(Z, D, N);
    changed_before(ctx, &X, "standard", Z);
    double *was = scores(ctx, &z, &p, "none", LAPIS_MC_AUTO);
    double *also = scores(ctx, &x, &p, "standard", LAPIS_MC_AUTO);
    assert_int_equal(copies, 0);
    double *is = scores(ctx, &X, &p, NULL, LAPIS_MC_AUTO);
    assert_int_equal(copies, 0);
    for (int i = 0; i < 2 * N; i++) assert_true(also[i] == is[i]);
    test_free(also);
    assert_alike(was, is);
    changed_before(ctx, &X, "standard,scale:2", Z);
    was = scores(ctx, &z, &p, "none", LAPIS_MC_AUTO);
    is = scores(ctx, &X, &p, "standard,scale:2", LAPIS_MC_AUTO);
    assert_int_equal(copies, 0);
    assert_alike(was, is);
  }
  lapis_ctx_free(ctx);
}

/* A map that sees more than one number, X with a gap, another solver. */
static void others_make_one(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(40);
  lapis_mat X = lapis_mat_f64(p.X, D, N);
  test_free(scores(ctx, &X, &p, "l2", LAPIS_MC_AUTO));
  assert_true(copies > 0);
  test_free(scores(ctx, &X, &p, NULL, LAPIS_MC_ADMM));
  assert_true(copies > 0);
  p.X[7] = NAN;
  test_free(scores(ctx, &X, &p, NULL, LAPIS_MC_AUTO));
  assert_true(copies > 0);
  lapis_ctx_free(ctx);
}

/* Finite numbers whose shift is none are refused as their copy would be. */
static void what_a_shift_cannot_hold_is_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(40);
  lapis_data data = {.X = lapis_mat_f64(p.X, D, N),
                     .Y = lapis_mat_f64(p.Y, 2, N)};
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_solver *s;
  set.map = "scale:1e200";
  p.X[3] = 1e200;
  lapis_status status = lapis_mc_new(ctx, &data, &set, &s);
  if (status >= 0) status = lapis_solve(s);
  assert_int_equal(status, LAPIS_EDATA);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

int test_shift(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_copy_is_made_of_x), cmocka_unit_test(others_make_one),
      cmocka_unit_test(what_a_shift_cannot_hold_is_refused)};
  return run_cases(tests, NULL, NULL);
}
