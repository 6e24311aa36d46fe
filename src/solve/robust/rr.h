/* rr.h - robust regression and robust LDA, between the files of the method.
 *
 *   J(T, D) = eta/2 (|W (Y - T [D; 1])|_F^2 + gamma |T|_F^2)
 *             + |D|_* + lambda |P_Omega(X - D)|_1
 *
 * X, D d x n; Y K x n; T K x (d + 1), bias last, kept transposed. */
#ifndef LAPIS_RR_H
#define LAPIS_RR_H
#include "base/param.h"
#include "mat/mat.h"
#include "solve/robust/common.h"
#include "solve/robust/dstep.h"

extern const lapis_method rr_method, rlda_method;

/* T from D-hat.  W'W = Q diag(l) Q': column i of T'Q solves
 * (l_i Dh Dh' + gamma I) t = l_i Dh (Q'Y)_i'; where n < d + 1 the same through
 * Dh'Dh. */
typedef struct rr_tstep {
  int64_t d1, n, K, side; /* d + 1; min(d + 1, n) */
  bool wide;              /* n < d + 1 */
  bool even;              /* all l equal: Cholesky instead of eigenvalues */
  double gamma, *l;       /* K */
  la_array Q;             /* K x K */
  la_array QY;            /* n x K: Y'Q */
  la_array Dh;            /* (d + 1) x n */
  la_array Tt, TQ;        /* (d + 1) x K: T', T'Q */
  la_array G, V;          /* side x side */
  la_array R, S;          /* side x K: right sides */
  double *w;              /* side: eigenvalues */
} rr_tstep;
lapis_status rr_tstep_new(la *h, int64_t d, int64_t n, int64_t K, rr_tstep *t);
void rr_tstep_free(la *h, rr_tstep *t);
/* Y (K x n) and W (K x K) on the host. */
lapis_status rr_tstep_set(la *h, rr_tstep *t, const double *Y, const double *W,
                          double gamma);
lapis_status rr_tstep_run(la *h, rr_tstep *t);

typedef struct rr {
  lapis_solver base;
  lapis_rr_settings set;
  bool lda, solved, fixed;
  la h;
  int64_t d, n, K;
  targets labels; /* rlda */
  double *Y, *W;  /* K x n, K x K */
  rr_dstep step;  /* X; D in A */
  rr_tstep t;
  /* the augmented Lagrangian, d x n unless said; D is step.A */
  la_array B, G1, Z;
  la_array G2, N; /* (d + 1) x n */
  la_array TW;    /* (d + 1) x K: T'W' */
  la_array WY, H; /* K x n */
  la_array M;     /* K x K */
  double mu, residual[2], J;
  rr_basis basis;
  /* what is published */
  double *X, *low_rank, *sparse, *filled, *dual; /* d x n */
  double *scores, *decided, *weights;            /* K x n, labels, T' */
} rr;

/* targets.c: checks Y, fills labels, K, Y, W. */
lapis_status rr_check_targets(lapis_ctx *ctx, bool lda,
                              const lapis_rr_settings *set,
                              const lapis_data *data);
lapis_status rr_targets_build(rr *w, const lapis_data *data);
/* alm.c: [RR16] Alg. 1. */
lapis_status rr_alm_alloc(rr *w);
void rr_alm_free(rr *w);
lapis_status rr_alm(rr *w, loop *l);
/* W Y and the T-step's share of the targets; before anything else. */
lapis_status rr_alm_targets(rr *w);
/* T for D = step.A, whose nuclear norm step.low_rank holds; J. */
lapis_status rr_regress(rr *w);
/* J at step.A and T; the nuclear norm and the l1 norm are given. */
lapis_status rr_objective(rr *w, double nuclear, double l1, double *J);

#endif
