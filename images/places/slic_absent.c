/* slic_absent.c - stands where VLFeat was not built in. */
#include "images/places/slic.h"

bool slic_built(void)
{
  return false;
}

void slic_compute(const slic_task *t, int32_t *label)
{
  (void)t;
  (void)label;
}
