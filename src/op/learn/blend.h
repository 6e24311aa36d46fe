/* blend.h - weights of a mean of answers, by their errors. */
#ifndef LAPIS_BLEND_H
#define LAPIS_BLEND_H
#include "base/base.h"

enum { BLEND_MOST = 16 };
/* x: argmin x' G x over x >= 0, sum x = 1; G: count x count of ld rows, sums of
 * products of errors. */
void op_blend(const double *G, int64_t ld, int64_t count, double *x);
/* x' G x. */
double op_blend_error(const double *G, int64_t ld, int64_t count,
                      const double *x);

#endif
