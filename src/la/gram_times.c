/* gram_times.c - Y = A A'X for a very skinny X, A read once.
 *
 * A is cut into tiles of columns that stay in the cache between the two
 * products, A A'X = sum over J of A_J (A_J'X), so that memory is asked for it
 * once.  Two kernels, on matrices stored by columns:
 *   inner: C += A'B      dot products, a few columns of A times a few of B
 *   wide:  C += A B      a strip of rows of C in registers, A streams by
 * Neither packs: all loads run down columns, eight numbers at a time.
 *
 * It pays while X and Y stay in the cache beside a tile.  4117 x 2000 on one
 * core, against two products by OpenBLAS: X of 8 columns 7.8 ms (11.6), 16
 * columns 14.6 (15.7), 32 columns 27 (21); hence NARROW.  By rows, for A'A X,
 * it never paid: a tile then has a page of memory for every few numbers.
 *
 * Each thread takes every so many tiles and sums into a Y of its own; these
 * are added in order, so that a number of threads gives the same bits.
 * Compiled with contraction (CMakeLists.txt): like a BLAS, this file means
 * fused multiply-adds where the machine has them. */
#include <string.h>

#include "la/host.h"

/* The loader chooses among copies only with glibc (not musl) on x86-64. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__)
#define EVERY_WIDTH __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define EVERY_WIDTH
#endif
#define INLINED static inline __attribute__((always_inline))

enum {
  WIDTH = 8,
  STRIP = 2 * WIDTH,
  TILE_BYTES = 1 << 20,
  CHUNK = 256,
  PAGES = 64,
  NARROW = 16
};
enum { LEAST_TILE = 16, MOST_TILE = 256 };
typedef double pack
    __attribute__((vector_size(WIDTH * sizeof(double)), aligned(8), may_alias));

typedef struct operand {
  const double *p;
  int64_t ld;
} operand;

/* ---- C += A B -----------------------------------------------------------*/

/* 16 rows of `cols` columns of C. */
INLINED void wide_block(operand A, operand B, int64_t k, double *c, int64_t ldc,
                        int cols)
{
  pack sum[2][6];
  for (int j = 0; j < cols; j++) sum[0][j] = sum[1][j] = (pack){0};
  for (int64_t l = 0; l < k; l++) {
    const double *a = A.p + l * A.ld;
    pack low = *(const pack *)a, high = *(const pack *)(a + WIDTH);
    for (int j = 0; j < cols; j++) {
      double b = B.p[j * B.ld + l];
      sum[0][j] += low * b;
      sum[1][j] += high * b;
    }
  }
  for (int j = 0; j < cols; j++) {
    *(pack *)(c + j * ldc) += sum[0][j];
    *(pack *)(c + j * ldc + WIDTH) += sum[1][j];
  }
}

INLINED void wide_rest(operand A, operand B, int64_t rows, int64_t k, double *c)
{
  for (int64_t i = 0; i < rows; i++) {
    double sum = 0;
    for (int64_t l = 0; l < k; l++) sum += A.p[l * A.ld + i] * B.p[l];
    c[i] += sum;
  }
}

INLINED void wide_strip(operand A, operand B, int64_t k, int64_t p, double *c,
                        int64_t ldc)
{
  int64_t j = 0;
  for (; j + 6 <= p; j += 6, B.p += 6 * B.ld)
    wide_block(A, B, k, c + j * ldc, ldc, 6);
  for (; j + 2 <= p; j += 2, B.p += 2 * B.ld)
    wide_block(A, B, k, c + j * ldc, ldc, 2);
  if (j < p) wide_block(A, B, k, c + j * ldc, ldc, 1);
}

/* C (m x p) += A (m x k) B (k x p), in chunks of columns of A, each of which
 * has a page of memory of its own, or many. */
EVERY_WIDTH
static void wide(operand A, operand B, int64_t m, int64_t k, int64_t p,
                 double *c, int64_t ldc)
{
  int64_t whole = m / STRIP * STRIP;
  for (int64_t first = 0; first < k; first += PAGES) {
    int64_t n = k - first < PAGES ? k - first : PAGES;
    operand a = {A.p + first * A.ld, A.ld}, b = {B.p + first, B.ld};
    for (int64_t i = 0; i < whole; i += STRIP, a.p += STRIP)
      wide_strip(a, b, n, p, c + i, ldc);
    for (int64_t j = 0; j < p; j++, b.p += b.ld)
      wide_rest(a, b, m - whole, n, c + j * ldc + whole);
  }
}

/* ---- C += A'B -----------------------------------------------------------*/

/* `rows` by `cols` dot products of length m. */
INLINED void inner_block(operand A, operand B, int64_t m, double *c,
                         int64_t ldc, int rows, int cols)
{
  pack sum[4][4];
  int64_t i = 0;
#pragma GCC unroll 16
  for (int q = 0; q < 16; q++) sum[q / 4][q % 4] = (pack){0};
  for (; i + WIDTH <= m; i += WIDTH)
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
      pack a = *(const pack *)(A.p + r * A.ld + i);
#pragma GCC unroll 4
      for (int j = 0; j < cols; j++)
        sum[r][j] += a * *(const pack *)(B.p + j * B.ld + i);
    }
#pragma GCC unroll 4
  for (int j = 0; j < cols; j++)
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
      pack s = sum[r][j];
      double rest = 0;
      for (int64_t l = i; l < m; l++)
        rest += A.p[r * A.ld + l] * B.p[j * B.ld + l];
      c[j * ldc + r] += ((s[0] + s[4]) + (s[2] + s[6])) +
                        ((s[1] + s[5]) + (s[3] + s[7])) + rest;
    }
}

INLINED void inner_rows(operand A, operand B, int64_t m, int64_t p, double *c,
                        int64_t ldc, int rows)
{
  int64_t j = 0;
  for (; j + 4 <= p; j += 4)
    inner_block(A, (operand){B.p + j * B.ld, B.ld}, m, c + j * ldc, ldc, rows,
                4);
  for (; j < p; j++)
    inner_block(A, (operand){B.p + j * B.ld, B.ld}, m, c + j * ldc, ldc, rows,
                1);
}

/* C (k x p) += A (m x k)' B (m x p), in chunks of rows that leave B's in the
 * cache while all of A's columns meet it. */
EVERY_WIDTH
static void inner(operand A, operand B, int64_t m, int64_t k, int64_t p,
                  double *c, int64_t ldc)
{
  for (int64_t first = 0; first < m; first += CHUNK) {
    int64_t n = m - first < CHUNK ? m - first : CHUNK, i = 0;
    operand a = {A.p + first, A.ld}, b = {B.p + first, B.ld};
    for (; i + 4 <= k; i += 4, a.p += 4 * A.ld)
      inner_rows(a, b, n, p, c + i, ldc, 4);
    for (; i < k; i++, a.p += A.ld) inner_rows(a, b, n, p, c + i, ldc, 1);
  }
}

/* ---- tiles --------------------------------------------------------------*/

typedef struct gram_job {
  operand A, X;
  int64_t rows, cols, p; /* A is rows x cols, X and Y rows x p */
  int64_t tile, parts;   /* columns a tile; threads */
  double *middle;        /* parts x (tile x p) */
  double *sums;          /* (parts - 1) x (rows x p): the first part is Y */
} gram_job;

static void one_part(const gram_job *g, int64_t part, la_array *Y)
{
  int64_t ldy = part == 0 ? Y->ld : g->rows;
  double *y = part == 0 ? Y->data : g->sums + (part - 1) * g->rows * g->p;
  operand T = {g->middle + part * g->tile * g->p, g->tile}, A = g->A;
  for (int64_t j = 0; j < g->p; j++)
    memset(y + j * ldy, 0, (size_t)g->rows * sizeof *y);
  for (int64_t i = part * g->tile; i < g->cols; i += g->parts * g->tile) {
    int64_t n = g->cols - i < g->tile ? g->cols - i : g->tile;
    double *middle = g->middle + part * g->tile * g->p;
    A.p = g->A.p + i * A.ld;
    memset(middle, 0, (size_t)(g->tile * g->p) * sizeof *middle);
    inner(A, g->X, g->rows, n, g->p, middle, g->tile);
    wide(A, T, g->rows, n, g->p, y, ldy);
  }
}

static void add_parts(const gram_job *g, la_array *Y)
{
  for (int64_t part = 1; part < g->parts; part++)
    for (int64_t j = 0; j < g->p; j++) {
      const double *s = g->sums + ((part - 1) * g->p + j) * g->rows;
      double *y = host_col(Y, j);
      for (int64_t i = 0; i < g->rows; i++) y[i] += s[i];
    }
}

/* A tile of A fills half of a usual second-level cache. */
static int64_t tile_columns(int64_t rows)
{
  int64_t n = TILE_BYTES / (int64_t)sizeof(double) / (rows > 0 ? rows : 1);
  return n < LEAST_TILE ? LEAST_TILE : n > MOST_TILE ? MOST_TILE : n;
}

static lapis_status narrow(la *h, const la_array *A, const la_array *X,
                           la_array *Y)
{
  gram_job g = {.A = {A->data, A->ld},
                .X = {X->data, X->ld},
                .rows = A->rows,
                .cols = A->cols,
                .p = X->cols,
                .tile = tile_columns(A->rows)};
  int64_t tiles = (g.cols + g.tile - 1) / g.tile;
  int threads = base_deterministic(h->ctx) ? 1 : h->threads;
  g.parts = tiles < threads ? tiles : threads;
  if (g.parts < 1) g.parts = 1;
  int64_t middle = g.parts * g.tile * g.p;
  g.middle = host_borrow(h, middle + (g.parts - 1) * g.rows * g.p);
  if (g.middle == NULL) return LAPIS_ENOMEM;
  g.sums = g.middle + middle;
#pragma omp parallel for num_threads((int)g.parts) schedule(static, 1)
  for (int64_t part = 0; part < g.parts; part++) one_part(&g, part, Y);
  add_parts(&g, Y);
  host_release(h, g.middle);
  return LAPIS_OK;
}

lapis_status host_two_products(la *h, la_trans t, const la_array *A,
                               const la_array *X, la_array *Y)
{
  TRY(host_check_gram_times(h, t, A, X, Y));
  int64_t rows = t == LA_N ? A->cols : A->rows;
  double *p = host_borrow(h, rows * X->cols);
  if (p == NULL) return LAPIS_ENOMEM;
  la_array T = la_wrap(p, rows, X->cols);
  la_trans other = t == LA_N ? LA_T : LA_N;
  lapis_status s = h->ops->gemm(h, other, LA_N, 1, A, X, 0, &T);
  if (s >= 0) s = h->ops->gemm(h, t, LA_N, 1, A, &T, 0, Y);
  host_release(h, p);
  return s;
}

lapis_status host_gram_times(la *h, la_trans t, const la_array *A,
                             const la_array *X, la_array *Y)
{
  TRY(host_check_gram_times(h, t, A, X, Y));
  if (t == LA_T || X->cols > NARROW) return host_two_products(h, t, A, X, Y);
  return narrow(h, A, X, Y);
}
