/* pooled.h - all hidden samples judged together. */
#ifndef LAPIS_POOL_H
#define LAPIS_POOL_H
#include "choose/select.h"
#include "lapis/choose.h"

typedef struct pool {
  lapis_ctx *ctx;
  const char *metric; /* one that reads no labels */
  const fold_plan *plan;
  lapis_mat truth; /* K x n: signs or values */
} pool;
/* scores: K x n, NaN where nothing was answered.  The metric, and its standard
 * error; NaN where they cannot be told. */
lapis_status pool_judge(const pool *p, const double *scores, double *value,
                        double *error);

#endif
