/* trees: known samples are answered as they are labelled, what a leaf holds is
 * a share, gaps hold means, and nothing but order within a feature counts. */
#include "files.h"
#include "lapis/files.h"

enum { D = 3, N = 200, KNOWN = 120, K = 2, TREES = 50 };
#include "plain_case.h"

static lapis_solver *fit(problem *p, int64_t leaf)
{
  lapis_trees_settings set = lapis_trees_defaults();
  lapis_solver *s;
  set.trees = TREES;
  set.leaf = leaf;
  lapis_status status = lapis_trees_new(p->ctx, &p->data, &set, &s);
  return solved(p, status, s);
}

/* No two samples are alike: grown to the end, every tree knows them. */
static void what_is_known_is_answered(void **state)
{
  problem *p = chess_board(KNOWN);
  lapis_solver *s = fit(p, 1);
  const double *prob = check_result(s, "probabilities");
  const double *labels = check_result(s, "labels");
  int right = 0;
  for (int j = 0; j < KNOWN; j++)
    CHECK_NEAR(prob[j], p->truth[j] ? 1 - .5 / TREES : .5 / TREES, 1e-12);
  for (int j = KNOWN; j < N; j++) right += labels[j] == p->truth[j];
  CHECK_AT_LEAST(right, 68); /* of 80; no line is right of more than half */
  assert_int_equal(lapis_result_info(s)->iterations, 0);
  discard(p, s);
}

/* Leaves too large to split anything hold the share of all. */
static void one_leaf_holds_the_share(void **state)
{
  problem *p = chess_board(KNOWN);
  lapis_solver *s = fit(p, KNOWN / 2 + 1);
  double yes = 0;
  for (int j = 0; j < KNOWN; j++) yes += p->truth[j];
  for (int j = 0; j < N; j++)
    CHECK_NEAR(check_result(s, "probabilities")[j], yes / KNOWN, 1e-12);
  discard(p, s);
}

/* Of several classes shares are of one whole, though none is 0: of a known
 * sample its class has all votes, and each other one half a vote. */
static void shares_of_classes_make_one(void **state)
{
  enum { CLASSES = 40 };
  problem *p = chess_board(KNOWN);
  for (int j = 0; j < KNOWN; j++) p->Y[j] = j % CLASSES;
  lapis_solver *s = fit(p, 1);
  const double *prob = check_result(s, "probabilities");
  double half = .5 / TREES, whole = 1 - half + (CLASSES - 1) * half;
  for (int j = 0; j < N; j++) {
    double sum = 0;
    for (int c = 0; c < CLASSES; c++) sum += prob[CLASSES * j + c];
    CHECK_NEAR(sum, 1, CLASSES * 1e-16);
    for (int c = 0; j < KNOWN && c < CLASSES; c++)
      CHECK_NEAR(prob[CLASSES * j + c],
                 (c == j % CLASSES ? 1 - half : half) / whole, 1e-12);
  }
  discard(p, s);
}

/* Cells of two labels: each known one is answered, whether or not the other of
 * its sample is known. */
static void cells_are_learnt_one_by_one(void **state)
{
  problem *p = chess_board(KNOWN);
  for (int j = N - 1; j >= 0; j--) {
    p->Y[K * j] = j % 3 == 0 ? NAN : p->truth[j];
    p->Y[K * j + 1] = j % 4 == 0 ? NAN : p->X[D * j + 2] > 0;
  }
  p->data.Y = lapis_mat_f64(p->Y, K, N);
  lapis_solver *s = fit(p, 1);
  const double *labels = check_result(s, "labels");
  for (int k = 0; k < K * N; k++)
    if (!isnan(p->Y[k])) assert_true(labels[k] == p->Y[k]);
  discard(p, s);
}

/* With gaps: as with the means in their place; one by one: the same bits; in
 * other units (powers of two, so that nothing is rounded): the same bits. */
static void gaps_hold_means(void **state)
{
  problem *p = chess_board(KNOWN);
  double fill[D], with_gaps[N];
  for (int i = 0; i < D; i++) {
    double sum = 0, seen = 0;
    for (int j = 0; j < N; j++) {
      if ((i + j) % 4 == 0) p->X[D * j + i] = NAN;
      if ((i + j) % 4 != 0) sum += p->X[D * j + i], seen++;
    }
    fill[i] = sum / seen;
  }
  lapis_solver *s = fit(p, 1);
  memcpy(with_gaps, check_result(s, "scores"), sizeof with_gaps);
  lapis_model *model;
  assert_int_equal(lapis_model_new(s, &model), 0);
  for (int j = 0; j < N; j++) {
    lapis_data one = {.X = lapis_mat_f64(p->X + D * j, D, 1)};
    lapis_solver *q;
    assert_int_equal(lapis_predict_new(p->ctx, &one, model, NULL, &q), 0);
    assert_int_equal(lapis_solve(q), 0);
    assert_memory_equal(check_result(q, "scores"), with_gaps + j,
                        sizeof *with_gaps);
    lapis_solver_free(q);
  }
  lapis_model_free(model);
  for (int k = 0; k < D * N; k++)
    p->X[k] =
        (isnan(p->X[k]) ? fill[k % D] : p->X[k]) * (k % D + 1 == D ? 1024 : 4);
  lapis_solver *again = fit(p, 1);
  assert_memory_equal(check_result(again, "scores"), with_gaps,
                      sizeof with_gaps);
  lapis_solver_free(again);
  discard(p, s);
}

static void another_seed_draws_other_trees(void **state)
{
  problem *p = chess_board(KNOWN);
  lapis_solver *s = fit(p, 1), *same = fit(p, 1);
  size_t size = N * sizeof(double);
  assert_memory_equal(check_result(s, "scores"), check_result(same, "scores"),
                      size);
  assert_int_equal(lapis_ctx_set(p->ctx, "seed", "5"), 0);
  lapis_solver *other = fit(p, 1);
  assert_int_not_equal(
      memcmp(check_result(s, "scores"), check_result(other, "scores"), size),
      0);
  lapis_solver_free(same);
  lapis_solver_free(other);
  discard(p, s);
}

/* A file whose ways down a tree never end is refused, not followed. */
static void a_tree_without_leaves_is_refused(void **state)
{
  problem *p = chess_board(KNOWN);
  lapis_solver *s = fit(p, 1), *q;
  lapis_model *model;
  lapis_arrays all;
  lapis_named item[16] = {{0}};
  files *f = *state;
  char good[600], bad[600];
  (void)snprintf(good, sizeof good, "%s/m.lapis", f->folder);
  (void)snprintf(bad, sizeof bad, "%s/bad.lapis", f->folder);
  assert_int_equal(lapis_model_new(s, &model), 0);
  assert_int_equal(lapis_model_save(p->ctx, model, good), 0);
  lapis_model_free(model);
  assert_int_equal(lapis_arrays_read(p->ctx, good, &all), 0);
  assert_true(all.count < 16);
  for (int i = 0; i < all.count; i++) {
    item[i] = (lapis_named){.name = all.item[i].name,
                            .mat = all.item[i].mat,
                            .flat = all.item[i].mat.dtype == LAPIS_TEXT};
    if (strcmp(all.item[i].name, "nodes") == 0) /* the first split: to itself */
      ((double *)(uintptr_t)all.item[i].mat.val)[2] = 0;
  }
  assert_int_equal(lapis_arrays_write(p->ctx, bad, "npz", item, all.count), 0);
  lapis_arrays_free(&all);
  assert_int_equal(lapis_model_load(p->ctx, bad, &model), 0);
  assert_int_equal(lapis_predict_new(p->ctx, &p->data, model, NULL, &q),
                   LAPIS_EFORMAT);
  lapis_model_free(model);
  discard(p, s);
}

int test_trees(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_known_is_answered),
      cmocka_unit_test(one_leaf_holds_the_share),
      cmocka_unit_test(shares_of_classes_make_one),
      cmocka_unit_test(cells_are_learnt_one_by_one),
      cmocka_unit_test(gaps_hold_means),
      cmocka_unit_test(another_seed_draws_other_trees),
      cmocka_unit_test_setup_teardown(a_tree_without_leaves_is_refused,
                                      files_setup, files_teardown),
  };
  return run_cases(tests, NULL, NULL);
}
