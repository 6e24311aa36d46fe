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

/* ---- metric.c: of a truth with gaps --------------------------------------*/
/* Area under the ROC curve: the chance that a positive sample scores above a
 * negative one, where equal scores count half.  truth: the larger of its two
 * values is positive.  *out is NaN where one of the two is absent.
 * O(n log n). */
lapis_status metric_auroc(lapis_ctx *ctx, const double *truth,
                          const double *scores, int64_t n, double *out);

/* The ROC curve itself, from (0, 0) to (1, 1): one point for each distinct
 * score, the share of the negatives (x) and of the positives (y) that score at
 * least that.  x, y: room for n + 1; *count: the points, 0 where positives or
 * negatives are absent. */
lapis_status metric_roc(lapis_ctx *ctx, const double *truth,
                        const double *scores, int64_t n, double *x, double *y,
                        int64_t *count);

#endif
