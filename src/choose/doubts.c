/* doubts.c - how many known labels are wrong, and which.
 *
 * By what is said of each while it is hidden: probabilities of its classes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "choose/select.h"
#include "choose/wrong.h"
#include "lapis/choose.h"

enum { LEAST_TRIALS = 30, FEW = 100, FEW_ARE = 50 };
static const double MOST_WRONG = .25, WIDEST = .25;
static const double LEAST = 1e-12; /* a probability is above */
static const double LEAST_GAIN = .01;

typedef struct doubt {
  wrong_label of;
  double p;     /* of the label as it is given */
  double gain;  /* log-loss less than that of the shares of the labels */
  double wrong; /* the probability that it is */
  int64_t sample, class_;
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

/* A few wrong labels that are sure to be may not outweigh all others. */
static double gain(double p, double share)
{
  return log(fmax(p, LEAST_GAIN)) - log(fmax(share, LEAST_GAIN));
}

static double log_odds(double p)
{
  return log(fmax(p, LEAST) / fmax(1 - p, LEAST));
}

/* The most doubtful first. */
static int least_first(const void *a, const void *b)
{
  const doubt *x = a, *y = b;
  if (x->wrong != y->wrong) return x->wrong > y->wrong ? -1 : 1;
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

static int64_t group_of(const asked *of, int64_t j)
{
  return of->group == NULL ? 0 : of->group[j];
}

/* A label that a sample has or not, and what p says of it; false: not known. */
static bool ask_one(const asked *of, int64_t j, int64_t c, doubt *out)
{
  double q = lapis_mat_at(of->p, c, j);
  double sign = of->t->sign[j * of->t->classes + c];
  double p = sign > 0 ? q : 1 - q, f = of->share[c];
  *out = (doubt){.of = {log_odds(fmax(q, 1 - q)), p < .5, 1, group_of(of, j)},
                 .p = p,
                 .gain = gain(p, sign > 0 ? f : 1 - f),
                 .sample = j,
                 .class_ = c};
  return !isnan(sign) && !isnan(q) && !of->alone[2 * c + (sign > 0)];
}

/* The class of a sample; nothing contradicts one that is the likeliest of
 * all. */
static bool ask_class(const asked *of, int64_t j, doubt *out)
{
  if (isnan(of->t->sign[j * of->t->classes])) return false;
  int64_t own, other = doubt_class(of->t, of->p, j, &own);
  double p = lapis_mat_at(of->p, own, j), q = lapis_mat_at(of->p, other, j);
  double rest = fmin(p / fmax(1 - q, LEAST), 1); /* where it is another */
  *out = (doubt){.of = {log_odds(fmax(p, q)), p < q, rest, group_of(of, j)},
                 .p = p >= q ? fmax(p, .5) : p,
                 .gain = gain(p, of->share[own]),
                 .sample = j,
                 .class_ = other};
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

static int group_first(const void *a, const void *b)
{
  const doubt *x = a, *y = b;
  return (x->of.group > y->of.group) - (x->of.group < y->of.group);
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
    if (of->group != NULL && k + 1 < n &&
        all[k + 1].of.group == all[k].of.group)
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
  return x->of.other;
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

/* How probable each is wrong; of groups, which lie together, by how well each
 * is predicted. */
static lapis_status find_wrong(lapis_ctx *ctx, const asked *of, doubt *all,
                               int64_t n, const wrong_share *w)
{
  if (of->group == NULL) {
    for (int64_t k = 0; k < n; k++) all[k].wrong = wrong_is(w, &all[k].of);
    return LAPIS_OK;
  }
  double *is = base_alloc(ctx, n, sizeof *is);
  if (is == NULL) return LAPIS_ENOMEM;
  lapis_status s = wrong_in_groups(ctx, w, &all->of, sizeof *all, n, is);
  for (int64_t k = 0; k < n; k++) all[k].wrong = is[k];
  base_free(is);
  return s;
}

/* Says how many are wrong, and leaves the most doubtful first; *found: how many
 * of these are wrong rather than right. */
static lapis_status judge(lapis_ctx *ctx, const asked *of, doubt *all,
                          int64_t n, int64_t wrong[4], int64_t *found)
{
  bool classes = of->t->kind == TARGETS_CLASS, clear = is_clear(of, all, n);
  double others = 0, K = classes ? (double)of->t->classes : 2;
  wrong_share w;
  for (int64_t k = 0; k < n; k++) others += is_other(&all[k]) / (double)n;
  double count = trials(of, all, n, others);
  TRY(wrong_fit(ctx, &all->of, sizeof *all, n, fmax(K, 2), count, &w));
  TRY(find_wrong(ctx, of, all, n, &w));
  wrong[0] = (int64_t)floor(w.low * (double)n);
  wrong[1] = (int64_t)ceil(w.high * (double)n);
  wrong[2] = n;
  wrong[3] = (int64_t)rint(w.f * (double)n);
  bool wide = w.high - w.low > WIDEST;
  if (count < LEAST_TRIALS || (wide && count < FEW))
    wrong[3] = of->group == NULL || n < LEAST_TRIALS ? LAPIS_DOUBTS_FEW
                                                     : LAPIS_DOUBTS_FEW_GROUPS;
  else if (!clear)
    wrong[3] = LAPIS_DOUBTS_GUESSED;
  else if (w.f > MOST_WRONG || wide)
    wrong[3] = LAPIS_DOUBTS_HARD;
  if (wrong[3] < 0) wrong[0] = 0, wrong[1] = n;
  bool none = wrong[3] == LAPIS_DOUBTS_GUESSED || wrong[3] == 0;
  for (int64_t k = 0; k < n && !none; k++) *found += all[k].wrong >= .5;
  qsort(all, (size_t)n, sizeof *all, least_first);
  return LAPIS_OK;
}

char *lapis_doubts_text(const int64_t *wrong, char *text, size_t size)
{
  if (text == NULL || size == 0) return text;
  *text = '\0';
  if (wrong == NULL || wrong[2] == 0) return text;
  int64_t least = wrong[0], most = wrong[1], n = wrong[2], f = wrong[3];
  if (f == LAPIS_DOUBTS_FEW)
    snprintf(text, size,
             "%" PRId64 " checkable labels are too few to say how many of them "
             "are wrong",
             n);
  else if (f == LAPIS_DOUBTS_FEW_GROUPS)
    snprintf(text, size,
             "%" PRId64 " checkable labels are in too few groups to say how "
             "many of them are wrong",
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
             "be said: hidden ones are too often predicted otherwise, as they "
             "are where many are wrong, and where classes are alike",
             n);
  else if (f == 0 && FEW_ARE * most > n)
    snprintf(text, size,
             "of your %" PRId64 " checkable labels, at most %" PRId64
             " are wrong, and perhaps none: where classes are alike right ones "
             "look wrong, too",
             n, most);
  else if (f == 0)
    snprintf(text, size,
             "of your %" PRId64 " checkable labels, probably none is wrong, "
             "and at most %" PRId64,
             n, most);
  else if (most <= 2 * least)
    snprintf(text, size,
             "of your %" PRId64 " checkable labels, between %" PRId64
             " and %" PRId64 " are probably wrong",
             n, least, most);
  else
    snprintf(text, size,
             "of your %" PRId64 " checkable labels, about %" PRId64
             " %s probably wrong, but that is uncertain: it may be %" PRId64
             " to %" PRId64,
             n, f, f == 1 ? "is" : "are", least, most);
  size_t used = strlen(text);
  if (f > 0)
    snprintf(text + used, size - used,
             "; accuracy, probabilities and coverage take each as right, so "
             "that about 1 in %.0f right answers counts as wrong",
             rint((double)n / (double)f));
  return text;
}

int64_t lapis_doubts_shown(const int64_t *wrong, int64_t count)
{
  if (wrong == NULL || wrong[3] == LAPIS_DOUBTS_GUESSED) return 0;
  return wrong[2] < count ? wrong[2] : count;
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
  lapis_status s = room ? LAPIS_OK : LAPIS_ENOMEM;
  if (room && fits) {
    int64_t n = ask(&of, all);
    s = judge(ctx, &of, all, n, wrong, found);
    bool said = wrong[3] > 0 && wrong[0] > 0; /* that some are wrong */
    for (int64_t k = 0; s >= 0 && k < n && k < count; k++) {
      index[2 * k] = all[k].sample;
      index[2 * k + 1] = all[k].class_;
      probability[k] = said ? all[k].wrong : NAN;
    }
    if (*found > count) *found = count;
  }
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
