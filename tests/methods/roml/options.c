/* options.c - starts, schedules, tracking: each
 * against a planted truth or a law. */
#include "lapis/choose.h"
#include "roml_case.h"
#include "roml_data.h"

static double ratio(const answer *a, int64_t *truth)
{
  lapis_mat t = a->match;
  lapis_match_scores r;
  t.val = truth;
  assert_int_equal(lapis_match_ratio(a->ctx, &t, &a->match, NULL, &r),
                   LAPIS_OK);
  return r.match_ratio;
}

/* ---- starts -------------------------------------------------------------*/
/* Where no feature is spoilt and none is clutter, every start made of the data
 * is the truth at once; --max-iters 0 returns the start. */
static void starts_alone_find_unspoilt_objects(void **state)
{
  static const char *const starts[] = {"seeded", "sync", "mst", "first"};
  for (int i = 0; i < 4; i++) {
    scene c = scene_new(7, 9, 9, 20, 0, 0, 100 + (uint64_t)i);
    lapis_data data = scene_data(&c);
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = 9;
    set.start = starts[i];
    set.stop.max_iters = 0;
    answer a = solve(&data, &set);
    CHECK_AT_LEAST(ratio(&a, c.truth), 1);
    assert_int_equal(lapis_result_info(a.solver)->iterations, 0);
    drop(&a);
    scene_free(&c);
  }
}

/* Permutation synchronisation alone: nearly all of a spoilt object among
 * clutter, and no less than the pairs it is made of agree on. */
static void synchronisation_alone_is_strong(void **state)
{
  double sync = 0, first = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    scene c = scene_new(12, 20, 6, 50, 0.3, 0, seed);
    lapis_data data = scene_data(&c);
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = 6;
    set.stop.max_iters = 0;
    set.start = "sync";
    answer a = solve(&data, &set);
    sync += ratio(&a, c.truth) / 4;
    drop(&a);
    set.start = "first"; /* mostly clutter of the first image */
    answer b = solve(&data, &set);
    first += ratio(&b, c.truth) / 4;
    drop(&b);
    scene_free(&c);
  }
  CHECK_AT_LEAST(sync, 0.9);
  CHECK_AT_MOST(first, 0.5);
}

/* first: every image against the first image's first n features. */
static void first_follows_the_first_image(void **state)
{
  scene c = scene_new(4, 10, 3, 8, 0.4, 0, 17);
  lapis_data data = scene_data(&c);
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 1; /* one slot: the assignment is the best single feature */
  set.start = "first";
  set.stop.max_iters = 0;
  answer a = solve(&data, &set);
  const int64_t *match = a.match.val;
  for (int k = 1; k < 4; k++) {
    int64_t best = -1;
    double most = -INFINITY;
    for (int64_t row = 10 * k; row < 10 * (k + 1); row++) {
      double dot = 0, size = 0;
      for (int i = 0; i < 8; i++) {
        dot += c.X[match[0] * 8 + i] * c.X[row * 8 + i];
        size += c.X[row * 8 + i] * c.X[row * 8 + i];
      }
      if (dot / sqrt(size) > most) most = dot / sqrt(size), best = row;
    }
    assert_int_equal(match[k], best);
  }
  assert_int_equal(match[0], 0);
  drop(&a);
  scene_free(&c);
}

/* ---- schedules ----------------------------------------------------------*/
static void schedules_are_as_named(void **state)
{
  static const lapis_roml_schedule schedule[] = {
      LAPIS_ROML_FAST, LAPIS_ROML_CAREFUL, LAPIS_ROML_PAPER};
  static const double growth[] = {1.01, 1.003, 1.001};
  scene c = scene_new(10, 14, 5, 30, 0.3, 0, 23);
  lapis_data data = scene_data(&c);
  double rho[3];
  for (int i = 0; i < 3; i++) {
    lapis_roml_settings set = lapis_roml_defaults();
    lapis_mat history;
    set.inliers = 5;
    set.schedule = schedule[i];
    answer a = solve(&data, &set);
    assert_int_equal(lapis_result_get(a.solver, "history", &history), LAPIS_OK);
    assert_true(history.cols > 3);
    rho[i] = lapis_mat_at(&history, 5, 0);
    for (int64_t t = 1; t < history.cols; t++)
      CHECK_NEAR(lapis_mat_at(&history, 5, t) /
                     lapis_mat_at(&history, 5, t - 1),
                 growth[i], 1e-12);
    CHECK_AT_LEAST(ratio(&a, c.truth), i < 2 ? 1 : 0.3);
    drop(&a);
  }
  CHECK_NEAR(rho[0], rho[1], 1e-12);
  CHECK_NEAR(rho[2], 1e-4, 0);
  scene_free(&c);
}

static void rho0_and_growth_are_obeyed(void **state)
{
  scene c = scene_new(6, 10, 4, 20, 0.3, 0, 29);
  lapis_data data = scene_data(&c);
  lapis_roml_settings set = lapis_roml_defaults();
  lapis_mat history;
  set.inliers = 4;
  set.rho0 = 0.125;
  set.growth = 1.25;
  answer a = solve(&data, &set);
  assert_int_equal(lapis_result_get(a.solver, "history", &history), LAPIS_OK);
  for (int64_t t = 0; t < history.cols; t++)
    CHECK_NEAR(lapis_mat_at(&history, 5, t), 0.125 * pow(1.25, (double)t),
               1e-12 * pow(1.25, (double)t));
  drop(&a);
  scene_free(&c);
}

/* ---- tracking -----------------------------------------------------------*/
/* Two objects in every image: 3 parts that the first image begins with, and 6
 * of a background that is spoilt less. */
typedef struct tracked {
  double X[10 * 12 * 30];
  int64_t group[10 * 12], truth[3 * 10];
} tracked;

static void draw_tracked(tracked *p, uint64_t seed)
{
  uint64_t s = seed;
  double part[9 * 30];
  for (int i = 0; i < 9 * 30; i++) part[i] = check_normal(&s);
  for (int k = 0; k < 10; k++) {
    int turn = k == 0 ? 0 : 1 + (int)(11 * check_uniform(&s));
    for (int i = 0; i < 12; i++) {
      int row = k * 12 + (7 * i * (k > 0) + i * (k == 0) + turn) % 12;
      double *f = p->X + row * 30;
      p->group[row] = k;
      for (int a = 0; a < 30; a++)
        f[a] = i < 9 ? part[i * 30 + a] : check_normal(&s);
      scene_errors(f, 30, i < 3 ? 0.3 : 0.1, &s);
      if (i < 3) p->truth[k * 3 + i] = row;
    }
  }
}

static void the_first_image_s_object_is_tracked(void **state)
{
  double fixed = 0, free_ = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    tracked *p = malloc(sizeof *p);
    draw_tracked(p, seed);
    lapis_data data = {.X = lapis_mat_f64(p->X, 30, 120), .group = p->group};
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = 3;
    answer a = solve(&data, &set);
    free_ += ratio(&a, p->truth) / 4;
    drop(&a);
    set.fix_first = true;
    answer b = solve(&data, &set);
    for (int j = 0; j < 3; j++)
      assert_int_equal(((const int64_t *)b.match.val)[j], j);
    fixed += ratio(&b, p->truth) / 4;
    drop(&b);
    free(p);
  }
  CHECK_AT_LEAST(fixed, 0.99);
  CHECK_AT_MOST(free_, 0.5);
}

int test_options(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starts_alone_find_unspoilt_objects),
      cmocka_unit_test(synchronisation_alone_is_strong),
      cmocka_unit_test(first_follows_the_first_image),
      cmocka_unit_test(schedules_are_as_named),
      cmocka_unit_test(rho0_and_growth_are_obeyed),
      cmocka_unit_test(the_first_image_s_object_is_tracked),
  };
  return run_cases(tests, NULL, NULL);
}
