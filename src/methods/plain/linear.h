/* linear.h - logistic regression and trees, between their files.
 *
 *   symbol                                        shape
 *   X     features, gaps filled by their means    d x n, dense or sparse
 *   W     weights, the offset last                (d + 1) x K
 *   fill  means of the features as observed       d */
#ifndef LAPIS_LINEAR_H
#define LAPIS_LINEAR_H
#include "base/param.h"
#include "la/backend.h"
#include "mat/mat.h"
#include "op/learn/trees.h"
#include "solver/solver.h"

extern const lapis_method linear_method, linear_predict_method;
extern const lapis_method trees_method, trees_predict_method;
/* method_new_fn (base/param.h); callers from outside go by methods.c. */
lapis_status linear_new(lapis_ctx *ctx, const lapis_data *data,
                        const void *settings, lapis_solver **out);
lapis_status linear_predict_new(lapis_ctx *ctx, const lapis_data *data,
                                const void *settings, const named_list *learned,
                                const void *options, lapis_solver **out);
lapis_status trees_new(lapis_ctx *ctx, const lapis_data *data,
                       const void *settings, lapis_solver **out);
lapis_status trees_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const void *settings, const named_list *learned,
                               const void *options, lapis_solver **out);

/* method_holds_fn (methods/method_entry.h) */
double linear_holds(const solver_size *z, const void *settings);
double trees_holds(const solver_size *z, const void *settings);

/* What all answer with: from weights, or trees, to labels. */
typedef struct linear_answer {
  targets labels; /* sign is not read */
  bool numbers;   /* are predicted, in place of labels */
  double gaps;    /* 1: those of X stay */
  double *Y;      /* K x n, of numbers: NaN where not known */
  int64_t d, n, K;
  double made_of;       /* bytes (mat_made_of) */
  bool sparse;          /* a sparse X may stay so */
  lapis_mat X;          /* d x n doubles */
  const double *weight; /* n, of data: borrowed; or NULL */
  double *calibration;  /* 2 x K, or NULL: as the fit has them */
  double *scores, *probabilities, *decided;
} linear_answer;
/* Room for the answers, from the solver's arena. */
lapis_status linear_answer_alloc(lapis_solver *s, linear_answer *a);
/* X in a->X, where what is missing becomes fill, or stays. */
lapis_status linear_fill(lapis_solver *s, const lapis_mat *X,
                         const double *fill, linear_answer *a);
/* scores, probabilities, labels and classes, published. */
void linear_answer_give(lapis_solver *s, linear_answer *a, const double *W);
void trees_answer_give(lapis_solver *s, linear_answer *a, const trees *t);
/* Before solving: what a fit and a model have in common. */
lapis_status linear_check(lapis_ctx *ctx, const char *method,
                          const lapis_data *data);
/* What is known of data into a, which is all 0: labels of samples whose weight
 * is above 0, X without gaps; fill: d means, from the arena. */
lapis_status linear_begin(lapis_solver *s, linear_answer *a,
                          const lapis_data *data, double **fill);
/* solver_class's calibrate. */
lapis_status linear_calibrate(lapis_solver *s, linear_answer *a,
                              const lapis_mat *from);
/* What every model of them holds. */
void linear_learn(named_list *to, const linear_answer *a, const double *fill,
                  double *kind);
lapis_status linear_bad_model(lapis_ctx *ctx, const char *method);
/* Answers for data by such a model of a->d features and a->K labels; what is
 * missing is filled as in the fit. */
lapis_status linear_take_model(lapis_solver *s, linear_answer *a,
                               const lapis_data *data,
                               const named_list *learned);

#endif
