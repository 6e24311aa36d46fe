/* prox.c - the proximal steps as users call them; what they compute is in
 * la/losses.h and la/host/simplex.c. */
#include <math.h>

#include "la/host/simplex.h"
#include "la/losses.h"
#include "lapis/methods.h"

void lapis_prox_soft(int64_t n, const double *v, double t, double *out)
{
  if (v == NULL || out == NULL) return;
  for (int64_t i = 0; i < n; i++) {
    double rest = fabs(v[i]) - t;
    out[i] = rest < 0 ? 0 : copysign(rest, v[i]);
  }
}

void lapis_prox_chi2(int64_t n, const double *v, const double *z0,
                     const double *t, double *out)
{
  if (v == NULL || z0 == NULL || t == NULL || out == NULL) return;
  for (int64_t i = 0; i < n; i++) out[i] = k_prox_chi2(v[i], z0[i], t[i]);
}

void lapis_prox_logistic(int64_t n, const double *v, const double *s,
                         const double *c, double gamma, const double *t,
                         double *out)
{
  if (v == NULL || s == NULL || c == NULL || t == NULL || out == NULL) return;
  for (int64_t i = 0; i < n; i++)
    out[i] = k_prox_logistic(v[i], s[i], c[i], gamma, t[i]);
}

void lapis_prox_chi2_simplex(int64_t n, const double *v, const double *z0,
                             double t, double *out)
{
  if (v == NULL || out == NULL) return;
  simplex_root r = simplex_solve(n, v, z0, t);
  simplex_fill(&r, n, v, z0, t, out);
}
