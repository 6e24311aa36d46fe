/* loop.h - the shared loop: counting, clock, cancellation, progress, history.
 * A solver has none of its own. */
#ifndef LAPIS_LOOP_H
#define LAPIS_LOOP_H
#include "base/base.h"
#include "base/resume.h"

enum { LOOP_MAX_COLUMNS = 8 };
/* No count of a run is larger: sums of two still fit. */
#define LOOP_MOST ((int64_t)1 << 53)

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
  /* what a resumed run continues from */
  keep_scope scope;
  bool keeps, fresh; /* loop_resume was called; and found, just now */
  int fixed;         /* rows of the scope that every stage shares */
  int64_t begun;     /* iterations completed at the last boundary */
  int64_t stage;     /* which part of the method runs, its own count */
  double earlier;    /* seconds spent before this run */
  double carried[2]; /* seconds, first_gap, as kept */
} loop;

/* columns: the names of what loop_record stores, first always "iteration". */
lapis_status loop_begin(loop *l, lapis_ctx *ctx, const char *method,
                        const lapis_stop *stop, int n_columns,
                        const char *const *columns);
/* Counts one more iteration; false when cancelled, out of time or out of
 * iterations, with status set. */
bool loop_next(loop *l);
/* The state is whole between two loops: handed over as loop_next does it. */
void loop_hand_over(loop *l);
/* One row of history: the iteration number followed by n_columns - 1 values. */
lapis_status loop_record(loop *l, const double *values);
/* Shows progress (at most ten times a second) and lets the caller cancel.
 * gap and target: NaN where there is none. */
void loop_show(loop *l, const lapis_progress *now, double target);
double loop_seconds(const loop *l);
/* Of the limit, which is on this run alone; 0 where it has passed. */
double loop_seconds_left(const loop *l);
/* The time limit has passed, or someone cancelled: for work between loops. */
bool loop_must_end(const loop *l);
/* The same where the loop ends with it: its status then says why. */
bool loop_cut_short(loop *l);

/* ---- state that outlives the process: between loop_begin and loop_next ----
 * A method names the arrays it continues from, then asks loop_resume, which
 * fills them and the loop (count, history, stage) from a checkpoint where
 * there is one: *resumed.  From then on every iteration that begins hands
 * them over.  Anyone can have written that file: what a row may hold is said
 * here, and what depends on more is checked by the method after loop_resume. */
void loop_keep(loop *l, const char *name, double *val, int64_t count);
/* Of the row just named every process has its samples' part; of a matrix that
 * has them below each other, in each of so many columns. */
void loop_divide(loop *l, int64_t blocks);
/* Numbers where the data have holes: NaN. */
void loop_keep_holes(loop *l, const char *name, double *val, int64_t count);
void loop_keep_positive(loop *l, const char *name, double *val, int64_t count);
/* Whole numbers from low to high, which a file is held to. */
void loop_keep_whole(loop *l, const char *name, int64_t *val, int64_t count,
                     int64_t low, int64_t high);
/* A permutation of 0..count-1. */
void loop_keep_order(loop *l, const char *name, int64_t *val, int64_t count);
void loop_keep_switch(loop *l, const char *name, bool *val);
/* -1 or 1 each. */
void loop_keep_signs(loop *l, const char *name, signed char *val,
                     int64_t count);
/* What was resumed cannot be of such a run: name. */
lapis_status loop_refuse(const loop *l, const char *name);
lapis_status loop_resume(loop *l, bool *resumed);
/* Another stage with arrays of its own: those named since the first
 * loop_resume are dropped. */
void loop_set_stage(loop *l, int64_t stage);
/* No more: what follows is done again by a resumed run. */
void loop_keep_no_more(loop *l);
/* The solve has ended; called by lapis_solve. */
void loop_end(loop *l);
void loop_free(loop *l);

#endif
