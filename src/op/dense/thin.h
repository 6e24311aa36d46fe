/* thin.h - tall matrices with few columns, stored row after row, and what a
 * factored solver does with single rows of them.
 *
 * Rows are `ld` doubles long, ld a multiple of TALL_LANES; entries after the
 * columns in use are 0.  Memory starts at a multiple of 64 bytes.  Every
 * function gives the same bits for any number of threads. */
#ifndef LAPIS_TALL_H
#define LAPIS_TALL_H
#include "la/backend.h"

enum { TALL_LANES = 8, TALL_CHUNK = 64 };
static inline int64_t tall_ld(int64_t cols)
{
  return (cols + TALL_LANES - 1) / TALL_LANES * TALL_LANES;
}

/* ---- within one row ------------------------------------------------------*/
/* <a, b> over ld numbers. */
double tall_dot(int64_t ld, const double *a, const double *b);
/* out = sum_k s_k F_(at_k), ld numbers, where F_i is row i of F; at NULL: rows
 * 0, 1, ... */
void tall_combine(int64_t ld, const double *F, const int32_t *at, int64_t count,
                  const double *s, double *out);
/* G += sum_k F_(at_k)' F_(at_k), the upper triangle of ld x ld row after row,
 * and h += sum_k s_k F_(at_k); at NULL: rows 0, 1, ...  h and s may be NULL.
 * F and G are 0 from column `cols` on: the last one, where it is free, carries
 * s along.  panel: TALL_CHUNK + 1 rows of ld. */
void tall_normal(int64_t ld, int64_t cols, const double *F, const int32_t *at,
                 int64_t count, const double *s, double *panel, double *G,
                 double *h);
/* The same with weights >= 0 and without h: G += sum_k w_k F_(at_k)'F_(at_k).
 */
void tall_weighted(int64_t ld, const double *F, const int32_t *at,
                   int64_t count, const double *w, double *panel, double *G);
/* G = U'U in the upper triangle of its leading n x n; false: not positive
 * definite. */
bool tall_cholesky(int64_t n, int64_t ld, double *G);
/* x := (U'U)^-1 x */
void tall_solve(int64_t n, int64_t ld, const double *U, double *x);

/* ---- over all rows --------------------------------------------------------
 * Dense products: where h is a device they are made there, and what is named
 * below travels. */
typedef struct tall { /* rows x ld */
  int64_t rows, ld;
  double *v;
  bool divided; /* other processes have more rows: products sum over all */
} tall;
/* G = A'A, ld x ld, both triangles. */
lapis_status tall_gram(la *h, const tall *A, double *G);
/* C = A'B, A->ld x B->ld row after row. */
lapis_status tall_cross(la *h, const tall *A, const tall *B, double *C);
/* B = A T, T A->ld x B->ld row after row; B may be A. */
lapis_status tall_times(la *h, const tall *A, const double *T, tall *B);
/* Makes the first n columns of A orthonormal, in their order: one that depends
 * on those before it becomes 0. */
lapis_status tall_orthonormal(la *h, tall *A, int64_t n);

#endif
