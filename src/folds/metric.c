/* metric.c - metrics by name, class by class. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folds/classification.h"
#include "folds/rank.h"
#include "folds/regression.h"
#include "lapis/choose.h"
#include "lapis/tools.h"
#include "mat/mat.h"

typedef lapis_status (*regression_fn)(lapis_ctx *ctx, const lapis_mat *truth,
                                      const lapis_mat *part,
                                      const lapis_mat *scores, double *per_row,
                                      double *out);
typedef struct metric {
  lapis_metric_kind kind;
  double (*of_class)(const ranked *r, int64_t n);
  regression_fn whole; /* in place of of_class */
} metric;

static const metric metrics[] = {
    {{"auroc", LAPIS_METRIC_SCORES, false}, rank_auroc, NULL},
    {{"map", LAPIS_METRIC_SCORES, false}, rank_average_precision, NULL},
    {{"average-precision", LAPIS_METRIC_SCORES, false},
     rank_average_precision,
     NULL},
    {{"minndc", LAPIS_METRIC_SCORES, true}, rank_min_ndc, NULL},
    {{"log-loss", LAPIS_METRIC_PROBABILITIES, true},
     NULL,
     classification_log_loss},
    {{"accuracy", LAPIS_METRIC_LABELS, false}, NULL, classification_accuracy},
    {{"hamming", LAPIS_METRIC_LABELS, true}, NULL, classification_hamming},
    {{"f1", LAPIS_METRIC_LABELS, false}, NULL, classification_f1},
    {{"rae", LAPIS_METRIC_VALUES, true}, NULL, regression_rae},
    {{"r2", LAPIS_METRIC_VALUES, false}, NULL, regression_r2},
    {{"rmse", LAPIS_METRIC_VALUES, true}, NULL, regression_rmse},
    {{"angle-error", LAPIS_METRIC_VALUES, true}, NULL, regression_angle}};
enum { METRICS = sizeof metrics / sizeof *metrics };

const lapis_metric_kind *lapis_metric_at(int i)
{
  return i >= 0 && i < METRICS ? &metrics[i].kind : NULL;
}

static int falling(const void *a, const void *b)
{
  double x = ((const ranked *)a)->score, y = ((const ranked *)b)->score;
  return (x < y) - (x > y);
}

/* Samples of class c whose truth is known, best first; how many. */
static int64_t collect(const targets *t, const lapis_mat *scores, int64_t c,
                       ranked *out)
{
  int64_t n = 0;
  for (int64_t j = 0; j < t->samples; j++) {
    double sign = t->sign[j * t->classes + c];
    if (isnan(sign)) continue;
    out[n++] = (ranked){lapis_mat_at(scores, c, j), sign > 0};
  }
  qsort(out, (size_t)n, sizeof *out, falling);
  return n;
}

static void each_class(const metric *m, const targets *t,
                       const lapis_mat *scores, ranked *work, double *per_class,
                       double *mean)
{
  double sum = 0;
  int64_t have = 0;
  for (int64_t c = 0; c < t->classes; c++) {
    double v = m->of_class(work, collect(t, scores, c, work));
    if (per_class != NULL) per_class[c] = v;
    if (isnan(v)) continue;
    sum += v;
    have++;
  }
  *mean = have > 0 ? sum / (double)have : NAN;
}

static const metric *find(const char *name)
{
  for (int i = 0; i < METRICS; i++)
    if (strcmp(metrics[i].kind.name, name) == 0) return &metrics[i];
  return NULL;
}

lapis_status lapis_metric_find(lapis_ctx *ctx, const char *name,
                               const lapis_metric_kind **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, name, out);
  char known[256] = "", hint[64];
  lapis_nearest near = {.word = name, .size = strlen(name)};
  const metric *m = find(name);
  *out = m == NULL ? NULL : &m->kind;
  if (m != NULL) return LAPIS_OK;
  for (int i = 0; i < METRICS; i++) {
    lapis_nearest_try(&near, metrics[i].kind.name);
    size_t n = strlen(known);
    snprintf(known + n, sizeof known - n, "%s%s", i > 0 ? ", " : "",
             metrics[i].kind.name);
  }
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "there is no metric '%s'%s; there are %s", name,
                    lapis_nearest_hint(&near, "", hint, sizeof hint), known);
}

static lapis_status check(lapis_ctx *ctx, const char *name, const targets *t,
                          const lapis_mat *scores)
{
  if (scores->rows != t->classes || scores->cols != t->samples)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: truth has %" PRId64 " sample(s) of %" PRId64
                      " classes, scores have %" PRId64 " of %" PRId64,
                      name, t->samples, t->classes, scores->cols, scores->rows);
  return mat_check_finite(ctx, name, "scores", scores, false);
}

lapis_status lapis_metric_classes(lapis_ctx *ctx, const char *name,
                                  const lapis_mat *truth, int64_t *out)
{
  NEEDS(ctx, ctx, name, truth, out);
  TRY(mat_check_numbers(ctx, name, "the truth", truth));
  const lapis_metric_kind *kind;
  targets t;
  *out = truth->rows;
  TRY(lapis_metric_find(ctx, name, &kind));
  if (kind->reads == LAPIS_METRIC_VALUES) return LAPIS_OK;
  TRY(targets_encode(ctx, name, truth, &t));
  *out = t.classes;
  targets_free(&t);
  return LAPIS_OK;
}

lapis_status lapis_metric(lapis_ctx *ctx, const char *name,
                          const lapis_mat *truth, const lapis_mat *scores,
                          double *per_class, double *mean)
{
  return lapis_metric_part(ctx, name, truth, truth, scores, per_class, mean);
}

lapis_status lapis_metric_part(lapis_ctx *ctx, const char *name,
                               const lapis_mat *truth, const lapis_mat *part,
                               const lapis_mat *scores, double *per_class,
                               double *mean)
{
  NEEDS(ctx, ctx, name, truth, part, scores, mean);
  TRY(mat_check_numbers(ctx, name, "the truth", truth));
  TRY(mat_check_numbers(ctx, name, "the part of the truth", part));
  TRY(mat_check_numbers(ctx, name, "the answer", scores));
  const lapis_metric_kind *kind;
  TRY(lapis_metric_find(ctx, name, &kind));
  const metric *m = find(name);
  if (part->rows != truth->rows || part->cols != truth->cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: the part of the truth is %" PRId64 " x %" PRId64
                      " and the truth %" PRId64 " x %" PRId64
                      "; both have one shape",
                      name, part->rows, part->cols, truth->rows, truth->cols);
  if (m->whole != NULL)
    return m->whole(ctx, truth, part, scores, per_class, mean);
  targets t;
  TRY(targets_encode(ctx, name, truth, &t));
  lapis_status s = check(ctx, name, &t, scores);
  ranked *work = NULL;
  if (s >= 0) work = base_alloc(ctx, t.samples, sizeof *work);
  if (s >= 0 && work == NULL) s = LAPIS_ENOMEM;
  if (s >= 0) classification_keep(&t, part);
  if (s >= 0) each_class(m, &t, scores, work, per_class, mean);
  base_free(work);
  targets_free(&t);
  return s;
}

lapis_status metric_roc(lapis_ctx *ctx, const double *truth,
                        const double *scores, int64_t n, double *x, double *y,
                        int64_t *count)
{
  NEEDS(ctx, ctx, truth, scores, count);
  lapis_mat Y = lapis_mat_f64((double *)(uintptr_t)truth, 1, n);
  lapis_mat S = lapis_mat_f64((double *)(uintptr_t)scores, 1, n);
  targets t;
  *count = 0;
  TRY(targets_encode(ctx, "roc", &Y, &t));
  lapis_status s = check(ctx, "roc", &t, &S);
  ranked *work = NULL;
  if (s >= 0) work = base_alloc(ctx, n, sizeof *work);
  if (s >= 0 && work == NULL) s = LAPIS_ENOMEM;
  if (s >= 0) *count = rank_roc(work, collect(&t, &S, 0, work), x, y);
  base_free(work);
  targets_free(&t);
  return s;
}

lapis_status metric_auroc(lapis_ctx *ctx, const double *truth,
                          const double *scores, int64_t n, double *out)
{
  NEEDS(ctx, ctx, truth, scores, out);
  lapis_mat t = lapis_mat_f64((double *)(uintptr_t)truth, 1, n);
  lapis_mat s = lapis_mat_f64((double *)(uintptr_t)scores, 1, n);
  *out = NAN;
  return lapis_metric(ctx, "auroc", &t, &s, NULL, out);
}

void lapis_share_interval(double share, double trials, double *low,
                          double *high)
{
  const double z = 1.96; /* 95 % of a normal law */
  if (low == NULL || high == NULL) return;
  double grow = 1 + z * z / trials;
  double middle = (share + z * z / (2 * trials)) / grow;
  double wide =
      z / grow *
      sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials));
  *low = middle - wide;
  *high = middle + wide;
  if (share <= 0 || *low < 0) *low = 0; /* not less by rounding */
  if (share >= 1 || *high > 1) *high = 1;
}

bool lapis_is_clear(double difference, double error)
{
  return difference > 2 * error;
}

bool lapis_is_clear_among(double difference, double error, int64_t count)
{
  double times = difference / error;
  return lapis_is_clear(difference, error) &&
         .5 * erfc(times / sqrt(2)) * (double)count < .05;
}

/* The expansion of Cornish and Fisher in 1 / free. */
double lapis_far_errors(double units)
{
  static const double of_free[] = {1.96, 2.3722, 2.8225, 2.5558, 1.5895};
  double free = fmax(units - 1, 1), far = 0;
  for (int k = 4; k >= 0; k--) far = far / free + of_free[k];
  return far;
}
