/* linear.h - logistic regression, between its files.
 *
 *   symbol                                        shape
 *   X     features, gaps filled by their means    d x n
 *   W     weights, the offset last                (d + 1) x K
 *   fill  means of the features as observed       d */
#ifndef LAPIS_LINEAR_H
#define LAPIS_LINEAR_H
#include "base/param.h"
#include "base/solver.h"
#include "la/backend.h"
#include "mat/mat.h"

extern const lapis_method linear_method, linear_predict_method;
/* method_new_fn (base/param.h); callers from outside go by methods.c. */
lapis_status linear_new(lapis_ctx *ctx, const lapis_data *data,
                        const void *settings, lapis_solver **out);
lapis_status linear_predict_new(lapis_ctx *ctx, const lapis_data *data,
                                const void *settings, const named_list *learned,
                                const void *options, lapis_solver **out);

/* What both answer with: from weights to labels. */
typedef struct linear_answer {
  targets labels; /* sign is not read */
  int64_t d, n, K;
  double *X;           /* d x n */
  double *calibration; /* 2 x K, or NULL: as the fit has them */
  double *scores, *probabilities, *decided;
} linear_answer;
/* Room for the answers, from the solver's arena. */
lapis_status linear_answer_alloc(lapis_solver *s, linear_answer *a);
/* X without gaps: what is missing becomes fill. */
void linear_fill(const lapis_mat *X, const double *fill, double *to);
/* scores, probabilities, labels and classes, published. */
void linear_answer_give(lapis_solver *s, linear_answer *a, const double *W);

#endif
