/* fill.c - gaps of the features that the candidates of auto read, filled once
 * for all folds. */
#include <math.h>
#include <string.h>

#include "mat/mat.h"
#include "methods/auto/candidates.h"

/* ---- samples of which nothing is known -----------------------------------*/
static int64_t blank_rows(const lapis_mat *X)
{
  int64_t count = 0;
  for (int64_t j = 0; j < X->cols; j++) count += mat_is_blank(X, j, false);
  return count;
}

static void put_real(lapis_mat *A, int64_t i, int64_t j, double value)
{
  int64_t k = j * A->ld + i;
  if (A->dtype == LAPIS_F32)
    ((float *)A->val)[k] = (float)value;
  else
    ((double *)A->val)[k] = value;
}

static lapis_status put_means(lapis_ctx *ctx, lapis_mat *X)
{
  double *mean = base_alloc(ctx, 2 * X->rows, sizeof *mean);
  if (mean == NULL) return LAPIS_ENOMEM;
  mat_moments of = {X->rows, mean + X->rows, mean, NULL};
  lapis_status s = mat_measure(ctx, X, NULL, &of);
  for (int64_t j = 0; j < X->cols && s >= 0; j++) {
    if (!mat_is_blank(X, j, false)) continue;
    for (int64_t i = 0; i < X->rows; i++) put_real(X, i, j, mean[i]);
  }
  base_free(mean);
  return s;
}

lapis_status fill_blank_rows(lapis_ctx *ctx, lapis_mat *X, void **memory)
{
  *memory = NULL;
  if (X->colptr != NULL || X->rows == 0) return LAPIS_OK;
  int64_t missing = lapis_mat_missing(X);
  int64_t blank = missing == 0 ? 0 : blank_rows(X);
  if (blank == 0 || blank == X->cols || missing != blank * X->rows)
    return LAPIS_OK;
  *memory = mat_packed(ctx, X, false);
  if (*memory == NULL) return LAPIS_ENOMEM;
  X->val = *memory;
  X->ld = X->rows;
  return put_means(ctx, X);
}

/* ---- features that candidates read ---------------------------------------*/
const char *race_map_filled(const comparison *r, int map)
{
  if (strcmp(r->map[map], RACE_TRIMMED) == 0) return RACE_TRIMMED ",impute";
  return map == 0 && r->imputes ? r->imputing : r->map[map];
}

bool race_imputes(const comparison *r, int map)
{
  return race_map_filled(r, map) != r->map[map];
}

/* Gaps hold what the seen features of a sample tell. */
static lapis_status impute_gaps(comparison *r, int map)
{
  lapis_map *impute;
  lapis_mat unused;
  TRY(lapis_map_new(r->ctx, "impute", &impute));
  lapis_status s = lapis_map_fit(r->ctx, impute, &r->X[map]);
  if (s >= 0)
    s = lapis_map_make(r->ctx, impute, &r->X[map], &r->filled[map], &unused);
  lapis_map_free(impute);
  return s;
}

/* Gaps hold the feature's mean. */
static lapis_status fill_means(comparison *r, int map)
{
  const lapis_mat *X = &r->X[map];
  double *to = base_alloc_raw(r->ctx, X->rows * r->n, sizeof *to);
  r->filled[map] = to;
  if (to == NULL) return LAPIS_ENOMEM;
  mat_to_f64(X, to, X->rows);
  double *mean = base_alloc(r->ctx, 2 * X->rows, sizeof *mean);
  if (mean == NULL) return LAPIS_ENOMEM;
  mat_moments of = {X->rows, mean + X->rows, mean, NULL};
  lapis_status s = mat_measure(r->ctx, X, NULL, &of);
  for (int64_t k = 0; k < X->rows * r->n; k++)
    if (isnan(to[k])) to[k] = mean[k % X->rows];
  base_free(mean);
  return s;
}

lapis_status candidates_raw(comparison *r, int map, const double **out)
{
  const lapis_mat *X = &r->X[map];
  if (r->raw[map] == NULL)
    r->raw[map] = base_alloc_raw(r->ctx, X->rows * X->cols, sizeof(double));
  *out = r->raw[map];
  if (*out == NULL) return LAPIS_ENOMEM;
  mat_to_f64(X, r->raw[map], X->rows);
  return LAPIS_OK;
}

lapis_status candidates_fill(comparison *r, int map, const double **out)
{
  if (r->filled[map] == NULL)
    TRY(race_imputes(r, map) ? impute_gaps(r, map) : fill_means(r, map));
  *out = r->filled[map];
  return LAPIS_OK;
}
