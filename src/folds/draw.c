/* draw.c - which samples are hidden together.
 *
 * Units (groups, or samples one by one) are put into a random order and dealt
 * to the folds in turn.  Where kinds are to be spread evenly, a unit goes to
 * the fold that has least of what it holds,
 *
 *   argmin_f  sum over the kinds c in it of (units in f that hold c) / (all
 *             units that hold c),
 *
 * which is, of single samples, in turn, each kind by itself. */
#include "folds/folds.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_BLOCKS = 32 }; /* enough for a standard error */

/* A sample and the unit it is hidden with; of all processes. */
typedef struct member {
  int64_t key, kind, sample;
} member;

typedef struct drawing {
  const fold_draw *how;
  fold_plan *plan;
  int64_t first, all; /* this process's first sample, and how many all have */
  member *m;          /* n, by unit, then by kind */
  int64_t n, *start;  /* units + 1: into m; and room for units */
  int64_t *order;     /* units, as they are dealt */
} drawing;

static bool is_known(const fold_draw *how, int64_t j)
{
  if (how->Y == NULL) return true;
  for (int64_t i = 0; i < how->Y->rows; i++)
    if (!isnan(lapis_mat_at(how->Y, i, j))) return true;
  return false;
}

/* ---- units --------------------------------------------------------------*/
static int by_key(const void *a, const void *b)
{
  const member *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return (x->sample > y->sample) - (x->sample < y->sample);
}

/* The groups of all processes, in halves that a double holds. */
static lapis_status share_groups(lapis_ctx *ctx, drawing *d)
{
  int64_t n = d->how->samples;
  double *own = base_alloc(ctx, n, sizeof *own);
  double *whole = base_alloc(ctx, d->all, sizeof *whole);
  lapis_status s = own != NULL && whole != NULL ? LAPIS_OK : LAPIS_ENOMEM;
  for (int half = 0; half < 2 && s >= 0; half++) {
    for (int64_t j = 0; j < n; j++) {
      uint64_t key = (uint64_t)d->how->group[j];
      own[j] = (double)(half == 0 ? key >> 32 : key & UINT32_MAX);
    }
    s = base_share(ctx, own, n, d->first, whole, d->all);
    for (int64_t j = 0; j < d->all && s >= 0; j++) {
      uint64_t part = (uint64_t)whole[j] << (half == 0 ? 32 : 0);
      d->m[j].key = (int64_t)((uint64_t)d->m[j].key | part);
    }
  }
  base_free(own);
  base_free(whole);
  return s;
}

/* Samples with a known target, sorted by unit. */
static lapis_status collect(lapis_ctx *ctx, drawing *d)
{
  bool by_group = d->how->group != NULL;
  const int64_t *kind = d->how->kind;
  double with = by_group;
  TRY(base_sum(ctx, &with, 1));
  if (with > 0 && with < base_ranks(ctx))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: some processes have groups and others have none; "
                      "all parts need them, or no part",
                      d->how->method);
  d->m = base_alloc(ctx, d->all, sizeof *d->m);
  d->start = base_alloc(ctx, 2 * d->all + 1, sizeof *d->start);
  d->order = base_alloc(ctx, d->all, sizeof *d->order);
  if (d->m == NULL || d->start == NULL || d->order == NULL) return LAPIS_ENOMEM;
  if (by_group) TRY(share_groups(ctx, d));
  for (int64_t j = 0; j < d->all; j++)
    if (is_known(d->how, j))
      d->m[d->n++] = (member){.key = by_group ? d->m[j].key : j,
                              .kind = kind != NULL ? kind[j] : 0,
                              .sample = j};
  qsort(d->m, (size_t)d->n, sizeof *d->m, by_key);
  for (int64_t k = 0; k < d->n; k++)
    if (k == 0 || d->m[k].key != d->m[k - 1].key)
      d->start[d->plan->units++] = k;
  d->start[d->plan->units] = d->n;
  return LAPIS_OK;
}

/* ---- dealing ------------------------------------------------------------*/
/* The next kind that this unit holds, from *k on; -1: there is none. */
static int64_t next_kind(const drawing *d, int64_t unit, int64_t *k)
{
  int64_t end = d->start[unit + 1];
  if (*k == end) return -1;
  int64_t kind = d->m[*k].kind;
  while (*k < end && d->m[*k].kind == kind) ++*k;
  return kind;
}

/* Adds the unit to counts of units that hold a kind. */
static void count_unit(const drawing *d, int64_t unit, int64_t *of_kind)
{
  int64_t kind, k = d->start[unit];
  while ((kind = next_kind(d, unit, &k)) >= 0) of_kind[kind]++;
}

/* have: folds x kinds, all: kinds. */
static int64_t least_loaded(const drawing *d, int64_t unit, const int64_t *have,
                            const int64_t *all)
{
  int64_t best = 0;
  double least = INFINITY;
  for (int64_t f = 0; f < d->plan->folds; f++) {
    int64_t kind, k = d->start[unit];
    double load = 0;
    while ((kind = next_kind(d, unit, &k)) >= 0)
      load += (double)have[f * d->how->kinds + kind] / (double)all[kind];
    if (load < least) best = f;
    least = fmin(least, load);
  }
  return best;
}

static void hide(const drawing *d, int64_t unit, int64_t fold, int64_t block)
{
  for (int64_t k = d->start[unit]; k < d->start[unit + 1]; k++) {
    int64_t j = d->m[k].sample - d->first;
    if (j < 0 || j >= d->how->samples) continue;
    d->plan->fold[j] = fold;
    d->plan->unit[j] = unit;
    d->plan->block[j] = block;
  }
}

static void deal_in_turn(const drawing *d)
{
  for (int64_t k = 0; k < d->plan->units; k++)
    hide(d, d->order[k], k % d->plan->folds, k % d->plan->blocks);
}

static lapis_status deal_kinds(lapis_ctx *ctx, const drawing *d)
{
  int64_t kinds = d->how->kinds, folds = d->plan->folds;
  int64_t *all = base_alloc(ctx, (folds + 1) * kinds, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  int64_t *have = all + kinds;
  for (int64_t u = 0; u < d->plan->units; u++) count_unit(d, u, all);
  for (int64_t k = 0; k < d->plan->units; k++) {
    int64_t unit = d->order[k], f = least_loaded(d, unit, have, all);
    hide(d, unit, f, k % d->plan->blocks);
    count_unit(d, unit, have + f * kinds);
  }
  base_free(all);
  return LAPIS_OK;
}

/* ---- two values, no fold without the rarer -------------------------------*/
/* Of two values of the one target: which has less samples, and how many.  NaN:
 * there are no two. */
static double rarer_value(const drawing *d, int64_t *count)
{
  double value[2] = {NAN, NAN};
  int64_t counts[2] = {0, 0};
  for (int64_t k = 0; k < d->n && d->how->Y->rows == 1; k++) {
    double y = lapis_mat_at(d->how->Y, 0, d->m[k].sample);
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
static int64_t folds_with(const drawing *d, double value)
{
  int64_t folds = 0;
  for (int64_t f = 0; f < d->plan->folds; f++)
    for (int64_t j = 0; j < d->plan->samples; j++)
      if (d->plan->fold[j] == f && lapis_mat_at(d->how->Y, 0, j) == value) {
        folds++;
        break;
      }
  return folds;
}

/* Where chance leaves a fold without the rarer of two values, or puts all of
 * it into one, such a fold tells nothing: the samples of that value come first,
 * so that they are dealt in turn. */
static lapis_status deal_evenly(lapis_ctx *ctx, drawing *d)
{
  int64_t count, next = 0, units = d->plan->units, folds = d->plan->folds;
  double rarer = rarer_value(d, &count);
  if (isnan(rarer) || folds_with(d, rarer) >= (count < folds ? count : folds))
    return LAPIS_OK;
  int64_t *order = base_alloc(ctx, units, sizeof *order);
  if (order == NULL) return LAPIS_ENOMEM;
  for (int first = 1; first >= 0; first--)
    for (int64_t k = 0; k < units; k++) {
      int64_t j = d->m[d->start[d->order[k]]].sample;
      if ((lapis_mat_at(d->how->Y, 0, j) == rarer) == first)
        order[next++] = d->order[k];
    }
  base_free(d->order);
  d->order = order;
  deal_in_turn(d);
  return LAPIS_OK;
}

/* ---- drawing ------------------------------------------------------------*/
/* For cross-validation the random numbers are places of units, else units by
 * place: each as its answers were measured. */
static void shuffle(lapis_ctx *ctx, drawing *d)
{
  int64_t units = d->plan->units;
  int64_t *place = d->start + units + 1;
  bool places = d->how->use == FOLDS_CV;
  rng_shuffle(base_seed(ctx), d->how->use, places ? place : d->order, units);
  for (int64_t u = 0; places && u < units; u++) d->order[place[u]] = u;
}

static lapis_status draw_units(lapis_ctx *ctx, drawing *d)
{
  const fold_draw *how = d->how;
  fold_plan *plan = d->plan;
  TRY(collect(ctx, d));
  plan->folds = how->folds;
  if (how->or_fewer && plan->folds > plan->units) plan->folds = plan->units;
  plan->blocks = plan->units < MOST_BLOCKS ? plan->units : MOST_BLOCKS;
  for (int64_t j = 0; j < plan->samples; j++)
    plan->fold[j] = plan->block[j] = -1;
  if (!how->or_fewer && (plan->folds < 2 || plan->folds > plan->units))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: %" PRId64 " folds of %" PRId64
                      " %s with known targets; from 2 folds to one a unit are "
                      "possible",
                      how->method, plan->folds, plan->units,
                      how->group == NULL ? "samples"
                      : plan->units == 1 ? "group"
                                         : "groups");
  if (plan->folds < 1) return LAPIS_OK;
  shuffle(ctx, d);
  if (how->kind != NULL) return deal_kinds(ctx, d);
  deal_in_turn(d);
  bool pairs = how->Y != NULL && how->group == NULL;
  return pairs ? deal_evenly(ctx, d) : LAPIS_OK;
}

/* Known labels one by one, those of a column dealt in turn, so that each fold
 * hides as much of every label; whole: those of a group and column together.
 */
static lapis_status draw_cells(lapis_ctx *ctx, const lapis_mat *Y, bool whole,
                               fold_plan *plan)
{
  int64_t K = plan->K = Y->rows, n = Y->cols, at = 0;
  plan->cell = base_alloc(ctx, K * n, sizeof *plan->cell);
  int64_t *order = base_alloc(ctx, n, sizeof *order);
  lapis_status s =
      plan->cell == NULL || order == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) rng_shuffle(base_seed(ctx), FOLDS_CELLS, order, n);
  for (int64_t c = 0; s >= 0 && c < K; c++)
    for (int64_t k = 0; k < n; k++) {
      int64_t j = order[(k + c * 7919) % n];
      bool known = !isnan(lapis_mat_at(Y, c, j));
      int64_t next = whole ? plan->fold[j] + c : at++;
      plan->cell[j * K + c] = known ? next % plan->folds : -1;
    }
  for (int64_t j = 0; s >= 0 && j < n; j++)
    if (plan->fold[j] > 0) plan->fold[j] = 0;
  base_free(order);
  return s;
}

lapis_status folds_draw(lapis_ctx *ctx, const fold_draw *how, fold_plan *out)
{
  drawing d = {.how = how, .plan = out};
  *out = (fold_plan){.samples = how->samples};
  TRY(base_place(ctx, how->samples, &d.first, &d.all));
  out->fold = base_alloc(ctx, how->samples, sizeof *out->fold);
  out->unit = base_alloc(ctx, how->samples, sizeof *out->unit);
  out->block = base_alloc(ctx, how->samples, sizeof *out->block);
  bool room = out->fold != NULL && out->unit != NULL && out->block != NULL;
  lapis_status s = room ? draw_units(ctx, &d) : LAPIS_ENOMEM;
  if (s >= 0 && how->cells)
    s = draw_cells(ctx, how->Y, how->group != NULL, out);
  base_free(d.m);
  base_free(d.start);
  base_free(d.order);
  if (s < 0) folds_free(out);
  return s;
}

void folds_free(fold_plan *plan)
{
  base_free(plan->fold);
  base_free(plan->unit);
  base_free(plan->block);
  base_free(plan->cell);
  plan->fold = plan->unit = plan->block = plan->cell = NULL;
}

void folds_say_groups(lapis_ctx *ctx, const fold_draw *how,
                      const fold_plan *plan)
{
  if (how->group == NULL) return;
  if (plan->folds < 2)
    base_note(ctx, BASE_WARNING, "one-group",
              "%s: all rows are of one group, and groups are hidden whole: "
              "nothing can be hidden to compare settings",
              how->method);
  else
    base_note(ctx, BASE_NOTE, "groups-whole",
              "%s: groups are hidden whole: %" PRId64 " groups in %" PRId64
              " folds",
              how->method, plan->units, plan->folds);
}
