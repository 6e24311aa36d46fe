/* choose.c - variant, map and settings of the completion.
 *
 * What was not given is chosen by hiding known labels, groups whole: first mu
 * at lambda and gamma as they usually are, from large to small so that each
 * solve starts from the one before; then lambda and gamma at that mu.  Choosing
 * needs an order of settings, not their last digits: solves are loose. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

enum { MOST_VALUES = 8 };
typedef struct start { /* of a variant: where the search begins */
  const char *map;     /* of sift-bow's counts */
  double lambda, gamma, mu_rel;
  const char *mu[MOST_VALUES], *lambdas[MOST_VALUES], *gammas[MOST_VALUES];
} start;

static const start starts[] = {
    [LAPIS_MC_1] = {"sqrt",
                    .1,
                    3,
                    .02,
                    {".1", ".05", ".02", ".01", ".005"},
                    {".1", ".3"},
                    {"3", "10"}},
    [LAPIS_MC_POS] = {"none",
                      .01,
                      1,
                      .002,
                      {".02", ".008", ".004", ".002"},
                      {".01", ".1"},
                      {"1", "3"}},
    [LAPIS_MC_SIMPLEX] = {
        "l1", .01, 3, .1, {".3", ".1", ".03", ".01"}, {".001", ".01"}, {"3"}}};
static const double LOOSE_TOL = 1e-2;
enum { LOOSE_ITERS = 40 };

static const lapis_method *mc(void)
{
  return lapis_method_find("mc");
}

/* ---- variant and map ----------------------------------------------------*/
static bool has_result(const lapis_solver *s, const char *name)
{
  const char *at;
  for (int i = 0; (at = lapis_result_name(s, i)) != NULL; i++)
    if (strcmp(at, name) == 0) return true;
  return false;
}

static int find_variant(const lapis_flow *f, bool words)
{
  if (f->set.variant == LAPIS_LABEL_AUTO)
    return words ? LAPIS_MC_POS : LAPIS_MC_1;
  return f->set.variant - LAPIS_LABEL_MC1 + LAPIS_MC_1;
}

static lapis_status map_features(lapis_flow *f, const lapis_mat *X)
{
  lapis_map *map;
  lapis_mat out;
  TRY(lapis_map_new(f->ctx, f->map, &map));
  lapis_status s = lapis_map_fit(f->ctx, map, X);
  if (s >= 0) s = lapis_map_make(f->ctx, map, X, &f->X, &out);
  if (s >= 0) f->data.X = out;
  lapis_map_free(map);
  return s;
}

/* sift-bow counts as many words in every image, some ten of each: pos takes
 * them as they are.  Other counts grow with the image, and features much larger
 * than labels would drown those: shares, brought to the size of labels. */
static const char *find_map(const lapis_flow *f, bool words)
{
  if (f->set.map != NULL) return f->set.map;
  if (f->mc.variant == LAPIS_MC_1 && !words) return "standard";
  if (f->mc.variant == LAPIS_MC_POS && strcmp(f->kind->name, "sift-bow") != 0)
    return "l1,scale:100";
  return starts[f->mc.variant].map;
}

lapis_status label_prepare(lapis_flow *f)
{
  lapis_mat X;
  bool words = has_result(f->features, "word");
  TRY(lapis_result_get(f->features, "X", &X));
  if (X.cols != f->n)
    return lapis_fail(f->ctx, LAPIS_EINVAL,
                      "label: %s gives many vectors an image; --features takes "
                      "kinds that give one",
                      f->kind->name);
  f->mc = lapis_mc_defaults();
  f->mc.variant = find_variant(f, words);
  const start *at = &starts[f->mc.variant];
  f->map = find_map(f, words);
  f->mc.lambda = isnan(f->set.lambda) ? at->lambda : f->set.lambda;
  f->mc.gamma = isnan(f->set.gamma) ? at->gamma : f->set.gamma;
  f->mc.mu_rel = isnan(f->set.mu_rel) ? at->mu_rel : f->set.mu_rel;
  f->mc.class_features = f->set.where && f->given.K > 1;
  return map_features(f, &X);
}

/* ---- choosing -----------------------------------------------------------*/
static lapis_cv_options how(const lapis_flow *f)
{
  lapis_cv_options o = lapis_cv_defaults();
  o.folds = f->set.folds;
  o.by_group = f->data.group != NULL;
  return o;
}

static lapis_mc_settings loose(const lapis_flow *f)
{
  lapis_mc_settings set = f->mc;
  set.stop.tol = LOOSE_TOL;
  set.stop.max_iters = LOOSE_ITERS;
  set.class_features = false;
  return set;
}

static int add_grid(lapis_grid *grid, int n, const char *name, double given,
                    const char *const *value)
{
  int count = 0;
  if (!isnan(given)) return n;
  while (count < MOST_VALUES && value[count] != NULL) count++;
  grid[n] = (lapis_grid){name, count, value};
  return n + 1;
}

/* The best point of a grid, put into f->mc; *mean of its metric, NaN where
 * there is none. */
static lapis_status search(lapis_flow *f, const lapis_grid *grid, int n,
                           double *mean)
{
  lapis_cv *cv = NULL;
  lapis_cv_options o = how(f);
  lapis_mc_settings set = loose(f);
  if (n == 0) return LAPIS_OK;
  lapis_status s = lapis_cv_run(f->ctx, mc(), &f->data, &set, &o, grid, n, &cv);
  int best = s >= 0 && cv != NULL ? lapis_cv_best(cv) : -1;
  *mean = best < 0 ? NAN : lapis_cv_at(cv, best).mean;
  for (int k = 0; best >= 0 && s >= 0 && k < n; k++) {
    lapis_status set_it = lapis_settings_set(f->ctx, mc(), &f->mc, grid[k].name,
                                             lapis_cv_value(cv, best, k));
    if (set_it < 0) s = set_it;
  }
  lapis_cv_free(cv);
  return s;
}

static void say_chosen(lapis_flow *f, double mean, bool late)
{
  if (isnan(mean))
    flow_note(f,
              "%s to choose settings; the usual are taken (--lambda %g "
              "--gamma %g --mu-rel %g)",
              late ? "no time" : "too few known labels", f->mc.lambda,
              f->mc.gamma, f->mc.mu_rel);
  else
    flow_note(f,
              "chose --lambda %g --gamma %g --mu-rel %g by %" PRId64
              " folds of the known labels%s (AUROC %.4f on those hidden)",
              f->mc.lambda, f->mc.gamma, f->mc.mu_rel, f->set.folds,
              f->data.group != NULL ? ", groups whole" : "", mean);
}

lapis_status label_choose(lapis_flow *f)
{
  const start *at = &starts[f->mc.variant];
  lapis_grid first[1], second[2];
  double mean = NAN;
  int n_first = add_grid(first, 0, "mu-rel", f->set.mu_rel, at->mu);
  int n = add_grid(second, 0, "lambda", f->set.lambda, at->lambdas);
  n = add_grid(second, n, "gamma", f->set.gamma, at->gammas);
  if (n_first + n == 0) return LAPIS_OK;
  flow_allow(f, .5);
  lapis_status s = search(f, first, n_first, &mean);
  if (s == LAPIS_OK) s = search(f, second, n, &mean);
  bool too_few = s == LAPIS_EINVAL; /* fewer units than folds */
  if ((s < 0 && !too_few) || s == LAPIS_CANCELLED) return s;
  say_chosen(f, mean, s == LAPIS_TIME_LIMIT);
  return LAPIS_OK;
}

/* ---- labels that look wrong ---------------------------------------------*/
lapis_status label_suspects(lapis_flow *f)
{
  int64_t count = f->set.suspects, found = 0, kept = 0;
  lapis_cv_options o = how(f);
  lapis_mc_settings set = loose(f);
  if (count == 0) return LAPIS_OK;
  f->suspect = calloc((size_t)count, 2 * sizeof *f->suspect);
  f->margin = calloc((size_t)count, sizeof *f->margin);
  if (f->suspect == NULL || f->margin == NULL) return flow_no_memory(f);
  flow_allow(f, .5);
  lapis_status s = lapis_suspects(f->ctx, mc(), &f->data, &set, &o, count,
                                  f->suspect, f->margin, &found);
  if (s == LAPIS_EINVAL) return LAPIS_OK; /* too few: said before */
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  if (s == LAPIS_TIME_LIMIT)
    flow_note(f, "no time to look for labels that are wrong");
  while (kept < found && f->margin[kept] > 0) kept++;
  f->suspects = kept;
  flow_publish(f, "suspect_index", flow_whole(f->suspect, 2, kept));
  flow_publish(f, "suspect_margin", lapis_mat_f64(f->margin, 1, kept));
  return LAPIS_OK;
}
