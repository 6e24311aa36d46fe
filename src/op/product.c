/* product.c - tall products with few vectors, as matching needs them.
 *
 * A matrix product of the library behind the backend would do, but it packs
 * the features anew at every call, and an OpenBLAS that does not know the
 * processor falls back to 128-bit kernels.  Here features stay packed and the
 * tile is compiled for each width of registers (with contraction,
 * CMakeLists.txt): bench/roml.c, K = 100, n_k = 10000, n = 100. */
#include "op/product.h"

#include <string.h>

enum { TALL = PANEL, WIDE = 4, CHUNK = 8 * PANEL };

typedef double vector_f64 __attribute__((vector_size(64)));
typedef float vector_f32 __attribute__((vector_size(64)));

#define REAL double
#define VECTOR vector_f64
#define KERNEL(name) name##_f64
#include "op/product_kernels.h"
#undef REAL
#undef VECTOR
#undef KERNEL
#define REAL float
#define VECTOR vector_f32
#define KERNEL(name) name##_f32
#include "op/product_kernels.h"
#undef REAL
#undef VECTOR
#undef KERNEL

lapis_status op_panels_new(lapis_ctx *ctx, lapis_dtype t, int64_t d,
                           int64_t count, op_panels *out)
{
  size_t size = t == LAPIS_F64 ? sizeof(double) : sizeof(float);
  *out = (op_panels){t, base_width_of(ctx), d, op_panels_round(count), NULL};
  out->data = base_alloc(ctx, out->count * d, size);
  return out->data == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

void op_panels_free(op_panels *p)
{
  base_free(p->data);
  p->data = NULL;
}

void op_panels_set(op_panels *p, int64_t i, const double *f, double scale)
{
  int64_t at = i / TALL * TALL * p->d + i % TALL;
  for (int64_t a = 0; a < p->d; a++)
    if (p->dtype == LAPIS_F64)
      ((double *)p->data)[at + a * TALL] = scale * f[a];
    else
      ((float *)p->data)[at + a * TALL] = (float)(scale * f[a]);
}

void op_panels_costs(const op_panels *p, int64_t first, int64_t count,
                     const void *m, int64_t vectors, const double *half,
                     void *c, int64_t ld)
{
  if (p->dtype == LAPIS_F64)
    costs_f64(p, first, count, m, vectors, half, c, ld);
  else
    costs_f32(p, first, count, m, vectors, half, c, ld);
}
