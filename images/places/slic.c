/* slic.c - superpixels by VLFeat. */
#include "images/places/slic.h"

#include <vl/slic.h>

bool slic_built(void)
{
  return true;
}

void slic_compute(const slic_task *t, int32_t *label)
{
  vl_slic_segment((vl_uint32 *)label, t->planes, (vl_size)t->width,
                  (vl_size)t->height, (vl_size)t->channels, (vl_size)t->side,
                  t->regularity, (vl_size)t->least);
}
