/* csv_writer.c - a table of text while it grows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

static void put(csv_writer *s, const char *text, size_t size)
{
  if (s->used + size > s->room && !s->lost) {
    size_t room = 2 * (s->used + size) + 4096;
    char *text2 = realloc(s->text, room);
    s->lost = text2 == NULL;
    if (!s->lost) s->text = text2;
    if (!s->lost) s->room = room;
  }
  if (s->lost || size == 0) return; /* text may still be NULL */
  memcpy(s->text + s->used, text, size);
  s->used += size;
}

void csv_writer_begin(csv_writer *s, const char *dialect, const char *path)
{
  *s = (csv_writer){.d = lapis_dialect_for(dialect, path)};
  put(s, s->d.begin, strlen(s->d.begin));
}

static void end_cell(csv_writer *s, bool last)
{
  put(s, last ? s->d.end : &s->d.delimiter, last ? strlen(s->d.end) : 1);
}

static void put_cell(csv_writer *s, const char *text, bool plain, bool last)
{
  if (!plain) put(s, "\"", 1);
  if (lapis_text_runs(text)) put(s, "'", 1); /* for spreadsheets: text */
  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '"') put(s, "\"", 1);
    put(s, at, 1);
  }
  if (!plain) put(s, "\"", 1);
  end_cell(s, last);
}

void csv_writer_copy(csv_writer *s, const char *text, bool last)
{
  size_t size = strlen(text);
  bool plain = size == 0 || (text[strcspn(text, ",;|\t\"\r\n")] == '\0' &&
                             *text != ' ' && text[size - 1] != ' ');
  put_cell(s, text, plain, last);
}

/* A word such as NA is one in quotes. */
void csv_writer_put(csv_writer *s, const char *text, bool last)
{
  if (*text != '\0' && lapis_text_missing(text))
    put_cell(s, text, false, last);
  else
    csv_writer_copy(s, text, last);
}

void csv_writer_put_number(csv_writer *s, const char *format, double value,
                           bool last)
{
  char text[40];
  lapis_number_print(text, sizeof text, format, value);
  lapis_dialect_number(&s->d, text);
  put(s, text, isnan(value) ? 0 : strlen(text));
  end_cell(s, last);
}

lapis_status csv_writer_write(lapis_ctx *ctx, csv_writer *s, const char *path)
{
  lapis_status status = s->lost ? lapis_fail(ctx, LAPIS_ENOMEM, "out of memory")
                                : lapis_file_write(ctx, path, s->text, s->used);
  free(s->text);
  *s = (csv_writer){.used = 0};
  return status;
}
