/* reference_factor.c - textbook factorisations: cyclic Jacobi for symmetric
 * eigenvalues, one-sided Jacobi for singular values, Gram-Schmidt done twice,
 * Cholesky by columns.  Slow, and accurate to the last digits: Jacobi finds
 * even small singular values to high relative accuracy. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "la/host/host.h"

enum { MAX_SWEEPS = 100 };
static const double NOTHING = 1e-150; /* beside a norm of 1; squared, normal */

static double inner(const double *a, const double *b, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Scaled, so that squares neither overflow nor vanish. */
static double length(const double *a, int64_t n)
{
  double top = 0, sum = 0;
  for (int64_t i = 0; i < n; i++) top = fmax(top, fabs(a[i]));
  if (!(top > 0)) return 0;
  for (int64_t i = 0; i < n; i++) sum += (a[i] / top) * (a[i] / top);
  return top * sqrt(sum);
}

/* (a, b) <- (c a - s b, s a + c b). */
static void rotate(double *a, double *b, int64_t n, double c, double s)
{
  for (int64_t i = 0; i < n; i++) {
    double x = a[i], y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

/* The rotation that annihilates g in [[x, g], [g, y]]; the smaller angle. */
static void jacobi_angle(double x, double y, double g, double *c, double *s)
{
  double zeta = (y - x) / (2 * g);
  double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
  *c = 1 / hypot(1, t);
  *s = t * *c;
}

static void swap_columns(la_array *A, int64_t i, int64_t j)
{
  double *a = host_col(A, i), *b = host_col(A, j);
  for (int64_t k = 0; k < A->rows; k++) {
    double x = a[k];
    a[k] = b[k];
    b[k] = x;
  }
}

/* Largest first, columns of A and B (each may be NULL) in step. */
static void sort_descending(double *values, int64_t n, la_array *A, la_array *B)
{
  for (int64_t i = 0; i < n; i++) {
    int64_t best = i;
    for (int64_t j = i + 1; j < n; j++)
      if (values[j] > values[best]) best = j;
    if (best == i) continue;
    double x = values[i];
    values[i] = values[best];
    values[best] = x;
    if (A != NULL) swap_columns(A, i, best);
    if (B != NULL) swap_columns(B, i, best);
  }
}

static void set_identity(la_array *A)
{
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) host_col(A, j)[i] = i == j;
}

/* ---- eigh ---------------------------------------------------------------*/

/* C <- J'CJ on rows and columns p, q; Q <- QJ. */
static void eigen_rotation(la_array *C, la_array *Q, int64_t p, int64_t q)
{
  double c, s;
  jacobi_angle(host_col(C, p)[p], host_col(C, q)[q], host_col(C, q)[p], &c, &s);
  rotate(host_col(C, p), host_col(C, q), C->rows, c, s);
  for (int64_t j = 0; j < C->cols; j++)
    rotate(host_col(C, j) + p, host_col(C, j) + q, 1, c, s);
  host_col(C, q)[p] = host_col(C, p)[q] = 0;
  if (Q != NULL) rotate(host_col(Q, p), host_col(Q, q), Q->rows, c, s);
}

/* Rotates every pair that is not negligible against eps |C|; false: none. */
static bool eigen_sweep(la_array *C, la_array *Q, double negligible)
{
  bool any = false;
  for (int64_t p = 0; p < C->cols; p++)
    for (int64_t q = p + 1; q < C->cols; q++) {
      if (!(fabs(host_col(C, q)[p]) > negligible)) continue;
      eigen_rotation(C, Q, p, q);
      any = true;
    }
  return any;
}

static double frobenius(const la_array *A)
{
  double norm = 0;
  for (int64_t j = 0; j < A->cols; j++)
    norm = hypot(norm, length(host_col(A, j), A->rows));
  return norm;
}

/* Only the lower triangle is read. */
static void symmetrise(la_array *C)
{
  for (int64_t j = 0; j < C->cols; j++)
    for (int64_t i = j + 1; i < C->rows; i++)
      host_col(C, i)[j] = host_col(C, j)[i];
}

lapis_status plain_eigh(la *h, la_array *C, double above, double *values,
                        la_array *Q, int64_t *count)
{
  int64_t n = C->rows;
  *count = 0;
  TRY(host_check_shape(h, "eigh", C, n, n));
  if (Q != NULL) TRY(host_check_shape(h, "eigh", Q, n, n));
  TRY(host_check_finite(h, "eigh", C));
  symmetrise(C);
  if (Q != NULL) set_identity(Q);
  double negligible = 0.1 * DBL_EPSILON * frobenius(C) / (double)(n + 1);
  for (int sweep = 0; eigen_sweep(C, Q, negligible); sweep++)
    if (sweep == MAX_SWEEPS)
      return lapis_fail(h->ctx, LAPIS_ENUMERIC,
                        "la: eigh did not converge in %d sweeps", MAX_SWEEPS);
  for (int64_t i = 0; i < n; i++) values[i] = host_col(C, i)[i];
  sort_descending(values, n, Q, NULL);
  while (*count < n && values[*count] > above) ++*count;
  return LAPIS_OK;
}

/* ---- qr -----------------------------------------------------------------*/

/* Takes from column j its part along the columns before it, twice: once is
 * not enough when little is left.  Returns the length of what remains. */
static double orthogonalise(la_array *A, int64_t j, double *r)
{
  double *a = host_col(A, j);
  for (int pass = 0; pass < 2; pass++)
    for (int64_t i = 0; i < j; i++) {
      const double *q = host_col(A, i);
      double x = inner(q, a, A->rows);
      for (int64_t k = 0; k < A->rows; k++) a[k] -= x * q[k];
      if (r != NULL) r[i] += x;
    }
  return length(a, A->rows);
}

static void divide(double *a, int64_t n, double x)
{
  for (int64_t i = 0; i < n; i++) a[i] /= x;
}

/* A unit vector orthogonal to the columns before j: some axis has at least
 * 1/sqrt(rows) of its length outside them. */
static void invent_column(la_array *A, int64_t j)
{
  double *a = host_col(A, j), enough = 0.5 / sqrt((double)A->rows), norm = 0;
  for (int64_t axis = 0; axis < A->rows && norm < enough; axis++) {
    memset(a, 0, (size_t)A->rows * sizeof *a);
    a[axis] = 1;
    norm = orthogonalise(A, j, NULL);
  }
  divide(a, A->rows, norm);
}

lapis_status plain_qr(la *h, la_array *A, la_array *R)
{
  int64_t m = A->rows, k = A->cols;
  TRY(host_check_shape(h, "qr", A, m, k));
  if (R != NULL) TRY(host_check_shape(h, "qr", R, k, k));
  if (m < k)
    return lapis_fail(h->ctx, LAPIS_ESHAPE,
                      "la: qr of a %" PRId64 " x %" PRId64
                      " array; it must not be wide",
                      m, k);
  for (int64_t j = 0; j < k; j++) {
    double *r = R == NULL ? NULL : host_col(R, j);
    double before = length(host_col(A, j), m);
    if (r != NULL) memset(r, 0, (size_t)k * sizeof *r);
    double left = orthogonalise(A, j, r);
    if (left > (double)m * DBL_EPSILON * before) {
      divide(host_col(A, j), m, left);
    } else {
      invent_column(A, j);
      left = 0;
    }
    if (r != NULL) r[j] = left;
  }
  return LAPIS_OK;
}

/* ---- svd ----------------------------------------------------------------*/

/* Hestenes: columns of G are rotated in pairs until all are orthogonal; then
 * G V = U S.  A pair whose product is within what rounding makes of it, rows
 * eps of its lengths, is left; so is one with a column of no length, which
 * is where the surplus columns of a matrix of low rank end. */
static bool singular_sweep(la_array *G, la_array *V)
{
  bool any = false;
  double floor = DBL_EPSILON * (double)G->rows;
  for (int64_t p = 0; p < G->cols; p++)
    for (int64_t q = p + 1; q < G->cols; q++) {
      double *a = host_col(G, p), *b = host_col(G, q), c, s;
      double x = inner(a, a, G->rows), y = inner(b, b, G->rows);
      double g = inner(a, b, G->rows);
      if (!(fmin(x, y) > NOTHING * NOTHING)) continue;
      if (!(fabs(g) > floor * sqrt(x) * sqrt(y))) continue;
      jacobi_angle(x, y, g, &c, &s);
      rotate(a, b, G->rows, c, s);
      rotate(host_col(V, p), host_col(V, q), V->rows, c, s);
      any = true;
    }
  return any;
}

/* The long way up, and scaled so that squares stay in range. */
static void load_long(const la_array *A, double scale, la_array *G)
{
  bool turn = A->rows < A->cols;
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      host_col(G, turn ? i : j)[turn ? j : i] = host_col(A, j)[i] / scale;
}

static void store(const la_array *from, bool turn, la_array *to)
{
  for (int64_t j = 0; j < from->cols; j++)
    for (int64_t i = 0; i < from->rows; i++)
      host_col(to, turn ? i : j)[turn ? j : i] = host_col(from, j)[i];
}

static lapis_status jacobi_svd(la *h, la_array *G, la_array *V, double *s)
{
  set_identity(V);
  for (int sweep = 0; singular_sweep(G, V); sweep++)
    if (sweep == MAX_SWEEPS)
      return lapis_fail(h->ctx, LAPIS_ENUMERIC,
                        "la: svd did not converge in %d sweeps", MAX_SWEEPS);
  for (int64_t j = 0; j < G->cols; j++) s[j] = length(host_col(G, j), G->rows);
  sort_descending(s, G->cols, G, V);
  for (int64_t j = 0; j < G->cols; j++) {
    if (s[j] > NOTHING)
      divide(host_col(G, j), G->rows, s[j]);
    else
      invent_column(G, j);
  }
  return LAPIS_OK;
}

lapis_status plain_svd(la *h, la_array *A, la_array *U, double *s, la_array *Vt)
{
  bool turn = A->rows < A->cols;
  int64_t k = turn ? A->rows : A->cols, l = turn ? A->cols : A->rows;
  TRY(host_check_svd(h, A, U, Vt));
  if (k == 0) return LAPIS_OK;
  double scale = frobenius(A);
  if (!(scale > 0)) scale = 1;
  double *p = base_alloc(h->ctx, (l + k) * k, sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  la_array G = la_wrap(p, l, k), V = la_wrap(p + l * k, k, k);
  load_long(A, scale, &G);
  lapis_status status = jacobi_svd(h, &G, &V, s);
  for (int64_t j = 0; j < k; j++) s[j] *= scale;
  if (status == LAPIS_OK && U != NULL) {
    store(turn ? &V : &G, false, U);
    store(turn ? &G : &V, true, Vt);
  }
  base_free(p);
  return status;
}

/* ---- Cholesky: of single precision in double, and rounded ----------------*/

static lapis_status widen(la *h, const la_array *A, la_array *wide)
{
  TRY(host_alloc(h, LAPIS_F64, A->rows, A->cols, wide));
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      host_col(wide, j)[i] = ((const float *)A->data)[j * A->ld + i];
  return LAPIS_OK;
}

/* Frees wide. */
static void narrow(la *h, la_array *wide, la_array *A)
{
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      ((float *)A->data)[j * A->ld + i] = (float)host_col(wide, j)[i];
  host_free(h, wide);
}

/* f(A) by way of doubles. */
static lapis_status through_doubles(la *h, lapis_status (*f)(la *, la_array *),
                                    la_array *A)
{
  la_array wide;
  TRY(widen(h, A, &wide));
  lapis_status s = f(h, &wide);
  narrow(h, &wide, A);
  return s;
}

lapis_status plain_potrf(la *h, la_array *A)
{
  int64_t n = A->rows;
  if (A->dtype == LAPIS_F32) return through_doubles(h, plain_potrf, A);
  TRY(host_check_shape(h, "potrf", A, n, n));
  for (int64_t j = 0; j < n; j++) {
    double *a = host_col(A, j);
    for (int64_t k = 0; k < j; k++) {
      const double *l = host_col(A, k);
      for (int64_t i = j; i < n; i++) a[i] -= l[j] * l[i];
    }
    if (!(a[j] > 0 && a[j] <= DBL_MAX))
      return lapis_fail(h->ctx, LAPIS_ENUMERIC,
                        "la: a Cholesky factorisation broke down at pivot "
                        "%" PRId64 " of %" PRId64
                        "; the matrix is not positive definite",
                        j + 1, n);
    double root = sqrt(a[j]);
    for (int64_t i = j; i < n; i++) a[i] /= root;
  }
  return LAPIS_OK;
}

/* L y = b */
static void solve_lower(const la_array *L, double *b)
{
  int64_t n = L->rows;
  for (int64_t j = 0; j < n; j++) {
    const double *l = host_col(L, j);
    b[j] /= l[j];
    for (int64_t i = j + 1; i < n; i++) b[i] -= l[i] * b[j];
  }
}

/* L'x = y */
static void solve_upper(const la_array *L, double *b)
{
  int64_t n = L->rows;
  for (int64_t j = n; j-- > 0;) {
    const double *l = host_col(L, j);
    for (int64_t i = j + 1; i < n; i++) b[j] -= l[i] * b[i];
    b[j] /= l[j];
  }
}

lapis_status plain_trsm(la *h, const la_array *L, la_array *B)
{
  TRY(host_check_shape(h, "trsm", L, L->rows, L->rows));
  TRY(host_check_shape(h, "trsm", B, L->rows, B->cols));
  for (int64_t j = 0; j < B->cols; j++) solve_lower(L, host_col(B, j));
  return LAPIS_OK;
}

static lapis_status single_potrs(la *h, const la_array *L, la_array *B)
{
  la_array wide_L, wide_B;
  TRY(widen(h, L, &wide_L));
  lapis_status s = widen(h, B, &wide_B);
  if (s >= 0) {
    s = plain_potrs(h, &wide_L, &wide_B);
    narrow(h, &wide_B, B);
  }
  host_free(h, &wide_L);
  return s;
}

lapis_status plain_potrs(la *h, const la_array *L, la_array *B)
{
  if (L->dtype == LAPIS_F32 && B->dtype == LAPIS_F32)
    return single_potrs(h, L, B);
  TRY(host_check_shape(h, "potrs", L, L->rows, L->rows));
  TRY(host_check_shape(h, "potrs", B, L->rows, B->cols));
  for (int64_t j = 0; j < B->cols; j++) {
    solve_lower(L, host_col(B, j));
    solve_upper(L, host_col(B, j));
  }
  return LAPIS_OK;
}

lapis_status plain_potri(la *h, la_array *L)
{
  int64_t n = L->rows;
  if (L->dtype == LAPIS_F32) return through_doubles(h, plain_potri, L);
  TRY(host_check_shape(h, "potri", L, n, n));
  double *inverse = base_alloc(h->ctx, n * n, sizeof *inverse);
  if (inverse == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < n; j++) inverse[j * n + j] = 1;
  la_array I = la_wrap(inverse, n, n);
  lapis_status s = plain_potrs(h, L, &I);
  for (int64_t j = 0; j < n && s >= 0; j++)
    for (int64_t i = 0; i < n; i++) host_col(L, j)[i] = inverse[j * n + i];
  base_free(inverse);
  return s;
}
