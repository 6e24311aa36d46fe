/* product_kernels.h - one tile of products, for one type and one width of
 * registers.  product.c includes this file once for each: REAL is the type,
 * BYTES a register's, KERNEL(name) the name of this copy, TARGET its attribute.
 * A panel is d x TALL, and numbers of its features lie side by side; ROWS
 * registers of them by WIDE vectors are summed at a time, as many as stay in
 * registers.  A sum runs along the vector whatever the width, so that all
 * widths that fuse multiplications with additions give the same bits. */
typedef REAL KERNEL(pack) __attribute__((vector_size(BYTES)));
#define PACK KERNEL(pack)
#define LANES ((int64_t)(BYTES / sizeof(REAL)))

/* `rows` registers of features by `wide` vectors. */
WIDTH_INLINED void KERNEL(strip)(int64_t d, const REAL *panel, const REAL *m,
                                 REAL *out, int wide, int rows)
{
  PACK sum[WIDE][2 * ROWS];
#pragma GCC unroll 8
  for (int s = 0; s < wide; s++)
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) sum[s][i] = (PACK){0};
  for (int64_t a = 0; a < d; a++) {
    PACK f[2 * ROWS];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
      f[i] = *(const PACK *)(const void *)(panel + a * TALL + i * LANES);
#pragma GCC unroll 8
    for (int s = 0; s < wide; s++) {
      REAL v = m[s * d + a];
#pragma GCC unroll 8
      for (int i = 0; i < rows; i++) sum[s][i] += f[i] * v;
    }
  }
#pragma GCC unroll 8
  for (int s = 0; s < wide; s++)
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
      *(PACK *)(void *)(out + s * TALL + i * LANES) = sum[s][i];
}

/* The first `tall` features of a panel by `have` vectors: the last two in
 * strips of twice the height, or of all of the panel. */
WIDTH_INLINED void KERNEL(tile)(int64_t d, const REAL *panel, const REAL *m,
                                REAL *out, int64_t tall, int64_t have)
{
  const int low = ROWS * LANES, high = 2 * low < TALL ? 2 * low : TALL;
  if (have > 2)
    for (int64_t i = 0; i < tall; i += low)
      KERNEL(strip)(d, panel + i, m, out + i, WIDE, ROWS);
  else
    for (int64_t i = 0; i < tall; i += high)
      KERNEL(strip)(d, panel + i, m, out + i, 2, high / LANES);
}

TARGET static void KERNEL(costs)(const op_panels *p, int64_t first,
                                 int64_t count, const void *vectors_at,
                                 int64_t vectors, const double *half,
                                 void *costs_at, int64_t ld)
{
  const REAL *panels = (const REAL *)p->data + first * p->d, *m = vectors_at;
  REAL *c = costs_at, out[WIDE * TALL] __attribute__((aligned(64)));
  for (int64_t from = 0; from < count; from += CHUNK)
    for (int64_t s = 0; s < vectors; s += WIDE)
      for (int64_t i = from; i < count && i < from + CHUNK; i += TALL) {
        int64_t have = vectors - s < WIDE ? vectors - s : WIDE;
        int64_t tall = count - i < TALL ? count - i : TALL;
        KERNEL(tile)(p->d, panels + i * p->d, m + s * p->d, out, tall, have);
        for (int64_t t = 0; t < have; t++) {
          REAL *to = c + (s + t) * ld + i;
          const REAL *product = out + t * TALL;
          if (half == NULL)
            for (int64_t q = 0; q < tall; q++) to[q] = -product[q];
          else
            for (int64_t q = 0; q < tall; q++)
              to[q] = (REAL)half[i + q] - product[q];
        }
      }
}

#undef PACK
#undef LANES
#undef ROWS
#undef BYTES
#undef KERNEL
