/* entry.h - what each pass does to one entry of each kind of block, except
 * the prox of chi2 (chi2.h) and of the simplex, which couples a column
 * (simplex.h).
 *
 * x: the entry, z0: its observed value, NaN where there is none. */
#ifndef LAPIS_ENTRY_H
#define LAPIS_ENTRY_H
#include "la/kernels.h"

typedef struct entry_par {
  double t; /* weight / rho in a prox, weight tau in a gradient step */
  double weight, gamma;
  double scale; /* of the argument of a conjugate */
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

/* Labels {0, 1} as signs. */
static inline double e_sign(double z0)
{
  return 2 * z0 - 1;
}

/* ---- prox ---------------------------------------------------------------*/
static inline double e_prox_square(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? x : (x + p->t * z0) / (1 + p->t);
}
static inline double e_prox_pm(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? x : k_prox_logistic(x, z0, 0, p->gamma, p->t);
}
static inline double e_prox_01(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? x : k_prox_logistic(x, e_sign(z0), z0, p->gamma, p->t);
}
static inline double e_prox_ones(double x, double z0, const entry_par *p)
{
  (void)x, (void)z0, (void)p;
  return 1;
}

/* ---- loss ---------------------------------------------------------------*/
static inline double e_loss_square(double x, double z0, const entry_par *p)
{
  (void)p;
  return isnan(z0) ? 0 : 0.5 * (x - z0) * (x - z0);
}
static inline double e_loss_chi2(double x, double z0, const entry_par *p)
{
  (void)p;
  return isnan(z0) ? 0 : k_chi2(x, z0);
}
static inline double e_loss_pm(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? 0 : k_logistic(x, z0, 0, p->gamma);
}
static inline double e_loss_01(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? 0 : k_logistic(x, e_sign(z0), z0, p->gamma);
}

/* ---- gradient step ------------------------------------------------------*/
static inline double e_step_square(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? x : x - p->t * (x - z0);
}
static inline double e_step_chi2(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? x : x - p->t * k_chi2_slope(x, z0);
}
static inline double e_step_pm(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? x : x - p->t * k_logistic_slope(x, z0, 0, p->gamma);
}
static inline double e_step_01(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? x
                   : x - p->t * k_logistic_slope(x, e_sign(z0), z0, p->gamma);
}
static inline double e_keep(double x, double z0, const entry_par *p)
{
  (void)z0, (void)p;
  return x;
}
static inline double e_positive(double x, double z0, const entry_par *p)
{
  (void)z0, (void)p;
  return k_positive(x);
}

/* ---- clamp into the domain of phi* --------------------------------------*/
static inline double e_clamp_square(double x, double z0, const entry_par *p)
{
  return isnan(z0) || !(p->weight > 0) ? 0 : x;
}
static inline double e_clamp_chi2(double x, double z0, const entry_par *p)
{
  double top = isnan(z0) ? 0 : p->weight;
  return x > top ? top : x;
}
/* -s y / weight in [0, 1]. */
static inline double e_clamp_label(double y, double s, double weight)
{
  double p = -s * y;
  return p <= 0 ? 0 : p > weight ? -s * weight : y;
}
static inline double e_clamp_pm(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? 0 : e_clamp_label(x, z0, p->weight);
}
static inline double e_clamp_01(double x, double z0, const entry_par *p)
{
  return isnan(z0) ? 0 : e_clamp_label(x, e_sign(z0), p->weight);
}

/* ---- conjugate of weight c at scale x, x clamped ------------------------*/
static inline double e_conj_square(double x, double z0, const entry_par *p)
{
  double y = p->scale * x;
  return isnan(z0) || !(p->weight > 0) ? 0 : y * z0 + y * y / (2 * p->weight);
}
static inline double e_conj_chi2(double x, double z0, const entry_par *p)
{
  if (isnan(z0) || !(p->weight > 0)) return 0;
  return p->weight * k_chi2_conjugate(p->scale * x / p->weight, z0);
}
static inline double e_conj_pm(double x, double z0, const entry_par *p)
{
  if (isnan(z0) || !(p->weight > 0)) return 0;
  double y = p->scale * x / p->weight;
  return p->weight * k_logistic_conjugate(y, z0, 0, p->gamma);
}
static inline double e_conj_01(double x, double z0, const entry_par *p)
{
  if (isnan(z0) || !(p->weight > 0)) return 0;
  double y = p->scale * x / p->weight;
  return p->weight * k_logistic_conjugate(y, e_sign(z0), z0, p->gamma);
}
static inline double e_conj_ones(double x, double z0, const entry_par *p)
{
  (void)z0;
  return p->scale * x;
}

#endif
