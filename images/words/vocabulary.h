/* vocabulary.h - visual words: a tree of centres, every node of which has
 * `branch` children; words are its leaves.  One level is a flat vocabulary.
 *
 * Numbering: the children of node i are nodes branch i .. branch i + branch - 1
 * of the next level.  A point goes down the tree to the nearest child each
 * time, to the first of those that are equally near. */
#ifndef LAPIS_VISION_VOCABULARY_H
#define LAPIS_VISION_VOCABULARY_H
#include "op/learn/nearest.h"

enum {
  VOCABULARY_LEVELS = 4,
  VOCABULARY_LONGEST = 16,
  VOCABULARY_SIDE = 20000
};
typedef struct vocabulary {
  int64_t d, branch, levels, words; /* words = branch^levels */
  float *shift, *scale; /* d: the tree is one of (x - shift) / scale */
  nearest_centres level[VOCABULARY_LEVELS]; /* branch^(l + 1) centres */
  char *made;                               /* JSON: of what, and how */
  int64_t longest, enlarge; /* of the images it was learnt from; -1: unsaid */
  char *bins;               /* of the patches, as --bins; NULL: unsaid */
} vocabulary;

typedef struct vocabulary_task {
  float *points; /* d x n, standardised in place where asked for */
  int64_t d, n;
  int64_t branch, levels;
  int64_t restarts;
  bool standardise; /* each of the d numbers to mean 0, variance 1 */
  int threads;
} vocabulary_task;

/* branch^levels = words with 1 <= levels <= VOCABULARY_LEVELS, or a sentence
 * that names what. */
lapis_status vocabulary_branch(lapis_ctx *ctx, const char *what, int64_t words,
                               int64_t levels, int64_t *branch);
/* Fewer points than words are refused.  Positive: stopped early, nothing in
 * out. */
lapis_status vocabulary_learn(lapis_ctx *ctx, const vocabulary_task *t,
                              vocabulary *out);
void vocabulary_free(vocabulary *v);
/* The word of each of n points (d x n, standardised in place). */
lapis_status vocabulary_find(lapis_ctx *ctx, const vocabulary *v, float *points,
                             int64_t n, int32_t *word);

/* ---- vocabulary_file.c --------------------------------------------------*/
/* .npz: level_1 .. level_L (branch^l rows of d), shift, scale (d), made. */
lapis_status vocabulary_write(lapis_ctx *ctx, const char *path,
                              const vocabulary *v);
/* of: what its words must describe, as made's "of" says. */
lapis_status vocabulary_read(lapis_ctx *ctx, const char *path, const char *of,
                             int64_t d, vocabulary *out);

#endif
