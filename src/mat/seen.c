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
  if (of == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < X->rows; i++)
    of[i] = (mat_seen){.low = INFINITY, .high = -INFINITY};
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) {
      double x = lapis_mat_at(X, i, j);
      of[i].low = fmin(of[i].low, x); /* NaN aside */
      of[i].high = fmax(of[i].high, x);
      of[i].known += !isnan(x);
    }
  *out = of;
  return LAPIS_OK;
}
