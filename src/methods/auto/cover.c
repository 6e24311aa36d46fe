/* cover.c - who answers, fitted once more without each fold of known labels. */
#include "methods/auto/cover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lapis/choose.h"
#include "methods/auto/candidates.h"
#include "methods/common_remarks.h"

static const double LARGEST = 2; /* score, above that of any probability */

int64_t cover_class(const comparison *r, int64_t t, int64_t j)
{
  const double *sign = r->labels.sign + j * r->K;
  int64_t first = r->labels.kind == TARGETS_CLASS ? 0 : t, c = 0;
  if (isnan(sign[first]) || (r->weight != NULL && !(r->weight[j] > 0)))
    return -1;
  if (r->o.numbers) return 0;
  if (r->labels.kind != TARGETS_CLASS) return sign[t] > 0;
  while (c < r->K - 1 && !(sign[c] > 0)) c++;
  return c;
}

/* ---- what is hidden -----------------------------------------------------*/
/* Labels of target t that would leave their class none are not hidden. */
static void keep_classes(const comparison *r, const coverage *c, int64_t t,
                         int64_t *count, int64_t *own)
{
  int64_t T = coverage_targets(c), values = coverage_values(c);
  memset(count, 0, (size_t)(values * (c->folds + 1)) * sizeof *count);
  for (int64_t j = 0; j < r->n; j++) {
    int64_t v = cover_class(r, t, j), f = own[j * T + t];
    if (v < 0) continue;
    count[v * (c->folds + 1) + c->folds]++;
    if (f >= 0) count[v * (c->folds + 1) + f]++;
  }
  for (int64_t j = 0; j < r->n; j++) {
    int64_t v = cover_class(r, t, j), *f = &own[j * T + t];
    const int64_t *of = count + v * (c->folds + 1);
    if (v >= 0 && *f >= 0 && of[*f] == of[c->folds]) *f = -1;
  }
}

static lapis_status draw(lapis_ctx *ctx, const comparison *r,
                         const lapis_data *data, int64_t folds, cover *w)
{
  fold_plan plan;
  coverage *c = &w->c;
  TRY(race_draw(r, data, folds, &plan));
  c->folds = plan.folds;
  int64_t T = coverage_targets(c), all = T * r->n;
  int64_t room = coverage_values(c) * (plan.folds + 1);
  w->own = base_alloc(ctx, all, sizeof *w->own);
  w->score = base_alloc(ctx, 3 * all, sizeof *w->score);
  int64_t *count = base_alloc(ctx, room, sizeof *count);
  bool fits = w->own != NULL && w->score != NULL && count != NULL;
  for (int64_t k = 0; fits && k < all; k++) {
    int64_t t = k % T, j = k / T;
    int64_t f = plan.cell != NULL ? plan.cell[k] : plan.fold[j];
    w->own[k] = cover_class(r, t, j) < 0 ? -1 : f;
  }
  for (int64_t t = 0; fits && !r->o.numbers && t < T; t++)
    keep_classes(r, c, t, count, w->own);
  base_free(count);
  folds_free(&plan);
  return fits ? LAPIS_OK : LAPIS_ENOMEM;
}

/* ---- fits ---------------------------------------------------------------*/
static lapis_status fit_without(lapis_ctx *ctx, const comparison *r, int i,
                                const lapis_data *data,
                                const lapis_mc_settings *like, int64_t f,
                                cover *w)
{
  lapis_data shown = *data;
  int64_t all = coverage_targets(&w->c) * r->n;
  w->Y[f] = base_alloc_raw(ctx, all, sizeof(double));
  if (w->Y[f] == NULL) return LAPIS_ENOMEM;
  mat_to_f64(&data->Y, w->Y[f], data->Y.rows);
  for (int64_t k = 0; k < all; k++)
    if (w->own[k] == f) w->Y[f][k] = NAN;
  shown.Y = lapis_mat_f64(w->Y[f], data->Y.rows, r->n);
  TRY(comparison_answer_new(ctx, r, i, &shown, like, &w->fold[f]));
  lapis_status s = lapis_solve(w->fold[f]);
  return s >= 0 && base_late(ctx) ? LAPIS_TIME_LIMIT : s;
}

static lapis_status take_scores(const comparison *r, const lapis_data *data,
                                cover *w)
{
  coverage *c = &w->c;
  lapis_mat said[COVERAGE_FOLDS];
  int64_t T = coverage_targets(c);
  for (int64_t f = 0; f < c->folds; f++)
    TRY(coverage_said(c, w->fold[f], &said[f]));
  bool *begins = coverage_begins(r->ctx, data);
  if (begins == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < T * r->n; k++) {
    int64_t t = k % T, j = k / T, f = w->own[k];
    int64_t v = cover_class(r, t, j);
    if (v < 0) continue;
    double *to = w->score + 3 * c->count++;
    to[2] = coverage_gaps(&data->X, begins, j);
    to[0] = (double)coverage_list(c, t, v, f < 0 ? 0 : f);
    to[1] =
        f < 0 ? LARGEST
        : r->o.numbers
            ? fabs(lapis_mat_at(&data->Y, t, j) - lapis_mat_at(&said[f], t, j))
            : coverage_miss(c, &said[f], t, v, j);
  }
  base_free(begins);
  return LAPIS_OK;
}

/* 0 where no known number is below it. */
static lapis_status find_floor(lapis_ctx *ctx, const lapis_data *data, cover *w)
{
  const lapis_mat *Y = &data->Y;
  w->floor = base_alloc(ctx, Y->rows, sizeof *w->floor);
  if (w->floor == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < Y->rows * Y->cols; k++)
    if (lapis_mat_at(Y, k % Y->rows, k / Y->rows) < 0)
      w->floor[k % Y->rows] = -INFINITY;
  w->c.floor = w->floor;
  return LAPIS_OK;
}

lapis_status cover_fit(lapis_ctx *ctx, const comparison *r, int i,
                       const lapis_data *data, const lapis_mc_settings *like,
                       int64_t folds, cover *w)
{
  lapis_mc_settings own = *like;
  own.certificate = own.class_features = false;
  *w =
      (cover){.c = {.kind = r->o.numbers                      ? COVERAGE_NUMBERS
                            : r->labels.kind == TARGETS_CLASS ? COVERAGE_CLASSES
                                                              : COVERAGE_PAIRS,
                    .K = r->K,
                    .value = r->labels.value}};
  folds = folds < COVERAGE_FOLDS ? folds : COVERAGE_FOLDS;
  lapis_status s = draw(ctx, r, data, folds, w);
  if (s >= 0 && r->o.numbers) s = find_floor(ctx, data, w);
  base_mute(ctx, true);
  keep_pause(ctx, true); /* several solves of one name */
  for (int64_t f = 0; s >= 0 && f < w->c.folds; f++) {
    s = fit_without(ctx, r, i, data, &own, f, w);
    if (s == LAPIS_CANCELLED || s == LAPIS_TIME_LIMIT) break;
  }
  keep_pause(ctx, false);
  base_mute(ctx, false);
  if (s >= 0 && s != LAPIS_CANCELLED && s != LAPIS_TIME_LIMIT)
    s = take_scores(r, data, w);
  w->c.score = w->score;
  return s;
}

void cover_remark_none(lapis_ctx *ctx, const comparison *r, lapis_status s,
                       const char *method, const char *what)
{
  bool idle = s == LAPIS_EDATA;
  if (s != LAPIS_EINVAL && s != LAPIS_TIME_LIMIT && !idle) return;
  base_note(ctx, BASE_WARNING, "not-held-out", "%s: no %s: %s", method, what,
            s == LAPIS_TIME_LIMIT ? "time ran out before every fold was held "
                                    "out"
            : idle                ? "nothing was clearly learnt"
            : r == NULL           ? "nothing could be held out to compare"
                                  : "too few labels are known");
}

lapis_status cover_teach(lapis_ctx *ctx, const cover *w, lapis_model *m)
{
  lapis_model **next = &m->fold;
  for (int64_t f = 0; f < w->c.folds; f++) {
    TRY(lapis_model_new(w->fold[f], next));
    next = &(*next)->fold;
  }
  return coverage_keep(ctx, m, &w->c);
}

/* Of known labels, held out: how many classes, or how much, their sets, as
 * published by s, hold on average (endless intervals apart); and the value of a
 * label, or of numbers the third by what is predicted, of which the least share
 * lies in them.  The share of all says nothing: it is what was asked for, by
 * the way sets are made. */
typedef struct figures {
  double size;
  int64_t target, count; /* count: known labels of that value */
  double value, least;
} figures;

/* Sums over known labels; of: 2 for each value of each target, those that lie
 * inside and all. */
static void sum_up(const cover *w, const comparison *r, const lapis_solver *s,
                   figures *to, double *of)
{
  const lapis_mat *kept = named_find(&s->result, "classes_kept");
  const lapis_mat *low = named_find(&s->result, "set_low");
  const lapis_mat *high = named_find(&s->result, "set_high");
  int64_t T = coverage_targets(&w->c), values = coverage_values(&w->c);
  double count = 0, sum = 0, endless = 0;
  for (int64_t k = 0; k < T * r->n; k++) {
    int64_t t = k % T, j = k / T, v = cover_class(r, t, j);
    if (v < 0) continue;
    count++;
    if (kept != NULL) {
      of[2 * (t * values + v)] += lapis_mat_at(kept, t * values + v, j);
      of[2 * (t * values + v) + 1]++;
      for (int64_t u = 0; u < values; u++)
        sum += lapis_mat_at(kept, t * values + u, j);
    } else {
      double width = lapis_mat_at(high, t, j) - lapis_mat_at(low, t, j);
      endless += isinf(width);
      sum += isinf(width) ? 0 : width;
    }
  }
  to->size = count > endless ? sum / (count - endless) : INFINITY;
}

/* ---- numbers: thirds by what is predicted --------------------------------*/
typedef struct told {
  double high; /* of its interval, as what is predicted */
  bool inside;
} told;

static int by_high(const void *a, const void *b)
{
  double x = ((const told *)a)->high, y = ((const told *)b)->high;
  return (x > y) - (x < y);
}

/* Of target t the third that the least share lies in. */
static void find_third(told *of, int64_t n, int64_t t, figures *out)
{
  enum { THIRDS = 3 };
  qsort(of, (size_t)n, sizeof *of, by_high);
  for (int64_t p = 0; p < THIRDS; p++) {
    int64_t from = n * p / THIRDS, end = n * (p + 1) / THIRDS, inside = 0;
    for (int64_t k = from; k < end; k++) inside += of[k].inside;
    double share = (double)inside / (double)(end - from);
    if (end == from || !(share < out->least)) continue;
    *out = (figures){.size = out->size,
                     .target = t,
                     .count = end - from,
                     .value = (double)p,
                     .least = share};
  }
}

static lapis_status find_thirds(lapis_ctx *ctx, const comparison *r,
                                const lapis_data *data, const lapis_solver *s,
                                figures *out)
{
  const lapis_mat *low = named_find(&s->result, "set_low");
  const lapis_mat *high = named_find(&s->result, "set_high");
  told *of = base_alloc(ctx, r->n, sizeof *of);
  if (of == NULL) return LAPIS_ENOMEM;
  for (int64_t t = 0; t < data->Y.rows; t++) {
    int64_t n = 0;
    for (int64_t j = 0; j < r->n; j++) {
      double y = lapis_mat_at(&data->Y, t, j), end = lapis_mat_at(high, t, j);
      if (cover_class(r, t, j) < 0 || isnan(y) || isinf(end)) continue;
      of[n++] = (told){end, y <= end && y >= lapis_mat_at(low, t, j)};
    }
    find_third(of, n, t, out);
  }
  base_free(of);
  return LAPIS_OK;
}

static lapis_status measure(lapis_ctx *ctx, const cover *w, const comparison *r,
                            const lapis_data *data, const lapis_solver *s,
                            figures *out)
{
  int64_t values = coverage_values(&w->c);
  int64_t all = coverage_targets(&w->c) * values;
  double *of = base_alloc(ctx, 2 * all, sizeof *of);
  if (of == NULL) return LAPIS_ENOMEM;
  *out = (figures){.least = INFINITY};
  sum_up(w, r, s, out, of);
  for (int64_t k = 0; k < all && !r->o.numbers; k++) {
    if (!(of[2 * k + 1] > 0) || !(of[2 * k] / of[2 * k + 1] < out->least))
      continue;
    out->least = of[2 * k] / of[2 * k + 1];
    out->count = (int64_t)of[2 * k + 1];
    out->target = k / values;
    out->value = w->c.value[k % values];
  }
  base_free(of);
  return r->o.numbers ? find_thirds(ctx, r, data, s, out) : LAPIS_OK;
}

/* The fewest known labels that a promise rests on: of a target, or of one of
 * its classes. */
static int64_t fewest(const cover *w)
{
  const coverage *c = &w->c;
  int64_t per = c->folds * (c->by_class ? 1 : coverage_values(c));
  int64_t lists = coverage_list(c, coverage_targets(c), 0, 0);
  int64_t least = c->count;
  for (int64_t from = 0; from < lists; from += per) {
    int64_t n = 0;
    for (int64_t k = 0; k < c->count; k++)
      n += c->score[3 * k] >= (double)from &&
           c->score[3 * k] < (double)(from + per);
    if (n < least) least = n;
  }
  return least;
}

static bool all_above_0(const lapis_mat *Y, int64_t t)
{
  for (int64_t j = 0; j < Y->cols; j++)
    if (lapis_mat_at(Y, t, j) <= 0) return false;
  return true;
}

/* Errors that grow with what is predicted: intervals of one width are too wide
 * for the small ones and too narrow for the large. */
static void remark_third(const coverage *c, const lapis_data *data,
                         const lapis_solver *s, const char *method,
                         const figures *x)
{
  static const char *const third[] = {"smallest", "middle", "largest"};
  char target[32] = "";
  double far = 2 * sqrt(c->share * (1 - c->share) / (double)x->count);
  if (x->count == 0 || !(x->least < c->share - far)) return;
  if (data->Y.rows > 1)
    (void)snprintf(target, sizeof target, " of target %lld",
                   (long long)x->target + 1);
  base_note(s->ctx, BASE_WARNING, "coverage-third",
            "%s: of the third with the %s predictions%s only %.1f %% of %lld "
            "known numbers lie in their intervals%s",
            method, third[(int)x->value], target, 100 * x->least,
            (long long)x->count,
            all_above_0(&data->Y, x->target)
                ? "; all are above 0: where errors grow with them, their "
                  "logarithms have intervals that fit"
                : "");
}

/* What is promised of all may be kept by the common classes at the cost of a
 * rare one. */
static void remark_least(const cover *w, const lapis_data *data,
                         const lapis_solver *s, const char *method,
                         const figures *x)
{
  const coverage *c = &w->c;
  char name[REMARK_VALUE], label[32] = "";
  if (x->count == 0) return;
  double far = 2 * sqrt(c->share * (1 - c->share) / (double)x->count);
  bool below = !c->by_class && x->least < c->share - far;
  if (data->Y.rows > 1)
    (void)snprintf(label, sizeof label, " of label %lld",
                   (long long)x->target + 1);
  base_note(s->ctx, below ? BASE_WARNING : BASE_NOTE, "coverage-least",
            below ? "%s: of \"%s\"%s, the least covered class, only %.1f %% of "
                    "%lld known labels lie in their sets; {coverage-by class} "
                    "promises %.4g %% of each class"
                  : "%s: of \"%s\"%s, the least covered class, %.1f %% of %lld "
                    "known labels lie in their sets",
            method, remark_value(data, x->value, name), label, 100 * x->least,
            (long long)x->count, 100 * c->share);
}

lapis_status cover_remark(const cover *w, const comparison *r,
                          const lapis_data *data, const lapis_solver *s,
                          const char *method, bool numbers)
{
  const coverage *c = &w->c;
  figures x;
  TRY(measure(s->ctx, w, r, data, s, &x));
  int64_t n = fewest(w);
  char rarest[64] = "", range[192] = "", of[64] = "so many", far[96] = "";
  lapis_mat others;
  if (comparison_others(r, &others))
    (void)snprintf(far, sizeof far,
                   " that are no outliers (%lld of those "
                   "known are left out)",
                   (long long)comparison_outliers(r).cols);
  if (r->o.left_out > 0)
    (void)snprintf(far, sizeof far,
                   " but those left out (%lld of the known labels)",
                   (long long)r->o.left_out);
  if (n < c->count)
    (void)snprintf(rarest, sizeof rarest, " (%lld of the %s)", (long long)n,
                   c->by_class ? "rarest class" : "target with fewest");
  bool is_short = (double)n < coverage_least(c);
  if (!is_short) { /* Beta(k, n + 1 - k) [Vovk 2012], whose quantiles are those
                    * that bound a share of which k of n are seen */
    double from, to, k = (double)coverage_rank(c, n);
    int64_t units = r->grouped && r->known < n ? r->known : n;
    lapis_share_interval(k / (double)n, (double)units, &from, &to);
    if (r->grouped)
      (void)snprintf(of, sizeof of, "%lld groups, which err together,",
                     (long long)units);
    (void)snprintf(
        range, sizeof range,
        "; with %s the true share is %.3g to %.3g %%, 95 times of 100", of,
        100 * from, 100 * to);
  }
  base_note(s->ctx, BASE_NOTE, "coverage",
            "%s: %s for %.4g %% of new samples like those with a %s%s%s, of "
            "%.4g%s on average, by %lld known %s%s held out in %lld fold(s)%s",
            method, numbers ? "intervals" : "sets", 100 * c->share,
            numbers ? "number" : "label", c->by_class ? ", of each class" : "",
            far, x.size,
            numbers       ? " width"
            : x.size == 1 ? " class"
                          : " classes",
            (long long)c->count, numbers ? "numbers" : "labels", rarest,
            (long long)c->folds, range);
  if (numbers)
    remark_third(c, data, s, method, &x);
  else
    remark_least(w, data, s, method, &x);
  if (is_short)
    base_note(s->ctx, BASE_WARNING, "coverage-short",
              "%s: coverage %g needs %.0f known labels%s; where there are "
              "fewer, %s",
              method, c->share, coverage_least(c),
              c->by_class ? " of each class" : "",
              numbers ? "the interval has no end"
                      : "the class is in every set");
  return LAPIS_OK;
}

void cover_free(cover *w)
{
  for (int f = 0; f < COVERAGE_FOLDS; f++) {
    lapis_solver_free(w->fold[f]);
    base_free(w->Y[f]);
  }
  base_free(w->score);
  base_free(w->floor);
  base_free(w->own);
  *w = (cover){.own = NULL};
}
