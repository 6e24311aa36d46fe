/* doubts.c - how many known labels are wrong, and which.
 *
 * By what is said of each while it is hidden: probabilities of its classes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "choose/select.h"
#include "lapis/choose.h"

enum { SIXTH = 100, MANY = 100 };
static const double NORMAL_95 = 1.96, MOST_WRONG = .25, WIDEST = .25;
static const double LEAST = 1e-12; /* a probability is above */

typedef struct doubt {
  double p;    /* of the label as it is given */
  double gain; /* log-loss less than that of the shares of the labels */
  double
      sure; /* of the likeliest label; then its place in that class, 0 .. 1 */
  int64_t top; /* that class; labels that a sample has or not: 0 */
  int64_t sample, class_, group;
} doubt;

typedef struct asked { /* what is asked, of whom */
  const targets *t;
  const double *share;  /* K: of the known labels that are yes */
  const int64_t *group; /* n, or NULL */
  const lapis_mat *p;   /* K x n */
  const bool *alone;    /* 2 K: no and yes of each, of one sample or group */
} asked;

/* A label whose class has no other, or none in another group, is hidden
 * together with all that could speak for it. */
static void find_alone(const targets *t, const int64_t *group, int64_t *first,
                       bool *alone)
{
  for (int64_t k = 0; k < 2 * t->classes; k++) first[k] = -1, alone[k] = true;
  for (int64_t j = 0; j < t->samples; j++)
    for (int64_t c = 0; c < t->classes; c++) {
      double sign = t->sign[j * t->classes + c];
      int64_t k = 2 * c + (sign > 0);
      if (isnan(sign)) continue;
      if (first[k] < 0) first[k] = j;
      alone[k] = alone[k] && (first[k] == j ||
                              (group != NULL && group[first[k]] == group[j]));
    }
}

static double gain(double p, double share)
{
  return log(fmax(p, LEAST)) - log(fmax(share, LEAST));
}

static int least_first(const void *a, const void *b)
{
  const doubt *x = a, *y = b;
  if (x->p != y->p) return x->p < y->p ? -1 : 1;
  return (x->sample > y->sample) - (x->sample < y->sample);
}

int64_t doubt_class(const targets *t, const lapis_mat *scores, int64_t j,
                    int64_t *own)
{
  const double *sign = t->sign + j * t->classes;
  for (*own = 0; *own < t->classes - 1 && !(sign[*own] > 0);) ++*own;
  int64_t other = *own == 0;
  for (int64_t c = 0; c < t->classes; c++)
    if (c != *own &&
        lapis_mat_at(scores, c, j) > lapis_mat_at(scores, other, j))
      other = c;
  return other;
}

/* A label that a sample has or not, and what p says of it; false: not known. */
static bool ask_one(const asked *of, int64_t j, int64_t c, doubt *out)
{
  double q = lapis_mat_at(of->p, c, j);
  double sign = of->t->sign[j * of->t->classes + c];
  double p = sign > 0 ? q : 1 - q, f = of->share[c];
  *out = (doubt){.p = p,
                 .gain = gain(p, sign > 0 ? f : 1 - f),
                 .sure = fmax(q, 1 - q),
                 .sample = j,
                 .class_ = c,
                 .group = of->group == NULL ? 0 : of->group[j]};
  return !isnan(sign) && !isnan(q) && !of->alone[2 * c + (sign > 0)];
}

/* The class of a sample; nothing contradicts one that is the likeliest of
 * all. */
static bool ask_class(const asked *of, int64_t j, doubt *out)
{
  if (isnan(of->t->sign[j * of->t->classes])) return false;
  int64_t own, other = doubt_class(of->t, of->p, j, &own);
  double p = lapis_mat_at(of->p, own, j), q = lapis_mat_at(of->p, other, j);
  *out = (doubt){.p = p >= q ? fmax(p, .5) : p,
                 .gain = gain(p, of->share[own]),
                 .sure = fmax(p, q),
                 .top = p >= q ? own : other,
                 .sample = j,
                 .class_ = other,
                 .group = of->group == NULL ? 0 : of->group[j]};
  return !isnan(p) && !of->alone[2 * own + 1];
}

static int64_t ask(const asked *of, doubt *all)
{
  int64_t n = 0;
  for (int64_t j = 0; j < of->t->samples; j++) {
    if (of->t->kind == TARGETS_CLASS) {
      n += ask_class(of, j, &all[n]);
      continue;
    }
    for (int64_t c = 0; c < of->t->classes; c++)
      n += ask_one(of, j, c, &all[n]);
  }
  return n;
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

/* Of each class alike: one whose labels are often wrong is predicted less
 * surely. */
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

/* Samples of one group are predicted alike.  The square of the standard error
 * of a mean, G / (G - 1) sum over the G of (sum of a group - mean labels)^2 by
 * n^2; without groups each is one.  All the same: 0.  Returns G. */
static double square_error(const asked *of, doubt *all, int64_t n,
                           double (*value)(const doubt *), double *square)
{
  double mean = 0, sum = 0, of_group = 0, groups = 0;
  for (int64_t k = 0; k < n; k++) mean += value(&all[k]) / (double)n;
  if (of->group != NULL) qsort(all, (size_t)n, sizeof *all, group_first);
  for (int64_t k = 0; k < n; k++) {
    of_group += value(&all[k]) - mean;
    if (of->group != NULL && k + 1 < n && all[k + 1].group == all[k].group)
      continue;
    sum += of_group * of_group;
    of_group = 0;
    groups++;
  }
  *square = sum * groups / fmax(groups - 1, 1) / ((double)n * (double)n);
  return groups;
}

static double is_other(const doubt *x)
{
  return x->p < .5;
}

static double gain_of(const doubt *x)
{
  return x->gain;
}

/* Labels of a few groups are fewer trials: as many as have the standard error
 * that the groups show; where they show none, a trial each. */
static double trials(const asked *of, doubt *all, int64_t n, double f)
{
  double square, count = (double)n;
  if (of->group == NULL) return count;
  double groups = square_error(of, all, n, is_other, &square);
  if (groups < 2) return 1;
  if (!(square > 0)) return groups;
  return fmin(fmax(f * (1 - f) / square, 1), count);
}

/* Hidden labels are predicted better than by their shares, by more than chance
 * does once in forty. */
static bool is_clear(const asked *of, doubt *all, int64_t n)
{
  double mean = 0, square;
  for (int64_t k = 0; k < n; k++) mean += all[k].gain / (double)n;
  double groups = square_error(of, all, n, gain_of, &square);
  return groups > 1 && mean > lapis_far_errors(groups) * sqrt(square);
}

/* Of the labels that are predicted most surely, `count` of them, first: the
 * share where the given one is another. */
static double share_other(const doubt *all, int64_t count)
{
  double other = 0;
  for (int64_t k = 0; k < count; k++) other += all[k].p < .5;
  return other / (double)count;
}

/* The share f of wrong labels; Wilson's interval of it; low: its lower end, or
 * 0 where even the surest are contradicted so often that classes may be hard to
 * distinguish and no label wrong.  Of the labels that are predicted most
 * surely, the surest third, hardly any is predicted wrongly: where the given
 * one is another, it is wrong.  Taken for the share of all, which holds where
 * errors strike alike.  That bound is from above: what is predicted wrongly
 * counts, too.  Where classes are hard to distinguish that is too much: the
 * surest sixth, if it is of SIXTH labels or more, then has a smaller share,
 * which is taken.  Of groups the interval's lower end, as few of them say
 * little: a person unlike the others is no sign of wrong labels. */
typedef struct wrong_share {
  double f, low, high, wide, surest;
  bool hard;
} wrong_share;

static wrong_share share_wrong(const asked *of, doubt *all, int64_t n)
{
  int64_t sure = (n + 2) / 3;
  wrong_share out = {.high = 1, .wide = 1};
  if (n == 0) return out;
  surest_first(all, n);
  double f = share_other(all, sure), surest = f;
  if (sure / 2 >= SIXTH) surest = fmin(f, share_other(all, sure / 2));
  if (n >= MANY && f * (double)sure < 1.5) surest = 0;
  lapis_share_interval(f, trials(of, all, sure, f), &out.low, &out.high);
  out.wide = out.high - out.low;
  out.surest = surest;
  out.hard = surest > MOST_WRONG;
  out.low = out.hard ? 0 : fmin(out.low, surest);
  out.f = of->group == NULL ? surest : out.low;
  return out;
}

/* Labels of which a share f is wrong, each for one of so many others;
 * explained: how much of what is predicted wrongly they are. */
typedef struct mistakes {
  double f, others, explained;
} mistakes;

static mistakes mistakes_of(double f, double others)
{
  return (mistakes){fmin(f, MOST_WRONG), others, 1};
}

/* Below this p a label is wrong rather than right: both terms are one there. */
static double doubted_below(mistakes m)
{
  return 2 * m.f * (1 - m.f) / (m.f + (1 - m.f) * m.others);
}

/* That a label is wrong which is given with probability p.  If none were wrong
 * it would be g with q: p = (1 - f) q + f (1 - q) / others, where the second
 * term is of wrong ones.  That is right where wrong labels are all that is
 * predicted wrongly.  Where classes overlap f is too large, and below f /
 * others each label would be wrong for sure, while of such .5 to .8 were: odds
 * of doubted_below to p are what was found there. */
static double wrong_probability(mistakes m, double p)
{
  double one = m.f / m.others; /* of the others */
  double q = fmax(p - one, 0) / (1 - m.f - one), half = doubted_below(m);
  double apart = fmin(one * fmax(1 - q, 0) / fmax(p, LEAST), 1);
  double overlap = half / fmax(half + p, LEAST), w = m.explained * m.explained;
  return w * apart + (1 - w) * overlap;
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

/* Leaves the least likely labels first; how many of them are more likely wrong
 * than right, by *by. */
static int64_t count_wrong(const asked *of, doubt *all, int64_t n,
                           int64_t wrong[4], mistakes *by)
{
  /* K - 1 others; mistakes are for what is alike, which half of them are */
  bool classes = of->t->kind == TARGETS_CLASS, clear = is_clear(of, all, n);
  wrong_share f = share_wrong(of, all, n);
  double others = classes ? (double)of->t->classes - 1 : 1;
  double alike = fmax((others + 1) / 2, 1);
  mistakes least = mistakes_of(f.low, others);
  *by = mistakes_of(f.f, alike);
  by->explained = fmin(by->f / fmax(share_other(all, n), LEAST), 1);
  qsort(all, (size_t)n, sizeof *all, least_first);
  wrong[0] = wrong_at_least(count_below(all, n, doubted_below(least)));
  wrong[1] = (int64_t)ceil(f.high * (double)n);
  wrong[2] = n;
  wrong[3] = (int64_t)rint(f.surest * (double)n);
  wrong[3] = wrong[3] < wrong[0] ? wrong[0] : wrong[3];
  if (f.wide > WIDEST)
    wrong[3] = LAPIS_DOUBTS_FEW;
  else if (!clear)
    wrong[3] = LAPIS_DOUBTS_GUESSED;
  else if (f.hard)
    wrong[3] = LAPIS_DOUBTS_HARD;
  if (wrong[3] < 0) wrong[0] = 0, wrong[1] = n;
  if (wrong[3] == LAPIS_DOUBTS_GUESSED) return 0; /* nothing speaks against */
  return count_below(all, n, doubted_below(*by));
}

static const char AS_RIGHT[] = "; accuracy and coverage take each as right";

char *lapis_doubts_text(const int64_t *wrong, char *text, size_t size)
{
  if (text == NULL || size == 0) return text;
  *text = '\0';
  if (wrong == NULL || wrong[2] == 0) return text;
  int64_t least = wrong[0], most = wrong[1], n = wrong[2], f = wrong[3];
  if (f == LAPIS_DOUBTS_FEW)
    snprintf(text, size,
             "%" PRId64 " checkable labels are too few, or in too few groups, "
             "to say how many of them are wrong",
             n);
  else if (f == LAPIS_DOUBTS_GUESSED)
    snprintf(text, size,
             "how many of your %" PRId64 " checkable labels are wrong cannot "
             "be said: hidden ones are not clearly predicted better than by "
             "guessing",
             n);
  else if (f == LAPIS_DOUBTS_HARD)
    snprintf(text, size,
             "how many of your %" PRId64 " checkable labels are wrong cannot "
             "be said: more than a quarter contradict even sure predictions, "
             "as they do where many are wrong, and where classes are alike",
             n);
  else if (f == 0)
    snprintf(text, size,
             "of your %" PRId64 " checkable labels, probably none is wrong, "
             "and at most %" PRId64,
             n, most);
  else if (most <= 2 * least)
    snprintf(text, size,
             "of your %" PRId64 " checkable labels, between %" PRId64
             " and %" PRId64 " are probably wrong%s",
             n, least, most, AS_RIGHT);
  else
    snprintf(text, size,
             "of your %" PRId64 " checkable labels, about %" PRId64
             " %s probably wrong, but that is uncertain: it may be %" PRId64
             " to %" PRId64 "%s",
             n, f, f == 1 ? "is" : "are", least, most, AS_RIGHT);
  return text;
}

lapis_status lapis_doubts(lapis_ctx *ctx, const lapis_mat *Y,
                          const int64_t *group, const lapis_mat *probabilities,
                          int64_t count, int64_t *index, double *probability,
                          int64_t *found, int64_t *wrong)
{
  targets t;
  NEEDS(ctx, ctx, Y, probabilities, index, probability, found, wrong);
  *found = wrong[0] = wrong[1] = wrong[2] = wrong[3] = 0;
  TRY(mat_check_numbers(ctx, "doubts", "Y", Y));
  TRY(mat_check_numbers(ctx, "doubts", "probabilities", probabilities));
  TRY(targets_encode(ctx, "doubts", Y, &t));
  double *share = base_alloc(ctx, t.classes, sizeof *share);
  bool *alone = base_alloc(ctx, 2 * t.classes, sizeof *alone);
  int64_t *first = base_alloc(ctx, 2 * t.classes, sizeof *first);
  asked of = {&t, share, group, probabilities, alone};
  bool fits =
      probabilities->rows == t.classes && probabilities->cols == t.samples;
  doubt *all = base_alloc(ctx, t.classes * t.samples + 1, sizeof *all);
  for (int64_t c = 0; share != NULL && c < t.classes; c++) {
    int64_t is[2];
    targets_count(&t, c, is);
    share[c] = (double)is[1] / fmax((double)(is[0] + is[1]), 1);
  }
  bool room = all != NULL && share != NULL && alone != NULL && first != NULL;
  if (room) find_alone(&t, group, first, alone);
  if (room && fits) {
    mistakes by;
    int64_t n = ask(&of, all), under = count_wrong(&of, all, n, wrong, &by);
    bool some = wrong[3] > 0 && wrong[0] > 0;
    for (int64_t k = 0; k < n && k < count; k++) {
      index[2 * k] = all[k].sample;
      index[2 * k + 1] = all[k].class_;
      probability[k] = some ? wrong_probability(by, all[k].p) : NAN;
      *found += k < under;
    }
  }
  lapis_status s = room ? LAPIS_OK : LAPIS_ENOMEM;
  int64_t K = t.classes, n = t.samples;
  base_free(all);
  base_free(alone);
  base_free(first);
  base_free(share);
  targets_free(&t);
  if (s < 0 || fits) return s;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "doubts: probabilities of every known label are needed, "
                    "%" PRId64 " x %" PRId64 ", not %" PRId64 " x %" PRId64,
                    K, n, probabilities->rows, probabilities->cols);
}
