/* features.c - the kinds of features: laws, hand-made answers, other
 * programs; a run over many images; what is refused. */
#include "feature_case.h"
#include "python.h"

/* |a - b| / |a| of two images' features. */
static double apart(const run *r, int64_t i, int64_t j)
{
  const double *a = column(r, i), *b = column(r, j);
  double off = 0, size = 0;
  for (int64_t k = 0; k < r->X.rows; k++) {
    off += (a[k] - b[k]) * (a[k] - b[k]);
    size += a[k] * a[k];
  }
  return sqrt(off / size);
}

/* An image, brightened, doubled, turned by a quarter and by a half. */
enum { PLAIN, BRIGHTER, DOUBLED, QUARTER, HALF, OTHER };
static void add_family(run *r, int64_t side)
{
  lapis_image m = waves(side, side, 3, 4), other = waves(side, side, 3, 40);
  lapis_image b = brighter(&m, .7f, .2f), d = doubled(&m), q = turned(&m);
  lapis_image h = turned(&q);
  lapis_image all[] = {m, b, d, q, h, other};
  static const char *const names[] = {"plain.ppm",   "bright.ppm", "double.ppm",
                                      "quarter.ppm", "half.ppm",   "other.ppm"};
  for (int i = 0; i < 6; i++) {
    add_image(r, names[i], &all[i]);
    free(all[i].pixels);
  }
}

/* ---- pixels -------------------------------------------------------------*/
static void pixels_follow_the_image(void **state)
{
  run r = {.f = *state};
  enum { W = 32, H = 24 };
  add_family(&r, 96);
  solve(&r, "pixels", "size=32x24");
  assert_int_equal(r.X.rows, W * H);
  CHECK_AT_MOST(apart(&r, PLAIN, DOUBLED), 1e-6);
  CHECK_AT_LEAST(apart(&r, PLAIN, OTHER), .01);
  for (int k = 0; k < W * H; k++) {
    CHECK_NEAR(column(&r, BRIGHTER)[k], .7 * column(&r, PLAIN)[k] + .2, 2e-5);
    CHECK_NEAR(column(&r, HALF)[k], column(&r, PLAIN)[W * H - 1 - k], 1e-6);
  }
  lapis_solver_free(r.s);
}

/* ---- color-moments ------------------------------------------------------*/
static void moments_stand_in_their_place(void **state)
{
  run r = {.f = *state};
  enum { W = 13, H = 9, GRID = 3 };
  lapis_image m = waves(W, H, 3, 9);
  add_image(&r, "a.ppm", &m);
  solve(&r, "color-moments", "grid=3");
  assert_int_equal(r.X.rows, GRID * GRID * 6);
  for (int row = 0; row < GRID; row++)
    for (int col = 0; col < GRID; col++)
      for (int c = 0; c < 3; c++) {
        double sum = 0, squares = 0, n = 0;
        for (int y = row * H / GRID; y < (row + 1) * H / GRID; y++)
          for (int x = col * W / GRID; x < (col + 1) * W / GRID; x++, n++) {
            double v = 255 * (double)m.pixels[(y * W + x) * 3 + c];
            sum += v;
            squares += v * v;
          }
        const double *got = column(&r, 0) + ((row * GRID + col) * 3 + c) * 2;
        CHECK_NEAR(got[0], sum / n, 5e-3); /* levels of 1/65535 */
        CHECK_NEAR(got[1], squares / n - sum / n * sum / n, .2);
      }
  free(m.pixels);
  lapis_solver_free(r.s);
}

static void moments_follow_the_image(void **state)
{
  run r = {.f = *state};
  add_family(&r, 96);
  solve(&r, "color-moments", "");
  assert_int_equal(r.X.rows, 384);
  CHECK_AT_MOST(apart(&r, PLAIN, DOUBLED), 1e-6);
  for (int k = 0; k < 384; k++) {
    double v = column(&r, PLAIN)[k], bright = column(&r, BRIGHTER)[k];
    bool mean = k % 2 == 0;
    CHECK_NEAR(bright, mean ? .7 * v + .2 * 255 : .49 * v, mean ? 5e-3 : 2e-2);
    int cell = k / 6;
    CHECK_NEAR(column(&r, HALF)[(63 - cell) * 6 + k % 6], v, 1e-6);
  }
  lapis_solver_free(r.s);
}

/* Colours whose L*u*v* are in tables: where their pixels are counted. */
static void colours_are_counted_where_they_are(void **state)
{
  run r = {.f = *state};
  enum { N = 8 };
  static const struct {
    float rgb[3];
    double luv[3];
  } known[] = {{{1, 0, 0}, {53.24, 175.01, 37.76}},
               {{0, 1, 0}, {87.73, -83.08, 107.40}},
               {{0, 0, 1}, {32.30, -9.40, -130.34}},
               {{1, 1, 0}, {97.14, 7.70, 106.79}},
               {{1, 1, 1}, {100, 0, 0}},
               {{0, 0, 0}, {0, 0, 0}}};
  static const double low[] = {0, -84, -136}, high[] = {100, 176, 108};
  float pixels[6 * 3], grey[] = {1, 0};
  double want[N * N * N] = {0};
  for (int i = 0; i < 6; i++) {
    int at = 0;
    for (int c = 0; c < 3; c++) {
      pixels[3 * i + c] = known[i].rgb[c];
      double share = (known[i].luv[c] - low[c]) / (high[c] - low[c]);
      at = N * at + (int)fmin(share * N, N - 1);
    }
    want[at] += 1. / 6;
  }
  lapis_image m = {3, 2, 3, pixels}, g = {2, 1, 1, grey};
  add_image(&r, "a.ppm", &m);
  add_image(&r, "b.pgm", &g);
  solve(&r, "luv-histogram", "bins=8");
  assert_int_equal(r.X.rows, N * N * N);
  double sum = 0;
  for (int k = 0; k < N * N * N; k++) {
    bool is_grey = want[k] > 0 && column(&r, 1)[k] > 0;
    CHECK_NEAR(column(&r, 0)[k], want[k], 1e-12);
    sum += is_grey ? column(&r, 1)[k] : 0;
  }
  CHECK_NEAR(sum, 1, 1e-12); /* black and white, as in colours */
  lapis_solver_free(r.s);
}

static void colours_follow_the_image(void **state)
{
  run r = {.f = *state};
  add_family(&r, 96);
  solve(&r, "luv-histogram", "");
  assert_int_equal(r.X.rows, 125);
  CHECK_AT_MOST(apart(&r, PLAIN, HALF), 1e-12); /* turned: the same colours */
  CHECK_AT_LEAST(apart(&r, PLAIN, BRIGHTER), 1e-2);
  double sum = 0;
  for (int k = 0; k < 125; k++) sum += column(&r, PLAIN)[k];
  CHECK_NEAR(sum, 1, 1e-12);
  lapis_solver_free(r.s);
}

/* A grey image has three equal channels; cells of less than a pixel are one. */
static void moments_of_small_grey_images(void **state)
{
  run r = {.f = *state};
  float one[] = {.25f, .75f};
  lapis_image m = {2, 1, 1, one};
  add_image(&r, "a.pgm", &m);
  solve(&r, "color-moments", "grid=4");
  for (int cell = 0; cell < 16; cell++)
    for (int c = 0; c < 3; c++) {
      CHECK_NEAR(column(&r, 0)[cell * 6 + c * 2], cell % 4 < 2 ? 63.75 : 191.25,
                 5e-3);
      CHECK_NEAR(column(&r, 0)[cell * 6 + c * 2 + 1], 0, 1e-9);
    }
  lapis_solver_free(r.s);
}

/* ---- hog ----------------------------------------------------------------*/
/* Place of a number of UoCTTI after half a turn: signed orientations go on by
 * half of their 18; the four sums over blocks change places. */
static int half_turned(int k)
{
  static const int blocks[] = {3, 2, 1, 0};
  if (k < 18) return (k + 9) % 18;
  return k < 27 ? k : 27 + blocks[k - 27];
}

static void hog_follows_the_image(void **state)
{
  run r = {.f = *state};
  enum { CELLS = 8, DEPTH = 31 };
  need("hog");
  add_family(&r, 128);
  solve(&r, "hog", "");
  assert_int_equal(r.X.rows, CELLS * CELLS * DEPTH);
  CHECK_AT_MOST(apart(&r, PLAIN, DOUBLED), 1e-5);
  CHECK_AT_MOST(apart(&r, PLAIN, BRIGHTER), 1e-2);
  CHECK_AT_LEAST(apart(&r, PLAIN, QUARTER), .3);
  CHECK_AT_LEAST(apart(&r, PLAIN, OTHER), .3);
  double off = 0, size = 0;
  for (int cell = 0; cell < CELLS * CELLS; cell++)
    for (int k = 0; k < DEPTH; k++) {
      double v = column(&r, PLAIN)[cell * DEPTH + k];
      int there = (CELLS * CELLS - 1 - cell) * DEPTH + half_turned(k);
      double w = column(&r, HALF)[there];
      off += (v - w) * (v - w);
      size += v * v;
    }
  CHECK_AT_MOST(sqrt(off / size), .02);
  solve(&r, "hog", "variant=dalal-triggs orientations=4 cell=16 size=32x24");
  assert_int_equal(r.X.rows, 2 * 2 * 16);
  lapis_solver_free(r.s);
}

/* ---- gist ---------------------------------------------------------------*/
static void gist_follows_the_image(void **state)
{
  run r = {.f = *state};
  add_family(&r, 64);
  solve(&r, "gist", "side=64");
  assert_int_equal(r.X.rows, 512);
  CHECK_AT_MOST(apart(&r, PLAIN, BRIGHTER), 1e-3);
  CHECK_AT_MOST(apart(&r, PLAIN, DOUBLED), 1e-6);
  CHECK_AT_LEAST(apart(&r, PLAIN, OTHER), .1);
  /* a quarter turn: orientation j becomes j + 4, block (row, col) becomes
   * (3 - col, row); frequencies at the very end of the spectrum differ */
  double off = 0, size = 0;
  for (int k = 0; k < 512; k++) {
    int scale = k / 128, j = k / 16 % 8, row = k / 4 % 4, col = k % 4;
    int there = ((scale * 8 + (j + 4) % 8) * 4 + 3 - col) * 4 + row;
    double d = column(&r, PLAIN)[k] - column(&r, QUARTER)[there];
    off += d * d;
    size += column(&r, PLAIN)[k] * column(&r, PLAIN)[k];
  }
  CHECK_AT_MOST(sqrt(off / size), .02);
  lapis_solver_free(r.s);
}

/* A grating answers most to the filter that is tuned to it. */
static void gist_finds_a_grating(void **state)
{
  run r = {.f = *state};
  const double pi = acos(-1.0);
  for (int j = 0; j < 8; j++) {
    char name[16];
    lapis_image m = make(128, 128, 1);
    double angle = -pi * j / 8, f = 2 * pi * .3 / 1.85;
    for (int k = 0; k < 128 * 128; k++)
      m.pixels[k] =
          (float)(.5 +
                  .3 * sin(f * (k % 128 * cos(angle) + k / 128 * sin(angle))));
    (void)snprintf(name, sizeof name, "%d.pgm", j);
    add_image(&r, name, &m);
    free(m.pixels);
  }
  solve(&r, "gist", "");
  for (int j = 0; j < 8; j++) {
    double sum[32] = {0};
    int best = 0;
    for (int k = 0; k < 512; k++) sum[k / 16] += column(&r, j)[k];
    for (int i = 0; i < 32; i++) best = sum[i] > sum[best] ? i : best;
    assert_int_equal(best, 8 + j);
  }
  lapis_solver_free(r.s);
}

static void a_flat_image_has_no_gist(void **state)
{
  run r = {.f = *state};
  lapis_image m = make(20, 10, 1);
  add_image(&r, "flat.pgm", &m);
  solve(&r, "gist", "side=32");
  for (int k = 0; k < 512; k++) assert_true(column(&r, 0)[k] == 0);
  free(m.pixels);
  lapis_solver_free(r.s);
}

/* ---- other programs -----------------------------------------------------*/
static void save(run *r, const char *name)
{
  char file[64];
  lapis_named item = {.name = name, .mat = r->X};
  (void)snprintf(file, sizeof file, "%s.npy", name);
  CHECK_OK(r->f, lapis_arrays_write(r->f->ctx, files_path(r->f, file), "npy",
                                    &item, 1));
}

static void other_programs_agree(void **state)
{
  run r = {.f = *state};
  char words[400];
  need("hog");
  python_need("numpy, skimage");
  for (uint64_t i = 0; i < 3; i++) {
    char name[16];
    lapis_image m = waves(128, 128, i < 2 ? 3 : 1, 50 + i);
    (void)snprintf(name, sizeof name, "%d.pnm", (int)i);
    add_image(&r, name, &m);
    free(m.pixels);
  }
  solve(&r, "color-moments", "grid=5");
  save(&r, "moments");
  solve(&r, "gist", "");
  save(&r, "gist");
  solve(&r, "gist", "side=32 scales=2 orientations=6 blocks=3");
  save(&r, "gist_small");
  solve(&r, "hog", "size=128x128");
  save(&r, "hog");
  (void)snprintf(words, sizeof words, "features %s", r.f->folder);
  python_run("check_vision.py", words);
  lapis_solver_free(r.s);
}

/* Means and variances of the whole-size images, ours of their halves. */
static void moments_are_those_of_msrc(void **state)
{
  files *f = *state;
  char path[1200];
  lapis_arrays all;
  const char *data = check_data();
  if (!lapis_image_format_at(0)->built) skip();
  (void)snprintf(path, sizeof path, "%s/msrc_v2/msrc_v2.npz", data);
  CHECK_OK(f, lapis_arrays_read(f->ctx, path, &all));
  const lapis_mat *G = &lapis_arrays_find(&all, "grid_moments")->mat;
  const lapis_mat *names = &lapis_arrays_find(&all, "names")->mat;
  double sums[2][4] = {{0}};
  for (int64_t j = 0; j < names->cols; j += 40) {
    run r = {.f = f};
    (void)snprintf(r.path[0], sizeof *r.path, "%s/msrc_v2/images_half/%s.png",
                   data, ((const char *const *)names->val)[j]);
    r.name[0] = r.path[0];
    r.count = 1;
    solve(&r, "color-moments", "");
    assert_int_equal(r.X.rows, G->rows);
    for (int64_t k = 0; k < r.X.rows; k++) {
      double *s = sums[k % 2], a = column(&r, 0)[k], b = lapis_mat_at(G, k, j);
      s[0] += 1;
      s[1] += a;
      s[2] += b;
      s[3] += (a - b) * (a - b);
    }
    lapis_solver_free(r.s);
  }
  /* means: 2 levels of 255 (cells of the halves begin half a pixel off) */
  CHECK_AT_MOST(sqrt(sums[0][3] / sums[0][0]), 3);
  /* variances: halving loses some, a fifth here, and never adds much */
  CHECK_NEAR(sums[1][1] / sums[1][2], .85, .15);
  lapis_arrays_free(&all);
}

/* ---- a run over many images ---------------------------------------------*/
/* Words that few small images are enough for. */
static const char *quick(const char *kind)
{
  if (strcmp(kind, "sift-bow") == 0) return "count=200 words=27 learn=1000";
  if (strcmp(kind, "dense-sift-bow") == 0) return "words=30 learn=1000";
  if (strncmp(kind, "gist", 4) == 0) return "side=32";
  return strcmp(kind, "texton-bow") == 0 ? "words=40 learn=1000" : "";
}

/* Every array, bit by bit. */
static void check_same(const run *r, const lapis_solver *one)
{
  const char *name;
  for (int k = 0; (name = lapis_result_name(one, k)) != NULL; k++) {
    lapis_mat a, b;
    CHECK_OK(r->f, lapis_result_get(one, name, &a));
    CHECK_OK(r->f, lapis_result_get(r->s, name, &b));
    assert_int_equal(a.rows * a.cols, b.rows * b.cols);
    size_t entry = a.dtype == LAPIS_F32 ? sizeof(float) : sizeof(double);
    if (a.dtype == LAPIS_TEXT) continue;
    assert_memory_equal(a.val, b.val, (size_t)(a.rows * a.cols) * entry);
  }
}

static void threads_do_not_show(void **state)
{
  run r = {.f = *state};
  for (int i = 0; i < 13; i++) {
    char name[16];
    lapis_image m =
        waves(20 + 7 * i, 90 - 5 * i, i % 3 == 0 ? 1 : 3, (uint64_t)i);
    (void)snprintf(name, sizeof name, "%02d.pnm", i);
    add_image(&r, name, &m);
    free(m.pixels);
  }
  for (int i = 0; lapis_feature_at(i) != NULL; i++) {
    const char *kind = lapis_feature_at(i)->name;
    if (lapis_param_find(lapis_feature_at(i), "net") != NULL) continue;
    if (!is_built(kind)) continue;
    lapis_ctx_set(r.f->ctx, "threads", "1");
    solve(&r, kind, quick(kind));
    lapis_solver *one = r.s;
    r.s = NULL;
    lapis_ctx_set(r.f->ctx, "threads", "3");
    solve(&r, kind, quick(kind));
    check_same(&r, one);
    lapis_solver_free(one);
  }
  lapis_solver_free(r.s);
}

static void add_mixed(run *r)
{
  lapis_image a = waves(9, 5, 3, 1), b = waves(6, 8, 1, 2);
  add_image(r, "a.ppm", &a);
  files_put_text(r->f, "bad.ppm", "P6 2 2 255 abc");
  add_path(r, "bad.ppm");
  add_path(r, "none.ppm");
  add_image(r, "b.pgm", &b);
  free(a.pixels);
  free(b.pixels);
}

static void bad_images_are_left_out(void **state)
{
  run r = {.f = *state};
  lapis_mat names, size, refused;
  lapis_features_options keep = {.size = sizeof keep, .keep_going = true};
  const lapis_method *kind = lapis_feature_find("pixels");
  add_mixed(&r);
  CHECK_OK(r.f, lapis_features_new(r.f->ctx, kind, NULL, r.name, r.count, &keep,
                                   &r.s));
  CHECK_OK(r.f, lapis_solve(r.s));
  CHECK_OK(r.f, lapis_result_get(r.s, "X", &r.X));
  CHECK_OK(r.f, lapis_result_get(r.s, "names", &names));
  CHECK_OK(r.f, lapis_result_get(r.s, "image_size", &size));
  CHECK_OK(r.f, lapis_result_get(r.s, "refused", &refused));
  assert_int_equal(r.X.cols, 2);
  assert_int_equal(names.cols, 2);
  assert_string_equal(((const char *const *)names.val)[1], r.name[3]);
  assert_int_equal(lapis_mat_at(&size, 0, 1), 6);
  assert_int_equal(lapis_mat_at(&size, 1, 1), 8);
  assert_int_equal(refused.cols, 2);
  const char *const *why = refused.val;
  assert_non_null(strstr(why[0], "bad.ppm: PNM: is cut short"));
  assert_non_null(strstr(why[1], "none.ppm: cannot be opened"));
  lapis_solver_free(r.s);
}

static void one_bad_image_ends_the_run(void **state)
{
  run r = {.f = *state};
  const lapis_method *kind = lapis_feature_find("pixels");
  lapis_features_options keep = {.size = sizeof keep, .keep_going = true};
  lapis_mat X;
  add_mixed(&r);
  CHECK_OK(r.f, lapis_features_new(r.f->ctx, kind, NULL, r.name, r.count, NULL,
                                   &r.s));
  CHECK_REFUSED(r.f, lapis_solve(r.s), LAPIS_EFORMAT, "bad.ppm");
  CHECK_REFUSED(r.f, lapis_result_get(r.s, "X", &X), LAPIS_EINVAL, "");
  lapis_solver_free(r.s);
  CHECK_OK(r.f, lapis_features_new(r.f->ctx, kind, NULL, r.name + 1, 2, &keep,
                                   &r.s));
  CHECK_REFUSED(r.f, lapis_solve(r.s), LAPIS_EMISSING, "2");
  lapis_solver_free(r.s);
}

static bool count_calls(const lapis_progress *now, void *user)
{
  (void)now;
  ++*(int *)user;
  return true;
}

/* Files that are no images, or end early, are all named before any image is
 * described, with what leaves them out. */
static void broken_files_are_found_first(void **state)
{
  enum { GOOD = 40 };
  run r = {.f = *state};
  int calls = 0;
  const char *path[GOOD + 2], *said = NULL;
  lapis_image m = waves(16, 16, 1, 1);
  add_image(&r, "a.pgm", &m);
  free(m.pixels);
  files_put_text(r.f, "x.png", "\x89PNG\r\n\x1a\n and it ends here");
  files_put_text(r.f, "y.jpg", "<html>");
  add_path(&r, "x.png");
  add_path(&r, "y.jpg");
  for (int i = 0; i < GOOD; i++) path[i] = r.name[0];
  path[GOOD] = r.name[1], path[GOOD + 1] = r.name[2];
  lapis_ctx_on_progress(r.f->ctx, count_calls, &calls);
  for (int broken = 1; broken <= 2; broken++) {
    CHECK_OK(r.f, lapis_features_new(r.f->ctx, lapis_feature_find("gist"), NULL,
                                     path, GOOD + broken, NULL, &r.s));
    assert_true(lapis_solve(r.s) < 0);
    said = lapis_ctx_error(r.f->ctx);
    assert_non_null(strstr(said, "x.png"));
    assert_int_equal(strstr(said, "y.jpg") != NULL, broken == 2);
    assert_non_null(strstr(said, "keep_going"));
    lapis_solver_free(r.s);
  }
  assert_int_equal(calls, 0);
  lapis_ctx_on_progress(r.f->ctx, NULL, NULL);
}

static bool stop(const lapis_progress *now, void *user)
{
  (void)user;
  assert_true(isnan(now->objective));
  return false;
}

/* One batch of images that take far longer than the limit: the clock is asked
 * within an image, too. */
static void describing_asks_the_clock(void **state)
{
  static const char *const kinds[] = {"sift", "gist-boxes", "texton-bow"};
  run r = {.f = *state};
  lapis_mat X;
  lapis_image m = waves(500, 400, 3, 3);
  add_image(&r, "a.ppm", &m);
  add_image(&r, "b.ppm", &m);
  free(m.pixels);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (!is_built(kinds[k])) continue;
    CHECK_OK(r.f, lapis_features_new(r.f->ctx, lapis_feature_find(kinds[k]),
                                     NULL, r.name, r.count, NULL, &r.s));
    lapis_ctx_limit(r.f->ctx, .01);
    assert_int_equal(lapis_solve(r.s), LAPIS_TIME_LIMIT);
    assert_int_not_equal(lapis_result_get(r.s, "X", &X), LAPIS_OK);
    lapis_ctx_limit(r.f->ctx, INFINITY);
    lapis_solver_free(r.s);
  }
}

static void a_run_can_be_stopped(void **state)
{
  run r = {.f = *state};
  lapis_mat X;
  lapis_image m = waves(64, 64, 1, 3);
  add_image(&r, "a.pgm", &m);
  free(m.pixels);
  enum { MANY = 400 };
  const char *path[MANY];
  for (int i = 0; i < MANY; i++) path[i] = r.name[0];
  const lapis_method *kind = lapis_feature_find("gist");
  CHECK_OK(r.f,
           lapis_features_new(r.f->ctx, kind, NULL, path, MANY, NULL, &r.s));
  lapis_ctx_on_progress(r.f->ctx, stop, NULL);
  assert_int_equal(lapis_solve(r.s), LAPIS_ESTOPPED);
  assert_int_equal(lapis_result_get(r.s, "X", &X), LAPIS_EINVAL);
  lapis_ctx_on_progress(r.f->ctx, NULL, NULL);
  lapis_ctx_cancel(r.f->ctx);
  assert_int_equal(lapis_solve(r.s), LAPIS_ESTOPPED);
  lapis_solver_free(r.s);
}

/* ---- settings and lists -------------------------------------------------*/
typedef struct misuse {
  const char *kind, *name, *value, *words;
} misuse;
static const misuse misuses[] = {
    {"pixels", "size", "32", "pixels: size '32' is not WIDTHxHEIGHT from 1x1"},
    {"pixels", "size", "0x3", "no WIDTHxHEIGHT"},
    {"pixels", "size", "3x3x3", "no WIDTHxHEIGHT"},
    {"pixels", "size", "5000x3", "no WIDTHxHEIGHT"},
    {"pixels", "size", "x", "no WIDTHxHEIGHT"},
    {"hog", "size", "7x64", "hog: size 7x64 is below one cell; at least 8x8"},
    {"gist", "side", "100", "gist: side 100 is not a power of two"},
};

static void bad_settings_are_refused(void **state)
{
  files *f = *state;
  const char *path[] = {"a.ppm"};
  lapis_solver *s;
  for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
    const misuse *m = &misuses[i];
    const lapis_method *kind = lapis_feature_find(m->kind);
    char settings[256] = {0};
    if (!is_built(m->kind)) continue;
    assert_true(kind->settings_size <= sizeof settings);
    lapis_settings_default(kind, settings);
    CHECK_OK(f, lapis_settings_set(f->ctx, kind, settings, m->name, m->value));
    CHECK_REFUSED(f,
                  lapis_features_new(f->ctx, kind, settings, path, 1, NULL, &s),
                  LAPIS_EINVAL, m->words);
    assert_null(s);
  }
  const lapis_method *pixels = lapis_feature_find("pixels");
  CHECK_REFUSED(f, lapis_features_new(f->ctx, pixels, NULL, path, 0, NULL, &s),
                LAPIS_EMISSING, "");
  CHECK_REFUSED(f,
                lapis_features_new(f->ctx, lapis_method_find("mc"), NULL, path,
                                   1, NULL, &s),
                LAPIS_EINVAL, "mc");
  assert_null(lapis_feature_find("sharpness"));
}

static void folders_are_listed(void **state)
{
  files *f = *state;
  static const char *const present[] = {"b.PNG", "a.jpg", "c.txt", ".d.png",
                                        "e.gif", "png",   "f.jpeg"};
  static const char *const wanted[] = {"a.jpg", "b.PNG", "e.gif", "f.jpeg"};
  lapis_array list;
  for (int i = 0; i < 7; i++) files_put_text(f, present[i], "x");
  const char *words[] = {"no/such.png", f->folder};
  CHECK_OK(f, lapis_image_list(f->ctx, words, 2, &list));
  assert_int_equal(list.mat.cols, 5);
  const char *const *text = list.mat.val;
  assert_string_equal(text[0], words[0]);
  for (int i = 0; i < 4; i++)
    assert_string_equal(text[1 + i], files_path(f, wanted[i]));
  lapis_array_free(&list);
  (void)files_count(f, true);
  CHECK_REFUSED(f, lapis_image_list(f->ctx, words, 2, &list), LAPIS_EMISSING,
                "");
}

#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
int test_features(void)
{
  const struct CMUnitTest tests[] = {
      CASE(pixels_follow_the_image),
      CASE(moments_stand_in_their_place),
      CASE(moments_follow_the_image),
      CASE(moments_of_small_grey_images),
      CASE(colours_are_counted_where_they_are),
      CASE(colours_follow_the_image),
      CASE(hog_follows_the_image),
      CASE(gist_follows_the_image),
      CASE(gist_finds_a_grating),
      CASE(a_flat_image_has_no_gist),
      CASE(other_programs_agree),
      CASE(moments_are_those_of_msrc),
      CASE(threads_do_not_show),
      CASE(bad_images_are_left_out),
      CASE(one_bad_image_ends_the_run),
      CASE(broken_files_are_found_first),
      CASE(a_run_can_be_stopped),
      CASE(describing_asks_the_clock),
      CASE(bad_settings_are_refused),
      CASE(folders_are_listed),
  };
  return run_cases(tests, NULL, NULL);
}
