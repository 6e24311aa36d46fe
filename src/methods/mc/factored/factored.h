/* factored.h - the state of the factored solver, between its files.
 *
 * Everything is in units of a = 1 / |Omega_X|: tau = mu / a, beta = b / a.
 * Z = A B' + c e' (e = ones, only with labels), rows labels then features. */
#ifndef LAPIS_MC_FACTORED_H
#define LAPIS_MC_FACTORED_H
#include "methods/mc/mc.h"
#include "methods/mc/observed.h"
#include "op/dense/thin.h"

enum { FACTORED_PROBES = 8 };

/* What a point and its residual prove, in units of a. */
typedef struct factored_bounds {
  double primal, dual, gap;
  double norm;  /* of the residual, at most; relative to tau */
  double scale; /* of the residual in the dual: min(1, 1 / norm) */
  bool proved;  /* norm is a bound, not an estimate */
} factored_bounds;

typedef struct factored {
  observed o;
  int64_t m, n;    /* rows and columns of Z without the ones */
  int64_t all;     /* columns of all processes; B and T have a part's rows */
  int64_t off;     /* 1: column 0 of A is c, of B is e; else 0 */
  int64_t R, most; /* columns of the factors behind it; and their cap */
  tall A, B;       /* m x (off + R), n x (off + R) */
  tall sigma;      /* 1 x R: singular values of A B' at the last balance */
  double tau, beta, alpha2;
  double loss;          /* of all entries at A B' */
  double inner, square; /* <S, X> and |S|^2 of the features */
  double *push;         /* m: (rest) e, only with labels */
  /* the residual's largest singular vectors, on its smaller side */
  bool by_sample; /* that side is the samples' */
  int64_t q;      /* columns in use: first those of the factor, then guards */
  tall V, GV, T;  /* side, side, other: V, S'S V, S V */
  tall theta, error; /* 1 x q: Ritz values of S'S, largest first; |residual| */
  double missed;     /* Ritz values above tau^2 outside the factors' space */
  tall Z[4], W;      /* probes: side x 8 four times, other x 8 */
  int64_t drawn;     /* random numbers so far */
  int64_t degree;    /* of the last random test */
  int64_t tests;     /* random ones of this solve */
  double *scratch;   /* threads x room: of one row's normal equations */
  int64_t room;
  double *small;  /* three squares of the widest ld */
  double *normal; /* of several processes: normal equations of some rows */
  factored_bounds now;
  double seen_share; /* |Omega| / (m n) */
  int64_t shape[2];  /* R, q: how large a killed run was */
  double numbers[5]; /* primal at the last look, best gap, looks without a
                        better one, gap at the last look or infinity, sweeps
                        from there to the next */
  int64_t next_look; /* iteration */
  double relax;      /* a row moves so many times the way to its minimum */
  double eager;      /* how early a direction goes, 1 or less */
  bool dropped;      /* some went since the last joined */
  int threads;
  int64_t extra; /* guards more than usual, since a proof failed */
  bool capped;   /* vectors above tau were left out */
  bool exact;    /* the last proof was by Cholesky */
  /* published: r = R + off columns */
  int64_t r;
  arena made;                /* of the factors as published last */
  double *values;            /* r */
  double *left_Y, *left_X;   /* r x K, r x D */
  double *right;             /* r x n */
  double *low_rank, *sparse; /* D x n each, where they fit */
  int64_t *dual_at;          /* n + 1 */
  int32_t *dual_row;
  double *dual;
  double gap;
  const char *proof;
} factored;

/* How the loss of a label of sample j reads it; scale: of a multiplier. */
static inline entry_par factored_label(const mc *w, int64_t j, double scale)
{
  const factored *f = w->state;
  return (entry_par){.weight = f->beta * mc_times(&w->p, j),
                     .gamma = w->p.gamma,
                     .scale = scale,
                     .zero_one = w->p.phi.zero_one};
}

/* ---- factored_step.c: alternating least squares --------------------------*/
/* Room for R columns of the factors and q vectors; keeps what is there. */
lapis_status factored_reserve(mc *w, int64_t R, int64_t q);
/* A <- argmin given B, row by row; then alpha2. */
lapis_status factored_rows(mc *w);
/* B <- argmin given A, sample by sample. */
lapis_status factored_samples(mc *w);
/* A'A = B'B = diag(sigma) (but the offset); directions of nothing go. */
lapis_status factored_balance(mc *w);
/* What balances A and B, from A'A and B'B, R x R each. */
typedef struct factored_pair {
  int64_t R, kept;
  double *Q, *P, *s, *sigma; /* sigma: singular values of A B', kept of them */
} factored_pair;
lapis_status factored_pair_new(mc *w, int64_t R, const double *GA,
                               const double *GB, factored_pair *p);
/* On columns at .. at + R - 1 of A and B, which have the same ld. */
lapis_status factored_pair_apply(la *h, const factored_pair *p, int64_t at,
                                 tall *A, tall *B);
void factored_pair_free(factored_pair *p);
/* The residual S on Omega, and the sums that primal and dual are made of. */
lapis_status factored_rest(mc *w);
/* The directions that `keep` is false for leave the factors. */
void factored_drop(factored *f, const bool *keep);

/* ---- factored_proof.c: how large the residual is
 * ---------------------------*/
/* Y = S'X or S X by the sides: from V's side to the other, and back. */
lapis_status factored_out(const mc *w, const tall *X, tall *Y);
lapis_status factored_back(const mc *w, const tall *X, tall *Y);
/* V <- orthonormal [factor, guards]; one Rayleigh-Ritz step: theta, error, T,
 * GV.  own: before rotating, u_k'S v_k of the factor's R directions, or NULL.
 */
lapis_status factored_ritz(mc *w, bool anew, double *own);
/* Primal, and the dual at a bound `norm` (in units of tau) of |S|_2. */
lapis_status factored_bound(mc *w, double norm, factored_bounds *out);
/* One step of block power on Z_0 of o (ones: and a row of ones): V on the
 * samples' side becomes better, *value its sigma_1. */
lapis_status factored_power(la *h, const observed *o, bool ones, tall *V,
                            tall *T, double *value);
/* Proves a bound of |S|_2 and the gap with it, as the settings ask, where the
 * estimate is near enough; last: a bound of any size. */
lapis_status factored_prove(mc *w, bool last);

/* ---- factored_result.c
 * -------------------------------------------------------*/
lapis_status factored_results(mc *w);
lapis_status factored_publish(mc *w);
lapis_status factored_learn(mc *w);

#endif
