/* ops.h - what features are made from: colours, filters, other sizes.  Each
 * makes a new image and leaves the old one; out is empty after a failure.  An
 * image here may have any number of channels and any values. */
#ifndef LAPIS_VISION_OPS_H
#define LAPIS_VISION_OPS_H
#include "images/image/image.h"

/* ---- colour.c -----------------------------------------------------------*/
/* Luma as Rec. 601 has it, 0.299 R + 0.587 G + 0.114 B, of the values as they
 * are stored; a grey image stays as it is. */
lapis_status image_grey(lapis_ctx *ctx, const lapis_image *in,
                        lapis_image *out);
/* Three equal channels where there is one. */
lapis_status image_rgb(lapis_ctx *ctx, const lapis_image *in, lapis_image *out);
/* CIE L*a*b* under D65: L 0..100, grey at a = b = 0. */
lapis_status image_lab(lapis_ctx *ctx, const lapis_image *in, lapis_image *out);
/* CIE L*u*v* under D65, likewise. */
lapis_status image_luv(lapis_ctx *ctx, const lapis_image *in, lapis_image *out);

/* ---- filter.c: beyond its border an image goes on as it ends -------------*/
/* Correlation with kx along rows and ky along columns, 2 rx + 1 and 2 ry + 1
 * numbers:  out(x, y) = sum_ij kx[rx + i] ky[ry + j] in(x + i, y + j). */
typedef struct image_kernel {
  int64_t radius;
  double *value; /* 2 radius + 1 */
} image_kernel;
lapis_status image_correlate(lapis_ctx *ctx, const lapis_image *in,
                             const image_kernel *kx, const image_kernel *ky,
                             lapis_image *out);
/* A Gaussian sampled up to 4 deviations, its numbers adding up to 1, or its
 * first or second derivative (order 1, 2).  base_free(k->value). */
lapis_status image_gaussian_kernel(lapis_ctx *ctx, double sigma, int order,
                                   image_kernel *k);
/* Blurred by sigma pixels and derived order_x and order_y times (0..2). */
lapis_status image_gaussian(lapis_ctx *ctx, const lapis_image *in, double sigma,
                            int order_x, int order_y, lapis_image *out);

/* ---- resize.c -----------------------------------------------------------*/
/* Along a side that shrinks, means over what a pixel covers; along one that
 * grows, linear between the centres of pixels. */
lapis_status image_resize(lapis_ctx *ctx, const lapis_image *in, int64_t width,
                          int64_t height, lapis_image *out);
/* A copy, made smaller where its longer side is more than `longest`, and larger
 * where it is less than `least`. */
lapis_status image_between(lapis_ctx *ctx, const lapis_image *in, int64_t least,
                           int64_t longest, lapis_image *out);
typedef struct image_box { /* in pixels; x and y of the upper left corner */
  int64_t x, y, width, height;
} image_box;
/* The part of a box that lies inside; LAPIS_EDATA where nothing does. */
lapis_status image_crop(lapis_ctx *ctx, const lapis_image *in,
                        const image_box *box, lapis_image *out);

#endif
