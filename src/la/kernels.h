/* kernels.h - one number at a time: losses, slopes, conjugates and proximal
 * steps.  Inline, no memory, no state: the passes of a host run them over
 * columns, and a device can run them as they stand.
 *
 *   chi2(z, z0)  = (z - z0)^2 / (z + z0) on z >= 0, z0 >= 0   [MC11 (8)]
 *   logistic(z)  = log(1 + exp(-gamma s (z - c))) / gamma     [MC15 (22)]
 *
 * NaN in gives NaN out: comparisons are written so that NaN falls through. */
#ifndef LAPIS_KERNELS_H
#define LAPIS_KERNELS_H
#include <float.h>
#include <math.h>
#include <stdbool.h>

static inline double k_positive(double x)
{
  return x < 0 ? 0 : x;
}

/* 1 / (1 + exp(-x)); never overflows. */
static inline double k_sigmoid(double x)
{
  if (x >= 0) return 1 / (1 + exp(-x));
  double e = exp(x);
  return e / (1 + e);
}

/* ---- chi2 ---------------------------------------------------------------*/

static inline double k_chi2(double z, double z0)
{
  double s = z + z0, d = z - z0;
  if (z < 0) return INFINITY;
  return s <= 0 ? 0 : d * (d / s); /* 0/0 is 0: the limit along z = z0 */
}

/* (z - z0)(z + 3 z0)/(z + z0)^2; the limit 1 where z0 = 0, at z = 0 too.
 * Kept below 1 against rounding: the conjugate is infinite above. */
static inline double k_chi2_slope(double z, double z0)
{
  double s = z + z0, slope = (z - z0) / s * ((z + 3 * z0) / s);
  return z0 <= 0 || slope > 1 ? 1 : slope;
}

/* sup over z >= 0 of y z - chi2(z, z0).  With q = sqrt(1 - y) it is
 * z0 (q - 1)(q - 3) up to q = 2, where z reaches 0; q - 1 = -y / (q + 1)
 * saves the digits lost near y = 0. */
static inline double k_chi2_conjugate(double y, double z0)
{
  if (y > 1) return INFINITY;
  double q = sqrt(1 - y);
  return q >= 2 ? -z0 : z0 * y * (3 - q) / (1 + q);
}

/* One Newton step for z + 4 t (1 - z0^2/(z + z0)^2) = d, d = v + 3t: the
 * optimality condition without its cancellation at z = 0.  The left side is
 * concave and increasing, so from the left the steps are monotone. */
static inline double k_chi2_polish(double z, double z0, double t, double d)
{
  double inverse = 1 / (z + z0), q = z * inverse, r = z0 * inverse;
  double h = z + 4 * t * q * (1 + r) - d;
  return z - h / (1 + 8 * t * r * r * inverse);
}

/* s = z + z0 is the positive root of s^3 + b s^2 = 4 t z0^2, b = t - z0 - v.
 * Both s^3 <= 4 t z0^2 (b > 0), and b s^2 <= 4 t z0^2, bound it from above
 * (b <= 0: s + b in their place); the cubic is convex there, so that Newton
 * falls monotonically.  Everything is divided by s^2: no overflow.  Five
 * digits, squared by the last step, squared again by the polish. */
static inline double k_chi2_shifted_root(double v, double z0, double t)
{
  double b = t - z0 - v, cube = z0 * cbrt(4 * t / z0), s;
  if (b > 0) {
    double flat = 2 * z0 * sqrt(t / b);
    s = flat < cube ? flat : cube;
  } else {
    double ratio = z0 / b, steep = 4 * t * ratio * ratio;
    s = (steep < cube ? steep : cube) - b;
  }
  for (int i = 0; i < 60; i++) {
    double inverse = 1 / s, r = z0 * inverse;
    double step = (s + b - 4 * t * r * r) / (3 + 2 * b * inverse);
    s -= step;
    if (!(step > 1e-5 * s)) break;
  }
  return s;
}

/* argmin over z >= 0 of t chi2(z, z0) + (z - v)^2/2.  z = 0 where the slope
 * there, -3t - v, is not negative.  A z0 below the smallest normal double
 * counts as 0: the answer moves by less than that. */
static inline double k_prox_chi2(double v, double z0, double t)
{
  if (z0 < DBL_MIN) return k_positive(v - t);
  double d = v + 3 * t;
  if (d <= 0) return 0;
  double z = d * (z0 / (z0 + 8 * t)); /* Newton from 0: below the root */
  if (z < 1e-3 * z0)
    z = k_chi2_polish(z, z0, t, d);
  else
    z = k_chi2_shifted_root(v, z0, t) - z0;
  return k_chi2_polish(z, z0, t, d);
}

/* Derivative of the step above by v, at its value z. */
static inline double k_prox_chi2_rate(double z, double z0, double t)
{
  if (z <= 0) return 0;
  double inverse = 1 / (z + z0), r = z0 * inverse;
  return z0 < DBL_MIN ? 1 : 1 / (1 + 8 * t * r * r * inverse);
}

/* ---- logistic -----------------------------------------------------------*/

static inline double k_logistic(double z, double s, double c, double gamma)
{
  double x = gamma * s * (z - c);
  double soft = x > 0 ? log1p(exp(-x)) : log1p(exp(x)) - x;
  return soft / gamma;
}

static inline double k_logistic_slope(double z, double s, double c,
                                      double gamma)
{
  return -s * k_sigmoid(-gamma * s * (z - c));
}

/* y c + (p ln p + (1 - p) ln(1 - p))/gamma, p = -s y in [0, 1]. */
static inline double k_logistic_conjugate(double y, double s, double c,
                                          double gamma)
{
  double p = -s * y;
  if (p < 0 || p > 1) return INFINITY;
  double heads = p <= 0 ? 0 : p * log(p);
  double tails = p >= 1 ? 0 : (1 - p) * log1p(-p);
  return y * c + (heads + tails) / gamma;
}

/* Near the root of x = a + b/(1 + e^x), b > 0, to a few percent: Newton's step
 * on ln y + ln(1 + e^(a + y)) = ln b, y = x - a, from where a rough reading of
 * it begins.  The equation is the same for -x with -(a + b) for a, so that
 * x >= 0. */
static inline double k_logistic_start(double a, double b)
{
  bool turned = a < -0.5 * b;
  if (turned) a = -(a + b);
  double y = a > 0 ? log1p(b * exp(-a)) : log1p(b / (1 - a)) - a;
  if (y > 0) {
    double e = exp(-(a + y));
    y -= (log(y / b) + a + y + log1p(e)) / (1 / y + 1 / (1 + e));
  }
  return turned ? -(a + y) : a + y;
}

/* u - w - t/(1 + exp(gamma u)) = 0, which increases in u, has its root in
 * [w, w + t/(1 + exp(gamma w))].  Newton alone cycles when t gamma is large,
 * between the ends or inside them: a step that leaves the bracket, or is not
 * half of the one before, is replaced by the bracket's middle.
 * Of the two readings of the answer, c + s u and v + s t g, the one that damps
 * the error of u is taken. */
static inline double k_prox_logistic(double v, double s, double c, double gamma,
                                     double t)
{
  double w = s * (v - c), low = w, high = w + t * k_sigmoid(-gamma * w);
  double u = 0.5 * (low + high), last = high - low, bend = 0;
  if (gamma * t > 8) {
    double near = k_logistic_start(gamma * w, gamma * t) / gamma;
    if (near >= low && near <= high) u = near;
  }
  double g = k_sigmoid(-gamma * u);
  for (int i = 0; i < 200; i++) {
    double f = u - w - t * g, size = fabs(u);
    bend = t * gamma * g * (1 - g);
    double step = f / (1 + bend), noise = size + (size + fabs(w)) / (1 + bend);
    if (!(fabs(step) > DBL_EPSILON * noise)) break;
    if (f > 0)
      high = u;
    else
      low = u;
    double next = u - step;
    bool good = next > low && next < high && 2 * fabs(step) < last;
    if (!good) next = 0.5 * (low + high);
    last = fabs(next - u);
    u = next;
    g = k_sigmoid(-gamma * u);
  }
  return bend > 1 ? c + s * u : v + s * t * g;
}

#endif
