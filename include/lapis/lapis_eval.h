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

#ifdef __cplusplus
}
#endif
#endif
