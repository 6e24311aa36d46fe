/* Map trim: cells far from the others of their feature are gaps, of new samples
 * as of those it was fitted to. */
#include "check.h"
#include "op/map/map.h"

enum { N = 400, D = 3, ALIKE = 2 };
typedef struct table {
  lapis_ctx *ctx;
  double x[D * N], out[D * N];
  bool wrong[D * N];
  lapis_mat X;
  lapis_map *map;
} table;

/* Two features of a normal distribution, one cell of ten 8 deviations off; and
 * one that is 1 nineteen times of twenty. */
static table *begin(void)
{
  table *t = calloc(1, sizeof *t);
  uint64_t seed = 4;
  assert_non_null(t);
  t->ctx = lapis_ctx_new();
  for (int k = 0; k < D * N; k++) {
    t->wrong[k] = k % D != ALIKE && check_uniform(&seed) < .1;
    t->x[k] = 100 * (k % D) + (1 + k % D) * check_normal(&seed);
    if (t->wrong[k])
      t->x[k] += 8 * (1 + k % D) * (check_uniform(&seed) < .5 ? -1 : 1);
    if (k % D == ALIKE) t->x[k] = check_uniform(&seed) < .95;
  }
  t->X = lapis_mat_f64(t->x, D, N);
  return t;
}

static void fit(table *t, const char *spec)
{
  assert_int_equal(lapis_map_new(t->ctx, spec, &t->map), LAPIS_OK);
  assert_int_equal(lapis_map_fit(t->ctx, t->map, &t->X), LAPIS_OK);
  assert_int_equal(lapis_map_apply(t->ctx, t->map, &t->X, t->out), LAPIS_OK);
}

static void end(table *t)
{
  lapis_map_free(t->map);
  lapis_ctx_free(t->ctx);
  free(t);
}

static void far_cells_are_gaps(void **state)
{
  table *t = begin();
  int found = 0, wrong = 0, right = 0;
  fit(t, "trim");
  for (int k = 0; k < D * N; k++) {
    wrong += t->wrong[k];
    found += t->wrong[k] && isnan(t->out[k]);
    right += !t->wrong[k] && isnan(t->out[k]);
    if (!isnan(t->out[k])) assert_true(t->out[k] == t->x[k]);
  }
  CHECK_AT_LEAST(found, .97 * wrong);
  CHECK_AT_MOST(right, 2);
  end(t);
}

/* Of new samples, too; gaps stay, and infinite ones are far where a limit is.
 */
static void new_samples_are_trimmed_alike(void **state)
{
  table *t = begin();
  double x[2 * D] = {0, 100, 1, NAN, 300, 0}, out[2 * D];
  fit(t, "trim");
  lapis_mat one = lapis_mat_f64(x, D, 2);
  assert_int_equal(lapis_map_apply(t->ctx, t->map, &one, out), LAPIS_OK);
  assert_true(out[0] == 0 && out[1] == 100 && out[2] == 1);
  assert_true(isnan(out[3]) && isnan(out[4]) && out[5] == 0);
  end(t);
}

/* What is trimmed is filled behind, and stays so on the way back. */
static void what_is_trimmed_is_filled(void **state)
{
  table *t = begin();
  static double back[D * N];
  fit(t, "trim,standard,impute");
  lapis_mat Z = lapis_mat_f64(t->out, D, N);
  assert_int_equal(lapis_mat_missing(&Z), 0);
  assert_int_equal(lapis_map_undo(t->ctx, t->map, &t->X, &Z, back), LAPIS_OK);
  for (int k = 0; k < D * N; k++) {
    if (t->wrong[k])
      CHECK_AT_MOST(fabs(back[k] - 100 * (k % D)), 5.5 * (1 + k % D));
    else if (fabs(t->x[k] - 100 * (k % D)) < 3 * (1 + k % D))
      CHECK_NEAR(back[k], t->x[k], 1e-9);
  }
  end(t);
}

static void a_file_with_bad_limits_is_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double state_of[2 * D] = {0, 0, 0, 1, 1, -1};
  lapis_mat numbers = lapis_mat_f64(state_of, 1, 2 * D);
  lapis_map *map;
  double x[D] = {0}, out[D];
  lapis_mat one = lapis_mat_f64(x, D, 1);
  assert_int_equal(map_restore(ctx, "trim", &numbers, &map), LAPIS_OK);
  assert_int_equal(lapis_map_apply(ctx, map, &one, out), LAPIS_EFORMAT);
  lapis_map_free(map);
  lapis_ctx_free(ctx);
}

int test_trim(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(far_cells_are_gaps),
      cmocka_unit_test(new_samples_are_trimmed_alike),
      cmocka_unit_test(what_is_trimmed_is_filled),
      cmocka_unit_test(a_file_with_bad_limits_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
