/* outliers.c - known numbers that are far from what all others say of them.
 *
 * A few gross errors, as slipped decimals and codes are, rule whatever is
 * fitted or judged by squares.  What is said without them is found with
 * modified residuals [Huber 1981, 7.8]: numbers are cut off at 3 deviations
 * from what is said of them, first from their median, while each is hidden, and
 * said again by squares.  Ridge regression and boosted trees say it, and the
 * one that errs less decides; far is what it misses by 10 deviations, of
 * logarithms by 6.  A deviation is what the middle eight tenths of residuals
 * spread, and a limit of mat/far.h four of them.
 *
 * True numbers have long tails, too.  Where numbers are not below 0 those stay
 * whose logarithms are not far.  All stay where features say which of them are
 * far: errors fall on samples by chance, so that trees which are to predict
 * what is far order hidden samples by lot.  So they do where more than a tenth
 * is far, and where half of all numbers are one value.  What that makes of
 * tails: bench/results/outliers.md. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folds/rank.h"
#include "mat/far.h"
#include "methods/auto/candidates.h"

static const double CUT = .75, FAR_OFF = 2.5, FAR_LOGARITHM = 1.5; /* limits */
static const double BY_LOT = .7; /* most AUROC of what is by lot */
enum { LEAST = 40, MOST = 10 };  /* known; a MOSTth of them is far, at most */
enum { TRIED = 2, DEEP = 1 };

typedef struct target { /* what is 0 and 1 of y; alone: all is 0 */
  double middle, limit;
  bool alone;
} target;
typedef struct search {
  comparison *r;
  target *of;               /* K */
  double *y, *cut, *sorted; /* K x n; n */
  double *miss;             /* K x n: what said falls short by; then how far
                             * that is, where it is far, else 0 */
  double *first;            /* K x n: the same of numbers as they are */
} search;

static bool room(search *w)
{
  comparison *r = w->r;
  int64_t all = r->K * r->n;
  w->of = base_alloc(r->ctx, r->K, sizeof *w->of);
  w->y = base_alloc_raw(r->ctx, all, sizeof *w->y);
  w->cut = base_alloc_raw(r->ctx, all, sizeof *w->cut);
  w->miss = base_alloc_raw(r->ctx, all, sizeof *w->miss);
  w->first = base_alloc_raw(r->ctx, all, sizeof *w->first);
  w->sorted = base_alloc_raw(r->ctx, r->n, sizeof *w->sorted);
  return w->first && w->of && w->y && w->cut && w->miss && w->sorted;
}

static void leave(search *w)
{
  base_free(w->of);
  base_free(w->y);
  base_free(w->cut);
  base_free(w->miss);
  base_free(w->first);
  base_free(w->sorted);
}

/* What is known of target c in v, sorted; how many. */
static int64_t sort_known(search *w, const double *v, int64_t c)
{
  int64_t m = 0;
  for (int64_t j = 0; j < w->r->n; j++)
    if (!isnan(v[j * w->r->K + c])) w->sorted[m++] = v[j * w->r->K + c];
  qsort(w->sorted, (size_t)m, sizeof *w->sorted, base_ascending);
  return m;
}

/* v into y. */
static void scale(search *w, const double *v, int64_t c)
{
  comparison *r = w->r;
  int64_t m = sort_known(w, v, c);
  target *t = &w->of[c];
  mat_far_limits(w->sorted, m, &t->middle, &t->limit);
  t->alone = m < LEAST || t->limit == DBL_MAX;
  for (int64_t k = 0; k + m / 2 < m; k++)
    t->alone |= w->sorted[k] == w->sorted[k + m / 2];
  for (int64_t k = c; k < r->K * r->n; k += r->K)
    w->y[k] = t->alone && !isnan(v[k]) ? 0 : (v[k] - t->middle) / t->limit;
}

/* Numbers cut off about what is said of them, or about 0. */
static void cut(search *w, const double *said)
{
  comparison *r = w->r;
  for (int64_t c = 0; c < r->K; c++) {
    double middle = 0, limit = 1;
    if (said != NULL)
      mat_far_limits(w->sorted, sort_known(w, w->miss, c), &middle, &limit);
    for (int64_t k = c; k < r->K * r->n; k += r->K) {
      double off = said == NULL ? w->y[k] : w->miss[k];
      off = fmin(fmax(off, middle - CUT * limit), middle + CUT * limit);
      w->cut[k] = isnan(w->y[k]) ? NAN : (said == NULL ? 0 : said[k]) + off;
    }
  }
}

/* What x says of y, each while it is hidden. */
static lapis_status say(comparison *r, candidate *x, double *y)
{
  double *own = r->labels.sign;
  lapis_status s = LAPIS_OK;
  r->labels.sign = y;
  for (int64_t f = 0; f < r->used && s == LAPIS_OK; f++) {
    s = candidate_answers(r, x, f);
    if (s == LAPIS_EDATA || s == LAPIS_EMISSING) s = LAPIS_OK;
  }
  r->labels.sign = own;
  return s;
}

/* *width: the limits of what is missed, added up over targets. */
static lapis_status try(search *w, candidate *x, double *width)
{
  comparison *r = w->r;
  TRY(say(r, x, w->cut));
  *width = 0;
  for (int64_t k = 0; k < r->K * r->n; k++) w->miss[k] = w->y[k] - x->score[k];
  for (int64_t c = 0; c < r->K; c++) {
    double middle, limit;
    if (w->of[c].alone) continue;
    mat_far_limits(w->sorted, sort_known(w, w->miss, c), &middle, &limit);
    *width += limit;
  }
  return LAPIS_OK;
}

/* Turns miss into how far it is. */
static int64_t count_far(search *w, double off)
{
  comparison *r = w->r;
  int64_t all = 0;
  for (int64_t c = 0; c < r->K; c++) {
    int64_t m = sort_known(w, w->miss, c), far = 0;
    double middle, limit;
    mat_far_limits(w->sorted, m, &middle, &limit);
    for (int64_t k = c; k < r->K * r->n; k += r->K) {
      double by = fabs(w->miss[k] - middle) / limit;
      w->miss[k] = by > off ? by : 0;
      far += by > off;
    }
    for (int64_t k = c; MOST * far > m && k < r->K * r->n; k += r->K)
      w->miss[k] = 0;
    all += MOST * far > m ? 0 : far;
  }
  return all;
}

static bool is_any_far(const search *w)
{
  for (int64_t k = 0; k < w->r->K * w->r->n; k++)
    if (w->miss[k] > 0) return true;
  return false;
}

/* Features say which numbers of target c are far: the AUROC is clear, and more
 * than BY_LOT. */
static lapis_status is_said(search *w, const candidate *x, int64_t c, bool *out)
{
  comparison *r = w->r;
  double far = 0, others = 0, auroc = NAN;
  double *truth = w->sorted, *score = w->cut; /* n of each */
  for (int64_t j = 0; j < r->n; j++) {
    truth[j] = w->y[j * r->K + c];
    if (!isnan(truth[j])) truth[j] = w->miss[j * r->K + c] > 0;
    if (!isnan(truth[j])) truth[j] > 0 ? far++ : others++;
    score[j] = x->score[j * r->K + c];
    if (isnan(score[j])) truth[j] = NAN, score[j] = 0;
  }
  if (far > 0) TRY(metric_auroc(r->ctx, truth, score, r->n, &auroc));
  double error = sqrt((far + others + 1) / (12 * far * others));
  *out = auroc > BY_LOT && auroc - .5 > 2 * error;
  return LAPIS_OK;
}

static lapis_status keep_tails(search *w)
{
  comparison *r = w->r;
  candidate x = candidates_boosted_at(r, DEEP);
  bool said;
  for (int64_t k = 0; k < r->K * r->n; k++)
    w->cut[k] = isnan(w->y[k]) ? NAN : w->miss[k] > 0;
  lapis_status s = say(r, &x, w->cut);
  for (int64_t c = 0; c < r->K && s == LAPIS_OK; c++) {
    s = is_said(w, &x, c, &said);
    for (int64_t k = c; said && s == LAPIS_OK && k < r->K * r->n; k += r->K)
      w->miss[k] = 0;
  }
  base_free(x.score);
  return s;
}

/* Both say all; the one that errs less again, where anything is far. */
static lapis_status look(search *w, double off)
{
  comparison *r = w->r;
  candidate x[TRIED] = {candidates_boosted_at(r, DEEP),
                        {.kind = CANDIDATE_LINEAR, .C = 1}};
  double width[TRIED], again;
  lapis_status s = LAPIS_OK;
  cut(w, NULL);
  for (int i = 0; i <= r->o.linear && s == LAPIS_OK; i++)
    s = try(w, &x[i], &width[i]);
  int best = r->o.linear && s == LAPIS_OK && width[1] < width[0];
  for (int64_t k = 0; s == LAPIS_OK && k < r->K * r->n; k++)
    w->miss[k] = w->y[k] - x[best].score[k];
  if (s == LAPIS_OK) cut(w, x[best].score);
  if (s == LAPIS_OK && count_far(w, off) > 0) {
    s = try(w, &x[best], &again);
    if (s == LAPIS_OK) (void)count_far(w, off);
  }
  for (int i = 0; i < TRIED; i++) base_free(x[i].score);
  return s;
}

static double number_at(const comparison *r, int64_t k)
{
  const double *of = r->centre + 2 * (k % r->K);
  return r->labels.sign[k] * of[1] + of[0];
}

/* All is 0 that is known. */
static void ignore(search *w, int64_t c)
{
  w->of[c].alone = true;
  for (int64_t k = c; k < w->r->K * w->r->n; k += w->r->K) w->y[k] *= 0;
}

/* Logarithms of target c into cut, away from 0 by the median; false where that
 * is none above it, or others than far ones are below. */
static bool take_logarithms(search *w, int64_t c)
{
  comparison *r = w->r;
  double middle = w->of[c].middle * r->centre[2 * c + 1] + r->centre[2 * c];
  bool above = middle > 0 && !w->of[c].alone;
  for (int64_t k = c; k < r->K * r->n; k += r->K) {
    double number = number_at(r, k);
    above = above && !(number < 0 && !(w->first[k] > 0));
    w->cut[k] = isnan(number) ? NAN : log(fmax(number, 0) + middle);
  }
  return above;
}

/* Of numbers that are not below 0 those stay whose logarithms are not far. */
static lapis_status look_at_logarithms(search *w)
{
  comparison *r = w->r;
  int64_t all = r->K * r->n;
  bool any = false;
  memcpy(w->first, w->miss, (size_t)all * sizeof *w->first);
  for (int64_t c = 0; c < r->K; c++) {
    bool above = take_logarithms(w, c);
    if (!above) ignore(w, c);
    if (above) scale(w, w->cut, c);
    any |= above && !w->of[c].alone;
  }
  if (!any) return LAPIS_OK;
  TRY(look(w, FAR_LOGARITHM));
  for (int64_t k = 0; k < all; k++) {
    bool far = w->of[k % r->K].alone || w->miss[k] > 0 || number_at(r, k) < 0;
    w->miss[k] = far ? w->first[k] : 0;
  }
  return LAPIS_OK;
}

static int farthest_first(const void *a, const void *b)
{
  const double *x = a, *y = b; /* where, and how far */
  if (x[1] != y[1]) return x[1] < y[1] ? 1 : -1;
  return (x[0] > y[0]) - (x[0] < y[0]);
}

static lapis_status list(search *w)
{
  comparison *r = w->r;
  int64_t count = 0, all = r->K * r->n;
  for (int64_t k = 0; k < all; k++) count += w->miss[k] > 0;
  if (count == 0) return LAPIS_OK;
  r->outlier = base_alloc_raw(r->ctx, 2 * count, sizeof *r->outlier);
  r->others = base_alloc_raw(r->ctx, all, sizeof *r->others);
  if (r->outlier == NULL || r->others == NULL) return LAPIS_ENOMEM;
  mat_to_f64(&r->data->Y, r->others, r->K);
  for (int64_t k = 0; k < all; k++) {
    if (!(w->miss[k] > 0)) continue;
    r->outlier[2 * r->outliers] = (double)k;
    r->outlier[2 * r->outliers++ + 1] = w->miss[k];
    r->others[k] = NAN;
  }
  qsort(r->outlier, (size_t)count, 2 * sizeof *r->outlier, farthest_first);
  for (int64_t i = 0; i < count; i++) { /* sample and target */
    int64_t k = (int64_t)r->outlier[2 * i];
    int64_t sample = k / r->K;
    r->outlier[2 * i] = (double)sample;
    r->outlier[2 * i + 1] = (double)(k % r->K);
  }
  return LAPIS_OK;
}

lapis_status outliers_find(comparison *r)
{
  search w = {.r = r};
  if (r->n > MOST_GROWN || !(r->o.trees || r->o.linear)) return LAPIS_OK;
  lapis_status s = room(&w) ? LAPIS_OK : LAPIS_ENOMEM;
  bool any = false;
  for (int64_t c = 0; s == LAPIS_OK && c < r->K; c++) {
    scale(&w, r->labels.sign, c);
    any |= !w.of[c].alone;
  }
  if (s == LAPIS_OK && any) s = look(&w, FAR_OFF);
  if (s == LAPIS_OK && any && is_any_far(&w)) s = look_at_logarithms(&w);
  if (s == LAPIS_OK && any && is_any_far(&w)) s = keep_tails(&w);
  if (s == LAPIS_OK && any) s = list(&w);
  leave(&w);
  return s < 0 ? s : LAPIS_OK; /* out of time: so are those that come */
}

/* ---- what is said of them ------------------------------------------------*/
lapis_mat comparison_outliers(const comparison *r)
{
  if (r == NULL || r->outliers == 0) return (lapis_mat){0};
  return lapis_mat_f64(r->outlier, 2, r->outliers);
}

bool comparison_others(const comparison *r, lapis_mat *Y)
{
  bool omits = r != NULL && r->outliers > 0 && r->o.omits;
  if (omits) *Y = lapis_mat_f64(r->others, r->K, r->n);
  return omits;
}

void comparison_remark_outliers(const comparison *r, const char *name)
{
  int64_t known = 0, n = r->outliers;
  if (n == 0) return;
  for (int64_t k = 0; k < r->K * r->n; k++) known += !isnan(r->labels.sign[k]);
  base_note(r->ctx, BASE_WARNING, "far-numbers",
            r->o.omits
                ? "%s: left out: %lld number(s) of the %lld known, far from "
                  "what all others say (result outliers lists them); look at "
                  "them first; if they are right, {outliers learn} counts them"
                : "%s: %lld number(s) of the %lld known, far from what all "
                  "others say (result outliers lists them): look at them "
                  "first; a slipped decimal hides what all others tell, and "
                  "{outliers omit} leaves such out",
            name, (long long)n, (long long)(r->o.omits ? known + n : known));
}
