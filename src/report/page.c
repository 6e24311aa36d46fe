/* page.c - text that grows. */
#include "report/page.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 16, LINE = 1024 };

void page_free(page *p)
{
  base_free(p->text);
  p->text = NULL;
}

void page_bytes(page *p, const char *bytes, int64_t size)
{
  if (p->status < 0) return;
  if (p->used + size > p->room) {
    int64_t room = p->room > 0 ? 2 * p->room : FIRST_ROOM;
    while (room < p->used + size) room *= 2;
    void *text = p->text;
    p->status = base_grow(p->ctx, &text, p->used, room, 1);
    if (p->status < 0) return;
    p->text = text;
    p->room = room;
  }
  memcpy(p->text + p->used, bytes, (size_t)size);
  p->used += size;
}

void page_print(page *p, const char *format, ...)
{
  char line[LINE];
  va_list args;
  va_start(args, format);
  int size = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (size >= LINE) size = LINE - 1;
  if (size > 0) page_bytes(p, line, size);
}

void page_escape(page *p, const char *text)
{
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
      page_print(p, "&#%d;", c);
    else if (c >= ' ' || c == '\n' || c == '\t')
      page_bytes(p, text, 1);
  }
}

void page_base64(page *p, const unsigned char *bytes, int64_t size)
{
  static const char digit[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int64_t k = 0; k < size; k += 3) {
    int64_t left = size - k;
    uint32_t v = (uint32_t)bytes[k] << 16;
    if (left > 1) v |= (uint32_t)bytes[k + 1] << 8;
    if (left > 2) v |= bytes[k + 2];
    char four[4] = {digit[v >> 18], digit[v >> 12 & 63],
                    left > 1 ? digit[v >> 6 & 63] : '=',
                    left > 2 ? digit[v & 63] : '='};
    page_bytes(p, four, 4);
  }
}
