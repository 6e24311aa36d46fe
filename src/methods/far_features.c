/* far_features.c - cells of features that are far from all others of their
 * feature, as slipped decimals and codes for unknown are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lapis/tools.h"
#include "mat/far.h"
#include "mat/mat.h"
#include "methods/common_remarks.h"

typedef struct far_found {
  int64_t cells, features;
  int64_t feature, sample; /* of the first one */
  int64_t heaps;           /* features of two heaps */
  int64_t of, count;       /* the first, its upper heap */
  double end, begin;       /* of its lower and upper heap */
} far_found;

static void look_for_heaps(const double *sorted, int64_t n, int64_t i,
                           far_found *all)
{
  int64_t upper = mat_upper_heap(sorted, n);
  if (upper == 0 || all->heaps++ > 0) return;
  all->of = i;
  all->count = n - upper;
  all->end = sorted[upper - 1];
  all->begin = sorted[upper];
}

/* Of feature i; sorted: room for all samples. */
static void look(const lapis_mat *X, int64_t i, double *sorted, far_found *all)
{
  int64_t n = 0, j = 0;
  double low, high;
  for (int64_t k = 0; k < X->cols; k++) {
    double x = lapis_mat_at(X, i, k);
    if (!isnan(x)) sorted[n++] = x;
  }
  qsort(sorted, (size_t)n, sizeof *sorted, base_ascending);
  int64_t count = mat_count_apart(sorted, n, X->rows, &low, &high);
  look_for_heaps(sorted, n, i, all);
  if (count == 0) return;
  all->cells += count;
  if (all->features++ > 0) return;
  while (!(lapis_mat_at(X, i, j) < low || lapis_mat_at(X, i, j) > high)) j++;
  all->feature = i;
  all->sample = j;
}

static void say_heaps(lapis_ctx *ctx, const char *method,
                      const lapis_data *data, const far_found *all)
{
  char name[REMARK_VALUE], more[64] = "";
  if (all->heaps == 0) return;
  if (all->heaps > 1)
    (void)snprintf(more, sizeof more,
                   "; so are those of %" PRId64 " feature(s) more",
                   all->heaps - 1);
  base_note(ctx, BASE_WARNING, "two-heaps",
            "%s: %" PRId64 " values of %s are %g and more, all others at most "
            "%g: are they in one unit?%s",
            method, all->count, remark_feature(data, all->of, name), all->begin,
            all->end, more);
}

lapis_status remark_far(lapis_ctx *ctx, const char *method, const char *map,
                        const lapis_data *data)
{
  static const double MOST = 1e7; /* cells that are sorted */
  const lapis_mat *X = &data->X;
  char name[REMARK_VALUE];
  far_found all = {.cells = 0};
  if (lapis_param_find(lapis_method_find(method), "map") == NULL ||
      (map != NULL && strstr(map, "trim") != NULL) || X->colptr != NULL ||
      (double)X->rows * (double)X->cols > MOST || base_ranks(ctx) > 1 ||
      base_muted(ctx) > 0)
    return LAPIS_OK;
  double *sorted = base_alloc_raw(ctx, X->cols, sizeof *sorted);
  if (sorted == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < X->rows; i++) look(X, i, sorted, &all);
  base_free(sorted);
  say_heaps(ctx, method, data, &all);
  if (all.cells == 0) return LAPIS_OK;
  base_note(ctx, BASE_WARNING, "far-cells",
            "%s: %" PRId64 " cell%s far from all others of %s, as slipped "
            "decimals and codes for unknown are: %s%s is %g in row %" PRId64
            "; {map trim} takes such as unknown",
            method, all.cells, all.cells > 1 ? "s are" : " is",
            all.features > 1 ? "their features" : "the feature",
            all.cells > 1 ? "first " : "",
            remark_feature(data, all.feature, name),
            lapis_mat_at(X, all.feature, all.sample),
            base_row(ctx, all.sample, X->cols));
  return LAPIS_OK;
}
