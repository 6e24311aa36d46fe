/* platt.c - probabilities from scores: p = 1 / (1 + exp(A f + B)).
 *
 * Scores of the training samples are too sure of themselves, so A and B are
 * fitted to scores of held-out folds, each kind of sample spread evenly over
 * them, by Newton's method on the regularised likelihood of Platt (1999):
 * targets (n+ + 1)/(n+ + 2) and 1/(n- + 2) in place of 1 and 0. */
#include <math.h>
#include <string.h>

#include "solve/svmplus/svmplus.h"

enum { FOLDS = 5, STEPS = 100 };

typedef struct sigmoid {
  const double *f, *t; /* n: scores, targets; stride K for f */
  int64_t n, K;
  double A, B;
} sigmoid;

/* log(1 + exp(u)), without overflow */
static double soft_plus(double u)
{
  return u > 0 ? u + log1p(exp(-u)) : log1p(exp(u));
}

static double loss(const sigmoid *s, double A, double B)
{
  double sum = 0;
  for (int64_t i = 0; i < s->n; i++) {
    double u = A * s->f[i * s->K] + B;
    sum += s->t[i] * u + soft_plus(-u);
  }
  return sum;
}

/* One damped Newton step; false where the gradient vanishes. */
static bool newton(sigmoid *s)
{
  double gA = 0, gB = 0, hA = 1e-12, hB = 1e-12, hAB = 0;
  for (int64_t i = 0; i < s->n; i++) {
    double f = s->f[i * s->K], p = exp(-soft_plus(s->A * f + s->B));
    double off = s->t[i] - p, curve = p * (1 - p);
    gA += f * off;
    gB += off;
    hA += f * f * curve;
    hAB += f * curve;
    hB += curve;
  }
  double det = hA * hB - hAB * hAB, now = loss(s, s->A, s->B);
  double dA = -(hB * gA - hAB * gB) / det, dB = -(hA * gB - hAB * gA) / det;
  double slope = gA * dA + gB * dB, step = 1;
  if (!(slope < -1e-14 * (1 + fabs(now)))) return false;
  while (step > 1e-10 && !(loss(s, s->A + step * dA, s->B + step * dB) <=
                           now + 1e-4 * step * slope))
    step /= 2;
  s->A += step * dA;
  s->B += step * dB;
  return step > 1e-10;
}

static void fit_sigmoid(svmplus *w, const double *held, double *t, int64_t c)
{
  int64_t n = w->q.n, positive = 0;
  for (int64_t i = 0; i < n; i++) positive += w->labels.sign[i * w->K + c] > 0;
  double high = ((double)positive + 1) / ((double)positive + 2);
  double low = 1 / ((double)(n - positive) + 2);
  for (int64_t i = 0; i < n; i++)
    t[i] = w->labels.sign[i * w->K + c] > 0 ? high : low;
  sigmoid s = {.f = held + c, .t = t, .n = n, .K = w->K};
  s.B = log(((double)(n - positive) + 1) / ((double)positive + 1));
  for (int k = 0; k < STEPS && newton(&s); k++) continue;
  w->platt[2 * c] = s.A;
  w->platt[2 * c + 1] = s.B;
}

double sv_sigmoid(const double *f, const double *t, int64_t n, double *A,
                  double *B)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += t[i];
  sigmoid s = {.f = f, .t = t, .n = n, .K = 1};
  s.B = log((double)n - sum) - log(sum);
  for (int k = 0; k < STEPS && newton(&s); k++) continue;
  *A = s.A;
  *B = s.B;
  return loss(&s, s.A, s.B) / (double)n;
}

/* ---- held-out scores ----------------------------------------------------*/
static void copy_columns(const lapis_mat *A, const int *fold, int k,
                         bool inside, lapis_mat *out)
{
  int64_t at = 0;
  for (int64_t j = 0; j < A->cols; j++) {
    lapis_mat one = *A;
    if ((fold[j] == k) != inside) continue;
    one.cols = 1;
    if (A->colptr != NULL)
      one.colptr = A->colptr + j;
    else
      for (int64_t i = 0; i < A->rows; i++)
        mat_col(out, at)[i] = lapis_mat_at(A, i, j);
    if (A->colptr != NULL) mat_to_f64(&one, mat_col(out, at), A->rows);
    at++;
  }
}

lapis_status sv_take_part(const svmplus *w, const int *fold, int k, bool inside,
                          sv_part *out)
{
  const lapis_data *d = &w->data;
  int64_t m = 0, n = w->q.n;
  for (int64_t j = 0; j < n; j++) m += (fold[j] == k) == inside;
  int64_t rows = d->X.rows + d->Y.rows + w->q.p + 1;
  double *at = out->block = base_alloc(w->base.ctx, rows * m, sizeof *at);
  if (at == NULL) return LAPIS_ENOMEM;
  out->count = m;
  out->data = (lapis_data){.X = lapis_mat_f64(at, d->X.rows, m)};
  at += d->X.rows * m;
  copy_columns(&d->X, fold, k, inside, &out->data.X);
  out->data.Y = lapis_mat_f64(at, d->Y.rows, m);
  at += d->Y.rows * m;
  copy_columns(&d->Y, fold, k, inside, &out->data.Y);
  bool privileged = !w->q.plain && !inside; /* never the held-out samples' */
  if (privileged) out->data.P = lapis_mat_f64(at, w->q.p, m);
  if (privileged) copy_columns(&d->P, fold, k, inside, &out->data.P);
  at += w->q.p * m;
  for (int64_t j = 0, i = 0; j < n && d->weight != NULL; j++)
    if ((fold[j] == k) == inside) at[i++] = d->weight[j];
  if (d->weight != NULL) out->data.weight = at;
  return LAPIS_OK;
}

static lapis_status score_fold(svmplus *w, const sv_part *train,
                               const sv_part *test, const int *fold, int k,
                               double *held)
{
  lapis_svmplus_settings set = w->set;
  lapis_solver *s = NULL, *p = NULL;
  set.probability = set.certificate = false;
  set.scale = LAPIS_SCALE_NONE; /* w->data are scaled, where they are */
  set.stop.seconds = loop_seconds_left(&w->base.loop);
  TRY(svmplus_new(w->base.ctx, &train->data, &set, &s));
  lapis_status status = lapis_solve(s);
  if (status == LAPIS_MAX_ITERS || status == LAPIS_PRECISION_FLOOR)
    status = LAPIS_OK;
  if (status == LAPIS_OK) status = sv_learn(s);
  if (status == LAPIS_OK)
    status = sv_predict_new(w->base.ctx, &test->data, s->settings, &s->learned,
                            NULL, &p);
  if (status == LAPIS_OK) status = lapis_solve(p);
  const lapis_mat *f =
      status == LAPIS_OK ? named_find(&p->result, "scores") : NULL;
  int64_t at = 0;
  for (int64_t j = 0; f != NULL && j < w->q.n; j++)
    if (fold[j] == k)
      memcpy(held + j * w->K, mat_col(f, at++), (size_t)w->K * sizeof *held);
  lapis_solver_free(p);
  lapis_solver_free(s);
  return status;
}

static lapis_status one_fold(svmplus *w, const int *fold, int k, double *held)
{
  sv_part train = {.count = 0}, test = {.count = 0};
  lapis_status s = sv_take_part(w, fold, k, true, &test);
  if (s >= 0) s = sv_take_part(w, fold, k, false, &train);
  if (s >= 0 && test.count > 0) s = score_fold(w, &train, &test, fold, k, held);
  base_free(train.block);
  base_free(test.block);
  return s;
}

/* Which kind sample i is of: its class; of several labels whether it has the
 * first. */
static int64_t kind_of(const svmplus *w, int64_t i)
{
  const double *sign = w->labels.sign + i * w->K;
  int64_t c = 0;
  if (w->labels.kind != TARGETS_CLASS) return sign[0] > 0;
  while (c + 1 < w->K && !(sign[c] > 0)) c++;
  return c;
}

/* Kinds in turn over the folds, in a random order.  next: a count a kind. */
static void choose_folds(const svmplus *w, int64_t *order, int *fold,
                         int64_t *next)
{
  int64_t n = w->q.n;
  rng_shuffle(base_seed(w->base.ctx), 77, order, n);
  for (int64_t i = 0; i < n; i++)
    fold[order[i]] = (int)(next[kind_of(w, order[i])]++ % FOLDS);
}

/* What is left beside each fold has both kinds of every class: scores of fewer
 * classes would have fewer columns. */
static lapis_status check_folds(const svmplus *w, const int *fold)
{
  for (int64_t c = 0; c < w->K; c++) {
    int64_t all[2] = {0, 0}, held[FOLDS][2] = {{0, 0}};
    for (int64_t i = 0; i < w->q.n; i++) {
      int yes = w->labels.sign[i * w->K + c] > 0;
      all[yes]++;
      held[fold[i]][yes]++;
    }
    for (int k = 0; k < 2 * FOLDS; k++)
      if (held[k / 2][k % 2] == all[k % 2])
        return lapis_fail(
            w->base.ctx, LAPIS_EDATA,
            "svmplus: --probability holds a fifth of the samples out at a "
            "time, and one class has too few (%" PRId64 ") to be learnt from "
            "the others; bring more of it, or leave --probability out",
            all[k % 2]);
  }
  return LAPIS_OK;
}

lapis_status sv_platt_folds(svmplus *w)
{
  int64_t n = w->q.n, kinds = w->K > 1 ? w->K : 2;
  if (w->set.kernel == LAPIS_KERNEL_PRECOMPUTED ||
      w->set.kernel_priv == LAPIS_KERNEL_PRECOMPUTED)
    return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                      "svmplus: --probability needs features; a precomputed "
                      "kernel cannot be split into folds");
  if (w->fold == NULL) w->fold = arena_take(&w->base.arena, n, sizeof *w->fold);
  int64_t *order = base_alloc(w->base.ctx, n + kinds, sizeof *order);
  if (w->fold == NULL || order == NULL) {
    base_free(order);
    return LAPIS_ENOMEM;
  }
  choose_folds(w, order, w->fold, order + n);
  base_free(order);
  return check_folds(w, w->fold);
}

lapis_status sv_platt(svmplus *w)
{
  lapis_ctx *ctx = w->base.ctx;
  loop *l = &w->base.loop;
  int64_t n = w->q.n;
  double *held = base_alloc(ctx, n * w->K + n, sizeof *held);
  if (w->platt == NULL) w->platt = arena_reals(&w->base.arena, 2 * w->K);
  bool ok = held != NULL && w->platt != NULL;
  lapis_status s = ok ? LAPIS_OK : LAPIS_ENOMEM;
  keep_pause(ctx, true);
  for (int k = 0; k < FOLDS && s == LAPIS_OK; k++)
    s = loop_cut_short(l) ? l->status : one_fold(w, w->fold, k, held);
  keep_pause(ctx, false);
  for (int64_t c = 0; c < w->K && s == LAPIS_OK; c++)
    fit_sigmoid(w, held, held + n * w->K, c);
  if (s > 0) { /* a sigmoid of some folds would look like any other */
    l->status = s;
    w->platt = NULL;
    base_say(ctx, 0,
             "svmplus: stopped before the folds of --probability were done; "
             "there are no probabilities");
  }
  base_free(held);
  return s < 0 ? s : LAPIS_OK;
}
