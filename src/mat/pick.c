/* pick.c - some of the samples. */
#include "mat/mat.h"

/* The marked columns of compressed ones, values as doubles. */
static lapis_status pick_sparse(lapis_ctx *ctx, const lapis_mat *from,
                                const bool *keep, double **memory,
                                lapis_mat *out)
{
  int64_t count = 0, nnz = 0, k = 0, at = 0;
  for (int64_t j = 0; j < from->cols; j++) {
    count += keep[j];
    nnz += keep[j] ? from->colptr[j + 1] - from->colptr[j] : 0;
  }
  double *val = base_alloc(ctx, nnz + count + 1 + (nnz + 1) / 2, sizeof *val);
  *memory = val;
  if (val == NULL) return LAPIS_ENOMEM;
  int64_t *colptr = (int64_t *)(void *)(val + nnz);
  int32_t *rowidx = (int32_t *)(void *)(colptr + count + 1);
  for (int64_t j = 0; j < from->cols; j++) {
    for (int64_t e = from->colptr[j]; keep[j] && e < from->colptr[j + 1]; e++) {
      rowidx[k] = from->rowidx[e];
      val[k++] = mat_stored(from, e);
    }
    if (keep[j]) colptr[++at] = k;
  }
  *out = lapis_mat_f64(val, from->rows, count);
  out->colptr = colptr;
  out->rowidx = rowidx;
  return LAPIS_OK;
}

lapis_status mat_pick(lapis_ctx *ctx, const lapis_mat *from, const bool *keep,
                      double **memory, lapis_mat *out)
{
  int64_t count = 0;
  if (from->colptr != NULL) return pick_sparse(ctx, from, keep, memory, out);
  for (int64_t j = 0; j < from->cols; j++) count += keep[j];
  double *to = base_alloc_raw(ctx, from->rows * count, sizeof *to);
  *memory = to;
  if (to == NULL) return LAPIS_ENOMEM;
  *out = lapis_mat_f64(to, from->rows, count);
  for (int64_t j = 0; j < from->cols; j++) {
    if (!keep[j]) continue;
    for (int64_t i = 0; i < from->rows; i++) *to++ = lapis_mat_at(from, i, j);
  }
  return LAPIS_OK;
}
