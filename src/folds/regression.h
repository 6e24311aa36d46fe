/* regression.h - metrics of all outputs together. */
#ifndef LAPIS_REGRESSION_H
#define LAPIS_REGRESSION_H
#include "base/base.h"

/* truth and scores m x n; what counts is not NaN in `part`, which is the truth
 * or some of it; per_row: m values or NULL. */
lapis_status regression_r2(lapis_ctx *ctx, const lapis_mat *truth,
                           const lapis_mat *part, const lapis_mat *scores,
                           double *per_row, double *out);
lapis_status regression_rae(lapis_ctx *ctx, const lapis_mat *truth,
                            const lapis_mat *part, const lapis_mat *scores,
                            double *per_row, double *out);
lapis_status regression_rmse(lapis_ctx *ctx, const lapis_mat *truth,
                             const lapis_mat *part, const lapis_mat *scores,
                             double *per_row, double *out);
lapis_status regression_angle(lapis_ctx *ctx, const lapis_mat *truth,
                              const lapis_mat *part, const lapis_mat *scores,
                              double *per_row, double *out);

#endif
