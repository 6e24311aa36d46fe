/* unmet.c - NaN that says why: as R's NA, it has a payload. */
#include <string.h>

#include "base/base.h"

static const uint64_t UNMET = 0x7ff8000000554e4d; /* quiet */

double base_unmet(void)
{
  double x;
  memcpy(&x, &UNMET, sizeof x);
  return x;
}

bool base_is_unmet(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits == UNMET;
}
