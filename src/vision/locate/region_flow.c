/* region_flow.c - separation of connectivity inequalities by maximum flow.
 *
 * In a network where a node lets through x_v and the source feeds root_v into
 * it, x_v must reach v: else a minimum cut is a violated inequality.  Shortest
 * augmenting paths; flows are at most 1, so a few suffice.  Of the minimum cuts
 * the one nearest to v is taken: its S is smallest. */
#include "vision/locate/region_flow.h"

#include <math.h>
#include <string.h>

static const double flow_eps = 1e-9; /* far below what a cut must violate */

lapis_status region_flow_new(lapis_ctx *ctx, const region_graph *g,
                             region_flow *out)
{
  int64_t n = g->n, vertices = 2 * n + 1, arcs = 2 * (2 * n + g->start[n]);
  *out = (region_flow){.g = g, .vertices = vertices, .arcs = arcs};
  out->start = base_alloc(ctx, vertices + 1, sizeof *out->start);
  out->by = base_alloc(ctx, arcs, sizeof *out->by);
  out->head = base_alloc(ctx, arcs, sizeof *out->head);
  out->room = base_alloc(ctx, arcs, sizeof *out->room);
  out->capacity = base_alloc(ctx, arcs, sizeof *out->capacity);
  out->queue = base_alloc(ctx, vertices, sizeof *out->queue);
  out->through = base_alloc(ctx, vertices, sizeof *out->through);
  out->sink_side = base_alloc(ctx, vertices, sizeof *out->sink_side);
  if (!(out->start && out->by && out->head && out->room && out->capacity &&
        out->queue && out->through && out->sink_side)) {
    region_flow_free(out);
    return LAPIS_ENOMEM;
  }
  int64_t k = 0; /* arcs as pairs: source, through, between */
  for (int64_t v = 0; v < n; v++, k += 4) {
    out->head[k] = (int32_t)(2 * v), out->head[k + 1] = (int32_t)(2 * n);
    out->head[k + 2] = (int32_t)(2 * v + 1),
                  out->head[k + 3] = (int32_t)(2 * v);
  }
  for (int64_t v = 0; v < n; v++)
    for (int64_t e = g->start[v]; e < g->start[v + 1]; e++, k += 2)
      out->head[k] = 2 * g->next[e], out->head[k + 1] = (int32_t)(2 * v + 1);
  for (k = 0; k < arcs; k++) out->start[out->head[k ^ 1] + 1]++;
  for (int64_t v = 0; v < vertices; v++) out->start[v + 1] += out->start[v];
  for (k = arcs; k-- > 0;) /* fills from the ends; starts slide down */
    out->by[--out->start[out->head[k ^ 1] + 1]] = (int32_t)k;
  memmove(out->start, out->start + 1, (size_t)vertices * sizeof(int64_t));
  out->start[vertices] = arcs;
  return LAPIS_OK;
}

void region_flow_free(region_flow *f)
{
  base_free(f->start), base_free(f->by), base_free(f->head);
  base_free(f->room), base_free(f->capacity);
  base_free(f->queue), base_free(f->through), base_free(f->sink_side);
  *f = (region_flow){0};
}

void region_flow_load(region_flow *f, const double *x, const double *root)
{
  memset(f->capacity, 0, (size_t)f->arcs * sizeof *f->capacity);
  int64_t k = 0;
  for (int64_t v = 0; v < f->g->n; v++, k += 4) {
    f->capacity[k] = fmax(root[v], 0);
    f->capacity[k + 2] = fmax(x[v], 0);
  }
  for (; k < f->arcs; k += 2) f->capacity[k] = 2; /* more than can flow */
}

/* Backwards from vertex v along arcs with room; true: the source is reached,
 * through[u] is the arc by which u goes on. */
static bool reach(region_flow *f, int32_t v)
{
  int32_t source = (int32_t)(f->vertices - 1);
  int64_t count = 0;
  memset(f->sink_side, 0, (size_t)f->vertices * sizeof *f->sink_side);
  f->queue[count++] = v;
  f->sink_side[v] = true;
  for (int64_t i = 0; i < count && !f->sink_side[source]; i++) {
    int32_t w = f->queue[i];
    for (int64_t k = f->start[w]; k < f->start[w + 1]; k++) {
      int32_t back = f->by[k] ^ 1, u = f->head[f->by[k]];
      if (f->sink_side[u] || f->room[back] <= flow_eps) continue;
      f->sink_side[u] = true;
      f->through[u] = back;
      f->queue[count++] = u;
    }
  }
  return f->sink_side[source];
}

static double push(region_flow *f, int32_t v, double most)
{
  int32_t source = (int32_t)(f->vertices - 1);
  for (int32_t u = source; u != v; u = f->head[f->through[u]])
    most = fmin(most, f->room[f->through[u]]);
  for (int32_t u = source; u != v; u = f->head[f->through[u]]) {
    f->room[f->through[u]] -= most;
    f->room[f->through[u] ^ 1] += most;
  }
  return most;
}

double region_flow_to(region_flow *f, int32_t v, double enough)
{
  double flow = 0;
  memcpy(f->room, f->capacity, (size_t)f->arcs * sizeof *f->room);
  while (flow < enough && reach(f, 2 * v))
    flow += push(f, 2 * v, enough - flow);
  return flow;
}
