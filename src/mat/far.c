/* far.c - numbers far from the others of their feature.
 *
 * Far is FAR deviations from the median, and a deviation is what the range from
 * the first to the last tenth is of, which one wrong cell of ten does not
 * change much.  Where nine of ten cells are alike nothing is far.  FAR was
 * decided on diabetes, BostonHousing and friedman1 (bench/results/tables.md).
 *
 * Long tails have such numbers, too, one beyond the other.  A number is apart
 * where it is farther from the next one than all others are from each other,
 * and as many times as far from the median as that one, as that one is compared
 * with the median deviation: of n numbers of a Pareto distribution, whatever
 * its exponent, the largest is so with probability 2 / n.  Of the largest of D
 * features one is so sooner: in logarithms it has to be 1 + log D / log n times
 * as far beyond the next one, which makes 2 / n of them all. */
#include "mat/far.h"

#include <float.h>
#include <math.h>

static const double FAR = 4, TENTHS = 2.563; /* deviations between them */

static double quantile(const double *sorted, int64_t n, double share)
{
  double at = share * (double)(n - 1);
  int64_t low = (int64_t)at, high = low + 1 < n ? low + 1 : low;
  return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

void mat_far_limits(const double *sorted, int64_t n, double *middle,
                    double *limit)
{
  double range = n == 0 ? 0 : quantile(sorted, n, .9) - quantile(sorted, n, .1);
  *middle = n == 0 ? 0 : quantile(sorted, n, .5);
  *limit = range > 0 ? FAR * range / TENTHS : DBL_MAX;
}

/* ---- apart from all others ----------------------------------------------*/
typedef struct span { /* of sorted numbers */
  const double *number;
  int64_t first, end;
  double middle;
} span;

/* The largest deviation. */
static double reach(const span *s)
{
  return fmax(s->middle - s->number[s->first],
              s->number[s->end - 1] - s->middle);
}

/* Without the number that has it. */
static span shrink(span s)
{
  bool low = s.middle - s.number[s.first] > s.number[s.end - 1] - s.middle;
  if (low)
    s.first++;
  else
    s.end--;
  return s;
}

static double median_deviation(span s, int64_t n)
{
  for (int64_t k = 0; k < n / 2; k++) s = shrink(s);
  return reach(&s);
}

int64_t mat_count_apart(const double *sorted, int64_t n, int64_t of,
                        double *low, double *high)
{
  enum { LEAST = 40, FEW = 20 }; /* a tail is so once in 20 times at most */
  span s = {.number = sorted, .end = n};
  double limit;
  int64_t count = 0;
  if (n < LEAST) return 0;
  mat_far_limits(sorted, n, &s.middle, &limit);
  double usual = median_deviation(s, n);
  double times = 1 + log((double)of) / log((double)n);
  for (int64_t k = 1; FEW * k <= n && reach(&s) > limit; k++) {
    span rest = shrink(s);
    double far = reach(&s), next = reach(&rest);
    double wide = sorted[rest.end - 1] - sorted[rest.first];
    if (far - next > wide && log(far / next) > times * log(next / usual)) {
      count = k;
      *low = sorted[rest.first];
      *high = sorted[rest.end - 1];
    }
    s = rest;
  }
  return count;
}

/* ---- two heaps ----------------------------------------------------------*/
static bool is_heap(const double *sorted, int64_t n, int64_t all)
{
  enum { LEAST = 10, DIFFERENT = 5, PART = 100 };
  int64_t different = n > 0;
  for (int64_t k = 1; k < n; k++) different += sorted[k] > sorted[k - 1];
  return n >= LEAST && different >= DIFFERENT && PART * n >= all;
}

int64_t mat_upper_heap(const double *sorted, int64_t n)
{
  static const double TIMES = 5;
  if (n == 0 || !(sorted[0] > 0)) return 0;
  for (int64_t k = 1; k < n; k++)
    if (sorted[k] >= TIMES * sorted[k - 1] && is_heap(sorted, k, n) &&
        is_heap(sorted + k, n - k, n))
      return k;
  return 0;
}
