/* device_products.c - products on a device; factorisations of small squares on
 * the host that stands beside it, whose numbers alone travel.
 *
 * QR.  A basis of k columns comes by Cholesky's factor of the Gram matrix,
 * twice (Cholesky-QR2): products on the device, k x k on the host.  That the
 * second Gram matrix is near 1 proves that it was exact; else A is too near to
 * dependent columns, and Householder's way on the host takes it.
 *
 * The singular value decomposition is the host's: solvers take it where a
 * Gram matrix would not be exact enough, and once at a start. */
#include <math.h>

#include "la/device.h"
#include "la/host.h"

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

lapis_status device_syrk(la *h, la_trans t, const la_array *A, la_array *C)
{
  int64_t n = t == LA_N ? A->rows : A->cols;
  int64_t k = t == LA_N ? A->cols : A->rows;
  TRY(host_check_shape(h, "syrk", A, A->rows, A->cols));
  TRY(host_check_shape(h, "syrk", C, n, n));
  product p = {t, t == LA_N ? LA_T : LA_N, 1, 0, A, A, k, true};
  return multiply(h, &p, C);
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

/* ---- on the host -----------------------------------------------------------
 * *out: a copy of A there, for the handle *host. */
static lapis_status fetch(la *h, const la_array *A, la *host, la_array *out)
{
  *host = la_beside(h);
  TRY(host->ops->alloc(host, LAPIS_F64, A->rows, A->cols, out));
  lapis_mat to = la_as_mat(out);
  lapis_status status = device_download(h, A, &to);
  if (status < 0) host->ops->free(host, out);
  return status;
}

/* A = the copy, where all went well; the copy's end. */
static lapis_status send(la *h, lapis_status status, la *host, la_array *copy,
                         la_array *A)
{
  lapis_mat from = la_as_mat(copy);
  if (status >= 0) status = device_upload(h, &from, A);
  host->ops->free(host, copy);
  return status;
}

lapis_status device_potrf(la *h, la_array *A)
{
  la host;
  la_array L;
  TRY(fetch(h, A, &host, &L));
  return send(h, host.ops->potrf(&host, &L), &host, &L, A);
}

lapis_status device_potri(la *h, la_array *L)
{
  la host;
  la_array A;
  TRY(fetch(h, L, &host, &A));
  return send(h, host.ops->potri(&host, &A), &host, &A, L);
}

lapis_status device_eigh(la *h, la_array *C, double above, double *values,
                         la_array *Q, int64_t *count)
{
  la host;
  la_array A, V = {0};
  *count = 0;
  TRY(host_check_shape(h, "eigh", C, C->rows, C->rows));
  if (Q != NULL) TRY(host_check_shape(h, "eigh", Q, C->rows, C->rows));
  TRY(fetch(h, C, &host, &A));
  lapis_status status = LAPIS_OK;
  if (Q != NULL) status = host.ops->alloc(&host, LAPIS_F64, A.rows, A.rows, &V);
  if (status >= 0)
    status =
        host.ops->eigh(&host, &A, above, values, Q == NULL ? NULL : &V, count);
  host.ops->free(&host, &A);
  if (Q == NULL) return status;
  la_array found = la_cols(&V, 0, *count), to = la_cols(Q, 0, *count);
  lapis_mat from = la_as_mat(&found);
  if (status >= 0) status = device_upload(h, &from, &to);
  host.ops->free(&host, &V);
  return status;
}

lapis_status device_svd(la *h, la_array *A, la_array *U, double *s,
                        la_array *Vt)
{
  int64_t m = A->rows, n = A->cols, k = m < n ? m : n;
  la host;
  la_array copy, u = {0}, vt = {0};
  bool vectors = U != NULL || Vt != NULL;
  TRY(fetch(h, A, &host, &copy));
  lapis_status status = LAPIS_OK;
  if (vectors) status = host.ops->alloc(&host, LAPIS_F64, m, k, &u);
  if (vectors && status >= 0)
    status = host.ops->alloc(&host, LAPIS_F64, k, n, &vt);
  if (status >= 0)
    status = host.ops->svd(&host, &copy, U == NULL ? NULL : &u, s,
                           Vt == NULL ? NULL : &vt);
  host.ops->free(&host, &copy);
  if (!vectors) return status;
  if (U != NULL)
    status = send(h, status, &host, &u, U);
  else
    host.ops->free(&host, &u);
  if (Vt != NULL)
    status = send(h, status, &host, &vt, Vt);
  else
    host.ops->free(&host, &vt);
  return status;
}

/* ---- QR -------------------------------------------------------------------*/
static lapis_status householder(la *h, la_array *A, la_array *R)
{
  la host;
  la_array copy, r = {0};
  int64_t k = A->cols;
  TRY(fetch(h, A, &host, &copy));
  lapis_status status = host.ops->alloc(&host, LAPIS_F64, k, k, &r);
  if (status >= 0) status = host.ops->qr(&host, &copy, &r);
  status = send(h, status, &host, &copy, A);
  if (R != NULL) return send(h, status, &host, &r, R);
  host.ops->free(&host, &r);
  return status;
}

/* Of a second pass: near enough to 1 that the first was exact. */
static bool is_near_one(const la_array *G)
{
  double worst = 0;
  for (int64_t j = 0; j < G->cols; j++) {
    double sum = 0;
    for (int64_t i = 0; i < G->rows; i++)
      sum += fabs(host_col(G, j)[i] - (i == j ? 1 : 0));
    if (!(sum <= worst)) worst = sum;
  }
  return worst < 0.1;
}

typedef struct cholesky_qr {
  la host;
  la_array G, I, R; /* k x k: L; L^-1; R so far */
  la_array device;  /* k x k, there: G, then L^-1 */
  bool good;
} cholesky_qr;

/* To = From L^-1', L L' = From'From: a step towards orthonormal columns. */
static lapis_status cholesky_step(la *h, cholesky_qr *q, bool first,
                                  const la_array *from, la_array *to)
{
  la *host = &q->host;
  lapis_mat G = la_as_mat(&q->G), I = la_as_mat(&q->I);
  TRY(device_syrk(h, LA_T, from, &q->device));
  TRY(device_download(h, &q->device, &G));
  q->good = (first || is_near_one(&q->G)) &&
            host->ops->potrf(host, &q->G) == LAPIS_OK;
  if (!q->good) return LAPIS_OK;
  TRY(la_zero(host, &q->I));
  TRY(la_add_diagonal(host, 1, &q->I));
  if (first) TRY(la_copy(host, &q->I, &q->R));
  TRY(host->ops->trsm(host, &q->G, &q->I));
  for (int64_t j = 1; j < q->G.cols; j++) /* potrf leaves C above L */
    for (int64_t i = 0; i < j; i++) host_col(&q->G, j)[i] = 0;
  TRY(device_upload(h, &I, &q->device));
  return device_gemm(h, LA_N, LA_T, 1, from, &q->device, 0, to);
}

/* R = L'R: what the step took away. */
static lapis_status gather(cholesky_qr *q)
{
  la_array before = q->R, after = q->I;
  TRY(q->host.ops->gemm(&q->host, LA_T, LA_N, 1, &q->G, &before, 0, &after));
  return la_copy(&q->host, &after, &q->R);
}

static lapis_status cholesky_twice(la *h, cholesky_qr *q, la_array *A,
                                   la_array *middle, la_array *R)
{
  TRY(cholesky_step(h, q, true, A, middle));
  if (!q->good) return LAPIS_OK;
  TRY(gather(q));
  TRY(cholesky_step(h, q, false, middle, A));
  if (!q->good) return LAPIS_OK;
  TRY(gather(q));
  lapis_mat from = la_as_mat(&q->R);
  return R == NULL ? LAPIS_OK : device_upload(h, &from, R);
}

lapis_status device_qr(la *h, la_array *A, la_array *R)
{
  int64_t m = A->rows, k = A->cols;
  cholesky_qr q = {.host = la_beside(h)};
  la_array middle = {0};
  TRY(host_check_shape(h, "qr", A, m, k));
  if (R != NULL) TRY(host_check_shape(h, "qr", R, k, k));
  if (m < k || k == 0) return householder(h, A, R);
  la_array *small[] = {&q.G, &q.I, &q.R};
  lapis_status status = device_alloc(h, LAPIS_F64, k, k, &q.device);
  if (status >= 0) status = device_alloc(h, LAPIS_F64, m, k, &middle);
  for (int i = 0; i < 3 && status >= 0; i++)
    status = q.host.ops->alloc(&q.host, LAPIS_F64, k, k, small[i]);
  if (status >= 0) status = cholesky_twice(h, &q, A, &middle, R);
  for (int i = 0; i < 3; i++) q.host.ops->free(&q.host, small[i]);
  device_free(h, &q.device);
  device_free(h, &middle);
  if (status < 0 || q.good) return status;
  return householder(h, A, R);
}
