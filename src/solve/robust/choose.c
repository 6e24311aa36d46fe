/* choose.c - rr and rlda where nobody gave their settings.
 *
 * Features (and targets of rr) are brought to one size (scale.c), and of a
 * short list what tells most on two folds, each cleaned and told by the model
 * of the other, is taken.  lambda is in units of 1 / sqrt(max(d, n)); 10 leaves
 * next to nothing to the sparse error unless features are heavy-tailed, 1000
 * nothing at all, which is ridge regression that fills gaps.
 *
 * rlda: no cleaning, robust PCA first, or the joint form; of those within a
 * standard error of the best share told right it is the first.  Classes count
 * alike in that share, as they do for the nearest mean: of plain shares a class
 * of 3 % is told best by never answering it, which is what a D does that was
 * fitted to the labels.  One that is not in both folds, and so can never be
 * told, does not count.  gamma is that of shrink.c but in the joint form, which
 * has .1 and 10.
 *
 * rr: robust PCA first with one of five lambdas, and one of three gammas; the
 * least squared error; its standard error is that of what each sample gains on
 * the mean of all, y^2 - (y - f)^2.  The joint form is not in the list: told to
 * fit numbers it moves D to where they are fitted, and was behind on every
 * table tried (bench/results/rr.md). */
#include <math.h>
#include <string.h>

#include "solve/robust/robust.h"

enum { FOLDS = 2 };
typedef struct attempt {
  int denoise;
  double factor, gamma; /* of 1 / sqrt(max(d, n)); 0: from the data */
} attempt;
static const attempt CLASSES[] = {
    {LAPIS_RR_JOINT, 10, 0}, {LAPIS_RR_RPCA, 1, 0},   {LAPIS_RR_JOINT, 3, .1},
    {LAPIS_RR_JOINT, 3, 10}, {LAPIS_RR_JOINT, 1, .1}, {LAPIS_RR_JOINT, 1, 10}};
/* What is alike in denoise and lambda adjoins: one D serves all its gammas. */
static const attempt NUMBERS[] = {
    {LAPIS_RR_RPCA, 1e3, 3}, {LAPIS_RR_RPCA, 1e3, .1}, {LAPIS_RR_RPCA, 1e3, 30},
    {LAPIS_RR_RPCA, 10, 3},  {LAPIS_RR_RPCA, 10, .1},  {LAPIS_RR_RPCA, 10, 30},
    {LAPIS_RR_RPCA, 2.5, 3}, {LAPIS_RR_RPCA, 2.5, .1}, {LAPIS_RR_RPCA, 2.5, 30},
    {LAPIS_RR_RPCA, 1.5, 3}, {LAPIS_RR_RPCA, 1.5, .1}, {LAPIS_RR_RPCA, 1.5, 30},
    {LAPIS_RR_RPCA, 1, 3},   {LAPIS_RR_RPCA, 1, .1},   {LAPIS_RR_RPCA, 1, 30}};
static const double LEAST_CLEANING = 10; /* rlda's factor of ridge LDA */
static const double LOOSE = 1e-5;        /* residuals of a fold */
static const double LOOSE_GAP = 1e-3;    /* gaps there */
enum {
  MOST = 50000, /* iterations there */
  FEW = 10,     /* samples of rr: see too_few */
  MOST_TRIES = sizeof NUMBERS / sizeof *NUMBERS
};

static const attempt *attempts(const rr *w)
{
  return w->lda ? CLASSES : NUMBERS;
}

int rr_tries(const rr *w)
{
  return w->lda ? sizeof CLASSES / sizeof *CLASSES
                : sizeof NUMBERS / sizeof *NUMBERS;
}

bool rr_cleans(double lambda, int64_t d, int64_t n)
{
  return lambda < LEAST_CLEANING / 2 * rr_lambda(NAN, d, n);
}

/* ---- folds --------------------------------------------------------------*/
typedef struct fold {
  lapis_data train, test;
  double *weight; /* rlda: of the samples of test */
  double *room;   /* of all */
} fold;

/* Which samples are told by the model of which others. */
typedef struct plan {
  int *in;        /* n: the fold that tells it */
  int64_t *count; /* rlda: samples of each class */
  int64_t judged; /* classes in both folds: these count */
  int64_t *order; /* as many as all processes have */
} plan;

/* Its place among the values. */
static int64_t class_of(const rr *w, int64_t j)
{
  int64_t c = 0;
  while (c + 1 < w->labels.n_values && !rlda_is_of(w, j, c)) c++;
  return c;
}

/* Classes; numbers are of one kind. */
static int64_t kinds_of(const rr *w)
{
  return w->lda ? w->labels.n_values : 1;
}

/* In turn over the folds, in a random order of all samples; rlda: each class
 * for itself. */
static lapis_status choose_folds(const rr *w, plan *p)
{
  int64_t first, all;
  TRY(base_place(w->base.ctx, w->n, &first, &all));
  rng_shuffle(base_seed(w->base.ctx), 78, p->order, all);
  for (int64_t k = 0; k < all; k++) {
    int64_t j = p->order[k] - first;
    bool own = j >= 0 && j < w->n;
    int64_t c = w->lda ? class_of(w, j) : 0; /* one process */
    int64_t turn = p->count[c]++ % FOLDS;
    if (own) p->in[j] = (int)turn;
  }
  for (int64_t c = 0; c < kinds_of(w); c++) p->judged += p->count[c] >= FOLDS;
  return LAPIS_OK;
}

static lapis_status take_fold(const rr *w, const plan *p, int k, fold *out)
{
  int64_t d = w->d, n = w->n, rows = w->lda ? 1 : w->K, m = 0, at[2];
  for (int64_t j = 0; j < n; j++) m += p->in[j] != k;
  out->room = base_alloc_raw(w->base.ctx, (d + rows + 1) * n, sizeof(double));
  if (out->room == NULL) return LAPIS_ENOMEM;
  double *Y = out->room + d * n, *weight = Y + rows * n;
  at[0] = 0; /* training samples first */
  at[1] = m;
  for (int64_t j = 0; j < n; j++) {
    int64_t to = at[p->in[j] == k]++, c = w->lda ? class_of(w, j) : 0;
    memcpy(out->room + to * d, w->X + j * d, (size_t)d * sizeof *Y);
    for (int64_t i = 0; i < rows; i++)
      Y[to * rows + i] = w->lda ? w->labels.value[c] : w->Y[j * rows + i];
    bool in_both = p->count[c] >= FOLDS;
    weight[to] = in_both ? (double)n / (double)(p->count[c] * p->judged) : 0;
  }
  out->weight = weight + m;
  out->train = (lapis_data){.X = lapis_mat_f64(out->room, d, m),
                            .Y = lapis_mat_f64(Y, rows, m)};
  out->test = (lapis_data){.X = lapis_mat_f64(out->room + m * d, d, n - m),
                           .Y = lapis_mat_f64(Y + m * rows, rows, n - m)};
  return LAPIS_OK;
}

/* ---- trying -------------------------------------------------------------*/
enum { TOLD = 3 }; /* sums that a fold tells */

static lapis_status answer(rr *w, const fold *f, lapis_solver *s,
                           lapis_solver **p)
{
  lapis_rr_predict_settings how;
  lapis_settings_default(&rlda_predict_method, &how);
  how.stop.tol = LOOSE_GAP;
  if (!w->lda) how.clean = LAPIS_RR_CLEAN_NUCLEAR; /* as the whole will */
  lapis_status status = lapis_solve(s);
  TRY(status);
  if (status == LAPIS_CANCELLED) return status;
  TRY(s->cls->learn(s));
  TRY(rr_predict_new(w->base.ctx, &f->test, s->settings, &s->learned, &how, p));
  return lapis_solve(*p);
}

/* Of classes: weights of what is right, all weights, and their squares.  Of
 * numbers, in units of their deviations: 1 without the mean of their squared
 * errors; each sample's gain, and its square. */
static void tell(const rr *w, const lapis_mat *got, const fold *f,
                 double sum[TOLD])
{
  const lapis_mat *Y = &f->test.Y;
  for (int64_t j = 0; j < got->cols; j++) {
    double off = 0, size = 0;
    for (int64_t i = 0; i < Y->rows; i++) {
      double y = lapis_mat_at(Y, i, j), e = lapis_mat_at(got, i, j) - y;
      off += e * e / (double)Y->rows;
      size += y * y / (double)Y->rows;
    }
    double weight = f->weight[j], gain = w->lda ? weight : size - off;
    sum[0] += w->lda ? (off <= 0) * weight : 1 - off;
    sum[1] += gain;
    sum[2] += gain * gain;
  }
}

/* s: the solver of the attempt before, and now of this one. */
static lapis_status prepare(rr *w, const fold *f, const attempt *a,
                            lapis_solver **s)
{
  lapis_rr_settings set = w->set;
  int64_t first, all;
  double spent = loop_seconds(&w->base.loop);
  TRY(base_place(w->base.ctx, f->train.X.cols, &first, &all));
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
  TRY((w->lda ? rlda_new : rr_new)(w->base.ctx, &f->train, &set, s));
  ((rr *)*s)->in_fold = true;
  if (!w->lda) return LAPIS_OK;
  ((rr *)*s)->round = w->round;
  ((rr *)*s)->shrink = !(a->gamma > 0);
  return LAPIS_OK;
}

/* right (TOLD): NaN of what cannot be solved. */
static lapis_status try_one(rr *w, const fold *f, const attempt *a,
                            lapis_solver **s, double *right)
{
  lapis_solver *p = NULL;
  lapis_status status = prepare(w, f, a, s);
  if (status == LAPIS_TIME_LIMIT) return status;
  if (status >= 0) status = answer(w, f, *s, &p);
  const lapis_mat *got = NULL;
  if (status >= 0 && p != NULL)
    got = named_find(&p->result, w->lda ? "labels" : "scores");
  for (int i = 0; i < TOLD; i++) right[i] = got != NULL ? 0 : NAN;
  if (got != NULL) tell(w, got, f, right);
  lapis_solver_free(p);
  bool unsolved = status == LAPIS_ENUMERIC || status == LAPIS_EDATA ||
                  status == LAPIS_EMISSING;
  if (status < 0 && !unsolved) return status;
  TRY(base_sum(w->base.ctx, right, TOLD));
  return status < 0 ? LAPIS_OK : status;
}

/* right (TOLD x tries): NaN where it was not told. */
static lapis_status try_fold(rr *w, const fold *f, double *right)
{
  lapis_solver *s = NULL;
  lapis_status status = LAPIS_OK;
  for (int k = 0; k < TOLD * rr_tries(w); k++) right[k] = NAN;
  for (int t = 0; t < rr_tries(w) && status >= 0; t++) {
    status = try_one(w, f, attempts(w) + t, &s, right + TOLD * t);
    if (status == LAPIS_CANCELLED) w->base.loop.status = status;
    if (status == LAPIS_CANCELLED || status == LAPIS_TIME_LIMIT) break;
  }
  lapis_solver_free(s);
  return status;
}

/* Adds what a fold told to sum, and its samples to *judged; a fold that told
 * nothing, its time being over, counts for nothing. */
static lapis_status add_fold(const rr *w, const fold *f, const double *right,
                             double *sum, int64_t *judged)
{
  int64_t first, all;
  bool any = false;
  TRY(base_place(w->base.ctx, f->test.X.cols, &first, &all));
  for (int t = 0; t < rr_tries(w); t++) any = any || !isnan(right[TOLD * t]);
  if (!any) return LAPIS_OK;
  for (int k = 0; k < TOLD * rr_tries(w); k++) sum[k] += right[k];
  *judged += all;
  return LAPIS_OK;
}

static void set_told(rr *w, const double *sum, int64_t judged)
{
  for (int t = 0; t < rr_tries(w) && judged > 0; t++) {
    const double *of = sum + TOLD * t;
    double n = w->lda ? of[1] : (double)judged;
    double told = of[0] / n, mean = of[1] / n;
    double square =
        w->lda ? told * (1 - told) * of[2] / n : of[2] / n - mean * mean;
    w->tried[RR_TRIED * t + 2] = told;
    if (!isnan(told)) w->tried[RR_TRIED * t + 4] = sqrt(fmax(square, 0) / n);
  }
}

/* Whether two folds say nothing: of rr by a few samples, of rlda where less
 * than two classes have two, so that a model of either fold knows but one. */
static bool too_few(const rr *w, const plan *p)
{
  return w->lda ? p->judged < 2 : w->step.all < FEW;
}

/* tried (RR_TRIED x tries): lambda for all samples, gamma, what was told (NaN:
 * it could not be), denoise, the standard error of what was told. */
static lapis_status try_all(rr *w, const plan *p)
{
  lapis_status status = LAPIS_OK;
  int64_t judged = 0;
  double right[TOLD * MOST_TRIES], sum[TOLD * MOST_TRIES] = {0};
  for (int t = 0; t < rr_tries(w); t++) {
    const attempt *a = attempts(w) + t;
    double row[RR_TRIED] = {a->factor * rr_lambda(NAN, w->d, w->step.all),
                            a->gamma, NAN, a->denoise, NAN};
    memcpy(w->tried + RR_TRIED * t, row, sizeof row);
  }
  bool few = too_few(w, p);
  for (int k = 0; k < FOLDS && status >= 0 && !few; k++) {
    fold f = {.room = NULL};
    status = take_fold(w, p, k, &f);
    if (status >= 0) status = try_fold(w, &f, right);
    lapis_status cut = status;
    if (status >= 0) status = add_fold(w, &f, right, sum, &judged);
    if (status >= 0) status = cut;
    base_free(f.room);
    if (status == LAPIS_CANCELLED || status == LAPIS_TIME_LIMIT) break;
  }
  set_told(w, sum, judged);
  return status;
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

lapis_status rr_choose(rr *w)
{
  lapis_ctx *ctx = w->base.ctx;
  plan p = {.in = base_alloc(ctx, w->n, sizeof *p.in),
            .count = base_alloc(ctx, kinds_of(w), sizeof *p.count),
            .order = base_alloc(ctx, w->step.all, sizeof *p.order)};
  bool room = p.in != NULL && p.count != NULL && p.order != NULL;
  lapis_status s = room ? choose_folds(w, &p) : LAPIS_ENOMEM;
  keep_pause(ctx, true);
  if (s >= 0) s = try_all(w, &p);
  keep_pause(ctx, false);
  base_free(p.in);
  base_free(p.count);
  base_free(p.order);
  TRY(s);
  int best = choice(w);
  w->chosen[0] = w->tried[RR_TRIED * best];
  w->chosen[1] = w->tried[RR_TRIED * best + 1];
  w->chosen[2] = w->tried[RR_TRIED * best + 3];
  return LAPIS_OK;
}
