/* loop.h - the shared loop: counting, clock, cancellation, progress, history.
 * A solver has none of its own. */
#ifndef LAPIS_LOOP_H
#define LAPIS_LOOP_H
#include "base/base.h"

enum { LOOP_MAX_COLUMNS = 8 };

typedef struct loop {
  lapis_ctx *ctx;
  const char *method;
  lapis_stop stop;
  int64_t iter; /* completed iterations */
  double start, shown, first_gap;
  lapis_status status; /* why the loop ended */
  int n_columns;
  const char *column[LOOP_MAX_COLUMNS];
  double *history; /* n_columns x n_rows */
  int64_t n_rows, capacity;
} loop;

/* columns: the names of what loop_record stores, first always "iteration". */
lapis_status loop_begin(loop *l, lapis_ctx *ctx, const char *method,
                        const lapis_stop *stop, int n_columns,
                        const char *const *columns);
/* Counts one more iteration; false when cancelled, out of time or out of
 * iterations, with status set. */
bool loop_next(loop *l);
/* One row of history: the iteration number followed by n_columns - 1 values. */
lapis_status loop_record(loop *l, const double *values);
/* Shows progress (at most ten times a second) and lets the caller cancel.
 * gap and target: NaN where there is none. */
void loop_show(loop *l, const lapis_progress *now, double target);
double loop_seconds(const loop *l);
void loop_free(loop *l);

#endif
