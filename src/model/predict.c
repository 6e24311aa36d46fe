/* predict.c - answers for new samples: checks, maps, then the method's own. */
#include <string.h>

#include "lapis/tools.h"
#include "mat/mat.h"
#include "methods/method_entry.h"
#include "model/bagged.h"
#include "model/coverage.h"
#include "model/joined.h"
#include "model/learnt_from.h"
#include "op/map/map.h"

/* X through the model's map, into memory that the caller frees. */
static lapis_status apply_map(lapis_ctx *ctx, const lapis_model *m,
                              const lapis_mat *X, double **out, lapis_mat *to)
{
  *out = NULL;
  *to = *X;
  if (m->map == NULL) return LAPIS_OK;
  TRY(method_check_map(ctx, m->method, m->settings, m->map, X));
  return lapis_map_make(ctx, m->map, X, out, to);
}

static lapis_status predict_alone(lapis_ctx *ctx, const lapis_data *data,
                                  const lapis_model *m, const void *options,
                                  lapis_solver **out)
{
  NEEDS(ctx, ctx, data, m, out);
  *out = NULL;
  const method_entry *e = method_entry_of(m->method);
  lapis_data mapped = *data;
  double *owned = NULL;
  void *set = base_alloc(ctx, 1, e->predict_method->settings_size);
  lapis_status s = LAPIS_ENOMEM;
  if (set != NULL)
    s = lapis_settings_copy(ctx, e->predict_method, options, set);
  base_heed(ctx, true);
  if (s >= 0) s = apply_map(ctx, m, &data->X, &owned, &mapped.X);
  base_heed(ctx, false);
  if (s >= 0) s = mat_check_data(ctx, m->method->name, &mapped);
  if (s >= 0) s = method_weigh_new(ctx, e, &mapped, &m->learned);
  if (s >= 0) s = e->predict(ctx, &mapped, m->settings, &m->learned, set, out);
  base_free(set);
  if (s < 0) base_free(owned);
  if (s < 0) return s;
  (*out)->table = e->predict_method;
  (*out)->owned = owned;
  return s;
}

/* ---- models of several ---------------------------------------------------*/
typedef struct asked { /* a model and the options it is asked with, or NULL */
  const lapis_model *model;
  void *options;
} asked;

static lapis_status ask(lapis_ctx *ctx, void *self, const lapis_data *data,
                        lapis_solver **out)
{
  const asked *a = self;
  return predict_alone(ctx, data, a->model, a->options, out);
}

static void forget(void *self)
{
  asked *a = self;
  if (a != NULL) base_free(a->options);
  base_free(a);
}

/* m, behind what fills its gaps. */
static lapis_status add_parts(lapis_ctx *ctx, const lapis_model *m,
                              const void *options, joined_part *part,
                              int *count)
{
  int reads = -1;
  if (m->filler != NULL) {
    reads = *count;
    TRY(add_parts(ctx, m->filler, NULL, part, count));
    part[reads].answers = false;
  }
  const lapis_method *table = lapis_predict_method(m->method);
  asked *a = base_alloc(ctx, 1, sizeof *a);
  part[*count] =
      (joined_part){.make = ask, .self = a, .reads = reads, .answers = true};
  ++*count;
  if (a == NULL) return LAPIS_ENOMEM;
  a->model = m;
  a->options = base_alloc(ctx, 1, table->settings_size);
  if (a->options == NULL) return LAPIS_ENOMEM;
  return lapis_settings_copy(ctx, table, options, a->options);
}

static lapis_status predict_joined(lapis_ctx *ctx, const lapis_data *data,
                                   const lapis_model *m, const void *options,
                                   lapis_solver **out)
{
  joined_part part[JOINED_PARTS];
  int count = 0;
  lapis_status s = add_parts(ctx, m, options, part, &count);
  for (m = m->beside; s >= 0 && m != NULL; m = m->beside)
    s = add_parts(ctx, m, NULL, part, &count);
  if (s >= 0) s = joined_new(ctx, data, part, count, forget, out);
  for (int k = 0; k < count && s < 0; k++) forget(part[k].self);
  return s;
}

static lapis_status predict_one(lapis_ctx *ctx, const lapis_data *data,
                                const lapis_model *m, const void *options,
                                lapis_solver **out)
{
  if (m->filler != NULL || m->beside != NULL)
    return predict_joined(ctx, data, m, options, out);
  return predict_alone(ctx, data, m, options, out);
}

/* With the sets that the models without a fold make. */
static lapis_status predict_covered(lapis_ctx *ctx, const lapis_data *data,
                                    const lapis_model *m, const void *options,
                                    lapis_solver **out)
{
  coverage c;
  lapis_solver *answer = NULL, *fold[COVERAGE_FOLDS] = {NULL};
  TRY(coverage_read(ctx, m, &c));
  if (!(c.share > 0)) return predict_one(ctx, data, m, options, out);
  lapis_status s = predict_one(ctx, data, m, options, &answer);
  base_mute(ctx, true); /* what is to be remarked of the data was */
  int64_t f = 0;
  for (const lapis_model *of = m->fold; s >= 0 && of != NULL; of = of->fold)
    s = predict_one(ctx, data, of, options, &fold[f++]);
  base_mute(ctx, false);
  if (s >= 0) return coverage_new(ctx, &c, data, answer, fold, out);
  lapis_solver_free(answer);
  for (f = 0; f < c.folds; f++) lapis_solver_free(fold[f]);
  return s;
}

/* ---- models of bags ------------------------------------------------------*/
static bool is_of_bags(const lapis_model *m)
{
  return m->bags != NULL || m->instances != NULL;
}

/* Each by its own model: the statistics of the bags, and their instances. */
static lapis_status predict_bags(lapis_ctx *ctx, const lapis_data *data,
                                 const lapis_model *m, lapis_solver **out)
{
  bag_list list;
  bagged_by by = {.n = data->X.cols};
  lapis_solver *bags = NULL, *instances = NULL;
  lapis_data all = {.X = data->X}, each = {.X = data->X};
  TRY(bagged_read(ctx, m, &by));
  if (data->group == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "predict: this model answers for bags, and there are no "
                      "groups; %s which bag a sample belongs to",
                      BAG_OF(ctx));
  if (data->X.rows != m->features)
    return lapis_fail(
        ctx, LAPIS_ESHAPE,
        "predict: X has %lld feature(s); the bags learnt from have "
        "%lld",
        (long long)data->X.rows, (long long)m->features);
  TRY(mat_check_dense(ctx, "predict", "X", &data->X));
  TRY(mat_check_finite(ctx, "predict", "X", &data->X, true));
  TRY(bags_new(ctx, data->group, data->X.cols, &list));
  int64_t d = BAG_STATISTICS * data->X.rows;
  double *X = base_alloc_raw(ctx, d * list.count, sizeof *X);
  lapis_status s = X == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) bag_statistics(&list, &data->X, X);
  all.X = lapis_mat_f64(X, d, list.count);
  if (s >= 0 && m->bags != NULL)
    s = predict_one(ctx, &all, m->bags, NULL, &bags);
  if (s >= 0 && m->instances != NULL)
    s = predict_one(ctx, &each, m->instances, NULL, &instances);
  if (s >= 0) {
    TRY(bagged_new(ctx, &list, X, &by, bags, instances, out));
    (*out)->table = lapis_predict_method(m->method);
    return LAPIS_OK;
  }
  lapis_solver_free(bags);
  bags_free(&list);
  base_free(X);
  return s;
}

static lapis_status predict(lapis_ctx *ctx, const lapis_data *data,
                            const lapis_model *m, const void *options,
                            lapis_solver **out)
{
  bool none = mat_empty(&data->X);
  if (base_ranks(ctx) > 1) none = data->X.rows == 0; /* others have some */
  if (none)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "predict: X has no samples; give the rows to predict");
  TRY(method_check_members(ctx, method_entry_of(m->method)->predict_method,
                           options, data));
  if (is_of_bags(m)) return predict_bags(ctx, data, m, out);
  if (data->group != NULL && m->method == lapis_method_find("auto"))
    base_note(ctx, BASE_WARNING, "no-bags",
              "predict: the model was not fitted to bags; groups say nothing");
  return predict_covered(ctx, data, m, options, out);
}

/* A model of several is as divisible as each of them. */
static lapis_status check_divides(lapis_ctx *ctx, const lapis_model *m)
{
  for (; m != NULL; m = m->beside) {
    if (!method_entry_of(m->method)->answers_parts)
      TRY(method_alone(ctx, m->method->name));
    if (m->filler != NULL) TRY(check_divides(ctx, m->filler));
  }
  return LAPIS_OK;
}

/* Names that both sides know must be the same, in the same order. */
static lapis_status check_names(lapis_ctx *ctx, const lapis_model *m,
                                const lapis_mat *here)
{
  const lapis_mat *there = named_find(&m->learned, "feature_names");
  if (mat_empty(here) || there == NULL || there->dtype != LAPIS_TEXT)
    return LAPIS_OK;
  const char *const *a = here->val, *const *b = there->val;
  for (int64_t i = 0; i < here->cols && i < there->cols; i++)
    if (strcmp(a[i * here->ld], b[i * there->ld]) != 0)
      return lapis_fail(ctx, LAPIS_EDATA,
                        "predict: feature %" PRId64
                        " is called '%s', the model was fitted with '%s'",
                        i + 1, a[i * here->ld], b[i * there->ld]);
  return LAPIS_OK;
}

lapis_status lapis_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const lapis_model *m, const void *options,
                               lapis_solver **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, data, m, out);
  if (method_entry_of(m->method)->predict == NULL && !is_of_bags(m))
    return lapis_fail(ctx, LAPIS_ENOTBUILT,
                      "%s: a model of this method does not predict new "
                      "samples;  fit it again with them among the data",
                      m->method->name);
  TRY(check_divides(ctx, m));
  TRY(check_names(ctx, m, &data->feature_names));
  base_meet(ctx);
  note_list notes = {.count = 0};
  notes_open(ctx, &notes);
  lapis_status s = predict(ctx, data, m, options, out);
  if (s >= 0) s = learnt_from_check(ctx, m, data);
  s = base_agree(ctx, s);
  s = solver_keep_notes(ctx, &notes, s, *out);
  if (s >= 0 || *out == NULL) return s;
  lapis_solver_free(*out); /* another process has none */
  *out = NULL;
  return s;
}
