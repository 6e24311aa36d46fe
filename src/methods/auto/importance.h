/* importance.h - what matters: features that predictions are worse without. */
#ifndef LAPIS_AUTO_IMPORTANCE_H
#define LAPIS_AUTO_IMPORTANCE_H
#include "methods/auto/cover.h"

/* to: 3 x d, of each feature how much worse known labels are predicted once
 * its values are shuffled, the standard error of that, and how changes of the
 * answer go with those of the feature, -1 .. 1; of columns of several features,
 * and of several targets or classes, 0.  Features side by
 * side that are named COLUMN=VALUE are one column: they are shuffled together
 * and have one answer.  Positive: it had to stop, and *to is no answer. */
lapis_status importance_find(lapis_ctx *ctx, const comparison *r,
                             const cover *w, const lapis_data *data,
                             double *to);

#endif
