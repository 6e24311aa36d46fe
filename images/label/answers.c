/* answers.c - label by auto: who answers, and what it doubts.
 *
 * Candidates of mc, logistic regressions and trees predict labels that are
 * hidden as labels are missing; whoever predicts them best answers.  Doubts are
 * of what answers: what it says of each known label while that is hidden. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/label/label.h"
#include "lapis/choose.h"

enum { FEW_LABELS = 6, SIXTH = 100, MANY = 100, LEARNT = 8 };
static const double LEAST = 1e-12; /* a probability is above */
static const double NORMAL_95 = 1.96, MOST_WRONG = .25;

/* ---- comparing ----------------------------------------------------------*/
static lapis_status get(const lapis_solver *s, const char *name, lapis_mat *out)
{
  const char *at;
  *out = (lapis_mat){.cols = 0};
  for (int i = 0; (at = lapis_result_name(s, i)) != NULL; i++)
    if (strcmp(at, name) == 0) return lapis_result_get(s, name, out);
  return LAPIS_OK;
}

const lapis_mat *label_figures(const lapis_solver *s, lapis_mat *out,
                               int64_t *chosen)
{
  lapis_mat place;
  if (s == NULL || get(s, "candidate_figures", out) < 0 || out->cols == 0 ||
      get(s, "chosen", &place) < 0)
    return NULL;
  *chosen = (int64_t)lapis_mat_at(&place, 0, 0);
  return out;
}

/* mu-rel states a problem of mc, and places are found in what mc repairs. */
static const char *who_competes(const label_run *w)
{
  if (w->set.candidates != NULL) return w->set.candidates;
  return w->set.where || !isnan(w->set.mu_rel) ? "mc" : NULL;
}

static lapis_auto_settings settings_of(const label_run *w)
{
  lapis_auto_settings set = lapis_auto_defaults();
  set.candidates = who_competes(w);
  set.targets = LAPIS_TARGETS_CLASSES;
  set.variant = w->variant;
  set.map = w->map;
  set.lambda = w->set.lambda;
  set.gamma = w->set.gamma;
  set.mu_rel = w->set.mu_rel;
  set.class_features = w->set.where && w->given.K > 1;
  set.kept_as = w->kept_as;
  set.compare_only = true;
  return set;
}

lapis_status label_compare(label_run *w)
{
  lapis_auto_settings set = settings_of(w);
  TRY(lapis_auto_new(w->flow->ctx, &w->flow->data, &set, &w->chooser));
  return lapis_solve(w->chooser);
}

/* ---- the answer ---------------------------------------------------------*/
static lapis_status take_scores(label_run *w)
{
  lapis_mat p;
  TRY(get(w->flow->solver, "probabilities", &p));
  if (p.cols == 0) { /* nothing could be compared */
    TRY(lapis_result_get(w->flow->solver, "scores", &p));
    flow_publish(w->flow, "scores", p);
    return LAPIS_OK;
  }
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

/* The next solve of auto, which keeps what was compared. */
static lapis_status go_on(label_run *w, bool answer, int64_t held_out)
{
  lapis_auto_settings set = settings_of(w);
  set.compare_only = !answer;
  set.held_out = held_out;
  TRY(lapis_solver_retune(w->chooser, &set));
  return lapis_solve(w->chooser);
}

lapis_status label_complete(label_run *w)
{
  static const char *const passed[] = {"low_rank", "candidates",
                                       "candidate_figures", "chosen", "hidden"};
  lapis_mat figures, names;
  int64_t chosen;
  flow_allow(w->flow, 1);
  lapis_status s = go_on(w, true, 0);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  w->flow->solver = w->chooser;
  w->chooser = NULL;
  flow_answers(w->flow);
  TRY(take_scores(w));
  for (size_t k = 0; k < sizeof passed / sizeof *passed; k++)
    (void)flow_pass_on(w->flow, w->flow->solver, passed[k]);
  if (label_figures(w->flow->solver, &figures, &chosen) != NULL &&
      get(w->flow->solver, "candidates", &names) >= 0) {
    w->by = ((const char *const *)names.val)[chosen * names.rows];
    flow_publish(w->flow, "by", lapis_mat_text(&w->by, 1, 1));
  }
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
 * the others do not foretell is no sign of wrong labels.  *low: that lower
 * end, or 0 where even the surest are contradicted so often that classes may be
 * hard to tell apart and no label wrong. */
static double share_wrong(label_run *w, doubt *all, int64_t n, double *low)
{
  *low = 0;
  int64_t sure = (n + 2) / 3;
  surest_first(all, n);
  if (n == 0) return 0;
  double f = share_other(all, sure), surest = f;
  if (sure / 2 >= SIXTH) surest = fmin(f, share_other(all, sure / 2));
  if (n >= MANY && f * (double)sure < 1.5) surest = 0;
  double high;
  lapis_share_interval(f, trials(w, all, sure, f), low, &high);
  *low = surest > MOST_WRONG ? 0 : fmin(*low, surest);
  w->doubts[1] = (int64_t)ceil(high * (double)n);
  if (f <= 0) w->doubts[1] = 0;
  w->doubts[2] = n;
  return w->flow->data.group == NULL ? surest : *low;
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

/* Each of those is wrong rather than right, however few the wrong ones may be:
 * at least half of them, less what chance may add. */
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
    flow_remark(w->flow, "wrong-labels",
                "of your %" PRId64 " checkable labels, probably none is wrong",
                d[2]);
  else
    flow_remark(w->flow, "wrong-labels",
                "of your %" PRId64 " checkable labels, between %" PRId64
                " and %" PRId64 " are probably wrong",
                d[2], d[0], d[1]);
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
    double low, f = share_wrong(w, all, n, &low);
    double others = w->given.kind == LABEL_CLASS ? (double)K - 1 : 1;
    double alike = fmax((others + 1) / 2, 1);
    qsort(all, (size_t)n, sizeof *all, least_first);
    int64_t under = count_below(all, n, doubted_below(f, alike));
    w->doubts[0] =
        wrong_at_least(count_below(all, n, doubted_below(low, others)));
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

/* What predicts hidden labels no better than by their shares has nothing to say
 * against a given one; of samples that are apart, some labels more than a few
 * may still show one of them wrong. */
static bool may_doubt(label_run *w, const lapis_solver *s)
{
  lapis_mat figures, hidden;
  int64_t chosen;
  bool apart = w->flow->data.group == NULL;
  if (label_figures(s, &figures, &chosen) == NULL) {
    flow_remark(w->flow, "not-looked",
                "wrong labels are not looked for: too few labels are "
                "given to hide some");
    return false;
  }
  if (get(s, "hidden", &hidden) < 0) return false;
  bool few = lapis_mat_at(&hidden, 0, 0) < FEW_LABELS;
  if (lapis_mat_at(&figures, LEARNT, chosen) > 0 || (apart && !few))
    return true;
  flow_remark(w->flow, "not-looked",
              "wrong labels are not looked for: hidden labels are not clearly "
              "predicted better than by guessing, so nothing speaks against a "
              "given one");
  return false;
}

/* LAPIS_EINVAL: there is nothing to doubt by. */
static lapis_status hold_out(label_run *w, double *p)
{
  lapis_mat held;
  if (!may_doubt(w, w->chooser)) return LAPIS_EINVAL;
  lapis_status s = go_on(w, false, w->set.folds);
  if (s != LAPIS_OK) return s;
  TRY(get(w->chooser, "held_out", &held));
  if (held.cols == 0) return LAPIS_EINVAL; /* fewer groups than folds */
  memcpy(p, held.val, (size_t)(held.rows * held.cols) * sizeof *p);
  return LAPIS_OK;
}

/* How the classes that doubted images rather have are called. */
static lapis_status name_rather(label_run *w)
{
  w->rather = calloc((size_t)w->suspects + 1, sizeof *w->rather);
  if (w->rather == NULL) return flow_no_memory(w->flow);
  for (int64_t k = 0; k < w->suspects; k++)
    w->rather[k] = w->given.name[w->suspect[2 * k + 1]];
  flow_publish(w->flow, "suspect_rather",
               lapis_mat_text(w->rather, 1, w->suspects));
  return LAPIS_OK;
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
  return w->given.kind == LABEL_CLASS ? name_rather(w) : LAPIS_OK;
}

lapis_status label_doubts(label_run *w)
{
  int64_t cells = w->flow->n * w->given.K;
  if (w->set.suspects == 0) return LAPIS_OK;
  w->suspect = calloc((size_t)cells, 2 * sizeof *w->suspect);
  w->margin = calloc((size_t)cells, sizeof *w->margin);
  double *p = malloc((size_t)cells * sizeof *p);
  lapis_status s = LAPIS_OK;
  if (p == NULL) return flow_no_memory(w->flow);
  if (w->suspect == NULL || w->margin == NULL) s = flow_no_memory(w->flow);
  for (int64_t k = 0; s >= 0 && k < cells; k++) p[k] = NAN;
  flow_allow(w->flow, .5);
  if (s >= 0) s = hold_out(w, p);
  bool none = s == LAPIS_EINVAL;
  if (s == LAPIS_TIME_LIMIT)
    flow_remark(
        w->flow, "not-looked",
        "no time was left to look for wrong labels; a larger {time-limit} "
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
