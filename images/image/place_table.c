/* place_table.c - tables of places in images: name,x,y,... */
#include "images/image/place_table.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "files/io.h"

enum { NAMES = 5 };
/* Titles of the column of names: where there are several, the first of these.
 */
static const char *const name_title[NAMES] = {"file", "path", "image",
                                              "picture", "name"};

/* What stands where in a row, from 0; -1: nowhere. */
typedef struct layout {
  int name, word, number[PLACE_NUMBERS];
  int least, most; /* cells of a row */
  bool titled;     /* the first row says so */
} layout;

typedef struct scan {
  csv_scan csv;
  const place_form *form;
  layout at;
} scan;

/* ---- rows ---------------------------------------------------------------*/
static lapis_status fail_cell(const scan *s, const csv_cell *cell,
                              const char *what)
{
  if (s->at.titled)
    return lapis_fail(s->csv.ctx, LAPIS_EFORMAT,
                      "%s:%" PRId64 ":%" PRId64 ": %s; the titles are of %d "
                      "columns",
                      s->csv.path, cell->line, cell->column, what, s->at.most);
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

/* Which number stands at a place of the row; -1: none. */
static int number_at(const layout *at, int place)
{
  for (int i = 0; i < PLACE_NUMBERS; i++)
    if (at->number[i] == place) return i;
  return -1;
}

static lapis_status take_row(scan *s, csv_cell *name, csv_cell *word,
                             place_row *row)
{
  const layout *at = &s->at;
  csv_cell cell = {.last = false};
  for (int i = 0; i < PLACE_NUMBERS; i++) row->number[i] = NAN;
  for (int k = 0; k < at->most && !cell.last; k++) {
    TRY(csv_next(&s->csv, &cell));
    int i = number_at(at, k);
    if (k == 0) row->line = cell.line;
    if (k == at->name) *name = cell;
    if (k == at->name && cell.size == 0) return fail_cell(s, &cell, "no name");
    if (k == at->word) *word = cell;
    if (i >= 0) TRY(take_number(s, &cell, i, &row->number[i]));
    if (cell.last && k + 1 < at->least)
      return fail_cell(s, &cell, "the row ends too early");
  }
  if (!cell.last) return fail_cell(s, &cell, "the row goes on after this");
  return LAPIS_OK;
}

/* ---- what stands where --------------------------------------------------*/
static bool is_word(const csv_cell *cell, const char *word)
{
  return word != NULL && cell->size == (int64_t)strlen(word) &&
         strncasecmp(cell->text, word, strlen(word)) == 0;
}

/* By whichever decimal mark. */
static bool is_number(const csv_cell *cell)
{
  csv_kind kind = csv_value(cell, NULL);
  return kind != CSV_MISSING && marks_of(cell, kind) != MARK_NOT;
}

typedef struct titles { /* the first row, as if it were titles */
  layout at;
  int name[NAMES];
  csv_cell twice; /* a title that an earlier cell has; size 0: none */
  bool texts;     /* all cells are words, and not one alone */
} titles;

static int *place_of(const place_form *form, titles *t, const csv_cell *title)
{
  for (int i = 0; i < form->most; i++)
    if (is_word(title, form->column[i])) return &t->at.number[i];
  if (is_word(title, form->word)) return &t->at.word;
  for (int k = 0; k < NAMES; k++)
    if (is_word(title, name_title[k])) return &t->name[k];
  return NULL;
}

/* A `name` beside another name of the image, or behind the numbers of a table
 * that needs none, is the row's own. */
static void place_names(const place_form *form, titles *t)
{
  int *plain = &t->name[NAMES - 1], first = 0;
  while (first < NAMES && t->name[first] < 0) first++;
  bool behind = form->unnamed && *plain > t->at.number[0];
  if (form->word != NULL && t->at.word < 0 && *plain >= 0 &&
      (first < NAMES - 1 || behind)) {
    t->at.word = *plain;
    *plain = -1;
  }
  for (int k = NAMES - 1; k >= 0; k--)
    if (t->name[k] >= 0) t->at.name = t->name[k];
}

static lapis_status read_titles(const scan *s, csv_scan *ahead, titles *t)
{
  csv_cell cell = {.last = false};
  *t = (titles){.at = {.name = -1, .word = -1, .titled = true}};
  for (int i = 0; i < PLACE_NUMBERS; i++) t->at.number[i] = -1;
  for (int k = 0; k < NAMES; k++) t->name[k] = -1;
  t->texts = true;
  for (; !cell.last; t->at.most++) {
    TRY(csv_next(ahead, &cell));
    t->texts =
        t->texts && csv_value(&cell, NULL) != CSV_MISSING && !is_number(&cell);
    int *place = place_of(s->form, t, &cell);
    if (place == NULL) continue;
    if (*place >= 0 && t->twice.size == 0) t->twice = cell;
    *place = t->at.most;
  }
  t->texts = t->texts && t->at.most > 1;
  place_names(s->form, t);
  return LAPIS_OK;
}

static lapis_status check_titles(const scan *s, titles *t)
{
  const place_form *form = s->form;
  const char *lacks = t->at.name < 0 && !form->unnamed ? "name" : NULL;
  t->at.least = t->at.name + 1;
  for (int i = form->needed - 1; i >= 0; i--) {
    if (t->at.number[i] < 0) lacks = form->column[i];
    if (t->at.number[i] >= t->at.least) t->at.least = t->at.number[i] + 1;
  }
  if (lacks != NULL)
    return lapis_fail(s->csv.ctx, LAPIS_EFORMAT,
                      "%s:%" PRId64 ": no column has the title %s; the titles "
                      "are %s, in any order",
                      s->csv.path, s->csv.line, lacks, form->title);
  if (t->twice.size == 0) return LAPIS_OK;
  return lapis_fail(s->csv.ctx, LAPIS_EFORMAT,
                    "%s:%" PRId64 ":%" PRId64 ": another column has the title "
                    "%.*s, too",
                    s->csv.path, t->twice.line, t->twice.column,
                    (int)t->twice.size, t->twice.text);
}

/* Names columns that are not read. */
static lapis_status say_others(const scan *s, const layout *at, csv_scan row)
{
  int others = 0;
  csv_cell cell, first = {.size = 0};
  for (int k = 0; k < at->most; k++) {
    TRY(csv_next(&row, &cell));
    if (k == at->name || k == at->word || number_at(at, k) >= 0 ||
        is_word(&cell, s->form->beside))
      continue;
    if (others++ == 0) first = cell;
  }
  if (others > 0)
    base_say(s->csv.ctx, 0,
             "%s: %d column(s) not read, '%.*s' first; the titles are %s",
             s->csv.path, others, csv_shown_bytes(&first), first.text,
             s->form->title);
  return LAPIS_OK;
}

/* Without titles: as the form says, where it may be without the name; a row is
 * two numbers. */
static layout plain_layout(const scan *s, csv_scan row)
{
  csv_cell a, b;
  bool two = csv_next(&row, &a) >= 0 && !a.last && csv_next(&row, &b) >= 0 &&
             b.last && is_number(&a);
  int names = s->form->unnamed && two ? 0 : 1;
  layout at = {.name = names - 1,
               .word = -1,
               .least = names + s->form->needed,
               .most = names + s->form->most};
  for (int i = 0; i < PLACE_NUMBERS; i++)
    at.number[i] = i < s->form->most ? names + i : -1;
  return at;
}

/* The first row has titles where it has x and y, and ought to have them where
 * it has words alone. */
static lapis_status find_layout(scan *s)
{
  csv_scan ahead = s->csv;
  titles t;
  TRY(read_titles(s, &ahead, &t));
  bool titled = t.at.number[0] >= 0 && t.at.number[1] >= 0;
  if (!titled && !t.texts) {
    s->at = plain_layout(s, s->csv);
    return LAPIS_OK;
  }
  TRY(check_titles(s, &t));
  TRY(say_others(s, &t.at, s->csv));
  csv_skip_blank(&ahead);
  s->csv = ahead;
  s->at = t.at;
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
    int k = 0;
    do {
      TRY(csv_next(&ahead, &cell));
      if (number_at(&s->at, k++) >= 0)
        marks_note(&all, &cell, csv_value(&cell, NULL));
    } while (!cell.last);
    csv_skip_blank(&ahead);
  }
  (void)marks_judge(&all, &all, ahead.delimiter, '\0', &rather, said);
  if (rather == ',') s->csv.decimal = ',';
  return LAPIS_OK;
}

/* ---- the table ----------------------------------------------------------*/
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
  if (!csv_at_end(&s.csv)) TRY(find_layout(&s));
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
