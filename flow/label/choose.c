/* choose.c - variant, map and settings of the completion.
 *
 * What was not given is chosen by hiding known labels, groups whole: mu at the
 * usual lambda and gamma, then lambda, then gamma.  Choosing needs an order of
 * settings, not their last digits: solves are loose.  But the gap hardly sees
 * the labels, which are one row: a solve that starts at the answer for another
 * gamma is within 1e-2 at once, with that gamma's scores, and must go on.
 *
 * Hidden labels are judged together (pooled): the answer will rank the images
 * of many people, and where mu is too large each person's scores have a level
 * of their own, which no fold of two people shows.
 *
 * A few groups cannot tell good settings apart: on the faces the standard error
 * of the AUROC is .03 where the settings differ by .01.  The best is then luck,
 * and may stand at the edge beyond which nothing is learnt.  So all settings
 * within one standard error of the best are taken for equally good, and what is
 * chosen is their (geometric) middle, farthest from both edges. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/label/label.h"

enum { MOST_VALUES = 8 };
typedef struct range { /* of a setting: the usual, and what is tried, of which
                        * the first is taken where all do equally well */
  double usual;
  const char *value[MOST_VALUES];
} range;
typedef struct start { /* of a variant: where the search begins */
  const char *map;     /* of sift-bow's counts */
  range mu_rel;        /* falling: each solve starts from the one before, and
                        * the largest repairs most */
  range lambda, gamma;
} start;

static const start starts[] = {
    [LAPIS_MC_1] = {"sqrt",
                    {.02, {".1", ".05", ".02", ".01", ".005"}},
                    {.1, {".1", ".03", ".3"}},
                    {3, {"3", "1", "10"}}},
    [LAPIS_MC_POS] = {"none",
                      {.002, {".016", ".008", ".004", ".002", ".001"}},
                      {.1, {".1", ".01", "1"}},
                      {1, {"1", ".3", "3"}}},
    [LAPIS_MC_SIMPLEX] = {"l1",
                          {.1, {".3", ".1", ".03", ".01"}},
                          {.01, {".01", ".001", ".1"}},
                          {3, {"3", "1", "10"}}}};
static const double LOOSE_TOL = 1e-2, FROM_OTHER_LABELS_TOL = 1e-3;
enum { LOOSE_ITERS = 60 };

static const lapis_method *mc(void)
{
  return lapis_method_find("mc");
}

/* ---- variant and map ----------------------------------------------------*/
static bool has_result(const lapis_solver *s, const char *name)
{
  const char *at;
  for (int i = 0; s != NULL && (at = lapis_result_name(s, i)) != NULL; i++)
    if (strcmp(at, name) == 0) return true;
  return false;
}

static bool counts_words(const label_run *w)
{
  char name[96];
  snprintf(name, sizeof name, "%s.word", w->kinds.kind[0]->name);
  return has_result(w->flow->features, "word") ||
         (w->kinds.count == 1 && has_result(w->flow->features, name));
}

static int find_variant(const label_run *w, bool words)
{
  if (w->set.variant == LAPIS_LABEL_AUTO)
    return words && !label_chooses(w) ? LAPIS_MC_POS : LAPIS_MC_1;
  return w->set.variant - LAPIS_LABEL_MC1 + LAPIS_MC_1;
}

static lapis_status map_features(label_run *w, const lapis_mat *X)
{
  lapis_map *map;
  lapis_mat out;
  TRY(lapis_map_new(w->flow->ctx, w->map, &map));
  lapis_status s = lapis_map_fit(w->flow->ctx, map, X);
  if (s >= 0) s = lapis_map_make(w->flow->ctx, map, X, &w->X, &out);
  if (s >= 0) w->flow->data.X = out;
  lapis_map_free(map);
  return s;
}

/* sift-bow counts as many words in every image, some ten of each: pos takes
 * them as they are.  Other counts grow with the image, and features much larger
 * than labels would drown those: shares, brought to the size of labels. */
static const char *find_map(const label_run *w, bool words)
{
  if (w->set.map != NULL) return w->set.map;
  if (w->mc.variant == LAPIS_MC_1 && !words) return "standard";
  if (w->mc.variant == LAPIS_MC_POS &&
      strcmp(w->kinds.kind[0]->name, "sift-bow") != 0)
    return "l1,scale:100";
  return starts[w->mc.variant].map;
}

lapis_status label_map(label_run *w)
{
  return map_features(w, &w->raw.X);
}

lapis_status label_prepare(label_run *w)
{
  lapis_mat X;
  bool words = counts_words(w);
  TRY(label_features_of(w, &X));
  if (X.cols != w->flow->n)
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: %s gives many vectors an image; --features takes "
                      "kinds that give one",
                      w->kinds.kind[0]->name);
  w->mc = lapis_mc_defaults();
  w->mc.variant = find_variant(w, words);
  const start *at = &starts[w->mc.variant];
  w->map = find_map(w, words);
  if (w->kinds.count > 1) {
    TRY(label_join_map(w, w->set.map));
    w->map = w->joined_map;
  }
  w->mc.lambda = isnan(w->set.lambda) ? at->lambda.usual : w->set.lambda;
  w->mc.gamma = isnan(w->set.gamma) ? at->gamma.usual : w->set.gamma;
  w->mc.mu_rel = isnan(w->set.mu_rel) ? at->mu_rel.usual : w->set.mu_rel;
  w->mc.class_features = w->set.where && w->given.K > 1;
  w->raw = w->flow->data;
  w->raw.X = X;
  if (label_chooses(w)) return LAPIS_OK;
  return map_features(w, &X);
}

/* ---- choosing -----------------------------------------------------------*/
static lapis_cv_options how(const label_run *w)
{
  lapis_cv_options o = lapis_cv_defaults();
  o.folds = w->set.folds;
  o.by_group = w->flow->data.group != NULL;
  return o;
}

static lapis_mc_settings loose(const label_run *w, double tol)
{
  lapis_mc_settings set = w->mc;
  set.stop.tol = tol;
  set.stop.max_iters = LOOSE_ITERS;
  set.class_features = false;
  return set;
}

typedef struct found { /* by a cross-validation */
  lapis_mat points, mean, deviation;
} found;
typedef struct figure {
  double mean, deviation;
} figure;

/* Geometric middle of the points within one standard error of the best (none
 * but the first of the best where there is no error), to three digits: what is
 * said is what was taken.  Reads the values into *setting one by one. */
static lapis_status take_middle(label_run *w, const found *at, int64_t best,
                                const char *name, double *setting)
{
  double sum = 0, n = 0;
  for (int64_t i = 0; i < at->mean.cols; i++) {
    bool close = lapis_mat_at(&at->mean, 0, i) >
                 lapis_mat_at(&at->mean, 0, best) -
                     lapis_mat_at(&at->deviation, 0, best);
    if (!close && i != best) continue;
    TRY(lapis_settings_set(w->flow->ctx, mc(), &w->mc, name,
                           ((const char *const *)at->points.val)[i]));
    sum += log(*setting);
    n++;
  }
  double middle = exp(sum / n), digits = pow(10, 2 - floor(log10(middle)));
  *setting = round(middle * digits) / digits;
  return LAPIS_OK;
}

typedef struct choice { /* of a setting */
  const char *name;
  double given; /* NaN: to be chosen */
  double tol;   /* of solves */
  const range *from;
  double *setting; /* in w->mc */
} choice;

/* *found: the best value's point; as it was where none could be judged. */
static lapis_status choose_one(label_run *w, const choice *c, figure *top)
{
  lapis_grid grid = {.name = c->name, .value = c->from->value};
  lapis_solver *cv = NULL;
  lapis_mat best;
  found at;
  lapis_cv_options o = how(w);
  lapis_mc_settings set = loose(w, c->tol);
  while (grid.count < MOST_VALUES && grid.value[grid.count] != NULL)
    grid.count++;
  o.pooled = true;
  lapis_status s =
      lapis_cv_new(w->flow->ctx, mc(), &w->flow->data, &set, &o, &grid, 1, &cv);
  if (s >= 0) s = lapis_solve(cv);
  lapis_status taken = LAPIS_OK;
  if (s >= 0 && lapis_result_get(cv, "best", &best) >= 0 &&
      lapis_result_get(cv, "mean", &at.mean) >= 0 &&
      lapis_result_get(cv, "deviation", &at.deviation) >= 0 &&
      lapis_result_get(cv, "points", &at.points) >= 0) {
    int64_t k = *(const int64_t *)best.val;
    *top = (figure){lapis_mat_at(&at.mean, 0, k),
                    lapis_mat_at(&at.deviation, 0, k)};
    taken = take_middle(w, &at, k, c->name, c->setting);
  }
  lapis_solver_free(cv);
  return taken < 0 ? taken : s;
}

static void say_chosen(label_run *w, const figure *best, bool late,
                       const char *why)
{
  if (isnan(best->mean))
    flow_note(w->flow,
              "%s to choose settings%s%s; the defaults are used (--lambda %g "
              "--gamma %g --mu-rel %g)",
              late ? "no time" : "too few known labels", *why ? ": " : "", why,
              w->mc.lambda, w->mc.gamma, w->mc.mu_rel);
  else
    flow_note(
        w->flow,
        "chose --lambda %g --gamma %g --mu-rel %g by %" PRId64
        " folds of the known labels%s (AUROC %.3f +- %.3f on those hidden)",
        w->mc.lambda, w->mc.gamma, w->mc.mu_rel, w->set.folds,
        w->flow->data.group != NULL ? ", groups whole" : "", best->mean,
        best->deviation);
}

lapis_status label_choose(label_run *w)
{
  const start *at = &starts[w->mc.variant];
  const choice choices[] = {
      {"mu-rel", w->set.mu_rel, LOOSE_TOL, &at->mu_rel, &w->mc.mu_rel},
      {"lambda", w->set.lambda, FROM_OTHER_LABELS_TOL, &at->lambda,
       &w->mc.lambda},
      {"gamma", w->set.gamma, FROM_OTHER_LABELS_TOL, &at->gamma, &w->mc.gamma}};
  lapis_status s = LAPIS_OK;
  figure best = {.mean = NAN};
  int chosen = 0;
  flow_allow(w->flow, .5);
  for (int k = 0; s == LAPIS_OK && k < 3; k++) {
    if (!isnan(choices[k].given)) continue;
    s = choose_one(w, &choices[k], &best);
    chosen++;
  }
  bool too_few = s == LAPIS_EINVAL; /* fewer units than folds */
  if ((s < 0 && !too_few) || s == LAPIS_CANCELLED) return s;
  if (chosen > 0)
    say_chosen(w, &best, s == LAPIS_TIME_LIMIT,
               too_few ? lapis_ctx_error(w->flow->ctx) : "");
  return LAPIS_OK;
}

/* ---- labels that look wrong ---------------------------------------------*/
/* The labels that are known are a class each, of which an image has one. */
static bool excludes(const label_run *w)
{
  return w->given.kind == LABEL_CLASS;
}

/* How the classes that doubted images rather have are called. */
lapis_status label_name_rather(label_run *w)
{
  if (!excludes(w)) return LAPIS_OK;
  w->rather = calloc((size_t)w->suspects + 1, sizeof *w->rather);
  if (w->rather == NULL) return flow_no_memory(w->flow);
  for (int64_t k = 0; k < w->suspects; k++)
    w->rather[k] = w->given.name[w->suspect[2 * k + 1]];
  flow_publish(w->flow, "suspect_rather",
               lapis_mat_text(w->rather, 1, w->suspects));
  return LAPIS_OK;
}
