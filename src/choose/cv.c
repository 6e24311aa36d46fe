/* cv.c - every point of a grid, judged on every fold. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "choose/cv.h"
#include "choose/pooled.h"
#include "methods/method_entry.h"
#include "parallel/jobs.h"

/* ---- the grid -----------------------------------------------------------*/
static int count_points(const lapis_grid *grid, int n_grid)
{
  int64_t points = 1;
  for (int k = 0; k < n_grid; k++) {
    points *= grid[k].count;
    if (grid[k].count < 1 || points > MAX_POINTS) return 0;
  }
  return (int)points;
}

/* Index of the k-th grid's value at a point: the last name runs fastest. */
static int value_index(const lapis_grid *grid, int n_grid, int point, int k)
{
  for (int later = n_grid - 1; later > k; later--) point /= grid[later].count;
  return point % grid[k].count;
}

/* Scores that some points have of this fold. */
static void forget_fold(const fold_plan *plan, cv_job *cv, int64_t fold)
{
  if (cv->all == NULL) return;
  for (int64_t k = 0; k < cv->n_points * cv->n; k++)
    for (int64_t c = 0; c < cv->K; c++)
      if (fold_hides(plan, fold, c, k % cv->n)) cv->all[k * cv->K + c] = NAN;
}

/* Of the folds that some points have not seen, that which most have. */
static int64_t fullest(const cv_job *cv)
{
  int64_t best = 0;
  for (int64_t f = 0; f < cv->folds; f++)
    if (cv->done[f] > cv->done[best]) best = f;
  return best;
}

/* Time ran out: the folds that all points have seen decide, where there is
 * one; what is judged by less is judged by other samples.  No more is done,
 * nor by a run that goes on from here. */
static void settle(const fold_plan *plan, cv_job *cv)
{
  int64_t best = fullest(cv);
  bool none = cv->done[best] < cv->n_points;
  cv->cells = cv_count_done(cv);
  for (int64_t f = 0; f < cv->folds; f++) {
    bool counts = cv->done[f] == cv->n_points || (none && f == best);
    for (int i = 0; !counts && i < cv->n_points; i++)
      cv->value[f * cv->n_points + i] = NAN;
    if (!counts) forget_fold(plan, cv, cv->first + f * cv->step);
    cv->done[f] = cv->n_points;
  }
}

/* One that keeps scores may be one of several in a run, each of a setting. */
static void open_scope(const part_source *from, cv_job *cv)
{
  bool alone = cv->all == NULL || cv->n_grid != 1;
  (void)snprintf(cv->called, sizeof cv->called, "cv%s%s%.12s",
                 cv->all == NULL ? "" : "-scores", alone ? "" : "-",
                 alone ? "" : cv->grid[0].name);
  keep_open(from->ctx, &cv->scope, cv->called);
  int64_t cells = cv->folds * cv->n_points;
  keep_add(&cv->scope, "done",
           (keep_row){.rule = KEEP_WHOLE,
                      .val = cv->done,
                      .count = cv->folds,
                      .high = cv->n_points});
  keep_add(&cv->scope, "value",
           (keep_row){.rule = KEEP_HOLES, .val = cv->value, .count = cells});
  keep_add(&cv->scope, "seconds",
           (keep_row){.rule = KEEP_NUMBERS,
                      .val = cv->seconds,
                      .count = cv->n_points});
  if (cv->all == NULL) return;
  keep_add(&cv->scope, "scores",
           (keep_row){.rule = KEEP_HOLES,
                      .val = cv->all,
                      .count = cv->K * cv->n * cv->n_points});
}

static lapis_status run_folds(const part_source *from, cv_job *cv,
                              void *settings)
{
  lapis_status s = LAPIS_OK;
  cv->started = base_seconds();
  if (cv->jobs > 1)
    s = cv_run_jobs(from, cv, settings);
  else
    for (int64_t f = 0; s == LAPIS_OK && f < cv->folds; f++)
      if (cv->done[f] < cv->n_points) s = cv_run_fold(from, cv, f, settings);
  if (s == LAPIS_CANCELLED) base_rearm(from->ctx);
  if (s == LAPIS_TIME_LIMIT && cv->options.part == 0) settle(from->plan, cv);
  return s;
}

/* The folds, from where a killed run was. */
static lapis_status run_kept(const part_source *from, cv_job *cv,
                             void *settings)
{
  bool resumed;
  open_scope(from, cv);
  lapis_status s = keep_restore(from->ctx, &cv->scope, &resumed);
  if (s >= 0) s = run_folds(from, cv, settings);
  bool goes_on = s == LAPIS_TIME_LIMIT && cv->options.part > 0;
  keep_close(from->ctx, &cv->scope, s >= 0 && s != LAPIS_CANCELLED && !goes_on);
  return s;
}

/* ---- summing up ---------------------------------------------------------*/
/* mean and deviation become those of all hidden samples together. */
static lapis_status summarise_pooled(const part_source *from, cv_job *cv)
{
  const targets *t = from->labels;
  pool p = {.ctx = from->ctx,
            .metric = from->metric->name,
            .plan = from->plan,
            .truth = from->data->Y};
  if (t->classes > 0) p.truth = lapis_mat_f64(t->sign, t->classes, t->samples);
  for (int i = 0; i < cv->n_points; i++)
    TRY(pool_judge(&p, cv->all + i * cv->K * cv->n, &cv->mean[i],
                   &cv->deviation[i]));
  return LAPIS_OK;
}

/* ---- constructor --------------------------------------------------------*/
static lapis_status copy_values(lapis_ctx *ctx, cv_job *cv)
{
  for (int i = 0; i < cv->n_points; i++)
    for (int k = 0; k < cv->n_grid; k++) {
      int v = value_index(cv->grid, cv->n_grid, i, k);
      char **to = &cv->text[i * cv->n_grid + k];
      *to = base_strdup(ctx, cv->grid[k].value[v]);
      if (*to == NULL) return LAPIS_ENOMEM;
    }
  return LAPIS_OK;
}

static lapis_status allocate(lapis_ctx *ctx, cv_job *cv)
{
  const lapis_cv_options *o = &cv->options;
  TRY(cv_alloc_points(cv));
  cv->done = base_alloc(ctx, cv->folds, sizeof *cv->done);
  if (cv->done == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < cv->folds * cv->n_points; i++) cv->value[i] = NAN;
  if (o->keep_scores || o->pooled) {
    int64_t count = cv->K * cv->n * cv->n_points;
    cv->all = base_alloc_raw(ctx, count, sizeof *cv->all);
    if (cv->all == NULL) return LAPIS_ENOMEM;
    for (int64_t i = 0; i < count; i++) cv->all[i] = NAN;
  }
  return copy_values(ctx, cv);
}

static lapis_status check(lapis_ctx *ctx, const lapis_method *m,
                          const lapis_data *data, const lapis_grid *grid,
                          int n_grid)
{
  if (mat_empty(&data->X) || mat_empty(&data->Y) ||
      data->X.cols != data->Y.cols)
    return lapis_fail(
        ctx, LAPIS_EMISSING,
        "cv: X and Y are needed, with a row for each sample in both");
  unsigned idle = lapis_data_has(data) & ~(m->reads | LAPIS_READS_GROUP);
  if (idle != 0) return method_check_members(ctx, m, NULL, data);
  if (n_grid < 0 || n_grid > MAX_GRID || count_points(grid, n_grid) == 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: a grid has at most %d names, each with a value, and "
                      "at most %d points",
                      MAX_GRID, MAX_POINTS);
  if (method_entry_of(m)->predict == NULL)
    return lapis_fail(ctx, LAPIS_ENOTBUILT,
                      "cv: %s does not predict held-out samples", m->name);
  return LAPIS_OK;
}

/* Such a class has no value anywhere; said once, not by every fold. */
static void warn_of_one_kind(const part_source *from)
{
  const targets *t = from->labels;
  for (int64_t c = 0; c < t->classes; c++) {
    int64_t count[2];
    targets_count(t, c, count);
    if (count[0] == 0 || count[1] == 0)
      base_say(from->ctx, 0,
               "cv: class %" PRId64 " has %" PRId64 " negative and %" PRId64
               " positive known labels and is not scored",
               c + 1, count[0], count[1]);
  }
}

static lapis_status run(cv_job *cv)
{
  const part_source *from = &cv->from;
  lapis_ctx *ctx = from->ctx;
  const lapis_method *m = from->method;
  void *own = base_alloc(ctx, 1, m->settings_size);
  lapis_status s = own == NULL ? LAPIS_ENOMEM
                               : lapis_settings_copy(ctx, m, cv->settings, own);
  if (s >= 0 && method_entry_of(m)->settle != NULL)
    method_entry_of(m)->settle(
        own); /* what the grid leaves, at its usual value */
  if (s >= 0) {
    warn_of_one_kind(from);
    cv->jobs = jobs_of(ctx, cv->folds);
    int threads = jobs_divide(ctx, "cv", cv->jobs);
    base_mute(ctx, true);
    s = run_kept(from, cv, own);
    base_mute(ctx, false);
    jobs_undivide(ctx, threads);
  }
  base_free(own);
  return s;
}

static lapis_status solve(lapis_solver *base)
{
  cv_job *cv = (cv_job *)base;
  lapis_status s = run(cv);
  cv->base.told = true;
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  if (cv->options.part > 0 && s == LAPIS_TIME_LIMIT)
    (void)lapis_fail(
        base->ctx, s,
        "cv: the time limit ended part %" PRId64 " of %" PRId64
        "; nothing was written; give a larger --time-limit, or more parts",
        cv->options.part, cv->options.parts);
  if (cv->options.part > 0) return s == LAPIS_OK ? cv_write_part(cv) : s;
  if (s == LAPIS_TIME_LIMIT)
    base_note(base->ctx, BASE_WARNING, "stopped",
              "cv: the time limit ended it after %" PRId64 " of %" PRId64
              " solves",
              cv->cells, cv->folds * cv->n_points);
  if (cv->options.pooled) {
    cv_summarise(cv);
    lapis_status pooled = summarise_pooled(&cv->from, cv);
    if (pooled < 0) return pooled;
  }
  cv_publish(cv);
  return s;
}

static const solver_class cv_class = {
    .method = "cv", .solve = solve, .free = cv_free};

static lapis_status draw(cv_job *cv)
{
  const part_source *from = &cv->from;
  const lapis_cv_options *o = from->options;
  lapis_folds_of of = lapis_cv_hides(from->method, from->data, o);
  if (of == LAPIS_FOLDS_OF_CELLS && !from->transductive)
    return lapis_fail(from->ctx, LAPIS_EINVAL,
                      "cv: %s is scored on whole samples; single cells of Y "
                      "are hidden from mc alone",
                      from->method->name);
  if (of == LAPIS_FOLDS_OF_CELLS && from->labels->kind == TARGETS_CLASS)
    of = LAPIS_FOLDS_OF_ROWS; /* a class is one cell */
  return cv_draw_folds(from->ctx, from->data, o->folds, of, &cv->plan);
}

/* What is named, or what suits the answers of the method. */
static lapis_status find_metric(const cv_job *cv, const lapis_method *m,
                                const lapis_metric_kind **out)
{
  const char *named = cv->options.metric;
  if (named == NULL) named = method_metric(m, cv->settings);
  TRY(lapis_metric_find(cv->base.ctx, named, out));
  if ((*out)->reads != LAPIS_METRIC_PROBABILITIES) return LAPIS_OK;
  return lapis_fail(cv->base.ctx, LAPIS_EINVAL,
                    "cv: %s judges probabilities, and folds answer with "
                    "scores; auroc judges those, and 'lapis fit auto' chooses "
                    "by log-loss",
                    named);
}

/* Targets as the metric reads them.  A method of numbers is judged by classes
 * where its targets are two values or labels. */
static lapis_status read_targets(const cv_job *cv, const lapis_method *m,
                                 targets *out)
{
  lapis_ctx *ctx = cv->base.ctx;
  const lapis_metric_kind *metric = cv->metric;
  if (metric->reads == LAPIS_METRIC_VALUES) return LAPIS_OK;
  lapis_status s = targets_encode(ctx, "cv", &cv->base.data.Y, out);
  if (!method_of_numbers(m, cv->settings) || s == LAPIS_ENOMEM ||
      (s >= 0 && out->kind != TARGETS_CLASS))
    return s;
  if (s >= 0) targets_free(out);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "cv: %s is for classes, and these targets are numbers; use "
                    "--metric %s",
                    metric->name, method_metric(m, cv->settings));
}

static lapis_status make(cv_job *cv, const lapis_method *m,
                         const void *settings, int n_grid)
{
  lapis_ctx *ctx = cv->base.ctx;
  const lapis_data *data = &cv->base.data;
  lapis_cv_options *o = &cv->options;
  cv->settings = base_alloc(ctx, 1, m->settings_size);
  if (cv->settings == NULL) return LAPIS_ENOMEM;
  cv->base.settings = cv->settings;
  TRY(lapis_settings_copy(ctx, m, settings, cv->settings));
  TRY(method_settle_targets(ctx, m, &cv->base.data, cv->settings));
  TRY(find_metric(cv, m, &cv->metric));
  if (o->pooled && cv->metric->reads == LAPIS_METRIC_LABELS)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: folds are scored together by a metric of scores or "
                      "values, and %s reads labels",
                      cv->metric->name);
  TRY(read_targets(cv, m, &cv->labels));
  cv->from = (part_source){.ctx = ctx,
                           .common = &cv->common,
                           .plan = &cv->plan,
                           .method = m,
                           .data = data,
                           .options = o,
                           .labels = &cv->labels,
                           .metric = cv->metric,
                           .transductive = method_entry_of(m)->transductive};
  cv->n_points = count_points(cv->grid, n_grid);
  cv->n_grid = n_grid;
  for (int k = 0; k < n_grid; k++) cv->name[k] = cv->grid[k].name;
  cv->first = o->part > 0 ? o->part - 1 : 0;
  cv->step = o->part > 0 ? o->parts : 1;
  cv->folds = (o->folds - cv->first + cv->step - 1) / cv->step;
  cv->K = cv->labels.classes > 0 ? cv->labels.classes : data->Y.rows;
  cv->n = data->X.cols;
  TRY(draw(cv));
  return allocate(ctx, cv);
}

/* What is set, and what is tried, says something beside the rest. */
static lapis_status check_use(lapis_ctx *ctx, const lapis_method *m,
                              const lapis_data *data, const void *settings,
                              const lapis_grid *grid, int n_grid)
{
  char tried[1024] = "";
  unsigned has = lapis_data_has(data);
  if (settings != NULL) TRY(settings_check(ctx, m, settings));
  void *set = base_alloc(ctx, 1, m->settings_size);
  lapis_status s = LAPIS_ENOMEM;
  if (set != NULL) s = lapis_settings_copy(ctx, m, settings, set);
  for (int k = 0; k < n_grid; k++) {
    size_t length = strlen(tried);
    (void)snprintf(tried + length, sizeof tried - length, "%s ", grid[k].name);
  }
  if (s >= 0) s = settings_check_use(ctx, m, set, has, tried);
  for (int k = 0; k < n_grid && s >= 0; k++)
    s = lapis_settings_check_effect(ctx, m, set, has, grid[k].name, tried);
  base_free(set);
  return s;
}

lapis_status lapis_cv_new(lapis_ctx *ctx, const lapis_method *m,
                          const lapis_data *data, const void *settings,
                          const lapis_cv_options *options,
                          const lapis_grid *grid, int n_grid,
                          lapis_solver **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, m, data, out);
  if (n_grid > 0) NEEDS(ctx, grid);
  TRY(mat_check_data(ctx, "cv", data));
  lapis_cv_options own;
  TRY(cv_options_take(ctx, options, &own));
  TRY(check(ctx, m, data, grid, n_grid));
  TRY(cv_settle_folds(ctx, data, &own));
  if (own.part != 0) TRY(cv_check_share(ctx, &own, n_grid));
  TRY(check_use(ctx, m, data, settings, grid, n_grid));
  cv_job *cv;
  TRY(cv_alloc(ctx, &cv_class, &cv));
  cv->base.data = *data;
  cv->options = own;
  cv->grid = grid;
  return solver_deliver(&cv->base, make(cv, m, settings, n_grid), out);
}
