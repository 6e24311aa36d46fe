/* unsure.h - R^2 of what was held out, its error, and whether it is clear. */
#ifndef LAPIS_UNSURE_H
#define LAPIS_UNSURE_H
#include "base/base.h"

/* R^2 of held-out targets is 1 - sum a / sum b, of squared errors a of an
 * answer and b of the mean of all; its standard error is that of the ratio, by
 * units that err together (the delta method): sqrt(sum (a - b sum a / sum b)^2)
 * / sum b.  It is clear where it is above 0 by more errors than chance
 * (lapis_far_errors). */
typedef struct regression_sums {
  double a, b, aa, ab, bb, units;
} regression_sums;
void regression_add(regression_sums *to, double a, double b);   /* of a unit */
double regression_of(const regression_sums *of, double *error); /* R^2 */
bool regression_is_clear(double r2, double error, double units);
/* What is said where it is not, else "". */
enum { REGRESSION_TEXT = 256 };
const char *regression_unsure(double r2, double error, double units,
                              char text[REGRESSION_TEXT]);

#endif
