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
  bool classes; /* a sample is of one of K classes; else has labels or not */
  double ridge; /* of the biases of classes */
} calibration;

/* Of labels Platt's sigmoid of each, out: K.  Slopes are drawn towards one that
 * all labels share, those of labels with few cases most.  Of classes a softmax:
 * p_c ~ exp(slope s_c + bias_c), with one slope, and biases that pay
 * ridge bias^2 / 2 (INFINITY: they are 0): a sigmoid a class would leave a rare
 * one no sample, and sums that are not 1. */
lapis_status calibrate(lapis_ctx *ctx, const calibration *x, sigmoid *out);
/* The share of label c, or of class c, alone: slope 0. */
sigmoid calibrate_share(const calibration *x, int64_t c);
/* The mean of what a sigmoid of label c minimises, the cross entropy to
 * smoothed targets: few samples, all told rightly, do not make it 0. */
double calibrate_entropy(const calibration *x, int64_t c, sigmoid p);
/* -log p of what is true, stable: of the label at k of K x n, or of the sample
 * whose classes begin there. */
double calibrate_loss(const calibration *x, const sigmoid *by, int64_t k);
/* Losses are at every so many of K x n. */
static inline int64_t calibrate_step(const calibration *x)
{
  return x->classes ? x->K : 1;
}

#endif
