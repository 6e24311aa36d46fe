/* wrong.c - the share of wrong labels and which ones, by what was predicted of
 * each while it was hidden.
 *
 * A label is wrong with probability f, whatever its sample, and then any of the
 * K - 1 other classes.  What was predicted was learnt from such labels, and
 * knows in part how often they are wrong: where the likeliest class has p, it
 * would have q if none were,
 *
 *   p = (1 - g) q + g (1 - q) / (K - 1),  g = f / 2,
 *
 * and a right label is another with probability
 *
 *   e = 1 / (1 + (q / (1 - q))^a),
 *
 * a, one number as f, as predictions are too sure or not sure enough; which one
 * it then is, r has predicted, its share of 1 - p.  So class c is given instead
 * with probability
 *
 *   (1 - f) e r + f (1 - e r) / (K - 1),
 *
 * which levels off at f / (K - 1) however sure predictions become, and however
 * unlikely the class: by that wrong labels are told from classes that overlap.
 * f is the likeliest; its interval holds all with which, by their best a, the
 * labels are not less likely by 1.92 in the logarithm (Wilks), and reaches up
 * to what the surest predictions allow, who need no such law.  What is said of
 * a single label is the mean over f and a by their likelihood, f exponential
 * and log a normal before.  (g = 0 misses labels where many are wrong, g = f
 * finds too many where classes overlap.)
 *
 * Where samples come in groups, predictions are better in one and worse in
 * another: each group has an a of its own, log a normal about that of all, or,
 * once in a hundred, predictions know nothing there, a = 0.  Its labels tell
 * which, so a group that is contradicted as a whole is no group of wrong
 * labels. */
#include "choose/wrong.h"

#include <math.h>
#include <string.h>

#include "lapis/choose.h"

enum {
  BINS = WRONG_BINS,
  RESTS = WRONG_RESTS,
  EXPONENTS = WRONG_EXPONENTS,
  SHARES = WRONG_SHARES,
  OWN = EXPONENTS + 1, /* a of a group; the last one is 0 */
  ZOOMS = 3,
  SURE = 30
};
static const double SUREST = 8, MOST = .45, WILKS = 1.92, LEAST = 1e-12;
static const double MAY_BE = 1e-3; /* of the likeliest point */
static const double USUAL = .1;    /* the mean of f before labels are seen */
static const double APART = .2;    /* groups, in log a */
static const double STRANGE =
    .01; /* groups of which predictions know nothing */

typedef struct counts {
  /* labels, by odds of what was predicted, others by powers of 1/2 of r */
  double is[BINS], other[BINS][RESTS];
} counts;

static double odds_of(int bin)
{
  return SUREST * bin / (BINS - 1);
}

/* .25 .. 6 */
static double exponent(int k)
{
  return .25 * pow(24, k / (double)(EXPONENTS - 1));
}

/* Log odds of q by those of p, at most SUREST. */
static double undone(double odds, double f, double K)
{
  double p = 1 / (1 + exp(-odds)), g = f / 2, rest = g / (K - 1);
  double q = fmin((p - rest) / (1 - g - rest), 1);
  return fmin(log(fmax(q, .5) / fmax(1 - q, LEAST)), SUREST);
}

static double error_of(double odds, double a)
{
  return 1 / (1 + exp(a * odds));
}

static const wrong_label *label_at(const wrong_label *all, size_t stride,
                                   int64_t k)
{
  return (const void *)((const char *)all + (size_t)k * stride);
}

static int bin_of(const wrong_label *x)
{
  return (int)rint(fmin(fmax(x->odds, 0), SUREST) / SUREST * (BINS - 1));
}

/* RESTS: it is the likeliest. */
static int rest_of(const wrong_label *x)
{
  if (!x->other) return RESTS;
  return (int)rint(-log2(fmax(x->rest, ldexp(1, 1 - RESTS))));
}

static void count(const wrong_label *all, size_t stride, int64_t n, counts *to)
{
  memset(to, 0, sizeof *to);
  for (int64_t k = 0; k < n; k++) {
    const wrong_label *x = label_at(all, stride, k);
    int bin = bin_of(x), rest = rest_of(x);
    if (rest < RESTS)
      to->other[bin][rest]++;
    else
      to->is[bin]++;
  }
}

/* The probability of a class to be given that is right with that. */
static double given(double f, double right, double K)
{
  return fmax((1 - f) * right + f * (1 - right) / (K - 1), LEAST);
}

/* odds: of each bin, undone by f. */
static double likelihood(const counts *of, const double *odds, double f,
                         double a, double K)
{
  double sum = 0;
  for (int b = 0; b < BINS; b++) {
    double e = error_of(odds[b], a), right = 1 - e;
    if (of->is[b] > 0) sum += of->is[b] * log(given(f, right, K));
    for (int r = 0; r < RESTS; r++, e /= 2)
      if (of->other[b][r] > 0) sum += of->other[b][r] * log(given(f, e, K));
  }
  return sum;
}

/* SHARES x EXPONENTS, f from `from` on in equal steps; best: of each f. */
static double fill(const counts *of, double from, double step, double K,
                   double scale, double *log_of, double *best)
{
  double most = -INFINITY, odds[BINS];
  for (int i = 0; i < SHARES; i++) {
    double f = from + i * step;
    best[i] = -INFINITY;
    for (int b = 0; b < BINS; b++) odds[b] = undone(odds_of(b), f, K);
    for (int k = 0; k < EXPONENTS; k++) {
      double v = scale * likelihood(of, odds, f, exponent(k), K);
      log_of[i * EXPONENTS + k] = v;
      best[i] = fmax(best[i], v);
    }
    most = fmax(most, best[i]);
  }
  return most;
}

/* The first and last that may be by so much. */
static void ends(const double *best, double least, int *from, int *to)
{
  for (*from = 0; *from < SHARES - 1 && best[*from] < least;) ++*from;
  for (*to = SHARES - 1; *to > 0 && best[*to] < least;) --*to;
}

/* How many steps from i, which may be, towards j, which may not. */
static double part(const double *best, double least, int i, int j)
{
  if (j < 0 || j == SHARES || !(best[i] > best[j])) return 0;
  return (best[i] - least) / (best[i] - best[j]);
}

/* Adds to each bin how probable it is that its labels are wrong, times weight;
 * odds: of each, undone by f. */
static void add_mean(wrong_share *to, const double *odds, double f, double a,
                     double weight)
{
  double each = f / (to->K - 1);
  for (int b = 0; b < BINS; b++) {
    double right = error_of(odds[b], a), likely = 1 - right;
    for (int r = 0; r <= RESTS; r++, right = r < RESTS ? right / 2 : likely) {
      double wrong = each * (1 - right), all = wrong + (1 - f) * right;
      to->mean[b][r] += all > LEAST ? weight * wrong / all : 0;
    }
  }
}

/* Of a prior by which f is exponential and log a normal. */
static void find_means(double from, double step, double *log_of, double most,
                       wrong_share *out)
{
  double sum = 0, *weight = log_of;
  for (int i = 0; i < SHARES * EXPONENTS; i++) {
    int share = i / EXPONENTS;
    double a = exponent(i % EXPONENTS), f = from + share * step;
    weight[i] = exp(log_of[i] - most - f / USUAL - .5 * log(a) * log(a));
    if (weight[i] < MAY_BE * exp(-from / USUAL)) weight[i] = 0;
    sum += weight[i];
  }
  for (int i = 0; i < SHARES; i++) {
    double odds[BINS], f = from + i * step;
    out->share[i] = f;
    for (int b = 0; b < BINS; b++) odds[b] = undone(odds_of(b), f, out->K);
    for (int k = 0; k < EXPONENTS; k++) {
      double part = weight[i * EXPONENTS + k] / sum;
      if (part > 0) add_mean(out, odds, f, exponent(k), part);
      out->of_share[i] += part;
      out->of_exponent[k] += part;
    }
  }
}

/* However classes overlap and whatever predictions know: labels are wrong as
 * often where predictions are surest, and there f is at most the share of the
 * labels that are another, up to chance. */
static double most_by_surest(const counts *of, double scale)
{
  double all = 0, others = 0, low, high, most = 1;
  for (int b = BINS - 1; b >= 0; b--) {
    all += of->is[b];
    for (int r = 0; r < RESTS; r++) {
      all += of->other[b][r];
      others += of->other[b][r];
    }
    if (all * scale < SURE) continue;
    lapis_share_interval(others / all, all * scale, &low, &high);
    most = fmin(most, high);
  }
  return most;
}

lapis_status wrong_fit(lapis_ctx *ctx, const wrong_label *all, size_t stride,
                       int64_t n, double K, double trials, wrong_share *out)
{
  counts of;
  double start = 0, end = MOST, step = 0, most = 0;
  double scale = n > 0 ? trials / (double)n : 1;
  int from, to;
  *out = (wrong_share){.high = 1, .K = K};
  double *log_of = base_alloc(ctx, SHARES * (EXPONENTS + 1), sizeof *log_of);
  if (log_of == NULL) return LAPIS_ENOMEM;
  double *best = log_of + SHARES * EXPONENTS;
  count(all, stride, n, &of);
  for (int zoom = 0; zoom < ZOOMS; zoom++) {
    step = (end - start) / (SHARES - 1);
    most = fill(&of, start, step, K, scale, log_of, best);
    if (zoom == ZOOMS - 1) break;
    ends(best, most - 4 * WILKS, &from, &to); /* again, where it may be */
    end = start + fmin(to + 1, SHARES - 1) * step;
    start += fmax(from - 1, 0) * step;
  }
  ends(best, most - WILKS, &from, &to);
  out->low = start + (from - part(best, most - WILKS, from, from - 1)) * step;
  out->high = start + (to + part(best, most - WILKS, to, to + 1)) * step;
  out->high = fmax(out->high, most_by_surest(&of, scale));
  for (int i = 0; i < SHARES; i++)
    if (best[i] >= most) out->f = start + i * step;
  find_means(start, step, log_of, most, out);
  base_free(log_of);
  return LAPIS_OK;
}

/* As far as `part`. */
static double between(double from, double to, double part)
{
  return from + part * (to - from);
}

double wrong_is(const wrong_share *w, const wrong_label *x)
{
  double at = fmin(fmax(x->odds, 0), SUREST) / SUREST * (BINS - 1);
  double deep = x->other ? -log2(fmax(x->rest, ldexp(1, 1 - RESTS))) : RESTS;
  int b = (int)fmin(floor(at), BINS - 2);
  int r = x->other ? (int)fmin(floor(deep), RESTS - 2) : RESTS - 1;
  return between(between(w->mean[b][r], w->mean[b][r + 1], deep - r),
                 between(w->mean[b + 1][r], w->mean[b + 1][r + 1], deep - r),
                 at - b);
}

/* The logarithm of how probable each a is in a group. */
static void find_own(const wrong_share *w, double *log_of)
{
  double own[EXPONENTS] = {0};
  for (int k = 0; k < EXPONENTS; k++) {
    double all = 0, near[EXPONENTS];
    for (int l = 0; l < EXPONENTS; l++) {
      double apart = log(exponent(l) / exponent(k)) / APART;
      all += near[l] = exp(-.5 * apart * apart);
    }
    for (int l = 0; l < EXPONENTS; l++)
      own[l] += w->of_exponent[k] * near[l] / all;
  }
  for (int k = 0; k < EXPONENTS; k++)
    log_of[k] = log(fmax((1 - STRANGE) * own[k], LEAST));
  log_of[EXPONENTS] = log(STRANGE);
}

/* By f, of each bin, rest and a: the logarithm of how probable such a label is,
 * and how probable it is then wrong. */
typedef struct by_own {
  double log_of[BINS][RESTS + 1][OWN], wrong[BINS][RESTS + 1][OWN];
} by_own;

static void fill_own(double f, double K, by_own *to)
{
  for (int b = 0; b < BINS; b++) {
    double odds = undone(odds_of(b), f, K);
    for (int k = 0; k < OWN; k++) {
      double e = error_of(odds, k < EXPONENTS ? exponent(k) : 0), right = e;
      for (int r = 0; r <= RESTS; r++) {
        if (r == RESTS) right = 1 - e;
        double is = given(f, right, K);
        to->log_of[b][r][k] = log(is);
        to->wrong[b][r][k] = f * (1 - right) / (K - 1) / is;
        right /= 2;
      }
    }
  }
}

/* Of the labels from..to - 1, of one group; part: how probable f is. */
static void add_group(const by_own *of, const double *own,
                      const wrong_label *all, size_t stride, int64_t from,
                      int64_t to, double part, double *is)
{
  double weight[OWN], most = -INFINITY, sum = 0;
  memcpy(weight, own, sizeof weight);
  for (int64_t j = from; j < to; j++) {
    const wrong_label *x = label_at(all, stride, j);
    const double *log_of = of->log_of[bin_of(x)][rest_of(x)];
    for (int k = 0; k < OWN; k++) weight[k] += log_of[k];
  }
  for (int k = 0; k < OWN; k++) most = fmax(most, weight[k]);
  for (int k = 0; k < OWN; k++) sum += weight[k] = exp(weight[k] - most);
  for (int64_t j = from; j < to; j++) {
    const wrong_label *x = label_at(all, stride, j);
    const double *wrong = of->wrong[bin_of(x)][rest_of(x)];
    for (int k = 0; k < OWN; k++) is[j] += part * weight[k] / sum * wrong[k];
  }
}

lapis_status wrong_in_groups(lapis_ctx *ctx, const wrong_share *w,
                             const wrong_label *all, size_t stride, int64_t n,
                             double *is)
{
  double own[OWN];
  by_own *of = base_alloc(ctx, 1, sizeof *of);
  if (of == NULL) return LAPIS_ENOMEM;
  memset(is, 0, (size_t)n * sizeof *is);
  find_own(w, own);
  for (int i = 0; i < SHARES; i++) {
    if (!(w->of_share[i] > 0)) continue;
    fill_own(w->share[i], w->K, of);
    for (int64_t from = 0, to; from < n; from = to) {
      int64_t group = label_at(all, stride, from)->group;
      for (to = from + 1; to < n && label_at(all, stride, to)->group == group;)
        to++;
      add_group(of, own, all, stride, from, to, w->of_share[i], is);
    }
  }
  base_free(of);
  return LAPIS_OK;
}
