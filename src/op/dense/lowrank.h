/* lowrank.h - pivoted Cholesky of a kernel matrix. */
#ifndef LAPIS_LOWRANK_H
#define LAPIS_LOWRANK_H
#include "op/dense/kernel.h"

/* Writes the kernel matrix, with 1 added to every entry, as L'L + rest.  L is
 * r x n, r <= most, in *out (free it with base_free).  rest is positive
 * semidefinite, so that |rest|_2 is at most its trace; *left_out is the share
 * of the whole trace that is in rest.  L grows until that share is below tol.
 */
lapis_status op_low_rank(la *h, const op_kernel *k, int64_t most, double tol,
                         double **out, int64_t *r, double *left_out);

#endif
