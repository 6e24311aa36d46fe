/* cv_jobs.c - the folds of a cross-validation by several processes.
 *
 * A unit is a fold, since solves are warm from point to point inside a fold
 * and never across folds: so any number of jobs finds the bits of one job of as
 * many threads.  What folds have in common (a mapped X, its eigenvectors) is
 * made before, once for all jobs.
 *
 * A worker gives a fold when it is done, and before that how far it is: so a
 * checkpoint of such a run holds whole folds. */
#include "parallel/jobs.h"

#include <string.h>

#include "choose/cv.h"

typedef struct hired {
  const part_source *from;
  cv_job *cv;
  void *settings;
  int64_t *reached; /* folds: points of each that the bar tells of */
  int64_t fold;     /* in a worker: at work on */
  job_line *to;
} hired;

/* ---- a fold as numbers: points judged, value and seconds of each point, the
 * scores of what it hides -------------------------------------------------*/
/* Scores from cv->all to `at`, or back; NULL: counts them. */
static int64_t move_scores(const hired *h, int64_t f, double *at, bool back)
{
  const cv_job *cv = h->cv;
  int64_t n = 0, fold = cv->first + f * cv->step;
  int64_t count = cv->all == NULL ? 0 : cv->n_points * cv->n * cv->K;
  for (int64_t k = 0; k < count; k++) {
    int64_t c = k % cv->K, j = k / cv->K % cv->n;
    if (!fold_hides(h->from->plan, fold, c, j)) continue;
    if (at != NULL && back) cv->all[k] = at[n];
    if (at != NULL && !back) at[n] = cv->all[k];
    n++;
  }
  return n;
}

static int64_t fold_size(const hired *h, int64_t f)
{
  return 1 + 2 * h->cv->n_points + move_scores(h, f, NULL, false);
}

/* ---- in a worker --------------------------------------------------------*/
static bool tell_points(const lapis_progress *now, void *user)
{
  const hired *h = user;
  double points = (double)h->cv->done[h->fold];
  (void)now;
  return jobs_give(h->to, &points, sizeof points);
}

static lapis_status give_fold(const hired *h, int64_t f, job_line *to)
{
  const cv_job *cv = h->cv;
  size_t row = (size_t)cv->n_points * sizeof(double);
  int64_t count = fold_size(h, f);
  double *all = base_alloc_raw(h->from->ctx, count, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  all[0] = (double)cv->done[f];
  memcpy(all + 1, cv->value + f * cv->n_points, row);
  memcpy(all + 1 + cv->n_points, cv->seconds, row);
  move_scores(h, f, all + 1 + 2 * cv->n_points, false);
  bool heard = jobs_give(to, all, (size_t)count * sizeof *all);
  base_free(all);
  return heard ? LAPIS_OK : LAPIS_CANCELLED;
}

static lapis_status work(void *user, int64_t f, job_line *to)
{
  hired *h = user;
  h->fold = f;
  h->to = to;
  lapis_ctx_on_progress(h->from->ctx, tell_points, h);
  memset(h->cv->seconds, 0, (size_t)h->cv->n_points * sizeof(double));
  lapis_status s = cv_run_fold(h->from, h->cv, f, h->settings);
  if (s != LAPIS_OK && s != LAPIS_TIME_LIMIT) return s;
  lapis_status given = give_fold(h, f, to);
  return given == LAPIS_OK ? s : given;
}

/* ---- in the caller ------------------------------------------------------*/
static lapis_status show(const hired *h, int64_t f, double points)
{
  int64_t cells = 0;
  h->reached[f] = (int64_t)points;
  for (int64_t k = 0; k < h->cv->folds; k++) cells += h->reached[k];
  bool on = cv_show(h->from, h->cv, cells, h->cv->started);
  return on ? LAPIS_OK : LAPIS_CANCELLED;
}

/* A fold that time ran out of is of use to a whole alone. */
static lapis_status take(void *user, int64_t f, const void *bytes, size_t size)
{
  hired *h = user;
  cv_job *cv = h->cv;
  const double *all = bytes;
  if (size == sizeof *all) return show(h, f, all[0]);
  if (size != (size_t)fold_size(h, f) * sizeof *all)
    return lapis_fail(h->from->ctx, LAPIS_ENUMERIC,
                      "cv: a job gave a fold of another size");
  bool whole = (int64_t)all[0] == cv->n_points;
  if (!whole && cv->options.part > 0) return LAPIS_OK;
  cv->done[f] = (int64_t)all[0];
  memcpy(cv->value + f * cv->n_points, all + 1,
         (size_t)cv->n_points * sizeof *all);
  for (int i = 0; i < cv->n_points; i++)
    cv->seconds[i] += all[1 + cv->n_points + i];
  (void)move_scores(h, f, (double *)(uintptr_t)(all + 1 + 2 * cv->n_points),
                    true);
  return LAPIS_OK;
}

static lapis_status keep_fold(void *user, int64_t f)
{
  const hired *h = user;
  (void)f;
  (void)keep_take(h->from->ctx, true);
  return LAPIS_OK;
}

static lapis_status hire(hired *h, int64_t *unit)
{
  cv_job *cv = h->cv;
  job_list list = {.ctx = h->from->ctx,
                   .who = "cv",
                   .unit = unit,
                   .work = work,
                   .take = take,
                   .done = keep_fold,
                   .user = h};
  for (int64_t f = 0; f < cv->folds; f++) {
    bool whole = cv->done[f] == cv->n_points;
    h->reached[f] = cv->done[f] = whole ? cv->n_points : 0;
    if (!whole) unit[list.count++] = f;
  }
  if (list.count == 0) return LAPIS_OK;
  TRY(cv_apply_point(h->from->ctx, h->from->method, cv, 0, h->settings));
  lapis_status s = part_share(h->from, h->settings);
  if (s != LAPIS_OK) return s;
  return jobs_run(&list, list.count < cv->jobs ? (int)list.count : cv->jobs);
}

lapis_status cv_run_jobs(const part_source *from, cv_job *cv, void *settings)
{
  hired h = {.from = from, .cv = cv, .settings = settings};
  int64_t *unit = base_alloc(from->ctx, 2 * cv->folds, sizeof *unit);
  if (unit == NULL) return LAPIS_ENOMEM;
  h.reached = unit + cv->folds;
  lapis_status s = hire(&h, unit);
  base_free(unit);
  return s;
}
