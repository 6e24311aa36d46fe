/* cv.h - a cross-validation, between the files that run and join it. */
#ifndef LAPIS_SELECT_CV_H
#define LAPIS_SELECT_CV_H
#include "base/keep.h"
#include "lapis/choose.h"
#include "select/select.h"

struct part_source;
enum { MAX_GRID = 8, MAX_POINTS = 100000 };

struct lapis_cv {
  int n_points, n_grid;
  const lapis_grid *grid; /* borrowed while running, copied texts after */
  char **text;            /* n_points x n_grid values, owned */
  lapis_cv_point *point;
  double *value; /* folds x n_points */
  /* One run, or one of several that share its folds: the folds judged here
   * are first, first + step, ... */
  int64_t folds, first, step;
  bool is_part;
  int64_t *fold;  /* n */
  double *scores; /* K x n of the best point, or NULL */
  double *all;    /* K x n a point while running, or NULL */
  int64_t K, n;
  bool less_is_better; /* of the metric */
  int64_t *done;       /* folds: points judged of each */
  int64_t cells;       /* of all, when time ran out */
  double *seconds;     /* n_points */
  const lapis_metric_kind *metric;
  lapis_cv_facts facts; /* of a joined one all of them */
  uint64_t drawn;       /* a hash of all folds */
  /* Of a joined one: */
  const char *name[MAX_GRID]; /* the method's own texts */
  void *settings;
  lapis_json *head; /* which holds their texts */
  keep_scope scope;
  char called[KEEP_NAME]; /* the scope */
  int jobs;               /* processes at work */
  double started;
};

/* Part k of n, from 0, judges the folds k, k + n, ...; {0, 1, false}: all.
 * One part of one is a part: it has all folds or none. */
typedef struct cv_share {
  int64_t k, n;
  bool is_part;
} cv_share;
/* lapis_cv_run for one part.  A part that time ran out of keeps its checkpoint
 * and has no answer: *out is NULL. */
lapis_status cv_run_share(lapis_ctx *ctx, const lapis_method *m,
                          const lapis_data *data, const void *settings,
                          const lapis_cv_options *options,
                          const lapis_grid *grid, int n_grid, cv_share share,
                          lapis_cv **out);
/* jobs.c: the folds that are not done, by so many processes. */
lapis_status cv_run_jobs(const struct part_source *from, lapis_cv *cv,
                         void *settings);
/* cv_fold.c: how many points of all folds are done; the points of a fold that
 * are not; folds are counted as in cv->done. */
int64_t cv_count_done(const lapis_cv *cv);
lapis_status cv_run_fold(const struct part_source *from, lapis_cv *cv,
                         int64_t f, void *settings);
lapis_status cv_apply_point(lapis_ctx *ctx, const lapis_method *m,
                            const lapis_cv *cv, int point, void *settings);
/* The bar, where so many of all cells are done; false: stop. */
bool cv_show(const struct part_source *from, const lapis_cv *cv, int64_t cells,
             double started);
/* Points from values and seconds. */
void cv_summarise(lapis_cv *cv);

#endif
