/* choose_kinds.c - --features auto: hidden labels say which kinds of features
 * tell most.
 *
 * All cheap kinds are made of every image, side by side.  A candidate is one of
 * them, or several that stand next to each other; each runs the same race on
 * the same folds, and whose runner loses least answers, with the bits of a run
 * that names these kinds alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "images/label/label.h"

typedef struct candidate { /* kinds first .. last of those that were made */
  int first, last;
} candidate;
/* Of color-moments, hog, gist, sift-bow, texton-bow: each, the two that are the
 * default for colour photographs, and all. */
static const candidate candidates[LABEL_CANDIDATES] = {
    {0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {3, 4}, {0, 4}};

/* ---- one candidate ------------------------------------------------------*/
static void put_name(const label_run *w, const candidate *c,
                     char to[LABEL_KINDS])
{
  size_t used = 0;
  for (int k = c->first; k <= c->last; k++)
    used +=
        (size_t)snprintf(to + used, LABEL_KINDS - used, "%s%s",
                         k > c->first ? "," : "", w->made_kinds.kind[k]->name);
}

/* The rows of these kinds, as if no others had been made. */
static lapis_status pick(label_run *w, int candidate_)
{
  const candidate *c = &candidates[candidate_];
  double **to = &w->picked[candidate_];
  lapis_mat all, start;
  TRY(lapis_result_get(w->flow->features, "X", &all));
  TRY(lapis_result_get(w->flow->features, "block_start", &start));
  int64_t from = (int64_t)lapis_mat_at(&start, 0, c->first);
  int64_t rows = (int64_t)lapis_mat_at(&start, 0, c->last + 1) - from;
  if (*to == NULL) *to = malloc((size_t)(rows * all.cols) * sizeof **to);
  if (*to == NULL) return flow_no_memory(w->flow);
  for (int64_t j = 0; j < all.cols; j++)
    for (int64_t i = 0; i < rows; i++)
      (*to)[j * rows + i] = lapis_mat_at(&all, from + i, j);
  w->made = lapis_mat_f64(*to, rows, all.cols);
  w->kinds.count = c->last - c->first + 1;
  for (int k = 0; k < w->kinds.count; k++) {
    w->kinds.kind[k] = w->made_kinds.kind[c->first + k];
    w->kinds.settings[k] = w->made_kinds.settings[c->first + k];
    w->start[k] = (int64_t)lapis_mat_at(&start, 0, c->first + k) - from;
  }
  w->start[w->kinds.count] = rows;
  return label_prepare(w);
}

/* ---- all of them --------------------------------------------------------*/
/* What a candidate's comparison came to; NaN: nothing. */
static void note_figures(label_run *w, int k)
{
  lapis_mat figures;
  int64_t chosen;
  if (label_figures(w->chooser, &figures, &chosen) == NULL) return;
  for (int i = 0; i < 4; i++)
    w->kind_figures[(int64_t)k * LABEL_FIGURES + i] =
        lapis_mat_at(&figures, i, chosen);
}

static void say_kinds(label_run *w, int best)
{
  const double *won = w->kind_figures + (int64_t)best * LABEL_FIGURES;
  for (int k = 0; k < LABEL_CANDIDATES; k++) {
    const double *x = w->kind_figures + (int64_t)k * LABEL_FIGURES;
    char behind[96] = "";
    if (k != best && !isnan(x[4]))
      snprintf(behind, sizeof behind, "; behind by %.4f +- %.4f, %s", x[4],
               x[5], x[4] > 2 * x[5] ? "clear" : "a toss-up");
    if (!isnan(x[0]))
      flow_remark(w->flow, "features",
                  "%s: log-loss %.4f +- %.4f, AUROC %.3f%s", w->kind_name[k],
                  x[0], x[1], x[2], behind);
  }
  flow_remark(w->flow, "features",
              "{features %s} predicts hidden labels best (log-loss %.4f) and "
              "answers; a run that names it gives the same answer",
              w->kind_name[best], won[0]);
}

/* The losses of the others against the best one's, on the same labels. */
static lapis_status compare(label_run *w, lapis_solver *const *solver, int best)
{
  for (int k = 0; k < LABEL_CANDIDATES; k++) {
    double *to = w->kind_figures + (int64_t)k * LABEL_FIGURES;
    to[4] = to[5] = NAN;
    if (solver[k] != NULL)
      TRY(lapis_auto_behind(solver[k], solver[best], &to[4], &to[5]));
  }
  return LAPIS_OK;
}

static int least(const label_run *w)
{
  int best = -1;
  for (int k = 0; k < LABEL_CANDIDATES; k++) {
    double loss = w->kind_figures[(int64_t)k * LABEL_FIGURES];
    if (!isnan(loss) &&
        (best < 0 || loss < w->kind_figures[(int64_t)best * LABEL_FIGURES]))
      best = k;
  }
  return best;
}

static lapis_status run_one(label_run *w, int k, int steps)
{
  char doing[96];
  snprintf(doing, sizeof doing, "choosing settings, features %d of %d", k + 1,
           LABEL_CANDIDATES);
  flow_step(w->flow, 2, steps, doing);
  snprintf(w->kept_as, sizeof w->kept_as, "kinds-%d", k + 1);
  flow_allow(w->flow, .5 / (LABEL_CANDIDATES - k));
  TRY(pick(w, k));
  lapis_status s = label_compare(w);
  if (s >= 0 && s != LAPIS_CANCELLED) note_figures(w, k);
  return s;
}

static void say_answers(label_run *w, const char *kinds)
{
  w->chosen = kinds;
  flow_publish(w->flow, "features", lapis_mat_text(&w->chosen, 1, 1));
}

/* Whether an earlier run has not found others better. */
static bool may_be_best(const label_run *w, int k)
{
  char name[LABEL_KINDS];
  put_name(w, &candidates[k], name);
  return w->best_kinds == NULL || strcmp(name, w->best_kinds) == 0;
}

/* The usual kinds where no label could be hidden: what is said then is that. */
static lapis_status fall_back(label_run *w)
{
  int usual = w->colours ? 5 : 3;
  TRY(pick(w, usual));
  say_answers(w, w->kind_name[usual]);
  *w->kept_as = '\0';
  return label_compare(w);
}

static lapis_status take_best(label_run *w, lapis_solver **solver, int best)
{
  TRY(compare(w, solver, best));
  say_kinds(w, best);
  TRY(pick(w, best));
  w->chooser = solver[best];
  solver[best] = NULL;
  flow_publish(w->flow, "kinds",
               lapis_mat_text(w->kind_at, 1, LABEL_CANDIDATES));
  flow_publish(w->flow, "kinds_judged",
               lapis_mat_f64(w->kind_figures, LABEL_FIGURES, LABEL_CANDIDATES));
  say_answers(w, w->kind_name[best]);
  return LAPIS_OK;
}

lapis_status label_compare_kinds(label_run *w, int steps)
{
  lapis_solver *solver[LABEL_CANDIDATES] = {NULL};
  lapis_status s = LAPIS_OK;
  for (int k = 0; k < LABEL_CANDIDATES * LABEL_FIGURES; k++)
    w->kind_figures[k] = NAN;
  for (int k = 0; k < LABEL_CANDIDATES; k++) {
    put_name(w, &candidates[k], w->kind_name[k]);
    w->kind_at[k] = w->kind_name[k];
  }
  for (int k = 0; k < LABEL_CANDIDATES && s >= 0 && s != LAPIS_CANCELLED; k++) {
    if (!may_be_best(w, k)) continue;
    s = run_one(w, k, steps);
    solver[k] = w->chooser;
    w->chooser = NULL;
  }
  int best = least(w);
  if (s >= 0 && s != LAPIS_CANCELLED)
    s = best >= 0 ? take_best(w, solver, best) : fall_back(w);
  for (int k = 0; k < LABEL_CANDIDATES; k++) lapis_solver_free(solver[k]);
  return s;
}
