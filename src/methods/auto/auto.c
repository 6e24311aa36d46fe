/* auto.c - the method that chooses among others: known labels are hidden as
 * labels are missing, candidates predict them, and the best answers, or the
 * mean of those that are not clearly behind it.  `mc` whose mu is left open is
 * answered here, too, with candidates of its own alone.
 *
 * One solve compares (compare.c), answers (answer.c) and holds every known
 * label out once more (holdout.c); each part stays for the next solve.  The
 * policy, and what it was measured on: docs/defaults.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "lapis/rows.h"
#include "methods/auto/ask.h"
#include "methods/auto/auto.h"
#include "methods/auto/bags.h"
#include "methods/auto/candidates.h"
#include "methods/auto/cover.h"
#include "methods/auto/doubted.h"
#include "methods/auto/holes.h"
#include "methods/auto/importance.h"
#include "methods/common_remarks.h"

enum { MOST_TEXT = 96, ROWS = 2, HIDDEN = 5, USUAL_FOLDS = 5, FEW_FOLDS = 3 };
typedef struct auto_solver {
  lapis_solver base;
  const char *name; /* "auto", or of whom it chooses the settings */
  lapis_auto_settings set;
  lapis_mc_settings like; /* of mc, as far as it is stated */
  auto_options options;
  lapis_data data; /* of bags their statistics; Y: that is learnt from */
  lapis_mat given; /* Y, of which data has no labels that are left out */
  doubted doubted;
  void *filled; /* X, with rows of which nothing is known, or NULL */
  bagged bags;  /* where there are some */
  /* comparing; without a race nothing could be compared */
  bool compared, late, flat; /* flat: no target varies */
  comparison *race;
  int chosen, count; /* place of who answers; candidates */
  char *why;         /* nothing could be compared; "": no time */
  candidate_figures *candidate;
  const char **cell; /* ROWS x count */
  double *figure;    /* LAPIS_FIGURES x count */
  double hidden[HIDDEN];
  double place;
  const char *choice;
  lapis_solver *answer;
  double *held_out; /* K x n */
  bool covers;
  cover cover;         /* where it covers */
  double *importance;  /* 3 x d, or NULL */
  lapis_solver *holes; /* with --fill */
} auto_solver;

static auto_solver *auto_of(const lapis_solver *s)
{
  return (auto_solver *)(uintptr_t)s;
}

static bool omits_doubted(const auto_solver *w)
{
  return w->set.doubted == LAPIS_DOUBTED_OMIT && !w->options.numbers &&
         !w->set.bags;
}

/* ---- time ---------------------------------------------------------------*/
/* What comes next may take this share of the time that is left. */
static double allow(auto_solver *w, double started, double share)
{
  lapis_ctx *ctx = w->base.ctx;
  double before = base_deadline(ctx), now = base_seconds();
  double end = fmin(before, started + w->set.stop.seconds);
  if (isfinite(end)) base_set_deadline(ctx, now + share * (end - now));
  return before;
}

/* ---- remarks ------------------------------------------------------------*/
static const char *called(const auto_solver *w, const candidate_figures *x)
{
  if (strcmp(x->method, "mean") == 0) return "the mean of";
  if (strstr(x->settings, "--kind forest")) return "a forest of trees";
  if (strstr(x->settings, "--kind boosted")) return "boosted trees";
  if (strcmp(x->method, "linear") != 0) return x->method;
  bool kernel = strstr(x->settings, "nystrom:") != NULL;
  if (w->options.numbers)
    return kernel ? "kernel ridge regression" : "ridge regression";
  return kernel ? "kernel logistic regression" : "logistic regression";
}

/* Who predicted what was hidden, as words in text. */
static const char *count_candidates(const auto_solver *w, const auto_hidden *h,
                                    char text[MOST_TEXT])
{
  if (w->options.named_as != NULL) return "it predicted them";
  int used = snprintf(text, MOST_TEXT, "%d candidate%s predicted them",
                      w->count, w->count > 1 ? "s" : "");
  if (h->ended > 0)
    snprintf(text + used, (size_t)(MOST_TEXT - used),
             " (%d more, clearly behind, in the first fold alone)", h->ended);
  return text;
}

static void remark_hidden(const auto_solver *w)
{
  static const char *const what[] = {[LAPIS_FOLDS_OF_ROWS] = "whole rows",
                                     [LAPIS_FOLDS_OF_GROUPS] = "whole groups",
                                     [LAPIS_FOLDS_OF_CELLS] = "single cells"};
  auto_hidden h = comparison_what(w->race);
  char count[MOST_TEXT];
  base_note(
      w->base.ctx, BASE_NOTE, "hidden",
      "%s: %lld known labels were hidden, %s, in %lld fold(s), and %s; by "
      "log-loss (less is better) guessing has %.4f",
      w->name, (long long)h.labels, w->set.bags ? "whole bags" : what[h.of],
      (long long)h.folds, count_candidates(w, &h, count), h.loss);
}

static void remark_dear(const auto_solver *w)
{
  auto_hidden h = comparison_what(w->race);
  if (h.dear == 0) return;
  base_note(w->base.ctx, BASE_WARNING, "dear",
            "%s: %d more candidates, which may be better, are left out: they "
            "would take some %.0f seconds of one processor on %lld sample(s), "
            "%lld feature(s) and %lld target(s); {candidates %s,linear,trees} "
            "compares all",
            w->name, h.dear, ceil(h.saved), (long long)w->data.X.cols,
            (long long)w->data.X.rows, (long long)comparison_labels(w->race),
            w->options.numbers ? "rr" : "mc");
}

static void remark_chosen(const auto_solver *w)
{
  const candidate_figures *x = &w->candidate[w->chosen];
  lapis_mat f = lapis_mat_f64(w->figure, LAPIS_FIGURES, w->count);
  char expected[2 * MOST_TEXT];
  base_note(w->base.ctx, BASE_NOTE, "chosen",
            "%s: %s %s answers (log-loss %.4f +- %.4f, AUROC %.4f, accuracy "
            "%.4f%s; expected on new samples: %s)",
            w->name, called(w, x), x->settings, x->loss, x->error, x->auroc,
            x->accuracy,
            w->doubted.count > 0 ? " without labels that are left out" : "",
            lapis_expected_text(&f, w->chosen, expected, sizeof expected));
}

/* What numbers have in place of the three remarks above and below. */
static void remark_numbers(const auto_solver *w)
{
  const candidate_figures *x = &w->candidate[w->chosen];
  auto_hidden h = comparison_what(w->race);
  lapis_mat others;
  int with = comparison_cleaned(w->race, true);
  int without = comparison_cleaned(w->race, false);
  char count[MOST_TEXT];
  base_note(w->base.ctx, BASE_NOTE, "hidden",
            "%s: %lld known numbers were hidden, %s, in %lld fold(s), and %s",
            w->name, (long long)h.labels,
            h.of == LAPIS_FOLDS_OF_GROUPS ? "whole groups" : "whole rows",
            (long long)h.folds, count_candidates(w, &h, count));
  base_note(w->base.ctx, BASE_NOTE, "chosen",
            "%s: %s %s answers (R^2 %.4f +- %.4f on hidden rows%s; this holds "
            "for samples like those with a number)",
            w->name, called(w, x), x->settings, x->auroc, x->error,
            comparison_others(w->race, &others) ? " without outliers" : "");
  if (with < 0 || without < 0) return;
  double error, by = comparison_difference(w->race, without, with, &error);
  base_note(w->base.ctx, BASE_NOTE, "cleaning",
            "%s: rr, which removes gross errors of features where that helps, "
            "against ridge regression: R^2 %.4f and %.4f, %s",
            w->name, w->candidate[with].auroc, w->candidate[without].auroc,
            lapis_is_clear(fabs(by), error) ? "clear" : "a toss-up");
}

/* Of bags misvm stands against all others. */
static bool is_like(const auto_solver *w, const char *a, const char *b)
{
  if (!w->set.bags) return strcmp(a, b) == 0;
  return (strcmp(a, "misvm") == 0) == (strcmp(b, "misvm") == 0);
}

/* How far the best of another kind is from who answers, and whether that means
 * much. */
static void remark_other(const auto_solver *w)
{
  int other = 0;
  const char *who = w->candidate[w->chosen].method;
  while (other < w->count && is_like(w, w->candidate[other].method, who))
    other++;
  if (other == w->count) return;
  const candidate_figures *x = &w->candidate[other];
  double error, by = comparison_difference(w->race, other, w->chosen, &error);
  if (w->options.numbers) {
    base_note(w->base.ctx, BASE_NOTE, "other",
              "%s: %s %s on the same numbers: R^2 %.4f, %s", w->name,
              called(w, x), x->settings, x->auroc,
              lapis_is_clear(fabs(by), error) ? "clear" : "a toss-up");
    return;
  }
  base_note(w->base.ctx, BASE_NOTE, "other",
            "%s: %s %s on the same labels: AUROC %.4f, accuracy %.4f; its "
            "log-loss is %s than that of what answers by %.4f +- %.4f, %s",
            w->name, called(w, x), x->settings, x->auroc, x->accuracy,
            by > 0 ? "worse" : "better", fabs(by), error,
            lapis_is_clear(fabs(by), error) ? "clear" : "a toss-up");
}

static void remark_default(const auto_solver *w)
{
  const char *lack = w->flat ? "nothing varies by which" : "no time";
  if (*w->why != '\0') lack = "too few known labels";
  base_note(w->base.ctx, BASE_WARNING, "not-chosen",
            "%s: %s to compare candidates%s%s; %s answers with its usual "
            "settings, features after map %s",
            w->name, lack, *w->why ? ": " : "", w->why,
            race_default_method(&w->options),
            race_default_map(&w->options, &w->like, &w->data));
}

static void remark(const auto_solver *w)
{
  char unsure[512];
  if (omits_doubted(w)) doubted_remark(w->base.ctx, &w->doubted, w->name);
  if (w->race == NULL) {
    remark_default(w);
    return;
  }
  if (w->options.named_as != NULL)
    base_note(w->base.ctx, BASE_NOTE, "kept",
              "%s: no methods are compared: %s was given", w->name, w->choice);
  if (w->late)
    base_note(w->base.ctx, BASE_WARNING, "late",
              "%s: time ran out before all candidates had answered", w->name);
  if (*comparison_unsure(w->race, w->chosen, unsure, sizeof unsure) != '\0')
    base_note(w->base.ctx, BASE_WARNING, "unsure", "%s: %s", w->name, unsure);
  if (w->options.numbers) {
    remark_numbers(w);
    comparison_remark_outliers(w->race, w->name);
  } else {
    remark_hidden(w);
    remark_dear(w);
    remark_chosen(w);
  }
  remark_other(w);
}

/* ---- comparing ----------------------------------------------------------*/
static lapis_status list(auto_solver *w)
{
  arena *a = &w->base.arena;
  w->count = comparison_count(w->race);
  w->candidate = arena_take(a, w->count, sizeof *w->candidate);
  w->cell = arena_take(a, (int64_t)ROWS * w->count, sizeof *w->cell);
  w->figure = arena_reals(a, (int64_t)LAPIS_FIGURES * w->count);
  TRY(arena_status(a));
  for (int i = 0; i < w->count; i++) {
    candidate_figures *x = &w->candidate[i];
    double *to = w->figure + (int64_t)LAPIS_FIGURES * i;
    *x = comparison_at(w->race, i);
    w->cell[ROWS * i] = x->method;
    w->cell[ROWS * i + 1] = x->settings;
    memcpy(
        to,
        (double[LAPIS_FIGURES]){[LAPIS_FIGURE_LOSS] = x->loss,
                                [LAPIS_FIGURE_ERROR] = x->error,
                                [LAPIS_FIGURE_AUROC] = x->auroc,
                                [LAPIS_FIGURE_ACCURACY] = x->accuracy,
                                [LAPIS_FIGURE_BEHIND] = x->behind,
                                [LAPIS_FIGURE_BEHIND_ERROR] = x->behind_error,
                                [LAPIS_FIGURE_LEARNT] = x->learnt,
                                [LAPIS_FIGURE_COMMONEST] = x->commonest},
        LAPIS_FIGURES * sizeof *to);
    comparison_accuracy(w->race, i, &to[LAPIS_FIGURE_LEAST],
                        &to[LAPIS_FIGURE_MOST]);
  }
  auto_hidden h = comparison_what(w->race);
  memcpy(w->hidden,
         (double[]){(double)h.labels, (double)h.folds, h.of, h.loss, h.widened},
         sizeof w->hidden);
  w->place = w->chosen;
  w->choice = arena_keep(a, comparison_choice(w->race, w->chosen));
  return arena_status(a);
}

/* Where nobody could be compared, *why says so, and there is no race. */
static lapis_status give_up(auto_solver *w, const char *why)
{
  comparison_free(w->race);
  w->race = NULL;
  w->why = arena_keep(&w->base.arena, base_strdup(w->base.ctx, why));
  return arena_status(&w->base.arena);
}

/* Labels that are likelier wrong than right are not known from here on. */
static lapis_status leave_out(auto_solver *w, double started)
{
  lapis_ctx *ctx = w->base.ctx;
  double before = allow(w, started, 1. / 3);
  doubted_free(&w->doubted); /* of a solve that was cancelled */
  lapis_status s =
      doubted_find(ctx, &w->data, &w->like, &w->options, &w->doubted);
  base_set_deadline(ctx, before);
  if (s < 0 || s == LAPIS_CANCELLED || w->doubted.count == 0) return s;
  w->given = w->data.Y;
  w->data.Y = lapis_mat_f64(w->doubted.others, w->given.rows, w->given.cols);
  w->options.given = &w->given;
  w->options.left_out = w->doubted.count;
  return s;
}

static lapis_status compare(auto_solver *w, double started)
{
  lapis_ctx *ctx = w->base.ctx;
  if (w->options.numbers) TRY(remark_is_constant(ctx, &w->data, &w->flat));
  if (omits_doubted(w) && w->options.given == NULL) {
    lapis_status left = leave_out(w, started);
    if (left < 0 || left == LAPIS_CANCELLED) return left;
  }
  double before = allow(w, started, w->set.compare_only ? 1 : .5);
  lapis_status s = LAPIS_EINVAL;
  if (!w->flat)
    s = comparison_run(ctx, &w->data, &w->like, &w->options, &w->race);
  base_set_deadline(ctx, before);
  w->compared = s == LAPIS_EINVAL;
  if (w->compared) return give_up(w, w->flat ? "" : lapis_ctx_error(ctx));
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  w->compared = true;
  w->late = s == LAPIS_TIME_LIMIT || w->doubted.late;
  (void)comparison_others(w->race, &w->data.Y);
  w->chosen = comparison_best(w->race, NULL);
  if (w->chosen < 0)
    return give_up(w, w->late ? "" : "no fold could be fitted");
  return list(w);
}

/* ---- answering ----------------------------------------------------------*/
static bool promises(const auto_solver *w, const char *name)
{
  const lapis_method *m = lapis_method_find(w->name);
  for (int i = 0; i < m->n_results; i++)
    if (strcmp(m->results[i].name, name) == 0) return true;
  return false;
}

static lapis_status answer(auto_solver *w, double started)
{
  lapis_ctx *ctx = w->base.ctx;
  if (w->answer == NULL && w->set.bags)
    TRY(bags_answer_new(ctx, w->race, w->chosen, &w->options, &w->data,
                        &w->like, &w->answer));
  if (w->answer == NULL)
    TRY(w->race != NULL ? comparison_answer_new(ctx, w->race, w->chosen,
                                                &w->data, &w->like, &w->answer)
                        : race_default_new(ctx, &w->options, &w->data, &w->like,
                                           &w->answer));
  bool more = w->set.held_out > 0 || w->set.coverage > 0 || w->set.importance ||
              w->set.fill;
  double before = allow(w, started, more ? .5 : 1);
  base_compared(ctx, w->race != NULL);
  lapis_status s = lapis_solve(w->answer);
  base_compared(ctx, false);
  base_set_deadline(ctx, before);
  w->base.info = w->answer->info;
  w->base.called = w->answer->called;
  w->base.features = w->set.bags ? w->bags.data.X.rows : w->data.X.rows;
  if (s < 0) return s;
  for (int i = 0; i < w->answer->result.count; i++)
    if (promises(w, w->answer->result.item[i].name))
      solver_publish(&w->base, w->answer->result.item[i].name,
                     w->answer->result.item[i].mat);
  if (w->name != auto_method.name) w->base.settings = w->answer->settings;
  return s;
}

/* ---- holding out --------------------------------------------------------*/
/* Whom nobody learnt from is hidden from the answer as it is. */
static void hold_out_doubted(auto_solver *w)
{
  const lapis_mat *p = named_find(&w->base.result, "probabilities");
  int64_t K = comparison_labels(w->race);
  bool one = w->data.Y.rows == 1; /* all classes of a sample */
  for (int64_t i = 0; p != NULL && i < w->doubted.count; i++) {
    const double *at = w->doubted.list + DOUBTED_ROWS * i;
    int64_t j = (int64_t)at[0], first = one ? 0 : (int64_t)at[1];
    for (int64_t c = first; c < (one ? K : first + 1); c++)
      w->held_out[j * K + c] = lapis_mat_at(p, c, j);
  }
}

/* The same of numbers. */
static void hold_out_outliers(auto_solver *w)
{
  lapis_mat Y, list = comparison_outliers(w->race);
  const lapis_mat *scores = named_find(&w->base.result, "scores");
  if (scores == NULL || !comparison_others(w->race, &Y)) return;
  for (int64_t i = 0; i < list.cols; i++) {
    int64_t j = (int64_t)lapis_mat_at(&list, 0, i);
    int64_t c = (int64_t)lapis_mat_at(&list, 1, i);
    w->held_out[j * Y.rows + c] = lapis_mat_at(scores, c, j);
  }
}

static lapis_status hold_out(auto_solver *w, double started)
{
  lapis_ctx *ctx = w->base.ctx;
  if (w->race == NULL) return LAPIS_OK;
  int64_t K = comparison_labels(w->race), n = w->data.X.cols;
  if (w->held_out == NULL) w->held_out = arena_reals(&w->base.arena, K * n);
  TRY(arena_status(&w->base.arena));
  double before = allow(w, started, 1);
  lapis_status s = comparison_hold_out(ctx, w->race, w->chosen, &w->data,
                                       w->set.held_out, w->held_out);
  base_set_deadline(ctx, before);
  if (s == LAPIS_OK) hold_out_outliers(w);
  if (s == LAPIS_OK) hold_out_doubted(w);
  if (s == LAPIS_EINVAL) { /* fewer units than folds */
    base_note(ctx, BASE_WARNING, "held-out",
              "%s: known labels are not held out: %s", w->name,
              lapis_ctx_error(ctx));
    return LAPIS_OK;
  }
  if (s == LAPIS_TIME_LIMIT)
    base_note(ctx, BASE_WARNING, "held-out",
              "%s: time ran out before all known labels were held out",
              w->name);
  if (s == LAPIS_OK)
    solver_publish(&w->base, "held_out", lapis_mat_f64(w->held_out, K, n));
  return s;
}

/* ---- fits without a fold: sets and intervals, what matters ---------------*/
/* LAPIS_EINVAL: nothing can be held out. */
static lapis_status fit_folds(auto_solver *w, double started)
{
  lapis_ctx *ctx = w->base.ctx;
  int64_t usual = w->set.held_out > 0 ? w->set.held_out : USUAL_FOLDS;
  int64_t folds = w->set.coverage > 0 ? usual : FEW_FOLDS;
  if (w->covers) return LAPIS_OK;
  if (w->race == NULL) return LAPIS_EINVAL;
  double before = allow(w, started, w->set.held_out > 0 ? .5 : 1);
  lapis_status s =
      cover_fit(ctx, w->race, w->chosen, &w->data, &w->like, folds, &w->cover);
  base_set_deadline(ctx, before);
  w->covers = s >= 0 && s != LAPIS_CANCELLED && s != LAPIS_TIME_LIMIT;
  if (!w->covers) cover_free(&w->cover);
  return s;
}

static lapis_status set_coverage(auto_solver *w, double started)
{
  lapis_status s = fit_folds(w, started);
  if (!w->covers)
    cover_remark_none(w->base.ctx, w->race, s, w->name, "coverage");
  if (!w->covers) return s == LAPIS_EINVAL ? LAPIS_OK : s;
  w->cover.c.share = w->set.coverage;
  w->cover.c.by_class = w->set.coverage_by == LAPIS_COVERAGE_CLASS;
  TRY(coverage_publish(&w->base, &w->cover.c, &w->data, w->answer,
                       w->cover.fold, w->cover.own));
  return cover_remark(&w->cover, w->race, &w->data, &w->base, w->name,
                      w->options.numbers);
}

static lapis_status find_importance(auto_solver *w, double started)
{
  int64_t d = w->data.X.rows;
  bool idle = w->race != NULL && !w->candidate[w->chosen].learnt;
  lapis_status s = idle ? LAPIS_EDATA : fit_folds(w, started);
  if (!idle && w->covers && w->importance == NULL) {
    double *to = arena_reals(&w->base.arena, 3 * d);
    TRY(arena_status(&w->base.arena));
    double before = allow(w, started, 1);
    s = importance_find(w->base.ctx, w->race, &w->cover, &w->data, to);
    base_set_deadline(w->base.ctx, before);
    if (s == LAPIS_OK) w->importance = to;
  }
  if (w->importance == NULL)
    cover_remark_none(w->base.ctx, w->race, s, w->name, "importance");
  if (w->importance == NULL) return idle || s == LAPIS_EINVAL ? LAPIS_OK : s;
  solver_publish(&w->base, "importance", lapis_mat_f64(w->importance, 3, d));
  return LAPIS_OK;
}

/* ---- gaps of X ----------------------------------------------------------*/
static lapis_status complete(auto_solver *w, double started)
{
  lapis_ctx *ctx = w->base.ctx;
  const lapis_data *rows = w->options.bags != NULL ? &w->bags.data : &w->data;
  if (lapis_mat_missing(&rows->X) == 0) {
    solver_publish(&w->base, "completed", rows->X);
    return LAPIS_OK;
  }
  if (w->holes == NULL) TRY(holes_new(ctx, rows, &w->set, &w->holes));
  double before = allow(w, started, 1);
  lapis_status s = lapis_solve(w->holes);
  base_set_deadline(ctx, before);
  const named_list *found = &w->holes->result;
  for (int i = 0; i < found->count && s >= 0; i++)
    if (strcmp(found->item[i].name, "notes") != 0)
      solver_publish(&w->base, found->item[i].name, found->item[i].mat);
  return s;
}

/* ---- the solver ---------------------------------------------------------*/
static void publish(auto_solver *w)
{
  if (w->doubted.count > 0)
    solver_publish(
        &w->base, "doubted",
        lapis_mat_f64(w->doubted.list, DOUBTED_ROWS, w->doubted.count));
  if (w->race == NULL) return;
  lapis_mat outliers = comparison_outliers(w->race);
  if (!mat_empty(&outliers)) solver_publish(&w->base, "outliers", outliers);
  solver_publish(&w->base, "candidates",
                 lapis_mat_text(w->cell, ROWS, w->count));
  solver_publish(&w->base, "candidate_figures",
                 lapis_mat_f64(w->figure, LAPIS_FIGURES, w->count));
  solver_publish(&w->base, "chosen", lapis_mat_f64(&w->place, 1, 1));
  solver_publish(&w->base, "choice", lapis_mat_text(&w->choice, 1, 1));
  solver_publish(&w->base, "hidden", lapis_mat_f64(w->hidden, 1, HIDDEN));
}

/* Of a part: whether nothing may follow it; all: the first that is not OK. */
static bool ends(lapis_status part, lapis_status *all)
{
  bool end = part < 0 || part == LAPIS_CANCELLED;
  if (end || *all == LAPIS_OK) *all = part;
  return end;
}

static lapis_status solve(lapis_solver *s)
{
  auto_solver *w = auto_of(s);
  double started = base_seconds();
  lapis_status status = LAPIS_OK;
  if (!w->compared && ends(compare(w, started), &status)) return status;
  remark(w);
  TRY(remark_far(s->ctx, w->name, w->choice ? w->choice : w->set.map,
                 &w->data));
  if (!w->set.compare_only) status = answer(w, started);
  if (status < 0 || status == LAPIS_CANCELLED) return status;
  publish(w);
  lapis_data all = w->data; /* of which all labels are known */
  if (w->options.given != NULL) all.Y = w->given;
  bool asks = w->set.ask > 0 && w->answer != NULL;
  bool covers = w->set.coverage > 0 && w->answer != NULL;
  bool matters = w->set.importance && w->answer != NULL;
  bool fills = w->set.fill && !w->set.compare_only;
  if (asks &&
      ends(ask_next(&w->base, w->answer, w->name, &all, w->set.ask), &status))
    return status;
  if (covers && ends(set_coverage(w, started), &status)) return status;
  if (matters && ends(find_importance(w, started), &status)) return status;
  if (fills && ends(complete(w, started), &status)) return status;
  if (w->set.held_out > 0) (void)ends(hold_out(w, started), &status);
  s->info.seconds = base_seconds() - started;
  return w->late && status == LAPIS_OK ? LAPIS_TIME_LIMIT : status;
}

/* What was compared, and the answer, stay. */
static lapis_status retune(lapis_solver *s, const void *settings)
{
  auto_solver *w = auto_of(s);
  lapis_auto_settings next;
  TRY(lapis_settings_copy(s->ctx, &auto_method, settings, &next));
  w->set.stop.seconds = next.stop.seconds;
  w->set.held_out = next.held_out;
  w->set.compare_only = next.compare_only;
  w->set.fill = next.fill;
  w->set.coverage = next.coverage;
  w->set.ask = next.ask;
  w->set.importance = next.importance;
  w->set.coverage_by = next.coverage_by;
  return LAPIS_OK;
}

static lapis_status model(lapis_solver *s, lapis_model **out)
{
  auto_solver *w = auto_of(s);
  *out = NULL;
  if (w->answer != NULL) {
    lapis_status status = w->answer->model(w->answer, out);
    if (status < 0 || !(w->set.coverage > 0 && w->covers)) return status;
    return cover_teach(s->ctx, &w->cover, *out);
  }
  return lapis_fail(s->ctx, LAPIS_EINVAL,
                    "%s: there is no model yet; solve first", w->name);
}

static void release(lapis_solver *s)
{
  auto_solver *w = auto_of(s);
  lapis_solver_free(w->answer);
  lapis_solver_free(w->holes);
  if (w->covers) cover_free(&w->cover);
  comparison_free(w->race);
  doubted_free(&w->doubted);
  bagged_free(&w->bags);
  base_free(w->filled);
}

static const solver_class auto_class = {
    .method = "auto", .solve = solve, .free = release, .retune = retune};
static const solver_class open_class = {
    .method = "mc", .solve = solve, .free = release};

/* ---- what is stated -----------------------------------------------------*/
static unsigned stated(const lapis_mc_settings *set)
{
  unsigned bits = 0;
  if (!isnan(set->mu) || !isnan(set->mu_rel)) bits |= STATED_MU;
  if (set->labels != LAPIS_MC_LABELS_AUTO) bits |= STATED_LABELS;
  if (!isnan(set->lambda)) bits |= STATED_LAMBDA;
  if (!isnan(set->gamma)) bits |= STATED_GAMMA;
  return bits;
}

/* What goes with other data alone. */
static lapis_status check_asked(lapis_ctx *ctx, const solver_class *class_,
                                const lapis_data *data,
                                const lapis_auto_settings *set)
{
  bool numbers = set->targets == LAPIS_TARGETS_NUMBERS;
  if (set->held_out == 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: --held-out 1 leaves nothing to learn from; folds "
                      "are at least 2",
                      class_->method);
  if (set->ask > 0 && (numbers || set->bags))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "auto: --ask is of samples that lack a label; of numbers "
                      "and bags it cannot be said which would help most");
  if (set->importance && (set->bags || data->X.colptr != NULL))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "auto: --importance shuffles the features of a dense X, "
                      "a row a sample; not of a sparse one, nor of bags");
  return LAPIS_OK;
}

static lapis_status make(lapis_ctx *ctx, const solver_class *class_,
                         const lapis_data *data, const lapis_auto_settings *set,
                         const lapis_mc_settings *like, lapis_solver **out)
{
  auto_options o = {.map =
                        set->map != NULL && *set->map != '\0' ? set->map : NULL,
                    .stated = stated(like),
                    .numbers = set->targets == LAPIS_TARGETS_NUMBERS,
                    .omits = set->outliers == LAPIS_OUTLIERS_OMIT,
                    .kept_as = set->kept_as};
  *out = NULL;
  TRY(check_asked(ctx, class_, data, set));
  o.named = set->candidates != NULL && *set->candidates != '\0';
  TRY(candidates_read(ctx, set->candidates, set->bags, &o));
  if (mat_empty(&data->X) || mat_empty(&data->Y))
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: X and Y are needed",
                      class_->method);
  TRY(mat_check_beside(ctx, class_->method, "Y", &data->Y, &data->X));
  TRY(mat_check_weights(ctx, class_->method, data->weight, data->X.cols));
  bagged bags = {.X = NULL};
  lapis_data own = *data;
  lapis_status s = LAPIS_OK;
  if (set->bags) {
    TRY(bags_check(ctx, set));
    TRY(bagged_make(ctx, data, &bags));
    own = bagged_data(&bags);
    s = bags_say(ctx, &bags, &o);
  }
  if (s >= 0) s = race_check(ctx, &own, like, &o);
  if (s >= 0) s = solver_alloc(ctx, class_, sizeof(auto_solver), out);
  if (s < 0) {
    bagged_free(&bags);
    return s;
  }
  mat_say_blank(ctx, &data->X, &data->Y,
                data->X.colptr != NULL && like->absent != LAPIS_ABSENT_ZERO);
  auto_solver *w = auto_of(*out);
  w->name = class_ == &auto_class ? auto_method.name : class_->method;
  w->set = *set;
  w->like = *like;
  w->options = o;
  w->data = own;
  w->bags = bags;
  if (set->bags) w->options.bags = &w->bags;
  w->base.settings = class_ == &auto_class ? (void *)&w->set : (void *)&w->like;
  w->base.model = model;
  if (class_ != &auto_class || set->bags) return LAPIS_OK;
  return fill_blank_rows(ctx, &w->data.X, &w->filled);
}

/* What says nothing without targets. */
static lapis_status check_settings(lapis_ctx *ctx, const void *settings)
{
  for (int i = 0; i < auto_method.n_params; i++) {
    const lapis_param *p = &auto_method.params[i];
    if (param_is_default(p, settings) || strcmp(p->name, "fill") == 0 ||
        strcmp(p->name, "time-limit") == 0)
      continue;
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "auto: without targets the gaps of X are filled, and "
                      "--%s says nothing of that; leave it out",
                      p->name);
  }
  return LAPIS_OK;
}

lapis_status auto_new(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings, lapis_solver **out)
{
  const lapis_auto_settings *set = settings;
  lapis_mc_settings like = lapis_mc_defaults();
  if (mat_empty(&data->Y)) {
    TRY(check_settings(ctx, settings));
    return holes_new(ctx, data, settings, out);
  }
  like.variant = set->variant;
  like.labels = set->labels;
  like.lambda = set->lambda;
  like.gamma = set->gamma;
  like.mu_rel = set->mu_rel;
  like.absent = set->absent;
  like.class_features = set->class_features;
  like.stop = set->stop;
  return make(ctx, &auto_class, data, set, &like, out);
}

lapis_status auto_new_mc(lapis_ctx *ctx, const lapis_data *data,
                         const void *settings, lapis_solver **out)
{
  const lapis_mc_settings *like = settings;
  lapis_auto_settings set = lapis_auto_defaults();
  set.candidates = "mc";
  set.map = like->map;
  set.held_out = like->held_out;
  set.stop = like->stop;
  return make(ctx, &open_class, data, &set, like, out);
}

lapis_status lapis_auto_behind(const lapis_solver *a, const lapis_solver *b,
                               double *by, double *error)
{
  NEEDS(a == NULL ? NULL : a->ctx, a, b, by, error);
  *by = *error = NAN;
  if (a->cls != &auto_class || b->cls != &auto_class)
    return lapis_fail(a->ctx, LAPIS_EINVAL,
                      "auto: both must be solvers of the method auto");
  const auto_solver *x = auto_of(a), *y = auto_of(b);
  if (x->race != NULL && y->race != NULL)
    *by = comparison_against(x->race, x->chosen, y->race, y->chosen, error);
  return LAPIS_OK;
}
