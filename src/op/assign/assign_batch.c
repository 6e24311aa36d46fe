/* assign_batch.c - the public face of assignment: checks, one, many. */
#include <math.h>
#include <string.h>

#include "lapis/methods.h"
#include "mat/mat.h"
#include "op/assign/assign.h"

/* Of n x n costs n^3: about half a millisecond. */
static const double WORTH_THREADS = 500000;

/* ---- checks -------------------------------------------------------------*/
static lapis_status check_cost(lapis_ctx *ctx, const lapis_mat *c)
{
  if (c->colptr != NULL || (c->dtype != LAPIS_F64 && c->dtype != LAPIS_F32))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "assign: costs must be dense float64 or float32");
  TRY(mat_check_view(ctx, "assign", "the costs", c));
  if (c->cols > c->rows)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "assign: %" PRId64
                      " rows cannot each have one of %" PRId64
                      " columns; transpose the costs, or drop rows",
                      c->cols, c->rows);
  return LAPIS_OK;
}

static lapis_status check_places(lapis_ctx *ctx, const lapis_mat *c,
                                 const lapis_assignment *a)
{
  if (a->match == NULL && c->cols > 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "assign: match is NULL; it takes the %" PRId64
                      " answers, one a row",
                      c->cols);
  if (!a->warm) return LAPIS_OK;
  if (a->price == NULL)
    return lapis_fail(ctx, LAPIS_EINVAL, "assign: a warm start needs prices");
  for (int64_t i = 0; i < c->cols; i++)
    if (a->match[i] < -1 || a->match[i] >= c->rows)
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "assign: the warm start gives row %" PRId64
                        " column %" PRId64 " of %" PRId64,
                        i + 1, a->match[i] + 1, c->rows);
  for (int64_t j = 0; j < c->rows; j++)
    if (!isfinite(a->price[j]))
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "assign: the price of column %" PRId64 " is %g", j + 1,
                        a->price[j]);
  return LAPIS_OK;
}

static lapis_status fail_at_row(lapis_ctx *ctx, const lapis_mat *c, int64_t i)
{
  int64_t j = 0;
  while (j < c->rows - 1 && isfinite(lapis_mat_at(c, j, i))) j++;
  double v = lapis_mat_at(c, j, i);
  return lapis_fail(ctx, isnan(v) ? LAPIS_EMISSING : LAPIS_EDATA,
                    "assign: the cost at row %" PRId64 ", column %" PRId64
                    " is %g; a pair that must not be chosen takes a large "
                    "finite cost",
                    i + 1, j + 1, v);
}

/* ---- solving ------------------------------------------------------------*/
/* The first row that is not finite, or -1. */
static int64_t solve_one(op_assign *p, const lapis_mat *c, lapis_assignment *a)
{
  assign_costs costs = {c->dtype, c->cols, c->rows, c->ld, c->val};
  size_t rows = (size_t)c->cols, cols = (size_t)c->rows;
  if (a->warm) {
    memcpy(p->match, a->match, rows * sizeof *a->match);
    memcpy(p->price, a->price, cols * sizeof *a->price);
  }
  int64_t bad = op_assign_solve(p, &costs, a->warm);
  if (bad >= 0) return bad;
  memcpy(a->match, p->match, rows * sizeof *a->match);
  if (a->price != NULL) memcpy(a->price, p->price, cols * sizeof *a->price);
  a->objective = p->objective;
  return -1;
}

static lapis_status workspaces(lapis_ctx *ctx, int64_t count,
                               const lapis_mat *cost, int threads,
                               op_assign **w)
{
  int64_t rows = 0, cols = 0;
  for (int64_t i = 0; i < count; i++) {
    if (cost[i].cols > rows) rows = cost[i].cols;
    if (cost[i].rows > cols) cols = cost[i].rows;
  }
  for (int t = 0; t < threads; t++) TRY(op_assign_new(ctx, rows, cols, &w[t]));
  return LAPIS_OK;
}

typedef struct batch {
  int64_t count;
  const lapis_mat *cost;
  lapis_assignment *io;
  int threads;
  op_assign **w;      /* threads */
  int64_t first, row; /* the first problem refused, and where */
} batch;

static void solve_share(batch *b, int64_t t)
{
  for (int64_t i = t; i < b->count; i += b->threads) {
    int64_t bad = solve_one(b->w[t], &b->cost[i], &b->io[i]);
    if (bad < 0) continue;
#pragma omp critical
    if (i < b->first) b->first = i, b->row = bad;
  }
}

/* One thread does without a team: its end is a call of the system, as long as a
 * small problem. */
static lapis_status solve_all(lapis_ctx *ctx, batch *b)
{
  if (b->threads == 1) {
    solve_share(b, 0);
  } else {
#pragma omp parallel for num_threads(base_team(ctx, b->threads)) \
    schedule(dynamic, 1)
    for (int64_t t = 0; t < b->threads; t++) solve_share(b, t);
  }
  return b->first < b->count ? fail_at_row(ctx, &b->cost[b->first], b->row)
                             : LAPIS_OK;
}

lapis_status lapis_assign_batch(lapis_ctx *ctx, int64_t count,
                                const lapis_mat *cost, lapis_assignment *io)
{
  NEEDS(ctx, cost, io);
  for (int64_t i = 0; i < count; i++) {
    TRY(check_cost(ctx, &cost[i]));
    TRY(check_places(ctx, &cost[i], &io[i]));
  }
  double work = 0;
  for (int64_t i = 0; i < count; i++)
    work += pow((double)(cost[i].rows * cost[i].cols), 1.5);
  int threads = work > WORTH_THREADS ? base_threads(ctx) : 1;
  if (threads > count) threads = count > 0 ? (int)count : 1;
  op_assign **w = base_alloc(ctx, threads, sizeof *w);
  if (w == NULL) return LAPIS_ENOMEM;
  lapis_status s = workspaces(ctx, count, cost, threads, w);
  batch b = {count, cost, io, threads, w, .first = count};
  if (s >= 0) s = solve_all(ctx, &b);
  for (int t = 0; t < threads; t++) op_assign_free(w[t]);
  base_free(w);
  return s;
}

lapis_status lapis_assign(lapis_ctx *ctx, const lapis_mat *cost,
                          lapis_assignment *io)
{
  NEEDS(ctx, cost, io);
  return lapis_assign_batch(ctx, 1, cost, io);
}
