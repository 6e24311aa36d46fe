/* auto --bags: who answers on made bags and on real ones, what is no bag, and
 * that a model says of bags what its fit did. */
#include "fixture.h"

enum { BAGS = 60, SIZE = 5, D = 6, N = BAGS * SIZE, KNOWN = 45 };
typedef struct made {
  lapis_ctx *ctx;
  double X[D * N], Y[N], truth[BAGS];
  int64_t group[N];
  bool stands_out[N];
  lapis_data data;
} made;
/* All of a bag, or one instance of it. */
typedef enum says { SHIFT, ONE, ONE_OF_NO } says;

/* Bags in a row have numbers that fall, and rows lie scattered. */
static int64_t bag_of(int64_t j)
{
  return j * 7 % BAGS;
}

static made *make(says how, int kinds, uint64_t seed)
{
  int sought =
      how == ONE_OF_NO ? 0 : 1; /* the kind that has such an instance */
  made *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->ctx = lapis_ctx_new();
  int64_t out[BAGS];
  for (int k = 0; k < BAGS; k++) {
    t->truth[k] = floor(kinds * check_uniform(&seed));
    out[k] = (int64_t)(SIZE * check_uniform(&seed));
  }
  for (int64_t j = 0; j < N; j++) {
    int64_t k = bag_of(j), place = j / BAGS;
    for (int i = 0; i < D; i++) t->X[D * j + i] = check_normal(&seed);
    t->stands_out[j] = how != SHIFT && t->truth[k] == sought && place == out[k];
    if (t->stands_out[j])
      for (int i = 0; i < D; i++) t->X[D * j + i] = 1.6 + .3 * t->X[D * j + i];
    if (how == SHIFT) t->X[D * j + (int64_t)t->truth[k]] += 2;
    t->group[j] = 100 - k;
    t->Y[j] = k < KNOWN ? t->truth[k] : NAN;
  }
  t->data = (lapis_data){.X = lapis_mat_f64(t->X, D, N),
                         .Y = lapis_mat_f64(t->Y, 1, N),
                         .group = t->group};
  return t;
}

static void discard(made *t)
{
  lapis_ctx_free(t->ctx);
  free(t);
}

static lapis_auto_settings bags_settings(void)
{
  lapis_auto_settings set = lapis_auto_defaults();
  set.bags = true;
  return set;
}

static lapis_solver *solve(made *t, const lapis_auto_settings *set)
{
  lapis_solver *s;
  if (lapis_auto_new(t->ctx, &t->data, set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(t->ctx));
  return s;
}

static lapis_mat result(const lapis_solver *s, const char *name)
{
  lapis_mat out;
  if (lapis_result_get(s, name, &out) != LAPIS_OK) fail_msg("no %s", name);
  return out;
}

static bool has(const lapis_solver *s, const char *name)
{
  lapis_mat out;
  return lapis_result_get(s, name, &out) == LAPIS_OK;
}

static bool remark_is(const lapis_solver *s, const char *name)
{
  lapis_mat notes = result(s, "notes");
  const char *const *cell = notes.val;
  for (int64_t k = 0; k < notes.cols; k++)
    if (strcmp(cell[notes.ld * k + 1], name) == 0) return true;
  return false;
}

/* Share of the bags without a label whose answer is right; each of its rows has
 * the same one. */
static double right(const made *t, const lapis_solver *s)
{
  lapis_mat labels = result(s, "labels");
  assert_int_equal(labels.cols, N);
  double yes = 0;
  for (int64_t j = 0; j < N; j++) {
    int64_t k = bag_of(j);
    assert_true(lapis_mat_at(&labels, 0, j) ==
                lapis_mat_at(&labels, 0, j % BAGS));
    if (j < BAGS && k >= KNOWN)
      yes += lapis_mat_at(&labels, 0, j) == t->truth[k];
  }
  return yes / (BAGS - KNOWN);
}

static const char *method_of(const lapis_solver *s)
{
  lapis_mat cells = result(s, "candidates");
  int64_t at = (int64_t)check_result(s, "chosen")[0];
  return ((const char *const *)cells.val)[2 * at];
}

static int count(const lapis_solver *s, const char *method)
{
  lapis_mat cells = result(s, "candidates");
  int all = 0;
  for (int64_t k = 0; k < cells.cols; k++)
    all += strcmp(((const char *const *)cells.val)[2 * k], method) == 0;
  return all;
}

/* ---- who answers --------------------------------------------------------*/
static void a_shift_is_seen_by_statistics(void **state)
{
  made *t = make(SHIFT, 2, 1);
  lapis_auto_settings set = bags_settings();
  lapis_solver *s = solve(t, &set);
  CHECK_AT_LEAST(right(t, s), .9);
  assert_true(count(s, "misvm") > 0 && count(s, "linear") > 0);
  assert_true(strcmp(method_of(s), "misvm") != 0);
  assert_true(check_result(s, "hidden")[0] == KNOWN);
  assert_true(check_result(s, "hidden")[2] == LAPIS_FOLDS_OF_GROUPS);
  assert_true(remark_is(s, "bags") && remark_is(s, "other"));
  lapis_solver_free(s);
  discard(t);
}

/* One instance in five, of either value: misvm finds which, and answers for
 * instances, whoever answers for bags. */
static void one_instance_is_found(void **state)
{
  for (int of = 0; of < 4; of++) {
    made *t = make(of % 2 ? ONE : ONE_OF_NO, 2, 2);
    lapis_auto_settings set = bags_settings();
    if (of > 1) set.candidates = "misvm";
    lapis_solver *s = solve(t, &set);
    CHECK_AT_LEAST(right(t, s), .9);
    const double *f = check_result(s, "instance_scores");
    const double *said = check_result(s, "instance_labels");
    double found = 0, none = 0, out = 0;
    for (int64_t j = 0; j < N; j++) {
      bool positive = said[j] == of % 2;
      assert_true(bag_of(j) < KNOWN || (f[j] > 0) == (said[j] > 0));
      out += t->stands_out[j];
      found += t->stands_out[j] && positive;
      none += !t->stands_out[j] && positive;
    }
    CHECK_AT_LEAST(found / out, .9);
    CHECK_AT_MOST(none / (N - out), .1);
    lapis_solver_free(s);
    discard(t);
  }
}

/* misvm alone: a bag's score is its largest instance's, and instances are those
 * of `fit misvm` with the settings that the list has. */
static void misvm_is_as_by_itself(void **state)
{
  made *t = make(ONE, 2, 3);
  lapis_auto_settings set = bags_settings();
  set.candidates = "misvm";
  lapis_solver *s = solve(t, &set), *alone, *asked;
  lapis_mat cells = result(s, "candidates"), scores = result(s, "scores");
  const char *ran = ((const char *const *)cells.val)[1];
  lapis_misvm_settings by = lapis_misvm_defaults();
  char kernel[16] = "";
  assert_int_equal(count(s, "misvm"), cells.cols);
  assert_int_equal(sscanf(ran, "--kernel %15s --C %lf", kernel, &by.C), 2);
  by.kernel =
      strcmp(kernel, "rbf") == 0 ? LAPIS_KERNEL_RBF : LAPIS_KERNEL_LINEAR;
  by.scale = LAPIS_SCALE_STANDARD;
  by.threshold = LAPIS_THRESHOLD_FIXED;
  double *X = calloc(D * N, sizeof *X), y[N];
  int64_t group[N], m = 0;
  for (int64_t j = 0; j < N; j++) {
    if (bag_of(j) >= KNOWN) continue;
    memcpy(X + D * m, t->X + D * j, D * sizeof *X);
    y[m] = t->Y[j];
    group[m++] = t->group[j];
  }
  lapis_data known = {
      .X = lapis_mat_f64(X, D, m), .Y = lapis_mat_f64(y, 1, m), .group = group};
  lapis_model *model;
  assert_int_equal(lapis_misvm_new(t->ctx, &known, &by, &alone), LAPIS_OK);
  assert_int_equal(lapis_solve(alone), LAPIS_OK);
  assert_int_equal(lapis_model_new(alone, &model), LAPIS_OK);
  lapis_data all = {.X = t->data.X};
  assert_int_equal(lapis_predict_new(t->ctx, &all, model, NULL, &asked),
                   LAPIS_OK);
  assert_int_equal(lapis_solve(asked), LAPIS_OK);
  const double *f = check_result(asked, "scores");
  assert_memory_equal(f, check_result(s, "instance_scores"), N * sizeof *f);
  for (int64_t j = 0; j < N; j++) {
    double most = -INFINITY;
    for (int64_t i = j % BAGS; i < N; i += BAGS) most = fmax(most, f[i]);
    assert_true(lapis_mat_at(&scores, 0, j) == most);
  }
  lapis_solver_free(asked);
  lapis_model_free(model);
  lapis_solver_free(alone);
  free(X);
  lapis_solver_free(s);
  discard(t);
}

static void three_kinds_of_bags(void **state)
{
  made *t = make(SHIFT, 3, 4);
  lapis_auto_settings set = bags_settings();
  lapis_solver *s = solve(t, &set);
  CHECK_AT_LEAST(right(t, s), .8);
  lapis_mat p = result(s, "probabilities");
  assert_true(p.rows == 3 && p.cols == N);
  assert_true(!has(s, "instance_scores") && remark_is(s, "no-misvm"));
  lapis_solver_free(s);
  set.candidates = "misvm"; /* which learns of two kinds: none is left */
  assert_int_equal(lapis_auto_new(t->ctx, &t->data, &set, &s), LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(t->ctx), "no candidate"));
  discard(t);
}

/* Gaps of instances are filled, not those of bags; where there is none, there
 * is nothing to do. */
static void gaps_of_instances_are_filled(void **state)
{
  made *t = make(SHIFT, 2, 5);
  lapis_auto_settings set = bags_settings();
  set.candidates = "linear";
  set.fill = true;
  lapis_solver *s = solve(t, &set);
  lapis_mat all = result(s, "completed");
  assert_true(all.rows == D && all.cols == N && !has(s, "fill_ways"));
  for (int64_t k = 0; k < D * N; k++)
    assert_true(lapis_mat_at(&all, k % D, k / D) == t->X[k]);
  lapis_solver_free(s);
  t->X[7] = NAN;
  s = solve(t, &set);
  all = result(s, "completed");
  assert_true(all.rows == D && all.cols == N && has(s, "fill_ways"));
  for (int64_t k = 0; k < D * N; k++)
    assert_true(k == 7 ? isfinite(lapis_mat_at(&all, 1, 1))
                       : lapis_mat_at(&all, k % D, k / D) == t->X[k]);
  lapis_solver_free(s);
  discard(t);
}

/* Bags of one instance: what --bags adds is misvm and two copies of X. */
static void bags_of_one(void **state)
{
  made *t = make(SHIFT, 2, 6);
  lapis_auto_settings set = bags_settings();
  double first = 0;
  for (int64_t j = 0; j < BAGS; j++) {
    t->group[j] = j;
    for (int i = 0; i < D; i++) t->X[D * j + i] *= i < 2 ? 2 : 1;
  }
  t->data.X.cols = t->data.Y.cols = BAGS;
  lapis_solver *s = solve(t, &set);
  const double *labels = check_result(s, "labels");
  for (int64_t j = 0; j < BAGS; j++)
    first += bag_of(j) < KNOWN && labels[j] == t->truth[bag_of(j)];
  assert_true(check_result(s, "hidden")[0] == KNOWN);
  CHECK_AT_LEAST(first / KNOWN, .8);
  lapis_solver_free(s);
  discard(t);
}

/* Nothing could be compared: the usual settings answer for bags, misvm for
 * instances; misvm alone by the sign of its scores. */
static void few_bags_are_answered(void **state)
{
  made *t = make(SHIFT, 2, 7);
  lapis_auto_settings set = bags_settings();
  int of[2] = {0, 0};
  for (int64_t j = 0; j < N; j++) t->Y[j] = NAN;
  for (int64_t j = 0; j < N; j++) {
    int64_t k = bag_of(j), kind = (int64_t)t->truth[k];
    if (j < BAGS && of[kind] == 0) of[kind] = 1 + (int)k;
    if (of[kind] == 1 + k) t->Y[j] = t->truth[k];
  }
  for (int alone = 0; alone < 2; alone++) {
    set.candidates = alone ? "misvm" : NULL;
    lapis_solver *s = solve(t, &set);
    assert_true(remark_is(s, "not-chosen") && !has(s, "candidates"));
    assert_true(has(s, "instance_scores"));
    const double *labels = check_result(s, "labels");
    const double *f = check_result(s, "scores");
    for (int64_t j = 0; j < N; j++) {
      assert_true(isnan(t->Y[j]) || labels[j] == t->Y[j]);
      assert_true(!alone || (f[j] > 0) == (labels[j] > 0));
    }
    lapis_solver_free(s);
  }
  discard(t);
}

/* ---- laws ---------------------------------------------------------------*/
/* Rows in another order are the same bags. */
static void rows_may_lie_anyhow(void **state)
{
  made *t = make(ONE, 2, 8), *u = make(ONE, 2, 8);
  lapis_auto_settings set = bags_settings();
  for (int64_t j = 0; j < N; j++) { /* whole bags after each other */
    int64_t from = j / SIZE + j % SIZE * BAGS;
    memcpy(u->X + D * j, t->X + D * from, D * sizeof(double));
    u->Y[j] = t->Y[from];
    u->group[j] = t->group[from];
  }
  set.candidates = "linear,trees";
  lapis_solver *a = solve(t, &set), *b = solve(u, &set);
  const double *p = check_result(a, "probabilities");
  const double *q = check_result(b, "probabilities");
  for (int64_t j = 0; j < N; j++)
    CHECK_NEAR(q[j], p[j / SIZE + j % SIZE * BAGS], 1e-9);
  lapis_solver_free(a);
  lapis_solver_free(b);
  discard(t);
  discard(u);
}

/* A model that was written and read says of the bags of the fit what the fit
 * did, and of one more what it says of it alone. */
static void check_model(made *t, lapis_solver *s)
{
  char path[1200];
  lapis_model *m, *read;
  lapis_solver *again, *alone;
  check_new_file(path, sizeof path);
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  assert_int_equal(lapis_model_save(t->ctx, m, path), LAPIS_OK);
  assert_int_equal(lapis_model_load(t->ctx, path, &read), LAPIS_OK);
  lapis_data all = {.X = t->data.X, .group = t->group};
  if (lapis_predict_new(t->ctx, &all, read, NULL, &again) < 0)
    fail_msg("%s", lapis_ctx_error(t->ctx));
  assert_int_equal(lapis_solve(again), LAPIS_OK);
  static const char *const same[] = {"scores", "probabilities", "labels",
                                     "instance_scores"};
  for (int k = 0; k < 4; k++) {
    lapis_mat a = result(s, same[k]), b = result(again, same[k]);
    for (int64_t j = 0; j < N; j++)
      CHECK_NEAR(lapis_mat_at(&a, 0, j), lapis_mat_at(&b, 0, j), 1e-4);
  }
  double x[D * SIZE];
  int64_t group[SIZE] = {-7, -7, -7, -7, -7};
  for (int64_t i = 0; i < SIZE; i++)
    memcpy(x + D * i, t->X + D * (i * BAGS + 4), D * sizeof *x);
  lapis_data one = {.X = lapis_mat_f64(x, D, SIZE), .group = group};
  assert_int_equal(lapis_predict_new(t->ctx, &one, read, NULL, &alone),
                   LAPIS_OK);
  assert_int_equal(lapis_solve(alone), LAPIS_OK);
  for (int64_t i = 0; i < SIZE; i++)
    CHECK_NEAR(check_result(alone, "probabilities")[i],
               check_result(again, "probabilities")[4], 1e-12);
  lapis_solver_free(alone);
  lapis_solver_free(again);
  lapis_data none = {.X = t->data.X};
  assert_int_equal(lapis_predict_new(t->ctx, &none, read, NULL, &again),
                   LAPIS_EMISSING);
  all.X.rows = D - 1;
  assert_int_equal(lapis_predict_new(t->ctx, &all, read, NULL, &again),
                   LAPIS_ESHAPE);
  lapis_model_free(read);
  lapis_model_free(m);
}

/* misvm reads instances whose gaps are filled, and so does its model in a
 * file. */
static void misvm_fills_gaps(void **state)
{
  made *t = make(SHIFT, 2, 5);
  lapis_auto_settings set = bags_settings();
  set.candidates = "misvm,trees";
  for (int64_t k = 0; k < D * N; k += 11) t->X[k] = NAN;
  for (int64_t j = 3; j < N; j += BAGS) t->X[D * j + 2] = NAN; /* a whole bag */
  lapis_solver *s = solve(t, &set);
  CHECK_AT_LEAST(right(t, s), .8);
  assert_true(has(s, "instance_scores") && remark_is(s, "misvm-fills"));
  assert_true(count(s, "misvm") > 0);
  check_model(t, s);
  lapis_solver_free(s);
  discard(t);
}

static void a_model_says_what_its_fit_did(void **state)
{
  static const char *const of[] = {"linear,misvm", "misvm", "misvm"};
  for (int k = 0; k < 3; k++) {
    made *t = make((says)k, 2, 9);
    lapis_auto_settings set = bags_settings();
    set.candidates = of[k];
    lapis_solver *s = solve(t, &set);
    check_model(t, s);
    lapis_solver_free(s);
    discard(t);
  }
}

/* ---- what is no bag -----------------------------------------------------*/
static void refuse(made *t, const lapis_auto_settings *set, lapis_status want,
                   const char *words)
{
  lapis_solver *s;
  lapis_status got = lapis_auto_new(t->ctx, &t->data, set, &s);
  check_refused(t->ctx, got, want, s, words);
}

static void bags_that_are_none(void **state)
{
  made *t = make(SHIFT, 2, 10);
  lapis_auto_settings set = bags_settings(), other = set;
  int64_t j = 0;
  while (bag_of(j) >= KNOWN) j++;
  t->Y[j + BAGS] = 1 - t->Y[j]; /* one label for the rest */
  refuse(t, &set, LAPIS_EDATA, "mixed 61");
  t->Y[j + BAGS] = NAN; /* a label for some of its rows */
  refuse(t, &set, LAPIS_EDATA, "mixed 61");
  t->Y[j + BAGS] = t->Y[j];
  t->data.group = NULL;
  refuse(t, &set, LAPIS_EMISSING, "group");
  t->data.group = t->group;
  double weight[N], two[2 * N] = {0};
  for (int k = 0; k < N; k++) weight[k] = 1;
  t->data.weight = weight;
  refuse(t, &set, LAPIS_EINVAL, "weights");
  t->data.weight = NULL;
  t->data.Y = lapis_mat_f64(two, 2, N);
  refuse(t, &set, LAPIS_ESHAPE, "2");
  t->data.Y = lapis_mat_f64(t->Y, 1, N);
  other.coverage = .9;
  refuse(t, &other, LAPIS_EINVAL, "coverage");
  other = set;
  other.held_out = 3;
  refuse(t, &other, LAPIS_EINVAL, "held");
  other = set;
  other.map = "l2";
  refuse(t, &other, LAPIS_EINVAL, "map");
  other = set;
  other.targets = LAPIS_TARGETS_NUMBERS;
  refuse(t, &other, LAPIS_EINVAL, "numbers");
  other = set;
  other.bags = false;
  other.candidates = "misvm";
  refuse(t, &other, LAPIS_EINVAL, "misvm bags");
  t->X[7] = INFINITY;
  refuse(t, &set, LAPIS_EDATA, "X");
  discard(t);
}

/* ---- molecules ----------------------------------------------------------*/
/* Musk1, every third bag hidden: 61 bags say of 31 others. */
static void musks_are_told(void **state)
{
  char path[1200];
  lapis_arrays all;
  snprintf(path, sizeof path, "%s/mil/musk1.npz", check_data());
  lapis_ctx *ctx = lapis_ctx_new();
  assert_int_equal(lapis_arrays_read(ctx, path, &all), 0);
  lapis_mat X = fixture_mat(&all, "x"), bag = fixture_mat(&all, "bag");
  lapis_mat label = fixture_mat(&all, "bag_label");
  int64_t n = X.cols, *group = calloc((size_t)n, sizeof *group);
  double *y = calloc((size_t)n, sizeof *y), hits = 0, bags = 0;
  for (int64_t j = 0; j < n; j++) {
    group[j] = (int64_t)lapis_mat_at(&bag, 0, j);
    y[j] = group[j] % 3 == 0 ? NAN : lapis_mat_at(&label, 0, group[j]);
  }
  lapis_data data = {.X = X, .Y = lapis_mat_f64(y, 1, n), .group = group};
  lapis_auto_settings set = bags_settings();
  lapis_solver *s;
  assert_int_equal(lapis_auto_new(ctx, &data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  const double *said = check_result(s, "labels");
  for (int64_t j = 0; j < n; j++) {
    if (group[j] % 3 != 0 || (j > 0 && group[j] == group[j - 1])) continue;
    bags++;
    hits += said[j] == lapis_mat_at(&label, 0, group[j]);
  }
  CHECK_AT_LEAST(hits / bags, .8);
  lapis_solver_free(s);
  free(y);
  free(group);
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
}

int test_bags(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shift_is_seen_by_statistics),
      cmocka_unit_test(one_instance_is_found),
      cmocka_unit_test(misvm_is_as_by_itself),
      cmocka_unit_test(three_kinds_of_bags),
      cmocka_unit_test(gaps_of_instances_are_filled),
      cmocka_unit_test(misvm_fills_gaps),
      cmocka_unit_test(bags_of_one),
      cmocka_unit_test(few_bags_are_answered),
      cmocka_unit_test(rows_may_lie_anyhow),
      cmocka_unit_test(a_model_says_what_its_fit_did),
      cmocka_unit_test(bags_that_are_none),
      cmocka_unit_test(musks_are_told)};
  return run_cases(tests, NULL, NULL);
}
