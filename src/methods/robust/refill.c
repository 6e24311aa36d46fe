/* refill.c - detect and fill, for occlusion (ours; not in [RR16]).
 *
 * A black square is no sparse error: its entries agree with each other, and
 * what is left of it in D after robust PCA pulls the answer along.  So the
 * entries that D does not explain to within tau are taken as not observed at
 * all, D is solved again without them, and they are filled from it.  Features
 * are meant to be in [0, 1], the unit of tau. */
#include "methods/robust/robust.h"

#include <math.h>

/* M = X where |X - D| <= tau, NaN elsewhere; the mask is taken anew from all
 * entries, so that a round can give back what an earlier one took. */
static lapis_status cover(rr_dstep *dstep, const double *X, double tau,
                          double *masked)
{
  lapis_mat D = lapis_mat_f64(masked, dstep->d, dstep->n);
  TRY(dstep->h->ops->download(dstep->h, &dstep->A, &D));
  for (int64_t k = 0; k < dstep->d * dstep->n; k++)
    masked[k] = fabs(X[k] - masked[k]) <= tau ? X[k] : NAN;
  return dstep->h->ops->upload(dstep->h, &D, &dstep->X);
}

/* An occlusion is the smaller part of a picture. */
void rr_doubt_tau(lapis_ctx *ctx, const double *X, const double *D,
                  int64_t count, double tau)
{
  static const double MOST = 0.5;
  double given = 0, kept = 0;
  for (int64_t k = 0; k < count; k++) {
    given += !isnan(X[k]);
    kept += fabs(X[k] - D[k]) <= tau;
  }
  if (given - kept > MOST * given)
    base_note(ctx, BASE_WARNING, "mostly-covered",
              "--refill took %.0f of 100 numbers for covered, as more than "
              "--tau away from the repair: tau is meant for features from 0 to "
              "1; give one in the units of these",
              100 * (1 - kept / given));
}

static lapis_status fill(rr_dstep *dstep, const double *X, double tau,
                         double *filled)
{
  int64_t count = dstep->d * dstep->n;
  lapis_mat D = lapis_mat_f64(filled, dstep->d, dstep->n);
  TRY(dstep->h->ops->download(dstep->h, &dstep->A, &D));
  rr_doubt_tau(dstep->h->ctx, X, filled, count, tau);
  for (int64_t k = 0; k < count; k++)
    if (fabs(X[k] - filled[k]) <= tau) filled[k] = X[k];
  return LAPIS_OK;
}

lapis_status rr_refill_train(rr_dstep *dstep, loop *l, int64_t rounds,
                             double tau, double tol, const double *X,
                             double *filled)
{
  dstep->round = 0;
  for (int64_t next = 0; next < rounds; next = dstep->round + 1) {
    if (next > 0) {
      TRY(cover(dstep, X, tau, filled));
      TRY(rr_dstep_start(dstep, dstep->lambda, true));
    }
    dstep->round = next;
    TRY(rr_dstep_run(dstep, l, tol)); /* may resume in a later round */
  }
  return fill(dstep, X, tau, filled);
}
