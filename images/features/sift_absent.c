/* sift_absent.c - in place of sift_vl.c, without VLFeat. */
#include "images/features/sift.h"

bool sift_built(void)
{
  return false;
}

double sift_bytes(const sift_task *t)
{
  (void)t;
  return 0;
}

lapis_status sift_find(lapis_ctx *ctx, const sift_task *t, sift_list *out)
{
  (void)t;
  (void)out;
  return lapis_fail(ctx, LAPIS_ENOTBUILT, "sift: is not built in");
}

lapis_status sift_describe(lapis_ctx *ctx, const sift_task *t,
                           const sift_points *points, float *vector)
{
  (void)ctx, (void)t, (void)points, (void)vector;
  return LAPIS_ENOTBUILT;
}
