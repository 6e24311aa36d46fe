/* bordered.h - completion where every feature was seen, between its files.
 *
 * Everything here is in units of a = 1/|Omega_X|: tau = mu / a weighs the
 * nuclear norm, beta = b / a a label.  Letters:
 *
 *   p = K + 1          rows that are split: labels and ones
 *   N                  columns: one a labelled sample, and those that stand
 *                      for all the others (compress.c)
 *   r <= min(D, N)     rows that X = P Xr was turned into, Xr Xr' = diag(S2)
 *   R                  rank of the low-rank iterate L = u f u' [T; X] */
#ifndef LAPIS_MC_BORDERED_H
#define LAPIS_MC_BORDERED_H
#include "methods/mc/mc.h"
#include "op/svt/anderson.h"

/* ---- compress.c: which columns the problem has --------------------------*/
typedef struct border_columns {
  la *h;
  lapis_mat data;         /* D x n, as it was given */
  const mat_shift *shift; /* how it is read, borrowed, or NULL */
  int64_t own, rest;      /* samples with a column; columns of the others */
  int64_t others;         /* samples without a column; all of all processes */
  int64_t *place;         /* n: column of a sample, or -1 */
  la_array X;    /* D x N; a view of the data where nothing is gained */
  double *e;     /* N: what the row of ones became */
  la_array back; /* rest x (D + 1): column O_j = back [1; x_j] */
} border_columns;

/* known: n marks of the samples that may have labels. */
lapis_status border_columns_new(la *h, const lapis_mat *X,
                                const mat_shift *shift, const bool *known,
                                border_columns *out);
void border_columns_free(border_columns *c);
/* Whether a problem of so many unlabelled samples is made smaller. */
bool border_compresses(int64_t others, int64_t D);

/* Samples first .. first + count - 1 as [1; x], (D + 1) x count doubles. */
void border_block(const border_columns *c, int64_t first, int64_t count,
                  double *out);
/* Samples that are read at once. */
int64_t border_block_size(int64_t D);

/* ---- bordered_step.c: the singular value step -----------------------------*/
typedef struct border_spectrum {
  la *h;
  int64_t r;
  la_array X;    /* as the steps use it: Xr (r x N), or D x N */
  bool turned;   /* X is Xr already */
  la_array P;    /* D x r: X = P Xr */
  double *S2;    /* r, descending */
  double square; /* |X|_F^2 */
} border_spectrum;

/* Takes an X over that is no view, where that saves work. */
lapis_status border_spectrum_new(la *h, la_array *X, border_spectrum *out);
void border_spectrum_free(border_spectrum *s);
/* E = T Xr' (k x r) of k rows; room: k x rows of X. */
lapis_status border_onto(const border_spectrum *s, const la_array *T,
                         la_array *room, la_array *E);
/* L = C Xr + beta L of k rows, C k x r. */
lapis_status border_back(const border_spectrum *s, const la_array *C,
                         la_array *room, double beta, la_array *L);

/* [T; X] -> singular value thresholding, of which only the rows of T are
 * made. */
typedef struct border_svt {
  const border_spectrum *x;
  int64_t p, head, blocks; /* of the tail's Krylov space; 0: the whole tail */
  int64_t tail, kept;      /* rows behind the head; vectors taken of them */
  double tau;
  la_array E, room, TT;     /* p x r, p x rows of X, p x p */
  la_array M, V;            /* the small eigenproblem and its vectors */
  la_array block, side, Th; /* tail x p, kept x p, tail x kept */
  la_array ThS;             /* tail x kept: S2 Th */
  la_array uT, uX;          /* p, r x R: views of the two below */
  la_array allT, allX;      /* p, r x order */
  la_array C1, C2;          /* p x p, p x r */
  double *values, *f, *s;   /* order: of M; R: 1 - tau/s, s */
  int64_t R;
} border_svt;

/* The largest singular value of [T; X], T p x N. */
lapis_status border_largest(const border_spectrum *x, const la_array *T,
                            double *sigma);
/* Makes room for a threshold; blocks: 0, or the least that is wanted. */
lapis_status border_svt_new(const border_spectrum *x, int64_t p, double tau,
                            int64_t blocks, border_svt *out);
void border_svt_free(border_svt *s);
/* L = the rows of T in SVT([T; X], tau). */
lapis_status border_svt_apply(border_svt *s, const la_array *T, la_array *L);

/* ---- inertia.c: the proof -----------------------------------------------*/
typedef struct border_proof {
  la_array UY;              /* K x N: the labels' rows of the multiplier */
  const la_array *T;        /* p x N that the last step thresholded */
  double rounding;          /* of Xr Xr' = S2, in the units of S2 */
  la_array UU, S, UX, room; /* K x K twice, K x r, K x rows of X */
  la_array UT, KR;          /* K x p, K x R */
  la_array W, Wd, A;        /* r x (R + K) twice, (R + K) square */
  double *values;           /* R + K */
  double slack;             /* what the tail left out may add to |g|^2 */
} border_proof;

lapis_status border_proof_new(la *h, const border_svt *s, int64_t K,
                              border_proof *out);
void border_proof_free(la *h, border_proof *q);
/* All that does not depend on the bound. */
lapis_status border_proof_prepare(const border_svt *s, border_proof *q);
/* Whether |[U_Y; L_X - X]|_2 < bound. */
lapis_status border_norm_below(const border_svt *s, border_proof *q,
                               double bound, bool *below);

/* ---- bordered.c ---------------------------------------------------------*/
typedef struct bordered {
  border_columns columns;
  border_spectrum x;
  border_svt svt;
  border_proof proof;
  anderson accel;
  int64_t K, p, N;
  double tau, beta;
  la_penalty labels;      /* Z0: K x N, NaN unknown; unknown in the rest */
  la_array V, B, U, T, L; /* p x N: state; as of the last plain step */
  la_array off;           /* p x N: B - L_T */
  la_array e;             /* N x 1: the row of ones, standing */
  la_array Te, Xe, Ge, UYe, fe; /* p, r, r, K, r x 1: sums over columns */
  double scale;                 /* of the multiplier, so that |g|_2 <= tau */
  int64_t blocks;               /* of the Krylov spaces, at least */
  bool thorough;                /* the bounds at hand are the sharp ones */
  double *weights;              /* K x (D + 1): the affine map of the scores */
  double *turned;               /* (D + 1) x K: the same as it is handed out */
  double *low_rank;             /* D x n where it is published */
} bordered;

/* ---- bordered_result.c --------------------------------------------------*/
lapis_status border_publish(mc *w);
lapis_status border_learn(mc *w);

#endif
