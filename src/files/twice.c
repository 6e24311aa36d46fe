/* twice.c - one sample that two lines of a table are of: refused, since which
 * of two labels holds is not ours to say. */
#include "files/twice.h"

#include <string.h>

lapis_status io_fail_twice(lapis_ctx *ctx, const char *path, const char *noun,
                           const csv_cell *cell, int64_t line)
{
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ":%" PRId64 ": the %s %.*s stands in line "
                    "%" PRId64 " already; one line a %s is needed",
                    path, cell->line, cell->column, noun, csv_shown_bytes(cell),
                    cell->text, line, noun);
}

static bool is_cell(const csv_cell *cell, const char *text)
{
  return cell->size == (int64_t)strlen(text) &&
         memcmp(cell->text, text, (size_t)cell->size) == 0;
}

/* The cell of this text in the row that begins next, which is read whole. */
static lapis_status next_row(csv_scan *s, const char *text, csv_cell *out,
                             bool *is)
{
  csv_cell cell = {.last = false};
  *is = false;
  while (!cell.last) {
    TRY(csv_next(s, &cell));
    if (!*is && is_cell(&cell, text)) {
      *out = cell;
      *is = true;
    }
  }
  csv_skip_blank(s);
  return LAPIS_OK;
}

/* The cells of this text in rows first and again of the last n; *is: both. */
static lapis_status find_cells(lapis_ctx *ctx, const io_file *f,
                               const char *text, int64_t n,
                               const int64_t row[2], csv_cell out[2], bool *is)
{
  csv_scan start, s;
  csv_cell any;
  bool has;
  int64_t rows = 0;
  *is = true;
  TRY(csv_open(ctx, io_name(f->path), (const char *)f->data, f->size, &start));
  for (s = start; !csv_at_end(&s); rows++) TRY(next_row(&s, text, &any, &has));
  s = start;
  for (int64_t k = n - rows; !csv_at_end(&s); k++) {
    TRY(next_row(&s, text, &any, &has));
    for (int i = 0; i < 2; i++) {
      if (k != row[i]) continue;
      out[i] = any;
      *is &= has;
    }
  }
  return LAPIS_OK;
}

lapis_status io_fail_named_twice(lapis_ctx *ctx, const io_file *f,
                                 const char *name, int64_t n, int64_t first,
                                 int64_t again)
{
  csv_cell cell[2] = {{.line = 0}};
  const int64_t row[] = {first, again};
  bool lines = f->format == IO_CSV && f->data != NULL;
  if (lines) TRY(find_cells(ctx, f, name, n, row, cell, &lines));
  if (lines)
    return io_fail_twice(ctx, io_name(f->path), "name", &cell[1], cell[0].line);
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: rows %" PRId64 " and %" PRId64
                    " are both called '%s'; one row a name is needed",
                    io_name(f->path), first + 1, again + 1, name);
}
