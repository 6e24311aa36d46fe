/* draw.c - which samples are hidden together.
 *
 * Units (groups, or samples one by one) are put into a random order, those with
 * the largest shares u_c of all samples of a kind c first, and a unit goes to
 * the fold whose shares f_c leave those of all folds nearest each other,
 *
 *   argmin_f  sum over the kinds c of u_c f_c,   the smallest fold of several:
 *
 * the sum of squares of all f_c, of which every kind's sum is 1, grows least.
 * Single samples are so dealt in turn, kind by kind, the rarest first, each
 * from the fold on where the last one ended: folds differ by one sample at
 * most, and by one of each kind.  Where one hides more of a class than others,
 * less of it is left to learn from, and its samples rank too low beside theirs:
 * the AUROC of all together would be too small. */
#include "folds/folds.h"

#include <math.h>
#include <stdlib.h>

#include "mat/mat.h"

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
  bool labels;        /* Y are labels or classes: of several kinds */
  int64_t kinds;
  double *all_of; /* kinds: samples of each */
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

/* ---- kinds --------------------------------------------------------------*/
typedef struct valued {
  double value;
  int64_t sample;
} valued;

static int by_value(const void *a, const void *b)
{
  const valued *x = a, *y = b;
  return (x->value > y->value) - (x->value < y->value);
}

/* One row: a kind a value. */
static lapis_status kinds_of_values(lapis_ctx *ctx, const lapis_mat *Y,
                                    int64_t *kind, int64_t *kinds)
{
  int64_t known = 0;
  valued *v = base_alloc(ctx, Y->cols, sizeof *v);
  if (v == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < Y->cols; j++) {
    double y = lapis_mat_at(Y, 0, j);
    if (!isnan(y)) v[known++] = (valued){y, j};
  }
  qsort(v, (size_t)known, sizeof *v, by_value);
  *kinds = 1;
  for (int64_t k = 0; k < known; k++) {
    *kinds += k > 0 && v[k].value > v[k - 1].value;
    kind[v[k].sample] = *kinds - 1;
  }
  base_free(v);
  return LAPIS_OK;
}

/* Several labels: of those whose rarer value a sample has the rarest; one more
 * kind has none. */
static lapis_status kinds_of_labels(lapis_ctx *ctx, const lapis_mat *Y,
                                    int64_t *kind)
{
  int64_t K = Y->rows, (*count)[2] = base_alloc(ctx, K, sizeof *count);
  if (count == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < Y->cols; j++)
    for (int64_t c = 0; c < K; c++) {
      double y = lapis_mat_at(Y, c, j);
      if (!isnan(y)) count[c][y > 0]++;
    }
  for (int64_t j = 0; j < Y->cols; j++) {
    int64_t least = INT64_MAX;
    kind[j] = K;
    for (int64_t c = 0; c < K; c++) {
      double y = lapis_mat_at(Y, c, j);
      int rarer = count[c][1] <= count[c][0];
      if (isnan(y) || (y > 0) != rarer || count[c][rarer] >= least) continue;
      least = count[c][rarer];
      kind[j] = c;
    }
  }
  base_free(count);
  return LAPIS_OK;
}

/* Of each sample, *kind (d->all); numbers, and targets that are not looked at,
 * are of one. */
static lapis_status find_kinds(lapis_ctx *ctx, drawing *d, int64_t *kind)
{
  const lapis_mat *Y = d->how->Y;
  d->kinds = 1;
  if (Y == NULL) return LAPIS_OK;
  TRY(targets_are_numbers(ctx, Y, &d->labels));
  d->labels = !d->labels;
  if (!d->labels) return LAPIS_OK;
  if (Y->rows == 1) return kinds_of_values(ctx, Y, kind, &d->kinds);
  d->kinds = Y->rows + 1;
  return kinds_of_labels(ctx, Y, kind);
}

/* Samples with a known target, sorted by unit. */
static lapis_status collect(lapis_ctx *ctx, drawing *d, const int64_t *kind)
{
  bool by_group = d->how->group != NULL;
  d->all_of = base_alloc(ctx, d->kinds, sizeof *d->all_of);
  d->m = base_alloc(ctx, d->all, sizeof *d->m);
  d->start = base_alloc(ctx, 2 * d->all + 1, sizeof *d->start);
  d->order = base_alloc(ctx, d->all, sizeof *d->order);
  if (d->all_of == NULL || d->m == NULL || d->start == NULL || d->order == NULL)
    return LAPIS_ENOMEM;
  if (by_group) TRY(share_groups(ctx, d));
  for (int64_t j = 0; j < d->all; j++) {
    if (!is_known(d->how, j)) continue;
    d->m[d->n++] = (member){
        .key = by_group ? d->m[j].key : j, .kind = kind[j], .sample = j};
    d->all_of[kind[j]]++;
  }
  qsort(d->m, (size_t)d->n, sizeof *d->m, by_key);
  for (int64_t k = 0; k < d->n; k++)
    if (k == 0 || d->m[k].key != d->m[k - 1].key)
      d->start[d->plan->units++] = k;
  d->start[d->plan->units] = d->n;
  return LAPIS_OK;
}

static lapis_status find_units(lapis_ctx *ctx, drawing *d)
{
  double with = d->how->group != NULL;
  TRY(base_sum(ctx, &with, 1));
  if (with > 0 && with < base_ranks(ctx))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: some processes have groups and others have none; "
                      "all parts need them, or no part",
                      d->how->method);
  int64_t *kind = base_alloc(ctx, d->all, sizeof *kind);
  lapis_status s = kind == NULL ? LAPIS_ENOMEM : find_kinds(ctx, d, kind);
  if (s >= 0) s = collect(ctx, d, kind);
  base_free(kind);
  return s;
}

/* ---- dealing ------------------------------------------------------------*/
/* What a unit holds of one kind, from its member *k on; returns how many. */
static double count_next(const drawing *d, int64_t unit, int64_t *k,
                         int64_t *kind)
{
  int64_t first = *k, end = d->start[unit + 1];
  if (first < end) *kind = d->m[first].kind;
  while (*k < end && d->m[*k].kind == *kind) ++*k;
  return (double)(*k - first);
}

/* Sum of u_c f_c; f: kinds, of which all_of make shares; NULL: u's own. */
static double in_common(const drawing *d, int64_t unit, const double *f)
{
  double sum = 0, count;
  int64_t kind, k = d->start[unit];
  while ((count = count_next(d, unit, &k, &kind)) > 0)
    sum += count / d->all_of[kind] * (f == NULL ? count : f[kind]) /
           d->all_of[kind];
  return sum;
}

/* have: folds x kinds; size: folds. */
static int64_t least_loaded(const drawing *d, int64_t unit, const double *have,
                            const double *size)
{
  int64_t best = 0;
  double least = INFINITY;
  for (int64_t f = 0; f < d->plan->folds; f++) {
    double load = in_common(d, unit, have + f * d->kinds);
    if (load > least || (load == least && size[f] >= size[best])) continue;
    best = f;
    least = load;
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

static lapis_status deal(lapis_ctx *ctx, const drawing *d)
{
  int64_t folds = d->plan->folds;
  double *size = base_alloc(ctx, folds * (d->kinds + 1), sizeof *size);
  if (size == NULL) return LAPIS_ENOMEM;
  double *have = size + folds, count;
  for (int64_t k = 0; k < d->plan->units; k++) {
    int64_t unit = d->order[k], kind, at = d->start[unit];
    int64_t f = least_loaded(d, unit, have, size);
    hide(d, unit, f, k % d->plan->blocks);
    while ((count = count_next(d, unit, &at, &kind)) > 0) {
      have[f * d->kinds + kind] += count;
      size[f] += count;
    }
  }
  base_free(size);
  return LAPIS_OK;
}

/* ---- drawing ------------------------------------------------------------*/
/* A unit, its place in the random order, and what makes it go before others:
 * first is the place where a kind that it holds came up, whatever its name. */
typedef struct placed {
  double share;
  int64_t first, place, unit;
} placed;

static int by_share(const void *a, const void *b)
{
  const placed *x = a, *y = b;
  if (x->share != y->share) return x->share > y->share ? -1 : 1;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static void place_units(const drawing *d, int64_t *seen, placed *out)
{
  for (int64_t c = 0; c < d->kinds; c++) seen[c] = d->plan->units;
  for (int64_t k = 0; k < d->plan->units; k++) {
    int64_t unit = d->order[k], kind, at = d->start[unit], first = k;
    while (count_next(d, unit, &at, &kind) > 0) {
      if (seen[kind] > k) seen[kind] = k;
      if (seen[kind] < first) first = seen[kind];
    }
    out[k] = (placed){in_common(d, unit, NULL), first, k, unit};
  }
}

/* For cross-validation the random numbers are places of units, else units by
 * place: each as its answers were measured. */
static lapis_status line_up(lapis_ctx *ctx, drawing *d)
{
  int64_t units = d->plan->units;
  int64_t *place = d->start + units + 1;
  bool places = d->how->use == FOLDS_CV;
  placed *r = base_alloc(ctx, units, sizeof *r);
  int64_t *seen = base_alloc(ctx, d->kinds, sizeof *seen);
  lapis_status s = r == NULL || seen == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) {
    rng_shuffle(base_seed(ctx), d->how->use, places ? place : d->order, units);
    for (int64_t u = 0; places && u < units; u++) d->order[place[u]] = u;
    place_units(d, seen, r);
    qsort(r, (size_t)units, sizeof *r, by_share);
    for (int64_t k = 0; k < units; k++) d->order[k] = r[k].unit;
  }
  base_free(seen);
  base_free(r);
  return s;
}

static lapis_status draw_units(lapis_ctx *ctx, drawing *d)
{
  const fold_draw *how = d->how;
  fold_plan *plan = d->plan;
  TRY(find_units(ctx, d));
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
  TRY(line_up(ctx, d));
  return deal(ctx, d);
}

/* Known labels one by one, those of a column dealt in turn, so that each fold
 * hides as much of every label, and of its yes; whole: those of a group and
 * column together. */
static lapis_status draw_cells(lapis_ctx *ctx, const drawing *d)
{
  const lapis_mat *Y = d->how->Y;
  fold_plan *plan = d->plan;
  bool whole = d->how->group != NULL, two = d->labels && !whole;
  int64_t K = plan->K = Y->rows, n = Y->cols, at = 0;
  plan->cell = base_alloc(ctx, K * n, sizeof *plan->cell);
  int64_t *order = base_alloc(ctx, n, sizeof *order);
  lapis_status s =
      plan->cell == NULL || order == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) rng_shuffle(base_seed(ctx), FOLDS_CELLS, order, n);
  for (int64_t k = 0; s >= 0 && k < K * n; k++) plan->cell[k] = -1;
  for (int64_t c = 0; s >= 0 && c < K; c++)
    for (int yes = two; yes >= 0; yes--)
      for (int64_t k = 0; k < n; k++) {
        int64_t j = order[(k + c * 7919) % n];
        double y = lapis_mat_at(Y, c, j);
        if (two && (isnan(y) || (y > 0) != yes)) continue;
        int64_t next = whole ? plan->fold[j] + c : at++;
        if (!isnan(y)) plan->cell[j * K + c] = next % plan->folds;
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
  if (s >= 0 && how->cells) s = draw_cells(ctx, &d);
  base_free(d.m);
  base_free(d.start);
  base_free(d.order);
  base_free(d.all_of);
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
              " fold(s)",
              how->method, plan->units, plan->folds);
}
