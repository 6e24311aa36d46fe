/* magic.c - how PNG and JPEG files begin, also where neither can be read. */
#include <string.h>

#include "images/image/image.h"

bool image_is_png(const unsigned char *head, int64_t size)
{
  return size >= 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
}

bool image_is_jpeg(const unsigned char *head, int64_t size)
{
  return size >= 3 && memcmp(head, "\xff\xd8\xff", 3) == 0;
}
