/* product_kernels.h - one tile of products for one type.  product.c includes
 * this file once for each type: REAL is the type, VECTOR 64 bytes of it, and
 * KERNEL(name) the name of that type's function.  TALL features by WIDE vectors
 * are summed in registers; a panel is d x TALL, and numbers of the TALL
 * features lie side by side. */
WIDTH_INLINED void KERNEL(sum)(int64_t d, const VECTOR *panel, const REAL *m,
                               VECTOR *out)
{
  enum { PARTS = TALL * sizeof(REAL) / sizeof(VECTOR) };
  VECTOR sum[WIDE][PARTS] = {{{0}}};
  for (int64_t a = 0; a < d; a++)
    for (int i = 0; i < PARTS; i++) {
      VECTOR f = panel[a * PARTS + i];
      for (int s = 0; s < WIDE; s++) sum[s][i] += f * m[s * d + a];
    }
  for (int s = 0; s < WIDE; s++)
    for (int i = 0; i < PARTS; i++) out[s * PARTS + i] = sum[s][i];
}

EACH_WIDTH(void, KERNEL(tile),
           (int64_t d, const VECTOR *panel, const REAL *m, VECTOR *out),
           KERNEL(sum)(d, panel, m, out))

static void KERNEL(costs)(const op_panels *p, int64_t first, int64_t count,
                          const REAL *m, int64_t vectors, const double *half,
                          REAL *c, int64_t ld)
{
  const REAL *panels = (const REAL *)p->data + first * p->d;
  union {
    VECTOR v[WIDE * TALL * sizeof(REAL) / sizeof(VECTOR)];
    REAL r[WIDE][TALL];
  } out;
  for (int64_t from = 0; from < count; from += CHUNK)
    for (int64_t s = 0; s < vectors; s += WIDE)
      for (int64_t i = from; i < count && i < from + CHUNK; i += TALL) {
        int64_t have = vectors - s < WIDE ? vectors - s : WIDE;
        int64_t tall = count - i < TALL ? count - i : TALL;
        const REAL *vector = m + s * p->d;
        KERNEL(tile)
        [p->width](p->d, (const VECTOR *)(const void *)(panels + i * p->d),
                   vector, out.v);
        for (int64_t t = 0; t < have; t++)
          for (int64_t q = 0; q < tall; q++)
            c[(s + t) * ld + i + q] =
                (half == NULL ? 0 : (REAL)half[i + q]) - out.r[t][q];
      }
}
