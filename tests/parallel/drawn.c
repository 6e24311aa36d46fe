/* drawn.c - folds of samples that are divided among processes are those of one
 * process, groups that lie in several parts included. */
#include "folds/folds.h"
#include "ranks.h"

enum { N = 97, GROUPS = 13, FOLDS = 3 };
static const int64_t start[] = {0, 30, 30, 71, N}; /* of four parts */

typedef struct drawing_case {
  int64_t group[N], fold[N], unit[N];
  bool whole;   /* groups */
  bool lacking; /* in the last part */
} drawing_case;

static fold_draw how_of(const drawing_case *c, int64_t first, int64_t n)
{
  return (fold_draw){.method = "test",
                     .use = FOLDS_RR,
                     .samples = n,
                     .folds = FOLDS,
                     .group = c->whole ? c->group + first : NULL};
}

static void draw_part(lapis_ctx *ctx, int rank, void *user)
{
  const drawing_case *c = user;
  int64_t first = start[rank], n = start[rank + 1] - first;
  fold_draw how = how_of(c, first, n);
  fold_plan plan;
  if (c->lacking && rank == 3) how.group = NULL;
  lapis_status s = folds_draw(ctx, &how, &plan);
  if (c->lacking) {
    check_refused(ctx, s, LAPIS_EMISSING, NULL, "");
    lapis_ctx_free(ctx);
    return;
  }
  assert_int_equal(s, LAPIS_OK);
  assert_int_equal(plan.folds, FOLDS);
  for (int64_t j = 0; j < n; j++) {
    assert_int_equal(plan.fold[j], c->fold[first + j]);
    assert_int_equal(plan.unit[j], c->unit[first + j]);
  }
  folds_free(&plan);
  lapis_ctx_free(ctx);
}

static void parts_draw_as_one(void **state)
{
  for (int whole = 0; whole < 2; whole++) {
    drawing_case c = {.whole = whole};
    lapis_ctx *ctx = lapis_ctx_new();
    uint64_t seed = 5;
    fold_plan plan;
    for (int j = 0; j < N; j++)
      c.group[j] = (int64_t)(check_uniform(&seed) * GROUPS) -
                   (INT64_C(1) << 40) * (j % 2 == 0 && j < 20);
    fold_draw how = how_of(&c, 0, N);
    assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
    memcpy(c.fold, plan.fold, sizeof c.fold);
    memcpy(c.unit, plan.unit, sizeof c.unit);
    folds_free(&plan);
    lapis_ctx_free(ctx);
    ranks_each(4, draw_part, &c);
  }
}

static void groups_of_some_parts_are_refused(void **state)
{
  drawing_case c = {.whole = true, .lacking = true};
  ranks_each(4, draw_part, &c);
}

int test_drawn(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_draw_as_one),
      cmocka_unit_test(groups_of_some_parts_are_refused),
  };
  return run_cases(tests, NULL, NULL);
}
