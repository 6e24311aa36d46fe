/* gram_times_kernels.h - the products of gram_times.c at one width.
 *
 * Included once a width, with LANES numbers a register, the attribute TARGET,
 * KERNEL(name), and tiles that fit the registers: INNER_ROWS x INNER_COLS dot
 * products of WIDTH / LANES registers each, WIDE_ROWS registers by WIDE_COLS
 * columns, and FEW_MANY columns of A by FEW_COLS.  Every width sums in the same
 * order; they differ in rounding where one of them fuses a multiplication with
 * an addition. */
typedef double KERNEL(pack)
    __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
#define PACK KERNEL(pack)
#define PARTS (WIDTH / LANES)
#define STRIP (WIDE_ROWS * LANES)

/* ---- C += A B -----------------------------------------------------------*/

/* packs x LANES rows of `cols` columns of C. */
INLINED void KERNEL(wide_block)(operand A, operand B, int64_t k, double *c,
                                int64_t ldc, int packs, int cols)
{
  PACK sum[WIDE_ROWS][WIDE_COLS];
#pragma GCC unroll 8
  for (int i = 0; i < packs; i++)
#pragma GCC unroll 8
    for (int j = 0; j < cols; j++) sum[i][j] = (PACK){0};
  for (int64_t l = 0; l < k; l++) {
    const double *a = A.p + l * A.ld;
    PACK row[WIDE_ROWS];
#pragma GCC unroll 8
    for (int i = 0; i < packs; i++) row[i] = *(const PACK *)(a + i * LANES);
#pragma GCC unroll 8
    for (int j = 0; j < cols; j++) {
      double b = B.p[j * B.ld + l];
#pragma GCC unroll 8
      for (int i = 0; i < packs; i++) sum[i][j] += row[i] * b;
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < cols; j++)
#pragma GCC unroll 8
    for (int i = 0; i < packs; i++)
      *(PACK *)(c + j * ldc + i * LANES) += sum[i][j];
}

INLINED void KERNEL(wide_strip)(operand A, operand B, int64_t k, int64_t p,
                                double *c, int64_t ldc, int packs)
{
  int64_t j = 0;
  for (; j + WIDE_COLS <= p; j += WIDE_COLS, B.p += WIDE_COLS * B.ld)
    KERNEL(wide_block)(A, B, k, c + j * ldc, ldc, packs, WIDE_COLS);
  for (; j + 2 <= p; j += 2, B.p += 2 * B.ld)
    KERNEL(wide_block)(A, B, k, c + j * ldc, ldc, packs, 2);
  if (j < p) KERNEL(wide_block)(A, B, k, c + j * ldc, ldc, packs, 1);
}

/* Fewer rows than a register has numbers, padded. */
INLINED void KERNEL(wide_rest)(operand A, operand B, int64_t rows, int64_t k,
                               int64_t p, double *c, int64_t ldc)
{
  double padded[PAGES * LANES];
  operand a = {padded, LANES};
  for (int64_t l = 0; l < k; l++)
    for (int64_t i = 0; i < LANES; i++)
      padded[l * LANES + i] = i < rows ? A.p[l * A.ld + i] : 0;
  for (int64_t j = 0; j < p; j += WIDE_COLS) {
    double sum[WIDE_COLS * LANES] = {0};
    int64_t cols = p - j < WIDE_COLS ? p - j : WIDE_COLS;
    operand b = {B.p + j * B.ld, B.ld};
    KERNEL(wide_strip)(a, b, k, cols, sum, LANES, 1);
    for (int64_t q = 0; q < cols; q++)
      for (int64_t i = 0; i < rows; i++)
        c[(j + q) * ldc + i] += sum[q * LANES + i];
  }
}

/* C (m x p) += A (m x k) B (k x p), in chunks of columns of A, each of which
 * has a page of memory of its own, or many. */
TARGET static void KERNEL(wide)(operand A, operand B, int64_t m, int64_t k,
                                int64_t p, double *c, int64_t ldc)
{
  for (int64_t first = 0; first < k; first += PAGES) {
    int64_t n = k - first < PAGES ? k - first : PAGES, i = 0;
    operand a = {A.p + first * A.ld, A.ld}, b = {B.p + first, B.ld};
    for (; i + STRIP <= m; i += STRIP, a.p += STRIP)
      KERNEL(wide_strip)(a, b, n, p, c + i, ldc, WIDE_ROWS);
    for (; i + LANES <= m; i += LANES, a.p += LANES)
      KERNEL(wide_strip)(a, b, n, p, c + i, ldc, 1);
    if (i < m) KERNEL(wide_rest)(a, b, m - i, n, p, c + i, ldc);
  }
}

/* ---- C += alpha A B, of few columns --------------------------------------*/

/* m rows of `cols` columns of C, of `many` columns of A; `ahead`: the next of
 * them are asked for meanwhile. */
INLINED void KERNEL(few_block)(operand A, operand B, double alpha, int64_t m,
                               double *c, int64_t ldc, int many, int cols,
                               bool ahead)
{
  PACK b[FEW_MANY][FEW_COLS];
  int64_t i = 0;
#pragma GCC unroll 8
  for (int l = 0; l < many; l++)
#pragma GCC unroll 8
    for (int j = 0; j < cols; j++)
      b[l][j] = (PACK){0} + alpha * B.p[j * B.ld + l];
  for (; i + WIDTH <= m; i += WIDTH) {
    if (ahead) {
#pragma GCC unroll 8
      for (int l = 0; l < many; l++)
        __builtin_prefetch(A.p + (l + many) * A.ld + i);
    }
#pragma GCC unroll 8
    for (int q = 0; q < WIDTH; q += LANES) {
      PACK a[FEW_MANY];
#pragma GCC unroll 8
      for (int l = 0; l < many; l++)
        a[l] = *(const PACK *)(A.p + l * A.ld + i + q);
#pragma GCC unroll 8
      for (int j = 0; j < cols; j++) {
        PACK *to = (PACK *)(c + j * ldc + i + q), sum = *to;
#pragma GCC unroll 8
        for (int l = 0; l < many; l++) sum += a[l] * b[l][j];
        *to = sum;
      }
    }
  }
  for (; i < m; i++)
    for (int j = 0; j < cols; j++)
      for (int l = 0; l < many; l++)
        c[j * ldc + i] += A.p[l * A.ld + i] * (alpha * B.p[j * B.ld + l]);
}

INLINED void KERNEL(few_cols)(operand A, operand B, double alpha, int64_t m,
                              int64_t p, double *c, int64_t ldc, int many,
                              bool ahead)
{
  int64_t j = p < FEW_COLS ? 0 : FEW_COLS;
  if (j > 0) KERNEL(few_block)(A, B, alpha, m, c, ldc, many, FEW_COLS, true);
  for (; j + FEW_COLS <= p; j += FEW_COLS) KERNEL(few_block)
  (A, (operand){B.p + j * B.ld, B.ld}, alpha, m, c + j * ldc, ldc, many,
   FEW_COLS, true);
  for (; j + 2 <= p; j += 2) KERNEL(few_block)
  (A, (operand){B.p + j * B.ld, B.ld}, alpha, m, c + j * ldc, ldc, many, 2,
   ahead);
  for (; j < p; j++) KERNEL(few_block)
  (A, (operand){B.p + j * B.ld, B.ld}, alpha, m, c + j * ldc, ldc, many, 1,
   ahead);
}

/* C (m x p) += alpha A (m x k) B (k x p), by sums of columns of A in chunks
 * of rows that leave C's in the cache: memory is read in long pieces. */
INLINED void KERNEL(few_all)(operand A, operand B, double alpha, int64_t m,
                             int64_t k, int64_t p, double *c, int64_t ldc,
                             int64_t chunk, bool ahead)
{
  for (int64_t first = 0; first < m; first += chunk) {
    int64_t n = m - first < chunk ? m - first : chunk, l = 0;
    operand a = {A.p + first, A.ld};
    for (; l + FEW_MANY <= k; l += FEW_MANY, a.p += FEW_MANY * A.ld)
      KERNEL(few_cols)
    (a, (operand){B.p + l, B.ld}, alpha, n, p, c + first, ldc, FEW_MANY, ahead);
    for (; l < k; l++, a.p += A.ld) KERNEL(few_cols)
    (a, (operand){B.p + l, B.ld}, alpha, n, p, c + first, ldc, 1, ahead);
  }
}

TARGET static void KERNEL(few)(operand A, operand B, double alpha, int64_t m,
                               int64_t k, int64_t p, double *c, int64_t ldc,
                               bool near)
{
  if (near && p <= NARROW)
    KERNEL(few_all)(A, B, alpha, m, k, p, c, ldc, NARROW_CHUNK, false);
  else
    KERNEL(few_all)(A, B, alpha, m, k, p, c, ldc, CHUNK, true);
}

/* ---- C += A'B -----------------------------------------------------------*/

/* `rows` by `cols` dot products of length m; `ahead`: the next columns of A are
 * asked for meanwhile. */
INLINED void KERNEL(inner_block)(operand A, operand B, int64_t m, double *c,
                                 int64_t ldc, int rows, int cols, bool ahead)
{
  PACK sum[INNER_ROWS][INNER_COLS][PARTS];
  int64_t i = 0;
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
    for (int j = 0; j < cols; j++)
#pragma GCC unroll 8
      for (int q = 0; q < PARTS; q++) sum[r][j][q] = (PACK){0};
  for (; i + WIDTH <= m; i += WIDTH) {
    if (ahead) {
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++)
        __builtin_prefetch(A.p + (r + rows) * A.ld + i);
    }
#pragma GCC unroll 8
    for (int q = 0; q < PARTS; q++) {
      PACK b[INNER_COLS];
#pragma GCC unroll 8
      for (int j = 0; j < cols; j++)
        b[j] = *(const PACK *)(B.p + j * B.ld + i + q * LANES);
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++) {
        /* volatile: read once; GCC reads it anew for each column */
        PACK a = *(const volatile PACK *)(A.p + r * A.ld + i + q * LANES);
#pragma GCC unroll 8
        for (int j = 0; j < cols; j++) sum[r][j][q] += a * b[j];
      }
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < cols; j++)
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
      double s[WIDTH], rest = 0;
#pragma GCC unroll 8
      for (int q = 0; q < PARTS; q++) *(PACK *)(s + q * LANES) = sum[r][j][q];
      for (int64_t l = i; l < m; l++)
        rest += A.p[r * A.ld + l] * B.p[j * B.ld + l];
      c[j * ldc + r] += ((s[0] + s[4]) + (s[2] + s[6])) +
                        ((s[1] + s[5]) + (s[3] + s[7])) + rest;
    }
}

INLINED void KERNEL(inner_rows)(operand A, operand B, int64_t m, int64_t p,
                                double *c, int64_t ldc, int rows, bool ahead)
{
  enum { PAIR = INNER_COLS > 1 ? 2 : 1 };
  int64_t j = p <= NARROW || p < INNER_COLS ? 0 : INNER_COLS;
  if (j > 0) KERNEL(inner_block)(A, B, m, c, ldc, rows, INNER_COLS, true);
  for (; j + INNER_COLS <= p; j += INNER_COLS) KERNEL(inner_block)
  (A, (operand){B.p + j * B.ld, B.ld}, m, c + j * ldc, ldc, rows, INNER_COLS,
   false);
  for (; j + PAIR <= p; j += PAIR) KERNEL(inner_block)
  (A, (operand){B.p + j * B.ld, B.ld}, m, c + j * ldc, ldc, rows, PAIR, ahead);
  for (; j < p; j++) KERNEL(inner_block)
  (A, (operand){B.p + j * B.ld, B.ld}, m, c + j * ldc, ldc, rows, 1, ahead);
}

/* C (k x p) += A (m x k)' B (m x p), in chunks of rows that leave B's in the
 * cache while all of A's columns meet it. */
INLINED void KERNEL(inner_all)(operand A, operand B, int64_t m, int64_t k,
                               int64_t p, double *c, int64_t ldc, int64_t chunk,
                               bool ahead)
{
  for (int64_t first = 0; first < m; first += chunk) {
    int64_t n = m - first < chunk ? m - first : chunk, i = 0;
    operand a = {A.p + first, A.ld}, b = {B.p + first, B.ld};
    for (; i + INNER_ROWS <= k; i += INNER_ROWS, a.p += INNER_ROWS * A.ld)
      KERNEL(inner_rows)(a, b, n, p, c + i, ldc, INNER_ROWS, ahead);
    for (; i < k; i++, a.p += A.ld)
      KERNEL(inner_rows)(a, b, n, p, c + i, ldc, 1, ahead);
  }
}

TARGET static void KERNEL(inner)(operand A, operand B, int64_t m, int64_t k,
                                 int64_t p, double *c, int64_t ldc, bool near)
{
  if (near && p <= NARROW)
    KERNEL(inner_all)(A, B, m, k, p, c, ldc, NARROW_CHUNK, false);
  else
    KERNEL(inner_all)(A, B, m, k, p, c, ldc, CHUNK, true);
}

#undef PACK
#undef PARTS
#undef STRIP
