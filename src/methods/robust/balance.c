/* balance.c - by how much the penalty rho of Douglas-Rachford on A = B grows:
 * the square root of what its two residuals are apart, each as a share of what
 * it is a residual of. */
#include <float.h>
#include <math.h>

#include "methods/robust/robust.h"

static const double STRIDE = 10;
static const double ROUNDING = 16 * DBL_EPSILON; /* what B is known to */

/* sqrt(a b), where the product would leave the range of numbers, too. */
static double middle(double a, double b)
{
  double product = a * b;
  bool plain = product > 1e-290 && product < 1e290;
  return plain ? sqrt(product) : sqrt(a) * sqrt(b);
}

double rr_balance(const double sums[4])
{
  double rounding = ROUNDING * ROUNDING * sums[2];
  double primal = middle(fmax(sums[0], rounding), sums[3]);
  double dual = middle(fmax(sums[1], rounding), sums[2]);
  if (!(primal > 0) || !(dual > 0)) return 1;
  return fmin(fmax(sqrt(primal / dual), 1 / STRIDE), STRIDE);
}

bool rr_at_rounding(const double sums[4])
{
  double rounding = ROUNDING * sqrt(sums[2]);
  return sqrt(sums[0]) <= rounding && sqrt(sums[1]) <= rounding;
}
