/* observed.c - the entries of Z that are known, by sample and by row. */
#include "methods/mc/observed.h"

#include <math.h>
#include <string.h>

/* ---- checks -------------------------------------------------------------*/
static lapis_status check_entry(lapis_ctx *ctx, const lapis_mat *X, int64_t j,
                                int64_t k)
{
  int32_t i = X->rowidx[k];
  double v = mat_stored(X, k);
  if (i < 0 || i >= X->rows)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "mc: X, %s: an entry is at feature %" PRId64
                      " of %" PRId64,
                      CELL(ctx, j, NULL, -1), (int64_t)i + 1, X->rows);
  if (k > X->colptr[j] && X->rowidx[k - 1] == i)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "mc: X, %s: feature %d is stored twice; one value an "
                      "entry is needed",
                      CELL(ctx, j, NULL, -1), i + 1);
  if (k > X->colptr[j] && X->rowidx[k - 1] > i)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "mc: X, %s: its entries are not in the order of their "
                      "features",
                      CELL(ctx, j, NULL, -1));
  if (!isfinite(v))
    return lapis_fail(ctx, isnan(v) ? LAPIS_EMISSING : LAPIS_EDATA,
                      "mc: X stores %s at %s; an entry that is not known is "
                      "left out (--absent missing)",
                      isnan(v) ? "NaN" : "an infinity",
                      CELL(ctx, j, "feature", i));
  return LAPIS_OK;
}

lapis_status observed_check(lapis_ctx *ctx, const lapis_mat *X)
{
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t k = X->colptr[j]; k < X->colptr[j + 1]; k++)
      TRY(check_entry(ctx, X, j, k));
  return LAPIS_OK;
}

/* ---- by sample ----------------------------------------------------------*/
static int64_t seen_labels(const mc_problem *p, int64_t j)
{
  int64_t count = 0;
  for (int64_t k = 0; k < p->K; k++)
    count += !isnan(p->labels.sign[j * p->K + k]);
  return count;
}

static int64_t seen_features(const lapis_mat *X, int64_t j)
{
  if (X->colptr != NULL) return X->colptr[j + 1] - X->colptr[j];
  int64_t count = 0;
  for (int64_t i = 0; i < X->rows; i++) count += !isnan(lapis_mat_at(X, i, j));
  return count;
}

static bool can_borrow(const mc_problem *p, const lapis_mat *X)
{
  return p->K == 0 && X->colptr != NULL && X->dtype == LAPIS_F64 &&
         X->colptr[0] == 0;
}

/* The labels of sample j as the loss wants them, then its features. */
static int64_t fill_column(const mc_problem *p, const lapis_mat *X, int64_t j,
                           int32_t *row, double *value)
{
  int64_t n = 0;
  for (int64_t k = 0; k < p->K; k++) {
    double sign = p->labels.sign[j * p->K + k];
    if (isnan(sign)) continue;
    row[n] = (int32_t)k;
    value[n++] = targets_coded(sign, p->phi.zero_one);
  }
  if (X->colptr != NULL) {
    for (int64_t k = X->colptr[j]; k < X->colptr[j + 1]; k++) {
      row[n] = (int32_t)p->K + X->rowidx[k];
      value[n++] = mat_stored(X, k);
    }
    return n;
  }
  for (int64_t i = 0; i < X->rows; i++) {
    double x = lapis_mat_at(X, i, j);
    if (isnan(x)) continue;
    row[n] = (int32_t)(p->K + i);
    value[n++] = x;
  }
  return n;
}

static lapis_status copy_columns(lapis_ctx *ctx, const mc_problem *p,
                                 const lapis_mat *X, observed *o)
{
  int64_t *at = base_alloc(ctx, o->cols + 1, sizeof *at);
  o->own = true;
  o->at = at;
  if (at == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < o->cols; j++)
    at[j + 1] = at[j] + seen_labels(p, j) + seen_features(X, j);
  int32_t *row = base_alloc_raw(ctx, at[o->cols], sizeof *row);
  double *value = base_alloc_raw(ctx, at[o->cols], sizeof *value);
  o->row = row;
  o->value = value;
  if (row == NULL || value == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < o->cols; j++)
    (void)fill_column(p, X, j, row + at[j], value + at[j]);
  return LAPIS_OK;
}

/* ---- by row -------------------------------------------------------------*/
static lapis_status transpose(lapis_ctx *ctx, observed *o)
{
  o->at_t = base_alloc(ctx, o->rows + 2, sizeof *o->at_t);
  o->col_t = base_alloc_raw(ctx, o->count, sizeof *o->col_t);
  o->value_t = base_alloc_raw(ctx, o->count, sizeof *o->value_t);
  o->rest = base_alloc_raw(ctx, o->count, sizeof *o->rest);
  o->rest_t = base_alloc_raw(ctx, o->count, sizeof *o->rest_t);
  if (o->at_t == NULL || o->col_t == NULL || o->value_t == NULL ||
      o->rest == NULL || o->rest_t == NULL)
    return LAPIS_ENOMEM;
  /* counted two places on: while a row fills, its next place stands one on */
  for (int64_t k = 0; k < o->count; k++) o->at_t[o->row[k] + 2]++;
  for (int64_t i = 0; i < o->rows; i++) o->at_t[i + 2] += o->at_t[i + 1];
  for (int64_t j = 0; j < o->cols; j++)
    for (int64_t k = o->at[j]; k < o->at[j + 1]; k++) {
      int64_t place = o->at_t[o->row[k] + 1]++;
      o->col_t[place] = (int32_t)j;
      o->value_t[place] = o->value[k];
    }
  return LAPIS_OK;
}

double observed_bytes(const mc_problem *p, const lapis_mat *X)
{
  double count = 0;
  for (int64_t j = 0; j < X->cols; j++)
    count += (double)(seen_labels(p, j) + seen_features(X, j));
  return count * (28 + (can_borrow(p, X) ? 0 : 12)) +
         8 * (double)(p->K + X->rows + X->cols);
}

lapis_status observed_new(lapis_ctx *ctx, const mc_problem *p,
                          const lapis_mat *X, observed *out)
{
  *out = (observed){.K = p->K, .rows = p->K + X->rows, .cols = X->cols};
  if (out->rows > INT32_MAX || out->cols > INT32_MAX)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "mc: X has %" PRId64 " samples of %" PRId64
                      " features; the factored solver counts to %d",
                      X->cols, X->rows, INT32_MAX);
  lapis_status status = LAPIS_OK;
  if (can_borrow(p, X)) {
    out->at = X->colptr;
    out->row = X->rowidx;
    out->value = X->val;
  } else {
    status = copy_columns(ctx, p, X, out);
  }
  if (status >= 0) out->count = out->at[out->cols];
  if (status >= 0) status = transpose(ctx, out);
  if (status < 0) observed_free(out);
  return status;
}

void observed_free(observed *o)
{
  if (o->own) {
    base_free((void *)(uintptr_t)o->at);
    base_free((void *)(uintptr_t)o->row);
    base_free((void *)(uintptr_t)o->value);
  }
  base_free(o->at_t);
  base_free(o->col_t);
  base_free(o->value_t);
  base_free(o->rest);
  base_free(o->rest_t);
  *o = (observed){0};
}

int64_t observed_labels(const observed *o, int64_t j)
{
  int64_t k = o->at[j];
  while (k < o->at[j + 1] && o->row[k] < o->K) k++;
  return k - o->at[j];
}
