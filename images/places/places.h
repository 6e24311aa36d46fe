/* places.h - shared by the files that say where something is. */
#ifndef LAPIS_VISION_LOCATE_H
#define LAPIS_VISION_LOCATE_H
#include "lapis/images.h"
#include "mat/mat.h"

/* Refuses words that are no words: shapes, values, places.  what: "windows". */
lapis_status words_check(lapis_ctx *ctx, const char *what,
                         const lapis_words *words);
/* The pixel of word j; those on the right or lower edge count to the last. */
void words_pixel(const lapis_words *words, int64_t j, int64_t *x, int64_t *y);
static inline int64_t words_index(const lapis_words *words, int64_t j)
{
  return (int64_t)lapis_mat_at(&words->word, 0, j);
}
/* d finite numbers in one row or one column, into doubles. */
lapis_status vector_take(lapis_ctx *ctx, const char *what,
                         const lapis_mat *from, int64_t d, double *to);
double box_overlap(const lapis_box *a, const lapis_box *b); /* IoU */

/* ---- box_grid.c: the boxes that are asked
 * -----------------------------------*/
typedef struct extent {
  int64_t w, h; /* cells */
} extent;
typedef struct box_grid {
  int64_t width, height; /* of the image */
  int64_t step, nx, ny;  /* pixels of a cell; cells */
  extent *size;
  int64_t sizes, boxes;
} box_grid;
/* what: who asks, for sentences. */
lapis_status grid_make(lapis_ctx *ctx, const char *what,
                       const lapis_box_grid *set, int64_t width, int64_t height,
                       box_grid *out);
void box_grid_free(box_grid *g);
/* The box of cells at (x, y), cut at the image's edge. */
lapis_box grid_box(const box_grid *g, int64_t x, int64_t y, extent e,
                   double score);

/* label: height x width, any numbers.  Pixels of one number that touch are a
 * segment; segments are numbered in reading order of their first pixels.  A
 * segment of fewer than `least` pixels joins the neighbour with which it shares
 * most sides. */
lapis_status segments_of_labels(lapis_ctx *ctx, const int32_t *label,
                                int64_t width, int64_t height, int64_t least,
                                lapis_segments *out);

/* ---- boxes that may hold an object ----------------------------------------
 * Boxes are ranked by how much denser edges are inside than around.  The score
 * is a difference times sqrt(share of the image that the box has).  The
 * difference is the mean length of the gradient in the box minus that in a ring
 * around it, a quarter of its sides wide (where the image goes on).  A mean
 * over n pixels is known to 1 / sqrt(n), so a large box needs less contrast
 * than a small one. */
typedef struct propose_settings {
  lapis_box_grid grid;
  double overlap; /* of two boxes whose IoU is this or more, the better stays */
  int64_t longest; /* pixels: a larger image is first made so small; grid.step
                      is in its pixels then */
} propose_settings;
propose_settings propose_defaults(void);
/* box: the best `count` boxes, best first; *found <= count: how many. */
lapis_status boxes_propose(lapis_ctx *ctx, const lapis_image *image,
                           const propose_settings *given, int64_t count,
                           lapis_box *box, int64_t *found);

/* A table of boxes: name,x,y,width,height[,score], or in the order that a first
 * row of these words says; score is NaN where the table has none. */
typedef struct box_table {
  int64_t count;
  char **name;    /* count: the name of the image */
  lapis_box *box; /* count */
  int64_t *line;  /* count: where it stands */
} box_table;
lapis_status boxes_read(lapis_ctx *ctx, const char *path, box_table *out);
void boxes_free(box_table *table); /* leaves it empty */

#endif
