/* orientation.h - pictures taken with the camera turned. */
#ifndef LAPIS_VISION_TURN_H
#define LAPIS_VISION_TURN_H
#include "base/base.h"
#include "lapis/images.h"

/* The orientation (1..8) that the payload of a JPEG's APP1 segment states;
 * false, and *out as it was, where it states none. */
bool exif_orientation(const unsigned char *data, int64_t size, int *out);
/* Turns and mirrors an image so that an orientation becomes 1. */
lapis_status image_turn(lapis_ctx *ctx, lapis_image *image, int orientation);

#endif
