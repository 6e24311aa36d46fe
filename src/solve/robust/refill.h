/* refill.h - finding what is covered, and filling it. */
#ifndef LAPIS_RR_REFILL_H
#define LAPIS_RR_REFILL_H
#include "solve/robust/dstep.h"

/* rounds times: D on the entries that are not covered; covered = farther than
 * tau from D.  Then filled = D where covered or not observed, X elsewhere
 * (d x n).  w is left at the last round's problem. */
lapis_status rr_refill_train(rr_dstep *w, loop *l, int64_t rounds, double tau,
                             double tol, const double *X, double *filled);

#endif
