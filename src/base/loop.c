/* loop.c - the shared loop. */
#include "base/loop.h"

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
  memcpy(l->column, columns, (size_t)n_columns * sizeof *columns);
  return LAPIS_OK;
}

bool loop_next(loop *l)
{
  if (base_cancelled(l->ctx)) l->status = LAPIS_CANCELLED;
  if (l->status != LAPIS_OK) return false;
  if (l->stop.max_iters >= 0 && l->iter >= l->stop.max_iters) {
    l->status = LAPIS_MAX_ITERS;
    return false;
  }
  if (loop_seconds(l) > l->stop.seconds) {
    l->status = LAPIS_TIME_LIMIT;
    return false;
  }
  l->iter++;
  return true;
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
    done = fmax(done, loop_seconds(l) / l->stop.seconds);
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
  if (!base_show(l->ctx, &p)) l->status = LAPIS_CANCELLED;
}

double loop_seconds(const loop *l)
{
  return base_seconds() - l->start;
}

void loop_free(loop *l)
{
  base_free(l->history);
  l->history = NULL;
  l->capacity = l->n_rows = 0;
}
