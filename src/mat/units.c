/* units.c - the scale of features that are to be completed.
 *
 * All squared errors weigh alike: of columns in kilometres and millimetres only
 * one is completed.  Where X has gaps and the deviations of its features differ
 * by more than TIMES, that is said. */
#include <math.h>

#include "mat/mat.h"

static const double TIMES = 10;
enum { SEEN = 10 }; /* cells, or as many as any feature has */

typedef struct feature {
  double mean, squares, count; /* of the known cells */
} feature;

static void measure(const lapis_mat *X, feature *of)
{
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) {
      double v = lapis_mat_at(X, i, j), off = v - of[i].mean;
      if (isnan(v)) continue;
      of[i].mean += off / ++of[i].count;
      of[i].squares += off * (v - of[i].mean);
    }
}

lapis_status mat_say_units(lapis_ctx *ctx, const char *method,
                           const lapis_mat *X)
{
  double enough = 0, least = INFINITY, most = 0;
  if (X->colptr != NULL || base_ranks(ctx) > 1 || base_muted(ctx) > 0 ||
      lapis_mat_missing(X) == 0)
    return LAPIS_OK;
  feature *of = base_alloc(ctx, X->rows, sizeof *of);
  if (of == NULL) return LAPIS_ENOMEM;
  measure(X, of);
  for (int64_t i = 0; i < X->rows; i++) enough = fmax(enough, of[i].count);
  enough = fmin(enough, SEEN);
  for (int64_t i = 0; i < X->rows; i++) {
    double size = sqrt(of[i].squares / of[i].count);
    if (of[i].count < enough || !(size > 0)) continue; /* constant: no unit */
    least = fmin(least, size);
    most = fmax(most, size);
  }
  base_free(of);
  if (most > TIMES * least)
    base_note(ctx, BASE_WARNING, "units-differ",
              "%s: deviations of features from %.3g to %.3g: the largest "
              "decide; {map standard} puts them on one scale",
              method, least, most);
  return LAPIS_OK;
}
