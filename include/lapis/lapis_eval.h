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

/* The ROC curve behind it: shares of the negatives (x) and of the positives (y)
 * that score at least a threshold, from (0, 0) to (1, 1), a point a distinct
 * score.  x, y: room for n + 1; *count: 0 where one of the two kinds is
 * absent. */
LAPIS_API lapis_status lapis_roc(lapis_ctx *ctx, const double *truth,
                                 const double *scores, int64_t n, double *x,
                                 double *y, int64_t *count);

/* What a metric compares with the truth, and which way is better. */
typedef enum lapis_metric_reads {
  LAPIS_METRIC_SCORES, /* any order-preserving scores, a row a class */
  LAPIS_METRIC_LABELS, /* answers in the values of the truth */
  LAPIS_METRIC_VALUES  /* real outputs */
} lapis_metric_reads;
typedef struct lapis_metric_kind {
  const char *name;
  lapis_metric_reads reads;
  bool less_is_better;
} lapis_metric_kind;
/* The i-th metric, NULL past the end. */
LAPIS_API const lapis_metric_kind *lapis_metric_at(int i);
/* LAPIS_EINVAL with the known names where there is none of this name. */
LAPIS_API lapis_status lapis_metric_find(lapis_ctx *ctx, const char *name,
                                         const lapis_metric_kind **out);

/* How many classes (real outputs) lapis_metric tells apart in this truth. */
LAPIS_API lapis_status lapis_metric_classes(lapis_ctx *ctx, const char *name,
                                            const lapis_mat *truth,
                                            int64_t *out);
/* A metric by name over c classes: truth and scores c x n (one row of class
 * codes is expanded against scores of c rows); metrics that read labels take
 * labels in the values of truth instead, and of one row of classes also
 * scores.  per_class: c values or NULL; mean over the classes that have one,
 * NaN where none has. */
LAPIS_API lapis_status lapis_metric(lapis_ctx *ctx, const char *name,
                                    const lapis_mat *truth,
                                    const lapis_mat *scores, double *per_class,
                                    double *mean);

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
