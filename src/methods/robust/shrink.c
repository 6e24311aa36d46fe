/* shrink.c - rlda's gamma from the data, where it is left open.
 *
 * Ridge LDA is LDA whose covariance within classes S (of d features) has
 * gamma / K or so on its diagonal, K classes.  Ledoit and Wolf (2004) say how
 * much is best: (1 - a) S + a m I, m the mean variance, with a = b^2 / e^2, e^2
 * = |S|^2 / d - m^2, b^2 = (sum_j |r_j|^4 / n - |S|^2) / (n d), r_j what is
 * left of sample j without its class' mean; hence gamma = K m a / (1 - a).  A
 * sample of weight k counts as k. */
#include <math.h>
#include <string.h>

#include "methods/robust/robust.h"

static const double MOST = .99;   /* a */
static const double LEAST = 1e-6; /* gamma, above 0 as it must be */

/* R = A without the means of the classes; what was not observed is 0. */
static void residuals(const rr *w, const double *A, double *mean, double *R)
{
  int64_t d = w->d, n = w->n;
  for (int64_t c = 0; c < w->labels.n_values; c++) {
    double *count = mean + d;
    memset(mean, 0, (size_t)(2 * d) * sizeof *mean);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < d && rlda_is_of(w, j, c); i++)
        if (!isnan(A[j * d + i])) {
          count[i] += rr_times(w, j);
          mean[i] += rr_times(w, j) * (A[j * d + i] - mean[i]) / count[i];
        }
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < d && rlda_is_of(w, j, c); i++) {
        double a = A[j * d + i];
        R[j * d + i] = isnan(a) ? 0 : a - mean[i];
      }
  }
}

/* |R R'|^2 by the smaller of R R' and R'R. */
static lapis_status square_of(la *h, double *R, int64_t d, int64_t n,
                              double *square)
{
  int64_t side = d < n ? d : n;
  lapis_mat own = lapis_mat_f64(R, d, n);
  la_array A = {.data = NULL}, G = {.data = NULL};
  lapis_status s = h->ops->alloc(h, LAPIS_F64, d, n, &A);
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, side, side, &G);
  if (s >= 0) s = h->ops->upload(h, &own, &A);
  if (s >= 0) s = h->ops->syrk(h, d < n ? LA_N : LA_T, &A, &G);
  if (s >= 0) s = h->ops->dot(h, &G, &G, square);
  h->ops->free(h, &A);
  h->ops->free(h, &G);
  return s;
}

lapis_status rlda_shrinkage(rr *w, const double *A, double *gamma)
{
  double d = (double)w->d, n = 0, K = (double)w->labels.n_values;
  double *R = base_alloc(w->base.ctx, w->d * (w->n + 2), sizeof *R);
  double square = 0, sum = 0, fourth = 0;
  if (R == NULL) return LAPIS_ENOMEM;
  residuals(w, A, R + w->d * w->n, R);
  for (int64_t j = 0; j < w->n; j++) {
    double own = 0, times = rr_times(w, j);
    for (int64_t i = 0; i < w->d; i++) own += R[j * w->d + i] * R[j * w->d + i];
    sum += times * own;
    fourth += times * own * own;
    n += times;
    for (int64_t i = 0; i < w->d && w->root != NULL; i++)
      R[j * w->d + i] *= w->root[j];
  }
  lapis_status s = square_of(&w->h, R, w->d, w->n, &square);
  base_free(R);
  TRY(s);
  double m = sum / n / d, size = square / n / n;
  double spread = size / d - m * m, noise = (fourth / n - size) / n / d;
  double a = spread > 0 ? fmin(fmax(noise, 0) / spread, MOST) : MOST;
  *gamma = fmax(K * m * a / (1 - a), LEAST);
  return LAPIS_OK;
}
