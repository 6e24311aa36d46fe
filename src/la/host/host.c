/* host.c - host memory, and the checks the host backends share. */
#include <float.h>
#include <math.h>

#include "la/host/host.h"
#include "lapis/tools.h"
#include "mat/mat.h"

/* ---- memory -------------------------------------------------------------*/

static size_t size_of(lapis_dtype t)
{
  return t == LAPIS_F64 ? sizeof(double) : sizeof(float);
}

lapis_status host_check_size(la *h, lapis_dtype t, int64_t rows, int64_t cols)
{
  if (t != LAPIS_F64 && t != LAPIS_F32)
    return lapis_fail(h->ctx, LAPIS_EINVAL,
                      "la: arrays hold doubles or floats, not type %d", (int)t);
  if (rows < 0 || cols < 0 || (rows > 0 && cols > INT64_MAX / rows))
    return lapis_fail(h->ctx, LAPIS_ESHAPE,
                      "la: an array cannot be %" PRId64 " x %" PRId64, rows,
                      cols);
  return LAPIS_OK;
}

lapis_status host_alloc(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                        la_array *out)
{
  *out = (la_array){.dtype = t, .ld = 1};
  TRY(host_check_size(h, t, rows, cols));
  void *p = base_alloc(h->ctx, rows * cols, size_of(t));
  if (p == NULL) return LAPIS_ENOMEM;
  *out = (la_array){t, rows, cols, rows > 0 ? rows : 1, p, false, NULL};
  return LAPIS_OK;
}

void host_free(la *h, la_array *a)
{
  (void)h;
  if (!a->view) base_free(a->data);
  *a = (la_array){.dtype = a->dtype, .ld = 1};
}

/* A single column of a dense or compressed matrix. */
static lapis_mat one_col(const lapis_mat *A, int64_t j)
{
  static const size_t size[] = {[LAPIS_F64] = sizeof(double),
                                [LAPIS_F32] = sizeof(float),
                                [LAPIS_I64] = sizeof(int64_t),
                                [LAPIS_U8] = 1};
  lapis_mat col = *A;
  col.cols = 1;
  if (A->colptr != NULL)
    col.colptr = A->colptr + j;
  else
    col.val = (char *)A->val + (size_t)(j * A->ld) * size[A->dtype];
  return col;
}

/* Through one column of doubles, whatever the source holds. */
static lapis_status upload_f32(la *h, const lapis_mat *from, la_array *to)
{
  double *col = base_alloc_raw(h->ctx, from->rows, sizeof *col);
  if (col == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < from->cols; j++) {
    lapis_mat source = one_col(from, j);
    float *dest = (float *)to->data + j * to->ld;
    mat_to_f64(&source, col, from->rows);
    for (int64_t i = 0; i < from->rows; i++) dest[i] = (float)col[i];
  }
  base_free(col);
  return LAPIS_OK;
}

lapis_status host_check_transfer(la *h, const lapis_mat *m, const la_array *a)
{
  if (m->rows == a->rows && m->cols == a->cols && m->dtype != LAPIS_TEXT)
    return LAPIS_OK;
  return lapis_fail(h->ctx, LAPIS_ESHAPE,
                    "la: a numeric %" PRId64 " x %" PRId64
                    " matrix does not fit a %" PRId64 " x %" PRId64 " array",
                    m->rows, m->cols, a->rows, a->cols);
}

lapis_status host_upload(la *h, const lapis_mat *from, la_array *to)
{
  TRY(host_check_transfer(h, from, to));
  if (mat_empty(from)) return LAPIS_OK;
  if (to->dtype == LAPIS_F32) return upload_f32(h, from, to);
  mat_to_f64(from, to->data, to->ld);
  return LAPIS_OK;
}

static void copy_col(const la_array *from, int64_t j, lapis_mat *to)
{
  const float *f = (const float *)from->data + j * from->ld;
  const double *d = (const double *)from->data + j * from->ld;
  bool narrow = from->dtype == LAPIS_F32;
  for (int64_t i = 0; i < from->rows; i++) {
    double x = narrow ? (double)f[i] : d[i];
    if (to->dtype == LAPIS_F64)
      ((double *)to->val)[j * to->ld + i] = x;
    else
      ((float *)to->val)[j * to->ld + i] = (float)x;
  }
}

lapis_status host_download(la *h, const la_array *from, lapis_mat *to)
{
  TRY(host_check_transfer(h, to, from));
  if (to->colptr != NULL || (to->dtype != LAPIS_F64 && to->dtype != LAPIS_F32))
    return lapis_fail(h->ctx, LAPIS_EINVAL,
                      "la: arrays download into dense doubles or floats");
  for (int64_t j = 0; j < from->cols; j++) copy_col(from, j, to);
  return LAPIS_OK;
}

double *host_borrow(la *h, int64_t count)
{
  if (h->scratch != NULL && count <= h->scratch_count) return h->scratch;
  return base_alloc_raw(h->ctx, count, sizeof(double));
}

void host_release(la *h, double *p)
{
  if (p != h->scratch) base_free(p);
}

/* ---- checks -------------------------------------------------------------*/

lapis_status host_check_shape(la *h, const char *what, const la_array *A,
                              int64_t rows, int64_t cols)
{
  if (A->dtype != LAPIS_F64)
    return lapis_fail(h->ctx, LAPIS_EINVAL, "la: %s takes doubles", what);
  return host_check_sides(h, what, A, rows, cols);
}

lapis_status host_check_sides(la *h, const char *what, const la_array *A,
                              int64_t rows, int64_t cols)
{
  if (A->rows == rows && A->cols == cols) return LAPIS_OK;
  return lapis_fail(h->ctx, LAPIS_ESHAPE,
                    "la: %s got a %" PRId64 " x %" PRId64
                    " array where %" PRId64 " x %" PRId64 " fits",
                    what, A->rows, A->cols, rows, cols);
}

lapis_status host_check_finite(la *h, const char *what, const la_array *A)
{
  for (int64_t j = 0; j < A->cols; j++) {
    const double *a = host_col(A, j);
    int bad = 0;
    for (int64_t i = 0; i < A->rows; i++) bad |= !(fabs(a[i]) <= DBL_MAX);
    if (bad)
      return lapis_fail(h->ctx, LAPIS_ENUMERIC,
                        "la: %s met NaN or infinity in column %" PRId64
                        "; finite values are needed",
                        what, j + 1);
  }
  return LAPIS_OK;
}

lapis_status host_check_gemm(la *h, la_trans ta, la_trans tb, const la_array *A,
                             const la_array *B, const la_array *C,
                             int64_t *inner)
{
  int64_t m = ta == LA_N ? A->rows : A->cols;
  int64_t k = ta == LA_N ? A->cols : A->rows;
  int64_t kb = tb == LA_N ? B->rows : B->cols;
  int64_t n = tb == LA_N ? B->cols : B->rows;
  *inner = k;
  if (A->dtype != B->dtype || A->dtype != C->dtype)
    return lapis_fail(h->ctx, LAPIS_EINVAL,
                      "la: a product takes three arrays of one type");
  if (k == kb && C->rows == m && C->cols == n) return LAPIS_OK;
  return lapis_fail(h->ctx, LAPIS_ESHAPE,
                    "la: a product of %" PRId64 " x %" PRId64 " and %" PRId64
                    " x %" PRId64 " does not give %" PRId64 " x %" PRId64,
                    m, k, kb, n, C->rows, C->cols);
}

lapis_status host_check_gram_times(la *h, la_trans t, const la_array *A,
                                   const la_array *X, const la_array *Y)
{
  int64_t side = t == LA_N ? A->rows : A->cols;
  TRY(host_check_shape(h, "gram_times", A, A->rows, A->cols));
  TRY(host_check_shape(h, "gram_times", X, side, X->cols));
  return host_check_shape(h, "gram_times", Y, side, X->cols);
}

lapis_status host_check_svd(la *h, const la_array *A, const la_array *U,
                            const la_array *Vt)
{
  int64_t k = A->rows < A->cols ? A->rows : A->cols;
  TRY(host_check_shape(h, "svd", A, A->rows, A->cols));
  if ((U == NULL) != (Vt == NULL))
    return lapis_fail(h->ctx, LAPIS_EINVAL,
                      "la: svd takes both U and Vt or neither");
  if (U != NULL) TRY(host_check_shape(h, "svd", U, A->rows, k));
  if (Vt != NULL) TRY(host_check_shape(h, "svd", Vt, k, A->cols));
  return host_check_finite(h, "svd", A);
}

lapis_status host_check_penalty(la *h, const char *what, const la_penalty *phi,
                                const la_array *Z)
{
  TRY(host_check_shape(h, what, Z, phi->Z0.rows, phi->Z0.cols));
  if (phi->times.data != NULL)
    TRY(host_check_shape(h, what, &phi->times, 1, phi->Z0.cols));
  for (int k = 0; k < phi->n_blocks; k++) {
    const la_block *b = &phi->block[k];
    if (b->first < 0 || b->rows < 0 || b->first > Z->rows - b->rows)
      return lapis_fail(h->ctx, LAPIS_ESHAPE,
                        "la: %s: block %d asks for rows %" PRId64 " to %" PRId64
                        " of %" PRId64,
                        what, k + 1, b->first + 1, b->first + b->rows, Z->rows);
    if (!(b->weight >= 0))
      return lapis_fail(h->ctx, LAPIS_EINVAL,
                        "la: %s: the weight of block %d is %g, not at least 0",
                        what, k + 1, b->weight);
  }
  return LAPIS_OK;
}
