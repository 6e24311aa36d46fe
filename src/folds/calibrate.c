/* calibrate.c - scores of hidden labels become probabilities.
 *
 * Platt's sigmoids [Platt 1999] of K labels, with targets t smoothed by the
 * counts n+, n- of a label, (n+ + 1) / (n+ + 2) and 1 / (n- + 2):
 *
 *   a    = argmin sum_c min_b L_c(a, b)                      over a >= 0
 *   a_c, b_c = argmin L_c(a_c, b_c) + R v/2 (a_c - a)^2      over a_c >= 0,
 *
 * L_c the cross entropy of label c, and v the variance of scores within labels,
 * so that R counts samples: a label of fewer than R cases of its rarer value
 * has nearly the slope of all, a label of many its own.  Where a slope ends at
 * 0 the scores say nothing, and the share alone is left.  Newton's method,
 * damped [Lin, Lin, Weng 2007].
 *
 * The softmax has 1 / (n + 2) of each sample's target spread over the other
 * classes: else classes that scores separate make the slope infinite, and the
 * loss 0.  It is convex in slope and biases: one Newton step in each coordinate
 * at a time, halved until it descends. */
#include "folds/calibrate.h"

#include <math.h>
#include <string.h>

enum { NEWTON_STEPS = 100, HALVINGS = 34, SOFTMAX_ROUNDS = 50 };
static const double RIDGE = 10; /* R: docs/defaults.md */

static double logit(const calibration *x, const sigmoid *by, int64_t k)
{
  return by[k % x->K].slope * x->score[k] + by[k % x->K].bias;
}

double calibrate_loss(const calibration *x, const sigmoid *by, int64_t k)
{
  if (!x->classes) {
    double u = x->sign[k] * logit(x, by, k);
    return (u > 0 ? 0 : -u) + log1p(exp(-fabs(u)));
  }
  double most = -INFINITY, own = 0, sum = 0;
  for (int64_t c = k; c < k + x->K; c++) {
    double f = logit(x, by, c);
    most = fmax(most, f);
    if (x->sign[c] > 0) own = f;
  }
  for (int64_t c = k; c < k + x->K; c++) sum += exp(logit(x, by, c) - most);
  return most - own + log(sum);
}

/* ---- one label ----------------------------------------------------------*/
/* The weight of a label; 0: it is not known, or not answered. */
static double weight_of(const calibration *x, int64_t c, int64_t j)
{
  int64_t k = j * x->K + c;
  if (isnan(x->sign[k]) || isnan(x->score[k])) return 0;
  return x->weight == NULL ? 1 : x->weight[j];
}

/* x of the samples of which some label counts, in their order: of many without
 * a label all the rest is passes for nothing.  *own: base_free(). */
static lapis_status gather(lapis_ctx *ctx, const calibration *x,
                           calibration *out, double **own)
{
  int64_t K = x->K, count = 0;
  int64_t *place = base_alloc_raw(ctx, x->n + 1, sizeof *place);
  *own = NULL;
  *out = *x;
  if (place == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < x->n; j++) {
    int64_t c = 0;
    while (c < K && !(weight_of(x, c, j) > 0)) c++;
    if (c < K) place[count++] = j;
  }
  if (count < x->n)
    *own = base_alloc_raw(ctx, (2 * K + 1) * (count + 1), sizeof(double));
  double *score = *own;
  out->n = count;
  for (int64_t k = 0; score != NULL && k < count; k++) {
    size_t size = (size_t)K * sizeof *score;
    memcpy(score + k * K, x->score + place[k] * K, size);
    memcpy(score + (count + k) * K, x->sign + place[k] * K, size);
    if (x->weight != NULL) score[2 * K * count + k] = x->weight[place[k]];
  }
  base_free(place);
  if (count == x->n) return LAPIS_OK;
  if (score == NULL) return LAPIS_ENOMEM;
  out->score = score;
  out->sign = score + K * count;
  if (x->weight != NULL) out->weight = score + 2 * K * count;
  return LAPIS_OK;
}

typedef struct column {
  const calibration *of;
  int64_t c;
  double yes, no;      /* smoothed targets */
  double ridge, drawn; /* ridge (slope - drawn)^2 / 2 is added */
} column;

static void count(const calibration *x, int64_t c, double n[2])
{
  n[0] = n[1] = 0;
  for (int64_t j = 0; j < x->n; j++)
    n[x->sign[j * x->K + c] > 0] += weight_of(x, c, j);
}

sigmoid calibrate_share(const calibration *x, int64_t c)
{
  double n[2];
  count(x, c, n);
  return (sigmoid){0, log(n[1] + 1) - (x->classes ? 0 : log(n[0] + 1))};
}

static column column_of(const calibration *x, int64_t c)
{
  double n[2];
  count(x, c, n);
  return (column){
      .of = x, .c = c, .yes = (n[1] + 1) / (n[1] + 2), .no = 1 / (n[0] + 2)};
}

/* The cross entropy, its gradient (slope, bias) and Hessian (ss, sb, bb). */
static double entropy(const column *x, sigmoid p, double g[2], double H[3])
{
  const calibration *of = x->of;
  double off = p.slope - x->drawn, sum = x->ridge * off * off / 2;
  g[0] = x->ridge * off, H[0] = x->ridge;
  g[1] = H[1] = H[2] = 0;
  for (int64_t j = 0; j < of->n; j++) {
    double w = weight_of(of, x->c, j), s = of->score[j * of->K + x->c];
    if (!(w > 0)) continue;
    double t = of->sign[j * of->K + x->c] > 0 ? x->yes : x->no;
    double f = p.slope * s + p.bias;
    double e = exp(-fabs(f)), q = (f > 0 ? 1 : e) / (1 + e);
    sum += w * ((f > 0 ? 0 : -f) + log1p(e) + (1 - t) * f);
    double d = w * (q - t), h = w * (e / ((1 + e) * (1 + e)));
    g[0] += d * s, g[1] += d;
    H[0] += h * s * s, H[1] += h * s, H[2] += h;
  }
  return sum;
}

double calibrate_entropy(const calibration *x, int64_t c, sigmoid p)
{
  double n[2], g[2], H[3];
  column of = column_of(x, c);
  count(x, c, n);
  return entropy(&of, p, g, H) / (n[0] + n[1]);
}

static sigmoid newton(const column *x, sigmoid p)
{
  double g[2], H[3], g2[2], H2[3], value = entropy(x, p, g, H);
  for (int k = 0; k < NEWTON_STEPS; k++) {
    H[0] += 1e-12, H[2] += 1e-12;
    double det = H[0] * H[2] - H[1] * H[1];
    double ds = -(H[2] * g[0] - H[1] * g[1]) / det;
    double db = -(H[0] * g[1] - H[1] * g[0]) / det;
    double down = g[0] * ds + g[1] * db, t = 1;
    bool better = false;
    if (!(down < -1e-12 * fmax(fabs(value), 1))) break;
    for (int tries = 0; tries < HALVINGS && !better; tries++) {
      sigmoid to = {p.slope + t * ds, p.bias + t * db};
      double v = entropy(x, to, g2, H2);
      better = !(v > value + 1e-4 * t * down);
      t /= 2;
      if (!better) continue;
      p = to, value = v;
      for (int i = 0; i < 2; i++) g[i] = g2[i];
      for (int i = 0; i < 3; i++) H[i] = H2[i];
    }
    if (!better) break;
  }
  return p;
}

/* ---- labels together ----------------------------------------------------*/
/* sum_c L_c at the slope of out[0] and the bias of each; with step the Newton
 * step of all, whose slope is returned: what is left of the Hessian is
 * diagonal in the biases. */
static double together(const column *all, const sigmoid *at, double *step,
                       double *down)
{
  int64_t K = all->of->K;
  double value = 0, g = 0, h = 1e-12, gb = 0;
  for (int64_t c = 0; c < K; c++) {
    double G[2], H[3];
    value += entropy(&all[c], at[c], G, H);
    H[2] += 1e-12;
    step[c] = -G[1] / H[2]; /* plus -H[1] / H[2] times the slope's */
    step[K + c] = -H[1] / H[2];
    g += G[0] - H[1] * G[1] / H[2];
    h += H[0] - H[1] * H[1] / H[2];
    gb += G[1] * G[1] / H[2];
  }
  step[2 * K] = -g / h;
  *down = -g * g / h - gb;
  return value;
}

/* One slope for all, out[c].slope, with a bias each; from what is there. */
static lapis_status share_slope(lapis_ctx *ctx, const column *all, sigmoid *out)
{
  int64_t K = all->of->K;
  double *room = base_alloc(ctx, 2 * (2 * K + 1), sizeof *room);
  sigmoid *to = base_alloc(ctx, K, sizeof *to);
  lapis_status s = room == NULL || to == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int k = 0; s >= 0 && k < NEWTON_STEPS; k++) {
    double *step = room, down, unused, t = 1, value;
    bool better = false;
    value = together(all, out, step, &down);
    if (!(down < -1e-12 * fmax(fabs(value), 1))) break;
    for (int tries = 0; tries < HALVINGS && !better; tries++, t /= 2) {
      for (int64_t c = 0; c < K; c++)
        to[c] =
            (sigmoid){out[c].slope + t * step[2 * K],
                      out[c].bias + t * (step[c] + step[K + c] * step[2 * K])};
      double v = together(all, to, room + 2 * K + 1, &unused);
      better = !(v > value + 1e-4 * t * down);
    }
    for (int64_t c = 0; better && c < K; c++) out[c] = to[c];
    if (!better) break;
  }
  base_free(room);
  base_free(to);
  return s;
}

/* Of scores within labels, about their weighted means. */
static double variance(const calibration *x)
{
  double all = 0, sum = 0;
  for (int64_t c = 0; c < x->K; c++) {
    double n = 0, mean = 0;
    for (int64_t j = 0; j < x->n; j++) {
      double w = weight_of(x, c, j);
      if (!(w > 0)) continue;
      double off = x->score[j * x->K + c] - mean;
      n += w;
      mean += off * w / n;
      sum += w * off * (x->score[j * x->K + c] - mean);
    }
    all += n;
  }
  return all > 0 ? sum / all : 0;
}

static lapis_status fit_labels(lapis_ctx *ctx, const calibration *x,
                               sigmoid *out)
{
  column *all = base_alloc(ctx, x->K, sizeof *all);
  lapis_status s = all == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t c = 0; s >= 0 && c < x->K; c++) {
    all[c] = column_of(x, c);
    out[c] = calibrate_share(x, c);
  }
  if (s >= 0 && x->K > 1) s = share_slope(ctx, all, out);
  double ridge = x->K > 1 ? RIDGE * variance(x) : 0;
  double drawn = s >= 0 && x->K > 1 ? fmax(out->slope, 0) : 0;
  for (int64_t c = 0; s >= 0 && c < x->K; c++) {
    sigmoid none = calibrate_share(x, c);
    all[c].ridge = ridge;
    all[c].drawn = drawn;
    out[c] = newton(&all[c], none);
    if (!(out[c].slope > 0)) out[c] = none;
  }
  base_free(all);
  return s;
}

/* ---- one class of K -----------------------------------------------------*/
typedef struct classes {
  const calibration *of;
  double *p, *all; /* K x n: shares of exp, up to a factor a sample, n: `all` */
  double e;        /* of a smoothed target what each other class has */
} classes;

static bool is_yes(const classes *x, int64_t c, int64_t j)
{
  return x->of->sign[j * x->of->K + c] > 0;
}

static double target_of(const classes *x, int64_t c, int64_t j)
{
  return is_yes(x, c, j) ? 1 - (double)(x->of->K - 1) * x->e : x->e;
}

/* p and all of a sample; its loss. */
static double spread_one(const classes *x, const sigmoid *b, int64_t j)
{
  int64_t K = x->of->K;
  const double *s = x->of->score + j * K;
  double *p = x->p + j * K, most = -INFINITY, all = 0, loss = 0;
  for (int64_t c = 0; c < K; c++) {
    p[c] = b[0].slope * s[c] + b[c].bias;
    most = fmax(most, p[c]);
  }
  for (int64_t c = 0; c < K; c++) {
    loss -= target_of(x, c, j) * (p[c] - most);
    all += p[c] = exp(p[c] - most);
  }
  x->all[j] = all;
  return loss + log(all);
}

/* p and all at b; the value there. */
static double spread(const classes *x, const sigmoid *b)
{
  const calibration *of = x->of;
  double sum = 0;
  for (int64_t j = 0; j < of->n; j++) {
    double w = weight_of(of, 0, j);
    if (w > 0) sum += w * spread_one(x, b, j);
  }
  for (int64_t c = 0; c < of->K && isfinite(of->ridge); c++)
    sum += of->ridge * b[c].bias * b[c].bias / 2;
  return sum;
}

static void set_slope(sigmoid *b, int64_t K, double v)
{
  for (int64_t c = 0; c < K; c++) b[c].slope = v;
}

/* By how much the value falls by a Newton step of the slope. */
static double step_slope(const classes *x, sigmoid *b)
{
  const calibration *of = x->of;
  double g = 0, h = 0, value = spread(x, b), from = b[0].slope;
  for (int64_t j = 0; j < of->n; j++) {
    const double *s = of->score + j * of->K, *p = x->p + j * of->K;
    double mean = 0, square = 0, sure = 0, w = weight_of(of, 0, j);
    if (!(w > 0)) continue;
    for (int64_t c = 0; c < of->K; c++) {
      double q = p[c] / x->all[j];
      mean += q * s[c];
      square += q * s[c] * s[c];
      sure += target_of(x, c, j) * s[c];
    }
    g += w * (mean - sure);
    h += w * (square - mean * mean);
  }
  for (double t = 1; t > 1e-6 && g != 0; t /= 2) {
    set_slope(b, of->K, fmax(from - t * g / fmax(h, 1e-12), 0));
    double now = spread(x, b);
    if (now < value) return value - now;
  }
  set_slope(b, of->K, from);
  (void)spread(x, b);
  return 0;
}

/* By how much the value falls where the bias of class c grows by d. */
static double fall(const classes *x, double bias, int64_t c, double d)
{
  const calibration *of = x->of;
  double sum = -of->ridge * d * (bias + d / 2), more = expm1(d);
  for (int64_t j = 0; j < of->n; j++) {
    double w = weight_of(of, 0, j);
    if (!(w > 0)) continue;
    double q = x->p[j * of->K + c] / x->all[j];
    sum -= w * (log1p(q * more) - target_of(x, c, j) * d);
  }
  return sum;
}

/* The same of the bias of class c, which changes one number a sample. */
static double step_bias(const classes *x, sigmoid *b, int64_t c)
{
  const calibration *of = x->of;
  double g = of->ridge * b[c].bias, h = of->ridge;
  for (int64_t j = 0; j < of->n; j++) {
    double w = weight_of(of, 0, j);
    if (!(w > 0)) continue;
    double q = x->p[j * of->K + c] / x->all[j];
    g += w * (q - target_of(x, c, j));
    h += w * (q * (1 - q));
  }
  for (double t = 1; t > 1e-6 && g != 0; t /= 2) {
    double d = -t * g / fmax(h, 1e-12), fell = fall(x, b[c].bias, c, d);
    if (!(fell > 0) || isinf(fell)) continue; /* p is all that there is */
    b[c].bias += d;
    for (int64_t j = 0; j < of->n; j++) {
      double *p = &x->p[j * of->K + c], less = *p;
      *p *= exp(d);
      x->all[j] += *p - less;
    }
    return fell;
  }
  return 0;
}

/* Coordinate by coordinate. */
static lapis_status fit_softmax(lapis_ctx *ctx, const calibration *of,
                                sigmoid *out)
{
  int64_t K = of->K, biases = isfinite(of->ridge) ? K : 0;
  double *room = base_alloc(ctx, (K + 1) * of->n, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  classes x = {.of = of, .p = room, .all = room + K * of->n};
  double n[2];
  count(of, 0, n);
  x.e = 1 / (n[0] + n[1] + 2) / (double)(K - 1);
  for (int64_t c = 0; c < K; c++) out[c] = (sigmoid){1, 0};
  for (int k = 0; k < SOFTMAX_ROUNDS; k++) {
    double fell = step_slope(&x, out);
    for (int64_t c = biases - 1; c >= 0; c--) fell += step_bias(&x, out, c);
    if (fell < 1e-6 * (double)of->n) break;
  }
  base_free(room);
  return LAPIS_OK;
}

lapis_status calibrate(lapis_ctx *ctx, const calibration *x, sigmoid *out)
{
  calibration seen;
  double *own;
  lapis_status s = gather(ctx, x, &seen, &own);
  if (s >= 0)
    s = x->classes ? fit_softmax(ctx, &seen, out) : fit_labels(ctx, &seen, out);
  base_free(own);
  return s;
}
