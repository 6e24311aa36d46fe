/* trees.c - extremely randomised trees [Geurts, Ernst, Wehenkel 2006], forests
 * [Breiman 2001] and boosted trees [Friedman 2001].
 *
 *   grow(S):  S small, or all known labels of S alike: a leaf, shares of yes
 *             sqrt(d) features that vary in S (numbers: d / 3), each with a
 *             threshold by lot between its least and its largest value in S,
 *             or (forests) the best one
 *             the split that leaves the labels least variance; grow both sides
 *
 * A forest's tree begins with samples drawn with replacement; a boosted one
 * with what those before it leave over (trees_boost.c).
 * The variance is the sum over labels: of several classes that is Gini's
 * impurity, and one tree answers for all labels.  A label that is not known is
 * not counted; a leaf that knows none of a label has the share of all samples.
 *
 * A sample of weight k counts as k samples do.  These would be drawn alike, as
 * thresholds hang on the least and the largest value alone: so the trees are
 * those of the samples repeated, for whole k.
 */
#include "op/learn/trees.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "op/learn/trees_inside.h"

enum { STREAM = 0x74726565 };

/* ---- what a set of samples knows ----------------------------------------*/
static void add(const grower *g, int64_t j, double *yes, double *seen)
{
  const double *y = g->yes + j * g->p->K, *s = g->seen + j * g->p->K;
  for (int64_t c = 0; c < g->p->K; c++) yes[c] += y[c], seen[c] += s[c];
}

/* One class each: a sample adds its weight to its own, and every class is seen
 * alike. */
static void sum_classes(const grower *g, const pending *at, double *yes,
                        double *seen)
{
  double all = 0;
  for (int64_t k = at->from; k < at->to; k++) {
    int64_t j = g->order[k];
    yes[g->one[j]] += g->weight[j];
    all += g->weight[j];
  }
  for (int64_t c = 0; c < g->p->K; c++) seen[c] = all;
}

static void sum_of(const grower *g, const pending *at, double *yes,
                   double *seen)
{
  memset(yes, 0, (size_t)g->p->K * sizeof *yes);
  memset(seen, 0, (size_t)g->p->K * sizeof *seen);
  if (g->one != NULL) {
    sum_classes(g, at, yes, seen);
    return;
  }
  for (int64_t k = at->from; k < at->to; k++) add(g, g->order[k], yes, seen);
}

static double weight_of(const grower *g, const pending *at)
{
  double sum = 0;
  for (int64_t k = at->from; k < at->to; k++) sum += g->weight[g->order[k]];
  return sum;
}

static bool numbers_alike(const grower *g, const pending *at)
{
  int64_t K = g->p->K;
  for (int64_t c = 0; c < K; c++) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t k = at->from; k < at->to; k++) {
      double y = g->value[g->order[k] * K + c];
      if (y < least) least = y;
      if (y > most) most = y;
    }
    if (least < most) return false;
  }
  return true;
}

/* yes and seen of the node are summed; a boosted one has the best to leave
 * over.
 */
static bool all_alike(const grower *g, const pending *at)
{
  const double *yes = g->sum, *seen = yes + g->p->K;
  if (g->p->kind == TREES_BOOSTED) return at->depth == g->p->depth;
  if (g->p->numbers) return numbers_alike(g, at);
  for (int64_t c = 0; c < g->p->K; c++)
    if (yes[c] > 0 && yes[c] < seen[c]) return false;
  return true;
}

/* Less variance is more of this. */
static double gain(const grower *g)
{
  int64_t K = g->p->K;
  const double *yes = g->sum, *seen = yes + K, *left = seen + K, *of = left + K;
  double all = 0;
  for (int64_t c = 0; c < K; c++) {
    double right = yes[c] - left[c], rest = seen[c] - of[c];
    if (of[c] > 0) all += left[c] * left[c] / of[c];
    if (rest > 0) all += right * right / rest;
  }
  return all;
}

/* ---- one split ----------------------------------------------------------*/
/* A threshold by lot for feature i; false: it does not vary here. */
static bool draw_threshold(grower *g, const pending *at, int64_t i, double *to)
{
  const double *x = g->X + i * g->m;
  double least = INFINITY, most = -INFINITY;
  for (int64_t k = at->from; k < at->to; k++) {
    double v = x[g->order[k]];
    if (v < least) least = v;
    if (v > most) most = v;
  }
  if (!(least < most)) return false;
  *to = least + trees_lot(g) * (most - least);
  if (!(*to < most)) *to = least;
  return true;
}

/* Sums of the samples at the node that are not above the threshold, theirs
 * beside them. */
static int64_t sum_left(const grower *g, const pending *at, const split *s,
                        double *weight)
{
  const double *x = g->X + s->feature * g->m;
  int64_t K = g->p->K, count = 0;
  double *left = g->sum + 2 * K, *of = left + K, seen = 0;
  memset(left, 0, 2 * (size_t)K * sizeof *left);
  for (int64_t k = at->from; k < at->to; k++) {
    int64_t j = g->order[k];
    if (x[j] > s->threshold) continue;
    if (g->one != NULL) {
      left[g->one[j]] += g->weight[j];
      seen += g->weight[j];
    } else {
      add(g, j, left, of);
    }
    *weight += g->weight[j];
    count++;
  }
  for (int64_t c = 0; g->one != NULL && c < K; c++) of[c] = seen;
  return count;
}

static void try_split(grower *g, const pending *at, double weight, split s,
                      split *best)
{
  double sum = 0;
  int64_t count = sum_left(g, at, &s, &sum);
  if (!trees_suffice(g, count, sum) ||
      !trees_suffice(g, at->to - at->from - count, weight - sum))
    return;
  s.gain = gain(g);
  if (best->feature < 0 || s.gain > best->gain) *best = s;
}

static int64_t features_tried(const trees_problem *p)
{
  double d = (double)p->d;
  double tried = p->kind == TREES_BOOSTED ? d : p->numbers ? d / 3 : sqrt(d);
  return (int64_t)ceil(isnan(p->share) ? tried : p->share * d);
}

/* Among some features that vary, by lot. */
static split find_split(grower *g, const pending *at, double weight)
{
  split best = {.feature = -1};
  int64_t d = g->p->d, wanted = features_tried(g->p);
  for (int64_t k = 0; k < d && wanted > 0; k++) {
    int64_t other = k + (int64_t)(trees_lot(g) * (double)(d - k));
    split s = {.feature = g->feature[other]};
    g->feature[other] = g->feature[k];
    g->feature[k] = s.feature;
    if (g->p->kind == TREES_FOREST) {
      wanted -= trees_try_best(g, at, s.feature, weight, &best);
      continue;
    }
    if (g->p->kind == TREES_BOOSTED) {
      wanted -= boost_try(g, at, s.feature, weight, &best);
      continue;
    }
    if (!draw_threshold(g, at, s.feature, &s.threshold)) continue;
    try_split(g, at, weight, s, &best);
    wanted--;
  }
  return best;
}

static bool goes_right(double x, double threshold, bool missing_right)
{
  return isnan(x) ? missing_right : x > threshold;
}

/* What is not above the threshold comes first; where the rest begins. */
static int64_t divide(grower *g, const pending *at, const split *s)
{
  const double *x = g->X + s->feature * g->m;
  int64_t end = at->from;
  for (int64_t k = at->from; k < at->to; k++) {
    int64_t j = g->order[k];
    if (goes_right(x[j], s->threshold, s->missing_right)) continue;
    g->order[k] = g->order[end];
    g->order[end++] = j;
  }
  return end;
}

/* ---- one tree -----------------------------------------------------------*/
static lapis_status make_nodes(grower *g, int64_t count)
{
  trees *t = g->out;
  if (t->nodes + count > g->node_room) {
    g->node_room = 2 * g->node_room + 64;
    TRY(base_grow(g->ctx, (void **)&t->node, TREES_NODE * t->nodes,
                  TREES_NODE * g->node_room, sizeof *t->node));
  }
  t->nodes += count;
  return LAPIS_OK;
}

static lapis_status make_leaf(grower *g, const pending *of)
{
  trees *t = g->out;
  int64_t K = t->K;
  const double *yes = g->sum, *seen = yes + K, *all = yes + 4 * K;
  if (t->leaves == g->leaf_room) {
    g->leaf_room = 2 * g->leaf_room + 64;
    TRY(base_grow(g->ctx, (void **)&t->share, K * t->leaves, K * g->leaf_room,
                  sizeof *t->share));
  }
  double *at = t->node + TREES_NODE * of->node;
  double *share = t->share + K * t->leaves;
  at[TREES_FEATURE] = -1;
  at[TREES_THRESHOLD] = 0;
  at[TREES_CHILD] = (double)t->leaves++;
  if (g->p->kind == TREES_BOOSTED) {
    boost_leaf(g, of, share);
    return LAPIS_OK;
  }
  for (int64_t c = 0; c < K; c++) {
    share[c] = seen[c] > 0 ? yes[c] / seen[c] : all[c];
    if (g->p->numbers && seen[c] > 0) share[c] += all[c];
  }
  return LAPIS_OK;
}

static lapis_status grow_node(grower *g, pending at)
{
  trees *t = g->out;
  int64_t K = t->K, first = t->nodes;
  sum_of(g, &at, g->sum, g->sum + K);
  split s = {.feature = -1};
  double weight = weight_of(g, &at);
  bool both =
      g->p->leaf == 1 ? at.to - at.from > 1 : weight >= 2 * (double)g->p->leaf;
  if (both && !all_alike(g, &at)) s = find_split(g, &at, weight);
  if (s.feature < 0) return make_leaf(g, &at);
  TRY(make_nodes(g, 2));
  double *node = t->node + TREES_NODE * at.node;
  node[TREES_FEATURE] = (double)s.feature;
  node[TREES_THRESHOLD] = s.threshold;
  node[TREES_CHILD] = (double)(s.missing_right ? -first : first);
  int64_t middle = divide(g, &at, &s);
  int64_t depth = at.depth + 1;
  g->stack[g->stacked++] = (pending){middle, at.to, first + 1, depth};
  g->stack[g->stacked++] = (pending){at.from, middle, first, depth};
  return LAPIS_OK;
}

static lapis_status grow_tree(grower *g, int64_t t)
{
  g->stream = ((uint64_t)STREAM << 32) + (uint64_t)t;
  g->drawn = 0;
  int64_t m = g->m;
  for (int64_t j = 0; j < m; j++) g->order[j] = j;
  for (int64_t i = 0; i < g->p->d; i++) g->feature[i] = i;
  if (g->p->kind == TREES_FOREST) m = trees_draw(g);
  if (g->p->kind == TREES_BOOSTED) boost_next(g);
  g->out->root[t] = (double)g->out->nodes;
  g->stack[0] = (pending){0, m, g->out->nodes, 0};
  g->stacked = 1;
  TRY(make_nodes(g, 1));
  while (g->stacked > 0) TRY(grow_node(g, g->stack[--g->stacked]));
  return LAPIS_OK;
}

/* ---- all of them --------------------------------------------------------*/
static bool has_label(const trees_problem *p, int64_t j)
{
  if (p->weight != NULL && !(p->weight[j] > 0)) return false;
  for (int64_t c = 0; c < p->K; c++)
    if (!isnan(p->target[j * p->K + c])) return true;
  return false;
}

static lapis_status make_room(grower *g, arena *own)
{
  const trees_problem *p = g->p;
  int64_t K = p->K;
  for (int64_t j = 0; j < p->n; j++) g->m += has_label(p, j);
  g->X = arena_reals(own, g->m * p->d);
  g->yes = arena_reals(own, K * g->m);
  g->seen = arena_reals(own, K * g->m);
  if (p->numbers) g->value = arena_reals(own, K * g->m);
  g->weight = arena_reals(own, g->m);
  g->sum = arena_reals(own, 8 * K);
  g->order = arena_take(own, g->m + 1, sizeof *g->order);
  g->feature = arena_take(own, p->d, sizeof *g->feature);
  g->stack = arena_take(own, g->m + 2, sizeof *g->stack);
  return arena_status(own);
}

/* Numbers less their mean, which stands where labels have the share of all:
 * what is lost in sums of squares is as small as can be. */
static void centre(grower *g)
{
  int64_t K = g->p->K;
  const double *mean = g->sum + 4 * K;
  for (int64_t k = 0; k < K * g->m; k++) {
    g->value[k] -= mean[k % K];
    g->yes[k] = g->seen[k] > 0 ? g->seen[k] * g->value[k] : 0;
  }
}

/* Where every sample has one class of several. */
static lapis_status find_classes(grower *g, arena *own)
{
  int64_t K = g->p->K;
  int64_t *one = g->p->numbers ? NULL : arena_take(own, g->m, sizeof *one);
  TRY(arena_status(own));
  for (int64_t j = 0; one != NULL && j < g->m; j++) {
    int64_t count = 0, known = 0;
    for (int64_t c = 0; c < K; c++) {
      known += g->seen[j * K + c] > 0;
      count += g->yes[j * K + c] > 0;
      if (g->yes[j * K + c] > 0) one[j] = c;
    }
    if (known < K || count != 1 || K < 2) return LAPIS_OK;
  }
  g->one = one;
  return LAPIS_OK;
}

static lapis_status prepare(grower *g, arena *own)
{
  const trees_problem *p = g->p;
  int64_t K = p->K, at = 0;
  TRY(make_room(g, own));
  for (int64_t j = 0; j < p->n; j++) {
    if (!has_label(p, j)) continue;
    double v = p->weight == NULL ? 1 : p->weight[j];
    for (int64_t i = 0; i < p->d; i++) g->X[i * g->m + at] = p->X[j * p->d + i];
    for (int64_t c = 0; c < K; c++) {
      double y = p->target[j * K + c];
      g->seen[at * K + c] = isnan(y) ? 0 : v;
      g->yes[at * K + c] = !p->numbers ? (y > 0 ? v : 0) : isnan(y) ? 0 : v * y;
      if (p->numbers) g->value[at * K + c] = y;
    }
    g->weight[at] = v;
    g->order[at] = at;
    at++;
  }
  double *yes = g->sum + 4 * K, *seen = yes + K;
  sum_of(g, &(pending){.to = g->m}, yes, seen);
  for (int64_t c = 0; c < K; c++) yes[c] = seen[c] > 0 ? yes[c] / seen[c] : 0.5;
  if (p->kind == TREES_BOOSTED) return boost_begin(g, own);
  if (p->numbers) centre(g);
  TRY(find_classes(g, own));
  return p->kind == TREES_FOREST ? trees_rank(g, own) : LAPIS_OK;
}

/* All trees will be about as large as the first one. */
static lapis_status weigh(const grower *g)
{
  const trees *t = g->out;
  char what[96];
  double one = (double)(TREES_NODE * t->nodes + t->K * t->leaves);
  if (t->count != 1) return LAPIS_OK;
  (void)snprintf(what, sizeof what,
                 "trees: %" PRId64 " of %" PRId64 " leaves and %" PRId64
                 " shares each",
                 g->p->count, t->leaves, t->K);
  return base_holds(g->ctx, what, 8 * one * (double)g->p->count, g->p->stored);
}

lapis_status trees_grow(lapis_ctx *ctx, const trees_problem *p,
                        bool (*later)(void *user), void *user, trees *out)
{
  arena own = {.ctx = ctx};
  grower g = {.ctx = ctx, .p = p, .out = out};
  *out = (trees){.K = p->K, .scores = p->kind == TREES_BOOSTED};
  lapis_status s = prepare(&g, &own);
  if (s >= 0) out->root = base_alloc(ctx, p->count, sizeof *out->root);
  if (s >= 0 && out->root == NULL) s = LAPIS_ENOMEM;
  while (s >= 0 && out->count < p->count &&
         (out->count == 0 || later == NULL || later(user))) {
    s = grow_tree(&g, out->count);
    out->count++;
    if (s >= 0) s = weigh(&g);
  }
  if (s >= 0 && p->kind == TREES_BOOSTED) boost_end(&g);
  arena_free(&own);
  if (s < 0) trees_free(out);
  return s < 0 ? s : LAPIS_OK;
}

void trees_free(trees *t)
{
  base_free(t->root);
  base_free(t->node);
  base_free(t->share);
  *t = (trees){0};
}

/* ---- answering ----------------------------------------------------------*/
/* The shares of the leaf where x ends. */
static const double *leaf_of(const trees *t, int64_t tree, const double *x)
{
  const double *at = t->node + TREES_NODE * (int64_t)t->root[tree];
  while (at[TREES_FEATURE] >= 0) {
    double child = at[TREES_CHILD];
    bool above = goes_right(x[(int64_t)at[TREES_FEATURE]], at[TREES_THRESHOLD],
                            child < 0);
    at = t->node + TREES_NODE * ((int64_t)fabs(child) + above);
  }
  return t->share + t->K * (int64_t)at[TREES_CHILD];
}

/* Some samples a tree at a time, whose nodes are near then. */
static void answer_some(const trees *t, const double *X, int64_t d, int64_t n,
                        const bool *asked, double *p)
{
  int64_t K = t->K;
  for (int64_t j = 0; j < n; j++)
    if (asked == NULL || asked[j]) memset(p + j * K, 0, (size_t)K * sizeof *p);
  for (int64_t k = 0; k < t->count; k++)
    for (int64_t j = 0; j < n; j++) {
      if (asked != NULL && !asked[j]) continue;
      const double *share = leaf_of(t, k, X + j * d);
      for (int64_t c = 0; c < K; c++) p[j * K + c] += share[c];
    }
  for (int64_t j = 0; j < n; j++)
    for (int64_t c = j * K; (asked == NULL || asked[j]) && c < (j + 1) * K; c++)
      p[c] /= (double)t->count;
}

void trees_answer(const trees *t, const double *X, int64_t d, int64_t n,
                  const bool *asked, double *p)
{
  enum { TOGETHER = 256 };
  for (int64_t j = 0; j < n; j += TOGETHER)
    answer_some(t, X + j * d, d, n - j < TOGETHER ? n - j : TOGETHER,
                asked == NULL ? NULL : asked + j, p + j * t->K);
}

void trees_log_odds(const trees *t, double *p)
{
  double least = 0.5 / (double)t->count;
  for (int64_t c = 0; c < t->K; c++) {
    double q = fmin(fmax(p[c], least), 1 - least);
    p[c] = log(q) - log1p(-q);
  }
}
