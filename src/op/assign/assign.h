/* assign.h - rectangular linear assignment, for solvers that call it often. */
#ifndef LAPIS_ASSIGN_H
#define LAPIS_ASSIGN_H
#include "base/base.h"

/* minimize sum_i c[i, p(i)], every row i with a column p(i) of its own,
 * rows <= columns.
 *
 * Prices v_j <= 0, zero on columns that nobody takes, prove the optimum:
 *   sum_i min_j (c_ij - v_j) + sum_j v_j = sum_i c[i, p(i)]. */
typedef struct op_assign {
  lapis_ctx *ctx;
  int64_t rows, cols; /* the largest problem there is room for */
  int64_t *match;     /* rows: column of each row */
  double *price;      /* cols */
  double objective;
  struct assign_work *work;
  arena arena; /* the memory of all of these */
} op_assign;

/* Row i is c + i * ld, of doubles or floats. */
typedef struct assign_costs {
  lapis_dtype dtype;
  int64_t rows, cols, ld;
  const void *c;
} assign_costs;

/* Room for problems up to rows x cols. */
lapis_status op_assign_new(lapis_ctx *ctx, int64_t rows, int64_t cols,
                           op_assign **out);
void op_assign_free(op_assign *p);
/* Solves one problem.  It allocates nothing, so that threads may solve with one
 * workspace each.  warm: the solve starts from p->match (-1: none) and
 * p->price, which answer a similar problem.  Returns -1, or the first row that
 * holds a NaN or an infinity. */
int64_t op_assign_solve(op_assign *p, const assign_costs *a, bool warm);
/* Column of the least cost of row i; -1 if a cost in it is not finite. */
int64_t op_assign_row_minimum(const assign_costs *a, int64_t i);
/* least[i], of every row: its smallest cost among the columns that are open,
 * infinite where none is; shut, of the type of the costs, is 0 there and
 * infinite in the others. */
void op_assign_least_open(const assign_costs *a, const void *shut,
                          double *least);

#endif
