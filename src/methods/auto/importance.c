/* importance.c - permutation importance [B01]: known labels are predicted by
 * who has not learnt from them, once as they are and once with the values of a
 * feature in another order; the rise of the loss is what the feature is worth
 * beside the others.
 *
 * Whether answers rise or fall with a feature is told by how their changes go
 * with its, by those orders.
 *
 * The loss is log-loss, or the squared error by the variance, whose rise is the
 * R^2 that is lost.  What of a feature others say, too, is not missed. */
#include "methods/auto/importance.h"

#include <math.h>
#include <string.h>

#include "methods/auto/candidates.h"

enum { TIMES = 2 }; /* that each is shuffled */
static const double LEAST = 1e-12, SHOW_EVERY = .1;

typedef struct shuffling {
  const comparison *r;
  const cover *w;
  int64_t *first; /* d: of its column the first feature */
  int64_t d, f;   /* f: the fold that was not learnt from */
  lapis_model *model;
  int64_t *sample, *order, m; /* those of its samples */
  double *X, *kept;           /* d x m each, kept: as it is */
  double *loss, *base;        /* m: of their labels together */
  double *said, *was;         /* m: what is said of one target, or NaN */
  double *by_unit;            /* 2 x units: rise and labels, of this fold */
  double labels, squares;     /* of all folds: labels, and by unit squared */
  double *sums;               /* 3 x d: rise, squared, times labels, by unit */
  double *along; /* 3 x d: changes of answers by those of the feature, and the
                  * squares of both */
  double *variance; /* of each target that is a number */
  double started, shown;
  bool shows;
} shuffling;

/* ---- what is lost -------------------------------------------------------*/
static double loss_of(const shuffling *p, const lapis_data *data,
                      const lapis_mat *said, int64_t t, int64_t k)
{
  int64_t j = p->sample[k], v = cover_class(p->r, t, j);
  if (p->r->o.numbers) {
    double by = lapis_mat_at(&data->Y, t, j) - lapis_mat_at(said, t, k);
    return by * by / fmax(p->variance[t], LEAST);
  }
  return -log(fmax(1 - coverage_miss(&p->w->c, said, t, v, k), LEAST));
}

static lapis_status predict(lapis_ctx *ctx, const shuffling *p,
                            const lapis_data *data, double *loss, double *one)
{
  int64_t T = coverage_targets(&p->w->c);
  lapis_data rows = {.X = lapis_mat_f64(p->X, p->d, p->m)};
  lapis_solver *s;
  lapis_mat said;
  TRY(lapis_predict_new(ctx, &rows, p->model, NULL, &s));
  lapis_status status = lapis_solve(s);
  if (status >= 0) status = coverage_said(&p->w->c, s, &said);
  for (int64_t k = 0; status >= 0 && k < p->m; k++) {
    loss[k] = 0;
    one[k] = said.rows == 1 ? lapis_mat_at(&said, 0, k) : NAN;
    for (int64_t t = 0; t < T; t++)
      if (p->w->own[p->sample[k] * T + t] == p->f)
        loss[k] += loss_of(p, data, &said, t, k);
  }
  lapis_solver_free(s);
  return status;
}

/* ---- one feature, or several of one number ------------------------------*/
static void find_columns(const lapis_mat *names, shuffling *p)
{
  for (int64_t i = 0; i < p->d; i++)
    p->first[i] = lapis_one_column(names, i) ? p->first[i - 1] : i;
}

/* Values of sample order[k] stand with sample k; NULL: with their own. */
static void set(shuffling *p, int64_t first, const int64_t *order)
{
  for (int64_t i = first; i < p->d && p->first[i] == first; i++)
    for (int64_t k = 0; k < p->m; k++)
      p->X[k * p->d + i] = p->kept[(order == NULL ? k : order[k]) * p->d + i];
}

/* Adds the rise, by what errs together. */
static void add(shuffling *p, int64_t i)
{
  int64_t units = p->r->plan.units;
  double *to = p->sums + 3 * i;
  for (int64_t u = 0; u < units; u++) {
    double by = p->by_unit[2 * u] / TIMES, n = p->by_unit[2 * u + 1];
    to[0] += by;
    to[1] += by * by;
    to[2] += by * n;
    p->by_unit[2 * u] = 0;
  }
}

static void follow(shuffling *p, int64_t i, int64_t k)
{
  double *to = p->along + 3 * i, answer = p->said[k] - p->was[k];
  double value = p->X[k * p->d + i] - p->kept[k * p->d + i];
  if (isnan(answer) || isnan(value)) return;
  to[0] += answer * value;
  to[1] += answer * answer;
  to[2] += value * value;
}

static lapis_status shuffle(lapis_ctx *ctx, shuffling *p,
                            const lapis_data *data, int64_t i)
{
  lapis_status s = LAPIS_OK;
  for (int time = 0; time < TIMES && s >= 0; time++) {
    uint64_t stream = (uint64_t)((p->f * p->d + i) * TIMES + time);
    rng_shuffle(base_seed(ctx) + 0x696d70, stream, p->order, p->m);
    set(p, i, p->order);
    s = predict(ctx, p, data, p->loss, p->said);
    for (int64_t k = 0; k < p->m && s >= 0; k++) {
      p->by_unit[2 * p->r->plan.unit[p->sample[k]]] += p->loss[k] - p->base[k];
      follow(p, i, k);
    }
  }
  set(p, i, NULL);
  if (s >= 0) add(p, i);
  return s;
}

/* ---- the samples of a fold ----------------------------------------------*/
static lapis_status begin(lapis_ctx *ctx, shuffling *p, const lapis_data *data)
{
  const cover *w = p->w;
  int64_t T = coverage_targets(&w->c), units = p->r->plan.units;
  p->m = 0;
  memset(p->by_unit, 0, 2 * (size_t)units * sizeof *p->by_unit);
  for (int64_t j = 0; j < p->r->n; j++) {
    int64_t count = 0;
    for (int64_t t = 0; t < T; t++) count += w->own[j * T + t] == p->f;
    if (count == 0) continue;
    for (int64_t i = 0; i < p->d; i++)
      p->X[p->m * p->d + i] = lapis_mat_at(&data->X, i, j);
    p->sample[p->m++] = j;
    p->by_unit[2 * p->r->plan.unit[j] + 1] += (double)count;
  }
  memcpy(p->kept, p->X, (size_t)(p->d * p->m) * sizeof *p->X);
  for (int64_t u = 0; u < units; u++) {
    p->labels += p->by_unit[2 * u + 1];
    p->squares += p->by_unit[2 * u + 1] * p->by_unit[2 * u + 1];
  }
  lapis_model_free(p->model);
  p->model = NULL;
  TRY(lapis_model_new(w->fold[p->f], &p->model));
  return p->m > 0 ? predict(ctx, p, data, p->base, p->was) : LAPIS_OK;
}

static bool go_on(lapis_ctx *ctx, shuffling *p, int64_t i)
{
  double clock = base_seconds();
  double all = (double)(p->w->c.folds * p->d);
  lapis_progress now = {.method = "importance",
                        .objective = NAN,
                        .gap = NAN,
                        .residual = NAN,
                        .seconds = clock - p->started,
                        .done = (double)(p->f * p->d + i) / all};
  if (p->shows && clock - p->shown >= SHOW_EVERY) {
    p->shown = clock;
    if (!base_show(ctx, &now)) lapis_ctx_cancel(ctx);
  }
  return !base_must_stop(ctx);
}

static lapis_status take_fold(lapis_ctx *ctx, shuffling *p,
                              const lapis_data *data)
{
  TRY(begin(ctx, p, data));
  for (int64_t i = 0; i < p->d && p->m > 0; i++) {
    if (p->first[i] != i) continue;
    if (!go_on(ctx, p, i))
      return base_cancelled(ctx) ? LAPIS_CANCELLED : LAPIS_TIME_LIMIT;
    TRY(shuffle(ctx, p, data, i));
  }
  return LAPIS_OK;
}

/* ---- the mean over labels -----------------------------------------------*/
static void find_variance(const comparison *r, const lapis_data *data,
                          double *to)
{
  for (int64_t t = 0; t < r->K; t++) {
    double n = 0, sum = 0, square = 0;
    for (int64_t j = 0; j < r->n; j++)
      if (cover_class(r, t, j) >= 0) {
        n++;
        sum += lapis_mat_at(&data->Y, t, j);
      }
    for (int64_t j = 0; j < r->n; j++)
      if (cover_class(r, t, j) >= 0)
        square += pow(lapis_mat_at(&data->Y, t, j) - sum / n, 2);
    to[t] = square / fmax(n, 1);
  }
}

static void write(const shuffling *p, double *to)
{
  double n = fmax(p->labels, 1), units = (double)p->r->plan.units;
  for (int64_t i = 0; i < p->d; i++) {
    const double *of = p->sums + 3 * p->first[i], *along = p->along + 3 * i;
    bool alone = p->first[i] == i && (i + 1 == p->d || p->first[i + 1] != i);
    double mean = of[0] / n;
    double square = of[1] - 2 * mean * of[2] + mean * mean * p->squares;
    to[3 * i] = mean;
    to[3 * i + 1] = sqrt(fmax(square, 0) * units / fmax(units - 1, 1)) / n;
    to[3 * i + 2] = alone && along[1] > 0 && along[2] > 0
                        ? along[0] / sqrt(along[1] * along[2])
                        : 0;
  }
}

lapis_status importance_find(lapis_ctx *ctx, const comparison *r,
                             const cover *w, const lapis_data *data, double *to)
{
  int64_t d = data->X.rows, n = r->n;
  arena own = {.ctx = ctx};
  shuffling p = {.r = r,
                 .w = w,
                 .d = d,
                 .started = base_seconds(),
                 .shows = !base_muted(ctx)};
  p.first = arena_take(&own, d, sizeof *p.first);
  p.sample = arena_take(&own, n, sizeof *p.sample);
  p.order = arena_take(&own, n, sizeof *p.order);
  p.X = arena_reals(&own, d * n);
  p.kept = arena_reals(&own, d * n);
  p.loss = arena_reals(&own, n);
  p.base = arena_reals(&own, n);
  p.by_unit = arena_reals(&own, 2 * r->plan.units);
  p.said = arena_reals(&own, n);
  p.was = arena_reals(&own, n);
  p.along = arena_reals(&own, 3 * d);
  p.sums = arena_reals(&own, 3 * d);
  p.variance = arena_reals(&own, r->K);
  lapis_status s = arena_status(&own);
  if (s >= 0) find_columns(&data->feature_names, &p);
  if (s >= 0 && r->o.numbers) find_variance(r, data, p.variance);
  base_mute(ctx, true);
  keep_pause(ctx, true);
  for (p.f = 0; s == LAPIS_OK && p.f < w->c.folds; p.f++)
    s = take_fold(ctx, &p, data);
  keep_pause(ctx, false);
  base_mute(ctx, false);
  if (s == LAPIS_OK) write(&p, to);
  lapis_model_free(p.model);
  arena_free(&own);
  return s;
}
