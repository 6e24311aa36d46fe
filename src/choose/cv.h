/* cv.h - a cross-validation, between the files that run and join it. */
#ifndef LAPIS_SELECT_CV_H
#define LAPIS_SELECT_CV_H
#include "base/resume.h"
#include "choose/part.h"

enum { MAX_GRID = 8, MAX_POINTS = 100000 };

typedef struct cv_job {
  lapis_solver base;
  /* what it is of; a joined one has neither data nor folds */
  lapis_cv_options options;
  void *settings; /* as given */
  targets labels;
  fold_plan plan;
  part_common common;
  part_source from;
  int n_points, n_grid;
  const lapis_grid *grid;     /* borrowed */
  const char *name[MAX_GRID]; /* of the grid */
  char **text;                /* n_points x n_grid values, owned */
  /* n_points each: of the metric over folds that have one, or of the pool */
  double *mean, *deviation, *seconds;
  int64_t *judged;
  int64_t best;
  double *value; /* folds x n_points */
  /* One run, or one of several that share its folds: the folds judged here
   * are first, first + step, ... */
  int64_t folds, first, step;
  double *all; /* K x n a point while running, or NULL */
  int64_t K, n;
  int64_t *done; /* folds: points judged of each */
  int64_t cells; /* of all, when time ran out */
  const lapis_metric_kind *metric;
  /* Of a joined one, whose texts head holds: */
  const char *method, *map, *map_priv;
  lapis_json *head;
  keep_scope scope;
  char called[KEEP_NAME]; /* the scope */
  int jobs;               /* processes at work */
  double started;
} cv_job;

/* cv_found.c: an empty one. */
lapis_status cv_alloc(lapis_ctx *ctx, const solver_class *cls, cv_job **out);
void cv_free(lapis_solver *s);
/* mean, deviation and judged from values. */
void cv_summarise(cv_job *cv);
/* Room for n_points of n_grid settings on so many folds. */
lapis_status cv_alloc_points(cv_job *cv);
/* What was found, as results; points from values. */
void cv_publish(cv_job *cv);
/* cv_parts.c: one part of several has its folds alone. */
lapis_status cv_check_share(lapis_ctx *ctx, const lapis_cv_options *o,
                            int n_grid);
lapis_status cv_write_part(cv_job *cv);
/* cv_jobs.c: the folds that are not done, by so many processes. */
lapis_status cv_run_jobs(const part_source *from, cv_job *cv, void *settings);
/* cv_fold.c: how many points of all folds are done; the points of a fold that
 * are not; folds are counted as in cv->done. */
int64_t cv_count_done(const cv_job *cv);
lapis_status cv_run_fold(const part_source *from, cv_job *cv, int64_t f,
                         void *settings);
lapis_status cv_apply_point(lapis_ctx *ctx, const lapis_method *m,
                            const cv_job *cv, int point, void *settings);
/* The bar, where so many of all cells are done; false: stop. */
bool cv_show(const part_source *from, const cv_job *cv, int64_t cells,
             double started);

#endif
