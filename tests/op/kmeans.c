/* k-means and trees of words: laws that hold for every answer, a slow search
 * for the nearest centre, and files that lie. */
#include "op/learn/kmeans.h"
#include "files.h"
#include "images/words/vocabulary.h"

enum { D = 7, N = 900 };

/* Clumps of points around `clumps` places. */
static float *clumpy(int64_t d, int64_t n, int clumps, uint64_t seed)
{
  float *x = malloc((size_t)(d * n) * sizeof *x);
  uint64_t noise = seed;
  assert_non_null(x);
  for (int64_t i = 0; i < n; i++)
    for (int64_t a = 0; a < d; a++) {
      uint64_t place = (uint64_t)(i % clumps) * 1000 + (uint64_t)a + seed;
      x[i * d + a] =
          (float)(100 * check_uniform(&place) + check_normal(&noise));
    }
  return x;
}

static double square_distance(const float *a, const float *b, int64_t d)
{
  double sum = 0;
  for (int64_t i = 0; i < d; i++) {
    double x = (double)a[i] - (double)b[i];
    sum += x * x;
  }
  return sum;
}

/* The sum that k-means lowers, from its points and centres alone. */
static double objective(const float *x, int64_t d, int64_t n, const float *c,
                        int64_t k)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    double best = INFINITY;
    for (int64_t j = 0; j < k; j++)
      best = fmin(best, square_distance(x + i * d, c + j * d, d));
    sum += best;
  }
  return sum;
}

static void iterations_never_raise_the_objective(void **state)
{
  const files *f = *state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    float *x = clumpy(D, N, 23, seed), c[40 * D];
    double last = INFINITY;
    for (int64_t iters = 0; iters < 12; iters++) {
      kmeans_task t = {x, D, N, 40, 1, iters, seed, 1};
      double said;
      CHECK_OK(f, kmeans(f->ctx, &t, c, &said));
      double found = objective(x, D, N, c, 40);
      CHECK_NEAR(said, found, 1e-4 * found);
      CHECK_AT_MOST(found, last * (1 + 1e-6));
      last = found;
    }
    free(x);
  }
}

/* With as many centres as clumps far apart, one stands in each. */
static void separated_clumps_are_found(void **state)
{
  const files *f = *state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    float *x = clumpy(D, N, 12, 1000 * seed), c[12 * D];
    kmeans_task t = {x, D, N, 12, 3, 50, 0, 1};
    CHECK_OK(f, kmeans(f->ctx, &t, c, NULL));
    /* the noise alone: variance 1 in each of D dimensions */
    CHECK_AT_MOST(objective(x, D, N, c, 12), 1.1 * N * D);
    free(x);
  }
}

static void more_tries_are_never_worse(void **state)
{
  const files *f = *state;
  float *x = clumpy(D, N, 60, 3), c[50 * D];
  double last = INFINITY;
  for (int64_t tries = 1; tries <= 6; tries++) {
    kmeans_task t = {x, D, N, 50, tries, 50, 9, 1};
    double found;
    CHECK_OK(f, kmeans(f->ctx, &t, c, &found));
    CHECK_AT_MOST(found, last);
    last = found;
  }
  free(x);
}

static void threads_do_not_show_in_centres(void **state)
{
  const files *f = *state;
  float *x = clumpy(D, N, 30, 5), one[35 * D], four[35 * D];
  kmeans_task t = {x, D, N, 35, 2, 50, 1, 1};
  CHECK_OK(f, kmeans(f->ctx, &t, one, NULL));
  t.threads = 4;
  CHECK_OK(f, kmeans(f->ctx, &t, four, NULL));
  assert_memory_equal(one, four, sizeof one);
  free(x);
}

/* One point, equal points, more centres than points. */
static void degenerate_points_are_their_own_centres(void **state)
{
  const files *f = *state;
  const int64_t counts[] = {1, 2, 5, 33};
  for (int k = 0; k < 4; k++)
    for (int equal = 0; equal < 2; equal++) {
      float *x = clumpy(D, 33, equal ? 1 : 33, 7), c[40 * D];
      for (int64_t i = D; equal && i < 33 * D; i++) x[i] = x[i % D];
      kmeans_task t = {x, D, counts[k], 40, 2, 20, 1, 2};
      CHECK_OK(f, kmeans(f->ctx, &t, c, NULL));
      CHECK_AT_MOST(objective(x, D, counts[k], c, 40), 1e-6);
      free(x);
    }
}

/* ---- vocabularies -------------------------------------------------------*/
static vocabulary learn(const files *f, int64_t branch, int64_t levels,
                        bool standardise, int threads)
{
  vocabulary v;
  float *x = clumpy(D, N, 100, 11);
  vocabulary_task t = {x, D, N, branch, levels, 2, standardise, threads};
  CHECK_OK(f, vocabulary_learn(f->ctx, &t, &v));
  v.made = (char *)base_alloc(f->ctx, 32, 1);
  strcpy(v.made, "{\"of\": \"tests\"}");
  free(x);
  return v;
}

/* Going down by plain distances in double precision: the centre taken is the
 * nearest, or as near as single precision can tell. */
static void check_walk(const vocabulary *v, const float *x, int64_t word)
{
  int64_t node = 0, power = v->words;
  for (int64_t l = 0; l < v->levels; l++) {
    const float *c = v->level[l].val;
    double best = INFINITY, size = 0;
    for (int64_t k = node * v->branch; k < (node + 1) * v->branch; k++)
      best = fmin(best, square_distance(x, c + k * v->d, v->d));
    for (int64_t a = 0; a < v->d; a++) size += (double)x[a] * (double)x[a];
    power /= v->branch;
    node = word / power;
    double taken = square_distance(x, c + node * v->d, v->d);
    CHECK_AT_MOST(taken - best, 16 * 6e-8 * (size + best));
  }
  assert_true(node == word);
}

static void words_are_found_as_by_brute_force(void **state)
{
  const files *f = *state;
  const int64_t shape[][2] = {{2, 1}, {5, 3}, {10, 2}, {70, 1}, {4, 4}};
  for (int s = 0; s < 5; s++) {
    vocabulary v = learn(f, shape[s][0], shape[s][1], s % 2 == 0, 2);
    float *x = clumpy(D, N, 300, 77);
    int32_t *word = malloc(N * sizeof *word);
    CHECK_OK(f, vocabulary_find(f->ctx, &v, x, N, word));
    for (int64_t i = 0; i < N; i++) check_walk(&v, x + i * D, word[i]);
    free(word);
    free(x);
    vocabulary_free(&v);
  }
}

/* Of equal centres the first is taken. */
static void ties_go_to_the_first(void **state)
{
  const files *f = *state;
  vocabulary v = learn(f, 40, 1, false, 1);
  for (int64_t k = 0; k < 40; k++)
    for (int64_t a = 0; a < D; a++)
      v.level[0].val[k * D + a] = (float)(k / 5 * 10);
  nearest_refresh(&v.level[0]);
  float x[8 * D];
  int32_t word[8];
  for (int64_t i = 0; i < 8 * D; i++) x[i] = (float)(i / D * 10);
  CHECK_OK(f, vocabulary_find(f->ctx, &v, x, 8, word));
  for (int i = 0; i < 8; i++) assert_int_equal(word[i], 5 * i);
  vocabulary_free(&v);
}

static void standardised_numbers_count_alike(void **state)
{
  const files *f = *state;
  float *x = clumpy(D, N, 50, 3);
  for (int64_t i = 0; i < N; i++) x[i * D + 2] *= 1e4F;
  vocabulary v;
  vocabulary_task t = {x, D, N, 6, 2, 2, true, 1};
  CHECK_OK(f, vocabulary_learn(f->ctx, &t, &v));
  for (int64_t a = 0; a < D; a++) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < N; i++) {
      sum += (double)x[i * D + a];
      squares += (double)x[i * D + a] * (double)x[i * D + a];
    }
    CHECK_NEAR(sum / N, 0, 1e-5);
    CHECK_NEAR(squares / N, 1, 1e-5);
  }
  vocabulary_free(&v);
  free(x);
}

static void threads_do_not_show_in_words(void **state)
{
  const files *f = *state;
  vocabulary one = learn(f, 5, 3, true, 1), four = learn(f, 5, 3, true, 4);
  for (int l = 0; l < 3; l++)
    assert_memory_equal(one.level[l].val, four.level[l].val,
                        (size_t)(D * one.level[l].count) * sizeof(float));
  vocabulary_free(&one);
  vocabulary_free(&four);
}

static void too_few_points_are_refused(void **state)
{
  const files *f = *state;
  float *x = clumpy(D, 10, 10, 3);
  vocabulary v;
  vocabulary_task t = {x, D, 10, 11, 1, 1, false, 1};
  CHECK_REFUSED(f, vocabulary_learn(f->ctx, &t, &v), LAPIS_EDATA, "words");
  free(x);
}

/* ---- files --------------------------------------------------------------*/
static void a_file_gives_the_words_back(void **state)
{
  files *f = *state;
  vocabulary v = learn(f, 5, 3, true, 1), w;
  const char *path = files_path(f, "v.npz");
  CHECK_OK(f, vocabulary_write(f->ctx, path, &v));
  CHECK_OK(f, vocabulary_read(f->ctx, path, "tests", D, &w));
  assert_int_equal(w.words, 125);
  assert_int_equal(w.levels, 3);
  assert_string_equal(w.made, v.made);
  float *x = clumpy(D, N, 300, 77), *y = clumpy(D, N, 300, 77);
  int32_t word[2][N];
  CHECK_OK(f, vocabulary_find(f->ctx, &v, x, N, word[0]));
  CHECK_OK(f, vocabulary_find(f->ctx, &w, y, N, word[1]));
  assert_memory_equal(word[0], word[1], sizeof word[0]);
  free(x);
  free(y);
  vocabulary_free(&v);
  vocabulary_free(&w);
}

/* Every beginning of the file is refused. */
static void a_truncated_file_is_refused(void **state)
{
  files *f = *state;
  vocabulary v = learn(f, 3, 2, false, 1), w;
  CHECK_OK(f, vocabulary_write(f->ctx, files_path(f, "v.npz"), &v));
  size_t size;
  unsigned char *all = files_get(f->path, &size);
  for (size_t n = 0; n < size; n += n < 200 ? 1 : 7) {
    const char *path = files_put(f, "cut.npz", all, n);
    lapis_status s = vocabulary_read(f->ctx, path, "tests", D, &w);
    assert_true(s < 0);
    assert_non_null(strstr(lapis_ctx_error(f->ctx), "cut.npz"));
    assert_null(w.level[0].val);
  }
  free(all);
  vocabulary_free(&v);
}

/* A vocabulary with one thing wrong. */
typedef struct lie {
  const char *name; /* of the member */
  int64_t rows, cols;
  float value;
  lapis_dtype dtype;
  lapis_status status;
  const char *words;
} lie;

static void write_lie(files *f, const lie *l)
{
  static const float ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  static const char *const text[] = {"{\"of\": \"tests\"}", "[1", "{}"};
  float wrong[64];
  double doubles[64] = {0};
  for (int i = 0; i < 64; i++) wrong[i] = i == 3 ? l->value : 1;
  const char *const names[] = {"level_1", "level_2", "shift", "scale", "made"};
  const int64_t rows[] = {2, 2, 1, 1, 1}, cols[] = {3, 9, 2, 2, 1};
  lapis_named item[5];
  int n = 0;
  for (int k = 0; k < 5; k++) {
    bool here = strcmp(names[k], l->name) == 0;
    lapis_mat m = {.dtype = k == 4 ? LAPIS_TEXT : LAPIS_F32,
                   .rows = rows[k],
                   .cols = cols[k],
                   .ld = rows[k],
                   .val = (void *)(uintptr_t)(k == 4 ? (const void *)text
                                                     : (const void *)ones)};
    if (here && l->cols == 0) continue;
    if (here && k == 4) m.val = (void *)(uintptr_t)(text + l->cols);
    if (here && k < 4) {
      m.rows = m.ld = l->rows;
      m.cols = l->cols;
      m.dtype = l->dtype;
      m.val = l->dtype == LAPIS_F64 ? (void *)doubles : (void *)wrong;
    }
    item[n++] = (lapis_named){.name = names[k], .mat = m, .flat = m.rows == 1};
  }
  CHECK_OK(
      f, lapis_arrays_write(f->ctx, files_path(f, "lie.npz"), "npz", item, n));
}

static void lying_files_are_refused(void **state)
{
  files *f = *state;
  const lapis_status format = LAPIS_EFORMAT, data = LAPIS_EDATA;
  const lie lies[] = {
      {"level_1", 0, 0, 1, LAPIS_F32, format, "no member level_1"},
      {"level_1", 3, 3, 1, LAPIS_F32, format, "rows of 2"},
      {"level_1", 2, 3, NAN, LAPIS_F32, data, "row 2, column 2"},
      {"level_1", 2, 3, INFINITY, LAPIS_F32, data, "no finite number"},
      {"level_1", 2, 3, 1, LAPIS_F64, format, "float32"},
      {"level_2", 2, 8, 1, LAPIS_F32, format, "9 are needed"},
      {"shift", 1, 3, 1, LAPIS_F32, format, "3 numbers, not 2"},
      {"scale", 0, 0, 1, LAPIS_F32, format, "no member scale"},
      {"scale", 1, 4, 1, LAPIS_F32, format, "4 numbers"},
      {"made", 1, 0, 1, LAPIS_TEXT, format, "made"},
      {"made", 1, 1, 1, LAPIS_TEXT, format, "lie.npz"},
      {"made", 1, 2, 1, LAPIS_TEXT, LAPIS_EINVAL, "not of tests"}};
  for (size_t k = 0; k < sizeof lies / sizeof *lies; k++) {
    vocabulary v;
    write_lie(f, &lies[k]);
    CHECK_REFUSED(f, vocabulary_read(f->ctx, f->path, "tests", 2, &v),
                  lies[k].status, lies[k].words);
    assert_null(v.shift);
  }
}

static void a_scale_that_is_not_positive_is_refused(void **state)
{
  files *f = *state;
  vocabulary v = learn(f, 3, 2, false, 1), w;
  v.scale[4] = 0;
  CHECK_OK(f, vocabulary_write(f->ctx, files_path(f, "v.npz"), &v));
  CHECK_REFUSED(f, vocabulary_read(f->ctx, f->path, "tests", D, &w),
                LAPIS_EDATA, "5");
  vocabulary_free(&v);
}

#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
int test_kmeans(void)
{
  const struct CMUnitTest tests[] = {
      TEST(iterations_never_raise_the_objective),
      TEST(separated_clumps_are_found),
      TEST(more_tries_are_never_worse),
      TEST(threads_do_not_show_in_centres),
      TEST(degenerate_points_are_their_own_centres),
      TEST(words_are_found_as_by_brute_force),
      TEST(ties_go_to_the_first),
      TEST(standardised_numbers_count_alike),
      TEST(threads_do_not_show_in_words),
      TEST(too_few_points_are_refused),
      TEST(a_file_gives_the_words_back),
      TEST(a_truncated_file_is_refused),
      TEST(lying_files_are_refused),
      TEST(a_scale_that_is_not_positive_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
