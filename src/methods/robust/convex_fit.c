/* convex_fit.c - the fit term eta/2 |R - K D|^2 of the convex step.
 *
 * Its proximal step at S is C2 = S + K'H, H = (rho/eta I + K K')^-1 (R - K S),
 * rho its own: a k x k system by Cholesky.  rho H = eta (R - K C2) is the
 * multiplier Q. */
#include "methods/robust/robust.h"

#include <string.h>

lapis_status rr_fit_alloc(rr_dstep *dstep, int64_t k)
{
  la *h = dstep->h;
  rr_fit *f = &dstep->fit;
  f->k = k;
  if (k == 0) return LAPIS_OK;
  TRY(h->ops->alloc(h, LAPIS_F64, k, dstep->d, &f->K));
  TRY(h->ops->alloc(h, LAPIS_F64, k, k, &f->M));
  la_array *wide[] = {&f->R, &f->H, &f->T}, *big[] = {&f->S, &f->P, &f->G};
  for (int i = 0; i < 3; i++) {
    TRY(h->ops->alloc(h, LAPIS_F64, k, dstep->n, wide[i]));
    TRY(h->ops->alloc(h, LAPIS_F64, dstep->d, dstep->n, big[i]));
  }
  return LAPIS_OK;
}

void rr_fit_free(rr_dstep *dstep)
{
  rr_fit *f = &dstep->fit;
  la_array *all[] = {&f->K, &f->R, &f->M, &f->H, &f->T, &f->S, &f->P, &f->G};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    dstep->h->ops->free(dstep->h, all[i]);
}

lapis_status rr_fit_project(rr_dstep *dstep)
{
  la *h = dstep->h;
  rr_fit *f = &dstep->fit;
  if (f->k == 0) return LAPIS_OK;
  TRY(la_copy(h, &f->R, &f->H));
  TRY(h->ops->gemm(h, LA_N, LA_N, -1, &f->K, &f->S, 1, &f->H));
  TRY(h->ops->potrs(h, &f->M, &f->H));
  return h->ops->gemm(h, LA_T, LA_N, 1, &f->K, &f->H, 0, &f->P);
}

lapis_status rr_fit_factor(rr_dstep *dstep)
{
  la *h = dstep->h;
  rr_fit *f = &dstep->fit;
  if (f->k == 0) return LAPIS_OK;
  TRY(h->ops->syrk(h, LA_N, &f->K, &f->M));
  TRY(la_add_diagonal(h, f->rho / f->eta, &f->M));
  TRY(h->ops->potrf(h, &f->M));
  return rr_fit_project(dstep);
}

/* |C2|^2 = |S + P|^2, by three products. */
static lapis_status copy_size(rr_dstep *dstep, double *out)
{
  la *h = dstep->h;
  rr_fit *f = &dstep->fit;
  double ss, sp;
  TRY(h->ops->dot(h, &f->S, &f->S, &ss));
  TRY(h->ops->dot(h, &f->S, &f->P, &sp));
  TRY(h->ops->dot(h, &f->P, &f->P, &f->sums[3]));
  *out = ss + 2 * sp + f->sums[3];
  return LAPIS_OK;
}

lapis_status rr_fit_step(rr_dstep *dstep, double relax, double factor)
{
  la *h = dstep->h;
  rr_fit *f = &dstep->fit;
  double keep = 1 / factor;
  if (f->k == 0) return LAPIS_OK;
  TRY(h->ops->dot(h, &f->H, &f->R, &f->inner));
  TRY(h->ops->dot(h, &f->H, &f->H, &f->square));
  f->inner *= f->rho;
  f->square *= f->rho * f->rho;
  TRY(la_copy(h, &f->S, &f->G)); /* G = C2 */
  TRY(h->ops->axpby(h, 1, &f->P, 1, &f->G));
  TRY(h->ops->axpby(h, relax, &dstep->A, 1, &f->S)); /* S += relax (A - C2) */
  TRY(h->ops->axpby(h, -relax, &f->G, 1, &f->S));
  TRY(h->ops->axpby(h, -1, &dstep->A, 1, &f->G)); /* G = C2 - A */
  TRY(h->ops->dot(h, &f->G, &f->G, &f->sums[0]));
  TRY(rr_fit_project(dstep));
  TRY(h->ops->axpby(h, 1, &dstep->A, 1, &f->G)); /* G = C2 - C2_new */
  TRY(h->ops->axpby(h, -1, &f->S, 1, &f->G));
  TRY(h->ops->axpby(h, -1, &f->P, 1, &f->G));
  TRY(h->ops->dot(h, &f->G, &f->G, &f->sums[1]));
  TRY(copy_size(dstep, &f->sums[2]));
  TRY(base_sum_later(h->ctx, f->sums, 4));
  TRY(base_sum_later(h->ctx, &f->inner, 1));
  TRY(base_sum_later(h->ctx, &f->square, 1));
  TRY(h->ops->axpby(h, 1 - keep, &f->P, 1, &f->S));
  TRY(la_scale(h, keep, &f->P));
  f->before = f->rho;
  f->rho *= factor;
  return LAPIS_OK;
}

lapis_status rr_fit_reflect(rr_dstep *dstep)
{
  la *h = dstep->h;
  rr_fit *f = &dstep->fit;
  if (f->k == 0) return LAPIS_OK;
  double share = f->rho / (dstep->rho + f->rho);
  TRY(h->ops->axpby(h, share, &f->S, 1 - share, &dstep->W));
  return h->ops->axpby(h, 2 * share, &f->P, 1, &dstep->W);
}

lapis_status rr_fit_loss(rr_dstep *dstep)
{
  la *h = dstep->h;
  rr_fit *f = &dstep->fit;
  TRY(la_copy(h, &f->R, &f->T));
  TRY(h->ops->gemm(h, LA_N, LA_N, -1, &f->K, &dstep->A, 1, &f->T));
  TRY(h->ops->dot(h, &f->T, &f->T, &f->loss));
  return base_sum_later(h->ctx, &f->loss, 1);
}
