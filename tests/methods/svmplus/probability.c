/* --probability of svmplus: calibrated, and whole or not there. */
#include "cancelling.h"
#include "svmplus_case.h"

/* Logistic labels: probabilities are near the true ones. */
static void probabilities_are_calibrated(void **state)
{
  enum { N = 600 };
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(90, N, 2, 0);
  uint64_t seed = 91;
  for (int j = 0; j < N; j++) {
    double f = 2 * c.X[2 * j];
    c.y[j] = check_uniform(&seed) < 1 / (1 + exp(-f)) ? 1 : -1;
  }
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.probability = true;
  lapis_solver *s = sv_solve(ctx, &c.data, &set), *p;
  lapis_model *m;
  lapis_data fresh = {.X = c.data.X};
  assert_int_equal(lapis_model_new(s, &m), 0);
  assert_int_equal(lapis_predict_new(ctx, &fresh, m, NULL, &p), 0);
  assert_int_equal(lapis_solve(p), 0);
  const double *got = sv_array(p, "probabilities");
  double off = 0;
  for (int j = 0; j < N; j++)
    off += fabs(got[j] - 1 / (1 + exp(-2 * c.X[2 * j]))) / N;
  CHECK_AT_MOST(off, 0.05);
  lapis_solver_free(p);
  lapis_model_free(m);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* Classes by the softmax of three lines: the same, and a whole of 1. */
static void classes_are_calibrated(void **state)
{
  enum { N = 900, L = 3 };
  static const double way[L][2] = {{2, 0}, {-1, 2}, {-1, -2}};
  static double truth[L * N];
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(94, N, 2, 0);
  uint64_t seed = 97;
  for (int j = 0; j < N; j++) {
    double sum = 0, *p = truth + L * j, u = check_uniform(&seed);
    for (int k = 0; k < L; k++)
      sum += p[k] = exp(way[k][0] * c.X[2 * j] + way[k][1] * c.X[2 * j + 1]);
    for (int k = 0; k < L; k++) p[k] /= sum;
    c.y[j] = u < p[0] ? 0 : u < p[0] + p[1] ? 1 : 2;
  }
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.probability = true;
  lapis_solver *s = sv_solve(ctx, &c.data, &set);
  const double *got = sv_array(s, "probabilities");
  double off = 0;
  for (int k = 0; k < L * N; k++) off += fabs(got[k] - truth[k]) / (L * N);
  for (int j = 0; j < N; j++)
    CHECK_NEAR(got[L * j] + got[L * j + 1] + got[L * j + 2], 1, 1e-12);
  CHECK_AT_MOST(off, .06);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void hear(int level, const char *text, void *user)
{
  bool *said = user;
  *said = *said || (level == -1 && strstr(text, "equally frequent") != NULL);
}

/* Labels are the likelier class; of a balanced fit what scores say. */
static void labels_are_likely(const lapis_solver *s, const double *labels,
                              bool balanced)
{
  lapis_mat by;
  assert_int_equal(
      lapis_result_get(s, balanced ? "scores" : "probabilities", &by),
      LAPIS_OK);
  for (int64_t j = 0; j < by.cols; j++) {
    const double *of = (const double *)by.val + j * by.rows;
    int64_t best = 0;
    for (int64_t c = 1; c < by.rows; c++) best = of[c] > of[best] ? c : best;
    if (by.rows == 1) best = of[0] > (balanced ? 0 : .5);
    CHECK_NEAR(labels[j], (double)best, 0);
  }
}

/* What fit says of its samples is what predict says of them; of a balanced fit
 * both are of the shares given, which is said. */
static void fit_and_predict_say_the_same(void **state)
{
  enum { N = 60 };
  for (int t = 0; t < 8; t++) {
    bool said = false;
    lapis_ctx *ctx = lapis_ctx_new();
    sv_case c = sv_random(95 + t, N, 3, 0);
    uint64_t seed = 96;
    double mean = 0, share = 0;
    int rare = t % 4 < 2 ? 1 : 2; /* two values, three classes */
    for (int j = 0; j < N; j++)
      c.y[j] = check_uniform(&seed) < .2 ? 1 + (j % rare) : 0;
    for (int j = 0; j < N; j++) share += c.y[j] > 0;
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.C = set.gamma = 1;
    set.probability = true;
    set.balanced = t % 2;
    set.kernel = t < 4 ? LAPIS_KERNEL_LINEAR : LAPIS_KERNEL_RBF;
    lapis_ctx_on_message(ctx, hear, &said);
    lapis_solver *s = sv_solve(ctx, &c.data, &set), *p;
    lapis_model *m;
    lapis_mat of;
    assert_int_equal(said, set.balanced);
    said = false;
    lapis_data fresh = {.X = c.data.X};
    assert_int_equal(lapis_model_new(s, &m), 0);
    assert_int_equal(lapis_predict_new(ctx, &fresh, m, NULL, &p), 0);
    assert_int_equal(said, set.balanced);
    assert_int_equal(lapis_solve(p), 0);
    assert_int_equal(lapis_result_get(s, "probabilities", &of), LAPIS_OK);
    const double *got = sv_array(p, "probabilities");
    for (int64_t k = 0; k < of.rows * N; k++)
      CHECK_NEAR(((const double *)of.val)[k], got[k], 1e-9);
    labels_are_likely(s, sv_array(s, "labels"), set.balanced);
    labels_are_likely(p, sv_array(p, "labels"), set.balanced);
    for (int64_t j = 0; j < N; j++) mean += of.rows == 1 ? got[j] : 0;
    if (of.rows == 1) CHECK_NEAR(mean / N, share / N, .1);
    lapis_solver_free(p);
    lapis_model_free(m);
    lapis_solver_free(s);
    sv_drop(&c);
    lapis_ctx_free(ctx);
  }
}

/* Folds leave some of every class to learn from, or nothing is solved: with one
 * sample of the last of three classes a fold told of two. */
static void folds_leave_every_class(void **state)
{
  enum { N = 30 };
  for (int rare = 1; rare <= 2; rare++) {
    lapis_ctx *ctx = lapis_ctx_new();
    sv_case c = sv_random(93, N, 2, 0);
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.C = set.gamma = 1;
    lapis_solver *s;
    for (int j = 0; j < N; j++) c.y[j] = j < N - rare ? 5 + j % 2 : 7;
    set.probability = true;
    assert_int_equal(lapis_svmplus_new(ctx, &c.data, &set, &s), LAPIS_OK);
    lapis_status got = lapis_solve(s);
    if (rare == 1)
      check_refused(ctx, got, LAPIS_EDATA, NULL, "1");
    else
      assert_int_equal(got, LAPIS_OK);
    lapis_solver_free(s);
    sv_drop(&c);
    lapis_ctx_free(ctx);
  }
}

/* Whether the model has probabilities, which it has when the folds ended. */
static bool has_probabilities(double seconds, int nth, lapis_status ends)
{
  sv_case c = sv_random(92, 80, 3, 2);
  cancelling t = {
      .ctx = lapis_ctx_new(), .begins = "svmplus: 1 objective", .nth = nth};
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  lapis_solver *s, *p;
  lapis_model *m;
  lapis_mat of;
  set.formulation = LAPIS_SVMPLUS_L2;
  set.probability = true;
  set.stop.seconds = seconds;
  cancelling_listen(&t);
  assert_int_equal(lapis_svmplus_new(t.ctx, &c.data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), ends);
  assert_int_equal(lapis_result_info(s)->status, ends);
  lapis_data fresh = {.X = c.data.X};
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  assert_int_equal(lapis_predict_new(t.ctx, &fresh, m, NULL, &p), LAPIS_OK);
  assert_int_equal(lapis_solve(p), LAPIS_OK);
  CHECK_AT_LEAST(fabs(sv_array(p, "scores")[0]), 1e-300);
  bool has = lapis_result_get(p, "probabilities", &of) == LAPIS_OK;
  lapis_solver_free(p);
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_ctx_free(t.ctx);
  sv_drop(&c);
  return has;
}

/* A sigmoid of folds that were cut short would look like any other. */
static void folds_cut_short_give_no_probabilities(void **state)
{
  assert_true(has_probabilities(INFINITY, 0, LAPIS_OK));
  assert_false(has_probabilities(INFINITY, 3, LAPIS_CANCELLED)); /* 2nd fold */
  assert_false(has_probabilities(1e-9, 0, LAPIS_TIME_LIMIT));
}

int test_probability(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probabilities_are_calibrated),
      cmocka_unit_test(classes_are_calibrated),
      cmocka_unit_test(fit_and_predict_say_the_same),
      cmocka_unit_test(folds_leave_every_class),
      cmocka_unit_test(folds_cut_short_give_no_probabilities),
  };
  return run_cases(tests, NULL, NULL);
}
