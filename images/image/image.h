/* image.h - between the files that read and write pictures. */
#ifndef LAPIS_VISION_IMAGE_H
#define LAPIS_VISION_IMAGE_H
#include <math.h>

#include "base/base.h"
#include "lapis/images.h"

typedef struct image_source { /* a file's bytes */
  lapis_ctx *ctx;
  const char *path;          /* as sentences name it */
  const unsigned char *data; /* size */
  int64_t size;
} image_source;

/* Refuses sizes that are none or beyond the limits of lapis_image.h. */
lapis_status image_check_size(lapis_ctx *ctx, const char *path, double width,
                              double height);
/* Pixels are not set.  The sizes have been checked where they come from a
 * file. */
lapis_status image_alloc(lapis_ctx *ctx, int64_t width, int64_t height,
                         int64_t channels, lapis_image *out);
static inline int64_t image_count(const lapis_image *image) /* of floats */
{
  return image->width * image->height * image->channels;
}
/* Refuses what no function here makes: channels other than 1 and 3, no
 * pixels. */
lapis_status image_check(lapis_ctx *ctx, const char *who,
                         const lapis_image *image);

/* One reader a format, and the row that describes it. */
typedef struct image_kind {
  lapis_image_format shown;
  bool (*is)(const unsigned char *head, int64_t size);
  lapis_status (*read)(const image_source *from, lapis_image *out);
  const char *end; /* what stands at the end of a whole file; NULL: nothing */
} image_kind;
extern const image_kind image_png, image_jpeg, image_pnm;
#define IMAGE_PNG_SHOWN "png", ".png", "Portable Network Graphics", "libpng-dev"
#define IMAGE_JPEG_SHOWN \
  "jpeg", ".jpg .jpeg .jpe .jfif", "JPEG", "libjpeg62-turbo-dev"
/* 8 bits a value; NaN is 0. */
static inline unsigned char image_level(float v)
{
  if (!(v > 0)) return 0;
  return v >= 1 ? 255 : (unsigned char)lroundf(v * 255);
}
/* Into room bytes at `to`; *size 0: they do not suffice. */
lapis_status image_encode_jpeg(lapis_ctx *ctx, const lapis_image *image,
                               unsigned char *to, int64_t room, int64_t *size);
/* A picture of bytes as PNG, malloc'ed. */
typedef struct image_raster {
  int64_t height, width;
  const unsigned char *pixels;  /* rows from the top: red, green, blue, or */
  const unsigned char *palette; /* indices of `colours` entries of red, green,
                                   blue, alpha */
  int colours;
} image_raster;
lapis_status image_encode_raster(lapis_ctx *ctx, const image_raster *r,
                                 unsigned char **bytes, size_t *size);
bool image_is_png(const unsigned char *head, int64_t size);
bool image_is_jpeg(const unsigned char *head, int64_t size);

/* ---- writing: png.c, preview.c
 * ---------------------------------------------*/
/* Writes 8 bits a channel; a value below 0 becomes 0, one above 1 becomes 1,
 * and NaN becomes black. */
lapis_status image_write_png(lapis_ctx *ctx, const lapis_image *image,
                             const char *path);
/* The same bytes in memory; the caller frees them with free(). */
lapis_status image_encode_png(lapis_ctx *ctx, const lapis_image *image,
                              unsigned char **bytes, size_t *size);

/* What a page shows of an image.  The image is shrunk (a new pixel is the mean
 * of what it covers) until its longer side has at most `side` pixels and its
 * file at most `most` bytes, though not below 16 pixels.  Up to 160 pixels a
 * side it is a PNG, and so exact, if that fits into `most`; otherwise a
 * JPEG. */
typedef struct image_shown {
  int64_t width, height;
  const char *type; /* "image/png", "image/jpeg" */
  unsigned char *bytes;
  size_t size;
} image_shown;
lapis_status image_preview(lapis_ctx *ctx, const lapis_image *image,
                           int64_t side, int64_t most, image_shown *out);
void preview_free(image_shown *preview); /* its bytes */

#endif
