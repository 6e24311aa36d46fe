/* fill.c - gaps of the features that the candidates of auto read, filled once
 * for all folds. */
#include <math.h>

#include "mat/mat.h"
#include "methods/auto/candidates.h"

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
  for (int64_t i = 0; i < X->rows; i++) {
    double sum = 0, seen = 0;
    for (int64_t j = 0; j < r->n; j++) {
      double v = to[j * X->rows + i];
      if (!isnan(v)) sum += v, seen++;
    }
    for (int64_t j = 0; j < r->n; j++)
      if (isnan(to[j * X->rows + i]))
        to[j * X->rows + i] = seen > 0 ? sum / seen : 0;
  }
  return LAPIS_OK;
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
  bool impute = r->imputes && map == 0;
  if (r->filled[map] == NULL)
    TRY(impute ? impute_gaps(r, map) : fill_means(r, map));
  *out = r->filled[map];
  return LAPIS_OK;
}
