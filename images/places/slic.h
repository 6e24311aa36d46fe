/* slic.h - superpixels, where VLFeat is built in. */
#ifndef LAPIS_VISION_SLIC_H
#define LAPIS_VISION_SLIC_H
#include <stdbool.h>
#include <stdint.h>

typedef struct slic_task {
  const float *planes; /* channels x height x width */
  int64_t width, height, channels, side, least;
  float regularity;
} slic_task;
bool slic_built(void);
void slic_compute(const slic_task *t, int32_t *label);

#endif
