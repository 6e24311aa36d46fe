/* trees_boost.c - boosted trees [Friedman 2001], with second derivatives [Chen
 * and Guestrin 2016].
 *
 *   F = log-odds of the shares, or the mean, of what is known
 *   for each tree
 *     yes  = y - p(F)      the loss's slope, down, at each sample
 *     seen = p (1 - p)     its curvature; of numbers 1
 *     grow: of all thresholds the one with most sum of yes^2 / (seen + 1)
 *     a leaf adds rate * yes / (seen + 1) to F
 *
 * p is 1 / (1 + e^-F), of one class of several a softmax; one tree answers for
 * all labels.  A feature's values lie in bins of about equally many samples,
 * between which thresholds are; what is missing goes to the better side. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op/learn/trees_inside.h"

static const double RIDGE = 1;
enum { COUNT, WEIGHT, YES };

static int64_t width_of(const grower *g)
{
  return YES + 2 * g->p->K;
}

/* ---- bins ---------------------------------------------------------------*/
static void bin_feature(grower *g, int64_t i, double *sorted)
{
  const double *x = g->X + i * g->m;
  uint8_t *bin = g->boost.bin + i * g->m;
  double *edge = g->boost.edge + i * TREES_BINS;
  int64_t n = 0, bins = 0, from = 0;
  for (int64_t j = 0; j < g->m; j++)
    if (!isnan(x[j])) sorted[n++] = x[j];
  qsort(sorted, (size_t)n, sizeof *sorted, base_ascending);
  for (int64_t k = 0; k + 1 < n && bins < TREES_BINS - 1; k++) {
    double wanted = (double)(n - from) / (double)(TREES_BINS - bins);
    if (sorted[k + 1] <= sorted[k] || (double)(k + 1 - from) < wanted) continue;
    edge[bins++] = trees_between(sorted[k], sorted[k + 1]);
    from = k + 1;
  }
  edge[bins++] = DBL_MAX;
  g->boost.bins[i] = (uint8_t)bins;
  for (int64_t j = 0; j < g->m; j++) {
    int64_t low = 0, high = bins - 1;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (x[j] > edge[middle])
        low = middle + 1;
      else
        high = middle;
    }
    bin[j] = (uint8_t)(isnan(x[j]) ? bins : low);
  }
}

/* ---- before all trees ---------------------------------------------------*/
lapis_status boost_begin(grower *g, arena *own)
{
  trees_boost *b = &g->boost;
  int64_t m = g->m, K = g->p->K, width = width_of(g);
  b->bin = arena_take(own, m * g->p->d, sizeof *b->bin);
  b->bins = arena_take(own, g->p->d, sizeof *b->bins);
  b->edge = arena_reals(own, TREES_BINS * g->p->d);
  b->score = arena_reals(own, K * m);
  b->target = arena_reals(own, K * m);
  b->base = arena_reals(own, K);
  b->stat = arena_reals(own, width * m);
  b->sum = arena_reals(own, width * (TREES_BINS + 3));
  TRY(arena_status(own));
  double *sorted = base_alloc_raw(g->ctx, m, sizeof *sorted);
  if (sorted == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < g->p->d; i++) bin_feature(g, i, sorted);
  base_free(sorted);
  for (int64_t c = 0; c < K; c++) { /* of all: shares, or means */
    double all = g->sum[4 * K + c], least = .5 / (double)m;
    double p = fmin(fmax(all, least), 1 - least);
    b->base[c] = g->p->numbers   ? all
                 : g->p->classes ? log(p)
                                 : log(p) - log1p(-p);
  }
  for (int64_t k = 0; k < K * m; k++) {
    double seen = g->seen[k];
    b->target[k] = seen > 0 ? g->yes[k] / seen : NAN;
    b->score[k] = b->base[k % K];
  }
  return LAPIS_OK;
}

/* ---- before each --------------------------------------------------------*/
/* What F gives each label of a sample. */
static void answers(const grower *g, const double *F, double *p)
{
  int64_t K = g->p->K;
  double most = -INFINITY, sum = 0;
  if (!g->p->classes) {
    for (int64_t c = 0; c < K; c++)
      p[c] = g->p->numbers ? F[c] : 1 / (1 + exp(-F[c]));
    return;
  }
  for (int64_t c = 0; c < K; c++) most = fmax(most, F[c]);
  for (int64_t c = 0; c < K; c++) sum += p[c] = exp(F[c] - most);
  for (int64_t c = 0; c < K; c++) p[c] /= sum;
}

void boost_next(grower *g)
{
  static const double LEAST = 1e-16;
  int64_t K = g->p->K, width = width_of(g);
  double *p = g->boost.sum; /* K */
  for (int64_t j = 0; j < g->m; j++) {
    double *stat = g->boost.stat + j * width;
    const double *y = g->boost.target + j * K;
    answers(g, g->boost.score + j * K, p);
    stat[COUNT] = 1;
    stat[WEIGHT] = g->weight[j];
    for (int64_t c = 0; c < K; c++) {
      double w = isnan(y[c]) ? 0 : g->weight[j];
      double bend = g->p->numbers ? 1 : fmax(p[c] * (1 - p[c]), LEAST);
      double yes = w > 0 ? w * (y[c] - p[c]) : 0;
      g->yes[j * K + c] = stat[YES + c] = yes;
      g->seen[j * K + c] = stat[YES + K + c] = w * bend;
    }
  }
}

/* ---- a split ------------------------------------------------------------*/
/* Of what `left` sums, and the rest of `all`; a division serves both.  Four
 * sums side by side are what a processor does at once. */
static double gain_of(const double *all, const double *left, int64_t K)
{
  enum { ABREAST = 4 };
  double sum[ABREAST] = {0};
  for (int64_t c = 0; c < K; c += ABREAST) {
    int64_t last = K - c < ABREAST ? K - c : ABREAST;
    const double *of = all + YES + c, *at = left + YES + c;
    for (int64_t k = 0; k < last; k++) {
      double yes = at[k], bend = at[K + k] + RIDGE;
      double other = of[k] - yes, rest = of[K + k] - at[K + k] + RIDGE;
      sum[k] += (yes * yes * rest + other * other * bend) / (bend * rest);
    }
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void add(double *to, const double *stat, int64_t width)
{
  for (int64_t c = 0; c < width; c++) to[c] += stat[c];
}

/* Sums of each bin of feature i that has samples, what is missing behind them;
 * which these are. */
static void sum_bins(const grower *g, const pending *at, int64_t i, bool *has)
{
  const uint8_t *bin = g->boost.bin + i * g->m;
  const double *stat = g->boost.stat;
  double *sum = g->boost.sum;
  int64_t width = width_of(g);
  memset(has, false, (size_t)g->boost.bins[i] + 1);
  for (int64_t k = at->from; k < at->to; k++) {
    int64_t j = g->order[k];
    double *to = sum + bin[j] * width;
    const double *of = stat + j * width;
    if (has[bin[j]])
      add(to, of, width);
    else
      memcpy(to, of, (size_t)width * sizeof *to);
    has[bin[j]] = true;
  }
}

static void consider(const grower *g, const double *all, const double *left,
                     double least, split s, split *best)
{
  int64_t count = (int64_t)left[COUNT], rest = (int64_t)all[COUNT] - count;
  double weight = left[WEIGHT], other = all[WEIGHT] - weight;
  if (!trees_suffice(g, count, weight) || !trees_suffice(g, rest, other))
    return;
  s.gain = gain_of(all, left, g->p->K);
  if (s.gain > least && (best->feature < 0 || s.gain > best->gain)) *best = s;
}

/* Sums of the node; a gain that a split has to surpass. */
static double sum_node(const grower *g, const pending *at, double weight,
                       double *all, double *none)
{
  static const double LEAST = 1e-9; /* of the gain there is */
  int64_t K = g->p->K;
  all[COUNT] = (double)(at->to - at->from);
  all[WEIGHT] = weight;
  memcpy(all + YES, g->sum, 2 * (size_t)K * sizeof *all);
  memset(none, 0, (size_t)width_of(g) * sizeof *none);
  return gain_of(all, none, K) * (1 + LEAST) + LEAST;
}

bool boost_try(grower *g, const pending *at, int64_t i, double weight,
               split *best)
{
  int64_t width = width_of(g), bins = g->boost.bins[i];
  double *sum = g->boost.sum, *missing = sum + bins * width;
  double *all = sum + (TREES_BINS + 1) * width, *left = all + width;
  double least = sum_node(g, at, weight, all, left);
  bool has[TREES_BINS + 1], varies = false;
  sum_bins(g, at, i, has);
  bool gaps = has[bins];
  for (int64_t b = 0; b < bins; b++) {
    if (!has[b]) continue;
    add(left, sum + b * width, width);
    if (b == bins - 1 && !gaps) break;
    varies = true;
    split s = {.feature = i, .threshold = g->boost.edge[i * TREES_BINS + b]};
    s.missing_right = gaps || 2 * left[WEIGHT] < all[WEIGHT];
    consider(g, all, left, least, s, best);
    if (!gaps || b == bins - 1) continue;
    s.missing_right = false;
    add(left, missing, width);
    consider(g, all, left, least, s, best);
    for (int64_t c = 0; c < width; c++) left[c] -= missing[c];
  }
  return varies;
}

/* ---- leaves -------------------------------------------------------------*/
/* yes and seen of the node are summed. */
void boost_leaf(grower *g, const pending *at, double *share)
{
  int64_t K = g->p->K;
  const double *yes = g->sum, *seen = yes + K;
  for (int64_t c = 0; c < K; c++)
    share[c] = g->p->rate * yes[c] / (seen[c] + RIDGE);
  for (int64_t k = at->from; k < at->to; k++)
    add(g->boost.score + g->order[k] * K, share, K);
}

void boost_end(const grower *g)
{
  trees *t = g->out;
  for (int64_t k = 0; k < t->K * t->leaves; k++)
    t->share[k] = (double)t->count * t->share[k] + g->boost.base[k % t->K];
}
