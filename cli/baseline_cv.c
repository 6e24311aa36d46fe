/* baseline_cv.c - the rival on the folds of a cross-validation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"

static const double candidates[] = {1e-3, 1e-2, 1e-1, 1, 10, 100};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

typedef struct fold_work {
  double *shown, *hidden; /* n labels of one class */
  double *X;              /* mapped features, rows x n */
  double *scores;         /* n */
} fold_work;

static void work_free(fold_work *w)
{
  free(w->shown);
  free(w->hidden);
  free(w->X);
  free(w->scores);
}

/* Sparse features through the map alone: standardising would fill them.  What
 * is fitted to samples is not for all folds at once, so it is refused. */
static lapis_status map_sparse(cli *c, const lapis_data *data, const char *spec,
                               fold_work *w, lapis_mat *X)
{
  lapis_map *map;
  lapis_status s = lapis_map_new(c->ctx, spec, &map);
  if (s < 0) return s;
  s = lapis_map_fit(c->ctx, map, &data->X);
  if (s >= 0) s = lapis_map_make(c->ctx, map, &data->X, &w->X, X);
  lapis_map_free(map);
  return s >= 0 && X->colptr == NULL ? LAPIS_ENOTBUILT : s;
}

/* Features through the map and standardised, both fitted on the columns
 * outside the fold; missing entries at the mean, which is 0 then. */
static lapis_status map_features(cli *c, const lapis_data *data,
                                 const int64_t *fold, int64_t f,
                                 const char *spec, fold_work *w, lapis_mat *X)
{
  lapis_map *map;
  if (data->X.colptr != NULL) return map_sparse(c, data, spec, w, X);
  int64_t d = data->X.rows, n = data->X.cols, kept = 0;
  double *train = malloc((size_t)(d * n) * sizeof *train);
  lapis_status s =
      train == NULL ? LAPIS_ENOMEM : lapis_map_new(c->ctx, spec, &map);
  if (s < 0) return free(train), s;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; fold[j] != f && i < d; i++)
      train[kept++] = lapis_mat_at(&data->X, i, j);
  lapis_mat part = lapis_mat_f64(train, d, kept / d);
  s = lapis_map_fit(c->ctx, map, &part);
  int64_t rows = lapis_map_rows(map, d);
  w->X = malloc((size_t)(rows * n) * sizeof *w->X);
  if (s >= 0 && w->X == NULL) s = LAPIS_ENOMEM;
  if (s >= 0) s = lapis_map_apply(c->ctx, map, &data->X, w->X);
  lapis_map_free(map);
  free(train);
  for (int64_t k = 0; s >= 0 && k < rows * n; k++)
    if (isnan(w->X[k])) w->X[k] = 0;
  *X = lapis_mat_f64(w->X, rows, n);
  return s;
}

/* Labels of class k seen in training, and hidden in fold f. */
static void split_labels(const lapis_mat *Y, const int64_t *fold, int64_t f,
                         int64_t k, fold_work *w)
{
  for (int64_t j = 0; j < Y->cols; j++) {
    double y = lapis_mat_at(Y, k, j);
    w->shown[j] = fold[j] == f ? NAN : y;
    w->hidden[j] = fold[j] == f ? y : NAN;
  }
}

/* Adds each candidate's AUROC of one fold and class. */
static void judge(cli *c, const lapis_mat *X, fold_work *w, double *sum,
                  int *count)
{
  for (int k = 0; k < CANDIDATES; k++) {
    double v = NAN;
    if (baseline_scores(X, w->shown, candidates[k], w->scores) &&
        lapis_auroc(c->ctx, w->hidden, w->scores, X->cols, &v) >= 0 &&
        !isnan(v)) {
      sum[k] += v;
      count[k]++;
    }
  }
}

static lapis_status one_fold(cli *c, const lapis_data *data,
                             const int64_t *fold, int64_t f, const char *spec,
                             double *sum, int *count)
{
  size_t n = (size_t)data->X.cols * sizeof(double);
  fold_work w = {malloc(n), malloc(n), NULL, malloc(n)};
  lapis_mat X;
  lapis_status s = LAPIS_ENOMEM;
  if (w.shown != NULL && w.hidden != NULL && w.scores != NULL)
    s = map_features(c, data, fold, f, spec, &w, &X);
  for (int64_t k = 0; s >= 0 && k < data->Y.rows; k++) {
    split_labels(&data->Y, fold, f, k, &w);
    judge(c, &X, &w, sum, count);
  }
  work_free(&w);
  return s;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The different values of a row of classes, rising; value: n of room. */
static int64_t find_values(const lapis_mat *Y, double *value)
{
  int64_t known = 0, count = 0;
  for (int64_t j = 0; j < Y->cols; j++) {
    double v = lapis_mat_at(Y, 0, j);
    if (!isnan(v)) value[known++] = v;
  }
  qsort(value, (size_t)known, sizeof *value, by_value);
  for (int64_t k = 0; k < known; k++)
    if (count == 0 || value[k] > value[count - 1]) value[count++] = value[k];
  return count;
}

/* One class of several: a row of 0 and 1 for each in *own.  Others stay. */
static lapis_status divide_classes(lapis_data *data, double **own)
{
  int64_t n = data->Y.cols;
  if (data->Y.rows != 1) return LAPIS_OK;
  double *value = malloc((size_t)(n + 1) * sizeof *value);
  if (value == NULL) return LAPIS_ENOMEM;
  int64_t count = find_values(&data->Y, value);
  if (count > 2) *own = malloc((size_t)(count * n) * sizeof **own);
  for (int64_t k = 0; *own != NULL && k < count * n; k++) {
    double v = lapis_mat_at(&data->Y, 0, k / count);
    (*own)[k] = isnan(v) ? NAN : v == value[k % count];
  }
  free(value);
  if (count > 2 && *own == NULL) return LAPIS_ENOMEM;
  if (count > 2) data->Y = lapis_mat_f64(*own, count, n);
  return LAPIS_OK;
}

static lapis_status all_folds(cli *c, const lapis_data *data,
                              const int64_t *fold, int64_t folds,
                              const char *spec, double *sum, int *count)
{
  lapis_data divided = *data;
  double *own = NULL;
  lapis_status s = divide_classes(&divided, &own);
  for (int64_t f = 0; s >= 0 && f < folds; f++)
    s = one_fold(c, &divided, fold, f, spec, sum, count);
  free(own);
  return s;
}

double baseline_cv(cli *c, const lapis_data *data, const lapis_cv *cv,
                   int64_t folds, const char *map, double *best_C)
{
  char spec[256];
  double sum[CANDIDATES] = {0}, best = NAN;
  int count[CANDIDATES] = {0};
  bool mapped = map != NULL && strcmp(map, "none") != 0;
  if (data->X.colptr != NULL)
    snprintf(spec, sizeof spec, "%s", mapped ? map : "none");
  else
    snprintf(spec, sizeof spec, "%s%sstandard", mapped ? map : "",
             mapped ? "," : "");
  if (all_folds(c, data, lapis_cv_folds(cv), folds, spec, sum, count) < 0)
    return NAN;
  for (int k = 0; k < CANDIDATES; k++) {
    double mean = count[k] > 0 ? sum[k] / count[k] : NAN;
    if (isnan(mean) || mean <= best) continue;
    best = mean;
    *best_C = candidates[k];
  }
  return best;
}
