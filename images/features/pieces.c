/* pieces.c - what kinds of features share: the room of what they make, checks
 * of what a file has, sizes. */
#include <float.h>
#include <stdlib.h>

#include "images/features/feature.h"
#include "images/features/sift.h"

/* What is found at the border may lie so far outside, in pixels. */
static const double MARGIN = 16;

double *feature_room(const feature_view *v, feature_piece *piece, int k,
                     int64_t rows, int64_t cols)
{
  double *val = base_alloc(v->ctx, rows * cols, sizeof *val);
  if (val != NULL) piece->item[k] = lapis_mat_f64(val, rows, cols);
  return val;
}

bool feature_numbers(const lapis_mat *m, lapis_dtype dtype, int64_t rows,
                     int64_t cols, double low, double high)
{
  if (m->dtype != dtype || m->rows != rows || (cols >= 0 && m->cols != cols))
    return false;
  for (int64_t j = 0; j < m->cols; j++)
    for (int64_t i = 0; i < m->rows; i++) {
      double v = lapis_mat_at(m, i, j);
      if (!(v >= low && v <= high)) return false;
    }
  return true;
}

bool feature_finite(const lapis_mat *m, lapis_dtype dtype, int64_t rows,
                    int64_t cols)
{
  return feature_numbers(m, dtype, rows, cols, -DBL_MAX, DBL_MAX);
}

bool feature_places(const lapis_mat *m, lapis_dtype dtype, int64_t rows,
                    int64_t cols, const feature_slot *s)
{
  const double side[] = {(double)s->width, (double)s->height};
  if (!feature_finite(m, dtype, rows, cols)) return false;
  for (int64_t j = 0; j < m->cols; j++)
    for (int a = 0; a < 2; a++) {
      double v = lapis_mat_at(m, a, j);
      if (!(v >= -MARGIN && v <= side[a] + MARGIN)) return false;
    }
  return true;
}

lapis_status feature_shape(lapis_ctx *ctx, const char *kind, const char *text,
                           int64_t most, int64_t *width, int64_t *height)
{
  char *x, *end = NULL;
  *width = strtoll(text, &x, 10);
  if (x != text && *x == 'x') *height = strtoll(x + 1, &end, 10);
  bool whole = end != NULL && end != x + 1 && *end == '\0';
  if (whole && *width >= 1 && *width <= most && *height >= 1 && *height <= most)
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --size '%s' is not WIDTHxHEIGHT from 1x1 to %" PRId64
                    "x%" PRId64,
                    kind, text, most, most);
}

void feature_piece_free(feature_piece *p)
{
  for (int k = 0; k < FEATURE_ARRAYS; k++) base_free(p->item[k].val);
  *p = (feature_piece){0};
}

lapis_status sift_grow(lapis_ctx *ctx, sift_list *list)
{
  int64_t n = list->count, room = n < 64 ? 128 : 2 * n;
  if (n < list->room) return LAPIS_OK;
  void *vector = list->vector, *place = list->place, *force = list->strength;
  lapis_status s =
      base_grow(ctx, &vector, n * SIFT_SIZE, room * SIFT_SIZE, sizeof(float));
  list->vector = vector;
  if (s >= 0)
    s = base_grow(ctx, &place, n * SIFT_PLACE, room * SIFT_PLACE,
                  sizeof(float));
  list->place = place;
  if (s >= 0) s = base_grow(ctx, &force, n, room, sizeof(float));
  list->strength = force;
  if (s >= 0) list->room = room;
  return s;
}
