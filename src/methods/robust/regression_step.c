/* regression_step.c - the regression step: T from clean data, exactly.
 *
 *   minimize  |W (Y - T Dh)|_F^2 + gamma |T|_F^2
 *
 * Deviation: [RR16] Alg. 1 takes W diagonal and solves a (d + 1) x (d + 1)
 * system for every target.  With W'W = Q diag(l) Q' the rows of Q'T separate,
 * and one eigendecomposition of the smaller of Dh Dh' and Dh'Dh serves them
 * all; one Cholesky factorisation does where every l is the same. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/robust/robust.h"

/* ---- memory -------------------------------------------------------------*/
static lapis_status allocate(la *h, rr_tstep *t)
{
  int64_t s = t->side;
  struct {
    la_array *a;
    int64_t rows, cols;
  } all[] = {{&t->Q, t->K, t->K},   {&t->QY, t->n, t->K},
             {&t->Dh, t->d1, t->n}, {&t->Tt, t->d1, t->K},
             {&t->TQ, t->d1, t->K}, {&t->GR, s, s + t->K},
             {&t->V, s, s},         {&t->S, s, t->K}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, all[i].rows, all[i].cols, all[i].a));
  if (t->root != NULL) TRY(h->ops->alloc(h, LAPIS_F64, t->d1, t->n, &t->Dv));
  t->G = la_cols(&t->GR, 0, s);
  t->R = la_cols(&t->GR, s, t->K);
  t->l = base_alloc(h->ctx, t->K, sizeof *t->l);
  t->values = base_alloc(h->ctx, s, sizeof *t->values);
  t->size = base_alloc(h->ctx, s, sizeof *t->size);
  return t->l != NULL && t->values != NULL && t->size != NULL ? LAPIS_OK
                                                              : LAPIS_ENOMEM;
}

lapis_status rr_tstep_new(la *h, int64_t d, int64_t n, int64_t K,
                          const double *root, rr_tstep *t)
{
  memset(t, 0, sizeof *t);
  t->root = root;
  t->d1 = d + 1;
  t->n = n;
  t->K = K;
  t->wide = n < d + 1 && base_ranks(h->ctx) == 1; /* Dh'Dh is no sum */
  t->side = t->wide ? n : d + 1;
  return allocate(h, t);
}

void rr_tstep_free(la *h, rr_tstep *t)
{
  la_array *all[] = {&t->Q,  &t->QY, &t->Dh, &t->Dv, &t->Tt,
                     &t->TQ, &t->GR, &t->V,  &t->S};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) h->ops->free(h, all[i]);
  base_free(t->l);
  base_free(t->values);
  base_free(t->size);
}

/* ---- the targets --------------------------------------------------------*/
/* W'W = Q diag(l) Q'; Y'Q. */
lapis_status rr_tstep_set(la *h, rr_tstep *t, const double *Y, const double *W,
                          double gamma)
{
  int64_t count;
  lapis_mat w = lapis_mat_f64((double *)(uintptr_t)W, t->K, t->K);
  lapis_mat own = lapis_mat_f64((double *)(uintptr_t)Y, t->K, t->n);
  la_array y = {0}, M = {0};
  t->gamma = gamma;
  lapis_status s = h->ops->alloc(h, LAPIS_F64, t->K, t->K, &M);
  if (s >= 0) s = h->ops->upload(h, &w, &t->Q);
  if (s >= 0) s = h->ops->syrk(h, LA_T, &t->Q, &M);
  if (s >= 0) s = h->ops->eigh(h, &M, -INFINITY, t->l, &t->Q, &count);
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, t->K, t->n, &y);
  if (s >= 0) s = h->ops->upload(h, &own, &y);
  if (s >= 0 && t->root != NULL) s = la_scale_cols(h, t->root, &y);
  if (s >= 0) s = h->ops->gemm(h, LA_T, LA_N, 1, &y, &t->Q, 0, &t->QY);
  h->ops->free(h, &M);
  h->ops->free(h, &y);
  TRY(s);
  double spread = t->l[0] - t->l[t->K - 1];
  t->even = spread <= 64 * DBL_EPSILON * t->l[0];
  for (int64_t i = 0; i < t->K; i++) t->l[i] = fmax(t->l[i], 0);
  return LAPIS_OK;
}

/* ---- the step -----------------------------------------------------------*/
static const la_array *samples_of(const rr_tstep *t)
{
  return t->root == NULL ? &t->Dh : &t->Dv;
}

/* G and R, of the smaller side; wide: not of several processes. */
static lapis_status make_system(la *h, rr_tstep *t)
{
  const la_array *D = samples_of(t);
  TRY(h->ops->syrk(h, t->wide ? LA_T : LA_N, D, &t->G));
  if (t->wide) return la_copy(h, &t->QY, &t->R);
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, D, &t->QY, 0, &t->R));
  return la_sum(h, &t->GR);
}

/* The same with an l for every column: G = V w V'. */
static lapis_status solve_uneven(la *h, rr_tstep *t)
{
  int64_t count;
  TRY(h->ops->eigh(h, &t->G, -INFINITY, t->values, &t->V, &count));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &t->V, &t->R, 0, &t->S));
  for (int64_t k = 0; k < t->K; k++) {
    la_array s = la_cols(&t->S, k, 1);
    double l = t->l[k];
    for (int64_t i = 0; i < t->side; i++)
      t->size[i] = l / (l * fmax(t->values[i], 0) + t->gamma);
    TRY(h->ops->scale_rows(h, t->size, &s));
  }
  return h->ops->gemm(h, LA_N, LA_N, 1, &t->V, &t->S, 0, &t->R);
}

/* R <- G^-1 R for a G, gamma included, of which Cholesky finds that it is not
 * positive: gamma drowned in its rounding.  Rows and columns are brought to one
 * size, and an eigenvalue that is rounding counts for nothing: what T has there
 * meets nothing of Dh, and the smallest T has nothing. */
static lapis_status solve_drowned(la *h, rr_tstep *t)
{
  int64_t count;
  lapis_mat G;
  TRY(la_borrow(h, &t->G, &G));
  for (int64_t i = 0; i < t->side; i++) {
    double own = lapis_mat_at(&G, i, i);
    t->size[i] = own > 0 ? ldexp(1, -ilogb(own) / 2) : 1;
  }
  TRY(h->ops->scale_rows(h, t->size, &t->G));
  TRY(la_scale_cols(h, t->size, &t->G));
  TRY(h->ops->scale_rows(h, t->size, &t->R));
  TRY(h->ops->eigh(h, &t->G, -INFINITY, t->values, &t->V, &count));
  double rounding = (double)t->side * DBL_EPSILON * t->values[0];
  for (int64_t i = 0; i < t->side; i++)
    t->values[i] = t->values[i] > rounding ? 1 / t->values[i] : 0;
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &t->V, &t->R, 0, &t->S));
  TRY(h->ops->scale_rows(h, t->values, &t->S));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &t->V, &t->S, 0, &t->R));
  return h->ops->scale_rows(h, t->size, &t->R);
}

/* The same l for every column. */
static lapis_status solve_even(la *h, rr_tstep *t)
{
  double l = t->l[0];
  TRY(la_scale(h, l, &t->G));
  TRY(la_add_diagonal(h, t->gamma, &t->G));
  lapis_status s = h->ops->potrf(h, &t->G);
  if (s == LAPIS_ENUMERIC) {
    TRY(make_system(h, t));
    TRY(la_scale(h, l, &t->G));
    TRY(la_add_diagonal(h, t->gamma, &t->G));
    TRY(solve_drowned(h, t));
    return la_scale(h, l, &t->R);
  }
  if (s < 0) return s;
  TRY(h->ops->potrs(h, &t->G, &t->R));
  return la_scale(h, l, &t->R);
}

lapis_status rr_tstep_run(la *h, rr_tstep *t)
{
  if (t->root != NULL) {
    TRY(la_copy(h, &t->Dh, &t->Dv));
    TRY(la_scale_cols(h, t->root, &t->Dv));
  }
  TRY(make_system(h, t));
  TRY(t->even ? solve_even(h, t) : solve_uneven(h, t));
  la_array *TQ = &t->R;
  if (t->wide) {
    TRY(h->ops->gemm(h, LA_N, LA_N, 1, samples_of(t), &t->R, 0, &t->TQ));
    TQ = &t->TQ;
  }
  return h->ops->gemm(h, LA_N, LA_T, 1, TQ, &t->Q, 0, &t->Tt);
}
