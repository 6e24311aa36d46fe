/* impute.c - factor analysis of what was seen, and what it says of gaps.
 *
 * Expectation and maximisation [Rubin and Thayer 1982] over what was seen of
 * each sample.  In features of mean 0 and deviation 1 a row of W has the prior
 * of PRIOR further samples without its feature, and p that of one sample of
 * deviation 1.  ROUNDS rounds from a W drawn by lot: more follow noise where
 * samples are few, so that rounds stop it as a prior does.
 *
 * Numerics: sums over what was seen of a sample are products with a matrix of
 * zeros and ones, a block of samples at a time. */
#include "op/map/impute.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "la/backend.h"
#include "mat/mat.h"

enum { MOST_FACTORS = 20, ROUNDS = 20, BLOCK = 256, START = 0x696d70 };
static const double PRIOR = 5, LEAST_NOISE = .01;

static int64_t factors(int64_t d)
{
  if (d < 2) return 0;
  return d - 1 < MOST_FACTORS ? d - 1 : MOST_FACTORS;
}

int64_t impute_length(int64_t d)
{
  return d * (2 + factors(d));
}

/* ---- k x k systems, the lower triangle row after row --------------------*/
enum { MOST_PAIRS = MOST_FACTORS * (MOST_FACTORS + 1) / 2 };

static int64_t pair(int64_t a, int64_t b)
{
  return a * (a + 1) / 2 + b; /* b <= a */
}

/* M becomes L, M = L L'; M is I and more. */
static void factor(double *M, int64_t k)
{
  for (int64_t a = 0; a < k; a++)
    for (int64_t b = 0; b <= a; b++) {
      double sum = M[pair(a, b)];
      for (int64_t c = 0; c < b; c++) sum -= M[pair(a, c)] * M[pair(b, c)];
      M[pair(a, b)] = a == b ? sqrt(sum) : sum / M[pair(b, b)];
    }
}

/* z becomes M^-1 z. */
static void solve(const double *L, int64_t k, double *z)
{
  for (int64_t a = 0; a < k; a++) {
    for (int64_t c = 0; c < a; c++) z[a] -= L[pair(a, c)] * z[c];
    z[a] /= L[pair(a, a)];
  }
  for (int64_t a = k - 1; a >= 0; a--) {
    for (int64_t c = a + 1; c < k; c++) z[a] -= L[pair(c, a)] * z[c];
    z[a] /= L[pair(a, a)];
  }
}

/* to += w w' f */
static void add_outer(double *to, const double *w, int64_t k, double f)
{
  for (int64_t a = 0; a < k; a++) {
    double *row = to + pair(a, 0), times = f * w[a];
    for (int64_t b = 0; b <= a; b++) row[b] += times * w[b];
  }
}

static void add_unit(double *M, int64_t k, double f)
{
  for (int64_t a = 0; a < k; a++) M[pair(a, a)] += f;
}

/* to becomes M^-1, the sum of the outer products of the rows of L^-1. */
static void invert(const double *L, int64_t k, double *to)
{
  double rows[MOST_PAIRS] = {0}; /* L^-1 */
  for (int64_t a = 0; a < k; a++) {
    double *row = rows + pair(a, 0);
    for (int64_t c = 0; c < a; c++)
      for (int64_t b = 0; b <= c; b++)
        row[b] -= L[pair(a, c)] * rows[pair(c, b)];
    row[a] = 1;
    for (int64_t b = 0; b <= a; b++) row[b] /= L[pair(a, a)];
  }
  memset(to, 0, (size_t)pair(k, 0) * sizeof *to);
  for (int64_t a = 0; a < k; a++) add_outer(to, rows + pair(a, 0), a + 1, 1);
}

/* ---- fitting ------------------------------------------------------------*/
typedef struct precision {
  double L[MOST_PAIRS], inverse[MOST_PAIRS];
} precision;
typedef struct fitting {
  la h;
  int64_t d, n, k, t; /* t: pairs of factors */
  const double *X;
  double *scale;               /* d: deviations */
  double *mean, *noise, *W;    /* the state, in units of scale but mean */
  double *shift;               /* d: mean's way from the first one, likewise */
  double *outer, *weighted;    /* t x d: w w' / p;  k x d: w / p */
  double *seen, *rest, *S, *Z; /* of a block: d, d, t, k x BLOCK */
  double *sums;                /* what a round adds up over samples: */
  double *A, *B, *Q;           /* t, k, k x d: E(zz'), E(z) x, E(z) seen */
  double *first, *second, *count; /* d: of x, of x^2, of seen */
  int64_t n_sums;
  precision whole; /* of samples without gaps, of this round */
  bool has_whole;
} fitting;

static double *cut(double **from, int64_t count)
{
  double *at = *from;
  *from += count;
  return at;
}

static double *make_room(lapis_ctx *ctx, fitting *w)
{
  int64_t d = w->d, k = w->k, t = w->t;
  w->n_sums = d * (t + 2 * k + 3);
  int64_t all = w->n_sums + d * (t + k + 2) + BLOCK * (2 * d + t + k);
  double *memory = base_alloc(ctx, all, sizeof *memory), *at = memory;
  if (memory == NULL) return NULL;
  w->sums = at;
  w->A = cut(&at, t * d);
  w->B = cut(&at, k * d);
  w->Q = cut(&at, k * d);
  w->first = cut(&at, d);
  w->second = cut(&at, d);
  w->count = cut(&at, d);
  w->outer = cut(&at, t * d);
  w->weighted = cut(&at, k * d);
  w->scale = cut(&at, d);
  w->shift = cut(&at, d);
  w->seen = cut(&at, d * BLOCK);
  w->rest = cut(&at, d * BLOCK);
  w->S = cut(&at, t * BLOCK);
  w->Z = cut(&at, k * BLOCK);
  return memory;
}

/* Means and deviations of what was seen; 0 and 1 of what never was. */
static lapis_status find_units(lapis_ctx *ctx, fitting *w)
{
  lapis_mat X = lapis_mat_f64((double *)(uintptr_t)w->X, w->d, w->n);
  mat_moments of = {w->d, w->count, w->mean, w->scale};
  TRY(mat_measure(ctx, &X, NULL, &of));
  for (int64_t i = 0; i < w->d; i++)
    if (!(w->scale[i] > 0)) w->scale[i] = 1;
  return LAPIS_OK;
}

static void start(fitting *w)
{
  double size = .7 / sqrt((double)w->k);
  for (int64_t i = 0; i < w->d * w->k; i++)
    w->W[i] = size * rng_normal(0, START, (uint64_t)i);
  for (int64_t i = 0; i < w->d; i++) w->noise[i] = .5;
}

/* Samples first .. first + cols - 1: what was seen, and its values. */
static void take_block(fitting *w, int64_t first, int64_t cols)
{
  for (int64_t k = 0; k < w->d * cols; k++) {
    int64_t i = k % w->d;
    double v = w->X[first * w->d + k];
    bool seen = !isnan(v);
    double x = seen ? (v - w->mean[i]) / w->scale[i] - w->shift[i] : 0;
    w->seen[k] = seen;
    w->rest[k] = x;
    w->first[i] += x;
    w->second[i] += x * x;
    w->count[i] += seen;
  }
}

/* I + S = L L' of a sample, and its inverse. */
static void find_precision(const double *S, int64_t k, precision *out)
{
  memcpy(out->L, S, (size_t)pair(k, 0) * sizeof *S);
  add_unit(out->L, k, 1);
  factor(out->L, k);
  invert(out->L, k, out->inverse);
}

/* What sample j of a block expects: z of h in Z, and zz' of the precision in S.
 * All that lack nothing have one precision. */
static void expect(fitting *w, int64_t j)
{
  double *S = w->S + j * w->t, *z = w->Z + j * w->k, seen = 0;
  precision own, *of = &own;
  for (int64_t i = 0; i < w->d; i++) seen += w->seen[j * w->d + i];
  if (seen == (double)w->d) of = &w->whole;
  if (of == &own || !w->has_whole) find_precision(S, w->k, of);
  w->has_whole = w->has_whole || of == &w->whole;
  solve(of->L, w->k, z);
  memcpy(S, of->inverse, (size_t)w->t * sizeof *S);
  add_outer(S, z, w->k, 1);
}

static lapis_status add_block(fitting *w, int64_t first, int64_t cols)
{
  la *h = &w->h;
  la_array outer = la_wrap(w->outer, w->t, w->d);
  la_array weighted = la_wrap(w->weighted, w->k, w->d);
  la_array seen = la_wrap(w->seen, w->d, cols);
  la_array rest = la_wrap(w->rest, w->d, cols);
  la_array S = la_wrap(w->S, w->t, cols), Z = la_wrap(w->Z, w->k, cols);
  la_array A = la_wrap(w->A, w->t, w->d), B = la_wrap(w->B, w->k, w->d);
  la_array Q = la_wrap(w->Q, w->k, w->d);
  take_block(w, first, cols);
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &outer, &seen, 0, &S));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &weighted, &rest, 0, &Z));
  for (int64_t j = 0; j < cols; j++) expect(w, j);
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &S, &seen, 1, &A));
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &Z, &rest, 1, &B));
  return h->ops->gemm(h, LA_N, LA_T, 1, &Z, &seen, 1, &Q);
}

static double product(const double *x, const double *z, int64_t k)
{
  double sum = 0;
  for (int64_t a = 0; a < k; a++) sum += x[a] * z[a];
  return sum;
}

/* The row of W, p and the mean of feature i that suit what is expected. */
static void maximise(fitting *w, int64_t i)
{
  double *row = w->W + i * w->k, *A = w->A + i * w->t;
  const double *B = w->B + i * w->k;
  memcpy(row, B, (size_t)w->k * sizeof *row);
  add_unit(A, w->k, PRIOR);
  factor(A, w->k);
  solve(A, w->k, row);
  double left = w->second[i] - product(row, B, w->k);
  w->noise[i] = fmax((left + 1) / (w->count[i] + 1), LEAST_NOISE);
  if (w->count[i] > 0)
    w->shift[i] +=
        (w->first[i] - product(row, w->Q + i * w->k, w->k)) / w->count[i];
}

static lapis_status one_round(lapis_ctx *ctx, fitting *w)
{
  w->has_whole = false;
  memset(w->sums, 0, (size_t)w->n_sums * sizeof *w->sums);
  memset(w->outer, 0, (size_t)(w->t * w->d) * sizeof *w->outer);
  for (int64_t i = 0; i < w->d; i++) {
    const double *row = w->W + i * w->k;
    add_outer(w->outer + i * w->t, row, w->k, 1 / w->noise[i]);
    for (int64_t a = 0; a < w->k; a++)
      w->weighted[i * w->k + a] = row[a] / w->noise[i];
  }
  for (int64_t j = 0; j < w->n; j += BLOCK)
    TRY(add_block(w, j, w->n - j < BLOCK ? w->n - j : BLOCK));
  TRY(base_sum(ctx, w->sums, w->n_sums));
  for (int64_t i = 0; i < w->d; i++) maximise(w, i);
  return LAPIS_OK;
}

static lapis_status run(lapis_ctx *ctx, fitting *w)
{
  TRY(la_open_host(ctx, &w->h));
  TRY(find_units(ctx, w));
  if (w->k > 0) start(w);
  for (int r = 0; w->k > 0 && r < ROUNDS; r++) {
    TRY(one_round(ctx, w));
    if (base_ranks(ctx) == 1 && base_must_stop(ctx)) break;
  }
  for (int64_t i = 0; i < w->d; i++) {
    double scale = w->scale[i];
    w->mean[i] += scale * w->shift[i];
    w->noise[i] *= scale * scale;
    for (int64_t a = 0; a < w->k; a++) w->W[i * w->k + a] *= scale;
  }
  return LAPIS_OK;
}

lapis_status impute_fit(lapis_ctx *ctx, const double *X, int64_t d, int64_t n,
                        double *state)
{
  int64_t k = factors(d);
  fitting w = {.d = d, .n = n, .k = k, .t = pair(k, 0), .X = X};
  w.mean = state;
  w.noise = state + d;
  w.W = state + 2 * d;
  for (int64_t i = 0; i < d; i++) w.mean[i] = 0, w.noise[i] = 1;
  double *memory = make_room(ctx, &w);
  if (memory == NULL) return LAPIS_ENOMEM;
  lapis_status s = run(ctx, &w);
  base_free(memory);
  if (s >= 0 && !impute_sound(state, d))
    return lapis_fail(ctx, LAPIS_ENUMERIC,
                      "map impute: features are too large or too small to be "
                      "squared; bring them near 1 (scale:NUMBER,impute)");
  return s;
}

/* ---- filling ------------------------------------------------------------*/
bool impute_sound(const double *state, int64_t d)
{
  for (int64_t i = 0; i < d; i++)
    if (!(state[d + i] >= DBL_MIN)) return false; /* is divided by */
  for (int64_t i = 0; i < impute_length(d); i++)
    if (!isfinite(state[i])) return false;
  return true;
}

void impute_fill(const double *state, double *x, int64_t d)
{
  int64_t k = factors(d), gaps = 0;
  const double *mean = state, *noise = state + d, *W = state + 2 * d;
  double M[MOST_PAIRS] = {0}, z[MOST_FACTORS] = {0};
  for (int64_t i = 0; i < d; i++) gaps += isnan(x[i]);
  if (gaps == 0) return;
  for (int64_t i = 0; i < d; i++) {
    const double *row = W + i * k;
    if (isnan(x[i])) continue;
    double rest = (x[i] - mean[i]) / noise[i];
    add_outer(M, row, k, 1 / noise[i]);
    for (int64_t a = 0; a < k; a++) z[a] += row[a] * rest;
  }
  add_unit(M, k, 1);
  factor(M, k);
  solve(M, k, z);
  for (int64_t i = 0; i < d; i++)
    if (isnan(x[i])) x[i] = mean[i] + product(W + i * k, z, k);
}
