/* reference_l1.c - the passes of l1.c once more, from their definitions: a
 * proximal step by soft thresholding, the multiplier as what it leaves. */
#include <math.h>

#include "la/host/host.h"

static double *at(const la_array *A, int64_t i, int64_t j)
{
  return host_col(A, j) + i;
}

/* argmin_b t |x - b| + (b - s)^2/2; s where x is not observed. */
static double nearest(double x, double s, double t)
{
  if (isnan(x)) return s;
  double e = x - s;
  double shrunk = e > t ? e - t : e < -t ? e + t : 0;
  return x - shrunk;
}

lapis_status plain_l1_step(la *h, const la_l1 *p, const la_array *X,
                           const la_array *A, la_array *S, la_array *W,
                           double sums[6])
{
  TRY(host_check_shape(h, "l1_step", A, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_step", S, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_step", W, X->rows, X->cols));
  for (int k = 0; k < 6; k++) sums[k] = 0;
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) {
      double x = *at(X, i, j), a = *at(A, i, j), s = *at(S, i, j);
      double b = nearest(x, s, p->t), moved = s + p->relax * (a - b);
      double fit = nearest(x, moved, p->t);
      *at(S, i, j) = fit + p->rescale * (moved - fit);
      *at(W, i, j) = 2 * fit - *at(S, i, j);
      sums[0] += (a - b) * (a - b);
      sums[1] += (fit - b) * (fit - b);
      sums[2] += fit * fit;
      sums[3] += (fit - moved) * (fit - moved);
      if (isnan(x)) continue;
      sums[4] += fabs(x - a);
      sums[5] += (b - s) * x;
    }
  return LAPIS_OK;
}

lapis_status plain_l1_dual(la *h, double t, const la_array *X,
                           const la_array *S, la_array *C)
{
  TRY(host_check_shape(h, "l1_dual", S, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_dual", C, X->rows, X->cols));
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) {
      double v = *at(X, i, j) - *at(S, i, j);
      *at(C, i, j) = isnan(v) ? 0 : fmax(-t, fmin(t, v));
    }
  return LAPIS_OK;
}

lapis_status plain_l1_sums(la *h, const la_array *X, const la_array *A,
                           const la_array *C, double sums[2])
{
  TRY(host_check_shape(h, "l1_sums", A, X->rows, X->cols));
  sums[0] = sums[1] = 0;
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) {
      double x = *at(X, i, j);
      if (isnan(x)) continue;
      sums[0] += fabs(x - *at(A, i, j));
      if (C != NULL) sums[1] += x * *at(C, i, j);
    }
  return LAPIS_OK;
}

lapis_status plain_l1_alm(la *h, const la_alm *p, double sums[3])
{
  const la_array *all[] = {p->D, p->F, p->B, p->G1, p->G2, p->Z};
  for (int i = 0; i < 6; i++)
    TRY(host_check_shape(h, "l1_alm", all[i], p->X->rows, p->X->cols));
  for (int k = 0; k < 3; k++) sums[k] = 0;
  for (int64_t j = 0; j < p->X->cols; j++)
    for (int64_t i = 0; i < p->X->rows; i++) {
      double x = *at(p->X, i, j), d = *at(p->D, i, j), f = *at(p->F, i, j);
      double *g1 = at(p->G1, i, j), *g2 = at(p->G2, i, j);
      double b = nearest(x, d - *g1 / p->mu1, p->lambda / p->mu1);
      if (isnan(x)) b = d;
      *g1 = isnan(x) ? 0 : *g1 + p->mu1 * (b - d);
      *g2 += p->mu2 * (f - d);
      *at(p->B, i, j) = b;
      *at(p->Z, i, j) = (*g1 + p->next1 * b + *g2) / (p->next1 + p->next2);
      sums[0] += (b - d) * (b - d);
      sums[1] += (f - d) * (f - d);
      if (!isnan(x)) sums[2] += fabs(x - d);
    }
  return LAPIS_OK;
}
