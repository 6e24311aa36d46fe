/* svt_inside.h - what svt_subspace.c, svt_track.c and svt_proof.c share: a
 * basis of the space of W's leading singular vectors, and the proof that it
 * misses none. */
#ifndef LAPIS_SVT_INSIDE_H
#define LAPIS_SVT_INSIDE_H
#include "op/svt/svt_basis.h"

enum { GUARDS = 8 };

/* OVERFLOWN: what was computed is too large to be trusted. */
typedef enum verdict { UNKNOWN, PROVED, MISSED, OVERFLOWN } verdict;

static inline int64_t guards(int64_t rank)
{
  return GUARDS + rank / 8;
}
/* Y = G X */
lapis_status svt_inside_times(svt_subspace *s, const la_array *W,
                              const la_array *X, la_array *Y);
/* Y = G B, and T = W'B or W B, which stays in s. */
lapis_status svt_inside_product(svt_subspace *s, const la_array *W,
                                const la_array *B, la_array *Y);
/* Columns first .. end - 1 of X and of G X (in R). */
lapis_status svt_inside_ritz_vectors(svt_subspace *s, int64_t first,
                                     int64_t end);
/* Of the columns of X from first on; *answer (NULL: not wanted): that of the
 * result. */
lapis_status svt_inside_residuals(svt_subspace *s, int64_t first,
                                  double *answer);
/* Whether the call must look for values that nothing led to (svt_subspace.c).
 */
bool svt_inside_due(svt_subspace *s, const svt_question *q);
/* Whether no more than s->rank singular values exceed q->t.  Of X's orthonormal
 * columns theta is at most x'G x, and error at least |G x - theta x|; INFINITY:
 * not to be used. */
lapis_status svt_inside_certify(svt_subspace *s, const svt_question *q,
                                verdict *out);
/* The answer from a W that moved a little since the last call (svt_track.c);
 * *done: found, in out. */
lapis_status svt_track(svt_subspace *s, const svt_question *q, svt_found *out,
                       bool *done);

#endif
