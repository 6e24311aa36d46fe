/* box_table.c - boxes from a table: name,x,y,width,height[,score]. */
#include <math.h>
#include <string.h>

#include "io/io.h"
#include "lapis/lapis_locate.h"

enum { NUMBERS = 5, NEEDED = 4 };
static const char *const column_name[] = {"x", "y", "width", "height", "score"};

typedef struct box_row {
  csv_cell name;
  double number[NUMBERS]; /* score NaN where there is none */
} box_row;

static lapis_status fail_cell(const csv_scan *s, const csv_cell *cell,
                              const char *what)
{
  return lapis_fail(s->ctx, LAPIS_EFORMAT,
                    "%s:%" PRId64 ":%" PRId64
                    ": %s; a row is name,x,y,width,height or "
                    "name,x,y,width,height,score",
                    s->path, cell->line, cell->column, what);
}

static lapis_status take_number(const csv_scan *s, const csv_cell *cell,
                                int column, double *to)
{
  csv_kind kind = csv_value(cell, to);
  bool side = column == 2 || column == 3;
  if (column == NUMBERS - 1 && kind == CSV_MISSING) return LAPIS_OK;
  if (kind == CSV_NUMBER && isfinite(*to) && !(side && *to <= 0))
    return LAPIS_OK;
  return lapis_fail(s->ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ":%" PRId64 ": %s is \"%.*s\"; it must be "
                    "a number%s",
                    s->path, cell->line, cell->column, column_name[column],
                    (int)fmin((double)cell->size, 60), cell->text,
                    side ? " above 0" : "");
}

static lapis_status take_row(csv_scan *s, box_row *row)
{
  TRY(csv_next(s, &row->name));
  if (row->name.size == 0) return fail_cell(s, &row->name, "no name");
  row->number[NUMBERS - 1] = NAN;
  csv_cell cell = row->name;
  for (int i = 0; i < NUMBERS && !cell.last; i++) {
    TRY(csv_next(s, &cell));
    TRY(take_number(s, &cell, i, &row->number[i]));
    if (cell.last && i + 1 < NEEDED)
      return fail_cell(s, &cell, "the row ends too early");
  }
  if (row->name.last) return fail_cell(s, &row->name, "the row ends too early");
  if (!cell.last) return fail_cell(s, &cell, "the row goes on behind this");
  return LAPIS_OK;
}

/* The first row where its second cell is no number but a word. */
static lapis_status skip_header(csv_scan *s)
{
  csv_scan ahead = *s;
  csv_cell cell;
  TRY(csv_next(&ahead, &cell));
  if (cell.last) return LAPIS_OK; /* take_row says what is wrong */
  TRY(csv_next(&ahead, &cell));
  if (csv_value(&cell, NULL) != CSV_TEXT || cell.size != 1 ||
      (cell.text[0] != 'x' && cell.text[0] != 'X'))
    return LAPIS_OK;
  while (!cell.last) TRY(csv_next(&ahead, &cell));
  csv_skip_blank(&ahead, false);
  *s = ahead;
  return LAPIS_OK;
}

static lapis_status keep_row(lapis_ctx *ctx, const box_row *row,
                             lapis_box_table *out)
{
  char *name = base_alloc(ctx, row->name.size + 1, 1);
  if (name == NULL) return LAPIS_ENOMEM;
  csv_copy(&row->name, name);
  out->name[out->count] = name;
  out->box[out->count++] =
      (lapis_box){row->number[0], row->number[1], row->number[2],
                  row->number[3], row->number[4]};
  return LAPIS_OK;
}

static lapis_status read_rows(csv_scan *s, lapis_box_table *out)
{
  int64_t room = 0;
  while (!csv_at_end(s)) {
    box_row row;
    TRY(take_row(s, &row));
    if (out->count == room) {
      room = 2 * room + 64;
      void *name = out->name, *box = out->box;
      TRY(base_grow(s->ctx, &name, out->count, room, sizeof *out->name));
      out->name = name;
      TRY(base_grow(s->ctx, &box, out->count, room, sizeof *out->box));
      out->box = box;
    }
    TRY(keep_row(s->ctx, &row, out));
    csv_skip_blank(s, false);
  }
  return LAPIS_OK;
}

static lapis_status read_table(lapis_ctx *ctx, const io_file *f,
                               lapis_box_table *out)
{
  csv_scan s;
  if (f->format != IO_CSV || f->data == NULL)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: is no table; boxes are rows of "
                      "name,x,y,width,height[,score]",
                      io_name(f->path));
  TRY(csv_open(ctx, io_name(f->path), (const char *)f->data, f->size, &s));
  if (!csv_at_end(&s)) TRY(skip_header(&s));
  TRY(read_rows(&s, out));
  if (out->count == 0)
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: holds no box",
                      io_name(f->path));
  return LAPIS_OK;
}

lapis_status lapis_boxes_read(lapis_ctx *ctx, const char *path,
                              lapis_box_table *out)
{
  io_file f;
  *out = (lapis_box_table){0};
  TRY(io_file_open(ctx, path, &f));
  lapis_status status = read_table(ctx, &f, out);
  io_file_close(&f);
  if (status < 0) lapis_boxes_free(out);
  return status;
}

void lapis_boxes_free(lapis_box_table *table)
{
  if (table == NULL) return;
  for (int64_t i = 0; i < table->count; i++) base_free(table->name[i]);
  base_free(table->name), base_free(table->box);
  *table = (lapis_box_table){0};
}
