/* svt.h - singular value thresholding: the one place that chooses how. */
#ifndef LAPIS_SVT_H
#define LAPIS_SVT_H
#include "la/backend.h"

typedef enum svt_way {
  SVT_AUTO,
  SVT_GRAM,    /* eigenvalues of the smaller Gram matrix: t > 1e-5 sigma_1 */
  SVT_FULL,    /* LAPACK's divide and conquer */
  SVT_QR,      /* tall or wide: factor first */
  SVT_SUBSPACE /* warm-started block subspace iteration, certified */
} svt_way;

typedef struct svt_report {
  svt_way way;
  const char *why;
  int64_t rank;
  double nuclear; /* |A|_* = sum of kept s - t */
  double sigma_1; /* largest singular value of W; 0 when none was computed */
} svt_report;

typedef struct op_svt op_svt; /* workspace for one shape, and warm starts */
lapis_status op_svt_new(la *h, int64_t rows, int64_t cols, op_svt **out);
void op_svt_free(op_svt *s);
/* Takes one way from now on; SVT_AUTO gives the choice back.  SVT_SUBSPACE
 * still falls back, and reports so, where it cannot prove its rank. */
void op_svt_force(op_svt *s, svt_way way);
/* From now on SUBSPACE may answer for W + E, |E|_F <= error |W|_2, where that
 * costs less; at first 1e-10, which is also the least. */
void op_svt_accept(op_svt *s, double error);
/* A = U max(S - t, 0) V' of W; W is only read; A must not overlap W. */
lapis_status op_svt_apply(op_svt *s, const la_array *W, double t, la_array *A,
                          svt_report *report);
double op_svt_seconds(const op_svt *s); /* spent so far */

/* Singular values only: all min(m, n) of W, descending (host). */
lapis_status op_singular_values(op_svt *s, const la_array *W, double *values);
/* The same, W destroyed: no copy of it. */
lapis_status op_singular_values_of(op_svt *s, la_array *W, double *values);
/* An upper bound on |W|_2, from the full spectrum of the smaller Gram matrix
 * widened by its rounding error: never an estimate. */
lapis_status op_norm2_upper(op_svt *s, const la_array *W, double *bound);

#endif
