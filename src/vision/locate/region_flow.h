/* region_flow.h - which connectivity inequality a point violates. */
#ifndef LAPIS_VISION_REGION_FLOW_H
#define LAPIS_VISION_REGION_FLOW_H
#include "vision/locate/region.h"

/* A network with two vertices a node, in (2 v) and out (2 v + 1), and a
 * source; arcs in pairs, the k-th against the (k ^ 1)-th. */
typedef struct region_flow {
  const region_graph *g;
  int64_t vertices, arcs;
  int64_t *start; /* vertices + 1: arcs by their tail, as places in `by` */
  int32_t *by;    /* arcs */
  int32_t *head;  /* arcs */
  double *room, *capacity;  /* arcs: what more they can carry; what in all */
  int32_t *queue, *through; /* vertices */
  bool *sink_side;          /* vertices */
} region_flow;
lapis_status region_flow_new(lapis_ctx *ctx, const region_graph *g,
                             region_flow *out);
void region_flow_free(region_flow *f);
/* x: n, how much a node is chosen; root: n, how much it is the root. */
void region_flow_load(region_flow *f, const double *x, const double *root);
/* What reaches node v from the roots, at most `enough`.  Less: of the
 * inequality  sum of x around S + sum of root in S >= x_v  sink_side tells S
 * (its vertices in) and what is around it (out alone). */
double region_flow_to(region_flow *f, int32_t v, double enough);

#endif
