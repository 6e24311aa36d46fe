/* The kind "sift": what keypoints and descriptors promise, and two other
 * programs' keypoints. */
#include "feature_case.h"
#include "python.h"

enum { SIZE = 128 };

/* Bright and dark spots of many sizes, somewhat long. */
static lapis_image spots(int64_t w, int64_t h, uint64_t seed)
{
  lapis_image m = make(w, h, 1);
  for (int64_t k = 0; k < w * h; k++) m.pixels[k] = .5F;
  for (int i = 0; i < 60; i++) {
    double cx = (double)w * check_uniform(&seed);
    double cy = (double)h * check_uniform(&seed);
    double size = 1.5 * exp(2 * check_uniform(&seed));
    double narrow = 1 + check_uniform(&seed), turn = 3 * check_uniform(&seed);
    double height = check_uniform(&seed) < .5 ? -.25 : .25;
    for (int64_t k = 0; k < w * h; k++) {
      double dx = (double)(k % w) - cx, dy = (double)(k / w) - cy;
      double u = dx * cos(turn) + dy * sin(turn);
      double v = (dy * cos(turn) - dx * sin(turn)) * narrow;
      m.pixels[k] +=
          (float)(height * exp(-(u * u + v * v) / (2 * size * size)));
    }
  }
  for (int64_t k = 0; k < w * h; k++)
    m.pixels[k] = fminf(1, fmaxf(0, m.pixels[k]));
  return m;
}

typedef struct points { /* of one image */
  int64_t count;
  const float *vector, *place; /* SIZE x count; x, y, scale, angle */
} points;

static points points_of(const run *r, int64_t image)
{
  lapis_mat xy, group;
  points p = {0, NULL, NULL};
  CHECK_OK(r->f, lapis_result_get(r->s, "xy", &xy));
  CHECK_OK(r->f, lapis_result_get(r->s, "group", &group));
  assert_int_equal(r->X.dtype, LAPIS_F32);
  assert_int_equal(r->X.rows, SIZE);
  assert_int_equal(xy.cols, r->X.cols);
  for (int64_t i = 0; i < group.cols; i++) {
    if (lapis_mat_at(&group, 0, i) != (double)image) continue;
    if (p.count++ > 0) continue;
    p.vector = (const float *)r->X.val + i * SIZE;
    p.place = (const float *)xy.val + i * 4;
  }
  return p;
}

static double cosine(const float *a, const float *b)
{
  double ab = 0, aa = 0, bb = 0;
  for (int i = 0; i < SIZE; i++) {
    ab += (double)a[i] * (double)b[i];
    aa += (double)a[i] * (double)a[i];
    bb += (double)b[i] * (double)b[i];
  }
  return ab / sqrt(aa * bb);
}

/* Where a point should be found again. */
typedef struct motion {
  double times;   /* larger */
  double quarter; /* the width - 1 where turned left by a quarter, or NaN */
} motion;

static void move(const motion *m, const float *from, double to[4])
{
  double shift = (m->times - 1) / 2; /* pixels are squares around their place */
  for (int a = 0; a < 4; a++) to[a] = (double)from[a];
  for (int a = 0; a < 2; a++) to[a] = to[a] * m->times + shift;
  to[2] *= m->times;
  if (isnan(m->quarter)) return;
  double x = to[0];
  to[0] = to[1];
  to[1] = m->quarter - x;
  to[3] -= acos(0.0);
}

/* Within half a pixel times the size, a tenth of the scale, .1 of the angle. */
static bool is_there(const motion *m, const double wanted[4], const float *p)
{
  double angle = remainder((double)p[3] - wanted[3], 4 * acos(0.0));
  double dx = (double)p[0] - wanted[0], dy = (double)p[1] - wanted[1];
  return hypot(dx, dy) < .5 * m->times && fabs(angle) < .1 &&
         fabs(log((double)p[2] / wanted[2])) < .1;
}

/* The share of a's points that b has, and how alike they look in the middle. */
static double found_again(const points *a, const points *b, const motion *m,
                          double *alike)
{
  int64_t found = 0;
  double sum = 0;
  for (int64_t i = 0; i < a->count; i++) {
    double wanted[4], best = -1;
    move(m, a->place + 4 * i, wanted);
    for (int64_t k = 0; k < b->count; k++)
      if (is_there(m, wanted, b->place + 4 * k))
        best = fmax(best, cosine(a->vector + SIZE * i, b->vector + SIZE * k));
    found += best >= 0;
    sum += best >= 0 ? best : 0;
  }
  *alike = sum / (double)found;
  print_message("%lld of %lld found again, cosine %.4f\n", (long long)found,
                (long long)a->count, *alike);
  return (double)found / (double)a->count;
}

static void points_follow_the_image(void **state)
{
  run r = {.f = *state};
  need("sift");
  lapis_image m = spots(160, 120, 3), b = brighter(&m, .6F, .3F);
  lapis_image q = turned(&m), d = doubled(&m);
  const lapis_image *all[] = {&m, &b, &q, &d};
  for (int i = 0; i < 4; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "%d.pgm", i);
    add_image(&r, name, all[i]);
    free(all[i]->pixels);
  }
  solve(&r, "sift", "peak=.002");
  points plain = points_of(&r, 0), bright = points_of(&r, 1);
  points quarter = points_of(&r, 2), twice = points_of(&r, 3);
  const motion none = {1, NAN}, turn = {1, 159}, grow = {2, NAN};
  double alike;
  CHECK_AT_LEAST((double)plain.count, 60);
  CHECK_AT_LEAST(found_again(&plain, &bright, &none, &alike), .9);
  CHECK_AT_LEAST(alike, .999);
  CHECK_AT_LEAST(found_again(&plain, &quarter, &turn, &alike), .9);
  CHECK_AT_LEAST(alike, .98);
  CHECK_AT_LEAST(found_again(&plain, &twice, &grow, &alike), .7);
  CHECK_AT_LEAST(alike, .95);
  lapis_solver_free(r.s);
}

/* --most keeps some of all, and those of the greatest contrast. */
static void the_strongest_are_kept(void **state)
{
  run all = {.f = *state}, some = all;
  need("sift");
  lapis_image m = spots(120, 90, 4);
  add_image(&all, "a.pgm", &m);
  add_image(&some, "a.pgm", &m);
  free(m.pixels);
  solve(&all, "sift", "");
  points a = points_of(&all, 0);
  solve(&some, "sift", "most=11");
  points s = points_of(&some, 0);
  assert_int_equal(s.count, 11);
  for (int64_t i = 0, k = 0; i < 11; i++, k++) {
    while (k < a.count && memcmp(s.place + 4 * i, a.place + 4 * k, 16) != 0)
      k++;
    assert_true(k < a.count);
    assert_memory_equal(s.vector + SIZE * i, a.vector + SIZE * k,
                        SIZE * sizeof(float));
  }
  /* those that a higher threshold leaves are among them */
  solve(&all, "sift", "peak=.04");
  points strong = points_of(&all, 0);
  assert_true(strong.count > 0 && strong.count <= 11);
  for (int64_t i = 0, k = 0; i < strong.count; i++, k++) {
    while (k < 11 && memcmp(strong.place + 4 * i, s.place + 4 * k, 16) != 0)
      k++;
    assert_true(k < 11);
  }
  lapis_solver_free(all.s);
  lapis_solver_free(some.s);
}

static void places_are_the_file_s(void **state)
{
  run r = {.f = *state};
  need("sift");
  lapis_image m = spots(200, 100, 5);
  add_image(&r, "a.pgm", &m);
  free(m.pixels);
  solve(&r, "sift", "longest=100");
  points p = points_of(&r, 0);
  double far = 0;
  for (int64_t i = 0; i < p.count; i++) {
    far = fmax(far, (double)p.place[4 * i]);
    CHECK_AT_MOST((double)p.place[4 * i], 199.5);
    CHECK_AT_MOST((double)p.place[4 * i + 1], 99.5);
  }
  CHECK_AT_LEAST(far, 130);
  lapis_solver_free(r.s);
}

static void flat_images_have_none(void **state)
{
  run r = {.f = *state};
  need("sift");
  lapis_image m = make(40, 30, 1), s = spots(90, 90, 1);
  add_image(&r, "flat.pgm", &m);
  add_image(&r, "spots.pgm", &s);
  free(m.pixels);
  free(s.pixels);
  solve(&r, "sift", "");
  assert_int_equal(points_of(&r, 0).count, 0);
  assert_true(points_of(&r, 1).count > 0);
  lapis_solver_free(r.s);
}

/* Spots along the last row, where VLFeat finds keypoints and describes none. */
static void every_point_has_a_descriptor(void **state)
{
  enum { WIDE = 400, HIGH = 60, EVERY = 20 };
  run r = {.f = *state};
  need("sift");
  lapis_image m = make(WIDE, HIGH, 1);
  for (int64_t k = 0; k < (int64_t)WIDE * HIGH; k++) {
    int64_t which = k % WIDE / EVERY;
    double x = (double)(k % EVERY) - EVERY / 2.0;
    double y = (double)(k / WIDE) - (HIGH - 2.5 - .06 * (double)which);
    double level = .3 + .6 * exp(-(x * x + .3 * y * y) / 2);
    m.pixels[k] = (float)(round(255 * level) / 255); /* steps: more extrema */
  }
  add_image(&r, "spots.pgm", &m);
  free(m.pixels);
  solve(&r, "sift", "peak=0 edge=1000");
  assert_true(r.X.cols > 10);
  const float *v = r.X.val;
  for (int64_t i = 0; i < r.X.cols; i++, v += SIZE)
    CHECK_AT_LEAST(cosine(v, v), .999);
  lapis_solver_free(r.s);
}

/* Keypoints given back as points are described as they were, whatever size the
 * image is looked at. */
static void given_points_are_described(void **state)
{
  run all = {.f = *state}, given = all;
  char line[200], settings[700], *text = calloc(1000, sizeof line);
  need("sift");
  lapis_image m = spots(200, 100, 5);
  add_image(&all, "a.pgm", &m);
  add_image(&given, "a.pgm", &m);
  free(m.pixels);
  for (int k = 0; k < 2; k++) {
    const char *longest = k == 0 ? "longest=1024" : "longest=150";
    solve(&all, "sift", longest);
    points a = points_of(&all, 0);
    assert_in_range(a.count, 20, 900);
    strcpy(text, "name,x,y,scale,angle\n");
    for (int64_t i = 0; i < a.count; i++) {
      const float *p = a.place + 4 * i;
      (void)snprintf(line, sizeof line, "a,%.9g,%.9g,%.9g,%.9g\n", (double)p[0],
                     (double)p[1], (double)p[2], (double)p[3]);
      strcat(text, line);
    }
    files_put_text(given.f, "p.csv", text);
    (void)snprintf(settings, sizeof settings, "%s xy=%s", longest,
                   given.f->path);
    solve(&given, "sift", settings);
    points b = points_of(&given, 0);
    assert_int_equal(a.count, b.count);
    for (int64_t i = 0; i < a.count; i++) {
      for (int64_t c = 0; c < 4; c++)
        CHECK_NEAR((double)a.place[4 * i + c], (double)b.place[4 * i + c],
                   1e-5);
      CHECK_AT_LEAST(cosine(a.vector + SIZE * i, b.vector + SIZE * i), .97);
    }
  }
  free(text);
  lapis_solver_free(all.s);
  lapis_solver_free(given.s);
}

/* The last rows and columns are described too, a little inside. */
static void points_at_the_edge_are_described(void **state)
{
  run r = {.f = *state};
  char settings[700];
  need("sift");
  lapis_image m = spots(101, 67, 5);
  add_image(&r, "a.pgm", &m);
  free(m.pixels);
  files_put_text(r.f, "p.csv",
                 "a,-.5,-.5\na,100.5,66.5\na,100.5,-.5,1\na,0,66.5,16\n"
                 "a,100.5,66.5,1.6\na,100.5,66.5,40\n");
  (void)snprintf(settings, sizeof settings, "xy=%s", r.f->path);
  solve(&r, "sift", settings);
  assert_int_equal(r.X.cols, 6);
  lapis_solver_free(r.s);
}

static lapis_status describe(run *r, lapis_sift_settings *set, lapis_mat at)
{
  set->points = at;
  lapis_solver_free(r->s);
  r->s = NULL;
  lapis_status s = lapis_features_new(r->f->ctx, lapis_feature_find("sift"),
                                      set, r->name, r->count, NULL, &r->s);
  return s < 0 ? s : lapis_solve(r->s);
}

/* A column a point, as of a grid; zeros in an even corner; an image that has
 * none is refused, and so is what is no point. */
static void points_in_memory_are_described(void **state)
{
  run r = {.f = *state};
  lapis_mat grid, X;
  lapis_sift_settings set;
  need("sift");
  lapis_image m = spots(101, 67, 5);
  add_image(&r, "a.pgm", &m);
  for (int64_t k = 0; k < 101 * 67; k++) m.pixels[k] *= k % 101 < 40 ? 0 : 1;
  add_image(&r, "b.pgm", &m);
  free(m.pixels);
  double at[] = {0, 57, 37, 1.5, 0, 27, 17, 1.5, 1, 2, 30, 1.5};
  solve(&r, "sift", "grid=5 scale=1.5");
  points all = points_of(&r, 0);
  float kept[2 * SIZE];
  for (int64_t i = 0, found = 0; i < all.count; i++)
    for (int64_t k = 0; k < 2; k++)
      if (all.place[4 * i] == (float)at[4 * k + 1] &&
          all.place[4 * i + 1] == (float)at[4 * k + 2]) {
        memcpy(kept + k * SIZE, all.vector + i * SIZE, SIZE * sizeof *kept);
        assert_true(++found <= 2);
      }
  grid = lapis_mat_f32(kept, SIZE, 2);
  lapis_settings_default(lapis_feature_find("sift"), &set);
  CHECK_OK(r.f, describe(&r, &set, lapis_mat_f64(at, 4, 3)));
  CHECK_OK(r.f, lapis_result_get(r.s, "X", &X));
  assert_int_equal(X.cols, 3);
  for (int64_t i = 0; i < 3; i++)
    for (int64_t a = 0; a < SIZE; a++)
      CHECK_NEAR(lapis_mat_at(&X, a, i), i < 2 ? lapis_mat_at(&grid, a, i) : 0,
                 0);
  CHECK_REFUSED(r.f, describe(&r, &set, lapis_mat_f64(at, 4, 2)),
                LAPIS_EMISSING, "b.pgm");
  CHECK_REFUSED(r.f, describe(&r, &set, lapis_mat_f64(at, 3, 4)), LAPIS_ESHAPE,
                "3");
  at[8] = 2;
  CHECK_REFUSED(r.f, describe(&r, &set, lapis_mat_f64(at, 4, 3)), LAPIS_EINVAL,
                "3 2 0 1");
  at[8] = 1, at[11] = 0;
  CHECK_REFUSED(r.f, describe(&r, &set, lapis_mat_f64(at, 4, 3)), LAPIS_EINVAL,
                "3 0 1000");
  at[11] = 1, at[10] = NAN;
  CHECK_REFUSED(r.f, describe(&r, &set, lapis_mat_f64(at, 4, 3)), LAPIS_EDATA,
                "nan 101 67 b.pgm");
  set.grid = 5;
  CHECK_REFUSED(r.f, describe(&r, &set, lapis_mat_f64(at, 4, 3)), LAPIS_EINVAL,
                "xy grid");
  lapis_solver_free(r.s);
}

static void small_images_are_refused(void **state)
{
  run r = {.f = *state};
  lapis_solver *s;
  need("sift");
  lapis_image m = spots(7, 90, 1);
  add_image(&r, "narrow.pgm", &m);
  free(m.pixels);
  CHECK_OK(r.f, lapis_features_new(r.f->ctx, lapis_feature_find("sift"), NULL,
                                   r.name, 1, NULL, &s));
  CHECK_REFUSED(r.f, lapis_solve(s), LAPIS_EDATA, "narrow.pgm 7 90 8");
  lapis_solver_free(s);
}

static void other_programs_find_the_same_points(void **state)
{
  run r = {.f = *state};
  char words[400];
  lapis_named item[2] = {{.name = "X"}, {.name = "xy"}};
  need("sift");
  python_need("numpy, cv2, skimage");
  lapis_image m = spots(240, 200, 9);
  add_image(&r, "0.pnm", &m);
  free(m.pixels);
  solve(&r, "sift", "");
  for (int k = 0; k < 2; k++)
    CHECK_OK(r.f, lapis_result_get(r.s, item[k].name, &item[k].mat));
  CHECK_OK(r.f, lapis_arrays_write(r.f->ctx, files_path(r.f, "sift.npz"), "npz",
                                   item, 2));
  (void)snprintf(words, sizeof words, "sift %s", r.f->folder);
  python_run("check_vision.py", words);
  lapis_solver_free(r.s);
}

#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
int test_sift(void)
{
  const struct CMUnitTest tests[] = {
      CASE(points_follow_the_image),
      CASE(the_strongest_are_kept),
      CASE(places_are_the_file_s),
      CASE(flat_images_have_none),
      CASE(every_point_has_a_descriptor),
      CASE(given_points_are_described),
      CASE(points_at_the_edge_are_described),
      CASE(points_in_memory_are_described),
      CASE(small_images_are_refused),
      CASE(other_programs_find_the_same_points),
  };
  return run_cases(tests, NULL, NULL);
}
