/* sheet.c - tables that are written: columns of any kind side by side, and a
 * table again with its empty cells filled. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/io.h"
#include "lapis/tools.h"
#include "mat/mat.h"

static const char *text_at(const lapis_mat *m, int64_t i, int64_t j)
{
  const char *text = ((const char *const *)m->val)[j * m->ld + i];
  return text == NULL ? "" : text;
}

/* ---- numbers ------------------------------------------------------------*/
void lapis_sheet_number(const lapis_sheet_column *column, double value,
                        int digits, char *text, size_t size)
{
  if (column == NULL || text == NULL || !column->rounded || !isfinite(value)) {
    lapis_number_text(value, text, size);
    return;
  }
  int decimals = column->decimals;
  if (decimals < 0 && fabs(value) >= pow(10, digits)) decimals = 0;
  if (decimals < 0 && digits < LAPIS_SHEET_DIGITS && fabs(value) <= 1)
    decimals = digits - 1; /* below each other, as page.js writes them */
  if (decimals < 0) {
    lapis_number_print(text, size, "%.*g", digits, value);
    return;
  }
  if (fabs(value) * pow(10, decimals) <= .5) value = 0; /* not -0.00 */
  lapis_number_print(text, size, "%.*f", decimals, value);
}

/* Whether a number reads back from so many decimals. */
static bool is_written(double value, int decimals)
{
  double back;
  char text[400];
  lapis_number_print(text, sizeof text, "%.*f", decimals, value);
  return lapis_number_read(text, NULL, &back) && back == value;
}

int lapis_decimals_of(const lapis_mat *Y, int64_t i)
{
  enum { MOST = 9 };
  double first = NAN, second = NAN;
  int decimals = 0;
  bool codes = true;
  if (i < 0 || Y == NULL || mat_check_view(NULL, "", "", Y) < 0 || i >= Y->rows)
    return -1;
  for (int64_t j = 0; j < Y->cols && decimals <= MOST; j++) {
    double v = lapis_mat_at(Y, i, j);
    if (isnan(v)) continue;
    if (isnan(first)) first = v;
    if (isnan(second) && v != first) second = v;
    codes = codes && (v == first || v == second);
    while (decimals <= MOST && !is_written(v, decimals)) decimals++;
  }
  return codes || decimals > MOST ? -1 : decimals;
}

/* What is not known is an empty cell. */
static void put_value(io_print *p, const lapis_sheet_column *c, int64_t j,
                      const lapis_dialect *d)
{
  char text[400];
  if (c->values.dtype == LAPIS_TEXT) {
    io_put_cell(p, text_at(&c->values, 0, j), d->delimiter);
    return;
  }
  double v = lapis_mat_at(&c->values, 0, j);
  if (isnan(v)) return;
  if (c->rounded)
    lapis_sheet_number(c, v, LAPIS_SHEET_DIGITS, text, sizeof text);
  else
    io_number_text(v, text, sizeof text);
  lapis_dialect_number(d, text);
  io_put_plain_cell(p, text, d->delimiter);
}

/* ---- columns ------------------------------------------------------------*/
lapis_status lapis_sheet_write(lapis_ctx *ctx, const char *path,
                               const char *dialect,
                               const lapis_sheet_column *column, int count)
{
  NEEDS(ctx, path, column);
  io_print p;
  lapis_dialect d = lapis_dialect_for(dialect, path);
  for (int k = 0; k < count; k++) {
    const lapis_mat *values = &column[k].values;
    TRY(mat_check_view(ctx, "sheet", "a column", values));
    if (column[k].title == NULL || values->rows != 1 || values->colptr != NULL)
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "%s: column %d needs a title and one dense row of "
                        "values",
                        path, k + 1);
    if (values->cols != column[0].values.cols)
      return lapis_fail(ctx, LAPIS_ESHAPE,
                        "%s: column %d has %" PRId64 " values, the first has "
                        "%" PRId64,
                        path, k + 1, values->cols, column[0].values.cols);
  }
  TRY(io_print_begin(ctx, path, &p));
  io_put_text(&p, d.begin);
  for (int k = 0; k < count; k++) {
    if (k > 0) io_put(&p, &d.delimiter, 1);
    io_put_cell(&p, column[k].title, d.delimiter);
  }
  io_put_text(&p, d.end);
  for (int64_t j = 0; count > 0 && j < column[0].values.cols; j++) {
    for (int k = 0; k < count; k++) {
      if (k > 0) io_put(&p, &d.delimiter, 1);
      put_value(&p, &column[k], j, &d);
    }
    io_put_text(&p, d.end);
  }
  return io_print_end(&p);
}

/* ---- a table with its empty cells filled --------------------------------*/
typedef struct filler {
  io_print p;
  const lapis_mat *X, *Y; /* or NULL */
  char decimal;           /* as it is read; 0: the usual */
  const char *to;
  lapis_dialect d; /* from the first cell on */
  const int64_t
      *decimals; /* of targets in whose column is no number; or NULL */
  int64_t filled;
} filler;

/* A text of the table: what is a number by its decimal mark, "-1,5", takes no
 * mark against spreadsheets. */
static void put_own(filler *f, const char *text)
{
  csv_cell cell = {
      .text = text, .size = (int64_t)strlen(text), .decimal = f->decimal};
  if (csv_value(&cell, NULL) == CSV_NUMBER)
    io_put_plain_cell(&f->p, text, f->d.delimiter);
  else
    io_put_cell(&f->p, text, f->d.delimiter);
}

/* The value with the largest number; false: none is known. */
static bool put_likeliest(filler *f, const io_cell *cell)
{
  int64_t best = -1;
  double most = 0;
  for (int64_t k = 0; k < cell->width; k++) {
    double v = lapis_mat_at(f->X, cell->place + k, cell->row);
    if (isnan(v) || (best >= 0 && v <= most)) continue;
    best = k;
    most = v;
  }
  if (best >= 0) put_own(f, cell->value[best]);
  return best >= 0;
}

/* The word whose number is nearest. */
static void put_nearest(filler *f, const io_cell *cell)
{
  double v = lapis_mat_at(f->X, cell->place, cell->row), least = INFINITY;
  int64_t best = 0;
  for (int64_t k = 0; k < cell->words; k++) {
    double number = (double)k;
    const char *word = cell->word[k];
    if (!cell->coded && !io_number(word, (int64_t)strlen(word), &number))
      continue;
    if (fabs(v - number) >= least) continue;
    least = fabs(v - number);
    best = k;
  }
  put_own(f, cell->word[best]);
}

static bool knows(const lapis_mat *m, int64_t i, int64_t j)
{
  if (m == NULL || i >= m->rows || j >= m->cols) return false;
  return m->dtype == LAPIS_TEXT ? *text_at(m, i, j) != '\0'
                                : !isnan(lapis_mat_at(m, i, j));
}

/* 1234567,5 -> 1.234.567,5 */
static void put_thousands(char *text, size_t size, char mark)
{
  char *first = text + (*text == '-');
  size_t digits = strspn(first, "0123456789"), length = strlen(text);
  for (size_t left = digits; left > 3 && length + 1 < size; length++) {
    left -= 3;
    memmove(first + left + 1, first + left, strlen(first + left) + 1);
    first[left] = mark;
  }
}

/* Numbers as the table writes its own. */
static void put_filled(filler *f, const lapis_mat *m, const io_cell *cell)
{
  char text[400];
  if (m->dtype == LAPIS_TEXT) {
    io_put_cell(&f->p, text_at(m, cell->place, cell->row), f->d.delimiter);
    return;
  }
  double v = lapis_mat_at(m, cell->place, cell->row);
  int decimals = cell->whole ? 0 : (int)cell->decimals;
  if (cell->numbers == 0) decimals = -1;
  if (cell->numbers == 0 && cell->role == IO_TARGET && f->decimals != NULL)
    decimals = (int)f->decimals[cell->place];
  lapis_sheet_column as = {.rounded = true, .decimals = decimals};
  lapis_sheet_number(&as, decimals == 0 ? round(v) : v, LAPIS_SHEET_DIGITS,
                     text, sizeof text);
  if (cell->digits > 0 && v >= 0 && v < 1e15) /* 7 among 01 .. 12 is 07 */
    (void)snprintf(text, sizeof text, "%0*.0f", (int)cell->digits, round(v));
  lapis_dialect_number(&f->d, text);
  if (cell->thousands != '\0')
    put_thousands(text, sizeof text, cell->thousands);
  io_put_plain_cell(&f->p, text, f->d.delimiter);
}

/* Whether it has a value to put there. */
static bool fill_cell(filler *f, const io_cell *cell)
{
  const lapis_mat *m = cell->role == IO_FEATURE  ? f->X
                       : cell->role == IO_TARGET ? f->Y
                                                 : NULL;
  if (cell->row < 0 || m == NULL || cell->row >= m->cols) return false;
  if (cell->value != NULL)
    return cell->place + cell->width <= m->rows && put_likeliest(f, cell);
  if (!knows(m, cell->place, cell->row)) return false;
  if (cell->role == IO_FEATURE && cell->words > 0)
    put_nearest(f, cell);
  else
    put_filled(f, m, cell);
  return true;
}

/* Given: to the byte, but for quotes where the delimiter is another one. */
static void put_given(filler *f, const csv_cell *cell)
{
  bool quote =
      !cell->quoted && cell->raw_size > 0 &&
      memchr(cell->raw, f->d.delimiter, (size_t)cell->raw_size) != NULL;
  if (!quote) {
    io_put(&f->p, cell->raw, cell->raw_size);
    return;
  }
  io_put(&f->p, "\"", 1);
  for (int64_t i = 0; i < cell->raw_size; i++) {
    if (cell->raw[i] == '"') io_put(&f->p, "\"", 1);
    io_put(&f->p, &cell->raw[i], 1);
  }
  io_put(&f->p, "\"", 1);
}

static void take_cell(void *user, const io_cell *cell)
{
  filler *f = user;
  if (f->d.end == NULL) {
    f->d = lapis_dialect_for(cell->dialect, f->to);
    io_put_text(&f->p, f->d.begin);
  }
  if (cell->column > 0) io_put(&f->p, &f->d.delimiter, 1);
  if (cell->missing && fill_cell(f, cell))
    f->filled++;
  else if (cell->cell != NULL)
    put_given(f, cell->cell);
  else
    put_own(f, cell->text);
  if (cell->last) io_put_text(&f->p, f->d.end);
}

static lapis_status complete(lapis_ctx *ctx, io_file *from,
                             const lapis_table_options *opt, filler *f,
                             const char *to)
{
  table_request q = {.opt = opt, .features = "X", .targets = "Y"};
  if (from->format != IO_CSV && from->format != IO_ARFF)
    return lapis_fail(
        ctx, LAPIS_EINVAL,
        "%s: is not a table of cells (.csv, .tsv, .arff), so there "
        "is none to complete; a result in .npz has its features "
        "as low_rank",
        io_name(from->path));
  f->to = to;
  TRY(io_print_begin(ctx, to, &f->p));
  lapis_status status = from->format == IO_CSV
                            ? table_walk(ctx, from, &q, take_cell, f)
                            : arff_walk(ctx, from, &q, take_cell, f);
  if (status < 0) f->p.status = status; /* nothing appears */
  lapis_status written = io_print_end(&f->p);
  return status < 0 ? status : written;
}

lapis_status lapis_table_complete(lapis_ctx *ctx, const char *from,
                                  const lapis_table_options *opt,
                                  const lapis_mat *X, const lapis_mat *Y,
                                  const int64_t *decimals, const char *to,
                                  int64_t *filled)
{
  NEEDS(ctx, from, to);
  io_file file;
  filler f = {.X = X, .Y = Y, .decimals = decimals};
  if (opt != NULL) f.decimal = opt->decimal;
  if (filled != NULL) *filled = 0;
  TRY(io_options_check(ctx, opt));
  if (X != NULL) TRY(mat_check_view(ctx, "table", "X", X));
  if (Y != NULL) TRY(mat_check_view(ctx, "table", "Y", Y));
  TRY(io_file_open(ctx, from, &file));
  lapis_status status = complete(ctx, &file, opt, &f, to);
  io_file_close(&file);
  if (status >= 0 && filled != NULL) *filled = f.filled;
  return status;
}
