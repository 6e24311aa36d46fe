/* bags.h - samples by group. */
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

#endif
