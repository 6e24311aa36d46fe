/* nearest.h - for many points, the nearest of some centres.
 *
 *   |x - c|^2 / 2 = |x|^2 / 2 + cost,   cost = |c|^2 / 2 - <x, c>
 *
 * in single precision.  Of centres whose costs are equal the first is taken;
 * a point's answer does not depend on the points beside it. */
#ifndef LAPIS_OP_NEAREST_H
#define LAPIS_OP_NEAREST_H
#include "op/dense/product.h"

enum { NEAREST_MOST = 512 }; /* numbers a point */
typedef struct nearest_centres {
  int64_t d, count;
  float *val;  /* d x count, and room to read three more */
  float *half; /* count: |c|^2 / 2 */
} nearest_centres;

lapis_status nearest_new(lapis_ctx *ctx, int64_t d, int64_t count,
                         nearest_centres *out);
void nearest_free(nearest_centres *c);
/* val has changed: half follows. */
void nearest_refresh(nearest_centres *c);
/* Some of the centres, borrowed: first .. first + count - 1. */
nearest_centres nearest_part(const nearest_centres *c, int64_t first,
                             int64_t count);

/* Packs n points (d x n) as points first .. first + n - 1. */
void nearest_pack(op_panels *to, int64_t first, const float *points, int64_t n);
/* Points first .. first + n - 1, first a multiple of PANEL. */
void nearest_find(const op_panels *points, int64_t first, int64_t n,
                  const nearest_centres *c, int32_t *word, float *cost);

/* order: n points by their word, in the order they came; those of word k are
 * order[start[k]] .. order[start[k + 1] - 1].  start: count + 1. */
void nearest_sort(const int32_t *word, int64_t n, int64_t count, int64_t *start,
                  int64_t *order);

#endif
