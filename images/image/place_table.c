/* place_table.c - tables of places in images: name,x,y,... */
#include "images/image/place_table.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "files/io.h"

typedef struct scan {
  csv_scan csv;
  const place_form *form;
  int word;     /* the number of that column; 0: there is none */
  bool unnamed; /* its rows begin with the numbers */
} scan;

static lapis_status fail_cell(const scan *s, const csv_cell *cell,
                              const char *what)
{
  return lapis_fail(s->csv.ctx, LAPIS_EFORMAT,
                    "%s:%" PRId64 ":%" PRId64 ": %s; a row is %s", s->csv.path,
                    cell->line, cell->column, what, s->form->rows);
}

static lapis_status take_number(const scan *s, const csv_cell *cell, int column,
                                double *to)
{
  csv_kind kind = csv_value(cell, to);
  bool side = s->form->positive[column];
  if (column >= s->form->needed && kind == CSV_MISSING) return LAPIS_OK;
  if (kind == CSV_NUMBER && isfinite(*to) && !(side && *to <= 0))
    return LAPIS_OK;
  return lapis_fail(s->csv.ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ":%" PRId64 ": %s is \"%.*s\"; it must be "
                    "a number%s",
                    s->csv.path, cell->line, cell->column,
                    s->form->column[column], (int)fmin((double)cell->size, 60),
                    cell->text, side ? " above 0" : "");
}

static lapis_status take_name(scan *s, csv_cell *name)
{
  TRY(csv_next(&s->csv, name));
  if (name->size == 0) return fail_cell(s, name, "no name");
  if (name->last) return fail_cell(s, name, "the row ends too early");
  return LAPIS_OK;
}

static lapis_status take_row(scan *s, csv_cell *name, csv_cell *word,
                             place_row *row)
{
  if (!s->unnamed) TRY(take_name(s, name));
  for (int i = 0; i < PLACE_NUMBERS; i++) row->number[i] = NAN;
  csv_cell cell = *name;
  int most = s->word > 0 ? s->word : s->form->most;
  for (int i = 0; i < most && !cell.last; i++) {
    TRY(csv_next(&s->csv, &cell));
    if (i == 0) row->line = s->unnamed ? cell.line : name->line;
    if (i + 1 == s->word)
      *word = cell;
    else
      TRY(take_number(s, &cell, i, &row->number[i]));
    if (cell.last && i + 1 < s->form->needed)
      return fail_cell(s, &cell, "the row ends too early");
  }
  if (!cell.last) return fail_cell(s, &cell, "the row goes on after this");
  return LAPIS_OK;
}

static bool is_word(const csv_cell *cell, const char *word)
{
  return cell->size == (int64_t)strlen(word) &&
         strncasecmp(cell->text, word, strlen(word)) == 0;
}

/* By whichever decimal mark. */
static bool is_number(const csv_cell *cell)
{
  csv_kind kind = csv_value(cell, NULL);
  return kind != CSV_MISSING && marks_of(cell, kind) != MARK_NOT;
}

/* x,y, or two numbers. */
static bool lacks_name(const scan *s, const csv_cell *a, const csv_cell *b)
{
  bool numbers = b->last && is_number(a);
  return s->form->unnamed && (numbers || (is_word(a, "x") && is_word(b, "y")));
}

/* The first row where it has the title x. */
static lapis_status skip_header(scan *s)
{
  csv_scan ahead = s->csv;
  csv_cell first, cell;
  TRY(csv_next(&ahead, &first));
  if (first.last) return LAPIS_OK; /* take_row says what is wrong */
  TRY(csv_next(&ahead, &cell));
  s->unnamed = lacks_name(s, &first, &cell);
  if (!is_word(s->unnamed ? &first : &cell, "x")) return LAPIS_OK;
  int at = s->unnamed ? 2 : 1;
  for (; !cell.last; at++) TRY(csv_next(&ahead, &cell));
  const char *word = s->form->word;
  if (word != NULL && at > s->form->needed &&
      (is_word(&cell, word) || (s->unnamed && is_word(&cell, "name"))))
    s->word = at;
  csv_skip_blank(&ahead);
  s->csv = ahead;
  return LAPIS_OK;
}

/* A table of places has no --decimal: commas are decimal where its numbers say
 * so. */
static lapis_status find_decimal(scan *s)
{
  csv_scan ahead = s->csv;
  csv_cell cell;
  marks all = {.first = {{NULL, 0}}};
  char rather, said[MARKS_BYTES];
  while (!csv_at_end(&ahead)) {
    bool name = !s->unnamed;
    do {
      TRY(csv_next(&ahead, &cell));
      if (!name) marks_note(&all, &cell, csv_value(&cell, NULL));
      name = false;
    } while (!cell.last);
    csv_skip_blank(&ahead);
  }
  (void)marks_judge(&all, &all, ahead.delimiter, '\0', &rather, said);
  if (rather == ',') s->csv.decimal = ',';
  return LAPIS_OK;
}

static char *copy_cell(lapis_ctx *ctx, const csv_cell *cell)
{
  char *text = base_alloc(ctx, cell->size + 1, 1);
  if (text != NULL && cell->size > 0) csv_copy(cell, text);
  return text;
}

static lapis_status read_rows(scan *s, place_table *out)
{
  int64_t room = 0;
  lapis_ctx *ctx = s->csv.ctx;
  while (!csv_at_end(&s->csv)) {
    csv_cell name = {.size = 0}, word = {.size = 0};
    place_row row;
    TRY(take_row(s, &name, &word, &row));
    if (out->count == room) {
      void *rows = out->row;
      room = 2 * room + 64;
      TRY(base_grow(ctx, &rows, out->count, room, sizeof *out->row));
      out->row = rows;
    }
    row.name = copy_cell(ctx, &name);
    row.word = copy_cell(ctx, &word);
    out->row[out->count++] = row;
    if (row.name == NULL || row.word == NULL) return LAPIS_ENOMEM;
    csv_skip_blank(&s->csv);
  }
  return LAPIS_OK;
}

static lapis_status read_table(lapis_ctx *ctx, const io_file *f,
                               const place_form *form, place_table *out)
{
  scan s = {.form = form};
  if (f->format != IO_CSV || f->data == NULL)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: is not a table; %s are rows of %s", io_name(f->path),
                      form->nouns, form->title);
  TRY(csv_open(ctx, io_name(f->path), (const char *)f->data, f->size, &s.csv));
  if (!csv_at_end(&s.csv)) TRY(skip_header(&s));
  TRY(find_decimal(&s));
  TRY(read_rows(&s, out));
  if (out->count == 0)
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: holds no %s", io_name(f->path),
                      form->noun);
  return LAPIS_OK;
}

lapis_status places_read(lapis_ctx *ctx, const char *path,
                         const place_form *form, place_table *out)
{
  io_file f;
  *out = (place_table){0};
  TRY(io_file_open(ctx, path, &f));
  lapis_status status = read_table(ctx, &f, form, out);
  io_file_close(&f);
  if (status < 0) places_free(out);
  return status;
}

void places_free(place_table *t)
{
  for (int64_t i = 0; i < t->count; i++) {
    base_free(t->row[i].name);
    base_free(t->row[i].word);
  }
  base_free(t->row);
  *t = (place_table){0};
}

bool place_names_path(const char *name, const char *path)
{
  size_t n = strlen(name), m = strlen(path);
  const char *base = strrchr(path, '/');
  base = base == NULL ? path : base + 1;
  const char *dot = strrchr(base, '.');
  if (n <= m && strcmp(path + m - n, name) == 0 &&
      (n == m || path[m - n - 1] == '/'))
    return true;
  return dot != NULL && n == (size_t)(dot - base) && memcmp(base, name, n) == 0;
}
