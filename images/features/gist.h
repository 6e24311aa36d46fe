/* gist.h - GIST of images and of boxes in them. */
#ifndef LAPIS_VISION_GIST_H
#define LAPIS_VISION_GIST_H
#include "images/image/ops.h"
#include "lapis/images.h"

/* The filters, made once; reading it from several threads is fine. */
typedef struct gist_bank gist_bank;
lapis_status gist_bank_new(lapis_ctx *ctx, const lapis_gist_settings *set,
                           gist_bank **out);
void gist_bank_free(gist_bank *b); /* NULL is fine */
/* Numbers of a description. */
int64_t gist_length(const gist_bank *b);
/* Of an image, or of the part of it inside box (NULL: all of it), whatever its
 * sides: it is made a square.  out: gist_length. */
lapis_status gist_describe(lapis_ctx *ctx, const gist_bank *b,
                           const lapis_image *image, const image_box *box,
                           double *out);

#endif
