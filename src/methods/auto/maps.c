/* maps.c - the maps that the candidates of auto read features through: the
 * variant's own, and another where features are counts, have one unit or hold
 * cells far from the others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mat/mat.h"
#include "methods/auto/candidates.h"
#include "methods/method_entry.h"
#include "op/map/map.h"

static const double MOST_ENTRIES = 5e7;   /* a sparse X that is made dense */
static const double MOST_COMPLETED = 1e7; /* entries kept a fold */
static const double FEW_FAR = .005;       /* cells that need no candidates */

/* ---- which ---------------------------------------------------------------*/
/* Counts: whole numbers, none below 0, zeros in most samples. */
static bool are_counts(const lapis_mat *X)
{
  int64_t with_zero = 0;
  for (int64_t j = 0; j < X->cols; j++) {
    bool zero = false;
    for (int64_t i = 0; i < X->rows; i++) {
      double v = lapis_mat_at(X, i, j);
      if (v < 0 || v != rint(v)) {
        if (!isnan(v)) return false;
      }
      zero |= v == 0;
    }
    with_zero += zero;
  }
  return 2 * with_zero > X->cols;
}

/* l1 needs whole samples: a sample with gaps has no total. */
static bool has_gaps(const lapis_mat *X)
{
  return lapis_mat_missing(X) > 0;
}

/* scale:NUMBER that brings the mean of what is known of a sparse X to 10: of
 * scale:auto what X leaves out is 0. */
static const char *scale_stored(comparison *r, const lapis_mat *X)
{
  double sum = 0, count = 0;
  for (int64_t k = X->colptr[0]; k < X->colptr[X->cols]; k++) {
    double x = mat_stored(X, k);
    if (isnan(x)) continue;
    sum += fabs(x);
    count++;
  }
  if (r->set.absent == LAPIS_ABSENT_ZERO)
    count = (double)X->rows * (double)X->cols;
  double times = 10 * count / sum;
  if (!(isnormal(times) && times > 0)) return "none";
  snprintf(r->scaled, sizeof r->scaled, "scale:%.3g", times);
  return r->scaled;
}

/* Light, or any factor of a sample's own, leaves the shares of what it
 * multiplies: of features that have one unit and are nowhere below 0. */
static lapis_status have_lengths(comparison *r, const lapis_mat *X, bool *out)
{
  *out = false;
  if (!r->o.linear || r->o.numbers || X->colptr != NULL || has_gaps(X))
    return LAPIS_OK;
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++)
      if (lapis_mat_at(X, i, j) < 0) return LAPIS_OK;
  return mat_one_unit(r->ctx, X, out);
}

/* Numbers are told by features without what is far from the others, too, where
 * some cells are; where a run is repeated, as it was. */
static lapis_status have_far(comparison *r, const lapis_mat *X, bool *out)
{
  const char *as = r->o.named_as;
  double cells = (double)X->rows * (double)X->cols, *memory = NULL;
  lapis_map *trim;
  lapis_mat near;
  *out = as != NULL && strstr(as, RACE_TRIMMED) != NULL;
  if (!r->o.numbers || r->own_map != NULL || X->colptr != NULL || as != NULL ||
      cells > MOST_COMPLETED)
    return LAPIS_OK;
  TRY(lapis_map_new(r->ctx, "trim", &trim));
  lapis_status s = lapis_map_fit(r->ctx, trim, X);
  if (s >= 0) s = lapis_map_make(r->ctx, trim, X, &memory, &near);
  if (s >= 0)
    *out = (double)(lapis_mat_missing(&near) - lapis_mat_missing(X)) >
           FEW_FAR * cells;
  lapis_map_free(trim);
  free(memory);
  return s;
}

static lapis_status choose_maps(comparison *r, const lapis_mat *X)
{
  bool huge = (double)X->rows * (double)X->cols > MOST_ENTRIES;
  bool sparse =
      X->colptr != NULL && (huge || r->set.absent == LAPIS_ABSENT_MISSING);
  const variant_maps *of = candidates_maps(r->set.variant);
  bool counts = of->counts && X->rows > 2, lengths = false, far;
  r->n_maps = 1;
  r->map[0] = of->map;
  if (r->own_map != NULL)
    r->map[0] = r->own_map;
  else if (sparse)
    r->map[0] = of->sparse == NULL ? scale_stored(r, X) : of->sparse;
  else if (counts && !has_gaps(X) && are_counts(X))
    r->counts = true;
  else if (counts)
    TRY(have_lengths(r, X, &lengths));
  if (r->counts || lengths)
    r->map[r->n_maps++] = r->counts ? "l1-sqrt,standard" : "l2,standard";
  TRY(have_far(r, X, &far));
  if (far && r->n_maps < MOST_MAPS) r->map[r->n_maps++] = RACE_TRIMMED;
  return LAPIS_OK;
}

/* A plain candidate reads all of X, gaps filled. */
static bool plain_can_read(const lapis_mat *X, const lapis_mc_settings *set)
{
  if (X->colptr == NULL) return true;
  return set->absent == LAPIS_ABSENT_ZERO &&
         (double)X->rows * (double)X->cols <= MOST_ENTRIES;
}

/* An mc fills gaps better than means do, as does `impute`, where there are
 * some.
 */
static bool may_fill(const comparison *r, const lapis_mat *X)
{
  bool dense = X->colptr == NULL;
  return r->o.mc && (r->o.linear || r->o.trees) && dense && has_gaps(X) &&
         (double)X->rows * (double)X->cols <= MOST_COMPLETED;
}

static lapis_status name_imputing(comparison *r)
{
  static const char more[] = ",impute";
  size_t size = strlen(r->map[0]) + sizeof more;
  if (!r->imputes || r->imputing != NULL) return LAPIS_OK;
  r->imputing = base_alloc(r->ctx, (int64_t)size, 1);
  if (r->imputing == NULL) return LAPIS_ENOMEM;
  snprintf(r->imputing, size, "%s%s", r->map[0], more);
  return LAPIS_OK;
}

/* Everybody who runs reads X by the shift. */
static bool may_shift(const comparison *r, const lapis_mat *X)
{
  return r->o.mc && r->o.bags == NULL && !r->o.linear && !r->o.trees &&
         !r->o.numbers && method_reads(lapis_method_find("mc"), &r->set, X);
}

static lapis_status find_shift(comparison *r, int k, int64_t d)
{
  double *off = base_alloc(r->ctx, 2 * d, sizeof *off);
  if (off == NULL) return LAPIS_ENOMEM;
  if (map_shift(r->fitted[k], d, off, off + d))
    r->shift[k] = (mat_shift){off, off + d};
  else
    base_free(off);
  return LAPIS_OK;
}

/* A race that runs again has its maps. */
static lapis_status make_map(comparison *r, int k, const lapis_mat *X)
{
  r->X[k] = *X;
  if (strcmp(r->map[k], "none") == 0) return LAPIS_OK;
  if (r->fitted[k] == NULL) {
    lapis_map *map;
    TRY(lapis_map_new(r->ctx, r->map[k], &map));
    r->fitted[k] = map;
    TRY(lapis_map_fit(r->ctx, map, X));
    if (may_shift(r, X)) TRY(find_shift(r, k, X->rows));
  }
  if (race_shift(r, k) != NULL) return LAPIS_OK;
  return lapis_map_make(r->ctx, r->fitted[k], X, &r->memory[k], &r->X[k]);
}

void race_free_maps(comparison *r)
{
  for (int k = 0; k < MOST_MAPS; k++) {
    lapis_map_free(r->fitted[k]);
    base_free((double *)r->shift[k].off);
  }
}

lapis_status race_make_maps(comparison *r, const lapis_mat *X)
{
  TRY(choose_maps(r, X));
  r->o.linear = r->o.linear && plain_can_read(X, &r->set);
  r->o.trees = r->o.trees && plain_can_read(X, &r->set);
  r->fills = may_fill(r, X);
  for (int k = 0; k < r->n_maps; k++) TRY(make_map(r, k, X));
  bool may = r->fills || (r->o.numbers && X->colptr == NULL &&
                          (double)X->rows * (double)X->cols <= MOST_COMPLETED);
  r->imputes = may && has_gaps(&r->X[0]);
  return name_imputing(r);
}
