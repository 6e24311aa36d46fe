/* jpeg_absent.c - stands where libjpeg was not built in. */
#include "images/image/image.h"

static lapis_status read_jpeg(const image_source *from, lapis_image *out)
{
  (void)out;
  return lapis_fail(from->ctx, LAPIS_ENOTBUILT,
                    "%s: JPEG is not built into this LAPIS; it needs libjpeg "
                    "(Debian: libjpeg62-turbo-dev)",
                    from->path);
}

lapis_status image_encode_jpeg(lapis_ctx *ctx, const lapis_image *image,
                               unsigned char *to, int64_t room, int64_t *size)
{
  (void)image;
  (void)to;
  (void)room;
  *size = 0;
  return lapis_fail(ctx, LAPIS_ENOTBUILT,
                    "writing JPEG is not built into this LAPIS; it needs "
                    "libjpeg (Debian: libjpeg62-turbo-dev)");
}

const image_kind image_jpeg = {
    {IMAGE_JPEG_SHOWN, false}, image_is_jpeg, read_jpeg, NULL};
