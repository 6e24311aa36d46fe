/* raster.c - the memory of an image, and what it may be. */
#include "images/image/image.h"

lapis_status image_check_size(lapis_ctx *ctx, const char *path, double width,
                              double height)
{
  if (width < 1 || height < 1)
    return lapis_fail(ctx, LAPIS_EFORMAT, "%s: has no pixels (%.0f x %.0f)",
                      path, width, height);
  if (width > LAPIS_IMAGE_MAX_SIDE || height > LAPIS_IMAGE_MAX_SIDE ||
      width * height > base_max_pixels(ctx))
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: is too large, %.0f x %.0f pixels; at most %d a side "
                      "are read, and %.0f in all (--max-pixels N allows more)",
                      path, width, height, LAPIS_IMAGE_MAX_SIDE,
                      base_max_pixels(ctx));
  return LAPIS_OK;
}

lapis_status image_alloc(lapis_ctx *ctx, int64_t width, int64_t height,
                         int64_t channels, lapis_image *out)
{
  *out = (lapis_image){.width = width, .height = height, .channels = channels};
  out->pixels = base_alloc_raw(ctx, image_count(out), sizeof(float));
  return out->pixels == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

void lapis_image_free(lapis_image *image)
{
  if (image == NULL) return;
  base_free(image->pixels);
  *image = (lapis_image){.width = 0};
}

lapis_status image_check(lapis_ctx *ctx, const char *who,
                         const lapis_image *image)
{
  if (image->width > 0 && image->height > 0 && image->pixels != NULL &&
      (image->channels == 1 || image->channels == 3))
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "%s: an image of %" PRId64 " x %" PRId64
                    " pixels and %" PRId64
                    " channels; some pixels and 1 or 3 channels are needed",
                    who, image->width, image->height, image->channels);
}
