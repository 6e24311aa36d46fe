/* lapack.c - factorisations through LAPACKE.
 *
 * eigh is put together from its parts instead of calling dsyevr or dsyevd:
 * only the eigenvectors above the threshold are carried back through the
 * reflectors, and the tridiagonal problem is solved by relatively robust
 * representations (dstemr, O(n k)) where few vectors are wanted, by divide and
 * conquer (dstedc) otherwise.  n = 624 on one Cooperlake core, 80 vectors: 36
 * ms, against 41 (dsyevr) and 48 (dsyevd); 286 vectors: 39, 107 and 48.
 *
 * NaN and infinities are refused before LAPACK sees them: some of its
 * iterations never end on them. */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "la/host/host.h"

static lapis_status failed(la *h, const char *what, lapack_int info)
{
  return lapis_fail(h->ctx, LAPIS_ENUMERIC,
                    "la: %s did not converge (LAPACK says %d)", what,
                    (int)info);
}

static int64_t smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* ---- symmetric eigenproblem ---------------------------------------------*/

enum { BLOCK = 64 }; /* at least LAPACK's block size: workspace per column */
/* Orders up to which small_eigh.c is faster than LAPACK's parts. */
enum { SMALL = 64 };

typedef struct tridiagonal {
  lapack_int n;
  double *d, *e;           /* n: diagonal and, n - 1 used, beside it */
  double *d_work, *e_work; /* copies the solvers may destroy */
  double *tau;             /* n: the reflectors that led to it */
  double *work;
  int64_t work_count;
  double *memory;
} tridiagonal;

/* Room for divide and conquer (n^2 + 4n + 1 and 5n + 3 integers), dstemr (18n
 * and 12n integers), reflectors (64n + 65 * 64). */
static lapis_status tridiagonal_new(la *h, int64_t n, bool vectors,
                                    tridiagonal *t)
{
  int64_t square = vectors ? n * n : 0;
  int64_t count = square + (BLOCK + 16) * n + 65 * BLOCK + 16;
  double *p = host_borrow(h, count);
  if (p == NULL) return LAPIS_ENOMEM;
  *t = (tridiagonal){
      (lapack_int)n, p,         p + n,         p + 2 * n, p + 3 * n,
      p + 4 * n,     p + 5 * n, count - 5 * n, p};
  return LAPIS_OK;
}

static void restart(tridiagonal *t)
{
  memcpy(t->d_work, t->d, (size_t)t->n * sizeof *t->d);
  memcpy(t->e_work, t->e, (size_t)t->n * sizeof *t->e);
}

/* How many eigenvalues exceed x: Sylvester's law of inertia on the pivots of
 * T - x I.  Exact for a matrix within a few eps |T| of T. */
static int64_t count_above(const tridiagonal *t, double x)
{
  double q = 1;
  int64_t count = 0;
  for (lapack_int i = 0; i < t->n; i++) {
    double before = i == 0 ? 0 : t->e[i - 1] * (t->e[i - 1] / q);
    q = t->d[i] - x - before;
    if (fabs(q) < DBL_MIN) q = -DBL_MIN;
    count += q > 0;
  }
  return count;
}

/* Columns and values first .. first + count - 1, ascending, become the first
 * count, descending. */
static void turn_round(la_array *Q, double *values, int64_t first,
                       int64_t count)
{
  int64_t last = first + count - 1;
  for (int64_t j = 0; j < count && j < last - j; j++) {
    double keep = values[j], *a = host_col(Q, j), *b = host_col(Q, last - j);
    values[j] = values[last - j];
    values[last - j] = keep;
    for (int64_t i = 0; i < Q->rows; i++) {
      double x = a[i];
      a[i] = b[i];
      b[i] = x;
    }
  }
}

/* The k largest; false: it did not converge.  dstemr of OpenBLAS 0.3.21 is
 * wrong for n = 2; so few of so few never come here. */
static bool solve_few(tridiagonal *t, int64_t k, double *values, la_array *Q)
{
  lapack_int n = t->n, found = 0, *isuppz = (lapack_int *)t->work;
  lapack_int *iwork = isuppz + 2 * n, first = n - (lapack_int)k + 1;
  lapack_logical try_hard = 1;
  double *work = t->work + 12 * n;
  restart(t);
  lapack_int info = LAPACKE_dstemr_work(
      LAPACK_COL_MAJOR, 'V', 'I', n, t->d_work, t->e_work, 0, 0, first, n,
      &found, values, Q->data, (lapack_int)Q->ld, n, isuppz, &try_hard, work,
      18 * n, iwork, 10 * n);
  if (info != 0 || found != k) return false;
  turn_round(Q, values, 0, k);
  return true;
}

/* All of them; the k largest come first. */
static lapack_int solve_all(tridiagonal *t, int64_t k, double *values,
                            la_array *Q)
{
  lapack_int n = t->n, *iwork = (lapack_int *)t->work, integers = 3 + 5 * n;
  int64_t used = ((int64_t)integers * (int64_t)sizeof *iwork + 7) / 8;
  restart(t);
  lapack_int info =
      LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', n, t->d_work, t->e_work,
                          Q->data, (lapack_int)Q->ld, t->work + used,
                          (lapack_int)(t->work_count - used), iwork, integers);
  if (info != 0) return info;
  memcpy(values, t->d_work, (size_t)n * sizeof *values);
  turn_round(Q, values, n - k, k);
  return 0;
}

static lapis_status vectors_above(la *h, tridiagonal *t, la_array *C,
                                  double above, double *values, la_array *Q,
                                  int64_t *count)
{
  lapack_int n = t->n;
  int64_t k = above > -INFINITY ? count_above(t, above) : n;
  *count = k;
  if (k == 0) return LAPIS_OK;
  bool done = k <= n / 6 && solve_few(t, k, values, Q);
  lapack_int info = done ? 0 : solve_all(t, k, values, Q);
  if (info != 0) return failed(h, "eigh", info);
  info = LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'L', 'N', n, (lapack_int)k,
                             C->data, (lapack_int)C->ld, t->tau, Q->data,
                             (lapack_int)Q->ld, t->work,
                             (lapack_int)smaller(t->work_count, 80 * n + 4160));
  return info == 0 ? LAPIS_OK : failed(h, "eigh", info);
}

static lapis_status values_above(la *h, tridiagonal *t, double above,
                                 double *values, int64_t *count)
{
  int64_t k = 0;
  restart(t);
  lapack_int info = LAPACKE_dsterf_work(t->n, t->d_work, t->e_work);
  if (info != 0) return failed(h, "eigh", info);
  for (lapack_int i = t->n; i-- > 0 && t->d_work[i] > above;)
    values[k++] = t->d_work[i];
  *count = k;
  return LAPIS_OK;
}

lapis_status lapack_eigh(la *h, la_array *C, double above, double *values,
                         la_array *Q, int64_t *count)
{
  int64_t n = C->rows;
  tridiagonal t;
  *count = 0;
  TRY(host_check_shape(h, "eigh", C, n, n));
  if (Q != NULL) TRY(host_check_shape(h, "eigh", Q, n, n));
  TRY(blas_check_range(h, "eigh", C));
  TRY(host_check_finite(h, "eigh", C));
  if (n == 0) return LAPIS_OK;
  if (Q != NULL && n <= SMALL) {
    bool done;
    TRY(host_small_eigh(h, C, above, values, Q, count, &done));
    if (done) return LAPIS_OK;
  }
  TRY(tridiagonal_new(h, n, Q != NULL, &t));
  blas_threads(h);
  lapack_int info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', t.n, C->data,
                                        (lapack_int)C->ld, t.d, t.e, t.tau,
                                        t.work, BLOCK * t.n);
  lapis_status status;
  if (info != 0)
    status = failed(h, "eigh", info);
  else if (Q == NULL)
    status = values_above(h, &t, above, values, count);
  else
    status = vectors_above(h, &t, C, above, values, Q, count);
  host_release(h, t.memory);
  return status;
}

/* ---- singular values ----------------------------------------------------*/

typedef struct svd_call {
  lapack_int m, n, ldu, ldvt;
  la_array *A;
  double *s, *u, *vt, *work;
  lapack_int lwork, *iwork;
  char job;
} svd_call;

static lapack_int gesdd(const svd_call *c)
{
  return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, c->job, c->m, c->n, c->A->data,
                             (lapack_int)c->A->ld, c->s, c->u, c->ldu, c->vt,
                             c->ldvt, c->work, c->lwork, c->iwork);
}

static lapack_int gesvd(const svd_call *c)
{
  return LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, c->job, c->job, c->m, c->n,
                             c->A->data, (lapack_int)c->A->ld, c->s, c->u,
                             c->ldu, c->vt, c->ldvt, c->work, c->lwork);
}

static void copy_columns(const la_array *from, la_array *to)
{
  for (int64_t j = 0; j < from->cols; j++)
    memcpy(host_col(to, j), host_col(from, j),
           (size_t)from->rows * sizeof(double));
}

/* Divide and conquer; if that fails, which it rarely does, QR iterations on
 * a copy.  Values alone take the latter (dqds there), and no copy. */
static lapack_int svd_both_ways(svd_call *c, la_array *copy)
{
  if (c->u == NULL) return gesvd(c);
  copy_columns(c->A, copy);
  lapack_int info = gesdd(c);
  if (info <= 0) return info;
  c->A = copy;
  return gesvd(c);
}

/* At least LAPACK's minimum, 4k^2 + 7k, and a block for every row and column;
 * see la_scratch_count. */
static int64_t svd_work_count(int64_t m, int64_t n)
{
  int64_t k = smaller(m, n);
  return 5 * k * k + 75 * (m + n) + 5000;
}

lapis_status lapack_svd(la *h, la_array *A, la_array *U, double *s,
                        la_array *Vt)
{
  int64_t m = A->rows, n = A->cols, k = smaller(m, n);
  TRY(host_check_svd(h, A, U, Vt));
  TRY(blas_check_range(h, "svd", A));
  if (k == 0) return LAPIS_OK;
  int64_t count = svd_work_count(m, n);
  double *p = host_borrow(h, m * n + count + 4 * k);
  if (p == NULL) return LAPIS_ENOMEM;
  la_array copy = la_wrap(p, m, n);
  svd_call c = {.m = (lapack_int)m,
                .n = (lapack_int)n,
                .ldu = U == NULL ? 1 : (lapack_int)U->ld,
                .ldvt = Vt == NULL ? 1 : (lapack_int)Vt->ld,
                .A = A,
                .s = s,
                .u = U == NULL ? NULL : U->data,
                .vt = Vt == NULL ? NULL : Vt->data,
                .work = p + m * n + 4 * k,
                .lwork = (lapack_int)smaller(count, INT32_MAX),
                .iwork = (lapack_int *)(p + m * n),
                .job = U == NULL ? 'N' : 'S'};
  blas_threads(h);
  lapack_int info = svd_both_ways(&c, &copy);
  host_release(h, p);
  return info == 0 ? LAPIS_OK : failed(h, "svd", info);
}

/* ---- QR -----------------------------------------------------------------*/

static void copy_upper(const la_array *A, la_array *R)
{
  for (int64_t j = 0; j < R->cols; j++) {
    const double *a = host_col(A, j);
    double *r = host_col(R, j);
    for (int64_t i = 0; i < R->rows; i++) r[i] = i <= j ? a[i] : 0;
  }
}

lapis_status lapack_qr(la *h, la_array *A, la_array *R)
{
  int64_t m = A->rows, k = A->cols;
  TRY(host_check_shape(h, "qr", A, m, k));
  if (R != NULL) TRY(host_check_shape(h, "qr", R, k, k));
  TRY(blas_check_range(h, "qr", A));
  if (m < k)
    return lapis_fail(h->ctx, LAPIS_ESHAPE,
                      "la: qr of a %" PRId64 " x %" PRId64
                      " array; it must not be wide",
                      m, k);
  if (k == 0) return LAPIS_OK;
  double *tau = host_borrow(h, (BLOCK + 1) * k);
  if (tau == NULL) return LAPIS_ENOMEM;
  lapack_int lda = (lapack_int)A->ld, n = (lapack_int)k;
  blas_threads(h);
  lapack_int info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, (lapack_int)m, n,
                                        A->data, lda, tau, tau + k, BLOCK * n);
  if (info == 0 && R != NULL) copy_upper(A, R);
  if (info == 0)
    info = LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, (lapack_int)m, n, n, A->data,
                               lda, tau, tau + k, BLOCK * n);
  host_release(h, tau);
  return info == 0 ? LAPIS_OK : failed(h, "qr", info);
}

/* ---- Cholesky -----------------------------------------------------------*/

lapis_status lapack_potrf(la *h, la_array *A)
{
  TRY(host_check_sides(h, "potrf", A, A->rows, A->rows));
  TRY(blas_check_range(h, "potrf", A));
  if (A->rows == 0) return LAPIS_OK;
  blas_threads(h);
  lapack_int n = (lapack_int)A->rows, ld = (lapack_int)A->ld, info;
  if (A->dtype == LAPIS_F64)
    info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A->data, ld);
  else
    info = LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', n, A->data, ld);
  if (info == 0) return LAPIS_OK;
  return lapis_fail(h->ctx, LAPIS_ENUMERIC,
                    "la: a Cholesky factorisation broke down at pivot %d of "
                    "%" PRId64 "; the matrix is not positive definite",
                    (int)info, A->rows);
}

static lapis_status check_one_type(la *h, const la_array *L, const la_array *B)
{
  if (L->dtype == B->dtype) return LAPIS_OK;
  return lapis_fail(h->ctx, LAPIS_EINVAL, "la: potrs takes arrays of one type");
}

lapis_status lapack_potrs(la *h, const la_array *L, la_array *B)
{
  TRY(host_check_sides(h, "potrs", L, L->rows, L->rows));
  TRY(host_check_sides(h, "potrs", B, L->rows, B->cols));
  TRY(check_one_type(h, L, B));
  TRY(blas_check_range(h, "potrs", B));
  if (B->rows == 0 || B->cols == 0) return LAPIS_OK;
  blas_threads(h);
  lapack_int n = (lapack_int)L->rows, ld = (lapack_int)L->ld, info;
  lapack_int count = (lapack_int)B->cols, ldb = (lapack_int)B->ld;
  if (L->dtype == LAPIS_F64)
    info = LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, count, L->data, ld,
                               B->data, ldb);
  else
    info = LAPACKE_spotrs_work(LAPACK_COL_MAJOR, 'L', n, count, L->data, ld,
                               B->data, ldb);
  return info == 0 ? LAPIS_OK : failed(h, "potrs", info);
}

lapis_status lapack_potri(la *h, la_array *L)
{
  TRY(host_check_sides(h, "potri", L, L->rows, L->rows));
  TRY(blas_check_range(h, "potri", L));
  blas_threads(h);
  if (L->rows == 0) return LAPIS_OK;
  lapack_int n = (lapack_int)L->rows, ld = (lapack_int)L->ld, info;
  if (L->dtype == LAPIS_F64)
    info = LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, L->data, ld);
  else
    info = LAPACKE_spotri_work(LAPACK_COL_MAJOR, 'L', n, L->data, ld);
  if (info != 0) return failed(h, "potri", info);
  blas_mirror(L);
  return LAPIS_OK;
}
