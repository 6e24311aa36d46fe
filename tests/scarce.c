/* scarce.c - see scarce.h. */
#include "scarce.h"

#include <stdlib.h>

scarcity scarce = {.countdown = -1};

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

bool scarce_fails(void)
{
  if (scarce.countdown < 0 && !scarce.counts) return false; /* only read */
  scarce.allocations++;
  if (scarce.countdown < 0) return false;
  if (scarce.countdown > 0) {
    scarce.countdown--;
    return false;
  }
  scarce.failed = true;
  if (scarce.once) scarce.countdown = -1;
  return true;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return scarce_fails() ? NULL : __real_aligned_alloc(alignment, size);
}
