/* cost.c - what candidates cost before any of them runs, by counts of samples,
 * features and labels alone, so that the same data have the same candidates on
 * every machine.
 *
 * The unit is a multiplication and addition of a product of matrices; steps of
 * solvers are what they took on tables of 500 to 4,500 samples.  Where all
 * cost more than a race may, one fold decides (where it hides enough), and
 * candidates are taken from the cheapest on; a third fold runs, and all trees
 * are compared, where that costs little.  Who is taken is decided by what all
 * trees cost. */
#include <math.h>

#include "methods/auto/candidates.h"

static const double MOST_COST = 1e12; /* half a minute of one processor */
static const double THIRD = .125;     /* of it: below it three folds run */
static const double PER_SECOND = 3.5e10;
static const double CHEAP = .01;   /* of it: never left out */
static const double PASSES = 1500; /* of a step, a number of X with gaps */
enum { ENOUGH = 300, FEW = 100 };  /* rows, of which a third are hidden */

/* Rows of which some label is known. */
static double labelled_rows(const comparison *r)
{
  int64_t rows = 0;
  for (int64_t j = 0; j < r->n; j++) {
    bool any = false;
    for (int64_t c = 0; c < r->K && !any; c++)
      any = !isnan(r->labels.sign[j * r->K + c]);
    rows += any;
  }
  return (double)rows;
}

/* What is counted once: rows of which some label is known, and columns of what
 * mc solves after each map, 0 where that was not asked yet. */
typedef struct sizes {
  double labelled, columns[MOST_MAPS];
  bool gaps[MOST_MAPS];
} sizes;

/* Where X has no gaps, all rows without a label enter mc as one more than there
 * are features. */
static double columns_of(const comparison *r, int map, sizes *s)
{
  const lapis_mat *X = &r->X[map];
  double n = (double)r->n, *columns = &s->columns[map];
  if (*columns > 0) return *columns;
  s->gaps[map] = lapis_mat_missing(X) > 0;
  bool packed =
      r->set.variant == LAPIS_MC_1 && X->colptr == NULL && !s->gaps[map];
  return *columns = packed ? fmin(n, s->labelled + (double)X->rows + 1) : n;
}

/* Of a sample, a feature that is tried and a level: of one class a sample by
 * weights alone, of several labels or numbers by a sum each. */
static double cost_of_cell(const comparison *r)
{
  double K = (double)r->K;
  if (r->o.numbers) return 500 + 60 * K;
  bool one = r->labels.kind == TARGETS_CLASS || r->K == 1;
  return one ? 220 + 15 * K : 650 + 95 * K;
}

/* What is drawn, sorted or added up of the features that a split tries, level
 * by level (bench/defaults/forests.py). */
static double cost_of_trees(const comparison *r, const candidate *x,
                            double shown, double d)
{
  double K = (double)r->K, tried = r->o.numbers ? d / 3 : sqrt(d);
  if (!isnan(x->share)) tried = ceil(x->share * d);
  if (x->kind == CANDIDATE_BOOSTED)
    return (60 * (2 + K) * tried + 200) * shown * (double)(x->depth * x->count);
  return cost_of_cell(r) * (double)x->count * log2(fmax(shown, 2)) * shown *
         tried;
}

/* Ridge regression: squares of features, and what solves with them. */
static double cost_of_ridge(double shown, double d, double K)
{
  return shown * d * (d / 2 + K) + d * d * d / 3;
}

/* Of one fold. */
static double cost_of(const comparison *r, const candidate *x, sizes *s)
{
  double labelled = s->labelled;
  double shown = labelled * (1 - 1 / (double)r->plan.folds);
  double d = (double)r->X[x->map].rows, K = (double)r->K, n = (double)r->n;
  double pass = 4 * shown * K, own = 150; /* of a loss: an exp, a log1p */
  if (candidate_grows(x)) return cost_of_trees(r, x, shown, d);
  if (x->kind == CANDIDATE_LINEAR && r->o.numbers)
    return cost_of_ridge(shown, x->kernel > 0 ? fmin(n, 500) : d, K);
  if (x->kernel > 0) return pass * (fmin(n, 500) + own) * 28 * pow(x->C, .36);
  if (x->kind == CANDIDATE_LINEAR)
    return pass * (d + own) * 80 * pow(x->C, .27);
  if (x->kind != CANDIDATE_MC) return 0;
  double columns = columns_of(r, x->map, s);
  double side = fmin(columns, d + K), other = fmax(columns, d + K);
  double steps = x->set.mu_rel < .1 ? 16 : 8;
  double passes = s->gaps[x->map] ? PASSES : 0;
  return steps * ((4 * side + passes) * side * other + 9 * side * side * side);
}

/* What reads gaps that an mc has filled needs that one. */
static bool must_run(const comparison *r, int i)
{
  return r->fills && i == 0;
}

/* The cheapest that is neither taken nor left; -1: none. */
static int next_of(const double *cost, const bool *done, int count)
{
  int best = -1;
  for (int i = 0; i < count; i++)
    if (!done[i] && (best < 0 || cost[i] < cost[best])) best = i;
  return best;
}

/* By what all candidates cost a fold. */
static void settle_folds(comparison *r, double all, bool capped)
{
  double cost = all * (double)r->used;
  bool dear = cost > MOST_COST * THIRD && r->known >= FEW;
  if (r->used > 2 && dear) r->used = 2;
  r->fewer = dear && !r->o.numbers && r->o.named_as == NULL;
  cost = all * (double)r->used;
  if (capped && cost > MOST_COST && r->known >= ENOUGH) r->used = 1;
}

void cost_admit(comparison *r, int first)
{
  double cost[MOST_CANDIDATES], all = 0;
  sizes s = {.labelled = labelled_rows(r)};
  bool done[MOST_CANDIDATES] = {false}, stays[MOST_CANDIDATES] = {false};
  bool capped = !r->o.named && (r->o.linear || r->o.trees);
  int count = first;
  for (int i = first; i < r->count; i++)
    all += cost[i - first] = cost_of(r, &r->run[i], &s);
  double folds = fmin((double)r->used, 2); /* would run, were all admitted */
  if (first == 0) settle_folds(r, all, capped);
  if (!capped) return;
  for (int i; (i = next_of(cost, done, r->count - first)) >= 0;) {
    double of = cost[i] * (double)r->used;
    done[i] = true;
    stays[i] = must_run(r, first + i) || r->spent <= 0 ||
               of <= MOST_COST * CHEAP || r->spent + of <= MOST_COST;
    if (stays[i]) r->spent += of;
  }
  for (int i = first; i < r->count; i++) {
    if (stays[i - first]) {
      r->run[count++] = r->run[i];
    } else {
      r->dear++;
      r->saved += cost[i - first] * folds / PER_SECOND;
    }
  }
  r->count = count;
}
