/* reference.c - the backend that judges the others: plain loops, one thread,
 * nothing clever.  Factorisations: reference_factor.c; passes:
 * reference_passes.c. */
#include "la/host/host.h"

static const char *describe(const la *h)
{
  (void)h;
  return "reference";
}

static double get(const la_array *A, int64_t i, int64_t j)
{
  if (A->dtype == LAPIS_F32) return ((float *)A->data)[j * A->ld + i];
  return host_col(A, j)[i];
}

static void put(la_array *A, int64_t i, int64_t j, double x)
{
  if (A->dtype == LAPIS_F32)
    ((float *)A->data)[j * A->ld + i] = (float)x;
  else
    host_col(A, j)[i] = x;
}

static lapis_status gemm(la *h, la_trans ta, la_trans tb, double alpha,
                         const la_array *A, const la_array *B, double beta,
                         la_array *C)
{
  int64_t inner;
  TRY(host_check_gemm(h, ta, tb, A, B, C, &inner));
  bool overwrite = !(beta < 0 || beta > 0);
  for (int64_t j = 0; j < C->cols; j++)
    for (int64_t i = 0; i < C->rows; i++) {
      double sum = 0;
      for (int64_t k = 0; k < inner; k++) {
        double a = ta == LA_N ? get(A, i, k) : get(A, k, i);
        double b = tb == LA_N ? get(B, k, j) : get(B, j, k);
        sum += a * b;
      }
      put(C, i, j, alpha * sum + (overwrite ? 0 : beta * get(C, i, j)));
    }
  return LAPIS_OK;
}

static lapis_status gemv(la *h, la_trans t, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y)
{
  TRY(host_check_sides(h, "gemv", x, x->rows, 1));
  return gemm(h, t, LA_N, alpha, A, x, beta, y);
}

static lapis_status symv(la *h, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y)
{
  TRY(host_check_sides(h, "symv", A, A->rows, A->rows));
  return gemv(h, LA_N, alpha, A, x, beta, y);
}

static lapis_status syrk(la *h, la_trans t, const la_array *A, la_array *C)
{
  if (t == LA_N) return gemm(h, LA_N, LA_T, 1, A, A, 0, C);
  return gemm(h, LA_T, LA_N, 1, A, A, 0, C);
}

static lapis_status axpby(la *h, double alpha, const la_array *A, double beta,
                          la_array *B)
{
  TRY(host_check_shape(h, "axpby", A, A->rows, A->cols));
  TRY(host_check_shape(h, "axpby", B, A->rows, A->cols));
  bool overwrite = !(beta < 0 || beta > 0);
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      put(B, i, j,
          alpha * get(A, i, j) + (overwrite ? 0 : beta * get(B, i, j)));
  return LAPIS_OK;
}

static lapis_status axpby_cols(la *h, const double *f, const int64_t *w,
                               const la_array *A, double beta, la_array *B)
{
  TRY(host_check_shape(h, "axpby_cols", A, B->rows,
                       w == NULL ? B->cols : A->cols));
  TRY(host_check_shape(h, "axpby_cols", B, A->rows, B->cols));
  bool overwrite = !(beta < 0 || beta > 0);
  for (int64_t j = 0; j < B->cols; j++)
    for (int64_t i = 0; i < B->rows; i++)
      put(B, i, j,
          f[j] * get(A, i, w == NULL ? j : w[j]) +
              (overwrite ? 0 : beta * get(B, i, j)));
  return LAPIS_OK;
}

static lapis_status scale_rows(la *h, const double *f, la_array *A)
{
  TRY(host_check_shape(h, "scale_rows", A, A->rows, A->cols));
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) put(A, i, j, f[i] * get(A, i, j));
  return LAPIS_OK;
}

static lapis_status add_to_cols(la *h, const double *f, la_array *A)
{
  TRY(host_check_shape(h, "add_to_cols", A, A->rows, A->cols));
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) put(A, i, j, f[i] + get(A, i, j));
  return LAPIS_OK;
}

static lapis_status fill(la *h, double value, la_array *A)
{
  TRY(host_check_shape(h, "fill", A, A->rows, A->cols));
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) put(A, i, j, value);
  return LAPIS_OK;
}

static lapis_status add_diagonal(la *h, double f, la_array *A)
{
  TRY(host_check_shape(h, "add_diagonal", A, A->rows, A->rows));
  for (int64_t i = 0; i < A->rows; i++) put(A, i, i, get(A, i, i) + f);
  return LAPIS_OK;
}

static lapis_status dot(la *h, const la_array *A, const la_array *B,
                        double *out)
{
  TRY(host_check_shape(h, "dot", A, A->rows, A->cols));
  TRY(host_check_shape(h, "dot", B, A->rows, A->cols));
  double sum = 0;
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) sum += get(A, i, j) * get(B, i, j);
  *out = sum;
  return LAPIS_OK;
}

static lapis_status dot_cols(la *h, const la_array *A, const la_array *B,
                             double *out)
{
  TRY(host_check_shape(h, "dot_cols", B, A->rows, A->cols));
  for (int64_t j = 0; j < A->cols; j++) {
    la_array a = la_cols(A, j, 1), b = la_cols(B, j, 1);
    TRY(dot(h, &a, &b, &out[j]));
  }
  return LAPIS_OK;
}

const la_backend la_reference = {
    .name = "reference",
    .describe = describe,
    .alloc = host_alloc,
    .free = host_free,
    .upload = host_upload,
    .download = host_download,
    .gemm = gemm,
    .gemv = gemv,
    .symv = symv,
    .syrk = syrk,
    .gram_times = host_two_products,
    .eigh = plain_eigh,
    .svd = plain_svd,
    .qr = plain_qr,
    .potrf = plain_potrf,
    .potrs = plain_potrs,
    .trsm = plain_trsm,
    .potri = plain_potri,
    .axpby = axpby,
    .axpby_cols = axpby_cols,
    .scale_rows = scale_rows,
    .add_to_cols = add_to_cols,
    .fill = fill,
    .add_diagonal = add_diagonal,
    .dot = dot,
    .dot_cols = dot_cols,
    .reflect = plain_reflect,
    .prox = plain_prox,
    .loss = plain_loss,
    .gradient_step = plain_gradient_step,
    .project = plain_project,
    .clamp = plain_clamp,
    .conjugate = plain_conjugate,
    .l1_step = plain_l1_step,
    .l1_dual = plain_l1_dual,
    .l1_sums = plain_l1_sums,
    .l1_alm = plain_l1_alm,
};
