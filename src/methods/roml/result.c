/* result.c - the canonical form, doubtful slots, and what is handed out.
 *
 * An answer is defined up to one permutation of slots: they are sorted by
 * feature number in the first image.
 *
 * A slot of an image is doubtful, [ROML16 (26)], when its block of the sparse
 * part of robust PCA of D, at lambda = 1/sqrt(rows of D), has an l1 norm of xi
 * or more.  xi = 4 is meant for unit features; where features keep their
 * length, errors are measured in units of the median |f|. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/roml/roml.h"

/* ---- canonical form -----------------------------------------------------*/
typedef struct slot {
  int64_t instance, feature, at;
} slot;

/* Instance by instance; absent slots (-1) last. */
static int by_feature(const void *a, const void *b)
{
  int64_t m = ((const slot *)a)->instance - ((const slot *)b)->instance;
  if (m != 0) return m < 0 ? -1 : 1;
  uint64_t x = (uint64_t)((const slot *)a)->feature;
  uint64_t y = (uint64_t)((const slot *)b)->feature;
  if (x != y) return x < y ? -1 : 1;
  return ((const slot *)a)->at < ((const slot *)b)->at ? -1 : 1;
}

static void permute(const roml_state *s, const slot *order, double *v,
                    double *work, const roml_problem *p)
{
  size_t size = (size_t)p->d * sizeof *v;
  for (int64_t k = 0; k < p->K; k++) {
    for (int64_t j = 0; j < s->at.n; j++)
      memcpy(work + j * p->d, v + roml_block(&s->at, k, order[j].at), size);
    for (int64_t j = 0; j < s->at.n; j++)
      memcpy(v + roml_block(&s->at, k, j), work + j * p->d, size);
  }
}

lapis_status roml_canonical(roml *w, roml_state *s)
{
  int64_t n = s->at.n;
  slot *order = base_alloc(w->base.ctx, n, sizeof *order);
  double *work = base_alloc(w->base.ctx, n * w->p.d, sizeof *work);
  bool ok = order != NULL && work != NULL;
  for (int64_t j = 0; ok && j < n; j++)
    order[j] = (slot){w->instance == NULL ? 1 : w->instance[j], s->pick[j], j};
  if (ok) {
    qsort(order, (size_t)n, sizeof *order, by_feature);
    memcpy(w->picks, s->pick, (size_t)(w->p.K * n) * sizeof *w->picks);
    for (int64_t k = 0; k < w->p.K; k++)
      for (int64_t j = 0; j < n; j++)
        s->pick[k * n + j] = w->picks[k * n + order[j].at];
    for (int64_t j = 0; w->instance != NULL && j < n; j++)
      w->instance[j] = order[j].instance;
    permute(s, order, s->L.data, work, &w->p);
    permute(s, order, s->E.data, work, &w->p);
    permute(s, order, s->D.data, work, &w->p);
  }
  base_free(order);
  base_free(work);
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

/* ---- doubtful slots -----------------------------------------------------*/
/* The median |f| of the features chosen, 1 for unit features. */
static double unit_of(roml *w, const roml_state *s, double *work)
{
  int64_t count = 0;
  if (w->p.half == NULL) return 1;
  for (int64_t k = 0; k < w->p.K; k++)
    for (int64_t j = 0; j < s->at.n; j++) {
      int64_t i = s->pick[k * s->at.n + j];
      if (i >= 0) work[count++] = sqrt(2 * w->p.half[w->p.first[k] + i]);
    }
  qsort(work, (size_t)count, sizeof *work, base_ascending);
  return count > 0 && work[count / 2] > 0 ? work[count / 2] : 1;
}

static void mark(roml *w, const roml_state *s, double unit)
{
  int64_t n = s->at.n;
  const double *E = s->E.data;
  for (int64_t k = 0; k < w->p.K; k++)
    for (int64_t j = 0; j < n; j++) {
      const double *e = E + roml_block(&s->at, k, j);
      double sum = 0;
      for (int64_t a = 0; a < w->p.d; a++) sum += fabs(e[a]);
      w->inlier[k * n + j] = sum < w->set.xi * unit;
    }
}

/* Uses E, L, Y, W of the state: after L and E are published. */
static lapis_status mark_inliers(roml *w, roml_state *s)
{
  int64_t n = s->at.n;
  if (w->set.robust) { /* absent or present is decided already */
    for (int64_t i = 0; i < w->p.K * n; i++) w->inlier[i] = s->pick[i] >= 0;
    return LAPIS_OK;
  }
  double objective;
  double *work = base_alloc(w->base.ctx, w->p.K * n, sizeof *work);
  if (work == NULL) return LAPIS_ENOMEM;
  double unit = unit_of(w, s, work);
  base_free(work);
  TRY(roml_fit(s, 1 / sqrt((double)s->at.rows), &roml_roughly, &objective));
  mark(w, s, unit);
  return LAPIS_OK;
}

/* ---- arrays -------------------------------------------------------------*/
static lapis_status results_alloc(roml *w, const roml_state *s)
{
  lapis_ctx *ctx = w->base.ctx;
  int64_t slots = w->p.K * s->at.n;
  base_free(w->match), base_free(w->inlier);
  base_free(w->low_rank), base_free(w->sparse), base_free(w->whose);
  w->match = base_alloc(ctx, slots, sizeof *w->match);
  w->inlier = base_alloc(ctx, slots, sizeof *w->inlier);
  w->low_rank = base_alloc(ctx, slots * w->p.d, sizeof *w->low_rank);
  w->sparse = base_alloc(ctx, slots * w->p.d, sizeof *w->sparse);
  w->whose = base_alloc(ctx, s->at.n, sizeof *w->whose);
  bool ok = w->match != NULL && w->inlier != NULL && w->low_rank != NULL &&
            w->sparse != NULL && w->whose != NULL;
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

/* Blocks of V as d x n x K. */
static void unfold(const roml *w, const roml_state *s, const la_array *V,
                   double *out)
{
  const double *v = V->data;
  int64_t d = w->p.d, n = s->at.n;
  for (int64_t k = 0; k < w->p.K; k++)
    for (int64_t j = 0; j < n; j++)
      memcpy(out + (k * n + j) * d, v + roml_block(&s->at, k, j),
             (size_t)d * sizeof *out);
}

lapis_status roml_publish(roml *w, roml_state *s)
{
  int64_t n = s->at.n, K = w->p.K;
  TRY(results_alloc(w, s));
  for (int64_t k = 0; k < K; k++)
    for (int64_t j = 0; j < n; j++) {
      int64_t i = s->pick[k * n + j];
      w->match[k * n + j] = i < 0 ? -1 : w->p.row[w->p.first[k] + i];
    }
  for (int64_t j = 0; j < n; j++)
    w->whose[j] = w->instance == NULL ? 1 : w->instance[j];
  unfold(w, s, &s->L, w->low_rank);
  unfold(w, s, &s->E, w->sparse);
  TRY(mark_inliers(w, s));
  solver_publish(&w->base, "match", lapis_mat_i64(w->match, n, K));
  solver_publish(&w->base, "inlier", lapis_mat_u8(w->inlier, n, K));
  solver_publish(&w->base, "instance", lapis_mat_i64(w->whose, 1, n));
  solver_publish(&w->base, "low_rank",
                 lapis_mat_f64(w->low_rank, w->p.d * n, K));
  solver_publish(&w->base, "sparse", lapis_mat_f64(w->sparse, w->p.d * n, K));
  if (w->transform != NULL) {
    w->moved = roml_invariance_name(w->invariance);
    solver_publish(&w->base, "transform", lapis_mat_f64(w->transform, 6, K));
    solver_publish(&w->base, "invariance", lapis_mat_text(&w->moved, 1, 1));
  }
  solver_publish_history(&w->base);
  if (w->gamma != NULL)
    solver_publish(&w->base, "gamma_n", lapis_mat_f64(w->gamma, 1, w->n_gamma));
  if (w->n_chance > 0)
    solver_publish(&w->base, "chance",
                   lapis_mat_f64(w->chance, 1, w->n_chance));
  return LAPIS_OK;
}
