/* locate.h - shared by the files that say where something is. */
#ifndef LAPIS_VISION_LOCATE_H
#define LAPIS_VISION_LOCATE_H
#include "lapis/lapis_locate.h"
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

/* ---- grid.c: the boxes that are asked -----------------------------------*/
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

#endif
