/* observed.h - what is known of Z, twice: sample by sample and row by row.
 *
 * Rows of Z are the labels (first, K of them) and the features; columns are
 * samples.  A value is x for a feature, the target of the loss for a label. */
#ifndef LAPIS_MC_OBSERVED_H
#define LAPIS_MC_OBSERVED_H
#include "methods/mc/mc.h"

typedef struct observed {
  int64_t K, rows, cols, count;
  const int64_t *at; /* cols + 1: where each sample begins */
  const int32_t *row;
  const double *value;
  bool own;       /* at, row, value are ours, not X's own arrays */
  int64_t *at_t;  /* rows + 1: where each row begins */
  int32_t *col_t; /* count each */
  double *value_t;
  double *rest, *rest_t; /* minus the gradient of the loss, count each */
} observed;

/* X dense with NaN, or compressed columns whose stored entries are what is
 * seen; the labels of p.  Where p has none and X is compressed doubles, its
 * arrays are borrowed. */
lapis_status observed_new(lapis_ctx *ctx, const mc_problem *p,
                          const lapis_mat *X, observed *out);
void observed_free(observed *o);
/* Bytes that a call takes. */
double observed_bytes(const mc_problem *p, const lapis_mat *X);
/* Entries of X that are seen, and a sentence where a stored one is NaN, out of
 * order or out of the shape. */
lapis_status observed_check(lapis_ctx *ctx, const lapis_mat *X);
/* Labels at the beginning of column j. */
int64_t observed_labels(const observed *o, int64_t j);

#endif
