/* thin.c - tall matrices with few columns.
 *
 * The kernels work in blocks of eight columns, one 512-bit register or two
 * 256-bit ones; they are compiled for three kinds of processor.  A library's
 * syrk wants matrices; one row here has a few dozen entries, gathered. */
#include "op/dense/thin.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "la/parts.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
/* On static functions alone: the loader's choice among copies is a symbol that
 * the library would export. */
#define TALL_WIDE                                             \
  __attribute__((target_clones("avx512f", "avx2", "default"), \
                 optimize("fp-contract=fast")))
#else
#define TALL_WIDE
#endif

typedef double lanes __attribute__((vector_size(64), aligned(64), may_alias));
enum { L = TALL_LANES };

/* ---- kernels -------------------------------------------------------------*/
TALL_WIDE static double dot_rows(int64_t ld, const double *a, const double *b)
{
  lanes sum = {0};
  for (int64_t i = 0; i < ld; i += L)
    sum += *(const lanes *)(a + i) * *(const lanes *)(b + i);
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) +
         ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

double tall_dot(int64_t ld, const double *a, const double *b)
{
  return dot_rows(ld, a, b);
}

/* Four blocks of columns at a time stay in registers. */
TALL_WIDE static void combine_rows(int64_t ld, const double *F,
                                   const int32_t *at, int64_t count,
                                   const double *s, double *out)
{
  int64_t c = 0;
  for (; c + 4 * L <= ld; c += 4 * L) {
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t k = 0; k < count; k++) {
      const double *row = F + (at == NULL ? k : at[k]) * ld + c;
      const lanes *f = (const lanes *)row;
      s0 += s[k] * f[0];
      s1 += s[k] * f[1];
      s2 += s[k] * f[2];
      s3 += s[k] * f[3];
    }
    lanes *to = (lanes *)(out + c);
    to[0] = s0;
    to[1] = s1;
    to[2] = s2;
    to[3] = s3;
  }
  for (; c + 2 * L <= ld; c += 2 * L) {
    lanes s0 = {0}, s1 = {0};
    for (int64_t k = 0; k < count; k++) {
      const double *row = F + (at == NULL ? k : at[k]) * ld + c;
      const lanes *f = (const lanes *)row;
      s0 += s[k] * f[0];
      s1 += s[k] * f[1];
    }
    ((lanes *)(out + c))[0] = s0;
    ((lanes *)(out + c))[1] = s1;
  }
  for (; c < ld; c += L) {
    lanes s0 = {0};
    for (int64_t k = 0; k < count; k++)
      s0 += s[k] * *(const lanes *)(F + (at == NULL ? k : at[k]) * ld + c);
    *(lanes *)(out + c) = s0;
  }
}

void tall_combine(int64_t ld, const double *F, const int32_t *at, int64_t count,
                  const double *s, double *out)
{
  combine_rows(ld, F, at, count, s, out);
}

/* C's L rows from a and L columns from b on += sum_k A_k[a..]' B_k[b..] */
TALL_WIDE static void tile(int64_t count, const double *A, int64_t lda,
                           const double *B, int64_t ldb, double *C, int64_t ldc)
{
  lanes s[L];
  for (int r = 0; r < L; r++) s[r] = *(const lanes *)(C + r * ldc);
  for (int64_t k = 0; k < count; k++) {
    lanes f = *(const lanes *)(B + k * ldb);
    const double *g = A + k * lda;
    for (int r = 0; r < L; r++) s[r] += g[r] * f;
  }
  for (int r = 0; r < L; r++) *(lanes *)(C + r * ldc) = s[r];
}

static void upper_tiles(int64_t ld, int64_t count, const double *panel,
                        double *G)
{
  for (int64_t a = 0; a < ld; a += L)
    for (int64_t b = a; b < ld; b += L)
      tile(count, panel + a, ld, panel + b, ld, G + a * ld + b, ld);
}

/* Rows of F into the panel; the last column, if it is free, takes s. */
TALL_WIDE static void gather(int64_t ld, const double *F, const int32_t *at,
                             int64_t count, const double *s, double *panel)
{
  for (int64_t k = 0; k < count; k++) {
    const double *row = F + at[k] * ld;
    for (int64_t c = 0; c < ld; c += L)
      *(lanes *)(panel + k * ld + c) = *(const lanes *)(row + c);
    if (s != NULL) panel[k * ld + ld - 1] = s[k];
  }
}

void tall_normal(int64_t ld, int64_t cols, const double *F, const int32_t *at,
                 int64_t count, const double *s, double *panel, double *G,
                 double *h)
{
  bool rides = h != NULL && at != NULL && cols < ld;
  for (int64_t first = 0; first < count; first += TALL_CHUNK) {
    int64_t n = count - first < TALL_CHUNK ? count - first : TALL_CHUNK;
    const double *rows = F + first * ld;
    if (at != NULL) {
      gather(ld, F, at + first, n, rides ? s + first : NULL, panel);
      rows = panel;
    }
    upper_tiles(ld, n, rows, G);
    if (h == NULL || rides) continue;
    /* behind the panel, room for one row */
    double *sum = panel + TALL_CHUNK * ld;
    combine_rows(ld, rows, NULL, n, s + first, sum);
    for (int64_t c = 0; c < ld; c++) h[c] += sum[c];
  }
  for (int64_t c = 0; rides && c < ld; c++) {
    double *beside = G + c * ld + ld - 1; /* sum of s times column c */
    if (c < cols) h[c] += *beside;
    *beside = 0;
  }
}

void tall_weighted(int64_t ld, const double *F, const int32_t *at,
                   int64_t count, const double *w, double *panel, double *G)
{
  for (int64_t first = 0; first < count; first += TALL_CHUNK) {
    int64_t n = count - first < TALL_CHUNK ? count - first : TALL_CHUNK;
    for (int64_t k = 0; k < n; k++) {
      const double *f = F + at[first + k] * ld;
      double root = sqrt(w[first + k]);
      for (int64_t c = 0; c < ld; c++) panel[k * ld + c] = root * f[c];
    }
    upper_tiles(ld, n, panel, G);
  }
}

/* Row j of U is finished when its turn comes; what is below the diagonal is
 * written but never read. */
TALL_WIDE static bool cholesky(int64_t n, int64_t ld, double *G)
{
  for (int64_t j = 0; j < n; j++) {
    double *u = G + j * ld, d = u[j];
    if (!(d > 0) || !isfinite(d)) return false;
    double scale = 1 / sqrt(d);
    for (int64_t c = j / L * L; c < n; c += L) *(lanes *)(u + c) *= scale;
    for (int64_t i = j + 1; i < n; i++) {
      double f = u[i], *row = G + i * ld;
      for (int64_t c = i / L * L; c < n; c += L)
        *(lanes *)(row + c) -= f * *(const lanes *)(u + c);
    }
  }
  return true;
}

bool tall_cholesky(int64_t n, int64_t ld, double *G)
{
  return cholesky(n, ld, G);
}

/* Sums of a row from j on run over the unit of lanes that holds j + 1, so the
 * numbers before it are left out by hand. */
TALL_WIDE static void solve(int64_t n, int64_t ld, const double *U, double *x)
{
  for (int64_t j = 0; j < n; j++) {
    const double *u = U + j * ld;
    x[j] /= u[j];
    double f = x[j];
    int64_t c = j + 1;
    for (; c < n && c % L != 0; c++) x[c] -= f * u[c];
    for (; c + L <= n; c += L) *(lanes *)(x + c) -= f * *(const lanes *)(u + c);
    for (; c < n; c++) x[c] -= f * u[c];
  }
  for (int64_t j = n - 1; j >= 0; j--) {
    const double *u = U + j * ld;
    double sum = 0;
    for (int64_t c = j + 1; c < n; c++) sum += u[c] * x[c];
    x[j] = (x[j] - sum) / u[j];
  }
}

void tall_solve(int64_t n, int64_t ld, const double *U, double *x)
{
  solve(n, ld, U, x);
}

/* ---- over all rows -------------------------------------------------------*/
/* C_part = A'B over the rows of one part. */
static void cross_part(const tall *A, const tall *B, bool upper, int part,
                       double *C)
{
  int64_t first = part_begin(A->rows, part),
          end = part_begin(A->rows, part + 1);
  for (int64_t from = first; from < end; from += TALL_CHUNK) {
    int64_t n = end - from < TALL_CHUNK ? end - from : TALL_CHUNK;
    const double *a = A->v + from * A->ld, *b = B->v + from * B->ld;
    for (int64_t i = 0; i < A->ld; i += L)
      for (int64_t j = upper ? i : 0; j < B->ld; j += L)
        tile(n, a + i, A->ld, b + j, B->ld, C + i * B->ld + j, B->ld);
  }
}

/* ---- the same on a device ---------------------------------------------------
 * Rows one after the other are the columns of the transpose, ld x rows. */
static lapis_status lend(la *h, const tall *A, la_array *out)
{
  return la_lend(h, A->v, true, A->ld, A->rows, out);
}

/* C = A'B, which is (B'A)' column after column. */
static lapis_status cross_there(la *h, const tall *A, const tall *B, double *C)
{
  la_array a = {0}, b = {0}, c = {0};
  lapis_status status = lend(h, A, &a);
  if (status >= 0) status = lend(h, B, &b);
  if (status >= 0) status = la_lend(h, C, false, B->ld, A->ld, &c);
  if (status >= 0) status = h->ops->gemm(h, LA_N, LA_T, 1, &b, &a, 0, &c);
  h->ops->free(h, &a);
  h->ops->free(h, &b);
  return la_return(h, status, &c, C);
}

static lapis_status gram_there(la *h, const la_array *a, double *G)
{
  la_array g;
  TRY(la_lend(h, G, false, a->rows, a->rows, &g));
  return la_return(h, h->ops->syrk(h, LA_N, a, &g), &g, G);
}

/* b = T'a: B = A T by rows. */
static lapis_status times_there(la *h, const double *T, const la_array *a,
                                la_array *b)
{
  la_array t;
  TRY(la_lend(h, T, true, b->rows, a->rows, &t));
  lapis_status status = h->ops->gemm(h, LA_N, LA_N, 1, &t, a, 0, b);
  h->ops->free(h, &t);
  return status;
}

/* ---- products ----------------------------------------------------------*/
/* The parts are summed a batch at a time, in order: 64 matrices at once would
 * be much memory where there are many columns. */
static lapis_status cross_here(la *h, const tall *A, const tall *B, bool upper,
                               double *C)
{
  int64_t size = A->ld * B->ld;
  enum { BATCH = 16 };
  double *part = base_alloc_raw(h->ctx, BATCH * size, sizeof *part);
  if (part == NULL) return LAPIS_ENOMEM;
  memset(C, 0, (size_t)size * sizeof *C);
  for (int first = 0; first < PARTS; first += BATCH) {
    memset(part, 0, (size_t)(BATCH * size) * sizeof *part);
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->ld)) \
    schedule(static)
    for (int p = 0; p < BATCH; p++)
      cross_part(A, B, upper, first + p, part + p * size);
    for (int p = 0; p < BATCH; p++)
      for (int64_t k = 0; k < size; k++) C[k] += part[p * size + k];
  }
  base_free(part);
  return LAPIS_OK;
}

static lapis_status cross(la *h, const tall *A, const tall *B, bool upper,
                          double *C)
{
  TRY(la_is_host(h) ? cross_here(h, A, B, upper, C) : cross_there(h, A, B, C));
  return A->divided ? base_sum(h->ctx, C, A->ld * B->ld) : LAPIS_OK;
}

lapis_status tall_gram(la *h, const tall *A, double *G)
{
  TRY(cross(h, A, A, true, G));
  for (int64_t i = 0; i < A->ld; i++)
    for (int64_t j = 0; j < i; j++) G[i * A->ld + j] = G[j * A->ld + i];
  return LAPIS_OK;
}

lapis_status tall_cross(la *h, const tall *A, const tall *B, double *C)
{
  return cross(h, A, B, false, C);
}

/* A part by one thread, whose row of scratch it is. */
static void times_part(const tall *A, const double *T, tall *B, int part,
                       double *row)
{
  int64_t end = part_begin(A->rows, part + 1);
  for (int64_t i = part_begin(A->rows, part); i < end; i++) {
    combine_rows(B->ld, T, NULL, A->ld, A->v + i * A->ld, row);
    memcpy(B->v + i * B->ld, row, (size_t)B->ld * sizeof *row);
  }
}

static lapis_status times_here(la *h, const tall *A, const double *T, tall *B)
{
  double *row = base_alloc_raw(h->ctx, PARTS * B->ld, sizeof *row);
  if (row == NULL) return LAPIS_ENOMEM;
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->ld)) \
    schedule(static)
  for (int p = 0; p < PARTS; p++) times_part(A, T, B, p, row + p * B->ld);
  base_free(row);
  return LAPIS_OK;
}

lapis_status tall_times(la *h, const tall *A, const double *T, tall *B)
{
  la_array a = {0}, b = {0};
  if (la_is_host(h)) return times_here(h, A, T, B);
  lapis_status status = lend(h, A, &a);
  if (status >= 0) status = la_lend(h, B->v, false, B->ld, B->rows, &b);
  if (status >= 0) status = times_there(h, T, &a, &b);
  h->ops->free(h, &a);
  return la_return(h, status, &b, B->v);
}

/* T with A T orthonormal: the inverse of U, A'A = U'U, by columns.  A column
 * that keeps less than `least` of its square is dependent: 0. */
static void inverse_factor(int64_t n, int64_t ld, double *G, double *T)
{
  const double least = 64 * DBL_EPSILON;
  memset(T, 0, (size_t)(ld * ld) * sizeof *T);
  for (int64_t j = 0; j < n; j++) {
    double before = G[j * ld + j];
    /* column j of U into G's column j, above the diagonal */
    for (int64_t i = 0; i < j; i++) {
      double sum = G[i * ld + j], pivot = G[i * ld + i];
      for (int64_t k = 0; k < i; k++) sum -= G[k * ld + i] * G[k * ld + j];
      G[i * ld + j] = pivot > 0 ? sum / pivot : 0;
    }
    double d = before;
    for (int64_t k = 0; k < j; k++) d -= G[k * ld + j] * G[k * ld + j];
    bool alive = before > 0 && d > least * before;
    G[j * ld + j] = alive ? sqrt(d) : 0;
    if (!alive) continue;
    T[j * ld + j] = 1 / G[j * ld + j];
    for (int64_t i = 0; i < j; i++) {
      double sum = 0;
      for (int64_t k = i; k < j; k++) sum += T[i * ld + k] * G[k * ld + j];
      T[i * ld + j] = -sum / G[j * ld + j];
    }
  }
}

/* A <- A T with orthonormal columns, three times: the first leaves what a
 * factor of the Gram matrix can, square root of eps where columns are nearly
 * dependent. G: two squares of ld. */
static lapis_status orthonormal_here(la *h, tall *A, int64_t n, double *G)
{
  double *T = G + A->ld * A->ld;
  for (int again = 0; again < 3; again++) {
    TRY(tall_gram(h, A, G));
    inverse_factor(n, A->ld, G, T);
    TRY(tall_times(h, A, T, A));
  }
  return LAPIS_OK;
}

/* both: A on the device, and room for as much; *in: which of them has it. */
static lapis_status orthonormal_there(la *h, const tall *A, int64_t n,
                                      double *G, la_array both[2], int *in)
{
  int64_t square = A->ld * A->ld;
  for (int again = 0; again < 3; again++) {
    TRY(gram_there(h, &both[*in], G));
    if (A->divided) TRY(base_sum(h->ctx, G, square));
    inverse_factor(n, A->ld, G, G + square);
    TRY(times_there(h, G + square, &both[*in], &both[1 - *in]));
    *in = 1 - *in;
  }
  return LAPIS_OK;
}

lapis_status tall_orthonormal(la *h, tall *A, int64_t n)
{
  int in = 0;
  la_array both[2] = {{.data = NULL}, {.data = NULL}};
  double *G = base_alloc_raw(h->ctx, 2 * A->ld * A->ld, sizeof *G);
  if (G == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  if (la_is_host(h)) {
    status = orthonormal_here(h, A, n, G);
    base_free(G);
    return status;
  }
  status = lend(h, A, &both[0]);
  if (status >= 0) status = la_lend(h, A->v, false, A->ld, A->rows, &both[1]);
  if (status >= 0) status = orthonormal_there(h, A, n, G, both, &in);
  h->ops->free(h, &both[1 - in]);
  base_free(G);
  return la_return(h, status, &both[in], A->v);
}
