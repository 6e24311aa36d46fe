/* kernel_ridge.h - ridge regression behind the rbf kernel of some samples. */
#ifndef LAPIS_KERNEL_RIDGE_H
#define LAPIS_KERNEL_RIDGE_H
#include "op/learn/ridge.h"

enum { KERNEL_RIDGE_CENTRES = 400 };
/* Answers A (K x n) for all samples of p: f(x) = w'g(x) + b, where g'g is
 * Nystrom's exp(-|x - z|^2 / width) by at most so many of the samples whose
 * numbers are known, spread evenly over them. */
lapis_status op_kernel_ridge(la *h, const ridge_problem *p, double width,
                             double *A);
/* A = W'x + b of all samples: what op_ridge found. */
lapis_status op_ridge_answer(la *h, const lapis_mat *X, int64_t K,
                             const double *W, double *A);

#endif
