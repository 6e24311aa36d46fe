/* factored_result.c - what a factored solve hands out, and its model.
 *
 * Z = [c A; 1 0] [e B]' is balanced once more, row of ones included: factors
 * times feature_factors' is low_rank, times label_factors' the scores, and the
 * squared lengths of their columns are the singular values of Z. */
#include <math.h>
#include <string.h>

#include "methods/mc/factored/factored.h"

static const double FITS = 1e7; /* entries of low_rank that need no --dense */

static bool wants_dense(const mc *w)
{
  return w->set.dense || (double)w->p.D * (double)w->p.all <= FITS;
}

lapis_status factored_results(mc *w)
{
  factored *f = w->state;
  const mc_problem *p = &w->p;
  arena *a = &w->base.arena;
  if (wants_dense(w)) f->low_rank = arena_reals(a, p->D * p->n);
  if (wants_dense(w)) f->sparse = arena_reals(a, p->D * p->n);
  if (w->set.certificate) {
    int64_t count = f->o.count + p->ones * p->n;
    f->dual = arena_reals(a, count);
    f->dual_at = arena_take(a, p->n + 1, sizeof *f->dual_at);
    f->dual_row = arena_take(a, count, sizeof *f->dual_row);
  }
  return mc_labels_alloc(w);
}

/* ---- balanced with the row of ones --------------------------------------*/
static lapis_status copy_of(lapis_ctx *ctx, const tall *from, int64_t rows,
                            tall *to)
{
  *to = (tall){rows, from->ld, NULL, from->divided};
  to->v = base_alloc(ctx, rows * to->ld, sizeof *to->v);
  if (to->v == NULL) return LAPIS_ENOMEM;
  memcpy(to->v, from->v, (size_t)(from->rows * to->ld) * sizeof *to->v);
  return LAPIS_OK;
}

static lapis_status balance_whole(mc *w, tall *A, tall *B, double *values,
                                  int64_t *kept)
{
  factored *f = w->state;
  int64_t q = f->R + f->off, ld = A->ld;
  double *G = f->small, *GA = G + ld * ld, *GB = GA + ld * ld;
  factored_pair p;
  TRY(tall_gram(&w->h, A, G));
  for (int64_t k = 0; k < q * q; k++) GA[k] = G[k / q * ld + k % q];
  TRY(tall_gram(&w->h, B, G));
  for (int64_t k = 0; k < q * q; k++) GB[k] = G[k / q * ld + k % q];
  TRY(factored_pair_new(w, q, GA, GB, &p));
  memcpy(values, p.sigma, (size_t)q * sizeof *values);
  *kept = p.kept;
  lapis_status status = factored_pair_apply(&w->h, &p, 0, A, B);
  factored_pair_free(&p);
  return status;
}

static void pack(const tall *A, int64_t first, int64_t rows, int64_t r,
                 double *to)
{
  for (int64_t i = 0; i < rows; i++)
    memcpy(to + i * r, A->v + (first + i) * A->ld, (size_t)r * sizeof *to);
}

/* Rows of A: labels, features, ones; r columns of rank at least 1. */
static lapis_status pack_all(mc *w, const tall *A, const tall *B)
{
  factored *f = w->state;
  const mc_problem *p = &w->p;
  int64_t r = f->r;
  f->left_Y = arena_reals(&f->made, r * p->K);
  f->left_X = arena_reals(&f->made, r * p->D);
  f->right = arena_reals(&f->made, r * p->n);
  base_free(w->factors);
  w->factors = base_alloc(w->base.ctx, p->m * r, sizeof *w->factors);
  if (w->factors == NULL) return LAPIS_ENOMEM;
  TRY(arena_status(&f->made));
  pack(A, 0, p->K, r, f->left_Y);
  pack(A, p->K, p->D, r, f->left_X);
  pack(B, 0, p->n, r, f->right);
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t k = 0; k < r; k++)
      w->factors[k * p->m + i] = A->v[i * A->ld + k];
  mc_turn_back(p, w->factors, r);
  return LAPIS_OK;
}

static lapis_status make_factors(mc *w)
{
  factored *f = w->state;
  tall A, B = {0};
  arena_free(&f->made);
  f->made = (arena){.ctx = w->base.ctx};
  f->values = arena_reals(&f->made, f->A.ld);
  TRY(arena_status(&f->made));
  lapis_status status = copy_of(w->base.ctx, &f->A, f->m + f->off, &A);
  if (status >= 0) status = copy_of(w->base.ctx, &f->B, f->n, &B);
  if (status >= 0 && f->off > 0) A.v[f->m * A.ld] = 1;
  f->r = f->R;
  if (status >= 0 && f->off > 0)
    status = balance_whole(w, &A, &B, f->values, &f->r);
  else
    memcpy(f->values, f->sigma.v, (size_t)f->R * sizeof *f->values);
  if (f->r == 0) f->r = 1; /* Z = 0: a column of zeros */
  if (status >= 0) status = pack_all(w, &A, &B);
  base_free(A.v);
  base_free(B.v);
  return status;
}

/* ---- arrays -------------------------------------------------------------*/
/* out, rows x n: left'right, left r x rows. */
static lapis_status product(mc *w, double *left, int64_t rows, double *out)
{
  factored *f = w->state;
  la_array A = {0}, B = {0}, C = {0};
  la one = w->h;
  one.threads = 1; /* the same bits for any number of threads */
  lapis_status status = la_lend(&one, left, true, f->r, rows, &A);
  if (status >= 0) status = la_lend(&one, f->right, true, f->r, f->n, &B);
  if (status >= 0) status = la_lend(&one, out, false, rows, f->n, &C);
  if (status >= 0) status = one.ops->gemm(&one, LA_T, LA_N, 1, &A, &B, 0, &C);
  one.ops->free(&one, &A);
  one.ops->free(&one, &B);
  return la_return(&one, status, &C, out);
}

static lapis_status publish_labels(mc *w)
{
  factored *f = w->state;
  const mc_problem *p = &w->p;
  if (p->K == 0) return LAPIS_OK;
  TRY(product(w, f->left_Y, p->K, w->scores));
  mc_publish_labels(w);
  solver_publish(&w->base, "label_factors",
                 lapis_mat_f64(f->left_Y, f->r, p->K));
  return LAPIS_OK;
}

static lapis_status publish_dense(mc *w)
{
  factored *f = w->state;
  const observed *o = &f->o;
  int64_t D = w->p.D;
  if (f->low_rank == NULL) return LAPIS_OK;
  TRY(product(w, f->left_X, D, f->low_rank));
  memset(f->sparse, 0, (size_t)(D * f->n) * sizeof *f->sparse);
  for (int64_t j = 0; j < f->n; j++)
    for (int64_t k = o->at[j]; k < o->at[j + 1]; k++) {
      int64_t i = o->row[k] - o->K;
      if (i >= 0) f->sparse[j * D + i] = o->value[k] - f->low_rank[j * D + i];
    }
  solver_publish(&w->base, "low_rank", lapis_mat_f64(f->low_rank, D, f->n));
  solver_publish(&w->base, "sparse", lapis_mat_f64(f->sparse, D, f->n));
  return LAPIS_OK;
}

/* G = -a scale S, and the row of ones that is best for it: compressed columns,
 * m x n, in the order labels, features, ones. */
static void publish_dual(mc *w)
{
  factored *f = w->state;
  const observed *o = &f->o;
  double a = w->p.a, s = f->now.scale, ge = 0, tt = f->tau * f->tau;
  int64_t at = 0;
  for (int64_t i = 0; i < f->m; i++) ge += f->push[i] * f->push[i];
  double root = sqrt(fmax(tt * (double)f->all - s * s * ge, 0));
  for (int64_t j = 0; j < f->n; j++) {
    double along = 0;
    for (int64_t k = o->at[j]; k < o->at[j + 1]; k++) {
      along += o->rest[k] * f->push[o->row[k]];
      f->dual_row[at] = o->row[k];
      f->dual[at++] = -a * s * o->rest[k];
    }
    if (w->p.ones > 0) {
      f->dual_row[at] = (int32_t)f->m;
      f->dual[at++] = root > 0 ? -a * (tt - s * s * along) / root : 0;
    }
    f->dual_at[j + 1] = at;
  }
  solver_publish(&w->base, "dual",
                 (lapis_mat){.dtype = LAPIS_F64,
                             .rows = w->p.m,
                             .cols = f->n,
                             .ld = w->p.m,
                             .val = f->dual,
                             .colptr = f->dual_at,
                             .rowidx = f->dual_row});
}

lapis_status factored_publish(mc *w)
{
  factored *f = w->state;
  lapis_solver *s = &w->base;
  TRY(make_factors(w));
  TRY(publish_labels(w));
  TRY(publish_dense(w));
  solver_publish(s, "factors", lapis_mat_f64(f->right, f->r, f->n));
  solver_publish(s, "feature_factors", lapis_mat_f64(f->left_X, f->r, w->p.D));
  solver_publish(s, "singular_values", lapis_mat_f64(f->values, 1, f->r));
  f->gap = w->bounds.gap;
  f->proof = f->exact ? "exact" : "random";
  if (!f->exact)
    base_say(w->base.ctx, 1,
             "mc: random proof: %" PRId64 " test%s; the chance that the gap is "
             "wrong is below %.0e",
             f->tests, f->tests == 1 ? "" : "s", 2e-17 * (double)f->tests);
  solver_publish(s, "gap", lapis_mat_f64(&f->gap, 1, 1));
  solver_publish(s, "proof", lapis_mat_text(&f->proof, 1, 1));
  solver_publish_history(s);
  solver_publish(s, "dual_norm", lapis_mat_f64(&w->bounds.norm, 1, 1));
  if (w->set.certificate) publish_dual(w);
  return LAPIS_OK;
}

lapis_status factored_learn(mc *w)
{
  factored *f = w->state;
  TRY(mc_learn_factors(w, f->r));
  return solver_learn_all(&w->base, "sample_factors",
                          lapis_mat_f64(f->right, f->r, f->n));
}
