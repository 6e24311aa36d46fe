/* trees_inside.h - a tree while it grows, between the files of trees. */
#ifndef LAPIS_TREES_INSIDE_H
#define LAPIS_TREES_INSIDE_H
#include "op/learn/trees.h"

typedef struct pending { /* samples from .. to - 1 of the order, for a node */
  int64_t from, to, node, depth;
} pending;

/* What a forest has beside: values as their places among those of the feature,
 * and the samples that a tree has drawn. */
typedef struct trees_draws {
  uint32_t *rank;  /* m x d: a feature a column; TREES_MISSING */
  uint32_t *ranks; /* d: how many different ones */
  double *until;   /* m: sums of weights */
  double *weight;  /* m, as yes and seen (K x m) of samples as they are */
  double *yes, *seen;
  uint64_t *key, *aux; /* m: rank and sample */
} trees_draws;
static const uint32_t TREES_MISSING = UINT32_MAX;

/* What boosted trees have: values as the bins that they lie in, and what the
 * trees so far say of the samples. */
enum { TREES_BINS = 64 };
typedef struct trees_boost {
  uint8_t *bin;   /* m x d: a feature a column; its number of bins: missing */
  uint8_t *bins;  /* d */
  double *edge;   /* TREES_BINS x d: the threshold above each bin */
  double *score;  /* K x m */
  double *base;   /* K: before all trees */
  double *target; /* K x m: 1, 0, or numbers; NaN */
  double *stat;   /* width x m: 1, weight, yes, seen */
  double *sum;    /* width x (TREES_BINS + 3): of bins, the node, the left */
} trees_boost;

typedef struct grower {
  lapis_ctx *ctx;
  const trees_problem *p;
  trees *out;
  int64_t m;          /* samples with some label */
  double *X;          /* m x d: a feature a column */
  double *yes, *seen; /* K x m: the sample's weight, or 0; of numbers y times
                       * it, y less the mean of all */
  double *value;      /* K x m: that y, of numbers */
  int64_t *one;       /* m: the class of a sample; NULL: labels are not one
                       * class of several each */
  double *weight;     /* m */
  double *sum;        /* 8 K: yes and seen of the node, the left, all, what is
                       * missing */
  int64_t *order, *feature;
  pending *stack;
  int64_t stacked, node_room, leaf_room;
  uint64_t stream, drawn;
  trees_draws draws; /* of forests */
  trees_boost boost; /* of boosted ones */
} grower;

typedef struct split {
  int64_t feature; /* -1: none */
  double threshold, gain;
  bool missing_right;
} split;

/* [0, 1), which decides what a tree draws. */
double trees_lot(grower *g);

/* Samples of such a count and weight may be a leaf. */
static inline bool trees_suffice(const grower *g, int64_t count, double weight)
{
  return g->p->leaf == 1 ? count > 0 : weight >= (double)g->p->leaf;
}

/* In the middle, unless rounding makes it the upper value. */
static inline double trees_between(double low, double high)
{
  double middle = low / 2 + high / 2;
  return middle >= low && middle < high ? middle : low;
}

/* trees_best.c: ranks of all values; the samples of a tree, first in the order,
 * and how many they are; the best threshold of feature i if it is better than
 * *best, false where i does not vary. */
lapis_status trees_rank(grower *g, arena *own);
int64_t trees_draw(grower *g);
bool trees_try_best(grower *g, const pending *at, int64_t i, double weight,
                    split *best);
/* trees_boost.c: before all trees; what the next one grows from; the best
 * threshold of feature i at a node; its leaf; and, after all of them, shares
 * whose mean is the sum of the trees. */
lapis_status boost_begin(grower *g, arena *own);
void boost_next(grower *g);
bool boost_try(grower *g, const pending *at, int64_t i, double weight,
               split *best);
void boost_leaf(grower *g, const pending *at, double *share);
void boost_end(const grower *g);

#endif
