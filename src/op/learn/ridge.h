/* ridge.h - ridge regression of several numbers at once. */
#ifndef LAPIS_RIDGE_H
#define LAPIS_RIDGE_H
#include "la/backend.h"

/* minimize |w|^2 / 2 + C / 2 sum of v_j (w'x_j + b - y_j)^2, a row of Y. */
typedef struct ridge_problem {
  lapis_mat X;     /* d x n doubles, no NaN */
  const double *Y; /* K x n; NaN: not known */
  int64_t K;
  const double *weight; /* n: a square counts so often; or NULL: once */
  double C;
} ridge_problem;
/* W: (d + 1) x K, the offset b last; 0 where nothing is known. */
lapis_status op_ridge(la *h, const ridge_problem *p, double *W);

#endif
