/* samples.c - dense samples by the backend, sparse ones entry by entry. */
#include "op/learn/samples.h"

#include <float.h>
#include <math.h>
#include <string.h>

static la_array view(const double *v, int64_t rows, int64_t cols, int64_t ld)
{
  la_array a = la_wrap((double *)v, rows, cols);
  a.ld = ld;
  return a;
}

static void dot_sparse(const lapis_mat *X, const double *b, double *out)
{
  const double *val = X->val;
  for (int64_t j = 0; j < X->cols; j++) {
    double sum = 0;
    for (int64_t k = X->colptr[j]; k < X->colptr[j + 1]; k++)
      sum += val[k] * b[X->rowidx[k]];
    out[j] = sum;
  }
}

static void add_sparse(const lapis_mat *X, const double *b, double *out)
{
  const double *val = X->val;
  memset(out, 0, (size_t)X->rows * sizeof *out);
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t k = X->colptr[j]; k < X->colptr[j + 1]; k++)
      out[X->rowidx[k]] += b[j] * val[k];
}

lapis_status op_samples_dot(la *h, const samples *of, const double *B,
                            int64_t ldb, int64_t K, double *out)
{
  const lapis_mat *X = &of->X;
  int64_t d = X->rows, n = X->cols;
  la_array x = view(X->val, d, n, X->ld), b = view(B, d, K, ldb);
  la_array to = la_wrap(out, n, K);
  if (X->colptr == NULL) TRY(h->ops->gemm(h, LA_T, LA_N, 1, &x, &b, 0, &to));
  for (int64_t c = 0; c < K; c++) {
    double off = 0;
    if (X->colptr != NULL) dot_sparse(X, B + c * ldb, out + c * n);
    for (int64_t i = 0; of->shift != NULL && i < d; i++)
      off += of->shift[i] * B[c * ldb + i];
    for (int64_t j = 0; of->shift != NULL && j < n; j++) out[c * n + j] -= off;
  }
  return LAPIS_OK;
}

void op_samples_rounding(const samples *of, const double *b, double *out)
{
  const lapis_mat *X = &of->X;
  const double *val = X->val;
  double all = 0;
  memset(out, 0, (size_t)X->rows * sizeof *out);
  for (int64_t j = 0; j < X->cols; j++) {
    int64_t count, first = op_sample(X, j, &count);
    for (int64_t k = 0; k < count; k++)
      out[op_feature(X, first, k)] += fabs(val[first + k] * b[j]);
    all += fabs(b[j]);
  }
  for (int64_t i = 0; i < X->rows; i++) {
    if (of->shift != NULL) out[i] += fabs(of->shift[i]) * all;
    out[i] *= DBL_EPSILON;
  }
}

lapis_status op_samples_add(la *h, const samples *of, const double *B,
                            int64_t K, double *out, int64_t ldo)
{
  const lapis_mat *X = &of->X;
  int64_t d = X->rows, n = X->cols;
  la_array x = view(X->val, d, n, X->ld), b = view(B, n, K, n);
  la_array to = view(out, d, K, ldo);
  if (X->colptr == NULL) TRY(h->ops->gemm(h, LA_N, LA_N, 1, &x, &b, 0, &to));
  for (int64_t c = 0; c < K; c++) {
    double all = 0;
    if (X->colptr != NULL) add_sparse(X, B + c * n, out + c * ldo);
    for (int64_t j = 0; of->shift != NULL && j < n; j++) all += B[c * n + j];
    for (int64_t i = 0; of->shift != NULL && i < d; i++)
      out[c * ldo + i] -= of->shift[i] * all;
  }
  return LAPIS_OK;
}
