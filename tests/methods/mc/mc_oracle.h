/* mc_oracle.h - primal, dual and feasibility of a completion, recomputed from
 * X, Y and what was written, by the formulas of docs/mathematics.md alone. */
#ifndef LAPIS_MC_ORACLE_H
#define LAPIS_MC_ORACLE_H
#include "oracle.h"

enum { ORACLE_MC1, ORACLE_POS, ORACLE_SIMPLEX };

typedef struct mc_case {
  int variant;
  bool zero_one;
  int64_t K, D, n;
  const double *X, *Y; /* D x n, K x n, NaN unknown */
  double lambda, gamma, mu;
  const double *weight; /* n, or NULL: 1 each */
} mc_case;

typedef struct mc_truth {
  double primal, dual, gap, spectral, infeasible;
} mc_truth;

static inline int64_t oracle_seen(const double *x, int64_t n)
{
  int64_t seen = 0;
  for (int64_t k = 0; k < n; k++) seen += !isnan(x[k]);
  return seen;
}

static inline double oracle_log1pexp(double x)
{
  return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static inline double oracle_entropy(double p)
{
  return p > 0 ? p * log(p) : 0;
}

/* sign and centre of the label loss */
static inline double oracle_sign(const mc_case *c, double y)
{
  return c->zero_one ? (y > 0.5 ? 1 : -1) : (y > 0 ? 1 : -1);
}
static inline double oracle_centre(const mc_case *c, double y)
{
  return c->zero_one ? (y > 0.5 ? 1 : 0) : 0;
}

/* What entry k of Y counts: 0 where it is not known. */
static inline double oracle_times(const mc_case *c, int64_t k)
{
  if (isnan(c->Y[k])) return 0;
  return c->weight == NULL ? 1 : c->weight[k / c->K];
}

/* lambda / |Omega_Y| */
static inline double oracle_b(const mc_case *c)
{
  double all = 0;
  for (int64_t k = 0; k < c->K * c->n; k++) all += oracle_times(c, k);
  return all > 0 ? c->lambda / all : 0;
}

static inline double oracle_label_loss(const mc_case *c, const double *scores)
{
  double sum = 0;
  for (int64_t k = 0; k < c->K * c->n; k++) {
    if (!(oracle_times(c, k) > 0)) continue;
    double u =
        oracle_sign(c, c->Y[k]) * (scores[k] - oracle_centre(c, c->Y[k]));
    sum += oracle_times(c, k) * oracle_log1pexp(-c->gamma * u) / c->gamma;
  }
  return oracle_b(c) * sum;
}

static inline double oracle_feature_loss(const mc_case *c, const double *Z)
{
  double sum = 0;
  for (int64_t k = 0; k < c->D * c->n; k++) {
    double d = Z[k] - c->X[k], s = Z[k] + c->X[k];
    if (isnan(d)) continue;
    if (c->variant == ORACLE_MC1)
      sum += d * d / 2;
    else if (s > 0)
      sum += d * d / s;
  }
  return sum / (double)oracle_seen(c->X, c->D * c->n);
}

static inline double oracle_infeasible(const mc_case *c, const double *Z)
{
  double worst = 0;
  for (int64_t j = 0; j < c->n && c->variant != ORACLE_MC1; j++) {
    double sum = 0;
    for (int64_t i = 0; i < c->D; i++) {
      worst = fmax(worst, -Z[j * c->D + i]);
      sum += Z[j * c->D + i];
    }
    if (c->variant == ORACLE_SIMPLEX) worst = fmax(worst, fabs(sum - 1));
  }
  return worst;
}

/* conjugate of a chi2(z, z0) over z >= 0 */
static inline double oracle_chi2_conjugate(double y, double z0, double a)
{
  if (y > a) return z0 > 0 || y > a * (1 + 1e-12) ? INFINITY : 0;
  double q = sqrt(1 - y / a);
  return q >= 2 ? -a * z0 : a * z0 * (q - 1) * (q - 3);
}

/* theta + sum_i phi_i*(y_i - theta), for one simplex column */
static inline double oracle_simplex_at(const mc_case *c, const double *y,
                                       const double *x, double a, double theta)
{
  double sum = theta;
  for (int64_t i = 0; i < c->D; i++) {
    double v = y[i] - theta;
    if (isnan(x[i]))
      sum += v > 1e-15 ? INFINITY : 0;
    else
      sum += oracle_chi2_conjugate(v, x[i], a);
  }
  return sum;
}

static inline double oracle_simplex_conjugate(const mc_case *c, const double *y,
                                              const double *x, double a)
{
  double low = -INFINITY; /* below it some term is infinite */
  for (int64_t i = 0; i < c->D; i++)
    low = fmax(low, isnan(x[i]) ? y[i] : y[i] - a);
  double high = low + 8 * a + 8 * fabs(low);
  const double g = (sqrt(5) - 1) / 2;
  double best = oracle_simplex_at(c, y, x, a, low);
  for (int step = 0; step < 200; step++) {
    double l = high - g * (high - low), r = low + g * (high - low);
    double fl = oracle_simplex_at(c, y, x, a, l);
    double fr = oracle_simplex_at(c, y, x, a, r);
    best = fmin(best, fmin(fl, fr));
    if (fl <= fr)
      high = r;
    else
      low = l;
  }
  return best;
}

static inline double oracle_feature_conjugate(const mc_case *c, double y,
                                              double x, double a)
{
  if (isnan(x)) {
    bool free = c->variant == ORACLE_MC1 ? y == 0 : y <= 0;
    return free ? 0 : INFINITY;
  }
  if (c->variant == ORACLE_MC1) return y * x + y * y / (2 * a);
  return oracle_chi2_conjugate(y, x, a);
}

static inline double oracle_label_conjugate(const mc_case *c, double y,
                                            double label, double b)
{
  if (!(b > 0)) return y == 0 ? 0 : INFINITY;
  double p = -y * oracle_sign(c, label) / b;
  if (p < 0 || p > 1) return INFINITY;
  return y * oracle_centre(c, label) +
         b / c->gamma * (oracle_entropy(p) + oracle_entropy(1 - p));
}

/* labels, features, and with labels a row of ones */
static inline int64_t oracle_rows(const mc_case *c)
{
  return c->K + c->D + (c->K > 0);
}

/* phi*(G), G m x n: labels, features, ones. */
static inline double oracle_conjugate(const mc_case *c, const double *G)
{
  double a = 1 / (double)oracle_seen(c->X, c->D * c->n);
  int64_t m = oracle_rows(c);
  double b = oracle_b(c), sum = 0;
  for (int64_t j = 0; j < c->n; j++) {
    const double *g = G + j * m, *x = c->X + j * c->D;
    for (int64_t k = 0; k < c->K; k++)
      sum += oracle_label_conjugate(c, g[k], c->Y[j * c->K + k],
                                    b * oracle_times(c, j * c->K + k));
    if (c->variant == ORACLE_SIMPLEX)
      sum += oracle_simplex_conjugate(c, g + c->K, x, a);
    else
      for (int64_t i = 0; i < c->D; i++)
        sum += oracle_feature_conjugate(c, g[c->K + i], x[i], a);
    if (c->K > 0) sum += g[m - 1];
  }
  return sum;
}

static inline mc_truth oracle_mc(const mc_case *c, const double *scores,
                                 const lapis_mat *features, const double *dual)
{
  int64_t m = oracle_rows(c);
  double *Z = malloc((size_t)(m * c->n) * sizeof *Z), nuclear, spectral;
  double *low_rank = malloc((size_t)(c->D * c->n) * sizeof *low_rank);
  for (int64_t k = 0; k < c->D * c->n; k++)
    low_rank[k] = lapis_mat_at(features, k % c->D, k / c->D);
  for (int64_t j = 0; j < c->n; j++) {
    for (int64_t k = 0; k < c->K; k++) Z[j * m + k] = scores[j * c->K + k];
    for (int64_t i = 0; i < c->D; i++)
      Z[j * m + c->K + i] = low_rank[j * c->D + i];
    if (c->K > 0) Z[j * m + m - 1] = 1;
  }
  mc_truth t;
  oracle_norms(Z, m, c->n, &nuclear, &spectral);
  t.primal = c->mu * nuclear + oracle_label_loss(c, scores) +
             oracle_feature_loss(c, low_rank);
  oracle_norms(dual, m, c->n, &nuclear, &t.spectral);
  t.dual = -oracle_conjugate(c, dual);
  t.gap = (t.primal - t.dual) / fmax(fabs(t.primal), fabs(t.dual));
  t.infeasible = oracle_infeasible(c, low_rank);
  free(Z);
  free(low_rank);
  return t;
}
#endif
