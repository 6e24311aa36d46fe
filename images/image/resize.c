/* resize.c - other sizes, and parts.
 *
 * Each side on its own: every new pixel is a weighted sum of a run of old
 * ones.  With s = old/new sizes, a side that shrinks averages over
 * [i s, (i + 1) s), end pixels by the share that is covered; one that grows is
 * linear between pixel centres, at (i + 1/2) s - 1/2. */
#include <math.h>
#include <string.h>

#include "images/image/ops.h"

typedef struct run { /* of old pixels that make a new one */
  int64_t first, count;
  double *weight; /* count */
} run;

typedef struct side {
  int64_t from, to;
  run *of; /* to */
  double *weights;
} side;

static void shrink(const side *d, int64_t i, run *r)
{
  double s = (double)d->from / (double)d->to;
  double begin = (double)i * s, end = (double)(i + 1) * s;
  r->first = (int64_t)begin;
  int64_t last = (int64_t)ceil(end) - 1;
  if (last >= d->from) last = d->from - 1;
  r->count = last - r->first + 1;
  for (int64_t k = 0; k < r->count; k++) {
    double a = fmax(begin, (double)(r->first + k));
    double b = fmin(end, (double)(r->first + k + 1));
    r->weight[k] = fmax(b - a, 0) / s;
  }
}

static void grow(const side *d, int64_t i, run *r)
{
  double s = (double)d->from / (double)d->to;
  double at = fmax(((double)i + 0.5) * s - 0.5, 0);
  r->first = (int64_t)at;
  if (r->first > d->from - 1) r->first = d->from - 1;
  r->count = r->first + 1 < d->from ? 2 : 1;
  double share = at - (double)r->first;
  r->weight[0] = r->count == 1 ? 1 : 1 - share;
  if (r->count == 2) r->weight[1] = share;
}

static lapis_status side_new(lapis_ctx *ctx, int64_t from, int64_t to, side *d)
{
  int64_t most = from / to + 3;
  *d = (side){.from = from, .to = to};
  d->of = base_alloc(ctx, to, sizeof *d->of);
  d->weights = base_alloc(ctx, to * most, sizeof *d->weights);
  if (d->of == NULL || d->weights == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < to; i++) {
    d->of[i].weight = d->weights + i * most;
    (to <= from ? shrink : grow)(d, i, &d->of[i]);
  }
  return LAPIS_OK;
}

static void side_free(side *d)
{
  base_free(d->of);
  base_free(d->weights);
}

/* half: width of out, height of in. */
static void rows(const lapis_image *in, const side *d, lapis_image *half)
{
  int64_t c = in->channels;
  for (int64_t y = 0; y < in->height; y++)
    for (int64_t x = 0; x < d->to; x++)
      for (int64_t k = 0; k < c; k++) {
        const run *r = &d->of[x];
        const float *from = in->pixels + (y * in->width + r->first) * c + k;
        double v = 0;
        for (int64_t i = 0; i < r->count; i++)
          v += r->weight[i] * (double)from[i * c];
        half->pixels[(y * d->to + x) * c + k] = (float)v;
      }
}

static void columns(const lapis_image *half, const side *d, lapis_image *out)
{
  int64_t n = out->width * out->channels;
  for (int64_t y = 0; y < d->to; y++)
    for (int64_t x = 0; x < n; x++) {
      const run *r = &d->of[y];
      double v = 0;
      for (int64_t i = 0; i < r->count; i++)
        v += r->weight[i] * (double)half->pixels[(r->first + i) * n + x];
      out->pixels[y * n + x] = (float)v;
    }
}

lapis_status image_resize(lapis_ctx *ctx, const lapis_image *in, int64_t width,
                          int64_t height, lapis_image *out)
{
  side across = {0}, down = {0};
  lapis_image half = {.width = 0};
  *out = half;
  lapis_status s = side_new(ctx, in->width, width, &across);
  if (s >= 0) s = side_new(ctx, in->height, height, &down);
  if (s >= 0) s = image_alloc(ctx, width, in->height, in->channels, &half);
  if (s >= 0) s = image_alloc(ctx, width, height, in->channels, out);
  if (s >= 0) {
    rows(in, &across, &half);
    columns(&half, &down, out);
  }
  lapis_image_free(&half);
  side_free(&across);
  side_free(&down);
  return s;
}

/* ---- parts --------------------------------------------------------------*/
static int64_t within(int64_t v, int64_t n)
{
  return v < 0 ? 0 : v > n ? n : v;
}

lapis_status image_crop(lapis_ctx *ctx, const lapis_image *in,
                        const image_box *box, lapis_image *out)
{
  int64_t left = within(box->x, in->width);
  int64_t top = within(box->y, in->height);
  int64_t width = within(box->x + box->width, in->width) - left;
  int64_t height = within(box->y + box->height, in->height) - top;
  *out = (lapis_image){.width = 0};
  if (width <= 0 || height <= 0)
    return lapis_fail(
        ctx, LAPIS_EDATA,
        "a box at (%" PRId64 ", %" PRId64 ") of %" PRId64 " x %" PRId64
        " pixels lies outside an image of %" PRId64 " x %" PRId64,
        box->x, box->y, box->width, box->height, in->width, in->height);
  TRY(image_alloc(ctx, width, height, in->channels, out));
  for (int64_t y = 0; y < height; y++)
    memcpy(out->pixels + y * width * in->channels,
           in->pixels + ((top + y) * in->width + left) * in->channels,
           (size_t)(width * in->channels) * sizeof *out->pixels);
  return LAPIS_OK;
}

lapis_status image_between(lapis_ctx *ctx, const lapis_image *in, int64_t least,
                           int64_t longest, lapis_image *out)
{
  int64_t now = in->width > in->height ? in->width : in->height;
  int64_t wanted = now > longest ? longest : now < least ? least : now;
  double f = (double)wanted / (double)now;
  const image_box all = {0, 0, in->width, in->height};
  if (now == wanted) return image_crop(ctx, in, &all, out);
  int64_t width = (int64_t)((double)in->width * f + 0.5);
  int64_t height = (int64_t)((double)in->height * f + 0.5);
  return image_resize(ctx, in, width > 1 ? width : 1, height > 1 ? height : 1,
                      out);
}
