/* bagged.h - bags of instances, answered as one sample each. */
#ifndef LAPIS_BAGGED_H
#define LAPIS_BAGGED_H
#include "mat/bags.h"
#include "solver/solver.h"

/* Who has answered.  Bags: by their statistics, or, where that is NULL, by the
 * largest score of their instances, through a sigmoid. */
typedef struct bagged_by {
  const bag_list *list;
  int64_t n;                            /* instances */
  const lapis_solver *bags, *instances; /* one of them may be NULL */
  bool compared;               /* what is hidden has said probabilities */
  bool turned;                 /* instances are positive for no */
  double sigmoid[2], value[2]; /* slope and bias; no and yes */
} bagged_by;
/* As results of s, a column an instance: scores, probabilities, labels and
 * classes of its bag; and its own, instance_scores and instance_labels. */
lapis_status bagged_publish(lapis_solver *s, const bagged_by *by);

/* Results of a model, by solvers of statistics X and of instances, either of
 * which may be NULL; takes all it is given, whatever comes of it. */
lapis_status bagged_new(lapis_ctx *ctx, bag_list *list, double *X,
                        const bagged_by *by, lapis_solver *bags,
                        lapis_solver *instances, lapis_solver **out);
/* What a model keeps of `by`: calibration and values. */
typedef struct lapis_model lapis_model;
lapis_status bagged_learn(lapis_ctx *ctx, const bagged_by *by, lapis_model *m);
lapis_status bagged_read(lapis_ctx *ctx, const lapis_model *m, bagged_by *by);

#endif
