/* bags_svm.c - misvm among the candidates of bags: it reads the instances, and
 * a bag's score is its largest one's. */
#include <math.h>
#include <stdlib.h>

#include "folds/folds.h"
#include "methods/auto/bags.h"
#include "methods/auto/candidates.h"
#include "model/model.h"

static lapis_misvm_settings settings_of(const candidate *x)
{
  lapis_misvm_settings set = lapis_misvm_defaults();
  set.kernel = x->svm_kernel;
  set.C = x->C;
  set.scale = LAPIS_SCALE_STANDARD;
  set.threshold = LAPIS_THRESHOLD_FIXED;
  return set;
}

void bag_svm_free(bag_svm *w)
{
  lapis_solver_free(w->said);
  lapis_model_free(w->model);
  lapis_solver_free(w->fit);
  fold_part_free(&w->shown);
  fold_part_free(&w->asked);
  base_free(w->turned);
  lapis_map_free(w->map);
  free(w->filled);
  *w = (bag_svm){.fit = NULL};
}

/* The smaller value for the larger one, so that it is a bag's of which some
 * instance is positive. */
static lapis_status turn(lapis_ctx *ctx, const bagged *b, bag_svm *w)
{
  lapis_mat *Y = &w->shown.data.Y;
  w->turned = base_alloc_raw(ctx, Y->cols, sizeof *w->turned);
  if (w->turned == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < Y->cols; j++)
    w->turned[j] = b->least + b->most - lapis_mat_at(Y, 0, j);
  *Y = lapis_mat_f64(w->turned, 1, Y->cols);
  return LAPIS_OK;
}

static lapis_status fill(lapis_ctx *ctx, bag_svm *w)
{
  lapis_mat *X = &w->shown.data.X, from = *X;
  TRY(lapis_map_new(ctx, "impute", &w->map));
  TRY(lapis_map_fit(ctx, w->map, &from));
  return lapis_map_make(ctx, w->map, &from, &w->filled, X);
}

lapis_status bag_svm_model(const bag_svm *w, lapis_model **out)
{
  TRY(lapis_model_new(w->fit, out));
  if (w->map == NULL) return LAPIS_OK;
  return lapis_model_set_map(w->fit->ctx, *out, w->map, false);
}

/* Of bags that are marked in `shown` and in `asked`. */
lapis_status bag_svm_run(lapis_ctx *ctx, const bagged *b, const candidate *like,
                         const bool *shown, const bool *asked, bag_svm *w)
{
  lapis_misvm_settings set = settings_of(like);
  bool *marks = base_alloc(ctx, b->data.X.cols, sizeof *marks);
  const bool *of[] = {shown, asked};
  fold_part *to[] = {&w->shown, &w->asked};
  lapis_status s = marks == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int p = 0; p < 2 && s >= 0; p++) {
    for (int64_t k = 0; k < b->list.count; k++)
      for (int64_t i = 0; i < b->list.item[k].count; i++)
        marks[b->list.item[k].member[i]] = of[p][k];
    s = folds_take(ctx, &b->data, marks, to[p]);
  }
  base_free(marks);
  if (s >= 0 && like->turned) s = turn(ctx, b, w);
  if (s >= 0 && lapis_mat_missing(&b->data.X) > 0) s = fill(ctx, w);
  TRY(s);
  TRY(lapis_misvm_new(ctx, &w->shown.data, &set, &w->fit));
  s = lapis_solve(w->fit);
  if (s < 0 || s == LAPIS_CANCELLED || s == LAPIS_TIME_LIMIT) return s;
  lapis_data rest = {.X = w->asked.data.X};
  TRY(bag_svm_model(w, &w->model));
  TRY(lapis_predict_new(ctx, &rest, w->model, NULL, &w->said));
  return lapis_solve(w->said);
}

/* The largest score of each bag that was asked, for the larger value. */
static lapis_status svm_scores(const bagged *b, const bool *asked,
                               const bag_svm *w, double *score)
{
  lapis_mat f;
  TRY(lapis_result_get(w->said, "scores", &f));
  for (int64_t k = 0; k < b->list.count; k++)
    if (asked[k]) score[k] = -INFINITY;
  /* instances were taken in their order */
  int64_t *whose = base_alloc_raw(w->fit->ctx, b->data.X.cols, sizeof *whose);
  if (whose == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < b->list.count; k++)
    for (int64_t i = 0; i < b->list.item[k].count; i++)
      whose[b->list.item[k].member[i]] = k;
  int64_t at = 0;
  for (int64_t j = 0; j < b->data.X.cols; j++) {
    if (!asked[whose[j]]) continue;
    score[whose[j]] = fmax(score[whose[j]], lapis_mat_at(&f, 0, at++));
  }
  for (int64_t k = 0; k < b->list.count && w->turned != NULL; k++)
    if (asked[k]) score[k] = -score[k];
  base_free(whose);
  return LAPIS_OK;
}

lapis_status bags_answers(comparison *r, const candidate *x, int64_t fold,
                          double *score)
{
  const bagged *b = r->o.bags;
  bag_svm w = {.fit = NULL};
  bool *shown = base_alloc(r->ctx, 2 * r->n, sizeof *shown);
  if (shown == NULL) return LAPIS_ENOMEM;
  bool *asked = shown + r->n;
  for (int64_t k = 0; k < r->n; k++) {
    bool known = !isnan(r->labels.sign[k]);
    asked[k] = known && r->plan.fold[k] == fold;
    shown[k] = known && !asked[k];
  }
  lapis_status s = bag_svm_run(r->ctx, b, x, shown, asked, &w);
  if (s >= 0 && w.said != NULL) {
    lapis_status got = svm_scores(b, asked, &w, score);
    if (got < 0) s = got;
  }
  bag_svm_free(&w);
  base_free(shown);
  return s;
}
