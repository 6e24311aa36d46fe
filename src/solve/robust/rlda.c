/* rlda.c - robust LDA where nobody gave lambda or gamma, and how scores become
 * classes.
 *
 * Left open, features are standardised inside (means and deviations of what was
 * observed), and what is right most often on two folds, each cleaned and told
 * by the model of the other, is taken from a short list (TRY_OF): no cleaning,
 * robust PCA first, or the joint form; of those within a standard error of the
 * best it is the first.  lambda is in units of 1 / sqrt(max(d, n)); 10 leaves
 * next to nothing to the sparse error, which is ridge LDA: where it is taken,
 * no cleaning was worth its while.  gamma is that of shrink.c but in the joint
 * form, which has .1 and 10.  Answers return to the units of the data: D, X - D
 * and T, whose bias takes the means.
 *
 * Of three classes and more, scores are first brought to where classes are
 * balls: T' and scores become L^-1 times themselves, L L' the covariance of
 * scores within classes with a hundredth of its mean variance on the diagonal.
 * Distances there are those of linear discriminant analysis; distances of plain
 * scores put a class between two others too near to both.
 *
 * mean: the class c whose samples' mean score m_c is nearest, which is the one
 * with the largest m_c's - |m_c|^2 / 2: lines again, and what is published as
 * scores and weights. */
#include <math.h>
#include <string.h>

#include "solve/robust/robust.h"

enum { FOLDS = 2, TRIES = RLDA_TRIES };
typedef struct attempt {
  int denoise;
  double factor, gamma; /* of 1 / sqrt(max(d, n)); 0: from the data */
} attempt;
static const attempt TRY_OF[TRIES] = {
    {LAPIS_RR_JOINT, 10, 0}, {LAPIS_RR_RPCA, 1, 0},   {LAPIS_RR_JOINT, 3, .1},
    {LAPIS_RR_JOINT, 3, 10}, {LAPIS_RR_JOINT, 1, .1}, {LAPIS_RR_JOINT, 1, 10}};
static const double LEAST_CLEANING = 10; /* the factor that cleans nothing */
static const double LOOSE = 1e-5;        /* residuals of a fold */
static const double LOOSE_GAP = 1e-3;    /* gaps there */
enum { MOST = 50000 };                   /* iterations there */

/* ---- standardising ------------------------------------------------------*/
lapis_status rlda_standardise(rr *w)
{
  int64_t d = w->d, n = w->n;
  w->mean = arena_reals(&w->base.arena, 2 * d);
  if (w->mean == NULL) return LAPIS_ENOMEM;
  w->dev = w->mean + d;
  for (int64_t i = 0; i < d; i++) {
    double count = 0, mean = 0, square = 0;
    for (int64_t j = 0; j < n; j++) {
      double x = w->X[j * d + i];
      if (!isnan(x)) mean += (x - mean) / ++count;
    }
    for (int64_t j = 0; j < n; j++) {
      double off = w->X[j * d + i] - mean;
      if (!isnan(off)) square += off * off / count;
    }
    w->mean[i] = mean;
    w->dev[i] = sqrt(square);
    /* a constant, but for rounding; or numbers whose squares are none */
    bool usable = w->dev[i] > 1e-14 * fabs(mean) && isfinite(w->dev[i]);
    if (!usable) w->dev[i] = fabs(mean) > 0 ? fabs(mean) : 1;
  }
  rlda_scale(w->mean, d, n, w->X);
  return LAPIS_OK;
}

/* mean: d, then as many deviations. */
void rlda_scale(const double *mean, int64_t d, int64_t n, double *X)
{
  for (int64_t k = 0; k < d * n; k++)
    X[k] = (X[k] - mean[k % d]) / mean[d + k % d];
}

void rlda_restore(const double *mean, int64_t d, int64_t n, double *D,
                  double *E)
{
  for (int64_t k = 0; k < d * n; k++) {
    D[k] = D[k] * mean[d + k % d] + mean[k % d];
    if (E != NULL) E[k] *= mean[d + k % d];
  }
}

void rlda_restore_weights(const rr *w)
{
  for (int64_t k = 0; k < w->K; k++) {
    double *t = w->weights + k * (w->d + 1);
    for (int64_t i = 0; i < w->d; i++) {
      t[i] /= w->dev[i];
      t[w->d] -= t[i] * w->mean[i];
    }
  }
}

bool rlda_cleans(double lambda, int64_t d, int64_t n)
{
  return lambda < LEAST_CLEANING / 2 * rr_lambda(NAN, d, n);
}

/* ---- the nearest class mean ---------------------------------------------*/
static bool is_of(const targets *t, const double *sign, int64_t c)
{
  return t->kind == TARGETS_BINARY ? (sign[0] > 0) == (c == 1) : sign[c] > 0;
}

bool rlda_is_of(const rr *w, int64_t j, int64_t c)
{
  return is_of(&w->labels, w->labels.sign + j * w->labels.classes, c);
}

void rlda_means(const targets *t, const double *scores, int64_t rows, int64_t n,
                double *means)
{
  int64_t C = t->n_values;
  for (int64_t c = 0; c < C; c++) {
    double count = 0, *mean = means + c * rows;
    memset(mean, 0, (size_t)rows * sizeof *mean);
    for (int64_t j = 0; j < n; j++)
      count += is_of(t, t->sign + j * t->classes, c);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < rows && is_of(t, t->sign + j * t->classes, c);
           i++)
        mean[i] += scores[j * rows + i] / count;
  }
}

/* One row of scores: the difference of two classes, 0 in their middle. */
void rlda_lines(const double *means, int64_t rows, int64_t n, double *scores,
                double *room)
{
  double half = rows == 1 ? (means[0] + means[1]) / 2 : 0;
  for (int64_t j = 0; j < n; j++) {
    double *s = scores + j * rows;
    for (int64_t c = 0; c < rows && rows > 1; c++) {
      room[c] = 0;
      for (int64_t i = 0; i < rows; i++)
        room[c] += means[c * rows + i] * (s[i] - means[c * rows + i] / 2);
    }
    if (rows == 1)
      s[0] = (means[1] - means[0]) * (s[0] - half);
    else
      memcpy(s, room, (size_t)rows * sizeof *s);
  }
}

/* T' so that T [D; 1] are those lines.  Its rows are scores of a kind: each
 * feature's share goes through the same map, the bias takes what is constant.
 */
lapis_status rlda_line_weights(rr *w)
{
  int64_t d1 = w->d + 1, K = w->K, rows = K == 2 ? 1 : K;
  const double *m = w->means;
  double *T = w->weights;
  if (rows == 1) {
    for (int64_t i = 0; i < 2 * d1; i++) T[i] *= m[1] - m[0];
    T[d1 + w->d] -= (m[1] - m[0]) * (m[1] + m[0]) / 2;
    return LAPIS_OK;
  }
  double *t = base_alloc(w->base.ctx, K, sizeof *t);
  if (t == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < d1; i++) {
    for (int64_t k = 0; k < K; k++) t[k] = T[k * d1 + i];
    for (int64_t c = 0; c < K; c++) {
      double sum = 0;
      for (int64_t k = 0; k < K; k++)
        sum += m[c * K + k] * (t[k] - (i == w->d ? m[c * K + k] / 2 : 0));
      T[c * d1 + i] = sum;
    }
  }
  base_free(t);
  return LAPIS_OK;
}

/* ---- scores in which classes are balls ----------------------------------*/
/* S (K x K, columns) = covariance within classes of scores (K x n); means: room
 * for K x classes. */
static void within(const rr *w, double *means, double *S)
{
  const targets *t = &w->labels;
  int64_t K = w->K, n = w->n;
  rlda_means(t, w->scores, K, n, means);
  memset(S, 0, (size_t)(K * K) * sizeof *S);
  for (int64_t j = 0; j < n; j++) {
    const double *f = w->scores + j * K;
    int64_t c = 0;
    while (c + 1 < t->n_values && !is_of(t, t->sign + j * t->classes, c)) c++;
    const double *m = means + c * K;
    for (int64_t k = 0; k < K; k++)
      for (int64_t i = k; i < K; i++)
        S[k * K + i] += (f[k] - m[k]) * (f[i] - m[i]) / (double)n;
  }
}

static const double ROUNDER = .01; /* share of the mean variance */

/* The lower factor, in place; false: there is none. */
static bool factor(double *S, int64_t K)
{
  double mean = 0;
  for (int64_t k = 0; k < K; k++) mean += S[k * K + k] / (double)K;
  if (!(mean > 0)) return false;
  for (int64_t k = 0; k < K; k++) {
    for (int64_t i = k; i < K; i++) S[k * K + i] *= 1 - ROUNDER;
    S[k * K + k] += ROUNDER * mean;
  }
  for (int64_t k = 0; k < K; k++) {
    for (int64_t l = 0; l < k; l++)
      for (int64_t i = k; i < K; i++)
        S[k * K + i] -= S[l * K + i] * S[l * K + k];
    if (!(S[k * K + k] > 0)) return false;
    double pivot = sqrt(S[k * K + k]);
    for (int64_t i = k; i < K; i++) S[k * K + i] /= pivot;
  }
  return true;
}

/* L^-1 x, in place; its entries are step apart. */
static void forward(const double *L, int64_t K, double *x, int64_t step)
{
  for (int64_t k = 0; k < K; k++) {
    x[k * step] /= L[k * K + k];
    for (int64_t i = k + 1; i < K; i++)
      x[i * step] -= L[k * K + i] * x[k * step];
  }
}

lapis_status rlda_round(rr *w)
{
  int64_t K = w->K, d1 = w->d + 1;
  double *S = base_alloc(w->base.ctx, K * (K + w->labels.n_values), sizeof *S);
  if (S == NULL) return LAPIS_ENOMEM;
  within(w, S + K * K, S);
  if (factor(S, K)) {
    for (int64_t j = 0; j < w->n; j++) forward(S, K, w->scores + j * K, 1);
    for (int64_t i = 0; i < d1; i++) forward(S, K, w->weights + i, d1);
  }
  base_free(S);
  return LAPIS_OK;
}

/* ---- choosing -----------------------------------------------------------*/
typedef struct fold {
  lapis_data train, test;
  double *room; /* of both */
} fold;

static double class_of(const targets *t, int64_t j)
{
  int64_t c = 0;
  while (c + 1 < t->n_values && !is_of(t, t->sign + j * t->classes, c)) c++;
  return t->value[c];
}

/* Kinds in turn over the folds, in a random order. */
static void choose_folds(const rr *w, int64_t *order, int *in, int64_t *next)
{
  const targets *t = &w->labels;
  rng_shuffle(base_seed(w->base.ctx), 78, order, w->n);
  for (int64_t k = 0; k < w->n; k++) {
    int64_t j = order[k], c = 0;
    while (!is_of(t, t->sign + j * t->classes, c)) c++;
    in[j] = (int)(next[c]++ % FOLDS);
  }
}

static lapis_status take_fold(const rr *w, const int *in, int k, fold *out)
{
  int64_t d = w->d, n = w->n, m = 0, at[2];
  for (int64_t j = 0; j < n; j++) m += in[j] != k;
  out->room = base_alloc_raw(w->base.ctx, (d + 1) * n, sizeof(double));
  if (out->room == NULL) return LAPIS_ENOMEM;
  double *Y = out->room + d * n;
  at[0] = 0; /* training samples first */
  at[1] = m;
  for (int64_t j = 0; j < n; j++) {
    int64_t to = at[in[j] == k]++;
    memcpy(out->room + to * d, w->X + j * d, (size_t)d * sizeof *Y);
    Y[to] = class_of(&w->labels, j);
  }
  out->train = (lapis_data){.X = lapis_mat_f64(out->room, d, m),
                            .Y = lapis_mat_f64(Y, 1, m)};
  out->test = (lapis_data){.X = lapis_mat_f64(out->room + m * d, d, n - m),
                           .Y = lapis_mat_f64(Y + m, 1, n - m)};
  return LAPIS_OK;
}

static lapis_status answer(rr *w, const fold *f, lapis_solver *s,
                           lapis_solver **p)
{
  lapis_rr_predict_settings how;
  lapis_settings_default(&rlda_predict_method, &how);
  how.stop.tol = LOOSE_GAP;
  lapis_status status = lapis_solve(s);
  TRY(status);
  if (status == LAPIS_CANCELLED) return status;
  TRY(s->cls->learn(s));
  TRY(rr_predict_new(w->base.ctx, &f->test, s->settings, &s->learned, &how, p));
  return lapis_solve(*p);
}

/* Adds to *right; what one of them cannot solve is not right. */
static lapis_status try_one(rr *w, const fold *f, const attempt *a,
                            double *right)
{
  lapis_rr_settings set = w->set;
  lapis_solver *s = NULL, *p = NULL;
  set.lambda = a->factor * rr_lambda(NAN, w->d, f->train.X.cols);
  set.gamma = a->gamma > 0 ? a->gamma : NAN;
  set.denoise = a->denoise;
  set.assign = LAPIS_RLDA_MEAN;
  set.stop.tol =
      fmax(set.stop.tol, a->denoise == LAPIS_RR_RPCA ? LOOSE_GAP : LOOSE);
  set.stop.max_iters = MOST; /* a run cut short chooses as a whole one */
  set.stop.seconds = w->set.stop.seconds - loop_seconds(&w->base.loop);
  if (!(set.stop.seconds > 0)) return LAPIS_TIME_LIMIT;
  lapis_status status = rlda_new(w->base.ctx, &f->train, &set, &s);
  if (status >= 0) ((rr *)s)->round = w->round;
  if (status >= 0) ((rr *)s)->shrink = !(a->gamma > 0);
  if (status >= 0) status = answer(w, f, s, &p);
  const lapis_mat *got = NULL;
  if (status >= 0 && p != NULL) got = named_find(&p->result, "labels");
  for (int64_t j = 0; got != NULL && j < got->cols; j++)
    *right +=
        fabs(lapis_mat_at(got, 0, j) - lapis_mat_at(&f->test.Y, 0, j)) <= 0;
  lapis_solver_free(p);
  lapis_solver_free(s);
  return status == LAPIS_ENUMERIC || status == LAPIS_EDATA ? LAPIS_OK : status;
}

/* tried (4 x TRIES): lambda for all samples, gamma, share that was right,
 * denoise. */
static lapis_status try_all(rr *w, const int *in)
{
  lapis_status status = LAPIS_OK;
  for (int t = 0; t < TRIES; t++) {
    const attempt *a = TRY_OF + t;
    double row[4] = {a->factor * rr_lambda(NAN, w->d, w->n), a->gamma, 0,
                     a->denoise};
    memcpy(w->tried + 4 * t, row, sizeof row);
  }
  for (int k = 0; k < FOLDS && status >= 0; k++) {
    fold f = {.room = NULL};
    status = take_fold(w, in, k, &f);
    for (int t = 0; t < TRIES && status >= 0; t++) {
      double right = 0;
      status = try_one(w, &f, TRY_OF + t, &right);
      w->tried[4 * t + 2] += right / (double)w->n;
      if (status == LAPIS_CANCELLED) w->base.loop.status = status;
      if (status == LAPIS_CANCELLED || status == LAPIS_TIME_LIMIT) break;
    }
    base_free(f.room);
    if (status == LAPIS_CANCELLED || status == LAPIS_TIME_LIMIT) break;
  }
  return status;
}

/* The first within a standard error of the best. */
static int simplest(const rr *w)
{
  double best = 0;
  for (int t = 0; t < TRIES; t++) best = fmax(best, w->tried[4 * t + 2]);
  double error = sqrt(best * (1 - fmin(best, 1)) / (double)w->n);
  int first = 0;
  while (w->tried[4 * first + 2] < best - error - 1e-9) first++;
  return first;
}

lapis_status rlda_choose(rr *w)
{
  lapis_ctx *ctx = w->base.ctx;
  int64_t *order = base_alloc(ctx, w->n + w->labels.n_values, sizeof *order);
  int *in = base_alloc(ctx, w->n, sizeof *in);
  lapis_status s = order == NULL || in == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) choose_folds(w, order, in, order + w->n);
  keep_pause(ctx, true);
  if (s >= 0) s = try_all(w, in);
  keep_pause(ctx, false);
  base_free(order);
  base_free(in);
  TRY(s);
  int best = simplest(w);
  w->chosen[0] = w->tried[4 * best];
  w->chosen[1] = w->tried[4 * best + 1];
  w->chosen[2] = w->tried[4 * best + 3];
  return LAPIS_OK;
}
