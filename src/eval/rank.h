/* rank.h - metrics of one class that depend on the order of scores alone. */
#ifndef LAPIS_RANK_H
#define LAPIS_RANK_H
#include "base/base.h"

/* One sample with known truth. */
typedef struct ranked {
  double score;
  bool positive;
} ranked;

/* r sorted by falling score; NaN where one of the two kinds is absent. */
double rank_auroc(const ranked *r, int64_t n);
double rank_average_precision(const ranked *r, int64_t n);
double rank_min_ndc(const ranked *r, int64_t n);

#endif
