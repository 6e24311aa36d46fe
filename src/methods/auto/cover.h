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
  double *floor;                      /* of c */
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
/* Says how many known labels lie in their sets, or intervals, as published by
 * s, and of which class the fewest do. */
lapis_status cover_remark(const cover *w, const comparison *r,
                          const lapis_data *data, const lapis_solver *s,
                          const char *method, bool numbers);
/* Says why what was asked for is not there: r NULL, or how a fit ended. */
void cover_remark_none(lapis_ctx *ctx, const comparison *r, lapis_status s,
                       const char *method, const char *what);
/* The class of label t of sample j, of numbers 0; -1: it is not known. */
int64_t cover_class(const comparison *r, int64_t t, int64_t j);
void cover_free(cover *w);

#endif
