/* sift.h - what sift.c asks of VLFeat. */
#ifndef LAPIS_VISION_SIFT_H
#define LAPIS_VISION_SIFT_H
#include "images/features/feature.h"
#include "images/image/image.h"

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

typedef struct sift_point { /* made elsewhere */
  int64_t image, line;      /* line 0: of a grid */
  char *name;
  double x, y, scale, angle;
} sift_point;
typedef struct sift_points {
  int64_t count;
  sift_point *at;
} sift_points;

bool sift_built(void);
/* vector: SIFT_SIZE x count.  A point closer to the right or lower edge than
 * its octave can tell is described there. */
lapis_status sift_describe(lapis_ctx *ctx, const sift_task *t,
                           const sift_points *points, float *vector);
/* Appends to an empty list. */
lapis_status sift_find(lapis_ctx *ctx, const sift_task *t, sift_list *out);
/* Bytes that the scale space of w x h pixels takes. */
double sift_bytes(const sift_task *t);

/* ---- pieces.c -----------------------------------------------------------*/
/* Room for one more, at index count. */
lapis_status sift_grow(lapis_ctx *ctx, sift_list *list);

/* ---- sift_points.c ------------------------------------------------------*/
/* The table of them for the job's images, sorted by image. */
lapis_status sift_points_read(const feature_job *j, sift_points *out);
/* The same of the settings' array. */
lapis_status sift_points_take(const feature_job *j, sift_points *out);
void sift_points_free(sift_points *p);
/* A copy of those of the image at hand, the grid's behind them. */
lapis_status sift_points_of(const feature_job *j, const feature_view *v,
                            const sift_points *all, sift_points *out);

#endif
