/* page.c - text that grows. */
#include "images/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "files/io.h"
#include "mat/mat.h"

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

void page_words(page *p, const char *text)
{
  page_bytes(p, text, (int64_t)strlen(text));
}

void page_print(page *p, const char *format, ...)
{
  char line[LINE];
  va_list args;
  va_start(args, format);
  int size = number_vprint(line, sizeof line, format, args);
  va_end(args);
  if (size >= LINE) size = LINE - 1;
  if (size > 0) page_bytes(p, line, size);
}

/* ---- text ---------------------------------------------------------------*/
/* One character of text (< end): its bytes, and as XML 1.0 may hold it. */
static int next_character(const char *text, const char *end, uint32_t *code)
{
  int size = utf8_decode(text, end, code);
  bool control = *code < ' ' && *code != '\t' && *code != '\n';
  if (size == 0 || control || *code == 0xfffe || *code == 0xffff)
    *code = 0xfffd;
  return size == 0 ? 1 : size;
}

static void put_character(page *p, uint32_t code)
{
  char bytes[4];
  page_bytes(p, bytes, utf8_encode(code, bytes));
}

void page_escape(page *p, const char *text)
{
  if (text != NULL) page_escape_part(p, text, strlen(text));
}

void page_escape_part(page *p, const char *text, size_t bytes)
{
  const char *end = text + bytes;
  for (uint32_t c; text < end;) {
    text += next_character(text, end, &c);
    if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
      page_print(p, "&#%d;", (int)c);
    else
      put_character(p, c);
  }
}

void page_json_text(page *p, const char *text)
{
  const char *end = text + strlen(text);
  page_words(p, "\"");
  for (uint32_t c; text < end;) {
    text += next_character(text, end, &c);
    if (c < ' ' || (c < 128 && strchr("<>&\"\\'", (int)c) != NULL))
      page_print(p, "\\u%04x", (unsigned)c);
    else
      put_character(p, c);
  }
  page_words(p, "\"");
}

void page_element(page *p, const char *name, const char *text)
{
  int bare = (int)strcspn(name, " ");
  page_print(p, "<%s>", name);
  page_escape(p, text);
  page_print(p, "</%.*s>", bare, name);
}

void page_wide_table(page *p, const char *label, const char *class_)
{
  page_print(p,
             "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"%s\"><table class=\"%s\">\n",
             label, class_);
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

/* ---- names --------------------------------------------------------------*/
const char *page_text_at(const lapis_mat *A, int64_t i, int64_t j)
{
  const char *const *text = A->val;
  return mat_empty(A) ? NULL : text[j * A->ld + i];
}

void page_class_name(page *p, const lapis_report *w, int64_t c)
{
  if (c < w->class_names.cols)
    page_escape(p, page_text_at(&w->class_names, 0, c));
  else
    page_print(p, "class %" PRId64, c + 1);
}

void page_find_folder(page *p, const lapis_report *w)
{
  const char *first = page_text_at(&w->names, 0, 0);
  int64_t shared = first == NULL ? 0 : (int64_t)strlen(first);
  for (int64_t j = 1; j < w->names.cols; j++) {
    const char *name = page_text_at(&w->names, 0, j);
    int64_t k = 0;
    while (k < shared && name[k] == first[k]) k++;
    shared = k;
  }
  while (shared > 0 && first[shared - 1] != '/') shared--;
  p->folder = shared;
}

void page_sample_name(page *p, const lapis_report *w, int64_t j)
{
  if (j < w->names.cols)
    page_escape(p, page_text_at(&w->names, 0, j) + p->folder);
  else
    page_print(p, "sample %" PRId64, j + 1);
}

void page_png(page *p, const image_raster *r)
{
  unsigned char *bytes;
  size_t size;
  lapis_status s = image_encode_raster(p->ctx, r, &bytes, &size);
  if (s < 0 && s != LAPIS_ENOTBUILT) p->status = s;
  page_words(p, s < 0 ? "data:," : "data:image/png;base64,");
  if (s >= 0) page_base64(p, bytes, (int64_t)size);
  free(bytes);
}
