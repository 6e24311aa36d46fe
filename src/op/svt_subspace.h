/* svt_subspace.h - the singular values of W above a threshold, all of them,
 * where they are few; for svt.c alone. */
#ifndef LAPIS_SVT_SUBSPACE_H
#define LAPIS_SVT_SUBSPACE_H
#include "la/backend.h"

typedef struct svt_subspace svt_subspace; /* keeps its basis: warm starts */

typedef struct svt_found {
  bool certified; /* false: take another way */
  const char *why;
  int64_t rank;
  la_array Q;          /* k x rank: singular vectors on W's smaller side */
  const double *theta; /* rank: squared singular values, descending */
} svt_found;

/* h is borrowed with its scratch.  side: LA_N: vectors of W W', LA_T: of W'W,
 * k x k. */
lapis_status svt_subspace_new(la *h, la_trans side, int64_t k,
                              svt_subspace **out);
void svt_subspace_free(svt_subspace *s);
typedef struct svt_question {
  const la_array *W;
  double t, square; /* threshold, |W|_F^2 */
  double accuracy;  /* of the answer in the Frobenius norm, times sigma_1 */
} svt_question;

/* What is found lives until the next call. */
lapis_status svt_subspace_run(svt_subspace *s, const svt_question *q,
                              svt_found *out);
/* The next run starts from Q's orthonormal columns, k x count. */
lapis_status svt_subspace_seed(svt_subspace *s, const la_array *Q,
                               int64_t count);
/* Whether so many singular values are few enough. */
bool svt_subspace_serves(int64_t k, int64_t rank);

#endif
