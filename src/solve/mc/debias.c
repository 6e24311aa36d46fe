/* debias.c - the same fit again inside the spaces found, with a tenth of
 * the penalty.
 *
 *   minimize over M  (mu / 10) |Q M R|_* + phi(Q M R)
 *
 * Q and R' hold orthonormal bases of the column and row space of the solution,
 * so the problem stays convex, in rank^2 unknowns, and |Q M R|_* = |M|_*.  (A
 * refit without any mu has no minimiser: the label losses of separable labels
 * diverge.)  ADMM as in mc.c; the low-rank step projects first:
 *   M <- SVT(Q'(B - U) R', mu / (10 rho));  A <- Q M R.
 * Within that space any G in dom phi* with |Q'G R'|_2 <= mu / 10 bounds the
 * value from below by -phi*(G).  The nuclear norm is that of M, the losses are
 * those of the feasible B; the residual says how far A and B still differ. */
#include <math.h>

#include "solve/mc/mc.h"

static const double SHARE = 0.1;
enum { CHECK_EVERY = 10 };

typedef struct space {
  la_array left, right; /* from the SVD: m x k, k x n */
  la_array Q, R;        /* views: m x r, r x n */
  la_array T;           /* m x r */
  la_array M, shrunk;   /* r x r */
  op_svt *svt;          /* for r x r */
  svt_report report;
  int64_t r;
} space;

static void space_free(mc *w, space *s)
{
  la_array *all[] = {&s->left, &s->right, &s->T, &s->M, &s->shrunk};
  for (int i = 0; i < 5; i++) w->h.ops->free(&w->h, all[i]);
  op_svt_free(s->svt);
}

static lapis_status space_find(mc *w, space *s)
{
  const la_backend *ops = w->h.ops;
  int64_t m = w->p.m, n = w->p.n, k = m < n ? m : n;
  TRY(ops->alloc(&w->h, LAPIS_F64, m, k, &s->left));
  TRY(ops->alloc(&w->h, LAPIS_F64, k, n, &s->right));
  TRY(ops->axpby(&w->h, 1, &w->A, 0, &w->W));
  TRY(ops->svd(&w->h, &w->W, &s->left, w->values, &s->right));
  while (s->r < k && w->values[s->r] > 1e-12 * w->values[0]) s->r++;
  if (s->r == 0) return LAPIS_OK;
  s->Q = la_cols(&s->left, 0, s->r);
  s->R = la_rows(&s->right, 0, s->r);
  TRY(ops->alloc(&w->h, LAPIS_F64, m, s->r, &s->T));
  TRY(ops->alloc(&w->h, LAPIS_F64, s->r, s->r, &s->M));
  TRY(ops->alloc(&w->h, LAPIS_F64, s->r, s->r, &s->shrunk));
  return op_svt_new(&w->h, s->r, s->r, &s->svt);
}

/* M = Q'W R' */
static lapis_status project(mc *w, space *s)
{
  TRY(w->h.ops->gemm(&w->h, LA_N, LA_T, 1, &w->W, &s->R, 0, &s->T));
  return w->h.ops->gemm(&w->h, LA_T, LA_N, 1, &s->Q, &s->T, 0, &s->M);
}

static lapis_status update_core(mc *w, space *s)
{
  const la_backend *ops = w->h.ops;
  TRY(ops->axpby(&w->h, 1, &w->B, 0, &w->W));
  TRY(ops->axpby(&w->h, -1, &w->U, 1, &w->W));
  TRY(project(w, s));
  TRY(op_svt_apply(s->svt, &s->M, w->p.mu / w->rho, &s->shrunk, &s->report));
  TRY(ops->gemm(&w->h, LA_N, LA_N, 1, &s->Q, &s->shrunk, 0, &s->T));
  return ops->gemm(&w->h, LA_N, LA_N, 1, &s->T, &s->R, 0, &w->A);
}

static lapis_status certify(mc *w, space *s, mc_bounds *out)
{
  const la_backend *ops = w->h.ops;
  double loss, norm, conjugate;
  TRY(ops->loss(&w->h, &w->p.phi, &w->B, &loss));
  TRY(base_sum(w->base.ctx, &loss, 1));
  TRY(ops->axpby(&w->h, w->rho, &w->U, 0, &w->W));
  TRY(ops->clamp(&w->h, &w->p.phi, &w->W));
  TRY(project(w, s));
  TRY(op_norm2_upper(s->svt, &s->M, &norm));
  double scale = norm > w->p.mu ? w->p.mu / norm : 1;
  TRY(ops->conjugate(&w->h, &w->p.phi, scale, &w->W, &conjugate));
  TRY(base_sum(w->base.ctx, &conjugate, 1));
  if (scale < 1) TRY(ops->axpby(&w->h, 0, &w->W, scale, &w->W));
  out->primal = w->p.mu * s->report.nuclear + loss;
  out->dual = -conjugate;
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
  return fabs(w->bounds.gap) <= w->set.stop.tol &&
         w->base.info.residual <= w->set.stop.tol;
}

static lapis_status iterate(mc *w, space *s)
{
  loop *l = &w->base.loop;
  double sums[4] = {0};
  w->bounds.gap = w->base.info.residual = INFINITY;
  while (!settled(w) && loop_next(l)) {
    TRY(update_core(w, s));
    TRY(mc_update_fit(w, sums));
    if (l->iter % CHECK_EVERY == 0) TRY(check(w, s, sums));
  }
  if (l->iter % CHECK_EVERY != 0) TRY(check(w, s, sums));
  w->low_rank = s->report;
  return LAPIS_OK;
}

lapis_status mc_debias(mc *w)
{
  space s = {.r = 0};
  lapis_status status = space_find(w, &s);
  double mu = w->p.mu;
  if (status >= 0 && s.r > 0) {
    w->p.mu = SHARE * mu;
    status = w->h.ops->axpby(&w->h, 0, &w->U, SHARE, &w->U);
    if (status >= 0) status = iterate(w, &s);
    w->p.mu = mu;
  }
  space_free(w, &s);
  return status;
}
