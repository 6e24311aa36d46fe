/* moments.c - means and deviations of features, of what is known of them.
 *
 * Two passes over the samples: squares are of what is left without the mean, so
 * that nothing cancels.  A deviation that is no more than the rounding of a
 * constant is 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mat/mat.h"

bool mat_varies(double deviation, double mean)
{
  return deviation > 1e-14 * fabs(mean);
}

void mat_moments_add(const mat_moments *m, int pass, const double *x,
                     double weight)
{
  double *sum = pass == 0 ? m->mean : m->deviation;
  for (int64_t i = 0; i < m->d; i++) {
    if (isnan(x[i])) continue;
    double off = x[i] - m->mean[i];
    if (pass == 0) m->count[i] += weight;
    sum[i] += weight * (pass == 0 ? x[i] : off * off);
  }
}

lapis_status mat_moments_end(lapis_ctx *ctx, const mat_moments *m, int pass)
{
  double *sum = pass == 0 ? m->mean : m->deviation;
  TRY(base_sum(ctx, sum, m->d));
  if (pass == 0) TRY(base_sum(ctx, m->count, m->d));
  for (int64_t i = 0; i < m->d; i++) {
    if (m->count[i] > 0) sum[i] /= m->count[i];
    if (pass == 0) continue;
    sum[i] = sqrt(sum[i]);
    if (!mat_varies(sum[i], m->mean[i])) sum[i] = 0;
  }
  return LAPIS_OK;
}

/* The same of all columns of a sparse X, whose other numbers are 0; stored (d):
 * the weight of the samples in which a feature is stored. */
static void add_sparse(const mat_moments *m, int pass, const lapis_mat *X,
                       const double *weight, double *stored)
{
  double *sum = pass == 0 ? m->mean : m->deviation, all = 0;
  memset(stored, 0, (size_t)m->d * sizeof *stored);
  for (int64_t i = 0; i < X->cols; i++) all += weight == NULL ? 1 : weight[i];
  for (int64_t i = 0; pass == 0 && i < m->d; i++) m->count[i] = all;
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t k = X->colptr[j]; k < X->colptr[j + 1]; k++) {
      int64_t i = X->rowidx[k];
      double v = weight == NULL ? 1 : weight[j], x = mat_stored(X, k);
      double off = x - m->mean[i];
      if (isnan(x) && pass == 0) m->count[i] -= v;
      if (isnan(x)) continue;
      stored[i] += v;
      sum[i] += v * (pass == 0 ? x : off * off);
    }
  for (int64_t i = 0; pass == 1 && i < m->d; i++)
    sum[i] += (m->count[i] - stored[i]) * m->mean[i] * m->mean[i];
}

lapis_status mat_measure(lapis_ctx *ctx, const lapis_mat *X,
                         const double *weight, const mat_moments *m)
{
  int passes = m->deviation == NULL ? 1 : 2;
  size_t size = (size_t)m->d * sizeof(double);
  double *x = base_alloc(ctx, m->d, sizeof *x);
  lapis_status s = x == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  memset(m->count, 0, size);
  memset(m->mean, 0, size);
  if (passes > 1) memset(m->deviation, 0, size);
  for (int pass = 0; s >= 0 && pass < passes; pass++) {
    if (X->colptr != NULL) add_sparse(m, pass, X, weight, x);
    for (int64_t j = 0; X->colptr == NULL && j < X->cols; j++) {
      for (int64_t i = 0; i < m->d; i++) x[i] = lapis_mat_at(X, i, j);
      mat_moments_add(m, pass, x, weight == NULL ? 1 : weight[j]);
    }
    s = mat_moments_end(ctx, m, pass);
  }
  base_free(x);
  return s;
}

lapis_status mat_one_unit(lapis_ctx *ctx, const lapis_mat *X, bool *out)
{
  static const double FAR = 10;
  int64_t d = X->rows;
  double *memory = base_alloc(ctx, 3 * d, sizeof *memory);
  *out = false;
  if (memory == NULL) return LAPIS_ENOMEM;
  double *size = memory + 2 * d;
  mat_moments of = {d, memory, memory + d, size};
  lapis_status s = mat_measure(ctx, X, NULL, &of);
  for (int64_t i = 0; i < d; i++) size[i] = hypot(of.mean[i], size[i]);
  qsort(size, (size_t)d, sizeof *size, base_ascending);
  if (s >= 0 && d > 0) *out = size[d - 1] <= FAR * size[d / 2];
  base_free(memory);
  return s;
}
