/* kernel.h - kernels: how alike two samples x and z are.
 *
 *   linear       x'z
 *   rbf          exp(-|x - z|^2 / width)
 *   chi2         exp(-chi2(x, z) / width), chi2 = sum (x - z)^2 / (x + z),
 *                x, z >= 0
 *   precomputed  X is the matrix itself: n x n for the samples fitted on,
 *                n x m for new ones
 *
 * width NaN: the mean (squared) distance over all n^2 pairs, the diagonal
 * included, which is the choice of [SVMP16]. */
#ifndef LAPIS_KERNEL_H
#define LAPIS_KERNEL_H
#include "la/backend.h"

typedef struct op_kernel { /* one set of samples made ready */
  int kind;                /* lapis_kernel */
  double width;
  int64_t d, n;
  double *X;      /* d x n; rbf: centred, which keeps distances accurate */
  double *own;    /* X, or NULL: it is the caller's, and only read */
  double *center; /* d */
  double *square; /* n: |x|^2 */
} op_kernel;

/* name: "X" or "P", for the sentences of errors.  Copies what it needs, but
 * not a precomputed matrix of doubles: that is read where it lies. */
lapis_status op_kernel_new(la *h, int kind, double width, const char *name,
                           const lapis_mat *X, op_kernel *out);
void op_kernel_free(op_kernel *k);
/* K (n x cols) between all samples and samples first .. first + cols - 1. */
lapis_status op_kernel_own(la *h, const op_kernel *k, int64_t first,
                           int64_t cols, double *K);
/* K (n x cols) between all samples and those whose numbers are in index. */
lapis_status op_kernel_some(la *h, const op_kernel *k, const int64_t *index,
                            int64_t cols, double *K);
/* K (n x B->cols) between the samples and new ones. */
lapis_status op_kernel_block(la *h, const op_kernel *k, const lapis_mat *B,
                             double *K);
/* k(x_i, x_i) */
double op_kernel_self(const op_kernel *k, int64_t i);

#endif
