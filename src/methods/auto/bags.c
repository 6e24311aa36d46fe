/* bags.c - auto of bags: labels are of groups of instances.
 *
 * A bag is one sample, whose features are the mean, the largest and the least
 * of each feature of its instances; these go through the comparison as any
 * table does.  misvm competes, which reads the instances: a bag's score is its
 * largest one's.  Whoever answers for bags, misvm answers for instances. */
#include "methods/auto/bags.h"

#include <math.h>
#include <string.h>

#include "base/resume.h"
#include "methods/auto/candidates.h"
#include "methods/common_remarks.h"
#include "model/bagged.h"
#include "model/model.h"

/* ---- bags as samples ----------------------------------------------------*/
static bool differ(double a, double b)
{
  return isnan(a) != isnan(b) || a < b || a > b;
}

static lapis_status take_labels(lapis_ctx *ctx, bagged *b)
{
  for (int64_t k = 0; k < b->list.count; k++) {
    const bag *one = &b->list.item[k];
    b->Y[k] = lapis_mat_at(&b->data.Y, 0, one->member[0]);
    for (int64_t i = 1; i < one->count; i++)
      if (differ(b->Y[k], lapis_mat_at(&b->data.Y, 0, one->member[i])))
        return lapis_fail(ctx, LAPIS_EDATA,
                          "auto: bag %.0f has mixed labels (rows %lld and "
                          "%lld); of bags (--bags) Y is the label of the bag, "
                          "repeated for each of its rows; without it groups "
                          "are kept whole and rows are answered",
                          b->list.id[k], (long long)one->member[0] + 1,
                          (long long)one->member[i] + 1);
    b->least = fmin(b->least, b->Y[k]);
    b->most = fmax(b->most, b->Y[k]);
  }
  return LAPIS_OK;
}

static lapis_status make(lapis_ctx *ctx, bagged *b)
{
  int64_t d = BAG_STATISTICS * b->data.X.rows;
  TRY(bags_new(ctx, b->data.group, b->data.X.cols, &b->list));
  b->X = base_alloc_raw(ctx, d * b->list.count, sizeof *b->X);
  b->Y = base_alloc_raw(ctx, b->list.count, sizeof *b->Y);
  if (b->X == NULL || b->Y == NULL) return LAPIS_ENOMEM;
  TRY(take_labels(ctx, b));
  bag_statistics(&b->list, &b->data.X, b->X);
  return LAPIS_OK;
}

lapis_status bagged_make(lapis_ctx *ctx, const lapis_data *data, bagged *out)
{
  *out = (bagged){.data = *data, .least = NAN, .most = NAN};
  if (data->group == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "auto: --bags, and there are no groups; %s which bag a "
                      "sample belongs to",
                      BAG_OF(ctx));
  if (data->Y.rows != 1)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "auto: --bags goes with one label of each bag, and Y has "
                      "%lld columns",
                      (long long)data->Y.rows);
  if (data->weight != NULL)
    return lapis_fail(
        ctx, LAPIS_EINVAL,
        "auto: --bags goes without weights: they are of rows, and "
        "what is learnt from are bags");
  TRY(mat_check_dense(ctx, "auto", "X", &data->X));
  TRY(mat_check_finite(ctx, "auto", "X", &data->X, true));
  lapis_status s = make(ctx, out);
  if (s < 0) bagged_free(out);
  return s;
}

lapis_status bags_check(lapis_ctx *ctx, const lapis_auto_settings *set)
{
  const char *with = set->targets == LAPIS_TARGETS_NUMBERS
                         ? "targets that are numbers"
                     : set->map != NULL && *set->map != '\0' ? "--map"
                     : set->held_out > 0 ? "--held-out, nor suspects"
                     : set->coverage > 0 ? "--coverage"
                                         : NULL;
  if (with == NULL) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL, "auto: --bags goes without %s", with);
}

static bool has_two_values(const bagged *b)
{
  for (int64_t k = 0; k < b->list.count; k++)
    if (b->Y[k] > b->least && b->Y[k] < b->most) return false;
  return true;
}

lapis_status bags_say(lapis_ctx *ctx, const bagged *b, auto_options *o)
{
  const char *why =
      has_two_values(b) ? NULL : "labels have more than two values";
  base_note(ctx, BASE_NOTE, "bags",
            "auto: each of the %lld bags is a sample: mean, largest and least "
            "of each feature of its instances",
            (long long)b->list.count);
  if (o->misvm && why != NULL)
    base_note(ctx, BASE_WARNING, "no-misvm",
              "auto: misvm takes no part, and instances are not answered: %s",
              why);
  o->misvm = o->misvm && why == NULL;
  if (o->misvm && lapis_mat_missing(&b->data.X) > 0)
    base_note(ctx, BASE_NOTE, "misvm-fills",
              "auto: misvm reads instances whose gaps are filled (map impute)");
  if (o->mc || o->linear || o->trees || o->misvm) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "auto: no candidate is left, as %s; leave --candidates "
                    "out, or name others",
                    why);
}

void bagged_free(bagged *b)
{
  bags_free(&b->list);
  base_free(b->X);
  base_free(b->Y);
  *b = (bagged){.X = NULL};
}

lapis_data bagged_data(const bagged *b)
{
  int64_t count = b->list.count;
  return (lapis_data){
      .X = lapis_mat_f64(b->X, BAG_STATISTICS * b->data.X.rows, count),
      .Y = lapis_mat_f64(b->Y, 1, count)};
}

/* ---- the answer ---------------------------------------------------------*/
typedef struct bags_answer {
  lapis_solver base;
  const bagged *b;
  lapis_solver *statistics; /* or NULL: misvm answers for bags */
  bool has_svm;
  candidate like; /* misvm, by candidate */
  bag_svm svm;
  bool *known, *all; /* bags */
  bagged_by by;
} bags_answer;

static bags_answer *answer_of(lapis_solver *s)
{
  return (bags_answer *)s;
}

/* Those of bags with a label are as the fit has decided, by the rule of bags.
 */
static lapis_status keep_decided(bags_answer *w)
{
  const lapis_mat *to = named_find(&w->base.result, "instance_labels");
  lapis_mat labels;
  int64_t at = 0, n = w->b->data.X.cols;
  double *decided = arena_reals(&w->base.arena, n);
  TRY(arena_status(&w->base.arena));
  TRY(lapis_result_get(w->svm.fit, "labels", &labels));
  for (int64_t j = 0; j < n; j++) {
    bool known = !isnan(lapis_mat_at(&w->b->data.Y, 0, j));
    decided[j] = lapis_mat_at(to, 0, j);
    if (!known) continue;
    decided[j] = lapis_mat_at(&labels, 0, at++);
    if (w->like.turned) decided[j] = w->b->least + w->b->most - decided[j];
  }
  solver_publish(&w->base, "instance_labels", lapis_mat_f64(decided, 1, n));
  return LAPIS_OK;
}

static lapis_status run(bags_answer *w)
{
  lapis_status status = LAPIS_OK;
  if (w->statistics != NULL) {
    status = lapis_solve(w->statistics);
    w->base.info = w->statistics->info;
    w->base.called = w->statistics->called;
  }
  if (status < 0 || status == LAPIS_CANCELLED || !w->has_svm) return status;
  bag_svm_free(&w->svm);
  base_mute(w->base.ctx, true);
  lapis_status s =
      bag_svm_run(w->base.ctx, w->b, &w->like, w->known, w->all, &w->svm);
  base_mute(w->base.ctx, false);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  if (w->statistics == NULL) w->base.info = w->svm.fit->info;
  return status == LAPIS_OK ? s : status;
}

static lapis_status solve(lapis_solver *s)
{
  bags_answer *w = answer_of(s);
  double started = base_seconds();
  keep_pause(s->ctx, true); /* several solves of one name */
  lapis_status status = run(w);
  keep_pause(s->ctx, false);
  s->info.seconds = base_seconds() - started;
  if (status < 0 || status == LAPIS_CANCELLED) return status;
  if (w->statistics == NULL && w->svm.said == NULL) return LAPIS_TIME_LIMIT;
  w->by.bags = w->statistics;
  w->by.instances = w->svm.said;
  TRY(bagged_publish(s, &w->by));
  if (w->svm.said != NULL) TRY(keep_decided(w));
  return status;
}

static lapis_status model(lapis_solver *s, lapis_model **out)
{
  bags_answer *w = answer_of(s);
  lapis_model *m;
  const lapis_method *of = lapis_method_find("auto");
  TRY(model_alloc(s->ctx, of, &m));
  lapis_settings_default(of, m->settings);
  ((lapis_auto_settings *)m->settings)->bags = true;
  m->features = w->b->data.X.rows;
  lapis_status status = bagged_learn(s->ctx, &w->by, m);
  if (status >= 0 && w->statistics != NULL)
    status = lapis_model_new(w->statistics, &m->bags);
  if (status >= 0 && w->svm.said != NULL)
    status = bag_svm_model(&w->svm, &m->instances);
  if (status >= 0)
    *out = m;
  else
    lapis_model_free(m);
  return status;
}

static void release(lapis_solver *s)
{
  bags_answer *w = answer_of(s);
  lapis_solver_free(w->statistics);
  bag_svm_free(&w->svm);
}

static const solver_class answer_class = {
    .method = "auto", .solve = solve, .free = release};

static lapis_status set_up(bags_answer *w, const comparison *r, int i,
                           const auto_options *o, const lapis_data *data,
                           const lapis_mc_settings *set)
{
  lapis_ctx *ctx = w->base.ctx;
  int svm = r == NULL ? -1 : comparison_best(r, "misvm");
  bool none = !o->mc && !o->linear && !o->trees; /* but misvm */
  bool by_svm = r == NULL ? none : i == svm;
  int64_t B = w->b->list.count;
  w->known = arena_take(&w->base.arena, 2 * B, sizeof *w->known);
  TRY(arena_status(&w->base.arena));
  w->all = w->known + B;
  for (int64_t k = 0; k < B; k++) {
    w->known[k] = !isnan(w->b->Y[k]);
    w->all[k] = true;
  }
  w->has_svm = r == NULL ? o->misvm : svm >= 0;
  w->like = r != NULL && svm >= 0
                ? r->run[r->order[svm]]
                : (candidate){.C = 1, .svm_kernel = LAPIS_KERNEL_RBF};
  w->by = (bagged_by){.list = &w->b->list,
                      .n = w->b->data.X.cols,
                      .compared = r != NULL,
                      .sigmoid = {1, 0},
                      .value = {w->b->least, w->b->most},
                      .turned = w->like.turned};
  char yes[REMARK_VALUE];
  if (w->has_svm && w->like.turned)
    base_note(ctx, BASE_NOTE, "turned",
              "auto: a bag is \"%s\" by one of its instances: such ones have "
              "an instance score below 0",
              remark_value(&w->b->data, w->b->least, yes));
  if (by_svm && w->like.answer != NULL)
    memcpy(w->by.sigmoid, w->like.answer, sizeof w->by.sigmoid);
  if (by_svm) return LAPIS_OK;
  return r == NULL
             ? race_default_new(ctx, o, data, set, &w->statistics)
             : comparison_answer_new(ctx, r, i, data, set, &w->statistics);
}

lapis_status bags_answer_new(lapis_ctx *ctx, const comparison *race, int i,
                             const auto_options *o, const lapis_data *data,
                             const lapis_mc_settings *set, lapis_solver **out)
{
  TRY(solver_alloc(ctx, &answer_class, sizeof(bags_answer), out));
  bags_answer *w = answer_of(*out);
  w->b = o->bags;
  w->base.model = model;
  return solver_deliver(*out, set_up(w, race, i, o, data, set), out);
}
