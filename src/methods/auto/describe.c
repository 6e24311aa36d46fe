/* describe.c - what a candidate of auto ran with, in words. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "methods/auto/candidates.h"

const char *candidate_method(candidate_kind kind)
{
  static const char *const name[] = {
      [CANDIDATE_MC] = "mc",       [CANDIDATE_LINEAR] = "linear",
      [CANDIDATE_TREES] = "trees", [CANDIDATE_BOOSTED] = "trees",
      [CANDIDATE_RR] = "rr",       [CANDIDATE_MEAN] = "mean",
      [CANDIDATE_MISVM] = "misvm"};
  return name[kind];
}

static void describe_mean(const comparison *r, const candidate *x, char *to)
{
  int used = snprintf(to, CANDIDATE_TEXT, "the best ");
  for (int k = 0; k < x->parts; k++) {
    const candidate *one = &r->run[x->of[k]];
    const char *name =
        one->kind == CANDIDATE_MC   ? "mc"
        : one->kind == CANDIDATE_RR ? "rr"
        : r->o.numbers && one->kind == CANDIDATE_LINEAR
            ? one->kernel > 0 ? "kernel ridge regression" : "ridge regression"
        : one->kind == CANDIDATE_BOOSTED ? "boosted trees"
        : one->grown == TREES_FOREST     ? "forest"
        : one->kind == CANDIDATE_TREES   ? "trees"
        : one->kernel > 0                ? "kernel logistic regression"
                                         : "logistic regression";
    const char *before = k == 0 ? "" : k < x->parts - 1 ? ", " : " and ";
    used += snprintf(to + used, (size_t)(CANDIDATE_TEXT - used), "%s%s", before,
                     name);
  }
}

static void describe_trees(const candidate *x, const char *gaps, char *to,
                           size_t size)
{
  static const char *const kind[] = {[TREES_RANDOM] = "",
                                     [TREES_FOREST] = " --kind forest",
                                     [TREES_BOOSTED] = " --kind boosted"};
  char share[24] = "", depth[64] = "";
  if (!isnan(x->share)) snprintf(share, sizeof share, " --share %g", x->share);
  if (x->depth > 0)
    snprintf(depth, sizeof depth, " --depth %" PRId64 " --rate %g", x->depth,
             x->rate);
  snprintf(to, size, "%s%s --trees %" PRId64 " --leaf %" PRId64 "%s%s",
           kind[x->grown], share, x->count, x->leaf, depth, gaps);
}

void candidate_describe(const comparison *r, const candidate *x, char *to)
{
  char variant[16] = "", labels[16] = "";
  const lapis_mc_settings *set = &x->set;
  if (x->parts > 0) {
    describe_mean(r, x, to);
    return;
  }
  if (x->kind == CANDIDATE_MISVM) {
    snprintf(to, CANDIDATE_TEXT, "--kernel %s --C %g --scale standard%s",
             x->svm_kernel == LAPIS_KERNEL_RBF ? "rbf" : "linear", x->C,
             x->turned ? RACE_TURNED : "");
    return;
  }
  const char *kernel =
      x->filled && x->kernel > 0 ? candidate_map_of_filled(r, x) : NULL;
  int used = kernel != NULL ? snprintf(to, CANDIDATE_TEXT, "--map %.512s,%.60s",
                                       r->map[x->map], kernel)
                            : snprintf(to, CANDIDATE_TEXT, "--map %.576s",
                                       candidate_map(r, x));
  const char *gaps = x->filled ? RACE_FILLED : "";
  if (x->kind == CANDIDATE_LINEAR)
    snprintf(to + used, (size_t)(CANDIDATE_TEXT - used), " --C %g%s", x->C,
             gaps);
  else if (candidate_grows(x))
    describe_trees(x, gaps, to + used, (size_t)(CANDIDATE_TEXT - used));
  else if (x->kind == CANDIDATE_MC) {
    const lapis_method *mc = lapis_method_find("mc"); /* words of its table */
    (void)lapis_settings_get(r->ctx, mc, set, "variant", variant, 16);
    (void)lapis_settings_get(r->ctx, mc, set, "labels", labels, 16);
    bool own = !isnan(set->mu);
    snprintf(to + used, (size_t)(CANDIDATE_TEXT - used),
             " --variant %s --labels %s --lambda %g --gamma %g --%s %g",
             variant, labels, set->lambda, set->gamma, own ? "mu" : "mu-rel",
             own ? set->mu : set->mu_rel);
  }
}
