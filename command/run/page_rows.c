/* page_rows.c - names and values as a page lists them: settings and figures of
 * a run, from its JSON, and what was remarked. */
#include "page_rows.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void page_rows_add(page_rows *to, const char *name, const char *format, ...)
{
  if (to->count == PAGE_ROWS) return;
  char *text = to->text[to->count];
  va_list args;
  va_start(args, format);
  vsnprintf(text, PAGE_TEXT, format, args);
  va_end(args);
  to->row[to->count++] = (lapis_report_row){name, text};
}

/* A number in the fewest digits that read back to it, at most so many; a whole
 * number in all of them, for a count of 20 is not 2e+01. */
static void shorten(char *text, int most)
{
  char tried[PAGE_TEXT];
  double v, back;
  if (!lapis_number_read(text, NULL, &v)) return;
  bool whole = fabs(v) < 1e15 && trunc(v) == v;
  if (whole) (void)snprintf(tried, sizeof tried, "%.0f", v);
  for (int digits = 1; !whole && digits <= most; digits++) {
    (void)snprintf(tried, sizeof tried, "%.*g", digits, v);
    if (lapis_number_read(tried, NULL, &back) && back == v) break;
  }
  memcpy(text, tried, sizeof tried);
}

void page_rows_json(page_rows *to, const lapis_json *from, int digits)
{
  const char *key = NULL;
  char text[PAGE_TEXT];
  for (int i = 0; lapis_json_entry(from, i, &key, text, sizeof text); i++) {
    if (text[0] == '\0' || strcmp(text, "null") == 0) continue;
    shorten(text, digits);
    page_rows_add(to, key, "%s", text);
  }
}

void page_rows_notes(page_rows *to, const lapis_mat *notes)
{
  const char *const *text = notes->val;
  for (int64_t k = 0; k < notes->cols; k++)
    page_rows_add(to, text[3 * k], "%s", text[3 * k + 2]);
}
