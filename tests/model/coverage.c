/* Sets of classes and intervals hold the truth of new samples in the share that
 * was asked for, not in much more; other shares are asked of the model, whose
 * file keeps all; what cannot be is said. */
#include <math.h>
#include <unistd.h>

#include "check.h"
#include "lapis/choose.h"
#include "model/coverage.h"
#include "remarks.h"
#include "scarce.h"

enum { D = 2, KNOWN = 160, NEW = 1500, DRAWS = 6, K = 3 };
typedef struct world {
  lapis_ctx *ctx;
  double X[D * KNOWN], Y[2 * KNOWN], Z[D * NEW], truth[2 * NEW];
  lapis_data data, later;
  uint64_t seed;
} world;

/* Three classes that overlap; of two labels the signs of noisy features; or a
 * noisy height, noisier to one side. */
typedef enum kind { CLASSES, LABELS, NUMBERS } kind;
static void draw(world *w, kind of, double *x, double *y)
{
  int class_ = (int)(K * check_uniform(&w->seed)) % K;
  for (int i = 0; i < D; i++) x[i] = check_normal(&w->seed);
  if (of == CLASSES) {
    x[0] += 1.5 * class_;
    y[0] = class_;
  } else if (of == NUMBERS) {
    double noise = check_normal(&w->seed) * (x[1] > 0 ? 2 : 1);
    y[0] = 100 + 3 * x[0] + noise;
  } else
    for (int i = 0; i < 2; i++) y[i] = x[i] + check_normal(&w->seed) > 0;
}

static world *make(kind of, uint64_t seed)
{
  world *w = calloc(1, sizeof *w);
  int rows = of == LABELS ? 2 : 1;
  assert_non_null(w);
  w->ctx = lapis_ctx_new();
  w->seed = seed;
  for (int j = 0; j < KNOWN; j++) draw(w, of, w->X + D * j, w->Y + rows * j);
  for (int j = 0; j < NEW; j++) draw(w, of, w->Z + D * j, w->truth + rows * j);
  w->data.X = lapis_mat_f64(w->X, D, KNOWN);
  w->data.Y = lapis_mat_f64(w->Y, rows, KNOWN);
  w->later.X = lapis_mat_f64(w->Z, D, NEW);
  return w;
}

static void discard(world *w)
{
  lapis_ctx_free(w->ctx);
  free(w);
}

static lapis_auto_settings settings(double share)
{
  lapis_auto_settings set = lapis_auto_defaults();
  set.candidates = "linear";
  set.coverage = share;
  return set;
}

static lapis_model *fit(world *w, const lapis_auto_settings *set)
{
  lapis_solver *s;
  lapis_model *m;
  if (lapis_auto_new(w->ctx, &w->data, set, &s) < 0 || lapis_solve(s) < 0 ||
      lapis_model_new(s, &m) < 0)
    fail_msg("%s", lapis_ctx_error(w->ctx));
  lapis_solver_free(s);
  return m;
}

static lapis_solver *predict(world *w, const lapis_model *m)
{
  lapis_solver *s;
  if (lapis_predict_new(w->ctx, &w->later, m, NULL, &s) < 0 ||
      lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(w->ctx));
  return s;
}

static lapis_mat result(const lapis_solver *s, const char *name)
{
  lapis_mat out;
  assert_int_equal(lapis_result_get(s, name, &out), LAPIS_OK);
  return out;
}

/* The sentence of that code; "": there is none. */
static const char *remark_of(const lapis_solver *s, const char *code)
{
  lapis_mat notes = result(s, "notes");
  const char *const *text = notes.val;
  for (int64_t k = 0; k < notes.cols; k++)
    if (strcmp(text[3 * k + 1], code) == 0) return text[3 * k + 2];
  return "";
}

static bool remarks(const lapis_solver *s, const char *code)
{
  return *remark_of(s, code) != '\0';
}

static bool has(const lapis_solver *s, const char *name)
{
  const char *at;
  for (int i = 0; (at = lapis_result_name(s, i)) != NULL; i++)
    if (strcmp(at, name) == 0) return true;
  return false;
}

/* The share of truths of one class (-1: of all) that lie inside, and the mean
 * size of sets. */
static double inside(const world *w, const lapis_solver *s, double of,
                     double *size)
{
  lapis_mat kept = result(s, "classes_kept"), value = result(s, "kept_values");
  double count = 0, in = 0;
  int64_t rows = w->data.Y.rows, values = kept.rows / rows;
  *size = 0;
  for (int64_t k = 0; k < rows * NEW; k++)
    for (int64_t v = k % rows * values; v < (k % rows + 1) * values; v++) {
      if (of >= 0 && w->truth[k] != of) continue;
      double is = lapis_mat_at(&kept, v, k / rows);
      count += 1. / (double)values;
      *size += is;
      if (lapis_mat_at(&value, 0, v) == w->truth[k]) in += is;
    }
  *size /= count;
  return in / count;
}

/* Sets of all may miss most of a rare class: that is said, with what each class
 * has, and with the setting that helps. */
static void a_class_that_is_missed_is_named(void **state)
{
  static const char *const word[] = {"common", "rare"};
  (void)state;
  for (int by = 0; by < 2; by++) {
    world *w = make(LABELS, 5);
    char wanted[128];
    for (int j = 0; j < KNOWN; j++) {
      w->Y[j] = j % 8 == 0;
      w->X[D * j] += .5 * w->Y[j];
    }
    w->data.Y = lapis_mat_f64(w->Y, 1, KNOWN);
    w->data.words = (lapis_mat){.val = (void *)(uintptr_t)word,
                                .dtype = LAPIS_TEXT,
                                .rows = 1,
                                .cols = 2,
                                .ld = 1};
    lapis_auto_settings set = settings(.8);
    set.coverage_by = by;
    lapis_solver *s;
    assert_int_equal(lapis_auto_new(w->ctx, &w->data, &set, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), LAPIS_OK);
    lapis_mat kept = result(s, "classes_kept");
    double in = 0;
    for (int j = 0; j < KNOWN; j += 8) in += lapis_mat_at(&kept, 1, j) / 20;
    const char *said = remark_of(s, "coverage-least");
    (void)snprintf(wanted, sizeof wanted, "%.1f %% of 20 known", 100 * in);
    if (by == 0) {
      CHECK_AT_MOST(in, .6);
      assert_non_null(strstr(said, "\"rare\""));
      assert_non_null(strstr(said, wanted));
    }
    assert_true((strstr(said, "coverage_by='class'") != NULL) == (by == 0));
    lapis_solver_free(s);
    discard(w);
  }
}

static double within(const world *w, const lapis_solver *s)
{
  lapis_mat low = result(s, "set_low"), high = result(s, "set_high");
  double in = 0;
  for (int64_t j = 0; j < NEW; j++)
    in += w->truth[j] >= lapis_mat_at(&low, 0, j) &&
          w->truth[j] <= lapis_mat_at(&high, 0, j);
  return in / NEW;
}

/* The scores of so many draws leave the coverage this uncertain, twice. */
static double slack(double share)
{
  return 2 * sqrt(share * (1 - share) * (1. / KNOWN + 1. / NEW) / DRAWS);
}

/* Half of the new samples lack half of the features, and one lacks all: either
 * kind is covered, where nobody taught so by all there is, which is said. */
static void gaps_are_apart(kind of, bool taught)
{
  double in[2] = {0}, sizes = 0;
  for (uint64_t seed = 1; seed <= DRAWS; seed++) {
    world *w = make(of, seed);
    lapis_auto_settings set = settings(.9);
    for (int j = 0; j < NEW; j += 2) w->Z[D * j] = NAN;
    w->Z[1] = NAN;
    for (int j = 0; taught && j < KNOWN; j += 2) w->X[D * j] = NAN;
    lapis_model *m = fit(w, &set);
    lapis_solver *s = predict(w, m);
    bool numbers = of == NUMBERS;
    lapis_mat low = result(s, numbers ? "set_low" : "classes_kept");
    lapis_mat high = numbers ? result(s, "set_high") : low;
    if (!remarks(s, "coverage-gaps") ||
        strstr(remark_of(s, "coverage-gaps"),
               taught ? "sample 1:" : "sample 1 and ") == NULL)
      fail_msg("%s", remark_of(s, "coverage-gaps"));
    for (int j = 0; j < NEW; j++) {
      bool all = j == 0 || (!taught && j % 2 == 0);
      double y = w->truth[j], from = lapis_mat_at(&low, 0, j);
      double size = lapis_mat_at(&high, 0, j) - from, most = INFINITY;
      bool is = numbers ? y >= from && y <= from + size
                        : lapis_mat_at(&low, (int)y, j) > 0;
      if (!numbers) size = from + lapis_mat_at(&low, 1, j), most = K;
      if (!numbers) size += lapis_mat_at(&low, 2, j);
      if (all || numbers) assert_int_equal(size >= most, all);
      in[j % 2] += is || (numbers && all);
      sizes += j % 2 == 0 || numbers ? 0 : size / (NEW / 2) / DRAWS;
    }
    lapis_solver_free(s);
    lapis_model_free(m);
    discard(w);
  }
  for (int k = 0; k < 2; k++)
    CHECK_AT_LEAST(in[k] / (NEW / 2) / DRAWS, .9 - sqrt(2) * slack(.9));
  CHECK_AT_MOST(sizes, 2.2); /* of whole samples */
}

/* A word that is not met, of ten that a column has, is one gap of three. */
static void words_are_one_thing_that_is_known(void **state)
{
  enum { FEATURES = 12, WORDS = 10 };
  static const char *name[FEATURES] = {"a",   "b=0", "b=1", "b=2", "b=3", "b=4",
                                       "b=5", "b=6", "b=7", "b=8", "b=9", "c"};
  double x[FEATURES];
  lapis_ctx *ctx = lapis_ctx_new();
  (void)state;
  for (int named = 0; named < 2; named++) {
    lapis_data data = {.X = lapis_mat_f64(x, FEATURES, 1)};
    if (named) data.feature_names = lapis_mat_text(name, 1, FEATURES);
    bool *begins = coverage_begins(ctx, &data);
    assert_non_null(begins);
    for (int i = 0; i < FEATURES; i++) x[i] = 1;
    assert_int_equal(coverage_gaps(&data.X, begins, 0), 0);
    for (int i = 1; i <= WORDS; i++) x[i] = NAN;
    assert_int_equal(coverage_gaps(&data.X, begins, 0), named ? 0 : 2);
    x[0] = NAN;
    assert_int_equal(coverage_gaps(&data.X, begins, 0), named ? 1 : 2);
    base_free(begins);
  }
  lapis_ctx_free(ctx);
}

static void gaps_keep_the_promise(void **state)
{
  for (int taught = 0; taught < 2; taught++) {
    gaps_are_apart(CLASSES, taught);
    gaps_are_apart(NUMBERS, taught);
  }
}

static void check_promise(kind of, double share, double most_size)
{
  double covered = 0, sizes = 0, size = 0;
  for (uint64_t seed = 1; seed <= DRAWS; seed++) {
    world *w = make(of, seed);
    lapis_auto_settings set = settings(share);
    lapis_model *m = fit(w, &set);
    lapis_solver *s = predict(w, m);
    covered += (of == NUMBERS ? within(w, s) : inside(w, s, -1, &size)) / DRAWS;
    sizes += size / DRAWS;
    lapis_solver_free(s);
    lapis_model_free(m);
    discard(w);
  }
  CHECK_AT_LEAST(covered, share - slack(share));
  CHECK_AT_MOST(covered, share + slack(share) + .02);
  CHECK_AT_MOST(sizes, most_size);
}

static void sets_of_classes_keep_their_promise(void **state)
{
  check_promise(CLASSES, .8, 1.5);
  check_promise(CLASSES, .9, 2);
}

static void sets_of_labels_keep_their_promise(void **state)
{
  check_promise(LABELS, .9, 1.5);
}

static void intervals_keep_their_promise(void **state)
{
  check_promise(NUMBERS, .8, 0);
  check_promise(NUMBERS, .95, 0);
}

/* The middle class is the one that is told worst. */
static void every_class_is_covered(void **state)
{
  double worst[2] = {0};
  for (uint64_t seed = 1; seed <= DRAWS; seed++) {
    world *w = make(CLASSES, seed);
    lapis_auto_settings set = settings(.8);
    lapis_model *m = fit(w, &set);
    for (int by = 0; by < 2; by++) {
      double size;
      assert_int_equal(lapis_model_set_coverage(w->ctx, m, .8, by), LAPIS_OK);
      lapis_solver *s = predict(w, m);
      worst[by] += inside(w, s, 1, &size) / DRAWS;
      lapis_solver_free(s);
    }
    lapis_model_free(m);
    discard(w);
  }
  CHECK_AT_MOST(worst[LAPIS_COVERAGE_ALL], .78);
  CHECK_AT_LEAST(worst[LAPIS_COVERAGE_CLASS], .8 - sqrt((double)K) * slack(.8));
}

/* Eight samples a group, of one level that no feature tells, and a feature that
 * tells the groups of the fit apart: only groups that are hidden whole promise
 * something for new ones. */
static void new_groups_are_covered(void **state)
{
  enum { EACH = 8, FEW = DRAWS / 2 };
  double covered[2] = {0};
  int64_t group[KNOWN];
  for (uint64_t seed = 1; seed <= FEW; seed++) {
    world *w = make(NUMBERS, seed);
    lapis_auto_settings set = settings(.8);
    set.candidates = "trees";
    set.targets = LAPIS_TARGETS_NUMBERS;
    double level = 0, mark = 0;
    for (int j = 0; j < KNOWN + NEW; j++) {
      bool old = j < KNOWN;
      int i = old ? j : j - KNOWN;
      if (j % EACH == 0) level = 3 * check_normal(&w->seed);
      if (j % EACH == 0) mark = check_normal(&w->seed);
      (old ? w->Y : w->truth)[i] += level;
      (old ? w->X : w->Z)[D * i + 1] = mark;
      if (old) group[j] = j / EACH;
    }
    for (int whole = 0; whole < 2; whole++) {
      w->data.group = whole ? group : NULL;
      lapis_model *m = fit(w, &set);
      lapis_solver *s = predict(w, m);
      covered[whole] += within(w, s) / FEW;
      lapis_solver_free(s);
      lapis_model_free(m);
    }
    discard(w);
  }
  CHECK_AT_MOST(covered[0], .65);
  CHECK_AT_LEAST(covered[1], .8 - sqrt(2. * EACH) * slack(.8));
}

/* What the file keeps answers alike; larger shares keep what smaller ones do,
 * and the answer is in each; 0 has no sets. */
static void a_model_answers_with_any_share(void **state)
{
  char path[] = "/tmp/lapis-coverage-XXXXXX";
  static const double share[] = {.05, .5, .8, .9, .99};
  world *w = make(CLASSES, 3);
  lapis_auto_settings set = settings(.9);
  lapis_model *m = fit(w, &set), *again;
  double before[K * NEW] = {0};
  int fd = mkstemp(path);
  assert_true(fd >= 0 && close(fd) == 0);
  assert_int_equal(lapis_model_save(w->ctx, m, path), LAPIS_OK);
  assert_int_equal(lapis_model_load(w->ctx, path, &again), LAPIS_OK);
  lapis_solver *s = predict(w, m), *t = predict(w, again);
  assert_memory_equal(result(s, "classes_kept").val,
                      result(t, "classes_kept").val, sizeof before);
  lapis_solver_free(s);
  lapis_solver_free(t);
  for (size_t k = 0; k < sizeof share / sizeof *share; k++) {
    assert_int_equal(lapis_model_set_coverage(w->ctx, again, share[k], 0),
                     LAPIS_OK);
    s = predict(w, again);
    lapis_mat kept = result(s, "classes_kept"), labels = result(s, "labels");
    for (int64_t j = 0; j < NEW; j++) {
      for (int64_t v = 0; v < K; v++) {
        assert_true(lapis_mat_at(&kept, v, j) >= before[K * j + v]);
        before[K * j + v] = lapis_mat_at(&kept, v, j);
      }
      assert_true(before[K * j + (int64_t)lapis_mat_at(&labels, 0, j)] > 0);
    }
    lapis_solver_free(s);
  }
  assert_int_equal(lapis_model_set_coverage(w->ctx, again, 0, 0), LAPIS_OK);
  s = predict(w, again);
  assert_true(has(s, "labels") && !has(s, "classes_kept"));
  lapis_solver_free(s);
  assert_int_equal(lapis_model_set_coverage(w->ctx, again, 90, 0),
                   LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(w->ctx), "coverage is 90"));
  set.coverage = 0;
  lapis_model *plain = fit(w, &set);
  assert_int_equal(lapis_model_set_coverage(w->ctx, plain, .9, 0),
                   LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(w->ctx), "keeps no scores"));
  lapis_model_free(plain);
  lapis_model_free(m);
  lapis_model_free(again);
  unlink(path);
  discard(w);
}

/* Ten numbers promise no .95: the interval has no end, and it is said. */
static void few_numbers_promise_little(void **state)
{
  world *w = make(NUMBERS, 5);
  lapis_auto_settings set = settings(.95);
  lapis_solver *s;
  set.targets = LAPIS_TARGETS_NUMBERS;
  for (int j = 10; j < KNOWN; j++) w->Y[j] = NAN;
  assert_int_equal(lapis_auto_new(w->ctx, &w->data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  lapis_mat low = result(s, "set_low");
  assert_true(isinf(lapis_mat_at(&low, 0, KNOWN - 1)));
  assert_true(remarks(s, "coverage-short"));
  assert_null(strstr(remark_of(s, "coverage"), TRUE_SHARE_IS));
  lapis_solver_free(s);
  discard(w);
}

/* What n known labels keep to is near the quantiles of Beta(k, n + 1 - k),
 * which P(Bin(n, x) >= k) has at .025 and .975. */
static void the_range_is_that_of_beta(void **state)
{
  static const double share[] = {.8, .9, .95};
  static const int64_t count[] = {20, 50, 100, 400};
  for (int i = 0; i < 3; i++)
    for (int l = 0; l < 4; l++) {
      coverage c = {.share = share[i]};
      double end[2], n = (double)count[l];
      double k = (double)coverage_rank(&c, count[l]);
      lapis_share_interval(k / n, n, &end[0], &end[1]);
      for (int e = 0; e < 2; e++) {
        double low = 0, high = 1;
        for (int step = 0; step < 60; step++) {
          double x = (low + high) / 2, above = 0;
          for (double m = k; m <= n; m++)
            above += exp(lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1) +
                         m * log(x) + (n - m) * log1p(-x));
          if (above < (e == 0 ? .025 : .975))
            low = x;
          else
            high = x;
        }
        CHECK_NEAR(end[e], low, count[l] < 100 ? .02 : .003);
      }
    }
}

/* A class of one sample is never hidden, and counts as told worst. */
static void a_class_of_one_stays(void **state)
{
  world *w = make(CLASSES, 6);
  lapis_auto_settings set = settings(.9);
  w->Y[0] = 7;
  lapis_model *m = fit(w, &set);
  lapis_solver *s = predict(w, m);
  lapis_mat value = result(s, "kept_values"), kept;
  assert_int_equal(value.cols, K + 1);
  assert_true(lapis_mat_at(&value, 0, K) == 7);
  lapis_solver_free(s);
  assert_int_equal(lapis_model_set_coverage(w->ctx, m, .9, 1), LAPIS_OK);
  s = predict(w, m);
  kept = result(s, "classes_kept");
  for (int64_t j = 0; j < NEW; j++) assert_true(lapis_mat_at(&kept, K, j) > 0);
  lapis_solver_free(s);
  lapis_model_free(m);
  discard(w);
}

/* A solver that has answered without sets is asked for them, and for a model
 * that predicts with them. */
static lapis_status ask_for_sets(world *w, lapis_solver *s)
{
  lapis_auto_settings set = settings(.9);
  lapis_model *m = NULL;
  lapis_solver *p = NULL;
  lapis_status status = lapis_solver_retune(s, &set);
  if (status >= 0) status = lapis_solve(s);
  if (status >= 0) status = lapis_model_new(s, &m);
  if (status >= 0) status = lapis_model_set_coverage(w->ctx, m, .8, 1);
  if (status >= 0) status = lapis_predict_new(w->ctx, &w->later, m, NULL, &p);
  if (status >= 0) status = lapis_solve(p);
  if (status >= 0) assert_true(has(s, "classes_kept"));
  lapis_solver_free(p);
  lapis_model_free(m);
  return status;
}

static void sets_survive_scarcity(void **state)
{
  world *w = make(CLASSES, 8);
  lapis_auto_settings set = settings(0);
  lapis_solver *s;
  long k = 0;
  w->later.X.cols = 5;
  for (int j = 40; j < KNOWN; j++) w->Y[j] = NAN;
  for (;; k += room_step(k)) {
    assert_int_equal(lapis_auto_new(w->ctx, &w->data, &set, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), LAPIS_OK);
    scarce.countdown = k;
    scarce.failed = false;
    lapis_status status = ask_for_sets(w, s);
    scarce.countdown = -1;
    lapis_solver_free(s);
    if (status >= 0) break;
    if (status != LAPIS_ENOMEM)
      fail_msg("allocation %ld: status %d: %s", k, status,
               lapis_ctx_error(w->ctx));
  }
  assert_true(k > 20 && !scarce.failed);
  discard(w);
}

int test_coverage(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_class_that_is_missed_is_named),
      cmocka_unit_test(sets_of_classes_keep_their_promise),
      cmocka_unit_test(sets_of_labels_keep_their_promise),
      cmocka_unit_test(intervals_keep_their_promise),
      cmocka_unit_test(every_class_is_covered),
      cmocka_unit_test(words_are_one_thing_that_is_known),
      cmocka_unit_test(gaps_keep_the_promise),
      cmocka_unit_test(new_groups_are_covered),
      cmocka_unit_test(a_model_answers_with_any_share),
      cmocka_unit_test(few_numbers_promise_little),
      cmocka_unit_test(the_range_is_that_of_beta),
      cmocka_unit_test(a_class_of_one_stays),
      cmocka_unit_test(sets_survive_scarcity)};
  return run_cases(tests, NULL, NULL);
}
