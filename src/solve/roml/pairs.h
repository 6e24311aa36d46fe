/* pairs.h - pairwise assignments, for the starts that are made of them. */
#ifndef LAPIS_ROML_PAIRS_H
#define LAPIS_ROML_PAIRS_H
#include "solve/roml/roml.h"

typedef struct pair_work {
  roml *w;
  const roml_problem *p;
  la h;
  int64_t n;
  op_assign *solver; /* largest x largest */
  double *cost;      /* largest x largest: rows of the smaller image */
  double *W;         /* K x K, per feature */
  double *match_sum; /* N: what a feature's own matches cost, and how many */
  int64_t *match_count;
} pair_work;

lapis_status roml_pairs_new(roml *w, int64_t n, pair_work *g);
void roml_pairs_free(pair_work *g);
/* |a - b|^2 assignments, into solver: rows are the listed features of image k
 * (all where NULL), columns all of image l. */
lapis_status roml_assign_pair(pair_work *g, int64_t k, const int64_t *list,
                              int64_t rows, int64_t l);

#endif
