/* outliers.h - points of which some are wrong or missing: between files. */
#ifndef LAPIS_ROML_ROBUST_H
#define LAPIS_ROML_ROBUST_H
#include "solve/roml/roml.h"

typedef struct robust {
  roml *w;
  const roml_problem *p;
  la h;
  int64_t n;
  double tau; /* a match farther away than this is none */
  op_assign *solver;
  double *cost;     /* largest x largest */
  double *W;        /* K x K: mean capped cost of a pair */
  int32_t *partner; /* K x N: of feature f in image l, at l * N + f, or -1 */
  int64_t *pick, *best; /* K x n, -1 absent */
  /* tracks */
  la_array A, Q;     /* N x N: adjacency; eigenvectors */
  double *value;     /* N */
  bool *edge, *used; /* K x K; N */
  /* low-rank fit */
  double *B, *C, *weight; /* K x 2 x RANK, n x RANK, K x n */
  double *fit, *work;     /* K x n x 2, K x n */
} robust;

enum { ROBUST_RANK = 4 };

/* Solves the symmetric positive system A x = b of order m <= 4 in place. */
void roml_solve_small(int m, double A[4][4], double *b);
double roml_median(double *v, int64_t count); /* reorders v */

/* affine.c: fills W and partner.  rounds; the cap is tau, and tau / 2
 * from round `half` on. */
lapis_status roml_affine_pairs(robust *g, int rounds, int half);
/* tracks.c: pick from the k nearest images of each. */
lapis_status roml_tracks(robust *g, int64_t nearest);
/* rank.c: improves pick; the sum of min(residual, tau). */
lapis_status roml_rank_fit(robust *g, double *score);

#endif
