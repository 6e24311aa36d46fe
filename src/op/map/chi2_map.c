/* chi2_map.c - the homogeneous kernel map of the additive chi2 kernel
 * 2xy/(x + y) (Vedaldi and Zisserman, PAMI 2012): its spectrum sech(pi w),
 * sampled at multiples of L, gives for each feature x the numbers
 *   sqrt(L x), sqrt(2 L sech(pi j L) x) {cos, sin}(j L log x),  j = 1..3.
 * L = 2 pi / 13.8 balances the tail that is cut off against the period; the
 * kernel of x with itself comes out 0.4 % short. */
#include "op/map/chi2_map.h"

#include <math.h>

static const double CHI2_STEP = 2 * 3.14159265358979323846 / 13.8;

void chi2_features(double *x, int64_t d)
{
  for (int64_t i = d - 1; i >= 0; i--) {
    double v = x[i], *out = x + i * CHI2_ROWS;
    double angle = v > 0 ? log(v) : 0; /* amplitude 0 makes it irrelevant */
    out[0] = sqrt(CHI2_STEP * v);
    for (int j = 1; j <= CHI2_ORDER; j++) {
      double w = j * CHI2_STEP, pi_w = 3.14159265358979323846 * w;
      double size = sqrt(2 * CHI2_STEP * v / cosh(pi_w));
      out[2 * j - 1] = size * cos(w * angle);
      out[2 * j] = size * sin(w * angle);
    }
  }
}
