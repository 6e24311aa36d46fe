/* predict.c - new samples: gaps filled as in the fit, then the same lines. */
#include "solve/linear/linear.h"

#include <math.h>

/* Predicting leaves nothing to choose. */
typedef struct no_settings {
  size_t size;
} no_settings;
const lapis_method linear_predict_method = {
    .name = "linear",
    .title = "logistic regression: predicting",
    .summary = "scores, probabilities and labels of new samples",
    .source = "[HTF09]",
    .reads = LAPIS_READS_X,
    .settings_size = sizeof(no_settings)};

typedef struct linear_predict {
  lapis_solver base;
  no_settings set;
  linear_answer answer;
  const double *W; /* of the model */
} linear_predict;

static lapis_status solve(lapis_solver *s)
{
  linear_predict *w = (linear_predict *)s;
  linear_answer_give(s, &w->answer, w->W);
  return LAPIS_OK;
}

static void release(lapis_solver *s)
{
  (void)s; /* all of it is the arena's, or the model's */
}

static const solver_class predict_class = {
    .method = "linear", .solve = solve, .free = release};

static lapis_status bad_model(lapis_ctx *ctx)
{
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "predict: the linear model holds arrays that do not fit "
                    "together; fit it again");
}

/* Classes of Y as the fit found them. */
static lapis_status take_labels(lapis_ctx *ctx, linear_answer *a,
                                const named_list *learned)
{
  const lapis_mat *kind = named_numbers(learned, "kind", 1, 1);
  const lapis_mat *value = named_numbers(learned, "classes", 1, -1);
  const lapis_mat *c = named_find(learned, "calibration");
  double k = kind == NULL ? -1 : lapis_mat_at(kind, 0, 0);
  if (value == NULL || !number_is_whole(k, 0, TARGETS_MULTILABEL))
    return bad_model(ctx);
  a->labels = (targets){.kind = (targets_kind)k,
                        .classes = a->K,
                        .samples = a->n,
                        .value = value->val,
                        .n_values = value->cols};
  int64_t values = a->labels.kind == TARGETS_CLASS ? a->K : 2;
  if (value->cols != values || (a->labels.kind == TARGETS_BINARY && a->K != 1))
    return bad_model(ctx);
  if (c == NULL) return LAPIS_OK;
  if (named_numbers(learned, "calibration", 2, a->K) == NULL)
    return bad_model(ctx);
  a->calibration = c->val;
  return LAPIS_OK;
}

static lapis_status build(linear_predict *w, const lapis_data *data,
                          const named_list *learned)
{
  lapis_ctx *ctx = w->base.ctx;
  linear_answer *a = &w->answer;
  const lapis_mat *W = named_numbers(learned, "weights", -1, -1);
  if (W == NULL || W->rows < 2 || W->cols < 1) return bad_model(ctx);
  a->d = W->rows - 1;
  a->K = W->cols;
  a->n = data->X.cols;
  const lapis_mat *fill = named_numbers(learned, "fill", a->d, 1);
  if (fill == NULL) return bad_model(ctx);
  if (data->X.rows != a->d)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "predict: X has %" PRId64
                      " features, the model was fitted on %" PRId64,
                      data->X.rows, a->d);
  TRY(mat_check_finite(ctx, "predict", "X", &data->X, true));
  TRY(take_labels(ctx, a, learned));
  TRY(linear_answer_alloc(&w->base, a));
  linear_fill(&data->X, fill->val, a->X);
  w->W = W->val;
  return LAPIS_OK;
}

lapis_status linear_predict_new(lapis_ctx *ctx, const lapis_data *data,
                                const void *settings, const named_list *learned,
                                const void *options, lapis_solver **out)
{
  lapis_solver *s;
  (void)settings;
  TRY(solver_alloc(ctx, &predict_class, sizeof(linear_predict), &s));
  linear_predict *w = (linear_predict *)s;
  w->set = *(const no_settings *)options;
  s->settings = &w->set;
  lapis_status status = build(w, data, learned);
  if (status >= 0)
    *out = s;
  else
    lapis_solver_free(s);
  return status;
}
