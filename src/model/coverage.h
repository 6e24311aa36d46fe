/* coverage.h - sets of classes, and intervals, that hold the truth in a stated
 * share of new samples: cross-conformal sets and CV+.
 *
 * Known labels are held out in folds.  S_i, of n of them, is how far label i is
 * from what the fit without its fold says: 1 - p of its class, or |y - f|.
 * Class y stays in the set of a new sample x where [RSC20]
 *
 *   #{i: S_i < s(x, y; fit without i)} < (1 - a) (n + 1),
 *
 * and its interval is from the floor(a (n + 1))-th smallest f(x; without i) -
 * S_i to the ceil((1 - a) (n + 1))-th f(x; without i) + S_i [BCRT21].  Both
 * hold the truth with probability 1 - 2 a - sqrt(2 / n) at least, whatever the
 * data, and 1 - a where leaving a fold out changes little.  What is answered
 * stays inside, which only widens.
 *
 * Samples with many gaps are predicted worse.  Those that lack half of the
 * features, three quarters or all are held against scores of samples that do,
 * too; where these are too few, all classes stay and no interval ends.  Where
 * no known number is below 0 none is thought to be. */
#ifndef LAPIS_COVERAGE_H
#define LAPIS_COVERAGE_H
#include "model/model.h"

enum { COVERAGE_FOLDS = 10, COVERAGE_GAPS = 4 };
typedef enum coverage_kind {
  COVERAGE_PAIRS, /* K labels of two values, p of the larger one */
  COVERAGE_CLASSES,
  COVERAGE_NUMBERS
} coverage_kind;
typedef struct coverage {
  coverage_kind kind;
  double share; /* 1 - a; 0: nothing is wanted */
  bool by_class;
  int64_t folds, K;    /* K: rows of what is said */
  const double *value; /* of Y: of each class, or of no and yes */
  const double *score; /* 3 x count: list, S_i, and level of gaps */
  const double *floor; /* K: no number is below; NULL: that is not known */
  int64_t count;
} coverage;
/* Targets, and classes of each. */
static inline int64_t coverage_targets(const coverage *c)
{
  return c->kind == COVERAGE_CLASSES ? 1 : c->K;
}
static inline int64_t coverage_values(const coverage *c)
{
  return c->kind == COVERAGE_CLASSES ? c->K : c->kind == COVERAGE_PAIRS ? 2 : 1;
}
/* Scores of one target, class and fold. */
static inline int64_t coverage_list(const coverage *c, int64_t target,
                                    int64_t value, int64_t fold)
{
  return (target * coverage_values(c) + value) * c->folds + fold;
}
/* How far class v of target t is from what is said of sample j. */
double coverage_miss(const coverage *c, const lapis_mat *said, int64_t t,
                     int64_t v, int64_t j);
/* What a fit says: K x n. */
lapis_status coverage_said(const coverage *c, const lapis_solver *s,
                           lapis_mat *out);
/* Of a dense sample: 0, and from 1 on half, three quarters or all of what is
 * known of it is missing.  begins: which features begin a column of a table,
 * whose words are one thing that is known. */
int coverage_gaps(const lapis_mat *X, const bool *begins, int64_t j);
/* Of the features of data; NULL: no memory. */
bool *coverage_begins(lapis_ctx *ctx, const lapis_data *data);
/* The least n of which a share can be had. */
double coverage_least(const coverage *c);
/* Of n scores the one that decides, in order. */
int64_t coverage_rank(const coverage *c, int64_t n);

/* classes_kept and kept_values, or set_low and set_high, of `to`, by what
 * `answer` says of samples X and the fits without a fold.  own (targets x n, or
 * NULL): the fold of a label that was held out, -1 of others. */
lapis_status coverage_publish(lapis_solver *to, const coverage *c,
                              const lapis_data *data,
                              const lapis_solver *answer,
                              lapis_solver *const *fold, const int64_t *own);

/* Into and from a model; share 0: it has none. */
lapis_status coverage_keep(lapis_ctx *ctx, lapis_model *m, const coverage *c);
lapis_status coverage_read(lapis_ctx *ctx, const lapis_model *m, coverage *c);
/* Answers as `answer` does of X (borrowed), with sets.  Takes the solvers, on
 * failure too. */
lapis_status coverage_new(lapis_ctx *ctx, const coverage *c,
                          const lapis_data *data, lapis_solver *answer,
                          lapis_solver *const *fold, lapis_solver **out);

#endif
