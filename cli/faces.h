/* faces.h - the bundled CMU faces: word histograms, who wears sunglasses. */
#ifndef LAPIS_FACES_H
#define LAPIS_FACES_H
#include "cli.h"

typedef struct faces {
  lapis_arrays file;
  int64_t d, n;    /* 1000 words, 624 images */
  double *counts;  /* d x n */
  double *mapped;  /* d x n, room for one map of the counts */
  int64_t *person; /* n */
  /* n: labels; NaN outside the training images; NaN on them */
  double *truth, *known, *hidden;
} faces;

/* people: "0,1,2" the training people, or NULL for the papers' first eight. */
int faces_load(cli *c, const char *people, faces *f);
void faces_free(faces *f);
/* mapped = counts through a map. */
int faces_map(cli *c, faces *f, const char *spec);
/* The columns as mapped last whose label in y is not NaN, and those labels,
 * in memory that the caller frees (d x n and n doubles); how many. */
int64_t faces_pick(const faces *f, const double *y, double *X, double *labels);
/* Features as mapped last, labels y, grouped by person. */
lapis_data faces_data(const faces *f, double *y);

#endif
