/* select.h - folds, between the files of this folder. */
#ifndef LAPIS_SELECT_H
#define LAPIS_SELECT_H
#include "base/base.h"
#include "mat/mat.h"

/* fold[j]: the fold that hides sample j, or -1 where it has no known target
 * and is never hidden.  block[j]: units (groups, samples) that are left out
 * together to see how much depends on them; a unit each while they are few. */
typedef struct fold_plan {
  int64_t folds, samples, blocks;
  int64_t *fold, *block;
} fold_plan;
lapis_status folds_draw(lapis_ctx *ctx, const lapis_data *data, int64_t folds,
                        bool by_group, fold_plan *out);
void folds_free(fold_plan *plan);

/* Columns of `from` whose mark equals keep, packed, as new doubles that the
 * caller frees; *count of them. */
lapis_status columns_pick(lapis_ctx *ctx, const lapis_mat *from,
                          const bool *keep, double **memory, lapis_mat *out);

#endif
