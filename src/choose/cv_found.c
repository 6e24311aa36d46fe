/* cv_found.c - what a cross-validation is told and what it found. */
#include <math.h>

#include "choose/cv.h"
#include "lapis/rows.h"

/* ---- options, and what is found -----------------------------------------*/
#define AT(field) offsetof(lapis_cv_options, field)
static const lapis_param params[] = {
    INT_IN("folds", folds, "K", .value = 5, AT_LEAST(0),
           .help = "number of folds, at least 2; 0: 5, or as many as can be"),
    CHOICE("folds-of", folds_of, "auto|rows|groups|cells", .arg = "WHAT",
           .help = "what a fold holds out: whole rows, groups, or single "
                   "cells of Y where rows are partly labelled (mc); auto: as "
                   "labels are missing"),
    BOOL("groups", by_group,
         .help = "keep groups (bags, people, images) whole: folds-of groups"),
    TEXT("metric", metric, .arg = "NAME",
         .help = "what to score by, of those of eval but log-loss, as folds "
                 "answer with scores (default auroc; of numbers r2, of rr "
                 "rae)"),
    TEXT("map", map, .arg = "MAP",
         .help = "features through a map fitted on the training folds"),
    TEXT("map-priv", map_priv, .arg = "MAP",
         .help = "the same for privileged features"),
    BOOL("keep-scores", keep_scores, .help = "answer with held_out"),
    BOOL("pooled", pooled,
         .help = "score all hidden samples together, not each fold by itself"),
    INT("part", part, .value = 0, AT_LEAST(0),
        .help = "score the folds part, part + parts, ... only, from 1"),
    INT("parts", parts, .value = 0, AT_LEAST(0), .help = "of so many"),
    TEXT("part-file", part_file, .arg = "F.npz",
         .help = "where a part writes what it found"),
};

static const lapis_result_row results[] = {
    RESULT("names", "names", .type = LAPIS_TEXT, .where = "there is a grid",
           .help = "settings that are tried"),
    RESULT("points", "points x names", .type = LAPIS_TEXT,
           .where = "there is a grid", .help = "their values"),
    RESULT("mean", "points",
           .help = "of the metric over folds that have one; pooled: the "
                   "metric; NaN: not scored"),
    RESULT("deviation", "points",
           .help = "its deviation over folds; pooled: its standard error, by "
                   "leaving out each group (sample; at most 32 blocks)"),
    RESULT("folds", "points", .type = LAPIS_I64,
           .help = "how many folds have one"),
    RESULT("seconds", "points", .help = "of its solves"),
    RESULT("best", "1", .type = LAPIS_I64, .where = "a point was scored",
           .help = "the point to take, from 0"),
    RESULT("fold_values", "folds x points",
           .help = "the metric of each fold; NaN: it has none"),
    RESULT("metric", "1", .type = LAPIS_TEXT, .help = "its name"),
    RESULT("fold", "n", .type = LAPIS_I64,
           .where = "whole samples were hidden, in one run",
           .help = "the fold that hides a sample, -1: none does"),
    RESULT("held_out", "n x K", .when = "keep-scores",
           .where = "a point was scored",
           .help = "scores of the best point, each sample's from the fold that "
                   "hid it; NaN where none did"),
    RESULT("method", "1", .type = LAPIS_TEXT, .where = "parts were joined",
           .help = "what was scored"),
    RESULT("map", "1", .type = LAPIS_TEXT, .where = "parts were joined",
           .help = "its map"),
    RESULT("map_priv", "1", .type = LAPIS_TEXT, .where = "parts were joined",
           .help = "and that of privileged features"),
    RESULT_NOTES,
};

static const lapis_method cv_method = {
    .name = "cv",
    .title = "cross-validation",
    .summary =
        "choose settings by how well they predict labels that are hidden "
        "fold by fold.",
    .source = "",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_cv_options)};

const lapis_method *lapis_cv_table(void)
{
  return &cv_method;
}

/* ---- a job --------------------------------------------------------------*/
void cv_free(lapis_solver *s)
{
  cv_job *cv = (cv_job *)s;
  for (int i = 0; cv->text != NULL && i < cv->n_points * cv->n_grid; i++)
    base_free(cv->text[i]);
  base_free(cv->text);
  base_free(cv->mean);
  base_free(cv->deviation);
  base_free(cv->judged);
  base_free(cv->value);
  base_free(cv->seconds);
  base_free(cv->done);
  base_free(cv->all);
  base_free(cv->settings);
  part_common_free(&cv->common);
  targets_free(&cv->labels);
  folds_free(&cv->plan);
  lapis_json_free(cv->head);
}

lapis_status cv_alloc(lapis_ctx *ctx, const solver_class *cls, cv_job **out)
{
  lapis_solver *s;
  TRY(solver_alloc(ctx, cls, sizeof(cv_job), &s));
  s->table = &cv_method;
  *out = (cv_job *)s;
  return LAPIS_OK;
}

lapis_status cv_alloc_points(cv_job *cv)
{
  lapis_ctx *ctx = cv->base.ctx;
  int64_t n = cv->n_points;
  cv->text = base_alloc(ctx, n * cv->n_grid, sizeof *cv->text);
  cv->mean = base_alloc(ctx, n, sizeof *cv->mean);
  cv->deviation = base_alloc(ctx, n, sizeof *cv->deviation);
  cv->seconds = base_alloc(ctx, n, sizeof *cv->seconds);
  cv->judged = base_alloc(ctx, n, sizeof *cv->judged);
  cv->value = base_alloc(ctx, cv->folds * n, sizeof *cv->value);
  bool room = cv->text != NULL && cv->mean != NULL && cv->deviation != NULL &&
              cv->seconds != NULL && cv->judged != NULL && cv->value != NULL;
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

/* ---- summing up ---------------------------------------------------------*/
void cv_summarise(cv_job *cv)
{
  for (int i = 0; i < cv->n_points; i++) {
    double sum = 0, square = 0;
    int64_t n = 0;
    for (int64_t f = 0; f < cv->folds; f++) {
      double v = cv->value[f * cv->n_points + i];
      if (isnan(v)) continue;
      sum += v;
      n++;
    }
    double mean = cv->mean[i] = n > 0 ? sum / (double)n : NAN;
    for (int64_t f = 0; f < cv->folds; f++) {
      double off = cv->value[f * cv->n_points + i] - mean;
      if (!isnan(off)) square += off * off;
    }
    cv->deviation[i] = n > 1 ? sqrt(square / (double)(n - 1)) : NAN;
    cv->judged[i] = n;
  }
}

static void find_best(cv_job *cv)
{
  bool less = cv->metric->less_is_better;
  cv->best = -1;
  for (int i = 0; i < cv->n_points; i++)
    if (!isnan(cv->mean[i]) &&
        (cv->best < 0 || (less ? cv->mean[i] < cv->mean[cv->best]
                               : cv->mean[i] > cv->mean[cv->best])))
      cv->best = i;
}

static void publish_text(cv_job *cv, const char *name, const char **text)
{
  if (*text != NULL)
    solver_publish(&cv->base, name, lapis_mat_text(text, 1, 1));
}

void cv_publish(cv_job *cv)
{
  lapis_solver *s = &cv->base;
  int64_t n = cv->n_points;
  if (cv->n_grid > 0) {
    solver_publish(s, "names", lapis_mat_text(cv->name, 1, cv->n_grid));
    solver_publish(
        s, "points",
        lapis_mat_text((const char *const *)cv->text, cv->n_grid, n));
  }
  if (!cv->options.pooled) cv_summarise(cv);
  find_best(cv);
  solver_publish(s, "mean", lapis_mat_f64(cv->mean, 1, n));
  solver_publish(s, "deviation", lapis_mat_f64(cv->deviation, 1, n));
  solver_publish(s, "folds", lapis_mat_i64(cv->judged, 1, n));
  solver_publish(s, "seconds", lapis_mat_f64(cv->seconds, 1, n));
  if (cv->best >= 0) solver_publish(s, "best", lapis_mat_i64(&cv->best, 1, 1));
  solver_publish(s, "fold_values", lapis_mat_f64(cv->value, n, cv->folds));
  publish_text(cv, "metric", (const char **)(uintptr_t)&cv->metric->name);
  if (cv->plan.fold != NULL && cv->plan.cell == NULL)
    solver_publish(s, "fold",
                   lapis_mat_i64(cv->plan.fold, 1, cv->plan.samples));
  if (cv->options.keep_scores && cv->best >= 0)
    solver_publish(
        s, "held_out",
        lapis_mat_f64(cv->all + cv->best * cv->K * cv->n, cv->K, cv->n));
  publish_text(cv, "method", &cv->method);
  publish_text(cv, "map", &cv->map);
  publish_text(cv, "map_priv", &cv->map_priv);
}
