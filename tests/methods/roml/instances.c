/* instances.c - several objects in an image, and images that come
 * later: against planted truths, and laws. */
#include "check.h"
#include "lapis/choose.h"
#include "lapis/files.h"
#include "remarks.h"
#include "roml_case.h"
#include "roml_data.h"

enum { EACH = 8, D = 40 };

static double found(const answer *a, int64_t *truth, int64_t slots)
{
  lapis_mat t = lapis_mat_i64(truth, slots, a->match.cols);
  lapis_match_scores r;
  assert_int_equal(lapis_match_ratio(a->ctx, &t, &a->match, NULL, &r),
                   LAPIS_OK);
  return r.identification_ratio;
}

/* ---- several objects ----------------------------------------------------*/
/* Objects of EACH features that stand somewhere else in every image; all else
 * is strewn. */
static double *positions(const scene *c, uint64_t seed)
{
  uint64_t s = seed;
  int64_t objects = c->n / EACH;
  double *xy = malloc((size_t)(2 * c->K * c->each) * sizeof *xy), shape[64];
  for (int64_t i = 0; i < 2 * c->K * c->each; i++)
    xy[i] = 400 * check_uniform(&s);
  for (int64_t i = 0; i < 2 * c->n; i++) shape[i] = 60 * check_uniform(&s);
  for (int64_t k = 0; k < c->K; k++)
    for (int64_t m = 0; m < objects; m++) {
      double at[2] = {300 * check_uniform(&s), 300 * check_uniform(&s)};
      for (int64_t j = m * EACH; j < (m + 1) * EACH; j++)
        for (int axis = 0; axis < 2; axis++)
          xy[2 * c->truth[k * c->n + j] + axis] =
              at[axis] + shape[2 * j + axis];
    }
  return xy;
}

static void no_row_is_taken_twice(const answer *a)
{
  const int64_t *match = a->match.val;
  int64_t n = a->match.rows;
  for (int64_t k = 0; k < a->match.cols; k++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < j; i++)
        assert_int_not_equal(match[k * n + i], match[k * n + j]);
}

/* Every slot of an instance is of one object, by the first image. */
static void instances_are_objects(const answer *a, const scene *c)
{
  lapis_mat of;
  int64_t whose[8];
  const int64_t *match = a->match.val;
  for (int i = 0; i < 8; i++) whose[i] = -1;
  assert_int_equal(lapis_result_get(a->solver, "instance", &of), LAPIS_OK);
  for (int64_t j = 0; j < of.cols; j++) {
    int64_t m = (int64_t)lapis_mat_at(&of, 0, j), object = -1;
    for (int64_t i = 0; i < c->n; i++)
      if (c->truth[i] == match[j]) object = i / EACH;
    assert_int_not_equal(object, -1);
    if (whose[m] < 0) whose[m] = object;
    assert_int_equal(whose[m], object);
  }
}

static void as_many_are_found_as_there_are(void **state)
{
  for (int64_t objects = 1; objects <= 3; objects++) {
    int64_t n = objects * EACH;
    scene c = scene_new(20, n + 12, n, D, 0.3, 0, 40 + (uint64_t)objects);
    lapis_data data = scene_data(&c);
    double *xy = positions(&c, 9);
    data.xy = lapis_mat_f64(xy, 2, c.K * c.each);
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = EACH;
    set.instances = -1;
    answer a = solve(&data, &set);
    const lapis_roml_settings *used = lapis_result_settings(a.solver);
    assert_int_equal(used->instances, objects);
    assert_int_equal(a.match.rows, n);
    CHECK_AT_LEAST(found(&a, c.truth, n), 0.99);
    no_row_is_taken_twice(&a);
    instances_are_objects(&a, &c);
    lapis_mat chance;
    assert_int_equal(lapis_result_get(a.solver, "chance", &chance), LAPIS_OK);
    assert_in_range(chance.cols, objects, objects + 1);
    if (chance.cols > objects)
      CHECK_AT_LEAST(lapis_mat_at(&chance, 0, objects), 0.98);
    drop(&a);
    free(xy);
    scene_free(&c);
  }
}

/* Told how many, it finds them all, and the joint answer costs no more than
 * |D|_* of the truth does (L = D, E = 0, at this lambda). */
static void told_how_many_it_finds_them(void **state)
{
  scene c = scene_new(15, 24, 16, D, 0.2, 0, 77);
  lapis_data data = scene_data(&c);
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = EACH;
  set.instances = 2;
  answer a = solve(&data, &set);
  assert_int_equal(a.match.rows, 16);
  CHECK_AT_LEAST(found(&a, c.truth, 16), 0.99);
  set.inliers = 16;
  set.instances = 1;
  answer b = solve(&data, &set);
  CHECK_NEAR(lapis_result_info(a.solver)->objective,
             lapis_result_info(b.solver)->objective,
             1e-6 * lapis_result_info(b.solver)->objective);
  drop(&a);
  drop(&b);
  scene_free(&c);
}

/* Features that are 0 say nothing, and their order neither: however
 * eigenvectors come out, for few features and for many, the share is one. */
static void shares_do_not_depend_on_signs(void **state)
{
  enum { FEW = 12, MANY = 80 };
  double share[3];
  for (int k = 0; k < 3; k++) {
    scene c = scene_new(8, 12, EACH, FEW, 0.3, 0, 5);
    int64_t d = k == 1 ? MANY : FEW, N = c.K * c.each;
    double *X = calloc((size_t)(d * N), sizeof *X);
    for (int64_t i = 0; i < N * FEW; i++)
      X[i / FEW * d + (k == 2 ? FEW - 1 - i % FEW : i % FEW)] = c.X[i];
    lapis_data data = scene_data(&c);
    data.X = lapis_mat_f64(X, d, N);
    lapis_roml_settings set = lapis_roml_defaults();
    set.lambda = 0.25; /* by itself it follows d */
    set.inliers = EACH;
    set.instances = -1;
    answer a = solve(&data, &set);
    lapis_mat chance;
    assert_int_equal(lapis_result_get(a.solver, "chance", &chance), LAPIS_OK);
    share[k] = lapis_mat_at(&chance, 0, 0);
    CHECK_NEAR(share[k], share[0], 1e-9);
    drop(&a);
    free(X);
    scene_free(&c);
  }
}

/* Features of any scale, and a common offset, say the same of chance. */
static void nothing_is_found_in_noise(void **state)
{
  for (uint64_t seed = 1; seed <= 3; seed++) {
    scene c = scene_new(12, 20, 0, D, 0.2, 0, seed);
    for (int64_t i = 0; i < c.K * c.each * D; i++)
      c.X[i] = 100 * c.X[i] + (seed == 3 ? 200 : 0);
    lapis_data data = scene_data(&c);
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = EACH;
    set.instances = -1;
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_solver *s;
    assert_int_equal(lapis_roml_new(ctx, &data, &set, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), LAPIS_EDATA);
    assert_non_null(strstr(lapis_ctx_error(ctx), NOTHING_IN_COMMON));
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
    scene_free(&c);
  }
}

/* Images that are alike have all their features in common, unrelated ones
 * none: of any scale, shuffled or not. */
static void the_number_is_found_at_both_ends(void **state)
{
  for (uint64_t seed = 1; seed <= 4; seed++) {
    bool alike = seed <= 2;
    scene c = scene_new(7, 14, alike ? 14 : 0, 25, 0, 0, 60 + seed);
    for (int64_t i = 0; i < 7 * 14 * 25; i++) c.X[i] *= seed % 2 ? 1 : 50;
    lapis_data data = scene_data(&c);
    lapis_roml_settings set = lapis_roml_defaults();
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_solver *s;
    lapis_mat match;
    assert_int_equal(lapis_roml_new(ctx, &data, &set, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), alike ? LAPIS_OK : LAPIS_EDATA);
    if (alike) {
      answer a = {.ctx = ctx, .solver = s};
      assert_int_equal(lapis_result_get(s, "match", &match), LAPIS_OK);
      a.match = match;
      assert_int_equal(match.rows, 14);
      CHECK_AT_LEAST(found(&a, c.truth, 14), 1);
    } else {
      assert_non_null(strstr(lapis_ctx_error(ctx), BETTER_THAN_CHANCE));
    }
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
    scene_free(&c);
  }
}

static void what_makes_no_sense_is_refused(void **state)
{
  scene c = scene_new(4, 10, 4, 6, 0, 0, 5);
  lapis_data data = scene_data(&c);
  lapis_roml_settings set = lapis_roml_defaults(), plain;
  set.inliers = 4;
  set.instances = -1;
  plain = set;
  set.inliers = -1;
  refuse(&data, &set, LAPIS_EINVAL, "needs inliers N");
  set = plain, set.layout = LAPIS_ROML_COORDINATES;
  refuse(&data, &set, LAPIS_EINVAL, "is for descriptors");
  set = plain, set.fix_first = true;
  refuse(&data, &set, LAPIS_EINVAL, "fix_first is for one instance");
  set = plain, set.instances = 3;
  refuse(&data, &set, LAPIS_ESHAPE, "for each instance");
  set = plain, set.instances = 0;
  refuse(&data, &set, LAPIS_EINVAL, "instances is 0");
  data.xy = lapis_mat_f64(c.X, 2, 7);
  refuse(&data, &plain, LAPIS_ESHAPE, "xy has 7 rows of 2");
  double *xy = calloc(80, sizeof *xy);
  xy[3] = NAN;
  data.xy = lapis_mat_f64(xy, 2, 40);
  refuse(&data, &plain, LAPIS_EMISSING, "xy");
  free(xy);
  scene_free(&c);
}

/* ---- images that come later ---------------------------------------------*/
typedef struct asked {
  lapis_model *model;
  lapis_solver *solver;
  lapis_mat match;
} asked;

static asked ask(lapis_ctx *ctx, lapis_solver *fitted, const lapis_data *data)
{
  asked q;
  if (lapis_model_new(fitted, &q.model) < 0 ||
      lapis_predict_new(ctx, data, q.model, NULL, &q.solver) < 0 ||
      lapis_solve(q.solver) < 0 ||
      lapis_result_get(q.solver, "match", &q.match) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return q;
}

static void forget(asked *q)
{
  lapis_solver_free(q->solver);
  lapis_model_free(q->model);
}

/* Slots of the answer in the order of the truth, by the first image. */
static int64_t slot_of(const answer *a, const int64_t *truth, int64_t j)
{
  const int64_t *match = a->match.val;
  for (int64_t i = 0; i < a->match.rows; i++)
    if (match[i] == truth[j]) return i;
  return -1;
}

/* Parts are missing in a fifth of the places, of old images and of new ones:
 * there a slot stays empty. */
static void later_images_are_matched(void **state)
{
  int64_t learnt = 25, later = 10, n = 2 * EACH;
  scene c = scene_new(learnt + later, n + 10, n, D, 0.2, 0.2, 12);
  lapis_data data = scene_data(&c), rest = data;
  data.X.cols = learnt * c.each;
  rest.X = lapis_mat_f64(c.X + learnt * c.each * D, D, later * c.each);
  rest.group = c.group + learnt * c.each;
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = EACH;
  set.instances = 2;
  answer a = solve(&data, &set);
  asked q = ask(a.ctx, a.solver, &rest);
  const int64_t *match = q.match.val;
  double right = 0, all = 0;
  assert_int_equal(q.match.rows, n);
  assert_int_equal(q.match.cols, later);
  for (int64_t j = 0; j < n; j++) {
    int64_t k = 0; /* an image that has the part */
    while (c.truth[k * n + j] < 0) k++;
    int64_t slot = -1;
    for (int64_t i = 0; i < n; i++)
      if (((const int64_t *)a.match.val)[k * n + i] == c.truth[k * n + j])
        slot = i;
    for (int64_t l = 0; l < later; l++, all++) {
      int64_t truth = c.truth[(learnt + l) * n + j];
      int64_t row = truth < 0 ? -1 : truth - learnt * c.each;
      right += slot >= 0 && match[l * n + slot] == row;
    }
  }
  CHECK_AT_LEAST(right / all, 0.95);
  forget(&q);
  drop(&a);
  scene_free(&c);
}

/* A model asked for the images it was learnt from, one without a group at a
 * time and all together, read from its file or not, says the same. */
static void a_model_is_its_file(void **state)
{
  scene c = scene_new(8, 12, EACH, D, 0.1, 0, 31);
  lapis_data data = scene_data(&c);
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = EACH;
  answer a = solve(&data, &set);
  asked q = ask(a.ctx, a.solver, &data);
  const int64_t *match = q.match.val, *known = a.match.val;
  for (int64_t i = 0; i < EACH * c.K; i++) assert_int_equal(match[i], known[i]);
  char path[64];
  check_new_file(path, sizeof path);
  lapis_model *read;
  lapis_solver *s;
  lapis_mat one, labels;
  if (lapis_model_save(a.ctx, q.model, path) < 0 ||
      lapis_model_load(a.ctx, path, &read) < 0)
    fail_msg("%s", lapis_ctx_error(a.ctx));
  data.X = lapis_mat_f64(c.X + 3 * c.each * D, D, c.each);
  data.group = NULL;
  assert_int_equal(lapis_predict_new(a.ctx, &data, read, NULL, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_int_equal(lapis_result_get(s, "match", &one), LAPIS_OK);
  assert_int_equal(lapis_result_get(s, "labels", &labels), LAPIS_OK);
  for (int64_t j = 0; j < EACH; j++) {
    int64_t row = ((const int64_t *)one.val)[j];
    assert_int_equal(row, known[3 * EACH + j] - 3 * c.each);
    assert_int_equal((int64_t)lapis_mat_at(&labels, 0, row), j + 1);
  }
  lapis_solver_free(s);
  data.X = lapis_mat_f64(c.X, D - 1, 8);
  assert_int_equal(lapis_predict_new(a.ctx, &data, read, NULL, &s),
                   LAPIS_ESHAPE);
  lapis_model_free(read);
  remove(path);
  forget(&q);
  drop(&a);
  scene_free(&c);
}

/* ---- points -------------------------------------------------------------*/
/* n points in space, seen by a camera that turns about them; image k's are
 * shuffled.  X: 2 x (n K), truth n x K. */
typedef struct turntable {
  int64_t n, K;
  double X[2 * 20 * 60];
  int64_t truth[20 * 60], group[20 * 60];
} turntable;

static void look_from(turntable *t, int64_t n, int64_t K, uint64_t *s)
{
  double point[3 * 20];
  t->n = n, t->K = K;
  for (int64_t i = 0; i < 3 * n; i++) point[i] = 200 * check_uniform(s) - 100;
  for (int64_t k = 0; k < K; k++) {
    double turn = 0.02 * (double)k, tilt = 0.3 + 0.004 * (double)k;
    int64_t order[20];
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
      int64_t j = below(s, i + 1), o = order[i];
      order[i] = order[j], order[j] = o;
    }
    for (int64_t i = 0; i < n; i++) {
      const double *p = point + 3 * i;
      double x = cos(turn) * p[0] - sin(turn) * p[1];
      double y = sin(turn) * p[0] + cos(turn) * p[1];
      int64_t row = k * n + order[i];
      t->X[2 * row] = 300 + x + 0.3 * check_normal(s);
      t->X[2 * row + 1] =
          200 + cos(tilt) * p[2] + sin(tilt) * y + 0.3 * check_normal(s);
      t->truth[k * n + i] = row;
      t->group[row] = k;
    }
  }
}

/* ---- who stops it --------------------------------------------------------*/
typedef struct watcher {
  lapis_ctx *ctx;
  const char *text; /* cancels at the third message with it */
  int seen;
} watcher;

static void watch(int level, const char *text, void *user)
{
  watcher *w = user;
  if (level == 2 && strstr(text, w->text) != NULL && ++w->seen == 3)
    lapis_ctx_cancel(w->ctx);
}

static void listen(watcher *w, lapis_ctx *ctx, const char *text)
{
  *w = (watcher){.ctx = ctx, .text = text};
  assert_int_equal(lapis_ctx_set(ctx, "verbose", "2"), LAPIS_OK);
  lapis_ctx_on_message(ctx, watch, w);
}

/* How many of the images of points that are asked for have an answer. */
static int64_t answered(const asked *q)
{
  const int64_t *match = q->match.val;
  int64_t images = 0;
  for (int64_t k = 0; k < q->match.cols; k++)
    images += match[k * q->match.rows] >= 0;
  return images;
}

/* Of descriptors and of points: stopped at the third image, the others are
 * empty; asked again, all are there; without time, none. */
static void predicting_can_be_stopped(void **state)
{
  for (int points = 0; points < 2; points++) {
    scene c = scene_new(12, 8, 8, points ? 2 : 20, 0, 0, 6);
    lapis_data data = scene_data(&c);
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = 8;
    set.layout = points ? LAPIS_ROML_COORDINATES : LAPIS_ROML_DESCRIPTOR;
    if (points) set.invariance = "none";
    answer a = solve(&data, &set);
    asked q = ask(a.ctx, a.solver, &data);
    watcher w;
    assert_int_equal(answered(&q), 12);
    listen(&w, a.ctx, "roml: image ");
    assert_int_equal(lapis_solve(q.solver), LAPIS_CANCELLED);
    assert_int_equal(w.seen, 3);
    assert_int_equal(answered(&q), 3);
    assert_int_equal(lapis_solve(q.solver), LAPIS_OK);
    assert_int_equal(answered(&q), 12);
    lapis_solver_free(q.solver);
    const lapis_method *m = lapis_predict_method(lapis_model_method(q.model));
    void *own = calloc(1, m->settings_size);
    lapis_settings_default(m, own);
    assert_int_equal(lapis_settings_set(a.ctx, m, own, "time-limit", "0"),
                     LAPIS_OK);
    assert_int_equal(lapis_predict_new(a.ctx, &data, q.model, own, &q.solver),
                     LAPIS_OK);
    assert_int_equal(lapis_solve(q.solver), LAPIS_TIME_LIMIT);
    lapis_result_get(q.solver, "match", &q.match);
    assert_int_equal(answered(&q), 0);
    free(own);
    forget(&q);
    drop(&a);
    scene_free(&c);
  }
}

/* Images are turned one after the other; stopped at the third, no other is. */
static void chance_can_be_stopped(void **state)
{
  scene c = scene_new(12, 16, 8, 20, 0, 0, 7);
  lapis_data data = scene_data(&c);
  for (int counting = 0; counting < 2; counting++) {
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = counting ? -1 : 8;
    set.instances = counting ? 1 : -1;
    answer a = {.ctx = lapis_ctx_new()};
    watcher w;
    listen(&w, a.ctx, "is turned");
    assert_int_equal(lapis_roml_new(a.ctx, &data, &set, &a.solver), LAPIS_OK);
    assert_int_equal(lapis_solve(a.solver), LAPIS_CANCELLED);
    assert_int_equal(w.seen, 3);
    assert_int_equal(lapis_result_get(a.solver, "match", &a.match), LAPIS_OK);
    assert_int_equal(a.match.rows, 8);
    drop(&a);
  }
  scene_free(&c);
}

/* Forty views learnt, twenty more predicted, the last of them .4 further round
 * than any that was learnt; a point far away from all is taken for none. */
static void later_views_of_points_are_matched(void **state)
{
  static turntable t;
  uint64_t s = 4;
  int64_t n = 18, learnt = 40, later = 20;
  look_from(&t, n, learnt + later, &s);
  lapis_data data = {.X = lapis_mat_f64(t.X, 2, n * learnt), .group = t.group};
  lapis_data rest = {.X = lapis_mat_f64(t.X + 2 * n * learnt, 2, n * later),
                     .group = t.group + n * learnt};
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = n;
  set.layout = LAPIS_ROML_COORDINATES;
  answer a = solve(&data, &set);
  int64_t gone = t.truth[(learnt + 2) * n + 5];
  t.X[2 * gone] += 500;
  asked q = ask(a.ctx, a.solver, &rest);
  const int64_t *match = q.match.val;
  for (int64_t j = 0; j < n; j++) {
    int64_t slot = slot_of(&a, t.truth, j);
    for (int64_t k = 0; k < later; k++) {
      int64_t row = t.truth[(learnt + k) * n + j];
      assert_int_equal(match[k * n + slot],
                       row == gone ? -1 : row - n * learnt);
    }
  }
  forget(&q);
  drop(&a);
}

/* The CMU hotel: 80 frames learnt, 31 predicted (the 21 others, and ten of the
 * 80), all of them shuffled. */
static void hotel_frames_are_matched(void **state)
{
  enum { FRAMES = 111, POINTS = 30, LEARNT = 80 };
  static double X[2 * FRAMES * POINTS];
  static int64_t truth[FRAMES * POINTS], group[FRAMES * POINTS];
  char path[512];
  snprintf(path, sizeof path, "%s/cmu_hotel/hotel.npz", check_data());
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_arrays all;
  if (lapis_arrays_read(ctx, path, &all) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const double *xy = lapis_arrays_find(&all, "xy")->mat.val;
  uint64_t s = 8;
  for (int64_t k = 0; k < FRAMES; k++) {
    int64_t frame = k < 101 ? 37 * k % 101 : 37 * (k - 101) % 101;
    int64_t turn = below(&s, POINTS);
    for (int64_t j = 0; j < POINTS; j++) {
      int64_t row = k * POINTS + (7 * j + turn) % POINTS;
      memcpy(X + 2 * row, xy + 2 * (frame * POINTS + j), 2 * sizeof *X);
      truth[k * POINTS + j] = row;
      group[row] = k;
    }
  }
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
  lapis_data data = {.X = lapis_mat_f64(X, 2, LEARNT * POINTS), .group = group};
  lapis_data rest = {.X = lapis_mat_f64(X + 2 * LEARNT * POINTS, 2,
                                        (FRAMES - LEARNT) * POINTS),
                     .group = group + LEARNT * POINTS};
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = POINTS;
  set.layout = LAPIS_ROML_COORDINATES;
  answer a = solve(&data, &set);
  asked q = ask(a.ctx, a.solver, &rest);
  const int64_t *match = q.match.val;
  for (int64_t j = 0; j < POINTS; j++) {
    int64_t slot = slot_of(&a, truth, j);
    for (int64_t k = LEARNT; k < FRAMES; k++)
      assert_int_equal(match[(k - LEARNT) * POINTS + slot],
                       truth[k * POINTS + j] - LEARNT * POINTS);
  }
  forget(&q);
  drop(&a);
}

/* Features that exist among the matched images alone have no model. */
static void an_embedding_learns_nothing(void **state)
{
  scene c = scene_new(4, 8, 4, 6, 0, 0, 5);
  lapis_data data = scene_data(&c);
  double *xy = malloc(64 * sizeof *xy);
  for (int i = 0; i < 64; i++) xy[i] = i * i % 37;
  data.xy = lapis_mat_f64(xy, 2, 32);
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 4;
  set.map = LAPIS_ROML_MAP_EMBED;
  answer a = solve(&data, &set);
  lapis_model *m;
  assert_int_equal(lapis_model_new(a.solver, &m), LAPIS_ENOTBUILT);
  check_says(lapis_ctx_error(a.ctx), "map");
  drop(&a);
  free(xy);
  scene_free(&c);
}

int test_instances(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_are_found_as_there_are),
      cmocka_unit_test(told_how_many_it_finds_them),
      cmocka_unit_test(shares_do_not_depend_on_signs),
      cmocka_unit_test(nothing_is_found_in_noise),
      cmocka_unit_test(the_number_is_found_at_both_ends),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      cmocka_unit_test(later_images_are_matched),
      cmocka_unit_test(a_model_is_its_file),
      cmocka_unit_test(predicting_can_be_stopped),
      cmocka_unit_test(chance_can_be_stopped),
      cmocka_unit_test(later_views_of_points_are_matched),
      LONG(cmocka_unit_test(hotel_frames_are_matched)),
      cmocka_unit_test(an_embedding_learns_nothing)};
  return run_cases(tests, NULL, NULL);
}
