/* every_pair.c - --pairs: every pair of images on its own, for comparison
 * with methods that know no more than two.  Each pair is a problem like any
 * other, with the settings of the whole but for its start; the time limit is
 * that of all together, and pairs that it leaves out have no match (-1). */
#include <string.h>

#include "solve/roml/roml.h"

typedef struct pair_data {
  double *X;      /* d x (both images) */
  int64_t *group; /* 0 or 1 */
  int64_t *row;   /* in X of the whole */
} pair_data;

static void gather(const roml_problem *p, int64_t k, int64_t l, pair_data *q)
{
  int64_t at = 0, images[] = {k, l};
  for (int side = 0; side < 2; side++)
    for (int64_t i = 0; i < roml_count(p, images[side]); i++, at++) {
      memcpy(q->X + at * p->d, roml_feature(p, images[side], i),
             (size_t)p->d * sizeof *q->X);
      q->group[at] = side;
      q->row[at] = p->row[p->first[images[side]] + i];
    }
}

static lapis_status solve_pair(roml *w, int64_t k, int64_t l, pair_data *q,
                               int64_t *out)
{
  const roml_problem *p = &w->p;
  int64_t n = w->set.inliers, count = roml_count(p, k) + roml_count(p, l);
  loop *all = &w->base.loop;
  lapis_roml_settings set = w->set;
  set.pairs = false;
  set.map = LAPIS_ROML_MAP_NONE;
  set.invariance = "none"; /* the whole was moved */
  set.start = NULL;
  set.stop.seconds = loop_seconds_left(all);
  set.fix_first = set.fix_first && k == 0; /* the first of all images */
  gather(p, k, l, q);
  lapis_data data = {.X = lapis_mat_f64(q->X, p->d, count), .group = q->group};
  lapis_solver *s;
  lapis_mat match;
  TRY(roml_new(w->base.ctx, &data, &set, &s));
  keep_pause(w->base.ctx, true); /* a resumed run repeats it */
  lapis_status status = lapis_solve(s);
  keep_pause(w->base.ctx, false);
  /* the whole ends, too: who heard a cancellation has spent it */
  if (status == LAPIS_CANCELLED || status == LAPIS_TIME_LIMIT)
    all->status = status;
  if (status >= 0) status = lapis_result_get(s, "match", &match);
  const int64_t *found = match.val;
  for (int64_t i = 0; status >= 0 && i < 2 * n; i++)
    out[i] = found[i] < 0 ? -1 : q->row[found[i]];
  lapis_solver_free(s);
  return status < 0 ? status : LAPIS_OK;
}

static lapis_status solve_pairs(roml *w, pair_data *q)
{
  int64_t at = 0, n = w->set.inliers;
  for (int64_t k = 0; k < w->p.K; k++)
    for (int64_t l = k + 1; l < w->p.K; l++, at++) {
      if (loop_cut_short(&w->base.loop)) return LAPIS_OK;
      TRY(solve_pair(w, k, l, q, w->pair_match + at * 2 * n));
    }
  return LAPIS_OK;
}

lapis_status roml_pairs(roml *w)
{
  lapis_ctx *ctx = w->base.ctx;
  const roml_problem *p = &w->p;
  int64_t n = w->set.inliers, pairs = p->K * (p->K - 1) / 2;
  pair_data q = {.X = base_alloc_raw(ctx, 2 * p->largest * p->d, sizeof *q.X),
                 .group = base_alloc(ctx, 2 * p->largest, sizeof *q.group),
                 .row = base_alloc(ctx, 2 * p->largest, sizeof *q.row)};
  base_free(w->pair_match);
  w->pair_match = base_alloc(ctx, pairs * 2 * n, sizeof *w->pair_match);
  for (int64_t i = 0; w->pair_match != NULL && i < pairs * 2 * n; i++)
    w->pair_match[i] = -1;
  bool ok =
      q.X != NULL && q.group != NULL && q.row != NULL && w->pair_match != NULL;
  lapis_status status = ok ? solve_pairs(w, &q) : LAPIS_ENOMEM;
  base_free(q.X), base_free(q.group), base_free(q.row);
  if (status < 0) return status;
  solver_publish(&w->base, "pair_match",
                 lapis_mat_i64(w->pair_match, 2 * n, pairs));
  return LAPIS_OK;
}
