/* auto: what it says of its choice is what was compared; its parts stay from
 * solve to solve; two of other features are compared on the same labels. */
#include "check.h"
#include "lapis/choose.h"
#include "remarks.h"

#include <time.h>

enum { N = 120, D = 3, KNOWN = 70, FIGURES = 10 };
typedef struct table {
  lapis_ctx *ctx;
  double X[D * N], Y[N];
  lapis_data data;
} table;

/* The first feature says something, more or less. */
static table *make(double says)
{
  table *t = calloc(1, sizeof *t);
  uint64_t seed = 3;
  assert_non_null(t);
  t->ctx = lapis_ctx_new();
  for (int j = 0; j < N; j++) {
    bool yes = check_uniform(&seed) < .4;
    for (int i = 0; i < D; i++) t->X[D * j + i] = check_normal(&seed);
    t->X[D * j] += yes ? says : 0;
    t->Y[j] = j < KNOWN ? yes : NAN;
  }
  t->data.X = lapis_mat_f64(t->X, D, N);
  t->data.Y = lapis_mat_f64(t->Y, 1, N);
  return t;
}

static void discard(table *t)
{
  lapis_ctx_free(t->ctx);
  free(t);
}

static lapis_mat result(const lapis_solver *s, const char *name)
{
  lapis_mat out;
  assert_int_equal(lapis_result_get(s, name, &out), LAPIS_OK);
  return out;
}

static bool has(const lapis_solver *s, const char *name)
{
  const char *at;
  for (int i = 0; (at = lapis_result_name(s, i)) != NULL; i++)
    if (strcmp(at, name) == 0) return true;
  return false;
}

/* Compared, then answered, then held out: what came before stays, to the bit,
 * and so is what one solve of all finds. */
static void parts_stay(void **state)
{
  table *t = make(2);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s, *whole;
  set.compare_only = true;
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_true(has(s, "candidates") && !has(s, "labels") && !has(s, "held_out"));
  set.compare_only = false;
  assert_int_equal(lapis_solver_retune(s, &set), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_true(has(s, "labels") && !has(s, "held_out"));
  set.held_out = 3;
  assert_int_equal(lapis_solver_retune(s, &set), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &whole), LAPIS_OK);
  assert_int_equal(lapis_solve(whole), LAPIS_OK);
  static const char *const same[] = {"candidate_figures", "labels",
                                     "probabilities", "held_out"};
  for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
    lapis_mat a = result(s, same[k]), b = result(whole, same[k]);
    assert_memory_equal(a.val, b.val,
                        (size_t)(a.rows * a.cols) * sizeof(double));
  }
  lapis_solver_free(whole);
  lapis_solver_free(s);
  discard(t);
}

/* Rows of which nothing is known are as the mean of the others, where nothing
 * else is missing, so that X has no gaps. */
static void a_blank_row_is_a_mean_one(void **state)
{
  (void)state;
  table *t = make(2), *whole = make(2);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s, *w;
  static const int blank[] = {3, KNOWN + 1, N - 1};
  enum { BLANK = sizeof blank / sizeof *blank };
  double mean[D] = {0};
  for (int b = 0; b < BLANK; b++)
    for (int i = 0; i < D; i++) t->X[D * blank[b] + i] = NAN;
  for (int i = 0; i < D; i++)
    for (int j = 0; j < N; j++)
      mean[i] += isnan(t->X[D * j + i]) ? 0 : t->X[D * j + i] / (N - BLANK);
  for (int b = 0; b < BLANK; b++)
    memcpy(whole->X + D * blank[b], mean, sizeof mean);
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_auto_new(whole->ctx, &whole->data, &set, &w),
                   LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_int_equal(lapis_solve(w), LAPIS_OK);
  assert_true(check_note(s, "blank-row") && !check_note(w, "blank-row"));
  lapis_mat a = result(s, "probabilities"), b = result(w, "probabilities");
  for (int j = 0; j < N; j++)
    CHECK_NEAR(lapis_mat_at(&a, 0, j), lapis_mat_at(&b, 0, j), 1e-9);
  CHECK_NEAR(lapis_mat_at(&a, 0, N - 1), .4, .25); /* that of guessing */
  lapis_solver_free(s);
  lapis_solver_free(w);
  discard(t);
  discard(whole);
}

static double seconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool wait_until(const lapis_progress *now, void *seconds)
{
  (void)now;
  while (seconds_now() < *(double *)seconds) {
  }
  return true;
}

/* An answer that was proved, of candidates that time cut short: the status says
 * so. */
static void waiting_ends_it(void **state)
{
  table *t = make(2);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s;
  double end = seconds_now() + .6;
  set.stop.seconds = 1;
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_OK);
  lapis_ctx_on_progress(t->ctx, wait_until, &end);
  assert_int_equal(lapis_solve(s), LAPIS_TIME_LIMIT);
  assert_true(has(s, "labels"));
  lapis_solver_free(s);
  discard(t);
}

/* Log-loss and accuracy of who answers, from what it says of labels that it was
 * not shown: other folds, so about the same. */
static void figures_are_true(void **state)
{
  table *t = make(2);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s;
  set.held_out = 5;
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  lapis_mat p = result(s, "held_out"), f = result(s, "candidate_figures");
  int64_t chosen = (int64_t)check_result(s, "chosen")[0];
  double loss = 0, right = 0, yes = 0;
  for (int j = 0; j < N; j++) {
    double q = lapis_mat_at(&p, 0, j);
    assert_true(isnan(q) == isnan(t->Y[j]));
    if (isnan(q)) continue;
    loss -= log(t->Y[j] > 0 ? q : 1 - q) / KNOWN;
    right += (double)((q > .5) == (t->Y[j] > 0)) / KNOWN;
    yes += (double)(t->Y[j] > 0) / KNOWN;
  }
  assert_int_equal(f.rows, FIGURES);
  CHECK_NEAR(lapis_mat_at(&f, 0, chosen), loss, .1);
  CHECK_NEAR(lapis_mat_at(&f, 3, chosen), right, .1);
  CHECK_AT_LEAST(lapis_mat_at(&f, 8, chosen), 1); /* it has learnt */
  CHECK_NEAR(lapis_mat_at(&f, 9, chosen), fmax(yes, 1 - yes), 1e-12);
  lapis_solver_free(s);
  discard(t);
}

/* Few labels of many samples: a border that is no line is found, as it is
 * among few samples. */
static void many_samples_may_be_curved(void **state)
{
  enum { MANY = 12000, FEATURES = 4, EACH = 12 };
  uint64_t seed = 21;
  double *X = test_calloc(FEATURES * MANY, sizeof *X),
         *Y = test_calloc(MANY, sizeof *Y);
  int right = 0;
  lapis_auto_settings set;
  lapis_solver *s;
  lapis_mat labels;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < MANY; j++) {
    for (int i = 0; i < FEATURES; i++)
      X[j * FEATURES + i] = check_normal(&seed);
    Y[j] = j % EACH > 0 ? NAN : X[j * FEATURES] * X[j * FEATURES + 1] > 0;
  }
  lapis_data data = {.X = lapis_mat_f64(X, FEATURES, MANY),
                     .Y = lapis_mat_f64(Y, 1, MANY)};
  lapis_settings_default(lapis_method_find("auto"), &set);
  assert_int_equal(lapis_auto_new(ctx, &data, &set, &s), LAPIS_OK);
  assert_true(lapis_solve(s) >= 0);
  assert_int_equal(lapis_result_get(s, "labels", &labels), LAPIS_OK);
  for (int j = 0; j < MANY; j++)
    right += isnan(Y[j]) && lapis_mat_at(&labels, 0, j) ==
                                (X[j * FEATURES] * X[j * FEATURES + 1] > 0);
  CHECK_AT_LEAST((double)right, .85 * MANY * (EACH - 1) / EACH);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  test_free(X);
  test_free(Y);
}

/* Accuracy never stands without that of the commonest answer. */
static void expectations_name_the_commonest_answer(void **state)
{
  double figure[2 * FIGURES] = {
      [4] = .8125, [5] = .9, [8] = 1, [9] = .624, [FIGURES + 4] = NAN};
  char text[256];
  lapis_mat f = lapis_mat_f64(figure, FIGURES, 2);
  (void)state;
  assert_string_equal(
      lapis_expected_text(&f, 0, text, sizeof text),
      "81 to 90 % are right (a 95 % interval), 62 % by always giving the "
      "commonest answer; this holds for samples like those with a label, and "
      "takes these labels as right");
  assert_string_equal(lapis_expected_text(&f, 1, text, sizeof text), "");
  figure[4] = .997;
  figure[5] = .9999;
  check_says(lapis_expected_text(&f, 0, text, sizeof text), "99 to 100 %");
  figure[8] = 0;
  assert_non_null(
      strstr(lapis_expected_text(&f, 0, text, sizeof text), NOTHING_LEARNT));
}

/* Of several classes the same by -log p of the true one of all: what guessing
 * loses to the digit, as all labels are hidden, and about what is held out. */
static void figures_of_classes_are_true(void **state)
{
  enum { OF = 4 };
  table *t = make(0);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s;
  double known[OF] = {0}, guess = 0, loss = 0;
  uint64_t seed = 8;
  for (int j = 0; j < N; j++) {
    int y = (int)fmin(check_uniform(&seed) * (OF + 1), OF - 1);
    for (int i = 0; i < D; i++) t->X[D * j + i] += i == y ? 2.5 : 0;
    t->Y[j] = j < KNOWN ? y : NAN;
    if (j < KNOWN) known[y]++;
  }
  set.held_out = 3;
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  lapis_mat p = result(s, "held_out"), f = result(s, "candidate_figures");
  int64_t chosen = (int64_t)check_result(s, "chosen")[0];
  for (int j = 0; j < KNOWN; j++) {
    int y = (int)t->Y[j];
    guess -= log((known[y] + 1) / (KNOWN + OF)) / KNOWN;
    loss -= log(lapis_mat_at(&p, y, j)) / KNOWN;
  }
  CHECK_NEAR(check_result(s, "hidden")[3], guess, 1e-12);
  CHECK_NEAR(lapis_mat_at(&f, 0, chosen), loss, .15 * loss);
  double most = fmax(fmax(known[0], known[1]), fmax(known[2], known[3]));
  CHECK_NEAR(lapis_mat_at(&f, 9, chosen), most / KNOWN, 1e-12);
  lapis_solver_free(s);
  discard(t);
}

/* Features that say more lose less, on the same labels. */
static void features_are_compared(void **state)
{
  table *much = make(3), *little = make(.2);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *a, *b;
  double by, error, back, none;
  set.compare_only = true;
  set.candidates = "linear";
  assert_int_equal(lapis_auto_new(much->ctx, &much->data, &set, &a), LAPIS_OK);
  assert_int_equal(lapis_auto_new(much->ctx, &little->data, &set, &b),
                   LAPIS_OK);
  assert_int_equal(lapis_auto_behind(a, b, &by, &error), LAPIS_OK);
  assert_true(isnan(by)); /* nothing was compared yet */
  assert_int_equal(lapis_solve(a), LAPIS_OK);
  assert_int_equal(lapis_solve(b), LAPIS_OK);
  assert_int_equal(lapis_auto_behind(a, b, &by, &error), LAPIS_OK);
  assert_int_equal(lapis_auto_behind(b, a, &back, &none), LAPIS_OK);
  CHECK_AT_MOST(by + 2 * error, 0);
  CHECK_NEAR(by, -back, 1e-12);
  lapis_solver_free(a);
  lapis_solver_free(b);
  discard(much);
  discard(little);
}

/* mc whose mu is open answers as auto with mc alone; where mu is given nothing
 * is chosen, and a map is refused. */
static void open_mc(void **state)
{
  table *t = make(2);
  lapis_mc_settings mc = lapis_mc_defaults();
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *a, *b, *c;
  unsigned has_both = LAPIS_READS_X | LAPIS_READS_Y;
  const lapis_method *m = lapis_method_find("mc");
  assert_true(lapis_method_chooses(m, &mc, has_both));
  assert_false(lapis_method_chooses(m, &mc, LAPIS_READS_X));
  set.candidates = "mc";
  assert_int_equal(lapis_mc_new(t->ctx, &t->data, &mc, &a), LAPIS_OK);
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &b), LAPIS_OK);
  assert_int_equal(lapis_solve(a), LAPIS_OK);
  assert_int_equal(lapis_solve(b), LAPIS_OK);
  assert_memory_equal(check_result(a, "scores"), check_result(b, "scores"),
                      N * sizeof(double));
  const lapis_mc_settings *got = lapis_result_settings(a);
  assert_true(got->mu_rel > 0 && got->lambda > 0 && got->gamma > 0);
  mc.mu_rel = .1;
  assert_false(lapis_method_chooses(m, &mc, has_both));
  assert_int_equal(lapis_mc_new(t->ctx, &t->data, &mc, &c), LAPIS_OK);
  assert_int_equal(lapis_solve(c), LAPIS_OK);
  assert_false(has(c, "candidates"));
  got = lapis_result_settings(c);
  CHECK_NEAR(got->lambda, .1, 0);
  CHECK_NEAR(got->gamma, 3, 0);
  lapis_solver_free(c);
  mc.map = "standard";
  assert_int_equal(lapis_mc_new(t->ctx, &t->data, &mc, &c), LAPIS_EINVAL);
  assert_null(c);
  lapis_solver_free(a);
  lapis_solver_free(b);
  discard(t);
}

/* A turned label stands first by whatever door it is asked for. */
static void suspects_are_by_labels_held_out(void **state)
{
  static const char *const names[] = {"auto", "mc"};
  table *t = make(6);
  int64_t index[4], found;
  double margin[2];
  t->Y[5] = 1 - t->Y[5];
  for (int k = 0; k < 2; k++) {
    assert_int_equal(lapis_suspects(t->ctx, lapis_method_find(names[k]),
                                    &t->data, NULL, NULL, 2, index, margin,
                                    &found, NULL),
                     LAPIS_OK);
    assert_int_equal(found, 2);
    assert_int_equal(index[0], 5);
    assert_true(isnan(margin[0])); /* of one nothing more can be said */
  }
  discard(t);
}

/* ---- light -----------------------------------------------------------*/
enum { LIT = 120, SEEN = 12 };

/* AUROC of the best line behind a map; NaN: there is none. */
static double best_line(const lapis_solver *s, const char *map)
{
  lapis_mat all = result(s, "candidates");
  lapis_mat figure = result(s, "candidate_figures");
  for (int64_t i = 0; i < all.cols; i++) {
    const char *const *text = (const char *const *)all.val + 2 * i;
    bool kernel = strstr(text[1], "nystrom") != NULL;
    if (strcmp(text[0], "linear") == 0 && !kernel && strstr(text[1], map))
      return lapis_mat_at(&figure, 2, i);
  }
  return NAN;
}

/* Every sample has a light of its own: lines of samples of length 1 compete,
 * where features have one unit. */
static void light_is_left_out(void **state)
{
  static double X[SEEN * LIT], Y[LIT];
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t seed = 11;
  for (int j = 0; j < LIT; j++) {
    double light = exp(1.5 * check_normal(&seed));
    Y[j] = check_uniform(&seed) < .5;
    for (int i = 0; i < SEEN; i++)
      X[SEEN * j + i] =
          light * (1 + check_uniform(&seed) + (i % 2 == 0 ? .4 * Y[j] : 0));
  }
  lapis_data data = {.X = lapis_mat_f64(X, SEEN, LIT),
                     .Y = lapis_mat_f64(Y, 1, LIT)};
  for (int units = 1; units <= 2; units++) {
    lapis_auto_settings set = lapis_auto_defaults();
    lapis_solver *s;
    set.candidates = "linear";
    set.compare_only = true;
    assert_int_equal(lapis_auto_new(ctx, &data, &set, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), LAPIS_OK);
    double of = best_line(s, "l2,standard"),
           as = best_line(s, "--map standard");
    if (units == 1 && !isnan(as)) CHECK_AT_LEAST(of, as + .05);
    if (units == 2) assert_true(isnan(of));
    lapis_solver_free(s);
    for (int j = 0; j < LIT; j++) X[SEEN * j] *= 1e4; /* in other units */
  }
  lapis_ctx_free(ctx);
}

/* ---- stopped while it asks ----------------------------------------------*/
enum { ASKED = 6 };
typedef struct watch {
  int seen, stop_at; /* counting from 1; 0: never */
} watch;

static bool count_shown(const lapis_progress *now, void *user)
{
  watch *t = user;
  return strcmp(now->method, "auto") != 0 || ++t->seen != t->stop_at;
}

static lapis_status ask(table *t, int64_t most, watch *by, lapis_solver **s)
{
  lapis_auto_settings set = lapis_auto_defaults();
  set.candidates = "linear";
  set.held_out = 0;
  set.ask = most;
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, s), LAPIS_OK);
  lapis_ctx_on_progress(t->ctx, count_shown, by);
  lapis_status status = lapis_solve(*s);
  lapis_ctx_on_progress(t->ctx, NULL, NULL);
  return status;
}

/* The bar's first step is before the first cluster: whoever stops there gets
 * the least sure, and the solver's answer. */
static void asking_is_shown_and_stopped(void **state)
{
  table *t = make(2);
  lapis_solver *s;
  watch none = {0, 0}, all = {0, 0}, stop = {0, 0};
  assert_int_equal(ask(t, 0, &none, &s), LAPIS_OK);
  lapis_solver_free(s);
  assert_int_equal(ask(t, ASKED, &all, &s), LAPIS_OK);
  CHECK_AT_LEAST(all.seen, none.seen + 1);
  lapis_solver_free(s);
  stop.stop_at = none.seen + 1;
  assert_int_equal(ask(t, ASKED, &stop, &s), LAPIS_CANCELLED);
  assert_int_equal(stop.seen, stop.stop_at);
  lapis_mat p = result(s, "probabilities"), margin = result(s, "ask_margin");
  assert_int_equal(margin.cols, ASKED);
  int surer = 0;
  for (int j = KNOWN; j < N; j++)
    surer += fabs(2 * lapis_mat_at(&p, 0, j) - 1) >
             lapis_mat_at(&margin, 0, ASKED - 1);
  assert_int_equal(surer, N - KNOWN - ASKED);
  lapis_solver_free(s);
  discard(t);
}

/* More than there are to ask about: all are named, and how many they are is
 * said. */
static void all_are_asked(void **state)
{
  static const struct {
    int64_t most;
    const char *said;
  } tried[] = {{N - KNOWN, NULL}, {N, "50 samples"}};
  table *t = make(2);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    lapis_solver *s;
    watch none = {0, 0};
    assert_int_equal(ask(t, tried[k].most, &none, &s), LAPIS_OK);
    assert_int_equal(result(s, "ask_index").cols, N - KNOWN);
    const char *said = check_note(s, "all-asked");
    assert_true((said == NULL) == (tried[k].said == NULL));
    if (said != NULL) check_says(said, tried[k].said);
    lapis_solver_free(s);
  }
  discard(t);
}

/* Several labels a sample: none of the ways is better than chance there. */
static void lot_is_named_for_several_labels(void **state)
{
  table *t = make(2);
  double both[2 * N];
  for (int targets = 1; targets <= 2; targets++) {
    lapis_solver *s;
    watch none = {0, 0};
    for (int j = 0; j < N; j++) {
      both[2 * j] = t->Y[j];
      both[2 * j + 1] = j < KNOWN ? t->X[D * j + 1] > 0 : NAN;
    }
    if (targets == 2) t->data.Y = lapis_mat_f64(both, 2, N);
    assert_int_equal(ask(t, ASKED, &none, &s), LAPIS_OK);
    assert_true((check_note(s, "ask-by-lot") != NULL) == (targets == 2));
    lapis_solver_free(s);
  }
  discard(t);
}

int test_auto(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_samples_may_be_curved),
      cmocka_unit_test(parts_stay),
      cmocka_unit_test(asking_is_shown_and_stopped),
      cmocka_unit_test(all_are_asked),
      cmocka_unit_test(lot_is_named_for_several_labels),
      cmocka_unit_test(light_is_left_out),
      cmocka_unit_test(figures_are_true),
      cmocka_unit_test(expectations_name_the_commonest_answer),
      cmocka_unit_test(a_blank_row_is_a_mean_one),
      cmocka_unit_test(waiting_ends_it),
      cmocka_unit_test(figures_of_classes_are_true),
      cmocka_unit_test(features_are_compared),
      cmocka_unit_test(open_mc),
      cmocka_unit_test(suspects_are_by_labels_held_out)};
  return run_cases(tests, NULL, NULL);
}
