/* device_products.c - products on a device, and solutions by triangles. */
#include "la/device/device.h"
#include "la/host/host.h"

static int64_t tiles(int64_t n)
{
  return (n + DEVICE_TILE - 1) / DEVICE_TILE;
}

typedef struct product {
  la_trans ta, tb;
  double alpha, beta;
  const la_array *A, *B;
  int64_t inner;
  bool same;
} product;

/* C's columns, from j0 on, by the kernel. */
static lapis_status multiply_columns(la *h, const product *p, int64_t j0,
                                     la_array *C)
{
  device_call c = device_begin(h);
  la_array B =
      p->tb == LA_T ? la_rows(p->B, j0, C->cols) : la_cols(p->B, j0, C->cols);
  device_whole(&c, p->ta == LA_T);
  device_whole(&c, p->tb == LA_T);
  device_shape(&c, C);
  device_whole(&c, p->inner);
  device_real(&c, p->alpha);
  device_array(&c, p->A);
  device_array(&c, &B);
  device_real(&c, p->beta);
  device_array(&c, C);
  device_whole(&c, p->same);
  return device_run(h, "gemm", &c, tiles(C->rows), tiles(C->cols));
}

/* Slabs of as many columns as one launch may have tiles of.  Of a symmetric C
 * half is saved where one slab is enough. */
static lapis_status multiply(la *h, product *p, la_array *C)
{
  int64_t most = device_most_y(h) * DEVICE_TILE;
  p->same = p->same && C->cols <= most;
  if (C->rows == 0) return LAPIS_OK;
  for (int64_t j = 0; j < C->cols; j += most) {
    la_array slab = la_cols(C, j, C->cols - j < most ? C->cols - j : most);
    TRY(multiply_columns(h, p, j, &slab));
  }
  return LAPIS_OK;
}

lapis_status device_gemm(la *h, la_trans ta, la_trans tb, double alpha,
                         const la_array *A, const la_array *B, double beta,
                         la_array *C)
{
  int64_t inner;
  bool done = false;
  TRY(host_check_gemm(h, ta, tb, A, B, C, &inner));
  if (C->rows > 0 && C->cols > 0)
    TRY(device_multiply(h, ta, tb, alpha, A, B, beta, C, &done));
  product p = {ta, tb, alpha, beta, A, B, inner, false};
  return done ? LAPIS_OK : multiply(h, &p, C);
}

lapis_status device_gemv(la *h, la_trans t, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y)
{
  int64_t k;
  device_call c = device_begin(h);
  TRY(host_check_gemm(h, t, LA_N, A, x, y, &k));
  TRY(host_check_shape(h, "gemv", x, k, 1));
  if (y->rows == 0) return LAPIS_OK;
  device_shape(&c, A);
  device_real(&c, alpha);
  device_array(&c, A);
  device_array(&c, x);
  device_real(&c, beta);
  device_array(&c, y);
  return t == LA_N ? device_run(h, "gemv", &c, device_groups(A->rows), 1)
                   : device_run(h, "gemv_t", &c, A->cols, 1);
}

lapis_status device_symv(la *h, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y)
{
  TRY(host_check_shape(h, "symv", A, A->rows, A->rows));
  return device_gemv(h, LA_N, alpha, A, x, beta, y);
}

lapis_status device_symmetric(la *h, la_trans t, double alpha,
                              const la_array *A, double beta, la_array *C)
{
  int64_t k = t == LA_N ? A->cols : A->rows;
  product p = {t, t == LA_N ? LA_T : LA_N, alpha, beta, A, A, k, true};
  bool done = C->rows == 0;
  if (!done) TRY(device_multiply(h, p.ta, p.tb, alpha, A, A, beta, C, &done));
  return done ? LAPIS_OK : multiply(h, &p, C);
}

lapis_status device_syrk(la *h, la_trans t, const la_array *A, la_array *C)
{
  int64_t n = t == LA_N ? A->rows : A->cols;
  TRY(host_check_shape(h, "syrk", A, A->rows, A->cols));
  TRY(host_check_shape(h, "syrk", C, n, n));
  return device_symmetric(h, t, 1, A, 0, C);
}

lapis_status device_gram_times(la *h, la_trans t, const la_array *A,
                               const la_array *X, la_array *Y)
{
  la_trans other = t == LA_N ? LA_T : LA_N;
  la_array T;
  TRY(host_check_gram_times(h, t, A, X, Y));
  TRY(device_alloc(h, LAPIS_F64, t == LA_N ? A->cols : A->rows, X->cols, &T));
  lapis_status status = device_gemm(h, other, LA_N, 1, A, X, 0, &T);
  if (status >= 0) status = device_gemm(h, t, LA_N, 1, A, &T, 0, Y);
  device_free(h, &T);
  return status;
}

/* ---- triangles -----------------------------------------------------------*/
static lapis_status solve(la *h, bool back, const la_array *L, la_array *B)
{
  device_call c = device_begin(h);
  device_whole(&c, back);
  device_shape(&c, B);
  device_array(&c, L);
  device_array(&c, B);
  return device_run(h, "solve", &c, B->cols, 1);
}

static lapis_status check_triangle(la *h, const char *what, const la_array *L,
                                   const la_array *B)
{
  TRY(host_check_shape(h, what, L, L->rows, L->rows));
  return host_check_shape(h, what, B, L->rows, B->cols);
}

lapis_status device_trsm(la *h, const la_array *L, la_array *B)
{
  TRY(check_triangle(h, "trsm", L, B));
  if (B->rows == 0 || B->cols == 0) return LAPIS_OK;
  return solve(h, false, L, B);
}

lapis_status device_potrs(la *h, const la_array *L, la_array *B)
{
  TRY(check_triangle(h, "potrs", L, B));
  if (B->rows == 0 || B->cols == 0) return LAPIS_OK;
  TRY(solve(h, false, L, B));
  return solve(h, true, L, B);
}
