/* part.c - one fold: what is shown, what is hidden, and the answer for it.
 *
 * Transductive methods see every feature and lose the hidden labels; the
 * others see the training columns alone, and maps are fitted on those. */
#include "choose/part.h"

#include <math.h>
#include <string.h>

#include "mat/bags.h"
#include "methods/method_entry.h"
#include "op/map/map.h"

static double *keep(part *p, double *memory)
{
  p->memory[p->n_memory++] = memory;
  return memory;
}

static lapis_status pick(part *p, const lapis_mat *from, const bool *marks,
                         lapis_mat *out)
{
  double *memory = NULL;
  *out = (lapis_mat){.dtype = LAPIS_F64};
  if (from->cols == 0) return LAPIS_OK;
  lapis_status s = mat_pick(p->from->ctx, from, marks, &memory, out);
  keep(p, memory);
  return s;
}

/* ---- targets ------------------------------------------------------------*/
/* Labels as a method reads them whatever fold is hidden: a row a class. */
static void label_column(const targets *t, int64_t j, double *out)
{
  for (int64_t c = 0; c < t->classes; c++)
    out[c] = targets_coded(t->sign[j * t->classes + c], t->zero_one);
}

/* All labels, the hidden ones NaN (transductive). */
static lapis_status hide_labels(part *p)
{
  const targets *t = p->from->labels;
  double *y = base_alloc_raw(p->from->ctx, t->classes * t->samples, sizeof *y);
  if (keep(p, y) == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < t->samples; j++) {
    label_column(t, j, y + j * t->classes);
    for (int64_t c = 0; c < t->classes; c++)
      if (fold_hides(p->from->plan, p->fold, c, j)) y[j * t->classes + c] = NAN;
  }
  p->train.Y = lapis_mat_f64(y, t->classes, t->samples);
  return LAPIS_OK;
}

/* Cells that this fold does not hide are not judged: NaN, as unknown ones. */
static void show_the_rest(const part *p, lapis_mat *of)
{
  double *at = of->val;
  for (int64_t j = 0; j < p->from->plan->samples; j++) {
    if (!p->hidden[j]) continue;
    for (int64_t c = 0; c < of->rows; c++, at++)
      if (!fold_hides(p->from->plan, p->fold, c, j)) *at = NAN;
  }
}

/* ---- bags ----------------------------------------------------------------*/
/* Of a method that learns from bags each counts once, as its first instance:
 * the instance with the largest score answers for it.  What is true of the
 * others is NaN: they are not judged. */
static void keep_first(const bag_list *bags, lapis_mat *of)
{
  double *at = of->val;
  for (int64_t k = 0; k < bags->count; k++)
    for (int64_t i = 1; i < bags->item[k].count; i++)
      for (int64_t c = 0; c < of->rows; c++)
        at[bags->item[k].member[i] * of->rows + c] = NAN;
}

static lapis_status judge_bags(part *p)
{
  const int64_t *group = p->away.data.group;
  if (group == NULL || !solver_is_of_bags(p->from->method, "bag_scores"))
    return LAPIS_OK;
  TRY(bags_new(p->from->ctx, group, p->truth.cols, &p->bags));
  keep_first(&p->bags, &p->truth);
  if (p->given.val != p->truth.val) keep_first(&p->bags, &p->given);
  return LAPIS_OK;
}

/* labels: NULL, or not wanted. */
static void answer_bags(const part *p, double *scores, double *labels)
{
  for (int64_t k = 0; k < p->bags.count; k++) {
    const bag *b = &p->bags.item[k];
    int64_t first = b->member[0], best = first;
    for (int64_t i = 1; i < b->count; i++)
      if (scores[b->member[i]] > scores[best]) best = b->member[i];
    scores[first] = scores[best];
    if (labels != NULL) labels[first] = labels[best];
  }
}

/* ---- truth ----------------------------------------------------------------*/
/* What the hidden samples are judged by: signs, labels, or real targets. */
static lapis_status hidden_truth(part *p)
{
  const targets *t = p->from->labels;
  lapis_mat all = lapis_mat_f64(t->sign, t->classes, t->samples);
  TRY(pick(p, &p->from->data->Y, p->hidden, &p->given));
  if (t->classes > 0)
    TRY(pick(p, &all, p->hidden, &p->truth));
  else
    p->truth = p->given;
  if (p->from->plan->cell != NULL) {
    show_the_rest(p, &p->given);
    show_the_rest(p, &p->truth);
  }
  return LAPIS_OK;
}

/* ---- features -----------------------------------------------------------*/
/* What is said of the samples shown, or hidden, names their rows among all;
 * gives back who was named before. */
static base_rows name_part(const part *p, bool hidden)
{
  int64_t n = p->from->plan->samples;
  base_rows shown = {p->row, p->shown},
            away = {p->row + p->shown, n - p->shown}, all = {NULL, 0};
  return base_name_rows(p->from->ctx, p->from->transductive ? all
                                      : hidden              ? away
                                                            : shown);
}

static lapis_status list_rows(part *p)
{
  int64_t n = p->from->plan->samples, at[2] = {0, 0};
  p->row = base_alloc(p->from->ctx, n + 1, sizeof *p->row);
  if (p->row == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < n; j++) p->shown += !p->hidden[j];
  at[true] = p->shown;
  for (int64_t j = 0; j < n; j++)
    p->row[at[p->hidden[j]]++] = base_row(p->from->ctx, j, n) - 1;
  return LAPIS_OK;
}

static lapis_status map_one(part *p, const char *spec, lapis_mat *train,
                            lapis_mat *test, lapis_map **map)
{
  lapis_ctx *ctx = p->from->ctx;
  lapis_mat *both[] = {train, test};
  if (spec == NULL || train->cols == 0) return LAPIS_OK;
  TRY(lapis_map_new(ctx, spec, map));
  base_rows before = name_part(p, false);
  lapis_status s = lapis_map_fit(ctx, *map, train);
  for (int i = 0; i < 2 && both[i] != NULL && s >= 0; i++) {
    double *x = NULL;
    lapis_mat mapped;
    (void)name_part(p, i > 0);
    s = lapis_map_make(ctx, *map, both[i], &x, &mapped);
    keep(p, x);
    if (s >= 0) *both[i] = mapped;
  }
  (void)base_name_rows(ctx, before);
  return s;
}

/* Training columns shown, hidden columns to be predicted from X alone. */
static lapis_status split(part *p)
{
  const lapis_data *d = p->from->data;
  const lapis_cv_options *o = p->from->options;
  TRY(folds_split(p->from->ctx, d, p->from->plan, p->fold, &p->away, &p->kept));
  p->train = p->kept.data;
  p->test.X = p->away.data.X;
  TRY(map_one(p, o->map, &p->train.X, &p->test.X, &p->map));
  return map_one(p, o->map_priv, &p->train.P, NULL, &p->map_priv);
}

/* X as every fold of a transductive method sees it. */
static lapis_status map_all(const part_source *from)
{
  part_common *c = from->common;
  const char *spec = from->options->map;
  lapis_map *map = NULL;
  if (c->mapped) return LAPIS_OK;
  c->X = from->data->X;
  if (spec != NULL && c->X.cols > 0) {
    TRY(lapis_map_new(from->ctx, spec, &map));
    lapis_status s = lapis_map_fit(from->ctx, map, &from->data->X);
    if (s >= 0)
      s = lapis_map_make(from->ctx, map, &from->data->X, &c->memory, &c->X);
    lapis_map_free(map);
    TRY(s);
  }
  c->mapped = true;
  return LAPIS_OK;
}

static lapis_status open_parts(part *p)
{
  const part_source *from = p->from;
  TRY(hidden_truth(p));
  if (from->transductive) {
    p->train = *from->data;
    TRY(hide_labels(p));
    TRY(map_all(from));
    p->train.X = from->common->X;
    return LAPIS_OK;
  }
  TRY(split(p));
  return judge_bags(p);
}

lapis_status part_open(const part_source *from, int64_t fold, part *out)
{
  const fold_plan *plan = from->plan;
  int64_t cells = plan->cell != NULL ? plan->K : 1;
  *out = (part){.from = from, .fold = fold};
  out->hidden = base_alloc(from->ctx, from->plan->samples, sizeof(bool));
  lapis_status s = out->hidden == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; s >= 0 && j < from->plan->samples; j++)
    for (int64_t c = 0; c < cells; c++)
      out->hidden[j] = out->hidden[j] || fold_hides(plan, fold, c, j);
  if (s >= 0) s = list_rows(out);
  if (s >= 0) s = open_parts(out);
  if (s < 0) part_close(out);
  return s;
}

void part_close(part *p)
{
  if (p->solver != p->from->common->solver) lapis_solver_free(p->solver);
  for (int i = 0; i < p->n_memory; i++) base_free(p->memory[i]);
  lapis_map_free(p->map);
  lapis_map_free(p->map_priv);
  fold_part_free(&p->kept);
  fold_part_free(&p->away);
  bags_free(&p->bags);
  base_free(p->hidden);
  base_free(p->row);
  *p = (part){.from = p->from};
}

void part_common_free(part_common *c)
{
  lapis_solver_free(c->solver);
  base_free(c->memory);
  *c = (part_common){.solver = NULL};
}

/* ---- solving ------------------------------------------------------------*/
/* The common solver, made of every label at the first call.  What it cannot
 * be made of, folds are refused for by themselves. */
static lapis_solver *common_solver(const part_source *from,
                                   const void *settings)
{
  part_common *c = from->common;
  const targets *t = from->labels;
  if (c->solver != NULL || c->refused || !from->transductive) return c->solver;
  lapis_data all = *from->data;
  double *y = base_alloc_raw(from->ctx, t->classes * t->samples, sizeof *y);
  for (int64_t j = 0; y != NULL && j < t->samples; j++)
    label_column(t, j, y + j * t->classes);
  all.X = c->X;
  all.Y = lapis_mat_f64(y, t->classes, t->samples);
  all = lapis_data_with(&all, lapis_method_reads(from->method, settings));
  lapis_status s = y == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0)
    s = method_solve_part(from->ctx, from->method, &all, settings, &c->solver);
  base_free(y);
  c->refused = s < 0 || s == LAPIS_CANCELLED;
  return c->solver;
}

lapis_status part_share(const part_source *from, const void *settings)
{
  if (!from->transductive) return LAPIS_OK;
  TRY(map_all(from));
  (void)common_solver(from, settings);
  return base_cancelled(from->ctx) ? LAPIS_CANCELLED : LAPIS_OK;
}

/* The common solver with the labels of this fold. */
static lapis_status relabel(part *p, const void *settings)
{
  part_common *c = p->from->common;
  lapis_solver *s = common_solver(p->from, settings);
  p->solver = NULL;
  if (s == NULL) return LAPIS_ENOTBUILT;
  s->brief = true;
  lapis_status status = solver_relabel(s, &p->train, settings);
  if (status >= 0) p->solver = s;
  if (status != LAPIS_ENOTBUILT) return status;
  c->refused = true; /* for good: such a method has nothing to share */
  c->solver = NULL;
  lapis_solver_free(s);
  return status;
}

static lapis_status solver_for(part *p, const void *settings)
{
  if (p->solver != NULL) {
    lapis_status s = lapis_solver_retune(p->solver, settings);
    if (s != LAPIS_ENOTBUILT) return s;
    if (p->solver != p->from->common->solver) lapis_solver_free(p->solver);
    p->solver = NULL;
  }
  lapis_status s = relabel(p, settings);
  if (s != LAPIS_ENOTBUILT) return s;
  const lapis_method *m = p->from->method;
  lapis_data data = lapis_data_with(&p->train, lapis_method_reads(m, settings));
  s = method_solve_part(p->from->ctx, m, &data, settings, &p->solver);
  /* of the others the model is asked: what it says of its own is not read */
  if (s >= 0 && !p->from->transductive) p->solver->brief = true;
  return s;
}

/* The map makes no numbers of what is left out, if these settings say so. */
static lapis_status check_map(const part *p, const void *settings)
{
  const part_source *from = p->from;
  lapis_map *map;
  if (from->options->map == NULL) return LAPIS_OK;
  TRY(lapis_map_new(from->ctx, from->options->map, &map));
  lapis_status s =
      method_check_map(from->ctx, from->method, settings, map, &from->data->X);
  lapis_map_free(map);
  return s;
}

static lapis_status solve(part *p, const void *settings)
{
  TRY(check_map(p, settings));
  base_rows before = name_part(p, false);
  lapis_status s = solver_for(p, settings);
  if (s >= 0) s = lapis_solve(p->solver);
  (void)base_name_rows(p->from->ctx, before);
  return s;
}

static lapis_status lost_a_class(const part *p)
{
  return lapis_fail(p->from->ctx, LAPIS_EDATA,
                    "cv: a fold lost a class; use fewer folds");
}

/* What a solver answers under this name for the hidden columns, as many rows
 * as `like` has, in order into out. */
static lapis_status gather(const part *p, lapis_solver *s, const char *name,
                           const lapis_mat *like, double *out)
{
  lapis_mat all;
  if (lapis_result_get(s, name, &all) < 0)
    return lapis_fail(p->from->ctx, LAPIS_EINVAL,
                      "cv: %s answers no %s that '%s' could score here; name "
                      "another --metric",
                      p->from->method->name, name, p->from->metric->name);
  bool every = p->from->transductive;
  if (all.rows != like->rows ||
      all.cols != (every ? p->from->plan->samples : like->cols))
    return lost_a_class(p);
  for (int64_t j = 0; j < all.cols; j++) {
    if (every && !p->hidden[j]) continue;
    for (int64_t i = 0; i < all.rows; i++) *out++ = lapis_mat_at(&all, i, j);
  }
  return LAPIS_OK;
}

/* Labels in the values of Y.  Classes: the largest score's, since a
 * transductive method was given a row a class; two values: what the method
 * said, which a transductive one did in its own coding. */
static lapis_status decide(const part *p, lapis_solver *s, const double *scores,
                           double *labels)
{
  targets t = *p->from->labels;
  t.samples = p->truth.cols;
  if (t.kind == TARGETS_CLASS) {
    targets_decode(&t, scores, 0, labels);
    return LAPIS_OK;
  }
  TRY(gather(p, s, "labels", &p->given, labels));
  for (int64_t k = 0; p->from->transductive && k < p->given.rows * t.samples;
       k++)
    labels[k] = t.value[labels[k] > 0];
  return LAPIS_OK;
}

static lapis_status answers(const part *p, lapis_solver *s, double *scores,
                            double *labels)
{
  TRY(gather(p, s, "scores", &p->truth, scores));
  return labels == NULL ? LAPIS_OK : decide(p, s, scores, labels);
}

static lapis_status predict(part *p, const lapis_model *m, double *scores,
                            double *labels)
{
  lapis_solver *s;
  base_rows before = name_part(p, true);
  lapis_status status = lapis_predict_new(p->from->ctx, &p->test, m, NULL, &s);
  if (status >= 0) s->brief = true;
  if (status >= 0) status = lapis_solve(s);
  (void)base_name_rows(p->from->ctx, before);
  if (status >= 0 && status != LAPIS_CANCELLED)
    status = answers(p, s, scores, labels);
  if (status >= 0 && status != LAPIS_CANCELLED) answer_bags(p, scores, labels);
  lapis_solver_free(s);
  return status;
}

lapis_status part_answers(part *p, const void *settings, double *scores,
                          double *labels)
{
  lapis_status status = solve(p, settings);
  if (status < 0 || status == LAPIS_CANCELLED) return status;
  if (p->from->transductive) return answers(p, p->solver, scores, labels);
  lapis_model *m;
  TRY(lapis_model_new(p->solver, &m));
  keep_pause(p->from->ctx, true); /* quick: done again by a resumed run */
  status = predict(p, m, scores, labels);
  keep_pause(p->from->ctx, false);
  lapis_model_free(m);
  return status;
}
