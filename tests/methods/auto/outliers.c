/* Known numbers that are far from what all others say: errors are found in all
 * folds, and nothing learns from them; what features say is far stays, and so
 * do the few that are no zeros. */
#include <math.h>

enum { D = 4, N = 240, KNOWN = 200, K = 2, WRONG = 8 };
#include "methods/plain/plain_case.h"

static double height(const double *x)
{
  return 100 + 20 * x[0] - 10 * x[1];
}

/* Rows that are wrong, over all folds. */
static int64_t wrong(int i)
{
  return 7 + 23 * i;
}

static problem *make(void)
{
  problem *p = empty_problem();
  uint64_t seed = 3;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) p->X[D * j + i] = 2 * check_uniform(&seed) - 1;
    double y = height(p->X + D * j) + check_normal(&seed);
    p->Y[j] = j < KNOWN ? y : NAN;
  }
  return p;
}

/* Slipped decimals, a code, and what cannot be. */
static void spoil(problem *p)
{
  for (int i = 0; i < WRONG; i++)
    p->Y[wrong(i)] = i % 3 == 0   ? 10 * p->Y[wrong(i)]
                     : i % 3 == 1 ? 99999
                                  : -1e3 * (i + 1);
}

static lapis_solver *fit(problem *p, const char *candidates, int outliers)
{
  lapis_solver *s;
  lapis_auto_settings set = lapis_auto_defaults();
  set.targets = LAPIS_TARGETS_NUMBERS;
  set.candidates = candidates;
  set.outliers = outliers;
  lapis_status status = lapis_auto_new(p->ctx, &p->data, &set, &s);
  return solved(p, status, s);
}

static lapis_mat outliers(lapis_solver *s)
{
  lapis_mat list;
  bool there = lapis_result_get(s, "outliers", &list) >= 0;
  assert_int_equal(check_note(s, "far-numbers") != NULL, there);
  return there ? list : (lapis_mat){.rows = 2};
}

/* All of them and no others; the farthest is the first of the codes. */
static void errors_are_listed(void **state)
{
  static const char *const of[] = {NULL, "linear", "trees"};
  for (int k = 0; k < 3; k++) {
    problem *p = make();
    spoil(p);
    lapis_solver *s = fit(p, of[k], LAPIS_OUTLIERS_OMIT);
    lapis_mat list = outliers(s);
    double sum = 0, right = 0;
    assert_int_equal(list.cols, WRONG);
    for (int i = 0; i < WRONG; i++) {
      sum += lapis_mat_at(&list, 0, i);
      right += (double)wrong(i);
      assert_true((int)(lapis_mat_at(&list, 0, i) - 7) % 23 == 0);
      assert_true(lapis_mat_at(&list, 1, i) == 0);
    }
    assert_true(sum == right);
    assert_true(p->Y[(int)lapis_mat_at(&list, 0, 0)] == 99999);
    assert_true(check_result(s, "hidden")[0] == KNOWN - WRONG);
    discard(p, s);
  }
}

/* As if they had not been known, nothing else being chosen. */
static void nothing_learns_from_them(void **state)
{
  static const char *const of[] = {"linear --map standard --C 1",
                                   "trees --map standard --trees 50"};
  for (int k = 0; k < 2; k++) {
    problem *p = make(), *q = make();
    spoil(p);
    for (int i = 0; i < WRONG; i++) q->Y[wrong(i)] = NAN;
    lapis_solver *s = fit(p, of[k], LAPIS_OUTLIERS_OMIT);
    lapis_solver *t = fit(q, of[k], LAPIS_OUTLIERS_LEARN);
    for (int j = 0; j < N; j++)
      CHECK_NEAR(check_result(s, "scores")[j], check_result(t, "scores")[j],
                 1e-9);
    assert_int_equal(outliers(t).cols, 0);
    discard(q, t);
    discard(p, s);
  }
}

/* They are named, and learnt from. */
static void learnt_where_that_is_asked(void **state)
{
  problem *p = make();
  spoil(p);
  lapis_solver *s = fit(p, "linear", LAPIS_OUTLIERS_LEARN);
  double most = 0;
  assert_int_equal(outliers(s).cols, WRONG);
  assert_true(check_result(s, "hidden")[0] == KNOWN);
  for (int j = KNOWN; j < N; j++)
    most = fmax(most, check_result(s, "scores")[j]);
  assert_true(most > 1000);
  discard(p, s);
}

/* What all others say of one that is left out stands where it is held out. */
static void held_out_as_all_others(void **state)
{
  problem *p = make();
  lapis_solver *s;
  lapis_auto_settings set = lapis_auto_defaults();
  spoil(p);
  set.candidates = "linear";
  set.held_out = 4;
  lapis_status status = lapis_auto_new(p->ctx, &p->data, &set, &s);
  s = solved(p, status, s);
  for (int j = 0; j < N; j++)
    if (j < KNOWN)
      CHECK_NEAR(check_result(s, "held_out")[j], height(p->X + D * j), 2);
    else
      assert_true(isnan(check_result(s, "held_out")[j]));
  discard(p, s);
}

/* Samples of a kind that features tell, as many as errors were. */
static void what_features_say_stays(void **state)
{
  problem *p = make();
  int far = 0;
  for (int j = 0; j < KNOWN; j++)
    if (p->X[D * j + 2] > .7) p->Y[j] += 1000, far++;
  assert_in_range(far, WRONG, KNOWN / 10);
  lapis_solver *s = fit(p, NULL, LAPIS_OUTLIERS_OMIT);
  assert_int_equal(outliers(s).cols, 0);
  discard(p, s);
}

/* Changes of few, and tails whose logarithms are even. */
static void long_tails_stay(void **state)
{
  for (int changes = 0; changes < 2; changes++) {
    problem *p = make();
    uint64_t seed = 5;
    for (int j = 0; j < KNOWN; j++)
      p->Y[j] = !changes ? exp(p->X[D * j] + .4 * check_normal(&seed))
                : check_uniform(&seed) < .3
                    ? 9 * check_uniform(&seed) * check_normal(&seed)
                    : 0;
    lapis_solver *s = fit(p, NULL, LAPIS_OUTLIERS_OMIT);
    assert_int_equal(outliers(s).cols, 0);
    discard(p, s);
  }
}

/* An error of one target is none of the other. */
static void targets_by_themselves(void **state)
{
  problem *p = make();
  lapis_mat list;
  for (int j = N - 1; j >= 0; j--) {
    p->Y[K * j] = p->Y[j];
    p->Y[K * j + 1] = j < KNOWN ? 1e-3 * height(p->X + D * j) : NAN;
  }
  p->data.Y = lapis_mat_f64(p->Y, K, N);
  p->Y[K * 30 + 1] = 5;
  lapis_solver *s = fit(p, "linear", LAPIS_OUTLIERS_OMIT);
  list = outliers(s);
  assert_int_equal(list.cols, 1);
  assert_true(lapis_mat_at(&list, 0, 0) == 30);
  assert_true(lapis_mat_at(&list, 1, 0) == 1);
  assert_true(check_result(s, "hidden")[0] == K * KNOWN - 1);
  discard(p, s);
}

int test_outliers(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_listed),
      cmocka_unit_test(nothing_learns_from_them),
      cmocka_unit_test(learnt_where_that_is_asked),
      cmocka_unit_test(held_out_as_all_others),
      cmocka_unit_test(what_features_say_stays),
      cmocka_unit_test(long_tails_stay),
      cmocka_unit_test(targets_by_themselves),
  };
  return run_cases(tests, NULL, NULL);
}
