/* lapis_eval.h - metrics: how well answers agree with the truth.  A NaN in the
 * truth means "unknown" and is left out. */
#ifndef LAPIS_EVAL_H
#define LAPIS_EVAL_H
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a metric compares with the truth, and which way is better. */
typedef enum lapis_metric_reads {
  LAPIS_METRIC_SCORES, /* scores, a row a class: only their order counts */
  LAPIS_METRIC_LABELS, /* answers, written with the truth's own values */
  LAPIS_METRIC_VALUES  /* real outputs */
} lapis_metric_reads;
typedef struct lapis_metric_kind {
  const char *name;
  lapis_metric_reads reads;
  bool less_is_better;
} lapis_metric_kind;
/* The i-th metric, NULL past the end. */
LAPIS_API const lapis_metric_kind *lapis_metric_at(int i);
/* LAPIS_EINVAL, with the known names, where no metric has this name. */
LAPIS_API lapis_status lapis_metric_find(lapis_ctx *ctx, const char *name,
                                         const lapis_metric_kind **out);

/* How many classes (or real outputs) lapis_metric tells apart in this truth:
 * the c below. */
LAPIS_API lapis_status lapis_metric_classes(lapis_ctx *ctx, const char *name,
                                            const lapis_mat *truth,
                                            int64_t *out);
/* A metric by name over c classes.  truth and scores are c x n; truth may also
 * be one row of class codes, which is expanded to c rows.  A metric that reads
 * labels takes labels, in the values of truth, in place of scores; where truth
 * is one row of classes it also takes scores.  per_class: c values or NULL;
 * mean: over the classes that have a value, NaN where none has. */
LAPIS_API lapis_status lapis_metric(lapis_ctx *ctx, const char *name,
                                    const lapis_mat *truth,
                                    const lapis_mat *scores, double *per_class,
                                    double *mean);

/* The same of a part of the truth, of the same shape, where NaN stands for what
 * is not to count: classes and values are those of the whole. */
LAPIS_API lapis_status lapis_metric_part(lapis_ctx *ctx, const char *name,
                                         const lapis_mat *truth,
                                         const lapis_mat *part,
                                         const lapis_mat *scores,
                                         double *per_class, double *mean);

/* ---- matches over images -------------------------------------------------
 * truth, found: slots x images.  A slot is one point of the object, its entry
 * for an image the row of X that shows it there, or -1 = missing; the order of
 * slots means nothing.  Over all pairs of images, [ROML16] footnote 4:
 *   match ratio           true pairs found / pairs found
 *   identification ratio  true pairs found / true pairs */
typedef struct lapis_match_scores {
  double match_ratio, identification_ratio;
  double precision, recall; /* of the features marked as inliers */
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

/* Wilson's 95 % interval of a share that was found in so many trials. */
LAPIS_API void lapis_share_interval(double share, double trials, double *low,
                                    double *high);

#ifdef __cplusplus
}
#endif
#endif
