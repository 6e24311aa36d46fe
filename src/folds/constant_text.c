/* constant_text.c - a target of one value, in a sentence that all share. */
#include <inttypes.h>
#include <stdio.h>

#include "lapis/choose.h"

char *lapis_constant_text(double low, double high, int64_t target, char *text,
                          size_t size)
{
  char which[32] = "the target";
  if (text == NULL || size == 0) return text;
  *text = '\0';
  if (!(low >= high) || low > high) return text;
  if (target > 0)
    (void)snprintf(which, sizeof which, "target %" PRId64, target);
  (void)snprintf(text, size,
                 "%s is the same in all known samples (%g), so R^2 is "
                 "not defined",
                 which, low);
  return text;
}
