/* trim.c - cells far from the others of their feature count as not seen.
 *
 * Far is FAR deviations from the median, and a deviation is what the range from
 * the first to the last tenth is of, which one wrong cell of ten does not
 * change much.  Where nine of ten cells are alike nothing is far.  FAR was
 * decided on diabetes, BostonHousing and friedman1 (bench/results/tables.md).
 */
#include "op/map/trim.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double FAR = 4, TENTHS = 2.563; /* deviations between them */

int64_t trim_length(int64_t d)
{
  return 2 * d;
}

static int ascending(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static double quantile(const double *sorted, int64_t n, double share)
{
  double at = share * (double)(n - 1);
  int64_t low = (int64_t)at, high = low + 1 < n ? low + 1 : low;
  return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

lapis_status trim_fit(lapis_ctx *ctx, const double *X, int64_t d, int64_t n,
                      double *state)
{
  double *row = base_alloc_raw(ctx, n + 1, sizeof *row);
  if (row == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < d; i++) {
    int64_t seen = 0;
    for (int64_t j = 0; j < n; j++)
      if (!isnan(X[j * d + i])) row[seen++] = X[j * d + i];
    qsort(row, (size_t)seen, sizeof *row, ascending);
    double range =
        seen == 0 ? 0 : quantile(row, seen, .9) - quantile(row, seen, .1);
    state[i] = seen == 0 ? 0 : quantile(row, seen, .5);
    state[d + i] = range > 0 ? FAR * range / TENTHS : DBL_MAX;
  }
  base_free(row);
  return LAPIS_OK;
}

void trim_cells(const double *state, double *x, int64_t d)
{
  for (int64_t i = 0; i < d; i++)
    if (fabs(x[i] - state[i]) > state[d + i]) x[i] = NAN;
}

bool trim_sound(const double *state, int64_t d)
{
  for (int64_t i = 0; i < d; i++)
    if (!isfinite(state[i]) || !(state[d + i] > 0)) return false;
  return true;
}
