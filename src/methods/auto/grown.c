/* grown.c - trees of a race: as many as it grows, of every kind. */
#include <math.h>

#include "methods/auto/candidates.h"
#include "op/learn/trees.h"

static bool goes_on(void *user)
{
  const comparison *r = user;
  return !base_late(r->ctx) && !base_cancelled(r->ctx);
}

lapis_status candidate_grow(comparison *r, const candidate *x, const double *X,
                            int64_t d, const double *y, const bool *asked,
                            double *score)
{
  trees grown;
  trees_problem p = {.kind = x->grown,
                     .numbers = r->o.numbers,
                     .classes =
                         !r->o.numbers && r->labels.kind == TARGETS_CLASS,
                     .X = X,
                     .target = y,
                     .weight = r->weight,
                     .d = d,
                     .n = r->n,
                     .K = r->K,
                     .share = x->share,
                     .stored = INFINITY, /* auto was weighed as a whole */
                     .count = candidate_trees(r, x),
                     .leaf = x->leaf,
                     .depth = x->depth,
                     .rate = x->rate};
  targets one = r->labels;
  one.samples = 1;
  double *room = base_alloc_raw(r->ctx, r->K, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  lapis_status s = trees_grow(r->ctx, &p, goes_on, r, &grown);
  bool all = s >= 0 && grown.count == p.count;
  if (all) trees_answer(&grown, X, d, r->n, asked, score);
  for (int64_t j = 0; all && !r->o.numbers && j < r->n; j++) {
    if (!asked[j]) continue;
    if (grown.scores)
      targets_log_odds(&one, score + j * r->K, room);
    else
      trees_log_odds(&grown, score + j * r->K);
  }
  base_free(room);
  if (s < 0) return s;
  trees_free(&grown);
  if (all) return LAPIS_OK;
  return base_cancelled(r->ctx) ? LAPIS_CANCELLED : LAPIS_TIME_LIMIT;
}
