/* sift.h - what sift.c asks of VLFeat. */
#ifndef LAPIS_VISION_SIFT_H
#define LAPIS_VISION_SIFT_H
#include "vision/image.h"

enum { SIFT_SIZE = 128, SIFT_PLACE = 4 };

typedef struct sift_task {
  const lapis_image *grey;
  int64_t levels, first_octave;
  double peak, edge;
} sift_task;

typedef struct sift_list {
  int64_t count, room;
  float *vector;   /* SIFT_SIZE x room: whole numbers, 0..255 */
  float *place;    /* SIFT_PLACE x room: x, y, scale, angle */
  float *strength; /* room: |difference of Gaussians| at the extremum */
} sift_list;

bool sift_built(void);
/* Appends to an empty list. */
lapis_status sift_find(lapis_ctx *ctx, const sift_task *t, sift_list *out);
/* Bytes that the scale space of w x h pixels takes. */
double sift_bytes(const sift_task *t);

/* ---- sift.c -------------------------------------------------------------*/
/* Room for one more, at index count. */
lapis_status sift_grow(lapis_ctx *ctx, sift_list *list);

#endif
