/* test_roml_invariance.c - points of images that are shifted, scaled or turned
 * against each other: a rigid object is drawn, its views are moved, and the
 * planted order has to come back. */
#include <math.h>

#include "check.h"
#include "lapis/lapis_eval.h"
#include "roml_case.h"

enum { K = 8, N = 10 };

static const char *const kinds[] = {"none", "shift", "scale", "rotation",
                                    "similarity"};

typedef struct views {
  double X[2 * K * N];
  int64_t group[K * N], truth[K * N]; /* truth: N x K rows of X */
} views;

/* Affine views of N points in space; each in an order of its own.  move: the
 * first of `kinds` that lets the images be as they are. */
static views draw(int move, uint64_t seed)
{
  views v;
  double S[3 * N];
  uint64_t s = seed;
  for (int i = 0; i < 3 * N; i++) S[i] = check_normal(&s);
  for (int k = 0; k < K; k++) {
    double A[2][3] = {{1, 0, 0}, {0, 1, 0}};
    int64_t order[N];
    for (int i = 0; i < 6; i++)
      A[i / 3][i % 3] += (i % 3 == 2 ? .3 : .05) * check_normal(&s);
    double angle = move >= 3 ? 6.28 * check_uniform(&s) : 0;
    double scale = move == 2 || move == 4 ? exp(check_uniform(&s) - .5) : 1;
    double t[2] = {0, 0};
    for (int r = 0; r < 2; r++)
      t[r] = move > 0 ? 600 * check_uniform(&s) - 300 : 0;
    for (int i = 0; i < N; i++) order[i] = i;
    for (int i = N - 1; i > 0; i--) {
      int j = (int)(check_uniform(&s) * (i + 1));
      int64_t o = order[i];
      order[i] = order[j], order[j] = o;
    }
    for (int i = 0; i < N; i++) {
      double p[2] = {0, 0}, c = cos(angle), n = sin(angle);
      int64_t row = k * N + order[i];
      for (int j = 0; j < 6; j++)
        p[j / 3] += 100 * A[j / 3][j % 3] * S[3 * i + j % 3];
      v.X[2 * row] = scale * (c * p[0] - n * p[1]) + t[0];
      v.X[2 * row + 1] = scale * (n * p[0] + c * p[1]) + t[1];
      v.group[row] = k;
      v.truth[k * N + i] = row;
    }
  }
  return v;
}

static lapis_data data_of(views *v)
{
  return (lapis_data){.X = lapis_mat_f64(v->X, 2, K * N), .group = v->group};
}

static lapis_roml_settings points(const char *invariance)
{
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = N;
  set.layout = LAPIS_ROML_COORDINATES;
  set.invariance = invariance;
  return set;
}

static double ratio_after(views *v, const char *invariance, int64_t iterations)
{
  lapis_data data = data_of(v);
  lapis_roml_settings set = points(invariance);
  set.stop.max_iters = iterations;
  answer a = solve(&data, &set);
  lapis_mat truth = lapis_mat_i64(v->truth, N, K);
  lapis_match_scores r;
  assert_int_equal(lapis_match_ratio(a.ctx, &truth, &a.match, NULL, &r),
                   LAPIS_OK);
  drop(&a);
  return r.match_ratio;
}

static double ratio(views *v, const char *invariance)
{
  return ratio_after(v, invariance, 20000);
}

/* Whatever the images differ by, auto finds nearly all of the object: three
 * draws of each kind, and the kind itself, told. */
static void auto_finds_the_object_however_images_differ(void **state)
{
  (void)state;
  for (int move = 0; move < 5; move++) {
    double chosen = 0, told = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
      views v = draw(move, 900 + seed);
      chosen += ratio(&v, NULL) / 3;
      told += ratio(&v, kinds[move]) / 3;
    }
    CHECK_AT_LEAST(chosen, 0.95);
    CHECK_AT_LEAST(told, 0.8);
  }
}

/* Without invariance, turned images are lost: what auto has to choose. */
static void turned_images_need_a_turn(void **state)
{
  (void)state;
  double none = 0, shift = 0;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    views v = draw(3, 900 + seed);
    none += ratio(&v, "none") / 3;
    shift += ratio(&v, "shift") / 3;
  }
  CHECK_AT_MOST(none, 0.7);
  CHECK_AT_MOST(shift, 0.7);
}

/* A law: moved by twelfths of a turn, sizes and shifts, images are laid on each
 * other as before; and auto does no worse than that start. */
static void similarities_of_images_change_nothing(void **state)
{
  (void)state;
  views upright = draw(0, 77), moved = upright;
  uint64_t s = 5;
  for (int k = 0; k < K; k++) {
    double angle = 6.28 / 12 * (double)(k % 12), size = 1 + .1 * k;
    double c = size * cos(angle), n = size * sin(angle);
    double x = 500 * check_uniform(&s), y = 500 * check_uniform(&s);
    for (int i = k * N; i < (k + 1) * N; i++) {
      moved.X[2 * i] = c * upright.X[2 * i] - n * upright.X[2 * i + 1] + x;
      moved.X[2 * i + 1] = n * upright.X[2 * i] + c * upright.X[2 * i + 1] + y;
    }
  }
  CHECK_NEAR(ratio_after(&moved, "similarity", 0),
             ratio_after(&upright, "similarity", 0), 1e-12);
  CHECK_AT_LEAST(ratio(&moved, "auto"), ratio_after(&moved, "similarity", 0));
}

static void refusals_name_the_way_out(void **state)
{
  (void)state;
  views v = draw(0, 3);
  lapis_data data = data_of(&v);
  lapis_roml_settings set = points("mirror");
  refuse(&data, &set, LAPIS_EINVAL, "none of auto, none, shift, scale");
  set = points("rotation");
  set.layout = LAPIS_ROML_DESCRIPTOR;
  refuse(&data, &set, LAPIS_EINVAL, "add --layout coordinates");
  lapis_data solid = {.X = lapis_mat_f64(v.X, 4, K * N / 2), .group = v.group};
  set = points("rotation");
  refuse(&solid, &set, LAPIS_ESHAPE, "needs points (x, y), X has 4 columns");
}

/* New images would not be moved: a model is refused, and made by none. */
static void models_need_images_as_they_are(void **state)
{
  (void)state;
  views v = draw(3, 901);
  lapis_data data = data_of(&v);
  lapis_roml_settings set = points("rotation");
  lapis_model *model;
  answer a = solve(&data, &set);
  assert_int_equal(lapis_model_new(a.solver, &model), LAPIS_ENOTBUILT);
  assert_non_null(strstr(lapis_ctx_error(a.ctx), "--invariance none"));
  drop(&a);
  set = points("none");
  a = solve(&data, &set);
  assert_int_equal(lapis_model_new(a.solver, &model), LAPIS_OK);
  lapis_model_free(model);
  drop(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(auto_finds_the_object_however_images_differ),
      cmocka_unit_test(turned_images_need_a_turn),
      cmocka_unit_test(similarities_of_images_change_nothing),
      cmocka_unit_test(refusals_name_the_way_out),
      cmocka_unit_test(models_need_images_as_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
