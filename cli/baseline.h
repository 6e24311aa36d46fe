/* baseline.h - the rival every answer is compared with: a linear SVM (L2
 * regularised, hinge loss) by LIBLINEAR, where that is built in. */
#ifndef LAPIS_BASELINE_H
#define LAPIS_BASELINE_H
#include "cli.h"

bool baseline_built(void);
/* Learns from the samples whose y is known (the larger of two values is
 * positive) and scores all: X d x n doubles, dense or sparse, without NaN, y
 * and scores n.  false: no memory, or y has one kind only. */
bool baseline_scores(const lapis_mat *X, const double *y, double C,
                     double *scores);
/* The best C's AUROC on the folds of a cross-validation, mean over folds and
 * classes; features standardised on the training part, missing ones at their
 * mean.  NaN where it cannot be had. */
double baseline_cv(cli *c, const lapis_data *data, const lapis_cv *cv,
                   int64_t folds, const char *map, double *best_C);

#endif
