/* lapis_eval.h - metrics.  NaN truth means "unknown" and is ignored. */
#ifndef LAPIS_EVAL_H
#define LAPIS_EVAL_H
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Area under the ROC curve: the chance that a positive scores above a
 * negative, ties half.  truth: the larger of its two values is positive.
 * NaN where one of the two kinds is absent.  O(n log n). */
LAPIS_API lapis_status lapis_auroc(lapis_ctx *ctx, const double *truth,
                                   const double *scores, int64_t n,
                                   double *out);

/* A metric by name over c classes: truth and scores c x n (one row of class
 * codes is expanded against scores of c rows).  per_class: c values or NULL;
 * mean over the classes that have one. */
LAPIS_API lapis_status lapis_metric(lapis_ctx *ctx, const char *name,
                                    const lapis_mat *truth,
                                    const lapis_mat *scores, double *per_class,
                                    double *mean);
/* Names lapis_metric knows, NULL past the end. */
LAPIS_API const char *lapis_metric_name(int i);

/* ---- matches over images -------------------------------------------------
 * truth, found: slots x images, rows of X, -1 = missing; the order of slots
 * means nothing.  Over all pairs of images, [ROML16] footnote 4:
 *   match ratio           true pairs found / pairs found
 *   identification ratio  true pairs found / true pairs */
typedef struct lapis_match_scores {
  double match_ratio, identification_ratio;
  double precision, recall; /* of features marked as inliers: the true ones */
} lapis_match_scores;
/* inlier: the shape of found, or NULL: every slot that is not -1. */
LAPIS_API lapis_status lapis_match_ratio(lapis_ctx *ctx, const lapis_mat *truth,
                                         const lapis_mat *found,
                                         const lapis_mat *inlier,
                                         lapis_match_scores *out);

/* Boxes (x0, y0, x1, y1), 4 x n: intersection over union of each pair, into n
 * values or NULL; the mean, and the share above 1/2 (correct by the PASCAL
 * rule). */
LAPIS_API lapis_status lapis_iou(lapis_ctx *ctx, const lapis_mat *truth,
                                 const lapis_mat *found, double *each,
                                 double *mean, double *correct);

#ifdef __cplusplus
}
#endif
#endif
