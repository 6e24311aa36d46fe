/* dense.c - dense SIFT as VLFeat has it, with its flat window.
 *
 * Lowe, IJCV 2004, Sec. 6: 4 x 4 cells of 8 directions; a gradient is shared
 * linearly by two directions and by the cells around it, that is, each of the 8
 * images of directions is filtered by a triangle as wide as two cells.  A
 * Gaussian over the patch weighs cells, not pixels (the flat window).  Vectors
 * are brought to length 1, cut at CUT and brought to length 1 again, times 512
 * and rounded down, at most 255.
 *
 * vl_dsift computes descriptors on a whole grid, which is dozens of times more
 * than random positions need, and its memory fails by ending the process; here
 * one is made where it is asked for.  Conventions are VLFeat's: central
 * differences, one-sided at the border, beyond which an image goes on as it
 * ends; directions counted from x towards y. */
#include "images/words/dense.h"

#include <math.h>

#include "images/image/ops.h"

enum { DIRECTIONS = 8 };
static const double WINDOW = 2; /* deviation of the Gaussian, in cells */
static const float CUT = 0.2F;

int64_t dense_places(int64_t side, int64_t bin)
{
  int64_t span = (DENSE_CELLS - 1) * bin;
  return side > span ? side - span : 0;
}

/* The Gaussian's mean over the triangle of cell i. */
static double cell_weight(int i, int64_t bin)
{
  double sum = 0, b = (double)bin;
  double centre = b * (i - (DENSE_CELLS - 1) / 2.0);
  for (int64_t x = 1 - bin; x < bin; x++) {
    double z = ((double)x + centre) / (b * WINDOW);
    sum += exp(-z * z / 2);
  }
  return sum / (2 * b - 1);
}

/* ---- edges by direction -------------------------------------------------*/
static double slope(const float *p, int64_t i, int64_t n, int64_t step)
{
  if (n < 2) return 0;
  if (i == 0) return (double)p[step] - (double)p[0];
  if (i == n - 1) return (double)p[0] - (double)p[-step];
  return ((double)p[step] - (double)p[-step]) / 2;
}

/* Its strength at a pixel, shared by the two directions beside it. */
static void share(double gx, double gy, float *to)
{
  const double turn = 6.283185307179586;
  double strength = sqrt(gx * gx + gy * gy);
  if (strength <= 0) return;
  double angle = atan2(gy, gx) / turn * DIRECTIONS;
  double low = floor(angle), part = angle - low;
  int k = ((int)low + DIRECTIONS) % DIRECTIONS;
  to[k] += (float)(strength * (1 - part));
  to[(k + 1) % DIRECTIONS] += (float)(strength * part);
}

static lapis_status find_edges(lapis_ctx *ctx, const lapis_image *grey,
                               lapis_image *out)
{
  int64_t w = grey->width, h = grey->height;
  TRY(image_alloc(ctx, w, h, DIRECTIONS, out));
  for (int64_t k = 0; k < image_count(out); k++) out->pixels[k] = 0;
  for (int64_t y = 0; y < h; y++)
    for (int64_t x = 0; x < w; x++) {
      const float *p = grey->pixels + y * w + x;
      share(slope(p, x, w, 1), slope(p, y, h, w),
            out->pixels + (y * w + x) * DIRECTIONS);
    }
  return LAPIS_OK;
}

static lapis_status spread(lapis_ctx *ctx, const lapis_image *edges,
                           int64_t bin, lapis_image *out)
{
  image_kernel k = {.radius = bin - 1};
  k.value = base_alloc(ctx, 2 * bin - 1, sizeof *k.value);
  if (k.value == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 1 - bin; i < bin; i++)
    k.value[bin - 1 + i] = (double)(bin - (i < 0 ? -i : i)) / (double)bin;
  lapis_status s = image_correlate(ctx, edges, &k, &k, out);
  base_free(k.value);
  return s;
}

lapis_status dense_open(lapis_ctx *ctx, const lapis_image *grey, int64_t bin,
                        double magnif, dense_maps *out)
{
  lapis_image soft = {.width = 0}, edges = {.width = 0};
  double b = (double)bin;
  double variance = magnif > 0 ? b * b / (magnif * magnif) - 0.25 : 0;
  *out = (dense_maps){.bin = bin};
  for (int i = 0; i < DENSE_CELLS; i++)
    out->weight[i] = (float)cell_weight(i, bin);
  lapis_status s = LAPIS_OK;
  if (variance > 0) s = image_gaussian(ctx, grey, sqrt(variance), 0, 0, &soft);
  if (s >= 0) s = find_edges(ctx, variance > 0 ? &soft : grey, &edges);
  if (s >= 0) s = spread(ctx, &edges, bin, &out->edges);
  lapis_image_free(&soft);
  lapis_image_free(&edges);
  return s;
}

void dense_close(dense_maps *m)
{
  lapis_image_free(&m->edges);
}

/* ---- one descriptor -----------------------------------------------------*/
static void normalise(float *v)
{
  float sum = 0;
  for (int i = 0; i < DENSE_SIZE; i++) sum += v[i] * v[i];
  float inverse = sum > 0 ? 1 / sqrtf(sum) : 0;
  for (int i = 0; i < DENSE_SIZE; i++) v[i] *= inverse;
}

void dense_describe(const dense_maps *m, int64_t x, int64_t y, float *to)
{
  int64_t w = m->edges.width;
  for (int r = 0; r < DENSE_CELLS; r++)
    for (int c = 0; c < DENSE_CELLS; c++) {
      int64_t at = (y + r * m->bin) * w + x + c * m->bin;
      const float *from = m->edges.pixels + at * DIRECTIONS;
      float *cell = to + (r * DENSE_CELLS + c) * DIRECTIONS;
      for (int k = 0; k < DIRECTIONS; k++)
        cell[k] = m->weight[r] * m->weight[c] * from[k];
    }
  normalise(to);
  for (int i = 0; i < DENSE_SIZE; i++) to[i] = to[i] < CUT ? to[i] : CUT;
  normalise(to);
  for (int i = 0; i < DENSE_SIZE; i++) {
    float v = floorf(512 * to[i]);
    to[i] = v < 255 ? v : 255;
  }
}
