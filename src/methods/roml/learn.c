/* learn.c - what a model keeps of the images that were matched.
 *
 *   mean, d x S: of each slot, over the images in which it is not in doubt
 *
 *   basis, dS x r: how an image departs from the means; coordinates only
 *
 *   columns, r x K: how much the images that were matched do
 *
 *   reach, 1 x S: farther from where it is expected no feature is taken
 *
 *   instance, 1 x S: whose a slot is
 *
 * A view of a rigid object is linear in the 8 numbers of an affine camera, so
 * the positions of its points, 2S of an image, lie in a mean and 8 directions.
 * Descriptors have no such law: r is 0.
 *
 * reach is half way between what a slot's own features are away from it and the
 * nearest of those that no slot has taken, both as medians over the images.  An
 * image's own part in the mean makes its features look nearer than those of new
 * images will be: by 1 - (r + 1)/K, for which it is made up.  Where every
 * feature is somebody's, there are no strangers to learn from: twice the
 * largest distance then, at least half of that to the nearest other slot. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { CAMERA = 8 };
static const double LEAST = 1e-6; /* reach, in units of the largest mean */

typedef struct lesson {
  roml *w;
  la h;
  int64_t d, S, K, r;
  double *mean, *basis, *columns, *reach; /* of w->learnt */
  double *D;                              /* dS x K; where in doubt, L */
  double *fit, *work, *near;              /* dS x K; K each */
} lesson;

static double distance(const double *a, const double *b, int64_t d)
{
  double sum = 0;
  for (int64_t i = 0; i < d; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

static void take_columns(lesson *g)
{
  const roml *w = g->w;
  for (int64_t s = 0; s < g->S * g->K; s++)
    for (int64_t a = 0; a < g->d; a++) {
      int64_t i = s * g->d + a;
      g->D[i] = w->low_rank[i] + (w->inlier[s] ? w->sparse[i] : 0);
    }
}

static void set_means(lesson *g)
{
  int64_t rows = g->d * g->S;
  for (int64_t j = 0; j < g->S; j++) {
    double *m = g->mean + j * g->d, count = 0;
    for (int64_t k = 0; k < g->K; k++) count += g->w->inlier[k * g->S + j];
    bool all = count <= 0; /* in doubt everywhere: what L says */
    memset(m, 0, (size_t)g->d * sizeof *m);
    for (int64_t k = 0; k < g->K; k++)
      for (int64_t a = 0; a < g->d; a++)
        if (all || g->w->inlier[k * g->S + j])
          m[a] += g->D[k * rows + j * g->d + a] / (all ? (double)g->K : count);
  }
  for (int64_t k = 0; k < g->K; k++)
    memcpy(g->fit + k * rows, g->mean, (size_t)rows * sizeof *g->fit);
}

/* basis <- the leading directions of D - mean; fit <- D in them. */
static lapis_status set_basis(lesson *g)
{
  const la_backend *ops = g->h.ops;
  int64_t rows = g->d * g->S, least = rows < g->K ? rows : g->K;
  la_array A = {0}, U = {0};
  double *sigma = base_alloc(g->w->base.ctx, least, sizeof *sigma);
  lapis_status s = sigma == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = ops->alloc(&g->h, LAPIS_F64, rows, g->K, &A);
  if (s >= 0) s = ops->alloc(&g->h, LAPIS_F64, rows, least, &U);
  la_array V = {0};
  if (s >= 0) s = ops->alloc(&g->h, LAPIS_F64, least, g->K, &V);
  double *a = A.data, *u = U.data;
  for (int64_t i = 0; s >= 0 && i < rows * g->K; i++)
    a[i] = g->D[i] - g->fit[i];
  if (s >= 0) s = ops->svd(&g->h, &A, &U, sigma, &V);
  for (int64_t c = 0; s >= 0 && c < g->r; c++) {
    memcpy(g->basis + c * rows, u + c * U.ld, (size_t)rows * sizeof *u);
    for (int64_t k = 0; k < g->K; k++) {
      double with = sigma[c] * ((double *)V.data)[k * V.ld + c];
      g->columns[k * g->r + c] = with;
      for (int64_t i = 0; i < rows; i++)
        g->fit[k * rows + i] += with * g->basis[c * rows + i];
    }
  }
  ops->free(&g->h, &A);
  ops->free(&g->h, &U);
  ops->free(&g->h, &V);
  base_free(sigma);
  return s;
}

/* The nearest to slot j of image k's features that no slot has taken, or
 * infinity. */
static double nearest_stranger(const lesson *g, int64_t j, int64_t k)
{
  const roml_problem *p = &g->w->p;
  const int64_t *match = g->w->match + k * g->S;
  const double *at = g->fit + (k * g->S + j) * g->d;
  double least = INFINITY;
  for (int64_t i = p->first[k]; i < p->first[k + 1]; i++) {
    bool taken = false;
    for (int64_t s = 0; s < g->S && !taken; s++) taken = match[s] == p->row[i];
    if (taken) continue;
    double sum = 0;
    const double *f = mat_col(&p->X, p->row[i]);
    for (int64_t a = 0; a < g->d; a++) {
      double off = p->scale[i] * f[a] - at[a];
      sum += off * off;
    }
    least = fmin(least, sqrt(sum));
  }
  return least;
}

/* Half of the distance to the nearest other slot, 0 where there is none. */
static double half_way(const lesson *g, int64_t j)
{
  double least = INFINITY;
  for (int64_t i = 0; i < g->S; i++)
    if (i != j)
      least =
          fmin(least, distance(g->mean + i * g->d, g->mean + j * g->d, g->d));
  return isfinite(least) ? least / 2 : 0;
}

static double size_of(const lesson *g)
{
  double most = 0;
  for (int64_t j = 0; j < g->S; j++) {
    double sum = 0;
    for (int64_t a = 0; a < g->d; a++)
      sum += g->mean[j * g->d + a] * g->mean[j * g->d + a];
    most = fmax(most, sqrt(sum));
  }
  return most;
}

static void set_reach(lesson *g)
{
  int64_t rows = g->d * g->S;
  double freedom = (1 - ((double)g->r + 1) / (double)g->K) *
                   sqrt(1 - (double)g->r / (double)rows);
  double least = fmax(LEAST * size_of(g), 1e-300);
  for (int64_t j = 0; j < g->S; j++) {
    int64_t own = 0, strange = 0;
    double most = 0;
    for (int64_t k = 0; k < g->K; k++) {
      double far = nearest_stranger(g, j, k);
      if (isfinite(far)) g->near[strange++] = far;
      if (!g->w->inlier[k * g->S + j]) continue;
      int64_t at = k * rows + j * g->d;
      g->work[own] = distance(g->D + at, g->fit + at, g->d) / freedom;
      most = fmax(most, g->work[own++]);
    }
    double mine = roml_median(g->work, own);
    g->reach[j] = strange > 0 ? (mine + roml_median(g->near, strange)) / 2
                              : fmax(2 * most, half_way(g, j));
    g->reach[j] = fmax(g->reach[j], least);
  }
}

static lapis_status allocate(lesson *g)
{
  lapis_ctx *ctx = g->w->base.ctx;
  int64_t rows = g->d * g->S;
  base_free(g->w->learnt);
  double *all = g->w->learnt =
      base_alloc(ctx, rows * (1 + g->r) + g->r * g->K + g->S, sizeof *all);
  g->D = base_alloc(ctx, rows * g->K, sizeof *g->D);
  g->fit = base_alloc(ctx, rows * g->K, sizeof *g->fit);
  g->work = base_alloc(ctx, g->K, sizeof *g->work);
  g->near = base_alloc(ctx, g->K, sizeof *g->near);
  if (all == NULL || g->D == NULL || g->fit == NULL || g->work == NULL ||
      g->near == NULL)
    return LAPIS_ENOMEM;
  g->mean = all;
  g->basis = g->mean + rows;
  g->columns = g->basis + rows * g->r;
  g->reach = g->columns + g->r * g->K;
  return LAPIS_OK;
}

static void keep(lesson *g)
{
  named_list *to = &g->w->base.learned;
  named_put(to, "mean", lapis_mat_f64(g->mean, g->d, g->S));
  named_put(to, "reach", lapis_mat_f64(g->reach, 1, g->S));
  named_put(to, "instance", lapis_mat_i64(g->w->whose, 1, g->S));
  if (g->r == 0) return;
  named_put(to, "basis", lapis_mat_f64(g->basis, g->d * g->S, g->r));
  named_put(to, "columns", lapis_mat_f64(g->columns, g->r, g->K));
}

lapis_status roml_learn(lapis_solver *s)
{
  roml *w = (roml *)s;
  lesson g = {.w = w, .h = w->h, .d = w->p.d, .S = w->s.at.n, .K = w->p.K};
  if (w->set.map == LAPIS_ROML_MAP_EMBED)
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "roml: --map embed makes features out of all images "
                      "together, and new ones have none; a model is learnt "
                      "without --map embed");
  if (w->p.coordinates && w->invariance > ROML_UPRIGHT)
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "roml: the images were moved onto each other, and new "
                      "ones would not be; a model of points is learnt with "
                      "--invariance none");
  if (w->p.coordinates) g.r = CAMERA < (g.K - 1) / 2 ? CAMERA : (g.K - 1) / 2;
  if (g.r >= g.d * g.S) g.r = g.d * g.S - 1;
  lapis_status status = allocate(&g);
  if (status >= 0) take_columns(&g);
  if (status >= 0) set_means(&g);
  if (status >= 0 && g.r > 0) status = set_basis(&g);
  if (status >= 0) set_reach(&g);
  if (status >= 0) keep(&g);
  base_free(g.D), base_free(g.fit), base_free(g.work), base_free(g.near);
  return status;
}
