/* outliers.c - matching points when some are wrong or missing, --robust.
 *
 * Beyond the paper.  Where wrong points lie far away, the model itself prefers
 * wrong matches: its l1 cost over full permutations lets a far point drag the
 * others along, and an iteration started at the truth leaves it.  Here a match
 * farther than tau, the median distance of nearest neighbours within an image,
 * is none: pairs by capped assignment and affine maps (affine.c), slots
 * from the cycles they close (tracks.c), a robust rank-4 fit
 * (rank.c).  Six runs, two ways of matching pairs by three sizes of
 * neighbourhood; the least sum of min(residual, tau) is kept.  No pass of the
 * iteration follows: it would undo this. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

static lapis_status set_tau(robust *g)
{
  const roml_problem *p = g->p;
  double *nearest = base_alloc(g->h.ctx, p->N, sizeof *nearest);
  if (nearest == NULL) return LAPIS_ENOMEM;
  int64_t count = 0;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t i = 0; i < roml_count(p, k); i++) {
      double least = INFINITY;
      const double *a = roml_feature(p, k, i);
      for (int64_t j = 0; j < roml_count(p, k); j++) {
        const double *b = roml_feature(p, k, j);
        if (j != i) least = fmin(least, hypot(a[0] - b[0], a[1] - b[1]));
      }
      if (isfinite(least)) nearest[count++] = least;
    }
  g->tau = roml_median(nearest, count);
  base_free(nearest);
  if (g->tau > 0) return LAPIS_OK;
  return lapis_fail(g->h.ctx, LAPIS_EDATA,
                    "roml: --robust measures by the distance of neighbouring "
                    "points, and most points of X have one at distance 0");
}

/* ---- memory -------------------------------------------------------------*/
static lapis_status allocate(robust *g)
{
  const roml_problem *p = g->p;
  lapis_ctx *ctx = g->h.ctx;
  int64_t slots = p->K * g->n, N = p->N;
  arena *a = &g->arena;
  TRY(op_assign_new(ctx, p->largest, p->largest, &g->solver));
  g->cost = arena_reals(a, p->largest * p->largest);
  g->W = arena_reals(a, p->K * p->K);
  g->value = arena_reals(a, N > g->n ? N : g->n);
  g->B = arena_reals(a, p->K * 2 * ROBUST_RANK);
  g->C = arena_reals(a, g->n * ROBUST_RANK);
  g->weight = arena_reals(a, slots);
  g->fit = arena_reals(a, slots * 2);
  g->work = arena_reals(a, slots);
  g->partner = arena_take(a, p->K * N, sizeof *g->partner);
  g->pick = arena_take(a, slots, sizeof *g->pick);
  g->best = arena_take(a, slots, sizeof *g->best);
  g->edge = arena_take(a, p->K * p->K, sizeof *g->edge);
  g->used = arena_take(a, N + p->K, sizeof *g->used);
  TRY(arena_status(a));
  TRY(g->h.ops->alloc(&g->h, LAPIS_F64, N, N, &g->A));
  return g->h.ops->alloc(&g->h, LAPIS_F64, N, N, &g->Q);
}

static void release(robust *g)
{
  op_assign_free(g->solver);
  arena_free(&g->arena);
  g->h.ops->free(&g->h, &g->A);
  g->h.ops->free(&g->h, &g->Q);
}

/* ---- the runs -----------------------------------------------------------*/
static lapis_status six_runs(robust *g, double *least)
{
  static const int rounds[] = {3, 4}, half[] = {3, 2};
  static const int64_t nearest[] = {4, 6, 8};
  size_t size = (size_t)(g->p->K * g->n) * sizeof *g->pick;
  loop *l = &g->w->base.loop;
  *least = INFINITY;
  for (int way = 0; way < 2; way++) {
    TRY(roml_affine_pairs(g, rounds[way], half[way]));
    for (int i = 0; i < 3 && (*least >= INFINITY || loop_next(l)); i++) {
      double score;
      TRY(roml_tracks(g, nearest[i]));
      TRY(roml_rank_fit(g, &score));
      base_say(l->ctx, 1, "roml: robust run %d, %" PRId64 " nearest: %.8g",
               way + 1, nearest[i], score);
      if (!(score < *least)) continue;
      *least = score;
      memcpy(g->best, g->pick, size);
    }
  }
  return LAPIS_OK;
}

/* L is the fit, E what present points miss it by; D = L + E. */
static lapis_status hand_over(robust *g)
{
  roml_state *s = &g->w->s;
  double score, *L = s->L.data, *E = s->E.data, *D = s->D.data;
  memcpy(g->pick, g->best, (size_t)(g->p->K * g->n) * sizeof *g->pick);
  TRY(roml_rank_fit(g, &score)); /* at rest: nothing moves */
  memcpy(s->pick, g->pick, (size_t)(g->p->K * g->n) * sizeof *g->pick);
  for (int64_t k = 0; k < g->p->K; k++)
    for (int64_t j = 0; j < g->n; j++) {
      int64_t i = s->pick[k * g->n + j], at = roml_block(&s->at, k, j);
      const double *x = i < 0 ? NULL : roml_feature(g->p, k, i);
      for (int r = 0; r < 2; r++) {
        L[at + r] = g->fit[(k * g->n + j) * 2 + r];
        D[at + r] = x == NULL ? L[at + r] : x[r];
        E[at + r] = D[at + r] - L[at + r];
      }
    }
  s->low_rank.rank = ROBUST_RANK < g->n ? ROBUST_RANK : g->n;
  return LAPIS_OK;
}

lapis_status roml_robust(roml *w, roml_state *s, double *objective)
{
  robust g = {.w = w,
              .p = &w->p,
              .h = w->h,
              .arena = {.ctx = w->base.ctx},
              .n = s->at.n};
  lapis_status status = allocate(&g);
  if (status >= 0) status = set_tau(&g);
  if (status >= 0) status = six_runs(&g, objective);
  if (status >= 0) status = hand_over(&g);
  w->base.info.residual = 0;
  release(&g);
  return status;
}
