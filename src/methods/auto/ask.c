/* ask.c - whose labels to ask for next: of samples whose answer is unsure some
 * that are unlike each other.
 *
 * Of FAR times as many as are asked the least sure are taken, of few samples
 * half of them, so that those that are sure are not asked; by the probability
 * of the best class less that of the second, of two values |2 p - 1|, of
 * several labels the mean of that over those that are not known.  k-means of
 * their standardised features parts them into as many clusters as are asked,
 * and of each the sample nearest to the centre is asked.  Beside the least sure
 * alone, and chance: bench/results/ask.md.  Where it has to stop, the least
 * sure fill what is open.
 *
 * k-means of op/learn is of 512 numbers a point, in single precision, from
 * random seeds; features may be more, and few samples are looked at. */
#include "methods/auto/ask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mat/mat.h"

enum { FAR = 5, ROUNDS = 30 };
static const double SHOW_EVERY = .1; /* seconds */

typedef struct open_sample {
  double margin;
  int64_t sample;
  double from; /* its centre, squared */
  int64_t cluster;
  bool taken;
} open_sample;

typedef struct asking {
  lapis_ctx *ctx;
  double started, shown; /* on base_seconds' clock */
  open_sample *at;       /* n, the least sure first */
  int64_t near, count, d;
  double *Z;      /* d x near, standardised, 0 where not seen */
  double *centre; /* d x count */
  double *size;   /* count */
} asking;

static int by_margin(const void *a, const void *b)
{
  const open_sample *x = a, *y = b;
  if (x->margin != y->margin) return x->margin < y->margin ? -1 : 1;
  return (x->sample > y->sample) - (x->sample < y->sample);
}

/* NaN: nothing of it is open, or it is not learnt from. */
static double margin_of(const lapis_data *data, const lapis_mat *p, int64_t j)
{
  const lapis_mat *Y = &data->Y;
  double first = 0, second = 0, sum = 0, open_ = 0;
  if (data->weight != NULL && !(data->weight[j] > 0)) return NAN;
  for (int64_t i = 0; i < Y->rows; i++) {
    if (!isnan(lapis_mat_at(Y, i, j))) continue;
    if (Y->rows == p->rows) sum += fabs(2 * lapis_mat_at(p, i, j) - 1);
    open_++;
  }
  if (!(open_ > 0)) return NAN;
  if (Y->rows == p->rows) return sum / open_;
  for (int64_t c = 0; c < p->rows; c++) {
    double v = lapis_mat_at(p, c, j);
    second = fmax(second, fmin(first, v));
    first = fmax(first, v);
  }
  return first - second;
}

/* ---- clusters -----------------------------------------------------------*/
static lapis_status standardise(const lapis_mat *X, asking *w)
{
  double *moment = base_alloc(w->ctx, 3 * w->d, sizeof *moment);
  lapis_status s = LAPIS_ENOMEM;
  mat_moments of = {w->d, moment, moment == NULL ? NULL : moment + w->d,
                    moment == NULL ? NULL : moment + 2 * w->d};
  if (moment != NULL) s = mat_measure(w->ctx, X, NULL, &of);
  for (int64_t k = 0; s >= 0 && k < w->near * w->d; k++) {
    int64_t i = k % w->d;
    double x = lapis_mat_at(X, i, w->at[k / w->d].sample);
    bool tells = !isnan(x) && mat_varies(of.deviation[i], of.mean[i]);
    w->Z[k] = tells ? (x - of.mean[i]) / of.deviation[i] : 0;
  }
  base_free(moment);
  return s;
}

static double distance(const asking *w, int64_t k, int64_t c)
{
  const double *z = w->Z + k * w->d, *m = w->centre + c * w->d;
  double sum = 0;
  for (int64_t i = 0; i < w->d; i++) sum += (z[i] - m[i]) * (z[i] - m[i]);
  return sum;
}

/* Shows how far it is: so many times all samples were compared with all
 * centres, by `seed` and each round once. */
static bool go_on(asking *w, double times)
{
  double clock = base_seconds();
  lapis_progress now = {.method = "auto",
                        .iter = (int64_t)times,
                        .objective = NAN,
                        .gap = NAN,
                        .residual = NAN,
                        .seconds = clock - w->started,
                        .done = times / (1 + ROUNDS)};
  if (!base_muted(w->ctx) && clock - w->shown >= SHOW_EVERY) {
    w->shown = clock;
    if (!base_show(w->ctx, &now)) lapis_ctx_cancel(w->ctx);
  }
  return !base_must_stop(w->ctx);
}

/* The least sure, then whoever is farthest from all centres that there are. */
static void seed(asking *w)
{
  for (int64_t c = 0, next = 0; c < w->count; c++) {
    if (!go_on(w, (double)c / (double)w->count)) return;
    memcpy(w->centre + c * w->d, w->Z + next * w->d,
           (size_t)w->d * sizeof *w->Z);
    next = 0;
    for (int64_t k = 0; k < w->near; k++) {
      double from = distance(w, k, c);
      if (c == 0 || from < w->at[k].from) w->at[k].from = from;
      if (w->at[k].from > w->at[next].from) next = k;
    }
  }
}

/* False: as before, or it has to stop. */
static bool assign(asking *w, int round)
{
  bool moved = false;
  for (int64_t k = 0; k < w->near; k++) {
    open_sample *x = &w->at[k];
    if (!go_on(w, 1 + round + (double)k / (double)w->near)) return false;
    int64_t before = x->cluster;
    x->from = INFINITY;
    for (int64_t c = 0; c < w->count; c++) {
      double from = distance(w, k, c);
      if (from < x->from) x->from = from, x->cluster = c;
    }
    moved |= x->cluster != before;
  }
  return moved;
}

static void centre(asking *w)
{
  memset(w->size, 0, (size_t)w->count * sizeof *w->size);
  for (int64_t k = 0; k < w->near; k++) {
    double *m = w->centre + w->at[k].cluster * w->d;
    double count = ++w->size[w->at[k].cluster];
    for (int64_t i = 0; i < w->d; i++) {
      if (count == 1) m[i] = 0;
      m[i] += (w->Z[k * w->d + i] - m[i]) / count;
    }
  }
}

static lapis_status part(const lapis_mat *X, asking *w)
{
  for (int64_t k = 0; k < w->near; k++) w->at[k].cluster = -1;
  TRY(standardise(X, w));
  seed(w);
  for (int round = 0; round < ROUNDS && assign(w, round); round++) centre(w);
  for (int64_t c = 0; c < w->count; c++) {
    open_sample *best = NULL;
    for (int64_t k = 0; k < w->near; k++)
      if (w->at[k].cluster == c && (best == NULL || w->at[k].from < best->from))
        best = &w->at[k];
    if (best != NULL) best->taken = true;
  }
  return LAPIS_OK;
}

/* ---- all ----------------------------------------------------------------*/
/* What clusters leave open, the least sure fill. */
static void take(const asking *w, int64_t all, int64_t *index, double *margin)
{
  int64_t taken = 0, next = 0;
  for (int64_t k = 0; k < all; k++) taken += w->at[k].taken;
  for (int64_t k = 0; k < all && taken < w->count; k++)
    if (!w->at[k].taken) w->at[k].taken = true, taken++;
  for (int64_t k = 0; k < all; k++) {
    if (!w->at[k].taken) continue;
    index[next] = w->at[k].sample;
    margin[next++] = w->at[k].margin;
  }
}

static lapis_status find(lapis_ctx *ctx, const lapis_data *data,
                         const lapis_mat *p, int64_t count, int64_t *index,
                         double *margin, int64_t *found)
{
  asking w = {.ctx = ctx, .started = base_seconds(), .d = data->X.rows};
  int64_t all = 0;
  *found = 0;
  w.at = base_alloc(ctx, p->cols, sizeof *w.at);
  if (w.at == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < p->cols; j++) {
    double sure = margin_of(data, p, j);
    if (!isnan(sure)) w.at[all++] = (open_sample){sure, .sample = j};
  }
  qsort(w.at, (size_t)all, sizeof *w.at, by_margin);
  w.count = count < all ? count : all;
  if (w.count == 0) {
    base_free(w.at);
    return LAPIS_OK;
  }
  int64_t half = all / 2 > w.count ? all / 2 : w.count;
  w.near = half / FAR < w.count ? half : FAR * w.count;
  w.Z = base_alloc_raw(ctx, w.d * w.near, sizeof *w.Z);
  w.centre = base_alloc_raw(ctx, (w.d + 1) * w.count, sizeof *w.centre);
  w.size = w.centre == NULL ? NULL : w.centre + w.d * w.count;
  lapis_status s = w.Z == NULL || w.centre == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0 && w.count < all) s = part(&data->X, &w);
  if (s >= 0) take(&w, all, index, margin);
  if (s >= 0) *found = w.count;
  base_free(w.at);
  base_free(w.Z);
  base_free(w.centre);
  return s;
}

static void say_all(lapis_ctx *ctx, const char *name, int64_t all)
{
  if (all == 0)
    base_note(ctx, BASE_NOTE, "all-asked",
              "%s: no sample lacks a label: {ask} has none to name", name);
  else
    base_note(ctx, BASE_NOTE, "all-asked",
              "%s: %" PRId64 " sample%s a label: {ask} names all of them", name,
              all, all > 1 ? "s lack" : " lacks");
}

lapis_status ask_next(lapis_solver *to, const lapis_solver *answer,
                      const char *name, const lapis_data *data, int64_t most)
{
  int64_t found, asked = most;
  const lapis_mat *p = NULL;
  for (int i = 0; i < answer->result.count; i++)
    if (strcmp(answer->result.item[i].name, "probabilities") == 0)
      p = &answer->result.item[i].mat;
  if (p == NULL) {
    base_note(to->ctx, BASE_WARNING, "not-asked",
              "%s: it cannot be said which labels would help most: nothing "
              "could be held out to make probabilities",
              name);
    return LAPIS_OK;
  }
  if (most > p->cols) most = p->cols;
  int64_t *index = arena_take(&to->arena, most, sizeof *index);
  double *margin = arena_reals(&to->arena, most);
  TRY(arena_status(&to->arena));
  TRY(find(to->ctx, data, p, most, index, margin, &found));
  if (found < asked) say_all(to->ctx, name, found);
  if (found > 0 && data->Y.rows > 1)
    base_note(to->ctx, BASE_WARNING, "ask-by-lot",
              "%s: where samples have several labels, samples drawn by lot "
              "helped more than those that {ask} names",
              name);
  solver_publish(to, "ask_index", lapis_mat_i64(index, 1, found));
  solver_publish(to, "ask_margin", lapis_mat_f64(margin, 1, found));
  if (base_cancelled(to->ctx)) return LAPIS_CANCELLED;
  return base_late(to->ctx) ? LAPIS_TIME_LIMIT : LAPIS_OK;
}
