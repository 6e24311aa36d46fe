/* device_factor.c - factorisations on a device: squares of the smaller side on
 * the host that stands beside it, whose numbers alone travel.
 *
 * Cholesky.  Block by block: a square of BLOCK on the diagonal is factored on
 * the host, the rest of its rows by a triangular solution and what is behind it
 * by a product on the device, which is where the operations are.  The sums are
 * those of the plain factorisation in another order, so that bounds of its
 * rounding hold. */
#include "la/device/device.h"
#include "la/host/host.h"

enum { BLOCK = 128 };

/* ---- to and fro -----------------------------------------------------------*/
lapis_status device_fetch(la *h, const la_array *A, la *host, la_array *out)
{
  *host = la_beside(h);
  TRY(host->ops->alloc(host, LAPIS_F64, A->rows, A->cols, out));
  lapis_mat to = la_as_mat(out);
  lapis_status status = device_download(h, A, &to);
  if (status < 0) host->ops->free(host, out);
  return status;
}

lapis_status device_send(la *h, lapis_status status, la *host, la_array *copy,
                         la_array *A)
{
  lapis_mat from = la_as_mat(copy);
  if (status >= 0) status = device_upload(h, &from, A);
  host->ops->free(host, copy);
  return status;
}

/* ---- Cholesky -------------------------------------------------------------*/
/* The upper triangle becomes the lower one's mirror, or the other way round. */
static lapis_status mirror(la *h, bool to_upper, la_array *A)
{
  device_call c = device_begin(h);
  device_whole(&c, to_upper);
  device_whole(&c, A->rows);
  device_array(&c, A);
  return device_run(h, "mirror", &c, device_groups(A->rows * A->rows), 1);
}

static la_array block(const la_array *A, int64_t i, int64_t j, int64_t rows,
                      int64_t cols)
{
  la_array part = la_cols(A, j, cols);
  return la_rows(&part, i, rows);
}

/* L of the square on the diagonal, L' in the rows beside it, which what is
 * behind them then lacks. */
static lapis_status eliminate(la *h, la_array *A, int64_t at, int64_t b)
{
  la host;
  la_array L, corner = block(A, at, at, b, b);
  int64_t end = at + b, left = A->rows - end;
  TRY(device_fetch(h, &corner, &host, &L));
  lapis_status status = host.ops->potrf(&host, &L);
  for (int64_t j = 0; j < b; j++) /* no garbage above L */
    for (int64_t i = 0; i < j; i++) host_col(&L, j)[i] = host_col(&L, i)[j];
  TRY(device_send(h, status, &host, &L, &corner));
  if (left == 0) return LAPIS_OK;
  la_array beside = block(A, at, end, b, left);
  la_array behind = block(A, end, end, left, left);
  TRY(device_trsm(h, &corner, &beside));
  return device_symmetric(h, LA_T, -1, &beside, 1, &behind);
}

/* L' grows above the diagonal, where the kernel for triangles finds columns. */
lapis_status device_potrf(la *h, la_array *A)
{
  int64_t n = A->rows;
  TRY(host_check_shape(h, "potrf", A, n, n));
  if (n == 0) return LAPIS_OK;
  TRY(mirror(h, true, A));
  for (int64_t at = 0; at < n; at += BLOCK)
    TRY(eliminate(h, A, at, n - at < BLOCK ? n - at : BLOCK));
  return mirror(h, false, A);
}

lapis_status device_potri(la *h, la_array *L)
{
  la host;
  la_array A;
  TRY(device_fetch(h, L, &host, &A));
  return device_send(h, host.ops->potri(&host, &A), &host, &A, L);
}

/* ---- eigenvalues ----------------------------------------------------------*/
/* By the device's own means, where it has some, which are worth it for large
 * ones: smallest first there. */
static lapis_status eigh_there(la *h, la_array *C, double above, double *values,
                               la_array *Q, int64_t *count, bool *done)
{
  enum { LARGE = 64 };
  int64_t n = C->rows;
  *done = false;
  if (n < LARGE) return LAPIS_OK;
  TRY(device_eigh_there(h, C, Q != NULL, values, done));
  if (!*done) return LAPIS_OK;
  for (int64_t i = 0; i < n / 2; i++) {
    double v = values[i];
    values[i] = values[n - 1 - i];
    values[n - 1 - i] = v;
  }
  while (*count < n && values[*count] > above) ++*count;
  if (Q == NULL || *count == 0) return LAPIS_OK;
  int64_t *from = base_alloc(h->ctx, *count, sizeof *from);
  double *one = base_alloc(h->ctx, *count, sizeof *one);
  lapis_status status = from == NULL || one == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; j < *count && status >= 0; j++) {
    from[j] = n - 1 - j;
    one[j] = 1;
  }
  la_array to = la_cols(Q, 0, *count);
  if (status >= 0) status = device_axpby_cols(h, one, from, C, 0, &to);
  base_free(from);
  base_free(one);
  return status;
}

lapis_status device_eigh(la *h, la_array *C, double above, double *values,
                         la_array *Q, int64_t *count)
{
  la host;
  la_array A, V = {0};
  bool done;
  *count = 0;
  TRY(host_check_shape(h, "eigh", C, C->rows, C->rows));
  if (Q != NULL) TRY(host_check_shape(h, "eigh", Q, C->rows, C->rows));
  TRY(eigh_there(h, C, above, values, Q, count, &done));
  if (done) return LAPIS_OK;
  TRY(device_fetch(h, C, &host, &A));
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
