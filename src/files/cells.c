/* cells.c - a table of text, cell by cell, with the line of each row.
 *
 * Rows of different lengths are no fault here: people leave the last cells of
 * a row out where they hold nothing. */
#include <inttypes.h>
#include <string.h>

#include "files/io.h"

enum { MAX_CELLS = 1 << 28 };

typedef struct extent {
  int64_t rows, columns, bytes;
} extent;

static lapis_status next_row(csv_scan *s, csv_cell *cell)
{
  lapis_status status = csv_next(s, cell);
  if (status >= 0 && cell->last) csv_skip_blank(s);
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

/* text: its pointers, those of written, and behind them the bytes. */
static lapis_status allocate(lapis_ctx *ctx, const char *path, double stored,
                             const extent *e, lapis_cells *out)
{
  int64_t pointers = e->rows * e->columns;
  int64_t bytes = 2 * pointers * (int64_t)sizeof *out->text + e->bytes + 1;
  TRY(base_unfolds(ctx, path, (double)bytes, stored)); /* one long row */
  *out = (lapis_cells){.rows = e->rows, .columns = e->columns};
  out->line = base_alloc(ctx, e->rows, sizeof *out->line);
  out->text = base_alloc(ctx, bytes, 1);
  if (out->line == NULL || out->text == NULL) return LAPIS_ENOMEM;
  out->written = out->text + pointers;
  return LAPIS_OK;
}

/* Of each column, without the first row, which may be titles. */
static lapis_status gather(csv_scan s, const extent *e, io_facts *facts)
{
  csv_cell cell;
  bool bare = false;
  int64_t rows;
  for (int64_t j = 0; j < e->columns; j++) facts[j] = facts_begin();
  for (int64_t i = 0; i < e->rows; i++)
    for (int64_t j = 0; j == 0 || !cell.last; j++) {
      double value;
      TRY(next_row(&s, &cell));
      csv_kind kind = csv_value(&cell, &value);
      if (i > 0) facts_note(&facts[j], &cell, kind, value);
      if ((rows = csv_swallowed(&s, &cell, j, e->columns)) > 0)
        return lapis_fail(
            s.ctx, LAPIS_EFORMAT,
            "%s:%" PRId64 ":%" PRId64 ": this quote is closed %" PRId64
            " line%s later, and the lines between have as many "
            "cells as a row; a quote in a cell is written twice, "
            "and the cell in quotes",
            s.path, cell.line, cell.column, rows, rows > 1 ? "s" : "");
    }
  for (int64_t j = 0; j < e->columns; j++) bare = bare || facts[j].bare;
  for (int64_t j = 0; j < e->columns; j++) facts_judge(&facts[j], bare, false);
  return LAPIS_OK;
}

static void tell(lapis_ctx *ctx, const char *path, const extent *e,
                 const io_facts *facts)
{
  char said[FACTS_BYTES];
  for (int64_t j = 0; j < e->columns; j++)
    if (facts_say(&facts[j], 0, said) && *said != '\0')
      base_say(ctx, 0, "%s: column %" PRId64 ": %s", path, j + 1, said);
}

static lapis_status fill(csv_scan s, const io_facts *facts, lapis_cells *out)
{
  char *pool = (char *)(out->written + out->rows * out->columns);
  const char *empty = pool++; /* zeroed */
  csv_cell cell;
  for (int64_t i = 0; i < out->rows; i++) {
    cell.last = false;
    for (int64_t j = 0; j < out->columns; j++) {
      const char **to = &out->text[i * out->columns + j];
      const char **written = &out->written[i * out->columns + j];
      *to = *written = empty;
      if (cell.last) continue;
      TRY(next_row(&s, &cell));
      if (j == 0) out->line[i] = cell.line;
      *written = pool;
      pool += csv_copy(&cell, pool);
      if (facts_kind(&facts[j], &cell, NULL) != CSV_MISSING) *to = *written;
    }
  }
  return LAPIS_OK;
}

static lapis_status read_text(lapis_ctx *ctx, const io_file *f,
                              const char *missing, lapis_cells *out)
{
  csv_scan s;
  extent e = {.rows = 0};
  const char *data = (const char *)f->data;
  TRY(csv_open(ctx, io_name(f->path), data, f->size, &s));
  if (!s.named) csv_delimit(&s, "\t,;|");
  s.missing = missing;
  TRY(measure(s, &e));
  TRY(allocate(ctx, s.path, (double)f->size, &e, out));
  io_facts *facts = base_alloc(ctx, e.columns, sizeof *facts);
  if (facts == NULL) return LAPIS_ENOMEM;
  lapis_status status = gather(s, &e, facts);
  if (status >= 0) tell(ctx, s.path, &e, facts);
  dialect_find(f, &s, out->dialect);
  if (status >= 0) status = fill(s, facts, out);
  base_free(facts);
  return status;
}

lapis_status lapis_cells_read(lapis_ctx *ctx, const char *path,
                              const char *missing, lapis_cells *out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  io_file f;
  TRY(io_file_open(ctx, path, &f));
  lapis_status s =
      f.format == IO_CSV
          ? read_text(ctx, &f, missing, out)
          : lapis_fail(ctx, LAPIS_EFORMAT,
                       "%s: is not a table of text; save it as .csv or .tsv",
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
