/* targets.c - what is regressed on: real targets, or indicators of classes
 * with W = (Y V Y')^(-1/2), V the weights of samples [RR16 (5), V = I]. */
#include <math.h>
#include <string.h>

#include "methods/robust/robust.h"

static const double DEPENDENT = 1e-10; /* smallest eigenvalue of Y Y', shared */

/* ---- checks -------------------------------------------------------------*/
static lapis_status check_matrix(lapis_ctx *ctx, const char *name,
                                 const lapis_mat *A, int64_t rows, int64_t cols)
{
  if (A->rows == rows && A->cols == cols)
    return mat_check_finite(ctx, "rr", name, A, false);
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "rr: %s has %" PRId64 " rows of %" PRId64 "; %" PRId64
                    " rows of %" PRId64 " are needed",
                    name, A->cols, A->rows, cols, rows);
}

lapis_status rr_check_targets(lapis_ctx *ctx, bool lda,
                              const lapis_rr_settings *set,
                              const lapis_data *data)
{
  const char *method = lda ? "rlda" : "rr";
  const lapis_mat *Y = &data->Y, *X = &data->X;
  if (Y->rows == 0 || (Y->cols == 0 && X->cols > 0))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: Y is missing; it holds the %s of every sample",
                      method, lda ? "class" : "targets");
  TRY(mat_check_beside(ctx, method, "Y", Y, X));
  TRY(mat_check_finite(ctx, method, "Y", Y, false));
  if (!mat_empty(&set->W))
    TRY(check_matrix(ctx, "--weight", &set->W, Y->rows, Y->rows));
  if (!mat_empty(&set->weights))
    TRY(check_matrix(ctx, "--fix-weights", &set->weights, X->rows + 1,
                     Y->rows));
  return LAPIS_OK;
}

/* ---- indicators ---------------------------------------------------------*/
/* Binary: two rows, negative and positive. */
static void indicators(rr *w)
{
  const targets *t = &w->labels;
  bool pair = t->kind == TARGETS_BINARY;
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t k = 0; k < w->K; k++) {
      double sign = t->sign[j * t->classes + (pair ? 0 : k)];
      bool in = pair && k == 0 ? sign < 0 : sign > 0;
      w->Y[j * w->K + k] = in ? 1 : 0;
    }
}

static lapis_status check_classes(rr *w)
{
  for (int64_t k = 0; k < w->K; k++) {
    double count = 0;
    for (int64_t j = 0; j < w->n; j++)
      count += rr_times(w, j) * w->Y[j * w->K + k];
    TRY(base_sum(w->base.ctx, &count, 1));
    if (!(count > 0))
      return lapis_fail(w->base.ctx, LAPIS_EDATA,
                        "rlda: class %" PRId64 " has no sample; leave it out",
                        k + 1);
  }
  return LAPIS_OK;
}

/* W = V l^(-1/2) V' from Y Y' (with weights Y diag(v) Y') = V l V'; M is K x K
 * scratch, V too, Y for Y. */
static lapis_status root(rr *w, la_array *Y, la_array *M, la_array *V,
                         double *values)
{
  la *h = &w->h;
  int64_t count;
  lapis_mat own = lapis_mat_f64(w->Y, w->K, w->n);
  lapis_mat W = lapis_mat_f64(w->W, w->K, w->K);
  TRY(h->ops->upload(h, &own, Y));
  if (w->root != NULL) TRY(la_scale_cols(h, w->root, Y));
  TRY(h->ops->syrk(h, LA_N, Y, M));
  TRY(la_sum(h, M));
  TRY(h->ops->eigh(h, M, -INFINITY, values, V, &count));
  if (!(values[w->K - 1] > DEPENDENT * values[0]))
    return lapis_fail(w->base.ctx, LAPIS_EDATA,
                      "rlda: the classes are linearly dependent (one is the "
                      "same as another, or a combination of others); leave one "
                      "out");
  for (int64_t k = 0; k < w->K; k++) values[k] = 1 / sqrt(sqrt(values[k]));
  TRY(la_scale_cols(h, values, V));
  TRY(h->ops->syrk(h, LA_N, V, M));
  return h->ops->download(h, M, &W);
}

static lapis_status set_root(rr *w)
{
  la *h = &w->h;
  la_array Y = {0}, M = {0}, V = {0};
  double *values = base_alloc(w->base.ctx, w->K, sizeof *values);
  lapis_status s = values == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, w->K, w->n, &Y);
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, w->K, w->K, &M);
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, w->K, w->K, &V);
  if (s >= 0) s = root(w, &Y, &M, &V, values);
  h->ops->free(h, &Y);
  h->ops->free(h, &M);
  h->ops->free(h, &V);
  base_free(values);
  return s;
}

static void set_weight(rr *w)
{
  const lapis_mat *W = &w->set.W;
  for (int64_t k = 0; k < w->K; k++)
    for (int64_t i = 0; i < w->K; i++)
      w->W[i * w->K + k] =
          mat_empty(W) ? (i == k) : lapis_mat_at(W, i, k); /* rows on disk */
}

lapis_status rr_targets_build(rr *w, const lapis_data *data)
{
  lapis_ctx *ctx = w->base.ctx;
  w->d = data->X.rows;
  w->n = data->X.cols;
  w->K = data->Y.rows;
  if (w->lda) {
    TRY(targets_encode(ctx, "rlda", &data->Y, &w->labels));
    TRY(targets_check_known(ctx, "rlda", &w->labels, ""));
    w->K = w->labels.kind == TARGETS_BINARY ? 2 : w->labels.classes;
  }
  w->Y = arena_reals(&w->base.arena, w->K * w->n);
  w->W = arena_reals(&w->base.arena, w->K * w->K);
  TRY(arena_status(&w->base.arena));
  if (w->lda) {
    indicators(w);
    TRY(check_classes(w));
    return set_root(w);
  }
  mat_to_f64(&data->Y, w->Y, w->K);
  set_weight(w);
  return LAPIS_OK;
}
