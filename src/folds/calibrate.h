/* calibrate.h - scores of hidden labels become probabilities. */
#ifndef LAPIS_CALIBRATE_H
#define LAPIS_CALIBRATE_H
#include "base/base.h"

/* slope and bias of a label: p = 1 / (1 + exp(-(slope s + bias))); slope >= 0,
 * so that probabilities never rank samples otherwise than scores. */
typedef struct sigmoid {
  double slope, bias;
} sigmoid;

/* What is known of hidden labels.  A score or sign that is NaN does not
 * count. */
typedef struct calibration {
  const double *score, *sign; /* K x n */
  const double *weight;       /* n, or NULL: all 1; w counts as w samples */
  int64_t K, n;
} calibration;

/* Platt's sigmoid of each label, out: K.  Slopes are drawn towards one that all
 * labels share, those of labels with few cases most. */
lapis_status calibrate_labels(lapis_ctx *ctx, const calibration *x,
                              sigmoid *out);
/* One class of K: p_c ~ exp(slope s_c + bias_c), with one slope, and biases
 * that pay ridge bias^2 / 2 (INFINITY: they are 0): a sigmoid a label would
 * leave a rare class none.  out: K. */
lapis_status calibrate_softmax(lapis_ctx *ctx, const calibration *of,
                               double ridge, sigmoid *out);
/* The share of label c alone, as a sigmoid of slope 0. */
sigmoid calibrate_share(const calibration *x, int64_t c);
/* The mean of what a sigmoid of label c minimises, the cross entropy to
 * smoothed targets: few samples, all told rightly, do not make it 0. */
double calibrate_entropy(const calibration *x, int64_t c, sigmoid p);
/* -log p of what is true, stable. */
double calibrate_loss(sigmoid p, double score, double sign);

#endif
