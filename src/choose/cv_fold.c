/* cv_fold.c - every point of a grid on one fold. */
#include <math.h>

#include "choose/cv.h"

int64_t cv_count_done(const cv_job *cv)
{
  int64_t n = 0;
  for (int64_t f = 0; f < cv->folds; f++) n += cv->done[f];
  return n;
}

lapis_status cv_apply_point(lapis_ctx *ctx, const lapis_method *m,
                            const cv_job *cv, int point, void *settings)
{
  for (int k = 0; k < cv->n_grid; k++)
    TRY(lapis_settings_set(ctx, m, settings, cv->grid[k].name,
                           cv->text[point * cv->n_grid + k]));
  return LAPIS_OK;
}

static void keep_scores(cv_job *cv, const part *p, int point,
                        const double *scores)
{
  if (cv->all == NULL) return;
  double *to = cv->all + (int64_t)point * cv->K * cv->n;
  const double *truth = p->truth.val;
  for (int64_t j = 0; j < cv->n; j++) {
    if (!p->hidden[j]) continue;
    for (int64_t c = 0; c < cv->K; c++)
      if (fold_hides(p->from->plan, p->fold, c, j))
        to[j * cv->K + c] = isnan(truth[c]) ? NAN : scores[c];
    scores += cv->K;
    truth += cv->K;
  }
}

bool cv_show(const part_source *from, const cv_job *cv, int64_t cells,
             double started)
{
  double done = (double)cells / (double)(cv->folds * cv->n_points);
  lapis_progress now = {.method = "cv",
                        .iter = (int64_t)(100 * done),
                        .objective = NAN,
                        .gap = NAN,
                        .residual = NAN,
                        .seconds = base_seconds() - started,
                        .done = done};
  return base_show(from->ctx, &now);
}

/* A fold where a class has one kind of label only is no failure of the
 * whole: it has no value. */
static lapis_status judge(const part_source *from, part *p,
                          const void *settings, double *scores, double *value)
{
  *value = NAN;
  bool decided = from->metric->reads == LAPIS_METRIC_LABELS;
  double *labels = scores + p->truth.rows * p->truth.cols;
  lapis_status s = part_answers(p, settings, scores, decided ? labels : NULL);
  if (s == LAPIS_EDATA || s == LAPIS_EMISSING || s == LAPIS_ENUMERIC) {
    base_say(from->ctx, 1, "cv: a fold is left out: %s",
             lapis_ctx_error(from->ctx));
    return LAPIS_OK;
  }
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  const lapis_mat *truth = decided ? &p->given : &p->truth;
  lapis_mat m =
      lapis_mat_f64(decided ? labels : scores, truth->rows, truth->cols);
  return lapis_metric(from->ctx, from->metric->name, truth, &m, NULL, value);
}

/* The next point of a fold; time that ran out leaves it without a value. */
static lapis_status run_cell(const part_source *from, cv_job *cv, part *p,
                             int64_t f, void *settings, double *scores)
{
  double before = base_seconds(), value = NAN;
  int i = (int)cv->done[f];
  TRY(cv_apply_point(from->ctx, from->method, cv, i, settings));
  lapis_status s = judge(from, p, settings, scores, &value);
  cv->seconds[i] += base_seconds() - before;
  if (s >= 0 && s != LAPIS_CANCELLED && base_late(from->ctx))
    return LAPIS_TIME_LIMIT;
  if (s != LAPIS_OK) return s;
  keep_scores(cv, p, i, scores);
  cv->value[f * cv->n_points + i] = value;
  cv->done[f]++;
  return s;
}

static lapis_status run_points(const part_source *from, cv_job *cv, part *p,
                               int64_t f, void *settings)
{
  lapis_ctx *ctx = from->ctx;
  /* scores, and behind them labels */
  int64_t rows = p->truth.rows + p->given.rows;
  double *scores = base_alloc(ctx, rows * p->truth.cols, sizeof *scores);
  if (scores == NULL) return LAPIS_ENOMEM;
  lapis_status s = LAPIS_OK;
  while (s == LAPIS_OK && cv->done[f] < cv->n_points) {
    s = run_cell(from, cv, p, f, settings, scores);
    if (s == LAPIS_OK && !cv_show(from, cv, cv_count_done(cv), cv->started))
      s = LAPIS_CANCELLED;
  }
  base_free(scores);
  return s;
}

lapis_status cv_run_fold(const part_source *from, cv_job *cv, int64_t f,
                         void *settings)
{
  part p;
  TRY(part_open(from, cv->first + f * cv->step, &p));
  lapis_status s = run_points(from, cv, &p, f, settings);
  part_close(&p);
  return s;
}
