/* simplex.h - one column of a block that must be a point of the simplex. */
#ifndef LAPIS_SIMPLEX_H
#define LAPIS_SIMPLEX_H
#include <stdint.h>

/* The solution of  minimize sum t chi2(z_i, z0_i) [z0_i not NaN]
 *                           + sum (z_i - v_i)^2/2,  z >= 0, sum z = 1
 * is z_i = scale prox(v_i - shift - theta), scale = 1 but for rounding. */
typedef struct simplex_root {
  double shift, theta, scale;
} simplex_root;
/* v, z0: n entries; z0 NULL: no penalty, the Euclidean projection. */
simplex_root simplex_solve(int64_t n, const double *v, const double *z0,
                           double t);
/* The solution, or part of it: n entries of v, z0 (or NULL) and out, which may
 * be v. */
void simplex_fill(const simplex_root *r, int64_t n, const double *v,
                  const double *z0, double t, double *out);
/* Both at once, from a point of the simplex near the solution; out, n entries,
 * is neither v nor near. */
void simplex_prox(int64_t n, const double *v, const double *z0, double t,
                  const double *near, double *out);
/* max { scale g'z - a sum chi2(z_i, z0_i) : z in the simplex }, as the minimum
 * over theta of theta + sum phi_i*(scale g_i - theta); every theta gives an
 * upper bound, so an inexact one keeps a certificate valid. */
double simplex_conjugate(int64_t n, const double *g, const double *z0, double a,
                         double scale);

#endif
