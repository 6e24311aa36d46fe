/* constant_text.c - a target of one value, in a sentence that all share. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lapis/choose.h"

char *lapis_constant_text(const lapis_mat *Y, int64_t i, char *text,
                          size_t size)
{
  double low = INFINITY, high = -INFINITY;
  char which[32] = "the target";
  if (text == NULL || size == 0) return text;
  *text = '\0';
  if (Y == NULL || i < 0 || i >= Y->rows) return text;
  for (int64_t j = 0; j < Y->cols; j++) {
    double y = lapis_mat_at(Y, i, j);
    if (isnan(y)) continue;
    low = fmin(low, y);
    high = fmax(high, y);
  }
  if (!(low >= high) || low > high) return text;
  if (Y->rows > 1)
    (void)snprintf(which, sizeof which, "target %" PRId64, i + 1);
  (void)snprintf(text, size,
                 "%s is the same in all known samples (%g), so R^2 is "
                 "not defined",
                 which, low);
  return text;
}
