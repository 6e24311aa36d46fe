/* jobs.h - units of work done by several processes of this machine.
 *
 * A worker is a fork of the caller: what was read and what is shared is there
 * without a copy until it is changed, OpenBLAS and OpenMP are its own, and a
 * worker that breaks down takes nobody along.  What it finds it gives back as
 * bytes.  Workers take the next unit as they are free, in the order of the
 * list, so that who does a unit must not change its answer. */
#ifndef LAPIS_JOBS_H
#define LAPIS_JOBS_H
#include "base/base.h"

typedef struct job_line job_line; /* from a worker to the caller */

typedef struct job_list {
  lapis_ctx *ctx;
  const char *who; /* "cv" */
  const int64_t *unit;
  int64_t count;
  /* In a worker, which has the caller's context as its own, with its share of
   * the threads and without callbacks and checkpoint.  Less than LAPIS_OK ends
   * all; LAPIS_TIME_LIMIT begins no further unit. */
  lapis_status (*work)(void *user, int64_t unit, job_line *to);
  /* In the caller: what a worker gave; LAPIS_CANCELLED ends all. */
  lapis_status (*take)(void *user, int64_t unit, const void *bytes,
                       size_t size);
  /* In the caller: a unit has ended well; may be NULL. */
  lapis_status (*done)(void *user, int64_t unit);
  void *user;
} job_list;

/* As many as are asked for and of use for so many units; 1: work here. */
int jobs_of(const lapis_ctx *ctx, int64_t units);
/* Around jobs_run and what is made before it for all workers: the threads are
 * divided among the jobs, and given back.  Returns what jobs_undivide needs. */
int jobs_divide(lapis_ctx *ctx, const char *who, int jobs);
void jobs_undivide(lapis_ctx *ctx, int threads);
/* All units by so many processes, none of which outlives the call. */
lapis_status jobs_run(const job_list *list, int jobs);
/* What was found, to `take`; false: the caller is gone. */
bool jobs_give(job_line *to, const void *bytes, size_t size);

#endif
