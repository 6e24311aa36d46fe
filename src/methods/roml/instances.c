/* instances.c - --instances: several disjoint sets of n features in every
 * image, each as consistent as the one that the method looks for.
 *
 * The method is run, what it chose is taken out, and it is run again: as often
 * as it was told, or (auto) as long as the set is better than chance
 * (chance.c).  Then all sets are one problem of M n slots, which begins where
 * they stand, so that images may still exchange features between sets; its
 * answer has no higher objective than the sets have together.
 *
 * Which slots are one object's?  Descriptors cannot say: any n of M n
 * consistent slots are a consistent set.  Positions can, since the points of an
 * object move together.  Where they are known, slots are divided so that
 *
 *   sum over the sets of |D'_m|_*,  D'_m the 2K x n positions [ROML16 (27)],
 *
 * is least: a set is grown slot by slot, and slots of two sets change places
 * while that helps.  Where they are not, a slot stays in the set in which it
 * was found, the most consistent first. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { SWEEPS = 50 };

typedef struct search {
  roml *w;
  roml_problem all; /* w->p, while that is what is left of it */
  int64_t n, most;  /* slots of a set, sets that there is room for */
  int64_t *found;   /* n x K x most: features in their images */
  bool *out;        /* N, in image order: taken by a set */
} search;

/* ---- one set ------------------------------------------------------------*/
/* The picks of what is left as features of the whole. */
static void note_set(search *g, int64_t m)
{
  const roml_problem *p = &g->all;
  for (int64_t k = 0; k < p->K; k++) {
    int64_t *to = g->found + (m * p->K + k) * g->n, left = 0;
    const int64_t *pick = g->w->s.pick + k * g->n;
    for (int64_t i = 0; i < roml_count(p, k); i++) {
      if (g->out[p->first[k] + i]) continue;
      for (int64_t j = 0; j < g->n; j++)
        if (pick[j] == left) to[j] = i;
      left++;
    }
  }
}

static void take_out(search *g, int64_t m)
{
  const roml_problem *p = &g->all;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t j = 0; j < g->n; j++)
      g->out[p->first[k] + g->found[(m * p->K + k) * g->n + j]] = true;
}

/* Looks for set m in what is left; *share: of chance, 0 where nobody asks. */
static lapis_status look(search *g, int64_t m, bool ask, double *share)
{
  roml *w = g->w;
  double found, chance;
  *share = 0;
  TRY(roml_resize(w, g->n));
  TRY(roml_run(w, &w->s, &found));
  note_set(g, m);
  if (!ask) return LAPIS_OK;
  TRY(roml_by_chance(w, g->n, &chance));
  *share = found / fmax(chance, 1e-300);
  w->chance[w->n_chance++] = *share;
  base_say(w->base.ctx, 1, "roml: set %" PRId64 " is %.4g of chance", m + 1,
           *share);
  return LAPIS_OK;
}

static lapis_status look_in_rest(search *g, int64_t m, bool ask, double *share)
{
  roml *w = g->w;
  roml_problem rest;
  TRY(roml_problem_without(w, &g->all, g->out, &rest));
  w->p = rest;
  lapis_status s = look(g, m, ask, share);
  roml_state_free(&w->s);
  roml_problem_free(&rest);
  w->p = g->all;
  return s;
}

/* ---- all sets -----------------------------------------------------------*/
static lapis_status find_sets(search *g, int64_t wanted, int64_t *sets)
{
  double share;
  bool ask = wanted < 0;
  if (ask || wanted > g->most) wanted = g->most;
  for (*sets = 0; *sets < wanted; ++*sets) {
    if (ask && *sets > 0 && loop_must_end(&g->w->base.loop)) break;
    TRY(look_in_rest(g, *sets, ask, &share));
    if (ask && g->w->base.loop.status != LAPIS_OK) { /* cut short: no verdict */
      g->w->n_chance = *sets;
      if (*sets > 0) break;
    } else if (!(share < ROML_BETTER)) {
      break;
    }
    take_out(g, *sets);
  }
  return LAPIS_OK;
}

static lapis_status found_nothing(const search *g)
{
  return lapis_fail(
      g->w->base.ctx, LAPIS_EDATA,
      "roml: nothing that the images have in common was found: the best "
      "%" PRId64
      " features of each cost %.3g of what images without anything in common "
      "do, an object's less than %g; --instances 1 shows them all the same",
      g->n, g->w->chance[0], ROML_BETTER);
}

/* All sets as the start of one problem. */
static lapis_status join(search *g, int64_t sets)
{
  roml *w = g->w;
  int64_t K = g->all.K, n = g->n, slots = sets * n;
  base_free(w->given);
  base_free(w->instance);
  w->given = base_alloc(w->base.ctx, slots * K, sizeof *w->given);
  w->instance = base_alloc(w->base.ctx, slots, sizeof *w->instance);
  if (w->given == NULL || w->instance == NULL) return LAPIS_ENOMEM;
  for (int64_t m = 0; m < sets; m++)
    for (int64_t k = 0; k < K; k++)
      memcpy(w->given + k * slots + m * n, g->found + (m * K + k) * n,
             (size_t)n * sizeof *w->given);
  for (int64_t j = 0; j < slots; j++) w->instance[j] = j / n + 1;
  w->set.instances = sets;
  return roml_resize(w, slots);
}

lapis_status roml_find_instances(roml *w)
{
  lapis_ctx *ctx = w->base.ctx;
  search g = {.w = w, .all = w->p, .n = w->set.inliers};
  g.most = roml_fewest(&w->p) / g.n;
  g.found = base_alloc(ctx, g.most * w->p.K * g.n, sizeof *g.found);
  g.out = base_alloc(ctx, w->p.N, sizeof *g.out);
  base_free(w->chance);
  w->n_chance = 0;
  w->chance = base_alloc(ctx, g.most, sizeof *w->chance);
  int64_t sets;
  bool ok = g.found != NULL && g.out != NULL && w->chance != NULL;
  lapis_status s = ok ? find_sets(&g, w->set.instances, &sets) : LAPIS_ENOMEM;
  if (s >= 0) s = sets == 0 ? found_nothing(&g) : join(&g, sets);
  base_free(g.found);
  base_free(g.out);
  return s;
}

/* ---- whose a slot is ----------------------------------------------------*/
typedef struct divider {
  la h;
  loop *loop;
  bool whole; /* each slot is somebody's */
  int64_t n, slots;
  la_array G, A; /* slots x slots: of all positions; of the set in question */
  double *value; /* slots */
  int64_t *of;   /* slots: whose, from 1; 0: nobody's yet */
} divider;

static double place(const divider *g, const roml *w, int64_t k, int64_t j,
                    int axis)
{
  int64_t i = w->s.pick[k * g->slots + j];
  return lapis_mat_at(&w->xy, axis, w->p.row[w->p.first[k] + i]);
}

/* G <- T'T, T the positions of slots, 2K x slots, about their mean over all
 * images.  (About that of each image, the points of two objects would move
 * along the same line, and nothing would tell them apart.) */
static void correlate(divider *g, const roml *w)
{
  double *G = g->G.data, mean[2] = {0, 0};
  double count = (double)(w->p.K * g->slots);
  memset(G, 0, (size_t)(g->slots * g->G.ld) * sizeof *G);
  for (int64_t i = 0; i < w->p.K * g->slots; i++)
    for (int axis = 0; axis < 2; axis++)
      mean[axis] += place(g, w, i / g->slots, i % g->slots, axis) / count;
  for (int64_t k = 0; k < w->p.K; k++)
    for (int axis = 0; axis < 2; axis++) {
      for (int64_t j = 0; j < g->slots; j++)
        g->value[j] = place(g, w, k, j, axis) - mean[axis];
      for (int64_t i = 0; i < g->slots; i++)
        for (int64_t j = 0; j < g->slots; j++)
          G[j * g->G.ld + i] += g->value[i] * g->value[j];
    }
}

/* |D'_m|_* of the slots that are m's. */
static lapis_status cost_of(divider *g, int64_t m, double *cost)
{
  int64_t count = 0, found;
  for (int64_t j = 0; j < g->slots; j++) count += g->of[j] == m;
  la_array rows = la_rows(&g->A, 0, count), A = la_cols(&rows, 0, count);
  double *to = A.data;
  const double *G = g->G.data;
  for (int64_t j = 0, c = 0; j < g->slots; j++) {
    if (g->of[j] != m) continue;
    for (int64_t i = 0, r = 0; i < g->slots; i++)
      if (g->of[i] == m) to[c * A.ld + r++] = G[j * g->G.ld + i];
    c++;
  }
  TRY(g->h.ops->eigh(&g->h, &A, -INFINITY, g->value, NULL, &found));
  *cost = 0;
  for (int64_t i = 0; i < count; i++) *cost += sqrt(fmax(g->value[i], 0));
  return LAPIS_OK;
}

/* The free slot that makes m's cost least. */
static lapis_status add_slot(divider *g, int64_t m)
{
  int64_t best = -1;
  double least = INFINITY, cost;
  for (int64_t j = 0; j < g->slots; j++) {
    if (g->of[j] != 0) continue;
    g->of[j] = m;
    TRY(cost_of(g, m, &cost));
    g->of[j] = 0;
    if (cost < least) least = cost, best = j;
  }
  if (best >= 0) g->of[best] = m;
  return LAPIS_OK;
}

static lapis_status grow(divider *g, int64_t sets)
{
  for (int64_t m = 1; m <= sets; m++) {
    int64_t j = 0;
    while (g->of[j] != 0) j++;
    g->of[j] = m;
    for (int64_t i = 1; i < g->n; i++) {
      if (loop_cut_short(g->loop)) return LAPIS_OK;
      TRY(add_slot(g, m));
    }
  }
  g->whole = true;
  return LAPIS_OK;
}

static lapis_status swap(divider *g, int64_t i, int64_t j, double *cost,
                         bool *changed)
{
  int64_t a = g->of[i], b = g->of[j];
  double now[2], old = cost[a] + cost[b];
  g->of[i] = b, g->of[j] = a;
  TRY(cost_of(g, a, &now[0]));
  TRY(cost_of(g, b, &now[1]));
  if (now[0] + now[1] < old * (1 - 1e-9)) {
    cost[a] = now[0], cost[b] = now[1];
    *changed = true;
  } else {
    g->of[i] = a, g->of[j] = b;
  }
  return LAPIS_OK;
}

static lapis_status divide(divider *g, int64_t sets, double *cost)
{
  bool changed = true;
  TRY(grow(g, sets));
  if (!g->whole) return LAPIS_OK;
  for (int64_t m = 1; m <= sets; m++) TRY(cost_of(g, m, &cost[m]));
  for (int t = 0; t < SWEEPS && changed; t++) {
    changed = false;
    for (int64_t i = 0; i < g->slots; i++) {
      if (loop_cut_short(g->loop)) return LAPIS_OK;
      for (int64_t j = 0; j < i; j++)
        if (g->of[i] != g->of[j]) TRY(swap(g, i, j, cost, &changed));
    }
  }
  return LAPIS_OK;
}

lapis_status roml_divide(roml *w)
{
  int64_t sets = w->set.instances;
  if (sets < 2 || w->xy.cols == 0) return LAPIS_OK;
  lapis_ctx *ctx = w->base.ctx;
  divider g = {.h = w->h,
               .loop = &w->base.loop,
               .n = w->set.inliers,
               .slots = w->s.at.n};
  double *cost = base_alloc(ctx, sets + 1, sizeof *cost);
  g.value = base_alloc(ctx, g.slots, sizeof *g.value);
  g.of = base_alloc(ctx, g.slots, sizeof *g.of);
  lapis_status s = LAPIS_OK;
  if (cost == NULL || g.value == NULL || g.of == NULL) s = LAPIS_ENOMEM;
  if (s >= 0) s = w->h.ops->alloc(&w->h, LAPIS_F64, g.slots, g.slots, &g.G);
  if (s >= 0) s = w->h.ops->alloc(&w->h, LAPIS_F64, g.slots, g.slots, &g.A);
  if (s >= 0) correlate(&g, w);
  if (s >= 0) s = divide(&g, sets, cost);
  if (s >= 0 && g.whole)
    memcpy(w->instance, g.of, (size_t)g.slots * sizeof *w->instance);
  w->h.ops->free(&w->h, &g.G);
  w->h.ops->free(&w->h, &g.A);
  base_free(g.value);
  base_free(g.of);
  base_free(cost);
  return s;
}
