/* choose.c - C and gamma of svmplus where samples have P and one of them is
 * left open, and whether P pays.
 *
 * C of 1, .1, 10 and 100, with gamma of 1, .01 and 100, and the same C without
 * P (what is stated stays), score the samples of held-out folds; sigmoids of
 * these scores are judged by their log-loss.  The best of either form, or its
 * first where that is within a standard error; and P where it is better by two,
 * as it costs an AUROC of .004 on average where it is always used
 * (bench/results/svmplus.md).  Else gamma is infinite, by which every fold that
 * refits what was chosen leaves P out, too (sv_idle).  Who states gamma uses P:
 * then C alone is chosen.
 *
 * The whole costs up to 80 fits, those of a fold over the same kernels: beyond
 * MOST samples both are 1, and cv is to choose. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/svmplus.h"

enum { MOST = 2000, N_C = 4, N_GAMMA = 3, POINTS = N_C * N_GAMMA };
static const double ENOUGH = 1e-3; /* gap of a fit that is to be judged */
static const double Cs[N_C] = {1, .1, 10, 100};
static const double gammas[N_GAMMA] = {1, .01, 100};

typedef struct open_svm {
  lapis_solver base;
  sv_maker *make;
  lapis_svmplus_settings asked, set; /* set: as chosen */
  lapis_data data;                   /* borrowed */
  bool chosen;
  lapis_solver *inner;
} open_svm;

/* What one form says of hidden samples. */
typedef struct form {
  sv_maker *make;
  svmplus *of; /* with its data and folds */
  int count;
  double C[POINTS], gamma[POINTS];
  bool lost[POINTS]; /* arithmetic failed in a fold */
  double *held;      /* K x n of each point */
  double *loss;      /* n: of the best point, and what follows */
  double least;
  int best;
} form;

static void form_free(form *f)
{
  if (f->of != NULL) lapis_solver_free(&f->of->base);
  base_free(f->held);
  base_free(f->loss);
}

static void list_points(form *f, const lapis_svmplus_settings *set, bool plain)
{
  int gs = plain || !isnan(set->gamma) ? 1 : N_GAMMA;
  for (int i = 0; i < (isnan(set->C) ? N_C : 1); i++)
    for (int k = 0; k < gs; k++) {
      f->C[f->count] = isnan(set->C) ? Cs[i] : set->C;
      f->gamma[f->count++] = isnan(set->gamma) ? gammas[k] : set->gamma;
    }
}

static lapis_status form_new(open_svm *w, bool plain, form *f)
{
  lapis_ctx *ctx = w->base.ctx;
  lapis_data data = w->data;
  lapis_svmplus_settings set = w->set;
  lapis_solver *s;
  if (plain) data.P = (lapis_mat){0};
  list_points(f, &w->set, plain);
  f->make = w->make;
  set.C = set.gamma = 1;
  set.certificate = false;
  TRY(w->make(ctx, &data, &set, &s));
  f->of = (svmplus *)s;
  TRY(sv_platt_folds(f->of));
  int64_t cells = f->of->K * f->of->q.n;
  f->held = base_alloc_raw(ctx, f->count * cells, sizeof *f->held);
  f->loss = base_alloc(ctx, f->of->q.n, sizeof *f->loss);
  return f->held == NULL || f->loss == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

/* Every point scores what a fold hides; its solver is retuned. */
static lapis_status score_points(form *f, int64_t fold, const fold_part *shown,
                                 const fold_part *hidden)
{
  svmplus *w = f->of;
  lapis_ctx *ctx = w->base.ctx;
  lapis_svmplus_settings set = w->set;
  lapis_solver *s = NULL;
  lapis_status status = LAPIS_OK;
  set.probability = false;
  set.scale = LAPIS_SCALE_NONE; /* w->data are scaled, where they are */
  set.stop.seconds = INFINITY;  /* the deadline is the context's */
  set.stop.tol = fmax(set.stop.tol, ENOUGH);
  for (int i = 0; i < f->count && status >= 0; i++) {
    if (f->lost[i]) continue;
    set.C = f->C[i];
    set.gamma = f->gamma[i];
    status = s == NULL ? f->make(ctx, &shown->data, &set, &s)
                       : s->cls->retune(s, &set);
    if (status >= 0) status = lapis_solve(s);
    if (status == LAPIS_CANCELLED || base_late(ctx)) break;
    if (status == LAPIS_ENUMERIC) {
      f->lost[i] = true;
      lapis_solver_free(s);
      s = NULL;
      status = LAPIS_OK;
      continue;
    }
    if (status >= 0)
      status = sv_score_hidden(w, s, hidden, fold, f->held + i * w->K * w->q.n);
  }
  lapis_solver_free(s);
  return status < 0 || status == LAPIS_CANCELLED ? status
         : base_late(ctx)                        ? LAPIS_TIME_LIMIT
                                                 : LAPIS_OK;
}

/* Log-loss of each sample, of labels a mean over them. */
static lapis_status judge(form *f, int i, double *loss, double *mean)
{
  svmplus *w = f->of;
  int64_t n = w->q.n, K = w->K;
  calibration x = sv_calibration(w, f->held + i * K * n);
  int64_t step = calibrate_step(&x);
  sigmoid *by = base_alloc(w->base.ctx, K, sizeof *by);
  lapis_status s = by == NULL ? LAPIS_ENOMEM : calibrate(w->base.ctx, &x, by);
  *mean = 0;
  for (int64_t j = 0; s >= 0 && j < n; j++) {
    double each = (x.weight == NULL ? 1 : x.weight[j]) * (double)step;
    loss[j] = 0;
    for (int64_t k = j * K; k < (j + 1) * K; k += step)
      loss[j] += calibrate_loss(&x, by, k) * each / (double)K;
    *mean += loss[j] / (double)n;
  }
  base_free(by);
  return s;
}

/* Standard error of the mean of b - a, losses of n samples; groups err as a
 * whole.  NAN: no memory. */
static double error_of(const svmplus *w, const double *a, const double *b)
{
  int64_t units = w->folds.units;
  double *sum = base_alloc(w->base.ctx, units, sizeof *sum), square = 0, by = 0;
  double n = (double)w->q.n, u = (double)units;
  if (sum == NULL) return NAN;
  for (int64_t j = 0; j < w->q.n; j++) by += (b[j] - a[j]) / n;
  for (int64_t j = 0; j < w->q.n; j++)
    sum[w->folds.unit[j]] += b[j] - a[j] - by;
  for (int64_t k = 0; k < units; k++) square += sum[k] * sum[k];
  base_free(sum);
  return sqrt(square * u / (u - 1)) / n;
}

/* The best, or the first, C = 1, where that is within a standard error. */
static lapis_status choose_point(form *f, double *room)
{
  svmplus *w = f->of;
  size_t size = (size_t)w->q.n * sizeof *room;
  double first = INFINITY, *usual = room + w->q.n;
  f->least = INFINITY;
  for (int i = 0; i < f->count; i++) {
    double mean;
    if (f->lost[i]) continue;
    TRY(judge(f, i, room, &mean));
    if (i == 0) memcpy(usual, room, size);
    if (i == 0) first = mean;
    if (!(mean < f->least)) continue;
    f->least = mean;
    f->best = i;
    memcpy(f->loss, room, size);
  }
  if (f->lost[0] || first - f->least > error_of(w, f->loss, usual))
    return LAPIS_OK;
  f->least = first;
  f->best = 0;
  memcpy(f->loss, usual, size);
  return LAPIS_OK;
}

static lapis_status run_form(form *f)
{
  svmplus *w = f->of;
  lapis_status s = LAPIS_OK;
  for (int64_t k = 0; k < w->folds.folds && s == LAPIS_OK; k++) {
    fold_part hidden, shown;
    s = sv_split(w, &w->folds, k, &hidden, &shown);
    if (s >= 0 && hidden.data.X.cols > 0)
      s = score_points(f, k, &shown, &hidden);
    fold_part_free(&hidden);
    fold_part_free(&shown);
  }
  if (s != LAPIS_OK) return s;
  double *room = base_alloc(w->base.ctx, 2 * w->q.n, sizeof *room);
  s = room == NULL ? LAPIS_ENOMEM : choose_point(f, room);
  base_free(room);
  return s;
}

static void take_better(open_svm *w, const form *with, const form *plain)
{
  if (plain->of == NULL) {
    w->set.C = with->C[with->best];
    base_note(w->base.ctx, BASE_NOTE, "chosen",
              "svmplus: {C %g} chosen on held-out folds, for {gamma %g}",
              w->set.C, w->set.gamma);
    return;
  }
  double by = plain->least - with->least;
  double error = error_of(with->of, with->loss, plain->loss);
  bool pays = by > 2 * error;
  const form *best = pays ? with : plain;
  w->set.C = best->C[best->best];
  w->set.gamma = pays ? best->gamma[best->best] : INFINITY;
  if (!isfinite(by)) {
    base_note(w->base.ctx, BASE_WARNING, "chosen",
              "svmplus: {C %g} {gamma %g} chosen on held-out folds; P is %s: "
              "%s it arithmetic failed",
              w->set.C, w->set.gamma, pays ? "used" : "left out",
              pays ? "without" : "with");
    return;
  }
  if (by == 0 && error == 0) { /* constants, from scores that say nothing */
    base_note(w->base.ctx, BASE_WARNING, "chosen",
              "svmplus: {C %g} {gamma %g} chosen on held-out folds; P is left "
              "out, but not because it was shown not to pay: held-out labels "
              "were predicted alike with it and without it, as by guessing; "
              "compare {gamma 1}",
              w->set.C, w->set.gamma);
    return;
  }
  base_note(w->base.ctx, BASE_NOTE, "chosen",
            "svmplus: {C %g} {gamma %g} chosen on held-out folds; P %s: with "
            "it the log-loss is %s by %.4f +- %.4f, %s",
            w->set.C, w->set.gamma, pays ? "is used" : "is left out",
            by > 0 ? "less" : "more", fabs(by), error,
            fabs(by) > 2 * error ? "clear" : "a toss-up");
}

static lapis_status choose(open_svm *w)
{
  lapis_ctx *ctx = w->base.ctx;
  form with = {.of = NULL}, plain = {.of = NULL};
  double before = base_deadline(ctx), now = base_seconds();
  double half = now + w->set.stop.seconds / 2;
  bool weighs = isnan(w->set.gamma);
  if (isfinite(half)) base_set_deadline(ctx, fmin(before, half));
  keep_pause(ctx, true);
  base_mute(ctx, true);
  lapis_status s = form_new(w, false, &with);
  if (s >= 0 && weighs) s = form_new(w, true, &plain);
  if (s >= 0 && weighs) s = run_form(&plain);
  if (s == LAPIS_OK) s = run_form(&with);
  base_mute(ctx, false);
  keep_pause(ctx, false);
  base_set_deadline(ctx, before);
  if (s == LAPIS_OK && isinf(with.least) && (!weighs || isinf(plain.least)))
    s = LAPIS_ENUMERIC; /* the context says of what */
  if (s == LAPIS_OK) take_better(w, &with, &plain);
  form_free(&with);
  form_free(&plain);
  return s;
}

/* Nothing is chosen: what is not stated is 1. */
static void take_usual(open_svm *w, const char *why)
{
  w->set.C = w->asked.C;
  w->set.gamma = w->asked.gamma;
  if (isnan(w->set.C)) w->set.C = 1;
  if (isnan(w->set.gamma)) w->set.gamma = 1;
  base_note(w->base.ctx, BASE_WARNING, "not-chosen",
            "svmplus: C and gamma were not chosen (%s): {C %g} {gamma %g}", why,
            w->set.C, w->set.gamma);
}

static lapis_status solve_inner(open_svm *w)
{
  if (w->inner == NULL) {
    lapis_data data = w->data;
    if (isinf(w->set.gamma)) data.P = (lapis_mat){0};
    TRY(w->make(w->base.ctx, &data, &w->set, &w->inner));
  }
  return lapis_solve(w->inner);
}

static lapis_status solve(lapis_solver *s)
{
  open_svm *w = (open_svm *)s;
  double started = base_seconds();
  lapis_status status = LAPIS_OK;
  if (!w->chosen) status = choose(w);
  if (status == LAPIS_CANCELLED) return status;
  if (status == LAPIS_TIME_LIMIT) take_usual(w, "no time");
  if (status == LAPIS_EDATA) take_usual(w, "too few samples");
  if (status < 0 && status != LAPIS_EDATA) return status;
  w->chosen = true;
  status = solve_inner(w);
  if (status == LAPIS_ENUMERIC) {
    lapis_solver_free(w->inner);
    w->inner = NULL;
    take_usual(w, "arithmetic failed with the best");
    status = solve_inner(w);
  }
  if (w->inner == NULL) return status;
  s->settings = w->inner->settings;
  s->info = w->inner->info;
  s->info.seconds = base_seconds() - started;
  for (int i = 0; i < w->inner->result.count; i++)
    solver_publish(s, w->inner->result.item[i].name,
                   w->inner->result.item[i].mat);
  return status;
}

static lapis_status learn(lapis_solver *s)
{
  open_svm *w = (open_svm *)s;
  TRY(w->inner->cls->learn(w->inner));
  s->learned = w->inner->learned;
  return LAPIS_OK;
}

static bool is_asked(double now, double before)
{
  return isnan(now) ? isnan(before) : now <= before && now >= before;
}

/* What was chosen stays while the same is stated and left open. */
static lapis_status retune(lapis_solver *s, const void *settings)
{
  open_svm *w = (open_svm *)s;
  lapis_svmplus_settings own;
  TRY(lapis_settings_copy(s->ctx, s->table, settings, &own));
  if (!is_asked(own.C, w->asked.C) || !is_asked(own.gamma, w->asked.gamma))
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "svmplus: another C or gamma needs a new solver where "
                      "one of them is left open");
  w->set.stop = own.stop;
  if (w->inner == NULL) return LAPIS_OK;
  own.C = w->set.C;
  own.gamma = w->set.gamma;
  return w->inner->cls->retune(w->inner, &own);
}

static void release(lapis_solver *s)
{
  lapis_solver_free(((open_svm *)s)->inner);
}

static const solver_class open_class = {.method = "svmplus",
                                        .solve = solve,
                                        .free = release,
                                        .retune = retune,
                                        .learn = learn};

bool sv_is_open(lapis_ctx *ctx, const lapis_data *data,
                const lapis_svmplus_settings *set)
{
  return (isnan(set->C) || isnan(set->gamma)) && !isinf(set->gamma) &&
         data->P.rows > 0 && data->X.cols <= MOST && base_ranks(ctx) == 1 &&
         set->kernel != LAPIS_KERNEL_PRECOMPUTED &&
         set->kernel_priv != LAPIS_KERNEL_PRECOMPUTED;
}

lapis_status sv_open_new(lapis_ctx *ctx, const lapis_data *data,
                         const lapis_svmplus_settings *set, sv_maker *make,
                         lapis_solver **out)
{
  lapis_svmplus_settings own = *set;
  lapis_solver *s;
  if (isnan(own.C)) own.C = 1; /* what would be refused is refused now */
  if (isnan(own.gamma)) own.gamma = 1;
  TRY(make(ctx, data, &own, &s));
  lapis_solver_free(s);
  TRY(solver_alloc(ctx, &open_class, sizeof(open_svm), out));
  open_svm *w = (open_svm *)*out;
  w->asked = w->set = *set;
  w->data = *data;
  w->make = make;
  w->base.settings = &w->set;
  return LAPIS_OK;
}
