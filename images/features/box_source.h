/* box_source.h - the boxes of an image that a kind describes: given by a table,
 * or proposed. */
#ifndef LAPIS_VISION_BOX_SOURCE_H
#define LAPIS_VISION_BOX_SOURCE_H
#include "images/features/feature.h"
#include "images/places/places.h"

typedef struct box_source {
  const char *boxes;  /* the table's file, or NULL: proposed */
  int64_t candidates; /* so many, where they are proposed */
  box_table table;
} box_source;
/* Reads the table, of which nothing is kept in a cache: given boxes belong to
 * names, not to pixels. */
lapis_status box_source_open(feature_job *j, const char *boxes,
                             int64_t candidates, box_source *out);
void box_source_close(box_source *s);
/* Of one image, cut to it; at least one, base_alloc'd. */
lapis_status box_source_find(const feature_job *j, const feature_view *v,
                             const box_source *s, lapis_box **out,
                             int64_t *count);
/* When all images are done: how many of the table's boxes were cut. */
void box_source_say_cut(const feature_job *j, const box_source *s);
/* What such a kind publishes: X (rows x boxes), and beside it its boxes. */
enum { BOX_ROWS = 5 };
#define BOX_ARRAYS            \
  {                           \
    {"X", NULL, "group"},     \
    {                         \
      "candidate", NULL, NULL \
    }                         \
  }
void box_put(const lapis_box *at, double *place); /* BOX_ROWS */
bool box_pieces_fit(const feature_slot *s, int64_t rows);
#define BOX_PARAMS                                                            \
  TEXT("boxes", boxes, .arg = "F.csv",                                        \
       .help = "rows of name,x,y,width,height[,score] (default: proposed by " \
               "the density of edges)"),                                      \
      INT("candidates", candidates, .value = 100, FROM_TO(1, 10000),          \
          .goes_with = "!boxes", .help = "boxes proposed in an image")

#endif
