/* choose.c - rr and rlda where nobody gave their settings.
 *
 * Features (and targets of rr) are brought to one size (scale.c), and of a
 * short list what tells most on two folds, each cleaned and told by the model
 * of the other, is taken.  lambda is in units of 1 / sqrt(max(d, n)); 10 leaves
 * next to nothing to the sparse error unless features are heavy-tailed, 1000
 * nothing at all, which is ridge regression that fills gaps.
 *
 * rlda: no cleaning (ridge LDA, where X = D is the answer), robust PCA first,
 * or the joint form; the first two also of samples brought to length 1, which
 * takes out what light does to an image.  The first within a standard error of
 * the best share told right is taken.  Classes count alike in that share, as
 * they do for the nearest mean: of plain shares a class of 3 % is told best by
 * never answering it, which is what a D does that was fitted to the labels.
 * One that is not in both folds, and so can never be told, does not count.
 * gamma is that of shrink.c but in the joint form, which has .1 and 10.
 * Robust PCA is tried where it could be ahead by a standard error, and the
 * joint form, which costs ten times as much, where robust PCA was: what nothing
 * was wrong with, nothing cleans better (bench/results/rr.md).
 *
 * rr: robust PCA first with one of five lambdas, and one of three gammas; the
 * largest R^2, squared errors in shares of those of the mean of all, and its
 * standard error (folds/regression.h).  The joint form is not in the list: told
 * to fit numbers it moves D to where they are fitted, and was behind on every
 * table tried (bench/results/rr.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "folds/folds.h"
#include "folds/unsure.h"
#include "methods/robust/robust.h"

enum { FOLDS = 2 };
typedef struct attempt {
  int denoise;
  double factor, gamma; /* of 1 / sqrt(max(d, n)); 0: from the data */
  bool unit;            /* of samples of length 1 */
  int round;            /* each is tried after what came before it */
} attempt;
static const attempt CLASSES[] = {
    {LAPIS_RR_RPCA, 1e3, 0, false, 0}, {LAPIS_RR_RPCA, 1e3, 0, true, 0},
    {LAPIS_RR_RPCA, 1, 0, false, 1},   {LAPIS_RR_RPCA, 1, 0, true, 1},
    {LAPIS_RR_JOINT, 1, .1, false, 2}, {LAPIS_RR_JOINT, 1, 10, false, 2}};
/* of rr: robust PCA first; one D serves all gammas */
static const double FACTORS[] = {1e3, 10, 2.5, 1.5, 1}, GAMMAS[] = {3, .1, 30};

static const double LOOSE = 1e-5;     /* residuals of a fold */
static const double LOOSE_GAP = 1e-3; /* gaps there */
enum {
  MOST = 50000, /* iterations there */
  FEW = 10,     /* samples of rr: see too_few */
  ROUNDS = 3,
  N_GAMMAS = sizeof GAMMAS / sizeof *GAMMAS,
  MOST_TRIES = N_GAMMAS * (sizeof FACTORS / sizeof *FACTORS)
};

static attempt attempt_at(const rr *w, int t)
{
  if (w->lda) return CLASSES[t];
  return (attempt){.denoise = LAPIS_RR_RPCA,
                   .factor = FACTORS[t / N_GAMMAS],
                   .gamma = GAMMAS[t % N_GAMMAS]};
}

int rr_tries(const rr *w)
{
  return w->lda ? sizeof CLASSES / sizeof *CLASSES : MOST_TRIES;
}

/* ---- folds --------------------------------------------------------------*/
/* All samples, and which are told by the model of which others. */
typedef struct plan {
  method_new_fn make; /* of a fold's fit */
  fold_plan folds;
  lapis_data data;
  double *X1;     /* rlda: d x n, X of samples of length 1, of one size */
  double *Y;      /* rlda: n */
  int64_t *kind;  /* rlda: n, the class's place among the values */
  double *weight; /* rlda: of each class; 0 of one that not both folds hide;
                   * a sample counts so often beside its own weight */
  int64_t judged; /* classes in both folds: these count */
  bool alike;     /* rlda: features have one unit, and samples a length */
  double first[MOST_TRIES]; /* what was told in the first fold, or NaN */
  bool ended[MOST_TRIES];   /* not made in the second one */
} plan;

static int64_t class_of(const rr *w, int64_t j)
{
  int64_t c = 0;
  while (c + 1 < w->labels.n_values && !rlda_is_of(w, j, c)) c++;
  return c;
}

static void plan_free(plan *p)
{
  folds_free(&p->folds);
  base_free(p->X1);
  base_free(p->Y);
  base_free(p->kind);
  base_free(p->weight);
}

/* Classes that both folds hide, and what a sample of each counts. */
static lapis_status weigh_classes(const rr *w, plan *p)
{
  int64_t kinds = w->labels.n_values;
  double n = 0, *count = base_alloc(w->base.ctx, FOLDS * kinds, sizeof *count);
  p->weight = base_alloc(w->base.ctx, kinds, sizeof *p->weight);
  lapis_status s = count == NULL || p->weight == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; s >= 0 && j < w->n; j++) {
    count[FOLDS * p->kind[j] + p->folds.fold[j]] += rr_times(w, j);
    n += rr_times(w, j);
  }
  for (int64_t c = 0; s >= 0 && c < kinds; c++)
    p->judged += count[FOLDS * c] > 0 && count[FOLDS * c + 1] > 0;
  for (int64_t c = 0; s >= 0 && c < kinds; c++) {
    double all = count[FOLDS * c] + count[FOLDS * c + 1];
    if (count[FOLDS * c] > 0 && count[FOLDS * c + 1] > 0)
      p->weight[c] = n / (all * (double)p->judged);
  }
  base_free(count);
  return s;
}

/* Of numbers two folds of all samples; rlda: each class spread evenly. */
static lapis_status choose_folds(rr *w, plan *p)
{
  lapis_ctx *ctx = w->base.ctx;
  fold_draw how = {.method = w->base.cls->method,
                   .use = FOLDS_RR,
                   .samples = w->n,
                   .folds = FOLDS,
                   .group = w->group,
                   .or_fewer = true};
  p->data = (lapis_data){.X = lapis_mat_f64(w->X, w->d, w->n),
                         .Y = lapis_mat_f64(w->Y, w->K, w->n),
                         .weight = w->weight};
  if (w->lda) {
    p->X1 = base_alloc_raw(ctx, w->d * w->n, sizeof *p->X1);
    p->Y = base_alloc_raw(ctx, w->n, sizeof *p->Y);
    p->kind = base_alloc(ctx, w->n, sizeof *p->kind);
    if (p->X1 == NULL || p->Y == NULL || p->kind == NULL) return LAPIS_ENOMEM;
    TRY(rr_take_unit(w, p->X1));
    TRY(mat_one_unit(ctx, &w->given, &p->alike));
    for (int64_t j = 0; j < w->n; j++) {
      p->kind[j] = class_of(w, j);
      p->Y[j] = w->labels.value[p->kind[j]];
    }
    p->data.Y = lapis_mat_f64(p->Y, 1, w->n);
    how.Y = &p->data.Y;
  }
  TRY(folds_draw(ctx, &how, &p->folds));
  folds_say_groups(ctx, &how, &p->folds);
  return w->lda && p->folds.folds == FOLDS ? weigh_classes(w, p) : LAPIS_OK;
}

typedef struct fold {
  method_new_fn make;
  fold_part hidden[2], shown[2]; /* [1]: of samples of length 1 */
  double *weight;                /* rlda: of the samples that are hidden */
  int64_t units;                 /* groups, or 0: samples err by themselves */
  int64_t *unit;                 /* of the samples that are hidden */
  double *of_unit; /* 2 x units: what is told of it, and its weight */
} fold;

static lapis_status take_fold(const rr *w, const plan *p, int k, fold *out)
{
  lapis_ctx *ctx = w->base.ctx;
  lapis_data data = p->data;
  for (int unit = 0; unit < (w->lda ? 2 : 1); unit++) {
    if (unit > 0) data.X = lapis_mat_f64(p->X1, w->d, w->n);
    TRY(folds_split(ctx, &data, &p->folds, k, &out->hidden[unit],
                    &out->shown[unit]));
  }
  int64_t at = 0, n = out->hidden[0].data.X.cols;
  out->make = p->make;
  out->units = w->group != NULL ? p->folds.units : 0;
  out->weight = base_alloc(ctx, n, sizeof *out->weight);
  out->unit = base_alloc(ctx, n, sizeof *out->unit);
  out->of_unit = base_alloc(ctx, 2 * out->units, sizeof *out->of_unit);
  if (out->weight == NULL || out->unit == NULL || out->of_unit == NULL)
    return LAPIS_ENOMEM;
  for (int64_t j = 0; j < w->n; j++) {
    if (p->folds.fold[j] != k) continue;
    out->weight[at] = w->lda ? p->weight[p->kind[j]] : 1;
    out->unit[at++] = p->folds.unit[j];
  }
  return LAPIS_OK;
}

static void drop_fold(fold *f)
{
  for (int unit = 0; unit < 2; unit++) {
    fold_part_free(&f->hidden[unit]);
    fold_part_free(&f->shown[unit]);
  }
  base_free(f->weight);
  base_free(f->unit);
  base_free(f->of_unit);
}

/* ---- trying -------------------------------------------------------------*/
enum { TOLD = 6 }; /* sums that a fold tells */

static lapis_status answer(rr *w, const fold *f, const attempt *a,
                           lapis_solver *s, lapis_solver **p)
{
  lapis_rr_predict_settings how;
  lapis_settings_default(&rlda_predict_method, &how);
  how.stop.tol = LOOSE_GAP;
  if (!w->lda) how.clean = LAPIS_RR_CLEAN_NUCLEAR; /* as the whole will */
  lapis_status status = lapis_solve(s);
  TRY(status);
  if (status == LAPIS_CANCELLED) return status;
  TRY(s->cls->learn(s));
  TRY(rr_predict_new(w->base.ctx, &f->hidden[a->unit].data, s->settings,
                     &s->learned, &how, p));
  (*p)->brief = true;
  return lapis_solve(*p);
}

/* Of classes: weights of what is right, all weights, and their squares.  Of
 * numbers: squared errors, and those of the mean.  Behind them, of groups with
 * the first S and the second N, the sums of S^2, S N and N^2; samples of
 * numbers are such groups where there are no others. */
static void tell(const rr *w, const lapis_mat *got, const fold *f,
                 double sum[TOLD])
{
  const lapis_mat *Y = &f->hidden[0].data.Y;
  for (int64_t j = 0; j < got->cols; j++) {
    double off = 0, size = 0;
    for (int64_t i = 0; i < Y->rows; i++) {
      double y = lapis_mat_at(Y, i, j), e = lapis_mat_at(got, i, j) - y;
      off += e * e / (double)Y->rows;
      size += y * y / (double)Y->rows;
    }
    const double *own = f->hidden[0].data.weight;
    double v = own == NULL ? 1 : own[j], weight = f->weight[j];
    double S = v * (w->lda ? (off <= 0) * weight : off);
    double N = v * (w->lda ? weight : size);
    sum[0] += S;
    sum[1] += N;
    sum[2] += N * weight;
    if (f->units > 0) {
      f->of_unit[2 * f->unit[j]] += S;
      f->of_unit[2 * f->unit[j] + 1] += N;
    } else if (!w->lda) {
      sum[3] += S * S;
      sum[4] += S * N;
      sum[5] += N * N;
    }
  }
}

/* The sums of groups, which may lie in the parts of several processes: added
 * by one of these. */
static lapis_status tell_groups(const rr *w, const fold *f, double sum[TOLD])
{
  lapis_ctx *ctx = w->base.ctx;
  TRY(base_sum(ctx, f->of_unit, 2 * f->units));
  for (int64_t u = 0; u < f->units; u++) {
    double *S = f->of_unit + 2 * u, *N = S + 1;
    if (base_rank(ctx) == 0) {
      sum[3] += *S * *S;
      sum[4] += *S * *N;
      sum[5] += *N * *N;
    }
    *S = *N = 0;
  }
  return LAPIS_OK;
}

/* s: the solver of the attempt before, and now of this one. */
static lapis_status prepare(rr *w, const fold *f, const attempt *a,
                            lapis_solver **s)
{
  lapis_rr_settings set = w->set;
  int64_t first, all;
  double spent = loop_seconds(&w->base.loop);
  const lapis_data *shown = &f->shown[a->unit].data;
  TRY(base_place(w->base.ctx, shown->X.cols, &first, &all));
  TRY(base_max(w->base.ctx, &spent, 1));
  set.lambda = a->factor * rr_lambda(NAN, w->d, all);
  set.gamma = a->gamma > 0 ? a->gamma : NAN;
  set.denoise = a->denoise;
  set.scale = LAPIS_SCALE_NONE; /* w->X and w->Y have one size */
  set.assign = w->lda ? LAPIS_RLDA_MEAN : LAPIS_RLDA_AUTO;
  set.stop.tol =
      fmax(set.stop.tol, a->denoise == LAPIS_RR_RPCA ? LOOSE_GAP : LOOSE);
  set.stop.max_iters = MOST; /* a run cut short chooses as a whole one */
  set.stop.seconds = w->set.stop.seconds - spent;
  if (!(set.stop.seconds > 0)) return LAPIS_TIME_LIMIT;
  bool same = *s != NULL && !w->lda &&
              fabs(((rr *)*s)->set.lambda / set.lambda - 1) < 1e-9;
  if (same) return (*s)->cls->retune(*s, &set);
  lapis_solver_free(*s);
  *s = NULL;
  TRY(f->make(w->base.ctx, shown, &set, s));
  rr *of = (rr *)*s;
  of->in_fold = true;
  if (!w->lda) return LAPIS_OK;
  of->round = w->round;
  of->shrink = !(a->gamma > 0);
  return rr_scale_nothing(&of->base.arena, w->d, &of->scale);
}

/* right (TOLD): NaN of what cannot be solved. */
static lapis_status try_one(rr *w, const fold *f, const attempt *a,
                            lapis_solver **s, double *right)
{
  lapis_solver *p = NULL;
  lapis_status status = prepare(w, f, a, s);
  if (status == LAPIS_TIME_LIMIT) return status;
  if (status >= 0) status = answer(w, f, a, *s, &p);
  const lapis_mat *got = NULL;
  if (status >= 0 && p != NULL)
    got = named_find(&p->result, w->lda ? "labels" : "scores");
  for (int i = 0; i < TOLD; i++) right[i] = got != NULL ? 0 : NAN;
  if (got != NULL) tell(w, got, f, right);
  lapis_solver_free(p);
  bool unsolved = status == LAPIS_ENUMERIC || status == LAPIS_EDATA ||
                  status == LAPIS_EMISSING;
  if (status < 0 && !unsolved) return status;
  if (f->units > 0) TRY(tell_groups(w, f, right));
  TRY(base_sum(w->base.ctx, right, TOLD));
  return status < 0 ? LAPIS_OK : status;
}

/* The best of rr, the first within a standard error of it of rlda; the first of
 * all where nothing was told. */
static int choice(const rr *w)
{
  double best = NAN, error = 0;
  for (int t = 0; t < rr_tries(w); t++) {
    const double *of = w->tried + RR_TRIED * t;
    if (isnan(of[2]) || of[2] <= best) continue;
    best = of[2];
    error = w->lda ? of[4] + 1e-9 : 0;
  }
  if (isnan(best)) return 0;
  int first = 0;
  while (!(w->tried[RR_TRIED * first + 2] >= best - error)) first++;
  return first;
}

/* Samples have length 1 where features have one unit, and after the first round
 * where what was told best there has. */
static bool is_made(const rr *w, const plan *p, int t, int round)
{
  attempt a = attempt_at(w, t);
  if (a.round != round || p->ended[t]) return false;
  if (!a.unit) return true;
  return p->alike && (round == 0 || w->tried[RR_TRIED * choice(w) + 5] > 0);
}

/* right (TOLD x tries): NaN where it was not told. */
static lapis_status try_fold(rr *w, const plan *p, const fold *f, int round,
                             double *right)
{
  lapis_solver *s = NULL;
  lapis_status status = LAPIS_OK;
  for (int k = 0; k < TOLD * rr_tries(w); k++) right[k] = NAN;
  for (int t = 0; t < rr_tries(w) && status >= 0; t++) {
    attempt a = attempt_at(w, t);
    if (!is_made(w, p, t, round)) continue;
    status = try_one(w, f, &a, &s, right + TOLD * t);
    if (status == LAPIS_CANCELLED) w->base.loop.status = status;
    if (status == LAPIS_CANCELLED || status == LAPIS_TIME_LIMIT) break;
  }
  lapis_solver_free(s);
  return status;
}

/* Adds what a fold told to sum; one that told nothing, its time being over,
 * counts for nothing. */
static void add_fold(const rr *w, const double *right, double *sum)
{
  bool any = false;
  for (int t = 0; t < rr_tries(w); t++) any = any || !isnan(right[TOLD * t]);
  for (int k = 0; k < TOLD * rr_tries(w) && any; k++) sum[k] += right[k];
}

static void set_told(rr *w, const plan *p, int round, const double *sum)
{
  w->units = (double)(w->group != NULL ? p->folds.units : (int64_t)w->step.all);
  for (int t = 0; t < rr_tries(w); t++) {
    if (attempt_at(w, t).round != round || p->ended[t]) continue;
    const double *of = sum + TOLD * t;
    regression_sums sums = {of[0], of[1], of[3], of[4], of[5], w->units};
    double error, r2 = regression_of(&sums, &error);
    if (isnan(r2)) continue;
    if (w->lda && w->group == NULL)
      error = sqrt(fmax(r2 * (1 - r2) * of[2], 0)) / of[1];
    w->tried[RR_TRIED * t + 2] = w->lda ? of[0] / of[1] : r2;
    w->tried[RR_TRIED * t + 4] = error;
  }
}

/* Whether two folds say nothing: there are no two; of rr by a few samples, of
 * rlda where less than two classes have two, so that a model of either fold
 * knows but one. */
static bool too_few(const rr *w, const plan *p)
{
  if (p->folds.folds < FOLDS) return true;
  return w->lda ? p->judged < 2 : w->step.all < FEW;
}

/* Whether a round may change the choice: the first always; robust PCA, where
 * all right would be better by a standard error than the first two are; the
 * joint form where robust PCA was. */
static bool may_pay(const rr *w, int round)
{
  const double *now = w->tried + RR_TRIED * choice(w);
  if (round == 0) return true;
  if (!w->lda || isnan(now[2])) return false;
  return round == 1 ? now[2] + now[4] < 1 : rr_cleans(now[0], w->d, w->n);
}

/* Those end that are not ahead, in the first fold, of what would be taken
 * without them. */
static void end_some(const rr *w, plan *p, int round, const double *right)
{
  double now = p->first[choice(w)];
  for (int t = 0; w->lda && t < rr_tries(w); t++) {
    const double *of = right + TOLD * t;
    if (attempt_at(w, t).round != round) continue;
    p->first[t] = of[0] / of[1];
    p->ended[t] = round > 0 && !(p->first[t] > now);
  }
}

static lapis_status try_round(rr *w, plan *p, int round)
{
  lapis_status status = LAPIS_OK;
  double right[TOLD * MOST_TRIES], sum[TOLD * MOST_TRIES] = {0};
  for (int k = 0; k < FOLDS && status >= 0; k++) {
    fold f = {.units = 0};
    status = take_fold(w, p, k, &f);
    if (status >= 0) status = try_fold(w, p, &f, round, right);
    lapis_status cut = status;
    if (status >= 0) add_fold(w, right, sum);
    if (status >= 0) status = cut;
    drop_fold(&f);
    if (status == LAPIS_CANCELLED || status == LAPIS_TIME_LIMIT) break;
    if (k == 0) end_some(w, p, round, right);
  }
  set_told(w, p, round, sum);
  return status;
}

/* tried (RR_TRIED x tries): lambda for all samples, gamma, what was told (NaN:
 * it could not be, or was not asked), denoise, the standard error of what was
 * told, 1 where samples had length 1. */
static lapis_status try_all(rr *w, plan *p)
{
  lapis_status status = LAPIS_OK;
  for (int t = 0; t < rr_tries(w); t++) {
    attempt a = attempt_at(w, t);
    double row[RR_TRIED] = {a.factor * rr_lambda(NAN, w->d, w->step.all),
                            a.gamma,
                            NAN,
                            a.denoise,
                            NAN,
                            a.unit};
    memcpy(w->tried + RR_TRIED * t, row, sizeof row);
  }
  for (int round = 0; round < ROUNDS && status == LAPIS_OK; round++)
    if (!too_few(w, p) && may_pay(w, round)) status = try_round(w, p, round);
  return status;
}

lapis_status rr_choose(rr *w, method_new_fn make)
{
  lapis_ctx *ctx = w->base.ctx;
  plan p = {.make = make};
  lapis_status s = choose_folds(w, &p);
  keep_pause(ctx, true);
  if (s >= 0) s = try_all(w, &p);
  keep_pause(ctx, false);
  plan_free(&p);
  TRY(s);
  if (s == LAPIS_TIME_LIMIT) (void)loop_cut_short(&w->base.loop);
  int best = choice(w);
  w->chosen[0] = w->tried[RR_TRIED * best];
  w->chosen[1] = w->tried[RR_TRIED * best + 1];
  w->chosen[2] = w->tried[RR_TRIED * best + 3];
  w->chosen[3] = w->tried[RR_TRIED * best + 5];
  return LAPIS_OK;
}

/* ---- what is said of it -------------------------------------------------*/
/* Whether anything was taken from the features, which have size 1 here. */
static lapis_status has_cleaned(const rr *w, bool *out)
{
  static const double SEEN = 1e-3;
  double n = 0;
  for (int64_t k = 0; k < w->d * w->n; k++) n += fabs(w->sparse[k]) > SEEN;
  TRY(base_sum(w->base.ctx, &n, 1));
  *out = n > 0;
  return LAPIS_OK;
}

lapis_status rr_remark_choice(const rr *w)
{
  const lapis_rr_settings *set = &w->set;
  const char *method = w->base.cls->method;
  const char *sized = set->scale == LAPIS_SCALE_ROBUST
                          ? "features were scaled by median and MAD"
                      : w->unit ? "samples were brought to length 1, and "
                                  "features standardised"
                                : "features were standardised";
  bool cleaned;
  int t = 0;
  TRY(has_cleaned(w, &cleaned));
  while (t + 1 < rr_tries(w) && (w->tried[RR_TRIED * t] != w->chosen[0] ||
                                 w->tried[RR_TRIED * t + 1] != w->chosen[1] ||
                                 w->tried[RR_TRIED * t + 3] != w->chosen[2] ||
                                 w->tried[RR_TRIED * t + 5] != w->chosen[3]))
    t++;
  double told = w->tried[RR_TRIED * t + 2], error = w->tried[RR_TRIED * t + 4];
  if (isnan(told))
    base_note(w->base.ctx, BASE_NOTE, "chosen",
              "%s: %s; %s: settings were not compared; lambda %.4g, gamma %.3g",
              method, sized,
              w->base.loop.status == LAPIS_TIME_LIMIT ? "no time was left"
              : w->lda ? "no fold could be scored (that takes two samples of "
                         "each of two classes)"
              : w->step.all < FEW ? "fewer than 10 samples"
                                  : "no fold could be scored",
              set->lambda, set->gamma);
  else {
    char right[48] = ""; /* who compared several methods says it of them */
    char first[64] = "";
    if (cleaned && set->denoise == LAPIS_RR_RPCA)
      (void)snprintf(first, sizeof first,
                     "robust PCA first, proved to a gap of %.1e; ",
                     fmax(w->step.bounds.gap, 0));
    if (!base_is_compared(w->base.ctx))
      (void)snprintf(right, sizeof right, ", %s %.3f on two folds",
                     w->lda ? "right in" : "R^2", told);
    base_note(w->base.ctx, BASE_NOTE, "chosen",
              "%s: %s; %slambda %.4g and gamma %.3g chosen%s%s%s", method,
              sized, first, set->lambda, set->gamma, right,
              w->lda ? ", classes counting alike" : "",
              cleaned ? ""
                      : "; removing errors did not help on held-out rows, so "
                        "nothing was removed");
  }
  if (w->lda || base_is_compared(w->base.ctx) || isnan(told)) return LAPIS_OK;
  char unsure[REGRESSION_TEXT];
  if (*regression_unsure(told, error, w->units, unsure) != '\0')
    base_note(w->base.ctx, BASE_WARNING, "unsure", "rr: %s", unsure);
  return LAPIS_OK;
}
