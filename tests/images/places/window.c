/* window.c - the nearest window against plain enumeration. */
#include "check.h"
#include "lapis/images.h"

enum { MOST = 4096, KEEP = 4 };

typedef struct scene {
  int64_t width, height, vocabulary, m;
  double *word, *xy, *target;
} scene;

static scene make(int64_t width, int64_t height, int64_t d, int64_t m,
                  uint64_t *state)
{
  scene s = {width, height, d, m, NULL, NULL, NULL};
  s.word = calloc((size_t)m + 1, sizeof *s.word);
  s.xy = calloc((size_t)(2 * m) + 1, sizeof *s.xy);
  s.target = calloc((size_t)d, sizeof *s.target);
  for (int64_t j = 0; j < m; j++) {
    s.word[j] = floor((double)d * check_uniform(state));
    s.xy[2 * j] = (double)width * check_uniform(state);
    s.xy[2 * j + 1] = (double)height * check_uniform(state);
    if (j % 7 == 0) s.xy[2 * j] = (double)width; /* the very edge */
  }
  for (int64_t i = 0; i < d; i++)
    s.target[i] = check_uniform(state) < 0.3 ? 0 : 10 * check_uniform(state);
  s.target[0] = 1;
  return s;
}

static void drop(scene *s)
{
  free(s->word), free(s->xy), free(s->target);
}

static lapis_words words_of(const scene *s)
{
  return (lapis_words){lapis_mat_f64(s->word, 1, s->m),
                       lapis_mat_f64(s->xy, 2, s->m), s->vocabulary, s->width,
                       s->height};
}

/* ---- the twin: every box, its histogram, its distance, from scratch ------*/
static bool inside(const scene *s, int64_t j, const lapis_box *b)
{
  double x = fmin(floor(s->xy[2 * j]), (double)s->width - 1);
  double y = fmin(floor(s->xy[2 * j + 1]), (double)s->height - 1);
  return x >= b->x && x < b->x + b->width && y >= b->y && y < b->y + b->height;
}

static double slow_distance(const scene *s, const lapis_box *b, int64_t *n)
{
  double *h = calloc((size_t)s->vocabulary, sizeof *h), sum = 0, out = 0;
  *n = 0;
  for (int64_t j = 0; j < s->m; j++)
    if (inside(s, j, b)) h[(int64_t)s->word[j]]++, (*n)++;
  for (int64_t i = 0; i < s->vocabulary; i++) sum += s->target[i];
  for (int64_t i = 0; i<s->vocabulary && * n> 0; i++) {
    double p = h[i] / (double)*n, t = s->target[i] / sum;
    if (p + t > 0) out += (p - t) * (p - t) / (p + t);
  }
  free(h);
  return out;
}

static double slow_overlap(const lapis_box *a, const lapis_box *b)
{
  double x0 = fmax(a->x, b->x), x1 = fmin(a->x + a->width, b->x + b->width);
  double y0 = fmax(a->y, b->y), y1 = fmin(a->y + a->height, b->y + b->height);
  if (x1 <= x0 || y1 <= y0) return 0;
  double both = (x1 - x0) * (y1 - y0);
  return both / (a->width * a->height + b->width * b->height - both);
}

/* Every candidate as the header words it; a size found twice does no harm. */
static int64_t slow_boxes(const scene *s, const lapis_window_settings *w,
                          lapis_box *out)
{
  int64_t count = 0, n, g = w->grid.step;
  for (int64_t i = 0; i < w->grid.scales; i++)
    for (int64_t j = 0; j < w->grid.aspects; j++) {
      double u =
          w->grid.scales == 1 ? 0 : (double)i / (double)(w->grid.scales - 1);
      double v =
          w->grid.aspects == 1 ? 0 : (double)j / (double)(w->grid.aspects - 1);
      double side = w->grid.smallest *
                    pow(w->grid.largest / w->grid.smallest, u) *
                    sqrt((double)(s->width * s->height));
      double aspect =
          w->grid.aspect_low * pow(w->grid.aspect_high / w->grid.aspect_low, v);
      double bw = fmax(round(side * sqrt(aspect) / (double)g), 1) * (double)g;
      double bh = fmax(round(side / sqrt(aspect) / (double)g), 1) * (double)g;
      for (int64_t y = 0; y < s->height; y += g)
        for (int64_t x = 0; x < s->width; x += g) {
          if ((double)x + bw > ceil((double)s->width / (double)g) * (double)g ||
              (double)y + bh > ceil((double)s->height / (double)g) * (double)g)
            continue;
          lapis_box b = {(double)x, (double)y, fmin(bw, (double)(s->width - x)),
                         fmin(bh, (double)(s->height - y)), 0};
          b.score = slow_distance(s, &b, &n);
          if (n == 0 || n < w->least) continue;
          assert_true(count < MOST);
          out[count++] = b;
        }
    }
  return count;
}

/* The library's k-th box must be as near as the nearest candidate that is
 * distinct from the library's own first k - 1 (ties may differ), and its
 * distance must be true. */
static void check_boxes(const scene *s, const lapis_window_settings *w,
                        const lapis_box *box, int64_t found)
{
  lapis_box *all = calloc(MOST, sizeof *all);
  int64_t count = slow_boxes(s, w, all), n;
  for (int64_t k = 0; k < KEEP; k++) {
    double least = INFINITY;
    for (int64_t c = 0; c < count; c++) {
      bool apart = true;
      for (int64_t i = 0; i < k && i < found; i++)
        apart = apart && slow_overlap(&all[c], &box[i]) < w->overlap;
      if (apart) least = fmin(least, all[c].score);
    }
    assert_int_equal(k < found, least < INFINITY);
    if (k >= found) break;
    CHECK_NEAR(box[k].score, least, 1e-12);
    CHECK_NEAR(slow_distance(s, &box[k], &n), least, 1e-12);
  }
  free(all);
}

static lapis_window_settings draw_settings(uint64_t *state)
{
  lapis_window_settings w = lapis_window_defaults();
  w.grid.step = 1 + (int64_t)(5 * check_uniform(state));
  w.grid.smallest = 0.1 + 0.4 * check_uniform(state);
  w.grid.largest =
      w.grid.smallest + (1 - w.grid.smallest) * check_uniform(state);
  w.grid.scales = 1 + (int64_t)(3 * check_uniform(state));
  w.grid.aspect_low = 0.4 + check_uniform(state);
  w.grid.aspect_high = w.grid.aspect_low + check_uniform(state);
  w.grid.aspects = 1 + (int64_t)(2 * check_uniform(state));
  w.least = (int64_t)(6 * check_uniform(state));
  w.overlap = 0.1 + 0.9 * check_uniform(state);
  return w;
}

static void nearest_is_that_of_enumeration(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 0; seed < 150; seed++) {
    uint64_t state = seed;
    int64_t width = 1 + (int64_t)(25 * check_uniform(&state));
    int64_t height = 1 + (int64_t)(25 * check_uniform(&state));
    int64_t d = 1 + (int64_t)(40 * check_uniform(&state));
    int64_t m = (int64_t)(200 * check_uniform(&state));
    scene s = make(width, height, d, m, &state);
    lapis_words words = words_of(&s);
    lapis_mat target = lapis_mat_f64(s.target, d, 1);
    lapis_window_settings w = draw_settings(&state);
    lapis_box box[KEEP];
    int64_t found;
    assert_int_equal(
        lapis_windows_find(ctx, &words, &target, &w, KEEP, box, &found, NULL),
        LAPIS_OK);
    check_boxes(&s, &w, box, found);
    drop(&s);
  }
  lapis_ctx_free(ctx);
}

/* Words of one kind in one corner, the target that kind: the box lies there,
 * and most boxes are never looked into. */
static void planted_window_is_found(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 5;
  scene s = make(200, 160, 50, 8000, &state);
  for (int64_t j = 0; j < s.m; j++) {
    double x = s.xy[2 * j] - 130, y = s.xy[2 * j + 1] - 40;
    bool in = x >= 0 && x < 40 && y >= 0 && y < 40;
    s.word[j] = in ? floor(s.word[j] / 5) : 10 + floor(s.word[j] * 0.8);
  }
  for (int64_t i = 0; i < 50; i++) s.target[i] = i < 10;
  lapis_words words = words_of(&s);
  lapis_mat target = lapis_mat_f64(s.target, 1, 50);
  lapis_window_settings w = lapis_window_defaults();
  w.grid.step = 2, w.grid.smallest = w.grid.largest = 40 / sqrt(200 * 160.0);
  w.grid.scales = w.grid.aspects = 1;
  lapis_box box[2];
  int64_t found;
  lapis_window_info info;
  assert_int_equal(
      lapis_windows_find(ctx, &words, &target, &w, 2, box, &found, &info), 0);
  assert_int_equal(found, 2);
  CHECK_NEAR(box[0].x, 130, 0);
  CHECK_NEAR(box[0].y, 40, 0);
  CHECK_NEAR(box[0].width, 40, 0);
  CHECK_AT_MOST(box[0].score, 0.1);
  CHECK_AT_LEAST(box[1].score, box[0].score + 0.2);
  CHECK_AT_MOST((double)info.evaluated, 0.5 * (double)info.candidates);
  drop(&s);
  lapis_ctx_free(ctx);
}

/* The target's scale and the order of the words mean nothing. */
static void laws_hold(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 9;
  scene s = make(60, 50, 30, 900, &state);
  lapis_words words = words_of(&s);
  lapis_mat target = lapis_mat_f64(s.target, 30, 1);
  lapis_box a, b;
  int64_t found;
  assert_int_equal(
      lapis_windows_find(ctx, &words, &target, NULL, 1, &a, &found, NULL), 0);
  for (int64_t i = 0; i < 30; i++) s.target[i] *= 4096;
  for (int64_t j = 0; j < s.m / 2; j++) {
    int64_t k = s.m - 1 - j;
    for (int r = 0; r < 2; r++) {
      double t = s.xy[2 * j + r];
      s.xy[2 * j + r] = s.xy[2 * k + r], s.xy[2 * k + r] = t;
    }
    double t = s.word[j];
    s.word[j] = s.word[k], s.word[k] = t;
  }
  assert_int_equal(
      lapis_windows_find(ctx, &words, &target, NULL, 1, &b, &found, NULL), 0);
  CHECK_NEAR(a.x, b.x, 0);
  CHECK_NEAR(a.y, b.y, 0);
  CHECK_NEAR(a.width, b.width, 0);
  CHECK_NEAR(a.score, b.score, 1e-13);
  drop(&s);
  lapis_ctx_free(ctx);
}

static void refuse(const lapis_words *words, const lapis_mat *target,
                   const lapis_window_settings *w, lapis_status status,
                   const char *sentence)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_box box;
  int64_t found = 7;
  assert_int_equal(
      lapis_windows_find(ctx, words, target, w, 1, &box, &found, NULL), status);
  check_says(lapis_ctx_error(ctx), sentence);
  assert_int_equal(found, 0);
  lapis_ctx_free(ctx);
}

static void bad_input_is_refused(void **unused)
{
  (void)unused;
  uint64_t state = 3;
  scene s = make(20, 20, 5, 40, &state);
  lapis_words words = words_of(&s), bad = words;
  lapis_mat target = lapis_mat_f64(s.target, 5, 1);
  lapis_mat small = lapis_mat_f64(s.target, 4, 1);
  lapis_window_settings w = lapis_window_defaults();
  refuse(&words, &small, NULL, LAPIS_ESHAPE, "one for each of the 5");
  bad.height = 0;
  refuse(&bad, &target, NULL, LAPIS_EINVAL, "20 x 0");
  bad = words, bad.word.cols--;
  refuse(&bad, &target, NULL, LAPIS_ESHAPE, "39 words");
  w.grid.smallest = 0;
  refuse(&words, &target, &w, LAPIS_EINVAL, "smallest");
  s.word[3] = 5;
  refuse(&words, &target, NULL, LAPIS_EDATA, "word 4 is 5");
  s.word[3] = 0.5;
  refuse(&words, &target, NULL, LAPIS_EDATA, "word 4 is 0.5");
  s.word[3] = NAN;
  refuse(&words, &target, NULL, LAPIS_EDATA, "word 4");
  s.word[3] = 0, s.xy[2] = 20.5;
  refuse(&words, &target, NULL, LAPIS_EDATA, "outside");
  s.xy[2] = 20, s.target[1] = -1;
  refuse(&words, &target, NULL, LAPIS_EDATA, "-1 of word 1");
  s.target[1] = INFINITY;
  refuse(&words, &target, NULL, LAPIS_EDATA, "must be finite");
  memset(s.target, 0, 5 * sizeof *s.target);
  refuse(&words, &target, NULL, LAPIS_EDATA, "sum to 0");
  w = lapis_window_defaults();
  w.grid.step = 1, w.grid.scales = w.grid.aspects = 64;
  bad = words, bad.width = bad.height = 1 << 20;
  refuse(&bad, &target, &w, LAPIS_EINVAL, "too many");
  drop(&s);
}

int test_window(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_is_that_of_enumeration),
      cmocka_unit_test(planted_window_is_found),
      cmocka_unit_test(laws_hold),
      cmocka_unit_test(bad_input_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
