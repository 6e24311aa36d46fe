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
lapis_status sv_split(const svmplus *w, const fold_plan *plan, int64_t fold,
                      fold_part *hidden, fold_part *shown)
{
  TRY(folds_split(w->base.ctx, &w->data, plan, fold, hidden, shown));
  hidden->data.P = (lapis_mat){.dtype = LAPIS_F64}; /* never those samples' */
  return LAPIS_OK;
}

static lapis_status score_fold(svmplus *w, const fold_part *shown,
                               const fold_part *hidden, int64_t fold,
                               double *held)
{
  lapis_svmplus_settings set = w->set;
  lapis_solver *s = NULL, *p = NULL;
  set.probability = set.certificate = false;
  set.scale = LAPIS_SCALE_NONE; /* w->data are scaled, where they are */
  set.stop.seconds = loop_seconds_left(&w->base.loop);
  TRY(svmplus_new(w->base.ctx, &shown->data, &set, &s));
  lapis_status status = lapis_solve(s);
  if (status == LAPIS_MAX_ITERS || status == LAPIS_PRECISION_FLOOR)
    status = LAPIS_OK;
  if (status == LAPIS_OK) status = sv_learn(s);
  if (status == LAPIS_OK)
    status = sv_predict_new(w->base.ctx, &hidden->data, s->settings,
                            &s->learned, NULL, &p);
  if (status == LAPIS_OK) status = lapis_solve(p);
  const lapis_mat *f =
      status == LAPIS_OK ? named_find(&p->result, "scores") : NULL;
  int64_t at = 0;
  for (int64_t j = 0; f != NULL && j < w->q.n; j++)
    if (w->folds.fold[j] == fold)
      memcpy(held + j * w->K, mat_col(f, at++), (size_t)w->K * sizeof *held);
  lapis_solver_free(p);
  lapis_solver_free(s);
  return status;
}

static lapis_status one_fold(svmplus *w, int64_t fold, double *held)
{
  fold_part hidden, shown;
  lapis_status s = sv_split(w, &w->folds, fold, &hidden, &shown);
  if (s >= 0 && hidden.data.X.cols > 0)
    s = score_fold(w, &shown, &hidden, fold, held);
  fold_part_free(&hidden);
  fold_part_free(&shown);
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

/* What is left beside each fold has both kinds of every class: scores of fewer
 * classes would have fewer columns. */
static lapis_status check_folds(const svmplus *w)
{
  const fold_plan *plan = &w->folds;
  bool whole = w->data.group != NULL;
  if (plan->folds < 2)
    return lapis_fail(w->base.ctx, LAPIS_EDATA,
                      "svmplus: --probability holds whole groups out, and all "
                      "rows are of one group; bring more groups, or leave "
                      "--probability or the groups out");
  for (int64_t c = 0; c < w->K; c++) {
    int64_t all[2] = {0, 0}, held[FOLDS][2] = {{0, 0}};
    for (int64_t i = 0; i < w->q.n; i++) {
      int yes = w->labels.sign[i * w->K + c] > 0;
      all[yes]++;
      held[plan->fold[i]][yes]++;
    }
    for (int k = 0; k < 2 * FOLDS; k++)
      if (held[k / 2][k % 2] == all[k % 2])
        return lapis_fail(
            w->base.ctx, LAPIS_EDATA,
            "svmplus: --probability holds a part of the %s out at a time, and "
            "one class has too few (%" PRId64 "%s) to be learnt from the "
            "others; bring more of it, or leave --probability out",
            whole ? "groups" : "samples", all[k % 2],
            whole ? " samples, all in groups of one fold" : "");
  }
  return LAPIS_OK;
}

lapis_status sv_platt_folds(svmplus *w)
{
  lapis_ctx *ctx = w->base.ctx;
  int64_t n = w->q.n;
  if (w->set.kernel == LAPIS_KERNEL_PRECOMPUTED ||
      w->set.kernel_priv == LAPIS_KERNEL_PRECOMPUTED)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "svmplus: --probability needs features; a precomputed "
                      "kernel cannot be split into folds");
  int64_t *kind = base_alloc(ctx, n, sizeof *kind);
  if (kind == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < n; i++) kind[i] = kind_of(w, i);
  fold_draw how = {.method = "svmplus",
                   .use = FOLDS_PLATT,
                   .samples = n,
                   .folds = FOLDS,
                   .group = w->data.group,
                   .kind = kind,
                   .kinds = w->K > 1 ? w->K : 2,
                   .or_fewer = true};
  folds_free(&w->folds);
  lapis_status s = folds_draw(ctx, &how, &w->folds);
  base_free(kind);
  TRY(s);
  TRY(check_folds(w));
  folds_say_groups(ctx, &how, &w->folds);
  return LAPIS_OK;
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
  for (int64_t k = 0; k < w->folds.folds && s == LAPIS_OK; k++)
    s = loop_cut_short(l) ? l->status : one_fold(w, k, held);
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
