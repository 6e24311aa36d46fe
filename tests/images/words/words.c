/* Bags of words and the descriptors under them: laws of SIFT, counts against
 * the words they count, vocabularies, other programs, given words. */
#include "feature_case.h"
#include "images/image/image.h"
#include "images/image/ops.h"
#include "images/words/dense.h"
#include "images/words/vocabulary.h"
#include "python.h"

static lapis_mat get(const run *r, const char *name)
{
  lapis_mat m;
  CHECK_OK(r->f, lapis_result_get(r->s, name, &m));
  return m;
}

/* ---- dense descriptors --------------------------------------------------*/
typedef struct described {
  dense_maps maps;
  lapis_image image;
} described;

static described describe(const files *f, const lapis_image *m, int64_t bin,
                          double magnif)
{
  described d = {.image = *m};
  CHECK_OK(f, dense_open(f->ctx, m, bin, magnif, &d.maps));
  return d;
}

static double cosine(const float *a, const float *b, int64_t n)
{
  double ab = 0, aa = 0, bb = 0;
  for (int64_t i = 0; i < n; i++) {
    ab += (double)a[i] * (double)b[i];
    aa += (double)a[i] * (double)a[i];
    bb += (double)b[i] * (double)b[i];
  }
  return ab / sqrt(aa * bb);
}

/* Contrast and brightness leave descriptors, but for rounding down. */
static void brightness_leaves_descriptors(void **state)
{
  const files *f = *state;
  lapis_image m = waves(60, 50, 1, 3), b = brighter(&m, .6F, .25F);
  for (int64_t bin = 2; bin <= 8; bin += 3)
    for (int blur = 0; blur < 2; blur++) {
      described p = describe(f, &m, bin, 2 * blur);
      described q = describe(f, &b, bin, 2 * blur);
      for (int64_t k = 0; k < 40; k++) {
        float u[DENSE_SIZE], v[DENSE_SIZE];
        dense_describe(&p.maps, k * 7 % (60 - 3 * bin), k * 5 % (50 - 3 * bin),
                       u);
        dense_describe(&q.maps, k * 7 % (60 - 3 * bin), k * 5 % (50 - 3 * bin),
                       v);
        for (int i = 0; i < DENSE_SIZE; i++)
          CHECK_NEAR((double)u[i], (double)v[i], 1);
      }
      dense_close(&p.maps);
      dense_close(&q.maps);
    }
  free(m.pixels);
  free(b.pixels);
}

/* A quarter to the left, as turned(): pixel (x, y) goes to (y, w - 1 - x);
 * cell (row, col) to (3 - col, row), direction k to k - 2. */
static void turning_permutes_descriptors(void **state)
{
  const files *f = *state;
  enum { W = 52, H = 41, BIN = 4 };
  lapis_image m = waves(W, H, 1, 8), t = turned(&m);
  described p = describe(f, &m, BIN, 3), q = describe(f, &t, BIN, 3);
  for (int64_t y = 0; y < H - 3 * BIN; y += 3)
    for (int64_t x = 0; x < W - 3 * BIN; x += 5) {
      float u[DENSE_SIZE], v[DENSE_SIZE];
      dense_describe(&p.maps, x, y, u);
      dense_describe(&q.maps, y, W - 1 - x - 3 * BIN, v);
      for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
          for (int k = 0; k < 8; k++)
            CHECK_NEAR((double)u[(r * 4 + c) * 8 + k],
                       (double)v[((3 - c) * 4 + r) * 8 + (k + 6) % 8], 1);
    }
  dense_close(&p.maps);
  dense_close(&q.maps);
  free(m.pixels);
  free(t.pixels);
}

/* Twice as large with cells twice as large: nearly the same. */
static void doubling_leaves_descriptors(void **state)
{
  const files *f = *state;
  enum { W = 64, H = 48, BIN = 4 };
  lapis_image m = waves(W, H, 1, 5), d;
  CHECK_OK(f, image_resize(f->ctx, &m, 2 * W, 2 * H, &d));
  described p = describe(f, &m, BIN, 0), q = describe(f, &d, 2 * BIN, 0);
  for (int64_t y = 2; y < H - 3 * BIN - 2; y += 4)
    for (int64_t x = 2; x < W - 3 * BIN - 2; x += 4) {
      float u[DENSE_SIZE], v[DENSE_SIZE];
      dense_describe(&p.maps, x, y, u);
      dense_describe(&q.maps, 2 * x, 2 * y, v);
      CHECK_AT_LEAST(cosine(u, v, DENSE_SIZE), .98);
    }
  dense_close(&p.maps);
  dense_close(&q.maps);
  free(m.pixels);
  lapis_image_free(&d);
}

static void flat_patches_are_all_zero(void **state)
{
  const files *f = *state;
  lapis_image m = make(30, 30, 1);
  for (int k = 0; k < 900; k++) m.pixels[k] = 1 / 3.F;
  described p = describe(f, &m, 3, 6);
  float v[DENSE_SIZE];
  dense_describe(&p.maps, 4, 4, v);
  for (int i = 0; i < DENSE_SIZE; i++) assert_true(v[i] == 0);
  dense_close(&p.maps);
  free(m.pixels);
}

/* ---- bags ---------------------------------------------------------------*/
static const char SMALL[] = "words=27 levels=3 learn=3000 count=500";

static void add_some(run *r)
{
  for (uint64_t i = 0; i < 5; i++) {
    char name[16];
    lapis_image m = waves(60 + 9 * (int64_t)i, 64, i % 2 ? 1 : 3, 10 + i);
    (void)snprintf(name, sizeof name, "%d.pnm", (int)i);
    add_image(r, name, &m);
    free(m.pixels);
  }
}

/* X from what is published beside it. */
static void counts_are_of_the_words(void **state)
{
  run r = {.f = *state};
  add_some(&r);
  solve(&r, "sift-bow", SMALL);
  lapis_mat word = get(&r, "word"), at = get(&r, "word_xy");
  lapis_mat start = get(&r, "word_start"), size = get(&r, "image_size");
  assert_int_equal(r.X.rows, 27);
  assert_int_equal(word.cols, 5 * 500);
  assert_int_equal(start.cols, 6);
  for (int64_t j = 0; j < 5; j++) {
    double count[27] = {0};
    int64_t first = (int64_t)lapis_mat_at(&start, 0, j);
    assert_int_equal(first, j * 500);
    for (int64_t i = first; i < first + 500; i++) {
      count[(int64_t)lapis_mat_at(&word, 0, i)]++;
      double half = 1.5 * lapis_mat_at(&at, 2, i) / 4;
      for (int a = 0; a < 2; a++) {
        double v = lapis_mat_at(&at, a, i);
        CHECK_AT_LEAST(v, half);
        CHECK_AT_MOST(v, lapis_mat_at(&size, a, j) - 1 - half);
      }
    }
    assert_memory_equal(count, column(&r, j), sizeof count);
  }
  lapis_solver_free(r.s);
}

/* Places and sizes are drawn evenly: 5 standard deviations. */
static void places_are_drawn_evenly(void **state)
{
  run r = {.f = *state};
  lapis_image m = waves(100, 100, 1, 3);
  enum { N = 20000 };
  add_image(&r, "a.pgm", &m);
  free(m.pixels);
  solve(&r, "sift-bow", "count=20000 words=2 levels=1 bins=2,5 learn=100");
  lapis_mat at = get(&r, "word_xy");
  double n[2] = {0}, sum[2][2] = {{0}};
  for (int64_t i = 0; i < N; i++) {
    int large = lapis_mat_at(&at, 2, i) > 10;
    n[large]++;
    for (int a = 0; a < 2; a++) sum[large][a] += lapis_mat_at(&at, a, i);
  }
  CHECK_NEAR(n[0], N / 2, 5 * sqrt(N / 4));
  for (int large = 0; large < 2; large++)
    for (int a = 0; a < 2; a++) {
      double range = large ? 85 : 94, deviation = range / sqrt(12);
      CHECK_NEAR(sum[large][a] / n[large], 49.5,
                 5 * deviation / sqrt(n[large]));
    }
  lapis_solver_free(r.s);
}

/* An image has the same words wherever it stands in the list, and others with
 * another seed. */
static void words_go_with_the_image(void **state)
{
  run r = {.f = *state};
  double one[27];
  char words[700];
  const char *voc = "v.npz";
  add_some(&r);
  (void)snprintf(words, sizeof words, "%s save-vocabulary=%s/%s", SMALL,
                 r.f->folder, voc);
  solve(&r, "sift-bow", words);
  memcpy(one, column(&r, 3), sizeof one);
  const char *third = r.name[3];
  r.name[3] = r.name[0];
  r.name[0] = third;
  (void)snprintf(words, sizeof words, "count=500 vocabulary=%s/%s", r.f->folder,
                 voc);
  solve(&r, "sift-bow", words);
  assert_memory_equal(one, column(&r, 0), sizeof one);
  CHECK_OK(r.f, lapis_ctx_set(r.f->ctx, "seed", "7"));
  solve(&r, "sift-bow", words);
  assert_memory_not_equal(one, column(&r, 0), sizeof one);
  lapis_solver_free(r.s);
}

static void grids_make_unit_roots(void **state)
{
  run r = {.f = *state};
  add_some(&r);
  solve(&r, "dense-sift-bow", "words=30 learn=900 step=3 bins=4,7");
  lapis_mat start = get(&r, "word_start"), word = get(&r, "word");
  for (int64_t j = 0; j < 5; j++) {
    int64_t first = (int64_t)lapis_mat_at(&start, 0, j), count = 0;
    int64_t last = (int64_t)lapis_mat_at(&start, 0, j + 1);
    int64_t w = 60 + 9 * j, h = 64;
    for (int64_t bin = 4; bin <= 7; bin += 3)
      count += (w - 3 * bin + 2) / 3 * ((h - 3 * bin + 2) / 3);
    assert_int_equal(last - first, count);
    double n[30] = {0}, sum = 0;
    for (int64_t i = first; i < last; i++)
      n[(int64_t)lapis_mat_at(&word, 0, i)]++;
    for (int k = 0; k < 30; k++) {
      double v = column(&r, j)[k];
      sum += v * v;
      CHECK_NEAR(v * v, n[k] / (double)count, 1e-12);
    }
    CHECK_NEAR(sum, 1, 1e-12);
  }
  lapis_solver_free(r.s);
}

static void every_pixel_is_a_texton(void **state)
{
  run r = {.f = *state};
  add_some(&r);
  solve(&r, "texton-bow", "words=40 learn=4000 step=3");
  lapis_mat start = get(&r, "word_start"), at = get(&r, "word_xy");
  int64_t i = 0;
  for (int64_t j = 0; j < 5; j++) {
    int64_t w = 60 + 9 * j, h = 64;
    double sum = 0;
    for (int k = 0; k < 40; k++) sum += column(&r, j)[k];
    assert_true(sum == (double)(w * h));
    assert_int_equal(lapis_mat_at(&start, 0, j), i);
    for (int64_t y = 0; y < h; y += 3)
      for (int64_t x = 0; x < w; x += 3, i++) {
        CHECK_NEAR(lapis_mat_at(&at, 0, i), (double)x, 1e-4);
        CHECK_NEAR(lapis_mat_at(&at, 1, i), (double)y, 1e-4);
        CHECK_NEAR(lapis_mat_at(&at, 2, i), 1, 1e-6);
      }
  }
  assert_int_equal(at.cols, i);
  lapis_solver_free(r.s);
}

/* Places are in the file's pixels where the image was made smaller. */
static void large_images_are_made_smaller(void **state)
{
  run r = {.f = *state};
  lapis_image m = waves(160, 80, 1, 3);
  add_image(&r, "a.pgm", &m);
  free(m.pixels);
  solve(&r, "dense-sift-bow", "words=2 learn=50 bins=3 step=2 longest=40");
  lapis_mat at = get(&r, "word_xy");
  assert_int_equal(at.cols, 16 * 6); /* of 40 x 20 pixels */
  for (int64_t i = 0; i < at.cols; i++) {
    CHECK_NEAR(lapis_mat_at(&at, 0, i), (2 * (i % 16) + 5.) * 4 - .5, 1e-4);
    CHECK_NEAR(lapis_mat_at(&at, 1, i), (2 * (i / 16) + 5.) * 4 - .5, 1e-4);
    CHECK_NEAR(lapis_mat_at(&at, 2, i), 48, 1e-4);
  }
  lapis_solver_free(r.s);
}

/* Places are in the file's pixels where the image was made larger, too. */
static void small_images_are_made_larger(void **state)
{
  run r = {.f = *state};
  lapis_image m = waves(40, 20, 1, 3);
  add_image(&r, "a.pgm", &m);
  free(m.pixels);
  solve(&r, "dense-sift-bow", "words=2 learn=50 bins=3 step=2 enlarge=80");
  lapis_mat at = get(&r, "word_xy");
  assert_int_equal(at.cols, 36 * 16); /* of 80 x 40 pixels */
  for (int64_t i = 0; i < at.cols; i++) {
    CHECK_NEAR(lapis_mat_at(&at, 0, i), (2 * (i % 36) + 5.) / 2 - .5, 1e-4);
    CHECK_NEAR(lapis_mat_at(&at, 1, i), (2 * (i / 36) + 5.) / 2 - .5, 1e-4);
    CHECK_NEAR(lapis_mat_at(&at, 2, i), 6, 1e-4);
  }
  solve(&r, "texton-bow", "words=4 learn=500 enlarge=80");
  double sum = 0;
  for (int k = 0; k < 4; k++) sum += column(&r, 0)[k];
  CHECK_NEAR(sum, 80 * 40, 0);
  at = get(&r, "word_xy");
  CHECK_NEAR(lapis_mat_at(&at, 0, 0), -.25, 1e-4);
  lapis_solver_free(r.s);
}

/* ---- vocabularies -------------------------------------------------------*/
static void read_vocabulary(const files *f, const char *path, vocabulary *v)
{
  CHECK_OK(f,
           vocabulary_read(f->ctx, path, "upright SIFT of magnif 0", 128, v));
}

/* Words learnt from some of many images are those learnt from these alone. */
static void some_images_teach(void **state)
{
  run r = {.f = *state};
  char words[1024], names[900], path[2][600];
  vocabulary v[2];
  add_some(&r);
  (void)snprintf(names, sizeof names, "\n1\r\n%s\n%s/2.pnm", "4.pnm",
                 r.f->folder);
  files_put_text(r.f, "names.txt", names);
  for (int k = 0; k < 2; k++)
    (void)snprintf(path[k], sizeof *path, "%s/v%d.npz", r.f->folder, k);
  (void)snprintf(words, sizeof words, "save-vocabulary=%s %s", path[0], SMALL);
  char from[600];
  (void)snprintf(from, sizeof from, " vocabulary-from=%s/names.txt",
                 r.f->folder);
  strcat(words, from);
  solve(&r, "sift-bow", words);
  const char *alone[] = {r.name[1], r.name[2], r.name[4]};
  memcpy(r.name, alone, sizeof alone);
  r.count = 3;
  (void)snprintf(words, sizeof words, "save-vocabulary=%s %s", path[1], SMALL);
  solve(&r, "sift-bow", words);
  for (int k = 0; k < 2; k++) read_vocabulary(r.f, path[k], &v[k]);
  assert_memory_equal(v[0].level[2].val, v[1].level[2].val,
                      27 * 128 * sizeof(float));
  assert_non_null(strstr(v[0].made, "\"images\": 3"));
  vocabulary_free(&v[0]);
  vocabulary_free(&v[1]);
  lapis_solver_free(r.s);
}

typedef struct refusal {
  const char *kind, *settings; /* %s: the folder */
  lapis_status status;
  const char *words;
} refusal;
static const refusal refusals[] = {
    {"sift-bow", "words=1001", LAPIS_EINVAL, "is not a 3-th power"},
    {"sift-bow", "bins=2,x", LAPIS_EINVAL, "bins '2,x' is not a list"},
    {"sift-bow", "bins=1", LAPIS_EINVAL, "whole numbers from 2"},
    {"sift-bow", "bins=2,", LAPIS_EINVAL, "no list"},
    {"sift-bow", "vocabulary=%s/none.npz", LAPIS_EIO, "none.npz"},
    {"sift-bow", "vocabulary=%s/v.npz magnif=2", LAPIS_EINVAL,
     "is a vocabulary of upright SIFT of magnif 0, not of upright SIFT of "
     "magnif 2"},
    {"texton-bow", "vocabulary=%s/v.npz", LAPIS_EINVAL, "not of textons"},
    {"texton-bow", "vocabulary=%s/huge.npz", LAPIS_EDATA,
     "huge.npz: made says enlarge 1e+09; a whole number from 0 to 20000"},
    {"texton-bow", "enlarge=700", LAPIS_EINVAL,
     "texton-bow: enlarge 700 is more than longest 640"},
    {"sift-bow", "vocabulary=%s/names.txt", LAPIS_EFORMAT, "names.txt"},
    {"sift-bow", "vocabulary=%s/v.npz save-vocabulary=w.npz", LAPIS_EINVAL,
     "save_vocabulary goes without it"},
    {"sift-bow", "vocabulary=%s/v.npz vocabulary-from=w.txt", LAPIS_EINVAL,
     "vocabulary_from goes without it"},
    {"sift-bow", "vocabulary-from=%s/names.txt", LAPIS_EDATA,
     "names.txt:2: 'nobody' is not one of the images"},
    {"sift-bow", "vocabulary-from=%s/blank.txt", LAPIS_EDATA,
     "blank.txt: names no image"},
    {"sift-bow", "vocabulary-from=%s/v.npz", LAPIS_EFORMAT, "no text file"},
    {"sift-bow", "vocabulary-from=%s/none.txt", LAPIS_EIO, "none.txt"},
};

static void misuse_is_refused(void **state)
{
  run r = {.f = *state};
  char words[700];
  add_some(&r);
  (void)snprintf(words, sizeof words, "%s save-vocabulary=%s/v.npz", SMALL,
                 r.f->folder);
  solve(&r, "sift-bow", words);
  files_put_text(r.f, "names.txt", "1.pnm\nnobody\n");
  files_put_text(r.f, "blank.txt", "\n\n");
  const char *const made[] = {"{\"of\": \"textons\", \"enlarge\": 1e9}"};
  lapis_named huge = {.name = "made", .mat = lapis_mat_text(made, 1, 1)};
  CHECK_OK(r.f, lapis_arrays_write(r.f->ctx, files_path(r.f, "huge.npz"), "npz",
                                   &huge, 1));
  for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
    const refusal *x = &refusals[k];
    const lapis_method *m = lapis_feature_find(x->kind);
    lapis_bag_settings set;
    lapis_solver *s;
    const char *at = strstr(x->settings, "%s");
    int before = at == NULL ? 0 : (int)(at - x->settings);
    (void)snprintf(r.text, sizeof r.text, "%.*s%s%s", before, x->settings,
                   at == NULL ? "" : r.f->folder,
                   at == NULL ? x->settings : at + 2);
    set_all(&r, m, &set, r.text);
    CHECK_REFUSED(
        r.f, lapis_features_new(r.f->ctx, m, &set, r.name, r.count, NULL, &s),
        x->status, x->words);
    assert_null(s);
  }
  lapis_solver_free(r.s);
}

static lapis_status try_solve(run *r, const char *kind, char *words)
{
  const lapis_method *m = lapis_feature_find(kind);
  lapis_bag_settings set;
  set_all(r, m, &set, words);
  CHECK_OK(r->f, lapis_features_new(r->f->ctx, m, &set, r->name, r->count, NULL,
                                    &r->s));
  return lapis_solve(r->s);
}

static void images_too_small_are_refused(void **state)
{
  run r = {.f = *state};
  char words[] = "bins=5,3 words=2 levels=1", many[] = "words=1000 learn=1000";
  lapis_image m = waves(9, 40, 1, 3), small = waves(16, 16, 1, 3);
  add_image(&r, "a.pgm", &m);
  CHECK_REFUSED(r.f, try_solve(&r, "sift-bow", words), LAPIS_EDATA,
                "9 40 bins 10");
  lapis_solver_free(r.s);
  r.count = 0;
  add_image(&r, "b.pgm", &small);
  CHECK_REFUSED(r.f, try_solve(&r, "dense-sift-bow", many), LAPIS_EDATA,
                "words");
  lapis_solver_free(r.s);
  free(m.pixels);
  free(small.pixels);
}

/* ---- other programs -----------------------------------------------------*/
static void save(run *r, const char *kind)
{
  const char *const names[] = {"X", "word", "word_xy", "word_start"};
  lapis_named item[4];
  char file[64];
  for (int k = 0; k < 4; k++)
    item[k] = (lapis_named){.name = names[k], .mat = get(r, names[k])};
  (void)snprintf(file, sizeof file, "%s.npz", kind);
  CHECK_OK(r->f, lapis_arrays_write(r->f->ctx, files_path(r->f, file), "npz",
                                    item, 4));
}

/* numpy, SciPy and scikit-image find the same words in the vocabulary's file;
 * VLFeat's vl_dsift makes the same descriptors. */
static void other_programs_find_the_same_words(void **state)
{
  run r = {.f = *state};
  char words[700];
  python_need("numpy, scipy, skimage");
  add_some(&r);
  (void)snprintf(words, sizeof words,
                 "words=64 levels=2 learn=2000 step=5 magnif=4 bins=4,6,9 "
                 "save-vocabulary=%s/dense_v.npz",
                 r.f->folder);
  solve(&r, "dense-sift-bow", words);
  save(&r, "dense");
  (void)snprintf(words, sizeof words,
                 "words=50 learn=2000 step=1 save-vocabulary=%s/textons_v.npz",
                 r.f->folder);
  solve(&r, "texton-bow", words);
  save(&r, "textons");
  (void)snprintf(words, sizeof words, "words %s", r.f->folder);
  python_run("check_vision.py", words);
  lapis_solver_free(r.s);
}

/* ---- given words --------------------------------------------------------*/
static const lapis_mat *member(const lapis_arrays *all, const char *name)
{
  const lapis_array *a = lapis_arrays_find(all, name);
  if (a == NULL) fail_msg("no member %s", name);
  return &a->mat;
}

static void read_data(const files *f, const char *name, lapis_arrays *out)
{
  char path[1200];
  (void)snprintf(path, sizeof path, "%s/%s", check_data(), name);
  CHECK_OK(f, lapis_arrays_read(f->ctx, path, out));
}

static vocabulary faces_vocabulary(const files *f)
{
  static const char *const names[] = {"level1", "level2", "level3"};
  vocabulary v = {.d = 128, .branch = 10, .levels = 3, .words = 1000};
  lapis_arrays all;
  read_data(f, "cmu_faces/cmu_faces_codebook.npz", &all);
  v.shift = base_alloc(f->ctx, 128, sizeof(float));
  v.scale = base_alloc(f->ctx, 128, sizeof(float));
  for (int i = 0; i < 128; i++) v.scale[i] = 1;
  for (int64_t l = 0, n = 10; l < 3; l++, n *= 10) {
    CHECK_OK(f, nearest_new(f->ctx, 128, n, &v.level[l]));
    memcpy(v.level[l].val, member(&all, names[l])->val,
           (size_t)(128 * n) * sizeof(float));
    nearest_refresh(&v.level[l]);
  }
  lapis_arrays_free(&all);
  return v;
}

/* Words at given places, of cells that are even and so stand on whole pixels:
 * how many are the given ones. */
static int64_t same_words(const files *f, const vocabulary *v,
                          const lapis_image *m, const lapis_arrays *given,
                          int64_t image, int64_t bin, int64_t *seen)
{
  enum { WORDS = 10000 };
  const lapis_mat *at = member(given, "xy"), *size = member(given, "bin_size");
  const lapis_mat *word = member(given, "word");
  dense_maps maps;
  int64_t n = 0, same = 0, half = 3 * bin / 2;
  float *points = malloc(WORDS * DENSE_SIZE * sizeof *points);
  static int32_t found[WORDS], wanted[WORDS];
  CHECK_OK(f, dense_open(f->ctx, m, bin, 0, &maps));
  for (int64_t i = 0; i < WORDS; i++) {
    if (lapis_mat_at(size, i, image) != (double)bin) continue;
    int64_t x = (int64_t)lapis_mat_at(at, 2 * i, image) - half;
    int64_t y = (int64_t)lapis_mat_at(at, 2 * i + 1, image) - half;
    dense_describe(&maps, x, y, points + n * DENSE_SIZE);
    wanted[n++] = (int32_t)lapis_mat_at(word, i, image);
  }
  CHECK_OK(f, vocabulary_find(f->ctx, v, points, n, found));
  for (int64_t i = 0; i < n; i++) same += found[i] == wanted[i];
  dense_close(&maps);
  free(points);
  *seen += n;
  return same;
}

/* What another program (VLFeat's dense SIFT) found at the same places. */
static void faces_have_the_words_given(void **state)
{
  const files *f = *state;
  lapis_arrays given, bow;
  int64_t same = 0, seen = 0;
  read_data(f, "cmu_faces/cmu_faces_words.npz", &given);
  read_data(f, "cmu_faces/cmu_faces_bow.npz", &bow);
  vocabulary v = faces_vocabulary(f);
  const char *const *names = member(&bow, "names")->val;
  for (int64_t j = 3; j < 624; j += 120) {
    char path[1200];
    lapis_image m, grey;
    (void)snprintf(path, sizeof path, "%s/cmu_faces/images/%.*s/%s.pgm",
                   getenv("LAPIS_DATA"), (int)strcspn(names[j], "_"), names[j],
                   names[j]);
    CHECK_OK(f, lapis_image_read(f->ctx, path, &m));
    CHECK_OK(f, image_grey(f->ctx, &m, &grey));
    for (int64_t bin = 2; bin <= 8; bin += 2)
      same += same_words(f, &v, &grey, &given, j, bin, &seen);
    lapis_image_free(&m);
    lapis_image_free(&grey);
  }
  print_message("%lld of %lld words are those given\n", (long long)same,
                (long long)seen);
  CHECK_AT_LEAST((double)same / (double)seen, .95);
  vocabulary_free(&v);
  lapis_arrays_free(&given);
  lapis_arrays_free(&bow);
}

/* Halves enlarged again stand for the images themselves: fine textures are
 * lost, so the words of single pixels differ, but few of their counts do. */
static void photographs_have_the_textons_given(void **state)
{
  files *f = *state;
  lapis_arrays book, all;
  char path[1200], voc[700];
  double sum = 0;
  int n = 0;
  read_data(f, "msrc_v2/texton_codebook.npz", &book);
  read_data(f, "msrc_v2/msrc_v2.npz", &all);
  if (!lapis_image_format_at(0)->built) skip();
  const char *const text[] = {"{\"of\": \"textons\"}"};
  lapis_named item[] = {
      {.name = "level_1", .mat = *member(&book, "centers")},
      {.name = "shift", .mat = *member(&book, "mean"), .flat = true},
      {.name = "scale", .mat = *member(&book, "std"), .flat = true},
      {.name = "made", .mat = lapis_mat_text(text, 1, 1)}};
  CHECK_OK(f,
           lapis_arrays_write(f->ctx, files_path(f, "v.npz"), "npz", item, 4));
  (void)snprintf(voc, sizeof voc, "vocabulary=%s", f->path);
  const char *const *names = member(&all, "names")->val;
  for (int64_t j = 0; j < 591; j += 60, n++) {
    run r = {.f = f};
    lapis_image m, large;
    (void)snprintf(path, sizeof path, "%s/msrc_v2/images_half/%s.png",
                   getenv("LAPIS_DATA"), names[j]);
    CHECK_OK(f, lapis_image_read(f->ctx, path, &m));
    CHECK_OK(f, image_resize(f->ctx, &m, 2 * m.width, 2 * m.height, &large));
    add_path(&r, "large.png");
    CHECK_OK(f, image_write_png(f->ctx, &large, r.name[0]));
    solve(&r, "texton-bow", voc);
    float a[400], b[400];
    for (int k = 0; k < 400; k++) {
      a[k] = (float)column(&r, 0)[k];
      b[k] = (float)lapis_mat_at(member(&all, "bow"), k, j);
    }
    sum += cosine(a, b, 400);
    lapis_image_free(&m);
    lapis_image_free(&large);
    lapis_solver_free(r.s);
  }
  print_message("cosine of counts: %.3f on average\n", sum / n);
  CHECK_AT_LEAST(sum / n, .95);
  lapis_arrays_free(&book);
  lapis_arrays_free(&all);
}

#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
int test_words(void)
{
  const struct CMUnitTest tests[] = {
      CASE(brightness_leaves_descriptors),
      CASE(turning_permutes_descriptors),
      CASE(doubling_leaves_descriptors),
      CASE(flat_patches_are_all_zero),
      CASE(counts_are_of_the_words),
      CASE(places_are_drawn_evenly),
      CASE(words_go_with_the_image),
      CASE(grids_make_unit_roots),
      CASE(every_pixel_is_a_texton),
      CASE(large_images_are_made_smaller),
      CASE(small_images_are_made_larger),
      CASE(some_images_teach),
      CASE(misuse_is_refused),
      CASE(images_too_small_are_refused),
      CASE(other_programs_find_the_same_words),
      CASE(faces_have_the_words_given),
      CASE(photographs_have_the_textons_given),
  };
  return run_cases(tests, NULL, NULL);
}
