/* forests and trees of numbers: the best threshold is found, gaps have a side,
 * weights count, numbers are means of leaves whatever is added to them. */
#include <math.h>

#include "op/learn/trees.h"

enum { D = 3, N = 200, KNOWN = 120, K = 2, TREES = 50 };
#include "plain_case.h"

static lapis_solver *fit(problem *p, int kind, int targets, int64_t leaf)
{
  lapis_trees_settings set = lapis_trees_defaults();
  lapis_solver *s;
  set.trees = TREES;
  set.leaf = leaf;
  set.kind = kind;
  set.targets = targets;
  lapis_status status = lapis_trees_new(p->ctx, &p->data, &set, &s);
  return solved(p, status, s);
}

static lapis_solver *forest(problem *p)
{
  return fit(p, LAPIS_TREES_FOREST, LAPIS_TARGETS_AUTO, 1);
}

static int told(const problem *p, const lapis_solver *s)
{
  int right = 0;
  for (int j = KNOWN; j < N; j++)
    right += check_result(s, "labels")[j] == p->truth[j];
  return right;
}

static void a_forest_tells_squares(void **state)
{
  problem *p = chess_board(KNOWN);
  lapis_solver *s = forest(p);
  CHECK_AT_LEAST(told(p, s), 68); /* of 80 */
  discard(p, s);
}

/* A step between .4 and .6: whichever samples a tree has drawn, the best
 * threshold lies there, and one split tells all. */
static void the_best_threshold_is_taken(void **state)
{
  enum { M = 90 };
  double X[M], y[M];
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < M; j++) {
    X[j] = (j < 30 ? .4 : .6 - 29. / 100) + (j < 30 ? -j : j) / 100.;
    y[j] = j < 30 ? 3 : 5;
  }
  trees grown;
  trees_problem of = {.kind = TREES_FOREST,
                      .numbers = true,
                      .X = X,
                      .target = y,
                      .d = 1,
                      .n = M,
                      .share = NAN,
                      .K = 1,
                      .count = TREES,
                      .leaf = 1};
  assert_int_equal(trees_grow(ctx, &of, NULL, NULL, &grown), 0);
  assert_int_equal(grown.nodes, 3 * TREES);
  for (int t = 0; t < TREES; t++) {
    double at = grown.node[TREES_NODE * (int)grown.root[t] + TREES_THRESHOLD];
    assert_true(at > .3 && at < .7);
  }
  double said, asked = .2;
  trees_answer(&grown, &asked, 1, 1, NULL, &said);
  CHECK_NEAR(said, 3, 1e-12);
  trees_free(&grown);
  lapis_ctx_free(ctx);
}

/* Three classes one behind the other along the first of two features, where
 * every fourth sample of the last has a gap: the best two splits of every tree
 * tell all, whatever samples weigh and whichever it has drawn. */
static void three_classes_take_two_splits(void **state)
{
  enum { M = 120 };
  double X[2 * M], sign[3 * M], weight[M];
  uint64_t seed = 3;
  for (int j = 0; j < M; j++) {
    int y = j / 40;
    X[2 * j] = y == 2 && j % 4 == 0 ? NAN : y + .01 * (j % 40);
    X[2 * j + 1] = check_normal(&seed);
    weight[j] = 1 + j % 3;
    for (int c = 0; c < 3; c++) sign[3 * j + c] = c == y ? 1 : -1;
  }
  trees grown;
  lapis_ctx *ctx = lapis_ctx_new();
  trees_problem of = {.kind = TREES_FOREST,
                      .X = X,
                      .target = sign,
                      .weight = weight,
                      .d = 2,
                      .n = M,
                      .share = 1,
                      .K = 3,
                      .count = TREES,
                      .leaf = 1};
  assert_int_equal(trees_grow(ctx, &of, NULL, NULL, &grown), 0);
  assert_int_equal(grown.nodes, 5 * TREES);
  for (int j = 0; j < M; j++) {
    double p[3];
    trees_answer(&grown, X + 2 * j, 2, 1, NULL, p);
    for (int c = 0; c < 3; c++) CHECK_NEAR(p[c], sign[3 * j + c] > 0, 1e-12);
  }
  trees_free(&grown);
  lapis_ctx_free(ctx);
}

/* One of five features tells: where all are tried, it is the first of every
 * tree; where one is, of few. */
static void a_share_of_the_features_is_tried(void **state)
{
  enum { M = 60, WIDE = 5 };
  double X[WIDE * M], y[M];
  uint64_t seed = 2;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < WIDE * M; k++) X[k] = check_uniform(&seed);
  for (int j = 0; j < M; j++) y[j] = X[WIDE * j] > .5;
  for (int all = 0; all < 2; all++) {
    int first = 0;
    trees grown;
    trees_problem of = {.kind = TREES_FOREST,
                        .numbers = true,
                        .X = X,
                        .target = y,
                        .d = WIDE,
                        .n = M,
                        .K = 1,
                        .share = all ? 1 : .2,
                        .count = TREES,
                        .leaf = 1};
    assert_int_equal(trees_grow(ctx, &of, NULL, NULL, &grown), 0);
    for (int t = 0; t < TREES; t++)
      first += grown.node[TREES_NODE * (int)grown.root[t]] == 0;
    assert_true(all ? first == TREES : first < TREES / 2);
    trees_free(&grown);
  }
  lapis_ctx_free(ctx);
}

/* What is missing is told from what is not; and a gap where the fit saw none
 * is answered. */
static void gaps_have_a_side(void **state)
{
  problem *p = chess_board(KNOWN);
  for (int j = 0; j < N; j++)
    if (p->truth[j]) p->X[D * j + 2] = NAN;
  lapis_solver *s = forest(p), *q;
  assert_true(told(p, s) == N - KNOWN);
  lapis_model *model;
  double gaps[D] = {NAN, NAN, 0};
  lapis_data one = {.X = lapis_mat_f64(gaps, D, 1)};
  assert_int_equal(lapis_model_new(s, &model), 0);
  assert_int_equal(lapis_predict_new(p->ctx, &one, model, NULL, &q), 0);
  assert_int_equal(lapis_solve(q), 0);
  assert_true(check_result(q, "labels")[0] == 0);
  lapis_solver_free(q);
  for (int j = 0; j < N; j++) { /* one by one: the same bits */
    one.X = lapis_mat_f64(p->X + D * j, D, 1);
    assert_int_equal(lapis_predict_new(p->ctx, &one, model, NULL, &q), 0);
    assert_int_equal(lapis_solve(q), 0);
    assert_memory_equal(check_result(q, "scores"),
                        check_result(s, "scores") + j, sizeof(double));
    lapis_solver_free(q);
  }
  lapis_model_free(model);
  discard(p, s);
}

/* Samples of weight 0 teach nothing: wrong labels do not matter there. */
static void weights_count(void **state)
{
  problem *p = chess_board(KNOWN);
  double weight[N];
  for (int j = 0; j < N; j++) weight[j] = j < KNOWN ? 1 : 0;
  for (int j = KNOWN; j < N; j++) p->Y[j] = !p->truth[j];
  p->data.weight = weight;
  lapis_solver *s = forest(p);
  CHECK_AT_LEAST(told(p, s), 68);
  for (int j = 0; j < N; j++) weight[j] *= 4; /* nothing is rounded */
  lapis_solver *more = forest(p);
  assert_memory_equal(check_result(s, "scores"), check_result(more, "scores"),
                      N * sizeof(double));
  for (int j = 0; j < KNOWN; j++) weight[j] = p->truth[j] ? 9 : 1;
  lapis_solver *yes = forest(p);
  double before = 0, after = 0;
  for (int j = KNOWN; j < N; j++) before += check_result(s, "probabilities")[j];
  for (int j = KNOWN; j < N; j++)
    after += check_result(yes, "probabilities")[j];
  assert_true(after > before);
  lapis_solver_free(more);
  lapis_solver_free(yes);
  discard(p, s);
}

/* Known ones are answered as given, at any height; two columns are two alone.
 */
static void numbers_are_means_of_leaves(void **state)
{
  problem *p = chess_board(KNOWN);
  for (int j = 0; j < N; j++) {
    p->Y[K * j] = j < KNOWN ? 1e6 + p->X[D * j] : NAN;
    p->Y[K * j + 1] = j < KNOWN ? p->X[D * j + 1] : NAN;
  }
  p->data.Y = lapis_mat_f64(p->Y, K, N);
  lapis_solver *s = fit(p, LAPIS_TREES_RANDOM, LAPIS_TARGETS_AUTO, 1);
  const double *scores = check_result(s, "scores");
  for (int k = 0; k < K * KNOWN; k++)
    CHECK_NEAR(scores[k], p->Y[k], 1e-8); /* 1e6, summed */
  for (int j = KNOWN; j < N; j++)
    CHECK_NEAR(scores[K * j], 1e6 + p->X[D * j], .7);
  lapis_mat labels;
  assert_true(lapis_result_get(s, "labels", &labels) < 0);
  lapis_solver_free(s);
  s = fit(p, LAPIS_TREES_FOREST, LAPIS_TARGETS_NUMBERS, 1);
  scores = check_result(s, "scores");
  for (int j = KNOWN; j < N; j++) {
    CHECK_NEAR(scores[K * j], 1e6 + p->X[D * j], .7);
    CHECK_NEAR(scores[K * j + 1], p->X[D * j + 1], .7);
  }
  discard(p, s);
}

/* Two values are classes, unless they are said to be numbers. */
static void what_targets_are_may_be_said(void **state)
{
  problem *p = chess_board(KNOWN);
  lapis_solver *s =
      fit(p, LAPIS_TREES_FOREST, LAPIS_TARGETS_NUMBERS, KNOWN + 1);
  double yes = 0;
  for (int j = 0; j < KNOWN; j++) yes += p->truth[j];
  for (int j = 0; j < N; j++)
    CHECK_NEAR(check_result(s, "scores")[j], yes / KNOWN, .1);
  discard(p, s);
}

int test_forest(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_forest_tells_squares),
      cmocka_unit_test(the_best_threshold_is_taken),
      cmocka_unit_test(three_classes_take_two_splits),
      cmocka_unit_test(a_share_of_the_features_is_tried),
      cmocka_unit_test(gaps_have_a_side),
      cmocka_unit_test(weights_count),
      cmocka_unit_test(numbers_are_means_of_leaves),
      cmocka_unit_test(what_targets_are_may_be_said),
  };
  return run_cases(tests, NULL, NULL);
}
