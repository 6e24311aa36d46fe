/* vocabulary.c - learning a tree of words, and finding them. */
#include "images/words/vocabulary.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "mat/mat.h"
#include "op/learn/kmeans.h"

enum { MAX_ITERS = 100, MOST_WORDS = 1000000 };

lapis_status vocabulary_branch(lapis_ctx *ctx, const char *what, int64_t words,
                               int64_t levels, int64_t *branch)
{
  int64_t power = 1;
  *branch = (int64_t)(pow((double)words, 1.0 / (double)levels) + 0.5);
  for (int64_t l = 0; l < levels; l++) power *= *branch;
  if (power == words && words <= MOST_WORDS && *branch > 1) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --words %" PRId64 " is not a %" PRId64
                    "-th power of a number from 2 on; a tree of --levels "
                    "%" PRId64 " has B^%" PRId64 " words, %d at most",
                    what, words, levels, levels, levels, MOST_WORDS);
}

void vocabulary_free(vocabulary *v)
{
  base_free(v->shift);
  base_free(v->scale);
  base_free(v->made);
  base_free(v->bins);
  for (int l = 0; l < VOCABULARY_LEVELS; l++) nearest_free(&v->level[l]);
  *v = (vocabulary){.d = 0};
}

/* ---- standardising ------------------------------------------------------*/
static void standardise(const vocabulary *v, float *points, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    for (int64_t a = 0; a < v->d; a++) {
      float *x = points + i * v->d + a;
      *x = (*x - v->shift[a]) / v->scale[a];
    }
}

static lapis_status measure(lapis_ctx *ctx, const vocabulary_task *t,
                            vocabulary *v)
{
  lapis_mat points = {.dtype = LAPIS_F32,
                      .rows = v->d,
                      .cols = t->n,
                      .ld = v->d,
                      .val = t->points};
  double *room = base_alloc(ctx, 3 * v->d, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  mat_moments of = {v->d, room, room + v->d, room + 2 * v->d};
  lapis_status s = mat_measure(ctx, &points, NULL, &of);
  for (int64_t a = 0; a < v->d; a++) {
    v->shift[a] = (float)of.mean[a];
    v->scale[a] = of.deviation[a] > 0 ? (float)of.deviation[a] : 1;
  }
  base_free(room);
  return s;
}

/* ---- down the tree ------------------------------------------------------*/
/* Points sorted by the node they are at. */
typedef struct descent {
  const vocabulary *v;
  int64_t n;
  int32_t *node;  /* n */
  int64_t *order; /* n: points by node, in the order they came */
  int64_t *start; /* nodes of the level + 1 */
  float *group;   /* d x n: points in that order */
  op_panels panels;
  int32_t *word; /* n: of group */
  float *cost;   /* n */
} descent;

static void close_descent(descent *s)
{
  base_free(s->node);
  base_free(s->order);
  base_free(s->start);
  base_free(s->group);
  base_free(s->word);
  base_free(s->cost);
  op_panels_free(&s->panels);
}

static lapis_status open_descent(lapis_ctx *ctx, const vocabulary *v, int64_t n,
                                 descent *s)
{
  *s = (descent){.v = v, .n = n};
  s->node = base_alloc(ctx, n, sizeof *s->node);
  s->order = base_alloc(ctx, n, sizeof *s->order);
  s->start = base_alloc(ctx, v->words + 1, sizeof *s->start);
  s->group = base_alloc_raw(ctx, n * v->d, sizeof *s->group);
  s->word = base_alloc(ctx, n, sizeof *s->word);
  s->cost = base_alloc(ctx, n, sizeof *s->cost);
  bool room = s->node != NULL && s->order != NULL && s->start != NULL &&
              s->group != NULL && s->word != NULL && s->cost != NULL;
  return room ? op_panels_new(ctx, LAPIS_F32, v->d, n, &s->panels)
              : LAPIS_ENOMEM;
}

static void sort_points(descent *s, const float *points, int64_t nodes)
{
  int64_t d = s->v->d;
  nearest_sort(s->node, s->n, nodes, s->start, s->order);
  for (int64_t i = 0; i < s->n; i++)
    memcpy(s->group + i * d, points + s->order[i] * d,
           (size_t)d * sizeof(float));
}

/* Each point of node k to the nearest of its children. */
static void descend_node(descent *s, int64_t l, int64_t k)
{
  int64_t first = s->start[k], n = s->start[k + 1] - first;
  int64_t branch = s->v->branch;
  nearest_centres children = nearest_part(&s->v->level[l], k * branch, branch);
  if (n == 0) return;
  nearest_pack(&s->panels, 0, s->group + first * s->v->d, n);
  nearest_find(&s->panels, 0, n, &children, s->word + first, s->cost + first);
  for (int64_t i = first; i < first + n; i++)
    s->node[s->order[i]] = (int32_t)(k * branch + s->word[i]);
}

/* From the nodes of level l to those of the next. */
static void descend(descent *s, const float *points, int64_t l)
{
  int64_t nodes = l == 0 ? 1 : s->v->level[l - 1].count;
  sort_points(s, points, nodes);
  for (int64_t k = 0; k < nodes; k++) descend_node(s, l, k);
}

lapis_status vocabulary_find(lapis_ctx *ctx, const vocabulary *v, float *points,
                             int64_t n, int32_t *word)
{
  descent s;
  lapis_status status = open_descent(ctx, v, n, &s);
  if (status >= 0) {
    standardise(v, points, n);
    for (int64_t l = 0; l < v->levels; l++) descend(&s, points, l);
    memcpy(word, s.node, (size_t)n * sizeof *word);
  }
  close_descent(&s);
  return status;
}

/* ---- learning -----------------------------------------------------------*/
typedef struct growth {
  lapis_ctx *ctx;
  const vocabulary_task *t;
  vocabulary *v;
  descent s;
} growth;

/* A node that no point reached has children where it is. */
static void copy_parent(growth *g, int64_t l, int64_t k)
{
  vocabulary *v = g->v;
  const float *parent = v->level[l - 1].val + k * v->d;
  float *to = v->level[l].val + k * v->branch * v->d;
  for (int64_t c = 0; c < v->branch; c++)
    memcpy(to + c * v->d, parent, (size_t)v->d * sizeof *to);
}

static lapis_status grow_node(growth *g, int64_t l, int64_t k, int threads)
{
  vocabulary *v = g->v;
  int64_t first = g->s.start[k], n = g->s.start[k + 1] - first;
  kmeans_task task = {.points = g->s.group + first * v->d,
                      .d = v->d,
                      .n = n,
                      .k = v->branch,
                      .restarts = g->t->restarts,
                      .max_iters = MAX_ITERS,
                      .stream = (uint64_t)(l * MOST_WORDS + k),
                      .threads = threads};
  if (n == 0) {
    copy_parent(g, l, k);
    return LAPIS_OK;
  }
  return kmeans(g->ctx, &task, v->level[l].val + k * v->branch * v->d, NULL);
}

/* The first level has one node for all threads, the others a node a thread. */
static lapis_status grow_level(growth *g, int64_t l)
{
  int64_t nodes = l == 0 ? 1 : g->v->level[l - 1].count;
  int64_t worst = nodes;
  lapis_status *all = base_alloc(g->ctx, nodes, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  sort_points(&g->s, g->t->points, nodes);
  int inside = l == 0 ? g->t->threads : 1;
#pragma omp parallel for schedule(dynamic) \
    num_threads(base_team(g->ctx, g->t->threads / inside))
  for (int64_t k = 0; k < nodes; k++) all[k] = grow_node(g, l, k, inside);
  for (int64_t k = nodes - 1; k >= 0; k--)
    if (all[k] != LAPIS_OK) worst = k;
  lapis_status s = worst < nodes ? all[worst] : LAPIS_OK;
  base_free(all);
  if (s == LAPIS_ENOMEM)
    (void)lapis_fail(g->ctx, s, "out of memory: learning a vocabulary");
  nearest_refresh(&g->v->level[l]);
  if (s == LAPIS_OK && l + 1 < g->v->levels)
    for (int64_t k = 0; k < nodes; k++) descend_node(&g->s, l, k);
  return s;
}

static lapis_status prepare(lapis_ctx *ctx, const vocabulary_task *t,
                            vocabulary *v)
{
  v->d = t->d;
  v->branch = t->branch;
  v->levels = t->levels;
  v->words = 1;
  v->shift = base_alloc(ctx, t->d, sizeof *v->shift);
  v->scale = base_alloc(ctx, t->d, sizeof *v->scale);
  if (v->shift == NULL || v->scale == NULL) return LAPIS_ENOMEM;
  for (int64_t l = 0; l < t->levels; l++) {
    v->words *= t->branch;
    TRY(nearest_new(ctx, t->d, v->words, &v->level[l]));
  }
  for (int64_t a = 0; a < t->d; a++) v->scale[a] = 1;
  if (t->n >= v->words) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA,
                    "a vocabulary of %" PRId64
                    " words is learnt from as many descriptors or more, not "
                    "from %" PRId64 "; ask for fewer --words",
                    v->words, t->n);
}

static lapis_status grow(growth *g)
{
  const vocabulary_task *t = g->t;
  TRY(prepare(g->ctx, t, g->v));
  if (t->standardise) {
    TRY(measure(g->ctx, t, g->v));
    standardise(g->v, t->points, t->n);
  }
  TRY(open_descent(g->ctx, g->v, t->n, &g->s));
  for (int64_t l = 0; l < t->levels; l++) {
    lapis_status s = grow_level(g, l);
    if (s != LAPIS_OK) return s;
  }
  return LAPIS_OK;
}

lapis_status vocabulary_learn(lapis_ctx *ctx, const vocabulary_task *t,
                              vocabulary *out)
{
  growth g = {.ctx = ctx, .t = t, .v = out};
  *out = (vocabulary){.d = 0};
  lapis_status s = grow(&g);
  close_descent(&g.s);
  if (s != LAPIS_OK) vocabulary_free(out);
  return s;
}
