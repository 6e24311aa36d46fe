/* kernel_map.h - features whose inner products are those of the rbf kernel
 * exp(-|x - z|^2 / width), or close to them.
 *
 *   nystrom:WIDTH:COUNT  k(x, L) K(L, L)^(-1/2) for COUNT training samples L,
 *                        drawn by the seed; all of them where there are no
 *                        more.  Between samples of L the products are exact.
 *
 * WIDTH: a number; auto, the median of |x - z|^2 over pairs of at most 500
 * training samples; or a multiple of that, such as 4auto. */
#ifndef LAPIS_KERNEL_MAP_H
#define LAPIS_KERNEL_MAP_H
#include "base/base.h"

typedef struct kernel_map { /* as it was asked for */
  bool automatic;           /* width is in medians */
  double width;
  int64_t count; /* 0: there is none */
} kernel_map;

/* Whether word names one; LAPIS_EINVAL where it does so wrongly. */
lapis_status kernel_map_read(lapis_ctx *ctx, const char *word, kernel_map *out,
                             bool *named);
/* How many of n training samples fitting looks at; their numbers are the first
 * of index (n). */
int64_t kernel_map_draw(lapis_ctx *ctx, const kernel_map *k, int64_t n,
                        int64_t *index);
/* X: d x n drawn samples, without gaps; mean: d, what gaps hold.  *state: what
 * was found, behind `before` numbers that are the caller's. */
lapis_status kernel_map_fit(lapis_ctx *ctx, const kernel_map *k,
                            const double *mean, const double *X, int64_t d,
                            int64_t n, int64_t before, double **state,
                            int64_t *length);

/* What was found, at the end of `length` numbers. */
typedef struct kernel_state {
  int64_t d, count, rows, length; /* rows: features that come out */
  double width;
  const double *mean;  /* d */
  const double *point; /* d x count: landmarks */
  const double *root;  /* count x rows */
} kernel_state;
/* false: these are no such numbers. */
bool kernel_map_state(const double *state, int64_t length, kernel_state *out);

enum { KERNEL_MAP_BLOCK = 64 };
typedef struct kernel_mapper kernel_mapper;
lapis_status kernel_mapper_new(lapis_ctx *ctx, const kernel_state *from,
                               kernel_mapper **out);
void kernel_mapper_free(kernel_mapper *w);
/* Room for KERNEL_MAP_BLOCK samples of d numbers, gaps as NaN. */
double *kernel_mapper_room(kernel_mapper *w);
/* The first `cols` of them to out (rows x cols).  What becomes of a sample does
 * not depend on the others. */
lapis_status kernel_mapper_run(kernel_mapper *w, int64_t cols, double *out);

#endif
