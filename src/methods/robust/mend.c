/* mend.c - the multiplier of robust PCA, mended into a certificate.
 *
 * At the optimum A = U S V' the multiplier C agrees with U V' on the space T of
 * all U a' + b V', where its norm is 1, and is lambda sign(X - A) where X - A
 * is not 0.  Steps make the first true long after they have found A: the norm
 * stays a millionth above 1.  Both are mended in turns, from nearby:
 *   C <- C + U V' - P_T(C),  P_T(C) = U U'C + (I - U U') C V V'
 *   C <- clamp(C + mu (X - A), -lambda, lambda), 0 where X is not observed
 * mu lifts what the first has moved off the bounds where X - A is not 0, and is
 * small beside rho: elsewhere X - A is the error of A.  A turn leaves a seventh
 * of the excess of the norm, a third where more is corrupted (bench/rpca, 500 x
 * 1000, where mu was chosen, too: with rho itself 1e-6 stays, with 1e-3 rho
 * 5e-8).  Whatever C this ends at lies within the bounds, and is weighed like
 * any other.
 *
 * U is a basis of A times random vectors, and V' = (B B')^(-1/2) B, B = U'A: U
 * V' is that of A, however U is turned.  Where columns are divided among
 * processes B B', A times vectors and C V are sums. */
#include "methods/robust/robust.h"

#include <math.h>

enum { MOST_TURNS = 12 };
static const double ENOUGH = 0.1;   /* of the tolerance: what a turn moves */
static const double HOPELESS = 0.7; /* of the turn before */
static const double LIFT = 1e-4;    /* mu, times rho */
static const double LEAST = 1e-10;  /* of the largest eigenvalue of B B' */
static const uint64_t STREAM = 0x6d656e64;

/* C's correction is a product of two sides, [U M] and [U'C - V'; V']. */
typedef struct mender {
  la *h;
  int64_t rank;
  la_array left, right; /* d x 2 rank, 2 rank x n */
  la_array U, M;        /* of left */
  la_array P, V;        /* of right; V holds V' */
  la_array Z;           /* n x rank: random vectors */
  la_array G, Q;        /* rank x rank */
  double *values;       /* rank */
} mender;

static lapis_status allocate(rr_dstep *dstep, mender *m)
{
  la *h = dstep->h;
  int64_t r = dstep->low_rank.rank;
  *m = (mender){.h = h, .rank = r};
  TRY(h->ops->alloc(h, LAPIS_F64, dstep->d, 2 * r, &m->left));
  TRY(h->ops->alloc(h, LAPIS_F64, 2 * r, dstep->n, &m->right));
  TRY(h->ops->alloc(h, LAPIS_F64, dstep->n, r, &m->Z));
  TRY(h->ops->alloc(h, LAPIS_F64, r, r, &m->G));
  TRY(h->ops->alloc(h, LAPIS_F64, r, r, &m->Q));
  m->values = base_alloc(h->ctx, r, sizeof *m->values);
  m->U = la_cols(&m->left, 0, r);
  m->M = la_cols(&m->left, r, r);
  m->P = la_rows(&m->right, 0, r);
  m->V = la_rows(&m->right, r, r);
  return m->values == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static void release(mender *m)
{
  la_array *all[] = {&m->left, &m->right, &m->Z, &m->G, &m->Q};
  for (int i = 0; i < 5; i++) m->h->ops->free(m->h, all[i]);
  base_free(m->values);
}

static lapis_status draw(const rr_dstep *dstep, mender *m)
{
  lapis_mat Z;
  TRY(la_borrow(m->h, &m->Z, &Z));
  for (int64_t j = 0; j < m->rank; j++)
    for (int64_t i = 0; i < dstep->n; i++)
      ((double *)Z.val)[j * Z.ld + i] =
          rng_normal(1, STREAM, (uint64_t)(j * dstep->all + dstep->first + i));
  return la_give_back(m->h, &Z, &m->Z);
}

/* *found: A's singular values are not too far apart for this. */
static lapis_status find_bases(const rr_dstep *dstep, mender *m, bool *found)
{
  la *h = m->h;
  int64_t r = m->rank, count;
  TRY(draw(dstep, m));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &dstep->A, &m->Z, 0, &m->U));
  TRY(la_sum(h, &m->U));
  TRY(h->ops->qr(h, &m->U, NULL));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &m->U, &dstep->A, 0, &m->P));
  TRY(h->ops->syrk(h, LA_N, &m->P, &m->G));
  TRY(la_sum(h, &m->G));
  TRY(h->ops->eigh(h, &m->G, -INFINITY, m->values, &m->Q, &count));
  *found = m->values[r - 1] > LEAST * m->values[0];
  if (!*found) return LAPIS_OK;
  for (int64_t i = 0; i < r; i++) m->values[i] = 1 / sqrt(sqrt(m->values[i]));
  TRY(la_scale_cols(h, m->values, &m->Q));
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &m->Q, &m->Q, 0, &m->G));
  return h->ops->gemm(h, LA_N, LA_N, 1, &m->G, &m->P, 0, &m->V);
}

/* C agrees with U V' on T; moved: by how much. */
static lapis_status agree(mender *m, la_array *C, double *moved)
{
  la *h = m->h;
  double square;
  TRY(la_copy(h, &m->V, &m->P));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &m->U, C, -1, &m->P));
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, C, &m->V, 0, &m->M));
  TRY(la_sum(h, &m->M));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &m->U, &m->M, 0, &m->G));
  TRY(h->ops->gemm(h, LA_N, LA_N, -1, &m->U, &m->G, 1, &m->M));
  TRY(h->ops->dot(h, &m->P, &m->P, moved));
  TRY(base_sum(h->ctx, moved, 1));
  TRY(h->ops->dot(h, &m->M, &m->M, &square));
  *moved = sqrt(*moved + square);
  return h->ops->gemm(h, LA_N, LA_N, -1, &m->left, &m->right, 1, C);
}

/* W <- clamp(W + mu (X - A)), as clamp(X - (X - W - mu (X - A))). */
static lapis_status bound(rr_dstep *dstep)
{
  la *h = dstep->h;
  la_array *W = &dstep->W;
  double mu = LIFT * dstep->rho;
  TRY(h->ops->axpby(h, 1 - mu, &dstep->X, -1, W));
  TRY(h->ops->axpby(h, mu, &dstep->A, 1, W));
  return h->ops->l1_dual(h, dstep->lambda, &dstep->X, W, W);
}

static lapis_status mend(rr_dstep *dstep, mender *m)
{
  bool found;
  double enough = ENOUGH * dstep->proof.tol, moved, before = INFINITY;
  TRY(find_bases(dstep, m, &found));
  for (int i = 0; found && i < MOST_TURNS; i++) {
    TRY(agree(m, &dstep->W, &moved));
    TRY(bound(dstep));
    if (moved <= enough || !(moved < HOPELESS * before)) return LAPIS_OK;
    before = moved;
  }
  return LAPIS_OK;
}

lapis_status rr_mend(rr_dstep *dstep)
{
  mender m;
  if (dstep->low_rank.rank == 0) return LAPIS_OK;
  lapis_status status = allocate(dstep, &m);
  if (status >= 0) status = mend(dstep, &m);
  release(&m);
  return status;
}
