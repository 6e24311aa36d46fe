/* region_reduce.c - what can be decided before the search.
 *
 * Each rule keeps at least one optimal set, or writes down the one it cuts off:
 *   - neighbours of weight >= 0 are one node: who has one wants the other;
 *   - a node of weight <= 0 with fewer than two neighbours connects nothing;
 *   - a positive node with one neighbour v is in every good set that has v, so
 *     it joins v; the set of it alone is written down;
 *   - two adjacent nodes of weight <= 0 with two neighbours each come together
 *     or not at all;
 *   - u of weight <= 0 is never needed where some v of weight w_u <= w_v <= 0
 *     has all its neighbours.
 * Segments of an image mostly have the sign of their surroundings, so a few
 * hundred shrink to some tens. */
#include <math.h>

#include "images/places/region.h"

typedef struct reducer {
  lapis_ctx *ctx;
  const lapis_graph *graph;
  int64_t n;
  int32_t *group; /* n: parent in the forest of merged nodes */
  double *weight; /* n: of a group's root */
  bool *out;      /* n: of a group's root */
  int64_t *start; /* n + 1: the graph of the groups, rebuilt for every pass */
  int32_t *next;
  int32_t *stamp; /* n */
  double single;
  int32_t single_group;
} reducer;

static int32_t find_group(reducer *r, int32_t v)
{
  while (r->group[v] != v) v = r->group[v] = r->group[r->group[v]];
  return v;
}

static void merge(reducer *r, int32_t from, int32_t into)
{
  r->group[from] = into;
  r->weight[into] += r->weight[from];
}

/* ---- the graph of the groups ----------------------------------------------*/
static void add_neighbours(reducer *r, int32_t v, int32_t group, int64_t *used)
{
  const lapis_graph *g = r->graph;
  for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
    int32_t u = find_group(r, g->neighbour[k]);
    if (u == group || r->out[u] || r->stamp[u] == group) continue;
    r->stamp[u] = group;
    r->next[(*used)++] = u;
  }
}

/* first, then: the members of each group as a list. */
static void rebuild(reducer *r, int32_t *first, int32_t *then)
{
  for (int64_t v = 0; v < r->n; v++) first[v] = r->stamp[v] = -1;
  for (int64_t v = r->n; v-- > 0;) {
    int32_t g = find_group(r, (int32_t)v);
    then[v] = first[g];
    first[g] = (int32_t)v;
  }
  int64_t used = 0;
  for (int64_t v = 0; v < r->n; v++) {
    r->start[v] = used;
    if (r->group[v] != (int32_t)v || r->out[v]) continue;
    for (int32_t u = first[v]; u >= 0; u = then[u])
      add_neighbours(r, u, (int32_t)v, &used);
  }
  r->start[r->n] = used;
}

static bool stands(const reducer *r, int64_t v)
{
  return r->group[v] == (int32_t)v && !r->out[v];
}
static int64_t degree(const reducer *r, int64_t v)
{
  return r->start[v + 1] - r->start[v];
}

/* ---- the rules; each works on a fresh graph, true: something changed -----*/
static bool join_positive(reducer *r)
{
  bool changed = false;
  for (int64_t v = 0; v < r->n; v++)
    for (int64_t k = r->graph->start[v]; k < r->graph->start[v + 1]; k++) {
      int32_t a = find_group(r, (int32_t)v);
      int32_t b = find_group(r, r->graph->neighbour[k]);
      if (a == b || r->out[a] || r->out[b] || r->weight[a] < 0 ||
          r->weight[b] < 0)
        continue;
      merge(r, a < b ? b : a, a < b ? a : b);
      changed = true;
    }
  return changed;
}

static bool drop_leaves(reducer *r)
{
  bool changed = false;
  for (int64_t v = 0; v < r->n; v++) {
    if (!stands(r, v) || r->weight[v] > 0 || degree(r, v) > 1) continue;
    r->out[v] = true;
    changed = true;
  }
  return changed;
}

static void write_down(reducer *r, int64_t v)
{
  if (r->weight[v] <= r->single) return;
  r->single = r->weight[v];
  r->single_group = (int32_t)v;
}

/* The group keeps its number, so that the set written down can be told from
 * what it joins: members are read from a copy (see region_reduced.group). */
static bool join_leaf(reducer *r, int32_t *members)
{
  for (int64_t v = 0; v < r->n; v++) {
    if (!stands(r, v) || r->weight[v] <= 0 || degree(r, v) > 1) continue;
    double before = r->single;
    write_down(r, v);
    if (r->single > before)
      for (int64_t u = 0; u < r->n; u++) members[u] = find_group(r, (int32_t)u);
    if (degree(r, v) == 1)
      merge(r, (int32_t)v, r->next[r->start[v]]);
    else
      r->out[v] = true;
    return true; /* one at a time: the neighbour's weight has changed */
  }
  return false;
}

static bool join_chain(reducer *r)
{
  for (int64_t v = 0; v < r->n; v++) {
    if (!stands(r, v) || r->weight[v] > 0 || degree(r, v) != 2) continue;
    for (int64_t k = r->start[v]; k < r->start[v + 1]; k++) {
      int32_t u = r->next[k];
      if (r->weight[u] > 0 || degree(r, u) != 2) continue;
      merge(r, u, (int32_t)v);
      return true;
    }
  }
  return false;
}

/* Whether v has all neighbours of u, whose neighbours are stamped u. */
static bool covers(const reducer *r, int32_t v, int32_t u, int64_t wanted)
{
  int64_t shared = r->stamp[v] == u; /* v may be a neighbour itself */
  for (int64_t k = r->start[v]; k < r->start[v + 1]; k++)
    shared += r->next[k] != u && r->stamp[r->next[k]] == u;
  return shared == wanted;
}

static bool is_dominated(reducer *r, int32_t u)
{
  for (int64_t k = r->start[u]; k < r->start[u + 1]; k++)
    r->stamp[r->next[k]] = u;
  int32_t a = r->next[r->start[u]]; /* v is a, or a neighbour of a */
  for (int64_t k = r->start[a] - 1; k < r->start[a + 1]; k++) {
    int32_t v = k < r->start[a] ? a : r->next[k];
    if (v == u || r->out[v] || r->weight[v] > 0) continue;
    if (r->weight[u] > r->weight[v]) continue;
    if (covers(r, v, u, degree(r, u))) return true;
  }
  return false;
}

static bool drop_dominated(reducer *r)
{
  bool changed = false;
  for (int64_t v = 0; v < r->n; v++) r->stamp[v] = -1;
  for (int64_t u = 0; u < r->n; u++)
    if (stands(r, u) && r->weight[u] <= 0 && degree(r, u) > 1 &&
        is_dominated(r, (int32_t)u))
      changed = r->out[u] = true;
  return changed;
}

static bool apply_rules(reducer *r, int32_t *first, int32_t *then,
                        int32_t *members)
{
  bool joined = join_positive(r);
  rebuild(r, first, then);
  return drop_leaves(r) || join_leaf(r, members) || join_chain(r) ||
         drop_dominated(r) || joined;
}

/* ---- the graph that is left ---------------------------------------------*/
static lapis_status reduced_alloc(lapis_ctx *ctx, const reducer *r,
                                  region_reduced *out)
{
  int64_t n = 0;
  for (int64_t v = 0; v < r->n; v++) n += stands(r, v);
  out->g.n = n;
  out->g.start = base_alloc(ctx, n + 1, sizeof *out->g.start);
  out->g.next = base_alloc(ctx, r->start[r->n], sizeof *out->g.next);
  out->g.weight = base_alloc(ctx, n, sizeof *out->g.weight);
  return out->g.start && out->g.next && out->g.weight ? LAPIS_OK : LAPIS_ENOMEM;
}

/* Heaviest first would suit the search; the order of the image suits people
 * who compare, and the search sorts for itself. */
static lapis_status hand_over(reducer *r, int32_t *number, region_reduced *out)
{
  TRY(reduced_alloc(r->ctx, r, out));
  int32_t n = 0;
  for (int64_t v = 0; v < r->n; v++) number[v] = stands(r, v) ? n++ : -1;
  int64_t used = 0;
  for (int64_t v = 0; v < r->n; v++) {
    out->map[v] = number[find_group(r, (int32_t)v)];
    if (!stands(r, v)) continue;
    out->g.weight[number[v]] = r->weight[v];
    for (int64_t k = r->start[v]; k < r->start[v + 1]; k++)
      out->g.next[used++] = number[r->next[k]];
    out->g.start[number[v] + 1] = used;
  }
  out->single = r->single;
  out->single_group = r->single_group;
  return LAPIS_OK;
}

static lapis_status reduce(reducer *r, int32_t *scratch, region_reduced *out)
{
  while (apply_rules(r, scratch, scratch + r->n, out->group)) {
  }
  return hand_over(r, scratch, out);
}

lapis_status region_reduce(lapis_ctx *ctx, const lapis_graph *graph,
                           const double *weight, region_reduced *out)
{
  int64_t n = graph->count;
  reducer r = {.ctx = ctx, .graph = graph, .n = n, .single_group = -1};
  *out = (region_reduced){.single_group = -1};
  r.group = base_alloc(ctx, n, sizeof *r.group);
  r.weight = base_alloc(ctx, n, sizeof *r.weight);
  r.out = base_alloc(ctx, n, sizeof *r.out);
  r.start = base_alloc(ctx, n + 1, sizeof *r.start);
  r.next = base_alloc(ctx, graph->start[n], sizeof *r.next);
  r.stamp = base_alloc(ctx, n, sizeof *r.stamp);
  int32_t *scratch = base_alloc(ctx, 2 * n, sizeof *scratch);
  out->map = base_alloc(ctx, n, sizeof *out->map);
  out->group = base_alloc(ctx, n, sizeof *out->group);
  lapis_status status = LAPIS_ENOMEM;
  if (r.group && r.weight && r.out && r.start && r.next && r.stamp && scratch &&
      out->map && out->group) {
    for (int64_t v = 0; v < n; v++) r.group[v] = (int32_t)v;
    for (int64_t v = 0; v < n; v++) {
      r.weight[v] = weight[v];
      r.out[v] = isinf(weight[v]);
    }
    status = reduce(&r, scratch, out);
  }
  base_free(r.group), base_free(r.weight), base_free(r.out);
  base_free(r.start), base_free(r.next), base_free(r.stamp);
  base_free(scratch);
  if (status < 0) region_reduced_free(out);
  return status;
}

void region_reduced_free(region_reduced *r)
{
  base_free(r->g.start), base_free(r->g.next), base_free(r->g.weight);
  base_free(r->map), base_free(r->group);
  *r = (region_reduced){.single_group = -1};
}
