/* doubts.c - how many known labels are wrong, and which.
 *
 * By what is said of each while it is hidden: probabilities of its classes. */
#include <math.h>
#include <stdlib.h>

#include "choose/select.h"
#include "lapis/choose.h"

enum { SIXTH = 100, MANY = 100 };
static const double NORMAL_95 = 1.96, MOST_WRONG = .25;

typedef struct doubt {
  double p; /* of the label as it is given */
  double
      sure; /* of the likeliest label; then its place in that class, 0 .. 1 */
  int64_t top; /* that class; labels that a sample has or not: 0 */
  int64_t sample, class_, group;
} doubt;

typedef struct asked { /* what is asked, of whom */
  const targets *t;
  const int64_t *group; /* n, or NULL */
  const lapis_mat *p;   /* K x n */
} asked;

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
  *out = (doubt){.p = sign > 0 ? q : 1 - q,
                 .sure = fmax(q, 1 - q),
                 .sample = j,
                 .class_ = c,
                 .group = of->group == NULL ? 0 : of->group[j]};
  return !isnan(sign) && !isnan(q);
}

/* The class of a sample; nothing contradicts one that is the likeliest of
 * all. */
static bool ask_class(const asked *of, int64_t j, doubt *out)
{
  if (isnan(of->t->sign[j * of->t->classes])) return false;
  int64_t own, other = doubt_class(of->t, of->p, j, &own);
  double p = lapis_mat_at(of->p, own, j), q = lapis_mat_at(of->p, other, j);
  *out = (doubt){.p = p >= q ? fmax(p, .5) : p,
                 .sure = fmax(p, q),
                 .top = p >= q ? own : other,
                 .sample = j,
                 .class_ = other,
                 .group = of->group == NULL ? 0 : of->group[j]};
  return !isnan(p);
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

/* Samples of one group are predicted wrongly together, so that n labels
 * of a few groups are fewer trials: as many as have the standard error that the
 * groups show, f (1 - f) / e^2, where e^2 n^2 = G / (G - 1) sum over the G of
 * (wrong ones - f labels)^2.  At least 1, at most n.  Without groups n. */
static double trials(const asked *of, doubt *all, int64_t n, double f)
{
  double sum = 0, of_group = 0, groups = 0, count = (double)n;
  if (of->group == NULL || f <= 0 || f >= 1) return count;
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

/* Of the labels that are predicted most surely, `count` of them, first: the
 * share where the given one is another. */
static double share_other(const doubt *all, int64_t count)
{
  double other = 0;
  for (int64_t k = 0; k < count; k++) other += all[k].p < .5;
  return other / (double)count;
}

/* The share f of wrong labels, and in wrong[1] how many are wrong at most, by
 * the upper end of Wilson's interval.  Of the labels that are predicted most
 * surely, the surest third, hardly any is predicted wrongly: where the given
 * one is another, it is wrong.  Taken for the share of all, which holds where
 * errors strike alike.  That bound is from above: what is predicted wrongly
 * counts, too.  Where classes are hard to distinguish that is too much: the
 * surest sixth, if it is of SIXTH labels or more, then has a smaller share,
 * which is taken.  Of groups the interval's lower end, as few of them say
 * little: a person unlike the others is no sign of wrong labels.  *low: that
 * lower end, or 0 where even the surest are contradicted so often that classes
 * may be hard to distinguish and no label wrong. */
static double share_wrong(const asked *of, doubt *all, int64_t n, double *low,
                          int64_t wrong[3])
{
  *low = 0;
  int64_t sure = (n + 2) / 3;
  surest_first(all, n);
  if (n == 0) return 0;
  double f = share_other(all, sure), surest = f;
  if (sure / 2 >= SIXTH) surest = fmin(f, share_other(all, sure / 2));
  if (n >= MANY && f * (double)sure < 1.5) surest = 0;
  double high;
  lapis_share_interval(f, trials(of, all, sure, f), low, &high);
  *low = surest > MOST_WRONG ? 0 : fmin(*low, surest);
  wrong[1] = (int64_t)ceil(high * (double)n);
  if (f <= 0) wrong[1] = 0;
  wrong[2] = n;
  return of->group == NULL ? surest : *low;
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

/* Leaves the least likely labels first; how many of them are more likely wrong
 * than right. */
static int64_t count_wrong(const asked *of, doubt *all, int64_t n,
                           int64_t wrong[3])
{
  /* K - 1 others; mistakes are for what is alike, which half of them are */
  bool classes = of->t->kind == TARGETS_CLASS;
  double low, f = share_wrong(of, all, n, &low, wrong);
  double others = classes ? (double)of->t->classes - 1 : 1;
  double alike = fmax((others + 1) / 2, 1);
  qsort(all, (size_t)n, sizeof *all, least_first);
  wrong[0] = wrong_at_least(count_below(all, n, doubted_below(low, others)));
  return count_below(all, n, doubted_below(f, alike));
}

lapis_status lapis_doubts(lapis_ctx *ctx, const lapis_mat *Y,
                          const int64_t *group, const lapis_mat *probabilities,
                          int64_t count, int64_t *index, double *margin,
                          int64_t *found, int64_t *wrong)
{
  targets t;
  NEEDS(ctx, ctx, Y, probabilities, index, margin, found, wrong);
  *found = wrong[0] = wrong[1] = wrong[2] = 0;
  TRY(mat_check_numbers(ctx, "doubts", "Y", Y));
  TRY(mat_check_numbers(ctx, "doubts", "probabilities", probabilities));
  TRY(targets_encode(ctx, "doubts", Y, &t));
  asked of = {&t, group, probabilities};
  bool fits =
      probabilities->rows == t.classes && probabilities->cols == t.samples;
  doubt *all = base_alloc(ctx, t.classes * t.samples + 1, sizeof *all);
  if (all != NULL && fits) {
    int64_t n = ask(&of, all), under = count_wrong(&of, all, n, wrong);
    for (int64_t k = 0; k < under && k < count; k++) {
      index[2 * k] = all[k].sample;
      index[2 * k + 1] = all[k].class_;
      margin[k] = 1 - all[k].p;
      *found = k + 1;
    }
  }
  lapis_status s = all == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  int64_t K = t.classes, n = t.samples;
  base_free(all);
  targets_free(&t);
  if (s < 0 || fits) return s;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "doubts: probabilities of every known label are needed, "
                    "%" PRId64 " x %" PRId64 ", not %" PRId64 " x %" PRId64,
                    K, n, probabilities->rows, probabilities->cols);
}
