/* kmeans.h - k-means: centres of d x n points in single precision. */
#ifndef LAPIS_OP_KMEANS_H
#define LAPIS_OP_KMEANS_H
#include "base/base.h"

typedef struct kmeans_task {
  const float *points; /* d x n, n >= 1 */
  int64_t d, n,
      k; /* d <= NEAREST_MOST; k may be more than n: some centres equal */
  int64_t restarts;  /* tries, of which the best is kept */
  int64_t max_iters; /* of each; 0: the seeds themselves */
  uint64_t stream;   /* of random numbers */
  int threads;
} kmeans_task;

/* centres: d x k.  objective (may be NULL): sum of |x - nearest centre|^2.
 * Positive: stopped early (cancelled, late), centres unset.  The same bits for
 * any number of threads.  Several threads may call with one context: it is only
 * read, so that LAPIS_ENOMEM leaves no sentence in it. */
lapis_status kmeans(lapis_ctx *ctx, const kmeans_task *t, float *centres,
                    double *objective);

#endif
