/* ndc.c - minimum normalized detection cost, as TRECVID multimedia event
 * detection has it: a miss costs 80, a false alarm 1, events are 1 in 1000;
 * the least over all thresholds. */
#include <math.h>

#include "folds/rank.h"

static const double MISS = 80, FALSE_ALARM = 1, PRIOR = 0.001;

double rank_min_ndc(const ranked *r, int64_t n)
{
  double ratio = FALSE_ALARM * (1 - PRIOR) / (MISS * PRIOR);
  int64_t all = 0, found = 0;
  for (int64_t i = 0; i < n; i++) all += r[i].positive;
  if (all == 0 || all == n) return NAN;
  double least = 1; /* nothing is called an event */
  for (int64_t i = 0; i < n; i++) {
    found += r[i].positive;
    if (i + 1 < n && !(r[i + 1].score < r[i].score)) continue;
    double miss = (double)(all - found) / (double)all;
    double alarm = (double)(i + 1 - found) / (double)(n - all);
    least = fmin(least, miss + ratio * alarm);
  }
  return least;
}
