/* simplex.c - the multiplier of the constraint sum z = 1 (and the conjugate,
 * which is simplex_column.h's).
 *
 * Prox.  With a multiplier theta every entry is on its own: z_i = prox_i(v_i -
 * theta), and sum z_i(theta) = 1 decides theta.  Each prox_i is 0 up to a
 * point and convex and increasing after it (its inverse is concave), so the
 * sum is convex and decreasing in theta: Newton from a theta where the sum is
 * at least 1 rises monotonically to the root, kinks included.  Such a theta:
 * one where some entry alone reaches 1.
 *
 * Numerics.  v is first shifted by that theta, so that entries which matter
 * lose nothing however large v is; the last digits of sum z = 1 come from a
 * compensated sum and a scale 1 + O(n eps). */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "la/host/chi2.h"
#include "la/host/simplex.h"
#include "la/simplex_column.h"

enum { CHUNK = 64 };

/* z_i(theta) of up to CHUNK entries. */
static void values(const simplex_root *r, int n, const double *v,
                   const double *z0, double t, double *z)
{
  for (int i = 0; i < n; i++) z[i] = (v[i] - r->shift) - r->theta;
  if (z0 != NULL)
    chi2_prox(n, z, z0, t, z);
  else
    for (int i = 0; i < n; i++) z[i] = k_positive(z[i]);
}

static int chunk_size(int64_t left)
{
  return left < CHUNK ? (int)left : CHUNK;
}

void simplex_fill(const simplex_root *r, int64_t n, const double *v,
                  const double *z0, double t, double *out)
{
  for (int64_t i = 0; i < n; i += CHUNK) {
    int m = chunk_size(n - i);
    values(r, m, v + i, z0 == NULL ? NULL : z0 + i, t, out + i);
    for (int k = 0; k < m; k++) out[i + k] *= r->scale;
  }
}

/* sum of z_i and minus its derivative; keep: the z_i too, or NULL. */
static double sum_at(const column *c, const simplex_root *r, double *keep,
                     double *rate)
{
  double sum = 0, slope = 0, room[CHUNK];
  for (int64_t i = 0; i < c->n; i += CHUNK) {
    int m = chunk_size(c->n - i);
    const double *z0 = c->z0 == NULL ? NULL : c->z0 + i;
    double *z = keep == NULL ? room : keep + i;
    values(r, m, c->v + i, z0, c->t, z);
    for (int k = 0; k < m; k++) {
      bool flat = z0 == NULL || isnan(z0[k]);
      sum += z[k];
      slope += flat ? z[k] > 0 : k_prox_chi2_rate(z[k], z0[k], c->t);
    }
  }
  *rate = slope;
  return sum;
}

/* The same sum to the last bit or so (Neumaier's carry); keep: the z_i, where
 * they are known, or NULL. */
static double exact_sum_at(const column *c, const simplex_root *r,
                           const double *keep)
{
  double sum = 0, carry = 0, room[CHUNK];
  for (int64_t i = 0; i < c->n; i += CHUNK) {
    int m = chunk_size(c->n - i);
    const double *z = keep == NULL ? room : keep + i;
    if (keep == NULL)
      values(r, m, c->v + i, c->z0 == NULL ? NULL : c->z0 + i, c->t, room);
    for (int k = 0; k < m; k++) column_add(z[k], &sum, &carry);
  }
  return sum + carry;
}

/* A first guess: entries near what was observed, where chi2 is flat and z_i
 * moves by z0/(z0 + t) a unit of v. */
static double theta_guess(const column *c, double shift)
{
  double sum = 0, weight = 0;
  for (int64_t i = 0; c->z0 != NULL && i < c->n; i++) {
    double z0 = c->z0[i], share = z0 / (z0 + c->t);
    if (!(z0 > 0)) continue;
    sum += share * ((c->v[i] - shift) - z0);
    weight += share;
  }
  return weight > 0 ? sum / weight : 0;
}

/* The same around a point of the simplex that is near the answer: its entries
 * are the answer at v = p = near + t chi2'(near), and theta is the Newton step
 * from there. */
static double theta_near(const column *c, double shift, const double *near)
{
  double sum = 0, weight = 0;
  for (int64_t i = 0; i < c->n; i++) {
    double z = near[i], z0 = c->z0[i];
    if (!(z > 0)) continue;
    bool flat = isnan(z0);
    double p = flat ? z : z + c->t * k_chi2_slope(z, z0);
    double rate = flat ? 1 : k_prox_chi2_rate(z, z0, c->t);
    sum += rate * ((c->v[i] - shift) - p);
    weight += rate;
  }
  return weight > 0 ? sum / weight : 0;
}

/* A guess on the right of the root may be so far that nothing is left of the
 * sum; then the left end is taken.  From elsewhere on the right the first step
 * leads to the left. */
static simplex_root solve(int64_t n, const double *v, const double *z0,
                          double t, const double *near, double *keep)
{
  column c = {n, v, z0, t, 1};
  simplex_root r = {column_reaching(&c, 1), 0, 1};
  double rounding = column_rounding(&c);
  double ceiling = column_reaching(&c, 1 / (double)n) - r.shift;
  double guess =
      near == NULL ? theta_guess(&c, r.shift) : theta_near(&c, r.shift, near);
  r.theta = guess > 0 && guess < ceiling ? guess : 0;
  for (int k = 0; k < COLUMN_STEPS; k++) {
    double rate, excess = sum_at(&c, &r, keep, &rate) - 1;
    if (keep != NULL && !(fabs(excess) > rounding)) break;
    double next = column_next(r.theta, excess, rate, ceiling);
    bool stuck = !(fabs(next - r.theta) > 0);
    r.theta = next;
    if (stuck || !(fabs(excess) > rounding)) break;
  }
  r.scale = 1 / exact_sum_at(&c, &r, keep);
  return r;
}

simplex_root simplex_solve(int64_t n, const double *v, const double *z0,
                           double t)
{
  return solve(n, v, z0, t, NULL, NULL);
}

void simplex_prox(int64_t n, const double *v, const double *z0, double t,
                  const double *near, double *out)
{
  simplex_root r = solve(n, v, z0, t, near, out);
  for (int64_t i = 0; i < n; i++) out[i] *= r.scale;
}

double simplex_conjugate(int64_t n, const double *g, const double *z0, double a,
                         double scale)
{
  column c = {n, g, z0, a, scale};
  return column_conjugate(&c);
}
