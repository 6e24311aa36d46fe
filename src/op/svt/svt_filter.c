/* svt_filter.c - a Gram matrix in single precision, and filters made of it.
 *
 * Singular values with little room between those above a threshold and those
 * below take many products with G = W W'.  In single precision a product costs
 * half, and once G is formed l/k times less again; what that loses is put right
 * by a residual in double (svt_subspace.c).
 *
 * T_d, the Chebyshev polynomial of [0, c], stays below 1 there and grows like
 * e^(a d), cosh a = m = 2 theta/c - 1, at a theta beyond.  X is filtered by its
 * change alone,
 *   E_j = T_j(M) x / T_j(m) - x,  M = 2/c G - 1,  r = G x - theta x:
 *   E_1 = p_0 2/c r,
 *   E_(j+1) = p_j (4/c G E_j - 2 E_j + 4/c r) - p_j p_(j-1) E_(j-1),
 * with p_0 = 1/m, p_j = T_j/T_(j+1) = 1/(2 m - p_(j-1)).  So a small r gives a
 * small E, known to single precision of itself: each filter may take six more
 * digits off r.
 *
 * A Cholesky factor L of c I + U Theta U' - G, made of this G, makes a matrix
 *   H = c I + U Theta U' - L L'
 * with x'H x <= c |x|^2 for every x that U'x = 0, whatever rounding made of G
 * and L: how near H is to G is then asked of W itself (svt_subspace.c).
 *
 * Numerics: G is divided by |W|_F^2, so that no scale of W leaves the range of
 * single precision. */
#include "op/svt/svt_filter.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCKS = 8, STRIP = 64 };

struct svt_filter {
  la h;
  int64_t k, room; /* room: columns that the buffers have */
  double unit;
  float *G;      /* k x k */
  float *V[4];   /* k x room: R; E_(j-1), E_j, G E_j */
  double *ratio; /* 3 x room: m, p_(j-1), p_j of a column */
};

static la_array wrap(float *p, int64_t rows, int64_t cols)
{
  return (la_array){LAPIS_F32, rows, cols, rows, p, true, NULL};
}

void svt_filter_free(svt_filter *f)
{
  if (f == NULL) return;
  for (int i = 0; i < 4; i++) base_free(f->V[i]);
  base_free(f->G);
  base_free(f->ratio);
  base_free(f);
}

static lapis_status reserve(svt_filter *f, int64_t cols)
{
  lapis_ctx *ctx = f->h.ctx;
  if (cols <= f->room) return LAPIS_OK;
  f->room = 0;
  for (int i = 0; i < 4; i++) {
    base_free(f->V[i]);
    f->V[i] = base_alloc_raw(ctx, f->k * cols, sizeof *f->V[i]);
    if (f->V[i] == NULL) return LAPIS_ENOMEM;
  }
  base_free(f->ratio);
  f->ratio = base_alloc_raw(ctx, 3 * cols, sizeof *f->ratio);
  if (f->ratio == NULL) return LAPIS_ENOMEM;
  f->room = cols;
  return LAPIS_OK;
}

/* ---- the Gram matrix ----------------------------------------------------*/

static void to_single(const la_array *A, double scale, float *out)
{
  for (int64_t j = 0; j < A->cols; j++) {
    const double *a = (const double *)A->data + j * A->ld;
    float *to = out + j * A->rows;
    for (int64_t i = 0; i < A->rows; i++) to[i] = (float)(scale * a[i]);
  }
}

static lapis_status form(svt_filter *f, la_trans side, const la_array *W)
{
  la_array G = wrap(f->G, f->k, f->k);
  float *own = base_alloc_raw(f->h.ctx, W->rows * W->cols, sizeof *own);
  if (own == NULL) return LAPIS_ENOMEM;
  la_array V = wrap(own, W->rows, W->cols);
  to_single(W, 1 / sqrt(f->unit), own);
  lapis_status status = f->h.ops->syrk(&f->h, side, &V, &G);
  base_free(own);
  return status;
}

lapis_status svt_filter_new(la *h, la_trans side, const la_array *W,
                            double unit, svt_filter **out)
{
  *out = NULL;
  svt_filter *f = base_alloc(h->ctx, 1, sizeof *f);
  if (f == NULL) return LAPIS_ENOMEM;
  f->h = *h;
  f->k = side == LA_N ? W->rows : W->cols;
  f->unit = unit;
  f->G = base_alloc_raw(h->ctx, f->k * f->k, sizeof *f->G);
  lapis_status status = f->G == NULL ? LAPIS_ENOMEM : form(f, side, W);
  if (status < 0)
    svt_filter_free(f);
  else
    *out = f;
  return status;
}

/* k^2 l operations of half the price, against 4 k l a column */
double svt_filter_cost(la_trans side, const la_array *W)
{
  return (double)(side == LA_N ? W->rows : W->cols) / 8;
}

lapis_status svt_filter_times(svt_filter *f, const la_array *X, la_array *Y)
{
  int64_t k = f->k, p = X->cols;
  TRY(reserve(f, p));
  la_array G = wrap(f->G, k, k), from = wrap(f->V[0], k, p);
  la_array to = wrap(f->V[1], k, p);
  to_single(X, 1, f->V[0]);
  TRY(f->h.ops->gemm(&f->h, LA_N, LA_N, 1, &G, &from, 0, &to));
  for (int64_t j = 0; j < p; j++) {
    double *y = (double *)Y->data + j * Y->ld;
    for (int64_t i = 0; i < k; i++) y[i] = f->unit * (double)f->V[1][j * k + i];
  }
  return LAPIS_OK;
}

/* ---- filters ------------------------------------------------------------*/

/* R = (G X - X mu) / unit, mu = theta or the lift; the ratios of T_0, T_1. */
static void begin(svt_filter *f, const svt_filtering *how, const la_array *R,
                  const la_array *X)
{
  double *m = f->ratio, *before = m + f->room, *now = before + f->room;
  for (int64_t j = 0; j < X->cols; j++) {
    double mu = fmax(how->theta[j], how->lift), more = how->theta[j] - mu;
    const double *r = (const double *)R->data + j * R->ld;
    const double *x = (const double *)X->data + j * X->ld;
    m[j] = 2 * (mu / how->c) - 1;
    now[j] = 1 / m[j];
    before[j] = 0;
    for (int64_t i = 0; i < f->k; i++) {
      double residual = (r[i] + more * x[i]) / f->unit;
      f->V[0][j * f->k + i] = (float)residual;
    }
  }
}

/* E_(j+1) over E_(j-1), G E_j in V[3]; at j = 0 both are 0, and r counts half.
 */
static void advance(svt_filter *f, int64_t cols, double c, bool first)
{
  double *m = f->ratio, *before = m + f->room, *now = before + f->room;
  for (int64_t j = 0; j < cols; j++) {
    const float *r = f->V[0] + j * f->k, *e = f->V[2] + j * f->k;
    const float *ge = f->V[3] + j * f->k;
    float *to = f->V[1] + j * f->k, p = (float)now[j];
    float fr = p * (float)((first ? 2 : 4) / c), fe = -2 * p;
    float fg = p * (float)(4 / c), fb = (float)(-now[j] * before[j]);
    for (int64_t i = 0; first && i < f->k; i++) to[i] = fr * r[i];
    for (int64_t i = 0; !first && i < f->k; i++)
      to[i] = fg * ge[i] + fe * e[i] + fr * r[i] + fb * to[i];
    before[j] = now[j];
    now[j] = 1 / (2 * m[j] - before[j]);
  }
}

lapis_status svt_filter_run(svt_filter *f, const svt_filtering *how,
                            const la_array *R, la_array *X)
{
  int64_t k = f->k, p = X->cols;
  TRY(reserve(f, p));
  la_array G = wrap(f->G, k, k);
  begin(f, how, R, X);
  memset(f->V[2], 0, (size_t)(k * p) * sizeof *f->V[2]);
  for (int64_t j = 0; j < how->degree; j++) {
    la_array E = wrap(f->V[2], k, p), GE = wrap(f->V[3], k, p);
    if (j > 0) TRY(f->h.ops->gemm(&f->h, LA_N, LA_N, 1, &G, &E, 0, &GE));
    advance(f, p, how->c / f->unit, j == 0);
    float *next = f->V[1];
    f->V[1] = f->V[2];
    f->V[2] = next;
  }
  for (int64_t j = 0; j < p; j++) {
    double *x = (double *)X->data + j * X->ld;
    for (int64_t i = 0; i < k; i++) x[i] += (double)f->V[2][j * k + i];
  }
  return LAPIS_OK;
}

/* ---- a bound on what is left --------------------------------------------*/

/* The lower triangle of L = c I + Y Y' - G, by blocks of columns. */
static lapis_status lower(svt_filter *f, const la_array *Y, double c,
                          la_array *L)
{
  int64_t k = f->k, block = k / BLOCKS + 1;
  memcpy(L->data, f->G, (size_t)(k * k) * sizeof *f->G);
  for (int64_t j = 0; j < k; j += block) {
    int64_t left = k - j, n = left < block ? left : block;
    la_array below = la_rows(L, j, left), to = la_cols(&below, j, n);
    la_array low = la_rows(Y, j, left), own = la_rows(Y, j, n);
    TRY(f->h.ops->gemm(&f->h, LA_N, LA_T, 1, &low, &own, -1, &to));
  }
  float *diagonal = L->data;
  for (int64_t i = 0; i < k; i++) diagonal[i * (k + 1)] += (float)c;
  return LAPIS_OK;
}

/* Y = U Theta^(1/2), G divided by the unit as U Theta U' is. */
static lapis_status roots(svt_filter *f, const la_array *U, const double *theta,
                          la_array *Y)
{
  TRY(reserve(f, U->cols > 0 ? U->cols : 1));
  *Y = wrap(f->V[0], f->k, U->cols);
  to_single(U, 1, f->V[0]);
  for (int64_t j = 0; j < U->cols; j++) {
    double root = sqrt(fmax(theta[j], 0) / f->unit);
    for (int64_t i = 0; i < f->k; i++) f->V[0][j * f->k + i] *= (float)root;
  }
  return LAPIS_OK;
}

/* Columns j .. j + n - 1 of L as doubles, from row j on. */
static void strip(const la_array *L, int64_t j, int64_t n, double *out)
{
  int64_t rows = L->rows - j;
  for (int64_t i = 0; i < n; i++) {
    const float *from = (const float *)L->data + (j + i) * L->ld + j;
    for (int64_t r = 0; r < rows; r++)
      out[i * rows + r] = r < i ? 0 : (double)from[r];
  }
}

/* Y -= unit L L'Z, in double. */
static lapis_status take_square(svt_filter *f, const la_array *L,
                                const la_array *Z, la_array *Y)
{
  la *h = &f->h;
  int64_t k = f->k, p = Z->cols;
  double *own = base_alloc_raw(h->ctx, STRIP * (k + p), sizeof *own);
  lapis_status status = own == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; j < k && status >= 0; j += STRIP) {
    int64_t n = k - j < STRIP ? k - j : STRIP;
    la_array part = la_wrap(own, k - j, n);
    la_array T = la_wrap(own + STRIP * k, n, p);
    la_array z = la_rows(Z, j, k - j), y = la_rows(Y, j, k - j);
    strip(L, j, n, own);
    status = h->ops->gemm(h, LA_T, LA_N, 1, &part, &z, 0, &T);
    if (status >= 0)
      status = h->ops->gemm(h, LA_N, LA_N, -f->unit, &part, &T, 1, &y);
  }
  base_free(own);
  return status;
}

/* Y = c Z + U Theta U'Z */
static lapis_status shifted(svt_filter *f, const la_array *U,
                            const double *theta, double c, const la_array *Z,
                            la_array *Y)
{
  la *h = &f->h;
  double *own = base_alloc(h->ctx, U->cols * Z->cols + 1, sizeof *own);
  if (own == NULL) return LAPIS_ENOMEM;
  la_array T = la_wrap(own, U->cols, Z->cols);
  lapis_status status = h->ops->axpby(h, c, Z, 0, Y);
  if (status >= 0 && U->cols > 0)
    status = h->ops->gemm(h, LA_T, LA_N, 1, U, Z, 0, &T);
  if (status >= 0) status = h->ops->scale_rows(h, theta, &T);
  if (status >= 0 && U->cols > 0)
    status = h->ops->gemm(h, LA_N, LA_N, 1, U, &T, 1, Y);
  base_free(own);
  return status;
}

lapis_status svt_filter_below(svt_filter *f, const la_array *U,
                              const double *theta, double c, const la_array *Z,
                              la_array *Y, bool *found)
{
  la_array y, L;
  *found = false;
  float *own = base_alloc_raw(f->h.ctx, f->k * f->k, sizeof *own);
  if (own == NULL) return LAPIS_OK; /* there are other tests */
  L = wrap(own, f->k, f->k);
  lapis_status status = roots(f, U, theta, &y);
  if (status >= 0) status = lower(f, &y, c / f->unit, &L);
  *found = status >= 0 && f->h.ops->potrf(&f->h, &L) >= 0;
  if (*found) status = shifted(f, U, theta, c, Z, Y);
  if (*found && status >= 0) status = take_square(f, &L, Z, Y);
  base_free(own);
  return status;
}
