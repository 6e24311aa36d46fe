/* ridge.c - ridge regression, solved by one factor.
 *
 * With features and numbers less their means, A the features times the roots
 * of the weights and r the numbers so,
 *
 *   (A A' + I / C) w = A r,   or   w = A (A'A + I / C)^-1 r
 *
 * whichever is smaller.  Numbers that are known of the same samples share the
 * factor. */
#include "op/learn/ridge.h"

#include <math.h>
#include <string.h>

typedef struct ridge {
  la *h;
  const ridge_problem *p;
  int64_t d, m; /* m: samples whose number is known */
  double *A;    /* d x m */
  double *G;    /* side x side: the factor */
  double *r;    /* m */
  double *mean; /* d */
} ridge;

static bool is_known(const ridge_problem *p, int64_t c, int64_t j)
{
  bool counts = p->weight == NULL || p->weight[j] > 0;
  return counts && !isnan(p->Y[j * p->K + c]);
}

static bool known_alike(const ridge_problem *p, int64_t a, int64_t b)
{
  for (int64_t j = 0; j < p->X.cols; j++)
    if (is_known(p, a, j) != is_known(p, b, j)) return false;
  return true;
}

static double weight_of(const ridge_problem *p, int64_t j)
{
  return p->weight == NULL ? 1 : p->weight[j];
}

static void gather(ridge *w, int64_t c)
{
  const ridge_problem *p = w->p;
  double all = 0;
  w->m = 0;
  memset(w->mean, 0, (size_t)w->d * sizeof *w->mean);
  for (int64_t j = 0; j < p->X.cols; j++) {
    if (!is_known(p, c, j)) continue;
    const double *x = (const double *)p->X.val + j * p->X.ld;
    for (int64_t i = 0; i < w->d; i++) w->mean[i] += weight_of(p, j) * x[i];
    all += weight_of(p, j);
  }
  for (int64_t i = 0; i < w->d && all > 0; i++) w->mean[i] /= all;
  for (int64_t j = 0; j < p->X.cols; j++) {
    if (!is_known(p, c, j)) continue;
    const double *x = (const double *)p->X.val + j * p->X.ld;
    double root = sqrt(weight_of(p, j)), *to = w->A + w->m++ * w->d;
    for (int64_t i = 0; i < w->d; i++) to[i] = root * (x[i] - w->mean[i]);
  }
}

/* Of column c and those that are known alike. */
static lapis_status factor(ridge *w, int64_t c)
{
  gather(w, c);
  if (w->m == 0) return LAPIS_OK;
  bool tall = w->d <= w->m;
  int64_t side = tall ? w->d : w->m;
  la_array A = la_wrap(w->A, w->d, w->m), G = la_wrap(w->G, side, side);
  TRY(w->h->ops->syrk(w->h, tall ? LA_N : LA_T, &A, &G));
  TRY(w->h->ops->add_diagonal(w->h, 1 / w->p->C, &G));
  return w->h->ops->potrf(w->h, &G);
}

static lapis_status solve_one(ridge *w, int64_t c, double *W)
{
  const ridge_problem *p = w->p;
  double mean = 0, all = 0;
  int64_t at = 0, d = w->d;
  memset(W, 0, (size_t)(d + 1) * sizeof *W);
  if (w->m == 0) return LAPIS_OK;
  for (int64_t j = 0; j < p->X.cols; j++) {
    if (!is_known(p, c, j)) continue;
    mean += weight_of(p, j) * p->Y[j * p->K + c];
    all += weight_of(p, j);
  }
  mean /= all;
  for (int64_t j = 0; j < p->X.cols; j++)
    if (is_known(p, c, j))
      w->r[at++] = sqrt(weight_of(p, j)) * (p->Y[j * p->K + c] - mean);
  bool tall = d <= w->m;
  int64_t side = tall ? d : w->m;
  la_array A = la_wrap(w->A, d, w->m), G = la_wrap(w->G, side, side);
  la_array r = la_wrap(w->r, w->m, 1), t = la_wrap(W, d, 1);
  if (tall) TRY(w->h->ops->gemm(w->h, LA_N, LA_N, 1, &A, &r, 0, &t));
  TRY(w->h->ops->potrs(w->h, &G, tall ? &t : &r));
  if (!tall) TRY(w->h->ops->gemm(w->h, LA_N, LA_N, 1, &A, &r, 0, &t));
  W[d] = mean;
  for (int64_t i = 0; i < d; i++) W[d] -= W[i] * w->mean[i];
  return LAPIS_OK;
}

lapis_status op_ridge(la *h, const ridge_problem *p, double *W)
{
  int64_t d = p->X.rows, n = p->X.cols, side = d < n ? d : n;
  arena own = {.ctx = h->ctx};
  ridge w = {.h = h, .p = p, .d = d};
  w.A = arena_reals(&own, d * n);
  w.G = arena_reals(&own, side * side);
  w.r = arena_reals(&own, n);
  w.mean = arena_reals(&own, d);
  lapis_status s = arena_status(&own);
  for (int64_t c = 0; s >= 0 && c < p->K; c++) {
    if (c == 0 || !known_alike(p, c - 1, c)) s = factor(&w, c);
    if (s >= 0) s = solve_one(&w, c, W + c * (d + 1));
  }
  arena_free(&own);
  return s;
}
