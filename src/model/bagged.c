/* bagged.c - bags of instances, answered as one sample each. */
#include "model/bagged.h"

#include <math.h>
#include <string.h>

#include "mat/mat.h"
#include "model/model.h"

/* ---- publishing ---------------------------------------------------------*/
static lapis_status publish_spread(lapis_solver *s, const bagged_by *by,
                                   const char *name, const lapis_mat *of)
{
  double *to = arena_reals(&s->arena, of->rows * by->n);
  TRY(arena_status(&s->arena));
  bags_spread(by->list, of, to);
  solver_publish(s, name, lapis_mat_f64(to, of->rows, by->n));
  return LAPIS_OK;
}

static lapis_status publish_statistics(lapis_solver *s, const bagged_by *by)
{
  static const char *const name[] = {"scores", "probabilities", "labels"};
  const named_list *found = &by->bags->result;
  const lapis_mat *of, *classes = named_find(found, "classes");
  for (size_t k = 0; k < sizeof name / sizeof *name; k++)
    if ((of = named_find(found, name[k])) != NULL)
      TRY(publish_spread(s, by, name[k], of));
  if (classes != NULL) solver_publish(s, "classes", *classes);
  return LAPIS_OK;
}

static lapis_status publish_largest(lapis_solver *s, const bagged_by *by,
                                    const lapis_mat *scores)
{
  int64_t B = by->list->count;
  double *f = arena_reals(&s->arena, 3 * B), *p = f + B, *label = p + B;
  TRY(arena_status(&s->arena));
  bag_scores(by->list, scores->val, f);
  for (int64_t k = 0; k < B; k++) {
    if (by->turned) f[k] = -f[k];
    p[k] = 1 / (1 + exp(-by->sigmoid[0] * f[k] - by->sigmoid[1]));
    label[k] = by->value[p[k] > .5];
  }
  lapis_mat all[] = {lapis_mat_f64(f, 1, B), lapis_mat_f64(p, 1, B),
                     lapis_mat_f64(label, 1, B)};
  TRY(publish_spread(s, by, "scores", &all[0]));
  if (by->compared) TRY(publish_spread(s, by, "probabilities", &all[1]));
  return publish_spread(s, by, "labels", &all[2]);
}

lapis_status bagged_publish(lapis_solver *s, const bagged_by *by)
{
  lapis_mat scores, labels;
  if (by->instances != NULL) {
    TRY(lapis_result_get(by->instances, "scores", &scores));
    TRY(lapis_result_get(by->instances, "labels", &labels));
    if (scores.rows != 1)
      return lapis_fail(s->ctx, LAPIS_EFORMAT,
                        "predict: what answers for instances is no misvm");
    double *own = arena_reals(&s->arena, 2 * by->n), *said = own + by->n;
    TRY(arena_status(&s->arena));
    for (int64_t j = 0; j < by->n; j++) {
      double f = lapis_mat_at(&scores, 0, j), y = lapis_mat_at(&labels, 0, j);
      own[j] = by->turned ? -f : f;
      said[j] = by->turned ? by->value[0] + by->value[1] - y : y;
    }
    solver_publish(s, "instance_scores", lapis_mat_f64(own, 1, by->n));
    solver_publish(s, "instance_labels", lapis_mat_f64(said, 1, by->n));
  }
  return by->bags != NULL ? publish_statistics(s, by)
                          : publish_largest(s, by, &scores);
}

/* ---- answers of a model -------------------------------------------------*/
typedef struct bagged_answer {
  lapis_solver base;
  bag_list list;
  double *X;
  bagged_by by;
  lapis_solver *bags, *instances;
} bagged_answer;

static bagged_answer *answer_of(lapis_solver *s)
{
  return (bagged_answer *)s;
}

static lapis_status solve(lapis_solver *s)
{
  bagged_answer *w = answer_of(s);
  lapis_solver *all[] = {w->bags, w->instances};
  lapis_status status = LAPIS_OK;
  double started = base_seconds();
  for (int k = 0; k < 2; k++) {
    if (all[k] == NULL) continue;
    lapis_status part = lapis_solve(all[k]);
    if (part < 0 || part == LAPIS_CANCELLED) return part;
    if (status == LAPIS_OK) status = part;
    s->info = all[k]->info;
  }
  s->info.seconds = base_seconds() - started;
  TRY(bagged_publish(s, &w->by));
  return status;
}

static void release(lapis_solver *s)
{
  bagged_answer *w = answer_of(s);
  lapis_solver_free(w->bags);
  lapis_solver_free(w->instances);
  bags_free(&w->list);
  base_free(w->X);
}

static const solver_class answer_class = {
    .method = "auto", .solve = solve, .free = release};

lapis_status bagged_new(lapis_ctx *ctx, bag_list *list, double *X,
                        const bagged_by *by, lapis_solver *bags,
                        lapis_solver *instances, lapis_solver **out)
{
  lapis_status s = solver_alloc(ctx, &answer_class, sizeof(bagged_answer), out);
  if (s < 0) {
    lapis_solver_free(bags);
    lapis_solver_free(instances);
    bags_free(list);
    base_free(X);
    return s;
  }
  bagged_answer *w = answer_of(*out);
  w->list = *list;
  w->X = X;
  w->by = *by;
  w->by.list = &w->list;
  w->by.bags = w->bags = bags;
  w->by.instances = w->instances = instances;
  return LAPIS_OK;
}

/* ---- what a model keeps -------------------------------------------------*/
lapis_status bagged_learn(lapis_ctx *ctx, const bagged_by *by, lapis_model *m)
{
  lapis_mat sigmoid = lapis_mat_f64((double *)by->sigmoid, 2, 1);
  double turned = by->turned;
  lapis_mat one = lapis_mat_f64(&turned, 1, 1);
  lapis_mat classes = lapis_mat_f64((double *)by->value, 1, 2);
  const lapis_mat *all =
      by->bags == NULL ? NULL : named_find(&by->bags->result, "classes");
  if (by->compared) TRY(model_put(ctx, m, "calibration", &sigmoid));
  TRY(model_put(ctx, m, "turned", &one));
  return model_put(ctx, m, "classes", all == NULL ? &classes : all);
}

lapis_status bagged_read(lapis_ctx *ctx, const lapis_model *m, bagged_by *by)
{
  const lapis_mat *sigmoid = named_numbers(&m->learned, "calibration", 2, 1);
  const lapis_mat *values = named_numbers(&m->learned, "classes", 1, -1);
  const lapis_mat *turned = named_numbers(&m->learned, "turned", 1, 1);
  if (values == NULL || values->cols < 2 || turned == NULL)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "predict: the model lacks what answers for bags; fit it "
                      "again");
  by->compared = sigmoid != NULL;
  by->sigmoid[0] = 1;
  if (sigmoid != NULL) memcpy(by->sigmoid, sigmoid->val, sizeof by->sigmoid);
  for (int k = 0; k < 2; k++) by->value[k] = lapis_mat_at(values, 0, k);
  by->turned = lapis_mat_at(turned, 0, 0) > 0;
  return LAPIS_OK;
}
