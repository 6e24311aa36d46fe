/* columns.h - a sample against a weight vector, dense or compressed;
 * the 1 that is appended to every sample is the last entry of the vector.
 * Four running sums, so that an addition need not wait for the last one:
 * this is where coordinate descent spends its time (bench/svmplus.c). */
#ifndef LAPIS_SVMPLUS_COLUMNS_H
#define LAPIS_SVMPLUS_COLUMNS_H
#include "mat/mat.h"

static inline double column_dense_dot(const double *x, const double *weights,
                                      int64_t d)
{
  double s[8] = {0, 0, 0, 0, 0, 0, 0, 0}, rest = 0;
  int64_t i = 0;
  for (; i + 8 <= d; i += 8)
    for (int c = 0; c < 8; c++) s[c] += x[i + c] * weights[i + c];
  for (; i < d; i++) rest += x[i] * weights[i];
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])) +
         rest;
}

/* [x_j; 1]'w */
static inline double column_dot(const lapis_mat *A, int64_t j,
                                const double *weights)
{
  if (A->colptr == NULL)
    return column_dense_dot(mat_col(A, j), weights, A->rows) + weights[A->rows];
  const double *val = A->val;
  double sum = weights[A->rows];
  for (int64_t k = A->colptr[j]; k < A->colptr[j + 1]; k++)
    sum += val[k] * weights[A->rowidx[k]];
  return sum;
}

/* w += f [x_j; 1] */
static inline void column_add(const lapis_mat *A, int64_t j, double f,
                              double *restrict weights)
{
  weights[A->rows] += f;
  if (A->colptr == NULL) {
    const double *restrict x = mat_col(A, j);
    for (int64_t i = 0; i < A->rows; i++) weights[i] += f * x[i];
    return;
  }
  const double *val = A->val;
  for (int64_t k = A->colptr[j]; k < A->colptr[j + 1]; k++)
    weights[A->rowidx[k]] += f * val[k];
}

/* |[x_j; 1]|^2 */
static inline double column_square(const lapis_mat *A, int64_t j)
{
  const double *val = A->val;
  bool dense = A->colptr == NULL;
  int64_t first = dense ? j * A->ld : A->colptr[j];
  int64_t last = dense ? first + A->rows : A->colptr[j + 1];
  double sum = 1;
  for (int64_t k = first; k < last; k++) sum += val[k] * val[k];
  return sum;
}

#endif
