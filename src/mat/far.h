/* far.h - numbers far from the others of their feature. */
#ifndef LAPIS_FAR_H
#define LAPIS_FAR_H
#include "base/base.h"

/* Of n sorted numbers: far is what lies farther than *limit from *middle. */
void mat_far_limits(const double *sorted, int64_t n, double *middle,
                    double *limit);
/* How many are far from all others, too, which a long tail is not: those below
 * *low and above *high, between which the others lie.  0 of fewer than 40, and
 * where they would be more than one of twenty.  `of`: how many features are
 * looked at, the more of which the farther is far. */
int64_t mat_count_apart(const double *sorted, int64_t n, int64_t of,
                        double *low, double *high);

/* Of n sorted numbers above 0 that lie in two heaps, of which the upper begins
 * at five times the end of the lower, as numbers in two units do: where it
 * begins; 0: they do not.  A heap has ten numbers, five different ones, and one
 * of a hundred at least. */
int64_t mat_upper_heap(const double *sorted, int64_t n);

#endif
