/* coverage.c - sets of classes, and intervals, by what was held out. */
#include "model/coverage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mat/mat.h"

/* Of a product that is a whole number but for rounding. */
static const double ROUNDING = 1e-9;

double coverage_least(const coverage *c)
{
  return ceil(c->share / (1 - c->share) - ROUNDING);
}

int64_t coverage_rank(const coverage *c, int64_t n)
{
  return (int64_t)fmax(ceil(c->share * (double)(n + 1) - ROUNDING), 1);
}

double coverage_miss(const coverage *c, const lapis_mat *said, int64_t t,
                     int64_t v, int64_t j)
{
  if (c->kind == COVERAGE_CLASSES) return 1 - lapis_mat_at(said, v, j);
  double p = lapis_mat_at(said, t, j);
  return v == 1 ? 1 - p : p;
}

lapis_status coverage_said(const coverage *c, const lapis_solver *s,
                           lapis_mat *out)
{
  bool numbers = c->kind == COVERAGE_NUMBERS;
  return lapis_result_get(s, numbers ? "scores" : "probabilities", out);
}

bool *coverage_begins(lapis_ctx *ctx, const lapis_data *data)
{
  bool *begins = base_alloc(ctx, data->X.rows, sizeof *begins);
  for (int64_t i = 0; begins != NULL && i < data->X.rows; i++)
    begins[i] = !lapis_one_column(&data->feature_names, i);
  return begins;
}

int coverage_gaps(const lapis_mat *X, const bool *begins, int64_t j)
{
  int64_t gaps = 0, all = 0;
  if (X->colptr != NULL) return 0;
  for (int64_t i = 0; i < X->rows; i++) {
    gaps += begins[i] && isnan(lapis_mat_at(X, i, j));
    all += begins[i];
  }
  int quarters = (int)(4 * gaps / (all > 0 ? all : 1));
  return quarters < 2 ? 0 : quarters - 1;
}

/* ---- scores in order ----------------------------------------------------*/
static int by_list(const void *a, const void *b)
{
  const double *x = a, *y = b;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return (x[1] > y[1]) - (x[1] < y[1]);
}

typedef struct ranks { /* scores sorted, and what is said */
  const coverage *c;
  /* 2 x count, of samples with so many gaps at least; lists of all classes,
   * unless by class */
  double *score[COVERAGE_GAPS];
  int64_t count[COVERAGE_GAPS];
  const int64_t *own;
  const lapis_mat *X;
  bool *begins; /* d */
  int gaps;     /* of the sample that is looked at */
  lapis_mat answer, fold[COVERAGE_FOLDS];
} ranks;

/* The list that class v of target t is held against. */
static double list_of(const ranks *w, int64_t t, int64_t v, int64_t f)
{
  return (double)coverage_list(w->c, t, w->c->by_class ? v : 0, f);
}

static lapis_status sort(arena *own, ranks *w)
{
  const coverage *c = w->c;
  for (int g = 0; g < COVERAGE_GAPS; g++) {
    double *to = w->score[g] = arena_reals(own, 2 * c->count);
    TRY(arena_status(own));
    for (int64_t k = 0; k < c->count; k++) {
      const double *from = c->score + 3 * k;
      int64_t list = (int64_t)from[0], target = list / c->folds;
      if (from[2] < g) continue;
      *to++ = list_of(w, target / coverage_values(c),
                      target % coverage_values(c), list % c->folds);
      *to++ = from[1];
    }
    w->count[g] = (to - w->score[g]) / 2;
    qsort(w->score[g], (size_t)w->count[g], 2 * sizeof *to, by_list);
  }
  return LAPIS_OK;
}

/* How many stand before score s of a list. */
static int64_t before(const ranks *w, double list, double s)
{
  int64_t low = 0, high = w->count[w->gaps];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (by_list(w->score[w->gaps] + 2 * middle, (const double[]){list, s}) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* What the fit without fold f says of sample j, -1: what is answered.  Of a
 * label that was held out: what the fit says that had not seen it. */
static const lapis_mat *said_of(const ranks *w, int64_t t, int64_t j, int64_t f)
{
  int64_t T = coverage_targets(w->c);
  int64_t own = w->own == NULL ? -1 : w->own[j * T + t];
  if (own >= 0) f = own;
  return f < 0 ? &w->answer : &w->fold[f];
}

/* ---- sets and intervals -------------------------------------------------*/
static bool is_answer(const ranks *w, int64_t t, int64_t v, int64_t j)
{
  const lapis_mat *said = said_of(w, t, j, -1);
  for (int64_t u = 0; u < coverage_values(w->c); u++)
    if (coverage_miss(w->c, said, t, u, j) < coverage_miss(w->c, said, t, v, j))
      return false;
  return true;
}

static bool stays(const ranks *w, int64_t t, int64_t v, int64_t j)
{
  int64_t n = 0, below = 0;
  for (int64_t f = 0; f < w->c->folds; f++) {
    double list = list_of(w, t, v, f);
    double s = coverage_miss(w->c, said_of(w, t, j, f), t, v, j);
    int64_t first = before(w, list, -INFINITY);
    n += before(w, list + .5, -INFINITY) - first;
    below += before(w, list, s) - first;
  }
  return below < coverage_rank(w->c, n) || is_answer(w, t, v, j);
}

/* From the outermost of sign f + S inwards, whose lists are merged. */
static double end_of(const ranks *w, int64_t t, int64_t j, double sign)
{
  int64_t at[COVERAGE_FOLDS], left[COVERAGE_FOLDS], n = 0;
  double end = INFINITY;
  for (int64_t f = 0; f < w->c->folds; f++) {
    double list = list_of(w, t, 0, f);
    at[f] = before(w, list + .5, -INFINITY) - 1;
    left[f] = at[f] + 1 - before(w, list, -INFINITY);
    n += left[f];
  }
  for (int64_t step = n + 1 - coverage_rank(w->c, n); step > 0; step--) {
    int64_t best = -1;
    for (int64_t f = 0; f < w->c->folds; f++) {
      if (left[f] < 1) continue;
      double v = sign * lapis_mat_at(said_of(w, t, j, f), t, j) +
                 w->score[w->gaps][2 * at[f] + 1];
      if (best >= 0 && !(v > end)) continue;
      best = f;
      end = v;
    }
    if (best < 0) break;
    at[best]--;
    left[best]--;
  }
  return sign * fmax(end, sign * lapis_mat_at(said_of(w, t, j, -1), t, j));
}

/* Not below the floor, but for what is answered. */
static double low_of(const ranks *w, int64_t t, int64_t j)
{
  double low = end_of(w, t, j, -1);
  if (w->c->floor == NULL || isinf(low) || !(low < w->c->floor[t])) return low;
  return fmin(w->c->floor[t], lapis_mat_at(said_of(w, t, j, -1), t, j));
}

/* ---- publishing ---------------------------------------------------------*/
static lapis_status hear(ranks *w, lapis_ctx *ctx, const lapis_solver *answer,
                         lapis_solver *const *fold)
{
  TRY(coverage_said(w->c, answer, &w->answer));
  bool alike = w->answer.rows == w->c->K;
  for (int64_t f = 0; f < w->c->folds; f++) {
    TRY(coverage_said(w->c, fold[f], &w->fold[f]));
    alike = alike && w->fold[f].rows == w->c->K &&
            w->fold[f].cols == w->answer.cols;
  }
  if (alike) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "predict: the models inside this one answer for other "
                    "labels; fit it again");
}

static lapis_status publish_ends(lapis_solver *to, ranks *w)
{
  int64_t K = w->c->K, n = w->answer.cols;
  double *low = arena_reals(&to->arena, K * n);
  double *high = arena_reals(&to->arena, K * n);
  TRY(arena_status(&to->arena));
  for (int64_t k = 0; k < K * n; k++) {
    if (k % K == 0) w->gaps = coverage_gaps(w->X, w->begins, k / K);
    low[k] = low_of(w, k % K, k / K);
    high[k] = end_of(w, k % K, k / K, 1);
  }
  solver_publish(to, "set_low", lapis_mat_f64(low, K, n));
  solver_publish(to, "set_high", lapis_mat_f64(high, K, n));
  return LAPIS_OK;
}

/* Samples whose sets hold all, for want of others with as many gaps. */
static void remark_gaps(lapis_ctx *ctx, const ranks *w)
{
  char others[48] = "";
  int64_t first = -1, more = -1;
  for (int64_t j = w->answer.cols - 1; j >= 0; j--) {
    int gaps = coverage_gaps(w->X, w->begins, j);
    if (gaps == 0 || (double)w->count[gaps] >= coverage_least(w->c)) continue;
    first = j;
    more++;
  }
  if (first < 0) return;
  if (more > 0)
    (void)snprintf(others, sizeof others, " and %lld more", (long long)more);
  base_note(ctx, BASE_WARNING, "coverage-gaps",
            "coverage: sample %lld%s: at least half of the features are "
            "missing, and so few samples with a known label lack as many that "
            "it is not known how surely such are predicted; %s",
            (long long)first + 1, others,
            w->c->kind == COVERAGE_NUMBERS ? "the interval has no end"
                                           : "every class is in the set");
}

static lapis_status publish_sets(lapis_solver *to, ranks *w)
{
  const coverage *c = w->c;
  int64_t values = coverage_values(c), n = w->answer.cols;
  int64_t all = values * coverage_targets(c);
  double *kept = arena_reals(&to->arena, all * n);
  double *value = arena_reals(&to->arena, all);
  TRY(arena_status(&to->arena));
  for (int64_t k = 0; k < all * n; k++) {
    if (k % all == 0) w->gaps = coverage_gaps(w->X, w->begins, k / all);
    kept[k] = stays(w, k % all / values, k % values, k / all);
  }
  for (int64_t k = 0; k < all; k++) value[k] = c->value[k % values];
  solver_publish(to, "classes_kept", lapis_mat_f64(kept, all, n));
  solver_publish(to, "kept_values", lapis_mat_f64(value, 1, all));
  return LAPIS_OK;
}

lapis_status coverage_publish(lapis_solver *to, const coverage *c,
                              const lapis_data *data,
                              const lapis_solver *answer,
                              lapis_solver *const *fold, const int64_t *own)
{
  ranks w = {.c = c, .own = own, .X = &data->X};
  TRY(hear(&w, to->ctx, answer, fold));
  TRY(sort(&to->arena, &w));
  w.begins = coverage_begins(to->ctx, data);
  if (w.begins == NULL) return LAPIS_ENOMEM;
  remark_gaps(to->ctx, &w);
  lapis_status s =
      c->kind == COVERAGE_NUMBERS ? publish_ends(to, &w) : publish_sets(to, &w);
  base_free(w.begins);
  return s;
}

/* ---- in a model ---------------------------------------------------------*/
enum { SHARE, BY_CLASS, KIND, ROWS, HEAD };
static const char head_name[] = "coverage";

lapis_status coverage_keep(lapis_ctx *ctx, lapis_model *m, const coverage *c)
{
  double head[HEAD] = {[SHARE] = c->share,
                       [BY_CLASS] = c->by_class,
                       [KIND] = c->kind,
                       [ROWS] = (double)c->K};
  lapis_mat mat = lapis_mat_f64(head, 1, HEAD);
  TRY(model_put(ctx, m, head_name, &mat));
  mat = lapis_mat_f64((double *)(uintptr_t)c->score, 3, c->count);
  TRY(model_put(ctx, m, "coverage_scores", &mat));
  mat = lapis_mat_f64((double *)(uintptr_t)c->floor, 1, c->K);
  if (c->floor != NULL) TRY(model_put(ctx, m, "coverage_floor", &mat));
  mat = lapis_mat_f64((double *)(uintptr_t)c->value, 1, coverage_values(c));
  return c->value == NULL ? LAPIS_OK
                          : model_put(ctx, m, "coverage_values", &mat);
}

/* Somebody may have written the file. */
lapis_status coverage_read(lapis_ctx *ctx, const lapis_model *m, coverage *c)
{
  const lapis_mat *head = named_numbers(&m->learned, head_name, 1, HEAD);
  const lapis_mat *score = named_numbers(&m->learned, "coverage_scores", 3, -1);
  const lapis_mat *value = named_numbers(&m->learned, "coverage_values", 1, -1);
  const lapis_mat *floors;
  const double *at = head == NULL ? NULL : head->val;
  *c = (coverage){.share = 0};
  for (const lapis_model *f = m->fold; f != NULL; f = f->fold) c->folds++;
  if (at == NULL && c->folds == 0) return LAPIS_OK;
  bool fits = at != NULL && score != NULL && c->folds > 0 &&
              c->folds <= COVERAGE_FOLDS && at[SHARE] >= 0 && at[SHARE] <= 1 &&
              number_is_whole(at[BY_CLASS], 0, 1) &&
              number_is_whole(at[KIND], 0, COVERAGE_NUMBERS) &&
              number_is_whole(at[ROWS], 1, 1e6);
  if (fits) {
    c->share = at[SHARE];
    c->by_class = at[BY_CLASS] > 0;
    c->kind = (coverage_kind)at[KIND];
    c->K = (int64_t)at[ROWS];
    c->score = score->val;
    c->count = score->cols;
    c->value = value == NULL ? NULL : value->val;
    floors = named_numbers(&m->learned, "coverage_floor", 1, c->K);
    c->floor = floors == NULL ? NULL : floors->val;
    fits = c->kind == COVERAGE_NUMBERS ||
           (value != NULL && value->cols == coverage_values(c));
  }
  double lists = fits ? (double)coverage_list(c, coverage_targets(c), 0, 0) : 0;
  for (int64_t k = 0; fits && k < c->count; k++)
    fits = number_is_whole(c->score[3 * k], 0, lists - 1) &&
           c->score[3 * k + 1] >= 0 &&
           number_is_whole(c->score[3 * k + 2], 0, COVERAGE_GAPS - 1);
  if (fits) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "predict: the scores of held-out labels in this model do "
                    "not fit it; fit it again");
}

lapis_status lapis_model_set_coverage(lapis_ctx *ctx, lapis_model *m,
                                      double share, int by)
{
  NEEDS(ctx, ctx, m);
  coverage c;
  TRY(coverage_read(ctx, m, &c));
  if (c.folds == 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "predict: this model keeps no scores of held-out labels, "
                      "so it has no sets; fit auto with --coverage");
  if (!(share >= 0 && share < 1) || by < 0 || by > LAPIS_COVERAGE_CLASS)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "predict: coverage is %g; a share of new samples from 0 "
                      "(no sets) to below 1 is needed",
                      share);
  c.share = share;
  c.by_class = by == LAPIS_COVERAGE_CLASS;
  return coverage_keep(ctx, m, &c);
}

/* ---- answers with sets --------------------------------------------------*/
typedef struct covered {
  lapis_solver base;
  coverage c;
  lapis_data data;
  lapis_solver *answer, *fold[COVERAGE_FOLDS];
} covered;

static lapis_status solve(lapis_solver *s)
{
  covered *w = (covered *)s;
  double started = base_seconds();
  lapis_status status = lapis_solve(w->answer);
  if (status < 0 || status == LAPIS_CANCELLED) return status;
  s->info = w->answer->info;
  s->settings = w->answer->settings;
  s->features = w->answer->features;
  s->called = w->answer->called;
  s->table = w->answer->table;
  for (int i = 0; i < w->answer->result.count; i++)
    solver_publish(s, w->answer->result.item[i].name,
                   w->answer->result.item[i].mat);
  base_mute(s->ctx, true);
  for (int64_t f = 0; f < w->c.folds && status >= 0; f++) {
    lapis_status part = lapis_solve(w->fold[f]);
    if (part < 0 || part == LAPIS_CANCELLED || status == LAPIS_OK)
      status = part;
    if (part == LAPIS_CANCELLED) break;
  }
  base_mute(s->ctx, false);
  s->info.seconds = base_seconds() - started;
  if (status < 0 || status == LAPIS_CANCELLED) return status;
  TRY(coverage_publish(s, &w->c, &w->data, w->answer, w->fold, NULL));
  return status;
}

static void release(lapis_solver *s)
{
  covered *w = (covered *)s;
  lapis_solver_free(w->answer);
  for (int64_t f = 0; f < w->c.folds; f++) lapis_solver_free(w->fold[f]);
}

static const solver_class covered_class = {
    .method = "covered", .solve = solve, .free = release};

lapis_status coverage_new(lapis_ctx *ctx, const coverage *c,
                          const lapis_data *data, lapis_solver *answer,
                          lapis_solver *const *fold, lapis_solver **out)
{
  lapis_status s = solver_alloc(ctx, &covered_class, sizeof(covered), out);
  if (s >= 0) {
    covered *w = (covered *)*out;
    w->c = *c;
    w->data = *data;
    w->answer = answer;
    memcpy(w->fold, fold, (size_t)c->folds * sizeof *fold);
    return s;
  }
  lapis_solver_free(answer);
  for (int64_t f = 0; f < c->folds; f++) lapis_solver_free(fold[f]);
  return s;
}
