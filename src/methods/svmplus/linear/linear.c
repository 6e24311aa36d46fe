/* linear.c - the linear problem: who solves it, and what alpha and zeta prove.
 *
 *   min 1/2 |w|^2 + gamma/2 |v|^2 + sum C_i v'z_i
 *   s.t. y_i w'x_i >= 1 - v'z_i,  v'z_i >= 0                   [SVMP16 (7)]
 *
 * At w = sum a_i y_i x_i, v = (1/gamma) sum (a_i + s_i - C_i) z_i the dual is
 *   D = 1'a - |w|^2/2 - gamma |v|^2/2  (f of (9) plus a constant).
 * Raising v's bias by t = max(0, max -v'z_i, max 1 - y_i w'x_i - v'z_i) makes
 * (w, v) feasible, so the primal P there bounds the optimum from above.
 * Where features are large, w(a) loses in y w'x what a's rounding costs times
 * |x|^2; P at any other (w, v) bounds the optimum as well, so that the interior
 * point's own may stand in its place.
 *
 * Without privileged features the slack is free: P = |w|^2/2 + sum C_i
 * max(0, 1 - y_i w'x_i), D = 1'a - |w|^2/2, 0 <= a <= C.
 *
 * dcd.c (descent) or ipm.c (interior point, with the last digits from
 * vertex.c) solve it: the latter first where its d + p equations are few, or
 * after descent has stalled.  Of many samples shrink.c gives it a few. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"

enum {
  ORDER_MODERATE = 700, /* d + p: interior point first */
  ORDER_POSSIBLE = 6000 /* after descent, still */
};

/* ---- who solves it ------------------------------------------------------*/
static bool interior_first(const svmplus *w)
{
  int64_t order = w->q.d + w->q.p;
  if (w->set.solver == LAPIS_SVMPLUS_IPM) return true;
  return w->set.solver == LAPIS_SVMPLUS_SOLVER_AUTO && order <= ORDER_MODERATE;
}

lapis_status sv_linear_divides(const svmplus *w)
{
  if (base_ranks(w->base.ctx) == 1) return LAPIS_OK;
  if (w->kind == SV_LINEAR && interior_first(w) && !w->set.probability)
    return LAPIS_OK;
  return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                    "svmplus: %d processes; only the linear problem by "
                    "--solver ipm, without --probability, is divided among "
                    "them",
                    base_ranks(w->base.ctx));
}

/* Samples for which the last digits are worth a dense system. */
enum { SMALL = 20000, MANY = 50 };
static const double PRECISE = 1e-6;

static lapis_status interior(sv_linear *point, double tol)
{
  TRY(sv_ipm(point, tol));
  bool worth = point->q->n <= SMALL && base_ranks(point->q->ctx) == 1;
  bool wanted = tol <= PRECISE || point->gap > tol;
  return worth && wanted && point->q->loop->status == LAPIS_OK
             ? sv_vertex(point)
             : LAPIS_OK;
}

/* So many samples for each unknown that few of them decide the answer. */
static bool shrinks(const svmplus *w)
{
  const sv_data *q = &w->q;
  return w->set.solver == LAPIS_SVMPLUS_SOLVER_AUTO && q->n > SMALL &&
         q->n >= MANY * (q->d + q->p + 2) && base_ranks(q->ctx) == 1;
}

static lapis_status linear_solve(svmplus *w, sv_linear *point)
{
  const sv_data *q = &w->q;
  double tol = w->set.stop.tol;
  bool solved = false, free_choice = w->set.solver == LAPIS_SVMPLUS_SOLVER_AUTO;
  if (interior_first(w)) {
    if (sv_phase(q->loop) == 0 && shrinks(w)) {
      TRY(sv_shrink(point, tol, &solved));
      if (solved || q->loop->status != LAPIS_OK) return LAPIS_OK;
      loop_set_stage(q->loop, q->loop->stage + 1);
    }
    return interior(point, tol);
  }
  for (int64_t i = 0; i < q->n && q->plain; i++) point->s[i] = q->C[i];
  int64_t epochs = free_choice ? SV_EPOCHS : INT64_MAX;
  if (sv_phase(q->loop) == 0) {
    TRY(sv_dcd(point, tol, epochs, &solved));
    if (solved || !free_choice || q->loop->status != LAPIS_OK) return LAPIS_OK;
    loop_set_stage(q->loop, q->loop->stage + 1);
  }
  if (q->d + q->p > ORDER_POSSIBLE)
    return sv_dcd(point, tol, INT64_MAX, &solved);
  base_say(
      q->ctx, 1,
      "svmplus: descent has reached a gap of %.1e after %d epochs; interior "
      "point from here",
      point->gap, SV_EPOCHS);
  return interior(point, tol);
}

/* v as the primal has it: its offset so high that no slack is too small.  Where
 * C/gamma is large, alpha and zeta no longer say it: their sum takes its digits
 * away. */
static lapis_status keep_slack(svmplus *w, int64_t c, const sv_linear *l)
{
  const sv_data *q = &w->q;
  double *v = w->slack + c * (q->p + 1), t = 0;
  for (int64_t i = 0; i < q->n; i++) {
    double slack = column_dot(&q->P, i, l->v);
    double margin = q->y[i] * column_dot(&q->X, i, l->w);
    t = fmax(t, fmax(-slack, 1 - margin - slack));
  }
  TRY(base_max(q->ctx, &t, 1));
  memcpy(v, l->v, (size_t)(q->p + 1) * sizeof *v);
  v[q->p] += t;
  return LAPIS_OK;
}

lapis_status sv_linear_part(svmplus *w, int64_t c)
{
  const sv_data *q = &w->q;
  sv_linear l;
  TRY(sv_linear_new(q, &l));
  lapis_status s = linear_solve(w, &l);
  for (int64_t i = 0; s >= 0 && i < q->n; i++) {
    w->scores[i * w->K + c] = column_dot(&q->X, i, l.w);
    w->alpha[i * w->K + c] = l.a[i];
    w->zeta[i * w->K + c] = l.s[i];
  }
  if (s >= 0 && w->slack != NULL) s = keep_slack(w, c, &l);
  if (s >= 0) {
    memcpy(w->weights + c * (q->d + 1), l.w, (size_t)(q->d + 1) * sizeof *l.w);
    sv_add_info(w, l.primal, l.dual, l.gap);
    s = sv_warn_zero(w, c, l.primal - l.dual, 1);
  }
  sv_linear_free(&l);
  return s;
}
