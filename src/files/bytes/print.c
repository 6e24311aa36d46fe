/* print.c - text out, piece by piece, into a file that appears when it is
 * whole.  The first failure is kept; what follows it is dropped. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/io.h"

lapis_status io_print_begin(lapis_ctx *ctx, const char *path, io_print *p)
{
  *p = (io_print){.status = LAPIS_OK, .ctx = ctx, .meter = io_meter_begin()};
  p->block = base_alloc_raw(ctx, IO_PRINT_BYTES, 1);
  if (p->block == NULL) return LAPIS_ENOMEM;
  lapis_status status = io_out_begin(ctx, path, &p->out);
  if (status < 0) base_free(p->block);
  return status;
}

static void flush(io_print *p)
{
  if (p->status == LAPIS_OK)
    p->status = io_out_write(&p->out, p->block, p->used);
  p->used = 0;
  io_meter_show(p->ctx, &p->meter, "writing", NAN);
  if (p->status == LAPIS_OK) p->status = base_write_on(p->ctx, p->out.path);
}

void io_put(io_print *p, const char *text, int64_t size)
{
  while (size > 0) {
    int64_t room = IO_PRINT_BYTES - p->used, n = size < room ? size : room;
    memcpy(p->block + p->used, text, (size_t)n);
    p->used += n;
    text += n;
    size -= n;
    if (p->used == IO_PRINT_BYTES) flush(p);
  }
}

void io_put_text(io_print *p, const char *text)
{
  io_put(p, text, (int64_t)strlen(text));
}

void io_put_integer(io_print *p, int64_t value)
{
  char text[32];
  (void)snprintf(text, sizeof text, "%" PRId64, value);
  io_put_text(p, text);
}

void io_number_text(double value, char *text, size_t size)
{
  if (isnan(value))
    (void)snprintf(text, size, "nan");
  else if (isinf(value))
    (void)snprintf(text, size, value > 0 ? "inf" : "-inf");
  else if (fabs(value) < 1e15 && floor(value) >= value && value != 0)
    (void)snprintf(text, size, "%" PRId64, (int64_t)value);
  else
    lapis_number_text(value, text, size);
}

void io_put_number(io_print *p, double value)
{
  char text[40];
  io_number_text(value, text, sizeof text);
  io_put_text(p, text);
}

/* In quotes where it would be read as something else without: tab and
 * semicolon, too, which a reader may take for the delimiter. */
static bool needs_quotes(const char *text, char delimiter)
{
  char special[] = {delimiter, ';', '\t', '|', '"', '\n', '\r', '\0'};
  size_t size = strlen(text);
  if (size == 0) return false;
  return strcspn(text, special) < size || strchr(" \v\f", *text) != NULL ||
         strchr(" \v\f", text[size - 1]) != NULL || lapis_text_missing(text);
}

static void put_marked(io_print *p, const char *mark, const char *text,
                       char delimiter)
{
  if (!needs_quotes(text, delimiter)) {
    io_put_text(p, mark);
    io_put_text(p, text);
    return;
  }
  io_put_text(p, "\"");
  io_put_text(p, mark);
  for (; *text != '\0'; text++) {
    if (*text == '"') io_put(p, text, 1);
    io_put(p, text, 1);
  }
  io_put_text(p, "\"");
}

void io_put_cell(io_print *p, const char *text, char delimiter)
{
  put_marked(p, lapis_text_runs(text) ? "'" : "", text, delimiter);
}

void io_put_plain_cell(io_print *p, const char *text, char delimiter)
{
  put_marked(p, "", text, delimiter);
}

lapis_status io_print_end(io_print *p)
{
  flush(p);
  io_meter_show(p->ctx, &p->meter, "writing", 1);
  lapis_status status = io_out_end(&p->out, p->status);
  base_free(p->block);
  return status;
}
