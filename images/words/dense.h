/* dense.h - upright SIFT descriptors anywhere in an image. */
#ifndef LAPIS_VISION_DENSE_H
#define LAPIS_VISION_DENSE_H
#include "images/image/image.h"

enum { DENSE_SIZE = 128, DENSE_CELLS = 4 };

typedef struct dense_maps {  /* an image prepared for one size of cells */
  int64_t bin;               /* pixels along a cell */
  float weight[DENSE_CELLS]; /* of the cells of a row, or a column */
  lapis_image edges; /* 8 channels: how much edge of each direction around a
                        pixel */
} dense_maps;

/* grey: one channel.  magnif > 0: blurred first, by
 * sqrt((bin / magnif)^2 - 1/4) pixels where that is a number. */
lapis_status dense_open(lapis_ctx *ctx, const lapis_image *grey, int64_t bin,
                        double magnif, dense_maps *out);
void dense_close(dense_maps *m);
/* Centres of cells are x, x + bin, .. x + 3 bin, and the same down from y; all
 * lie inside.  to: DENSE_SIZE whole numbers, 0..255, place
 * (row * 4 + column) * 8 + direction. */
void dense_describe(const dense_maps *m, int64_t x, int64_t y, float *to);
/* Places for x (width) or y (height): 0 .. dense_places - 1; 0: too small. */
int64_t dense_places(int64_t side, int64_t bin);

#endif
