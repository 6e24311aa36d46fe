/* vectors.c - sums of arrays, scaling, filling and inner products, threaded
 * over columns; the same bits for every number of threads. */
#include "la/host/host.h"
#include "la/parts.h"

/* b = alpha a + beta b; beta 0 never reads b, but where it is a. */
static void column_sum(int64_t n, double alpha, const double *a, double beta,
                       double *b)
{
  if (beta < 0 || beta > 0)
    for (int64_t i = 0; i < n; i++) b[i] = alpha * a[i] + beta * b[i];
  else if (a == b)
    for (int64_t i = 0; i < n; i++) b[i] *= alpha;
  else
    for (int64_t i = 0; i < n; i++) b[i] = alpha * a[i];
}

lapis_status host_axpby(la *h, double alpha, const la_array *A, double beta,
                        la_array *B)
{
  TRY(host_check_shape(h, "axpby", A, A->rows, A->cols));
  TRY(host_check_shape(h, "axpby", B, A->rows, A->cols));
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->cols))
  for (int64_t j = 0; j < A->cols; j++)
    column_sum(A->rows, alpha, host_col(A, j), beta, host_col(B, j));
  return LAPIS_OK;
}

lapis_status host_axpby_cols(la *h, const double *f, const int64_t *w,
                             const la_array *A, double beta, la_array *B)
{
  TRY(host_check_shape(h, "axpby_cols", A, B->rows,
                       w == NULL ? B->cols : A->cols));
  TRY(host_check_shape(h, "axpby_cols", B, A->rows, B->cols));
#pragma omp parallel for num_threads(parts_team(h, B->rows * B->cols))
  for (int64_t j = 0; j < B->cols; j++)
    column_sum(B->rows, f[j], host_col(A, w == NULL ? j : w[j]), beta,
               host_col(B, j));
  return LAPIS_OK;
}

lapis_status host_scale_rows(la *h, const double *f, la_array *A)
{
  TRY(host_check_shape(h, "scale_rows", A, A->rows, A->cols));
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->cols))
  for (int64_t j = 0; j < A->cols; j++) {
    double *a = host_col(A, j);
    for (int64_t i = 0; i < A->rows; i++) a[i] *= f[i];
  }
  return LAPIS_OK;
}

lapis_status host_add_to_cols(la *h, const double *f, la_array *A)
{
  TRY(host_check_shape(h, "add_to_cols", A, A->rows, A->cols));
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->cols))
  for (int64_t j = 0; j < A->cols; j++) {
    double *a = host_col(A, j);
    for (int64_t i = 0; i < A->rows; i++) a[i] += f[i];
  }
  return LAPIS_OK;
}

lapis_status host_fill(la *h, double value, la_array *A)
{
  TRY(host_check_shape(h, "fill", A, A->rows, A->cols));
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->cols))
  for (int64_t j = 0; j < A->cols; j++) {
    double *a = host_col(A, j);
    for (int64_t i = 0; i < A->rows; i++) a[i] = value;
  }
  return LAPIS_OK;
}

lapis_status host_add_diagonal(la *h, double f, la_array *A)
{
  TRY(host_check_shape(h, "add_diagonal", A, A->rows, A->rows));
  for (int64_t i = 0; i < A->rows; i++) host_col(A, i)[i] += f;
  return LAPIS_OK;
}

/* Four running sums, so that an addition need not wait for the last one. */
static double column_dot(const double *a, const double *b, int64_t n)
{
  double s[4] = {0, 0, 0, 0}, rest = 0;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int c = 0; c < 4; c++) s[c] += a[i + c] * b[i + c];
  for (; i < n; i++) rest += a[i] * b[i];
  return (s[0] + s[1]) + (s[2] + s[3]) + rest;
}

lapis_status host_dot(la *h, const la_array *A, const la_array *B, double *out)
{
  TRY(host_check_shape(h, "dot", A, A->rows, A->cols));
  TRY(host_check_shape(h, "dot", B, A->rows, A->cols));
  double part[PARTS];
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->cols))
  for (int p = 0; p < PARTS; p++) {
    int64_t end = part_begin(A->cols, p + 1);
    double sum = 0;
    for (int64_t j = part_begin(A->cols, p); j < end; j++)
      sum += column_dot(host_col(A, j), host_col(B, j), A->rows);
    part[p] = sum;
  }
  *out = parts_sum(part);
  return LAPIS_OK;
}

lapis_status host_dot_cols(la *h, const la_array *A, const la_array *B,
                           double *out)
{
  TRY(host_check_shape(h, "dot_cols", A, A->rows, A->cols));
  TRY(host_check_shape(h, "dot_cols", B, A->rows, A->cols));
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->cols))
  for (int64_t j = 0; j < A->cols; j++)
    out[j] = column_dot(host_col(A, j), host_col(B, j), A->rows);
  return LAPIS_OK;
}
