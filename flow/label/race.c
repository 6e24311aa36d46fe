/* race.c - label by a race: who answers, what it says, and what it doubts.
 *
 * Candidates of mc and logistic regressions tell labels that are hidden as
 * labels are missing; whoever tells them best answers.  Doubts are of that
 * winner: what it says of each known label while that is hidden. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/label/label.h"

enum { SHOWN = 5, FEW_LABELS = 6, SIXTH = 100, MANY = 100 };
static const double LEAST = 1e-12; /* a probability is above */
static const double NORMAL_95 = 1.96, MOST_WRONG = .25;

/* mu states the problem, and places are found in what mc repairs. */
bool label_races(const label_run *w)
{
  bool free =
      w->set.variant == LAPIS_LABEL_AUTO || w->set.variant == LAPIS_LABEL_MC1;
  return free && isnan(w->set.mu_rel) && !w->set.where;
}

/* ---- the race -----------------------------------------------------------*/
static const char *called(const lapis_runner *x)
{
  if (strcmp(x->method, "linear") == 0)
    return strstr(x->settings, "nystrom:") != NULL
               ? "kernel logistic regression"
               : "logistic regression";
  if (strcmp(x->method, "trees") == 0) return "trees";
  return strcmp(x->method, "mc") == 0 ? "completion" : "the mean";
}

void label_say_race(label_run *w, bool late)
{
  lapis_race_hidden h = lapis_race_what(w->race);
  lapis_runner won = lapis_race_at(w->race, w->place);
  bool linear = strcmp(won.method, "mc") != 0;
  int other = lapis_race_best(w->race, linear ? "mc" : "linear");
  double least, most;
  lapis_race_accuracy(w->race, w->place, &least, &most);
  if (late) flow_note(w->flow, "time ran out before all settings were tried");
  flow_note(w->flow,
            "settings were compared on %" PRId64
            " given labels that were hidden, best first (log-loss: less is "
            "better, guessing has %.4f; AUROC and accuracy: 1 is best):",
            h.labels, h.loss);
  for (int i = 0; i < lapis_race_count(w->race); i++) {
    if (i >= SHOWN && i != w->place) continue;
    lapis_runner x = lapis_race_at(w->race, i);
    flow_note(w->flow,
              "%d: log-loss %.4f +- %.4f, AUROC %.3f, accuracy %.3f: %s%s %s",
              i + 1, x.loss, x.error, x.auroc, x.accuracy, called(&x),
              strcmp(called(&x), "the mean") == 0 ? " of" : "", x.settings);
  }
  flow_note(w->flow,
            "%s answers: %s (AUROC %.3f, accuracy %.3f on %" PRId64
            " hidden labels; on new ones %.2f to %.2f, with 95 %% "
            "confidence)",
            called(&won), won.settings, won.auroc, won.accuracy, h.labels,
            least, most);
  if (other >= 0) {
    double error, by = lapis_race_difference(w->race, other, w->place, &error);
    lapis_runner x = lapis_race_at(w->race, other);
    flow_note(w->flow,
              "%s on the same labels: AUROC %.3f, accuracy %.3f; log-loss %s "
              "by %.4f +- %.4f, %s",
              called(&x), x.auroc, x.accuracy, by > 0 ? "worse" : "better",
              fabs(by), error, fabs(by) > 2 * error ? "clear" : "a toss-up");
  }
  char unsure[FLOW_NOTE];
  if (*lapis_race_unsure(w->race, w->place, unsure, sizeof unsure) != '\0')
    flow_note(w->flow, "%s", unsure);
}

static lapis_race_options options_of(const label_run *w)
{
  lapis_race_options o = {.size = sizeof o,
                          .map = w->set.map,
                          .by_group = w->raw.group != NULL,
                          .linear = true,
                          .kept_as = w->kept_as};
  if (w->kinds.count > 1) o.map = w->joined_map;
  if (!isnan(w->set.lambda)) o.stated |= LAPIS_STATED_LAMBDA;
  if (!isnan(w->set.gamma)) o.stated |= LAPIS_STATED_GAMMA;
  return o;
}

/* Too few labels to hide some: the usual settings of mc, as they are. */
static lapis_status without(label_run *w, const char *why)
{
  flow_note(w->flow,
            "%s to choose settings%s%s; the defaults are used (--lambda %g "
            "--gamma %g --mu-rel %g)",
            *why ? "too few known labels" : "no time", *why ? ": " : "", why,
            w->mc.lambda, w->mc.gamma, w->mc.mu_rel);
  lapis_race_free(w->race);
  w->race = NULL;
  return label_map(w);
}

lapis_status label_run_race(label_run *w)
{
  static const char *const whom[] = {[LAPIS_LABEL_BY_AUTO] = NULL,
                                     [LAPIS_LABEL_BY_MC] = "mc",
                                     [LAPIS_LABEL_BY_LINEAR] = "linear",
                                     [LAPIS_LABEL_BY_BOTH] = "both"};
  lapis_race_options o = options_of(w);
  w->place = -1;
  lapis_status s = lapis_race_run(w->flow->ctx, &w->raw, &w->mc, &o, &w->race);
  if (s >= 0 && s != LAPIS_CANCELLED)
    w->place = lapis_race_best(w->race, whom[w->set.by]);
  return s;
}

lapis_status label_race(label_run *w)
{
  bool other =
      w->set.by == LAPIS_LABEL_BY_LINEAR || w->set.by == LAPIS_LABEL_BY_BOTH;
  flow_allow(w->flow, .5);
  lapis_status s = label_run_race(w);
  if (s == LAPIS_EINVAL && !other)
    return without(w, lapis_ctx_error(w->flow->ctx));
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  if (w->place < 0)
    return without(w, s == LAPIS_TIME_LIMIT ? "" : "no fold answers");
  label_say_race(w, s == LAPIS_TIME_LIMIT);
  return LAPIS_OK;
}

const struct lapis_race *lapis_label_race(const lapis_flow *f)
{
  if (f == NULL || f->class_->table != &label_method || f->own == NULL)
    return NULL;
  return ((const label_run *)f->own)->race;
}

/* ---- the answer ---------------------------------------------------------*/
static lapis_status take_scores(label_run *w)
{
  lapis_mat p;
  TRY(lapis_result_get(w->flow->solver, "probabilities", &p));
  w->scores = malloc((size_t)(p.rows * p.cols) * sizeof *w->scores);
  if (w->scores == NULL) return flow_no_memory(w->flow);
  for (int64_t k = 0; k < p.rows * p.cols; k++) {
    double q = lapis_mat_at(&p, k % p.rows, k / p.rows);
    q = fmin(fmax(q, LEAST), 1 - LEAST);
    w->scores[k] = log(q) - log1p(-q);
  }
  flow_publish(w->flow, "scores", lapis_mat_f64(w->scores, p.rows, p.cols));
  flow_publish(w->flow, "probabilities", p);
  return LAPIS_OK;
}

lapis_status label_race_answer(label_run *w)
{
  flow_allow(w->flow, 1);
  w->by = lapis_race_at(w->race, w->place).method;
  lapis_status s = lapis_race_answer_new(w->flow->ctx, w->race, w->place,
                                         &w->raw, &w->mc, &w->flow->solver);
  if (s >= 0) s = lapis_solve(w->flow->solver);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  TRY(take_scores(w));
  (void)flow_pass_on(w->flow, w->flow->solver, "low_rank");
  flow_publish(w->flow, "by", lapis_mat_text(&w->by, 1, 1));
  lapis_status next = label_answer(w);
  return next < 0 ? next : s;
}

/* ---- doubts -------------------------------------------------------------*/
typedef struct doubt {
  double p; /* of the label as it is given */
  double
      sure; /* of the likeliest label; then its place in that class, 0 .. 1 */
  int64_t top; /* that class; labels that an image has or not: 0 */
  int64_t image, class_, group;
} doubt;

static int least_first(const void *a, const void *b)
{
  const doubt *x = a, *y = b;
  if (x->p != y->p) return x->p < y->p ? -1 : 1;
  return (x->image > y->image) - (x->image < y->image);
}

/* The label of an image, and what p says of it; false: not known. */
static bool ask(const label_run *w, const double *p, int64_t i, int64_t c,
                doubt *out)
{
  int64_t K = w->given.K;
  bool classes = w->given.kind == LABEL_CLASS;
  double y = w->Y[i * w->given.rows + (classes ? 0 : c)];
  *out = (doubt){.p = NAN, .image = i, .class_ = c};
  if (w->flow->data.group != NULL) out->group = w->group[i];
  if (isnan(y)) return false;
  if (!classes) {
    double q = p[i * K + c];
    out->p = y > 0 ? q : 1 - q;
    out->sure = fmax(q, 1 - q);
    return !isnan(q);
  }
  out->p = p[i * K + (int64_t)y];
  out->class_ = y > 0 ? 0 : 1;
  for (int64_t o = 0; o < K; o++)
    if (o != (int64_t)y && p[i * K + o] > p[i * K + out->class_])
      out->class_ = o;
  out->top = out->p >= p[i * K + out->class_] ? (int64_t)y : out->class_;
  out->sure = p[i * K + out->top];
  /* Nothing contradicts a class that is the likeliest of all. */
  if (out->p >= p[i * K + out->class_]) out->p = fmax(out->p, .5);
  return !isnan(out->p);
}

static int by_class(const void *a, const void *b)
{
  const doubt *x = a, *y = b;
  if (x->top != y->top) return x->top < y->top ? -1 : 1;
  if (x->sure != y->sure) return x->sure > y->sure ? -1 : 1;
  return least_first(a, b);
}

static int by_place(const void *a, const void *b)
{
  const doubt *x = a, *y = b;
  if (x->sure != y->sure) return x->sure < y->sure ? -1 : 1;
  return least_first(a, b);
}

/* Of each class alike: one whose labels are often wrong is told less surely. */
static void surest_first(doubt *all, int64_t n)
{
  qsort(all, (size_t)n, sizeof *all, by_class);
  for (int64_t from = 0, to = 0; from < n; from = to) {
    while (to < n && all[to].top == all[from].top) to++;
    for (int64_t k = from; k < to; k++)
      all[k].sure = ((double)(k - from) + .5) / (double)(to - from);
  }
  qsort(all, (size_t)n, sizeof *all, by_place);
}

static int group_first(const void *a, const void *b)
{
  const doubt *x = a, *y = b;
  return (x->group > y->group) - (x->group < y->group);
}

/* Images of one person are told wrongly together, so that n labels of a few
 * people are fewer trials: as many as have the standard error that the people
 * show, f (1 - f) / e^2, where e^2 n^2 = G / (G - 1) sum over the G people of
 * (wrong ones - f labels)^2.  At least 1, at most n.  Without groups n. */
static double trials(const label_run *w, doubt *all, int64_t n, double f)
{
  double sum = 0, of_group = 0, groups = 0, count = (double)n;
  if (w->flow->data.group == NULL || f <= 0 || f >= 1) return count;
  qsort(all, (size_t)n, sizeof *all, group_first);
  for (int64_t k = 0; k < n; k++) {
    of_group += (all[k].p < .5) - f;
    if (k + 1 < n && all[k + 1].group == all[k].group) continue;
    sum += of_group * of_group;
    of_group = 0;
    groups++;
  }
  if (groups < 2) return 1;
  double square = sum * groups / (groups - 1) / (count * count);
  return fmin(fmax(f * (1 - f) / square, 1), count);
}

/* Of the labels that are told most surely, `count` of them, first: the share
 * where the given one is another. */
static double share_other(const doubt *all, int64_t count)
{
  double other = 0;
  for (int64_t k = 0; k < count; k++) other += all[k].p < .5;
  return other / (double)count;
}

/* The share f of wrong labels, and in w->doubts how many are wrong at most,
 * by the upper end of Wilson's interval.  Of the labels that are told most
 * surely, the surest third, hardly any is told wrongly: where the given one is
 * another, it is wrong.  Taken for the share of all, which holds where errors
 * strike alike.  That bound is from above: what is told wrongly counts, too.
 * Where classes are hard to tell apart that is too much: the surest sixth, if
 * it is of SIXTH labels or more, then has a smaller share, which is taken. Of
 * groups the interval's lower end, as few of them tell little: a person whom
 * the others do not foretell is no sign of wrong labels. */
static double share_wrong(label_run *w, doubt *all, int64_t n)
{
  int64_t sure = (n + 2) / 3;
  surest_first(all, n);
  if (n == 0) return 0;
  double f = share_other(all, sure), surest = f;
  if (sure / 2 >= SIXTH) surest = fmin(f, share_other(all, sure / 2));
  if (n >= MANY && f * (double)sure < 1.5) surest = 0;
  double low, high;
  lapis_race_interval(f, trials(w, all, sure, f), &low, &high);
  w->doubts[1] = (int64_t)ceil(high * (double)n);
  if (f <= 0) w->doubts[1] = 0;
  w->doubts[2] = n;
  return w->flow->data.group == NULL ? surest : low;
}

/* Below this probability (of labels as they are given, of which a share f is
 * wrong, each for one of so many others) a label is wrong rather than right:
 * given that it would be g with probability q if none were wrong,
 * p = (1 - f) q + f (1 - q) / others, and it is wrong with probability
 * f (1 - q) / others / p, which is 1/2 where both terms are one. */
static double doubted_below(double f, double others)
{
  f = fmin(f, MOST_WRONG);
  return 2 * f * (1 - f) / (f + (1 - f) * others);
}

static int64_t count_below(const doubt *all, int64_t n, double p)
{
  int64_t under = 0;
  while (under < n && all[under].p < p) under++;
  return under;
}

/* Each of those is wrong rather than right: at least half of them, less what
 * chance may add. */
static int64_t wrong_at_least(int64_t doubted)
{
  double d = (double)doubted;
  return (int64_t)floor(fmax(d - NORMAL_95 * sqrt(d), 0) / 2);
}

static void say_doubts(label_run *w)
{
  const int64_t *d = w->doubts;
  if (d[2] == 0) return;
  if (d[1] == 0)
    flow_note(w->flow,
              "wrong labels: none expected among the %" PRId64
              " that others can judge",
              d[2]);
  else
    flow_note(w->flow,
              "wrong labels: %" PRId64 " to %" PRId64
              " expected among the %" PRId64 " that others can judge",
              d[0], d[1], d[2]);
}

/* Lists those below the threshold, and keeps what the page draws. */
static lapis_status list(label_run *w, const double *p)
{
  int64_t K = w->given.K, cells = w->flow->n * K, n = 0, kept = 0;
  doubt *all = calloc((size_t)cells, sizeof *all);
  w->held_out = malloc((size_t)cells * sizeof *w->held_out);
  w->add = calloc((size_t)cells, 1);
  lapis_status s = LAPIS_OK;
  if (w->add == NULL || all == NULL || w->held_out == NULL)
    s = flow_no_memory(w->flow);
  for (int64_t k = 0; s >= 0 && k < cells; k++) {
    double q = fmin(fmax(p[k], LEAST), 1 - LEAST);
    w->held_out[k] = isnan(p[k]) ? NAN : log(q) - log1p(-q);
    bool one = w->given.kind != LABEL_CLASS || k % K == 0;
    if (one && ask(w, p, k / K, k % K, &all[n])) n++;
  }
  if (all != NULL && s >= 0) {
    /* K - 1 others; mistakes are for what is alike, which half of them are */
    double f = share_wrong(w, all, n);
    double others = w->given.kind == LABEL_CLASS ? (double)K - 1 : 1;
    double alike = fmax((others + 1) / 2, 1);
    qsort(all, (size_t)n, sizeof *all, least_first);
    int64_t under = count_below(all, n, doubted_below(f, alike));
    w->doubts[0] =
        wrong_at_least(count_below(all, n, doubted_below(f, others)));
    for (; kept < under && kept < w->set.suspects; kept++) {
      w->suspect[2 * kept] = all[kept].image;
      w->suspect[2 * kept + 1] = all[kept].class_;
      w->margin[kept] = 1 - all[kept].p;
      w->add[kept] =
          w->given.kind == LABEL_MANY &&
          !(w->Y[all[kept].image * w->given.rows + all[kept].class_] > 0);
    }
    w->suspects = kept;
    flow_publish(w->flow, "held_out",
                 lapis_mat_f64(w->held_out, K, w->flow->n));
  }
  free(all);
  return s;
}

/* Settings that are given, or were chosen otherwise: a race of one. */
static lapis_status make_doubter(label_run *w)
{
  lapis_race_options o = {.size = sizeof o,
                          .map = "none",
                          .by_group = w->flow->data.group != NULL,
                          .stated = ~0u};
  return lapis_race_run(w->flow->ctx, &w->flow->data, &w->mc, &o, &w->doubter);
}

/* What tells hidden labels no better than by their shares has nothing to say
 * against a given one; of samples that are apart, some labels more than a few
 * may still show one of them wrong. */
static bool may_doubt(label_run *w, const lapis_race *race, int place)
{
  bool apart = w->flow->data.group == NULL;
  bool few = lapis_race_what(race).labels < FEW_LABELS;
  if (lapis_race_at(race, place).learnt || (apart && !few)) return true;
  flow_note(w->flow,
            "wrong labels are not looked for: hidden labels are not clearly "
            "told better than by guessing, so nothing speaks against a given "
            "one");
  return false;
}

static lapis_status hold_out(label_run *w, double *p)
{
  lapis_ctx *ctx = w->flow->ctx;
  if (w->race != NULL && !may_doubt(w, w->race, w->place)) return LAPIS_EINVAL;
  if (w->race != NULL)
    return lapis_race_held_out(ctx, w->race, w->place, &w->raw, w->set.folds,
                               p);
  lapis_status s = make_doubter(w);
  if (s == LAPIS_EINVAL) /* fewer units than folds */
    flow_note(w->flow, "wrong labels are not looked for: %s",
              lapis_ctx_error(ctx));
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  if (lapis_race_best(w->doubter, "mc") < 0 && s == LAPIS_TIME_LIMIT) return s;
  if (lapis_race_best(w->doubter, "mc") < 0) {
    flow_note(w->flow, "wrong labels are not looked for: too few labels are "
                       "given to hide some");
    return LAPIS_EINVAL;
  }
  if (!may_doubt(w, w->doubter, 0)) return LAPIS_EINVAL;
  return lapis_race_held_out(ctx, w->doubter, 0, &w->flow->data, w->set.folds,
                             p);
}

static lapis_status publish(label_run *w)
{
  say_doubts(w);
  flow_publish(w->flow, "suspect_index",
               lapis_mat_i64(w->suspect, 2, w->suspects));
  flow_publish(w->flow, "suspect_margin",
               lapis_mat_f64(w->margin, 1, w->suspects));
  if (w->given.kind == LABEL_MANY)
    flow_publish(w->flow, "suspect_add", lapis_mat_u8(w->add, 1, w->suspects));
  flow_publish(w->flow, "expected_wrong", lapis_mat_i64(w->doubts, 1, 3));
  return label_name_rather(w);
}

lapis_status label_doubts(label_run *w)
{
  int64_t cells = w->flow->n * w->given.K;
  if (w->set.suspects == 0) return LAPIS_OK;
  w->suspect = calloc((size_t)cells, 2 * sizeof *w->suspect);
  w->margin = calloc((size_t)cells, sizeof *w->margin);
  double *p = malloc((size_t)cells * sizeof *p);
  lapis_status s = LAPIS_OK;
  if (w->suspect == NULL || w->margin == NULL || p == NULL)
    s = flow_no_memory(w->flow);
  for (int64_t k = 0; s >= 0 && k < cells; k++) p[k] = NAN;
  flow_allow(w->flow, .5);
  if (s >= 0) s = hold_out(w, p);
  bool none = s == LAPIS_EINVAL;
  if (s == LAPIS_TIME_LIMIT)
    flow_note(
        w->flow,
        "no time was left to look for wrong labels; a larger --time-limit "
        "gives some");
  if (s == LAPIS_OK) {
    lapis_status listed = list(w, p);
    if (listed >= 0) listed = publish(w);
    if (listed < 0) s = listed;
  }
  free(p);
  if (none) return LAPIS_OK;
  return s < 0 || s == LAPIS_CANCELLED ? s : LAPIS_OK;
}
