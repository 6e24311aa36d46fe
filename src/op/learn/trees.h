/* trees.h - extremely randomised trees [GEW06], forests [B01] and boosted trees
 * [F01], of several labels, or numbers, at once. */
#ifndef LAPIS_TREES_H
#define LAPIS_TREES_H
#include "base/base.h"

typedef enum trees_kind {
  TREES_RANDOM, /* thresholds by lot, of all samples */
  TREES_FOREST, /* the best thresholds, of samples drawn with replacement */
  TREES_BOOSTED /* each of what those before leave over */
} trees_kind;
typedef struct trees_problem {
  trees_kind kind;
  bool numbers;         /* targets are numbers, not labels */
  bool classes;         /* one label of K is yes (boosted ones are a softmax) */
  const double *X;      /* d x n; a forest's, or boosted, may have gaps: NaN */
  const double *target; /* K x n: 1, -1, or NaN: not known; or numbers */
  const double *weight; /* n: a sample counts so often; or NULL: once */
  int64_t d, n, K;
  double share;  /* of features that a split tries; NaN: sqrt(d), of numbers
                  * d/3, of boosted ones all */
  double stored; /* bytes that the problem is made of (base_holds) */
  int64_t count, leaf; /* trees; the fewest samples of a leaf, or of weights the
                          least sum; 1: any sample */
  int64_t depth;       /* boosted: splits on the way to a leaf, at most */
  double rate;         /* of what would fit best a boosted tree adds so much */
} trees_problem;

/* A node: feature, threshold, first child; what is not above the threshold goes
 * to the first child, the rest to the one behind it; so does what is missing,
 * where the child's number is negative, else it goes to the first.  A leaf has
 * feature -1 and the number of its shares in place of a child. */
enum { TREES_FEATURE, TREES_THRESHOLD, TREES_CHILD, TREES_NODE };
typedef struct trees {
  int64_t K, count, nodes, leaves;
  bool scores;   /* boosted: the mean of shares is a score, in log-odds */
  double *root;  /* count: the number of each tree's first node */
  double *node;  /* TREES_NODE x nodes */
  double *share; /* K x leaves: of yes, in what reached the leaf; or the mean */
} trees;

/* Tree t depends on the data, the seed and t alone.  `later` is asked after
 * each tree but before the next, and says whether there is to be one. */
lapis_status trees_grow(lapis_ctx *ctx, const trees_problem *p,
                        bool (*later)(void *user), void *user, trees *out);
void trees_free(trees *t);
/* Mean shares, or numbers, p (K x n) of the samples X (d x n) that are asked;
 * asked NULL: of all. */
void trees_answer(const trees *t, const double *X, int64_t d, int64_t n,
                  const bool *asked, double *p);
/* Of shares: log p / (1 - p), where p is never nearer to 0 and 1 than half a
 * tree's vote. */
void trees_log_odds(const trees *t, double *p);

#endif
