/* unit.c - numbers far from 1, whose squares would vanish or overflow.
 *
 * Many problems do not know a unit: with X c for X rpca has the answer c D for
 * D. So numbers far from 1 are divided by a power of two, which rounds nothing,
 * and what was found is multiplied by it. */
#include <math.h>

#include "mat/mat.h"

enum { NEAR = 64, FARTHEST = 500 }; /* powers of two */

double mat_unit_of(double size)
{
  if (!(size > 0) || !isfinite(size)) return 1;
  int e = ilogb(size);
  if (e > -NEAR && e < NEAR) return 1;
  return ldexp(1, e > FARTHEST ? FARTHEST : e < -FARTHEST ? -FARTHEST : e);
}

lapis_status mat_unit(lapis_ctx *ctx, const double *X, int64_t count,
                      double *unit)
{
  double sums[2] = {0, 0}; /* of |X|; of what is not 0 */
  for (int64_t k = 0; k < count; k++) {
    if (isnan(X[k])) continue;
    sums[0] += fabs(X[k]);
    sums[1] += fabs(X[k]) > 0;
  }
  if (ctx != NULL) TRY(base_sum(ctx, sums, 2));
  *unit = mat_unit_of(sums[0] / fmax(sums[1], 1));
  return LAPIS_OK;
}

void mat_multiply(double *X, int64_t count, double factor)
{
  if (X == NULL || !(factor < 1 || factor > 1)) return;
  for (int64_t k = 0; k < count; k++) X[k] *= factor;
}
