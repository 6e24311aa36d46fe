/* losses.c - losses, slopes and conjugates as users call them; the formulas
 * and their stable forms are in la/kernels.h. */
#include "la/kernels.h"
#include "lapis/lapis_ops.h"

double lapis_chi2(double z, double z0)
{
  return k_chi2(z, z0);
}

double lapis_chi2_slope(double z, double z0)
{
  return k_chi2_slope(z, z0);
}

double lapis_chi2_conjugate(double y, double z0)
{
  return k_chi2_conjugate(y, z0);
}

double lapis_logistic(double z, double s, double c, double gamma)
{
  return k_logistic(z, s, c, gamma);
}

double lapis_logistic_slope(double z, double s, double c, double gamma)
{
  return k_logistic_slope(z, s, c, gamma);
}

double lapis_logistic_conjugate(double y, double s, double c, double gamma)
{
  return k_logistic_conjugate(y, s, c, gamma);
}
