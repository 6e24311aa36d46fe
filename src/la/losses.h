/* losses.h - every loss of docs/mathematics.md, section 1: the list, and what
 * each pass of a machine does to one number.  Inline, no memory, no state: the
 * host runs it over columns (host/passes.c), and a device's kernels stand on
 * this very text.
 *
 *   chi2(z, z0)  = (z - z0)^2 / (z + z0) on z >= 0, z0 >= 0   [MC11 (8)]
 *   logistic(z)  = log(1 + exp(-gamma s (z - c))) / gamma     [MC15 (22)]
 *
 * A label z0 is s in {-1, 1} with c = 0, or c in {0, 1} with s = 2 c - 1.
 *
 * A loss is one row of the lists below and the functions e_PASS_name: loss,
 * slope, prox, project (on the loss's domain), clamp (into that of its
 * conjugate), conj; of labels newton, too.  What a row says beside its names:
 * how fast the slope grows at most, where no z0 but 0 is below `least`.
 *
 * NaN in gives NaN out: comparisons are written so that NaN falls through. */
#ifndef LAPIS_LOSSES_H
#define LAPIS_LOSSES_H
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* c_x of docs/methods/mc.md; z0 NaN: not observed.
 *   SQUARE        (z - z0)^2 / 2; no cost where unobserved
 *   CHI2          (z - z0)^2 / (z + z0); z >= 0, also unobserved ones
 *   CHI2_SIMPLEX  the same; each column of the block sums to 1
 *   ONES          z = 1 */
#define LA_FEATURE_LOSSES(ROW, with)          \
  ROW(with, SQUARE, square, 1)                \
  ROW(with, CHI2, chi2, 8 / least)            \
  ROW(with, CHI2_SIMPLEX, simplex, 8 / least) \
  ROW(with, ONES, ones, 1)
/* c_y
 *   LOGISTIC      log(1 + exp(-gamma s (z - c))) / gamma */
#define LA_LABEL_LOSSES(ROW, with) ROW(with, LOGISTIC, logistic, gamma / 4)
#define LA_LOSSES(ROW, with)   \
  LA_FEATURE_LOSSES(ROW, with) \
  LA_LABEL_LOSSES(ROW, with)

#define LA_NAME(with, KIND, name, bend) LA_##KIND,
typedef enum la_kind { LA_LOSSES(LA_NAME, 0) } la_kind;

/* The passes of a device that change entries, and those that add them up. */
typedef enum la_pass {
  LA_PROX,
  LA_STEP,
  LA_CLAMP,
  LA_PROJECT,
  LA_LOSS,
  LA_CONJUGATE
} la_pass;

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

/* ---- one entry ----------------------------------------------------------*/
typedef struct entry_par {
  double t; /* weight / rho in a prox, weight tau in a gradient step */
  double weight, gamma;
  double scale;  /* of the argument of a conjugate */
  bool zero_one; /* labels are 0 and 1, not -1 and 1 */
} entry_par;

/* One entry's share of a step on phi: its new B and W, given the proximal step
 * z at v, and what it adds to the four sums of reflect. */
static inline void e_reflect(double a, double v, double z, double *b, double *w,
                             double sums[4])
{
  double u = v - z, primal = a - z, dual = z - *b;
  *b = z;
  *w = z - u;
  sums[0] += primal * primal;
  sums[1] += dual * dual;
  sums[2] += z * z;
  sums[3] += u * u;
}

/* s and c of a label. */
static inline double e_sign(double z0, const entry_par *p)
{
  return p->zero_one ? 2 * z0 - 1 : z0;
}
static inline double e_centre(double z0, const entry_par *p)
{
  return p->zero_one ? z0 : 0;
}

/* x: the entry, z0: its observed value, NaN where there is none; a conjugate's
 * x is clamped. */

/* ---- square -------------------------------------------------------------*/
static inline double e_loss_square(double x, double z0, const entry_par *p)
{
  (void)p;
  return isnan(z0) ? 0 : 0.5 * (x - z0) * (x - z0);
}
static inline double e_slope_square(double x, double z0, const entry_par *p)
{
  (void)p;
  return isnan(z0) ? 0 : x - z0;
}
static inline double e_prox_square(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? x : (x + p->t * z0) / (1 + p->t);
}
static inline double e_clamp_square(double x, double z0, const entry_par *p)
{
  return isnan(z0) || !(p->weight > 0) ? 0 : x;
}
static inline double e_conj_square(double x, double z0, const entry_par *p)
{
  double y = p->scale * x;
  return isnan(z0) || !(p->weight > 0) ? 0 : y * z0 + y * y / (2 * p->weight);
}
static inline double e_project_square(double x)
{
  return x;
}

/* ---- chi2 ---------------------------------------------------------------*/
static inline double e_loss_chi2(double x, double z0, const entry_par *p)
{
  (void)p;
  return isnan(z0) ? 0 : k_chi2(x, z0);
}
static inline double e_slope_chi2(double x, double z0, const entry_par *p)
{
  (void)p;
  return isnan(z0) ? 0 : k_chi2_slope(x, z0);
}
/* The host has the same over many entries (host/chi2.c). */
static inline double e_prox_chi2(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? k_positive(x) : k_prox_chi2(x, z0, p->t);
}
static inline double e_clamp_chi2(double x, double z0, const entry_par *p)
{
  double top = isnan(z0) ? 0 : p->weight;
  return x > top ? top : x;
}
static inline double e_conj_chi2(double x, double z0, const entry_par *p)
{
  if (isnan(z0) || !(p->weight > 0)) return 0;
  return p->weight * k_chi2_conjugate(p->scale * x / p->weight, z0);
}
static inline double e_project_chi2(double x)
{
  return k_positive(x);
}

/* ---- chi2 on the simplex: its prox, projection and conjugate couple a column
 * (host/simplex.c, simplex_column.h); what stands here for them is not asked.
 * The conjugate is finite everywhere: nothing to clamp. */
static inline double e_loss_simplex(double x, double z0, const entry_par *p)
{
  return e_loss_chi2(x, z0, p);
}
static inline double e_slope_simplex(double x, double z0, const entry_par *p)
{
  return e_slope_chi2(x, z0, p);
}
static inline double e_clamp_simplex(double x, double z0, const entry_par *p)
{
  (void)z0, (void)p;
  return x;
}
static inline double e_prox_simplex(double x, double z0, const entry_par *p)
{
  return e_clamp_simplex(x, z0, p);
}
static inline double e_conj_simplex(double x, double z0, const entry_par *p)
{
  return e_clamp_simplex(x, z0, p);
}
static inline double e_project_simplex(double x)
{
  return x;
}

/* ---- the row of ones ----------------------------------------------------*/
static inline double e_loss_ones(double x, double z0, const entry_par *p)
{
  (void)x, (void)z0, (void)p;
  return 0;
}
static inline double e_slope_ones(double x, double z0, const entry_par *p)
{
  return e_loss_ones(x, z0, p);
}
static inline double e_prox_ones(double x, double z0, const entry_par *p)
{
  (void)x, (void)z0, (void)p;
  return 1;
}
static inline double e_clamp_ones(double x, double z0, const entry_par *p)
{
  (void)z0, (void)p;
  return x;
}
static inline double e_conj_ones(double x, double z0, const entry_par *p)
{
  (void)z0;
  return p->scale * x;
}
static inline double e_project_ones(double x)
{
  (void)x;
  return 1;
}

/* ---- logistic -----------------------------------------------------------*/
static inline double e_loss_logistic(double x, double z0, const entry_par *p)
{
  if (isnan(z0)) return 0;
  return k_logistic(x, e_sign(z0, p), e_centre(z0, p), p->gamma);
}
static inline double e_slope_logistic(double x, double z0, const entry_par *p)
{
  if (isnan(z0)) return 0;
  return k_logistic_slope(x, e_sign(z0, p), e_centre(z0, p), p->gamma);
}
static inline double e_prox_logistic(double x, double z0, const entry_par *p)
{
  if (isnan(z0)) return x;
  return k_prox_logistic(x, e_sign(z0, p), e_centre(z0, p), p->gamma, p->t);
}
/* -s y / weight in [0, 1]. */
static inline double e_clamp_logistic(double x, double z0, const entry_par *p)
{
  if (isnan(z0)) return 0;
  double s = e_sign(z0, p), share = -s * x;
  return share <= 0 ? 0 : share > p->weight ? -s * p->weight : x;
}
static inline double e_conj_logistic(double x, double z0, const entry_par *p)
{
  if (isnan(z0) || !(p->weight > 0)) return 0;
  double y = p->scale * x / p->weight;
  return p->weight *
         k_logistic_conjugate(y, e_sign(z0, p), e_centre(z0, p), p->gamma);
}
static inline double e_project_logistic(double x)
{
  return x;
}
/* weight times value, slope and curvature, by one exponential; z0 observed. */
static inline void e_newton_logistic(double x, double z0, const entry_par *p,
                                     double out[3])
{
  double s = e_sign(z0, p), u = -p->gamma * s * (x - e_centre(z0, p));
  double e = exp(-fabs(u)), share = u > 0 ? 1 / (1 + e) : e / (1 + e);
  out[0] = p->weight / p->gamma * ((u > 0 ? u : 0) + log1p(e));
  out[1] = -p->weight * s * share;
  out[2] = p->weight * p->gamma * (e / ((1 + e) * (1 + e)));
}

/* ---- a pass of any loss: e_loss(kind, x, z0, p), e_slope, e_prox, e_clamp,
 * e_conj, and e_project(kind, x).  Drivers give a constant kind and are
 * compiled with it: a call an entry would cost more than most of the work. */
#define LA_PASS static inline __attribute__((always_inline))
#define LA_ENTRY_CASE(pass, KIND, name, bend) \
  case LA_##KIND:                             \
    return pass##_##name(x, z0, p);
#define LA_ENTRY_PASS(pass)                                              \
  LA_PASS double pass(int kind, double x, double z0, const entry_par *p) \
  {                                                                      \
    switch (kind) {                                                      \
      LA_LOSSES(LA_ENTRY_CASE, pass)                                     \
    }                                                                    \
    return x;                                                            \
  }
LA_ENTRY_PASS(e_loss)
LA_ENTRY_PASS(e_slope)
LA_ENTRY_PASS(e_prox)
LA_ENTRY_PASS(e_clamp)
LA_ENTRY_PASS(e_conj)

LA_PASS double e_step(int kind, double x, double z0, const entry_par *p)
{
  return x - p->t * e_slope(kind, x, z0, p);
}

#define LA_NEWTON_CASE(with, KIND, name, bend) \
  case LA_##KIND:                              \
    e_newton_##name(x, z0, p, out);            \
    break;
static inline void e_newton(int kind, double x, double z0, const entry_par *p,
                            double out[3])
{
  out[0] = out[1] = out[2] = 0;
  switch (kind) {
    LA_LABEL_LOSSES(LA_NEWTON_CASE, 0)
  }
}

#define LA_BEND_CASE(with, KIND, name, bend) \
  case LA_##KIND:                            \
    return bend;
static inline double e_bend(int kind, double gamma, double least)
{
  (void)least;
  switch (kind) {
    LA_LOSSES(LA_BEND_CASE, 0)
  }
  return gamma;
}

#define LA_PROJECT_CASE(with, KIND, name, bend) \
  case LA_##KIND:                               \
    return e_project_##name(x);
LA_PASS double e_project(int kind, double x, double z0, const entry_par *p)
{
  (void)z0, (void)p;
  switch (kind) {
    LA_LOSSES(LA_PROJECT_CASE, 0)
  }
  return x;
}

#endif
