/* units.c - the scale of features that are to be completed.
 *
 * All squared errors weigh alike: of columns in kilometres and millimetres only
 * one is completed.  Where X has gaps and the deviations of its features differ
 * by more than TIMES, that is said. */
#include <math.h>

#include "mat/mat.h"

static const double TIMES = 10;
enum { SEEN = 10 }; /* cells, or as many as any feature has */

lapis_status mat_say_units(lapis_ctx *ctx, const char *method,
                           const lapis_mat *X)
{
  double enough = 0, least = INFINITY, most = 0;
  if (X->colptr != NULL || base_ranks(ctx) > 1 || base_muted(ctx) > 0 ||
      lapis_mat_missing(X) == 0)
    return LAPIS_OK;
  int64_t d = X->rows;
  double *room = base_alloc(ctx, 3 * d, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  mat_moments of = {d, room, room + d, room + 2 * d};
  lapis_status s = mat_measure(ctx, X, NULL, &of);
  for (int64_t i = 0; i < d; i++) enough = fmax(enough, of.count[i]);
  enough = fmin(enough, SEEN);
  for (int64_t i = 0; i < d; i++) {
    double size = of.deviation[i];
    if (of.count[i] < enough || !(size > 0)) continue; /* constant: no unit */
    least = fmin(least, size);
    most = fmax(most, size);
  }
  base_free(room);
  TRY(s);
  if (most > TIMES * least)
    base_note(ctx, BASE_WARNING, "units-differ",
              "%s: deviations of features from %.3g to %.3g: the largest "
              "decide; %s",
              method, least, most,
              base_door(ctx, "divide each by its own: --map standard",
                        "divide each by its own"));
  return LAPIS_OK;
}
