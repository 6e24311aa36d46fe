/* predict.h - answers for new samples from rpca, rr and rlda models. */
#ifndef LAPIS_RR_PREDICT_H
#define LAPIS_RR_PREDICT_H
#include "base/param.h"
#include "base/solver.h"

extern const lapis_method rpca_predict_method, rr_predict_method,
    rlda_predict_method;
/* method_predict_fn of src/solve/methods.h */
lapis_status rpca_predict_new(lapis_ctx *ctx, const lapis_data *data,
                              const void *settings, const named_list *learned,
                              const void *options, lapis_solver **out);
lapis_status rr_predict_new(lapis_ctx *ctx, const lapis_data *data,
                            const void *settings, const named_list *learned,
                            const void *options, lapis_solver **out);

/* labels (rows of signs x n) by the vote of the k training samples nearest in
 * the projected space (scores: m x n, train: m x N); signs m' x N; value as in
 * targets.  near: room for k indices, far: for k distances. */
typedef struct knn_task {
  const lapis_mat *train, *signs, *value;
  int64_t k;
  int64_t *near;
  double *far;
} knn_task;
void knn_labels(const knn_task *t, const double *scores, int64_t n,
                bool classes, double *labels);

#endif
