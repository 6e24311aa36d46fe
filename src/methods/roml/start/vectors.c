/* vectors.c - leading eigenvectors of a normalised affinity.
 *
 * A is N x N, symmetric, eigenvalues in [-1, 1], 1 belonging to a known vector
 * that is left aside.  Wanted are the vectors of the largest others, not of the
 * largest in size: an affinity between images alone has eigenvalues near -1.
 *
 * Subspace iteration: a Chebyshev polynomial, small on [-1, b] with b the least
 * Ritz value kept, is applied to GUARD vectors more than asked for; then
 * Rayleigh-Ritz.  It ends when |A v - theta v| is at rounding for all asked. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { GUARD = 20, DEGREE = 10, MOST_ROUNDS = 60, STREAM = 105 };
static const double SMALL = 1e-9; /* residual; A has norm 1 */

typedef struct spectrum {
  la h;
  const la_array *A;
  const double *known; /* N: the vector left aside, any length */
  int64_t N, m;
  la_array V, T, S; /* N x m */
  la_array H, Q;    /* m x m */
  double *theta;    /* m */
} spectrum;

static void leave_known(const spectrum *g, la_array *V)
{
  double size = 0;
  for (int64_t i = 0; i < g->N; i++) size += g->known[i] * g->known[i];
  for (int64_t c = 0; c < V->cols; c++) {
    double *v = (double *)V->data + c * V->ld, along = 0;
    for (int64_t i = 0; i < g->N; i++) along += v[i] * g->known[i];
    for (int64_t i = 0; i < g->N; i++) v[i] -= along / size * g->known[i];
  }
}

/* B <- scale (A - center) X + keep B */
static lapis_status multiply(const spectrum *g, double scale, double center,
                             const la_array *X, double keep, la_array *B)
{
  la h = g->h;
  TRY(h.ops->gemm(&h, LA_N, LA_N, scale, g->A, X, keep, B));
  return h.ops->axpby(&h, -scale * center, X, 1, B);
}

/* V <- p(A) V, p(1) about 1; the recurrence scaled so that nothing overflows.
 */
static lapis_status filter(spectrum *g, double high)
{
  double half = (high + 1) / 2, center = (high - 1) / 2;
  double first = half / (1 - center), ratio = first;
  la_array before = g->V, now = g->T;
  TRY(multiply(g, first / half, center, &before, 0, &now));
  for (int i = 2; i <= DEGREE; i++) {
    double next = 1 / (2 / first - ratio);
    TRY(multiply(g, 2 * next / half, center, &now, -ratio * next, &before));
    la_array t = before;
    before = now, now = t;
    ratio = next;
  }
  if (now.data == g->V.data) return LAPIS_OK;
  return la_copy(&g->h, &g->T, &g->V);
}

/* V <- its Ritz vectors, T <- A V; theta falling. */
static lapis_status rotate(spectrum *g)
{
  la h = g->h;
  int64_t count;
  leave_known(g, &g->V);
  TRY(h.ops->qr(&h, &g->V, NULL));
  TRY(h.ops->gemm(&h, LA_N, LA_N, 1, g->A, &g->V, 0, &g->T));
  TRY(h.ops->gemm(&h, LA_T, LA_N, 1, &g->V, &g->T, 0, &g->H));
  TRY(h.ops->eigh(&h, &g->H, -INFINITY, g->theta, &g->Q, &count));
  TRY(h.ops->gemm(&h, LA_N, LA_N, 1, &g->T, &g->Q, 0, &g->S));
  TRY(h.ops->gemm(&h, LA_N, LA_N, 1, &g->V, &g->Q, 0, &g->T));
  TRY(la_copy(&h, &g->T, &g->V));
  return la_copy(&h, &g->S, &g->T);
}

static double residual(const spectrum *g, int64_t wanted)
{
  double most = 0;
  for (int64_t c = 0; c < wanted; c++) {
    const double *v = (const double *)g->V.data + c * g->V.ld;
    const double *Av = (const double *)g->T.data + c * g->T.ld;
    double sum = 0;
    for (int64_t i = 0; i < g->N; i++)
      sum += (Av[i] - g->theta[c] * v[i]) * (Av[i] - g->theta[c] * v[i]);
    most = fmax(most, sqrt(sum));
  }
  return most;
}

static lapis_status allocate(spectrum *g)
{
  const la_backend *ops = g->h.ops;
  la_array *tall[] = {&g->V, &g->T, &g->S}, *small[] = {&g->H, &g->Q};
  for (int i = 0; i < 3; i++)
    TRY(ops->alloc(&g->h, LAPIS_F64, g->N, g->m, tall[i]));
  for (int i = 0; i < 2; i++)
    TRY(ops->alloc(&g->h, LAPIS_F64, g->m, g->m, small[i]));
  g->theta = base_alloc(g->h.ctx, g->m, sizeof *g->theta);
  return g->theta == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static lapis_status iterate(spectrum *g, int64_t wanted)
{
  uint64_t seed = base_seed(g->h.ctx);
  for (int64_t c = 0; c < g->m; c++)
    for (int64_t i = 0; i < g->N; i++)
      ((double *)g->V.data)[c * g->V.ld + i] =
          rng_normal(seed, STREAM, (uint64_t)(c * g->N + i));
  TRY(rotate(g));
  for (int t = 0; t < MOST_ROUNDS && residual(g, wanted) > SMALL; t++) {
    TRY(filter(g, g->theta[g->m - 1]));
    TRY(rotate(g));
  }
  return LAPIS_OK;
}

lapis_status roml_leading_vectors(la *h, const la_array *A, const double *known,
                                  la_array *V, double *theta)
{
  spectrum g = {.h = *h, .A = A, .known = known, .N = A->rows};
  int64_t wanted = V->cols;
  g.m = wanted + GUARD < g.N - 1 ? wanted + GUARD : g.N - 1;
  lapis_status status = allocate(&g);
  if (status >= 0) status = iterate(&g, wanted);
  if (status >= 0) {
    la_array found = la_cols(&g.V, 0, wanted);
    memcpy(theta, g.theta, (size_t)wanted * sizeof *theta);
    status = la_copy(h, &found, V);
  }
  base_free(g.theta);
  la_array *all[] = {&g.V, &g.T, &g.S, &g.H, &g.Q};
  for (int i = 0; i < 5; i++) h->ops->free(h, all[i]);
  return status;
}
