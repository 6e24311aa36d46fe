/* anderson.h - Anderson acceleration of a fixed-point iteration. */
#ifndef LAPIS_ANDERSON_H
#define LAPIS_ANDERSON_H
#include "la/backend.h"

enum { ANDERSON_MOST = 20, ANDERSON_PARTS = 2 };

typedef struct anderson_options {
  int memory;     /* differences that are remembered, up to ANDERSON_MOST */
  double regular; /* share of the trace that is added to the diagonal */
  bool firm;      /* steps are measured by the best so far, not the last: for
                     iterations that never move further than before */
} anderson_options;

/* A state of up to two arrays. */
typedef struct anderson {
  la *h;
  int parts; /* 0: no room was made, nothing is done */
  int memory;
  double regular;
  int64_t have, next;
  double last;  /* |f| of the last plain step; < 0: none */
  double least; /* firm: the smallest so far; < 0: none */
  bool firm;
  la_array old[ANDERSON_PARTS], f[ANDERSON_PARTS], g[ANDERSON_PARTS];
  la_array dF[ANDERSON_MOST][ANDERSON_PARTS], dG[ANDERSON_MOST][ANDERSON_PARTS];
  double gram[ANDERSON_MOST * ANDERSON_MOST];
} anderson;

lapis_status anderson_new(la *h, int64_t rows, int64_t cols, int parts,
                          const anderson_options *o, anderson *a);
void anderson_free(anderson *a);
/* The iteration has changed: past states say nothing about it any more. */
void anderson_reset(anderson *a);
/* Names the past states as rows of a checkpoint. */
void anderson_keep(anderson *a, loop *l);
/* Before a step: keeps the state. */
lapis_status anderson_before(anderson *a, la_array *const state[]);
/* After it: moves the state on by what past steps tell; a move that made the
 * next step much longer is taken back. */
lapis_status anderson_after(anderson *a, la_array *const state[]);

#endif
