/* svt_subspace.h - all singular values of W above a threshold, where there are
 * few of them.  Only svt.c uses it. */
#ifndef LAPIS_SVT_SUBSPACE_H
#define LAPIS_SVT_SUBSPACE_H
#include "la/backend.h"

/* Smaller sides from which a Gram matrix costs much more than a few steps do:
 * below, a single run gives up where more are found above the threshold than
 * below. */
enum { SVT_LARGE = 600 };

/* Keeps its basis, from which the next run starts. */
typedef struct svt_subspace svt_subspace;

typedef struct svt_found {
  bool certified; /* false: not proved, use another way */
  const char *why;
  int64_t rank;
  la_array Q;          /* k x rank: singular vectors on W's smaller side, the
                        * caller's to change */
  const double *theta; /* rank: squared singular values, descending */
  bool kept;           /* W'Q (of LA_N) or W Q is T S */
  la_array T, S;
} svt_found;

/* h, with its scratch, is borrowed.  side: LA_N looks for eigenvectors of W W',
 * LA_T for those of W'W; that matrix is k x k. */
lapis_status svt_subspace_new(la *h, la_trans side, int64_t k,
                              svt_subspace **out);
void svt_subspace_free(svt_subspace *s);
typedef struct svt_question {
  const la_array *W;
  double t, square; /* threshold, |W|_F^2 */
  double sides;     /* rows + columns of W, those of all processes */
  /* largest error in the Frobenius norm, in units of sigma_1 */
  double accuracy;
  /* a miss, of a chance below 3e-6 or for three calls, is found by others */
  bool rough;
  bool once; /* no run will follow this one */
} svt_question;

/* The arrays in *out stay until the next call. */
lapis_status svt_subspace_run(svt_subspace *s, const svt_question *q,
                              svt_found *out);
/* The next run starts from Q's orthonormal columns, k x count. */
lapis_status svt_subspace_seed(svt_subspace *s, const la_array *Q,
                               int64_t count);
/* Whether `rank` singular values of k are few enough for this way. */
bool svt_subspace_serves(int64_t k, int64_t rank);

#endif
