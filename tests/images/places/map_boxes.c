/* map_boxes.c - one box an image by the places of a map: as the formulas say,
 * recomputed by plain loops from what was given; the object is found; maps that
 * are none. */
#include "check.h"
#include "lapis/images.h"
#include "scarce.h"

enum {
  LONG_X = LAPIS_OUTLINE_EDGES + LAPIS_OUTLINE_COLOURS + 1,
  K = 6,        /* images */
  EACH = 7,     /* boxes of one */
  N = K * EACH, /* boxes */
  G = 5,        /* places along a side */
  D = 4         /* channels */
};

typedef struct task {
  double X[N * LONG_X], group[N], box[5 * N], size[2 * K];
  double map[G * G * D * K];
  double pick[K], likeness[K], agreement[K];
  lapis_mat x, g, b, s, m;
  lapis_choose_settings set;
} task;

/* Boxes at random; the object, box k of image k, has a direction of its own in
 * the map. */
static void make(task *t, uint64_t seed, double object)
{
  for (int i = 0; i < N * LONG_X; i++) t->X[i] = check_uniform(&seed);
  for (int k = 0; k < K; k++) {
    double w = t->size[2 * k] = 40 + 20 * k, h = t->size[2 * k + 1] = 90 - k;
    for (int j = 0; j < EACH; j++) {
      double *b = t->box + 5 * (k * EACH + j);
      b[2] = floor((.2 + .3 * check_uniform(&seed)) * w);
      b[3] = floor((.2 + .3 * check_uniform(&seed)) * h);
      b[0] = floor(check_uniform(&seed) * (w - b[2]));
      b[1] = floor(check_uniform(&seed) * (h - b[3]));
      b[4] = check_uniform(&seed);
      t->group[k * EACH + j] = k;
    }
  }
  for (int i = 0; i < G * G * D * K; i++) t->map[i] = check_uniform(&seed) - .5;
  for (int k = 0; k < K; k++) {
    const double *b = t->box + 5 * (k * EACH + k);
    for (int i = 0; i < G * G; i++) {
      double x = (i % G + .5) / G * t->size[2 * k];
      double y = (i / G + .5) / G * t->size[2 * k + 1]; /* NOLINT */
      bool inside = x > b[0] && x < b[0] + b[2] && y > b[1] && y < b[1] + b[3];
      t->map[(k * G * G + i) * D + 1] += inside ? object : 0;
    }
  }
  t->x = lapis_mat_f64(t->X, LONG_X, N);
  t->g = lapis_mat_f64(t->group, 1, N);
  t->b = lapis_mat_f64(t->box, 5, N);
  t->s = lapis_mat_f64(t->size, 2, K);
  t->m = lapis_mat_f64(t->map, (int64_t)G * G * D, K);
  t->set = lapis_choose_defaults();
  t->set.map = &t->m;
  t->set.grid = G;
  t->set.agreement = t->agreement;
}

static lapis_status choose(task *t, lapis_ctx *ctx)
{
  return lapis_boxes_choose(ctx, &t->x, &t->g, &t->b, &t->s, &t->set, t->pick,
                            t->likeness);
}

/* ---- the same by plain loops --------------------------------------------*/
/* How much of part i of G of a side lies in what begins at `from`. */
static double share(int i, double whole, double from, double length)
{
  double part = whole / G, low = fmax(i * part, from);
  return fmax(0, fmin((i + 1) * part, from + length) - low) / part;
}

static double cover(const task *t, int b, int i)
{
  const double *at = t->box + 5 * b, *size = t->size + 2 * (b / EACH);
  return share(i % G, size[0], at[0], at[2]) *
         share(i / G, size[1], at[1], at[3]);
}

/* x := C^-1 x, by Gauss-Jordan. */
static void solve(double C[D][D], double *x)
{
  for (int p = 0; p < D; p++)
    for (int i = 0; i < D; i++) {
      double f = C[i][p] / C[p][p];
      for (int j = 0; i != p && j < D; j++) C[i][j] -= f * C[p][j];
      if (i != p) x[i] -= f * x[p];
    }
  for (int i = 0; i < D; i++) x[i] /= C[i][i];
}

/* Descriptors of length 1, less their mean. */
static void describe(const task *t, double *x)
{
  double mean[D] = {0};
  int n = K * G * G;
  memcpy(x, t->map, (size_t)(n * D) * sizeof *x);
  for (int i = 0; i < n; i++) {
    double squares = 0;
    for (int c = 0; c < D; c++) squares += x[i * D + c] * x[i * D + c];
    for (int c = 0; c < D; c++) x[i * D + c] /= sqrt(squares);
    for (int c = 0; c < D; c++) mean[c] += x[i * D + c] / n;
  }
  for (int i = 0; i < n * D; i++) x[i] -= mean[i % D];
}

/* h of every place, from a. */
static void discriminate(const double *x, const double *a, double *h)
{
  double m1[D] = {0}, m0[D] = {0}, C[D][D] = {{0}}, w[D], A = 0, trace = 0;
  int n = K * G * G;
  for (int i = 0; i < n; i++) {
    A += a[i];
    for (int c = 0; c < D; c++) {
      m1[c] += a[i] * x[i * D + c];
      m0[c] += (1 - a[i]) * x[i * D + c];
      for (int e = 0; e < D; e++) C[c][e] += x[i * D + c] * x[i * D + e] / n;
    }
  }
  for (int c = 0; c < D; c++) m1[c] /= A, m0[c] /= n - A, trace += C[c][c];
  for (int c = 0; c < D; c++) C[c][c] += trace / D, w[c] = m1[c] - m0[c];
  solve(C, w);
  for (int i = 0; i < K * G * G; i++) {
    h[i] = 0;
    for (int c = 0; c < D; c++)
      h[i] += w[c] * (x[i * D + c] - (m1[c] + m0[c]) / 2);
  }
}

static int greatest(const double *v, int k)
{
  int best = k * EACH;
  for (int b = best; b < (k + 1) * EACH; b++)
    if (v[b] > v[best]) best = b;
  return best;
}

static double overlap(const double *a, const double *b)
{
  double w = fmin(a[0] + a[2], b[0] + b[2]) - fmax(a[0], b[0]);
  double h = fmin(a[1] + a[3], b[1] + b[3]) - fmax(a[1], b[1]);
  double both = fmax(w, 0) * fmax(h, 0);
  return both / (a[2] * a[3] + b[2] * b[3] - both);
}

/* u: half of the score and half of the contrast, over the largest. */
static void alone(const task *t, double *u)
{
  for (int k = 0; k < K; k++) {
    double score = 0, contrast = 0;
    for (int b = k * EACH; b < (k + 1) * EACH; b++) {
      score = fmax(score, t->box[5 * b + 4]);
      contrast = fmax(contrast, t->X[b * LONG_X + LONG_X - 1]);
    }
    for (int b = k * EACH; b < (k + 1) * EACH; b++)
      u[b] = t->box[5 * b + 4] / score / 2 +
             t->X[b * LONG_X + LONG_X - 1] / contrast / 2;
  }
}

static void weigh(const task *t, const double *best, double *a)
{
  memset(a, 0, (size_t)(K * G * G) * sizeof *a);
  for (int b = 0; b < N; b++) {
    int first = b / EACH * EACH;
    double sum = 0;
    for (int o = first; o < first + EACH; o++)
      sum += exp((best[o] - best[b]) / t->set.heat);
    for (int i = 0; i < G * G; i++)
      a[b / EACH * G * G + i] += cover(t, b, i) / sum;
  }
}

static void check_answer(const task *t)
{
  static double x[K * G * G * D], a[K * G * G], h[K * G * G];
  double u[N], best[N], v[N];
  describe(t, x);
  alone(t, u);
  memcpy(best, u, sizeof u);
  for (int64_t r = 0; r < t->set.rounds; r++) {
    weigh(t, best, a);
    discriminate(x, a, h);
    for (int b = 0; b < N; b++) {
      v[b] = 0;
      for (int i = 0; i < G * G; i++)
        v[b] += cover(t, b, i) * h[b / EACH * G * G + i];
    }
    for (int b = 0; b < N; b++) {
      double most = v[greatest(v, b / EACH)];
      best[b] = u[b] + (most > 0 ? v[b] / most : 0);
    }
  }
  for (int k = 0; k < K; k++) {
    int is = greatest(best, k), most = greatest(v, k);
    CHECK_NEAR(t->pick[k], is, 0);
    CHECK_NEAR(t->likeness[k], v[is] / fabs(v[most]), 1e-7);
    CHECK_NEAR(t->agreement[k],
               fmin(overlap(t->box + 5 * is, t->box + 5 * greatest(u, k)),
                    overlap(t->box + 5 * is, t->box + 5 * most)),
               1e-12);
  }
}

static void boxes_are_chosen_as_the_formulas_say(void **unused)
{
  (void)unused;
  static task t;
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 0; seed < 20; seed++) {
    make(&t, seed, seed % 3 == 0 ? 0 : 2);
    t.set.rounds = 1 + (int64_t)seed % 4;
    assert_int_equal(choose(&t, ctx), LAPIS_OK);
    check_answer(&t);
  }
  lapis_ctx_free(ctx);
}

/* Scores and contrast say nothing; so do places that are all the same. */
static void the_object_is_found(void **unused)
{
  (void)unused;
  static task t;
  lapis_ctx *ctx = lapis_ctx_new();
  int right = 0;
  for (uint64_t seed = 0; seed < 10; seed++) {
    make(&t, seed, 6);
    assert_int_equal(choose(&t, ctx), LAPIS_OK);
    for (int k = 0; k < K; k++)
      right +=
          overlap(t.box + 5 * (k * EACH + k), t.box + 5 * (int)t.pick[k]) >= .5;
    for (int i = 0; i < G * G * D * K; i++) t.map[i] = 1 + i % D;
    assert_int_equal(choose(&t, ctx), LAPIS_OK);
    double u[N];
    alone(&t, u);
    for (int k = 0; k < K; k++) {
      CHECK_NEAR(t.pick[k], greatest(u, k), 0);
      CHECK_NEAR(t.likeness[k], 0, 0);
    }
  }
  CHECK_AT_LEAST(right, 10 * K * .8);
  lapis_ctx_free(ctx);
}

static void refuses(task *t, lapis_ctx *ctx, lapis_status status,
                    const char *words)
{
  assert_int_equal(choose(t, ctx), status);
  check_says(lapis_ctx_error(ctx), words);
}

static void maps_are_checked(void **unused)
{
  (void)unused;
  static task t;
  static const double odd[] = {NAN, INFINITY, -INFINITY};
  lapis_ctx *ctx = lapis_ctx_new();
  make(&t, 1, 2);
  for (int i = 0; i < 3; i++) {
    double *at = t.map + G * G * D + 3, was = *at;
    *at = odd[i];
    refuses(&t, ctx, LAPIS_EDATA, "3 1");
    *at = was;
  }
  t.map[7] = 1e300; /* its square is no number */
  assert_int_equal(choose(&t, ctx), LAPIS_OK);
  const lapis_choose_boxes others = {&t.x, &t.g, &t.b, &t.s};
  t.set.without = &others;
  refuses(&t, ctx, LAPIS_EINVAL, "map without");
  t.set.without = NULL;
  t.m.cols--;
  refuses(&t, ctx, LAPIS_ESHAPE, "100 5");
  t.m.cols++, t.m.rows--;
  refuses(&t, ctx, LAPIS_ESHAPE, "99 6");
  t.m.rows++, t.set.grid = 1;
  refuses(&t, ctx, LAPIS_EINVAL, "2 64 1");
  t.set.grid = 65;
  refuses(&t, ctx, LAPIS_EINVAL, "2 64 65");
  t.set.grid = INT64_MIN;
  refuses(&t, ctx, LAPIS_EINVAL, "2 64");
  lapis_ctx_free(ctx);
}

static void memory_runs_out(void **unused)
{
  (void)unused;
  static task t;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_status s = LAPIS_ENOMEM;
  long count = 0;
  make(&t, 1, 2);
  for (; s != LAPIS_OK && count < 100; count++) {
    scarce = (scarcity){.countdown = count};
    s = choose(&t, ctx);
    scarce = (scarcity){.countdown = -1};
    assert_true(s == LAPIS_OK || s == LAPIS_ENOMEM);
  }
  assert_int_equal(s, LAPIS_OK);
  CHECK_AT_LEAST((double)count, 10);
  lapis_ctx_free(ctx);
}

int test_map_boxes(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_are_chosen_as_the_formulas_say),
      cmocka_unit_test(the_object_is_found),
      cmocka_unit_test(maps_are_checked),
      cmocka_unit_test(memory_runs_out),
  };
  return run_cases(tests, NULL, NULL);
}
