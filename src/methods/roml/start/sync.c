/* sync.c - permutation synchronisation (Pachauri, Kondor, Singh 2013).
 *
 * All pairs of images are assigned on |a - b|^2.  Their 0/1 matches, with ones
 * on the diagonal, are an N x N matrix W; were all right, W = Q Q' with Q the
 * N x n slots of features, and its n leading eigenvectors span Q.  Rows of the
 * same slot then coincide.  Slots are placed on rows, the longest first, each
 * taken out of the others; every image is assigned to them, and again to the
 * means of what it was assigned.
 *
 * The strong cheap rival of the iteration: --start sync --max-iters 0. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { POWERS = 40, POLISH = 3, STREAM = 104 };
static const int64_t MOST = 200000; /* features: pairs are N^2 distances */

typedef struct sync {
  roml *w;
  const roml_problem *p;
  la h;
  pair_work pairs;
  int64_t n, count, room;
  int32_t *from, *to; /* room: matches, each once */
  la_array U, T;      /* N x n: eigenvectors; scratch */
  double *center;     /* n x n: rows of the slots */
  double *length;     /* N */
} sync;

/* ---- W ------------------------------------------------------------------*/
static lapis_status match_pairs(sync *g)
{
  const roml_problem *p = g->p;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t l = k + 1; l < p->K; l++) {
      bool less = roml_count(p, k) <= roml_count(p, l);
      int64_t a = less ? k : l, b = less ? l : k;
      TRY(roml_assign_pair(&g->pairs, a, NULL, roml_count(p, a), b));
      for (int64_t i = 0; i < roml_count(p, a); i++) {
        g->from[g->count] = (int32_t)(p->first[a] + i);
        g->to[g->count++] = (int32_t)(p->first[b] + g->pairs.solver->match[i]);
      }
    }
  return LAPIS_OK;
}

/* T <- W U */
static void multiply(sync *g)
{
  const double *U = g->U.data;
  double *T = g->T.data;
  for (int64_t c = 0; c < g->n; c++) {
    const double *u = U + c * g->U.ld;
    double *t = T + c * g->T.ld;
    memcpy(t, u, (size_t)g->p->N * sizeof *t);
    for (int64_t e = 0; e < g->count; e++) {
      t[g->from[e]] += u[g->to[e]];
      t[g->to[e]] += u[g->from[e]];
    }
  }
}

static lapis_status eigenvectors(sync *g)
{
  uint64_t seed = base_seed(g->h.ctx);
  double *U = g->U.data;
  for (int64_t c = 0; c < g->n; c++)
    for (int64_t i = 0; i < g->p->N; i++)
      U[c * g->U.ld + i] =
          rng_normal(seed, STREAM, (uint64_t)(c * g->p->N + i));
  for (int t = 0; t < POWERS; t++) {
    TRY(g->h.ops->qr(&g->h, &g->U, NULL));
    multiply(g);
    TRY(la_copy(&g->h, &g->T, &g->U));
  }
  return g->h.ops->qr(&g->h, &g->U, NULL);
}

/* ---- slots --------------------------------------------------------------*/
static double entry(const la_array *A, int64_t i, int64_t c)
{
  return ((const double *)A->data)[c * A->ld + i];
}

/* Pivoted Gram-Schmidt on the rows, in T: n rows far from each other. */
static void place_slots(sync *g)
{
  int64_t n = g->n, N = g->p->N;
  double *T = g->T.data;
  memcpy(T, g->U.data, (size_t)(N * n) * sizeof *T);
  for (int64_t j = 0; j < n; j++) {
    int64_t best = 0;
    for (int64_t i = 0; i < N; i++) {
      g->length[i] = 0;
      for (int64_t c = 0; c < n; c++)
        g->length[i] += entry(&g->T, i, c) * entry(&g->T, i, c);
      if (g->length[i] > g->length[best]) best = i;
    }
    double size = fmax(g->length[best], 1e-300);
    double *center = g->center + j * n;
    for (int64_t c = 0; c < n; c++) center[c] = entry(&g->T, best, c);
    for (int64_t i = 0; i < N; i++) {
      double along = 0;
      for (int64_t c = 0; c < n; c++) along += entry(&g->T, i, c) * center[c];
      for (int64_t c = 0; c < n; c++)
        T[c * g->T.ld + i] -= along / size * center[c];
    }
    for (int64_t c = 0; c < n; c++) center[c] = entry(&g->U, best, c);
  }
}

static lapis_status assign_images(sync *g, int64_t *pick)
{
  const roml_problem *p = g->p;
  int64_t n = g->n;
  double *cost = g->pairs.cost;
  for (int64_t k = 0; k < p->K; k++) {
    int64_t count = roml_count(p, k);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int64_t c = 0; c < n; c++)
          sum += entry(&g->U, p->first[k] + i, c) * g->center[j * n + c];
        cost[j * count + i] = -sum;
      }
    assign_costs costs = {LAPIS_F64, n, count, count, cost};
    if (op_assign_solve(g->pairs.solver, &costs, false) >= 0)
      return lapis_fail(g->h.ctx, LAPIS_ENUMERIC,
                        "roml: synchronisation met a NaN; scale X down, or "
                        "take --start seeded");
    memcpy(pick + k * n, g->pairs.solver->match, (size_t)n * sizeof *pick);
  }
  return LAPIS_OK;
}

static void center_slots(sync *g, const int64_t *pick)
{
  int64_t n = g->n;
  memset(g->center, 0, (size_t)(n * n) * sizeof *g->center);
  for (int64_t k = 0; k < g->p->K; k++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t c = 0; c < n; c++)
        g->center[j * n + c] +=
            entry(&g->U, g->p->first[k] + pick[k * n + j], c);
}

/* ---- the whole ----------------------------------------------------------*/
static lapis_status allocate(sync *g)
{
  const roml_problem *p = g->p;
  lapis_ctx *ctx = g->h.ctx;
  g->room = p->K * p->N; /* a pair gives as many as its smaller image has */
  g->from = base_alloc(ctx, g->room, sizeof *g->from);
  g->to = base_alloc(ctx, g->room, sizeof *g->to);
  g->center = base_alloc(ctx, g->n * g->n, sizeof *g->center);
  g->length = base_alloc(ctx, p->N, sizeof *g->length);
  if (g->from == NULL || g->to == NULL || g->center == NULL ||
      g->length == NULL)
    return LAPIS_ENOMEM;
  TRY(g->h.ops->alloc(&g->h, LAPIS_F64, p->N, g->n, &g->U));
  return g->h.ops->alloc(&g->h, LAPIS_F64, p->N, g->n, &g->T);
}

static void release(sync *g)
{
  base_free(g->from), base_free(g->to);
  base_free(g->center), base_free(g->length);
  g->h.ops->free(&g->h, &g->U);
  g->h.ops->free(&g->h, &g->T);
  roml_pairs_free(&g->pairs);
}

static lapis_status synchronise(sync *g, int64_t *pick)
{
  TRY(match_pairs(g));
  TRY(eigenvectors(g));
  place_slots(g);
  TRY(assign_images(g, pick));
  for (int t = 0; t < POLISH; t++) {
    center_slots(g, pick);
    TRY(assign_images(g, pick));
  }
  return LAPIS_OK;
}

lapis_status roml_start_sync(roml *w, roml_state *s)
{
  sync g = {.w = w, .p = &w->p, .h = w->h, .n = s->at.n};
  if (w->p.N > MOST)
    return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                      "roml: --start sync compares all pairs of %" PRId64
                      " features, at most %" PRId64 "; --start seeded does not",
                      w->p.N, MOST);
  TRY(roml_pairs_new(w, s->at.n, &g.pairs));
  lapis_status status = allocate(&g);
  if (status >= 0) status = synchronise(&g, s->pick);
  release(&g);
  return status;
}
