/* lapis_image.h - pictures in memory and in files.
 *
 * Three formats are read: PNG, JPEG (turned upright as its EXIF data say) and
 * PNM (P1 to P6); the file's first bytes decide which, not its name.  Any other
 * file, and one that is damaged or too large, is refused with one sentence that
 * names the file.  PNG and JPEG are an optional part of the library:
 * LAPIS_ENOTBUILT where it was left out. */
#ifndef LAPIS_IMAGE_H
#define LAPIS_IMAGE_H
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An image with a longer side is refused, and one of more pixels than the
 * context's max-pixels (lapis_ctx_set). */
enum { LAPIS_IMAGE_MAX_SIDE = 32767 };

typedef struct lapis_image {
  int64_t width, height;
  int64_t channels; /* 1: grey, 3: red, green, blue (sRGB) */
  float *pixels;    /* height x width x channels, rows from the top, 0..1 */
} lapis_image;

LAPIS_API lapis_status lapis_image_read(lapis_ctx *ctx, const char *path,
                                        lapis_image *out);
/* Frees what lapis_image_read made; the image is empty afterwards. */
LAPIS_API void lapis_image_free(lapis_image *image);

/* ---- what can be read ---------------------------------------------------*/
typedef struct lapis_image_format {
  const char *name;    /* "png" */
  const char *endings; /* of file names: ".jpg .jpeg" */
  const char *title;
  const char *package; /* Debian package it needs, or NULL */
  bool built;
} lapis_image_format;
/* NULL past the end. */
LAPIS_API const lapis_image_format *lapis_image_format_at(int i);

#ifdef __cplusplus
}
#endif
#endif
