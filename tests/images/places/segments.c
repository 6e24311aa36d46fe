/* segments.c - segments, their graph, heat maps and scores, each
 * recomputed from the pixels. */
#include <unistd.h>

#include "check.h"
#include "images/places/places.h"
#include "lapis/files.h"
#include "lapis/images.h"

/* ---- what must hold of any segments ----------------------------------------
 * Numbers 0 .. count - 1 in reading order; each segment is connected; sizes;
 * an edge where two pixels of different segments share a side, and nowhere
 * else; none below `least` unless it is the only one. */
static int64_t flood(const lapis_segments *s, int64_t from, bool *seen)
{
  int64_t *queue = malloc((size_t)(s->width * s->height) * sizeof *queue);
  int64_t head = 0, tail = 0;
  queue[tail++] = from, seen[from] = true;
  while (head < tail) {
    int64_t at = queue[head++], x = at % s->width, y = at / s->width;
    int64_t near[4][2] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
    for (int i = 0; i < 4; i++) {
      int64_t u = near[i][0], v = near[i][1], k = v * s->width + u;
      if (u < 0 || v < 0 || u >= s->width || v >= s->height || seen[k] ||
          s->label[k] != s->label[at])
        continue;
      queue[tail++] = k, seen[k] = true;
    }
  }
  free(queue);
  return tail;
}

static bool has_edge(const lapis_graph *g, int32_t a, int32_t b)
{
  for (int64_t k = g->start[a]; k < g->start[a + 1]; k++)
    if (g->neighbour[k] == b) return true;
  return false;
}

static void check_graph(const lapis_segments *s)
{
  int64_t n = s->graph.count, sides = 0;
  bool *touch = calloc((size_t)(n * n), 1);
  for (int64_t y = 0; y < s->height; y++)
    for (int64_t x = 0; x < s->width; x++) {
      int32_t a = s->label[y * s->width + x];
      for (int i = 0; i < 2; i++) {
        int64_t u = x + (i == 0), v = y + (i == 1);
        if (u >= s->width || v >= s->height) continue;
        int32_t b = s->label[v * s->width + u];
        if (a != b) touch[a * n + b] = touch[b * n + a] = true;
      }
    }
  for (int64_t a = 0; a < n; a++)
    for (int64_t b = 0; b < n; b++) {
      assert_int_equal(has_edge(&s->graph, (int32_t)a, (int32_t)b),
                       touch[a * n + b]);
      sides += touch[a * n + b];
    }
  assert_int_equal(s->graph.start[n], sides); /* none stands twice */
  free(touch);
}

static void check_segments(const lapis_segments *s, int64_t least)
{
  int64_t pixels = s->width * s->height, next = 0;
  bool *seen = calloc((size_t)pixels, 1);
  for (int64_t k = 0; k < pixels; k++) {
    assert_in_range(s->label[k], 0, s->graph.count - 1);
    if (seen[k]) continue;
    assert_int_equal(s->label[k], next);
    int64_t size = flood(s, k, seen);
    assert_int_equal(size, s->pixels[next]);
    if (s->graph.count > 1) CHECK_AT_LEAST((double)size, (double)least);
    next++;
  }
  assert_int_equal(next, s->graph.count);
  free(seen);
  check_graph(s);
}

static void labels_become_segments(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 0; seed < 60; seed++) {
    uint64_t state = seed;
    int64_t width = 1 + (int64_t)(30 * check_uniform(&state));
    int64_t height = 1 + (int64_t)(30 * check_uniform(&state));
    int64_t least = (int64_t)(9 * check_uniform(&state));
    int32_t *label = malloc((size_t)(width * height) * sizeof *label);
    for (int64_t k = 0; k < width * height; k++)
      label[k] = (int32_t)(4 * check_uniform(&state)) - 2;
    lapis_segments s;
    assert_int_equal(segments_of_labels(ctx, label, width, height, least, &s),
                     0);
    check_segments(&s, least);
    if (least < 2) /* nothing joins: labels are kept apart, and together */
      for (int64_t k = 1; k < width * height; k++)
        if (k % width > 0)
          assert_int_equal(label[k] == label[k - 1],
                           s.label[k] == s.label[k - 1]);
    lapis_segments_free(&s);
    free(label);
  }
  lapis_ctx_free(ctx);
}

/* By hand: the lone 7 has one side with 1 and three with 2. */
static void small_piece_joins_longest_border(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  const int32_t label[] = {1, 1, 1, 1, /* */ 2, 7, 2, 2, /* */ 2, 2, 2, 2};
  lapis_segments s;
  assert_int_equal(segments_of_labels(ctx, label, 4, 3, 2, &s), 0);
  assert_int_equal(s.graph.count, 2);
  assert_int_equal(s.label[5], s.label[4]);
  lapis_segments_free(&s);
  lapis_ctx_free(ctx);
}

/* A corner cut off by a thin diagonal: whichever joins which, the two together
 * are still too small and must join what lies beyond. */
static void joined_pieces_join_on(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int64_t least = 1; least < 40; least++) {
    int32_t label[100];
    for (int k = 0; k < 100; k++) {
      int d = k % 10 + k / 10;
      label[k] = d < 4 ? 0 : d < 6 ? 1 : 2;
    }
    lapis_segments s;
    assert_int_equal(segments_of_labels(ctx, label, 10, 10, least, &s), 0);
    check_segments(&s, least);
    lapis_segments_free(&s);
  }
  lapis_ctx_free(ctx);
}

/* ---- SLIC -----------------------------------------------------------------*/
static lapis_image painting(int64_t width, int64_t height, int64_t channels)
{
  lapis_image m = {width, height, channels, NULL};
  uint64_t state = 8;
  m.pixels = malloc((size_t)(width * height * channels) * sizeof *m.pixels);
  for (int64_t k = 0; k < width * height * channels; k++) {
    int64_t x = k / channels % width, y = k / channels / width;
    bool disc = (x - 30) * (x - 30) + (y - 25) * (y - 25) < 200;
    m.pixels[k] = (float)((disc ? 0.8 : 0.2) + 0.05 * check_uniform(&state));
  }
  return m;
}

/* Skips the running test, whose context this is. */
static void need_slic(lapis_ctx *ctx)
{
  lapis_image m = painting(4, 4, 1);
  lapis_segments s;
  bool built = lapis_segments_slic(ctx, &m, NULL, &s) != LAPIS_ENOTBUILT;
  if (built) lapis_segments_free(&s);
  free(m.pixels);
  if (built) return;
  lapis_ctx_free(ctx);
  print_message("skipped: SLIC is not built in\n");
  skip();
}

static void superpixels_are_segments(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  need_slic(ctx);
  static const int64_t shape[][3] = {
      {60, 50, 3}, {60, 50, 1}, {1, 1, 3}, {1, 40, 3}, {7, 3, 1}};
  for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
    lapis_image m = painting(shape[i][0], shape[i][1], shape[i][2]);
    lapis_slic_settings set = lapis_slic_defaults();
    set.side = 8, set.least = 20;
    lapis_segments s;
    assert_int_equal(lapis_segments_slic(ctx, &m, &set, &s), 0);
    check_segments(&s, 20);
    lapis_segments_free(&s);
    free(m.pixels);
  }
  lapis_ctx_free(ctx);
}

/* Segments keep to the edge of a disc that stands out. */
static void superpixels_follow_edges(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  need_slic(ctx);
  lapis_image m = painting(60, 50, 3);
  lapis_segments s;
  lapis_slic_settings set = lapis_slic_defaults();
  set.side = 8;
  assert_int_equal(lapis_segments_slic(ctx, &m, &set, &s), 0);
  int64_t in[3000] = {0}, wrong = 0;
  for (int64_t k = 0; k < 3000; k++) in[s.label[k]] += m.pixels[3 * k] > 0.5F;
  for (int64_t v = 0; v < s.graph.count; v++)
    wrong += in[v] < s.pixels[v] - in[v] ? in[v] : s.pixels[v] - in[v];
  CHECK_AT_MOST((double)wrong, 60); /* of 3000 */
  CHECK_AT_LEAST((double)s.graph.count, 30);
  lapis_segments_free(&s);
  free(m.pixels);
  lapis_ctx_free(ctx);
}

/* ---- words ----------------------------------------------------------------*/
typedef struct scatter {
  double word[80], xy[160], weight[6];
  lapis_words words;
} scatter;

static void scatter_make(scatter *s, uint64_t *state)
{
  for (int j = 0; j < 80; j++) {
    s->word[j] = floor(6 * check_uniform(state));
    s->xy[2 * j] = 14 * check_uniform(state);
    s->xy[2 * j + 1] = 11 * check_uniform(state);
  }
  for (int i = 0; i < 6; i++) s->weight[i] = check_normal(state);
  s->words = (lapis_words){lapis_mat_f64(s->word, 1, 80),
                           lapis_mat_f64(s->xy, 2, 80), 6, 14, 11};
}

/* Segments share out the words: their scores add up to the image's, and each
 * is the sum over its own pixels. */
static void scores_are_shared_out(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 6;
  scatter s;
  scatter_make(&s, &state);
  int32_t label[154];
  for (int k = 0; k < 154; k++) label[k] = (k % 14 > 6) + 2 * (k / 14 > 4);
  lapis_segments seg;
  assert_int_equal(segments_of_labels(ctx, label, 14, 11, 1, &seg), 0);
  double score[4], sum[4] = {0};
  assert_int_equal(lapis_segment_scores(ctx, &s.words, &seg, s.weight, score),
                   0);
  for (int j = 0; j < 80; j++) {
    int x = (int)s.xy[2 * j], y = (int)s.xy[2 * j + 1];
    sum[(x > 6) + 2 * (y > 4)] += s.weight[(int)s.word[j]];
  }
  for (int i = 0; i < 4; i++) CHECK_NEAR(score[i], sum[i], 1e-12);
  s.words.width++;
  assert_int_equal(lapis_segment_scores(ctx, &s.words, &seg, s.weight, score),
                   LAPIS_ESHAPE);
  lapis_segments_free(&seg);
  lapis_ctx_free(ctx);
}

/* 7 x 3 cells of 14 x 11 pixels: rows of 3 or 4 pixels. */
static void heat_is_the_mean_of_cells(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 8;
  scatter s;
  scatter_make(&s, &state);
  double heat[21], sum[21] = {0}, count[21] = {0};
  assert_int_equal(lapis_heat_map(ctx, &s.words, s.weight, 7, 3, heat), 0);
  for (int j = 0; j < 80; j++) {
    int x = (int)s.xy[2 * j], y = (int)s.xy[2 * j + 1];
    int k = (y < 4 ? 0 : y < 8 ? 7 : 14) + x / 2;
    sum[k] += s.weight[(int)s.word[j]];
    count[k]++;
  }
  int empty = 0;
  for (int k = 0; k < 21; k++) {
    empty += count[k] <= 0;
    if (count[k] <= 0) assert_true(isnan(heat[k]));
    if (count[k] > 0) CHECK_NEAR(heat[k], sum[k] / count[k], 1e-12);
  }
  CHECK_AT_MOST(empty, 5);
  s.words.word.cols = s.words.xy.cols = 1;
  assert_int_equal(lapis_heat_map(ctx, &s.words, s.weight, 7, 3, heat), 0);
  empty = 0;
  for (int k = 0; k < 21; k++) empty += isnan(heat[k]);
  assert_int_equal(empty, 20);
  assert_int_equal(lapis_heat_map(ctx, &s.words, s.weight, 15, 3, heat),
                   LAPIS_EINVAL);
  s.weight[1] = INFINITY;
  assert_int_equal(lapis_heat_map(ctx, &s.words, s.weight, 7, 3, heat),
                   LAPIS_EDATA);
  lapis_ctx_free(ctx);
}

static void weights_are_less_the_mean(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  double reps[] = {1, 2, 3, /* */ 6, 0, 0}, weight[3];
  lapis_mat R = lapis_mat_f64(reps, 3, 2);
  assert_int_equal(lapis_class_weights(ctx, &R, 0, false, weight), 0);
  for (int i = 0; i < 3; i++) CHECK_NEAR(weight[i], i - 1, 1e-15);
  assert_int_equal(lapis_class_weights(ctx, &R, 0, true, weight), 0);
  CHECK_NEAR(weight[0], 1 / 6. - (1 / 6. + 1) / 2, 1e-15);
  CHECK_NEAR(weight[1], 1 / 3. - 1 / 6., 1e-15);
  CHECK_NEAR(weight[2], 1 / 2. - 1 / 4., 1e-15);
  assert_int_equal(lapis_class_weights(ctx, &R, 2, false, weight),
                   LAPIS_EINVAL);
  reps[4] = NAN;
  assert_int_equal(lapis_class_weights(ctx, &R, 0, true, weight),
                   LAPIS_EMISSING);
  lapis_ctx_free(ctx);
}

/* ---- files ----------------------------------------------------------------*/
static void label_files_are_read(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  char folder[64], path[128];
  check_folder(folder, sizeof folder);
  snprintf(path, sizeof path, "%s/labels.npy", folder);
  int64_t label[] = {4, 4, -1, /* */ 4, 9, 9};
  lapis_named item = {.name = "labels", .mat = lapis_mat_i64(label, 3, 2)};
  lapis_segments s;
  assert_int_equal(lapis_arrays_write(ctx, path, "npy", &item, 1), 0);
  assert_int_equal(lapis_segments_read(ctx, path, 1, &s), 0);
  assert_int_equal(s.width, 3);
  assert_int_equal(s.height, 2);
  static const int32_t wanted[] = {0, 0, 1, 0, 2, 2};
  assert_memory_equal(s.label, wanted, sizeof wanted);
  check_segments(&s, 1);
  lapis_segments_free(&s);
  double half[] = {0.5, 1};
  item.mat = lapis_mat_f64(half, 2, 1);
  assert_int_equal(lapis_arrays_write(ctx, path, "npy", &item, 1), 0);
  assert_int_equal(lapis_segments_read(ctx, path, 1, &s), LAPIS_EFORMAT);
  assert_non_null(strstr(lapis_ctx_error(ctx), "whole numbers"));
  label[0] = INT64_C(1) << 40;
  item.mat = lapis_mat_i64(label, 3, 2);
  assert_int_equal(lapis_arrays_write(ctx, path, "npy", &item, 1), 0);
  assert_int_equal(lapis_segments_read(ctx, path, 1, &s), LAPIS_EDATA);
  check_says(lapis_ctx_error(ctx), "1");
  unlink(path);
  snprintf(path, sizeof path, "%s/labels.pgm", folder);
  assert_int_equal(lapis_file_write(ctx, path, "P5 3 2 255\n\1\1\2\1\3\3", 17),
                   0);
  assert_int_equal(lapis_segments_read(ctx, path, 1, &s), 0);
  assert_memory_equal(s.label, wanted, sizeof wanted);
  lapis_segments_free(&s);
  unlink(path), rmdir(folder);
  lapis_ctx_free(ctx);
}

int test_segments(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(labels_become_segments),
      cmocka_unit_test(small_piece_joins_longest_border),
      cmocka_unit_test(joined_pieces_join_on),
      cmocka_unit_test(superpixels_are_segments),
      cmocka_unit_test(superpixels_follow_edges),
      cmocka_unit_test(scores_are_shared_out),
      cmocka_unit_test(heat_is_the_mean_of_cells),
      cmocka_unit_test(weights_are_less_the_mean),
      cmocka_unit_test(label_files_are_read),
  };
  return run_cases(tests, NULL, NULL);
}
