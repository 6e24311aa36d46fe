/* columns.c - what each column of delimited text holds, whatever that is.
 *
 * Nothing is refused but a table whose rows differ in length: this is for
 * looking at a table before it is known what its columns are for.  Values are
 * counted while there are few different ones, so that classes, and a class
 * that somebody misspelt, can be seen. */
#include <math.h>
#include <string.h>

#include "io/io.h"

enum { FEW = LAPIS_COLUMN_VALUES };

typedef struct seen { /* of one column */
  csv_cell value[FEW];
  bool in_order[2];   /* so far the cells are 0, 1, .. or 1, 2, .. */
  bool whole;         /* all numbers are */
  csv_cell text[FEW]; /* the first different texts */
  int texts;
  int64_t dates, commas;
  bool begins; /* its first row holds a text */
} seen;

static bool same_text(const csv_cell *a, const csv_cell *b)
{
  return a->size == b->size && memcmp(a->text, b->text, (size_t)a->size) == 0;
}

static void count_value(lapis_column *c, seen *s, const csv_cell *cell)
{
  int k = 0;
  if (c->different > FEW) return;
  while (k < c->different && !same_text(&s->value[k], cell)) k++;
  if (k == c->different) {
    c->different++;
    if (k < FEW) s->value[k] = *cell;
  }
  if (k < FEW) c->count[k]++;
}

static void note_text(seen *s, const csv_cell *cell)
{
  int k = 0;
  while (k < s->texts && !same_text(&s->text[k], cell)) k++;
  if (k == s->texts && k < FEW) s->text[s->texts++] = *cell;
}

/* Of a column of too many values to be listed, whose numbers have texts among
 * them: these texts are what somebody looks for. */
static void texts_first(const lapis_column *c, seen *s)
{
  if (c->type != LAPIS_COLUMN_TEXT || c->numbers == 0 || c->different <= FEW)
    return;
  for (int k = 0; k < s->texts; k++) s->value[k] = s->text[k];
}

static void note(lapis_column *c, seen *s, const csv_cell *cell, int64_t row)
{
  double value;
  csv_kind kind = csv_value(cell, &value);
  for (int from = 0; from < 2; from++)
    if (kind != CSV_NUMBER || value != (double)(row + from))
      s->in_order[from] = false;
  if (kind == CSV_MISSING) {
    c->missing++;
    return;
  }
  count_value(c, s, cell);
  if (kind == CSV_TEXT) {
    c->texts++;
    if (row == 0) s->begins = true;
    note_text(s, cell);
    s->dates += csv_is_date(cell);
    s->commas += csv_decimal_comma(cell);
    return;
  }
  c->numbers++;
  c->low = fmin(c->low, value);
  c->high = fmax(c->high, value);
  if (value != floor(value)) s->whole = false;
}

static lapis_column_type type_of(const lapis_column *c, const seen *s)
{
  if (c->numbers + c->texts == 0) return LAPIS_COLUMN_EMPTY;
  if (c->texts == 0 && (s->in_order[0] || s->in_order[1]) && c->numbers > 1)
    return LAPIS_COLUMN_COUNTER;
  if (c->texts == 0) return s->whole ? LAPIS_COLUMN_WHOLE : LAPIS_COLUMN_NUMBER;
  if (s->dates == c->texts && c->numbers == 0) return LAPIS_COLUMN_DATE;
  if (s->commas == c->texts) return LAPIS_COLUMN_COMMA;
  return LAPIS_COLUMN_TEXT;
}

static char *copy_cell(arena *memory, const csv_cell *cell)
{
  char *to = arena_take(memory, cell->size + 1, 1);
  if (to != NULL) (void)csv_copy(cell, to);
  return to;
}

/* A row of cells into the columns that are listed. */
static lapis_status scan_row(csv_scan *s, lapis_columns *out, seen *seen_in,
                             int64_t row, arena *memory)
{
  csv_cell cell = {.last = false};
  for (int64_t j = 0; j < out->columns; j++) {
    TRY(csv_next(s, &cell));
    if (j >= out->listed) continue;
    if (row < 0)
      out->column[j].title = copy_cell(memory, &cell);
    else
      note(&out->column[j], &seen_in[j], &cell, row);
  }
  csv_skip_blank(s, out->columns == 1);
  return arena_status(memory);
}

/* Of texts alone, a first row that stands nowhere else in its columns names
 * them, where some column below it holds classes: "name,eyes" above "ann,open",
 * "bob,open". */
static bool first_row_names(const lapis_columns *all, const seen *in)
{
  bool classes = false;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    if (c->numbers > 0 || !in[j].begins || c->count[0] != 1) return false;
    classes |= c->different > 1 && c->different <= FEW &&
               c->texts - 1 >= 2 * (c->different - 1);
  }
  return classes;
}

static lapis_status scan(csv_scan s, const lapis_table_options *opt,
                         lapis_columns *out, arena *memory)
{
  const csv_scan start = s;
  seen *in = arena_take(memory, out->listed, sizeof *in);
  out->column = arena_take(memory, out->listed, sizeof *out->column);
  TRY(arena_status(memory));
  for (int j = 0; j < out->listed; j++) {
    in[j] = (seen){.in_order = {true, true}, .whole = true};
    out->column[j] = (lapis_column){.low = INFINITY, .high = -INFINITY};
  }
  for (int64_t row = out->header ? -1 : 0; row < out->rows; row++)
    TRY(scan_row(&s, out, in, row, memory));
  bool asked = opt != NULL && opt->header != LAPIS_HEADER_AUTO;
  if (!out->header && !asked && first_row_names(out, in)) {
    out->header = true;
    out->rows--;
    return scan(start, opt, out, memory);
  }
  for (int j = 0; j < out->listed; j++) {
    lapis_column *c = &out->column[j];
    c->type = type_of(c, &in[j]);
    texts_first(c, &in[j]);
    for (int k = 0; k < FEW && k < c->different; k++)
      c->value[k] = copy_cell(memory, &in[j].value[k]);
  }
  return arena_status(memory);
}

lapis_status lapis_columns_read(lapis_ctx *ctx, const char *path,
                                const lapis_table_options *opt,
                                lapis_columns *out)
{
  io_file f;
  csv_scan s;
  NEEDS(ctx, path, out);
  *out = (lapis_columns){.rows = 0};
  TRY(io_file_open(ctx, path, &f));
  lapis_status status =
      f.format == IO_CSV
          ? LAPIS_OK
          : lapis_fail(ctx, LAPIS_EINVAL,
                       "%s: is no delimited text; save it as .csv or .tsv",
                       io_name(path));
  arena *memory = base_alloc(ctx, 1, sizeof *memory);
  if (memory == NULL) status = LAPIS_ENOMEM;
  if (memory != NULL) *memory = (arena){.ctx = ctx};
  out->memory = memory;
  if (status >= 0)
    status = csv_open(ctx, io_name(path), (const char *)f.data, f.size, &s);
  if (status >= 0 && opt != NULL) s.decimal = opt->decimal;
  if (status >= 0) status = table_shape(&s, opt, out);
  out->listed =
      (int)(out->columns < LAPIS_COLUMNS_LISTED ? out->columns
                                                : LAPIS_COLUMNS_LISTED);
  if (status >= 0) status = scan(s, opt, out, memory);
  io_file_close(&f);
  if (status < 0) lapis_columns_free(out);
  return status;
}

void lapis_columns_free(lapis_columns *all)
{
  if (all == NULL) return;
  if (all->memory != NULL) arena_free(all->memory);
  base_free(all->memory);
  *all = (lapis_columns){.rows = 0};
}
