/* folds.c - who is hidden together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "select/select.h"

static bool any_known(const lapis_mat *Y, int64_t j)
{
  for (int64_t i = 0; i < Y->rows; i++)
    if (!isnan(lapis_mat_at(Y, i, j))) return true;
  return false;
}

/* A sample and the unit (group, or itself) it is hidden with. */
typedef struct member {
  int64_t key, sample;
} member;

static int by_key(const void *a, const void *b)
{
  int64_t x = ((const member *)a)->key, y = ((const member *)b)->key;
  return (x > y) - (x < y);
}

/* Samples with a known target, sorted by unit; how many. */
static int64_t collect(const lapis_data *data, bool by_group, member *m)
{
  int64_t n = 0;
  for (int64_t j = 0; j < data->X.cols; j++)
    if (any_known(&data->Y, j))
      m[n++] = (member){by_group ? data->group[j] : j, j};
  qsort(m, (size_t)n, sizeof *m, by_key);
  return n;
}

static int64_t count_units(const member *m, int64_t n)
{
  int64_t units = 0;
  for (int64_t k = 0; k < n; k++) units += k == 0 || m[k].key != m[k - 1].key;
  return units;
}

enum { MOST_BLOCKS = 32 }; /* enough for a standard error */

/* Unit u goes to fold order[u] mod folds: sizes differ by at most one. */
static void deal(const member *m, int64_t n, const int64_t *order,
                 fold_plan *plan)
{
  int64_t unit = -1;
  for (int64_t k = 0; k < n; k++) {
    unit += k == 0 || m[k].key != m[k - 1].key;
    plan->fold[m[k].sample] = order[unit] % plan->folds;
    plan->block[m[k].sample] = order[unit] % plan->blocks;
  }
}

/* Of two values of the one target: which has less samples, and how many.  NaN:
 * there are no two. */
static double rarer_value(const lapis_data *data, const member *m, int64_t n,
                          int64_t *count)
{
  double value[2] = {NAN, NAN};
  int64_t counts[2] = {0, 0};
  for (int64_t k = 0; k < n && data->Y.rows == 1; k++) {
    double y = lapis_mat_at(&data->Y, 0, m[k].sample);
    int i = isnan(value[0]) || y == value[0] ? 0 : 1;
    if (i == 1 && !isnan(value[1]) && y != value[1]) return NAN;
    value[i] = y;
    counts[i]++;
  }
  int rarer = counts[1] < counts[0];
  *count = counts[rarer];
  return *count > 0 ? value[rarer] : NAN;
}

/* Folds that hide a sample of this value. */
static int64_t folds_with(const lapis_data *data, const fold_plan *plan,
                          double value)
{
  int64_t folds = 0;
  for (int64_t f = 0; f < plan->folds; f++)
    for (int64_t j = 0; j < plan->samples; j++)
      if (plan->fold[j] == f && lapis_mat_at(&data->Y, 0, j) == value) {
        folds++;
        break;
      }
  return folds;
}

/* Where chance leaves a fold without the rarer of two values, or puts all of
 * it into one, such a fold tells nothing: the samples of that value come first,
 * so that they are dealt in turn. */
static lapis_status deal_evenly(lapis_ctx *ctx, const lapis_data *data,
                                const member *m, int64_t n, int64_t *order,
                                fold_plan *plan)
{
  int64_t count, next = 0;
  double rarer = rarer_value(data, m, n, &count);
  if (isnan(rarer) || folds_with(data, plan, rarer) >=
                          (count < plan->folds ? count : plan->folds))
    return LAPIS_OK;
  int64_t *unit_at = base_alloc(ctx, n, sizeof *unit_at);
  if (unit_at == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < n; k++) unit_at[order[k]] = k;
  for (int first = 1; first >= 0; first--)
    for (int64_t r = 0; r < n; r++) {
      int64_t j = m[unit_at[r]].sample;
      if ((lapis_mat_at(&data->Y, 0, j) == rarer) == first)
        order[unit_at[r]] = next++;
    }
  deal(m, n, order, plan);
  base_free(unit_at);
  return LAPIS_OK;
}

static lapis_status draw(lapis_ctx *ctx, const lapis_data *data, bool by_group,
                         member *m, int64_t *order, fold_plan *plan)
{
  int64_t n = collect(data, by_group, m), units = count_units(m, n);
  if (plan->folds < 2 || plan->folds > units)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: %" PRId64 " folds of %" PRId64
                      " %s with known targets; from 2 folds to one a unit are "
                      "possible",
                      plan->folds, units, by_group ? "groups" : "samples");
  rng_shuffle(base_seed(ctx), 0x666f6c64, order, units);
  for (int64_t j = 0; j < plan->samples; j++)
    plan->fold[j] = plan->block[j] = -1;
  plan->blocks = units < MOST_BLOCKS ? units : MOST_BLOCKS;
  deal(m, n, order, plan);
  return by_group ? LAPIS_OK : deal_evenly(ctx, data, m, n, order, plan);
}

/* Known labels one by one, those of a column dealt in turn, so that each fold
 * hides as much of every label. */
static lapis_status draw_cells(lapis_ctx *ctx, const lapis_mat *Y,
                               fold_plan *plan)
{
  int64_t K = plan->K = Y->rows, n = Y->cols, at = 0;
  plan->cell = base_alloc(ctx, K * n, sizeof *plan->cell);
  int64_t *order = base_alloc(ctx, n, sizeof *order);
  lapis_status s =
      plan->cell == NULL || order == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) rng_shuffle(base_seed(ctx), 0x63656c6c, order, n);
  for (int64_t c = 0; s >= 0 && c < K; c++)
    for (int64_t k = 0; k < n; k++) {
      int64_t j = order[(k + c * 7919) % n];
      bool known = !isnan(lapis_mat_at(Y, c, j));
      plan->cell[j * K + c] = known ? at++ % plan->folds : -1;
    }
  for (int64_t j = 0; s >= 0 && j < n; j++)
    if (plan->fold[j] > 0) plan->fold[j] = 0;
  base_free(order);
  return s;
}

lapis_status folds_draw(lapis_ctx *ctx, const lapis_data *data, int64_t folds,
                        lapis_folds_of of, fold_plan *out)
{
  int64_t n = data->X.cols;
  bool by_group = of == LAPIS_FOLDS_OF_GROUPS;
  if (by_group && data->group == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "cv: groups are to stay whole, and no group is given");
  *out = (fold_plan){.folds = folds, .samples = n};
  out->fold = base_alloc(ctx, n, sizeof *out->fold);
  out->block = base_alloc(ctx, n, sizeof *out->block);
  member *m = base_alloc(ctx, n, sizeof *m);
  int64_t *order = base_alloc(ctx, n, sizeof *order);
  lapis_status s = LAPIS_ENOMEM;
  if (out->fold != NULL && out->block != NULL && m != NULL && order != NULL)
    s = draw(ctx, data, by_group, m, order, out);
  if (s >= 0 && of == LAPIS_FOLDS_OF_CELLS) s = draw_cells(ctx, &data->Y, out);
  base_free(m);
  base_free(order);
  if (s < 0) folds_free(out);
  return s;
}

/* ---- what is hidden together ---------------------------------------------*/
/* More than a tenth of the rows that have a label lack another. */
static bool lacks_cells(const lapis_mat *Y)
{
  int64_t any = 0, partly = 0;
  for (int64_t j = 0; j < Y->cols; j++) {
    int64_t known = 0;
    for (int64_t i = 0; i < Y->rows; i++)
      known += !isnan(lapis_mat_at(Y, i, j));
    any += known > 0;
    partly += known > 0 && known < Y->rows;
  }
  return 10 * partly > any;
}

lapis_folds_of lapis_cv_hides(const lapis_method *m, const lapis_data *data,
                              const lapis_cv_options *options)
{
  if (m == NULL) return 0;
  lapis_cv_options own = options == NULL ? lapis_cv_defaults() : *options;
  lapis_folds_of of = (lapis_folds_of)own.folds_of;
  if (of != LAPIS_FOLDS_OF_AUTO) return of;
  if (own.by_group) return LAPIS_FOLDS_OF_GROUPS;
  bool cells = strcmp(m->name, "mc") == 0 && data->Y.rows > 1;
  return cells && lacks_cells(&data->Y) ? LAPIS_FOLDS_OF_CELLS
                                        : LAPIS_FOLDS_OF_ROWS;
}

lapis_status lapis_cv_draw(lapis_ctx *ctx, const lapis_data *data,
                           const lapis_cv_options *options, int64_t *fold)
{
  NEEDS(ctx, ctx, data, fold);
  TRY(mat_check_data(ctx, "cv", data));
  fold_plan plan;
  lapis_cv_options own;
  TRY(cv_options_take(ctx, options, &own));
  TRY(mat_check_beside(ctx, "cv", "Y", &data->Y, &data->X));
  if (own.folds_of == LAPIS_FOLDS_OF_CELLS)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: single cells are hidden, and a sample has no fold "
                      "of its own");
  bool by_group = own.by_group || own.folds_of == LAPIS_FOLDS_OF_GROUPS;
  TRY(folds_draw(ctx, data, own.folds,
                 by_group ? LAPIS_FOLDS_OF_GROUPS : LAPIS_FOLDS_OF_ROWS,
                 &plan));
  memcpy(fold, plan.fold, (size_t)plan.samples * sizeof *fold);
  folds_free(&plan);
  return LAPIS_OK;
}

void folds_free(fold_plan *plan)
{
  base_free(plan->fold);
  base_free(plan->block);
  base_free(plan->cell);
  plan->fold = plan->block = plan->cell = NULL;
}
