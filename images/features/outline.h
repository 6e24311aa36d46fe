/* outline.h - what is in a box and around it, by sums over rectangles. */
#ifndef LAPIS_VISION_OUTLINE_H
#define LAPIS_VISION_OUTLINE_H
#include "images/image/ops.h"
#include "lapis/images.h"

/* The integral images of one image. */
typedef struct outline outline;
lapis_status outline_new(lapis_ctx *ctx, const lapis_image *image,
                         outline **out);
void outline_free(outline *o); /* NULL is fine */
/* x: LAPIS_OUTLINE_EDGES numbers of edges, LAPIS_OUTLINE_COLOURS of colours,
 * and the contrast. */
void outline_describe(const outline *o, const lapis_box *box, double *x);

#endif
