/* cv_points.h - a cross-validation that is made and run, and its points. */
#ifndef CV_POINTS_H
#define CV_POINTS_H
#include <math.h>

#include "lapis/lapis.h"

typedef struct cv_point {
  double mean, deviation, seconds;
  int64_t folds;
} cv_point;

static inline lapis_status cv_run(lapis_ctx *ctx, const lapis_method *m,
                                  const lapis_data *data, const void *settings,
                                  const lapis_cv_options *o,
                                  const lapis_grid *grid, int n_grid,
                                  lapis_solver **out)
{
  lapis_status s = lapis_cv_new(ctx, m, data, settings, o, grid, n_grid, out);
  if (s >= 0) s = lapis_solve(*out);
  if (s < 0 || s == LAPIS_CANCELLED) {
    lapis_solver_free(*out);
    *out = NULL;
  }
  return s;
}

static inline lapis_mat cv_result(const lapis_solver *cv, const char *name)
{
  lapis_mat out;
  if (lapis_result_get(cv, name, &out) < 0) out = (lapis_mat){.cols = 0};
  return out;
}

static inline cv_point cv_at(const lapis_solver *cv, int64_t i)
{
  lapis_mat mean = cv_result(cv, "mean"), of = cv_result(cv, "deviation");
  lapis_mat seconds = cv_result(cv, "seconds"), folds = cv_result(cv, "folds");
  return (cv_point){lapis_mat_at(&mean, 0, i), lapis_mat_at(&of, 0, i),
                    lapis_mat_at(&seconds, 0, i),
                    (int64_t)lapis_mat_at(&folds, 0, i)};
}

static inline int64_t cv_best(const lapis_solver *cv)
{
  lapis_mat best = cv_result(cv, "best");
  return best.cols > 0 ? (int64_t)lapis_mat_at(&best, 0, 0) : -1;
}

static inline const char *cv_value(const lapis_solver *cv, int64_t point,
                                   int64_t name)
{
  lapis_mat points = cv_result(cv, "points");
  return ((const char *const *)points.val)[point * points.rows + name];
}

#endif
