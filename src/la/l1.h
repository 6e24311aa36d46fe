/* l1.h - what the passes of robust PCA and robust regression do to one entry,
 * on the host (l1.c) and on a device.
 *
 * With c = clamp(x - s, -t, t), which is 0 where x is not observed, the
 * proximal step of t |x - .| at s is b = s + c: no branch on the sign, and c
 * is the multiplier in units of rho. */
#ifndef LAPIS_LA_L1_H
#define LAPIS_LA_L1_H
#include <math.h>
#include <stdbool.h>

/* clamp(v, -t, t), 0 for NaN: every comparison with NaN is false. */
static inline double l1_clamp(double v, double t)
{
  double low = v > -t ? v : -t;
  double c = low < t ? low : t;
  return v == v ? c : 0;
}

typedef struct l1_step_par {
  double t, relax, rescale;
} l1_step_par;

/* One Douglas-Rachford step, its shares of the six sums of l1_step, which are
 * apart numbers from each other. */
static inline void l1_step_entry(double x, double a, double *s, double *w,
                                 const l1_step_par *p, double *sums, int apart)
{
  double c = l1_clamp(x - *s, p->t), b = *s + c, r = a - b;
  double moved = *s + p->relax * r, next = l1_clamp(x - moved, p->t);
  double fit = moved + next, change = fit - b, miss = x - a;
  bool seen = x == x;
  *s = fit - p->rescale * next;
  *w = fit + p->rescale * next;
  sums[0] += r * r;
  sums[apart] += change * change;
  sums[2 * apart] += fit * fit;
  sums[3 * apart] += next * next;
  sums[4 * apart] += seen ? fabs(miss) : 0;
  sums[5 * apart] += seen ? c * x : 0;
}

/* |x - a| and c x where x was observed. */
static inline void l1_sums_entry(double x, double a, double c, double sums[2])
{
  bool seen = x == x;
  double miss = x - a;
  sums[0] += seen ? fabs(miss) : 0;
  sums[1] += seen ? c * x : 0;
}

typedef struct l1_alm_par {
  double t; /* lambda / mu1 */
  double mu1, mu2, next1, next2;
} l1_alm_par;

/* One step of the augmented Lagrangian, its shares of the three sums. */
static inline void l1_alm_entry(double x, double d, double f, double *b,
                                double *g1, double *g2, double *z,
                                const l1_alm_par *p, double sums[3])
{
  bool seen = x == x;
  double old = *g1 / p->mu1, miss = x - d;
  double c = l1_clamp(miss + old, p->t), step = seen ? c - old : 0;
  double apart = f - d;
  *b = d + step; /* X - E; D where nothing was observed */
  *g1 = p->mu1 * c;
  *g2 += p->mu2 * apart;
  *z = (*g1 + p->next1 * *b + *g2) / (p->next1 + p->next2);
  sums[0] += step * step;
  sums[1] += apart * apart;
  sums[2] += seen ? fabs(miss) : 0;
}

#endif
