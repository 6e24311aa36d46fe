/* device_qr.c - orthonormal bases on a device: products there, squares of as
 * many rows as A has columns on the host.
 *
 * Cholesky, twice.  A L^-1' with L L' = A'A has orthonormal columns but for
 * eps (cond A)^2; a second time they are so to rounding.  That the second Gram
 * matrix is near 1 proves that the first was good enough; a first one near 1
 * needs no second.
 *
 * In levels, where it was not: columns that are dependent, or nearly so.  The
 * eigenvectors P of the Gram matrix show a part of the range with values from
 * the largest down to SPAN of it, in which B P is orthogonal to 1e-5 and so
 * good for the above; it joins Q and leaves B, which is then SPAN times
 * smaller, and the next level sees what the first could not.  Four levels are
 * left with rounding.  What Q lacks then is any orthonormal rest, made of
 * noise.  R is Q'A, made a triangle on the host.
 *
 * Numerics: A whose squares leave the range of doubles, and one of zeros, go to
 * the host whole. */
#include <float.h>
#include <math.h>

#include "la/device/device.h"
#include "la/host/host.h"

static const double SPAN = 1e-5;
static const double LEAST = 1e-250, MOST = 1e250; /* of |A|^2 */

/* ---- on the host ----------------------------------------------------------*/
static lapis_status householder(la *h, la_array *A, la_array *R)
{
  la host;
  la_array copy, r = {0};
  int64_t k = A->cols;
  TRY(device_fetch(h, A, &host, &copy));
  lapis_status status = host.ops->alloc(&host, LAPIS_F64, k, k, &r);
  if (status >= 0) status = host.ops->qr(&host, &copy, &r);
  status = device_send(h, status, &host, &copy, A);
  if (R != NULL) return device_send(h, status, &host, &r, R);
  host.ops->free(&host, &r);
  return status;
}

/* ---- one step -------------------------------------------------------------*/
typedef struct workspace {
  la host;
  la_array G, I, R; /* k x k, there: L; L^-1; R so far */
  la_array square;  /* k x k: G, then L^-1 */
  la_array middle;  /* m x k */
  la_array A, B, P; /* of the levels: m x k twice, k x k */
  double *values;   /* k */
  bool good, near;  /* near: G was near 1, and one step is enough */
} workspace;

/* Near enough to 1 that the step before was exact, or this one is. */
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

static la_array corner(const la_array *A, int64_t k)
{
  la_array part = la_cols(A, 0, k);
  return la_rows(&part, 0, k);
}

/* To = From L^-1', L L' = From'From: a step towards orthonormal columns.
 * w->good: there is such an L, and it is near 1 where this is the second. */
static lapis_status step(la *h, workspace *w, bool second, const la_array *from,
                         la_array *to)
{
  la *host = &w->host;
  int64_t k = from->cols;
  la_array L = corner(&w->G, k), I = corner(&w->I, k);
  la_array square = corner(&w->square, k);
  lapis_mat down = la_as_mat(&L), up = la_as_mat(&I);
  TRY(device_syrk(h, LA_T, from, &square));
  TRY(device_download(h, &square, &down));
  w->near = is_near_one(&L);
  w->good = (!second || w->near) && host->ops->potrf(host, &L) == LAPIS_OK;
  if (!w->good) return LAPIS_OK;
  TRY(la_zero(host, &I));
  TRY(la_add_diagonal(host, 1, &I));
  TRY(host->ops->trsm(host, &L, &I));
  for (int64_t j = 1; j < k; j++) /* potrf leaves C above L */
    for (int64_t i = 0; i < j; i++) host_col(&L, j)[i] = 0;
  TRY(device_upload(h, &up, &square));
  return device_gemm(h, LA_N, LA_T, 1, from, &square, 0, to);
}

/* ---- Cholesky, twice ------------------------------------------------------*/
/* R = L'R: what the step took away. */
static lapis_status gather(workspace *w)
{
  la_array before = w->R, after = w->I;
  TRY(w->host.ops->gemm(&w->host, LA_T, LA_N, 1, &w->G, &before, 0, &after));
  return la_copy(&w->host, &after, &w->R);
}

/* A is as it was where that is not good enough. */
static lapis_status twice(la *h, workspace *w, la_array *A, la_array *R)
{
  lapis_mat from = la_as_mat(&w->R);
  TRY(step(h, w, false, A, &w->middle));
  if (!w->good) return LAPIS_OK;
  TRY(la_zero(&w->host, &w->R));
  TRY(la_add_diagonal(&w->host, 1, &w->R));
  TRY(gather(w));
  if (w->near) {
    TRY(la_copy(h, &w->middle, A));
  } else {
    TRY(step(h, w, true, &w->middle, A));
    if (!w->good) return LAPIS_OK;
    TRY(gather(w));
  }
  return R == NULL ? LAPIS_OK : device_upload(h, &from, R);
}

/* ---- in levels ------------------------------------------------------------*/
/* Z -= Q Q'Z */
static lapis_status project_out(la *h, workspace *w, const la_array *Q,
                                la_array *Z)
{
  if (Q->cols == 0) return LAPIS_OK;
  la_array all = la_rows(&w->square, 0, Q->cols);
  la_array C = la_cols(&all, 0, Z->cols);
  TRY(device_gemm(h, LA_T, LA_N, 1, Q, Z, 0, &C));
  return device_gemm(h, LA_N, LA_N, -1, Q, &C, 1, Z);
}

/* The columns of Z, nearly orthonormal or random, join the first of Q. */
static lapis_status join(la *h, workspace *w, const la_array *Q, la_array *Z)
{
  la_array to = la_cols(&w->middle, 0, Z->cols);
  w->good = true;
  for (int again = 0; again < 3 && w->good; again++) {
    TRY(project_out(h, w, Q, Z));
    TRY(step(h, w, again > 1, Z, &to));
    if (w->good) TRY(la_copy(h, &to, Z));
  }
  return LAPIS_OK;
}

/* The leading part of B's range becomes the next columns of A, *done of which
 * are found; *left: something was left of B. */
static lapis_status level(la *h, workspace *w, double least, la_array *A,
                          int64_t *done, bool *left)
{
  int64_t k = A->cols, found, g = 0;
  la_array Q = la_cols(A, 0, *done);
  TRY(device_syrk(h, LA_T, &w->B, &w->square));
  TRY(device_eigh(h, &w->square, -INFINITY, w->values, &w->P, &found));
  *left = found > 0 && w->values[0] > least * least;
  if (!*left) return LAPIS_OK;
  double last = SPAN * SPAN * w->values[0];
  for (; g < found && *done + g < k && w->values[g] > last; g++)
    w->values[g] = 1 / sqrt(w->values[g]);
  la_array P = la_cols(&w->P, 0, g), Z = la_cols(A, *done, g);
  TRY(device_axpby_cols(h, w->values, NULL, &P, 0, &P));
  TRY(device_gemm(h, LA_N, LA_N, 1, &w->B, &P, 0, &Z));
  TRY(join(h, w, &Q, &Z));
  *done += g;
  la_array all = la_cols(A, 0, *done);
  for (int again = 0; again < 2 && w->good; again++)
    TRY(project_out(h, w, &all, &w->B));
  return LAPIS_OK;
}

static lapis_status noise(la *h, la_array *A)
{
  device_call c = device_begin(h);
  device_shape(&c, A);
  device_array(&c, A);
  return device_run(h, "noise", &c, device_groups(A->rows * A->cols), 1);
}

/* A <- Q, R <- Q'A a triangle: R = S T, and Q S for Q. */
static lapis_status make_triangle(la *h, workspace *w, la_array *A, la_array *R)
{
  la *host = &w->host;
  lapis_mat down = la_as_mat(&w->G), S = la_as_mat(&w->G), T = la_as_mat(&w->R);
  TRY(device_gemm(h, LA_T, LA_N, 1, A, &w->A, 0, &w->square));
  TRY(device_download(h, &w->square, &down));
  TRY(host->ops->qr(host, &w->G, &w->R));
  TRY(device_upload(h, &S, &w->square));
  TRY(device_gemm(h, LA_N, LA_N, 1, A, &w->square, 0, &w->middle));
  TRY(la_copy(h, &w->middle, A));
  return R == NULL ? LAPIS_OK : device_upload(h, &T, R);
}

/* norm: |A|_F */
static lapis_status in_levels(la *h, workspace *w, double norm, la_array *A,
                              la_array *R)
{
  int64_t k = A->cols, done = 0;
  double least = DBL_EPSILON * (double)k * norm;
  bool left = true;
  TRY(la_copy(h, A, &w->A));
  TRY(la_copy(h, A, &w->B));
  w->good = true;
  while (done < k && left && w->good) TRY(level(h, w, least, A, &done, &left));
  if (done < k && w->good) {
    la_array Q = la_cols(A, 0, done), rest = la_cols(A, done, k - done);
    TRY(noise(h, &rest));
    TRY(join(h, w, &Q, &rest));
  }
  return w->good ? make_triangle(h, w, A, R) : la_copy(h, &w->A, A);
}

/* ---- the choice -----------------------------------------------------------*/
static lapis_status room_for_levels(la *h, workspace *w, const la_array *A)
{
  TRY(device_alloc(h, LAPIS_F64, A->rows, A->cols, &w->A));
  TRY(device_alloc(h, LAPIS_F64, A->rows, A->cols, &w->B));
  TRY(device_alloc(h, LAPIS_F64, A->cols, A->cols, &w->P));
  w->values = base_alloc(h->ctx, A->cols, sizeof *w->values);
  return w->values == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static lapis_status find_basis(la *h, workspace *w, la_array *A, la_array *R)
{
  double square;
  int64_t m = A->rows, k = A->cols;
  la_array *small[] = {&w->G, &w->I, &w->R};
  TRY(device_alloc(h, LAPIS_F64, k, k, &w->square));
  TRY(device_alloc(h, LAPIS_F64, m, k, &w->middle));
  for (int i = 0; i < 3; i++)
    TRY(w->host.ops->alloc(&w->host, LAPIS_F64, k, k, small[i]));
  TRY(twice(h, w, A, R));
  if (w->good) return LAPIS_OK;
  TRY(device_dot(h, A, A, &square));
  if (!(square > LEAST && square < MOST)) return LAPIS_OK;
  TRY(room_for_levels(h, w, A));
  return in_levels(h, w, sqrt(square), A, R);
}

lapis_status device_qr(la *h, la_array *A, la_array *R)
{
  int64_t m = A->rows, k = A->cols;
  workspace w = {.host = la_beside(h)};
  TRY(host_check_shape(h, "qr", A, m, k));
  if (R != NULL) TRY(host_check_shape(h, "qr", R, k, k));
  if (m < k || k == 0) return householder(h, A, R);
  lapis_status status = find_basis(h, &w, A, R);
  la_array *there[] = {&w.G, &w.I, &w.R};
  la_array *here[] = {&w.square, &w.middle, &w.A, &w.B, &w.P};
  for (int i = 0; i < 3; i++) w.host.ops->free(&w.host, there[i]);
  for (int i = 0; i < 5; i++) device_free(h, here[i]);
  base_free(w.values);
  return status < 0 || w.good ? status : householder(h, A, R);
}
