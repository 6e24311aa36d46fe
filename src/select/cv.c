/* cv.c - every point of a grid, judged on every fold. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jobs.h"
#include "select/cv.h"
#include "select/part.h"
#include "select/pool.h"
#include "solve/methods.h"

void lapis_cv_fill(lapis_cv_options *to, size_t size)
{
  base_fill(to, size,
            &(lapis_cv_options){.size = sizeof(lapis_cv_options), .folds = 5},
            sizeof *to);
}

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
static void forget_fold(const fold_plan *plan, lapis_cv *cv, int64_t fold)
{
  if (cv->all == NULL) return;
  for (int64_t k = 0; k < cv->n_points * cv->n; k++)
    for (int64_t c = 0; c < cv->K; c++)
      if (fold_hides(plan, fold, c, k % cv->n)) cv->all[k * cv->K + c] = NAN;
}

/* Of the folds that some points have not seen, that which most have. */
static int64_t fullest(const lapis_cv *cv)
{
  int64_t best = 0;
  for (int64_t f = 0; f < cv->folds; f++)
    if (cv->done[f] > cv->done[best]) best = f;
  return best;
}

/* Time ran out: the folds that all points have seen decide, where there is
 * one; what is judged by less is judged by other samples.  No more is done,
 * nor by a run that goes on from here. */
static void settle(const fold_plan *plan, lapis_cv *cv)
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
static void open_scope(const part_source *from, lapis_cv *cv)
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

static lapis_status run_folds(const part_source *from, lapis_cv *cv,
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
  if (s == LAPIS_TIME_LIMIT && !cv->is_part) settle(from->plan, cv);
  return s;
}

/* The folds, from where a killed run was. */
static lapis_status run_kept(const part_source *from, lapis_cv *cv,
                             void *settings)
{
  bool resumed;
  open_scope(from, cv);
  lapis_status s = keep_restore(from->ctx, &cv->scope, &resumed);
  if (s >= 0) s = run_folds(from, cv, settings);
  bool goes_on = s == LAPIS_TIME_LIMIT && cv->is_part;
  keep_close(from->ctx, &cv->scope, s >= 0 && s != LAPIS_CANCELLED && !goes_on);
  return s;
}

/* ---- summing up ---------------------------------------------------------*/
void cv_summarise(lapis_cv *cv)
{
  for (int i = 0; i < cv->n_points; i++) {
    lapis_cv_point *p = &cv->point[i];
    double sum = 0, square = 0;
    p->seconds = cv->seconds[i];
    for (int64_t f = 0; f < cv->folds; f++) {
      double v = cv->value[f * cv->n_points + i];
      if (isnan(v)) continue;
      sum += v;
      p->folds++;
    }
    p->mean = p->folds > 0 ? sum / (double)p->folds : NAN;
    for (int64_t f = 0; f < cv->folds; f++) {
      double off = cv->value[f * cv->n_points + i] - p->mean;
      if (!isnan(off)) square += off * off;
    }
    p->deviation = p->folds > 1 ? sqrt(square / (double)(p->folds - 1)) : NAN;
  }
}

/* mean and deviation become those of all hidden samples together. */
static lapis_status summarise_pooled(const part_source *from, lapis_cv *cv)
{
  const targets *t = from->labels;
  pool p = {.ctx = from->ctx,
            .metric = from->metric->name,
            .plan = from->plan,
            .truth = from->data->Y};
  if (t->classes > 0) p.truth = lapis_mat_f64(t->sign, t->classes, t->samples);
  for (int i = 0; i < cv->n_points; i++)
    TRY(pool_judge(&p, cv->all + i * cv->K * cv->n, &cv->point[i].mean,
                   &cv->point[i].deviation));
  return LAPIS_OK;
}

static bool better(const lapis_cv *cv, double a, double b)
{
  return cv->less_is_better ? a < b : a > b;
}

int lapis_cv_best(const lapis_cv *cv)
{
  if (cv == NULL) return -1;
  int best = -1;
  for (int i = 0; i < cv->n_points; i++)
    if (!isnan(cv->point[i].mean) &&
        (best < 0 || better(cv, cv->point[i].mean, cv->point[best].mean)))
      best = i;
  return best;
}

static void take_best_scores(lapis_cv *cv)
{
  int best = lapis_cv_best(cv);
  if (cv->all == NULL || best < 0) return;
  size_t bytes = (size_t)(cv->K * cv->n) * sizeof(double);
  memmove(cv->all, cv->all + (int64_t)best * cv->K * cv->n, bytes);
  cv->scores = cv->all;
}

/* ---- constructor --------------------------------------------------------*/
static lapis_status copy_values(lapis_ctx *ctx, lapis_cv *cv)
{
  cv->text = base_alloc(ctx, cv->n_points * cv->n_grid, sizeof *cv->text);
  if (cv->text == NULL) return LAPIS_ENOMEM;
  for (int i = 0; i < cv->n_points; i++)
    for (int k = 0; k < cv->n_grid; k++) {
      int v = value_index(cv->grid, cv->n_grid, i, k);
      char **to = &cv->text[i * cv->n_grid + k];
      *to = base_strdup(ctx, cv->grid[k].value[v]);
      if (*to == NULL) return LAPIS_ENOMEM;
    }
  return LAPIS_OK;
}

static lapis_status allocate(lapis_ctx *ctx, const lapis_cv_options *o,
                             lapis_cv *cv)
{
  cv->point = base_alloc(ctx, cv->n_points, sizeof *cv->point);
  cv->value = base_alloc(ctx, cv->folds * cv->n_points, sizeof *cv->value);
  cv->seconds = base_alloc(ctx, cv->n_points, sizeof *cv->seconds);
  cv->done = base_alloc(ctx, cv->folds, sizeof *cv->done);
  if (cv->point == NULL || cv->value == NULL || cv->seconds == NULL ||
      cv->done == NULL)
    return LAPIS_ENOMEM;
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
                      "cv: %s answers no held-out samples", m->name);
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
               " positive known labels and is not judged",
               c + 1, count[0], count[1]);
  }
}

static lapis_status run(const part_source *from, const void *settings,
                        lapis_cv *cv)
{
  lapis_ctx *ctx = from->ctx;
  const lapis_method *m = from->method;
  void *own = base_alloc(ctx, 1, m->settings_size);
  lapis_status s =
      own == NULL ? LAPIS_ENOMEM : allocate(ctx, from->options, cv);
  if (s >= 0) s = lapis_settings_copy(ctx, m, settings, own);
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
    if (s == LAPIS_TIME_LIMIT && !cv->is_part)
      base_say(ctx, 0,
               "cv: the time limit ended it after %" PRId64 " of %" PRId64
               " solves",
               cv->cells, cv->folds * cv->n_points);
  }
  base_free(own);
  if (s < 0) return s;
  cv_summarise(cv);
  if (from->options->pooled) {
    lapis_status pooled = summarise_pooled(from, cv);
    if (pooled < 0) return pooled;
  }
  if (from->options->keep_scores) take_best_scores(cv);
  return s;
}

static uint64_t hash_of(const fold_plan *plan)
{
  lapis_mat all = lapis_mat_i64(plan->fold, 1, plan->samples);
  if (plan->cell != NULL)
    all = lapis_mat_i64(plan->cell, plan->K, plan->samples);
  return lapis_mat_hash(&all);
}

static lapis_status run_drawn(const part_source *from, fold_plan *plan,
                              const void *settings, lapis_cv *cv)
{
  const lapis_cv_options *o = from->options;
  lapis_folds_of of = lapis_cv_hides(from->method, from->data, o);
  if (of == LAPIS_FOLDS_OF_CELLS && !from->transductive)
    return lapis_fail(from->ctx, LAPIS_EINVAL,
                      "cv: %s is judged by whole samples; single cells of Y "
                      "are hidden from mc alone",
                      from->method->name);
  if (of == LAPIS_FOLDS_OF_CELLS && from->labels->kind == TARGETS_CLASS)
    of = LAPIS_FOLDS_OF_ROWS; /* a class is one cell */
  TRY(cv_draw_folds(from->ctx, from->data, o->folds, of, plan));
  cv->drawn = hash_of(plan);
  lapis_status s = run(from, settings, cv);
  cv->fold = plan->fold; /* handed over */
  plan->fold = NULL;
  folds_free(plan);
  return s;
}

lapis_status lapis_cv_run(lapis_ctx *ctx, const lapis_method *m,
                          const lapis_data *data, const void *settings,
                          const lapis_cv_options *options,
                          const lapis_grid *grid, int n_grid, lapis_cv **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, m, data, out);
  return cv_run_share(ctx, m, data, settings, options, grid, n_grid,
                      (cv_share){0, 1, false}, out);
}

/* What is named, or what suits the answers of the method. */
static lapis_status find_metric(lapis_ctx *ctx, const lapis_method *m,
                                const char *named,
                                const lapis_metric_kind **out)
{
  const char *own = method_entry_of(m)->metric;
  if (named == NULL) named = own == NULL ? "auroc" : own;
  return lapis_metric_find(ctx, named, out);
}

/* Targets as the metric reads them.  A method of numbers is judged by classes
 * where its targets are two values or labels. */
static lapis_status read_targets(lapis_ctx *ctx, const lapis_method *m,
                                 const lapis_mat *Y,
                                 const lapis_metric_kind *metric, targets *out)
{
  const char *own = method_entry_of(m)->metric;
  if (metric->reads == LAPIS_METRIC_VALUES) return LAPIS_OK;
  lapis_status s = targets_encode(ctx, "cv", Y, out);
  if (own == NULL || s == LAPIS_ENOMEM ||
      (s >= 0 && out->kind != TARGETS_CLASS))
    return s;
  if (s >= 0) targets_free(out);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "cv: %s is for classes, and these targets are numbers; use "
                    "--metric %s",
                    metric->name, own);
}

lapis_status cv_run_share(lapis_ctx *ctx, const lapis_method *m,
                          const lapis_data *data, const void *settings,
                          const lapis_cv_options *options,
                          const lapis_grid *grid, int n_grid, cv_share share,
                          lapis_cv **out)
{
  NEEDS(ctx, ctx, m, data, out);
  *out = NULL;
  if (n_grid > 0) NEEDS(ctx, grid);
  TRY(mat_check_data(ctx, "cv", data));
  TRY(method_check_classes(ctx, m, data));
  lapis_cv_options own;
  TRY(cv_options_take(ctx, options, &own));
  TRY(check(ctx, m, data, grid, n_grid));
  TRY(cv_settle_folds(ctx, data, &own));
  TRY(settings_check(ctx, m, settings));
  targets labels = {.classes = 0};
  const lapis_metric_kind *metric;
  TRY(find_metric(ctx, m, own.metric, &metric));
  if (own.pooled && metric->reads == LAPIS_METRIC_LABELS)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: folds are judged together by a metric of scores or "
                      "values, and %s reads labels",
                      metric->name);
  TRY(read_targets(ctx, m, &data->Y, metric, &labels));
  fold_plan plan;
  part_common common = {.solver = NULL};
  part_source from = {.ctx = ctx,
                      .common = &common,
                      .plan = &plan,
                      .method = m,
                      .data = data,
                      .options = &own,
                      .labels = &labels,
                      .metric = metric,
                      .transductive = method_entry_of(m)->transductive};
  lapis_cv *cv = base_alloc(ctx, 1, sizeof *cv);
  lapis_status s = LAPIS_ENOMEM;
  if (cv != NULL) {
    *cv = (lapis_cv){
        .n_points = count_points(grid, n_grid),
        .n_grid = n_grid,
        .grid = grid,
        .folds = (own.folds - share.k + share.n - 1) / share.n,
        .first = share.k,
        .step = share.n,
        .is_part = share.is_part,
        .metric = metric,
        .facts = {.size = sizeof(lapis_cv_facts), .metric = metric->name},
        .K = labels.classes > 0 ? labels.classes : data->Y.rows,
        .n = data->X.cols,
        .less_is_better = metric->less_is_better};
    s = run_drawn(&from, &plan, settings, cv);
  }
  part_common_free(&common);
  targets_free(&labels);
  bool partly = s == LAPIS_TIME_LIMIT && share.is_part;
  if (s < 0 || s == LAPIS_CANCELLED || partly)
    lapis_cv_free(cv);
  else
    *out = cv;
  return s;
}

void lapis_cv_free(lapis_cv *cv)
{
  if (cv == NULL) return;
  for (int i = 0; cv->text != NULL && i < cv->n_points * cv->n_grid; i++)
    base_free(cv->text[i]);
  base_free(cv->text);
  base_free(cv->point);
  base_free(cv->value);
  base_free(cv->seconds);
  base_free(cv->done);
  base_free(cv->all);
  base_free(cv->fold);
  base_free(cv->settings);
  lapis_json_free(cv->head);
  base_free(cv);
}

int lapis_cv_count(const lapis_cv *cv)
{
  if (cv == NULL) return 0;
  return cv->n_points;
}

lapis_cv_point lapis_cv_at(const lapis_cv *cv, int point)
{
  if (cv == NULL) return (lapis_cv_point){0};
  if (point < 0 || point >= cv->n_points) return (lapis_cv_point){0};
  return cv->point[point];
}

const char *lapis_cv_value(const lapis_cv *cv, int point, int k)
{
  if (cv == NULL) return NULL;
  if (point < 0 || point >= cv->n_points || k < 0 || k >= cv->n_grid)
    return NULL;
  return cv->text[point * cv->n_grid + k];
}

lapis_mat lapis_cv_scores(const lapis_cv *cv)
{
  if (cv == NULL) return (lapis_mat){0};
  int64_t n = cv->scores == NULL ? 0 : cv->n;
  return lapis_mat_f64(cv->scores, cv->K, n);
}
