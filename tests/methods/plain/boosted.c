/* boosted trees: leaves and splits are those of the formulas, recomputed here;
 * gaps have a side; the sum of the trees is a score, of classes a softmax's. */
#include <math.h>

#include "op/learn/trees.h"

enum { D = 3, N = 200, KNOWN = 120, K = 3, TREES = 60 };
#include "plain_case.h"

static lapis_solver *fit(problem *p, int64_t count, int64_t depth, double rate)
{
  lapis_trees_settings set = lapis_trees_defaults();
  lapis_solver *s;
  set.trees = count;
  set.depth = depth;
  set.rate = rate;
  set.kind = LAPIS_TREES_BOOSTED;
  lapis_status status = lapis_trees_new(p->ctx, &p->data, &set, &s);
  return solved(p, status, s);
}

typedef struct stump {
  double base, left, right, gain; /* scores; of sum yes^2 / (seen + 1) */
  int feature;
  double threshold;
} stump;

/* The best of all thresholds between two values, from base alone. */
static stump best_stump(const problem *p)
{
  stump best = {.gain = -INFINITY};
  double yes = 0;
  for (int j = 0; j < KNOWN; j++) yes += p->truth[j];
  double share = yes / KNOWN;
  best.base = log(share) - log1p(-share);
  for (int i = 0; i < D; i++)
    for (int k = 0; k < KNOWN; k++) {
      double sum[2] = {0, 0}, seen[2] = {0, 0}, at = p->X[D * k + i];
      for (int j = 0; j < KNOWN; j++) {
        bool right = p->X[D * j + i] > at;
        sum[right] += p->truth[j] - share;
        seen[right] += share * (1 - share);
      }
      double gain = 0;
      for (int q = 0; q < 2; q++) gain += sum[q] * sum[q] / (seen[q] + 1);
      if (gain <= best.gain) continue;
      best.gain = gain;
      best.feature = i;
      best.threshold = at;
      best.left = sum[0] / (seen[0] + 1);
      best.right = sum[1] / (seen[1] + 1);
    }
  return best;
}

static void one_split_is_the_best_of_all(void **state)
{
  problem *p = chess_board(KNOWN);
  for (int j = 0; j < N; j++) { /* few values: each has a bin */
    for (int i = 0; i < D; i++)
      p->X[D * j + i] = round(20 * p->X[D * j + i]) / 20;
    p->truth[j] = p->X[D * j] + .5 * p->X[D * j + 1] > .3;
    if (j < KNOWN) p->Y[j] = p->truth[j];
  }
  stump want = best_stump(p);
  lapis_solver *s = fit(p, 1, 1, .5);
  const double *score = check_result(s, "scores");
  for (int j = 0; j < N; j++) {
    bool right = p->X[D * j + want.feature] > want.threshold;
    CHECK_NEAR(score[j], want.base + .5 * (right ? want.right : want.left),
               1e-12);
  }
  discard(p, s);
}

/* Samples of feature i that go right: above a threshold, or gaps. */
static bool goes_right(const problem *p, int j, int i, double at, bool gaps)
{
  double x = p->X[D * j + i];
  return isnan(x) ? gaps : x > at;
}

/* The same of many classes and of gaps, which go to the better side: sums of
 * each class are added up, what is gained added over classes.  score: of right
 * and left, a class each. */
enum { MANY = 7 };
static void best_of_classes(const problem *p, stump *best,
                            double score[2][MANY])
{
  double share[MANY] = {0};
  *best = (stump){.gain = -INFINITY};
  for (int j = 0; j < KNOWN; j++) share[(int)p->truth[j]] += 1. / KNOWN;
  for (int k = 0; k < 2 * D * KNOWN; k++) {
    int i = k % D, from = k / 2 / D;
    double sum[2][MANY] = {{0}}, seen[2][MANY] = {{0}}, gain = 0;
    for (int j = 0; j < KNOWN; j++) {
      bool right = goes_right(p, j, i, p->X[D * from + i], k / D % 2 == 1);
      for (int c = 0; c < MANY; c++) {
        sum[right][c] += ((int)p->truth[j] == c) - share[c];
        seen[right][c] += share[c] * (1 - share[c]);
      }
    }
    for (int q = 0; q < 2 * MANY; q++) {
      double yes = sum[q % 2][q / 2], of = seen[q % 2][q / 2];
      gain += yes * yes / (of + 1);
    }
    if (isnan(p->X[D * from + i]) || !(gain > best->gain + 1e-9)) continue;
    *best = (stump){.gain = gain,
                    .feature = i,
                    .threshold = p->X[D * from + i],
                    .right = k / D % 2};
    for (int q = 0; q < 2 * MANY; q++)
      score[q % 2][q / 2] =
          log(share[q / 2]) + .5 * sum[q % 2][q / 2] / (seen[q % 2][q / 2] + 1);
  }
}

static void one_split_of_classes_is_the_best_of_all(void **state)
{
  problem *p = chess_board(KNOWN);
  stump want;
  double at[2][MANY];
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++)
      p->X[D * j + i] = round(20 * p->X[D * j + i]) / 20;
    double f = 2 + p->X[D * j] - .8 * p->X[D * j + 1];
    p->truth[j] = (int)fmin(fmax(floor(2 * f), 0), MANY - 1);
    if (j < MANY) p->truth[j] = j;
    if (j % 5 == 0) p->X[D * j] = NAN;
    if (j < KNOWN) p->Y[j] = p->truth[j];
  }
  best_of_classes(p, &want, at);
  lapis_solver *s = fit(p, 1, 1, .5);
  const double *score = check_result(s, "scores");
  for (int j = 0; j < N; j++)
    for (int c = 0; c < MANY; c++) {
      bool right =
          goes_right(p, j, want.feature, want.threshold, want.right > 0);
      double others = 0;
      for (int k = 0; k < MANY; k++) others += k == c ? 0 : exp(at[right][k]);
      CHECK_NEAR(score[MANY * j + c], at[right][c] - log(others), 1e-12);
    }
  discard(p, s);
}

static double loss(const problem *p, const lapis_solver *s, int from, int to)
{
  const double *q = check_result(s, "probabilities");
  double sum = 0;
  for (int j = from; j < to; j++) sum -= log(p->truth[j] ? q[j] : 1 - q[j]);
  return sum / (to - from);
}

static void more_trees_fit_better(void **state)
{
  problem *p = chess_board(KNOWN);
  double before = 1;
  for (int count = 1; count <= 64; count *= 4) {
    lapis_solver *s = fit(p, count, 3, .3);
    double now = loss(p, s, 0, KNOWN);
    assert_true(now < before);
    before = now;
    if (count == 64) CHECK_AT_MOST(loss(p, s, KNOWN, N), .4);
    lapis_solver_free(s);
  }
  lapis_ctx_free(p->ctx);
  free(p);
}

/* Three classes, of which the last shows by a gap. */
static void classes_are_a_softmax_and_gaps_tell(void **state)
{
  problem *p = chess_board(KNOWN);
  for (int j = 0; j < N; j++) {
    if (j % 3 == 0) p->X[D * j + 2] = NAN;
    p->truth[j] = j % 3 == 0 ? 7 : 3 + p->truth[j];
    if (j < KNOWN) p->Y[j] = p->truth[j];
  }
  lapis_solver *s = fit(p, TREES, 4, .1), *q;
  const double *share = check_result(s, "probabilities");
  const double *score = check_result(s, "scores");
  int right = 0;
  for (int j = 0; j < N; j++) {
    double sum = 0;
    for (int c = 0; c < 3; c++) {
      sum += share[3 * j + c];
      CHECK_NEAR(share[3 * j + c], 1 / (1 + exp(-score[3 * j + c])), 1e-12);
    }
    CHECK_NEAR(sum, 1, 1e-12);
    if (j % 3 == 0) assert_true(share[3 * j + 2] > .8);
    right += j >= KNOWN && check_result(s, "labels")[j] == p->truth[j];
  }
  CHECK_AT_LEAST(right, 68); /* of 80 */
  lapis_model *model;
  assert_int_equal(lapis_model_new(s, &model), 0);
  assert_int_equal(lapis_predict_new(p->ctx, &p->data, model, NULL, &q), 0);
  assert_int_equal(lapis_solve(q), 0);
  assert_memory_equal(check_result(q, "scores"), score, 3 * N * sizeof(double));
  lapis_solver_free(q);
  lapis_model_free(model);
  discard(p, s);
}

/* One of several labels is not known of some samples; a sample twice counts as
 * one of weight 2. */
static void unknown_labels_and_weights_count(void **state)
{
  enum { M = 60 };
  double X[2 * M], twice[4 * M], sign[2 * M], signs[4 * M], weight[M];
  uint64_t seed = 5;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < M; j++) {
    weight[j] = 2;
    for (int i = 0; i < 2; i++) {
      X[2 * j + i] = floor(10 * check_uniform(&seed));
      sign[2 * j + i] = j % 5 == i ? NAN : X[2 * j + i] > 4 ? 1 : -1;
    }
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < 2; i++) {
        twice[4 * j + 2 * k + i] = X[2 * j + i];
        signs[4 * j + 2 * k + i] = sign[2 * j + i];
      }
  }
  trees a, b;
  trees_problem of = {.kind = TREES_BOOSTED,
                      .X = X,
                      .target = sign,
                      .weight = weight,
                      .d = 2,
                      .n = M,
                      .share = 1,
                      .K = 2,
                      .count = 20,
                      .depth = 2,
                      .rate = .3,
                      .leaf = 4};
  assert_int_equal(trees_grow(ctx, &of, NULL, NULL, &a), 0);
  of.X = twice;
  of.target = signs;
  of.weight = NULL;
  of.n = 2 * M;
  assert_int_equal(trees_grow(ctx, &of, NULL, NULL, &b), 0);
  for (int j = 0; j < M; j++) {
    double p[2], q[2];
    trees_answer(&a, X + 2 * j, 2, 1, NULL, p);
    trees_answer(&b, X + 2 * j, 2, 1, NULL, q);
    for (int c = 0; c < 2; c++) {
      CHECK_NEAR(p[c], q[c], 1e-9);
      assert_true((p[c] > 0) == (X[2 * j + c] > 4));
    }
  }
  trees_free(&a);
  trees_free(&b);
  lapis_ctx_free(ctx);
}

static void numbers_are_fitted_at_any_height(void **state)
{
  problem *p = chess_board(KNOWN);
  double error = 0, all = 0;
  for (int j = 0; j < N; j++)
    p->Y[j] = j < KNOWN ? 1e6 + p->X[D * j] + p->X[D * j + 1] : NAN;
  lapis_solver *s = fit(p, 200, 3, .1);
  for (int j = KNOWN; j < N; j++) {
    double y = p->X[D * j] + p->X[D * j + 1];
    error += pow(check_result(s, "scores")[j] - 1e6 - y, 2);
    all += y * y;
  }
  CHECK_AT_MOST(error / all, .05);
  discard(p, s);
}

/* What only boosted trees have is not passed over in silence. */
static void others_refuse_its_settings(void **state)
{
  problem *p = chess_board(KNOWN);
  for (int k = 0; k < 2; k++) {
    lapis_trees_settings set = lapis_trees_defaults();
    lapis_solver *s;
    if (k == 0) set.depth = 3;
    if (k == 1) set.rate = .1;
    assert_int_equal(lapis_trees_new(p->ctx, &p->data, &set, &s), LAPIS_EINVAL);
    assert_true(check_has(lapis_ctx_error(p->ctx), k == 0 ? "depth" : "rate"));
  }
  lapis_ctx_free(p->ctx);
  free(p);
}

int test_boosted(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_split_is_the_best_of_all),
      cmocka_unit_test(one_split_of_classes_is_the_best_of_all),
      cmocka_unit_test(more_trees_fit_better),
      cmocka_unit_test(classes_are_a_softmax_and_gaps_tell),
      cmocka_unit_test(unknown_labels_and_weights_count),
      cmocka_unit_test(numbers_are_fitted_at_any_height),
      cmocka_unit_test(others_refuse_its_settings),
  };
  return run_cases(tests, NULL, NULL);
}
