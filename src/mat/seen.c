/* seen.c - where values of features lie, and of how many samples they are
 * known. */
#include "mat/seen.h"

#include <math.h>

#include "mat/mat.h"

lapis_status mat_see(lapis_ctx *ctx, const lapis_mat *X, mat_seen **out)
{
  enum { MOST = 10000 };
  *out = NULL;
  if (X->colptr != NULL || X->rows == 0 || X->rows > MOST ||
      base_ranks(ctx) > 1)
    return LAPIS_OK;
  mat_seen *of = base_alloc_raw(ctx, X->rows, sizeof *of);
  double *x = base_alloc_raw(ctx, X->rows, sizeof *x);
  if (of == NULL || x == NULL) {
    base_free(of);
    base_free(x);
    return LAPIS_ENOMEM;
  }
  for (int64_t i = 0; i < X->rows; i++)
    of[i] = (mat_seen){.low = INFINITY, .high = -INFINITY};
  for (int64_t j = 0; j < X->cols; j++) {
    lapis_mat sample = mat_columns(X, j, 1);
    mat_to_f64(&sample, x, X->rows);
    for (int64_t i = 0; i < X->rows; i++) { /* NaN is neither */
      if (x[i] < of[i].low) of[i].low = x[i];
      if (x[i] > of[i].high) of[i].high = x[i];
      of[i].known += !isnan(x[i]);
    }
  }
  base_free(x);
  *out = of;
  return LAPIS_OK;
}
