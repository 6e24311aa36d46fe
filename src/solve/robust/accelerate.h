/* accelerate.h - Anderson acceleration of a fixed-point iteration. */
#ifndef LAPIS_RR_ACCELERATE_H
#define LAPIS_RR_ACCELERATE_H
#include "la/backend.h"

enum { ACCEL_MEMORY = 20, ACCEL_PARTS = 2 };

/* A state of up to two arrays. */
typedef struct rr_accel {
  la *h;
  int parts; /* 0: no room was made, nothing is done */
  int64_t have, next;
  double last; /* |f| of the last plain step; < 0: none */
  la_array old[ACCEL_PARTS], f[ACCEL_PARTS], g[ACCEL_PARTS];
  la_array dF[ACCEL_MEMORY][ACCEL_PARTS], dG[ACCEL_MEMORY][ACCEL_PARTS];
  double gram[ACCEL_MEMORY * ACCEL_MEMORY];
} rr_accel;

lapis_status rr_accel_new(la *h, int64_t rows, int64_t cols, int parts,
                          rr_accel *a);
void rr_accel_free(rr_accel *a);
/* The iteration has changed: forget the past. */
void rr_accel_reset(rr_accel *a);
/* Names the past that is remembered. */
void rr_accel_keep(rr_accel *a, loop *l);
/* Before a step: keeps the state. */
lapis_status rr_accel_before(rr_accel *a, la_array *const state[]);
/* After it: moves the state on; it is never left where the step ahead was
 * much worse than the one behind. */
lapis_status rr_accel_after(rr_accel *a, la_array *const state[]);

#endif
