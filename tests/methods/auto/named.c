/* auto: the words of every candidate name it again, and nobody else; it scores
 * as it did. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "methods/auto/candidates.h"

enum { D = 6, N = 240, KNOWN = 200 };

typedef struct table {
  double X[D * N], Y[N];
  lapis_data data;
} table;

/* A step beside a wave, and gaps where asked. */
static table *make(bool numbers, bool gaps)
{
  table *t = test_calloc(1, sizeof *t);
  uint64_t seed = 8;
  for (int k = 0; k < D * N; k++) t->X[k] = check_normal(&seed);
  for (int j = 0; j < N; j++) {
    const double *x = t->X + D * j;
    double y = 2 * (x[0] > .3) + sin(2 * x[1]) + .1 * check_normal(&seed);
    t->Y[j] = j >= KNOWN ? NAN : numbers ? y : y > 1;
  }
  for (int k = 0; gaps && k < D * N; k += 11) t->X[k] = NAN;
  t->data.X = lapis_mat_f64(t->X, D, N);
  t->data.Y = lapis_mat_f64(t->Y, 1, N);
  return t;
}

static comparison *run(lapis_ctx *ctx, const table *t, bool numbers,
                       const char *named)
{
  lapis_mc_settings set = lapis_mc_defaults();
  auto_options o = {.mc = !numbers,
                    .linear = true,
                    .trees = true,
                    .numbers = numbers,
                    .named_as = named};
  comparison *race;
  if (comparison_run(ctx, &t->data, &set, &o, &race) < 0)
    fail_msg("%s: %s", named == NULL ? "all" : named, lapis_ctx_error(ctx));
  return race;
}

/* Of the candidate with these words. */
static double loss_of(const comparison *race, const char *text)
{
  double loss = NAN;
  for (int i = 0; i < comparison_count(race); i++) {
    const candidate *x = &race->run[race->order[i]];
    char *words = candidate_named(race, x);
    if (strcmp(words, text) == 0) loss = x->loss;
    base_free(words);
  }
  return loss;
}

static void check_all(lapis_ctx *ctx, bool numbers, bool gaps)
{
  table *t = make(numbers, gaps);
  comparison *race = run(ctx, t, numbers, NULL);
  int boosted = 0;
  for (int i = 0; i < comparison_count(race); i++) {
    const candidate *x = &race->run[race->order[i]];
    char *text = candidate_named(race, x);
    comparison *again = run(ctx, t, numbers, text);
    boosted += x->kind == CANDIDATE_BOOSTED;
    if (x->parts == 0)
      assert_int_equal(comparison_count(again), 1 + (x->filled ? 1 : 0));
    CHECK_NEAR(loss_of(again, text), x->loss, 1e-12);
    base_free(text);
    comparison_free(again);
  }
  assert_true(boosted > 0);
  comparison_free(race);
  test_free(t);
}

static void words_name_who_they_describe(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 4; k++) check_all(ctx, k % 2, k / 2);
  lapis_ctx_free(ctx);
}

/* What words leave out has a value: who answers runs, and names it. */
static void words_may_leave_out(void **state)
{
  static const char *const tried[][2] = {
      {"trees --kind boosted", "--depth 2 --rate 0.1"},
      {"trees", "--trees 300"},
      {"a forest of trees --kind forest", "trees --map"},
      {"linear --map standard", "--C 1"},
      {" logistic regression --C 3 ", "linear --map standard --C 3"},
      {"mc --lambda 1", "--mu-rel 0.3"}};
  lapis_ctx *ctx = lapis_ctx_new();
  table *t = make(false, false);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    comparison *race = run(ctx, t, false, tried[k][0]);
    char *words = candidate_named(race, &race->run[race->order[0]]);
    if (strstr(words, tried[k][1]) == NULL)
      fail_msg("%s: %s", tried[k][0], words);
    base_free(words);
    comparison_free(race);
  }
  test_free(t);
  lapis_ctx_free(ctx);
}

static void what_is_no_candidate_is_refused(void **state)
{
  static const char *const tried[][2] = {
      {"mean the best mc and trees", "choice"},
      {"linear --C 1; mean the best mc and trees", "choice"},
      {"linear,boosted", "trees --kind boosted"},
      {"forest", "trees --kind forest"},
      {"logistic regression", "linear"}};
  lapis_ctx *ctx = lapis_ctx_new();
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    auto_options o = {0};
    assert_int_equal(candidates_read(ctx, tried[k][0], false, &o),
                     LAPIS_EINVAL);
    if (strstr(lapis_ctx_error(ctx), tried[k][1]) == NULL)
      fail_msg("%s: %s", tried[k][0], lapis_ctx_error(ctx));
  }
  auto_options o = {0};
  assert_int_equal(candidates_read(ctx, " linear , trees ", false, &o), 0);
  assert_true(o.linear && o.trees && !o.mc);
  lapis_ctx_free(ctx);
}

int test_named(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_name_who_they_describe),
      cmocka_unit_test(words_may_leave_out),
      cmocka_unit_test(what_is_no_candidate_is_refused)};
  return run_cases(tests, NULL, NULL);
}
