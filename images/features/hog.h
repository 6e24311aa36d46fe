/* hog.h - what hog.c asks of VLFeat. */
#ifndef LAPIS_VISION_HOG_H
#define LAPIS_VISION_HOG_H
#include "images/image/image.h"

typedef struct hog_task {
  bool dalal_triggs; /* else UoCTTI */
  int64_t orientations, cell;
  int64_t width, height, channels; /* of the image */
  const float *planes;             /* channels x height x width */
} hog_task;

bool hog_built(void);
/* Numbers a cell. */
int64_t hog_depth(const hog_task *t);
/* Cells along a side of n pixels: those that are at least half inside. */
int64_t hog_cells(int64_t n, int64_t cell);
/* out: depth x cells down x cells across, as VLFeat has it. */
void hog_compute(const hog_task *t, float *out);

#endif
