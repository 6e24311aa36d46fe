/* doubted.c - known labels that are likelier wrong than right.
 *
 * Wrong labels cost accuracy where models are fitted closely, and what is said
 * of new samples is far too unsure, as it is calibrated by labels some of which
 * no model can predict.  A race hides known labels (where it is dear not all of
 * them; then its best holds all out); by the probabilities of each of them,
 * lapis_doubts (choose/doubts.c) says how many are wrong, and which.  Those
 * that are wrong rather than right are left out, where it is said that some are
 * wrong at all; where classes overlap that is seldom said, and none is.
 *
 * The race is that of logistic regressions and trees, whatever the answer is
 * chosen among: so one that is named with its settings, as a former fit chose
 * it, leaves out the same labels.  A value of which more than half is doubted
 * keeps all of its labels: it is hard to predict, or means something else.
 *
 * What it is worth: bench/results/doubted.md. */
#include "methods/auto/doubted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lapis/choose.h"
#include "methods/auto/candidates.h"

/* ---- what is said of labels while they are hidden ------------------------*/
enum { FOLDS = 3 };

/* By the folds of the race, where it has hidden all labels. */
static lapis_status hold_out(lapis_ctx *ctx, comparison *race, int best,
                             const lapis_data *data, double *p)
{
  if (race->used == race->plan.folds) return comparison_said(race, best, p);
  keep_pause(ctx, true); /* another hold-out of that name follows */
  lapis_status s = comparison_hold_out(ctx, race, best, data, FOLDS, p);
  keep_pause(ctx, false);
  return s;
}

/* p: K x n of who answers, base_free(); NULL: nothing can be said. */
static lapis_status ask(lapis_ctx *ctx, const lapis_data *data,
                        const lapis_mc_settings *like, const auto_options *o,
                        lapis_mat *p, bool *late)
{
  comparison *race = NULL;
  char kept[64];
  auto_options own = {
      .map = o->map, .linear = true, .trees = true, .kept_as = kept};
  bool kept_as = o->kept_as != NULL && *o->kept_as != '\0';
  (void)snprintf(kept, sizeof kept, "doubts%s%s", kept_as ? "-" : "",
                 kept_as ? o->kept_as : "");
  *p = (lapis_mat){0};
  lapis_status s = comparison_run(ctx, data, like, &own, &race);
  *late = s == LAPIS_TIME_LIMIT;
  int best = s == LAPIS_OK ? comparison_best(race, NULL) : -1;
  if (best >= 0) {
    int64_t K = comparison_labels(race), n = data->X.cols;
    double *said = base_alloc_raw(ctx, K * n, sizeof *said);
    if (said == NULL) s = LAPIS_ENOMEM;
    *p = lapis_mat_f64(said, K, n);
    if (s >= 0) s = hold_out(ctx, race, best, data, said);
    *late = s == LAPIS_TIME_LIMIT;
    if (s != LAPIS_OK) p->cols = 0; /* nothing was said */
  }
  comparison_free(race);
  return s == LAPIS_EINVAL || s == LAPIS_TIME_LIMIT ? LAPIS_OK : s;
}

/* ---- which are left out --------------------------------------------------*/
/* The place of a known label among the values of all targets. */
static int64_t value_of(const targets *t, int64_t j, int64_t c)
{
  const double *sign = t->sign + j * t->classes;
  if (t->kind != TARGETS_CLASS) return 2 * c + (sign[c] > 0);
  for (c = 0; c < t->classes - 1 && !(sign[c] > 0);) c++;
  return c;
}

static int64_t count_known(const targets *t, int64_t *of)
{
  int64_t known = 0, each = t->kind == TARGETS_CLASS ? 1 : t->classes;
  for (int64_t j = 0; j < t->samples; j++)
    for (int64_t c = 0; c < each; c++) {
      if (isnan(t->sign[j * t->classes + c])) continue;
      of[value_of(t, j, c)]++;
      known++;
    }
  return known;
}

typedef struct doubts { /* as lapis_doubts answers */
  int64_t found, wrong[4], *index;
  double *probability;
} doubts;

/* of: 2 x values: known labels, and those that are doubted. */
static lapis_status leave_out(lapis_ctx *ctx, const targets *t,
                              const lapis_mat *Y, const doubts *d, int64_t *of,
                              doubted *out)
{
  int64_t values = 2 * t->classes;
  out->known = count_known(t, of);
  for (int64_t k = 0; k < d->found; k++)
    of[values + value_of(t, d->index[2 * k], d->index[2 * k + 1])]++;
  out->list = base_alloc_raw(ctx, DOUBTED_ROWS * d->found, sizeof *out->list);
  out->others = base_alloc_raw(ctx, Y->rows * Y->cols, sizeof *out->others);
  if (out->list == NULL || out->others == NULL) return LAPIS_ENOMEM;
  mat_to_f64(Y, out->others, Y->rows);
  for (int64_t k = 0; k < d->found; k++) {
    int64_t j = d->index[2 * k], c = d->index[2 * k + 1];
    int64_t v = value_of(t, j, c);
    if (2 * of[values + v] > of[v]) continue;
    double *to = out->list + DOUBTED_ROWS * out->count++;
    to[0] = (double)j;
    to[1] = (double)c;
    to[2] = d->probability[k];
    out->others[j * Y->rows + (Y->rows > 1 ? c : 0)] = NAN;
  }
  return LAPIS_OK;
}

static lapis_status judge(lapis_ctx *ctx, const lapis_data *data,
                          const lapis_mat *p, const targets *t, doubted *out)
{
  int64_t count = t->classes * t->samples;
  doubts d = {.index = base_alloc(ctx, 2 * count, sizeof *d.index),
              .probability = base_alloc(ctx, count, sizeof *d.probability)};
  int64_t *of = base_alloc(ctx, 4 * t->classes, sizeof *of);
  bool room = d.index != NULL && d.probability != NULL && of != NULL;
  lapis_status s = room
                       ? lapis_doubts(ctx, &data->Y, data->group, p, count,
                                      d.index, d.probability, &d.found, d.wrong)
                       : LAPIS_ENOMEM;
  if (s >= 0 && d.found > 0 && isnan(d.probability[0])) d.found = 0;
  if (s >= 0) s = leave_out(ctx, t, &data->Y, &d, of, out);
  base_free(d.index);
  base_free(d.probability);
  base_free(of);
  return s;
}

lapis_status doubted_find(lapis_ctx *ctx, const lapis_data *data,
                          const lapis_mc_settings *like,
                          const auto_options *options, doubted *out)
{
  lapis_mat p;
  targets t;
  *out = (doubted){0};
  lapis_status s = ask(ctx, data, like, options, &p, &out->late);
  bool said = s >= 0 && s != LAPIS_CANCELLED && p.val != NULL && p.cols > 0;
  if (said) s = targets_encode(ctx, "auto", &data->Y, &t);
  if (said && s >= 0) {
    s = judge(ctx, data, &p, &t, out);
    targets_free(&t);
  }
  base_free((void *)p.val);
  if (s < 0 || out->count == 0) {
    base_free(out->others);
    out->others = NULL;
  }
  return s;
}

void doubted_free(doubted *of)
{
  base_free(of->list);
  base_free(of->others);
  *of = (doubted){0};
}

/* ---- what is said of them ------------------------------------------------*/
void doubted_remark(lapis_ctx *ctx, const doubted *of, const char *name)
{
  if (of->count > 0)
    base_note(ctx, BASE_WARNING, "left-out",
              "%s: left out: %lld label(s) of the %lld known, which are "
              "likelier wrong than right (result doubted lists them): nobody "
              "learns from them, and accuracy is that without them; look at "
              "them first; {doubted learn} counts them",
              name, (long long)of->count, (long long)of->known);
  else if (of->late)
    base_note(ctx, BASE_WARNING, "left-out",
              "%s: no label is left out: time ran out before labels were "
              "doubted",
              name);
  else
    base_note(ctx, BASE_NOTE, "left-out",
              "%s: no label is left out: of none is it clear that it is "
              "likelier wrong than right",
              name);
}
