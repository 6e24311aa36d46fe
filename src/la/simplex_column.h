/* simplex_column.h - one column that must be a point of the simplex: what the
 * host (simplex.c, where the reasons are) and a device do alike. */
#ifndef LAPIS_LA_SIMPLEX_COLUMN_H
#define LAPIS_LA_SIMPLEX_COLUMN_H
#include <stdint.h>

#include "la/losses.h"

#ifndef LA_FAR
#define LA_FAR /* where arrays lie: __global of a device */
#endif
enum { COLUMN_STEPS = 200 };

typedef struct column {
  int64_t n;
  LA_FAR const double *v, *z0; /* z0 NULL: nothing was observed */
  double t, scale;             /* scale: of v, in the conjugate */
} column;

/* Entries without a penalty. */
static inline bool column_is_free(const column *c, int64_t i)
{
  return c->z0 == 0 || !(c->t > 0) || isnan(c->z0[i]);
}

/* What is due before the sum is right to this. */
static inline double column_rounding(const column *c)
{
  return DBL_EPSILON * (double)(c->n + 4);
}

/* ---- prox -----------------------------------------------------------------*/
/* The largest v_i - level - t chi2'(level): the theta at which the first entry
 * reaches this level. */
static inline double column_reaching(const column *c, double level)
{
  double best = -INFINITY;
  for (int64_t i = 0; i < c->n; i++) {
    double slope =
        column_is_free(c, i) ? 0 : c->t * k_chi2_slope(level, c->z0[i]);
    double theta = c->v[i] - level - slope;
    if (theta > best) best = theta;
  }
  return best;
}

/* Newton's next theta, where the sum is 1 + excess and falls at this rate; past
 * 0 or the ceiling by rounding alone. */
static inline double column_next(double theta, double excess, double rate,
                                 double ceiling)
{
  double next = rate > 0 ? theta + excess / rate : 0;
  if (next > ceiling) next = ceiling;
  return next < 0 ? 0 : next;
}

/* sum + carry is the sum of all z to the last bit or so (Neumaier). */
static inline void column_add(double z, double *sum, double *carry)
{
  double next = *sum + z;
  *carry += *sum >= z ? (*sum - next) + z : (z - next) + *sum;
  *sum = next;
}

/* ---- conjugate ------------------------------------------------------------
 * d/dtheta = 1 - sum z_i(theta), z_i = z0_i (2/q_i - 1)+ with q_i^2 =
 * 1 - (y_i - theta)/t.  Unobserved entries and those with z0 = 0 pay nothing
 * up to y_i and y_i - t: walls, on which the minimum may lie.  The sum is
 * convex and decreasing. */
static inline bool column_is_curved(const column *c, int64_t i)
{
  return !column_is_free(c, i) && c->z0[i] > 0;
}

static inline double column_wall(const column *c)
{
  double wall = -INFINITY;
  for (int64_t i = 0; i < c->n; i++) {
    double theta = c->scale * c->v[i] - (column_is_free(c, i) ? 0 : c->t);
    if (theta > wall) wall = theta;
  }
  return wall;
}

/* The theta at which the first curved entry falls to this level, or wall. */
static inline double column_falling(const column *c, double level, double wall)
{
  for (int64_t i = 0; i < c->n; i++) {
    if (!column_is_curved(c, i)) continue;
    double slope = c->t * k_chi2_slope(level, c->z0[i]);
    double theta = c->scale * c->v[i] - slope;
    if (theta > wall) wall = theta;
  }
  return wall;
}

static inline double column_sum(const column *c, double theta, double *rate)
{
  double sum = 0, slope = 0;
  for (int64_t i = 0; i < c->n; i++) {
    if (!column_is_curved(c, i)) continue;
    double x = (c->t - c->scale * c->v[i] + theta) / c->t;
    double q = sqrt(x > 0 ? x : 0);
    if (q >= 2) continue;
    sum += c->z0[i] * (2 / q - 1);
    slope += c->z0[i] / (c->t * q * q * q);
  }
  *rate = slope;
  return sum;
}

static inline double column_value(const column *c, double theta)
{
  double sum = 0;
  for (int64_t i = 0; i < c->n; i++) {
    if (column_is_free(c, i)) continue;
    double y = (c->scale * c->v[i] - theta) / c->t;
    sum += c->t * k_chi2_conjugate(y < 1 ? y : 1, c->z0[i]);
  }
  return theta + sum;
}

static inline double column_conjugate(const column *c)
{
  double wall = column_wall(c), low = column_falling(c, 1, wall), theta = low;
  double high = column_falling(c, 1 / (double)c->n, wall);
  for (int k = 0; k < COLUMN_STEPS; k++) {
    double rate, excess = column_sum(c, theta, &rate) - 1;
    if (excess > 0)
      low = theta;
    else
      high = theta;
    double next = theta + excess / rate;
    if (!(next >= low && next <= high)) next = low + 0.5 * (high - low);
    bool stuck = !(fabs(next - theta) > 0);
    theta = next;
    if (stuck || !(fabs(excess) > column_rounding(c))) break;
  }
  return column_value(c, theta);
}

#endif
