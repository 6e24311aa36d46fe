/* tracks.c - from partial matches of pairs to n slots.
 *
 * Features are the nodes of a graph, matches of near images its edges.  The
 * heat kernel exp(30 (w - 1)) on the eigenvalues w of the normalised adjacency
 * keeps what agrees around many cycles; its cosine is the affinity of two
 * features.  The feature whose best partners over all images sum to the most
 * starts a slot, its partners are used up, and so on; then every image is
 * assigned to the slots, and a slot with affinity below a third is absent. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

static const double HEAT = 30, ABSENT = 0.3;
static const double KEPT = 0.3; /* exp(30 (0.3 - 1)) = 8e-10 */

/* ---- which images are neighbours ----------------------------------------*/
static void clear(bool *flag, int64_t count)
{
  for (int64_t i = 0; i < count; i++) flag[i] = false;
}

static void join(robust *g, int64_t k, int64_t l)
{
  g->edge[k * g->p->K + l] = g->edge[l * g->p->K + k] = true;
}

static void join_nearest(robust *g, int64_t nearest)
{
  int64_t K = g->p->K;
  for (int64_t k = 0; k < K; k++) {
    clear(g->used, K);
    g->used[k] = true;
    for (int64_t t = 0; t < nearest && t < K - 1; t++) {
      int64_t best = -1;
      for (int64_t l = 0; l < K; l++)
        if (!g->used[l] && (best < 0 || g->W[k * K + l] < g->W[k * K + best]))
          best = l;
      g->used[best] = true;
      join(g, k, best);
    }
  }
}

/* Prim's tree, so that the graph is connected. */
static void join_tree(robust *g)
{
  int64_t K = g->p->K;
  clear(g->used, K);
  g->used[0] = true;
  for (int64_t t = 1; t < K; t++) {
    int64_t from = -1, to = -1;
    for (int64_t k = 0; k < K; k++)
      for (int64_t l = 0; g->used[k] && l < K; l++)
        if (!g->used[l] && (from < 0 || g->W[k * K + l] < g->W[from * K + to]))
          from = k, to = l;
    g->used[to] = true;
    join(g, from, to);
  }
}

/* ---- affinity -----------------------------------------------------------*/
/* A <- D^-1/2 W D^-1/2 */
static void fill_adjacency(robust *g)
{
  const roml_problem *p = g->p;
  double *A = g->A.data;
  memset(A, 0, (size_t)(g->A.ld * p->N) * sizeof *A);
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t l = 0; l < p->K; l++) {
      if (!g->edge[k * p->K + l]) continue;
      for (int64_t f = p->first[k]; f < p->first[k + 1]; f++) {
        int32_t j = g->partner[l * p->N + f];
        if (j >= 0) A[(p->first[l] + j) * g->A.ld + f] = 1;
      }
    }
  for (int64_t f = 0; f < p->N; f++) {
    g->value[f] = 0;
    for (int64_t i = 0; i < p->N; i++) g->value[f] += A[f * g->A.ld + i];
  }
  for (int64_t f = 0; f < p->N; f++)
    for (int64_t i = 0; i < p->N; i++)
      if (A[f * g->A.ld + i] > 0)
        A[f * g->A.ld + i] /= sqrt(g->value[f] * g->value[i]);
}

/* A <- the cosine of the heat kernel; a feature without matches is like none */
static lapis_status heat_affinity(robust *g)
{
  int64_t count, N = g->p->N;
  const la_backend *ops = g->h.ops;
  TRY(ops->eigh(&g->h, &g->A, KEPT, g->value, &g->Q, &count));
  for (int64_t i = 0; i < count; i++)
    g->value[i] = exp(HEAT * (g->value[i] - 1) / 2);
  la_array V = la_cols(&g->Q, 0, count);
  TRY(la_scale_cols(&g->h, g->value, &V));
  TRY(ops->gemm(&g->h, LA_N, LA_T, 1, &V, &V, 0, &g->A));
  double *A = g->A.data;
  for (int64_t i = 0; i < N; i++) g->value[i] = sqrt(A[i * g->A.ld + i]);
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < N; i++)
      A[j * g->A.ld + i] /= fmax(g->value[i] * g->value[j], 1e-12);
  return LAPIS_OK;
}

/* ---- slots --------------------------------------------------------------*/
/* The unused feature of image k most like f, or -1. */
static int64_t best_partner(const robust *g, int64_t f, int64_t k, double *like)
{
  const double *a = (const double *)g->A.data + f * g->A.ld;
  int64_t best = -1;
  *like = 0;
  for (int64_t i = g->p->first[k]; i < g->p->first[k + 1]; i++)
    if (!g->used[i] && a[i] > *like) *like = a[i], best = i;
  return best;
}

static double track_length(const robust *g, int64_t f)
{
  double sum = 0, like;
  for (int64_t k = 0; k < g->p->K; k++) {
    best_partner(g, f, k, &like);
    if (like >= ABSENT) sum += like;
  }
  return sum;
}

static void use_track(robust *g, int64_t f)
{
  double like;
  for (int64_t k = 0; k < g->p->K; k++) {
    int64_t i = best_partner(g, f, k, &like);
    if (i >= 0 && like >= ABSENT) g->used[i] = true;
  }
  g->used[f] = true;
}

/* Features that start the slots, in value. */
static void choose_slots(robust *g)
{
  clear(g->used, g->p->N);
  for (int64_t j = 0; j < g->n; j++) {
    int64_t best = 0;
    double longest = -1;
    for (int64_t f = 0; f < g->p->N; f++) {
      if (g->used[f]) continue;
      double length = track_length(g, f);
      if (length > longest) longest = length, best = f;
    }
    g->value[j] = (double)best;
    use_track(g, best);
  }
}

static lapis_status assign_images(robust *g)
{
  const roml_problem *p = g->p;
  const double *A = g->A.data;
  for (int64_t k = 0; k < p->K; k++) {
    int64_t count = roml_count(p, k);
    for (int64_t j = 0; j < g->n; j++)
      for (int64_t i = 0; i < count; i++)
        g->cost[j * count + i] =
            -A[(int64_t)g->value[j] * g->A.ld + p->first[k] + i];
    assign_costs costs = {LAPIS_F64, g->n, count, count, g->cost};
    if (op_assign_solve(g->solver, &costs, false) >= 0)
      return lapis_fail(
          g->h.ctx, LAPIS_ENUMERIC,
          "roml: tracks met a NaN; scale X down, or take another --start");
    for (int64_t j = 0; j < g->n; j++) {
      int64_t i = g->solver->match[j];
      bool there = -g->cost[j * count + i] >= ABSENT;
      g->pick[k * g->n + j] = there ? i : -1;
    }
  }
  return LAPIS_OK;
}

lapis_status roml_tracks(robust *g, int64_t nearest)
{
  clear(g->edge, g->p->K * g->p->K);
  join_nearest(g, nearest);
  join_tree(g);
  fill_adjacency(g);
  TRY(heat_affinity(g));
  choose_slots(g);
  return assign_images(g);
}
