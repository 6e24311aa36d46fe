/* alm.h - the passes of an augmented Lagrangian iteration for
 *
 *   minimize |L|_* + lambda |E|_1  subject to  L + E = D,
 *
 * over arrays of `count` doubles of one shape, none of which overlap.  With
 * t = 1/rho an iteration is
 *
 *   W <- D - E - t Y          op_alm_shift, from which L is thresholded
 *   E <- soft(D - L - t Y, lambda t);  W <- L + E + t Y       op_alm_sparse
 *   Y <- Y + rho (L + E - D);  W <- D - E - next Y            op_alm_multiply
 *
 * The same bits on every processor: the widths of registers differ in speed
 * alone. */
#ifndef LAPIS_ALM_H
#define LAPIS_ALM_H
#include <stdint.h>

typedef struct op_alm {
  int64_t count;
  const double *D, *L;
  double *E, *Y, *W;
} op_alm;

typedef struct op_alm_sums {
  double residual, size; /* |L + E - D|^2, |D|^2 */
} op_alm_sums;

void op_alm_shift(const op_alm *a, double t);
/* Returns |E|_1. */
double op_alm_sparse(const op_alm *a, double t, double cut);
/* next: t of the iteration to come, whose op_alm_shift this is. */
op_alm_sums op_alm_multiply(const op_alm *a, double rho, double next);

#endif
