/* classes.c - the problems of one class against the rest, one after the other
 * or by several processes.
 *
 * Classes share features, kernels and G, and nothing that one of them finds
 * reaches another: so any number of jobs finds the bits of one job of as many
 * threads.  What a worker has found is put where it belongs in the order of the
 * classes; a checkpoint of such a run holds whole classes.  Iterations are
 * counted, and limited, over all classes: where the limit falls inside a class,
 * or one ends for another reason, the rest is done here. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/svmplus.h"
#include "parallel/jobs.h"

/* What a worker gives of a class: these, its row of each array, its history. */
enum { ITERATIONS, STATUS, OBJECTIVE, DUAL, GAP, BIAS, RHO, ROWS, HEAD };

typedef struct crowd {
  svmplus *w;
  double **found; /* K: of a class, waiting for those before it; or NULL */
  int64_t next;   /* class to be put in its place */
  bool stopped;   /* the rest is not for workers */
} crowd;

/* ---- a class as numbers -------------------------------------------------*/
/* Rows c of scores, alpha and zeta, the weights and v, to `at` or back; NULL:
 * counts them. */
static int64_t move_rows(svmplus *w, int64_t c, double *at, bool back)
{
  double *all[] = {w->scores, w->alpha, w->zeta};
  int64_t n = w->q.n, K = w->K, rows = w->weights == NULL ? 0 : w->q.d + 1;
  for (int k = 0; k < 3 && at != NULL; k++)
    for (int64_t i = 0; i < n; i++) {
      double *there = all[k] + i * K + c, *here = at + k * n + i;
      *(back ? there : here) = *(back ? here : there);
    }
  for (int64_t i = 0; i < rows && at != NULL; i++) {
    double *there = w->weights + c * rows + i, *here = at + 3 * n + i;
    *(back ? there : here) = *(back ? here : there);
  }
  int64_t more = w->slack == NULL ? 0 : w->q.p + 1;
  for (int64_t i = 0; i < more && at != NULL; i++) {
    double *there = w->slack + c * more + i, *here = at + 3 * n + rows + i;
    *(back ? there : here) = *(back ? here : there);
  }
  return 3 * n + rows + more;
}

/* ---- in a worker --------------------------------------------------------*/
static lapis_status give(svmplus *w, int64_t c, job_line *to)
{
  const loop *l = &w->base.loop;
  const lapis_info *info = &w->base.info;
  int64_t rows = move_rows(w, c, NULL, false);
  int64_t history = l->n_rows * l->n_columns, count = HEAD + rows + history;
  double *all = base_alloc_raw(w->base.ctx, count, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  all[ITERATIONS] = (double)l->iter;
  all[STATUS] = l->status;
  all[OBJECTIVE] = info->objective;
  all[DUAL] = info->dual;
  all[GAP] = info->gap;
  all[BIAS] = w->bias[c];
  all[RHO] = w->rho[c];
  all[ROWS] = (double)l->n_rows;
  (void)move_rows(w, c, all + HEAD, false);
  if (history > 0)
    memcpy(all + HEAD + rows, l->history, (size_t)history * sizeof *all);
  bool heard = jobs_give(to, all, (size_t)count * sizeof *all);
  base_free(all);
  return heard ? LAPIS_OK : LAPIS_CANCELLED;
}

static lapis_status work(void *user, int64_t c, job_line *to)
{
  svmplus *w = ((crowd *)user)->w;
  loop *l = &w->base.loop;
  l->iter = l->n_rows = 0;
  l->keeps = l->scope.open = false; /* the caller hands the state over */
  w->base.info.objective = w->base.info.dual = w->base.info.gap = 0;
  l->stage = c * SV_PHASES;
  TRY(sv_class(w, c));
  if (l->status == LAPIS_CANCELLED) return LAPIS_CANCELLED;
  TRY(give(w, c, to));
  lapis_status s = l->status;
  l->status = LAPIS_OK;
  return s == LAPIS_TIME_LIMIT ? s : LAPIS_OK;
}

/* ---- in the caller ------------------------------------------------------*/
static lapis_status put_history(loop *l, const double *row, int64_t rows)
{
  int64_t before = l->iter;
  for (int64_t k = 0; k < rows; k++, row += l->n_columns) {
    l->iter = before + (int64_t)row[0];
    TRY(loop_record(l, row + 1));
  }
  l->iter = before;
  return LAPIS_OK;
}

static lapis_status put_class(crowd *x, const double *all)
{
  svmplus *w = x->w;
  loop *l = &w->base.loop;
  int64_t c = x->next, count = move_rows(w, c, NULL, false);
  move_rows(w, c, (double *)(uintptr_t)(all + HEAD), true);
  w->bias[c] = all[BIAS];
  w->rho[c] = all[RHO];
  sv_add_info(w, all[OBJECTIVE], all[DUAL], all[GAP]);
  TRY(put_history(l, all + HEAD + count, (int64_t)all[ROWS]));
  l->iter += (int64_t)all[ITERATIONS];
  l->status = (lapis_status)all[STATUS];
  loop_set_stage(l, (c + 1) * SV_PHASES);
  if (l->status == LAPIS_OK) loop_hand_over(l); /* else it is no whole class */
  lapis_progress now = {.objective = w->base.info.objective,
                        .gap = w->base.info.gap,
                        .residual = NAN};
  loop_show(l, &now, w->set.stop.tol);
  return LAPIS_OK;
}

/* Those whose turn has come. */
static lapis_status put_all(crowd *x)
{
  const loop *l = &x->w->base.loop;
  while (!x->stopped && x->next < x->w->K && x->found[x->next] != NULL) {
    double *all = x->found[x->next];
    int64_t most = l->stop.max_iters;
    x->stopped = most >= 0 && (l->iter + (int64_t)all[ITERATIONS] > most ||
                               (lapis_status)all[STATUS] == LAPIS_MAX_ITERS);
    if (x->stopped) break;
    TRY(put_class(x, all));
    base_free(all);
    x->found[x->next++] = NULL;
    x->stopped = l->status != LAPIS_OK;
  }
  return x->stopped ? LAPIS_CANCELLED : LAPIS_OK;
}

static lapis_status take(void *user, int64_t c, const void *bytes, size_t size)
{
  crowd *x = user;
  const double *all = bytes;
  int64_t count = (int64_t)(size / sizeof *all);
  int64_t least = HEAD + move_rows(x->w, c, NULL, false);
  double *copy = base_alloc_raw(x->w->base.ctx, count, sizeof *copy);
  if (copy == NULL) return LAPIS_ENOMEM;
  memcpy(copy, all, (size_t)count * sizeof *copy);
  x->found[c] = copy;
  if (count != least + (int64_t)all[ROWS] * x->w->base.loop.n_columns)
    return LAPIS_ENUMERIC;
  return put_all(x);
}

static lapis_status run(crowd *x, int64_t first, int jobs)
{
  svmplus *w = x->w;
  lapis_ctx *ctx = w->base.ctx;
  int64_t *unit = base_alloc(ctx, w->K, sizeof *unit);
  if (unit == NULL) return LAPIS_ENOMEM;
  for (int64_t c = first; c < w->K; c++) unit[c - first] = c;
  job_list list = {.ctx = ctx,
                   .who = "svmplus",
                   .unit = unit,
                   .count = w->K - first,
                   .work = work,
                   .take = take,
                   .user = x};
  int threads = jobs_divide(ctx, "svmplus", jobs);
  w->h.threads = base_threads(ctx);
  lapis_status s = sv_l2_share(w);
  if (s >= 0) s = jobs_run(&list, jobs);
  jobs_undivide(ctx, threads);
  w->h.threads = base_threads(ctx);
  base_free(unit);
  return s;
}

/* LAPIS_OK, too, where classes are left to be done here. */
static lapis_status by_jobs(svmplus *w, int64_t *next, int jobs)
{
  crowd x = {.w = w, .next = *next};
  x.found = base_alloc(w->base.ctx, w->K, sizeof *x.found);
  if (x.found == NULL) return LAPIS_ENOMEM;
  lapis_status s = run(&x, *next, jobs);
  *next = x.next;
  for (int64_t c = 0; c < w->K; c++) base_free(x.found[c]);
  base_free(x.found);
  if (s == LAPIS_CANCELLED && !x.stopped) w->base.loop.status = s;
  return s < 0 ? s : LAPIS_OK;
}

static lapis_status here(svmplus *w, int64_t c)
{
  loop *l = &w->base.loop;
  if (l->stage < c * SV_PHASES) loop_set_stage(l, c * SV_PHASES);
  return sv_class(w, c);
}

/* What was resumed may be inside a class, which is ended here first. */
lapis_status sv_classes(svmplus *w, bool resumed)
{
  int64_t c = w->base.loop.stage / SV_PHASES;
  if (resumed && c < w->K) TRY(here(w, c++));
  int jobs = jobs_of(w->base.ctx, w->K - c);
  if (jobs > 1 && w->base.loop.status == LAPIS_OK) TRY(by_jobs(w, &c, jobs));
  for (; c < w->K; c++) TRY(here(w, c));
  return LAPIS_OK;
}

lapis_status sv_class(svmplus *w, int64_t c)
{
  TRY(sv_weigh(w, c));
  if (w->K > 1) base_say(w->base.ctx, 1, "svmplus: class %" PRId64, c + 1);
  switch (w->kind) {
  case SV_LINEAR:
    return sv_linear_part(w, c);
  case SV_L2:
    return sv_l2_part(w, c);
  case SV_ORIGINAL:
    break;
  }
  return sv_original_part(w, c);
}
