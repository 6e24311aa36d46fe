/* outline.c - the edges and colours of a box with what surrounds it.
 *
 * Edges.  The box grows by a quarter of its sides on each side, as far as the
 * image goes, so that the outline of an object lies inside, and is cut into
 * CELLS x CELLS cells.  A cell holds the gradients' lengths in TURNS directions
 * (without sign, shared linearly between two), each divided by the mean length
 * around its pixel, which leaves contrast out ([DT05] in short).  A cell is
 * added to its mirror image, so that what looks left is like what looks right;
 * the sum is 1, and roots are taken (the Hellinger kernel).
 *
 * Colours.  p is the histogram in the box and q that in the ring around it, of
 * CIELab in 4 x 5 x 5 bins; the numbers are sqrt(p) - 0.7 sqrt(q): a colour
 * that the surroundings have, too, counts little.
 *
 * Contrast.  1 - sum sqrt(p q), times the root of the share of the image that
 * the box has: how well its colours set it off, as "colour contrast" in Alexe,
 * Deselaers, Ferrari (PAMI 2012).
 *
 * The image is made at most LONGEST pixels long; integral images then give a
 * sum over any rectangle by four numbers a bin. */
#include "images/features/outline.h"

#include <math.h>

#include "base/base.h"
#include "images/image/image.h"

enum { CELLS = 6, TURNS = 9, LEVELS = 4, SHADES = 5, LONGEST = 256 };
enum { BINS = LEVELS * SHADES * SHADES, AROUND = 16 };
static const double ring_share = 0.25, ring_weight = 0.7;
static const double flat = 2.0 / 255, most_length = 4;

_Static_assert(CELLS *CELLS / 2 * TURNS == LAPIS_OUTLINE_EDGES, "edges");
_Static_assert((int)BINS == (int)LAPIS_OUTLINE_COLOURS, "colours");

struct outline {
  int64_t width, height;
  double scale_x, scale_y; /* from pixels of the image to our own */
  double *edges;           /* (height + 1) x (width + 1) x TURNS */
  int32_t *colours;        /* (height + 1) x (width + 1) x BINS */
};

typedef struct rectangle {
  int64_t x0, y0, x1, y1;
} rectangle;

static int64_t cut(int64_t v, int64_t low, int64_t high)
{
  return v < low ? low : v > high ? high : v;
}

static const double *edges_at(const outline *o, int64_t x, int64_t y)
{
  return o->edges + (y * (o->width + 1) + x) * TURNS;
}

static const int32_t *colours_at(const outline *o, int64_t x, int64_t y)
{
  return o->colours + (y * (o->width + 1) + x) * BINS;
}

/* ---- integral images ----------------------------------------------------*/
typedef struct gradient {
  double x, y;
} gradient;

static gradient gradient_at(const lapis_image *m, int64_t x, int64_t y)
{
  int64_t left = cut(x - 1, 0, m->width - 1),
          right = cut(x + 1, 0, m->width - 1);
  int64_t up = cut(y - 1, 0, m->height - 1),
          down = cut(y + 1, 0, m->height - 1);
  const float *p = m->pixels;
  return (gradient){
      (double)(p[y * m->width + right] - p[y * m->width + left]) / 2,
      (double)(p[down * m->width + x] - p[up * m->width + x]) / 2};
}

/* sum: (height + 1) x (width + 1), of the gradients' lengths. */
static void sum_lengths(const lapis_image *grey, double *sum)
{
  int64_t w = grey->width + 1;
  for (int64_t y = 0; y < grey->height; y++)
    for (int64_t x = 0; x < grey->width; x++) {
      gradient g = gradient_at(grey, x, y);
      sum[(y + 1) * w + x + 1] = hypot(g.x, g.y) + sum[y * w + x + 1] +
                                 sum[(y + 1) * w + x] - sum[y * w + x];
    }
}

/* The mean length around a pixel. */
static double mean_length(const outline *o, const double *sum, int64_t x,
                          int64_t y)
{
  int64_t w = o->width + 1;
  int64_t x0 = cut(x - AROUND, 0, o->width),
          x1 = cut(x + AROUND + 1, 0, o->width);
  int64_t y0 = cut(y - AROUND, 0, o->height);
  int64_t y1 = cut(y + AROUND + 1, 0, o->height);
  double all =
      sum[y1 * w + x1] - sum[y0 * w + x1] - sum[y1 * w + x0] + sum[y0 * w + x0];
  return all / (double)((x1 - x0) * (y1 - y0));
}

static void sum_edges(outline *o, const lapis_image *grey, const double *length)
{
  const double pi = acos(-1.0);
  for (int64_t y = 0; y < o->height; y++)
    for (int64_t x = 0; x < o->width; x++) {
      double *to = o->edges + ((y + 1) * (o->width + 1) + x + 1) * TURNS;
      const double *up = edges_at(o, x + 1, y), *left = edges_at(o, x, y + 1);
      const double *corner = edges_at(o, x, y);
      for (int t = 0; t < TURNS; t++) to[t] = up[t] + left[t] - corner[t];
      gradient g = gradient_at(grey, x, y);
      double turn = atan2(g.y, g.x) / pi;
      turn = (turn - floor(turn)) * TURNS;
      int low = (int)turn % TURNS;
      double share = turn - floor(turn);
      double v = hypot(g.x, g.y) / (mean_length(o, length, x, y) + flat);
      v = fmin(v, most_length);
      to[low] += v * (1 - share);
      to[(low + 1) % TURNS] += v * share;
    }
}

static int shade(float v)
{
  return v < -12 ? 0 : v < -3 ? 1 : v < 3 ? 2 : v < 12 ? 3 : 4;
}

static void sum_colours(outline *o, const lapis_image *lab)
{
  for (int64_t y = 0; y < o->height; y++)
    for (int64_t x = 0; x < o->width; x++) {
      int32_t *to = o->colours + ((y + 1) * (o->width + 1) + x + 1) * BINS;
      const int32_t *up = colours_at(o, x + 1, y);
      const int32_t *left = colours_at(o, x, y + 1);
      const int32_t *corner = colours_at(o, x, y);
      for (int b = 0; b < BINS; b++) to[b] = up[b] + left[b] - corner[b];
      const float *p = lab->pixels + (y * o->width + x) * 3;
      int level = (int)cut((int64_t)(p[0] / 25), 0, LEVELS - 1);
      to[(level * SHADES + shade(p[1])) * SHADES + shade(p[2])]++;
    }
}

static lapis_status sum_up(lapis_ctx *ctx, outline *o, const lapis_image *small)
{
  lapis_image grey = {.width = 0}, lab = {.width = 0};
  int64_t places = (o->width + 1) * (o->height + 1);
  o->edges = base_alloc(ctx, places * TURNS, sizeof *o->edges);
  o->colours = base_alloc(ctx, places * BINS, sizeof *o->colours);
  double *length = base_alloc(ctx, places, sizeof *length);
  bool room = o->edges != NULL && o->colours != NULL && length != NULL;
  lapis_status s = room ? image_grey(ctx, small, &grey) : LAPIS_ENOMEM;
  if (s >= 0) s = image_lab(ctx, small, &lab);
  if (s >= 0) {
    sum_lengths(&grey, length);
    sum_edges(o, &grey, length);
    sum_colours(o, &lab);
  }
  lapis_image_free(&grey);
  lapis_image_free(&lab);
  base_free(length);
  return s;
}

lapis_status outline_new(lapis_ctx *ctx, const lapis_image *image,
                         outline **out)
{
  lapis_image small;
  *out = NULL;
  outline *o = base_alloc(ctx, 1, sizeof *o);
  if (o == NULL) return LAPIS_ENOMEM;
  lapis_status s = image_between(ctx, image, 0, LONGEST, &small);
  if (s >= 0) {
    o->width = small.width, o->height = small.height;
    o->scale_x = (double)small.width / (double)image->width;
    o->scale_y = (double)small.height / (double)image->height;
    s = sum_up(ctx, o, &small);
    lapis_image_free(&small);
  }
  if (s < 0)
    outline_free(o);
  else
    *out = o;
  return s;
}

void outline_free(outline *o)
{
  if (o == NULL) return;
  base_free(o->edges);
  base_free(o->colours);
  base_free(o);
}

/* ---- boxes --------------------------------------------------------------*/
/* The box grown by a share of its sides, in our pixels, one or more. */
static rectangle grown(const outline *o, const lapis_box *b, double share)
{
  double dx = share * b->width, dy = share * b->height;
  rectangle r = {(int64_t)round((b->x - dx) * o->scale_x),
                 (int64_t)round((b->y - dy) * o->scale_y),
                 (int64_t)round((b->x + b->width + dx) * o->scale_x),
                 (int64_t)round((b->y + b->height + dy) * o->scale_y)};
  r.x0 = cut(r.x0, 0, o->width - 1), r.y0 = cut(r.y0, 0, o->height - 1);
  r.x1 = cut(r.x1, r.x0 + 1, o->width), r.y1 = cut(r.y1, r.y0 + 1, o->height);
  return r;
}

static void add_cell(const outline *o, rectangle r, bool mirrored, double *to)
{
  const double *a = edges_at(o, r.x0, r.y0), *b = edges_at(o, r.x1, r.y0);
  const double *c = edges_at(o, r.x0, r.y1), *d = edges_at(o, r.x1, r.y1);
  double area = (double)((r.x1 - r.x0) * (r.y1 - r.y0));
  for (int t = 0; t < TURNS; t++)
    to[mirrored ? (TURNS - t) % TURNS : t] +=
        fmax(0, d[t] - b[t] - c[t] + a[t]) / area;
}

static void describe_edges(const outline *o, rectangle r, double *x)
{
  int64_t w = r.x1 - r.x0, h = r.y1 - r.y0;
  double sum = 0;
  for (int i = 0; i < LAPIS_OUTLINE_EDGES; i++) x[i] = 0;
  for (int64_t row = 0; row < CELLS; row++)
    for (int64_t col = 0; col < CELLS; col++) {
      rectangle cell = {r.x0 + w * col / CELLS, r.y0 + h * row / CELLS,
                        r.x0 + w * (col + 1) / CELLS,
                        r.y0 + h * (row + 1) / CELLS};
      if (cell.x1 == cell.x0) cell.x1++;
      if (cell.y1 == cell.y0) cell.y1++;
      bool mirrored = col >= CELLS / 2;
      int64_t at = row * (CELLS / 2) + (mirrored ? CELLS - 1 - col : col);
      add_cell(o, cell, mirrored, x + at * TURNS);
    }
  for (int i = 0; i < LAPIS_OUTLINE_EDGES; i++) sum += x[i];
  for (int i = 0; i < LAPIS_OUTLINE_EDGES; i++)
    x[i] = sum > 0 ? sqrt(x[i] / sum) : 0;
}

static void count_colours(const outline *o, rectangle r, double *p)
{
  const int32_t *a = colours_at(o, r.x0, r.y0), *b = colours_at(o, r.x1, r.y0);
  const int32_t *c = colours_at(o, r.x0, r.y1), *d = colours_at(o, r.x1, r.y1);
  for (int k = 0; k < BINS; k++) p[k] = (double)(d[k] - b[k] - c[k] + a[k]);
}

/* x <- sqrt(p) - 0.7 sqrt(q); 1 - sum sqrt(p q), 0 where there is no ring. */
static double describe_colours(const outline *o, rectangle in, rectangle all,
                               double *x)
{
  double q[BINS], alike = 0;
  double area = (double)((in.x1 - in.x0) * (in.y1 - in.y0));
  double ring = (double)((all.x1 - all.x0) * (all.y1 - all.y0)) - area;
  count_colours(o, in, x);
  count_colours(o, all, q);
  for (int k = 0; k < BINS; k++) {
    double p = x[k] / area, around = ring > 0 ? (q[k] - x[k]) / ring : 0;
    alike += sqrt(p * around);
    x[k] = sqrt(p) - ring_weight * sqrt(around);
  }
  return ring > 0 ? fmax(0, 1 - alike) : 0;
}

void outline_describe(const outline *o, const lapis_box *box, double *x)
{
  rectangle in = grown(o, box, 0), all = grown(o, box, ring_share);
  double area = (double)((in.x1 - in.x0) * (in.y1 - in.y0));
  double share = area / (double)(o->width * o->height);
  describe_edges(o, all, x);
  x[LAPIS_OUTLINE_EDGES + LAPIS_OUTLINE_COLOURS] =
      sqrt(share) * describe_colours(o, in, all, x + LAPIS_OUTLINE_EDGES);
}
