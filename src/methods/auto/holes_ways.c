/* holes_ways.c - ways to fill the gaps of a table.
 *
 * Factors (op/map/impute.c) see what is known of a sample at once.  All others
 * take the columns in turn,
 *
 *   for each column that has gaps:
 *     learn it from all other columns, where it is known
 *     answer where it is not; gaps of the others hold the latest answers
 *
 * over all columns once or a few times, as iterative imputation does; no answer
 * is far beyond the range of what was known.  A way begins with the
 * mean of the ways before it.  Several features that are one column of classes
 * are learnt together, from all others. */
#include <math.h>
#include <string.h>

#include "methods/auto/holes.h"
#include "op/learn/kernel_ridge.h"
#include "op/learn/trees.h"
#include "op/map/impute.h"

enum { TREES = 100, LEAST_TREES = 20, MOST_SAMPLES = 5000, MOST_NEAR = 20 };
static const double WIDER = .5; /* of what is seen of a column */
static const double WORK = 1e6, MOST_WORK = 2e7; /* d^2 n of trees */

typedef struct column { /* while it is filled */
  holes_table *t;
  int64_t at, width, d; /* first feature, features; others */
  double *F;            /* d x n: the others, filled */
  double *Y;            /* width x n, NaN: not known */
  double *A;            /* width x n: answers */
} column;
typedef struct way {
  const char *called;
  lapis_status (*learn)(column *c, const struct way *w); /* into A */
  int rounds;
  bool slow; /* not of many samples, or features */
  double C, width;
  int64_t count; /* neighbours */
  trees_kind kind;
  double share;
} way;

static bool teaches(const column *c, int64_t j)
{
  return c->t->weight[j] > 0 && !isnan(c->Y[j * c->width]);
}

/* ---- learners -----------------------------------------------------------*/
static ridge_problem problem_of(const column *c, const way *w)
{
  return (ridge_problem){.X = lapis_mat_f64(c->F, c->d, c->t->n),
                         .Y = c->Y,
                         .K = c->width,
                         .weight = c->t->weight,
                         .C = w->C};
}

static lapis_status by_lines(column *c, const way *w)
{
  ridge_problem p = problem_of(c, w);
  double *W = base_alloc(c->t->h.ctx, (c->d + 1) * c->width, sizeof *W);
  lapis_status s = W == NULL ? LAPIS_ENOMEM : op_ridge(&c->t->h, &p, W);
  if (s >= 0) s = op_ridge_answer(&c->t->h, &p.X, p.K, W, c->A);
  base_free(W);
  return s;
}

/* Two features in units of their own are 2 apart on average, squared. */
static lapis_status by_kernel(column *c, const way *w)
{
  ridge_problem p = problem_of(c, w);
  return op_kernel_ridge(&c->t->h, &p, w->width * 2 * (double)c->d, c->A);
}

static lapis_status by_trees(column *c, const way *w)
{
  const holes_table *t = c->t;
  double work = (double)(t->d * t->d) * (double)t->learnt;
  trees grown;
  trees_problem p = {.kind = w->kind,
                     .numbers = true,
                     .X = c->F,
                     .target = c->Y,
                     .weight = t->weight,
                     .d = c->d,
                     .n = t->n,
                     .K = c->width,
                     .share = w->share,
                     .stored = INFINITY,
                     .leaf = 1};
  p.count = (int64_t)fmax(LEAST_TREES, fmin(TREES, TREES * WORK / work));
  bool *asked = base_alloc(t->h.ctx, t->n, sizeof *asked);
  if (asked == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < t->n; j++) asked[j] = isnan(c->Y[j * c->width]);
  lapis_status s = trees_grow(t->h.ctx, &p, NULL, NULL, &grown);
  if (s >= 0) trees_answer(&grown, c->F, c->d, t->n, asked, c->A);
  base_free(asked);
  if (s >= 0) trees_free(&grown);
  return s < 0 ? s : LAPIS_OK;
}

typedef struct neighbour {
  double apart; /* squared */
  int64_t sample;
} neighbour;

/* The nearest that teach; how many. */
static int64_t find_near(const column *c, int64_t j, int64_t most,
                         neighbour *near)
{
  const double *x = c->F + j * c->d;
  int64_t count = 0;
  for (int64_t i = 0; i < c->t->n; i++) {
    const double *z = c->F + i * c->d;
    double sum = 0, far = count < most ? INFINITY : near[most - 1].apart;
    if (!teaches(c, i)) continue;
    for (int64_t k = 0; k < c->d && sum < far; k++)
      sum += (x[k] - z[k]) * (x[k] - z[k]);
    if (!(sum < far)) continue;
    int64_t to = count < most ? count++ : most - 1;
    for (; to > 0 && near[to - 1].apart > sum; to--) near[to] = near[to - 1];
    near[to] = (neighbour){sum, i};
  }
  return count;
}

/* Their mean, weighed by 1 / distance. */
static lapis_status by_near(column *c, const way *w)
{
  neighbour near[MOST_NEAR];
  for (int64_t j = 0; j < c->t->n; j++) {
    double all = 0, *a = c->A + j * c->width;
    if (!isnan(c->Y[j * c->width])) continue;
    int64_t count = find_near(c, j, w->count, near);
    memset(a, 0, (size_t)c->width * sizeof *a);
    for (int64_t k = 0; k < count; k++) {
      double weighs = 1 / (sqrt(near[k].apart) + 1e-9);
      const double *y = c->Y + near[k].sample * c->width;
      for (int64_t i = 0; i < c->width; i++) a[i] += weighs * y[i];
      all += weighs;
    }
    for (int64_t i = 0; i < c->width && all > 0; i++) a[i] /= all;
  }
  return LAPIS_OK;
}

/* The cheap ones first: what time leaves out is dear. */
static const way list[HOLES_WAYS] = {
    {.called = "factors"},
    {"ridge regression", by_lines, .rounds = 5, .C = 100},
    {"its neighbours", by_near, .rounds = 2, .slow = true, .count = 5},
    {"kernel ridge regression", by_kernel, .rounds = 2, .slow = true, .C = 10,
     .width = 4},
    {"narrow kernel ridge regression", by_kernel, .rounds = 2, .slow = true,
     .C = 1, .width = 1},
    {"random trees", by_trees, .rounds = 1, .slow = true, .kind = TREES_RANDOM,
     .share = 1},
    {"a forest", by_trees, .rounds = 1, .slow = true, .kind = TREES_FOREST,
     .share = NAN},
};

const char *holes_called(int i)
{
  return list[i].called;
}

/* ---- column by column ---------------------------------------------------*/
static bool has_gaps(const holes_table *t, int64_t i, bool *learns)
{
  int64_t gaps = 0, known = 0;
  for (int64_t j = 0; j < t->n; j++) {
    bool gap = isnan(t->X[j * t->d + i]);
    gaps += gap;
    known += !gap && t->weight[j] > 0;
  }
  *learns = known > 1;
  return gaps > 0;
}

static void take(column *c, const double *Z)
{
  const holes_table *t = c->t;
  int64_t end = c->at + c->width, rest = t->d - end;
  for (int64_t j = 0; j < t->n; j++) {
    const double *z = Z + j * t->d;
    double *to = c->F + j * c->d;
    memcpy(to, z, (size_t)c->at * sizeof *to);
    memcpy(to + c->at, z + end, (size_t)rest * sizeof *to);
    memcpy(c->Y + j * c->width, t->X + j * t->d + c->at,
           (size_t)c->width * sizeof *to);
  }
}

/* How many learnt values of each feature are its lowest, and its highest. */
static void count_ends(const holes_ends *e, int64_t *count)
{
  for (int64_t k = 0; k < e->d * e->n; k++) {
    int64_t i = k % e->d;
    if (!(e->weight[k / e->d] > 0)) continue;
    count[2 * i] += e->X[k] <= e->low[i];
    count[2 * i + 1] += e->X[k] >= e->high[i];
  }
}

lapis_status holes_widen(lapis_ctx *ctx, const holes_ends *e)
{
  int64_t *count = base_alloc(ctx, 2 * e->d, sizeof *count);
  if (count == NULL) return LAPIS_ENOMEM;
  count_ends(e, count);
  for (int64_t i = 0; i < e->d; i++) {
    double zero = -e->mean[i] / e->scale[i], *low = e->low + i;
    double *high = e->high + i, wide = WIDER * (*high - *low);
    bool above = *low >= zero, below = *high <= zero;
    if (!(wide > 0)) continue;
    if (count[2 * i] == 1) *low = fmax(*low - wide, above ? zero : -INFINITY);
    if (count[2 * i + 1] == 1)
      *high = fmin(*high + wide, below ? zero : INFINITY);
  }
  base_free(count);
  return LAPIS_OK;
}

static void put(const column *c, double *Z)
{
  const holes_table *t = c->t;
  for (int64_t j = 0; j < t->n; j++)
    for (int64_t i = 0; i < c->width; i++) {
      int64_t f = c->at + i;
      double a = c->A[j * c->width + i];
      if (isnan(c->Y[j * c->width + i]))
        Z[j * t->d + f] = fmin(fmax(a, t->low[f]), t->high[f]);
    }
}

/* false in *on: `later` said no. */
static lapis_status sweep(holes_table *t, const way *w, double *room, double *Z,
                          bool *on)
{
  for (int64_t k = 0; k < t->columns && *on; k++) {
    bool learns;
    column c = {.t = t, .at = t->first[k], .F = room};
    c.width = t->first[k + 1] - c.at;
    c.d = t->d - c.width;
    c.Y = c.F + c.d * t->n;
    c.A = c.Y + c.width * t->n;
    if (c.d > 0 && has_gaps(t, c.at, &learns) && learns) {
      take(&c, Z);
      TRY(w->learn(&c, w));
      put(&c, Z);
    }
    *on = t->later(t->user);
  }
  return LAPIS_OK;
}

/* Factors of what is learnt from. */
static lapis_status by_factors(const holes_table *t, double *room, double *Z)
{
  int64_t d = t->d, n = 0;
  double *state = base_alloc(t->h.ctx, impute_length(d), sizeof *state);
  if (state == NULL) return LAPIS_ENOMEM;
  memcpy(Z, t->X, (size_t)(d * t->n) * sizeof *Z);
  for (int64_t j = 0; j < t->n; j++)
    if (t->weight[j] > 0)
      memcpy(room + n++ * d, Z + j * d, (size_t)d * sizeof *Z);
  lapis_status s = impute_fit(t->h.ctx, room, d, n, state);
  for (int64_t j = 0; j < t->n && s >= 0; j++) {
    impute_fill(state, Z + j * d, d);
    for (int64_t k = j * d; k < (j + 1) * d; k++)
      if (isnan(t->X[k]))
        Z[k] = fmin(fmax(Z[k], t->low[k % d]), t->high[k % d]);
  }
  base_free(state);
  return s;
}

static bool pays(const holes_table *t, const way *w)
{
  double work = (double)(t->d * t->d) * (double)t->learnt;
  return !w->slow || (t->learnt <= MOST_SAMPLES && work <= MOST_WORK);
}

lapis_status holes_fill(holes_table *t, double *Z, int *ways)
{
  int64_t size = t->d * t->n;
  int most = *ways;
  bool on = true;
  double *room = base_alloc_raw(t->h.ctx, 3 * size, sizeof *room);
  *ways = 0;
  if (room == NULL) return LAPIS_ENOMEM;
  lapis_status s = by_factors(t, room, Z);
  while (s >= 0 && on && ++*ways < most && pays(t, &list[*ways])) {
    double *own = Z + *ways * size;
    for (int64_t k = 0; k < size; k++) {
      own[k] = 0;
      for (int i = 0; i < *ways; i++) own[k] += Z[i * size + k] / *ways;
    }
    for (int r = 0; r < list[*ways].rounds && s >= 0 && on; r++)
      s = sweep(t, &list[*ways], room, own, &on);
  }
  base_free(room);
  return s;
}
