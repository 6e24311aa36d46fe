/* propose.c - boxes that may hold an object, by the density of edges.
 *
 * An object mostly has more edges than what surrounds it, and a box that holds
 * it whole has few in a ring around it ([ROML16] Sec. 6 takes its candidates
 * from a learnt measure, which this stands in for).  The gradient's length is
 * that of central differences of the grey image, summed by an integral image:
 * a box costs eight numbers.  Of boxes that overlap the better stays. */
#include <math.h>
#include <stdlib.h>

#include "vision/image/image.h"
#include "vision/image/ops.h"
#include "vision/locate/locate.h"

static const double ring_share = 0.25; /* of a side, on each side */

typedef struct proposer {
  box_grid grid;
  double *integral; /* (width + 1) x (height + 1) */
  lapis_box *all;   /* boxes */
} proposer;

void lapis_propose_fill(lapis_propose_settings *to, size_t size)
{
  base_fill(to, size,
            &(lapis_propose_settings){.size = sizeof(lapis_propose_settings),
                                      .grid = {.step = -1,
                                               .smallest = 0.15,
                                               .largest = 0.9,
                                               .scales = 8,
                                               .aspect_low = 0.5,
                                               .aspect_high = 2,
                                               .aspects = 5},
                                      .overlap = 0.7},
            sizeof *to);
}

static double pixel(const lapis_image *m, int64_t x, int64_t y)
{
  x = x < 0 ? 0 : x < m->width ? x : m->width - 1;
  y = y < 0 ? 0 : y < m->height ? y : m->height - 1;
  return (double)m->pixels[y * m->width + x];
}

static void integrate(const lapis_image *grey, double *sum)
{
  int64_t w = grey->width + 1;
  for (int64_t y = 0; y < grey->height; y++)
    for (int64_t x = 0; x < grey->width; x++) {
      double dx = pixel(grey, x + 1, y) - pixel(grey, x - 1, y);
      double dy = pixel(grey, x, y + 1) - pixel(grey, x, y - 1);
      sum[(y + 1) * w + x + 1] = hypot(dx, dy) / 2 + sum[y * w + x + 1] +
                                 sum[(y + 1) * w + x] - sum[y * w + x];
    }
}

static double sum_in(const proposer *p, int64_t x0, int64_t y0, int64_t x1,
                     int64_t y1)
{
  int64_t w = p->grid.width + 1;
  return p->integral[y1 * w + x1] - p->integral[y0 * w + x1] -
         p->integral[y1 * w + x0] + p->integral[y0 * w + x0];
}

static int64_t least_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static double box_score(const proposer *p, const lapis_box *b)
{
  int64_t x0 = (int64_t)b->x, y0 = (int64_t)b->y;
  int64_t x1 = x0 + (int64_t)b->width, y1 = y0 + (int64_t)b->height;
  int64_t rx = (int64_t)fmax(round(ring_share * b->width), 1);
  int64_t ry = (int64_t)fmax(round(ring_share * b->height), 1);
  int64_t u0 = x0 > rx ? x0 - rx : 0, v0 = y0 > ry ? y0 - ry : 0;
  int64_t u1 = least_of(x1 + rx, p->grid.width);
  int64_t v1 = least_of(y1 + ry, p->grid.height);
  double in = sum_in(p, x0, y0, x1, y1), area = b->width * b->height;
  double ring = sum_in(p, u0, v0, u1, v1) - in;
  double ring_area = (double)((u1 - u0) * (v1 - v0)) - area;
  double around = ring_area > 0 ? ring / ring_area : 0;
  double image = (double)p->grid.width * (double)p->grid.height;
  return (in / area - around) * sqrt(area / image);
}

static int better(const void *a, const void *b)
{
  const lapis_box *p = a, *q = b;
  if (p->score != q->score) return p->score > q->score ? -1 : 1;
  if (p->y != q->y) return p->y < q->y ? -1 : 1;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  if (p->width != q->width) return p->width < q->width ? -1 : 1;
  return (p->height > q->height) - (p->height < q->height);
}

static void score_all(proposer *p)
{
  const box_grid *g = &p->grid;
  int64_t n = 0;
  for (int64_t s = 0; s < g->sizes; s++)
    for (int64_t y = 0; y + g->size[s].h <= g->ny; y++)
      for (int64_t x = 0; x + g->size[s].w <= g->nx; x++) {
        p->all[n] = grid_box(g, x, y, g->size[s], 0);
        p->all[n].score = box_score(p, &p->all[n]);
        n++;
      }
  qsort(p->all, (size_t)n, sizeof *p->all, better);
}

static void suppress(const proposer *p, double overlap, int64_t count,
                     lapis_box *box, int64_t *found)
{
  for (int64_t k = 0; k < p->grid.boxes && *found < count; k++) {
    bool stays = true;
    for (int64_t i = 0; i < *found && stays; i++)
      stays = box_overlap(&box[i], &p->all[k]) < overlap;
    if (stays) box[(*found)++] = p->all[k];
  }
}

static lapis_status propose(lapis_ctx *ctx, proposer *p,
                            const lapis_image *image,
                            const lapis_propose_settings *set)
{
  TRY(grid_make(ctx, "boxes", &set->grid, image->width, image->height,
                &p->grid));
  p->integral = base_alloc(ctx, (image->width + 1) * (image->height + 1),
                           sizeof *p->integral);
  p->all = base_alloc_raw(ctx, p->grid.boxes, sizeof *p->all);
  if (p->integral == NULL || p->all == NULL) return LAPIS_ENOMEM;
  lapis_image grey;
  TRY(image_grey(ctx, image, &grey));
  integrate(&grey, p->integral);
  lapis_image_free(&grey);
  score_all(p);
  return LAPIS_OK;
}

lapis_status lapis_boxes_propose(lapis_ctx *ctx, const lapis_image *image,
                                 const lapis_propose_settings *set,
                                 int64_t count, lapis_box *box, int64_t *found)
{
  NEEDS(ctx, image, box, found);
  lapis_propose_settings defaults = lapis_propose_defaults();
  if (set == NULL) set = &defaults;
  *found = 0;
  TRY(image_check(ctx, "boxes", image));
  TRY(base_check_size(ctx, "boxes: the settings", set->size, sizeof *set));
  if (!(set->overlap > 0 && set->overlap <= 1))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "boxes: an overlap of %g; it must be in (0, 1]",
                      set->overlap);
  proposer p = {.integral = NULL};
  lapis_status status = propose(ctx, &p, image, set);
  if (status == LAPIS_OK) suppress(&p, set->overlap, count, box, found);
  box_grid_free(&p.grid);
  base_free(p.integral), base_free(p.all);
  return status;
}
