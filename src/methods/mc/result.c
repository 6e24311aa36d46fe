/* result.c - what a solve proves and what it hands out.
 *
 * Any G gives a lower bound: with s = min(1, mu / |G|_2),
 *   dual = -phi*(sG),  gap = F(B) - dual >= 0.
 * G = rho (V - B) is in dom phi* up to rounding after every proximal step; it
 * is clamped into it first and scaled afterwards, because dom phi* is convex
 * and holds 0, so that scaling cannot leave it.
 *
 * The row of ones is free in G, and its best value is known: with g the other
 * rows, |g|_2 <= mu, M = mu^2 I - g'g and e the row of ones of Z,
 *   y = -M e / sqrt(e'M e)
 * keeps |[g; y]|_2 <= mu, since y'y = M e e'M / e'M e <= M (Cauchy-Schwarz in
 * M), and -y e = sqrt(e'M e) is the largest value that any such row gives:
 * y'y <= M means (y e)^2 <= e'M e. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/mc/mc.h"

/* F(B) = mu |B|_* + phi(B); W is scratch. */
lapis_status mc_primal(mc *w, double *out)
{
  double nuclear = 0, loss = 0;
  int64_t k = w->p.m < w->p.all ? w->p.m : w->p.all;
  TRY(w->h.ops->loss(&w->h, &w->p.phi, &w->B, &loss));
  TRY(base_sum_later(w->base.ctx, &loss, 1));
  TRY(la_copy(&w->h, &w->B, &w->W));
  TRY(op_singular_values_of(w->svt, &w->W, w->values));
  for (int64_t i = k - 1; i >= 0; i--) nuclear += w->values[i];
  TRY(base_sum_due(w->base.ctx));
  *out = w->p.mu * nuclear + loss;
  return LAPIS_OK;
}

/* The row of ones of W as above, from its other rows; *scale: what keeps
 * rounding from lifting |W|_2 above mu.  M e is wrong by some (m + n) eps mu
 * |W e|, y by that over sqrt(e'M e). */
static lapis_status set_ones_row(mc *w, double *scale)
{
  const mc_problem *p = &w->p;
  const la_backend *ops = w->h.ops;
  la_array e = la_rows(&p->phi.Z0, p->m - 1, 1);
  la_array y = la_rows(&w->W, p->m - 1, 1);
  double sums[2]; /* |W e|^2, e'e */
  TRY(ops->gemm(&w->h, LA_N, LA_T, 1, &w->W, &e, 0, &w->column));
  TRY(ops->dot(&w->h, &e, &e, &sums[1]));
  TRY(base_sum_later(w->base.ctx, &sums[1], 1));
  TRY(la_sum(&w->h, &w->column));
  TRY(ops->dot(&w->h, &w->column, &w->column, &sums[0]));
  double whole = p->mu * p->mu * sums[1];
  double root = sqrt(fmax(whole - sums[0], 1e-20 * whole));
  TRY(ops->gemm(&w->h, LA_T, LA_N, 1 / root, &w->column, &w->W, 0, &y));
  TRY(ops->axpby(&w->h, -p->mu * p->mu / root, &e, 1, &y));
  double rounding = 4 * DBL_EPSILON * (double)(p->m + p->all);
  *scale = 1 / (1 + rounding * sqrt(whole) / root);
  return LAPIS_OK;
}

/* W = rho (V - B), clamped, without its row of ones. */
static lapis_status clamp_multiplier(mc *w)
{
  TRY(w->h.ops->axpby(&w->h, w->rho, &w->V, 0, &w->W));
  TRY(w->h.ops->axpby(&w->h, -w->rho, &w->B, 1, &w->W));
  TRY(w->h.ops->clamp(&w->h, &w->p.phi, &w->W));
  la_array ones = la_rows(&w->W, w->p.m - w->p.ones, w->p.ones);
  return w->p.ones > 0 ? la_zero(&w->h, &ones) : LAPIS_OK;
}

/* The dual value of W, scaled, its row of ones set; norm: |W|_2 or more. */
static lapis_status dual_value(mc *w, double norm, double *out)
{
  double scale = 1, conjugate;
  if (norm > w->p.mu) TRY(la_scale(&w->h, w->p.mu / norm, &w->W));
  if (w->p.ones > 0) TRY(set_ones_row(w, &scale));
  if (scale < 1) TRY(la_scale(&w->h, scale, &w->W));
  TRY(w->h.ops->conjugate(&w->h, &w->p.phi, 1, &w->W, &conjugate));
  TRY(base_sum(w->base.ctx, &conjugate, 1));
  *out = -conjugate;
  return LAPIS_OK;
}

double mc_relative_gap(double primal, double dual)
{
  return (primal - dual) / fmax(fmax(fabs(primal), fabs(dual)), 1e-300);
}

lapis_status mc_certify(mc *w, mc_bounds *out)
{
  double norm = 0;
  TRY(mc_primal(w, &out->primal));
  TRY(clamp_multiplier(w));
  TRY(op_norm2_upper(w->svt, &w->W, &norm));
  TRY(dual_value(w, norm, &out->dual));
  out->norm = norm / w->p.mu;
  out->gap = mc_relative_gap(out->primal, out->dual);
  return LAPIS_OK;
}

lapis_status mc_estimate(mc *w, double norm, double *gap)
{
  const la_backend *ops = w->h.ops;
  double sums[3], dual; /* <W, B>, <A, B>, phi(B) */
  TRY(ops->dot(&w->h, &w->W, &w->B, &sums[0]));
  TRY(ops->dot(&w->h, &w->A, &w->B, &sums[1]));
  TRY(ops->loss(&w->h, &w->p.phi, &w->B, &sums[2]));
  TRY(base_sum_later(w->base.ctx, sums, 3));
  TRY(clamp_multiplier(w));
  TRY(dual_value(w, norm, &dual));
  *gap = mc_relative_gap(w->rho * (sums[0] - sums[1]) + sums[2], dual);
  return LAPIS_OK;
}

/* ---- result arrays ------------------------------------------------------*/
lapis_status mc_labels_alloc(mc *w)
{
  const mc_problem *p = &w->p;
  arena *a = &w->base.arena;
  int64_t rows = targets_label_rows(&p->labels);
  if (p->K > 0 && w->scores == NULL) {
    w->scores = arena_reals(a, p->K * p->n);
    w->decided = arena_reals(a, rows * p->n);
  }
  if (p->calibration != NULL && w->probabilities == NULL)
    w->probabilities = arena_reals(a, p->K * p->n);
  return arena_status(a);
}

lapis_status mc_results_alloc(mc *w)
{
  const mc_problem *p = &w->p;
  arena *a = &w->base.arena;
  w->values = arena_reals(a, p->m); /* one process may be given all */
  w->sparse = arena_reals(a, p->D * p->n);
  if (w->set.class_features && base_ranks(w->base.ctx) > 1)
    w->classes = arena_reals(a, p->D * p->K);
  if (w->set.certificate) w->dual = arena_reals(a, p->m * p->n);
  return mc_labels_alloc(w);
}

static const double ALIKE = 1e-4; /* sine of an angle */

/* Of the largest class, the sine of the angle of the one farthest from it; 1
 * where that is an obtuse angle. */
static double farthest_class(const lapis_mat *all)
{
  int64_t first = 0;
  double far = 0, most = -1;
  for (int64_t k = 0; k < all->cols; k++) {
    double squares = 0;
    for (int64_t i = 0; i < all->rows; i++)
      squares += lapis_mat_at(all, i, k) * lapis_mat_at(all, i, k);
    if (squares > most) first = k;
    most = fmax(most, squares);
  }
  for (int64_t k = 0; k < all->cols; k++) {
    double dot = 0, squares = 0, off = 0;
    for (int64_t i = 0; i < all->rows; i++) {
      double x = lapis_mat_at(all, i, k);
      dot += x * lapis_mat_at(all, i, first);
      squares += x * x;
    }
    for (int64_t i = 0; i < all->rows; i++) {
      double x = lapis_mat_at(all, i, k);
      x -= most > 0 ? dot / most * lapis_mat_at(all, i, first) : 0;
      off += x * x;
    }
    if (squares > 0) far = fmax(far, dot < 0 ? 1 : sqrt(off / squares));
  }
  return far;
}

/* Of several processes the last has them. */
static lapis_status publish_classes(mc *w, const lapis_mat *own)
{
  int64_t D = w->p.D, K = w->p.K;
  lapis_mat all = *own;
  if (base_ranks(w->base.ctx) > 1) {
    all = lapis_mat_f64(w->classes, D, K);
    memset(w->classes, 0, (size_t)(D * K) * sizeof *w->classes);
    mat_to_f64(own, w->classes, D);
    TRY(base_sum(w->base.ctx, w->classes, D * K));
  }
  solver_publish(&w->base, "class_features", all);
  if (all.cols > 1 && farthest_class(&all) < ALIKE)
    base_warn_once(
        w->base.ctx, BASE_ALIKE, "classes-alike",
        "mc: the class features of all classes are the same but for "
        "their size; a smaller mu, or a map ({map}), may distinguish classes");
  return LAPIS_OK;
}

/* low_rank and class_features: Z_X where it lies; sparse = X - Z_X where X was
 * seen, 0 elsewhere. */
static lapis_status publish_features(mc *w)
{
  int64_t D = w->p.D, n = w->p.n;
  la_array B = la_rows(&w->B, w->p.K, D), Z0 = la_rows(&w->p.phi.Z0, w->p.K, D);
  lapis_mat sparse = lapis_mat_f64(w->sparse, D, n);
  lapis_mat fit;
  TRY(la_borrow(&w->h, &B, &fit));
  TRY(w->h.ops->download(&w->h, &Z0, &sparse));
  for (int64_t k = 0; k < D * n; k++) {
    double z = ((double *)fit.val)[k / D * fit.ld + k % D];
    w->sparse[k] = isnan(w->sparse[k]) ? 0 : w->sparse[k] - z;
  }
  lapis_mat classes = fit;
  classes.val = (double *)fit.val + w->p.samples * fit.ld;
  classes.cols = n - w->p.samples; /* K, of the last process */
  fit.cols = sparse.cols = w->p.samples;
  solver_publish(&w->base, "low_rank", fit);
  solver_publish(&w->base, "sparse", sparse);
  return w->set.class_features ? publish_classes(w, &classes) : LAPIS_OK;
}

void mc_publish_labels(mc *w)
{
  lapis_mat scores = lapis_mat_f64(w->scores, w->p.K, w->p.n);
  for (int64_t k = 0; k < w->p.K * w->p.n; k++)
    if (w->p.turn[k % w->p.K] < 0) w->scores[k] = 1 - w->scores[k];
  mc_decide(&w->p, w->scores, w->p.samples, w->decided, w->probabilities);
  scores.cols = w->p.samples;
  if (w->p.calibration != NULL)
    solver_publish(&w->base, "probabilities",
                   lapis_mat_f64(w->probabilities, w->p.K, w->p.samples));
  solver_publish(&w->base, "scores", scores);
  targets_publish(&w->p.labels, w->decided, w->p.samples, &w->base);
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
  if (w->solver->proves)
    solver_publish(&w->base, "dual_norm", lapis_mat_f64(&w->bounds.norm, 1, 1));
  if (!w->set.certificate) return LAPIS_OK;
  lapis_mat dual = lapis_mat_f64(w->dual, w->p.m, w->p.n);
  TRY(w->h.ops->download(&w->h, &w->W, &dual));
  solver_publish(&w->base, "dual", dual);
  return LAPIS_OK;
}
