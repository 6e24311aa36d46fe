/* svt_filter.h - a Gram matrix in single precision, and filters made of it,
 * for svt_subspace.c. */
#ifndef LAPIS_SVT_FILTER_H
#define LAPIS_SVT_FILTER_H
#include "la/backend.h"

typedef struct svt_filter svt_filter;

/* G / unit = W W' / unit (side LA_N) or W'W / unit, unit = |W|_F^2 > 0, of a W
 * in the host's memory; h is borrowed. */
lapis_status svt_filter_new(la *h, la_trans side, const la_array *W,
                            double unit, svt_filter **out);
void svt_filter_free(svt_filter *f);
/* What forming G costs, in columns of a product of W and W' by the double. */
double svt_filter_cost(la_trans side, const la_array *W);
/* Y = G X */
lapis_status svt_filter_times(svt_filter *f, const la_array *X, la_array *Y);

typedef struct svt_filtering {
  double c;            /* eigenvalues in [0, c] are to vanish */
  const double *theta; /* Ritz values of X's columns, largest first */
  double lift;         /* columns with less than this are filtered as if they
                        * had it; more than c */
  int64_t degree;
} svt_filtering;

/* X += T_d(2/c G - 1) X / T_d(2/c theta - 1) - X, column by column, from the
 * residuals R = G X - X theta: where these are exact the new X is as well, but
 * for single precision of what changes. */
lapis_status svt_filter_run(svt_filter *f, const svt_filtering *how,
                            const la_array *R, la_array *X);

/* Y = H Z for some H with x'H x <= c |x|^2 for every x with U'x = 0, near G
 * where U and theta are eigenvectors and values of G and c is more than all
 * others, and if *found: L and L' of H = c I + U diag(theta) U' - L L' were
 * found.  H does not depend on Z. */
lapis_status svt_filter_below(svt_filter *f, const la_array *U,
                              const double *theta, double c, const la_array *Z,
                              la_array *Y, bool *found);

#endif
