/* baseline_absent.c - LIBLINEAR is not built in. */
#include <math.h>

#include "baseline.h"

bool baseline_built(void)
{
  return false;
}

bool baseline_scores(const lapis_mat *X, const double *y, double C,
                     double *scores)
{
  (void)X;
  (void)y;
  (void)C;
  (void)scores;
  return false;
}
