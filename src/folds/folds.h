/* folds.h - which samples are hidden together, and the two parts they leave.
 *
 * Every choice that hidden samples make draws its folds here, so that groups
 * (bags, people, images) stay whole in all of them; tools/check-layers refuses
 * another place. */
#ifndef LAPIS_FOLDS_H
#define LAPIS_FOLDS_H
#include "base/base.h"

/* What folds are for: a stream of random numbers each. */
typedef enum fold_use {
  FOLDS_PLATT = 77, /* probabilities of svmplus */
  FOLDS_RR = 78,    /* settings of rr and rlda */
  FOLDS_BAGS = 79,  /* the threshold of misvm */
  FOLDS_CELLS = 0x63656c6c,
  FOLDS_CV = 0x666f6c64
} fold_use;

/* fold[j]: the fold that hides sample j, or -1 where it has no known target
 * and is never hidden.  unit[j]: what it is hidden with and errs with, a group
 * or itself, below units; else 0.  block[j]: units that are left out together
 * to see how much depends on them; a unit each while they are few. */
typedef struct fold_plan {
  int64_t folds, samples, units, blocks;
  int64_t *fold, *unit, *block;
  /* K x n, or NULL: the fold that hides each known label by itself; then every
   * fold hides something of most samples, and fold[j] is 0 or -1. */
  int64_t *cell;
  int64_t K;
} fold_plan;

/* n samples; where they are divided among processes, of this one, without Y.
 */
typedef struct fold_draw {
  const char *method; /* which is named where folds are refused */
  fold_use use;
  int64_t samples, folds;
  const int64_t *group; /* n: stays whole; NULL: every sample by itself */
  /* Its labels, or classes, are spread evenly; NULL: every sample has a target,
   * and all are alike. */
  const lapis_mat *Y;
  bool cells;    /* known labels of Y are hidden one by one */
  bool or_fewer; /* as many folds as there are units, if they are fewer */
} fold_draw;

/* LAPIS_EINVAL where there are not so many units.  or_fewer: then out->folds
 * may be 1 or 0, which hides nothing that others could predict. */
lapis_status folds_draw(lapis_ctx *ctx, const fold_draw *how, fold_plan *out);
void folds_free(fold_plan *plan);
/* A note that groups are whole in them, where there are any; a warning where
 * there is but one. */
void folds_say_groups(lapis_ctx *ctx, const fold_draw *how,
                      const fold_plan *plan);
/* Label c of sample j is hidden by this fold. */
static inline bool fold_hides(const fold_plan *p, int64_t fold, int64_t c,
                              int64_t j)
{
  if (p->cell != NULL) return p->cell[j * p->K + c] == fold;
  return p->fold[j] == fold;
}

/* ---- parts (take.c) -----------------------------------------------------*/
/* Some of the samples: X, Y, P as doubles, groups and weights. */
typedef struct fold_part {
  lapis_data data;
  double *memory[3], *weight;
  int64_t *group;
} fold_part;
/* Those that are marked; on failure, too, it has to be freed. */
lapis_status folds_take(lapis_ctx *ctx, const lapis_data *from,
                        const bool *marks, fold_part *out);
/* What a fold hides, and what it shows. */
lapis_status folds_split(lapis_ctx *ctx, const lapis_data *from,
                         const fold_plan *plan, int64_t fold, fold_part *hidden,
                         fold_part *shown);
void fold_part_free(fold_part *part);

#endif
