/* openblas.c - the fast host backend: products through cblas.h, of OpenBLAS or
 * of the library that -DLAPIS_BLAS chose (blas_*.c: what differs between them).
 * Its factorisations are in lapack.c, its passes in passes.c.
 *
 * OpenBLAS has one number of threads for the whole process; it is set before
 * every call, because contexts may differ in theirs.  None of our own parallel
 * regions calls BLAS.  With the setting deterministic it gets one thread: how
 * OpenBLAS splits a product depends on their number. */
#include <cblas.h>

#include "la/host/host.h"

static const char *describe(const la *h)
{
  (void)h;
  return blas_name();
}

static enum CBLAS_TRANSPOSE cblas_of(la_trans t)
{
  return t == LA_N ? CblasNoTrans : CblasTrans;
}

static lapis_status gemm(la *h, la_trans ta, la_trans tb, double alpha,
                         const la_array *A, const la_array *B, double beta,
                         la_array *C)
{
  int64_t k;
  TRY(host_check_gemm(h, ta, tb, A, B, C, &k));
  TRY(blas_check_range(h, "a product", A));
  TRY(blas_check_range(h, "a product", B));
  TRY(blas_check_range(h, "a product", C));
  int m = (int)C->rows, n = (int)C->cols, lda = (int)A->ld, ldb = (int)B->ld;
  if (m == 0 || n == 0) return LAPIS_OK;
  bool plain = ta == LA_N && tb == LA_N && alpha == 1 && beta == 0;
  if (plain && host_small_product_pays(h, A, B)) {
    host_small_product(h, A, B, C);
    return LAPIS_OK;
  }
  if (tb == LA_N && host_skinny_pays(h, ta, alpha, A, B, beta)) {
    host_skinny(h, ta, alpha, A, B, beta, C);
    return LAPIS_OK;
  }
  blas_threads(h);
  if (C->dtype == LAPIS_F64)
    cblas_dgemm(CblasColMajor, cblas_of(ta), cblas_of(tb), m, n, (int)k, alpha,
                A->data, lda, B->data, ldb, beta, C->data, (int)C->ld);
  else
    cblas_sgemm(CblasColMajor, cblas_of(ta), cblas_of(tb), m, n, (int)k,
                (float)alpha, A->data, lda, B->data, ldb, (float)beta, C->data,
                (int)C->ld);
  return LAPIS_OK;
}

static lapis_status gemv(la *h, la_trans t, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y)
{
  int64_t k;
  TRY(host_check_gemm(h, t, LA_N, A, x, y, &k));
  TRY(host_check_sides(h, "gemv", x, k, 1));
  TRY(blas_check_range(h, "a product", A));
  /* BLAS leaves y alone where A is empty */
  if (A->rows == 0 || A->cols == 0)
    return gemm(h, t, LA_N, alpha, A, x, beta, y);
  blas_threads(h);
  int m = (int)A->rows, n = (int)A->cols, ld = (int)A->ld;
  if (A->dtype == LAPIS_F64)
    cblas_dgemv(CblasColMajor, cblas_of(t), m, n, alpha, A->data, ld, x->data,
                1, beta, y->data, 1);
  else
    cblas_sgemv(CblasColMajor, cblas_of(t), m, n, (float)alpha, A->data, ld,
                x->data, 1, (float)beta, y->data, 1);
  return LAPIS_OK;
}

static lapis_status symv(la *h, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y)
{
  TRY(host_check_sides(h, "symv", A, A->rows, A->rows));
  if (A->rows == 0) return gemv(h, LA_N, alpha, A, x, beta, y);
  int64_t k;
  TRY(host_check_gemm(h, LA_N, LA_N, A, x, y, &k));
  TRY(host_check_sides(h, "symv", x, k, 1));
  TRY(blas_check_range(h, "a product", A));
  blas_threads(h);
  int n = (int)A->rows, ld = (int)A->ld;
  if (A->dtype == LAPIS_F64)
    cblas_dsymv(CblasColMajor, CblasLower, n, alpha, A->data, ld, x->data, 1,
                beta, y->data, 1);
  else
    cblas_ssymv(CblasColMajor, CblasLower, n, (float)alpha, A->data, ld,
                x->data, 1, (float)beta, y->data, 1);
  return LAPIS_OK;
}

static lapis_status trsm(la *h, const la_array *L, la_array *B)
{
  TRY(host_check_shape(h, "trsm", L, L->rows, L->rows));
  TRY(host_check_shape(h, "trsm", B, L->rows, B->cols));
  TRY(blas_check_range(h, "trsm", B));
  if (B->rows == 0 || B->cols == 0) return LAPIS_OK;
  blas_threads(h);
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit,
              (int)B->rows, (int)B->cols, 1, L->data, (int)L->ld, B->data,
              (int)B->ld);
  return LAPIS_OK;
}

static lapis_status syrk(la *h, la_trans t, const la_array *A, la_array *C)
{
  int64_t n = t == LA_N ? A->rows : A->cols, k;
  bool single = A->dtype == LAPIS_F32;
  TRY(host_check_gemm(h, t, t == LA_N ? LA_T : LA_N, A, A, C, &k));
  TRY(blas_check_range(h, "syrk", A));
  if (n == 0) return LAPIS_OK;
  if (t == LA_T && !single && host_gram_pays(h, A)) {
    host_gram(h, A, C);
    return LAPIS_OK;
  }
  blas_threads(h);
  if (single)
    cblas_ssyrk(CblasColMajor, CblasLower, cblas_of(t), (int)n, (int)k, 1,
                A->data, (int)A->ld, 0, C->data, (int)C->ld);
  else
    cblas_dsyrk(CblasColMajor, CblasLower, cblas_of(t), (int)n, (int)k, 1,
                A->data, (int)A->ld, 0, C->data, (int)C->ld);
  blas_mirror(C);
  return LAPIS_OK;
}

const la_backend la_openblas = {
    .name = "openblas",
    .describe = describe,
    .alloc = host_alloc,
    .free = host_free,
    .upload = host_upload,
    .download = host_download,
    .gemm = gemm,
    .gemv = gemv,
    .symv = symv,
    .syrk = syrk,
    .gram_times = host_gram_times,
    .eigh = lapack_eigh,
    .svd = lapack_svd,
    .qr = lapack_qr,
    .potrf = lapack_potrf,
    .potrs = lapack_potrs,
    .trsm = trsm,
    .potri = lapack_potri,
    .axpby = host_axpby,
    .axpby_cols = host_axpby_cols,
    .scale_rows = host_scale_rows,
    .add_to_cols = host_add_to_cols,
    .fill = host_fill,
    .add_diagonal = host_add_diagonal,
    .dot = host_dot,
    .dot_cols = host_dot_cols,
    .reflect = host_reflect,
    .prox = host_prox,
    .loss = host_loss,
    .gradient_step = host_gradient_step,
    .project = host_project,
    .clamp = host_clamp,
    .conjugate = host_conjugate,
    .l1_step = host_l1_step,
    .l1_dual = host_l1_dual,
    .l1_sums = host_l1_sums,
    .l1_alm = host_l1_alm,
};
