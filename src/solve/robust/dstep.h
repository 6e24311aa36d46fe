/* dstep.h - the convex step that robust PCA, robust regression with given
 * weights and refilling share.
 *
 *   minimize  |D|_* + lambda |P_Omega(X - D)|_1 + eta/2 |R - K D|_F^2
 *
 * K = W T without its bias column (k x d), R = W (Y - t0 1') (k x n); k = 0:
 * no fit term, robust PCA.  Any C and Q with |C| <= lambda on Omega, 0 off it,
 * and |C + K'Q|_2 <= 1 give the lower bound <C, X> + <Q, R> - |Q|^2/(2 eta). */
#ifndef LAPIS_RR_DSTEP_H
#define LAPIS_RR_DSTEP_H
#include "base/loop.h"
#include "la/backend.h"
#include "op/svt.h"
#include "solve/robust/accelerate.h"

/* What a point and a multiplier prove together. */
typedef struct rr_bounds {
  double primal, dual, gap;
  double norm; /* |C + K'Q|_2 before scaling */
} rr_bounds;

/* The fit term.  C2 is D's copy here, S its Douglas-Rachford state. */
typedef struct rr_fit {
  int64_t k; /* 0: no fit term */
  double eta;
  la_array K, R, M; /* k x d, k x n, k x k: Cholesky of fit.rho/eta I + K K' */
  la_array S, P, G; /* d x n: state; P = C2 - S = K'H; scratch */
  la_array H, T;    /* k x n: Q = fit.rho H; scratch */
  double rho, before;   /* this step's, the last one's */
  double sums[4];       /* |A - C2|^2, |C2_new - C2|^2, |C2_new|^2, |P|^2 */
  double inner, square; /* <Q, R>, |Q|^2 of the last step */
  double loss;          /* |R - K A|^2 */
} rr_fit;

/* The free estimate takes a Frobenius norm for a spectral one and may be a
 * thousand times the gap; every few steps a power method guesses better.  What
 * looks proved is then proved, with the whole spectrum.  After a proof that
 * failed the next waits for a smaller guess, but not for ever: a guess is from
 * below, and may be low by as much as it likes. */
typedef struct rr_proof {
  double tol, ask; /* what is wanted; the guess that is worth a proof */
  bool spent;      /* W holds a multiplier and must be made again */
  bool done;       /* the gap at hand is exact, and small enough */
} rr_proof;

typedef struct rr_dstep {
  la *h;
  op_svt *svt;
  int64_t d, n;
  double lambda, rho, unit; /* unit: |X|_2, roughly */
  int64_t age;              /* steps taken, for the schedule of rho */
  la_array X, S, W, A;      /* d x n; A = D */
  la_array u, v;            /* d x 1, n x 1: power method */
  rr_fit fit;
  svt_report low_rank;
  double sums[6]; /* of la's l1_step */
  rr_bounds bounds;
  rr_proof proof;
  int64_t round;  /* of refilling */
  rr_accel accel; /* of S and fit.S, once rho has settled */
} rr_dstep;

/* k rows of K and R are allocated, to be filled before rr_dstep_start. */
lapis_status rr_dstep_new(la *h, const lapis_mat *X, int64_t k, rr_dstep *w);
void rr_dstep_free(rr_dstep *w);
/* From S = X with zeros; or, warm, from where the last solve ended, for
 * another lambda, X, K or R. */
lapis_status rr_dstep_start(rr_dstep *w, double lambda, bool warm);
/* Until the certified relative gap is at most tol, or the loop ends. */
lapis_status rr_dstep_run(rr_dstep *w, loop *l, double tol);
/* Names what rr_dstep_run continues from; masked: X changes from round to
 * round of refilling. */
void rr_dstep_keep(rr_dstep *w, loop *l, bool masked);
/* Bounds at A from the multiplier at hand; W returns holding C, scaled. */
lapis_status rr_dstep_certify(rr_dstep *w);
/* |A - B| / |B| of the last step. */
double rr_dstep_residual(const rr_dstep *w);
/* What rr_dstep_run records: 6 names. */
extern const char *const rr_dstep_columns[];

/* ---- the fit term: dstep_fit.c ---------------------------------------*/
lapis_status rr_fit_alloc(rr_dstep *w, int64_t k);
void rr_fit_free(rr_dstep *w);
/* M for the rho at hand, and H, P from S. */
lapis_status rr_fit_factor(rr_dstep *w);
/* H and P from S. */
lapis_status rr_fit_project(rr_dstep *w);
/* S += relax (A - C2), P anew, then both for a rho grown by factor; sums. */
lapis_status rr_fit_step(rr_dstep *w, double relax, double factor);
/* W = (rho W + fit.rho (S + 2 P)) / (rho + fit.rho) */
lapis_status rr_fit_reflect(rr_dstep *w);
/* loss = |R - K A|^2 */
lapis_status rr_fit_loss(rr_dstep *w);

#endif
