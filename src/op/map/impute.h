/* impute.h - gaps of features, filled by factor analysis.
 *
 *   x = m + W z + e,   z ~ N(0, I),   e ~ N(0, diag(p))
 *
 * k = min(20, d - 1) factors z.  A gap holds what is expected there, given what
 * was seen of the sample: m + W E(z | seen).  It depends on that sample and on
 * what was learnt, on nothing else. */
#ifndef LAPIS_IMPUTE_H
#define LAPIS_IMPUTE_H
#include "base/base.h"

/* Numbers that fitting finds of d features: m (d), p (d), W (k x d). */
int64_t impute_length(int64_t d);
/* X: d x n, NaN: a gap.  Of all processes' samples. */
lapis_status impute_fit(lapis_ctx *ctx, const double *X, int64_t d, int64_t n,
                        double *state);
/* Whether these can be such numbers. */
bool impute_sound(const double *state, int64_t d);
/* One sample; where nothing was seen of it, m. */
void impute_fill(const double *state, double *x, int64_t d);

#endif
