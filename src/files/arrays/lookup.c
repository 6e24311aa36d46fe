/* lookup.c - which of n texts a text is, in log n steps.
 *
 * Sorted and not hashed: whoever chose the texts could have chosen them to
 * fall together. */
#include <stdlib.h>
#include <string.h>

#include "files/io.h"

static int compare(const io_text *x, const char *text, int64_t size)
{
  int64_t least = x->size < size ? x->size : size;
  int order = least > 0 ? memcmp(x->text, text, (size_t)least) : 0;
  return order != 0 ? order : (x->size > size) - (x->size < size);
}

static int by_text(const void *a, const void *b)
{
  const io_text *x = a, *y = b;
  int order = compare(x, y->text, y->size);
  return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

void io_lookup_sort(io_text *all, int64_t count)
{
  if (count > 0) qsort(all, (size_t)count, sizeof *all, by_text);
}

const io_text *io_lookup_from(const io_text *sorted, int64_t count,
                              const char *text, int64_t size)
{
  while (count > 0) {
    int64_t half = count / 2;
    bool before = compare(&sorted[half], text, size) < 0;
    if (before) sorted += half + 1;
    count = before ? count - half - 1 : half;
  }
  return sorted;
}

int64_t io_lookup(const io_text *sorted, int64_t count, const char *text,
                  int64_t size)
{
  const io_text *end = sorted + count,
                *found = io_lookup_from(sorted, count, text, size);
  return found < end && compare(found, text, size) == 0 ? found->at : -1;
}
