/* blas.c - what products and factorisations of a BLAS share. */
#include <limits.h>

#include "la/host/host.h"

void blas_threads(const la *h)
{
  blas_set_threads(base_deterministic(h->ctx) ? 1 : h->threads);
}

lapis_status blas_check_range(la *h, const char *what, const la_array *A)
{
  if (A->rows <= INT_MAX && A->cols <= INT_MAX && A->ld <= INT_MAX)
    return LAPIS_OK;
  return lapis_fail(h->ctx, LAPIS_ESHAPE,
                    "la: %s of a %" PRId64 " x %" PRId64
                    " array: BLAS counts to %d",
                    what, A->rows, A->cols, INT_MAX);
}

/* The upper triangle from the lower one, in tiles that fit the cache. */
void blas_mirror(la_array *C)
{
  enum { TILE = 32 };
  int64_t n = C->rows;
  bool single = C->dtype == LAPIS_F32;
  for (int64_t j0 = 0; j0 < n; j0 += TILE)
    for (int64_t i0 = j0; i0 < n; i0 += TILE)
      for (int64_t j = j0; j < n && j < j0 + TILE; j++) {
        int64_t i = i0 > j ? i0 : j + 1, end = i0 + TILE < n ? i0 + TILE : n;
        float *f = C->data;
        for (; single && i < end; i++) f[i * C->ld + j] = f[j * C->ld + i];
        for (; i < end; i++) host_col(C, i)[j] = host_col(C, j)[i];
      }
}
