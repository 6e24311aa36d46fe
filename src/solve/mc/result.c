/* result.c - what a solve proves and what it hands out.
 *
 * Any G gives a lower bound: with s = min(1, mu / |G|_2),
 *   dual = -phi*(sG),  gap = F(B) - dual >= 0.
 * G = rho U is in dom phi* up to rounding after every proximal step; it is
 * clamped into it first and scaled afterwards, because dom phi* is convex and
 * holds 0, so that scaling cannot leave it. */
#include <math.h>

#include "solve/mc/mc.h"

/* F(B) = mu |B|_* + phi(B); W is scratch. */
lapis_status mc_primal(mc *w, double *out)
{
  double nuclear = 0, loss = 0;
  int64_t k = w->p.m < w->p.n ? w->p.m : w->p.n;
  TRY(w->h.ops->axpby(&w->h, 1, &w->B, 0, &w->W));
  TRY(op_singular_values_of(w->svt, &w->W, w->values));
  for (int64_t i = k - 1; i >= 0; i--) nuclear += w->values[i];
  TRY(w->h.ops->loss(&w->h, &w->p.phi, &w->B, &loss));
  TRY(base_sum(w->base.ctx, &loss, 1));
  *out = w->p.mu * nuclear + loss;
  return LAPIS_OK;
}

lapis_status mc_certify(mc *w, mc_bounds *out)
{
  double norm = 0, conjugate = 0;
  TRY(mc_primal(w, &out->primal));
  TRY(w->h.ops->axpby(&w->h, w->rho, &w->U, 0, &w->W));
  TRY(w->h.ops->clamp(&w->h, &w->p.phi, &w->W));
  TRY(op_norm2_upper(w->svt, &w->W, &norm));
  double scale = norm > w->p.mu ? w->p.mu / norm : 1;
  TRY(w->h.ops->conjugate(&w->h, &w->p.phi, scale, &w->W, &conjugate));
  TRY(base_sum(w->base.ctx, &conjugate, 1));
  out->dual = -conjugate;
  out->norm = norm / w->p.mu;
  double size = fmax(fmax(fabs(out->primal), fabs(out->dual)), 1e-300);
  out->gap = (out->primal - out->dual) / size;
  if (scale < 1) TRY(w->h.ops->axpby(&w->h, 0, &w->W, scale, &w->W));
  return LAPIS_OK;
}

/* ---- result arrays ------------------------------------------------------*/
static double *reals(mc *w, int64_t rows, int64_t cols, bool *ok)
{
  double *p = base_alloc(w->base.ctx, rows * cols, sizeof *p);
  *ok = *ok && p != NULL;
  return p;
}

lapis_status mc_results_alloc(mc *w)
{
  const mc_problem *p = &w->p;
  bool ok = true;
  w->values = reals(w, p->m, 1, &ok); /* one process may be given all */
  w->sparse = reals(w, p->D, p->n, &ok);
  if (p->K > 0) w->scores = reals(w, p->K, p->n, &ok);
  if (p->K > 0)
    w->decided = reals(w, targets_label_rows(&p->labels), p->n, &ok);
  if (p->calibration != NULL) w->probabilities = reals(w, p->K, p->n, &ok);
  if (w->set.certificate && w->solver == &mc_admm)
    w->dual = reals(w, p->m, p->n, &ok);
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

/* low_rank and class_features: Z_X where it lies; sparse = X - Z_X where X was
 * seen, 0 elsewhere. */
static lapis_status publish_features(mc *w)
{
  int64_t D = w->p.D, n = w->p.n;
  la_array B = la_rows(&w->B, w->p.K, D), Z0 = la_rows(&w->p.phi.Z0, w->p.K, D);
  lapis_mat sparse = lapis_mat_f64(w->sparse, D, n);
  lapis_mat fit = la_as_mat(&B);
  TRY(w->h.ops->download(&w->h, &Z0, &sparse));
  for (int64_t k = 0; k < D * n; k++) {
    double z = ((double *)fit.val)[k / D * fit.ld + k % D];
    w->sparse[k] = isnan(w->sparse[k]) ? 0 : w->sparse[k] - z;
  }
  la_array extra = la_cols(&B, w->p.samples, w->p.K);
  lapis_mat classes = la_as_mat(&extra);
  fit.cols = sparse.cols = w->p.samples;
  solver_publish(&w->base, "low_rank", fit);
  solver_publish(&w->base, "sparse", sparse);
  if (n > w->p.samples) solver_publish(&w->base, "class_features", classes);
  return LAPIS_OK;
}

void mc_publish_labels(mc *w)
{
  const targets *t = &w->p.labels;
  lapis_mat scores = lapis_mat_f64(w->scores, w->p.K, w->p.n);
  for (int64_t k = 0; k < w->p.K * w->p.n; k++)
    if (w->p.turn[k % w->p.K] < 0) w->scores[k] = 1 - w->scores[k];
  mc_decide(&w->p, w->scores, w->p.samples, w->decided, w->probabilities);
  scores.cols = w->p.samples;
  if (w->p.calibration != NULL)
    solver_publish(&w->base, "probabilities",
                   lapis_mat_f64(w->probabilities, w->p.K, w->p.samples));
  solver_publish(&w->base, "scores", scores);
  solver_publish(
      &w->base, "labels",
      lapis_mat_f64(w->decided, targets_label_rows(t), w->p.samples));
  if (t->kind == TARGETS_CLASS)
    solver_publish(&w->base, "classes", lapis_mat_f64(t->value, 1, w->p.K));
}

static lapis_status publish_labels(mc *w)
{
  if (w->p.K == 0) return LAPIS_OK;
  la_array top = la_rows(&w->B, 0, w->p.K);
  lapis_mat scores = lapis_mat_f64(w->scores, w->p.K, w->p.n);
  TRY(w->h.ops->download(&w->h, &top, &scores));
  mc_publish_labels(w);
  return LAPIS_OK;
}

lapis_status mc_publish(mc *w)
{
  TRY(publish_labels(w));
  TRY(publish_features(w));
  solver_publish_history(&w->base);
  if (w->solver == &mc_fpc) return LAPIS_OK;
  solver_publish(&w->base, "dual_norm", lapis_mat_f64(&w->bounds.norm, 1, 1));
  if (!w->set.certificate) return LAPIS_OK;
  lapis_mat dual = lapis_mat_f64(w->dual, w->p.m, w->p.n);
  TRY(w->h.ops->download(&w->h, &w->W, &dual));
  solver_publish(&w->base, "dual", dual);
  return LAPIS_OK;
}
