/* calibrate.h - scores of hidden labels become probabilities. */
#ifndef LAPIS_CALIBRATE_H
#define LAPIS_CALIBRATE_H
#include "base/base.h"

/* slope and bias of a label: p = 1 / (1 + exp(-(slope s + bias))). */
typedef struct sigmoid {
  double slope, bias;
} sigmoid;

/* Platt's sigmoid of n scores of step `stride` with signs (NaN: not counted),
 * slope >= 0, targets smoothed by the counts. */
sigmoid calibrate_platt(const double *score, const double *sign, int64_t n,
                        int64_t stride);
/* One class of K: p_c ~ exp(slope s_c + bias_c), with one slope, and biases
 * that pay ridge bias^2 / 2 (INFINITY: they are 0): a sigmoid a label would
 * leave a rare class none.  score, sign: K x n; out: K. */
lapis_status calibrate_softmax(lapis_ctx *ctx, const double *score,
                               const double *sign, int64_t K, int64_t n,
                               double ridge, sigmoid *out);
/* -log p of what is true, stable. */
double calibrate_loss(sigmoid p, double score, double sign);

#endif
