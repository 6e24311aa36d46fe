/* region_grow.c - good connected sets, for the search to beat.
 *
 * Of a tree the heaviest subtree is known: a child belongs to it where what
 * hangs on it weighs more than 0.  So any marked set of nodes gives one by a
 * spanning tree of it.  Then the set grows: the positive node that pays most
 * beyond the cheapest path to it is taken, path and all, as long as one does;
 * and the subtree is taken again. */
#include <math.h>
#include <string.h>

#include "images/places/region.h"

lapis_status region_grower_new(lapis_ctx *ctx, const region_graph *g,
                               region_grower *out)
{
  int64_t n = g->n;
  *out = (region_grower){.g = g};
  out->order = base_alloc(ctx, n, sizeof *out->order);
  out->parent = base_alloc(ctx, n, sizeof *out->parent);
  out->from = base_alloc(ctx, n, sizeof *out->from);
  out->gain = base_alloc(ctx, n, sizeof *out->gain);
  out->distance = base_alloc(ctx, n, sizeof *out->distance);
  out->chosen = base_alloc(ctx, n, sizeof *out->chosen);
  out->seen = base_alloc(ctx, n, sizeof *out->seen);
  if (out->order && out->parent && out->from && out->gain && out->distance &&
      out->chosen && out->seen)
    return LAPIS_OK;
  region_grower_free(out);
  return LAPIS_ENOMEM;
}

void region_grower_free(region_grower *w)
{
  base_free(w->order), base_free(w->parent), base_free(w->from);
  base_free(w->gain), base_free(w->distance);
  base_free(w->chosen), base_free(w->seen);
  *w = (region_grower){0};
}

/* Breadth first from root inside `among`; nodes reached. */
static int64_t span(region_grower *w, const bool *among, int32_t root)
{
  const region_graph *g = w->g;
  int64_t reached = 0;
  memset(w->seen, 0, (size_t)g->n * sizeof *w->seen);
  w->order[reached++] = root;
  w->parent[root] = -1;
  w->seen[root] = true;
  for (int64_t i = 0; i < reached; i++) {
    int32_t v = w->order[i];
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
      int32_t u = g->next[k];
      if (!among[u] || w->seen[u]) continue;
      w->seen[u] = true;
      w->parent[u] = v;
      w->order[reached++] = u;
    }
  }
  return reached;
}

/* chosen: the heaviest subtree of the spanning tree in order, parent. */
static double choose_subtree(region_grower *w, int64_t reached)
{
  int64_t top = 0; /* place in the order of the subtree's highest node */
  for (int64_t i = 0; i < reached; i++)
    w->gain[w->order[i]] = w->g->weight[w->order[i]];
  for (int64_t i = reached; i-- > 0;) {
    int32_t v = w->order[i];
    if (w->gain[v] > w->gain[w->order[top]] || i == reached - 1) top = i;
    if (w->parent[v] >= 0 && w->gain[v] > 0)
      w->gain[w->parent[v]] += w->gain[v];
  }
  memset(w->chosen, 0, (size_t)w->g->n * sizeof *w->chosen);
  double sum = 0;
  for (int64_t i = top; i < reached; i++) {
    int32_t v = w->order[i];
    bool hangs = w->parent[v] >= 0 && w->chosen[w->parent[v]];
    if (i > top && !(hangs && w->gain[v] > 0)) continue;
    w->chosen[v] = true;
    sum += w->g->weight[v];
  }
  return sum;
}

/* ---- growing --------------------------------------------------------------*/
static int32_t nearest_open(const region_grower *w)
{
  int32_t best = -1;
  for (int32_t v = 0; v < w->g->n; v++)
    if (!w->seen[v] && w->distance[v] < INFINITY &&
        (best < 0 || w->distance[v] < w->distance[best]))
      best = v;
  return best;
}

/* Cheapest paths from the chosen nodes; what a path costs are its nodes of
 * weight < 0.  The positive node that pays most, or -1. */
static int32_t best_target(region_grower *w)
{
  const region_graph *g = w->g;
  for (int64_t v = 0; v < g->n; v++) {
    w->seen[v] = false;
    w->from[v] = -1;
    w->distance[v] = w->chosen[v] ? 0 : INFINITY;
  }
  int32_t best = -1, v;
  double most = 0;
  while ((v = nearest_open(w)) >= 0) {
    w->seen[v] = true;
    double pays = g->weight[v] - w->distance[v];
    if (!w->chosen[v] && g->weight[v] > 0 && pays > most) most = pays, best = v;
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
      int32_t u = g->next[k];
      double d = w->distance[v] + fmax(-g->weight[u], 0);
      if (w->seen[u] || !(d < w->distance[u])) continue;
      w->distance[u] = d;
      w->from[u] = v;
    }
  }
  return best;
}

static void grow(region_grower *w)
{
  int32_t v;
  while ((v = best_target(w)) >= 0)
    for (; !w->chosen[v]; v = w->from[v]) w->chosen[v] = true;
}

static void keep_better(const region_grower *w, double score, region_best *best)
{
  if (!(score > best->score)) return;
  best->score = score;
  memcpy(best->inside, w->chosen, (size_t)w->g->n * sizeof *w->chosen);
}

void region_offer(region_grower *w, const bool *among, int32_t root,
                  bool extend, region_best *best)
{
  keep_better(w, choose_subtree(w, span(w, among, root)), best);
  for (int round = 0; extend && round < 2; round++) {
    grow(w);
    while (!w->chosen[root]) root = (root + 1) % (int32_t)w->g->n;
    keep_better(w, choose_subtree(w, span(w, w->chosen, root)), best);
  }
}
