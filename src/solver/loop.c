/* loop.c - the shared loop. */
#include "solver/loop.h"

#include <math.h>
#include <string.h>

#include "base/private.h"

static const double SHOW_EVERY = 0.1; /* seconds between two progress calls */

lapis_status loop_begin(loop *l, lapis_ctx *ctx, const char *method,
                        const lapis_stop *stop, int n_columns,
                        const char *const *columns)
{
  double *history = l->history;
  int64_t capacity = l->capacity;
  *l = (loop){.ctx = ctx,
              .method = method,
              .stop = *stop,
              .start = base_seconds(),
              .first_gap = NAN,
              .n_columns = n_columns,
              .history = history,
              .capacity = capacity};
  l->shown = l->start;
  base_until(ctx, l->start + stop->seconds);
  memcpy(l->column, columns, (size_t)n_columns * sizeof *columns);
  keep_open(ctx, &l->scope, "solve");
  /* the first row: loop_next says each time how long it is */
  loop_keep_holes(l, "history", NULL, 0);
  l->scope.restored = 1;
  loop_keep_whole(l, "iteration", &l->begun, 1, 0, LOOP_MOST);
  loop_keep_whole(l, "stage", &l->stage, 1, 0, LOOP_MOST);
  loop_keep_holes(l, "clock", l->carried, 2);
  return LAPIS_OK;
}

/* The limit is on this run; what came before a resumed one does not count. */
static bool out_of_time(const loop *l)
{
  return base_seconds() - l->start > l->stop.seconds || base_late(l->ctx);
}

/* Processes stop together: what each has of its own is not asked. */
static void ask_all(const loop *l, bool *cancelled, bool *late)
{
  *cancelled = base_cancelled(l->ctx);
  *late = out_of_time(l);
  if (base_ranks(l->ctx) > 1) (void)base_pulse(l->ctx, cancelled, late);
}

bool loop_must_end(const loop *l)
{
  bool cancelled, late;
  ask_all(l, &cancelled, &late);
  return cancelled || late || l->status == LAPIS_CANCELLED;
}

bool loop_cut_short(loop *l)
{
  bool cancelled, late;
  ask_all(l, &cancelled, &late);
  if (cancelled)
    l->status = LAPIS_CANCELLED;
  else if (late && l->status == LAPIS_OK)
    l->status = LAPIS_TIME_LIMIT;
  return late || l->status == LAPIS_CANCELLED; /* by the progress shown, too */
}

/* Hands the state over; what cannot be kept is said, and the run goes on. */
void loop_hand_over(loop *l)
{
  if (!l->keeps) return;
  bool again = l->fresh; /* nothing has happened, and what is inside waits */
  l->fresh = false;
  if (again && l->status == LAPIS_OK) return;
  (void)base_sum_due(l->ctx); /* the state is whole; who failed is heard */
  l->begun = l->iter;
  l->carried[0] = loop_seconds(l);
  l->carried[1] = l->first_gap;
  keep_row *history = &l->scope.row[0];
  history->val = l->history;
  history->count = l->n_rows * l->n_columns;
  (void)keep_take(l->ctx, l->status != LAPIS_OK);
}

bool loop_next(loop *l)
{
  bool cancelled, late;
  ask_all(l, &cancelled, &late);
  if (cancelled)
    l->status = LAPIS_CANCELLED;
  else if (l->status != LAPIS_OK)
    return false;
  else if (l->stop.max_iters >= 0 && l->iter >= l->stop.max_iters)
    l->status = LAPIS_MAX_ITERS;
  else if (late)
    l->status = LAPIS_TIME_LIMIT;
  loop_hand_over(l);
  if (l->status != LAPIS_OK) return false;
  l->iter++;
  return true;
}

/* ---- what a resumed run continues from -----------------------------------*/
void loop_keep(loop *l, const char *name, double *val, int64_t count)
{
  keep_add(&l->scope, name,
           (keep_row){.rule = KEEP_NUMBERS, .val = val, .count = count});
}

void loop_divide(loop *l, int64_t blocks)
{
  keep_divide(&l->scope, blocks);
}

void loop_keep_holes(loop *l, const char *name, double *val, int64_t count)
{
  keep_add(&l->scope, name,
           (keep_row){.rule = KEEP_HOLES, .val = val, .count = count});
}

void loop_keep_positive(loop *l, const char *name, double *val, int64_t count)
{
  keep_add(&l->scope, name,
           (keep_row){.rule = KEEP_POSITIVE, .val = val, .count = count});
}

void loop_keep_whole(loop *l, const char *name, int64_t *val, int64_t count,
                     int64_t low, int64_t high)
{
  keep_add(&l->scope, name,
           (keep_row){.rule = KEEP_WHOLE,
                      .val = val,
                      .count = count,
                      .low = low,
                      .high = high});
}

void loop_keep_order(loop *l, const char *name, int64_t *val, int64_t count)
{
  keep_add(&l->scope, name,
           (keep_row){.rule = KEEP_ORDER, .val = val, .count = count});
}

void loop_keep_switch(loop *l, const char *name, bool *val)
{
  _Static_assert(sizeof *val == 1, "a bool is kept as a byte");
  keep_add(&l->scope, name,
           (keep_row){.rule = KEEP_SWITCHES, .val = val, .count = 1});
}

void loop_keep_signs(loop *l, const char *name, signed char *val, int64_t count)
{
  keep_add(&l->scope, name,
           (keep_row){.rule = KEEP_SIGNS, .val = val, .count = count});
}

lapis_status loop_refuse(const loop *l, const char *name)
{
  char path[KEEP_PATH];
  keep_path(&l->scope, name, path);
  return lapis_fail(
      l->ctx, LAPIS_EFORMAT,
      "checkpoint: %s is not one that this run writes; remove the "
      "file to start anew",
      path);
}

static lapis_status restore_history(loop *l)
{
  int64_t count = 0;
  const void *from;
  TRY(keep_find(l->ctx, &l->scope, "history", KEEP_HOLES, &from, &count));
  int64_t rows = count / l->n_columns;
  if (from == NULL || rows == 0) return LAPIS_OK;
  if (rows * l->n_columns != count) return loop_refuse(l, "history");
  if (rows > l->capacity) {
    void *p = l->history;
    TRY(base_grow(l->ctx, &p, 0, count, sizeof(double)));
    l->history = p;
    l->capacity = rows;
  }
  memcpy(l->history, from, (size_t)(rows * l->n_columns) * sizeof(double));
  l->n_rows = rows;
  keep_spend(l->ctx, &l->scope, "history");
  return LAPIS_OK;
}

lapis_status loop_resume(loop *l, bool *resumed)
{
  bool first = !l->keeps;
  *resumed = false;
  if (!l->scope.open) return LAPIS_OK;
  TRY(keep_restore(l->ctx, &l->scope, resumed));
  l->keeps = true;
  if (!first) return LAPIS_OK;
  l->fixed = l->scope.count;
  if (!*resumed) return LAPIS_OK;
  l->fresh = true;
  l->iter = l->begun;
  l->earlier = l->carried[0];
  l->first_gap = l->carried[1];
  TRY(restore_history(l));
  base_say(l->ctx, 1, "%s: resumed after iteration %" PRId64, l->method,
           l->iter);
  return LAPIS_OK;
}

void loop_set_stage(loop *l, int64_t stage)
{
  l->stage = stage;
  if (!l->keeps) return;
  l->scope.count = l->fixed;
  l->scope.restored = l->fixed;
}

void loop_keep_no_more(loop *l)
{
  l->keeps = false;
}

void loop_end(loop *l)
{
  if (l->scope.open) keep_close(l->ctx, &l->scope, false);
  l->keeps = false;
}

lapis_status loop_record(loop *l, const double *values)
{
  if (l->n_rows == l->capacity) {
    int64_t capacity = l->capacity == 0 ? 64 : 2 * l->capacity;
    void *p = l->history;
    TRY(base_grow(l->ctx, &p, l->n_rows * l->n_columns, capacity * l->n_columns,
                  sizeof(double)));
    l->history = p;
    l->capacity = capacity;
  }
  double *row = l->history + l->n_rows * l->n_columns;
  row[0] = (double)l->iter;
  memcpy(row + 1, values, (size_t)(l->n_columns - 1) * sizeof *values);
  l->n_rows++;
  return LAPIS_OK;
}

/* Share of the way from the first gap seen to the target, on a log scale. */
static double share_of_gap(loop *l, double gap, double target)
{
  if (!(gap > 0) || !(target > 0)) return NAN;
  if (isnan(l->first_gap)) l->first_gap = gap;
  if (!(l->first_gap > target)) return NAN;
  double share = log(l->first_gap / gap) / log(l->first_gap / target);
  return fmin(fmax(share, 0), 1);
}

static double share_done(loop *l, double gap, double target)
{
  double done = share_of_gap(l, gap, target);
  if (l->stop.max_iters > 0)
    done = fmax(done, (double)l->iter / (double)l->stop.max_iters);
  if (isfinite(l->stop.seconds))
    done = fmax(done, (base_seconds() - l->start) / l->stop.seconds);
  return done;
}

void loop_show(loop *l, const lapis_progress *now, double target)
{
  double clock = base_seconds();
  double done =
      share_done(l, isnan(now->gap) ? now->residual : now->gap, target);
  if (base_muted(l->ctx) || clock - l->shown < SHOW_EVERY) return;
  l->shown = clock;
  lapis_progress p = *now;
  p.method = l->method;
  p.iter = l->iter;
  p.seconds = clock - l->start;
  p.done = done;
  if (base_show(l->ctx, &p)) return;
  if (base_ranks(l->ctx) > 1)
    lapis_ctx_cancel(l->ctx); /* the others hear of it first */
  else
    l->status = LAPIS_CANCELLED;
}

double loop_seconds(const loop *l)
{
  return base_seconds() - l->start + l->earlier;
}

double loop_seconds_left(const loop *l)
{
  return fmax(0, l->stop.seconds - (base_seconds() - l->start));
}

void loop_free(loop *l)
{
  base_free(l->history);
  l->history = NULL;
  l->capacity = l->n_rows = 0;
}
