/* rank.c - area under the ROC curve, average precision.
 *
 * Ties are taken as one step: a positive and a negative of equal score count
 * half in the area; precision is read where a run of equal scores ends. */
#include "folds/rank.h"

#include <math.h>

/* End of the run of equal scores that begins at i, and its positives. */
static int64_t run_end(const ranked *r, int64_t n, int64_t i, int64_t *positive)
{
  int64_t j = i;
  *positive = 0;
  while (j < n && !(r[j].score < r[i].score)) *positive += r[j++].positive;
  return j;
}

double rank_auroc(const ranked *r, int64_t n)
{
  double area = 0;
  int64_t above = 0, positives = 0; /* positives above the run; so far */
  for (int64_t i = 0, j; i < n; i = j) {
    j = run_end(r, n, i, &positives);
    double negatives = (double)(j - i - positives);
    area += negatives * ((double)above + 0.5 * (double)positives);
    above += positives;
  }
  double pairs = (double)above * (double)(n - above);
  return pairs > 0 ? area / pairs : NAN;
}

double rank_average_precision(const ranked *r, int64_t n)
{
  double sum = 0;
  int64_t found = 0, positives = 0;
  for (int64_t i = 0, j; i < n; i = j) {
    j = run_end(r, n, i, &positives);
    found += positives;
    sum += (double)positives * (double)found / (double)j;
  }
  return found > 0 && found < n ? sum / (double)found : NAN;
}

int64_t rank_roc(const ranked *r, int64_t n, double *x, double *y)
{
  int64_t above = 0, positives = 0, points = 1;
  for (int64_t i = 0; i < n; i++) above += r[i].positive;
  if (above == 0 || above == n) return 0;
  double all[2] = {(double)(n - above), (double)above};
  x[0] = y[0] = 0;
  above = 0;
  for (int64_t i = 0, j; i < n; i = j) {
    j = run_end(r, n, i, &positives);
    above += positives;
    x[points] = (double)(j - above) / all[0];
    y[points++] = (double)above / all[1];
  }
  return points;
}
