/* hog_absent.c - stands where VLFeat was not built in. */
#include "images/features/hog.h"

bool hog_built(void)
{
  return false;
}

void hog_compute(const hog_task *t, float *out)
{
  (void)t;
  (void)out;
}
