#include "vision/region.h"
bool lapis_region_has_cbc(char *why, size_t size)
{
  (void)why;
  (void)size;
  return false;
}
lapis_status region_solve_cbc(region_job *job)
{
  return lapis_fail(job->ctx, LAPIS_ENOTBUILT, "x");
}
