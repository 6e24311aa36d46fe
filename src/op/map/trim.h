/* trim.h - cells far from the others of their feature count as not seen. */
#ifndef LAPIS_TRIM_H
#define LAPIS_TRIM_H
#include "base/base.h"

int64_t trim_length(int64_t d); /* of state: medians, then limits */
/* X: d x n, without infinite ones; NaN is left out. */
lapis_status trim_fit(lapis_ctx *ctx, const double *X, int64_t d, int64_t n,
                      double *state);
void trim_cells(const double *state, double *x, int64_t d);
bool trim_sound(const double *state, int64_t d);

#endif
