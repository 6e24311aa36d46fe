/* Known labels that are likelier wrong than right: exchanged ones are found,
 * nothing learns from them, and whoever is named leaves out the same. */
#include "lapis/choose.h"

enum { D = 4, N = 330, KNOWN = 300, K = 2, CLASSES = 3, EACH = 13 };
#include "methods/plain/plain_case.h"

static bool is_exchanged(int j)
{
  return j < KNOWN && j % EACH == 5;
}

/* Three clouds; every 13th label is another class. */
static problem *make(bool exchange)
{
  problem *p = empty_problem();
  uint64_t seed = 4;
  for (int j = 0; j < N; j++) {
    int of = j % CLASSES;
    for (int i = 0; i < D; i++)
      p->X[D * j + i] = check_normal(&seed) + 3 * (i == of);
    int other = exchange && is_exchanged(j) ? 1 + j % 2 : 0;
    p->Y[j] = j < KNOWN ? (of + other) % CLASSES : NAN;
  }
  return p;
}

static lapis_solver *fit_with(problem *p, lapis_auto_settings set)
{
  lapis_solver *s;
  lapis_status status = lapis_auto_new(p->ctx, &p->data, &set, &s);
  return solved(p, status, s);
}

static lapis_solver *fit(problem *p, const char *candidates, int doubted)
{
  lapis_auto_settings set = lapis_auto_defaults();
  set.candidates = candidates;
  set.doubted = doubted;
  return fit_with(p, set);
}

static lapis_mat left_out(const lapis_solver *s)
{
  lapis_mat list;
  bool there = lapis_result_get(s, "doubted", &list) >= 0;
  return there ? list : (lapis_mat){.rows = 3};
}

static int64_t sample_of(const lapis_mat *list, int64_t i)
{
  return (int64_t)lapis_mat_at(list, 0, i);
}

/* Bits, NaN too. */
static void check_same(const lapis_solver *a, const lapis_solver *b,
                       const char *name)
{
  lapis_mat x, y;
  assert_int_equal(lapis_result_get(a, name, &x), LAPIS_OK);
  assert_int_equal(lapis_result_get(b, name, &y), LAPIS_OK);
  assert_int_equal(x.rows, y.rows);
  assert_int_equal(x.cols, y.cols);
  size_t all = (size_t)(x.rows * x.cols) * sizeof(double);
  assert_memory_equal(x.val, y.val, all);
}

/* Most of them and few others, with what each rather is. */
static void exchanged_labels_are_listed(void **state)
{
  static const char *const of[] = {NULL, "linear", "trees", "mc"};
  for (int k = 0; k < 4; k++) {
    problem *p = make(true);
    lapis_solver *s = fit(p, of[k], LAPIS_DOUBTED_OMIT);
    lapis_mat list = left_out(s);
    int64_t all = 0, right = 0;
    for (int j = 0; j < KNOWN; j++) all += is_exchanged(j);
    for (int64_t i = 0; i < list.cols; i++) {
      int j = (int)sample_of(&list, i);
      right += is_exchanged(j) && lapis_mat_at(&list, 1, i) == j % CLASSES;
      assert_true(lapis_mat_at(&list, 2, i) >= .5);
      if (i > 0)
        assert_true(lapis_mat_at(&list, 2, i) <= lapis_mat_at(&list, 2, i - 1));
    }
    assert_true(10 * right >= 8 * all && 10 * right >= 8 * list.cols);
    assert_true(check_result(s, "hidden")[0] == KNOWN - (double)list.cols);
    assert_non_null(check_note(s, "left-out"));
    discard(p, s);
  }
}

/* As if they had not been known. */
static void nothing_learns_from_them(void **state)
{
  static const char *const of[] = {NULL, "linear --map standard --C 1"};
  for (int k = 0; k < 2; k++) {
    problem *p = make(true), *q = make(true);
    lapis_solver *s = fit(p, of[k], LAPIS_DOUBTED_OMIT);
    lapis_mat list = left_out(s);
    for (int64_t i = 0; i < list.cols; i++) q->Y[sample_of(&list, i)] = NAN;
    lapis_solver *t = fit(q, of[k], LAPIS_DOUBTED_LEARN);
    check_same(s, t, "probabilities");
    check_same(s, t, "scores");
    check_same(s, t, "candidate_figures");
    assert_true(list.cols > 0);
    discard(q, t);
    discard(p, s);
  }
}

/* Learnt from where that is asked, and by default. */
static void learnt_as_before(void **state)
{
  problem *p = make(true), *q = make(true);
  lapis_solver *s = fit(p, "linear", LAPIS_DOUBTED_LEARN);
  lapis_auto_settings set = lapis_auto_defaults();
  set.candidates = "linear";
  lapis_solver *t = fit_with(q, set);
  assert_true(check_result(s, "hidden")[0] == KNOWN);
  assert_int_equal(left_out(s).cols, 0);
  assert_null(check_note(s, "left-out"));
  check_same(s, t, "probabilities");
  discard(q, t);
  discard(p, s);
}

/* Where nothing is clearly wrong, asking changes nothing. */
static void right_labels_stay(void **state)
{
  problem *p = make(false), *q = make(false);
  lapis_solver *s = fit(p, "linear", LAPIS_DOUBTED_OMIT);
  lapis_solver *t = fit(q, "linear", LAPIS_DOUBTED_LEARN);
  assert_int_equal(left_out(s).cols, 0);
  assert_non_null(check_note(s, "left-out"));
  check_same(s, t, "probabilities");
  discard(q, t);
  discard(p, s);
}

/* The choice of a fit, named, answers the same, to the bit. */
static void a_named_choice_repeats(void **state)
{
  problem *p = make(true), *q = make(true);
  lapis_mat choice;
  lapis_solver *s = fit(p, "linear,trees", LAPIS_DOUBTED_OMIT);
  assert_int_equal(lapis_result_get(s, "choice", &choice), LAPIS_OK);
  const char *named = ((const char *const *)choice.val)[0];
  lapis_solver *t = fit(q, named, LAPIS_DOUBTED_OMIT);
  check_same(s, t, "doubted");
  check_same(s, t, "probabilities");
  discard(q, t);
  discard(p, s);
}

/* What is said of one that is left out stands where it is held out, and it is
 * not asked for. */
static void they_were_given(void **state)
{
  problem *p = make(true);
  lapis_auto_settings set = lapis_auto_defaults();
  lapis_mat asked;
  set.candidates = "linear";
  set.doubted = LAPIS_DOUBTED_OMIT;
  set.held_out = 4;
  set.ask = 10;
  lapis_solver *s = fit_with(p, set);
  lapis_mat list = left_out(s);
  assert_true(list.cols > 0);
  const double *said = check_result(s, "held_out");
  for (int j = 0; j < N; j++) assert_int_equal(isnan(said[3 * j]), j >= KNOWN);
  for (int64_t i = 0; i < list.cols; i++) {
    int64_t j = sample_of(&list, i);
    for (int c = 0; c < CLASSES; c++)
      assert_true(said[CLASSES * j + c] ==
                  check_result(s, "probabilities")[CLASSES * j + c]);
  }
  assert_int_equal(lapis_result_get(s, "ask_index", &asked), LAPIS_OK);
  for (int64_t i = 0; i < asked.cols; i++)
    assert_true(lapis_mat_at(&asked, 0, i) >= KNOWN);
  discard(p, s);
}

/* A class all of whose labels are contradicted is no list of errors. */
static void a_class_is_not_left_out(void **state)
{
  problem *p = make(true);
  for (int j = 0, left = 8; left > 0; j += CLASSES)
    if (!is_exchanged(j)) p->Y[j] = CLASSES, left--;
  lapis_solver *s = fit(p, "linear", LAPIS_DOUBTED_OMIT);
  lapis_mat list = left_out(s);
  assert_true(list.cols > 0);
  for (int64_t i = 0; i < list.cols; i++)
    assert_true(p->Y[sample_of(&list, i)] < CLASSES);
  lapis_mat said;
  assert_int_equal(lapis_result_get(s, "probabilities", &said), LAPIS_OK);
  assert_int_equal(said.rows, CLASSES + 1);
  discard(p, s);
}

/* Of several labels those alone that are doubted; whole rows stay hidden. */
static void labels_by_themselves(void **state)
{
  problem *p = make(false);
  for (int j = N - 1; j >= 0; j--) {
    int of = j % CLASSES;
    p->Y[K * j] = j < KNOWN ? (of == 0) != is_exchanged(j) : NAN;
    p->Y[K * j + 1] = j < KNOWN ? of == 1 : NAN;
  }
  p->data.Y = lapis_mat_f64(p->Y, K, N);
  lapis_solver *s = fit(p, "linear", LAPIS_DOUBTED_OMIT);
  lapis_mat list = left_out(s);
  int64_t right = 0;
  for (int64_t i = 0; i < list.cols; i++)
    right += is_exchanged((int)sample_of(&list, i)) &&
             lapis_mat_at(&list, 1, i) == 0;
  assert_true(right > 10 && 10 * right >= 8 * list.cols);
  assert_true(check_result(s, "hidden")[2] == LAPIS_FOLDS_OF_ROWS);
  assert_true(check_result(s, "hidden")[0] == K * KNOWN - (double)list.cols);
  discard(p, s);
}

int test_doubted(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exchanged_labels_are_listed),
      cmocka_unit_test(nothing_learns_from_them),
      cmocka_unit_test(learnt_as_before),
      cmocka_unit_test(right_labels_stay),
      cmocka_unit_test(a_named_choice_repeats),
      cmocka_unit_test(they_were_given),
      cmocka_unit_test(a_class_is_not_left_out),
      cmocka_unit_test(labels_by_themselves),
  };
  return run_cases(tests, NULL, NULL);
}
