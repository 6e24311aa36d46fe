/* product.c - tall products with few vectors, as matching needs them.
 *
 * A matrix product of the library behind the backend would do, but it packs
 * the features anew at every call, and an OpenBLAS that does not know the
 * processor falls back to 128-bit kernels.  Here features stay packed and the
 * tile is compiled for each width of registers, in sums that fit their number
 * (with contraction, CMakeLists.txt): bench/roml.c, K = 100, n_k = 10000,
 * n = 100. */
#include "op/dense/product.h"

#include <string.h>

enum { TALL = PANEL, WIDE = 4, CHUNK = 8 * PANEL };

/* Sums that stay in registers: 16 or 8 of 32, 8 of 16. */
#define REAL double
#if defined(WIDTH_MANY)
#define TARGET WIDTH_TARGET_AVX512
#define KERNEL(name) name##_f64_avx512
#define BYTES 64
#define ROWS 4
#include "op/dense/product_kernels.h"
#undef TARGET
#define TARGET WIDTH_TARGET_AVX2_FMA
#define KERNEL(name) name##_f64_avx2
#define BYTES 32
#define ROWS 2
#include "op/dense/product_kernels.h"
#undef TARGET
#endif
#define TARGET
#define KERNEL(name) name##_f64_plain
#define BYTES 16
#define ROWS 2
#include "op/dense/product_kernels.h"
#undef TARGET
#undef REAL

#define REAL float
#if defined(WIDTH_MANY)
#define TARGET WIDTH_TARGET_AVX512
#define KERNEL(name) name##_f32_avx512
#define BYTES 64
#define ROWS 2
#include "op/dense/product_kernels.h"
#undef TARGET
#define TARGET WIDTH_TARGET_AVX2_FMA
#define KERNEL(name) name##_f32_avx2
#define BYTES 32
#define ROWS 2
#include "op/dense/product_kernels.h"
#undef TARGET
#endif
#define TARGET
#define KERNEL(name) name##_f32_plain
#define BYTES 16
#define ROWS 2
#include "op/dense/product_kernels.h"
#undef TARGET
#undef REAL

typedef void costs_kernel(const op_panels *p, int64_t first, int64_t count,
                          const void *m, int64_t vectors, const double *half,
                          void *c, int64_t ld);

#if defined(WIDTH_MANY)
#define WIDTHS_OF(name) name##_plain, name##_avx2, name##_avx512
#else
#define WIDTHS_OF(name) name##_plain, name##_plain, name##_plain
#endif
static costs_kernel *const costs_f64[WIDTHS] = {WIDTHS_OF(costs_f64)};
static costs_kernel *const costs_f32[WIDTHS] = {WIDTHS_OF(costs_f32)};

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
  costs_kernel *run = (p->dtype == LAPIS_F64 ? costs_f64 : costs_f32)[p->width];
  run(p, first, count, m, vectors, half, c, ld);
}

/* ---- one product, one distance
 * ---------------------------------------------*/
typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));
enum { STEP = 8 }; /* numbers of two registers */

static inline double add_up(const lanes *sum)
{
  const lanes v = sum[0] + sum[1];
  return (v[0] + v[2]) + (v[1] + v[3]);
}

WIDTH_CLONES static double inner(const double *a, const double *b, int64_t d)
{
  lanes sum[2] = {{0}, {0}};
  double rest = 0;
  int64_t i = 0;
  for (; i + STEP <= d; i += STEP) {
    const lanes *x = (const lanes *)(a + i), *y = (const lanes *)(b + i);
    sum[0] += x[0] * y[0];
    sum[1] += x[1] * y[1];
  }
  for (; i < d; i++) rest += a[i] * b[i];
  return add_up(sum) + rest;
}

WIDTH_CLONES static double square_distance(const double *a, const double *b,
                                           int64_t d)
{
  lanes sum[2] = {{0}, {0}};
  double rest = 0;
  int64_t i = 0;
  for (; i + STEP <= d; i += STEP) {
    const lanes *x = (const lanes *)(a + i), *y = (const lanes *)(b + i);
    lanes first = x[0] - y[0], second = x[1] - y[1];
    sum[0] += first * first;
    sum[1] += second * second;
  }
  for (; i < d; i++) rest += (a[i] - b[i]) * (a[i] - b[i]);
  return add_up(sum) + rest;
}

double op_inner(const double *a, const double *b, int64_t d)
{
  return inner(a, b, d);
}

double op_square_distance(const double *a, const double *b, int64_t d)
{
  return square_distance(a, b, d);
}
