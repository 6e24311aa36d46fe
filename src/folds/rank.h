/* rank.h - metrics of one class that depend on the order of scores alone. */
#ifndef LAPIS_RANK_H
#define LAPIS_RANK_H
#include "base/base.h"

/* One sample with known truth. */
typedef struct ranked {
  double score;
  bool positive;
} ranked;

/* r sorted by falling score; NaN where one of the two kinds is absent. */
double rank_auroc(const ranked *r, int64_t n);
double rank_average_precision(const ranked *r, int64_t n);
double rank_min_ndc(const ranked *r, int64_t n);
/* Points of the ROC curve, x and y with room for n + 1; how many. */
int64_t rank_roc(const ranked *r, int64_t n, double *x, double *y);

#endif
