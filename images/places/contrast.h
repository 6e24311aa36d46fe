/* contrast.h - how unlike boxes are to those of images without the object. */
#ifndef LAPIS_VISION_LOCATE_CONTRAST_H
#define LAPIS_VISION_LOCATE_CONTRAST_H
#include "images/places/places.h"
#include "lapis/images.h"

enum {
  CONTRAST_LENGTH = LAPIS_OUTLINE_EDGES + LAPIS_OUTLINE_COLOURS,
  CONTRAST_PLACE = 4 /* middle, logarithms of the sides, in the image's */
};
/* z: CONTRAST_LENGTH x n, g: CONTRAST_PLACE x n; others: m of both.  out: n. */
lapis_status contrast_distances(lapis_ctx *ctx, int64_t n, const double *z,
                                const double *g, int64_t m,
                                const double *other_z, const double *other_g,
                                double *out);

#endif
