/* chi2.h - the proximal step of chi2 over many entries at once. */
#ifndef LAPIS_CHI2_H
#define LAPIS_CHI2_H
#include <stdint.h>

/* out_i = argmin over z >= 0 of t chi2(z, z0_i) + (z - v_i)^2/2; z0_i NaN: not
 * observed, max(v_i, 0).  The values of k_prox_chi2, to rounding; out may be
 * v.  n entries each. */
void chi2_prox(int64_t n, const double *v, const double *z0, double t,
               double *out);

#endif
