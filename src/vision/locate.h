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

#endif
