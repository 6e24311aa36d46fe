/* select.h - folds, between the files of this folder. */
#ifndef LAPIS_SELECT_H
#define LAPIS_SELECT_H
#include "base/base.h"
#include "lapis/lapis_tools.h"
#include "mat/mat.h"

/* fold[j]: the fold that hides sample j, or -1 where it has no known target
 * and is never hidden.  block[j]: units (groups, samples) that are left out
 * together to see how much depends on them; a unit each while they are few. */
typedef struct fold_plan {
  int64_t folds, samples, blocks;
  int64_t *fold, *block;
  /* K x n, or NULL: the fold that hides each known label by itself; then every
   * fold hides something of most samples, and fold[j] is 0 or -1. */
  int64_t *cell;
  int64_t K;
} fold_plan;
/* The options as given, or the defaults where given is NULL. */
lapis_status cv_options_take(lapis_ctx *ctx, const lapis_cv_options *given,
                             lapis_cv_options *own);
lapis_status folds_draw(lapis_ctx *ctx, const lapis_data *data, int64_t folds,
                        lapis_folds_of of, fold_plan *out);
/* Label c of sample j is hidden by this fold. */
static inline bool fold_hides(const fold_plan *p, int64_t fold, int64_t c,
                              int64_t j)
{
  if (p->cell != NULL) return p->cell[j * p->K + c] == fold;
  return p->fold[j] == fold;
}
void folds_free(fold_plan *plan);

#endif
