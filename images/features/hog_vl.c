/* hog_vl.c - histograms of oriented gradients by VLFeat. */
#include <vl/hog.h>

#include "images/features/hog.h"

bool hog_built(void)
{
  return true;
}

void hog_compute(const hog_task *t, float *out)
{
  VlHog *h =
      vl_hog_new(t->dalal_triggs ? VlHogVariantDalalTriggs : VlHogVariantUoctti,
                 (vl_size)t->orientations, VL_FALSE);
  vl_hog_put_image(h, t->planes, (vl_size)t->width, (vl_size)t->height,
                   (vl_size)t->channels, (vl_size)t->cell);
  vl_hog_extract(h, out);
  vl_hog_delete(h);
}
