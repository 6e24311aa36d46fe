/* logistic.h - logistic regression of several labels, or classes, at once. */
#ifndef LAPIS_LOGISTIC_H
#define LAPIS_LOGISTIC_H
#include "op/learn/samples.h"
#include "solver/loop.h"

typedef struct logistic_problem {
  samples of;         /* d x n */
  const double *sign; /* K x n: 1, -1, or NaN: not known */
  int64_t K;
  const double *weight; /* n: a loss counts so often; or NULL: once */
  bool classes; /* the rows of sign are classes, one of which a sample has */
  double C;     /* weight of the losses against |w|^2 / 2 */
  const double *ridge; /* d: weights of the squares in |w|^2, or NULL: 1 */
  double tol; /* stop where a label's gradient is this share of its first */
  int64_t max_iters;
  bool warm;  /* begin at W; the first gradient is the one there */
  loop *loop; /* whose rules hold, too, and whose history is written:
               * objective, gradient, NaN; or NULL */
} logistic_problem;
/* W: (d + 1) x K, a label a column, the bias last.  *left: the largest relative
 * gradient at the end, or NULL. */
lapis_status op_logistic(la *h, const logistic_problem *p, double *W,
                         double *left);

#endif
