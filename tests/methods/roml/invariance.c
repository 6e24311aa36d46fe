/* invariance.c - points of images that are shifted, scaled or turned
 * against each other: a rigid object is drawn, its views are moved, and the
 * planted order has to come back. */
#include <math.h>
#include <time.h>

#include "check.h"
#include "lapis/choose.h"
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
  views v = draw(0, 3);
  lapis_data data = data_of(&v);
  lapis_roml_settings set = points("mirror");
  refuse(&data, &set, LAPIS_EINVAL, "none of auto, none, shift, scale");
  set = points("rotation");
  set.layout = LAPIS_ROML_DESCRIPTOR;
  refuse(&data, &set, LAPIS_EINVAL, "invariance goes with layout coordinates");
  lapis_data solid = {.X = lapis_mat_f64(v.X, 4, K * N / 2), .group = v.group};
  set = points("rotation");
  refuse(&solid, &set, LAPIS_ESHAPE, "needs points (x, y), X has 4 columns");
}

/* New images would not be moved: a model is refused, and made by none. */
static void models_need_images_as_they_are(void **state)
{
  views v = draw(3, 901);
  lapis_data data = data_of(&v);
  lapis_roml_settings set = points("rotation");
  lapis_model *model;
  answer a = solve(&data, &set);
  assert_int_equal(lapis_model_new(a.solver, &model), LAPIS_ENOTBUILT);
  check_says(lapis_ctx_error(a.ctx), "invariance");
  drop(&a);
  set = points("none");
  a = solve(&data, &set);
  assert_int_equal(lapis_model_new(a.solver, &model), LAPIS_OK);
  lapis_model_free(model);
  drop(&a);
}

/* ---- where images were moved to ------------------------------------------*/
/* |A|_* of a 2K x N matrix by one-sided rotations: columns become orthogonal,
 * and their lengths are the singular values. */
static double nuclear(double A[N][2 * K])
{
  double sum = 0;
  for (int sweep = 0; sweep < 60; sweep++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < i; j++) {
        double a = 0, b = 0, c = 0;
        for (int r = 0; r < 2 * K; r++) {
          a += A[i][r] * A[i][r];
          b += A[j][r] * A[j][r];
          c += A[i][r] * A[j][r];
        }
        double t = .5 * atan2(2 * c, a - b);
        for (int r = 0; r < 2 * K; r++) {
          double x = A[i][r], y = A[j][r];
          A[i][r] = cos(t) * x + sin(t) * y;
          A[j][r] = cos(t) * y - sin(t) * x;
        }
      }
  for (int i = 0; i < N; i++) {
    double square = 0;
    for (int r = 0; r < 2 * K; r++) square += A[i][r] * A[i][r];
    sum += sqrt(square);
  }
  return sum;
}

/* From X, match and transform: where the points came to, which is low_rank +
 * sparse, and the objective, |D'|_* where nothing is sparse. */
static void check_from_outside(const views *v, const answer *a)
{
  double D[N][2 * K], largest = 0, off = 0;
  const double *T = check_result(a->solver, "transform");
  const double *low = check_result(a->solver, "low_rank");
  const double *sparse = check_result(a->solver, "sparse");
  const int64_t *match = a->match.val;
  for (int k = 0; k < K; k++)
    for (int j = 0; j < N; j++)
      for (int r = 0; r < 2; r++) {
        const double *x = v->X + 2 * match[k * N + j], *t = T + 6 * k + 3 * r;
        int at = (k * N + j) * 2 + r;
        assert_int_equal(v->group[match[k * N + j]], k);
        D[j][2 * k + r] = t[0] * x[0] + t[1] * x[1] + t[2];
        largest = fmax(largest, fabs(D[j][2 * k + r]));
        off = fmax(off, fabs(D[j][2 * k + r] - low[at] - sparse[at]));
        assert_true(sparse[at] == 0);
      }
  CHECK_AT_MOST(off, 1e-12 * largest);
  double of = nuclear(D);
  CHECK_NEAR(lapis_result_info(a->solver)->objective, of, 1e-9 * of);
}

static const char *kind_taken(const answer *a)
{
  lapis_mat m;
  assert_int_equal(lapis_result_get(a->solver, "invariance", &m), LAPIS_OK);
  return ((const char *const *)m.val)[0];
}

/* transform is of the kind that the answer names. */
static void check_kind(const answer *a, const char *kind)
{
  const double *T = check_result(a->solver, "transform");
  for (int k = 0; k < K; k++, T += 6) {
    double size = hypot(T[0], T[3]);
    CHECK_NEAR(T[4], T[0], 0);
    CHECK_NEAR(T[1], -T[3], 0);
    if (strcmp(kind, "none") == 0) CHECK_AT_MOST(hypot(T[2], T[5]), 0);
    if (strcmp(kind, "scale") != 0 && strcmp(kind, "similarity") != 0)
      CHECK_NEAR(size, 1, 1e-12);
    if (strcmp(kind, "rotation") != 0 && strcmp(kind, "similarity") != 0)
      CHECK_NEAR(T[0], size, 0);
  }
}

static void answers_say_how_images_were_moved(void **state)
{
  for (int move = 0; move < 5; move++) {
    views v = draw(move, 930 + (uint64_t)move);
    lapis_data data = data_of(&v);
    for (int i = 0; i < 6; i++) {
      lapis_roml_settings set = points(i < 5 ? kinds[i] : NULL);
      answer a = solve(&data, &set);
      if (i < 5) assert_string_equal(kind_taken(&a), kinds[i]);
      check_kind(&a, kind_taken(&a));
      check_from_outside(&v, &a);
      drop(&a);
    }
  }
}

static void check_equal(const answer *a, const answer *b, const char *name)
{
  lapis_mat x, y;
  assert_int_equal(lapis_result_get(a->solver, name, &x), LAPIS_OK);
  assert_int_equal(lapis_result_get(b->solver, name, &y), LAPIS_OK);
  assert_int_equal(x.rows * x.cols, y.rows * y.cols);
  assert_memory_equal(x.val, y.val, (size_t)(x.rows * x.cols) * 8);
}

/* The settings that were used make the same answer, in one run of six. */
static void what_was_chosen_can_be_told(void **state)
{
  for (int move = 0; move < 5; move++) {
    views v = draw(move, 940 + (uint64_t)move);
    lapis_data data = data_of(&v);
    lapis_roml_settings set = points(NULL);
    answer a = solve(&data, &set);
    const lapis_roml_settings *used = lapis_result_settings(a.solver);
    const char *kind = kind_taken(&a);
    assert_string_equal(used->invariance,
                        strcmp(kind, "none") == 0 ? "auto" : kind);
    answer b = solve(&data, used);
    const char *const same[] = {"match", "low_rank", "sparse", "transform"};
    for (int i = 0; i < 4; i++) check_equal(&a, &b, same[i]);
    if (strcmp(kind, "none") != 0)
      assert_true(lapis_result_info(b.solver)->iterations <
                  lapis_result_info(a.solver)->iterations);
    drop(&b);
    drop(&a);
  }
}

/* ---- who stops it --------------------------------------------------------*/
typedef struct watcher {
  lapis_ctx *ctx;
  int64_t at;           /* iterations after which it is to end */
  int64_t seen, starts; /* iterations; starts of a run afterwards */
  bool by_progress;     /* ends it by the progress shown, not by the context */
  bool asked;
} watcher;

static void watch(int level, const char *text, void *user)
{
  watcher *w = user;
  if (w->asked && strstr(text, "roml: start ") != NULL) w->starts++;
  if (level != 2 || strstr(text, " residual ") == NULL) return;
  if (++w->seen != w->at) return;
  w->asked = true;
  if (!w->by_progress) lapis_ctx_cancel(w->ctx);
  struct timespec until_it_is_shown = {.tv_nsec = 110000000};
  if (w->by_progress) nanosleep(&until_it_is_shown, NULL);
}

static bool go_on(const lapis_progress *now, void *user)
{
  (void)now;
  return !((watcher *)user)->asked;
}

/* In whichever of the runs it is stopped, none begins after it, and the answer
 * is whole. */
static void a_choice_can_be_stopped(void **state)
{
  views v = draw(4, 903);
  lapis_data data = data_of(&v);
  lapis_roml_settings set = points(NULL);
  answer whole = solve(&data, &set);
  int64_t all = lapis_result_info(whole.solver)->iterations;
  for (int i = 0; i < 8; i++) {
    watcher w = {.at = i < 7 ? 1 + i * (all - 1) / 6 : 3,
                 .by_progress = i == 7};
    answer a = {.ctx = w.ctx = lapis_ctx_new()};
    assert_int_equal(lapis_ctx_set(a.ctx, "verbose", "2"), LAPIS_OK);
    lapis_ctx_on_message(a.ctx, watch, &w);
    lapis_ctx_on_progress(a.ctx, go_on, &w);
    assert_int_equal(lapis_roml_new(a.ctx, &data, &set, &a.solver), LAPIS_OK);
    lapis_status status = lapis_solve(a.solver);
    assert_int_equal(status, i == 6 ? status : LAPIS_CANCELLED);
    assert_int_equal(w.seen, w.at);
    assert_int_equal(w.starts, 0);
    lapis_result_get(a.solver, "match", &a.match);
    check_kind(&a, kind_taken(&a));
    check_from_outside(&v, &a);
    drop(&a);
  }
  drop(&whole);
}

/* Out of time before anything, the images stay as they are; with no iterations
 * at all the best of five starts is taken. */
static void without_time_images_stay(void **state)
{
  views v = draw(4, 904);
  lapis_data data = data_of(&v);
  for (int i = 0; i < 6; i++) {
    lapis_roml_settings set = points(i < 5 ? kinds[i] : NULL);
    set.stop.seconds = 0;
    answer a = solve(&data, &set);
    assert_int_equal(lapis_result_info(a.solver)->status, LAPIS_TIME_LIMIT);
    check_kind(&a, "none");
    check_from_outside(&v, &a);
    drop(&a);
  }
  lapis_roml_settings set = points(NULL);
  set.stop.max_iters = 0;
  answer a = solve(&data, &set);
  assert_int_equal(lapis_result_info(a.solver)->status, LAPIS_MAX_ITERS);
  assert_string_not_equal(kind_taken(&a), "none");
  check_from_outside(&v, &a);
  drop(&a);
}

int test_invariance(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(auto_finds_the_object_however_images_differ),
      cmocka_unit_test(turned_images_need_a_turn),
      cmocka_unit_test(similarities_of_images_change_nothing),
      cmocka_unit_test(refusals_name_the_way_out),
      cmocka_unit_test(models_need_images_as_they_are),
      cmocka_unit_test(answers_say_how_images_were_moved),
      cmocka_unit_test(what_was_chosen_can_be_told),
      cmocka_unit_test(a_choice_can_be_stopped),
      cmocka_unit_test(without_time_images_stay),
  };
  return run_cases(tests, NULL, NULL);
}
