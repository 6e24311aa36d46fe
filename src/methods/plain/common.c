/* common.c - what logistic regression and trees check, keep and read alike. */
#include <math.h>

#include "methods/plain/linear.h"

lapis_status linear_check(lapis_ctx *ctx, const char *method,
                          const lapis_data *data)
{
  if (mat_empty(&data->X) || mat_empty(&data->Y))
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: X and Y are needed", method);
  TRY(mat_check_beside(ctx, method, "Y", &data->Y, &data->X));
  TRY(mat_check_weights(ctx, method, data->weight, data->X.cols));
  return mat_check_finite(ctx, method, "X", &data->X, true);
}

lapis_status linear_calibrate(lapis_solver *s, linear_answer *a,
                              const lapis_mat *from)
{
  const char *method = s->cls->method;
  if (from->rows != 2 || from->cols != a->K)
    return lapis_fail(s->ctx, LAPIS_ESHAPE,
                      "%s: calibration is %" PRId64 " x %" PRId64
                      "; slope and bias of each of %" PRId64
                      " labels are needed",
                      method, from->cols, from->rows, a->K);
  TRY(mat_check_finite(s->ctx, method, "calibration", from, false));
  a->calibration = arena_reals(&s->arena, 2 * a->K);
  TRY(arena_status(&s->arena));
  mat_to_f64(from, a->calibration, 2);
  return LAPIS_OK;
}

static lapis_status take_numbers(lapis_solver *s, linear_answer *a,
                                 const lapis_mat *Y)
{
  int64_t K = Y->rows, n = Y->cols, known = 0;
  a->labels = (targets){.classes = K, .samples = n};
  a->Y = arena_reals(&s->arena, K * n);
  TRY(arena_status(&s->arena));
  TRY(mat_check_finite(s->ctx, s->cls->method, "Y", Y, true));
  mat_to_f64(Y, a->Y, K);
  for (int64_t k = 0; k < K * n; k++) known += !isnan(a->Y[k]);
  if (known > 0) return LAPIS_OK;
  return lapis_fail(s->ctx, LAPIS_EMISSING,
                    "%s: Y: no row has a target; rows with one are learnt from",
                    s->cls->method);
}

static lapis_status take_targets(lapis_solver *s, linear_answer *a,
                                 const lapis_mat *Y)
{
  if (a->numbers) return take_numbers(s, a, Y);
  TRY(targets_encode(s->ctx, s->cls->method, Y, &a->labels));
  return targets_check_kinds(s->ctx, s->cls->method, &a->labels, "");
}

lapis_status linear_begin(lapis_solver *s, linear_answer *a,
                          const lapis_data *data, double **fill)
{
  lapis_mat Y;
  TRY(mat_weighted_targets(&s->arena, &data->Y, data->weight, &Y));
  TRY(take_targets(s, a, &Y));
  mat_say_blank(s->ctx, &data->X, &Y, false);
  a->d = data->X.rows;
  a->n = data->X.cols;
  a->K = a->labels.classes;
  a->weight = data->weight;
  a->made_of = mat_made_of(data);
  *fill = arena_reals(&s->arena, 2 * a->d);
  TRY(linear_answer_alloc(s, a));
  mat_moments of = {a->d, *fill + a->d, *fill, NULL};
  TRY(mat_measure(s->ctx, &data->X, data->weight, &of));
  return linear_fill(s, &data->X, *fill, a);
}

/* ---- models -------------------------------------------------------------*/
enum { OF_NUMBERS = TARGETS_MULTILABEL + 1 }; /* in place of a targets_kind */

void linear_learn(named_list *to, const linear_answer *a, const double *fill,
                  double *kind)
{
  const targets *t = &a->labels;
  *kind = a->numbers ? OF_NUMBERS : t->kind;
  named_put(to, "fill", lapis_mat_f64((double *)fill, a->d, 1));
  named_put(to, "kind", lapis_mat_f64(kind, 1, 1));
  if (a->gaps > 0)
    named_put(to, "gaps", lapis_mat_f64((double *)(uintptr_t)&a->gaps, 1, 1));
  if (a->numbers) return;
  named_put(to, "classes", lapis_mat_f64(t->value, 1, t->n_values));
  if (a->calibration != NULL)
    named_put(to, "calibration", lapis_mat_f64(a->calibration, 2, a->K));
}

lapis_status linear_bad_model(lapis_ctx *ctx, const char *method)
{
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "predict: the %s model holds arrays that do not fit "
                    "together; fit it again",
                    method);
}

/* Classes of Y as the fit found them. */
static lapis_status take_labels(lapis_ctx *ctx, const char *method,
                                linear_answer *a, const named_list *learned)
{
  const lapis_mat *kind = named_numbers(learned, "kind", 1, 1);
  const lapis_mat *value = named_numbers(learned, "classes", 1, -1);
  const lapis_mat *c = named_find(learned, "calibration");
  double k = kind == NULL ? -1 : lapis_mat_at(kind, 0, 0);
  a->numbers = k == OF_NUMBERS;
  if (a->numbers) return LAPIS_OK;
  if (value == NULL || !number_is_whole(k, 0, TARGETS_MULTILABEL))
    return linear_bad_model(ctx, method);
  a->labels = (targets){.kind = (targets_kind)k,
                        .classes = a->K,
                        .samples = a->n,
                        .value = value->val,
                        .n_values = value->cols};
  int64_t values = a->labels.kind == TARGETS_CLASS ? a->K : 2;
  if (value->cols != values || (a->labels.kind == TARGETS_BINARY && a->K != 1))
    return linear_bad_model(ctx, method);
  if (c == NULL) return LAPIS_OK;
  if (named_numbers(learned, "calibration", 2, a->K) == NULL)
    return linear_bad_model(ctx, method);
  a->calibration = c->val;
  return LAPIS_OK;
}

lapis_status linear_take_model(lapis_solver *s, linear_answer *a,
                               const lapis_data *data,
                               const named_list *learned)
{
  const lapis_mat *fill = named_numbers(learned, "fill", a->d, 1);
  a->n = data->X.cols;
  if (fill == NULL) return linear_bad_model(s->ctx, s->cls->method);
  if (data->X.rows != a->d)
    return lapis_fail(s->ctx, LAPIS_ESHAPE,
                      "predict: X has %" PRId64
                      " features, the model was fitted on %" PRId64,
                      data->X.rows, a->d);
  TRY(mat_check_finite(s->ctx, "predict", "X", &data->X, true));
  TRY(take_labels(s->ctx, s->cls->method, a, learned));
  TRY(linear_answer_alloc(s, a));
  const lapis_mat *gaps = named_numbers(learned, "gaps", 1, 1);
  a->gaps = gaps != NULL ? lapis_mat_at(gaps, 0, 0) : 0;
  return linear_fill(s, &data->X, fill->val, a);
}
