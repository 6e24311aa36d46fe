/* calibrate.c - scores of hidden labels become probabilities.
 *
 * Platt's sigmoid by Newton's method [Lin, Lin, Weng 2007]; where the best
 * slope is below 0 the scores say nothing, and the share alone is left.  The
 * softmax is convex in slope and biases: one Newton step in each coordinate at
 * a time, halved until it descends. */
#include "folds/calibrate.h"

#include <math.h>

enum { NEWTON_STEPS = 100, HALVINGS = 34, SOFTMAX_ROUNDS = 50 };

double calibrate_loss(sigmoid p, double score, double sign)
{
  double u = sign * (p.slope * score + p.bias);
  return (u > 0 ? 0 : -u) + log1p(exp(-fabs(u)));
}

/* ---- one label ----------------------------------------------------------*/
typedef struct column {
  const double *score, *sign;
  int64_t n, stride;
  double yes, no; /* smoothed targets */
} column;

/* The cross entropy, its gradient (slope, bias) and Hessian (ss, sb, bb). */
static double entropy(const column *x, sigmoid p, double g[2], double H[3])
{
  double sum = 0;
  g[0] = g[1] = H[0] = H[1] = H[2] = 0;
  for (int64_t k = 0; k < x->n * x->stride; k += x->stride) {
    double sign = x->sign[k], s = x->score[k];
    if (isnan(sign) || isnan(s)) continue;
    double t = sign > 0 ? x->yes : x->no, f = p.slope * s + p.bias;
    double e = exp(-fabs(f)), q = (f > 0 ? 1 : e) / (1 + e);
    sum += (f > 0 ? 0 : -f) + log1p(e) + (1 - t) * f;
    double d = q - t, h = e / ((1 + e) * (1 + e));
    g[0] += d * s, g[1] += d;
    H[0] += h * s * s, H[1] += h * s, H[2] += h;
  }
  return sum;
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

sigmoid calibrate_platt(const double *score, const double *sign, int64_t n,
                        int64_t stride)
{
  double count[2] = {0, 0};
  for (int64_t k = 0; k < n * stride; k += stride)
    if (!isnan(sign[k]) && !isnan(score[k])) count[sign[k] > 0]++;
  sigmoid none = {0, log(count[1] + 1) - log(count[0] + 1)};
  column x = {.score = score,
              .sign = sign,
              .n = n,
              .stride = stride,
              .yes = (count[1] + 1) / (count[1] + 2),
              .no = 1 / (count[0] + 2)};
  sigmoid p = newton(&x, none);
  return p.slope > 0 ? p : none;
}

/* ---- one class of K -----------------------------------------------------*/
typedef struct classes {
  const double *score, *sign;
  int64_t K, n;
  double ridge; /* of the biases */
  double *p;    /* K: of a sample */
} classes;

/* Value; with `at` (class, or K: the slope) also the first and second
 * derivative there. */
static double softmax(const classes *x, const sigmoid *b, int64_t at,
                      double *first, double *second)
{
  double sum = 0, g = 0, h = 0, slope = b[0].slope;
  for (int64_t j = 0; j < x->n; j++) {
    const double *s = x->score + j * x->K, *sign = x->sign + j * x->K;
    if (isnan(*s) || isnan(*sign)) continue;
    double most = -INFINITY, all = 0, mean = 0, square = 0;
    int64_t y = 0;
    for (int64_t c = 0; c < x->K; c++) {
      x->p[c] = slope * s[c] + b[c].bias;
      most = fmax(most, x->p[c]);
      y = sign[c] > 0 ? c : y;
    }
    sum -= x->p[y] - most;
    for (int64_t c = 0; c < x->K; c++) all += x->p[c] = exp(x->p[c] - most);
    sum += log(all);
    for (int64_t c = 0; at == x->K && c < x->K; c++) {
      mean += x->p[c] / all * s[c];
      square += x->p[c] / all * s[c] * s[c];
    }
    if (at == x->K) g += mean - s[y], h += square - mean * mean;
    if (at < x->K) {
      double q = x->p[at] / all;
      g += q - (y == at), h += q * (1 - q);
    }
  }
  for (int64_t c = 0; c < x->K && isfinite(x->ridge); c++)
    sum += x->ridge * b[c].bias * b[c].bias / 2;
  if (at < x->K) g += x->ridge * b[at].bias, h += x->ridge;
  *first = g;
  *second = h;
  return sum;
}

static void set(sigmoid *b, int64_t K, int64_t at, double v)
{
  for (int64_t c = 0; at == K && c < K; c++) b[c].slope = v;
  if (at < K) b[at].bias = v;
}

/* One coordinate; by how much the value fell. */
static double step(const classes *x, sigmoid *b, int64_t at)
{
  double g, h, unused[2], value = softmax(x, b, at, &g, &h);
  double from = at == x->K ? b[0].slope : b[at].bias;
  for (double t = 1; t > 1e-6 && g != 0; t /= 2) {
    double to = from - t * g / fmax(h, 1e-12);
    set(b, x->K, at, at == x->K ? fmax(to, 0) : to);
    double now = softmax(x, b, at, &unused[0], &unused[1]);
    if (now < value) return value - now;
  }
  set(b, x->K, at, from);
  return 0;
}

lapis_status calibrate_softmax(lapis_ctx *ctx, const double *score,
                               const double *sign, int64_t K, int64_t n,
                               double ridge, sigmoid *out)
{
  classes x = {.score = score, .sign = sign, .K = K, .n = n, .ridge = ridge};
  int64_t last = isfinite(ridge) ? 0 : K; /* the slope alone */
  x.p = base_alloc(ctx, K, sizeof *x.p);
  if (x.p == NULL) return LAPIS_ENOMEM;
  for (int64_t c = 0; c < K; c++) out[c] = (sigmoid){1, 0};
  for (int k = 0; k < SOFTMAX_ROUNDS; k++) {
    double fell = 0;
    for (int64_t at = K; at >= last; at--) fell += step(&x, out, at);
    if (fell < 1e-6 * (double)n) break;
  }
  base_free(x.p);
  return LAPIS_OK;
}
