/* logistic.h - logistic regression of several labels, or classes, at once. */
#ifndef LAPIS_LOGISTIC_H
#define LAPIS_LOGISTIC_H
#include "la/backend.h"

typedef struct logistic_problem {
  lapis_mat X;        /* d x n doubles, no NaN */
  const double *sign; /* K x n: 1, -1, or NaN: not known */
  int64_t K;
  bool classes; /* the rows of sign are classes, one of which a sample has */
  double C;     /* weight of the losses against |w|^2 / 2 */
  double tol;   /* stop where a label's gradient is this share of its first */
  int64_t max_iters;
} logistic_problem;
/* W: (d + 1) x K, a label a column, the bias last.  *iterations: how many
 * evaluations it took; *left: the largest relative gradient at the end (either
 * may be NULL). */
lapis_status op_logistic(la *h, const logistic_problem *p, double *W,
                         int64_t *iterations, double *left);

#endif
