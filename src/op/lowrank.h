/* lowrank.h - pivoted Cholesky of a kernel matrix. */
#ifndef LAPIS_LOWRANK_H
#define LAPIS_LOWRANK_H
#include "op/kernel.h"

/* K + 1 = L'L + rest, L r x n in *out (base_free it), r <= most; rest is
 * positive semidefinite and its trace is *left_out of the whole; stops below
 * tol.  |rest|_2 is at most its trace. */
lapis_status op_low_rank(la *h, const op_kernel *k, int64_t most, double tol,
                         double **out, int64_t *r, double *left_out);

#endif
