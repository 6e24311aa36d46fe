/* boxes.c - proposed boxes against plain sums, boxes against those of
 * other images, and tables of boxes. */
#include <unistd.h>

#include "check.h"
#include "images/places/contrast.h"
#include "images/places/places.h"
#include "lapis/files.h"
#include "lapis/images.h"

static lapis_image noise(int64_t width, int64_t height, uint64_t *state)
{
  lapis_image m = {width, height, 1, NULL};
  m.pixels = malloc((size_t)(width * height) * sizeof *m.pixels);
  for (int64_t k = 0; k < width * height; k++)
    m.pixels[k] = (float)check_uniform(state);
  return m;
}

/* ---- the score, pixel by pixel
 * ---------------------------------------------*/
static double at(const lapis_image *m, int64_t x, int64_t y)
{
  x = x < 0 ? 0 : x >= m->width ? m->width - 1 : x;
  y = y < 0 ? 0 : y >= m->height ? m->height - 1 : y;
  return m->pixels[y * m->width + x];
}

static double slow_score(const lapis_image *m, const lapis_box *b)
{
  double in = 0, n_in = 0, ring = 0, n_ring = 0;
  double rx = fmax(round(b->width / 4), 1), ry = fmax(round(b->height / 4), 1);
  for (int64_t y = 0; y < m->height; y++)
    for (int64_t x = 0; x < m->width; x++) {
      double u = (double)x, v = (double)y;
      double dx = at(m, x + 1, y) - at(m, x - 1, y);
      double dy = at(m, x, y + 1) - at(m, x, y - 1);
      double g = sqrt(dx * dx + dy * dy) / 2;
      if (u >= b->x && u < b->x + b->width && v >= b->y && v < b->y + b->height)
        in += g, n_in++;
      else if (u >= b->x - rx && u < b->x + b->width + rx && v >= b->y - ry &&
               v < b->y + b->height + ry)
        ring += g, n_ring++;
    }
  return (in / n_in - (n_ring > 0 ? ring / n_ring : 0)) *
         sqrt(n_in / (double)(m->width * m->height));
}

static double overlap(const lapis_box *a, const lapis_box *b)
{
  double x0 = fmax(a->x, b->x), x1 = fmin(a->x + a->width, b->x + b->width);
  double y0 = fmax(a->y, b->y), y1 = fmin(a->y + a->height, b->y + b->height);
  if (x1 <= x0 || y1 <= y0) return 0;
  double both = (x1 - x0) * (y1 - y0);
  return both / (a->width * a->height + b->width * b->height - both);
}

/* One size on a step of 3, so that the twin need not know the rule of sizes. */
static void boxes_are_those_of_plain_sums(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 0; seed < 20; seed++) {
    uint64_t state = seed;
    lapis_image m = noise(30, 24, &state);
    propose_settings set = propose_defaults();
    set.grid = (lapis_box_grid){.step = 3,
                                .smallest = 9 / sqrt(720),
                                .largest = 9 / sqrt(720),
                                .scales = 1,
                                .aspect_low = 1,
                                .aspect_high = 1,
                                .aspects = 1};
    set.overlap = 0.2 + 0.8 * check_uniform(&state);
    lapis_box box[100];
    int64_t found;
    assert_int_equal(boxes_propose(ctx, &m, &set, 100, box, &found), 0);
    assert_true(found > 0 && found < 100);
    for (int64_t k = 0; k <= found; k++) { /* the last: none is left */
      double most = -INFINITY;
      for (int y = 0; y <= 15; y += 3)
        for (int x = 0; x <= 21; x += 3) {
          lapis_box b = {x, y, 9, 9, 0};
          bool apart = true;
          for (int64_t i = 0; i < k; i++)
            apart = apart && overlap(&b, &box[i]) < set.overlap;
          if (apart) most = fmax(most, slow_score(&m, &b));
        }
      assert_int_equal(isinf(most) != 0, k == found);
      if (k == found) break;
      CHECK_NEAR(box[k].score, most, 1e-6);
      CHECK_NEAR(box[k].score, slow_score(&m, &box[k]), 1e-6);
    }
    free(m.pixels);
  }
  lapis_ctx_free(ctx);
}

/* A patch of texture on plain ground is the best box. */
static void texture_is_proposed(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 1;
  lapis_image m = noise(160, 120, &state);
  for (int64_t y = 0; y < 120; y++)
    for (int64_t x = 0; x < 160; x++)
      if (x < 60 || x >= 110 || y < 30 || y >= 80) m.pixels[y * 160 + x] = 0.5F;
  lapis_box box[20], truth = {60, 30, 50, 50, 0};
  int64_t found;
  assert_int_equal(boxes_propose(ctx, &m, NULL, 20, box, &found), 0);
  assert_int_equal(found, 20);
  CHECK_AT_LEAST(overlap(&box[0], &truth), 0.5);
  for (int64_t i = 0; i < found; i++)
    for (int64_t j = 0; j < i; j++) {
      CHECK_AT_MOST(overlap(&box[i], &box[j]), 0.7);
      CHECK_AT_MOST(box[i].score, box[j].score);
    }
  propose_settings set = propose_defaults();
  set.overlap = 0;
  assert_int_equal(boxes_propose(ctx, &m, &set, 20, box, &found), LAPIS_EINVAL);
  free(m.pixels);
  lapis_ctx_free(ctx);
}

/* An image of twice the pixels, each four times there, has the same boxes. */
static void a_large_image_is_made_small(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 3;
  lapis_image m = noise(128, 90, &state), twice = noise(256, 180, &state);
  lapis_box box[40], large[40];
  int64_t found, again;
  for (int64_t i = 0; i < 256 * 180; i++)
    twice.pixels[i] = m.pixels[i / 512 * 128 + i % 256 / 2];
  assert_int_equal(boxes_propose(ctx, &m, NULL, 40, box, &found), 0);
  assert_int_equal(boxes_propose(ctx, &twice, NULL, 40, large, &again), 0);
  assert_int_equal(found, 40);
  assert_int_equal(again, 40);
  for (int k = 0; k < 40; k++) {
    CHECK_NEAR(large[k].x, 2 * box[k].x, 0);
    CHECK_NEAR(large[k].y, 2 * box[k].y, 0);
    CHECK_NEAR(large[k].width, 2 * box[k].width, 0);
    CHECK_NEAR(large[k].height, 2 * box[k].height, 0);
    CHECK_NEAR(large[k].score, box[k].score, 1e-5);
    /* cells are 4 pixels: what is left below 88 is in no box */
    CHECK_AT_MOST(box[k].y + box[k].height, 88);
  }
  propose_settings set = propose_defaults();
  set.longest = 0;
  assert_int_equal(boxes_propose(ctx, &m, &set, 40, box, &found), LAPIS_EINVAL);
  check_says(lapis_ctx_error(ctx), "0");
  free(m.pixels), free(twice.pixels);
  lapis_ctx_free(ctx);
}

/* ---- boxes of images without the object ---------------------------------*/
enum { OWN = 131, OTHERS = 77, LONG = CONTRAST_LENGTH };

static int smaller(const void *a, const void *b)
{
  const double *p = a, *q = b;
  return (*p > *q) - (*p < *q);
}

/* By the formula of contrast.c, of all others, sorted. */
static double slow_distance(const double *z, const double *g, int64_t m,
                            const double *other_z, const double *other_g)
{
  double d[OTHERS], sum = 0;
  int64_t least = m < 5 ? m : 5;
  for (int64_t o = 0; o < m; o++) {
    d[o] = 0;
    for (int i = 0; i < LONG; i++) d[o] -= z[i] * other_z[o * LONG + i];
    for (int i = 0; i < 4; i++)
      d[o] += (i < 2 ? 3 : 0.5) * pow(g[i] - other_g[o * 4 + i], 2);
  }
  qsort(d, (size_t)m, sizeof *d, smaller);
  for (int64_t i = 0; i < least; i++) sum += d[i] / (double)least;
  return sum;
}

static void boxes_are_compared_with_those_of_other_images(void **unused)
{
  (void)unused;
  static double z[(OWN + OTHERS) * LONG], g[(OWN + OTHERS) * 4], out[OWN];
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 5;
  for (int i = 0; i < (OWN + OTHERS) * LONG; i++)
    z[i] = check_uniform(&state) - 0.5;
  for (int i = 0; i < (OWN + OTHERS) * 4; i++) g[i] = check_uniform(&state);
  const double *oz = z + OWN * LONG, *og = g + OWN * 4;
  for (int64_t m = 3; m <= OTHERS; m += OTHERS - 3) {
    assert_int_equal(contrast_distances(ctx, OWN, z, g, m, oz, og, out), 0);
    for (int b = 0; b < OWN; b++)
      CHECK_NEAR(out[b],
                 slow_distance(z + b * LONG, g + (int64_t)b * 4, m, oz, og),
                 1e-10);
  }
  lapis_ctx_free(ctx);
}

/* What is wrong with those images' boxes is said. */
static void boxes_of_other_images_are_checked(void **unused)
{
  (void)unused;
  static double X[2 * (LONG + 1)];
  double group[2] = {0, 1}, odd[2] = {0, 2}, box[10], size[4], pick[2], like[2];
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 6;
  for (int i = 0; i < 2 * (LONG + 1); i++) X[i] = check_uniform(&state);
  for (int i = 0; i < 10; i++) box[i] = 1 + check_uniform(&state);
  for (int i = 0; i < 4; i++) size[i] = 9;
  lapis_mat x = lapis_mat_f64(X, LONG + 1, 2), c = lapis_mat_f64(box, 5, 2);
  lapis_mat g = lapis_mat_f64(group, 1, 2), gap = lapis_mat_f64(odd, 1, 2);
  lapis_mat s = lapis_mat_f64(size, 2, 2), one = lapis_mat_f64(size, 2, 1);
  lapis_choose_boxes others = {&x, &g, &c, &s};
  lapis_choose_settings set = lapis_choose_defaults();
  set.without = &others;
  assert_int_equal(lapis_boxes_choose(ctx, &x, &g, &c, &s, &set, pick, like),
                   0);
  assert_true(pick[0] == 0 && pick[1] == 1);
  others.size = &one;
  assert_int_equal(lapis_boxes_choose(ctx, &x, &g, &c, &s, &set, pick, like),
                   LAPIS_ESHAPE);
  check_says(lapis_ctx_error(ctx), "2");
  others.size = &s, others.group = &gap;
  assert_int_equal(lapis_boxes_choose(ctx, &x, &g, &c, &s, &set, pick, like),
                   LAPIS_EDATA);
  check_says(lapis_ctx_error(ctx), "group 1 2");
  others.group = NULL;
  assert_int_equal(lapis_boxes_choose(ctx, &x, &g, &c, &s, &set, pick, like),
                   LAPIS_EINVAL);
  others.group = &g, set.unlike = -1;
  assert_int_equal(lapis_boxes_choose(ctx, &x, &g, &c, &s, &set, pick, like),
                   LAPIS_EINVAL);
  check_says(lapis_ctx_error(ctx), "0");
  lapis_ctx_free(ctx);
}

/* ---- tables
 * -----------------------------------------------------------------*/
static lapis_status read_text(lapis_ctx *ctx, const char *text, box_table *out)
{
  char folder[64], path[128];
  check_folder(folder, sizeof folder);
  snprintf(path, sizeof path, "%s/boxes.csv", folder);
  assert_int_equal(lapis_file_write(ctx, path, text, strlen(text)), 0);
  lapis_status status = boxes_read(ctx, path, out);
  unlink(path), rmdir(folder);
  return status;
}

static void tables_are_read(void **unused)
{
  (void)unused;
  static const char *const texts[] = {
      "name,x,y,width,height,score\na.png,1,2,3,4,.5\n\"b, "
      "c.png\",0,-1,2.5,1,\n",
      "a.png,1,2,3,4,.5\n\n\"b, c.png\",0,-1,2.5,1",
      "\xef\xbb\xbfname;x;y;width;height;score\r\na.png;1;2;3;4;.5\r\nb, "
      "c.png;0;-1;"
      "2.5;1\r\n",
      "name;x;y;width;height;score;doubtful\na.png;1,0;2;3;4;,5;no\n"
      "b, c.png;0;-1;2,5;1;;yes\n",
      "y,x,Score,seen,file,height,width\n2,1,.5,7,a.png,4,3\n"
      "-1,0,,,\"b, c.png\",1,2.5\n"};
  lapis_ctx *ctx = lapis_ctx_new();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    box_table t;
    lapis_status status = read_text(ctx, texts[i], &t);
    if (status < 0) print_error("%s\n", lapis_ctx_error(ctx));
    assert_int_equal(status, 0);
    assert_int_equal(t.count, 2);
    assert_string_equal(t.name[0], "a.png");
    CHECK_NEAR(t.box[0].x, 1, 0);
    CHECK_NEAR(t.box[0].y, 2, 0);
    assert_true(t.line[1] > t.line[0] && t.line[0] >= 1);
    assert_string_equal(t.name[1], "b, c.png");
    CHECK_NEAR(t.box[0].height, 4, 0);
    CHECK_NEAR(t.box[0].score, 0.5, 0);
    CHECK_NEAR(t.box[1].y, -1, 0);
    CHECK_NEAR(t.box[1].width, 2.5, 0);
    assert_true(isnan(t.box[1].score));
    boxes_free(&t);
  }
  lapis_ctx_free(ctx);
}

static void bad_tables_are_refused(void **unused)
{
  (void)unused;
  static const struct {
    const char *text, *sentence;
  } bad[] = {
      {"a,1,2,3,4\nb,1,2,x,4\n", "boxes.csv:2:7: width is \"x\""},
      {"a,1,2,3,0\n", "boxes.csv:1:9: height is \"0\""},
      {"a,1,2,3\n", "boxes.csv:1:7: the row ends too early"},
      {"a\n", "boxes.csv:1:1: the row ends too early"},
      {"a,1,2,3,4,5,6\n", "boxes.csv:1:11: the row goes on"},
      {"a,1,2,3,4,high\n", "boxes.csv:1:11: score"},
      {"a,,2,3,4\n", "boxes.csv:1:3: x is \"\""},
      {"a,inf,2,3,4\n", "boxes.csv:1:3: x is \"inf\""},
      {",1,2,3,4\n", "boxes.csv:1:1: no name"},
      {"name,x,y,width,height\n", "holds no box"},
      {"name,left,top,w,h\na,1,2,3,4\n",
       "boxes.csv:1: x name,x,y,width,height"},
      {"name,x,y,w,h\na,1,2,3,4\n", "boxes.csv:1: width name,x,y,width,height"},
      {"x,y,width,height\n1,2,3,4\n",
       "boxes.csv:1: name name,x,y,width,height"},
      {"name,x,y,width,height,x\na,1,2,3,4,5\n", "boxes.csv:1:23: x"},
      {"y,x,height,width,name\n1,2,3,4\n",
       "boxes.csv:2:7: the row ends too early 5"},
      {"y,x,height,width,name\n1,2,3,4,a,9\n",
       "boxes.csv:2:9: the row goes on 5"},
      {"\"a,1,2,3,4\n", "never closed"},
      {"", "boxes.csv"},
  };
  lapis_ctx *ctx = lapis_ctx_new();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    box_table t;
    assert_true(read_text(ctx, bad[i].text, &t) < 0);
    if (!check_has(lapis_ctx_error(ctx), bad[i].sentence))
      print_error("%s\n", lapis_ctx_error(ctx));
    check_says(lapis_ctx_error(ctx), bad[i].sentence);
    assert_null(t.box);
  }
  box_table t;
  assert_int_equal(boxes_read(ctx, "/nonexistent.csv", &t), LAPIS_EIO);
  lapis_ctx_free(ctx);
}

int test_boxes(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_are_those_of_plain_sums),
      cmocka_unit_test(texture_is_proposed),
      cmocka_unit_test(a_large_image_is_made_small),
      cmocka_unit_test(boxes_are_compared_with_those_of_other_images),
      cmocka_unit_test(boxes_of_other_images_are_checked),
      cmocka_unit_test(tables_are_read),
      cmocka_unit_test(bad_tables_are_refused),
  };
  return run_cases(tests, NULL, NULL);
}
