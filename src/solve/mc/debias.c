/* debias.c - the same fit again inside the spaces found, with a tenth of
 * the penalty.
 *
 *   minimize over M  (mu / 10) |Q M R'|_* + phi(Q M R')
 *
 * Q and R hold orthonormal bases of the column and row space of the solution,
 * so the problem stays convex, in some rank^2 unknowns, and |Q M R'|_* = |M|_*.
 * (A refit without any mu has no minimiser: the label losses of separable
 * labels diverge.)  A solution of some tolerance misses the row of ones and the
 * simplex by as much, and its space may hold no feasible point: it is widened
 * by the row of ones e, in R by e and in Q by the unit vector u of that row,
 * and in Q for the simplex by v = (0, 1, .., 1, 0), so that u e' (+ v e' / D)
 * is one.  ADMM as in mc.c; the low-rank step projects first:
 *   M <- SVT(Q'(2B - V) R, mu / (10 rho));  A <- Q M R'.
 *
 * The bounds are those of one point, the feasible B, which leaves the space by
 * B - P B, P B = Q Q'B R R'.  With G in dom phi* and |Q'G R|_2 <= mu / 10
 *   -phi*(G) is no more than the optimum in the space, and
 *   F(B) >= <G, B> - phi*(G) - <Q'G R, Q'B R> = -phi*(G) + <G, B - P B>,
 * so that -phi*(G) - |<G, B - P B>| is below both. */
#include <math.h>

#include "solve/mc/mc.h"

static const double SHARE = 0.1;
enum { CHECK_EVERY = 10 };

typedef struct space {
  la_array left, right; /* from the SVD: m x k, k x n */
  la_array Q, R;        /* m x q, n x r: of R each process has its samples */
  la_array along;       /* r x 1, where R is divided */
  la_array T;           /* m x r */
  la_array M, shrunk;   /* q x r */
  op_svt *svt;          /* for q x r */
  svt_report report;
  int64_t rank; /* of the solution */
} space;

static void space_free(mc *w, space *s)
{
  la_array *all[] = {&s->left,  &s->right, &s->Q, &s->R,
                     &s->along, &s->T,     &s->M, &s->shrunk};
  for (int i = 0; i < 8; i++) w->h.ops->free(&w->h, all[i]);
  op_svt_free(s->svt);
}

/* Column `at` of Q is 1 in some rows of Z, else 0; as far as Q has room: full,
 * it holds every column. */
static lapis_status add_rows(mc *w, la_array *Q, int64_t at, int64_t first,
                             int64_t rows)
{
  if (at >= Q->cols) return LAPIS_OK;
  la_array column = la_cols(Q, at, 1), part = la_rows(&column, first, rows);
  TRY(la_zero(&w->h, &column));
  return w->h.ops->fill(&w->h, 1, &part);
}

/* Gram-Schmidt on the columns of R, whose rows are divided; the first time
 * leaves what rounding can of those before. */
static lapis_status orthonormalise(mc *w, la_array *R, la_array *all_along)
{
  const la_backend *ops = w->h.ops;
  for (int64_t k = 0; k < R->cols; k++) {
    la_array q = la_cols(R, k, 1), before = la_cols(R, 0, k);
    la_array along = la_rows(all_along, 0, k);
    for (int again = 0; again < 3; again++) {
      double square;
      if (k > 0) {
        TRY(ops->gemm(&w->h, LA_T, LA_N, 1, &before, &q, 0, &along));
        TRY(la_sum(&w->h, &along));
        TRY(ops->gemm(&w->h, LA_N, LA_N, -1, &before, &along, 1, &q));
      }
      TRY(ops->dot(&w->h, &q, &q, &square));
      TRY(base_sum(w->base.ctx, &square, 1));
      if (square > 0) TRY(la_scale(&w->h, 1 / sqrt(square), &q));
    }
  }
  return LAPIS_OK;
}

/* Q and R, widened; A'Q has the columns of R, not of length 1. */
static lapis_status widen(mc *w, space *s)
{
  const la_backend *ops = w->h.ops;
  const mc_problem *p = &w->p;
  bool simplex = p->variant == LAPIS_MC_SIMPLEX;
  int64_t q = s->rank + p->ones + simplex;
  int64_t r = s->rank + (p->ones > 0 || simplex);
  TRY(ops->alloc(&w->h, LAPIS_F64, p->m, q < p->m ? q : p->m, &s->Q));
  TRY(ops->alloc(&w->h, LAPIS_F64, p->n, r < p->all ? r : p->all, &s->R));
  la_array from = la_cols(&s->left, 0, s->rank);
  la_array Q = la_cols(&s->Q, 0, s->rank), R = la_cols(&s->R, 0, s->rank);
  TRY(la_copy(&w->h, &from, &Q));
  TRY(ops->gemm(&w->h, LA_T, LA_N, 1, &w->A, &Q, 0, &R));
  if (p->ones > 0) TRY(add_rows(w, &s->Q, s->rank, p->m - 1, 1));
  if (simplex) TRY(add_rows(w, &s->Q, s->rank + p->ones, p->K, p->D));
  if (r > s->rank) TRY(add_rows(w, &s->R, s->rank, 0, p->n));
  TRY(ops->qr(&w->h, &s->Q, NULL));
  if (base_ranks(w->base.ctx) > 1) {
    TRY(ops->alloc(&w->h, LAPIS_F64, s->R.cols, 1, &s->along));
    return orthonormalise(w, &s->R, &s->along);
  }
  return ops->qr(&w->h, &s->R, NULL);
}

static lapis_status space_find(mc *w, space *s)
{
  const la_backend *ops = w->h.ops;
  int64_t m = w->p.m;
  TRY(la_copy(&w->h, &w->A, &w->W));
  TRY(op_svd(&w->h, &w->W, &s->left, w->values, &s->right));
  while (s->rank < s->left.cols && w->values[s->rank] > 1e-12 * w->values[0])
    s->rank++;
  if (s->rank == 0) return LAPIS_OK;
  TRY(widen(w, s));
  int64_t q = s->Q.cols, r = s->R.cols;
  TRY(ops->alloc(&w->h, LAPIS_F64, m, r, &s->T));
  TRY(ops->alloc(&w->h, LAPIS_F64, q, r, &s->M));
  TRY(ops->alloc(&w->h, LAPIS_F64, q, r, &s->shrunk));
  base_alone(w->base.ctx, true);
  lapis_status status = op_svt_new(&w->h, q, r, &s->svt);
  base_alone(w->base.ctx, false);
  return status;
}

/* M = Q'X R, which every process has whole */
static lapis_status project(mc *w, space *s, const la_array *X, la_array *M)
{
  TRY(w->h.ops->gemm(&w->h, LA_N, LA_N, 1, X, &s->R, 0, &s->T));
  TRY(la_sum(&w->h, &s->T));
  return w->h.ops->gemm(&w->h, LA_T, LA_N, 1, &s->Q, &s->T, 0, M);
}

static lapis_status update_core(mc *w, space *s)
{
  const la_backend *ops = w->h.ops;
  TRY(la_copy(&w->h, &w->B, &w->W));
  TRY(ops->axpby(&w->h, -1, &w->V, 2, &w->W));
  TRY(project(w, s, &w->W, &s->M));
  base_alone(w->base.ctx, true);
  lapis_status status =
      op_svt_apply(s->svt, &s->M, w->p.mu / w->rho, &s->shrunk, &s->report);
  base_alone(w->base.ctx, false);
  TRY(status);
  TRY(ops->gemm(&w->h, LA_N, LA_N, 1, &s->Q, &s->shrunk, 0, &s->T));
  return ops->gemm(&w->h, LA_N, LA_T, 1, &s->T, &s->R, 0, &w->A);
}

/* Lowers *dual by |<G, B - P B>|, G = scale W; M holds Q'W R. */
static lapis_status take_outside(mc *w, space *s, double scale, double *dual)
{
  double whole, inside;
  TRY(w->h.ops->dot(&w->h, &w->W, &w->B, &whole));
  TRY(base_sum(w->base.ctx, &whole, 1));
  TRY(project(w, s, &w->B, &s->shrunk));
  TRY(w->h.ops->dot(&w->h, &s->M, &s->shrunk, &inside));
  *dual -= scale * fabs(whole - inside);
  return LAPIS_OK;
}

static lapis_status certify(mc *w, space *s, mc_bounds *out)
{
  const la_backend *ops = w->h.ops;
  double norm, conjugate;
  TRY(mc_primal(w, &out->primal));
  TRY(ops->axpby(&w->h, w->rho, &w->V, 0, &w->W));
  TRY(ops->axpby(&w->h, -w->rho, &w->B, 1, &w->W));
  TRY(ops->clamp(&w->h, &w->p.phi, &w->W));
  TRY(project(w, s, &w->W, &s->M));
  base_alone(w->base.ctx, true);
  lapis_status status = op_norm2_upper(s->svt, &s->M, &norm);
  base_alone(w->base.ctx, false);
  TRY(status);
  double scale = norm > w->p.mu ? w->p.mu / norm : 1;
  TRY(ops->conjugate(&w->h, &w->p.phi, scale, &w->W, &conjugate));
  TRY(base_sum(w->base.ctx, &conjugate, 1));
  out->dual = -conjugate;
  TRY(take_outside(w, s, scale, &out->dual));
  if (scale < 1) TRY(la_scale(&w->h, scale, &w->W));
  out->norm = norm / w->p.mu;
  out->gap = (out->primal - out->dual) /
             fmax(fmax(fabs(out->primal), fabs(out->dual)), 1e-300);
  return LAPIS_OK;
}

static lapis_status check(mc *w, space *s, const double sums[4])
{
  mc_bounds *b = &w->bounds;
  TRY(certify(w, s, b));
  double residual = sqrt(sums[0] / fmax(sums[2], 1e-300));
  w->base.info.residual = residual;
  double rank = (double)s->report.rank;
  return loop_record(&w->base.loop,
                     (double[]){b->primal, b->dual, b->gap, residual, rank});
}

static bool settled(const mc *w)
{
  return w->bounds.gap <= w->set.stop.tol &&
         w->base.info.residual <= w->set.stop.tol;
}

static lapis_status iterate(mc *w, space *s)
{
  loop *l = &w->base.loop;
  double sums[4] = {0};
  w->bounds.gap = w->base.info.residual = INFINITY;
  while (!settled(w) && loop_next(l)) {
    TRY(update_core(w, s));
    TRY(mc_update_state(w));
    TRY(mc_update_fit(w, sums));
    TRY(base_sum_due(w->base.ctx));
    if (l->iter % CHECK_EVERY == 0) TRY(check(w, s, sums));
  }
  if (l->iter % CHECK_EVERY != 0) TRY(check(w, s, sums));
  w->low_rank = s->report;
  return LAPIS_OK;
}

/* mu and the multiplier rho (V - B) become `share` of what they are, rho
 * becomes `factor` rho. */
static lapis_status rescale(mc *w, double share, double factor)
{
  w->p.mu *= share;
  w->rho *= factor;
  double f = share / factor;
  return w->h.ops->axpby(&w->h, 1 - f, &w->B, f, &w->V);
}

/* For pos rho is made for accelerated steps; these are plain. */
lapis_status mc_debias(mc *w)
{
  space s = {.rank = 0};
  lapis_status status = space_find(w, &s);
  double mu = w->p.mu, slower = w->p.variant == LAPIS_MC_POS ? 0.125 : 1;
  if (status >= 0 && s.rank > 0) {
    status = rescale(w, SHARE, slower);
    if (status >= 0) status = iterate(w, &s);
    if (status >= 0) status = rescale(w, 1, 1 / slower);
    w->p.mu = mu;
  }
  space_free(w, &s);
  return status;
}
