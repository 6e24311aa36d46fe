/* dialect.c - how a table is written: what stands between its cells, the
 * decimal mark, the ends of its lines, what stands before its first cell.
 *
 * It is found once, where a table is read, and goes as a text through models
 * and archives to all that is written of that table: "; , BOM CRLF sep". */
#include <stdio.h>
#include <string.h>

#include "files/io.h"

static const char DELIMITERS[] = ",;\t|";

static bool starts_with_mark(const io_file *f)
{
  return f->size >= 3 && memcmp(f->data, "\xef\xbb\xbf", 3) == 0;
}

static bool ends_by_carriage(const io_file *f)
{
  size_t size = (size_t)f->size;
  const unsigned char *line = size > 0 ? memchr(f->data, '\n', size) : NULL;
  return line != NULL && line > f->data && line[-1] == '\r';
}

void dialect_find(const io_file *f, const csv_scan *start,
                  char text[DIALECT_BYTES])
{
  bool known = strchr(DELIMITERS, start->delimiter) != NULL;
  char decimal = start->decimal == ',' ? ',' : '.'; /* as it is read back */
  (void)snprintf(text, DIALECT_BYTES, "%c %c%s%s%s",
                 known && start->delimiter != '\0' ? start->delimiter : ',',
                 decimal, starts_with_mark(f) ? " BOM" : "",
                 ends_by_carriage(f) ? " CRLF" : "",
                 known && start->named ? " sep" : "");
}

lapis_status dialect_add(lapis_ctx *ctx, const char *text, lapis_arrays *out)
{
  lapis_array a;
  char *pool;
  TRY(io_text_array(ctx, 1, 1, (int64_t)strlen(text) + 1, &a, &pool));
  ((const char **)a.mat.val)[0] = strcpy(pool, text);
  return io_arrays_add(ctx, out, "dialect", &a);
}

lapis_dialect lapis_dialect_for(const char *text, const char *path)
{
  lapis_dialect d = {.delimiter = ',', .decimal = '.', .end = "\n"};
  bool tabs = path != NULL && io_ends_in(path, IO_TSV_ENDINGS);
  bool known = text != NULL && strlen(text) >= 3 &&
               strchr(DELIMITERS, text[0]) != NULL &&
               (text[2] == ',' || text[2] == '.');
  if (known) d.delimiter = text[0];
  if (known) d.decimal = text[2];
  if (known && strstr(text, " CRLF") != NULL) d.end = "\r\n";
  if (d.delimiter == '\t') d.delimiter = ',';
  if (d.decimal == ',' && d.delimiter == ',') d.delimiter = ';';
  if (tabs) d.delimiter = '\t';
  if (known && strstr(text, " BOM") != NULL) strcpy(d.begin, "\xef\xbb\xbf");
  if (known && strstr(text, " sep") != NULL && !tabs)
    sprintf(d.begin + strlen(d.begin), "sep=%c%s", d.delimiter, d.end);
  return d;
}
