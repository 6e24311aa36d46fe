/* choice.h - one box an image: what the ways of comparing boxes share. */
#ifndef LAPIS_VISION_LOCATE_CHOICE_H
#define LAPIS_VISION_LOCATE_CHOICE_H
#include "images/places/contrast.h"

enum {
  CHOICE_STRIDE = (LAPIS_OUTLINE_EDGES + 7) / 8 * 8
}; /* tall_cholesky's */
typedef struct choice {
  const lapis_choose_settings *set;
  int64_t K, N;          /* images, their boxes */
  int64_t all;           /* boxes of those without the object, too */
  int64_t *first;        /* K + 1: image k has boxes first[k] .. */
  double *z;             /* CONTRAST_LENGTH x all */
  double *u, *t, *s, *p; /* N */
  double *g;             /* CONTRAST_PLACE x all */
  double *mean; /* CONTRAST_LENGTH x (K + 1): sums of p z: each image's, all */
  double *C;    /* edges x CHOICE_STRIDE, scratch */
} choice;

/* ---- alike_boxes.c ------------------------------------------------------*/
/* z <- numbers that tell what a box has and others have not. */
void alike_whiten(choice *c);
/* s and t <- of p. */
void alike_compare(choice *c);

/* ---- map_boxes.c --------------------------------------------------------*/
typedef struct place_map place_map;
/* box, size: as lapis_boxes_choose has them; set->map, grid. */
lapis_status map_new(lapis_ctx *ctx, const choice *c, const lapis_mat *box,
                     const lapis_mat *size, place_map **out);
void map_free(place_map *m); /* NULL: nothing */
/* s and t <- of p. */
void map_compare(place_map *m, choice *c);

#endif
