/* region.h - between the files that search the heaviest connected region. */
#ifndef LAPIS_VISION_REGION_H
#define LAPIS_VISION_REGION_H
#include "images/places/places.h"

/* A graph whose nodes have weights: start n + 1, next start[n]. */
typedef struct region_graph {
  int64_t n;
  int64_t *start;
  int32_t *next;
  double *weight;
} region_graph;

typedef struct region_best { /* the best connected set so far */
  double score;
  bool *inside; /* n of the reduced graph; all false: the best set is one that
                   the reductions cut off */
} region_best;

/* What the search works on. */
typedef struct region_job {
  lapis_ctx *ctx;
  region_graph g;   /* reduced */
  region_best best; /* in, with the score to beat, and out */
  double slack;     /* differences below it are rounding */
  double deadline;  /* base_seconds; infinity: none */
  double bound;     /* out: no connected set weighs more */
  int64_t nodes;
  lapis_status status;
} region_job;

/* ---- region_reduce.c ------------------------------------------------------
 * A smaller graph with the same optimum; nodes of weight -infinity are none. */
typedef struct region_reduced {
  region_graph g;
  int32_t *map;   /* original node -> node of g, or -1 */
  double single;  /* the best set that the reductions cut off ... */
  int32_t *group; /* ... is the original nodes with group == single_group */
  int32_t single_group;
} region_reduced;
lapis_status region_reduce(lapis_ctx *ctx, const lapis_graph *graph,
                           const double *weight, region_reduced *out);
void region_reduced_free(region_reduced *r);

/* ---- region_grow.c --------------------------------------------------------
 * Connected sets that are good, without proof. */
typedef struct region_grower {
  const region_graph *g;
  int32_t *order, *parent, *from, *heap; /* n each */
  double *gain, *distance;               /* n each */
  bool *chosen, *seen;                   /* n each */
} region_grower;
lapis_status region_grower_new(lapis_ctx *ctx, const region_graph *g,
                               region_grower *out);
void region_grower_free(region_grower *w);
/* Offers to best the heaviest subtree of a spanning tree of the nodes marked
 * in `among` that are connected with `root`, then grown where `extend`. */
void region_offer(region_grower *w, const bool *among, int32_t root,
                  bool extend, region_best *best);

/* ---- region_bound.c -------------------------------------------------------
 * No connected set that holds the root and respects the marks weighs more. */
enum { NODE_FREE, NODE_MUST, NODE_OUT };
typedef struct region_ascent {
  const region_graph *g;
  double *reduced, *budget;      /* n: what is left of costs and prizes */
  int32_t *leader, *link, *tail; /* n: components as linked lists */
  int64_t *edge;                 /* n: nodes around a component, -1: count */
  int64_t *stamp, now;           /* n */
  double *sum;                   /* n: budget of a component */
} region_ascent;
lapis_status region_ascent_new(lapis_ctx *ctx, const region_graph *g,
                               region_ascent *out);
void region_ascent_free(region_ascent *w);
/* -infinity: no such set.  Leaves reduced, budget and leader behind. */
double region_ascend(region_ascent *w, const unsigned char *mark, int32_t root);

/* ---- region_tree.c: the search ------------------------------------------*/
lapis_status region_solve_tree(region_job *job);

#endif
