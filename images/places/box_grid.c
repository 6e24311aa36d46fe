/* box_grid.c - the boxes of a grid, by position, scale and aspect ratio. */
#include <math.h>

#include "images/places/places.h"

enum { MOST_STEPS = 64 };
/* Boxes that a search may have to remember, some 24 bytes each. */
static const int64_t most_boxes = 20000000;

static lapis_status check_grid(lapis_ctx *ctx, const char *what,
                               const lapis_box_grid *s)
{
  bool sizes = s->smallest > 0 && s->smallest <= s->largest && s->largest <= 1;
  bool ratios = s->aspect_low > 0 && s->aspect_low <= s->aspect_high &&
                s->aspect_high < INFINITY;
  bool counts = s->scales >= 1 && s->scales <= MOST_STEPS && s->aspects >= 1 &&
                s->aspects <= MOST_STEPS;
  if (!((s->step == -1 || s->step >= 1) && sizes && ratios && counts))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: settings must have step >= 1, 0 < smallest <= "
                      "largest <= 1, 0 < aspect-low <= aspect-high, and 1 to "
                      "%d scales and aspects",
                      what, MOST_STEPS);
  return LAPIS_OK;
}

static double geometric(double low, double high, int64_t i, int64_t n)
{
  return n == 1 ? low : low * pow(high / low, (double)i / (double)(n - 1));
}

static void add_size(box_grid *g, double scale, double aspect)
{
  double side = scale * sqrt((double)g->width * (double)g->height);
  double step = (double)g->step;
  double across = fmax(round(side * sqrt(aspect) / step), 1);
  double down = fmax(round(side / sqrt(aspect) / step), 1);
  if (across > (double)g->nx || down > (double)g->ny) return;
  extent e = {(int64_t)across, (int64_t)down};
  for (int64_t i = 0; i < g->sizes; i++)
    if (g->size[i].w == e.w && g->size[i].h == e.h) return;
  g->size[g->sizes++] = e;
}

static lapis_status count_boxes(lapis_ctx *ctx, const char *what, box_grid *g)
{
  double sum = 0;
  for (int64_t i = 0; i < g->sizes; i++)
    sum +=
        (double)(g->nx - g->size[i].w + 1) * (double)(g->ny - g->size[i].h + 1);
  g->boxes = (int64_t)sum;
  if (sum > (double)most_boxes)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: %.3g boxes are too many (%" PRId64
                      " at most): take a larger step, or fewer scales",
                      what, sum, most_boxes);
  return LAPIS_OK;
}

lapis_status grid_make(lapis_ctx *ctx, const char *what,
                       const lapis_box_grid *set, int64_t width, int64_t height,
                       box_grid *out)
{
  *out = (box_grid){.width = width, .height = height, .step = set->step};
  TRY(check_grid(ctx, what, set));
  int64_t longer = width > height ? width : height;
  if (out->step == -1) out->step = longer >= 64 ? longer / 32 : 1;
  if (out->step > longer) out->step = longer; /* one cell, and no overflow */
  if (out->step < 1) out->step = 1;
  out->nx = (width + out->step - 1) / out->step;
  out->ny = (height + out->step - 1) / out->step;
  out->size = base_alloc(ctx, set->scales * set->aspects, sizeof *out->size);
  if (out->size == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < set->scales; i++)
    for (int64_t j = 0; j < set->aspects; j++)
      add_size(out, geometric(set->smallest, set->largest, i, set->scales),
               geometric(set->aspect_low, set->aspect_high, j, set->aspects));
  return count_boxes(ctx, what, out);
}

void box_grid_free(box_grid *g)
{
  base_free(g->size);
  *g = (box_grid){0};
}

lapis_box grid_box(const box_grid *g, int64_t x, int64_t y, extent e,
                   double score)
{
  lapis_box b = {(double)(x * g->step), (double)(y * g->step),
                 (double)(e.w * g->step), (double)(e.h * g->step), score};
  b.width = fmin(b.width, (double)g->width - b.x);
  b.height = fmin(b.height, (double)g->height - b.y);
  return b;
}
