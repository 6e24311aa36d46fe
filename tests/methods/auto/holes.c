/* Gaps of a table without targets: filled near the truth that was hidden,
 * nearer than by lines where columns bend; words by class; as honest as it
 * says; the same in other units; for new samples one by one. */
#include "check.h"

enum { N = 150, D = 7, CLASSES = 3 }; /* the last three features: classes */
typedef struct table {
  lapis_ctx *ctx;
  double truth[D * N], X[D * N];
  int64_t group[N];
  lapis_data data;
} table;

/* Four numbers that bend along two hidden ones, and a class of one of them. */
static table *make(uint64_t seed)
{
  table *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->ctx = lapis_ctx_new();
  for (int j = 0; j < N; j++) {
    double a = 2 * check_uniform(&seed) - 1, b = 2 * check_uniform(&seed) - 1;
    double *x = t->truth + D * j;
    int class_ = a < -.4 ? 0 : a < .4 ? 1 : 2;
    const double v[] = {a, a * a, 1000 * b, 5 - a + b};
    for (int i = 0; i < 4; i++)
      x[i] = v[i] + (i == 2 ? 1000 : 1) * .05 * check_normal(&seed);
    for (int k = 0; k < CLASSES; k++) x[4 + k] = k == class_;
    memcpy(t->X + D * j, x, D * sizeof *x);
    for (int i = 0; i < 5; i++)
      if (check_uniform(&seed) < .2)
        for (int k = i; k < (i == 4 ? D : i + 1); k++) t->X[D * j + k] = NAN;
    t->group[j] = j / 3;
  }
  t->data.X = lapis_mat_f64(t->X, D, N);
  return t;
}

static void discard(table *t)
{
  lapis_ctx_free(t->ctx);
  free(t);
}

static lapis_solver *solve(table *t)
{
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s;
  if (lapis_auto_new(t->ctx, &t->data, &set, &s) < 0)
    fail_msg("%s", lapis_ctx_error(t->ctx));
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  return s;
}

/* Of the gaps of feature i, in its deviations, by the truth. */
static double error_of(const table *t, const double *filled, int i)
{
  double sum = 0, mean = 0, square = 0, gaps = 0;
  for (int j = 0; j < N; j++) {
    double x = t->truth[D * j + i];
    mean += x / N;
    square += x * x / N;
    if (!isnan(t->X[D * j + i])) continue;
    sum += pow(filled[D * j + i] - x, 2);
    gaps++;
  }
  return sqrt(sum / gaps / (square - mean * mean));
}

static void gaps_come_near_the_truth(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    table *t = make(seed);
    lapis_solver *s = solve(t);
    const double *filled = check_result(s, "completed");
    const double *said = check_result(s, "fill_error");
    for (int k = 0; k < D * N; k++)
      if (!isnan(t->X[k])) assert_true(filled[k] == t->X[k]);
    /* A line through a, b and 5 - a + b knows nothing of a^2. */
    CHECK_AT_MOST(error_of(t, filled, 1), .6);
    double error = 0, promised = 0;
    for (int i = 0; i < 4; i++) {
      CHECK_AT_MOST(error_of(t, filled, i), i == 0 || i == 3 ? .6 : .7);
      error += pow(error_of(t, filled, i), 2);
      promised += pow(said[i], 2);
    }
    CHECK_AT_MOST(fmax(error / promised, promised / error), pow(1.5, 2));
    lapis_solver_free(s);
    discard(t);
  }
}

/* Without noise, of rank 2: hidden cells beyond what is seen of their column
 * are answered too, and the error that is said is that of the truth. */
static void what_was_not_seen_is_answered(void **state)
{
  enum { d = 24, n = 100, RANK = 2 };
  static double truth[d * n], X[d * n];
  double low[d], high[d], of_column[d * RANK], error = 0, said = 0;
  uint64_t seed = 3;
  int beyond = 0;
  (void)state;
  for (int k = 0; k < d * RANK; k++) of_column[k] = check_normal(&seed);
  for (int i = 0; i < d; i++) low[i] = INFINITY, high[i] = -INFINITY;
  for (int j = 0; j < n; j++) {
    double z[RANK];
    for (int k = 0; k < RANK; k++) z[k] = check_normal(&seed);
    for (int i = 0; i < d; i++) {
      double *x = &truth[j * d + i];
      *x = 0;
      for (int k = 0; k < RANK; k++) *x += z[k] * of_column[i * RANK + k];
      X[j * d + i] = check_uniform(&seed) < .4 ? NAN : *x;
      low[i] = fmin(low[i], X[j * d + i]);
      high[i] = fmax(high[i], X[j * d + i]);
    }
  }
  table t = {.ctx = lapis_ctx_new(), .data = {.X = lapis_mat_f64(X, d, n)}};
  lapis_solver *s = solve(&t);
  const double *filled = check_result(s, "completed");
  const double *of = check_result(s, "fill_error");
  for (int i = 0; i < d; i++) {
    double by = 0, square = 0;
    for (int k = i; k < d * n; k += d) {
      beyond += truth[k] < low[i] || truth[k] > high[i];
      square += truth[k] * truth[k]; /* about 0 */
      by += isnan(X[k]) ? pow(filled[k] - truth[k], 2) / .4 : 0;
    }
    error += by / square / d;
    said += of[i] * of[i] / d;
  }
  assert_true(beyond > 5);
  CHECK_AT_MOST(sqrt(error), .02);
  CHECK_AT_MOST(sqrt(error / said), 1.2);
  lapis_solver_free(s);
  lapis_ctx_free(t.ctx);
}

/* Shares stay shares, and nothing that is above 0 falls below. */
static void ends_stay_ends(void **state)
{
  enum { d = 4, n = 80 };
  double X[d * n];
  uint64_t seed = 8;
  (void)state;
  for (int j = 0; j < n; j++) {
    double z = check_normal(&seed);
    for (int i = 0; i < d; i++) {
      double v = z + .1 * check_normal(&seed);
      v = i < 2 ? fmin(fmax(v, 0), 1) : exp(2 * v);
      X[j * d + i] = check_uniform(&seed) < .25 ? NAN : v;
    }
  }
  table t = {.ctx = lapis_ctx_new(), .data = {.X = lapis_mat_f64(X, d, n)}};
  lapis_solver *s = solve(&t);
  const double *filled = check_result(s, "completed");
  for (int k = 0; k < d * n; k++)
    assert_true(filled[k] >= -1e-12 && (k % d > 1 || filled[k] <= 1 + 1e-12));
  lapis_solver_free(s);
  lapis_ctx_free(t.ctx);
}

static void classes_are_classes(void **state)
{
  (void)state;
  table *t = make(5);
  lapis_solver *s = solve(t);
  const double *filled = check_result(s, "completed");
  int right = 0, gaps = 0;
  for (int j = 0; j < N; j++) {
    const double *x = filled + D * j + 4;
    assert_true(x[0] + x[1] + x[2] == 1);
    for (int k = 0; k < CLASSES; k++) assert_true(x[k] == 0 || x[k] == 1);
    if (!isnan(t->X[D * j + 4])) continue;
    gaps++;
    right += memcmp(x, t->truth + D * j + 4, CLASSES * sizeof *x) == 0;
  }
  CHECK_AT_LEAST(right, .7 * gaps); /* the largest class has .4 */
  lapis_solver_free(s);
  discard(t);
}

/* Other units, the same answers in them; again, the same bits. */
static void units_do_not_matter(void **state)
{
  (void)state;
  table *t = make(7), *u = make(7);
  for (int k = 0; k < D * N; k++)
    if (k % D < 4) u->X[k] = 1024 * u->X[k] - 512;
  lapis_solver *s = solve(t), *again = solve(t), *other = solve(u);
  const double *a = check_result(s, "completed");
  const double *b = check_result(other, "completed");
  assert_memory_equal(a, check_result(again, "completed"), sizeof t->X);
  for (int k = 0; k < D * N; k++) {
    double size = k % D == 2 ? 600 : 1;
    double back = k % D < 4 ? (b[k] + 512) / 1024 : b[k];
    CHECK_NEAR(a[k], back, .1 * size);
  }
  lapis_solver_free(s);
  lapis_solver_free(again);
  lapis_solver_free(other);
  discard(t);
  discard(u);
}

static void ask(table *t, const lapis_model *m, double *X, int n, double *to)
{
  lapis_solver *s;
  lapis_data data = {.X = lapis_mat_f64(X, D, n)};
  assert_int_equal(lapis_predict_new(t->ctx, &data, m, NULL, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  memcpy(to, check_result(s, "completed"), (size_t)(D * n) * sizeof *to);
  lapis_solver_free(s);
}

/* A new sample's answer is its own: alone or among others, and that of the fit
 * where it was there. */
static void new_samples_are_filled_alone(void **state)
{
  (void)state;
  table *t = make(9), *u = make(10);
  lapis_solver *s = solve(t);
  lapis_model *m;
  double many[D * N], one[D], own[D * N];
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  ask(t, m, t->X, N, own);
  const double *filled = check_result(s, "completed");
  for (int k = 0; k < D * N; k++)
    CHECK_NEAR(own[k], filled[k], k % D == 2 ? 1e-3 : 1e-6);
  lapis_solver_free(s);
  ask(t, m, u->X, N, many);
  CHECK_AT_MOST(error_of(u, many, 1), .7);
  for (int j = 0; j < 5; j++) {
    ask(t, m, u->X + D * j, 1, one);
    for (int i = 0; i < D; i++)
      CHECK_NEAR(one[i], many[D * j + i], i == 2 ? 1e-3 : 1e-6);
  }
  lapis_model_free(m);
  discard(t);
  discard(u);
}

/* A sample of weight 0 is filled, and nothing is learnt from it. */
static void weight_zero_teaches_nothing(void **state)
{
  (void)state;
  table *t = make(11);
  double weight[N], first[D * N];
  for (int j = 0; j < N; j++) weight[j] = j % 10 != 0;
  t->data.weight = weight;
  lapis_solver *s = solve(t);
  memcpy(first, check_result(s, "completed"), sizeof first);
  lapis_solver_free(s);
  for (int j = 0; j < N; j += 10)
    for (int i = 0; i < 4; i++) t->X[D * j + i] *= -30;
  s = solve(t);
  const double *filled = check_result(s, "completed");
  for (int k = 0; k < D * N; k++) {
    assert_false(isnan(filled[k]));
    if (weight[k / D] > 0) CHECK_NEAR(filled[k], first[k], 1e-6 * 600);
  }
  lapis_solver_free(s);
  discard(t);
}

/* Beside targets, on demand: the same answers as without them. */
static void targets_change_nothing(void **state)
{
  (void)state;
  table *t = make(13);
  double Y[N], alone[D * N];
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s = solve(t);
  memcpy(alone, check_result(s, "completed"), sizeof alone);
  lapis_solver_free(s);
  for (int j = 0; j < N; j++) Y[j] = j % 2 ? NAN : t->truth[D * j] > 0;
  t->data.Y = lapis_mat_f64(Y, 1, N);
  set.fill = true;
  set.candidates = "linear";
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_memory_equal(alone, check_result(s, "completed"), sizeof alone);
  lapis_solver_free(s);
  discard(t);
}

/* Tables with hardly anything in them. */
static void little_is_filled_by_means(void **state)
{
  (void)state;
  double X[] = {1, NAN, 3, NAN, NAN, NAN};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_auto_settings set = lapis_auto_defaults();
  for (int d = 1; d <= 6; d++) {
    if (6 % d != 0) continue;
    lapis_solver *s;
    lapis_data data = {.X = lapis_mat_f64(X, d, 6 / d)};
    assert_int_equal(lapis_auto_new(ctx, &data, &set, &s), LAPIS_OK);
    if (lapis_solve(s) != LAPIS_OK) fail_msg("%d: %s", d, lapis_ctx_error(ctx));
    const double *filled = check_result(s, "completed");
    for (int k = 0; k < 6; k++) assert_in_range(filled[k], 0, 3);
    if (d == 1) CHECK_NEAR(filled[1], 2, 1e-12);
    lapis_solver_free(s);
  }
  lapis_ctx_free(ctx);
}

/* A number and a class that nothing tells of are mostly filled with the mean
 * and the commonest class, and named; those beside them are not. */
static void what_nothing_tells_of_is_filled_with_means(void **state)
{
  (void)state;
  enum { WIDE = D + 4 };
  static const char *const name[WIDE] = {
      "a",      "square", "b",         "line",      "kind=x",  "kind=y",
      "kind=z", "income", "town=Oslo", "town=Rome", "town=Ulm"};
  int named = 0;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    table *t = make(seed);
    uint64_t lot = 100 + seed;
    double X[WIDE * N], sum = 0, known = 0, of[3] = {0};
    for (int j = 0; j < N; j++) {
      double *x = X + WIDE * j, u = check_uniform(&lot);
      bool gap = check_uniform(&lot) < .2, lost = check_uniform(&lot) < .2;
      int town = u < .3 ? 0 : u < .75 ? 1 : 2;
      memcpy(x, t->X + D * j, D * sizeof *x);
      x[D] = gap ? NAN : exp(check_normal(&lot));
      for (int k = 0; k < 3; k++) x[D + 1 + k] = lost ? NAN : k == town;
      if (!gap) sum += x[D], known++;
      if (!lost) of[town]++;
    }
    assert_true(of[1] > of[0] && of[1] > of[2]);
    t->data.X = lapis_mat_f64(X, WIDE, N);
    t->data.feature_names = lapis_mat_text(name, 1, WIDE);
    lapis_solver *s = solve(t);
    const double *filled = check_result(s, "completed");
    const char *said = check_note(s, "filled-plain");
    if (said == NULL) said = "";
    bool income = strstr(said, "income"), lost_town = strstr(said, "town:");
    for (int j = 0; j < N; j++) {
      const double *x = X + WIDE * j, *to = filled + WIDE * j;
      if (isnan(x[D]) && income) CHECK_NEAR(to[D], sum / known, 1e-9);
      if (isnan(x[D + 1]) && lost_town) assert_true(to[D + 2] == 1);
    }
    assert_true(!strstr(said, "square") && !strstr(said, "line") &&
                !strstr(said, "kind"));
    named += income + lost_town;
    lapis_solver_free(s);
    discard(t);
  }
  CHECK_AT_LEAST(named, 4);
}

static void refuse(table *t, const lapis_auto_settings *set,
                   lapis_status status, const char *words)
{
  lapis_solver *s;
  lapis_status got = lapis_auto_new(t->ctx, &t->data, set, &s);
  check_refused(t->ctx, got, status, s, words);
}

static void what_says_nothing_is_refused(void **state)
{
  (void)state;
  table *t = make(15);
  lapis_auto_settings set = lapis_auto_defaults();
  set.coverage = .9;
  refuse(t, &set, LAPIS_EINVAL, "coverage");
  set = lapis_auto_defaults();
  set.candidates = "mc";
  refuse(t, &set, LAPIS_EINVAL, "candidates");
  set = lapis_auto_defaults();
  t->X[3 * D + 2] = INFINITY;
  refuse(t, &set, LAPIS_EDATA, "X 4 3");
  discard(t);
}

/* Time that is up leaves the ways that are done. */
static void time_ends_it(void **state)
{
  (void)state;
  table *t = make(17);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s;
  set.stop.seconds = 1e-3;
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_TIME_LIMIT);
  const double *filled = check_result(s, "completed");
  for (int k = 0; k < D * N; k++) assert_false(isnan(filled[k]));
  lapis_solver_free(s);
  discard(t);
}

static bool stop(const lapis_progress *now, void *user)
{
  (void)user;
  return now->iter < 5;
}

static void cancelling_ends_it(void **state)
{
  (void)state;
  table *t = make(19);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_solver *s;
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_OK);
  lapis_ctx_on_progress(t->ctx, stop, NULL);
  assert_int_equal(lapis_solve(s), LAPIS_ESTOPPED); /* nothing to answer with */
  assert_null(lapis_result_name(s, 0));
  lapis_ctx_on_progress(t->ctx, NULL, NULL);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_false(isnan(check_result(s, "completed")[0]));
  lapis_solver_free(s);
  discard(t);
}

int test_holes(void)
{
  const struct CMUnitTest cases[] = {
      cmocka_unit_test(gaps_come_near_the_truth),
      cmocka_unit_test(what_was_not_seen_is_answered),
      cmocka_unit_test(ends_stay_ends),
      cmocka_unit_test(classes_are_classes),
      cmocka_unit_test(units_do_not_matter),
      cmocka_unit_test(new_samples_are_filled_alone),
      cmocka_unit_test(weight_zero_teaches_nothing),
      cmocka_unit_test(targets_change_nothing),
      cmocka_unit_test(little_is_filled_by_means),
      cmocka_unit_test(what_nothing_tells_of_is_filled_with_means),
      cmocka_unit_test(what_says_nothing_is_refused),
      cmocka_unit_test(time_ends_it),
      cmocka_unit_test(cancelling_ends_it),
  };
  return run_cases(cases, NULL, NULL);
}
