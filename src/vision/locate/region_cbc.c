/* region_cbc.c - the heaviest connected region by integer programming.
 *
 *   maximize    sum_v w_v x_v
 *   subject to  sum_v r_v <= 1          one root, the first chosen of the
 *               r_v <= x_v              positive nodes in order of weight
 *               x_j + sum_{i after j} r_i <= 1
 *               sum_{u around S} x_u + sum_{v in S} r_v >= x_t
 *                                       for every set S of nodes and t in S
 *
 * Of the last kind there are exponentially many, added where a solution breaks
 * them (region_flow.c): first solutions of the relaxation, which is cheap and
 * mostly leaves little to do, then integer ones, until one is connected.  Every
 * relaxation's optimum is a bound.  The plug-in computes with a tolerance of
 * 1e-7 on weights scaled to 1: so exact is its proof. */
#include <math.h>
#include <string.h>

#include "vision/locate/plugin.h"
#include "vision/locate/region_flow.h"

static const double proof = 1e-6; /* of the greatest weight */
enum { patience = 5 };
static const double violation = 1e-4; /* of an inequality worth adding */

typedef struct row_store {
  int64_t rows, used, row_room, room;
  int *start, *col;
  double *value, *high;
} row_store;

typedef struct program {
  region_job *job;
  const region_graph *g;
  const milp_api *api;
  void *self;
  double scale;      /* greatest |weight| */
  int32_t *root_col; /* n: column of r_v, or -1 */
  row_store store;
  milp p;
  double *gain, *x, *root; /* cols, cols, n */
  bool *among;             /* n */
  region_flow flow;
  region_grower grower;
} program;

/* ---- rows -----------------------------------------------------------------*/
static lapis_status store_grow(lapis_ctx *ctx, row_store *s, int64_t entries)
{
  void *start = s->start, *high = s->high, *col = s->col, *value = s->value;
  lapis_status status = LAPIS_OK;
  if (s->rows + 1 >= s->row_room) {
    int64_t room = 2 * s->row_room + 256;
    int64_t used = s->rows > 0 ? s->rows + 1 : 0;
    status = base_grow(ctx, &start, used, room, sizeof *s->start);
    s->start = start;
    if (status == LAPIS_OK)
      status = base_grow(ctx, &high, s->rows, room, sizeof *s->high);
    s->high = high;
    if (status == LAPIS_OK) s->row_room = room;
  }
  if (status == LAPIS_OK && s->used + entries > s->room) {
    int64_t room = 2 * s->room + 4096 + entries;
    status = base_grow(ctx, &col, s->used, room, sizeof *s->col);
    s->col = col;
    if (status == LAPIS_OK)
      status = base_grow(ctx, &value, s->used, room, sizeof *s->value);
    s->value = value;
    if (status == LAPIS_OK) s->room = room;
  }
  return status;
}

/* A row begins; at most `entries` are put into it before it ends. */
static lapis_status row_begin(program *m, int64_t entries)
{
  TRY(store_grow(m->job->ctx, &m->store, entries));
  m->store.start[m->store.rows] = (int)m->store.used;
  return LAPIS_OK;
}

static void row_put(program *m, int32_t col, double value)
{
  m->store.col[m->store.used] = col;
  m->store.value[m->store.used++] = value;
}

static void row_end(program *m, double high)
{
  m->store.high[m->store.rows++] = high;
  m->store.start[m->store.rows] = (int)m->store.used;
}

/* ---- the first rows -------------------------------------------------------*/
static lapis_status put_around(program *m, int32_t v)
{
  const region_graph *g = m->g;
  int64_t degree = g->start[v + 1] - g->start[v];
  bool positive = m->root_col[v] >= 0;
  TRY(row_begin(m, degree + 2)); /* a node of weight <= 0 connects two */
  row_put(m, v, positive ? 1 : 2);
  for (int64_t k = g->start[v]; k < g->start[v + 1]; k++)
    row_put(m, g->next[k], -1);
  if (positive) row_put(m, m->root_col[v], -1);
  row_end(m, 0);
  return LAPIS_OK;
}

static lapis_status put_root(program *m, int32_t v, int64_t cols)
{
  TRY(row_begin(m, 2));
  row_put(m, m->root_col[v], 1);
  row_put(m, v, -1);
  row_end(m, 0);
  TRY(row_begin(m, cols)); /* roots behind v: columns behind its own */
  row_put(m, v, 1);
  for (int32_t c = m->root_col[v] + 1; c < cols; c++) row_put(m, c, 1);
  row_end(m, 1);
  return LAPIS_OK;
}

static lapis_status first_rows(program *m)
{
  int64_t n = m->g->n, cols = m->p.cols;
  TRY(row_begin(m, cols));
  for (int64_t c = n; c < cols; c++) row_put(m, (int32_t)c, 1);
  row_end(m, 1);
  for (int32_t v = 0; v < n; v++) {
    TRY(put_around(m, v));
    if (m->root_col[v] >= 0) TRY(put_root(m, v, cols));
  }
  return LAPIS_OK;
}

/* ---- cuts -----------------------------------------------------------------*/
static lapis_status put_cut(program *m, int32_t t)
{
  const region_flow *f = &m->flow;
  int64_t n = m->g->n;
  TRY(row_begin(m, 2 * n + 1));
  row_put(m, t, 1);
  for (int32_t v = 0; v < n; v++) {
    bool inside = f->sink_side[2 * v], out = f->sink_side[2 * v + 1];
    if (inside && m->root_col[v] >= 0) row_put(m, m->root_col[v], -1);
    if (out && !inside) row_put(m, v, -1);
  }
  row_end(m, 0);
  m->job->cuts++;
  return LAPIS_OK;
}

static lapis_status separate(program *m, int64_t *added)
{
  int64_t n = m->g->n;
  *added = 0;
  for (int64_t v = 0; v < n; v++) {
    m->root[v] = m->root_col[v] >= 0 ? m->x[m->root_col[v]] : 0;
  }
  region_flow_load(&m->flow, m->x, m->root);
  for (int32_t v = 0; v < n; v++) {
    if (m->x[v] <= violation) continue;
    if (region_flow_to(&m->flow, v, m->x[v]) >= m->x[v] - violation) continue;
    TRY(put_cut(m, v));
    (*added)++;
  }
  return LAPIS_OK;
}

/* Nodes chosen by at least half, from each of them that is a positive one. */
static void offer(program *m)
{
  int64_t n = m->g->n;
  int32_t best = -1;
  for (int64_t v = 0; v < n; v++) m->among[v] = m->x[v] > 0.3;
  for (int32_t v = 0; v < n; v++)
    if (m->root_col[v] >= 0 &&
        (best < 0 || m->x[m->root_col[v]] > m->x[m->root_col[best]]))
      best = v;
  if (best >= 0) m->among[best] = true;
  if (best >= 0) region_offer(&m->grower, m->among, best, true, &m->job->best);
}

/* ---- the loops ------------------------------------------------------------*/
static bool proved(program *m)
{
  return m->job->bound <= m->job->best.score + proof * m->scale;
}

static milp_status ask(program *m, bool integer)
{
  m->p.rows = (int)m->store.rows;
  m->p.start = m->store.start, m->p.col = m->store.col;
  m->p.value = m->store.value, m->p.high = m->store.high;
  m->p.x = m->x;
  m->p.bound = INFINITY;
  m->p.known = m->job->best.score / m->scale;
  m->p.seconds = fmin(fmax(m->job->deadline - base_seconds(), 0), 1e9);
  milp_status status =
      integer ? m->api->solve(m->self, &m->p) : m->api->relax(m->self, &m->p);
  if (status != MILP_FAILED && m->p.bound < INFINITY)
    m->job->bound = fmin(m->job->bound, m->p.bound * m->scale);
  m->job->nodes++;
  return status;
}

static lapis_status failed(program *m)
{
  return lapis_fail(m->job->ctx, LAPIS_ENUMERIC,
                    "region: CBC gave up on a program of %d columns and %d "
                    "rows; the solver tree does not need it",
                    m->p.cols, m->p.rows);
}

/* Rounds of one kind until nothing is violated, or, of the relaxation, until
 * `patience` rounds close less than a hundredth of the gap: then integer
 * solutions cut better.  *done: nothing is left. */
static lapis_status rounds(program *m, bool integer, bool *done)
{
  double before = INFINITY; /* the bound some rounds ago */
  int64_t round = 0;
  for (int64_t added = 1; added > 0; round++) {
    if (region_late(m->job)) break;
    if (!integer && round % patience == 0) {
      double gap = m->job->bound - m->job->best.score;
      if (before - m->job->bound < 0.01 * gap) break;
      before = m->job->bound;
    }
    milp_status status = ask(m, integer);
    if (status == MILP_FAILED) return failed(m);
    if (status == MILP_STOPPED) break;
    offer(m);
    if ((*done = proved(m))) break;
    TRY(separate(m, &added));
  }
  return LAPIS_OK;
}

static lapis_status search(program *m)
{
  bool done = false;
  TRY(rounds(m, false, &done));
  if (!done && !region_late(m->job)) TRY(rounds(m, true, &done));
  region_job *job = m->job;
  if (done)
    job->bound = job->best.score;
  else
    job->status = base_cancelled(job->ctx) ? LAPIS_CANCELLED : LAPIS_TIME_LIMIT;
  return LAPIS_OK;
}

/* ---- the whole ------------------------------------------------------------*/
static void number_roots(program *m)
{
  int64_t n = m->g->n, next = n;
  for (int64_t v = 0; v < n; v++) m->root_col[v] = -1;
  for (;; next++) { /* heaviest first */
    int32_t best = -1;
    for (int32_t v = 0; v < n; v++)
      if (m->g->weight[v] > 0 && m->root_col[v] < 0 &&
          (best < 0 || m->g->weight[v] > m->g->weight[best]))
        best = v;
    if (best < 0) break;
    m->root_col[best] = (int32_t)next;
  }
  m->p.cols = (int)next;
}

static lapis_status prepare(program *m)
{
  lapis_ctx *ctx = m->job->ctx;
  int64_t n = m->g->n;
  m->root_col = base_alloc(ctx, n, sizeof *m->root_col);
  m->gain = base_alloc(ctx, 2 * n, sizeof *m->gain);
  m->x = base_alloc(ctx, 2 * n, sizeof *m->x);
  m->root = base_alloc(ctx, n, sizeof *m->root);
  m->among = base_alloc(ctx, n, sizeof *m->among);
  if (!(m->root_col && m->gain && m->x && m->root && m->among))
    return LAPIS_ENOMEM;
  TRY(region_flow_new(ctx, m->g, &m->flow));
  TRY(region_grower_new(ctx, m->g, &m->grower));
  number_roots(m);
  for (int64_t v = 0; v < n; v++) {
    m->scale = fmax(m->scale, fabs(m->g->weight[v]));
    m->job->bound += fmax(m->g->weight[v], 0);
  }
  for (int64_t v = 0; v < n; v++) m->gain[v] = m->g->weight[v] / m->scale;
  m->p.gain = m->gain;
  return first_rows(m);
}

static void program_free(program *m)
{
  base_free(m->root_col), base_free(m->gain), base_free(m->x);
  base_free(m->root), base_free(m->among);
  base_free(m->store.start), base_free(m->store.col);
  base_free(m->store.value), base_free(m->store.high);
  region_flow_free(&m->flow);
  region_grower_free(&m->grower);
  if (m->self != NULL) m->api->close(m->self);
}

lapis_status region_solve_cbc(region_job *job)
{
  char why[256];
  program m = {.job = job, .g = &job->g};
  m.api = plugin_cbc(why, sizeof why);
  if (m.api == NULL)
    return lapis_fail(job->ctx, LAPIS_ENOTBUILT, "region: %s", why);
  double heaviest = 0;
  for (int64_t v = 0; v < job->g.n; v++)
    heaviest = fmax(heaviest, job->g.weight[v]);
  job->bound = job->best.score;
  if (heaviest <= 0) return LAPIS_OK; /* reductions have settled it */
  job->bound = 0;
  m.self = m.api->open();
  lapis_status status = m.self == NULL ? lapis_fail(job->ctx, LAPIS_ENOMEM,
                                                    "region: no memory for CBC")
                                       : prepare(&m);
  if (status == LAPIS_OK) status = search(&m);
  program_free(&m);
  return status;
}
