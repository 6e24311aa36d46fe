/* answer.h - what is checked of every answer before a solve says "solved". */
#ifndef LAPIS_ANSWER_H
#define LAPIS_ANSWER_H
#include "solver/solver.h"

/* No NaN and no infinity in it (numbers that are stored densely). */
bool answer_is_finite(const lapis_mat *m);
/* The status of a solve that ended so: LAPIS_ENUMERIC where a published array
 * is not finite, or where rounding ended the solve with next to nothing
 * proved; LAPIS_PRECISION_FLOOR where the gap says more than can be
 * true. */
lapis_status answer_check(lapis_solver *s, lapis_status status);

#endif
