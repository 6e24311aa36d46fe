/* bags.h - samples by group, and what a bag of instances is as one sample. */
#ifndef LAPIS_BAGS_H
#define LAPIS_BAGS_H
#include "base/base.h"

typedef struct bag {
  const int64_t *member; /* samples, in their order */
  int64_t count;
} bag;
typedef struct bag_list {
  int64_t count;
  bag *item;      /* count, by rising group */
  double *id;     /* count: group */
  int64_t *order; /* n: samples by group */
} bag_list;

lapis_status bags_new(lapis_ctx *ctx, const int64_t *group, int64_t n,
                      bag_list *out);
void bags_free(bag_list *b);
/* The largest score of each bag. */
void bag_scores(const bag_list *b, const double *score, double *out);
/* Of each bag the mean, the largest and the least of every feature of its
 * instances: BAG_STATISTICS d x count; gaps have no part. */
enum { BAG_STATISTICS = 3 };
void bag_statistics(const bag_list *b, const lapis_mat *X, double *out);
/* A column a bag (rows x count) as a column an instance: rows x n. */
void bags_spread(const bag_list *b, const lapis_mat *of, double *out);

#endif
