/* mi-SVM-PI: verified labels, the rule of bags, predicting bags, refusals. */
#include "cv_points.h"
#include "svmplus_case.h"

static lapis_solver *solve_bags(lapis_ctx *ctx, const lapis_data *data,
                                const lapis_misvm_settings *set)
{
  lapis_solver *s;
  if (lapis_misvm_new(ctx, data, set, &s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  if (lapis_solve(s) < 0) fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

static void check_fixture(const char *name)
{
  fixture f;
  fixture_open(&f, name, true);
  lapis_mat group = fixture_mat(&f.data, "group");
  lapis_mat want = fixture_mat(&f.expected, "labels");
  int64_t n = group.cols * group.rows;
  int64_t *bag = malloc((size_t)n * sizeof *bag);
  for (int64_t i = 0; i < n; i++) bag[i] = (int64_t)lapis_mat_at(&group, 0, i);
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y"),
                     .P = fixture_mat(&f.data, "P"),
                     .group = bag};
  lapis_misvm_settings set = lapis_misvm_defaults();
  set.C = fixture_number(&f, "C");
  set.gamma = fixture_number(&f, "gamma");
  double ratio = fixture_number(&f, "positive_ratio");
  if (ratio > 0) set.positive_ratio = ratio;
  set.stop.tol = 1e-10;
  lapis_solver *s = solve_bags(f.ctx, &data, &set);
  const lapis_misvm_settings *used = lapis_result_settings(s);
  CHECK_NEAR(used->width * fixture_number(&f, "rbf_gamma"), 1, 1e-12);
  const double *labels = sv_array(s, "labels"), *scores = sv_array(s, "scores");
  const double *bag_scores = sv_array(s, "bag_scores");
  const double *bags = sv_array(s, "bags");
  for (int64_t i = 0; i < n; i++) {
    if (labels[i] != lapis_mat_at(&want, 0, i))
      fail_msg("%s: label %d", name, (int)i);
    int64_t k = 0;
    while (bags[k] != (double)bag[i]) k++;
    assert_true(bag_scores[k] >= scores[i]);
  }
  lapis_solver_free(s);
  free(bag);
  fixture_close(&f);
}

static void verified_labels(void **state)
{
  check_fixture("misvm_one");
  check_fixture("misvm_ratio");
}

enum { N = 48, SIZE = 6 };
static sv_case bags_of(uint64_t seed, int64_t *group)
{
  sv_case c = sv_random(seed, N, 3, 2);
  for (int i = 0; i < N; i++) { /* bags in any order */
    group[i] = 100 - (i * 5) % (N / SIZE);
    c.y[i] = group[i] % 2 == 0 ? 1 : -1;
  }
  return c;
}

/* Negative bags stay negative; positive ones keep their share. */
static void bags_keep_their_rule(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t group[N];
  for (uint64_t seed = 1; seed <= 20; seed++) {
    sv_case c = bags_of(seed, group);
    c.data.group = group;
    lapis_misvm_settings set = lapis_misvm_defaults();
    set.positive_ratio = (double)(seed % 4) / 5;
    lapis_solver *s = solve_bags(ctx, &c.data, &set);
    const double *labels = sv_array(s, "labels");
    for (int64_t g = 100 - N / SIZE + 1; g <= 100; g++) {
      int positive = 0, least = (int)ceil(set.positive_ratio * SIZE - 1e-9);
      for (int i = 0; i < N; i++) positive += group[i] == g && labels[i] > 0;
      if (g % 2 == 0)
        assert_true(positive >= (least > 1 ? least : 1));
      else
        assert_int_equal(positive, 0);
    }
    lapis_solver_free(s);
    sv_drop(&c);
  }
  lapis_ctx_free(ctx);
}

static void models_score_bags(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t group[N];
  sv_case c = bags_of(3, group);
  c.data.group = group;
  lapis_solver *s = solve_bags(ctx, &c.data, NULL), *p;
  lapis_model *m;
  assert_int_equal(lapis_model_new(s, &m), 0);
  lapis_data fresh = {.X = c.data.X, .group = group};
  assert_int_equal(lapis_predict_new(ctx, &fresh, m, NULL, &p), 0);
  assert_int_equal(lapis_solve(p), 0);
  for (int i = 0; i < N; i++)
    CHECK_NEAR(sv_array(p, "scores")[i], sv_array(s, "scores")[i], 1e-10);
  for (int k = 0; k < N / SIZE; k++) {
    CHECK_NEAR(sv_array(p, "bag_scores")[k], sv_array(s, "bag_scores")[k],
               1e-10);
    assert_true(sv_array(p, "bags")[k] == sv_array(s, "bags")[k]);
  }
  lapis_solver_free(p);
  lapis_model_free(m);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void bad_bags_are_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t group[N];
  sv_case c = bags_of(4, group);
  lapis_solver *s;
  assert_int_equal(lapis_misvm_new(ctx, &c.data, NULL, &s), LAPIS_EMISSING);
  check_says(lapis_ctx_error(ctx), "group");
  c.data.group = group;
  c.y[7] = -c.y[7];
  assert_int_equal(lapis_misvm_new(ctx, &c.data, NULL, &s), LAPIS_EDATA);
  assert_null(s);
  assert_non_null(strstr(lapis_ctx_error(ctx), "mixed labels"));
  lapis_misvm_settings set = lapis_misvm_defaults();
  set.gamma = 0;
  assert_int_equal(lapis_misvm_new(ctx, &c.data, &set, &s), LAPIS_EDATA);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* Bags without a label are answered as the model answers them; one that has a
 * label in some of its rows is none. */
static void bags_without_a_label_are_answered(void **state)
{
  enum { OPEN = 2 * SIZE, BAGS = N / SIZE };
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t group[N], asked[OPEN];
  double X[3 * OPEN];
  sv_case c = bags_of(6, group);
  int open = 0;
  c.data.P = (lapis_mat){0};
  c.data.group = group;
  for (int i = 0; i < N; i++) {
    if (group[i] != 97 && group[i] != 94) continue;
    memcpy(X + 3 * open, c.X + 3 * i, 3 * sizeof *X);
    asked[open++] = group[i];
    c.y[i] = NAN;
  }
  assert_int_equal(open, OPEN);
  lapis_solver *s = solve_bags(ctx, &c.data, NULL), *p;
  lapis_model *m;
  assert_int_equal(lapis_model_new(s, &m), 0);
  lapis_data rest = {.X = lapis_mat_f64(X, 3, OPEN), .group = asked};
  assert_int_equal(lapis_predict_new(ctx, &rest, m, NULL, &p), 0);
  assert_int_equal(lapis_solve(p), 0);
  lapis_mat bags;
  assert_int_equal(lapis_result_get(s, "bags", &bags), 0);
  assert_int_equal(bags.cols, BAGS);
  for (int i = 0, at = 0; i < N; i++) {
    bool is_open = isnan(c.y[i]);
    assert_true(sv_array(s, "used")[i] == !is_open);
    if (!is_open) continue;
    CHECK_NEAR(sv_array(s, "scores")[i], sv_array(p, "scores")[at], 1e-12);
    CHECK_NEAR(sv_array(s, "labels")[i], sv_array(p, "labels")[at++], 0);
  }
  for (int k = 0; k < 2; k++) { /* behind those with a label */
    int at = BAGS - 2 + k;
    CHECK_NEAR(sv_array(s, "bags")[at], sv_array(p, "bags")[k], 0);
    CHECK_NEAR(sv_array(s, "bag_scores")[at], sv_array(p, "bag_scores")[k],
               1e-12);
    CHECK_NEAR(sv_array(s, "bag_labels")[at], sv_array(p, "bag_labels")[k], 0);
  }
  lapis_solver_free(p);
  lapis_model_free(m);
  lapis_solver_free(s);
  for (int i = 0; i < N; i++)
    if (isnan(c.y[i])) c.y[i] = group[i] == 97 ? -1 : NAN;
  int first = 0;
  while (group[first] != 97) first++;
  c.y[first] = NAN;
  assert_int_equal(lapis_misvm_new(ctx, &c.data, NULL, &s), LAPIS_EDATA);
  assert_non_null(strstr(lapis_ctx_error(ctx), "bag 97"));
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* Bags of ten, of which one instance tells: where bags are judged no bag is
 * behind another, while most instances of either kind are alike. */
static void folds_judge_bags(void **state)
{
  enum { OF = 10, BAGS = 40, ALL = OF * BAGS };
  static const char *const one[] = {"1"};
  const lapis_grid grid = {"C", 1, one};
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t group[ALL];
  sv_case c = sv_random(11, ALL, 2, 0);
  for (int i = 0; i < ALL; i++) {
    group[i] = i % BAGS;
    c.y[i] = group[i] % 2;
    c.X[2 * i] = i / BAGS == 3 && group[i] % 2 == 1 ? 12 : c.X[2 * i];
  }
  c.data.group = group;
  static const char *const metrics[] = {"auroc", "accuracy"};
  for (int k = 0; k < 2; k++) {
    lapis_solver *cv;
    lapis_cv_options o = lapis_cv_defaults();
    o.folds = 4;
    o.metric = metrics[k];
    assert_int_equal(cv_run(ctx, lapis_method_find("misvm"), &c.data, NULL, &o,
                            &grid, 1, &cv),
                     0);
    CHECK_AT_LEAST(cv_at(cv, 0).mean, .97);
    lapis_solver_free(cv);
  }
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* ---- the threshold of bags ----------------------------------------------*/
enum { MANY = 40, LARGE = 10, WIDE = 8 }; /* bags, their instances, features */

/* One instance of a positive bag stands out, the others are noise; the largest
 * score of ten is above 0 in nearly all bags that were not learnt from. */
static sv_case noisy_bags(uint64_t seed, int64_t *group)
{
  sv_case c = sv_random(seed, MANY * LARGE, WIDE, 0);
  for (int64_t j = 0; j < MANY * LARGE; j++) {
    group[j] = j % MANY;
    c.y[j] = group[j] % 2 == 0 ? 1 : -1;
    if (j < MANY && c.y[j] > 0) c.X[j * WIDE] += 6;
  }
  c.data.group = group;
  return c;
}

static lapis_ctx *one_thread(void)
{
  lapis_ctx *ctx = lapis_ctx_new();
  assert_int_equal(lapis_ctx_set(ctx, "threads", "1"), 0);
  return ctx;
}

static lapis_misvm_settings overfitted(int threshold)
{
  lapis_misvm_settings set = lapis_misvm_defaults();
  set.C = 10;
  set.threshold = threshold;
  return set;
}

/* Bags of other data that the model of s tells right, by its bag_labels,
 * which follow from t. */
static int fresh_right(lapis_ctx *ctx, lapis_solver *s, double t)
{
  int64_t group[MANY * LARGE];
  sv_case c = noisy_bags(77, group);
  lapis_data fresh = {.X = c.data.X, .group = group};
  lapis_model *m;
  lapis_solver *p;
  int right = 0;
  assert_int_equal(lapis_model_new(s, &m), 0);
  assert_int_equal(lapis_predict_new(ctx, &fresh, m, NULL, &p), 0);
  assert_int_equal(lapis_solve(p), 0);
  const double *label = sv_array(p, "bag_labels");
  for (int k = 0; k < MANY; k++) {
    assert_true((sv_array(p, "bag_scores")[k] > t) == (label[k] > 0));
    right += label[k] == (k % 2 == 0 ? 1 : -1);
  }
  lapis_solver_free(p);
  lapis_model_free(m);
  sv_drop(&c);
  return right;
}

/* Where 0 calls nearly all bags positive, held-out ones find what does not;
 * scores and labels of instances stay as they are, to the bit. */
static void held_out_bags_give_the_threshold(void **state)
{
  lapis_ctx *ctx = one_thread();
  int64_t group[MANY * LARGE];
  sv_case c = noisy_bags(5, group);
  lapis_misvm_settings fixed = overfitted(LAPIS_THRESHOLD_FIXED),
                       free = overfitted(LAPIS_THRESHOLD_AUTO);
  lapis_solver *s = solve_bags(ctx, &c.data, &fixed);
  lapis_solver *t = solve_bags(ctx, &c.data, &free);
  static const char *const names[] = {"scores", "labels"};
  for (int k = 0; k < 2; k++)
    assert_memory_equal(sv_array(s, names[k]), sv_array(t, names[k]),
                        MANY * LARGE * sizeof(double));
  lapis_mat none;
  assert_true(lapis_result_get(s, "threshold", &none) < 0);
  double found = *sv_array(t, "threshold");
  assert_true(found > 0);
  for (int k = 0; k < MANY; k++)
    assert_true((sv_array(t, "bag_scores")[k] > found) ==
                (sv_array(t, "bag_labels")[k] > 0));
  int by_zero = fresh_right(ctx, s, 0), by_found = fresh_right(ctx, t, found);
  print_message("%d of %d right by 0, %d by %g\n", by_zero, MANY, by_found,
                found);
  assert_true(by_found >= by_zero + MANY / 6);
  lapis_solver_free(t);
  t = solve_bags(ctx, &c.data, &free); /* the same once more */
  assert_true(*sv_array(t, "threshold") == found);
  lapis_solver_free(t);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void check_bits(lapis_solver *a, lapis_solver *b, const char *name,
                       int count)
{
  assert_memory_equal(sv_array(a, name), sv_array(b, name),
                      (size_t)count * sizeof(double));
}

/* C and kernel left open: told fresh bags at least as well as by the settings
 * of before, and what was chosen gives the same when stated, to the bit. */
static void held_out_bags_choose(void **state)
{
  lapis_ctx *ctx = one_thread();
  int64_t group[MANY * LARGE];
  sv_case c = noisy_bags(5, group);
  for (int64_t j = 0; j < MANY * LARGE; j++) c.X[j * WIDE + 1] *= 1000;
  lapis_misvm_settings open = lapis_misvm_defaults(), before = open;
  before.C = 1;
  lapis_solver *s = solve_bags(ctx, &c.data, &open);
  const lapis_misvm_settings *used = lapis_result_settings(s);
  assert_false(isnan(used->C));
  assert_int_equal(used->scale, LAPIS_SCALE_STANDARD);
  assert_int_equal(used->threshold, LAPIS_THRESHOLD_AUTO);
  lapis_misvm_settings stated = lapis_misvm_defaults();
  stated.C = used->C;
  stated.kernel = used->kernel;
  stated.scale = used->scale;
  stated.threshold = used->threshold;
  lapis_solver *t = solve_bags(ctx, &c.data, &stated);
  check_bits(s, t, "scores", MANY * LARGE);
  check_bits(s, t, "bag_labels", MANY);
  check_bits(s, t, "threshold", 1);
  int chosen = 0;
  for (int k = 0; k < MANY; k++)
    chosen += (sv_array(s, "bag_labels")[k] > 0) == (k % 2 == 0);
  CHECK_AT_LEAST(chosen, MANY * 3 / 4);
  assert_int_equal(lapis_solve(s), LAPIS_OK); /* does not choose again */
  check_bits(s, t, "scores", MANY * LARGE);
  lapis_solver_free(t);
  t = solve_bags(ctx, &c.data, &before); /* C stated: nothing is chosen */
  used = lapis_result_settings(t);
  assert_int_equal(used->kernel, LAPIS_KERNEL_RBF);
  assert_int_equal(used->threshold, LAPIS_THRESHOLD_FIXED);
  lapis_solver_free(t);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* One bag of a kind: nothing can be held out. */
static void too_few_bags_choose_nothing(void **state)
{
  lapis_ctx *ctx = one_thread();
  int64_t group[MANY * LARGE];
  sv_case c = noisy_bags(5, group);
  c.data.X.cols = c.data.Y.cols = 12;
  for (int j = 0; j < 12; j++) {
    group[j] = j / 4;
    c.y[j] = j / 4 == 0 ? 1 : -1;
  }
  lapis_mat none;
  lapis_misvm_settings open = lapis_misvm_defaults();
  lapis_solver *s = solve_bags(ctx, &c.data, &open);
  const lapis_misvm_settings *used = lapis_result_settings(s);
  CHECK_NEAR(used->C, 1, 0);
  assert_true(lapis_result_get(s, "threshold", &none) < 0);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* Cancels at a round: each says one sentence. */
typedef struct ending {
  lapis_ctx *ctx;
  int rounds, last;
} ending;

static void at_round(int level, const char *text, void *user)
{
  ending *e = user;
  (void)level;
  if (strstr(text, "misvm: round") != NULL && ++e->rounds == e->last)
    lapis_ctx_cancel(e->ctx);
}

/* Cancelled while folds are scored: what the whole said stays, by 0. */
static void cancelled_folds_leave_zero(void **state)
{
  lapis_ctx *ctx = one_thread();
  int64_t group[MANY * LARGE];
  sv_case c = noisy_bags(5, group);
  lapis_misvm_settings set = overfitted(LAPIS_THRESHOLD_FIXED);
  assert_int_equal(lapis_ctx_set(ctx, "verbose", "1"), 0);
  lapis_solver *s = solve_bags(ctx, &c.data, &set);
  int whole = (int)lapis_result_info(s)->iterations;
  set.threshold = LAPIS_THRESHOLD_AUTO;
  for (int k = -1; k <= 1; k++) { /* before, with the last round, after it */
    ending e = {.ctx = ctx, .last = whole + k};
    lapis_solver *t;
    lapis_ctx_on_message(ctx, at_round, &e);
    assert_int_equal(lapis_misvm_new(ctx, &c.data, &set, &t), 0);
    assert_int_equal(lapis_solve(t), LAPIS_CANCELLED);
    assert_true(*sv_array(t, "threshold") == 0);
    if (k >= 0)
      assert_memory_equal(sv_array(s, "scores"), sv_array(t, "scores"),
                          MANY * LARGE * sizeof(double));
    lapis_ctx_on_message(ctx, NULL, NULL);
    assert_int_equal(lapis_solve(t), LAPIS_OK); /* again, and to the end */
    assert_true(*sv_array(t, "threshold") > 0);
    lapis_solver_free(t);
  }
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* Where not even one round is done the threshold is 0, too. */
static void no_time_leaves_zero(void **state)
{
  lapis_ctx *ctx = one_thread();
  int64_t group[MANY * LARGE];
  sv_case c = noisy_bags(6, group);
  lapis_misvm_settings set = lapis_misvm_defaults();
  set.stop.seconds = 1e-9;
  lapis_solver *s;
  assert_int_equal(lapis_misvm_new(ctx, &c.data, &set, &s), 0);
  assert_int_equal(lapis_solve(s), LAPIS_TIME_LIMIT);
  assert_int_equal(lapis_result_info(s)->iterations, 0);
  assert_true(*sv_array(s, "threshold") == 0);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* One bag of a kind cannot be held out; a given kernel cannot be split. */
static void thresholds_that_cannot_be_found(void **state)
{
  lapis_ctx *ctx = one_thread();
  int64_t group[N];
  sv_case c = bags_of(4, group);
  lapis_misvm_settings set = overfitted(LAPIS_THRESHOLD_AUTO);
  for (int i = 0; i < N; i++) group[i] = c.y[i] > 0 ? 1 : group[i];
  c.data.group = group;
  lapis_solver *s = solve_bags(ctx, &c.data, &set);
  assert_true(*sv_array(s, "threshold") == 0);
  lapis_solver_free(s);
  set.kernel = LAPIS_KERNEL_PRECOMPUTED;
  assert_int_equal(lapis_misvm_new(ctx, &c.data, &set, &s), LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(ctx), "needs features"));
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

int test_misvm(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verified_labels),
      cmocka_unit_test(bags_keep_their_rule),
      cmocka_unit_test(models_score_bags),
      cmocka_unit_test(bad_bags_are_refused),
      cmocka_unit_test(bags_without_a_label_are_answered),
      cmocka_unit_test(folds_judge_bags),
      cmocka_unit_test(held_out_bags_give_the_threshold),
      cmocka_unit_test(cancelled_folds_leave_zero),
      cmocka_unit_test(no_time_leaves_zero),
      cmocka_unit_test(held_out_bags_choose),
      cmocka_unit_test(too_few_bags_choose_nothing),
      cmocka_unit_test(thresholds_that_cannot_be_found)};
  return run_cases(tests, NULL, NULL);
}
