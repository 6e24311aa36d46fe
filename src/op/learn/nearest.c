/* nearest.c - distances as products, a block of points and of centres at a
 * time, so that what is compared stays in the cache. */
#include "op/learn/nearest.h"

#include <math.h>
#include <string.h>

enum { POINTS = 4 * PANEL, CENTRES = 64 };

lapis_status nearest_new(lapis_ctx *ctx, int64_t d, int64_t count,
                         nearest_centres *out)
{
  *out = (nearest_centres){.d = d, .count = count};
  /* whole tiles are read, of a part that may begin anywhere */
  int64_t room = count - 1 + op_panels_room(1);
  out->val = base_alloc(ctx, d * room, sizeof *out->val);
  out->half = base_alloc(ctx, count, sizeof *out->half);
  if (out->val != NULL && out->half != NULL) return LAPIS_OK;
  nearest_free(out);
  return LAPIS_ENOMEM;
}

void nearest_free(nearest_centres *c)
{
  base_free(c->val);
  base_free(c->half);
  *c = (nearest_centres){.d = 0};
}

void nearest_refresh(nearest_centres *c)
{
  for (int64_t k = 0; k < c->count; k++) {
    double sum = 0;
    for (int64_t i = 0; i < c->d; i++) {
      double x = (double)c->val[k * c->d + i];
      sum += x * x;
    }
    c->half[k] = (float)(sum / 2);
  }
}

nearest_centres nearest_part(const nearest_centres *c, int64_t first,
                             int64_t count)
{
  return (nearest_centres){c->d, count, c->val + first * c->d, c->half + first};
}

void nearest_pack(op_panels *to, int64_t first, const float *points, int64_t n)
{
  double row[NEAREST_MOST];
  for (int64_t k = 0; k < n; k++) {
    for (int64_t i = 0; i < to->d; i++) row[i] = (double)points[k * to->d + i];
    op_panels_set(to, first + k, row, 1);
  }
}

/* product: n numbers of each of c's centres, POINTS apart. */
static void compare(const float *product, int64_t n, const nearest_centres *c,
                    int64_t first, int32_t *word, float *cost)
{
  for (int64_t k = 0; k < c->count; k++) {
    const float *p = product + k * POINTS;
    float half = c->half[k];
    for (int64_t i = 0; i < n; i++) {
      float v = half + p[i];
      bool nearer = v < cost[i];
      cost[i] = nearer ? v : cost[i];
      word[i] = nearer ? (int32_t)(first + k) : word[i];
    }
  }
}

void nearest_find(const op_panels *points, int64_t first, int64_t n,
                  const nearest_centres *c, int32_t *word, float *cost)
{
  float product[CENTRES * POINTS];
  for (int64_t from = 0; from < n; from += POINTS) {
    int64_t count = n - from < POINTS ? n - from : POINTS;
    for (int64_t i = from; i < from + count; i++) {
      word[i] = 0;
      cost[i] = INFINITY;
    }
    for (int64_t k = 0; k < c->count; k += CENTRES) {
      int64_t wide = c->count - k < CENTRES ? c->count - k : CENTRES;
      nearest_centres part = nearest_part(c, k, wide);
      op_panels_costs(points, first + from, count, part.val, wide, NULL,
                      product, POINTS);
      compare(product, count, &part, k, word + from, cost + from);
    }
  }
}

void nearest_sort(const int32_t *word, int64_t n, int64_t count, int64_t *start,
                  int64_t *order)
{
  memset(start, 0, (size_t)(count + 1) * sizeof *start);
  for (int64_t i = 0; i < n; i++) start[word[i] + 1]++;
  for (int64_t k = 0; k < count; k++) start[k + 1] += start[k];
  for (int64_t i = 0; i < n; i++) order[start[word[i]]++] = i;
  for (int64_t k = count; k > 0; k--) start[k] = start[k - 1];
  start[0] = 0;
}
