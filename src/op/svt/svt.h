/* svt.h - singular value thresholding, and the one place that chooses how it is
 * computed. */
#ifndef LAPIS_SVT_H
#define LAPIS_SVT_H
#include "la/backend.h"

typedef enum svt_way {
  SVT_AUTO,
  SVT_GRAM,    /* eigenvalues of the smaller Gram matrix: t > 1e-5 sigma_1 */
  SVT_FULL,    /* LAPACK's divide and conquer */
  SVT_QR,      /* tall or wide W: a QR factorisation first */
  SVT_SUBSPACE /* a block Krylov space from the last basis, checked */
} svt_way;

typedef struct svt_report {
  svt_way way;
  const char *why;
  int64_t rank;
  double nuclear; /* |A|_* = sum of kept s - t */
  double sigma_1; /* largest singular value of W; 0 when none was computed */
} svt_report;

/* Workspace for matrices of one shape; it keeps the last basis, from which the
 * next call starts. */
typedef struct op_svt op_svt;
lapis_status op_svt_new(la *h, int64_t rows, int64_t cols, op_svt **out);
void op_svt_free(op_svt *s);
/* Uses this way from now on; SVT_AUTO lets svt choose again.  Where
 * SVT_SUBSPACE cannot prove its rank another way is still taken, and the report
 * says so. */
void op_svt_force(op_svt *s, svt_way way);
/* From now on A stays as it is when a call fails. */
void op_svt_spare(op_svt *s);
/* The next call is the only one: it may try SVT_SUBSPACE of a small W, too. */
void op_svt_once(op_svt *s);
/* From now on SVT_SUBSPACE may answer for a matrix W + E near W, with
 * |E|_F <= error |W|_2, where that costs less.  Before the first call error is
 * 1e-10; it is never smaller.  With a larger one every fourth call looks for
 * values that nothing led to, and may miss one in 300,000 times (else every
 * call does, in one of 10^16): for those who prove what they end at. */
void op_svt_accept(op_svt *s, double error);
/* A = U max(S - t, 0) V' of W; W is only read; A must not overlap W. */
lapis_status op_svt_apply(op_svt *s, const la_array *W, double t, la_array *A,
                          svt_report *report);
double op_svt_seconds(const op_svt *s); /* time spent in s so far */

/* Singular values only: all min(m, n) of W, descending (host); n: columns of
 * all processes. */
lapis_status op_singular_values(op_svt *s, const la_array *W, double *values);
/* The same without a copy of W, which is destroyed. */
lapis_status op_singular_values_of(op_svt *s, la_array *W, double *values);
/* W = U diag(values) Vt, with the k = min(m, n) values, n the columns of all
 * processes: U m x k, Vt k x n, of which each process has its columns.  Both
 * are allocated here; W is destroyed. */
lapis_status op_svd(la *h, la_array *W, la_array *U, double *values,
                    la_array *Vt);
/* The same of one process's W that has this rank, but for rounding: from the
 * range of W times random vectors, a few products in place of a decomposition;
 * k, the values found, is rank and a few more.  *found: what W has beside is
 * shown to be at most `rest` of its largest value in the Frobenius norm; else
 * nothing is allocated.  W is destroyed. */
lapis_status op_svd_of_rank(la *h, la_array *W, int64_t rank, double rest,
                            la_array *U, double *values, la_array *Vt,
                            bool *found);
/* An upper bound on |W|_2, from the full spectrum of the smaller Gram matrix
 * widened by its rounding error: never an estimate. */
lapis_status op_norm2_upper(op_svt *s, const la_array *W, double *bound);
/* Whether |W|_2 <= limit is proved, rounding included, by one factorisation, a
 * fraction of what the spectrum costs; false may also be for want of digits. */
lapis_status op_norm2_within(op_svt *s, const la_array *W, double limit,
                             bool *within);

#endif
