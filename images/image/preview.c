/* preview.c - an image small enough for a page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/image/ops.h"

enum { EXACT_SIDE = 160, LEAST_SIDE = 16, LEAST_BYTES = 4096 };
static const double STEP = 0.8; /* from one size to the next */

static int64_t part(int64_t whole, double share)
{
  return (int64_t)fmax(1, floor((double)whole * share + 0.5));
}

/* *out stays empty where the file would be larger than `most`. */
static lapis_status encode_exact(lapis_ctx *ctx, const lapis_image *image,
                                 int64_t most, image_shown *out)
{
  TRY(image_encode_png(ctx, image, &out->bytes, &out->size));
  out->type = "image/png";
  if ((int64_t)out->size > most) preview_free(out);
  return LAPIS_OK;
}

static lapis_status encode_near(lapis_ctx *ctx, const lapis_image *image,
                                int64_t most, image_shown *out)
{
  int64_t size;
  unsigned char *room = base_alloc_raw(ctx, most, 1);
  if (room == NULL) return LAPIS_ENOMEM;
  lapis_status s = image_encode_jpeg(ctx, image, room, most, &size);
  if (s >= 0 && size > 0) {
    out->bytes = malloc((size_t)size);
    out->size = (size_t)size;
    out->type = "image/jpeg";
    if (out->bytes != NULL)
      memcpy(out->bytes, room, (size_t)size);
    else
      s = lapis_fail(ctx, LAPIS_ENOMEM,
                     "preview: no memory for %" PRId64 " bytes", size);
  }
  base_free(room);
  return s;
}

static lapis_status encode(lapis_ctx *ctx, const lapis_image *image,
                           int64_t most, image_shown *out)
{
  out->width = image->width;
  out->height = image->height;
  if (image->width <= EXACT_SIDE && image->height <= EXACT_SIDE)
    TRY(encode_exact(ctx, image, most, out));
  return out->bytes != NULL ? LAPIS_OK : encode_near(ctx, image, most, out);
}

static lapis_status encode_shrunk(lapis_ctx *ctx, const lapis_image *image,
                                  double share, int64_t most, image_shown *out)
{
  lapis_image small;
  if (share >= 1) return encode(ctx, image, most, out);
  TRY(image_resize(ctx, image, part(image->width, share),
                   part(image->height, share), &small));
  lapis_status s = encode(ctx, &small, most, out);
  lapis_image_free(&small);
  return s;
}

lapis_status image_preview(lapis_ctx *ctx, const lapis_image *image,
                           int64_t side, int64_t most, image_shown *out)
{
  MAKES(out);
  NEEDS(ctx, ctx, image, out);
  TRY(image_check(ctx, "preview", image));
  double longer =
      (double)(image->width > image->height ? image->width : image->height);
  double wanted = fmax(fmin(longer, (double)side), LEAST_SIDE);
  if (most < LEAST_BYTES) most = LEAST_BYTES; /* what 16 x 16 pixels need */
  while (out->bytes == NULL) {
    lapis_status s = encode_shrunk(ctx, image, wanted / longer, most, out);
    if (s < 0) return s;
    if (wanted <= LEAST_SIDE && out->bytes == NULL)
      return lapis_fail(
          ctx, LAPIS_ENUMERIC,
          "preview: 16 pixels a side take more than %" PRId64 " bytes", most);
    wanted = fmax(wanted * STEP, LEAST_SIDE);
  }
  return LAPIS_OK;
}

void preview_free(image_shown *preview)
{
  if (preview == NULL) return;
  free(preview->bytes);
  *preview = (image_shown){.width = 0};
}
