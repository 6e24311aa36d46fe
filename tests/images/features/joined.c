/* Several kinds of features side by side. */
#include "feature_case.h"
#include "lapis/images.h"

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
      LAPIS_EINVAL, "");
  CHECK_REFUSED(
      f, lapis_features_joined_new(f->ctx, points, NULL, 2, path, 1, NULL, &s),
      LAPIS_EINVAL, "");
  CHECK_REFUSED(
      f, lapis_features_joined_new(f->ctx, foreign, NULL, 2, path, 1, NULL, &s),
      LAPIS_EINVAL, "mc");
  CHECK_REFUSED(
      f, lapis_features_joined_new(f->ctx, twice, NULL, 0, path, 1, NULL, &s),
      LAPIS_EINVAL, "1 8");
}

/* Progress names the step of how many, in the order of the run. */
typedef struct steps {
  char seen[8][96];
  int count;
} steps;

static bool note_step(const lapis_progress *p, void *user)
{
  steps *s = user;
  if (s->count > 0 && strcmp(s->seen[s->count - 1], p->method) == 0)
    return true;
  if (s->count < 8) snprintf(s->seen[s->count++], 96, "%s", p->method);
  return true;
}

static void a_pipeline_names_its_steps(void **state)
{
  static const char *const wanted[] = {"label 1 of 4: describing images",
                                       "label 2 of 4: choosing settings",
                                       "label 3 of 4: looking for wrong labels",
                                       "label 4 of 4: completing labels"};
  run r = {.f = *state};
  steps seen = {.count = 0};
  lapis_label_settings set;
  lapis_solver *f;
  lapis_settings_default(lapis_flow_find("label"), &set);
  for (int i = 0; i < 6; i++) {
    char name[16];
    lapis_image m = waves(20, 20, 3, (uint64_t)i + 1);
    snprintf(name, sizeof name, "%d.ppm", i);
    add_image(&r, name, &m);
    free(m.pixels);
  }
  files_put_text(r.f, "t.csv", "name,what\n0,a\n1,b\n2,a\n3,b\n4,a\n");
  char table[400];
  snprintf(table, sizeof table, "%s/t.csv", r.f->folder);
  set.labels = table;
  set.features = "pixels";
  set.no_cache = true;
  set.folds = 2;
  lapis_ctx_on_progress(r.f->ctx, note_step, &seen);
  CHECK_OK(r.f, lapis_label_new(r.f->ctx, r.name, r.count, &set, &f));
  CHECK_OK(r.f, lapis_solve(f));
  lapis_solver_free(f);
  lapis_ctx_on_progress(r.f->ctx, NULL, NULL);
  assert_int_equal(seen.count, 4);
  for (int i = 0; i < 4; i++) assert_string_equal(seen.seen[i], wanted[i]);
}

/* An image may ask for any amount of memory; the limit can be moved. */
static void large_images_are_refused(void **state)
{
  run r = {.f = *state};
  lapis_image m = waves(30, 20, 1, 1), again;
  add_image(&r, "a.pgm", &m);
  free(m.pixels);
  CHECK_OK(r.f, lapis_ctx_set(r.f->ctx, "max-pixels", "599"));
  CHECK_REFUSED(r.f, lapis_image_read(r.f->ctx, r.name[0], &again),
                LAPIS_EFORMAT, "599 max_pixels N");
  lapis_solver_free(r.s);
  CHECK_OK(r.f, lapis_features_new(r.f->ctx, lapis_feature_find("pixels"), NULL,
                                   r.name, 1, NULL, &r.s));
  CHECK_REFUSED(r.f, lapis_solve(r.s), LAPIS_EFORMAT, "30 20");
  lapis_solver_free(r.s);
  CHECK_OK(r.f, lapis_ctx_set(r.f->ctx, "max-pixels", "600"));
  CHECK_OK(r.f, lapis_image_read(r.f->ctx, r.name[0], &again));
  lapis_image_free(&again);
  CHECK_REFUSED(r.f, lapis_ctx_set(r.f->ctx, "max-pixels", "0"), LAPIS_EINVAL,
                "");
}

#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
int test_joined(void)
{
  const struct CMUnitTest tests[] = {
      CASE(kinds_stand_below_each_other),
      CASE(what_one_kind_refuses_no_kind_has),
      CASE(bad_lists_are_refused),
      CASE(a_pipeline_names_its_steps),
      CASE(large_images_are_refused),
  };
  return run_cases(tests, NULL, NULL);
}
