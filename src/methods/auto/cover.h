/* cover.h - what who answers says of known labels when it learns without them:
 * of sets and intervals (model/coverage.h). */
#ifndef LAPIS_AUTO_COVER_H
#define LAPIS_AUTO_COVER_H
#include "methods/auto/compare.h"
#include "model/coverage.h"

typedef struct cover {
  coverage c;
  lapis_solver *fold[COVERAGE_FOLDS]; /* fitted without it */
  double *Y[COVERAGE_FOLDS], *score;  /* behind them */
  int64_t *own;                       /* targets x n: the fold of a label */
} cover;
/* Candidate i as the race ran it, fitted once without each of so many folds,
 * which hide what belongs together as the race's do.  A class is never hidden
 * whole: labels that would be have the largest score.  LAPIS_EINVAL where there
 * are fewer than two folds. */
lapis_status cover_fit(lapis_ctx *ctx, const comparison *r, int i,
                       const lapis_data *data, const lapis_mc_settings *like,
                       int64_t folds, cover *w);
/* The fits without a fold, and scores, into the model of the whole. */
lapis_status cover_teach(lapis_ctx *ctx, const cover *w, lapis_model *m);
/* Of known labels, held out: the share that lie in their sets as published by
 * s, and how many classes, or how much, these hold on average (endless
 * intervals apart); and the value of a label whose share is least. */
typedef struct cover_figures {
  double inside, size;
  int64_t target, count; /* count: known labels of that value; of numbers 0 */
  double value, least;
} cover_figures;
lapis_status cover_measure(lapis_ctx *ctx, const cover *w, const comparison *r,
                           const lapis_data *data, const lapis_solver *s,
                           cover_figures *out);
/* Too few labels are known of a target, or of its classes, for such a share. */
bool cover_is_short(const cover *w);
void cover_free(cover *w);

#endif
