/* classification.h - metrics of labels, not of scores. */
#ifndef LAPIS_CLASSIFICATION_H
#define LAPIS_CLASSIFICATION_H
#include "mat/mat.h"

/* truth and labels in the same values, as many rows.  Classes and values are
 * those of the truth; what counts is not NaN in `part`, which is the truth or
 * some of it.  One row of truth with classes may meet scores, a row a class,
 * whose largest decides.  per_class: a value a class of the truth or NULL; NaN
 * where the metric has none. */
lapis_status classification_accuracy(lapis_ctx *ctx, const lapis_mat *truth,
                                     const lapis_mat *part,
                                     const lapis_mat *labels, double *per_class,
                                     double *out);
lapis_status classification_hamming(lapis_ctx *ctx, const lapis_mat *truth,
                                    const lapis_mat *part,
                                    const lapis_mat *labels, double *per_class,
                                    double *out);
lapis_status classification_f1(lapis_ctx *ctx, const lapis_mat *truth,
                               const lapis_mat *part, const lapis_mat *labels,
                               double *per_class, double *out);
/* answers: probabilities, a row a label, or a class; classes whose sum is not 1
 * are brought there.  per_class: of the samples of a class, or of a label. */
lapis_status classification_log_loss(lapis_ctx *ctx, const lapis_mat *truth,
                                     const lapis_mat *part,
                                     const lapis_mat *answers,
                                     double *per_class, double *out);
/* Leaves the signs of those that count. */
void classification_keep(targets *t, const lapis_mat *part);

#endif
