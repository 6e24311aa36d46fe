/* svt_basis.h - what svt_subspace.c and svt_track.c work on, and its
 * orthonormal basis.  Only they use this. */
#ifndef LAPIS_SVT_BASIS_H
#define LAPIS_SVT_BASIS_H
#include "op/svt/svt_filter.h"
#include "op/svt/svt_subspace.h"

enum { SVT_PROBES = 8, UNTESTED = -1 };

struct svt_subspace {
  la *h;
  la_trans side;
  int64_t k, room, used; /* used: columns of B */
  int64_t multiplied;    /* columns of B whose GB and H are known */
  int64_t newest;        /* first of those that the last product was of */
  int64_t block;         /* as many equal values show in B, if more are there */
  int64_t ask;           /* columns of B at which Ritz vectors are made */
  int64_t asked_at;      /* columns of B when they were made last, and the */
  double over;           /* error of the answer over what was wanted */
  la_array T;            /* W'B or W B of all of B, if */
  bool whole;            /* the last product was that: W'X = T S */
  uint64_t drawn;        /* random numbers so far */
  int64_t columns, sums; /* of G times something, in this call */
  la_array B, GB;        /* k x room: basis, G B */
  la_array X, R;         /* k x room: Ritz vectors, residuals */
  la_array H, S, C;      /* room x room: B'GB, its eigenvectors, scratch */
  la_array Z[3];         /* k x SVT_PROBES: T_(d-1) z, T_d z, G T_d z */
  double *memory;        /* of these arrays, on the host */
  double *theta;         /* room: Ritz values, descending */
  double *error;         /* room: |R_i| */
  double *host;          /* k: numbers of columns */
  int64_t *which;        /* room: columns that are chosen */
  int64_t rank, shown;   /* above t^2; with guards: columns of X and R */
  double unlikely;       /* |y'z| of the test */
  int64_t proved;        /* of them, those that U takes in the proof */
  bool cold;             /* this call began from nothing */
  bool small, cached;    /* it is a single call for a small W; one that a cache
                          * holds */
  svt_filter *filter;    /* NULL: products of W alone */
  bool exact;            /* G B is by W even so */
  int rounds;            /* filters of this kind of product */
  double worst;          /* largest relative residual before the last one */
  int64_t before;        /* rank of the last call; UNTESTED: a test failed */
  int64_t untested;      /* calls since the last test */
  int64_t pause, fails;  /* calls to leave it alone; how often it gave up */
  bool loose;            /* B is orthonormal to 1e-6 only, as it leaves it */
};

/* Room for everything, s->room columns of B; release leaves s itself. */
lapis_status svt_basis_allocate(svt_subspace *s);
void svt_basis_release(svt_subspace *s);
/* Room for `cols` columns of B; X, R and Z are lost. */
lapis_status svt_basis_reserve(svt_subspace *s, int64_t cols);
/* Numbers of N(0, 1) that no call before drew. */
lapis_status svt_basis_draw(svt_subspace *s, la_array *to);
/* Z -= U U'Z; U'Z is left in C. */
lapis_status svt_basis_project_out(svt_subspace *s, const la_array *U,
                                   la_array *Z);
/* What the c columns written behind B's span beside B but for rounding joins
 * it, *added columns; C and GB behind B's columns are lost. */
lapis_status svt_basis_join(svt_subspace *s, int64_t c, int64_t *added);
/* The norm of each column of A. */
lapis_status svt_basis_norms(svt_subspace *s, const la_array *A, double *out);

static inline la_array svt_basis_corner(const la_array *A, int64_t rows,
                                        int64_t cols)
{
  la_array top = la_rows(A, 0, rows);
  return la_cols(&top, 0, cols);
}

/* Numbers of the host as an array there. */
static inline la_array svt_basis_there(const lapis_mat *A)
{
  return (la_array){LAPIS_F64, A->rows, A->cols, A->ld, A->val, true, NULL};
}

#endif
