/* ranks.h - threads that are the processes of one communicator.
 *
 * Each has a context of its own and its part of the samples.  Sums are made in
 * the order of ranks behind a barrier.  A rank that waits for one that has
 * left can wait for ever: that is seen at once, fails the test and names both;
 * so does a rank that lets the others wait for a minute. */
#ifndef LAPIS_RANKS_H
#define LAPIS_RANKS_H
#include "check.h"

enum { RANKS_MOST = 8 };

/* Calls act in every rank; fails the test where one waits. */
typedef void (*ranks_act)(lapis_ctx *ctx, int rank, void *user);
typedef struct ranks_sums {
  int64_t sums, numbers; /* made; in them */
} ranks_sums;
ranks_sums ranks_each(int size, ranks_act act, void *user);

/* What one rank was given, and what it found. */
typedef struct ranks_part {
  int rank, size;
  int64_t first;
  lapis_data data; /* views of the whole */
  lapis_ctx *ctx;
  lapis_solver *solver; /* NULL where there is none */
  lapis_status made, solved;
} ranks_part;

typedef struct ranks_job {
  const char *method;
  const lapis_model *model; /* that answers for the samples; NULL: a fit */
  const char *settings;     /* "tol=1e-6;max-iters=20" */
  lapis_data whole;         /* X of doubles; Y, P as many samples or none */
  int size;
  const int64_t *count; /* samples a rank, or NULL: uneven parts */
  /* Called by each rank before its solver is made, with its settings; NULL:
   * nothing. */
  void (*before)(ranks_part *part, void *settings, void *user);
  /* The same after the solve, while processes can still talk. */
  void (*after)(ranks_part *part, void *user);
  void *user;
} ranks_job;

typedef struct ranks_run {
  int size;
  ranks_part part[RANKS_MOST];
  ranks_sums sums;
} ranks_run;

/* Every rank makes the solver and solves; fails the test where one waits. */
void ranks_solve(const ranks_job *job, ranks_run *out);
void ranks_free(ranks_run *run);
/* Columns of all ranks of a result of `rows` rows: malloc'd. */
double *ranks_join(const ranks_run *run, const char *name, int64_t *rows);
/* |a - b| / |b|, b of one process; both of the same shape. */
double ranks_distance(const ranks_run *a, const ranks_run *b, const char *name);

#endif
