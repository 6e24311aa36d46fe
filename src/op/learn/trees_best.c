/* trees_best.c - what a forest's trees have of their own: samples drawn with
 * replacement, and thresholds that are the best of their feature.
 *
 * Values are ranked once for all trees.  At a node the ranks of a feature are
 * sorted together with the samples' numbers, by insertion or, of many, byte by
 * byte; then one pass over them tries every threshold, in the middle between
 * two values.  What is missing goes to either side, whichever is better; where
 * nothing is missing at a node, a new sample's goes to the heavier side. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op/learn/trees_inside.h"

enum { FEW = 40, BYTE = 256 };

/* ---- before all trees ---------------------------------------------------*/
typedef struct place { /* of a value among those of its feature */
  double value;
  int64_t sample;
} place;

static int by_value(const void *a, const void *b)
{
  double x = ((const place *)a)->value, y = ((const place *)b)->value;
  return (x > y) - (x < y);
}

static void rank_feature(grower *g, int64_t i, place *room)
{
  const double *x = g->X + i * g->m;
  uint32_t *rank = g->draws.rank + i * g->m, at = 0;
  int64_t count = 0;
  for (int64_t j = 0; j < g->m; j++) {
    rank[j] = TREES_MISSING;
    if (!isnan(x[j])) room[count++] = (place){x[j], j};
  }
  qsort(room, (size_t)count, sizeof *room, by_value);
  for (int64_t k = 0; k < count; k++) {
    at += k > 0 && room[k].value > room[k - 1].value;
    rank[room[k].sample] = at;
  }
  g->draws.ranks[i] = at + 1;
}

lapis_status trees_rank(grower *g, arena *own)
{
  trees_draws *d = &g->draws;
  int64_t m = g->m, K = g->p->K;
  double sum = 0;
  d->rank = arena_take(own, m * g->p->d, sizeof *d->rank);
  d->ranks = arena_take(own, g->p->d, sizeof *d->ranks);
  d->key = arena_take(own, m, sizeof *d->key);
  d->aux = arena_take(own, m, sizeof *d->aux);
  d->until = arena_reals(own, m);
  d->yes = g->yes; /* a tree has its own */
  d->seen = g->seen;
  d->weight = g->weight;
  g->weight = arena_reals(own, m);
  g->yes = arena_reals(own, K * m);
  g->seen = arena_reals(own, K * m);
  place *room = base_alloc_raw(g->ctx, m, sizeof *room);
  lapis_status s = room == NULL ? LAPIS_ENOMEM : arena_status(own);
  for (int64_t i = 0; s >= 0 && i < g->p->d; i++) rank_feature(g, i, room);
  for (int64_t j = 0; s >= 0 && j < m; j++) d->until[j] = sum += d->weight[j];
  base_free(room);
  return s;
}

/* ---- what a tree draws ---------------------------------------------------*/
double trees_lot(grower *g)
{
  return rng_uniform(base_seed(g->ctx), g->stream, g->drawn++);
}

/* The first sample that more than this share of all weights ends with. */
static int64_t at_share(const double *until, int64_t m, double share)
{
  int64_t low = 0, high = m - 1;
  double of = share * until[m - 1];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (until[middle] > of)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* As many draws as there are samples, by weight; each counts the mean weight.
 */
int64_t trees_draw(grower *g)
{
  trees_draws *d = &g->draws;
  int64_t m = g->m, K = g->p->K, count = 0;
  double each = d->until[m - 1] / (double)m;
  memset(g->weight, 0, (size_t)m * sizeof *g->weight);
  for (int64_t k = 0; k < m; k++)
    g->weight[at_share(d->until, m, trees_lot(g))] += each;
  for (int64_t j = 0; j < m; j++) {
    if (!(g->weight[j] > 0)) continue;
    double times = g->weight[j] / d->weight[j];
    for (int64_t c = j * K; c < (j + 1) * K; c++) {
      g->yes[c] = times * d->yes[c];
      g->seen[c] = times * d->seen[c];
    }
    g->order[count++] = j;
  }
  return count;
}

/* ---- sorting a node's ranks ---------------------------------------------*/
static void insert(uint64_t *key, int64_t n)
{
  for (int64_t k = 1; k < n; k++) {
    uint64_t at = key[k];
    int64_t to = k;
    for (; to > 0 && key[to - 1] > at; to--) key[to] = key[to - 1];
    key[to] = at;
  }
}

/* Keys are ranks above 32 bits of a sample, which come in any order but the
 * same for the same node.  Returns where they are sorted. */
static uint64_t *sort(const trees_draws *d, int64_t n, uint32_t most)
{
  uint64_t *from = d->key, *to = d->aux;
  if (n <= FEW) insert(from, n);
  for (int shift = 32; n > FEW && shift < 64 && most >> (shift - 32) > 0;
       shift += 8) {
    int64_t start[BYTE + 1] = {0};
    for (int64_t k = 0; k < n; k++) start[(from[k] >> shift & 0xff) + 1]++;
    for (int b = 0; b < BYTE; b++) start[b + 1] += start[b];
    for (int64_t k = 0; k < n; k++)
      to[start[from[k] >> shift & 0xff]++] = from[k];
    uint64_t *other = from;
    from = to;
    to = other;
  }
  return from;
}

/* ---- one feature --------------------------------------------------------*/
typedef struct side {
  int64_t count;
  double weight;
  double *yes, *seen; /* K */
} side;

typedef struct scan { /* of a feature at a node */
  side all, left, missing;
  int64_t feature;
  /* of one class each: sums over classes of squares, and of products */
  double left2, right2, missing2, left_missing, all_missing;
} scan;

static void take(const grower *g, int64_t j, side *to)
{
  const double *y = g->yes + j * g->p->K, *s = g->seen + j * g->p->K;
  for (int64_t c = 0; c < g->p->K; c++) to->yes[c] += y[c], to->seen[c] += s[c];
  to->weight += g->weight[j];
  to->count++;
}

/* One class each: a step changes one class alone, by the sample's weight. */
static void take_left(const grower *g, int64_t j, scan *s)
{
  int64_t c = g->one == NULL ? 0 : g->one[j];
  if (g->one == NULL) {
    take(g, j, &s->left);
    return;
  }
  double y = g->weight[j], *left = &s->left.yes[c];
  s->left2 += y * (2 * *left + y);
  s->right2 -= y * (2 * (s->all.yes[c] - *left) - y);
  s->left_missing += y * s->missing.yes[c];
  *left += y;
  s->left.seen[0] += y;
  s->left.weight += y;
  s->left.count++;
}

static void begin_squares(const grower *g, scan *s)
{
  for (int64_t c = 0; g->one != NULL && c < g->p->K; c++) {
    double all = s->all.yes[c], missing = s->missing.yes[c];
    s->right2 += all * all;
    s->missing2 += missing * missing;
    s->all_missing += all * missing;
  }
}

/* The gain below, all classes being seen alike. */
static double gain_of_classes(const scan *s, bool with)
{
  double seen = s->left.seen[0], left2 = s->left2, right2 = s->right2;
  if (with) {
    seen += s->missing.seen[0];
    left2 += 2 * s->left_missing + s->missing2;
    right2 += s->missing2 - 2 * (s->all_missing - s->left_missing);
  }
  double rest = s->all.seen[0] - seen;
  return (seen > 0 ? left2 / seen : 0) + (rest > 0 ? right2 / rest : 0);
}

/* Less variance is more of this; with: what is missing goes left. */
static double gain(const grower *g, const scan *s, bool with)
{
  double sum = 0;
  if (g->one != NULL) return gain_of_classes(s, with);
  for (int64_t c = 0; c < g->p->K; c++) {
    double yes = s->left.yes[c], seen = s->left.seen[c];
    if (with) yes += s->missing.yes[c], seen += s->missing.seen[c];
    double right = s->all.yes[c] - yes, rest = s->all.seen[c] - seen;
    if (seen > 0) sum += yes * yes / seen;
    if (rest > 0) sum += right * right / rest;
  }
  return sum;
}

/* at: the last key on the left, before that of the next value, if any. */
static double threshold_of(const grower *g, const scan *s, const uint64_t *at,
                           bool last)
{
  const double *x = g->X + s->feature * g->m;
  if (last) return DBL_MAX;
  return trees_between(x[at[0] & UINT32_MAX], x[at[1] & UINT32_MAX]);
}

static void consider(const grower *g, const scan *s, bool with,
                     const uint64_t *at, bool last, split *best)
{
  int64_t count = s->left.count + (with ? s->missing.count : 0);
  double weight = s->left.weight + (with ? s->missing.weight : 0);
  if (!trees_suffice(g, count, weight) ||
      !trees_suffice(g, s->all.count - count, s->all.weight - weight))
    return;
  double more = gain(g, s, with);
  if (best->feature >= 0 && !(more > best->gain)) return;
  bool right = s->missing.count > 0 ? !with : 2 * weight < s->all.weight;
  *best = (split){.feature = s->feature,
                  .threshold = threshold_of(g, s, at, last),
                  .gain = more,
                  .missing_right = right};
}

static void pass(const grower *g, scan *s, const uint64_t *key, int64_t n,
                 split *best)
{
  for (int64_t k = 0; k < n; k++) {
    take_left(g, (int64_t)(key[k] & UINT32_MAX), s);
    bool last = k == n - 1;
    if (!last && key[k] >> 32 == key[k + 1] >> 32) continue;
    if (last && s->missing.count == 0) return;
    consider(g, s, false, key + k, last, best);
    if (!last && s->missing.count > 0)
      consider(g, s, true, key + k, last, best);
  }
}

bool trees_try_best(grower *g, const pending *at, int64_t i, double weight,
                    split *best)
{
  const trees_draws *d = &g->draws;
  const uint32_t *rank = d->rank + i * g->m;
  int64_t K = g->p->K, n = 0;
  uint32_t least = UINT32_MAX, most = 0;
  double *sum = g->sum;
  scan s = {.feature = i,
            .all = {at->to - at->from, weight, sum, sum + K},
            .left = {.yes = sum + 2 * K, .seen = sum + 3 * K},
            .missing = {.yes = sum + 6 * K, .seen = sum + 7 * K}};
  memset(s.left.yes, 0, 2 * (size_t)K * sizeof *sum);
  memset(s.missing.yes, 0, 2 * (size_t)K * sizeof *sum);
  for (int64_t k = at->from; k < at->to; k++) {
    int64_t j = g->order[k];
    uint32_t r = rank[j];
    if (r == TREES_MISSING) {
      take(g, j, &s.missing);
      continue;
    }
    least = r < least ? r : least;
    most = r > most ? r : most;
    d->key[n++] = (uint64_t)r << 32 | (uint64_t)j;
  }
  if (n == 0 || (least == most && s.missing.count == 0)) return false;
  begin_squares(g, &s);
  pass(g, &s, sort(d, n, d->ranks[i]), n, best);
  return true;
}
