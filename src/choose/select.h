/* select.h - folds, between the files of this folder. */
#ifndef LAPIS_SELECT_H
#define LAPIS_SELECT_H
#include "base/base.h"
#include "folds/folds.h"
#include "lapis/tools.h"
#include "mat/mat.h"

/* The options as given, or the defaults where given is NULL. */
lapis_status cv_options_take(lapis_ctx *ctx, const lapis_cv_options *given,
                             lapis_cv_options *own);
/* Where no number of folds is given (0): five, or as many as there are units.
 */
lapis_status cv_settle_folds(lapis_ctx *ctx, const lapis_data *data,
                             lapis_cv_options *o);
/* The folds of a cross-validation, by the context's seed. */
lapis_status cv_draw_folds(lapis_ctx *ctx, const lapis_data *data,
                           int64_t folds, lapis_folds_of of, fold_plan *out);

/* Of classes: what the known label of sample j rather is, by K x n scores of
 * the classes: the likeliest but its own. */
int64_t doubt_class(const targets *t, const lapis_mat *scores, int64_t j,
                    int64_t *own);

#endif
