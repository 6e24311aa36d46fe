/* lapis_ops.h - the building blocks: singular value thresholding, proximal
 * steps, projections.  Formulas: docs/mathematics.md, section 1.
 *
 * Functions of vectors take n entries and may work in place (out == v).  They
 * trust the lengths they are given, and where NaN goes in, NaN comes out. */
#ifndef LAPIS_OPS_H
#define LAPIS_OPS_H
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- singular value thresholding ----------------------------------------
 * W = U S V' is the singular value decomposition, and
 * A = U max(S - t, 0) V' is the proximal step of t |.|_*, |.|_* being the
 * nuclear norm, the sum of the singular values.  W and A are m x n doubles, and
 * A may be W.  Every singular value above t is found, or the call fails: the
 * rank is never wrong in silence. */
typedef struct lapis_svt_info {
  int64_t rank;    /* singular values above t */
  double nuclear;  /* |A|_* */
  double sigma_1;  /* largest singular value of W */
  const char *way; /* how it was done: "gram", "full", "qr", "subspace" */
  const char *why; /* why in this way, in one phrase */
} lapis_svt_info;
LAPIS_API lapis_status lapis_svt(lapis_ctx *ctx, const lapis_mat *W, double t,
                                 lapis_mat *A, lapis_svt_info *info);
/* All min(m, n) singular values of W (m x n doubles), largest first. */
LAPIS_API lapis_status lapis_singular_values(lapis_ctx *ctx, const lapis_mat *W,
                                             double *values);

/* ---- proximal steps: argmin_z t f(z) + (z - v)^2 / 2 ---------------------*/
/* f = |z|. */
LAPIS_API void lapis_prox_soft(int64_t n, const double *v, double t,
                               double *out);
/* f = chi2(z, z0) = (z - z0)^2 / (z + z0) on z >= 0; z0 >= 0.  Here and in the
 * next function t has n entries, a step for each. */
LAPIS_API void lapis_prox_chi2(int64_t n, const double *v, const double *z0,
                               const double *t, double *out);
/* f = log(1 + exp(-gamma s (z - c))) / gamma, s in {-1, 1}. */
LAPIS_API void lapis_prox_logistic(int64_t n, const double *v, const double *s,
                                   const double *c, double gamma,
                                   const double *t, double *out);
/* f = sum of chi2(z_i, z0_i) over the entries where z0 is not NaN, on the
 * probability simplex; t > 0.  One column of n entries. */
LAPIS_API void lapis_prox_chi2_simplex(int64_t n, const double *v,
                                       const double *z0, double t, double *out);
/* Euclidean projection of one column onto the probability simplex, by sorting
 * [MC11 Alg. 2].  work: n doubles. */
LAPIS_API void lapis_project_simplex(int64_t n, const double *v, double *work,
                                     double *out);

/* ---- assignment ----------------------------------------------------------
 * minimize sum_i cost[i, match(i)], where every row of the problem gets a
 * column of its own.  A row of the problem is a column of the view, as
 * everywhere: cost is (columns x rows), float64 or float32, any finite values,
 * rows <= columns.  Prices v <= 0, zero on columns that no row takes, prove
 * that the match is the best one:
 *   sum_i min_j (cost[i, j] - v_j) + sum_j v_j = objective. */
typedef struct lapis_assignment {
  int64_t *match;   /* rows; out, and where warm also in (-1: none) */
  double *price;    /* columns, or NULL; out, and where warm also in */
  bool warm;        /* match and price hold the answer to a similar
                       problem, from which this solve starts */
  double objective; /* out */
} lapis_assignment;
LAPIS_API lapis_status lapis_assign(lapis_ctx *ctx, const lapis_mat *cost,
                                    lapis_assignment *io);
/* The same for count problems, in parallel. */
LAPIS_API lapis_status lapis_assign_batch(lapis_ctx *ctx, int64_t count,
                                          const lapis_mat *cost,
                                          lapis_assignment *io);

#ifdef __cplusplus
}
#endif
#endif
