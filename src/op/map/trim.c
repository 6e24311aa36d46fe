/* trim.c - cells far from the others of their feature (mat/far.h) count as not
 * seen. */
#include "op/map/trim.h"

#include <math.h>
#include <stdlib.h>

#include "mat/far.h"

int64_t trim_length(int64_t d)
{
  return 2 * d;
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
    qsort(row, (size_t)seen, sizeof *row, base_ascending);
    mat_far_limits(row, seen, &state[i], &state[d + i]);
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
