/* Cross-validation: every fold redone by hand, from what it says it hid. */
#include "choose/cv.h"
#include "check.h"
#include "cv_points.h"
#include "folds/rank.h"
#include "lapis/choose.h"
#include "remarks.h"

enum { D = 5, N = 36, FOLDS = 4, GROUPS = N / 3 };

typedef struct bench {
  lapis_ctx *ctx;
  double X[D * N], Y[2 * N];
  int64_t group[N];
  lapis_data data;
} bench;

/* Features that say something of what is wanted: `values` are its labels,
 * NULL: a real output. */
static bench *make(const double *values, int count, uint64_t seed)
{
  bench *b = test_calloc(1, sizeof *b);
  b->ctx = lapis_ctx_new();
  for (int j = 0; j < N; j++) {
    double sum = 0;
    for (int i = 0; i < D; i++) {
      b->X[j * D + i] = 2 * check_uniform(&seed) - 1;
      sum += (i - 2) * b->X[j * D + i];
    }
    sum += check_uniform(&seed) - 0.5;
    int place = (int)floor((sum + 4) / 8 * count);
    place = place < 0 ? 0 : place >= count ? count - 1 : place;
    b->Y[j] = values == NULL ? sum : values[place];
    b->group[j] = j / 3;
  }
  b->data.X = lapis_mat_f64(b->X, D, N);
  b->data.Y = lapis_mat_f64(b->Y, 1, N);
  return b;
}

static void discard(bench *b)
{
  lapis_ctx_free(b->ctx);
  test_free(b);
}

static lapis_solver *cv(bench *b, const char *method, const void *settings,
                        const lapis_cv_options *o, const lapis_grid *grid)
{
  lapis_solver *out;
  lapis_status s = cv_run(b->ctx, lapis_method_find(method), &b->data, settings,
                          o, grid, 1, &out);
  if (s < 0) fail_msg("%s", lapis_ctx_error(b->ctx));
  return out;
}

static lapis_cv_options judged_by(const char *metric)
{
  lapis_cv_options o = lapis_cv_defaults();
  o.folds = FOLDS;
  o.metric = metric;
  return o;
}

/* ---- what one fold should say -------------------------------------------*/
/* Fitted on what fold f shows, answered for what it hides: labels or scores
 * of the hidden samples into out (rows x hidden); how many samples. */
static int64_t by_prediction(bench *b, const char *method, const void *settings,
                             const int64_t *fold, int64_t f, const char *what,
                             double *out, double *truth)
{
  double X[D * N], Y[N], hidden[D * N];
  int64_t shown = 0, n = 0;
  for (int j = 0; j < N; j++)
    if (fold[j] == f) {
      memcpy(hidden + D * n, b->X + D * j, D * sizeof *X);
      truth[n++] = b->Y[j];
    } else {
      memcpy(X + D * shown, b->X + D * j, D * sizeof *X);
      Y[shown++] = b->Y[j];
    }
  lapis_data train = {.X = lapis_mat_f64(X, D, shown),
                      .Y = lapis_mat_f64(Y, 1, shown)};
  lapis_data test = {.X = lapis_mat_f64(hidden, D, n)};
  lapis_solver *s, *p;
  lapis_model *m;
  lapis_mat answer;
  assert_int_equal(
      lapis_solver_new(b->ctx, lapis_method_find(method), &train, settings, &s),
      0);
  assert_true(lapis_solve(s) >= 0);
  assert_int_equal(lapis_model_new(s, &m), 0);
  assert_int_equal(lapis_predict_new(b->ctx, &test, m, NULL, &p), 0);
  assert_true(lapis_solve(p) >= 0);
  assert_int_equal(lapis_result_get(p, what, &answer), 0);
  assert_int_equal(answer.rows, 1);
  for (int64_t j = 0; j < n; j++) out[j] = lapis_mat_at(&answer, 0, j);
  lapis_solver_free(p);
  lapis_model_free(m);
  lapis_solver_free(s);
  return n;
}

static double share_equal(const double *a, const double *b, int64_t n)
{
  double same = 0;
  for (int64_t j = 0; j < n; j++) same += a[j] == b[j];
  return same / (double)n;
}

static double rae(const double *truth, const double *said, int64_t n)
{
  double miss = 0, size = 0;
  for (int64_t j = 0; j < n; j++) {
    miss += (said[j] - truth[j]) * (said[j] - truth[j]);
    size += truth[j] * truth[j];
  }
  return sqrt(miss / size);
}

/* ---- tests --------------------------------------------------------------*/
static void every_sample_is_hidden_once(void **state)
{
  bench *b = make((double[]){-1, 1}, 2, 5);
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  lapis_cv_options o = judged_by("auroc");
  lapis_grid grid = {"C", 1, (const char *const[]){"1"}};
  o.by_group = true;
  b->data.group = b->group;
  lapis_solver *c = cv(b, "svmplus", &set, &o, &grid);
  const int64_t *fold = cv_result(c, "fold").val;
  int64_t size[FOLDS] = {0};
  for (int j = 0; j < N; j++) {
    assert_in_range(fold[j], 0, FOLDS - 1);
    size[fold[j]]++;
    assert_int_equal(fold[j], fold[j / 3 * 3]); /* groups whole */
  }
  for (int f = 0; f < FOLDS; f++) assert_int_equal(size[f], N / FOLDS);
  int64_t drawn[N]; /* the same folds on their own */
  assert_int_equal(lapis_cv_draw(b->ctx, &b->data, &o, drawn), 0);
  assert_memory_equal(drawn, fold, sizeof drawn);
  b->data.Y.cols--;
  assert_int_equal(lapis_cv_draw(b->ctx, &b->data, &o, drawn), LAPIS_ESHAPE);
  lapis_solver_free(c);
  discard(b);
}

/* Of two values the rarer is hidden by all folds alike, wherever its samples
 * stand. */
static void a_rare_value_is_dealt_in_turn(void **state)
{
  bench *b = make((double[]){0, 1}, 2, 5);
  lapis_cv_options o = judged_by("auroc");
  int64_t drawn[N];
  double y[N];
  uint64_t seed = 3;
  b->data.Y = lapis_mat_f64(y, 1, N);
  for (int draw = 0; draw < 60; draw++) {
    int rare = 2 + draw % 7;
    for (int j = 0; j < N; j++) y[j] = 1;
    for (int k = 0; k < rare;) {
      int j = (int)(check_uniform(&seed) * N);
      k += y[j] > 0;
      y[j] = 0;
    }
    assert_int_equal(lapis_cv_draw(b->ctx, &b->data, &o, drawn), 0);
    int64_t size[FOLDS] = {0}, of_rare[FOLDS] = {0};
    for (int j = 0; j < N; j++) {
      size[drawn[j]]++;
      of_rare[drawn[j]] += y[j] < 1;
    }
    for (int f = 0; f < FOLDS; f++) {
      assert_int_equal(size[f], N / FOLDS);
      assert_in_range(of_rare[f], rare / FOLDS, (rare + FOLDS - 1) / FOLDS);
    }
  }
  discard(b);
}

/* Labels of any two values, and of more: the share that a fold gets right. */
static void accuracy_is_that_of_the_labels(void **state)
{
  const double pair[] = {3, 7}, classes[] = {10, 20, 30};
  for (int count = 2; count <= 3; count++) {
    bench *b = make(count == 2 ? pair : classes, count, 7);
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.C = set.gamma = 1;
    lapis_cv_options o = judged_by("accuracy");
    lapis_grid grid = {"C", 2, (const char *const[]){"0.01", "1"}};
    lapis_solver *c = cv(b, "svmplus", &set, &o, &grid);
    double said[N], truth[N], sum = 0;
    set.C = 1;
    for (int64_t f = 0; f < FOLDS; f++) {
      int64_t n = by_prediction(b, "svmplus", &set, cv_result(c, "fold").val, f,
                                "labels", said, truth);
      sum += share_equal(truth, said, n);
    }
    CHECK_NEAR(cv_at(c, 1).mean, sum / FOLDS, 1e-12);
    CHECK_AT_LEAST(sum / FOLDS, 0.5); /* above chance: it is no empty law */
    lapis_solver_free(c);
    discard(b);
  }
}

/* A transductive method sees all features and loses the hidden labels. */
static void accuracy_of_completion(void **state)
{
  bench *b = make((double[]){3, 7}, 2, 11);
  lapis_mc_settings set = lapis_mc_defaults();
  set.mu_rel = 0.05;
  set.stop.tol = 1e-8;
  lapis_cv_options o = judged_by("accuracy");
  lapis_grid grid = {"lambda", 1, (const char *const[]){"1"}};
  lapis_solver *c = cv(b, "mc", &set, &o, &grid);
  const int64_t *fold = cv_result(c, "fold").val;
  double sum = 0, Y[N];
  set.lambda = 1;
  for (int64_t f = 0; f < FOLDS; f++) {
    int64_t n = 0, right = 0;
    for (int j = 0; j < N; j++) Y[j] = fold[j] == f ? NAN : b->Y[j];
    lapis_data shown = {.X = b->data.X, .Y = lapis_mat_f64(Y, 1, N)};
    lapis_solver *s;
    lapis_mat labels;
    assert_int_equal(lapis_mc_new(b->ctx, &shown, &set, &s), 0);
    assert_true(lapis_solve(s) >= 0);
    assert_int_equal(lapis_result_get(s, "labels", &labels), 0);
    for (int j = 0; j < N; j++) {
      if (fold[j] != f) continue;
      n++;
      right += lapis_mat_at(&labels, 0, j) == b->Y[j];
    }
    sum += (double)right / (double)n;
    lapis_solver_free(s);
  }
  CHECK_NEAR(cv_at(c, 0).mean, sum / FOLDS, 1e-12);
  CHECK_AT_LEAST(sum / FOLDS, 0.6);
  lapis_solver_free(c);
  discard(b);
}

/* An error is chosen where it is least, a score where it is largest. */
static void errors_are_minimised(void **state)
{
  bench *b = make(NULL, 1, 3);
  lapis_rr_settings set = lapis_rr_defaults();
  lapis_cv_options o = judged_by("rae");
  lapis_grid grid = {"eta", 2, (const char *const[]){"1e-4", "10"}};
  lapis_solver *c = cv(b, "rr", &set, &o, &grid);
  double said[N], truth[N], sum = 0;
  set.eta = 10;
  for (int64_t f = 0; f < FOLDS; f++) {
    int64_t n = by_prediction(b, "rr", &set, cv_result(c, "fold").val, f,
                              "scores", said, truth);
    sum += rae(truth, said, n);
  }
  CHECK_NEAR(cv_at(c, 1).mean, sum / FOLDS, 1e-6);
  CHECK_AT_LEAST(cv_at(c, 0).mean, cv_at(c, 1).mean);
  assert_int_equal(cv_best(c), 1);
  lapis_solver_free(c);
  discard(b);
}

/* Each point of a path starts from where the last one ended, and answers as
 * if it were alone. */
static void a_path_is_its_points(void **state)
{
  static const char *const method[] = {"rr", "rlda", "rlda"};
  static const char *const metric[] = {"rae", "accuracy", "auroc"};
  static const char *const lambda[] = {"0.15", "0.3", "0.6"};
  for (int k = 0; k < 6; k++) {
    bench *b = make(k % 3 == 0 ? NULL : (double[]){-1, 1}, 2, 17);
    lapis_rr_settings set = lapis_rr_defaults();
    lapis_cv_options o = judged_by(metric[k % 3]);
    lapis_grid grid = {"lambda", 3, lambda};
    set.denoise = k < 3 ? LAPIS_RR_RPCA : LAPIS_RR_JOINT;
    lapis_solver *c = cv(b, method[k % 3], &set, &o, &grid);
    for (int i = 0; i < 3; i++) {
      double said[N], truth[N], sum = 0, value = 0;
      set.lambda = strtod(lambda[i], NULL);
      for (int64_t f = 0; f < FOLDS; f++) {
        int64_t n =
            by_prediction(b, method[k % 3], &set, cv_result(c, "fold").val, f,
                          k % 3 == 1 ? "labels" : "scores", said, truth);
        if (k % 3 == 0) value = rae(truth, said, n);
        if (k % 3 == 1) value = share_equal(truth, said, n);
        if (k % 3 == 2)
          assert_true(metric_auroc(b->ctx, truth, said, n, &value) >= 0);
        sum += value;
      }
      CHECK_NEAR(cv_at(c, i).mean, sum / FOLDS, 1e-4);
    }
    lapis_solver_free(c);
    discard(b);
  }
}

/* A fold whose hidden labels are of one kind has no AUROC, and is left out of
 * the mean; the whole goes on. */
static void one_kind_is_no_failure(void **state)
{
  bench *b = make((double[]){-1, 1}, 2, 13);
  b->data.group = b->group;
  for (int j = 0; j < N; j++) b->Y[j] = j % 2 == 0 || j < 18 ? 1 : -1;
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_cv_options o = judged_by("auroc");
  lapis_grid grid = {"mu-rel", 1, (const char *const[]){"0.1"}};
  o.by_group = true;
  o.folds = 12;
  lapis_solver *c = cv(b, "mc", &set, &o, &grid);
  assert_int_equal(cv_at(c, 0).folds, 6);
  assert_false(isnan(cv_at(c, 0).mean));
  lapis_solver_free(c);
  discard(b);
}

/* AUROC, or of real outputs the error, of the samples of all groups but one
 * (-1: of all). */
static double judged_without(bench *b, bool real, int64_t group,
                             const double *truth, const double *said)
{
  double t[N], s[N], value;
  int64_t n = 0;
  for (int j = 0; j < N; j++)
    if (b->group[j] != group) {
      t[n] = truth[j];
      s[n++] = said[j];
    }
  if (real) return rae(t, s, n);
  assert_true(metric_auroc(b->ctx, t, s, n, &value) >= 0);
  return value;
}

/* Pooled: one metric over what all folds answered, put together by hand, and
 * how much it hangs on each group. */
static void pooled_folds_are_judged_as_one(void **state)
{
  for (int real = 0; real < 2; real++) {
    bench *b = make(real ? NULL : (double[]){-1, 1}, 2, 19);
    lapis_rr_settings set = lapis_rr_defaults();
    lapis_cv_options o = judged_by(real ? "rae" : "auroc");
    lapis_grid grid = {"lambda", 1, (const char *const[]){"0.3"}};
    const char *method = real ? "rr" : "rlda";
    b->data.group = b->group;
    o.by_group = o.pooled = true;
    set.lambda = 0.3;
    lapis_solver *c = cv(b, method, &set, &o, &grid);
    const int64_t *fold = cv_result(c, "fold").val;
    double said[N], truth[N], some[N], square = 0, sum = 0, without[GROUPS];
    for (int64_t f = 0; f < FOLDS; f++) {
      double ignored[N];
      int64_t at = 0;
      by_prediction(b, method, &set, fold, f, "scores", some, ignored);
      for (int j = 0; j < N; j++)
        if (fold[j] == f) said[j] = some[at++];
    }
    memcpy(truth, b->Y, sizeof truth);
    for (int g = 0; g < GROUPS; g++)
      sum += without[g] = judged_without(b, real, g, truth, said);
    for (int g = 0; g < GROUPS; g++)
      square += pow(without[g] - sum / GROUPS, 2);
    CHECK_NEAR(cv_at(c, 0).mean, judged_without(b, real, -1, truth, said),
               1e-4);
    CHECK_NEAR(cv_at(c, 0).deviation, sqrt((GROUPS - 1.0) / GROUPS * square),
               1e-4);
    CHECK_AT_LEAST(square, 1e-5); /* the groups do differ */
    lapis_solver_free(c);
    discard(b);
  }
}

/* Folds of one kind have no ranking; together they have. */
static void pooled_folds_may_be_of_one_kind(void **state)
{
  bench *b = make((double[]){-1, 1}, 2, 13);
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_cv_options o = judged_by("auroc");
  lapis_grid grid = {"mu-rel", 1, (const char *const[]){"0.1"}};
  o.folds = N;
  lapis_solver *c = cv(b, "mc", &set, &o, &grid);
  assert_true(isnan(cv_at(c, 0).mean));
  lapis_solver_free(c);
  o.pooled = true;
  c = cv(b, "mc", &set, &o, &grid);
  CHECK_AT_LEAST(cv_at(c, 0).mean, 0.6);
  CHECK_AT_LEAST(cv_at(c, 0).deviation, 1e-6);
  lapis_solver_free(c);
  discard(b);
}

static void refusals(void **state)
{
  bench *b = make((double[]){-1, 1}, 2, 17);
  lapis_cv_options o = judged_by("beauty");
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  lapis_grid grid = {"C", 1, (const char *const[]){"1"}};
  lapis_solver *c;
  assert_int_equal(cv_run(b->ctx, lapis_method_find("svmplus"), &b->data, &set,
                          &o, &grid, 1, &c),
                   LAPIS_EINVAL);
  check_says(lapis_ctx_error(b->ctx), "f1");
  o.metric = "accuracy";
  o.pooled = true;
  assert_int_equal(cv_run(b->ctx, lapis_method_find("svmplus"), &b->data, &set,
                          &o, &grid, 1, &c),
                   LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(b->ctx), "accuracy reads labels"));
  o.metric = "auroc";
  o.folds = N + 1;
  assert_true(cv_run(b->ctx, lapis_method_find("svmplus"), &b->data, &set, &o,
                     &grid, 1, &c) < 0);
  assert_non_null(strstr(lapis_ctx_error(b->ctx), "folds"));
  discard(b);
}

/* ---- grids as typed, and choosing ---------------------------------------*/
static void grids_as_typed(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_grid *g;
  assert_int_equal(lapis_grid_new(ctx, "kernel=linear,rbf", &g), 0);
  assert_string_equal(g->name, "kernel");
  assert_int_equal(g->count, 2);
  assert_string_equal(g->value[0], "linear");
  assert_string_equal(g->value[1], "rbf");
  lapis_grid_free(g);
  assert_int_equal(lapis_grid_new(ctx, "C=100:0.01:5", &g), 0);
  assert_int_equal(g->count, 5);
  for (int i = 0; i < 5; i++)
    CHECK_NEAR(strtod(g->value[i], NULL) / pow(10, 2 - i), 1, 1e-6);
  lapis_grid_free(g);
  const char *const bad[] = {
      "C", "=1", "C=", "C=0:1:3", "C=1:2:0", "C=1:2:1001"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(lapis_grid_new(ctx, bad[i], &g), LAPIS_EINVAL);
    assert_null(g);
    assert_non_null(strstr(lapis_ctx_error(ctx), bad[i]));
  }
  lapis_grid_free(NULL);
  lapis_ctx_free(ctx);
}

/* Where single labels are unknown, single labels are hidden, each once, as
 * many of every label in each fold, and judged by themselves: the scores are
 * those of solves that know all the rest. */
static void cells_are_hidden_where_cells_are_unknown(void **state)
{
  enum { K = 2 };
  bench *b = make(NULL, 0, 5);
  uint64_t seed = 3;
  for (int k = 0; k < K * N; k++)
    b->Y[k] = b->X[k / K * D + k % K] + check_uniform(&seed) > 0.5;
  b->data.Y = lapis_mat_f64(b->Y, K, N);
  lapis_mc_settings set = lapis_mc_defaults();
  set.lambda = 1;
  lapis_cv_options o = judged_by("auroc");
  const lapis_method *mc = lapis_method_find("mc");
  lapis_grid grid = {"mu-rel", 1, (const char *const[]){"0.001"}};
  assert_int_equal(lapis_cv_hides(mc, &b->data, &o), LAPIS_FOLDS_OF_ROWS);
  for (int j = 0; j < N; j += 3) b->Y[j * K + j % 2] = NAN;
  assert_int_equal(lapis_cv_hides(mc, &b->data, &o), LAPIS_FOLDS_OF_CELLS);
  assert_int_equal(lapis_cv_hides(lapis_method_find("svmplus"), &b->data, &o),
                   LAPIS_FOLDS_OF_ROWS);
  o.keep_scores = o.pooled = true;
  o.folds = 2;
  lapis_solver *c = cv(b, "mc", &set, &o, &grid);
  lapis_mat scores = cv_result(c, "held_out");
  int alike = 0, hidden = 0;
  double kept[K * N];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < K; i++) {
      double s = lapis_mat_at(&scores, i, j), y = b->Y[j * K + i];
      kept[j * K + i] = s;
      assert_int_equal(isnan(s), isnan(y));
      hidden += !isnan(s);
    }
  assert_true(hidden == K * N - N / 3);
  /* a label's neighbour in its row is known to half of the solves */
  double all = cv_at(c, 0).mean;
  lapis_solver_free(c);
  o.folds_of = LAPIS_FOLDS_OF_ROWS;
  c = cv(b, "mc", &set, &o, &grid);
  lapis_mat rows = cv_result(c, "held_out");
  for (int k = 0; k < K * N; k++)
    alike += !isnan(b->Y[k]) &&
             fabs(lapis_mat_at(&rows, k % K, k / K) - kept[k]) < 1e-9;
  assert_true(alike < hidden / 4);
  assert_false(isnan(all));
  lapis_solver_free(c);
  o.folds_of = LAPIS_FOLDS_OF_CELLS;
  lapis_svmplus_settings svm = lapis_svmplus_defaults();
  svm.C = svm.gamma = 1;
  lapis_solver *none;
  grid.name = "C";
  assert_int_equal(cv_run(b->ctx, lapis_method_find("svmplus"), &b->data, &svm,
                          &o, &grid, 1, &none),
                   LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(b->ctx), BY_WHOLE_SAMPLES));
  discard(b);
}

int test_cv(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_sample_is_hidden_once),
      cmocka_unit_test(a_rare_value_is_dealt_in_turn),
      cmocka_unit_test(accuracy_is_that_of_the_labels),
      cmocka_unit_test(accuracy_of_completion),
      cmocka_unit_test(errors_are_minimised),
      cmocka_unit_test(a_path_is_its_points),
      cmocka_unit_test(one_kind_is_no_failure),
      cmocka_unit_test(pooled_folds_are_judged_as_one),
      cmocka_unit_test(pooled_folds_may_be_of_one_kind),
      cmocka_unit_test(refusals),
      cmocka_unit_test(grids_as_typed),
      cmocka_unit_test(cells_are_hidden_where_cells_are_unknown),
  };
  return run_cases(tests, NULL, NULL);
}
