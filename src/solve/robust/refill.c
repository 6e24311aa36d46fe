/* refill.c - detect and fill, for occlusion (ours; not in [RR16]).
 *
 * A black square is no sparse error: its entries agree with each other, and
 * what is left of it in D after robust PCA pulls the answer along.  So the
 * entries that D does not explain to within tau are taken as not observed at
 * all, D is solved again without them, and they are filled from it.  Features
 * are meant to be in [0, 1], the unit of tau. */
#include "solve/robust/robust.h"

#include <math.h>

/* M = X where |X - D| <= tau, NaN elsewhere; the mask is taken anew from all
 * entries, so that a round can give back what an earlier one took. */
static lapis_status cover(rr_dstep *w, const double *X, double tau,
                          double *masked)
{
  lapis_mat D = lapis_mat_f64(masked, w->d, w->n);
  TRY(w->h->ops->download(w->h, &w->A, &D));
  for (int64_t k = 0; k < w->d * w->n; k++)
    masked[k] = fabs(X[k] - masked[k]) <= tau ? X[k] : NAN;
  return w->h->ops->upload(w->h, &D, &w->X);
}

static lapis_status fill(rr_dstep *w, const double *X, double tau,
                         double *filled)
{
  lapis_mat D = lapis_mat_f64(filled, w->d, w->n);
  TRY(w->h->ops->download(w->h, &w->A, &D));
  for (int64_t k = 0; k < w->d * w->n; k++)
    if (fabs(X[k] - filled[k]) <= tau) filled[k] = X[k];
  return LAPIS_OK;
}

lapis_status rr_refill_train(rr_dstep *w, loop *l, int64_t rounds, double tau,
                             double tol, const double *X, double *filled)
{
  w->round = 0;
  for (int64_t next = 0; next < rounds; next = w->round + 1) {
    if (next > 0) {
      TRY(cover(w, X, tau, filled));
      TRY(rr_dstep_start(w, w->lambda, true));
    }
    w->round = next;
    TRY(rr_dstep_run(w, l, tol)); /* may resume in a later round */
  }
  return fill(w, X, tau, filled);
}
