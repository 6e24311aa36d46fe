/* region_tree.c - branch and bound for the heaviest connected region.
 *
 * The sets that hold the heaviest positive node, those that do not but hold
 * the second, and so on, are searched apart, so that there is a root for the
 * bound (region_bound.c).  Subproblems wait by their parent's bound, greatest
 * first; one is bounded, what its bound decides is fixed, and it splits by a
 * node of weight < 0 that the bound would connect through: taken, or left out.
 * So the first in the queue is a bound on all that is unsearched: the answer is
 * proved, or the gap is known, whenever the time is up.  Nothing is random and
 * ties go by number; only where the clock stops it may a result differ. */
#include <math.h>
#include <string.h>

#include "images/places/region.h"

enum { GROW_EVERY = 16 };

typedef struct subproblem {
  double bound; /* of its parent */
  int64_t id;
  int32_t root;
  unsigned char *mark; /* n */
} subproblem;

typedef struct tree {
  region_job *job;
  const region_graph *g;
  region_ascent ascent;
  region_grower grower;
  bool *among;    /* n */
  int32_t *order; /* n: positive nodes, heaviest first */
  int32_t roots;
  subproblem *queue;
  int64_t count, room, made;
} tree;

static bool late(const region_job *job)
{
  return base_seconds() > job->deadline || base_late(job->ctx) ||
         base_cancelled(job->ctx);
}

/* ---- the queue ----------------------------------------------------------*/
static bool before(const subproblem *a, const subproblem *b)
{
  return a->bound > b->bound || (a->bound >= b->bound && a->id < b->id);
}

static void sink(tree *t, int64_t i)
{
  subproblem moving = t->queue[i];
  for (int64_t child; (child = 2 * i + 1) < t->count; i = child) {
    if (child + 1 < t->count && before(&t->queue[child + 1], &t->queue[child]))
      child++;
    if (!before(&t->queue[child], &moving)) break;
    t->queue[i] = t->queue[child];
  }
  t->queue[i] = moving;
}

static void rise(tree *t, int64_t i)
{
  subproblem moving = t->queue[i];
  for (; i > 0 && before(&moving, &t->queue[(i - 1) / 2]); i = (i - 1) / 2)
    t->queue[i] = t->queue[(i - 1) / 2];
  t->queue[i] = moving;
}

/* A copy of mark with `change` made to node (-1: none). */
static lapis_status put(tree *t, double bound, int32_t root,
                        const unsigned char *mark, int32_t node, int change)
{
  if (t->count == t->room) {
    int64_t room = 2 * t->room + 64;
    void *p = t->queue;
    TRY(base_grow(t->job->ctx, &p, t->count, room, sizeof *t->queue));
    t->queue = p;
    t->room = room;
  }
  unsigned char *copy = base_alloc_raw(t->job->ctx, t->g->n, 1);
  if (copy == NULL) return LAPIS_ENOMEM;
  memcpy(copy, mark, (size_t)t->g->n);
  if (node >= 0) copy[node] = (unsigned char)change;
  t->queue[t->count] = (subproblem){bound, t->made++, root, copy};
  rise(t, t->count++);
  return LAPIS_OK;
}

static subproblem take(tree *t)
{
  subproblem first = t->queue[0];
  t->queue[0] = t->queue[--t->count];
  if (t->count > 0) sink(t, 0);
  return first;
}

/* ---- roots --------------------------------------------------------------*/
static void sort_positive(tree *t)
{
  const double *weight = t->g->weight;
  for (int32_t v = 0; v < t->g->n; v++) {
    if (weight[v] <= 0) continue;
    int32_t i = t->roots++;
    for (; i > 0 && weight[t->order[i - 1]] < weight[v]; i--)
      t->order[i] = t->order[i - 1];
    t->order[i] = v;
  }
}

/* The i-th root's sets weigh no more than it and all lighter ones. */
static lapis_status put_roots(tree *t, unsigned char *mark)
{
  double left = 0;
  for (int32_t i = 0; i < t->roots; i++) left += t->g->weight[t->order[i]];
  for (int32_t i = 0; i < t->roots; i++) {
    TRY(put(t, left, t->order[i], mark, t->order[i], NODE_MUST));
    mark[t->order[i]] = NODE_OUT;
    left -= t->g->weight[t->order[i]];
  }
  return LAPIS_OK;
}

/* ---- one subproblem -----------------------------------------------------*/
static bool beaten(const tree *t, double bound)
{
  return bound <= t->job->best.score + t->job->slack;
}

static void offer(tree *t, int32_t root)
{
  const region_ascent *a = &t->ascent;
  for (int64_t v = 0; v < t->g->n; v++)
    t->among[v] = a->leader[v] == a->leader[root];
  region_offer(&t->grower, t->among, root, t->job->nodes % GROW_EVERY == 0,
               &t->job->best);
}

/* What the bound decides about single nodes; how many it decided. */
static int64_t fix(const tree *t, double bound, unsigned char *mark)
{
  const region_ascent *a = &t->ascent;
  int64_t fixed = 0;
  for (int64_t v = 0; v < t->g->n; v++) {
    if (mark[v] != NODE_FREE) continue;
    if (a->reduced[v] > 0 && beaten(t, bound - a->reduced[v]))
      mark[v] = NODE_OUT, fixed++;
    else if (a->budget[v] > 0 && beaten(t, bound - a->budget[v]))
      mark[v] = NODE_MUST, fixed++;
  }
  return fixed;
}

/* The costliest free node that the root's component connects through. */
static int32_t splitting_node(const tree *t, const subproblem *p)
{
  const region_ascent *a = &t->ascent;
  int32_t best = -1;
  for (int32_t v = 0; v < t->g->n; v++)
    if (p->mark[v] == NODE_FREE && t->g->weight[v] < 0 &&
        a->leader[v] == a->leader[p->root] &&
        (best < 0 || t->g->weight[v] < t->g->weight[best]))
      best = v;
  return best;
}

static lapis_status split(tree *t, const subproblem *p, double bound)
{
  int32_t v = splitting_node(t, p);
  if (v < 0) return LAPIS_OK; /* the component is the best set, and offered */
  TRY(put(t, bound, p->root, p->mark, v, NODE_MUST));
  return put(t, bound, p->root, p->mark, v, NODE_OUT);
}

static lapis_status expand(tree *t, subproblem *p)
{
  double bound = p->bound;
  do {
    bound = fmin(bound, region_ascend(&t->ascent, p->mark, p->root));
    if (isinf(bound)) return LAPIS_OK;
    offer(t, p->root);
    t->job->nodes++;
    if (beaten(t, bound)) return LAPIS_OK;
  } while (fix(t, bound, p->mark) > 0);
  return split(t, p, bound);
}

static lapis_status search(tree *t)
{
  lapis_status status = LAPIS_OK;
  while (t->count > 0 && status == LAPIS_OK) {
    if (beaten(t, t->queue[0].bound)) break;
    if (late(t->job)) {
      t->job->status =
          base_cancelled(t->job->ctx) ? LAPIS_CANCELLED : LAPIS_TIME_LIMIT;
      break;
    }
    subproblem p = take(t);
    status = expand(t, &p);
    base_free(p.mark);
  }
  t->job->bound = t->job->best.score;
  if (t->count > 0 && !beaten(t, t->queue[0].bound))
    t->job->bound = t->queue[0].bound;
  return status;
}

static lapis_status begin(tree *t, unsigned char **mark)
{
  lapis_ctx *ctx = t->job->ctx;
  TRY(region_ascent_new(ctx, t->g, &t->ascent));
  TRY(region_grower_new(ctx, t->g, &t->grower));
  t->among = base_alloc(ctx, t->g->n, sizeof *t->among);
  t->order = base_alloc(ctx, t->g->n, sizeof *t->order);
  *mark = base_alloc(ctx, t->g->n, 1);
  if (!t->among || !t->order || !*mark) return LAPIS_ENOMEM;
  sort_positive(t);
  return put_roots(t, *mark);
}

lapis_status region_solve_tree(region_job *job)
{
  tree t = {.job = job, .g = &job->g};
  unsigned char *mark = NULL;
  lapis_status status = begin(&t, &mark);
  if (status == LAPIS_OK) status = search(&t);
  for (int64_t i = 0; i < t.count; i++) base_free(t.queue[i].mark);
  base_free(t.queue), base_free(mark), base_free(t.among), base_free(t.order);
  region_ascent_free(&t.ascent);
  region_grower_free(&t.grower);
  return status;
}
