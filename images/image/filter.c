/* filter.c - separable filters: first along rows, then along columns. */
#include <math.h>

#include "images/image/ops.h"

static const double REACH = 4; /* deviations of a Gaussian that are sampled */

static int64_t clamp(int64_t i, int64_t n)
{
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* line: (n + 2 r) x c, row y of an image and what lies beyond its ends. */
static void pad_row(const lapis_image *in, int64_t y, int64_t r, double *line)
{
  const float *row = in->pixels + y * in->width * in->channels;
  for (int64_t i = -r; i < in->width + r; i++)
    for (int64_t c = 0; c < in->channels; c++)
      *line++ = (double)row[clamp(i, in->width) * in->channels + c];
}

static void along_rows(const lapis_image *in, const image_kernel *k,
                       double *line, lapis_image *out)
{
  int64_t n = in->width * in->channels;
  for (int64_t y = 0; y < in->height; y++) {
    float *to = out->pixels + y * n;
    pad_row(in, y, k->radius, line);
    for (int64_t x = 0; x < n; x++) {
      double v = 0;
      for (int64_t i = 0; i <= 2 * k->radius; i++)
        v += k->value[i] * line[x + i * in->channels];
      to[x] = (float)v;
    }
  }
}

/* sum: a row of out. */
static void along_columns(const lapis_image *in, const image_kernel *k,
                          double *sum, lapis_image *out)
{
  int64_t n = in->width * in->channels;
  for (int64_t y = 0; y < in->height; y++) {
    for (int64_t x = 0; x < n; x++) sum[x] = 0;
    for (int64_t j = -k->radius; j <= k->radius; j++) {
      const float *row = in->pixels + clamp(y + j, in->height) * n;
      double weight = k->value[k->radius + j];
      for (int64_t x = 0; x < n; x++) sum[x] += weight * (double)row[x];
    }
    for (int64_t x = 0; x < n; x++) out->pixels[y * n + x] = (float)sum[x];
  }
}

lapis_status image_correlate(lapis_ctx *ctx, const lapis_image *in,
                             const image_kernel *kx, const image_kernel *ky,
                             lapis_image *out)
{
  lapis_image half;
  int64_t line = (in->width + 2 * kx->radius) * in->channels;
  *out = (lapis_image){.width = 0};
  TRY(image_alloc(ctx, in->width, in->height, in->channels, &half));
  double *work = base_alloc_raw(ctx, line, sizeof *work);
  lapis_status s =
      work == NULL ? LAPIS_ENOMEM
                   : image_alloc(ctx, in->width, in->height, in->channels, out);
  if (s >= 0) {
    along_rows(in, kx, work, &half);
    along_columns(&half, ky, work, out);
  }
  base_free(work);
  lapis_image_free(&half);
  return s;
}

/* ---- Gaussians ----------------------------------------------------------*/
/* The derivative of g at x over g: of order 1 seen as correlation, which runs
 * the other way. */
static double factor(double x, double sigma, int order)
{
  double v = sigma * sigma;
  if (order == 0) return 1;
  return order == 1 ? x / v : x * x / (v * v) - 1 / v;
}

lapis_status image_gaussian_kernel(lapis_ctx *ctx, double sigma, int order,
                                   image_kernel *k)
{
  k->radius = (int64_t)(REACH * sigma + 0.5);
  k->value = base_alloc(ctx, 2 * k->radius + 1, sizeof *k->value);
  if (k->value == NULL) return LAPIS_ENOMEM;
  double *centre = k->value + k->radius, sum = 0;
  for (int64_t i = -k->radius; i <= k->radius; i++) {
    double x = (double)i / sigma;
    centre[i] = exp(-x * x / 2);
    sum += centre[i];
  }
  for (int64_t i = -k->radius; i <= k->radius; i++)
    centre[i] *= factor((double)i, sigma, order) / sum;
  return LAPIS_OK;
}

lapis_status image_gaussian(lapis_ctx *ctx, const lapis_image *in, double sigma,
                            int order_x, int order_y, lapis_image *out)
{
  image_kernel kx = {0}, ky = {0};
  *out = (lapis_image){.width = 0};
  lapis_status s = image_gaussian_kernel(ctx, sigma, order_x, &kx);
  if (s >= 0) s = image_gaussian_kernel(ctx, sigma, order_y, &ky);
  if (s >= 0) s = image_correlate(ctx, in, &kx, &ky, out);
  base_free(kx.value);
  base_free(ky.value);
  return s;
}
