/* Folds: classes and labels are spread evenly over them, so that what is
 * learnt beside a fold has seen as much of each as what the fold asks. */
#include <math.h>

#include "check.h"
#include "folds/folds.h"

enum { MOST = 150, K = 4 };

typedef struct labelled {
  int64_t n, kind[MOST], group[MOST]; /* kind: -1 where it is not known */
  double Y[K * MOST];
  lapis_mat rows;
  int64_t folds;
} labelled;

/* Kinds of which each is half as frequent as the one before; a tenth is not
 * known. */
static void make(uint64_t *seed, labelled *p)
{
  p->n = 30 + (int64_t)(check_uniform(seed) * (MOST - 30));
  p->folds = 2 + (int64_t)(check_uniform(seed) * 5);
  for (int64_t j = 0; j < p->n; j++) {
    double u = check_uniform(seed);
    p->kind[j] = u < .55 ? 0 : u < .8 ? 1 : u < .95 ? 2 : 3;
    if (check_uniform(seed) < .1) p->kind[j] = -1;
  }
}

/* A class in one row, or a row each. */
static void write_classes(labelled *p, bool in_rows)
{
  p->rows = lapis_mat_f64(p->Y, in_rows ? K : 1, p->n);
  for (int64_t j = 0; j < p->n; j++) {
    int64_t kind = p->kind[j];
    for (int64_t c = 0; c < K && in_rows; c++)
      p->Y[j * K + c] = kind < 0 ? NAN : kind == c ? 1 : -1;
    if (!in_rows) p->Y[j] = kind < 0 ? NAN : 7 - 2 * (double)kind;
  }
}

static fold_draw how_of(const labelled *p)
{
  return (fold_draw){.method = "test",
                     .use = FOLDS_CV,
                     .samples = p->n,
                     .folds = p->folds,
                     .Y = &p->rows};
}

/* Counts in folds differ by one at most. */
static void check_even(const int64_t *count, int64_t folds)
{
  int64_t least = INT64_MAX, most = 0;
  for (int64_t f = 0; f < folds; f++) {
    least = count[f] < least ? count[f] : least;
    most = count[f] > most ? count[f] : most;
  }
  assert_in_range(most - least, 0, 1);
}

static void classes_are_dealt_evenly(void **state)
{
  uint64_t seed = 3;
  lapis_ctx *ctx = lapis_ctx_new();
  (void)state;
  for (int trial = 0; trial < 200; trial++) {
    labelled p;
    fold_plan plan;
    int64_t of[K + 1][8] = {{0}};
    make(&seed, &p);
    write_classes(&p, trial % 2);
    fold_draw how = how_of(&p);
    assert_int_equal(lapis_ctx_set(ctx, "seed", trial % 3 ? "1" : "2"),
                     LAPIS_OK);
    assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
    for (int64_t j = 0; j < p.n; j++) {
      assert_int_equal(plan.fold[j] < 0, p.kind[j] < 0);
      if (plan.fold[j] < 0) continue;
      of[p.kind[j]][plan.fold[j]]++;
      of[K][plan.fold[j]]++;
    }
    for (int k = 0; k <= K; k++) check_even(of[k], p.folds);
    folds_free(&plan);
  }
  lapis_ctx_free(ctx);
}

/* Of numbers a fold says as much as another, whatever they are. */
static void numbers_are_alike(void **state)
{
  uint64_t seed = 4;
  lapis_ctx *ctx = lapis_ctx_new();
  (void)state;
  for (int trial = 0; trial < 20; trial++) {
    labelled p;
    fold_plan plan, other;
    make(&seed, &p);
    p.rows = lapis_mat_f64(p.Y, 1, p.n);
    for (int64_t j = 0; j < p.n; j++) p.Y[j] = check_normal(&seed);
    fold_draw how = how_of(&p);
    assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
    how.Y = NULL;
    assert_int_equal(folds_draw(ctx, &how, &other), LAPIS_OK);
    assert_memory_equal(plan.fold, other.fold, (size_t)p.n * sizeof *plan.fold);
    folds_free(&plan);
    folds_free(&other);
  }
  lapis_ctx_free(ctx);
}

/* Labels that go together as they like; the rarer the later. */
static void write_labels(uint64_t *seed, labelled *p)
{
  p->rows = lapis_mat_f64(p->Y, K, p->n);
  for (int64_t k = 0; k < K * p->n; k++)
    p->Y[k] = check_uniform(seed) < .1                             ? NAN
              : check_uniform(seed) < .5 / (double)(1 + k % K * 4) ? 1
                                                                   : 0;
}

static void the_rarest_label_is_in_every_fold(void **state)
{
  uint64_t seed = 5;
  lapis_ctx *ctx = lapis_ctx_new();
  (void)state;
  for (int trial = 0; trial < 200; trial++) {
    labelled p;
    fold_plan plan;
    int64_t count[K] = {0}, of[K][8] = {{0}}, rarest = 0, all[8] = {0};
    make(&seed, &p);
    write_labels(&seed, &p);
    fold_draw how = how_of(&p);
    assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
    for (int64_t j = 0; j < p.n; j++)
      for (int c = 0; c < K; c++) {
        if (c == 0 && plan.fold[j] >= 0) all[plan.fold[j]]++;
        if (!(p.Y[j * K + c] > 0)) continue;
        count[c]++;
        of[c][plan.fold[j]]++;
      }
    for (int c = 1; c < K; c++)
      if (count[c] < count[rarest]) rarest = c;
    check_even(of[rarest], p.folds);
    check_even(all, p.folds);
    folds_free(&plan);
  }
  lapis_ctx_free(ctx);
}

/* Cells: every fold hides as many yes and as many no of each label. */
static void cells_are_dealt_evenly(void **state)
{
  uint64_t seed = 6;
  lapis_ctx *ctx = lapis_ctx_new();
  (void)state;
  for (int trial = 0; trial < 100; trial++) {
    labelled p;
    fold_plan plan;
    int64_t of[2 * K][8] = {{0}};
    make(&seed, &p);
    write_labels(&seed, &p);
    fold_draw how = how_of(&p);
    how.cells = true;
    assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
    for (int64_t k = 0; k < K * p.n; k++) {
      assert_int_equal(plan.cell[k] < 0, isnan(p.Y[k]));
      if (plan.cell[k] >= 0) of[2 * (k % K) + (p.Y[k] > 0)][plan.cell[k]]++;
    }
    for (int k = 0; k < 2 * K; k++) check_even(of[k], p.folds);
    folds_free(&plan);
  }
  lapis_ctx_free(ctx);
}

/* How far the shares of kinds in folds are from even ones, squared. */
static double unevenness(const labelled *p, const int64_t *fold)
{
  double sum = 0, all[K] = {0}, of[K][8] = {{0}};
  for (int64_t j = 0; j < p->n; j++) {
    if (p->kind[j] < 0) continue;
    all[p->kind[j]]++;
    of[p->kind[j]][fold[j]]++;
  }
  for (int c = 0; c < K; c++)
    for (int64_t f = 0; f < p->folds && all[c] > 0; f++)
      sum += pow(of[c][f] / all[c] - 1 / (double)p->folds, 2);
  return sum;
}

/* Whole groups, each mostly of one kind: every fold has some, and kinds are
 * spread better than where groups are dealt in turn. */
static void groups_are_dealt_by_kinds(void **state)
{
  uint64_t seed = 7;
  double ours = 0, in_turn = 0;
  lapis_ctx *ctx = lapis_ctx_new();
  (void)state;
  for (int trial = 0; trial < 100; trial++) {
    labelled p;
    fold_plan plan;
    int64_t turn[MOST], group = 0, all[8] = {0};
    make(&seed, &p);
    for (int64_t j = 0; j < p.n; j++) {
      if (check_uniform(&seed) < .25) group++;
      p.group[j] = group;
      turn[j] = group % p.folds;
      if (j > 0 && p.kind[j] >= 0 && p.group[j] == p.group[j - 1] &&
          check_uniform(&seed) < .7)
        p.kind[j] = p.kind[j - 1];
    }
    write_classes(&p, trial % 2);
    fold_draw how = how_of(&p);
    how.group = p.group;
    how.or_fewer = true;
    assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
    if (plan.folds == p.folds) {
      for (int64_t j = 0; j < p.n; j++)
        if (plan.fold[j] >= 0) all[plan.fold[j]]++;
      for (int64_t f = 0; f < p.folds; f++) assert_true(all[f] > 0);
      ours += unevenness(&p, plan.fold);
      in_turn += unevenness(&p, turn);
    }
    folds_free(&plan);
  }
  CHECK_AT_MOST(ours, .7 * in_turn);
  lapis_ctx_free(ctx);
}

int test_kinds(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_are_dealt_evenly),
      cmocka_unit_test(numbers_are_alike),
      cmocka_unit_test(the_rarest_label_is_in_every_fold),
      cmocka_unit_test(cells_are_dealt_evenly),
      cmocka_unit_test(groups_are_dealt_by_kinds),
  };
  return run_cases(tests, NULL, NULL);
}
