/* answer.c - a candidate of a race answers for all samples.
 *
 * As in the race: mc, logistic regression and trees through the map they ran
 * with, gaps filled by the first mc where they had them so; and of several the
 * mean. */
#include <stdlib.h>
#include <string.h>

#include "methods/auto/candidates.h"
#include "methods/method_entry.h"
#include "model/joined.h"
#include "model/model.h"
#include "op/map/map.h"

typedef struct answer_part { /* what a part is made from, and keeps */
  const lapis_method *method;
  union {
    lapis_mc_settings mc;
    lapis_linear_settings linear;
    lapis_trees_settings trees;
    lapis_rr_settings rr;
  } set;
  lapis_mat slopes;      /* what calibrates it, or empty */
  const char *map_text;  /* the race's, of what it reads */
  const lapis_map *lent; /* the race's own, where it was fitted to this X */
  lapis_map *own;        /* one that was fitted here */
  mat_shift shift;       /* how X is read; off, by, or NULL */
  double *X;             /* behind the map, or NULL */
} answer_part;

static void clear(answer_part *p)
{
  lapis_map_free(p->own);
  base_free((double *)p->shift.off);
  free(p->X);
  p->own = NULL;
  p->shift.off = NULL;
  p->X = NULL;
}

static void part_free(void *self)
{
  answer_part *p = self;
  if (p == NULL) return;
  clear(p);
  base_free(p);
}

static const lapis_map *map_of(const answer_part *p)
{
  return p->lent != NULL ? p->lent : p->own;
}

/* X behind the map: as it is, to be read by the shift, or as a copy. */
static lapis_status put_map(lapis_ctx *ctx, answer_part *p, lapis_mat *X)
{
  int64_t d = X->rows;
  lapis_mat given = *X;
  clear(p);
  if (strcmp(p->map_text, "none") == 0) return LAPIS_OK;
  if (p->lent == NULL) {
    TRY(lapis_map_new(ctx, p->map_text, &p->own));
    TRY(lapis_map_fit(ctx, p->own, &given));
  }
  if (method_reads(p->method, &p->set, &given)) {
    double *off = base_alloc(ctx, 2 * d, sizeof *off);
    if (off == NULL) return LAPIS_ENOMEM;
    if (map_shift(map_of(p), d, off, off + d)) {
      p->shift = (mat_shift){off, off + d};
      return LAPIS_OK;
    }
    base_free(off);
  }
  return lapis_map_make(ctx, map_of(p), &given, &p->X, X);
}

static lapis_status part_make(lapis_ctx *ctx, void *self,
                              const lapis_data *data, lapis_solver **out)
{
  answer_part *p = self;
  lapis_data mapped = *data;
  *out = NULL;
  TRY(put_map(ctx, p, &mapped.X));
  mapped = lapis_data_with(&mapped, lapis_method_reads(p->method, &p->set));
  base_mute(ctx, true); /* what is to be remarked of the data was */
  lapis_status s = method_settle_targets(ctx, p->method, &mapped, &p->set);
  const mat_shift *shift = p->shift.off == NULL ? NULL : &p->shift;
  if (s >= 0)
    s = method_solve_read(ctx, p->method, &mapped, shift, &p->set, out);
  base_mute(ctx, false);
  if (s >= 0 && p->slopes.cols > 0)
    s = (*out)->cls->calibrate(*out, &p->slopes);
  return s;
}

/* ---- a model of the whole -----------------------------------------------*/
static lapis_status learn(const lapis_solver *s, int k, lapis_model **out)
{
  const answer_part *p = joined_self(s, k);
  TRY(lapis_model_new(joined_solver(s, k), out));
  const lapis_map *map = map_of(p);
  if (map == NULL) return LAPIS_OK;
  return lapis_model_set_map(s->ctx, *out, map, false);
}

/* Those that answer, one beside the other; each holds what fills its gaps. */
static lapis_status model_of(lapis_solver *s, lapis_model **out)
{
  lapis_status status = LAPIS_OK;
  lapis_model *first = NULL, **next = &first;
  *out = NULL;
  for (int k = 0; k < joined_count(s) && status >= 0; k++) {
    if (!joined_answers(s, k)) continue;
    status = learn(s, k, next);
    int reads = joined_reads(s, k);
    if (status >= 0 && reads >= 0) status = learn(s, reads, &(*next)->filler);
    if (status >= 0) next = &(*next)->beside;
  }
  if (status >= 0)
    *out = first;
  else
    lapis_model_free(first);
  return status;
}

/* ---- parts --------------------------------------------------------------*/
static lapis_status add_part(const comparison *r, const candidate *x,
                             bool fills, const lapis_mc_settings *like,
                             joined_part *part, int *count)
{
  int reads = -1;
  for (int k = 0; x->filled && k < *count; k++)
    if (!part[k].answers) reads = k; /* one fills for all */
  if (x->filled && reads < 0) {
    reads = *count;
    TRY(add_part(r, &r->run[0], true, like, part, count));
  }
  answer_part *p = base_alloc(r->ctx, 1, sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  part[*count] = (joined_part){
      .make = part_make, .self = p, .reads = reads, .answers = !fills};
  ++*count;
  if (!r->o.numbers) p->slopes = lapis_mat_f64((double *)x->answer, 2, r->K);
  p->map_text = reads < 0 ? candidate_map(r, x) : candidate_map_of_filled(r, x);
  if (reads < 0 && p->map_text == r->map[x->map]) p->lent = r->fitted[x->map];
  if (candidate_grows(x)) {
    p->method = lapis_method_find("trees");
    lapis_settings_default(p->method, &p->set);
    p->set.trees.kind = (int)x->grown;
    p->set.trees.targets =
        r->o.numbers ? LAPIS_TARGETS_NUMBERS : LAPIS_TARGETS_CLASSES;
    p->set.trees.share = x->share;
    p->set.trees.trees = x->count;
    if (x->depth > 0) p->set.trees.depth = x->depth;
    if (x->rate > 0) p->set.trees.rate = x->rate;
    p->set.trees.leaf = x->leaf;
    p->set.trees.stop.seconds = like->stop.seconds;
    return LAPIS_OK;
  }
  if (x->kind == CANDIDATE_LINEAR) {
    p->method = lapis_method_find("linear");
    lapis_settings_default(p->method, &p->set);
    p->set.linear.targets =
        r->o.numbers ? LAPIS_TARGETS_NUMBERS : LAPIS_TARGETS_CLASSES;
    p->set.linear.C = x->C;
    p->set.linear.stop.seconds = like->stop.seconds;
    return LAPIS_OK;
  }
  if (x->kind == CANDIDATE_RR) {
    p->method = lapis_method_find("rr");
    lapis_settings_default(p->method, &p->set);
    p->set.rr.stop.seconds = like->stop.seconds;
    return LAPIS_OK;
  }
  p->method = lapis_method_find("mc");
  p->set.mc = *like;
  p->set.mc.map = NULL;
  if (fills) {
    p->set.mc.certificate = p->set.mc.class_features = false;
    p->set.mc.dense = true;
  }
  race_take(x, &p->set.mc);
  return LAPIS_OK;
}

/* ---- where nothing could be compared ------------------------------------*/
const char *race_default_method(const auto_options *o)
{
  return o->mc ? "mc" : o->rr ? "rr" : o->linear ? "linear" : "trees";
}

const char *race_default_map(const auto_options *o,
                             const lapis_mc_settings *set,
                             const lapis_data *data)
{
  if (o->map != NULL) return o->map;
  if (data->X.colptr != NULL) return "none";
  return o->mc ? candidates_maps(set->variant)->alone : "standard";
}

/* As it decides however Y is written. */
static void default_settings(const auto_options *o,
                             const lapis_mc_settings *set, answer_part *p)
{
  int of = o->numbers ? LAPIS_TARGETS_NUMBERS : LAPIS_TARGETS_CLASSES;
  lapis_settings_default(p->method, &p->set);
  if (o->rr) {
    p->set.rr.stop.seconds = set->stop.seconds;
  } else if (!o->mc && o->linear) {
    p->set.linear.targets = of;
    p->set.linear.stop.seconds = set->stop.seconds;
  } else if (!o->mc) {
    p->set.trees.targets = of;
    p->set.trees.stop.seconds = set->stop.seconds;
  }
  if (!o->mc) return;
  p->set.mc = *set;
  p->set.mc.map = NULL;
  method_entry_of(p->method)->settle(&p->set.mc);
  if (set->labels == LAPIS_MC_LABELS_AUTO)
    p->set.mc.labels = LAPIS_MC_LABELS_PM;
}

lapis_status race_default_new(lapis_ctx *ctx, const auto_options *o,
                              const lapis_data *data,
                              const lapis_mc_settings *set, lapis_solver **out)
{
  *out = NULL;
  answer_part *p = base_alloc(ctx, 1, sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  joined_part part = {
      .make = part_make, .self = p, .reads = -1, .answers = true};
  p->method = lapis_method_find(race_default_method(o));
  p->map_text = race_default_map(o, set, data);
  default_settings(o, set, p);
  lapis_status s = joined_new(ctx, data, &part, 1, part_free, out);
  if (s < 0)
    part_free(p);
  else
    joined_teach(*out, model_of);
  return s;
}

/* ---- of a race ----------------------------------------------------------*/
lapis_status comparison_answer_new(lapis_ctx *ctx, const comparison *r, int i,
                                   const lapis_data *data,
                                   const lapis_mc_settings *set,
                                   lapis_solver **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, r, data, set, out);
  if (!race_has(r, i))
    return lapis_fail(ctx, LAPIS_EINVAL, "auto: there is no candidate %d", i);
  lapis_mc_settings own;
  TRY(lapis_settings_copy(ctx, lapis_method_find("mc"), set, &own));
  joined_part part[JOINED_PARTS];
  int count = 0;
  const candidate *x = &r->run[r->order[i]];
  lapis_status s = LAPIS_OK;
  for (int k = 0; k < x->parts && s >= 0; k++)
    s = add_part(r, &r->run[x->of[k]], false, &own, part, &count);
  if (x->parts == 0) s = add_part(r, x, false, &own, part, &count);
  if (s >= 0) s = joined_new(ctx, data, part, count, part_free, out);
  if (s >= 0) joined_teach(*out, model_of);
  for (int k = 0; k < count && s < 0; k++) part_free(part[k].self);
  return s;
}
