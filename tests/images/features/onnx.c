/* onnx.c - the kinds onnx, onnx-map and onnx-boxes, by a library that plays
 * ONNX Runtime (tests/onnx/stand_in.c): a value of its networks holds (c + 1)
 * times the mean of a channel over a part of the picture. */
#include <stdlib.h>
#include <sys/stat.h>

#include "feature_case.h"

enum { W = 12, H = 8 };

static int begin(void **state)
{
  const char *folder = getenv("LAPIS_TEST_ONNX");
  if (folder == NULL) return files_setup(state);
  assert_int_equal(setenv("LAPIS_ONNXRUNTIME", folder, 1), 0);
  return files_setup(state);
}

static void need_library(void)
{
  if (getenv("LAPIS_TEST_ONNX") != NULL) return;
  print_message("skipped: LAPIS_TEST_ONNX, which ctest sets, is not there\n");
  skip();
}

/* A network of these lines, and the setting that names it. */
static const char *net_of(run *r, const char *lines)
{
  static char setting[600];
  char text[600];
  (void)snprintf(text, sizeof text, "stand-in\n%s", lines);
  (void)snprintf(setting, sizeof setting, "net=%s",
                 files_put_text(r->f, "n.onnx", text));
  return setting;
}

static void solve_net(run *r, const char *kind, const char *lines,
                      const char *more)
{
  char words[1000];
  (void)snprintf(words, sizeof words, "%s %s", net_of(r, lines), more);
  solve(r, kind, words);
}

/* The mean level of a channel in a part, 0..255. */
static double mean_of(const lapis_image *m, int64_t c, int64_t x, int64_t y,
                      int64_t width, int64_t height)
{
  double sum = 0;
  for (int64_t v = y; v < y + height; v++)
    for (int64_t u = x; u < x + width; u++)
      sum += 255 * (double)m->pixels[(v * m->width + u) * m->channels + c];
  return sum / (double)(width * height);
}

/* ---- vectors ------------------------------------------------------------*/
static void a_vector_is_the_outputs(void **state)
{
  need_library();
  run r = {.f = *state};
  lapis_image m = waves(W, H, 3, 7);
  add_image(&r, "a.ppm", &m);
  solve_net(&r, "onnx", "in 1 3 8 12\nout f 1 5\nout g 1 2\n", "");
  assert_int_equal(r.X.rows, 5);
  for (int64_t c = 0; c < 5; c++)
    CHECK_NEAR(column(&r, 0)[c],
               (double)(c + 1) * mean_of(&m, c % 3, 0, 0, W, H) / 255, 1e-4);
  solve_net(&r, "onnx", "in -1 3 -1 -1\nout f 1 5\nout g 1 2\n",
            "layer=g size=12x8 scale=1 mean=1,2,3 std=2,4,8 bgr=true");
  assert_int_equal(r.X.rows, 2);
  CHECK_NEAR(column(&r, 0)[0], (mean_of(&m, 2, 0, 0, W, H) - 1) / 2, 1e-2);
  CHECK_NEAR(column(&r, 0)[1], (mean_of(&m, 1, 0, 0, W, H) - 2) / 2, 1e-2);
  free(m.pixels);
  lapis_solver_free(r.s);
}

/* Cells row by row, channels within; a value that is no output, too. */
static void a_map_is_averaged_over_cells(void **state)
{
  need_library();
  static const char *const nets[] = {
      "in 1 3 8 12\nout f 1 5\nhidden inside 1 4 4 6\n",
      "in 1 8 12 3\nout f 1 5\nhidden inside 1 4 6 4\n"};
  run r = {.f = *state};
  lapis_image m = waves(W, H, 3, 7);
  add_image(&r, "a.ppm", &m);
  for (int k = 0; k < 2; k++) {
    solve_net(&r, "onnx", nets[k], "layer=inside scale=1 grid=2");
    assert_int_equal(r.X.rows, 16);
    for (int64_t i = 0; i < 16; i++) {
      int64_t c = i % 4, x = i / 4 % 2, y = i / 8;
      CHECK_NEAR(column(&r, 0)[i],
                 (double)(c + 1) *
                     mean_of(&m, c % 3, x * W / 2, y * H / 2, W / 2, H / 2),
                 2e-2);
    }
  }
  solve_net(&r, "onnx", "in 1 3 8 12\nout tokens 1 3 4\n", "scale=1");
  assert_int_equal(r.X.rows, 4);
  CHECK_NEAR(column(&r, 0)[3], 4 * mean_of(&m, 0, 0, 0, W, H), 2e-2);
  free(m.pixels);
  lapis_solver_free(r.s);
}

static void grey_networks_see_grey(void **state)
{
  need_library();
  run r = {.f = *state};
  lapis_image m = waves(W, H, 1, 7);
  add_image(&r, "a.pgm", &m);
  solve_net(&r, "onnx", "in 1 1 8 12\nout f 1 2\n", "");
  CHECK_NEAR(column(&r, 0)[1], 2 * mean_of(&m, 0, 0, 0, W, H) / 255, 1e-4);
  free(m.pixels);
  lapis_solver_free(r.s);
}

/* ---- metadata -----------------------------------------------------------*/
static bool is_made(const run *r, const char *text)
{
  lapis_mat made;
  CHECK_OK(r->f, lapis_result_get(r->s, "feature_settings", &made));
  for (int64_t i = 0; i < made.cols; i++)
    if (strcmp(((const char *const *)made.val)[i], text) == 0) return true;
  return false;
}

static void metadata_say_how_images_are_given(void **state)
{
  need_library();
  run r = {.f = *state};
  lapis_image m = waves(W, H, 3, 7);
  add_image(&r, "a.ppm", &m);
  solve_net(&r, "onnx",
            "in 1 3 8 12\nout f 1 3\nmeta image_mean [0.5, 0.4, 0.3]\n"
            "meta image_std [0.25, 0.5, 2]\nmeta rescale_factor 0.01\n"
            "meta Image.BitmapPixelFormat Bgr8\n",
            "mean=0.1");
  CHECK_NEAR(column(&r, 0)[0], (.01 * mean_of(&m, 2, 0, 0, W, H) - .1) / .25,
             1e-3);
  assert_true(is_made(&r, "onnx"));
  assert_true(is_made(&r, "onnx --layer f"));
  assert_true(is_made(&r, "onnx --size 12x8"));
  assert_true(is_made(&r, "onnx --scale 0.01"));
  assert_true(is_made(&r, "onnx --mean 0.1"));
  assert_true(is_made(&r, "onnx --std [0.25, 0.5, 2]"));
  assert_true(is_made(&r, "onnx --bgr true"));
  solve_net(&r, "onnx",
            "in 1 3 8 12\nout f 1 3\n"
            "meta Image.NominalPixelRange Normalized_1_1\n",
            "");
  CHECK_NEAR(column(&r, 0)[0], mean_of(&m, 0, 0, 0, W, H) / 127.5 - 1, 1e-4);
  free(m.pixels);
  lapis_solver_free(r.s);
}

/* ---- runs ---------------------------------------------------------------*/
static void add_several(run *r)
{
  for (int i = 0; i < 7; i++) {
    char name[16];
    lapis_image m = waves(20 + i, 30 - i, i % 2 == 0 ? 3 : 1, (uint64_t)i);
    (void)snprintf(name, sizeof name, "%d.ppm", i);
    add_image(r, name, &m);
    free(m.pixels);
  }
}

static void threads_do_not_show(void **state)
{
  need_library();
  run r = {.f = *state};
  add_several(&r);
  lapis_ctx_set(r.f->ctx, "threads", "1");
  solve_net(&r, "onnx", "in 1 3 8 12\nout f 1 4 2 2\n", "grid=2");
  lapis_solver *one = r.s;
  lapis_mat first = r.X;
  r.s = NULL;
  lapis_ctx_set(r.f->ctx, "threads", "3");
  solve_net(&r, "onnx", "in 1 3 8 12\nout f 1 4 2 2\n", "grid=2");
  assert_memory_equal(first.val, r.X.val,
                      (size_t)(first.rows * first.cols) * sizeof(double));
  lapis_solver_free(one);
  lapis_solver_free(r.s);
}

/* What was kept of one network is not another's. */
static void a_cache_knows_networks_apart(void **state)
{
  need_library();
  static const char *const nets[] = {"in 1 3 8 12\nout f 1 2\n",
                                     "in 1 3 8 12\nout f 1 2\nmeta other 1\n",
                                     "in 1 3 8 12\nout f 1 3\n"};
  run r = {.f = *state};
  add_several(&r);
  const lapis_method *kind = lapis_feature_find("onnx");
  lapis_features_options keep = {.size = sizeof keep};
  char folder[512];
  (void)snprintf(folder, sizeof folder, "%s", files_path(r.f, "cache"));
  keep.cache = folder;
  lapis_mat X;
  for (int k = 0; k < 6; k++) {
    lapis_onnx_settings set;
    lapis_settings_default(kind, &set);
    set.net = net_of(&r, nets[k / 2]) + strlen("net=");
    CHECK_OK(r.f, lapis_features_new(r.f->ctx, kind, &set, r.name, r.count,
                                     &keep, &r.s));
    CHECK_OK(r.f, lapis_solve(r.s));
    CHECK_OK(r.f, lapis_result_get(r.s, "X", &X));
    assert_int_equal(X.rows, k < 4 ? 2 : 3);
    lapis_solver_free(r.s);
  }
  char pattern[640];
  (void)snprintf(pattern, sizeof pattern,
                 "test $(ls -d '%s'/onnx-* | wc -l) -eq 3", keep.cache);
  assert_int_equal(system(pattern), 0);
  (void)snprintf(pattern, sizeof pattern, "rm -r '%s'", keep.cache);
  assert_int_equal(system(pattern), 0);
}

static void boxes_are_described(void **state)
{
  need_library();
  run r = {.f = *state};
  lapis_image m = waves(24, 16, 3, 7);
  lapis_mat group, box;
  char more[640];
  add_image(&r, "a.ppm", &m);
  const char *table = files_put_text(
      r.f, "b.csv", "name,x,y,width,height\na.ppm,0,0,12,8\na.ppm,12,8,12,8\n");
  (void)snprintf(more, sizeof more, "scale=1 boxes=%s", table);
  solve_net(&r, "onnx-boxes", "in 1 3 8 12\nout f 1 3\n", more);
  CHECK_OK(r.f, lapis_result_get(r.s, "group", &group));
  CHECK_OK(r.f, lapis_result_get(r.s, "candidate", &box));
  assert_int_equal(r.X.cols, 2);
  assert_int_equal(group.cols, 2);
  CHECK_NEAR(column(&r, 0)[1], 2 * mean_of(&m, 1, 0, 0, 12, 8), 2e-2);
  CHECK_NEAR(column(&r, 1)[1], 2 * mean_of(&m, 1, 12, 8, 12, 8), 2e-2);
  assert_int_equal(lapis_mat_at(&box, 0, 1), 12);
  solve_net(&r, "onnx-boxes", "in 1 3 8 12\nout f 1 3\n", "candidates=4");
  assert_int_equal(r.X.cols, 4);
  free(m.pixels);
  lapis_solver_free(r.s);
}

/* ---- words of places ----------------------------------------------------*/
/* Red on the left, green on the right. */
static lapis_image two_colours(void)
{
  lapis_image m = make(W, H, 3);
  for (int64_t k = 0; k < W * H; k++) m.pixels[3 * k + (k % W >= W / 2)] = 1;
  return m;
}

/* A map of 6 x 4 places, read at 4 x 4: two words, one a side, each in the
 * middle of a quarter of the width and height. */
static void places_have_words(void **state)
{
  need_library();
  static const char *const nets[] = {"in 1 3 8 12\nout f 1 3 4 6\n",
                                     "in 1 8 12 3\nout f 1 4 6 3\n"};
  run r = {.f = *state};
  lapis_image m = two_colours();
  lapis_mat word, xy;
  add_image(&r, "a.ppm", &m);
  for (int k = 0; k < 2; k++) {
    solve_net(&r, "onnx-map", nets[k], "grid=4 words=2 levels=1 learn=16");
    CHECK_OK(r.f, lapis_result_get(r.s, "word", &word));
    CHECK_OK(r.f, lapis_result_get(r.s, "word_xy", &xy));
    assert_int_equal(word.cols, 16);
    CHECK_NEAR(column(&r, 0)[0], 8, 0);
    CHECK_NEAR(column(&r, 0)[1], 8, 0);
    double left = lapis_mat_at(&word, 0, 0);
    for (int64_t i = 0; i < 16; i++) {
      assert_true((lapis_mat_at(&word, 0, i) == left) == (i % 4 < 2));
      CHECK_NEAR(lapis_mat_at(&xy, 0, i), ((double)(i % 4) + .5) * W / 4 - .5,
                 1e-5);
      CHECK_NEAR(lapis_mat_at(&xy, 1, i), ((double)(i / 4) + .5) * H / 4 - .5,
                 1e-5);
      CHECK_NEAR(lapis_mat_at(&xy, 2, i), W / 4, 1e-5);
    }
  }
  free(m.pixels);
  lapis_solver_free(r.s);
}

static lapis_status new_map(run *r, const char *lines, const char *more)
{
  lapis_bag_settings set;
  const lapis_method *kind = lapis_feature_find("onnx-map");
  (void)snprintf(r->text, sizeof r->text, "%s %s", net_of(r, lines), more);
  set_all(r, kind, &set, r->text);
  return lapis_features_new(r->f->ctx, kind, &set, r->name, r->count, NULL,
                            &r->s);
}

/* No places, too many channels, words of another network or of other levels. */
static void maps_that_cannot_be_used_are_refused(void **state)
{
  need_library();
  static const char map[] = "in 1 3 8 12\nout f 1 3 4 6\n";
  run r = {.f = *state};
  lapis_image m = two_colours();
  char words[640], more[700];
  add_image(&r, "a.ppm", &m);
  free(m.pixels);
  CHECK_REFUSED(r.f, new_map(&r, "in 1 3 8 12\nout f 1 5\n", ""), LAPIS_EINVAL,
                "'f'");
  CHECK_REFUSED(r.f, new_map(&r, "in 1 3 8 12\nout f 1 600 4 6\n", ""),
                LAPIS_EINVAL, "'f'");
  (void)snprintf(words, sizeof words, "%s", files_path(r.f, "words.npz"));
  (void)snprintf(more, sizeof more,
                 "words=2 levels=1 learn=16 save-vocabulary=%s", words);
  CHECK_OK(r.f, new_map(&r, map, more));
  CHECK_OK(r.f, lapis_solve(r.s));
  lapis_solver_free(r.s);
  (void)snprintf(more, sizeof more, "vocabulary=%s", words);
  CHECK_OK(r.f, new_map(&r, map, more));
  lapis_solver_free(r.s);
  CHECK_REFUSED(r.f,
                new_map(&r, "in 1 3 8 12\nout f 1 3 4 6\nmeta a 1\n", more),
                LAPIS_EINVAL, "words.npz");
  (void)snprintf(more, sizeof more, "scale=1 vocabulary=%s", words);
  CHECK_REFUSED(r.f, new_map(&r, map, more), LAPIS_EINVAL, "words.npz");
  CHECK_OK(r.f, new_map(&r, "in 1 3 8 12\nout f 1 3 4 6\ndo nan\n",
                        "words=2 levels=1 learn=16"));
  CHECK_REFUSED(r.f, lapis_solve(r.s), LAPIS_EDATA, "n.onnx");
  lapis_solver_free(r.s);
}

/* ---- what is refused ----------------------------------------------------*/
static void what_cannot_be_used_is_refused(void **state)
{
  need_library();
  static const struct {
    const char *lines, *more, *where;
    lapis_status status;
  } bad[] = {
      {"in 1 3 8 12\n", "", "n.onnx", LAPIS_EDATA},
      {"out f 1 5\n", "", "n.onnx", LAPIS_EDATA},
      {"in 1 3 8\nout f 1 5\n", "", "n.onnx", LAPIS_EDATA},
      {"in 4 3 8 12\nout f 1 5\n", "", "n.onnx", LAPIS_EDATA},
      {"in 1 7 8 12\nout f 1 5\n", "", "n.onnx", LAPIS_EDATA},
      {"in 1 3 8 12\nout f 1 5\ndo string\n", "", "n.onnx", LAPIS_EDATA},
      {"in 1 3 8 12\nout f 2 5\n", "", "'f'", LAPIS_EDATA},
      {"in 1 3 8 12\nout f 1 2 2 2 2\n", "", "'f'", LAPIS_EDATA},
      {"in 1 3 1 1\nout f 1 20000000\n", "", "'f'", LAPIS_EDATA},
      {"in 1 3 -1 -1\nout f 1 5\n", "", "size", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\n", "size=8x12", "size", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\n", "size=8", "size", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\n", "mean=1,2", "mean", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\n", "mean=1,x,2", "mean", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\n", "mean=1,2,3,4", "mean", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\n", "std=0", "std", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\n", "grid=2", "grid", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\n", "layer=none", "'none'", LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\nmeta image_std 0\n", "", "n.onnx",
       LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\nmeta rescale_factor x\n", "", "n.onnx",
       LAPIS_EINVAL},
      {"in 1 3 8 12\nout f 1 5\ndo crash\n", "", "n.onnx", LAPIS_EFORMAT},
      {"in 1 3 8 12\nout f 1 5\ndo memory\n", "", "n.onnx", LAPIS_EFORMAT},
      {"in 1 3 8 12\nout f 1 5\ndo file\n", "", "n.onnx", LAPIS_EFORMAT}};
  run r = {.f = *state};
  lapis_image m = waves(W, H, 3, 7);
  const lapis_method *kind = lapis_feature_find("onnx");
  add_image(&r, "a.ppm", &m);
  free(m.pixels);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    lapis_onnx_settings set;
    (void)snprintf(r.text, sizeof r.text, "%s %s", net_of(&r, bad[k].lines),
                   bad[k].more);
    set_all(&r, kind, &set, r.text);
    CHECK_REFUSED(
        r.f, lapis_features_new(r.f->ctx, kind, &set, r.name, 1, NULL, &r.s),
        bad[k].status, bad[k].where);
  }
  solve_net(&r, "onnx", "in 1 3 8 12\nout f 1 5\n", "");
  lapis_solver_free(r.s);
}

static lapis_status new_of(run *r, const char *net)
{
  lapis_onnx_settings set;
  const lapis_method *kind = lapis_feature_find("onnx");
  lapis_settings_default(kind, &set);
  set.net = net;
  return lapis_features_new(r->f->ctx, kind, &set, r->name, 1, NULL, &r->s);
}

static void other_files_and_libraries_are_refused(void **state)
{
  need_library();
  run r = {.f = *state};
  add_path(&r, "none.ppm");
  CHECK_REFUSED(r.f, new_of(&r, NULL), LAPIS_EINVAL, "net");
  CHECK_REFUSED(r.f, new_of(&r, "none.onnx"), LAPIS_EIO, "none.onnx");
  char text[640];
  (void)snprintf(text, sizeof text, "%s",
                 files_put_text(r.f, "text.onnx", "plain text"));
  CHECK_REFUSED(r.f, new_of(&r, text), LAPIS_EFORMAT, "text.onnx");
  const char *net = net_of(&r, "in 1 3 8 12\nout f 1 5\n") + strlen("net=");
  assert_int_equal(setenv("LAPIS_ONNXRUNTIME", "/none.so", 1), 0);
  CHECK_REFUSED(r.f, new_of(&r, net), LAPIS_ENOTBUILT, "/none.so");
  assert_int_equal(setenv("LAPIS_ONNXRUNTIME", "none.so", 1), 0);
  CHECK_REFUSED(r.f, new_of(&r, net), LAPIS_ENOTBUILT, "'none.so'");
  assert_int_equal(setenv("LAPIS_ONNXRUNTIME", text, 1), 0);
  CHECK_REFUSED(r.f, new_of(&r, net), LAPIS_ENOTBUILT, "text.onnx");
  assert_int_equal(chmod(text, 0666), 0);
  CHECK_REFUSED(r.f, new_of(&r, net), LAPIS_ENOTBUILT, "others can write");
}

/* An answer that is not finite is an image's fault: others may have another. */
static void answers_are_finite(void **state)
{
  need_library();
  run r = {.f = *state};
  add_several(&r);
  const char *net = net_of(&r, "in 1 3 8 12\nout f 1 5\ndo nan\n");
  CHECK_OK(r.f, new_of(&r, net + strlen("net=")));
  CHECK_REFUSED(r.f, lapis_solve(r.s), LAPIS_EDATA, "n.onnx");
  lapis_solver_free(r.s);
}

/* Forty seconds by the clock at most; ten of the processor. */
static void what_never_ends_is_ended(void **state)
{
  need_library();
  run r = {.f = *state};
  add_path(&r, "none.ppm");
  const char *net = net_of(&r, "in 1 3 8 12\nout f 1 5\ndo loop\n");
  CHECK_REFUSED(r.f, new_of(&r, net + strlen("net=")), LAPIS_EFORMAT, "n.onnx");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, files_teardown)
int test_onnx(void)
{
  const struct CMUnitTest tests[] = {
      CASE(a_vector_is_the_outputs),
      CASE(a_map_is_averaged_over_cells),
      CASE(grey_networks_see_grey),
      CASE(metadata_say_how_images_are_given),
      CASE(threads_do_not_show),
      CASE(a_cache_knows_networks_apart),
      CASE(boxes_are_described),
      CASE(places_have_words),
      CASE(maps_that_cannot_be_used_are_refused),
      CASE(what_cannot_be_used_is_refused),
      CASE(other_files_and_libraries_are_refused),
      CASE(answers_are_finite),
      LONG(CASE(what_never_ends_is_ended)),
  };
  return run_cases(tests, NULL, NULL);
}
