/* projection.c - Euclidean projection onto the probability simplex,
 *
 *   minimize |z - v|^2  subject to  z >= 0, sum z = 1,
 *
 * by sorting [MC11 Alg. 2]: z = max(v - theta, 0), where theta = (sum of the
 * j largest - 1)/j for the largest j that leaves the j-th of them positive.
 *
 * Numerics: sums are taken of v - max v, so that large entries cost no
 * digits; what is far below the largest does not enter. */
#include <math.h>

#include "lapis/methods.h"

/* Restores the heap (smallest on top) below i. */
static void sift(double *a, int64_t i, int64_t n)
{
  double x = a[i];
  for (int64_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && a[child + 1] < a[child]) child++;
    if (!(a[child] < x)) break;
    a[i] = a[child];
  }
  a[i] = x;
}

/* Heap sort: in place, O(n log n) always, and no memory (qsort may ask for
 * some). */
static void sort_descending(double *a, int64_t n)
{
  for (int64_t i = n / 2; i-- > 0;) sift(a, i, n);
  for (int64_t last = n - 1; last > 0; last--) {
    double x = a[0];
    a[0] = a[last];
    a[last] = x;
    sift(a, 0, last);
  }
}

/* u descending from 0. */
static double threshold(int64_t n, const double *u)
{
  double sum = 0, theta = 0;
  for (int64_t j = 0; j < n; j++) {
    sum += u[j];
    double next = (sum - 1) / (double)(j + 1);
    if (!(u[j] > next)) break;
    theta = next;
  }
  return theta;
}

void lapis_project_simplex(int64_t n, const double *v, double *work,
                           double *out)
{
  if (v == NULL || work == NULL || out == NULL) return;
  double top = -INFINITY, poison = 0;
  for (int64_t i = 0; i < n; i++) {
    if (v[i] > top) top = v[i];
    poison += 0 * v[i]; /* NaN if any entry is */
  }
  for (int64_t i = 0; i < n; i++) work[i] = v[i] - top;
  sort_descending(work, n);
  double theta = threshold(n, work) + poison;
  for (int64_t i = 0; i < n; i++) {
    double z = (v[i] - top) - theta;
    out[i] = z < 0 ? 0 : z;
  }
}
