/* gram_times.c - Y = A A'X for a very skinny X, A read once.
 *
 * A is cut into tiles of columns that stay in the cache between the two
 * products, A A'X = sum over J of A_J (A_J'X), so that memory is asked for it
 * once.  Two kernels, on matrices stored by columns:
 *   inner: C += A'B      dot products, a few columns of A times a few of B
 *   wide:  C += A B      a strip of rows of C in registers, A streams by; of
 *                        four columns and fewer `few`, below, is quicker
 * Neither packs: all loads run down columns.  gram_times_kernels.h has them,
 * compiled for each width of registers with tiles that fit their number.
 *
 * It pays while X and Y stay in the cache beside a tile.  3111 x 1721 on one
 * core of an EPYC (Zen 4), GFLOP/s of avx512, avx2 and, with 256-bit kernels of
 * OpenBLAS, two products: X of 8 columns 26, 21, 15; 16 columns 31, 25, 23; 28
 * columns 35, 28, 29; 48 columns 36, 28, 37.  For A'A X of up to eight columns
 * tiles are strips of 256 rows, for the third-level cache; shorter ones have a
 * page of memory for every few numbers.  Zen 2, avx2, one and 4 columns, ms,
 * beside two passes over A: 2000 x 1000 .84 and 1.33, 1.25 and 1.74; 3000 x
 * 2000 3.9 and 5.3, 5.7 and 7.0; 128 rows 1.64 at 2000 x 1000 of 4, 512 1.63.
 *
 * A large A times up to eight columns, and A' times them, is this file's, too
 * (host_skinny): a BLAS packs all of A for them.  A streams by in long pieces
 *   few:   C += A B      sums of columns of A, in chunks of rows
 * and the next columns are asked for ahead.  A'(A X), A 2000 x 1000 on one busy
 * core of an EPYC (Zen 2), ms, beside two products of OpenBLAS (Haswell): X of
 * 1 column 1.6, 2.9; 2 columns 1.7, 3.8; 4 columns 2.0, 3.9; 8 columns 3.3,
 * 4.3; 16 columns 6.0, 6.1.  Not measured with avx512.
 *
 * Each thread takes every so many tiles and sums into a Y of its own; these
 * are added in order, so that a number of threads gives the same bits.
 * Compiled with contraction (CMakeLists.txt): like a BLAS, this file means
 * fused multiply-adds where the machine has them. */
#include <string.h>

#include "base/width.h"
#include "la/host/host.h"

#define INLINED WIDTH_INLINED

enum {
  WIDTH = 8, /* numbers summed side by side, whatever the registers hold */
  TILE_BYTES = 1 << 19,
  CHUNK = 256,
  NARROW = 2, /* columns, and rows a chunk of such */
  NARROW_CHUNK = 512,
  NEAR = 1 << 21, /* numbers of a matrix that a cache holds */
  PAGES = 64
};
enum { LEAST_TILE = 16, MOST_TILE = 256, FEW_MOST = 4 };
/* A B or A'B: columns of B at most; rows and numbers of A at least. */
enum { SKINNY_MOST = 8, SKINNY_LONG = 64, SKINNY_LARGE = 1 << 15 };
/* A'A: columns at a time, at most; rows for each column, at least;
 * multiplications that one thread does. */
enum { GRAM_COLS = 4, GRAM_MOST = 32, GRAM_LONG = 8, GRAM_WORK = 1 << 20 };

typedef struct operand {
  const double *p;
  int64_t ld;
} operand;

/* Rows that `few` and `inner` take at a time.  Near, in a cache, one or two
 * columns of X are as quick as memory: asking ahead costs them a load a load.
 */
static int64_t chunk_rows(int64_t p, bool near)
{
  return near && p <= NARROW ? NARROW_CHUNK : CHUNK;
}

static bool is_near(const la_array *A)
{
  return A->rows * A->cols <= NEAR;
}

/* ---- the kernels, once a width -------------------------------------------*/
typedef struct gram_kernels {
  int narrow; /* columns of X up to which they beat two products by OpenBLAS */
  void (*inner)(operand A, operand B, int64_t m, int64_t k, int64_t p,
                double *c, int64_t ldc, bool near);
  void (*wide)(operand A, operand B, int64_t m, int64_t k, int64_t p, double *c,
               int64_t ldc);
  void (*few)(operand A, operand B, double alpha, int64_t m, int64_t k,
              int64_t p, double *c, int64_t ldc, bool near);
} gram_kernels;

#if defined(WIDTH_MANY)
/* 32 registers: 16 sums, 4 + 1 operands; 12 sums, 2 + 1 operands; 16 factors */
#define KERNEL(name) name##_avx512
#define TARGET WIDTH_TARGET_AVX512
#define LANES 8
#define INNER_ROWS 4
#define INNER_COLS 4
#define WIDE_ROWS 2
#define WIDE_COLS 6
#define FEW_MANY 4
#define FEW_COLS 4
#include "la/host/gram_times_kernels.h"
#undef KERNEL
#undef TARGET
#undef LANES
#undef INNER_ROWS
#undef INNER_COLS
#undef FEW_MANY

/* 16 registers: 12 sums, 2 + 1 operands, in both; 12 factors */
#define KERNEL(name) name##_avx2
#define TARGET WIDTH_TARGET_AVX2_FMA
#define LANES 4
#define INNER_ROWS 3
#define INNER_COLS 2
#define FEW_MANY 3
#include "la/host/gram_times_kernels.h"
#undef KERNEL
#undef TARGET
#undef LANES
#undef INNER_ROWS
#undef INNER_COLS
#undef WIDE_ROWS
#undef WIDE_COLS
#undef FEW_MANY
#undef FEW_COLS
#endif

/* Two numbers a register: 16 of them with SSE2, 32 with NEON. */
#define KERNEL(name) name##_plain
#define TARGET
#define LANES 2
#if defined(__aarch64__)
#define INNER_ROWS 3
#define INNER_COLS 2
#define WIDE_ROWS 4
#else
#define INNER_ROWS 3
#define INNER_COLS 1
#define WIDE_ROWS 2
#endif
#define WIDE_COLS 6
#define FEW_MANY 2
#define FEW_COLS 4
#include "la/host/gram_times_kernels.h"

static const gram_kernels kernels[WIDTHS] = {
    [WIDTH_PLAIN] = {16, inner_plain, wide_plain, few_plain},
#if defined(WIDTH_MANY)
    [WIDTH_AVX2] = {16, inner_avx2, wide_avx2, few_avx2},
    [WIDTH_AVX512] = {32, inner_avx512, wide_avx512, few_avx512},
#endif
};

/* ---- tiles --------------------------------------------------------------*/

typedef struct gram_job {
  gram_kernels run;
  operand A, X;
  bool near;
  bool by_rows;          /* tiles are rows of A: A'A X, not A A'X */
  int64_t rows, cols, p; /* A is rows x cols */
  int64_t tile, parts;   /* rows or columns a tile; threads */
  double *middle;        /* parts x (tile x p) */
  double *sums;          /* (parts - 1) x (rows of Y x p): the first is Y */
} gram_job;

/* y += A_J A_J'X, or A_I'A_I X, of n columns or rows from i on. */
static void one_tile(const gram_job *g, int64_t i, int64_t n, double *middle,
                     double *y, int64_t ldy)
{
  operand T = {middle, g->tile}, A = g->A;
  A.p += g->by_rows ? i : i * A.ld;
  memset(middle, 0, (size_t)(g->tile * g->p) * sizeof *middle);
  if (g->by_rows) {
    g->run.few(A, g->X, 1, n, g->cols, g->p, middle, g->tile, g->near);
    g->run.inner(A, T, n, g->cols, g->p, y, ldy, g->near);
    return;
  }
  g->run.inner(A, g->X, g->rows, n, g->p, middle, g->tile, g->near);
  if (g->p <= FEW_MOST)
    g->run.few(A, T, 1, g->rows, n, g->p, y, ldy, g->near);
  else
    g->run.wide(A, T, g->rows, n, g->p, y, ldy);
}

static void one_part(const gram_job *g, int64_t part, la_array *Y)
{
  int64_t all = g->by_rows ? g->rows : g->cols;
  int64_t ldy = part == 0 ? Y->ld : Y->rows;
  double *y = part == 0 ? Y->data : g->sums + (part - 1) * Y->rows * g->p;
  double *middle = g->middle + part * g->tile * g->p;
  for (int64_t j = 0; j < g->p; j++)
    memset(y + j * ldy, 0, (size_t)Y->rows * sizeof *y);
  for (int64_t i = part * g->tile; i < all; i += g->parts * g->tile) {
    int64_t n = all - i < g->tile ? all - i : g->tile;
    one_tile(g, i, n, middle, y, ldy);
  }
}

static void add_parts(const gram_job *g, la_array *Y)
{
  for (int64_t part = 1; part < g->parts; part++)
    for (int64_t j = 0; j < g->p; j++) {
      const double *s = g->sums + ((part - 1) * g->p + j) * Y->rows;
      double *y = host_col(Y, j);
      for (int64_t i = 0; i < Y->rows; i++) y[i] += s[i];
    }
}

/* A tile of A fills a quarter to half of a usual second-level cache; one of
 * rows is a chunk of the kernels', for the third. */
static int64_t tile_columns(int64_t rows)
{
  int64_t n = TILE_BYTES / (int64_t)sizeof(double) / (rows > 0 ? rows : 1);
  return n < LEAST_TILE ? LEAST_TILE : n > MOST_TILE ? MOST_TILE : n;
}

static lapis_status once(la *h, la_trans t, const gram_kernels *run,
                         const la_array *A, const la_array *X, la_array *Y)
{
  gram_job g = {.run = *run,
                .A = {A->data, A->ld},
                .X = {X->data, X->ld},
                .near = is_near(A),
                .by_rows = t == LA_T,
                .rows = A->rows,
                .cols = A->cols,
                .p = X->cols,
                .tile = t == LA_T ? chunk_rows(X->cols, is_near(A))
                                  : tile_columns(A->rows)};
  int64_t all = g.by_rows ? g.rows : g.cols;
  int64_t tiles = (all + g.tile - 1) / g.tile;
  int threads = base_deterministic(h->ctx) ? 1 : h->threads;
  g.parts = tiles < threads ? tiles : threads;
  if (g.parts < 1) g.parts = 1;
  int64_t middle = g.parts * g.tile * g.p;
  g.middle = host_borrow(h, middle + (g.parts - 1) * Y->rows * g.p);
  if (g.middle == NULL) return LAPIS_ENOMEM;
  g.sums = g.middle + middle;
#pragma omp parallel for num_threads(base_team(h->ctx, (int)g.parts)) \
    schedule(static, 1)
  for (int64_t part = 0; part < g.parts; part++) one_part(&g, part, Y);
  add_parts(&g, Y);
  host_release(h, g.middle);
  return LAPIS_OK;
}

/* Part of 0 .. count - 1, in pieces of WIDTH. */
static int64_t share(int64_t count, int64_t part, int64_t parts)
{
  int64_t each = (count + parts * WIDTH - 1) / (parts * WIDTH) * WIDTH;
  return part * each < count ? part * each : count;
}

bool host_skinny_pays(const la *h, la_trans t, double alpha, const la_array *A,
                      const la_array *B, double beta)
{
  return base_width_of(h->ctx) != WIDTH_PLAIN && A->dtype == LAPIS_F64 &&
         B->cols <= SKINNY_MOST && A->rows >= SKINNY_LONG &&
         A->rows * A->cols >= SKINNY_LARGE && (beta == 0 || beta == 1) &&
         (t == LA_N || alpha == 1);
}

/* Rows of C, each summed by one thread in one order. */
void host_skinny(la *h, la_trans t, double alpha, const la_array *A,
                 const la_array *B, double beta, la_array *C)
{
  const gram_kernels *run = &kernels[base_width_of(h->ctx)];
  int64_t parts = h->threads < 1 ? 1 : h->threads, p = C->cols;
  operand right = {B->data, B->ld};
#pragma omp parallel for num_threads(base_team(h->ctx, (int)parts)) \
    schedule(static, 1)
  for (int64_t part = 0; part < parts; part++) {
    int64_t i = share(C->rows, part, parts);
    int64_t rows = share(C->rows, part + 1, parts) - i;
    operand own = {(const double *)A->data + (t == LA_N ? i : i * A->ld),
                   A->ld};
    double *c = (double *)C->data + i;
    for (int64_t j = 0; j < p && beta == 0; j++)
      memset(c + j * C->ld, 0, (size_t)rows * sizeof *c);
    if (t == LA_N)
      run->few(own, right, alpha, rows, A->cols, p, c, C->ld, is_near(A));
    else
      run->inner(own, right, A->rows, rows, p, c, C->ld, is_near(A));
  }
}

bool host_gram_pays(const la *h, const la_array *A)
{
  return base_width_of(h->ctx) != WIDTH_PLAIN && A->cols <= GRAM_MOST &&
         A->rows >= GRAM_LONG * A->cols &&
         A->rows * A->cols * A->cols <= GRAM_WORK;
}

void host_gram(const la *h, const la_array *A, la_array *C)
{
  const gram_kernels *run = &kernels[base_width_of(h->ctx)];
  int64_t k = A->cols;
  for (int64_t j = 0; j < k; j += GRAM_COLS) {
    int64_t count = k - j < GRAM_COLS ? k - j : GRAM_COLS;
    operand right = {host_col(A, j), A->ld};
    for (int64_t c = j; c < j + count; c++)
      memset(host_col(C, c) + j, 0, (size_t)(k - j) * sizeof(double));
    run->inner(right, right, A->rows, k - j, count, host_col(C, j) + j, C->ld,
               false);
  }
  blas_mirror(C);
}

/* With 512-bit registers OpenBLAS has kernels for small matrices itself. */
bool host_small_product_pays(const la *h, const la_array *A, const la_array *B)
{
  return base_width_of(h->ctx) == WIDTH_AVX2 && A->dtype == LAPIS_F64 &&
         A->cols <= GRAM_MOST && B->cols <= GRAM_MOST && A->rows >= GRAM_LONG &&
         A->rows * A->cols * B->cols <= GRAM_WORK;
}

void host_small_product(const la *h, const la_array *A, const la_array *B,
                        la_array *C)
{
  operand a = {A->data, A->ld}, b = {B->data, B->ld};
  for (int64_t j = 0; j < C->cols; j++)
    memset(host_col(C, j), 0, (size_t)C->rows * sizeof(double));
  kernels[base_width_of(h->ctx)].wide(a, b, A->rows, A->cols, B->cols, C->data,
                                      C->ld);
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
  const gram_kernels *run = &kernels[base_width_of(h->ctx)];
  bool pays = t == LA_N ? X->cols <= run->narrow
                        : host_skinny_pays(h, LA_T, 1, A, X, 0);
  return pays ? once(h, t, run, A, X, Y) : host_two_products(h, t, A, X, Y);
}
