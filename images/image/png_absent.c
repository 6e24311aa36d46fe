/* png_absent.c - stands where libpng was not built in. */
#include "images/image/image.h"

static lapis_status refuse(lapis_ctx *ctx, const char *who)
{
  return lapis_fail(ctx, LAPIS_ENOTBUILT,
                    "%s: PNG is not built into this LAPIS; it needs libpng "
                    "(Debian: libpng-dev)",
                    who);
}

static lapis_status read_png(const image_source *from, lapis_image *out)
{
  (void)out;
  return refuse(from->ctx, from->path);
}

lapis_status image_encode_raster(lapis_ctx *ctx, const image_raster *r,
                                 unsigned char **bytes, size_t *size)
{
  (void)r;
  *bytes = NULL;
  *size = 0;
  return refuse(ctx, "writing an image");
}

lapis_status image_encode_png(lapis_ctx *ctx, const lapis_image *image,
                              unsigned char **bytes, size_t *size)
{
  MAKES(bytes);
  NEEDS(ctx, ctx, image, bytes, size);
  *size = 0;
  return refuse(ctx, "writing an image");
}

const image_kind image_png = {
    {IMAGE_PNG_SHOWN, false}, image_is_png, read_png, NULL};
