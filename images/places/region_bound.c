/* region_bound.c - an upper bound by dual ascent.
 *
 * Connected sets that hold a root r, with x_v = 1 for members, satisfy
 *   sum of x_u over the nodes u around S  >=  x_t
 * for every set S of nodes that holds t and not r, where "around" means
 * adjacent to S and outside it.  Members of weight < 0 cost -w, positive nodes
 * left out cost w: the least cost c* gives the greatest weight,
 *   (sum of positive weights) - c*.
 * The dual of the relaxation pays y_S >= 0 for sets, as long as no node's cost
 * and no positive node's weight is exceeded.  We raise it greedily: nodes whose
 * cost is used up connect; of the components without r that still have weight
 * to pay with, the one with the fewest nodes around it pays until one of these
 * is used up, or its weight is.  What was paid is a lower bound on c*, and by
 * what is left of the costs a node of weight < 0 can be excluded, by what is
 * left of the weights a positive one be demanded, where the bound would
 * otherwise fall to what is known already.
 *
 * Marks: MUST nodes are paid for in advance and must not be left out; OUT nodes
 * are no nodes. */
#include <math.h>

#include "images/places/region.h"

lapis_status region_ascent_new(lapis_ctx *ctx, const region_graph *g,
                               region_ascent *out)
{
  int64_t n = g->n;
  *out = (region_ascent){.g = g};
  out->reduced = base_alloc(ctx, n, sizeof *out->reduced);
  out->budget = base_alloc(ctx, n, sizeof *out->budget);
  out->sum = base_alloc(ctx, n, sizeof *out->sum);
  out->leader = base_alloc(ctx, n, sizeof *out->leader);
  out->link = base_alloc(ctx, n, sizeof *out->link);
  out->tail = base_alloc(ctx, n, sizeof *out->tail);
  out->edge = base_alloc(ctx, n, sizeof *out->edge);
  out->stamp = base_alloc(ctx, n, sizeof *out->stamp);
  if (out->reduced && out->budget && out->sum && out->leader && out->link &&
      out->tail && out->edge && out->stamp)
    return LAPIS_OK;
  region_ascent_free(out);
  return LAPIS_ENOMEM;
}

void region_ascent_free(region_ascent *w)
{
  base_free(w->reduced), base_free(w->budget), base_free(w->sum);
  base_free(w->leader), base_free(w->link), base_free(w->tail);
  base_free(w->edge), base_free(w->stamp);
  *w = (region_ascent){0};
}

/* leader -1: a node that is not used up, or is out. */
static void merge(region_ascent *w, int32_t a, int32_t b)
{
  if (a == b) return;
  for (int32_t v = b; v >= 0; v = w->link[v]) w->leader[v] = a;
  w->link[w->tail[a]] = b;
  w->tail[a] = w->tail[b];
  w->sum[a] += w->sum[b];
  w->edge[a] = -1;
}

/* v is used up: it connects. */
static void open_node(region_ascent *w, int32_t v)
{
  const region_graph *g = w->g;
  w->leader[v] = w->tail[v] = v;
  w->link[v] = -1;
  w->edge[v] = -1;
  w->sum[v] = w->budget[v];
  for (int64_t k = g->start[v]; k < g->start[v + 1]; k++)
    if (w->leader[g->next[k]] >= 0)
      merge(w, w->leader[g->next[k]], w->leader[v]);
}

static void begin(region_ascent *w, const unsigned char *mark, double *total)
{
  const region_graph *g = w->g;
  *total = 0;
  for (int64_t v = 0; v < g->n; v++) {
    double weight = g->weight[v];
    bool free = mark[v] == NODE_FREE;
    w->leader[v] = -1;
    w->stamp[v] = -1;
    w->reduced[v] = mark[v] == NODE_OUT ? INFINITY
                    : free              ? fmax(-weight, 0)
                                        : 0;
    w->budget[v] = mark[v] == NODE_MUST ? INFINITY : free ? fmax(weight, 0) : 0;
    if (mark[v] == NODE_MUST || (free && weight > 0)) *total += weight;
  }
  w->now = 0;
  for (int32_t v = 0; v < g->n; v++)
    if (mark[v] != NODE_OUT && w->reduced[v] <= 0) open_node(w, v);
}

/* Nodes around component c, and the least that is left of their costs. */
static int64_t around(region_ascent *w, int32_t c, double *least)
{
  const region_graph *g = w->g;
  int64_t count = 0, now = w->now++;
  *least = INFINITY;
  for (int32_t v = c; v >= 0; v = w->link[v])
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
      int32_t u = g->next[k];
      if (w->leader[u] >= 0 || w->stamp[u] == now || isinf(w->reduced[u]))
        continue;
      w->stamp[u] = now;
      *least = fmin(*least, w->reduced[u]);
      count++;
    }
  return count;
}

static int32_t pick(region_ascent *w, int32_t root)
{
  int32_t best = -1;
  double least;
  for (int32_t c = 0; c < w->g->n; c++) {
    if (w->leader[c] != c || w->leader[root] == c || !(w->sum[c] > 0)) continue;
    if (w->edge[c] < 0) w->edge[c] = around(w, c, &least);
    if (best < 0 || w->edge[c] < w->edge[best]) best = c;
  }
  return best;
}

static void charge_budgets(region_ascent *w, int32_t c, double paid)
{
  bool all = paid >= w->sum[c]; /* rounding must leave nothing behind */
  w->sum[c] = 0;
  for (int32_t v = c; v >= 0; v = w->link[v]) {
    double part = all ? w->budget[v] : fmin(w->budget[v], paid);
    w->budget[v] -= part;
    paid -= part;
    w->sum[c] += w->budget[v];
  }
}

/* Component c pays; what it pays. */
static double pay(region_ascent *w, int32_t c)
{
  const region_graph *g = w->g;
  double least;
  around(w, c, &least);
  double paid = fmin(least, w->sum[c]);
  if (isinf(paid)) return paid;
  if (!isinf(w->sum[c])) charge_budgets(w, c, paid);
  int64_t now = w->now++;
  for (int32_t v = c; v >= 0; v = w->link[v])
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
      int32_t u = g->next[k];
      if (w->leader[u] >= 0 || w->stamp[u] == now || isinf(w->reduced[u]))
        continue;
      w->stamp[u] = now;
      w->reduced[u] = fmax(w->reduced[u] - paid, 0);
    }
  return paid;
}

static void open_paid(region_ascent *w, int32_t c)
{
  const region_graph *g = w->g;
  int32_t end = w->tail[c];
  for (int32_t v = c, next; v >= 0; v = next) {
    next = v == end ? -1 : w->link[v]; /* other components join behind */
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
      int32_t u = g->next[k];
      if (w->leader[u] < 0 && w->reduced[u] <= 0) open_node(w, u);
    }
  }
}

double region_ascend(region_ascent *w, const unsigned char *mark, int32_t root)
{
  double total, paid = 0;
  begin(w, mark, &total);
  for (int32_t c; (c = pick(w, root)) >= 0;) {
    double more = pay(w, c);
    if (isinf(more)) return -INFINITY;
    paid += more;
    open_paid(w, c);
  }
  return total - paid;
}
