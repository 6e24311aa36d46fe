/* Several kinds of features side by side. */
#include "feature_case.h"

static void solve_joined(run *r, const char *const *kinds, int count,
                         const lapis_features_options *how)
{
  const lapis_method *kind[8];
  const void *settings[8] = {NULL};
  lapis_bag_settings few[8];
  for (int k = 0; k < count; k++) {
    kind[k] = lapis_feature_find(kinds[k]);
    if (strstr(kinds[k], "-bow") == NULL) continue;
    lapis_settings_default(kind[k], &few[k]);
    few[k].words = 8;
    few[k].levels = 1;
    few[k].count = few[k].learn = 500;
    settings[k] = &few[k];
  }
  lapis_solver_free(r->s);
  CHECK_OK(r->f, lapis_features_joined_new(r->f->ctx, kind, settings, count,
                                           r->name, r->count, how, &r->s));
  CHECK_OK(r->f, lapis_solve(r->s));
  CHECK_OK(r->f, lapis_result_get(r->s, "X", &r->X));
}

/* X holds what each kind gives alone, one below the other. */
static void kinds_stand_below_each_other(void **state)
{
  run r = {.f = *state}, one = {.f = *state};
  static const char *const kinds[] = {"gist", "pixels", "color-moments"};
  lapis_mat start, names;
  for (int i = 0; i < 3; i++) {
    char name[16];
    lapis_image m = waves(40 + i, 33, 3, (uint64_t)i + 1);
    snprintf(name, sizeof name, "%d.ppm", i);
    add_image(&r, name, &m);
    add_path(&one, name);
    free(m.pixels);
  }
  solve_joined(&r, kinds, 3, NULL);
  CHECK_OK(r.f, lapis_result_get(r.s, "block_start", &start));
  CHECK_OK(r.f, lapis_result_get(r.s, "block_kinds", &names));
  assert_int_equal(start.cols, 4);
  assert_int_equal(lapis_mat_at(&start, 0, 3), r.X.rows);
  for (int k = 0; k < 3; k++) {
    int64_t from = (int64_t)lapis_mat_at(&start, 0, k);
    solve(&one, kinds[k], "");
    assert_string_equal(((const char *const *)names.val)[k], kinds[k]);
    assert_int_equal(lapis_mat_at(&start, 0, k + 1) - (double)from, one.X.rows);
    for (int64_t i = 0; i < 3; i++)
      assert_memory_equal(column(&r, i) + from, column(&one, i),
                          (size_t)one.X.rows * sizeof(double));
  }
  lapis_solver_free(r.s);
  lapis_solver_free(one.s);
}

/* What one kind cannot use is left out of all, and no words are learnt from
 * it: the answer is that of a run without the image. */
static void what_one_kind_refuses_no_kind_has(void **state)
{
  run r = {.f = *state}, without = {.f = *state};
  static const char *const kinds[] = {"texton-bow", "sift-bow"};
  bool study[4] = {true, true, true, true};
  lapis_features_options how = {
      .size = sizeof how, .keep_going = true, .study = study};
  lapis_mat refused, names;
  for (int i = 0; i < 4; i++) {
    char name[16];
    int64_t side = i == 1 ? 4 : 60; /* too small for a patch of SIFT */
    lapis_image m = waves(side, side, 3, (uint64_t)i + 1);
    snprintf(name, sizeof name, "%d.ppm", i);
    add_image(&r, name, &m);
    if (i != 1) add_path(&without, name);
    free(m.pixels);
  }
  solve_joined(&r, kinds, 2, &how);
  CHECK_OK(r.f, lapis_result_get(r.s, "refused", &refused));
  CHECK_OK(r.f, lapis_result_get(r.s, "names", &names));
  assert_int_equal(names.cols, 3);
  assert_int_equal(refused.cols, 1);
  assert_non_null(strstr(((const char *const *)refused.val)[0], "1.ppm"));
  solve_joined(&without, kinds, 2, &how);
  assert_int_equal(r.X.rows, without.X.rows);
  assert_memory_equal(r.X.val, without.X.val,
                      (size_t)(r.X.rows * 3) * sizeof(double));
  CHECK_OK(r.f, lapis_result_get(r.s, "sift-bow.word", &names));
  CHECK_OK(r.f, lapis_result_get(r.s, "texton-bow.word_xy", &names));
  lapis_solver_free(r.s);
  lapis_solver_free(without.s);
}

static void bad_lists_are_refused(void **state)
{
  files *f = *state;
  const char *path[] = {"a.ppm"};
  lapis_solver *s;
  const lapis_method *pixels = lapis_feature_find("pixels");
  const lapis_method *twice[] = {pixels, pixels};
  const lapis_method *points[] = {pixels, lapis_feature_find("sift")};
  const lapis_method *foreign[] = {pixels, lapis_method_find("mc")};
  CHECK_REFUSED(
      f, lapis_features_joined_new(f->ctx, twice, NULL, 2, path, 1, NULL, &s),
      LAPIS_EINVAL, "pixels is named twice");
  CHECK_REFUSED(
      f, lapis_features_joined_new(f->ctx, points, NULL, 2, path, 1, NULL, &s),
      LAPIS_EINVAL, "sift gives many vectors an image");
  CHECK_REFUSED(
      f, lapis_features_joined_new(f->ctx, foreign, NULL, 2, path, 1, NULL, &s),
      LAPIS_EINVAL, "'mc' is no kind of features");
  CHECK_REFUSED(
      f, lapis_features_joined_new(f->ctx, twice, NULL, 0, path, 1, NULL, &s),
      LAPIS_EINVAL, "1 to 8 can be joined");
}

#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(kinds_stand_below_each_other),
      CASE(what_one_kind_refuses_no_kind_has),
      CASE(bad_lists_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
