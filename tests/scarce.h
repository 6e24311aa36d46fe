/* scarce.h - memory that runs out when a test says so.  The library allocates
 * in one place only; the linker sends it here (CMakeLists.txt). */
#ifndef LAPIS_SCARCE_H
#define LAPIS_SCARCE_H
#include "check.h"

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static long countdown = -1; /* allocations until all fail; -1: none does */
static bool failed;

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  if (countdown == 0) {
    failed = true;
    return NULL;
  }
  if (countdown > 0) countdown--;
  return __real_aligned_alloc(alignment, size);
}
#endif
