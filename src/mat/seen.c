/* seen.c - where values of features lie, and of how many samples they are
 * known. */
#include "mat/seen.h"

#include <math.h>
#include <stdlib.h>

#include "mat/mat.h"

enum { LOOKED_AT = 200, BLOCK = 64 };

/* Sample k of count spread over n, at no distance that classes in turn have,
 * too. */
static int64_t spread_out(int64_t k, int64_t count, int64_t n)
{
  double golden = .6180339887498949 * (double)k, part = golden - floor(golden);
  return count == n ? k
                    : (int64_t)(((double)k + part) * (double)n / (double)count);
}

/* Values themselves, not between two: whole numbers stay whole. */
static void note_tenths(mat_seen *to, double *x, int64_t count)
{
  int64_t n = 0;
  for (int64_t k = 0; k < count; k++)
    if (!isnan(x[k])) x[n++] = x[k];
  to->tenth = to->median = to->ninth = NAN;
  if (n == 0) return;
  qsort(x, (size_t)n, sizeof *x, base_ascending);
  to->tenth = x[(n - 1) / 10];
  to->median = x[(n - 1) / 2];
  to->ninth = x[n - 1 - (n - 1) / 10];
}

/* Sample by sample, as they lie, some features at once. */
static lapis_status find_tenths(lapis_ctx *ctx, const lapis_mat *X,
                                mat_seen *of)
{
  int64_t count = X->cols < LOOKED_AT ? X->cols : LOOKED_AT, d = X->rows;
  double *x = base_alloc_raw(ctx, BLOCK * count, sizeof *x);
  if (x == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < d; i += BLOCK) {
    int64_t wide = d - i < BLOCK ? d - i : BLOCK;
    for (int64_t k = 0; k < count; k++)
      for (int64_t b = 0; b < wide; b++)
        x[b * count + k] =
            lapis_mat_at(X, i + b, spread_out(k, count, X->cols));
    for (int64_t b = 0; b < wide; b++)
      note_tenths(&of[i + b], x + b * count, count);
  }
  base_free(x);
  return LAPIS_OK;
}

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
      of[i].unmet += base_is_unmet(x[i]);
    }
  }
  base_free(x);
  lapis_status s = find_tenths(ctx, X, of);
  if (s < 0)
    base_free(of);
  else
    *out = of;
  return s;
}
