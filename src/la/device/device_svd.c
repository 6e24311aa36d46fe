/* device_svd.c - singular values on a device.  A = Q R there (device_qr.c),
 * those of R on the host that stands beside it: as exact as those of A, and A
 * stays where it is.
 *
 * R = U S V' on the host, k x k.  What of A = Q R is wanted: Q U and V'. */
#include "la/device/device.h"
#include "la/host/host.h"

typedef struct parts {
  la host;
  la_array R, U, Vt; /* there */
  la_array small;    /* k x k, on the device */
} parts;

static lapis_status svd_of_triangle(la *h, const la_array *R, bool vectors,
                                    double *s, parts *p)
{
  int64_t k = R->rows;
  TRY(device_fetch(h, R, &p->host, &p->R));
  la *host = &p->host;
  if (!vectors) return host->ops->svd(host, &p->R, NULL, s, NULL);
  TRY(host->ops->alloc(host, LAPIS_F64, k, k, &p->U));
  TRY(host->ops->alloc(host, LAPIS_F64, k, k, &p->Vt));
  return host->ops->svd(host, &p->R, &p->U, s, &p->Vt);
}

static lapis_status put(la *h, const la_array *from, la_array *to)
{
  lapis_mat host = la_as_mat(from);
  return device_upload(h, &host, to);
}

/* A is Q of A = Q R. */
static lapis_status tall_vectors(la *h, parts *p, const la_array *A,
                                 la_array *U, la_array *Vt)
{
  if (Vt != NULL) TRY(put(h, &p->Vt, Vt));
  if (U == NULL) return LAPIS_OK;
  TRY(put(h, &p->U, &p->small));
  return device_gemm(h, LA_N, LA_N, 1, A, &p->small, 0, U);
}

/* T is Q of A' = Q R, so that A = (V)(S)(Q U)'. */
static lapis_status wide_vectors(la *h, parts *p, const la_array *T,
                                 la_array *U, la_array *Vt)
{
  if (Vt != NULL) TRY(put(h, &p->U, &p->small));
  if (Vt != NULL) TRY(device_gemm(h, LA_T, LA_T, 1, &p->small, T, 0, Vt));
  if (U == NULL) return LAPIS_OK;
  for (int64_t j = 0; j < p->Vt.cols; j++) /* V of V' */
    for (int64_t i = 0; i < p->Vt.rows; i++)
      host_col(&p->U, i)[j] = host_col(&p->Vt, j)[i];
  return put(h, &p->U, U);
}

/* T = A' */
static lapis_status turn(la *h, const la_array *A, la_array *eye, la_array *T)
{
  TRY(device_fill(h, 0, eye));
  TRY(device_add_diagonal(h, 1, eye));
  TRY(device_alloc(h, LAPIS_F64, A->cols, A->rows, T));
  return device_gemm(h, LA_T, LA_N, 1, A, eye, 0, T);
}

lapis_status device_svd(la *h, la_array *A, la_array *U, double *s,
                        la_array *Vt)
{
  int64_t m = A->rows, n = A->cols, k = m < n ? m : n;
  bool vectors = U != NULL || Vt != NULL, wide = m < n;
  parts p = {.host = la_beside(h)};
  la_array T = {0}, R = {0}, *Q = wide ? &T : A;
  TRY(host_check_shape(h, "svd", A, m, n));
  if (U != NULL) TRY(host_check_shape(h, "svd", U, m, k));
  if (Vt != NULL) TRY(host_check_shape(h, "svd", Vt, k, n));
  if (k == 0) return LAPIS_OK;
  lapis_status status = device_alloc(h, LAPIS_F64, k, k, &R);
  if (status >= 0) status = device_alloc(h, LAPIS_F64, k, k, &p.small);
  if (status >= 0 && wide) status = turn(h, A, &p.small, &T);
  if (status >= 0) status = device_qr(h, Q, &R);
  if (status >= 0) status = svd_of_triangle(h, &R, vectors, s, &p);
  if (status >= 0 && vectors)
    status = (wide ? wide_vectors : tall_vectors)(h, &p, Q, U, Vt);
  la_array *there[] = {&p.R, &p.U, &p.Vt}, *here[] = {&T, &R, &p.small};
  for (int i = 0; i < 3; i++) p.host.ops->free(&p.host, there[i]);
  for (int i = 0; i < 3; i++) device_free(h, here[i]);
  return status;
}
