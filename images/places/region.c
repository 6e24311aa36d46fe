/* region.c - the connected group of segments of the greatest total score.
 *
 * [MC15] Sec. 4.5 sums what the words of a segment say for a class and looks
 * for the connected group of segments with the greatest sum, by the efficient
 * region search of Vijayanarasimhan and Grauman: a connected subgraph of
 * maximum weight.  The problem is reduced (region_reduce.c), then solved by
 * branch and bound (region_tree.c). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "images/places/region.h"

static lapis_status check_graph(lapis_ctx *ctx, const lapis_graph *g)
{
  if (g->count < 0 || g->count > INT32_MAX / 4)
    return lapis_fail(ctx, LAPIS_ESHAPE, "region: %" PRId64 " segments",
                      g->count);
  if (g->start[0] != 0)
    return lapis_fail(ctx, LAPIS_EINVAL, "region: start[0] must be 0");
  for (int64_t v = 0; v < g->count; v++) {
    if (g->start[v + 1] < g->start[v])
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "region: the neighbours of segment %" PRId64
                        " end before they begin",
                        v);
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++)
      if (g->neighbour[k] < 0 || g->neighbour[k] >= g->count)
        return lapis_fail(ctx, LAPIS_EINVAL,
                          "region: segment %" PRId64 " has the neighbour %d; "
                          "there are %" PRId64 " segments, from 0",
                          v, (int)g->neighbour[k], g->count);
  }
  return LAPIS_OK;
}

static lapis_status check_scores(lapis_ctx *ctx, const double *score, int64_t n)
{
  for (int64_t v = 0; v < n; v++)
    if (!isfinite(score[v]))
      return lapis_fail(ctx, LAPIS_EDATA,
                        "region: the score of segment %" PRId64
                        " is %g; it must be finite",
                        v, score[v]);
  return LAPIS_OK;
}

/* Sums of n weights are off by no more than n eps times their sizes; bounds
 * are made of a few such sums. */
static double rounding(const lapis_graph *graph, const double *score)
{
  double sum = 0;
  for (int64_t v = 0; v < graph->count; v++)
    if (isfinite(score[v])) sum += fabs(score[v]);
  return 8 * DBL_EPSILON * (double)(graph->count + 1) * sum;
}

/* inside, score: of the original segments, summed in their order. */
static void read_answer(const region_job *job, const region_reduced *r,
                        const double *score, int64_t n, unsigned char *inside,
                        lapis_region_info *info)
{
  bool single = true;
  for (int64_t v = 0; v < job->g.n; v++)
    single = single && !job->best.inside[v];
  info->score = 0;
  for (int64_t v = 0; v < n; v++) {
    inside[v] = single ? r->single_group >= 0 && r->group[v] == r->single_group
                       : r->map[v] >= 0 && job->best.inside[r->map[v]];
    if (!inside[v]) continue;
    info->members++;
    info->score += score[v];
  }
  info->bound = job->bound <= job->best.score ? info->score
                                              : fmax(job->bound, info->score);
  info->gap = (info->bound - info->score) /
              fmax(fmax(fabs(info->bound), fabs(info->score)), 1e-300);
  info->nodes = job->nodes;
  info->left = job->g.n;
  info->status = job->status;
}

static lapis_status find(lapis_ctx *ctx, const lapis_graph *graph,
                         const double *score, const lapis_region_settings *set,
                         unsigned char *inside, lapis_region_info *info)
{
  region_reduced r;
  double start = base_seconds();
  TRY(region_reduce(ctx, graph, score, &r));
  region_job job = {.ctx = ctx, .g = r.g, .deadline = start + set->seconds};
  job.slack = rounding(graph, score);
  job.best.score = r.single;
  job.best.inside = base_alloc(ctx, r.g.n, sizeof *job.best.inside);
  lapis_status status =
      job.best.inside == NULL ? LAPIS_ENOMEM : region_solve_tree(&job);
  if (status >= 0) {
    read_answer(&job, &r, score, graph->count, inside, info);
    info->seconds = base_seconds() - start;
    status = job.status;
  }
  base_free(job.best.inside);
  region_reduced_free(&r);
  return status;
}

static lapis_status take_settings(lapis_ctx *ctx,
                                  const lapis_region_settings *given,
                                  lapis_region_settings *set)
{
  *set = lapis_region_defaults();
  TRY(base_take(ctx, "region: the settings", given, set, sizeof *set));
  if (!(set->seconds >= 0))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "region: the time limit is %g s; it must be at least 0",
                      set->seconds);
  return LAPIS_OK;
}

lapis_status lapis_region_find(lapis_ctx *ctx, const lapis_graph *graph,
                               const double *score,
                               const lapis_region_settings *given,
                               unsigned char *inside, lapis_region_info *info)
{
  NEEDS(ctx, graph, score, inside);
  lapis_region_info unseen;
  lapis_region_settings set;
  if (info == NULL) info = &unseen;
  *info = (lapis_region_info){0};
  TRY(take_settings(ctx, given, &set));
  TRY(check_graph(ctx, graph));
  TRY(check_scores(ctx, score, graph->count));
  return find(ctx, graph, score, &set, inside, info);
}
