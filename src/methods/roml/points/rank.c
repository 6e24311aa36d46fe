/* rank.c - points of a rigid object have rank 4, present ones at least.
 *
 * D' (2K x n) ~ B C over the entries that are present, with Cauchy weights, by
 * alternating least squares; then every image is assigned to where the fit
 * puts its slots, on min(d^2, tau^2), and a slot with nothing within tau is
 * absent.  Repeated until nothing moves. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { RANK = ROBUST_RANK, ROUNDS = 30, SWEEPS = 12 };
static const double SPREAD = 1.5, PIXEL = 0.5, RIDGE = 1e-8;

static const double *point(const robust *g, int64_t k, int64_t j)
{
  int64_t i = g->pick[k * g->n + j];
  return i < 0 ? NULL : roml_feature(g->p, k, i);
}

/* ---- least squares ------------------------------------------------------*/
static void ridge(double A[4][4])
{
  double trace = 0;
  for (int u = 0; u < RANK; u++) trace += A[u][u];
  for (int u = 0; u < RANK; u++) A[u][u] += RIDGE * trace + 1e-12;
}

/* C_j from B */
static void fit_slot(robust *g, int64_t j)
{
  double A[4][4] = {{0}}, y[4] = {0};
  for (int64_t k = 0; k < g->p->K; k++) {
    const double *x = point(g, k, j);
    if (x == NULL) continue;
    double weight = g->weight[k * g->n + j];
    for (int r = 0; r < 2; r++) {
      const double *b = g->B + (k * 2 + r) * RANK;
      for (int u = 0; u < RANK; u++) {
        y[u] += weight * b[u] * x[r];
        for (int v = 0; v < RANK; v++) A[u][v] += weight * b[u] * b[v];
      }
    }
  }
  ridge(A);
  roml_solve_small(RANK, A, y);
  memcpy(g->C + j * RANK, y, sizeof y);
}

/* Row r of B_k from C */
static void fit_row(robust *g, int64_t k, int r)
{
  double A[4][4] = {{0}}, y[4] = {0};
  for (int64_t j = 0; j < g->n; j++) {
    const double *x = point(g, k, j), *c = g->C + j * RANK;
    if (x == NULL) continue;
    double weight = g->weight[k * g->n + j];
    for (int u = 0; u < RANK; u++) {
      y[u] += weight * c[u] * x[r];
      for (int v = 0; v < RANK; v++) A[u][v] += weight * c[u] * c[v];
    }
  }
  ridge(A);
  roml_solve_small(RANK, A, y);
  memcpy(g->B + (k * 2 + r) * RANK, y, sizeof y);
}

static void set_fit(robust *g)
{
  for (int64_t k = 0; k < g->p->K; k++)
    for (int64_t j = 0; j < g->n; j++)
      for (int r = 0; r < 2; r++) {
        double sum = 0;
        for (int u = 0; u < RANK; u++)
          sum += g->B[(k * 2 + r) * RANK + u] * g->C[j * RANK + u];
        g->fit[(k * g->n + j) * 2 + r] = sum;
      }
}

static double residual(const robust *g, int64_t k, int64_t j)
{
  const double *x = point(g, k, j), *q = g->fit + (k * g->n + j) * 2;
  return x == NULL ? INFINITY : hypot(x[0] - q[0], x[1] - q[1]);
}

static void set_weights(robust *g)
{
  int64_t count = 0, slots = g->p->K * g->n;
  for (int64_t s = 0; s < slots; s++) {
    double d = residual(g, s / g->n, s % g->n);
    if (isfinite(d)) g->work[count++] = d;
  }
  double s2 = fmax(SPREAD * roml_median(g->work, count), PIXEL);
  s2 *= s2;
  for (int64_t s = 0; s < slots; s++) {
    double d = residual(g, s / g->n, s % g->n);
    g->weight[s] = isfinite(d) ? 1 / (1 + d * d / s2) : 0;
  }
}

static void sweep(robust *g)
{
  for (int64_t k = 0; k < g->p->K; k++)
    for (int r = 0; r < 2; r++) fit_row(g, k, r);
  for (int64_t j = 0; j < g->n; j++) fit_slot(g, j);
}

/* ---- the first fit ------------------------------------------------------*/
/* Absent entries at their slot's mean place about the centre of the image;
 * C from the four leading right singular vectors. */
static void fill_image(const robust *g, int64_t k, const double *place,
                       double *D)
{
  double centre[2] = {0, 0}, count = 0;
  int64_t rows = 2 * g->p->K;
  for (int64_t j = 0; j < g->n; j++) {
    const double *x = point(g, k, j);
    if (x == NULL) continue;
    centre[0] += x[0] - place[2 * j];
    centre[1] += x[1] - place[2 * j + 1];
    count++;
  }
  for (int64_t j = 0; j < g->n; j++) {
    const double *x = point(g, k, j);
    for (int r = 0; r < 2; r++)
      D[j * rows + 2 * k + r] =
          x != NULL ? x[r] : place[2 * j + r] + centre[r] / fmax(count, 1);
  }
}

static void mean_places(const robust *g, double *place)
{
  for (int64_t j = 0; j < g->n; j++) {
    double count = 0;
    place[2 * j] = place[2 * j + 1] = 0;
    for (int64_t k = 0; k < g->p->K; k++) {
      const double *x = point(g, k, j);
      if (x == NULL) continue;
      place[2 * j] += x[0];
      place[2 * j + 1] += x[1];
      count++;
    }
    place[2 * j] /= fmax(count, 1);
    place[2 * j + 1] /= fmax(count, 1);
  }
}

static lapis_status first_fit(robust *g)
{
  roml_state *s = &g->w->s; /* D' is its shape: coordinates, n slots */
  mean_places(g, g->fit);
  for (int64_t k = 0; k < g->p->K; k++) fill_image(g, k, g->fit, s->W.data);
  TRY(g->h.ops->svd(&g->h, &s->W, &s->U, s->sigma, &s->V));
  const double *V = s->V.data;
  for (int64_t j = 0; j < g->n; j++)
    for (int u = 0; u < RANK; u++)
      g->C[j * RANK + u] = u < s->V.rows ? V[j * s->V.ld + u] : 0;
  for (int64_t i = 0; i < g->p->K * g->n; i++) g->weight[i] = 1;
  return LAPIS_OK;
}

/* ---- the rounds ---------------------------------------------------------*/
static lapis_status assign_image(robust *g, int64_t k, bool *moved)
{
  int64_t count = roml_count(g->p, k);
  double cap = g->tau * g->tau;
  for (int64_t j = 0; j < g->n; j++)
    for (int64_t i = 0; i < count; i++) {
      const double *x = roml_feature(g->p, k, i);
      const double *q = g->fit + (k * g->n + j) * 2;
      double d = hypot(x[0] - q[0], x[1] - q[1]);
      g->cost[j * count + i] = fmin(d * d, cap);
    }
  assign_costs costs = {LAPIS_F64, g->n, count, count, g->cost};
  if (op_assign_solve(g->solver, &costs, false) >= 0)
    return lapis_fail(g->h.ctx, LAPIS_ENUMERIC,
                      "roml: the low-rank fit of the points failed; scale X, "
                      "or leave out --robust");
  for (int64_t j = 0; j < g->n; j++) {
    int64_t i = g->solver->match[j];
    if (!(g->cost[j * count + i] < cap)) i = -1;
    *moved = *moved || g->pick[k * g->n + j] != i;
    g->pick[k * g->n + j] = i;
  }
  return LAPIS_OK;
}

lapis_status roml_rank_fit(robust *g, double *score)
{
  bool moved = true;
  TRY(first_fit(g));
  for (int t = 0; t < ROUNDS && moved; t++) {
    for (int i = 0; i < SWEEPS; i++) {
      sweep(g);
      set_fit(g);
      set_weights(g);
    }
    moved = false;
    for (int64_t k = 0; k < g->p->K; k++) TRY(assign_image(g, k, &moved));
  }
  *score = 0;
  for (int64_t s = 0; s < g->p->K * g->n; s++)
    *score += fmin(residual(g, s / g->n, s % g->n), g->tau);
  return LAPIS_OK;
}
