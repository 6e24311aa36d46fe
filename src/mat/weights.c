/* weights.c - weights of samples. */
#include <math.h>

#include "mat/mat.h"

lapis_status mat_check_weights(lapis_ctx *ctx, const char *method,
                               const double *weight, int64_t n)
{
  double most = 0;
  for (int64_t j = 0; weight != NULL && j < n; j++) {
    most = fmax(most, weight[j]);
    if (weight[j] >= 0 && isfinite(weight[j])) continue;
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: the weight of %s is %g; a weight is a number, 0 or "
                      "above",
                      method, CELL(ctx, base_row(ctx, j, n) - 1, NULL, -1),
                      weight[j]);
  }
  if (weight == NULL || most > 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: every sample has weight 0; those above it are learnt "
                    "from",
                    method);
}

lapis_status mat_weighted_targets(arena *own, const lapis_mat *Y,
                                  const double *weight, lapis_mat *out)
{
  bool none = true;
  *out = *Y;
  for (int64_t j = 0; weight != NULL && j < Y->cols; j++)
    none = none && weight[j] > 0;
  if (none) return LAPIS_OK;
  double *y = arena_reals(own, Y->rows * Y->cols);
  TRY(arena_status(own));
  mat_to_f64(Y, y, Y->rows);
  for (int64_t k = 0; k < Y->rows * Y->cols; k++)
    if (!(weight[k / Y->rows] > 0)) y[k] = NAN;
  *out = lapis_mat_f64(y, Y->rows, Y->cols);
  return LAPIS_OK;
}
