/* propose.c - boxes that may hold an object, by the density of edges.
 *
 * An object mostly has more edges than what surrounds it, and a box that holds
 * it whole has few in a ring around it ([ROML16] Sec. 6 takes its candidates
 * from a learnt measure, which this stands in for).  The gradient's length is
 * that of central differences of the grey image, summed by an integral image:
 * a box costs eight numbers.  The image is first made small: ripples and leaves
 * then have fewer edges, and objects keep theirs.  Boxes that the image's end
 * would cut are not tried: those beside them are nearly the same.  Of boxes
 * that overlap the better stays. */
#include <math.h>
#include <stdlib.h>

#include "images/image/image.h"
#include "images/image/ops.h"
#include "images/places/places.h"

static const double ring_share = 0.25; /* of a side, on each side */

typedef struct proposer {
  box_grid grid;
  double *integral; /* (width + 1) x (height + 1) */
  lapis_box *all;   /* boxes */
  int64_t count;
} proposer;

propose_settings propose_defaults(void)
{
  return (propose_settings){.grid = {.step = -1,
                                     .smallest = 0.15,
                                     .largest = 0.9,
                                     .scales = 8,
                                     .aspect_low = 0.5,
                                     .aspect_high = 2,
                                     .aspects = 5},
                            .overlap = 0.7,
                            .longest = 128};
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
  int64_t nx = g->width / g->step, ny = g->height / g->step; /* whole cells */
  for (int64_t s = 0; s < g->sizes; s++)
    for (int64_t y = 0; y + g->size[s].h <= ny; y++)
      for (int64_t x = 0; x + g->size[s].w <= nx; x++) {
        lapis_box *b = &p->all[p->count++];
        *b = grid_box(g, x, y, g->size[s], 0);
        b->score = box_score(p, b);
      }
  qsort(p->all, (size_t)p->count, sizeof *p->all, better);
}

static void suppress(const proposer *p, double overlap, int64_t count,
                     lapis_box *box, int64_t *found)
{
  for (int64_t k = 0; k < p->count && *found < count; k++) {
    bool stays = true;
    for (int64_t i = 0; i < *found && stays; i++)
      stays = box_overlap(&box[i], &p->all[k]) < overlap;
    if (stays) box[(*found)++] = p->all[k];
  }
}

static lapis_status propose(lapis_ctx *ctx, proposer *p,
                            const lapis_image *small,
                            const propose_settings *set)
{
  TRY(grid_make(ctx, "boxes", &set->grid, small->width, small->height,
                &p->grid));
  p->integral = base_alloc(ctx, (small->width + 1) * (small->height + 1),
                           sizeof *p->integral);
  p->all = base_alloc_raw(ctx, p->grid.boxes, sizeof *p->all);
  if (p->integral == NULL || p->all == NULL) return LAPIS_ENOMEM;
  lapis_image grey;
  TRY(image_grey(ctx, small, &grey));
  integrate(&grey, p->integral);
  lapis_image_free(&grey);
  score_all(p);
  return LAPIS_OK;
}

/* From pixels of the small image to whole ones of the image. */
static void enlarge(const lapis_image *image, const lapis_image *small,
                    lapis_box *b)
{
  double fx = (double)image->width / (double)small->width;
  double fy = (double)image->height / (double)small->height;
  double x = round(b->x * fx), y = round(b->y * fy);
  b->width = round((b->x + b->width) * fx) - x;
  b->height = round((b->y + b->height) * fy) - y;
  b->x = x, b->y = y;
}

lapis_status boxes_propose(lapis_ctx *ctx, const lapis_image *image,
                           const propose_settings *given, int64_t count,
                           lapis_box *box, int64_t *found)
{
  propose_settings set = given == NULL ? propose_defaults() : *given;
  *found = 0;
  TRY(image_check(ctx, "boxes", image));
  if (!(set.overlap > 0 && set.overlap <= 1))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "boxes: an overlap of %g; it must be in (0, 1]",
                      set.overlap);
  if (set.longest < 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "boxes: a longest side of %" PRId64
                      " pixels; it must be 1 or more",
                      set.longest);
  proposer p = {.integral = NULL};
  lapis_image small;
  TRY(image_between(ctx, image, 0, set.longest, &small));
  lapis_status status = propose(ctx, &p, &small, &set);
  if (status == LAPIS_OK) suppress(&p, set.overlap, count, box, found);
  for (int64_t i = 0; i < *found; i++) enlarge(image, &small, &box[i]);
  lapis_image_free(&small);
  box_grid_free(&p.grid);
  base_free(p.integral), base_free(p.all);
  return status;
}
