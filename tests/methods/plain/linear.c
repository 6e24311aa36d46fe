/* linear: a class between two others has its place, gaps hold means, and a new
 * sample's answer does not depend on those beside it. */
enum { D = 7, N = 90, K = 1 };
#include "plain_case.h"
#include "solver/solver.h"

/* Three classes one behind the other along the first feature; every third
 * sample is not labelled. */
static problem *make(void)
{
  problem *p = empty_problem();
  uint64_t seed = 5;
  for (int j = 0; j < N; j++) {
    p->truth[j] = j / 3 % 3;
    for (int i = 0; i < D; i++) p->X[D * j + i] = check_normal(&seed);
    p->X[D * j] = 5 * p->truth[j] + .5 * check_normal(&seed);
    p->Y[j] = j % 3 == 0 ? NAN : 10 + p->truth[j];
  }
  return p;
}

static lapis_solver *fit(problem *p, const lapis_linear_settings *set)
{
  lapis_solver *s;
  lapis_status status = lapis_linear_new(p->ctx, &p->data, set, &s);
  return solved(p, status, s);
}

static void a_middle_class_has_its_place(void **state)
{
  problem *p = make();
  lapis_solver *s = fit(p, NULL);
  const double *labels = check_result(s, "labels");
  const double *scores = check_result(s, "scores");
  const double *prob = check_result(s, "probabilities");
  const double *classes = check_result(s, "classes");
  for (int j = 0; j < N; j++) {
    double sum = 0;
    assert_true(labels[j] == 10 + p->truth[j]);
    for (int c = 0; c < 3; c++) {
      double q = prob[3 * j + c];
      sum += q;
      CHECK_NEAR(scores[3 * j + c], log(q) - log1p(-q), 1e-6);
    }
    CHECK_NEAR(sum, 1, 1e-12);
  }
  for (int c = 0; c < 3; c++) CHECK_NEAR(classes[c], 10 + c, 0);
  discard(p, s);
}

/* With gaps: as with the means in their place; one by one: the same bits. */
static void gaps_hold_means(void **state)
{
  problem *p = make();
  double fill[D];
  for (int i = 0; i < D; i++) {
    double sum = 0, seen = 0;
    for (int j = 0; j < N; j++) {
      if ((i + j) % 4 == 0) p->X[D * j + i] = NAN;
      if ((i + j) % 4 != 0) sum += p->X[D * j + i], seen++;
    }
    fill[i] = sum / seen;
  }
  lapis_solver *s = fit(p, NULL), *again;
  double with_gaps[3 * N];
  memcpy(with_gaps, check_result(s, "scores"), sizeof with_gaps);
  lapis_model *model;
  assert_int_equal(lapis_model_new(s, &model), 0);
  for (int j = 0; j < N; j++) {
    lapis_data one = {.X = lapis_mat_f64(p->X + D * j, D, 1)};
    lapis_solver *q;
    assert_int_equal(lapis_predict_new(p->ctx, &one, model, NULL, &q), 0);
    assert_int_equal(lapis_solve(q), 0);
    assert_memory_equal(check_result(q, "scores"), with_gaps + 3 * j,
                        3 * sizeof *with_gaps);
    lapis_solver_free(q);
  }
  lapis_model_free(model);
  for (int k = 0; k < D * N; k++)
    if (isnan(p->X[k])) p->X[k] = fill[k % D];
  again = fit(p, NULL);
  for (int k = 0; k < 3 * N; k++)
    CHECK_NEAR(check_result(again, "scores")[k], with_gaps[k], 1e-9);
  lapis_solver_free(again);
  discard(p, s);
}

/* X as one whose numbers are stored, but for zeros; to be freed. */
static lapis_mat stored(const double *X)
{
  int64_t *colptr = calloc(N + 1, sizeof *colptr), count = 0;
  int32_t *rowidx = calloc((size_t)D * N, sizeof *rowidx);
  double *val = calloc((size_t)D * N, sizeof *val);
  for (int k = 0; k < D * N; k++) {
    if (X[k] == 0) continue;
    val[count] = X[k];
    rowidx[count++] = k % D;
    colptr[k / D + 1] = count;
  }
  lapis_mat A = lapis_mat_f64(val, D, N);
  A.colptr = colptr;
  A.rowidx = rowidx;
  return A;
}

static void a_sparse_X_is_answered_alike(void **state)
{
  problem *p = make();
  for (int k = 0; k < D * N; k++) {
    if (k % 4 == 0) p->X[k] = 0;
    if (k % 9 == 0) p->X[k] = NAN;
  }
  lapis_mat A = stored(p->X);
  lapis_solver *s = fit(p, NULL), *q, *new[2];
  p->data.X = A;
  q = fit(p, NULL);
  lapis_model *model;
  assert_int_equal(lapis_model_new(q, &model), 0);
  lapis_data data[] = {{.X = lapis_mat_f64(p->X, D, N)}, {.X = A}};
  for (int i = 0; i < 2; i++) {
    lapis_status got =
        lapis_predict_new(p->ctx, &data[i], model, NULL, &new[i]);
    new[i] = solved(p, got, new[i]);
    for (int k = 0; k < 3 * N; k++)
      CHECK_NEAR(check_result(new[i], "scores")[k],
                 check_result(s, "scores")[k], 1e-4);
    lapis_solver_free(new[i]);
  }
  lapis_model_free(model);
  lapis_solver_free(q);
  free(A.val);
  free((void *)A.colptr);
  free((void *)A.rowidx);
  discard(p, s);
}

/* Slope and bias of each class decide, where they are given. */
static void a_calibration_decides(void **state)
{
  problem *p = make();
  double given[] = {1, 0, 1, 0, 1, 100};
  lapis_solver *s = fit(p, NULL);
  lapis_mat slopes = lapis_mat_f64(given, 2, 3);
  assert_int_equal(s->cls->calibrate(s, &slopes), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  for (int j = 0; j < N; j++) assert_true(check_result(s, "labels")[j] == 12);
  slopes.cols = 2;
  assert_int_equal(s->cls->calibrate(s, &slopes), LAPIS_ESHAPE);
  discard(p, s);
}

/* The problem as stated, whatever the units: its gradient at the answer, with
 * scores from the weights in these units, against the size of its terms. */
static void units_do_not_keep_it_from_the_optimum(void **state)
{
  static const double unit[D] = {1e6, 1e-3, 1e4, 1, 1e3, 10, 300};
  problem *p = make();
  lapis_linear_settings set = lapis_linear_defaults();
  set.C = .5;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) p->X[D * j + i] *= unit[i];
    p->X[D * j] += 3e6;
    p->Y[j] = (p->truth[j] > 0) != (j % 7 == 0); /* all known, some wrong */
    p->X[D * j + 3] += p->truth[j] == 1 ? 2 : 0;
  }
  lapis_solver *s = fit(p, &set);
  assert_true(lapis_result_info(s)->iterations < 200);
  const double *w = check_result(s, "weights");
  double g[D + 1], size[D + 1];
  for (int i = 0; i < D; i++) g[i] = size[i] = w[i];
  g[D] = size[D] = 0;
  for (int j = 0; j < N; j++) {
    double f = w[D], sign = p->Y[j] > 0 ? 1 : -1;
    for (int i = 0; i < D; i++) f += w[i] * p->X[D * j + i];
    double r = -set.C * sign / (1 + exp(sign * f));
    for (int i = 0; i <= D; i++) {
      double x = i < D ? p->X[D * j + i] : 1;
      g[i] += r * x;
      size[i] += fabs(r * x);
    }
  }
  for (int i = 0; i <= D; i++)
    check_at_most(fabs(g[i]), 1e-4 * fabs(size[i]) + 1e-7, "gradient", __FILE__,
                  __LINE__);
  discard(p, s);
}

/* What is called solved has the gradient that was asked for, also where the
 * value no longer tells a decrease; what rounding ended is called that. */
static void solved_means_the_gradient(void **state)
{
  double X[8] = {.5, 1, -1, 2, .3, -.4, 0, 1.5};
  double Y[8] = {0, 1, 2, 1, 0, 2, 2, 1};
  lapis_data data = {.X = lapis_mat_f64(X, 1, 8), .Y = lapis_mat_f64(Y, 1, 8)};
  for (int k = 0; k < 6; k++) {
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_linear_settings set = lapis_linear_defaults();
    set.C = pow(10, 4 * (k % 3) - 4); /* 1e-4, 1, 1e4 */
    set.stop.tol = k < 3 ? 1e-13 : 1e-18;
    lapis_solver *s;
    if (lapis_linear_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
      fail_msg("%s", lapis_ctx_error(ctx));
    const lapis_info *info = lapis_result_info(s);
    assert_int_equal(info->status, k < 3 ? LAPIS_OK : LAPIS_PRECISION_FLOOR);
    CHECK_AT_MOST(info->residual, k < 3 ? set.stop.tol : 1e-13);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
}

/* Where both kinds lie alike the first gradient is rounding and the answer 0.
 */
static void no_direction_is_solved(void **state)
{
  double X[6] = {.1, .1, .1, .1, .1, .1}, Y[6] = {0, 1, 2, 2, 1, 0};
  lapis_data data = {.X = lapis_mat_f64(X, 1, 6), .Y = lapis_mat_f64(Y, 1, 6)};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s;
  assert_int_equal(lapis_linear_new(ctx, &data, NULL, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  for (int c = 0; c < 3; c++)
    CHECK_NEAR(check_result(s, "probabilities")[c], 1. / 3, 1e-15);
  lapis_solver_free(s);
  for (int j = 0; j < 6; j++)
    X[j] = 1e-20 * (Y[j] = j % 2); /* small is not 0 */
  assert_int_equal(lapis_linear_new(ctx, &data, NULL, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_true(check_result(s, "weights")[0] > 0);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* Weights are those of the labelled samples alone, bit by bit; the dual of the
 * others is 0. */
static void samples_without_labels_teach_nothing(void **state)
{
  enum { TAUGHT = N - N / 3 };
  problem *p = make();
  double weight[N], X[D * TAUGHT], Y[TAUGHT], of_some[TAUGHT];
  lapis_linear_settings set = lapis_linear_defaults();
  set.certificate = true;
  int m = 0;
  for (int j = 0; j < N; j++) {
    weight[j] = 1 + j % 2;
    if (isnan(p->Y[j])) continue;
    memcpy(X + D * m, p->X + D * j, D * sizeof *X);
    of_some[m] = weight[j];
    Y[m++] = p->Y[j];
  }
  p->data.weight = weight;
  lapis_solver *s = fit(p, &set), *alone;
  lapis_data some = {.X = lapis_mat_f64(X, D, TAUGHT),
                     .Y = lapis_mat_f64(Y, 1, TAUGHT),
                     .weight = of_some};
  assert_int_equal(lapis_linear_new(p->ctx, &some, &set, &alone), 0);
  assert_int_equal(lapis_solve(alone), 0);
  assert_memory_equal(check_result(s, "weights"),
                      check_result(alone, "weights"),
                      3 * (D + 1) * sizeof(double));
  const double *dual = check_result(s, "dual");
  const double *theirs = check_result(alone, "dual");
  for (int j = 0, k = 0; j < N; j++) {
    bool known = !isnan(p->Y[j]);
    for (int c = 0; c < 3; c++)
      assert_true(dual[3 * j + c] == (known ? theirs[3 * k + c] : 0));
    k += known;
  }
  lapis_solver_free(alone);
  discard(p, s);
}

static void hear(int level, const char *text, void *to)
{
  if (level == 0) snprintf(to, 400, "%s", text);
}

static void refuse(problem *p, const char *words)
{
  static const char *const method[] = {"linear", "trees"};
  lapis_solver *s;
  for (int k = 0; k < 2; k++) {
    const lapis_method *m = lapis_method_find(method[k]);
    assert_int_equal(lapis_solver_new(p->ctx, m, &p->data, NULL, &s),
                     LAPIS_EDATA);
    check_says(lapis_ctx_error(p->ctx), words);
  }
}

/* Of several targets those that tell nothing are named, and the others answer;
 * where none tells anything there is nothing to learn. */
static void labels_of_both_kinds_are_needed(void **state)
{
  static double two[2 * N];
  char heard[400] = "";
  problem *p = make();
  lapis_ctx_on_message(p->ctx, hear, heard);
  for (int j = 0; j < N; j++) {
    two[2 * j] = p->truth[j] > 0;
    two[2 * j + 1] = j % 2 == 0 ? 1 : NAN;
  }
  p->data.Y = lapis_mat_f64(two, 2, N);
  lapis_solver *s = fit(p, NULL);
  assert_non_null(strstr(heard, "class 2 has 0 negative and 45 positive"));
  const double *labels = check_result(s, "labels");
  for (int j = 0; j < N; j++) assert_true(labels[2 * j] == (p->truth[j] > 0));
  for (int j = 0; j < N; j++) two[2 * j] = 0;
  refuse(p, "no class has known labels of both kinds");
  p->data.Y = lapis_mat_f64(p->Y, 1, N);
  for (int j = 0; j < N; j++) p->Y[j] = j % 3 == 0 ? NAN : 12;
  refuse(p, "Y has one class only; two are needed to learn from");
  for (int j = 0; j < N; j++) p->Y[j] = NAN;
  refuse(p, "Y holds no known label");
  discard(p, s);
}

int test_linear(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_middle_class_has_its_place),
      cmocka_unit_test(gaps_hold_means),
      cmocka_unit_test(a_sparse_X_is_answered_alike),
      cmocka_unit_test(a_calibration_decides),
      cmocka_unit_test(units_do_not_keep_it_from_the_optimum),
      cmocka_unit_test(solved_means_the_gradient),
      cmocka_unit_test(no_direction_is_solved),
      cmocka_unit_test(samples_without_labels_teach_nothing),
      cmocka_unit_test(labels_of_both_kinds_are_needed),
  };
  return run_cases(tests, NULL, NULL);
}
