/* anderson.h - Anderson acceleration of a fixed-point iteration. */
#ifndef LAPIS_ANDERSON_H
#define LAPIS_ANDERSON_H
#include "la/backend.h"

enum { ANDERSON_MOST = 20, ANDERSON_PARTS = 2 };

typedef struct anderson_options {
  int memory;     /* differences that are remembered, up to ANDERSON_MOST */
  double regular; /* share of the Gram matrix's trace, added to its diagonal */
  bool firm;      /* a step is compared with the shortest so far, not with the
                     last: for iterations whose steps never grow */
  bool whole;     /* every process has all of the state, not its samples' */
} anderson_options;

/* The acceleration of one iteration whose state is up to two arrays. */
typedef struct anderson {
  la *h;
  int64_t rows, cols; /* of the state's arrays */
  int parts;          /* 0: nothing is done */
  int memory;
  double regular;
  int64_t have, next;
  double last;  /* |f|, the length of the last plain step; < 0: none */
  double least; /* firm: the smallest so far; < 0: none */
  bool firm, whole;
  la_array old[ANDERSON_PARTS], f[ANDERSON_PARTS], g[ANDERSON_PARTS];
  la_array dF[ANDERSON_PARTS], dG[ANDERSON_PARTS]; /* size x memory each, one
                                            difference of the state a column */
  la_array c; /* memory x 2: products with, or factors of, the differences */
  double gram[ANDERSON_MOST * ANDERSON_MOST];
} anderson;

/* For a state of `parts` arrays of rows x cols; memory is taken when it is
 * first kept or used. */
void anderson_new(la *h, int64_t rows, int64_t cols, int parts,
                  const anderson_options *o, anderson *a);
void anderson_free(anderson *a);
/* The iteration has changed: past states say nothing about it any more. */
void anderson_reset(anderson *a);
/* Makes the past states part of the checkpoint. */
void anderson_keep(anderson *a, loop *l);
/* To be called before a step of the iteration: keeps the state. */
lapis_status anderson_before(anderson *a, la_array *const state[]);
/* To be called after the step: moves the state further, to where past steps
 * suggest that the iteration leads; a move that made the next step much longer
 * is taken back. */
lapis_status anderson_after(anderson *a, la_array *const state[]);

#endif
