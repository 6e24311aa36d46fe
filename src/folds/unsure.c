/* unsure.c - R^2 of what was held out, its error, and whether it is clear. */
#include "folds/unsure.h"

#include <math.h>
#include <stdio.h>

#include "lapis/choose.h"

void regression_add(regression_sums *to, double a, double b)
{
  to->a += a;
  to->b += b;
  to->aa += a * a;
  to->ab += a * b;
  to->bb += b * b;
  to->units++;
}

double regression_of(const regression_sums *of, double *error)
{
  double ratio = of->a / of->b;
  double square = of->aa - 2 * ratio * of->ab + ratio * ratio * of->bb;
  double n = of->units;
  *error = n > 1 ? sqrt(fmax(square, 0) * n / (n - 1)) / of->b : NAN;
  return 1 - ratio;
}

bool regression_is_clear(double r2, double error, double units)
{
  return r2 > lapis_far_errors(units) * error;
}

const char *regression_unsure(double r2, double error, double units,
                              char text[REGRESSION_TEXT])
{
  *text = '\0';
  if (!regression_is_clear(r2, error, units))
    (void)snprintf(text, REGRESSION_TEXT,
                   "hidden numbers are predicted %s by their mean (R^2 %.4f +- "
                   "%.4f), so the filled-in numbers mean little; more rows "
                   "that have a target, or other features, may help",
                   r2 > 0 ? "not clearly better than" : "no better than", r2,
                   error);
  return text;
}
