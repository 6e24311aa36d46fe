/* pairs.c - the start made of pairwise assignments, mst.
 *
 * Assignments on |a - b|^2 between all pairs of images give costs W.  Their
 * minimum spanning tree is rooted at the image with the least row sum of W. The
 * root's slots are handed down: an image is assigned to the features its parent
 * was given.  The order of the images is not used. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/roml/roml.h"

static double distance2(const roml_problem *p, int64_t k, int64_t i, int64_t l,
                        int64_t j)
{
  const double *a = roml_feature(p, k, i), *b = roml_feature(p, l, j);
  double s = p->scale[p->first[k] + i], t = p->scale[p->first[l] + j], sum = 0;
  for (int64_t q = 0; q < p->d; q++)
    sum += (s * a[q] - t * b[q]) * (s * a[q] - t * b[q]);
  return sum;
}

lapis_status roml_assign_pair(pair_work *g, int64_t k, const int64_t *list,
                              int64_t rows, int64_t l)
{
  int64_t cols = roml_count(g->p, l);
  bool large = rows * cols * g->p->d > 1 << 22;
#pragma omp parallel for num_threads(large ? base_team(g->h.ctx, g->h.threads) \
                                           : 1)
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      g->cost[i * cols + j] =
          distance2(g->p, k, list == NULL ? i : list[i], l, j);
  assign_costs costs = {LAPIS_F64, rows, cols, cols, g->cost};
  if (op_assign_solve(g->solver, &costs, false) < 0) return LAPIS_OK;
  return lapis_fail(g->h.ctx, LAPIS_ENUMERIC,
                    "roml: distances overflow; scale X down");
}

/* Pairs for which there is no time are far apart. */
static lapis_status all_pairs(pair_work *g)
{
  const roml_problem *p = g->p;
  for (int64_t i = 0; i < p->K * p->K; i++)
    g->W[i] = i % (p->K + 1) == 0 ? 0 : INFINITY;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t l = k + 1; l < p->K; l++) {
      if (roml_must_end(g->w)) return LAPIS_OK;
      bool less = roml_count(p, k) <= roml_count(p, l);
      int64_t a = less ? k : l, b = less ? l : k, rows = roml_count(p, a);
      TRY(roml_assign_pair(g, a, NULL, rows, b));
      double mean = g->solver->objective / (double)rows;
      g->W[k * p->K + l] = g->W[l * p->K + k] = mean;
      for (int64_t i = 0; i < rows; i++) {
        int64_t j = g->solver->match[i];
        double c = g->cost[i * roml_count(p, b) + j];
        g->match_sum[p->first[a] + i] += c;
        g->match_sum[p->first[b] + j] += c;
        g->match_count[p->first[a] + i]++;
        g->match_count[p->first[b] + j]++;
      }
    }
  return LAPIS_OK;
}

int64_t roml_root(const double *W, int64_t K)
{
  int64_t root = 0;
  double least = INFINITY;
  for (int64_t k = 0; k < K; k++) {
    double sum = 0;
    for (int64_t l = 0; l < K; l++) sum += W[k * K + l];
    if (sum < least) least = sum, root = k;
  }
  return root;
}

typedef struct cheap {
  double cost;
  int64_t at;
} cheap;

static int by_cost(const void *a, const void *b)
{
  const cheap *x = a, *y = b;
  if (x->cost < y->cost || x->cost > y->cost) return x->cost < y->cost ? -1 : 1;
  return x->at < y->at ? -1 : 1;
}

/* The root's n features whose own matches were cheapest; one that was left
 * over by a smaller image counts there as its worst match would. */
static lapis_status root_slots(pair_work *g, int64_t root, int64_t *pick)
{
  const roml_problem *p = g->p;
  int64_t count = roml_count(p, root);
  cheap *list = base_alloc(g->h.ctx, count, sizeof *list);
  if (list == NULL) return LAPIS_ENOMEM;
  double worst = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t f = p->first[root] + i;
    if (g->match_count[f] > 0)
      worst = fmax(worst, g->match_sum[f] / (double)g->match_count[f]);
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t f = p->first[root] + i, missed = p->K - 1 - g->match_count[f];
    list[i] = (cheap){g->match_sum[f] + worst * (double)missed, i};
  }
  qsort(list, (size_t)count, sizeof *list, by_cost);
  for (int64_t j = 0; j < g->n; j++) pick[root * g->n + j] = list[j].at;
  base_free(list);
  return LAPIS_OK;
}

static lapis_status hand_down(pair_work *g, int64_t from, int64_t to,
                              int64_t *pick)
{
  TRY(roml_assign_pair(g, from, pick + from * g->n, g->n, to));
  memcpy(pick + to * g->n, g->solver->match, (size_t)g->n * sizeof *pick);
  return LAPIS_OK;
}

/* Prim's tree: best[k] is how far k is from what is reached. */
static lapis_status grow_tree(pair_work *g, int64_t root, int64_t *pick)
{
  int64_t K = g->p->K;
  double *best = base_alloc(g->h.ctx, K, sizeof *best);
  int64_t *parent = base_alloc(g->h.ctx, K, sizeof *parent);
  lapis_status s = best == NULL || parent == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t k = 0; s >= 0 && k < K; k++) {
    best[k] = k == root ? -1 : g->W[root * K + k];
    parent[k] = root;
  }
  for (int64_t t = 1; s >= 0 && t < K; t++) {
    int64_t next = -1;
    for (int64_t k = 0; k < K; k++)
      if (best[k] >= 0 && (next < 0 || best[k] < best[next])) next = k;
    s = hand_down(g, parent[next], next, pick);
    best[next] = -1;
    for (int64_t k = 0; k < K; k++)
      if (best[k] >= 0 && g->W[next * K + k] < best[k])
        best[k] = g->W[next * K + k], parent[k] = next;
  }
  base_free(best);
  base_free(parent);
  return s;
}

static lapis_status allocate(pair_work *g)
{
  const roml_problem *p = g->p;
  lapis_ctx *ctx = g->h.ctx;
  TRY(op_assign_new(ctx, p->largest, p->largest, &g->solver));
  g->cost = base_alloc_raw(ctx, p->largest * p->largest, sizeof *g->cost);
  g->W = base_alloc(ctx, p->K * p->K, sizeof *g->W);
  g->match_sum = base_alloc(ctx, p->N, sizeof *g->match_sum);
  g->match_count = base_alloc(ctx, p->N, sizeof *g->match_count);
  bool ok = g->cost != NULL && g->W != NULL && g->match_sum != NULL &&
            g->match_count != NULL;
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

void roml_pairs_free(pair_work *g)
{
  op_assign_free(g->solver);
  base_free(g->cost), base_free(g->W);
  base_free(g->match_sum), base_free(g->match_count);
  *g = (pair_work){.n = 0};
}

static lapis_status start(pair_work *g, int64_t *pick)
{
  TRY(all_pairs(g));
  int64_t root = roml_root(g->W, g->p->K);
  TRY(root_slots(g, root, pick));
  return grow_tree(g, root, pick);
}

lapis_status roml_pairs_new(roml *w, int64_t n, pair_work *g)
{
  *g = (pair_work){.w = w, .p = &w->p, .h = w->h, .n = n};
  lapis_status status = allocate(g);
  if (status < 0) roml_pairs_free(g);
  return status;
}

lapis_status roml_start_mst(roml *w, roml_state *s)
{
  pair_work g;
  TRY(roml_pairs_new(w, s->at.n, &g));
  lapis_status status = start(&g, s->pick);
  roml_pairs_free(&g);
  return status;
}
