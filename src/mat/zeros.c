/* zeros.c - samples whose features are all 0 among others that are not: the
 * vector of an image that could not be read.  Not of counts, where nothing was
 * met of some. */
#include <math.h>

#include "mat/mat.h"

static bool is_zero(const lapis_mat *X, int64_t j)
{
  for (int64_t i = 0; i < X->rows; i++)
    if (lapis_mat_at(X, i, j) != 0) return false;
  return true;
}

static bool has_counts(const lapis_mat *X)
{
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) {
      double x = lapis_mat_at(X, i, j);
      if (x == x && (x < 0 || floor(x) != x)) return false;
    }
  return true;
}

void mat_say_zeros(lapis_ctx *ctx, const lapis_mat *X)
{
  enum { FEW = 8, ONE_IN = 20 }; /* features; samples */
  int64_t count = 0, first = -1;
  if (X->colptr != NULL || X->rows < FEW || base_ranks(ctx) > 1 ||
      base_muted(ctx) > 0 || base_is_inside(ctx))
    return;
  for (int64_t j = 0; j < X->cols; j++) {
    if (!is_zero(X, j)) continue;
    if (count++ == 0) first = j;
  }
  if (count == 0 || ONE_IN * count >= X->cols || has_counts(X)) return;
  base_warn_once(ctx, BASE_ZERO_ROWS, "zero-rows",
                 "%" PRId64 " row(s) of X: all features are 0 (first row "
                 "%" PRId64 "), as of an image that could not be read; if so, "
                 "NaN in their place says that nothing is known",
                 count, base_row(ctx, first, X->cols));
}
