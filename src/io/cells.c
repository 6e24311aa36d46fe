/* cells.c - a table of text, cell by cell, with the line of each row.
 *
 * Rows of different lengths are no fault here: people leave the last cells of
 * a row out where they hold nothing. */
#include <string.h>

#include "io/io.h"

enum { MAX_CELLS = 1 << 28 };

typedef struct extent {
  int64_t rows, columns, bytes;
} extent;

static lapis_status next_row(csv_scan *s, csv_cell *cell)
{
  lapis_status status = csv_next(s, cell);
  if (status >= 0 && cell->last) csv_skip_blank(s, false);
  return status;
}

static lapis_status measure(csv_scan s, extent *e)
{
  csv_cell cell;
  while (!csv_at_end(&s)) {
    int64_t columns = 0;
    do {
      TRY(next_row(&s, &cell));
      e->bytes += cell.size + 1;
      columns++;
    } while (!cell.last);
    if (columns > e->columns) e->columns = columns;
    e->rows++;
  }
  if (e->rows == 0)
    return lapis_fail(s.ctx, LAPIS_EFORMAT,
                      "%s: holds no rows; write one on each line", s.path);
  if (e->columns > MAX_CELLS / e->rows)
    return lapis_fail(s.ctx, LAPIS_EFORMAT,
                      "%s: a table of %" PRId64 " x %" PRId64
                      " cells; at most %d are read",
                      s.path, e->rows, e->columns, MAX_CELLS);
  return LAPIS_OK;
}

/* text: the pointers, and behind them the bytes. */
static lapis_status allocate(lapis_ctx *ctx, const extent *e, lapis_cells *out)
{
  int64_t pointers = e->rows * e->columns;
  int64_t bytes = pointers * (int64_t)sizeof *out->text + e->bytes + 1;
  *out = (lapis_cells){.rows = e->rows, .columns = e->columns};
  out->line = base_alloc(ctx, e->rows, sizeof *out->line);
  out->text = base_alloc(ctx, bytes, 1);
  return out->line == NULL || out->text == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static lapis_status fill(csv_scan s, lapis_cells *out)
{
  char *pool = (char *)(out->text + out->rows * out->columns);
  const char *empty = pool++; /* zeroed */
  csv_cell cell;
  for (int64_t i = 0; i < out->rows; i++) {
    cell.last = false;
    for (int64_t j = 0; j < out->columns; j++) {
      const char **to = &out->text[i * out->columns + j];
      *to = empty;
      if (cell.last) continue;
      TRY(next_row(&s, &cell));
      if (j == 0) out->line[i] = cell.line;
      if (csv_value(&cell, NULL) == CSV_MISSING) continue;
      *to = pool;
      pool += csv_copy(&cell, pool);
    }
  }
  return LAPIS_OK;
}

static lapis_status read_text(lapis_ctx *ctx, const io_file *f,
                              lapis_cells *out)
{
  csv_scan s;
  extent e = {.rows = 0};
  const char *data = (const char *)f->data;
  TRY(csv_open(ctx, io_name(f->path), data, f->size, &s));
  csv_delimit(&s, "\t,;");
  TRY(measure(s, &e));
  TRY(allocate(ctx, &e, out));
  return fill(s, out);
}

lapis_status lapis_cells_read(lapis_ctx *ctx, const char *path,
                              lapis_cells *out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  io_file f;
  TRY(io_file_open(ctx, path, &f));
  lapis_status s =
      f.format == IO_CSV
          ? read_text(ctx, &f, out)
          : lapis_fail(ctx, LAPIS_EFORMAT,
                       "%s: is no table of text; save it as .csv or .tsv",
                       path);
  io_file_close(&f);
  if (s < 0) lapis_cells_free(out);
  return s;
}

void lapis_cells_free(lapis_cells *cells)
{
  if (cells == NULL) return;
  base_free(cells->line);
  base_free(cells->text);
  *cells = (lapis_cells){.rows = 0};
}
