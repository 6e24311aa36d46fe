/* product.h - costs half_i - <f_i, m_s> of many features against few vectors.
 *
 * Features are packed once, in panels of PANEL features, and read once for all
 * vectors.  Threads may share the panels; each has its own vectors and its own
 * room for results. */
#ifndef LAPIS_PRODUCT_H
#define LAPIS_PRODUCT_H
#include "base/base.h"
#include "base/width.h"

enum { PANEL = 32 };
typedef struct op_panels {
  lapis_dtype dtype; /* F64 or F32 */
  base_width width;  /* of the registers that multiply */
  int64_t d, count;  /* length of a feature; how many, a multiple of PANEL */
  void *data;
} op_panels;
lapis_status op_panels_new(lapis_ctx *ctx, lapis_dtype t, int64_t d,
                           int64_t count, op_panels *out);
void op_panels_free(op_panels *p);
/* Sets feature i to scale * f (d numbers). */
void op_panels_set(op_panels *p, int64_t i, const double *f, double scale);
/* c[s * ld + i] = half[i] - <feature first + i, m + s * d> for i < count; first
 * is a multiple of PANEL; half NULL: 0.  m has room for op_panels_room(vectors)
 * vectors.  The numbers in m and c have the type of the panels. */
void op_panels_costs(const op_panels *p, int64_t first, int64_t count,
                     const void *m, int64_t vectors, const double *half,
                     void *c, int64_t ld);
/* sum a_i b_i, and sum (a_i - b_i)^2, i < d; widths differ in rounding. */
double op_inner(const double *a, const double *b, int64_t d);
double op_square_distance(const double *a, const double *b, int64_t d);
/* Vectors are read four at a time: how many there must be room for. */
static inline int64_t op_panels_room(int64_t vectors)
{
  return (vectors + 3) / 4 * 4;
}
static inline int64_t op_panels_round(int64_t count)
{
  return (count + PANEL - 1) / PANEL * PANEL;
}

#endif
