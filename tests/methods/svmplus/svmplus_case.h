/* svmplus_case.h - random problems with privileged features, solving, and
 * gaps recomputed from X, P, Y and the dual point alone. */
#ifndef LAPIS_SVMPLUS_CASE_H
#define LAPIS_SVMPLUS_CASE_H
#include "fixture.h"

typedef struct sv_case {
  int64_t n, d, p;
  double *X, *P, *y; /* d x n, p x n, n */
  lapis_data data;
} sv_case;

/* Labels by a direction, some flipped; the margin is privileged. */
static inline sv_case sv_random(uint64_t seed, int64_t n, int64_t d, int64_t p)
{
  sv_case c = {.n = n, .d = d, .p = p};
  c.X = malloc((size_t)(n * d) * sizeof *c.X);
  c.P = malloc((size_t)(n * p + 1) * sizeof *c.P);
  c.y = malloc((size_t)n * sizeof *c.y);
  for (int64_t j = 0; j < n; j++) {
    double margin = 0;
    for (int64_t i = 0; i < d; i++)
      margin += c.X[j * d + i] = check_normal(&seed);
    c.y[j] = (margin > 0) == (check_uniform(&seed) > 0.1) ? 1 : -1;
    for (int64_t i = 0; i < p; i++) c.P[j * p + i] = check_normal(&seed);
    if (p > 0) c.P[j * p] = c.y[j] * margin;
  }
  c.y[0] = 1;
  c.y[1] = -1;
  c.data = (lapis_data){.X = lapis_mat_f64(c.X, d, n),
                        .Y = lapis_mat_f64(c.y, 1, n)};
  if (p > 0) c.data.P = lapis_mat_f64(c.P, p, n);
  return c;
}

static inline void sv_drop(sv_case *c)
{
  free(c->X);
  free(c->P);
  free(c->y);
}

static inline lapis_solver *sv_solve(lapis_ctx *ctx, const lapis_data *data,
                                     const lapis_svmplus_settings *set)
{
  lapis_solver *s;
  if (lapis_svmplus_new(ctx, data, set, &s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  if (lapis_solve(s) < 0) fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

static inline const double *sv_array(const lapis_solver *s, const char *name)
{
  lapis_mat mat;
  if (lapis_result_get(s, name, &mat) < 0) fail_msg("no %s", name);
  return mat.val;
}

static inline double sv_product(const lapis_mat *A, int64_t j, const double *w)
{
  double sum = w[A->rows];
  for (int64_t i = 0; i < A->rows; i++) sum += lapis_mat_at(A, i, j) * w[i];
  return sum;
}

/* The relative gap of the linear problem [SVMP16 (7)] from alpha and zeta;
 * P empty: hinge loss. */
static inline double sv_linear_gap(const lapis_data *data, const double *a,
                                   const double *s, double C, double gamma,
                                   double *dual)
{
  int64_t n = data->X.cols, d = data->X.rows, p = data->P.rows;
  double *w = calloc((size_t)(d + p + 2), sizeof *w), *v = w + d + 1;
  double sum = 0, ww = 0, vv = 0, t = 0, slack = 0, total = C * (double)n;
  for (int64_t j = 0; j < n; j++) {
    double y = lapis_mat_at(&data->Y, 0, j), z = (a[j] - C + s[j]) / gamma;
    if (a[j] < 0 || s[j] < 0) fail_msg("a dual variable is negative");
    sum += a[j];
    for (int64_t i = 0; i <= d; i++)
      w[i] += a[j] * y * (i == d ? 1 : lapis_mat_at(&data->X, i, j));
    for (int64_t i = 0; p > 0 && i <= p; i++)
      v[i] += z * (i == p ? 1 : lapis_mat_at(&data->P, i, j));
  }
  for (int64_t i = 0; i <= d; i++) ww += w[i] * w[i];
  for (int64_t i = 0; i <= p; i++) vv += v[i] * v[i];
  for (int64_t j = 0; j < n; j++) {
    double m = lapis_mat_at(&data->Y, 0, j) * sv_product(&data->X, j, w);
    double xi = p > 0 ? sv_product(&data->P, j, v) : fmax(0, 1 - m);
    t = fmax(t, fmax(-xi, 1 - m - xi));
    slack += C * xi;
  }
  if (p == 0) vv = t = 0;
  double b = v[p];
  double primal =
      ww / 2 + slack + total * t + gamma / 2 * (vv - b * b + (b + t) * (b + t));
  if (p == 0) primal = ww / 2 + slack;
  *dual = sum - ww / 2 - gamma * vv / 2;
  free(w);
  return (primal - *dual) / fmax(fabs(primal), fabs(*dual));
}

static inline double sv_rbf(const lapis_mat *A, int64_t i, int64_t j,
                            double width)
{
  double far = 0;
  for (int64_t k = 0; k < A->rows; k++) {
    double off = lapis_mat_at(A, k, i) - lapis_mat_at(A, k, j);
    far += off * off;
  }
  return exp(-far / width);
}

/* Solves A x = b (n x n, destroyed) by elimination with pivots. */
static inline void sv_eliminate(double *A, double *b, int64_t n)
{
  for (int64_t k = 0; k < n; k++) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
      if (fabs(A[k * n + i]) > fabs(A[k * n + best])) best = i;
    for (int64_t j = 0; j < n; j++) {
      double keep = A[j * n + k];
      A[j * n + k] = A[j * n + best];
      A[j * n + best] = keep;
    }
    double keep = b[k];
    b[k] = b[best];
    b[best] = keep;
    for (int64_t i = k + 1; i < n; i++) {
      double f = A[k * n + i] / A[k * n + k];
      for (int64_t j = k; j < n; j++) A[j * n + i] -= f * A[j * n + k];
      b[i] -= f * b[k];
    }
  }
  for (int64_t k = n; k-- > 0;) {
    for (int64_t j = k + 1; j < n; j++) b[k] -= A[j * n + k] * b[j];
    b[k] /= A[k * n + k];
  }
}

/* The relative gap of the l2 problem with rbf kernels, from alpha alone: Ga
 * by a linear solve of (gamma I + C Kt) g = Kt a. */
static inline double sv_l2_gap(const lapis_data *data, const double *a,
                               double C, double gamma, double width,
                               double width_priv, double *half)
{
  int64_t n = data->X.cols;
  double *A = calloc((size_t)(n * n + n), sizeof *A), *g = A + n * n;
  double norm = 0, least = INFINITY, total = 0;
  for (int64_t j = 0; j < n; j++) {
    total += a[j];
    if (a[j] < 0) fail_msg("a dual variable is negative");
    for (int64_t i = 0; i < n; i++) {
      double k = 1 + sv_rbf(&data->P, i, j, width_priv);
      A[j * n + i] = C * k + (i == j ? gamma : 0);
      g[i] += k * a[j];
    }
  }
  CHECK_NEAR(total, 1, 1e-12);
  sv_eliminate(A, g, n);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++)
      g[i] += lapis_mat_at(&data->Y, 0, i) * lapis_mat_at(&data->Y, 0, j) *
              (1 + sv_rbf(&data->X, i, j, width)) * a[j];
    norm += a[i] * g[i];
    least = fmin(least, g[i]);
  }
  free(A);
  *half = norm / 2;
  return (norm - least) / (norm / 2);
}
#endif
