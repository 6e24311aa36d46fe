/* auto of numbers: what predicts hidden ones best answers, and a model answers
 * as the fit did, in the units of Y; groups stay whole, weights of 0 teach
 * nothing, noise is said to be noise. */
#include <math.h>

enum { D = 4, N = 160, KNOWN = 120, K = 2 };
#include "methods/plain/plain_case.h"
#include "remarks.h"

static double height(const double *x)
{
  return 1000 + 50 * x[0] - 20 * x[1];
}

static double square(const double *x)
{
  return 10 * ((x[0] > 0) == (x[1] > 0));
}

static problem *make(double (*of)(const double *x))
{
  problem *p = empty_problem();
  uint64_t seed = 7;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) p->X[D * j + i] = 2 * check_uniform(&seed) - 1;
    double y = of(p->X + D * j) + 1e-3 * check_uniform(&seed);
    p->Y[j] = j < KNOWN ? y : NAN;
  }
  return p;
}

static lapis_auto_settings numbers(void)
{
  lapis_auto_settings set = lapis_auto_defaults();
  set.targets = LAPIS_TARGETS_NUMBERS;
  return set;
}

static lapis_solver *fit(problem *p, const lapis_auto_settings *set)
{
  lapis_solver *s;
  lapis_status status = lapis_auto_new(p->ctx, &p->data, set, &s);
  return solved(p, status, s);
}

static double r2(const problem *p, const double *said,
                 double (*of)(const double *x))
{
  double miss = 0, mean = 0, spread = 0;
  for (int j = KNOWN; j < N; j++) mean += of(p->X + D * j) / (N - KNOWN);
  for (int j = KNOWN; j < N; j++) {
    double y = of(p->X + D * j);
    miss += (said[j] - y) * (said[j] - y);
    spread += (y - mean) * (y - mean);
  }
  return 1 - miss / spread;
}

static const char *method_at(lapis_solver *s, int64_t row)
{
  lapis_mat names;
  assert_int_equal(lapis_result_get(s, "candidates", &names), 0);
  return ((const char *const *)names.val)[row * names.rows];
}

/* Lines are answered by what draws lines; the list is in order, and its first
 * row answers. */
static void lines_are_told(void **state)
{
  problem *p = make(height);
  lapis_auto_settings set = lapis_auto_defaults(); /* numbers by themselves */
  lapis_solver *s = fit(p, &set);
  lapis_mat figures;
  CHECK_AT_LEAST(r2(p, check_result(s, "scores"), height), .999);
  assert_true(check_result(s, "chosen")[0] == 0);
  assert_string_not_equal(method_at(s, 0), "trees");
  assert_int_equal(lapis_result_get(s, "candidate_figures", &figures), 0);
  for (int64_t k = 1; k < figures.cols; k++)
    assert_true(lapis_mat_at(&figures, 0, k) >=
                lapis_mat_at(&figures, 0, k - 1));
  CHECK_NEAR(lapis_mat_at(&figures, 0, 0) + lapis_mat_at(&figures, 2, 0), 1,
             1e-12);
  assert_true(isnan(lapis_mat_at(&figures, 3, 0)));
  discard(p, s);
}

/* No line cuts a chess board; with gaps and a mean of several the model says
 * what the fit said, to the bit. */
static void squares_are_told(void **state)
{
  problem *p = make(square);
  for (int j = 0; j < N; j++) p->X[D * j + 2 + j % 2] = NAN;
  lapis_auto_settings set = numbers();
  lapis_solver *s = fit(p, &set), *q;
  lapis_model *model;
  CHECK_AT_LEAST(r2(p, check_result(s, "scores"), square), .6);
  lapis_data all = {.X = p->data.X};
  assert_int_equal(lapis_model_new(s, &model), 0);
  assert_int_equal(lapis_predict_new(p->ctx, &all, model, NULL, &q), 0);
  assert_int_equal(lapis_solve(q), 0);
  for (int j = 0; j < N; j++)
    CHECK_NEAR(check_result(q, "scores")[j], check_result(s, "scores")[j],
               1e-12);
  lapis_solver_free(q);
  lapis_model_free(model);
  discard(p, s);
}

/* Slipped decimals among known numbers are named; without them nothing is. */
static void far_numbers_are_named(void **state)
{
  lapis_auto_settings set = numbers();
  set.candidates = "linear";
  for (int slips = 0; slips < 2; slips++) {
    problem *p = make(height);
    uint64_t seed = 3;
    for (int j = 0; j < KNOWN; j++) p->Y[j] += 5 * check_normal(&seed);
    if (slips) p->Y[11] *= 10;
    if (slips) p->Y[70] /= 10;
    lapis_solver *s = fit(p, &set);
    assert_int_equal(check_note(s, "far-numbers") != NULL, slips);
    discard(p, s);
  }
}

/* A slipped decimal and a code among features, too, unless trim is given. */
static void far_cells_are_named(void **state)
{
  lapis_auto_settings set = numbers();
  set.candidates = "linear";
  for (int slips = 0; slips < 3; slips++) {
    problem *p = make(height);
    if (slips > 0) p->X[2 + D * 30] *= 100;
    if (slips > 0) p->X[D * 12] = p->X[D * 77] = -999;
    if (slips > 1) set.map = "trim,standard";
    lapis_solver *s = fit(p, &set);
    const char *note = check_note(s, "far-cells");
    assert_int_equal(note != NULL, slips == 1);
    if (note != NULL) check_says(note, "auto: 3 cells are " FAR_FROM_ALL);
    if (note != NULL) check_says(note, "first feature 1 is -999 in row 13");
    discard(p, s);
  }
}

static double grow(const double *x)
{
  return exp(2 * x[0]);
}

/* Errors that grow with numbers above 0: no interval reaches below 0, and the
 * third that the intervals are too narrow for is named. */
static void skewed_numbers_have_their_third(void **state)
{
  (void)state;
  problem *p = make(grow);
  lapis_auto_settings set = numbers();
  uint64_t seed = 3;
  for (int j = 0; j < KNOWN; j++) p->Y[j] *= exp(.5 * check_normal(&seed));
  set.coverage = .9;
  set.candidates = "linear,trees";
  set.outliers = LAPIS_OUTLIERS_LEARN;
  lapis_solver *s = fit(p, &set);
  const double *low = check_result(s, "set_low");
  const double *high = check_result(s, "set_high");
  const double *said = check_result(s, "scores");
  for (int j = KNOWN; j < N; j++)
    assert_true(low[j] <= said[j] && said[j] <= high[j] &&
                low[j] >= fmin(0, said[j]));
  const char *note = check_note(s, "coverage-third");
  assert_non_null(note);
  check_says(note, "largest");
  discard(p, s);
}

/* One cell of ten is far off, in what is asked, too: features without these
 * tell numbers, and the choice repeats the run. */
static void far_cells_are_left_out(void **state)
{
  problem *p = make(height), *q = make(height), *clean = make(height);
  uint64_t seed = 9;
  for (int k = 0; k < D * N; k++)
    if (check_uniform(&seed) < .1)
      p->X[k] += check_uniform(&seed) < .5 ? 5 : -5;
  memcpy(q->X, p->X, sizeof q->X);
  lapis_auto_settings set = numbers();
  lapis_solver *s = fit(p, &set), *again;
  lapis_mat choice;
  CHECK_AT_LEAST(r2(clean, check_result(s, "scores"), height), .7);
  assert_int_equal(lapis_result_get(s, "choice", &choice), 0);
  const char *text = *(const char *const *)choice.val;
  assert_non_null(strstr(text, "--map trim,standard"));
  set.candidates = text;
  again = fit(q, &set);
  for (int j = 0; j < N; j++)
    CHECK_NEAR(check_result(again, "scores")[j], check_result(s, "scores")[j],
               1e-9);
  discard(clean, NULL);
  discard(q, again);
  discard(p, s);
}

/* In the units of Y, where it is known, by a model that had not seen it. */
static void known_numbers_are_held_out(void **state)
{
  problem *p = make(height);
  lapis_auto_settings set = numbers();
  set.candidates = "linear";
  set.held_out = 4;
  lapis_solver *s = fit(p, &set);
  const double *held = check_result(s, "held_out");
  for (int j = 0; j < N; j++)
    if (j < KNOWN)
      CHECK_NEAR(held[j], p->Y[j], 5);
    else
      assert_true(isnan(held[j]));
  discard(p, s);
}

/* Wrong numbers of weight 0 do not matter; and each sample is its group's: what
 * tells groups apart is no help. */
static void weights_and_groups_count(void **state)
{
  problem *p = make(height);
  double weight[N];
  int64_t group[N];
  for (int j = 0; j < N; j++) weight[j] = 1;
  for (int j = 0; j < 40; j++) p->Y[j] = -1e4 * j, weight[j] = 0;
  p->data.weight = weight;
  lapis_auto_settings set = numbers();
  lapis_solver *s = fit(p, &set);
  CHECK_AT_LEAST(r2(p, check_result(s, "scores"), height), .99);
  lapis_solver_free(s);
  uint64_t seed = 3;
  double of[8];
  for (int g = 0; g < 8; g++) of[g] = check_uniform(&seed);
  for (int j = 0; j < N; j++) {
    group[j] = j % 8;
    weight[j] = 1;
    p->X[D * j] = group[j];
    p->Y[j] = of[group[j]];
  }
  p->data.group = group;
  s = fit(p, &set);
  lapis_mat figures;
  assert_int_equal(lapis_result_get(s, "candidate_figures", &figures), 0);
  assert_true(lapis_mat_at(&figures, 2, 0) < .5);
  assert_true(check_result(s, "hidden")[2] == 2);
  discard(p, s);
}

static void noise_is_said_to_be_noise(void **state)
{
  problem *p = make(height);
  uint64_t seed = 5;
  lapis_auto_settings set = numbers();
  lapis_solver *s = fit(p, &set);
  assert_true(!check_note(s, "unsure") && check_note(s, "cleaning"));
  lapis_solver_free(s);
  for (int j = 0; j < KNOWN; j++) p->Y[j] = check_normal(&seed);
  s = fit(p, &set);
  assert_true(check_note(s, "unsure"));
  discard(p, s);
}

/* R^2 of numbers said while they were hidden, each sample drawn `times[j]`
 * times. */
static double drawn_r2(const problem *p, const double *said, const int *times)
{
  double mean = 0, miss = 0, spread = 0;
  for (int j = 0; j < KNOWN; j++) mean += times[j] * p->Y[j] / KNOWN;
  for (int j = 0; j < KNOWN; j++) {
    miss += times[j] * (said[j] - p->Y[j]) * (said[j] - p->Y[j]);
    spread += times[j] * (p->Y[j] - mean) * (p->Y[j] - mean);
  }
  return 1 - miss / spread;
}

/* What a few targets far from the mean, well told, would blow up if R^2 were
 * not a ratio. */
static void error_of_r2_is_that_of_a_bootstrap(void **state)
{
  enum { DRAWS = 2000 };
  problem *p = make(height);
  uint64_t seed = 11;
  for (int j = 0; j < 6; j++) p->X[D * j] *= 8;
  for (int j = 0; j < KNOWN; j++)
    p->Y[j] = height(p->X + D * j) * (1 + .04 * check_normal(&seed));
  lapis_auto_settings set = numbers();
  set.candidates = "linear";
  set.held_out = 5;
  lapis_solver *s = fit(p, &set);
  lapis_mat figures;
  assert_int_equal(lapis_result_get(s, "candidate_figures", &figures), 0);
  double sum = 0, square = 0;
  for (int b = 0; b < DRAWS; b++) {
    int times[KNOWN] = {0};
    for (int j = 0; j < KNOWN; j++)
      times[(int)(KNOWN * check_uniform(&seed))]++;
    double r = drawn_r2(p, check_result(s, "held_out"), times);
    sum += r / DRAWS;
    square += r * r / DRAWS;
  }
  double ratio = lapis_mat_at(&figures, 1, 0) / sqrt(square - sum * sum);
  CHECK_AT_LEAST(ratio, .7);
  CHECK_AT_LEAST(1.4, ratio);
  discard(p, s);
}

/* rr beside ridge regression is told by its figures: whether it removed errors
 * is for rr itself to say, which may have removed none. */
static void rr_alone_says_what_it_removed(void **state)
{
  problem *p = make(height);
  lapis_auto_settings set = numbers();
  set.candidates = "rr,linear";
  lapis_solver *s = fit(p, &set);
  const char *text = check_note(s, "cleaning");
  assert_non_null(text);
  assert_non_null(strstr(text, "ridge regression"));
  assert_null(strstr(text, "worth it"));
  discard(p, s);
}

/* What does not go with numbers is said; a handful is answered by rr. */
/* By its place in X, of labels and of numbers, before anything is compared. */
static void infinite_cells_are_placed(void **state)
{
  for (int labels = 0; labels < 2; labels++) {
    problem *p = make(height);
    lapis_auto_settings set = numbers();
    lapis_solver *s = NULL;
    if (labels) set.targets = LAPIS_TARGETS_CLASSES;
    set.candidates = "linear";
    for (int j = 0; labels && j < KNOWN; j++) p->Y[j] = j % 2;
    p->X[D * 3 + 1] = INFINITY;
    assert_int_not_equal(lapis_auto_new(p->ctx, &p->data, &set, &s), LAPIS_OK);
    check_says(lapis_ctx_error(p->ctx), "4");
    discard(p, NULL);
  }
}

static void what_cannot_be_compared(void **state)
{
  problem *p = make(height);
  lapis_auto_settings set = numbers();
  lapis_solver *s;
  set.candidates = "mc";
  assert_int_equal(lapis_auto_new(p->ctx, &p->data, &set, &s), LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(p->ctx), "rr, linear, trees"));
  set.targets = LAPIS_TARGETS_CLASSES;
  set.candidates = "rr";
  assert_int_equal(lapis_auto_new(p->ctx, &p->data, &set, &s), LAPIS_EINVAL);
  set = numbers();
  for (int j = 1; j < N; j++) p->Y[j] = NAN;
  s = fit(p, &set);
  assert_true(check_note(s, "not-chosen"));
  discard(p, s);
}

int test_numbers(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_told),
      cmocka_unit_test(squares_are_told),
      cmocka_unit_test(far_numbers_are_named),
      cmocka_unit_test(far_cells_are_named),
      cmocka_unit_test(far_cells_are_left_out),
      cmocka_unit_test(skewed_numbers_have_their_third),
      cmocka_unit_test(known_numbers_are_held_out),
      cmocka_unit_test(error_of_r2_is_that_of_a_bootstrap),
      cmocka_unit_test(weights_and_groups_count),
      cmocka_unit_test(noise_is_said_to_be_noise),
      cmocka_unit_test(rr_alone_says_what_it_removed),
      cmocka_unit_test(infinite_cells_are_placed),
      cmocka_unit_test(what_cannot_be_compared),
  };
  return run_cases(tests, NULL, NULL);
}
