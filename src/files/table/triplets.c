/* triplets.c - a sparse matrix as a table of its entries: row, column, value.
 *
 * The header says that a table is one, and from where rows and columns are
 * counted: row,column,value from 1, row0,column0,value from 0.  Without that
 * header a table of three columns is a table of three columns, unless the
 * options say that it is one of entries, and from where they count. */
#include <math.h>
#include <string.h>

#include "files/io.h"

static bool is_word(const csv_cell *cell, const char *word)
{
  return cell->size == (int64_t)strlen(word) &&
         memcmp(cell->text, word, (size_t)cell->size) == 0;
}

/* 0 or 1, from where places are counted; -1: no such header. */
static int headed_base(const csv_scan *start)
{
  static const char *const heads[2][3] = {{"row0", "column0", "value"},
                                          {"row", "column", "value"}};
  for (int base = 0; base < 2; base++) {
    csv_scan s = *start;
    csv_cell cell;
    bool same = true;
    for (int k = 0; k < 3 && same; k++)
      same = !csv_at_end(&s) && csv_next(&s, &cell) == LAPIS_OK &&
             is_word(&cell, heads[base][k]) && cell.last == (k == 2);
    if (same) return base;
  }
  return -1;
}

typedef struct triplets {
  lapis_ctx *ctx;
  const char *path;
  int base;
  int64_t count, room, least; /* least: features, at least */
  int64_t *row, *col, *line;
  double *value;
} triplets;

static lapis_status grow(triplets *t)
{
  if (t->count < t->room) return LAPIS_OK;
  int64_t room = t->room == 0 ? 1024 : 2 * t->room;
  void *all[] = {t->row, t->col, t->line, t->value};
  lapis_status status = LAPIS_OK;
  for (int i = 0; i < 4 && status >= 0; i++)
    status = base_grow(t->ctx, &all[i], t->count, room, 8);
  t->row = all[0];
  t->col = all[1];
  t->line = all[2];
  t->value = all[3];
  if (status >= 0) t->room = room;
  return status;
}

/* A place counted from t->base, as one from 0. */
static lapis_status read_place(const triplets *t, const csv_cell *cell,
                               const char *what, int64_t *out)
{
  double v;
  const double most = 1 << 30;
  bool whole = csv_value(cell, &v) == CSV_NUMBER && floor(v) == v;
  if (whole && v >= t->base && v <= most) {
    *out = (int64_t)v - t->base;
    return LAPIS_OK;
  }
  return lapis_fail(
      t->ctx, LAPIS_EFORMAT,
      "%s:%" PRId64 ":%" PRId64 ": the %s '%.*s' is not a whole "
      "number from %d to %.0f%s",
      t->path, cell->line, cell->column, what,
      (int)(cell->size < 40 ? cell->size : 40), cell->text, t->base, most,
      t->base == 1 ? "; a header row0,column0,value counts from 0" : "");
}

static lapis_status read_entry(triplets *t, csv_scan *s)
{
  csv_cell cell;
  TRY(grow(t));
  for (int k = 0; k < 3; k++) {
    TRY(csv_next(s, &cell));
    if (cell.last != (k == 2))
      return lapis_fail(t->ctx, LAPIS_EFORMAT,
                        "%s:%" PRId64 ": an entry is row, column and value",
                        t->path, cell.line);
    if (k == 0) TRY(read_place(t, &cell, "row", &t->row[t->count]));
    if (k == 1) TRY(read_place(t, &cell, "column", &t->col[t->count]));
  }
  double *value = &t->value[t->count];
  if (csv_value(&cell, value) != CSV_NUMBER || !isfinite(*value))
    return lapis_fail(t->ctx, LAPIS_EFORMAT,
                      "%s:%" PRId64 ":%" PRId64 ": the value '%.*s' is not "
                      "a finite number; an entry that is not known is left out",
                      t->path, cell.line, cell.column,
                      (int)(cell.size < 40 ? cell.size : 40), cell.text);
  t->line[t->count++] = cell.line;
  csv_skip_blank(s);
  return LAPIS_OK;
}

/* Where entry (row, col) lies in the built matrix. */
static int64_t find(const lapis_mat *X, int64_t row, int64_t col)
{
  int64_t low = X->colptr[col], high = X->colptr[col + 1] - 1;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (X->rowidx[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Building adds up what lies at one place: which two do. */
static lapis_status refuse_twice(const triplets *t, const lapis_mat *X)
{
  int64_t stored = X->colptr[X->cols];
  if (stored == t->count) return LAPIS_OK;
  int64_t *line = base_alloc(t->ctx, stored, sizeof *line);
  if (line == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  for (int64_t k = 0; k < t->count && status >= 0; k++) {
    int64_t at = find(X, t->col[k], t->row[k]);
    if (line[at] > 0)
      status = lapis_fail(t->ctx, LAPIS_EFORMAT,
                          "%s:%" PRId64 ": row %" PRId64 ", column %" PRId64
                          " stands in line %" PRId64
                          " already; one value an entry is needed",
                          t->path, t->line[k], t->row[k] + t->base,
                          t->col[k] + t->base, line[at]);
    line[at] = t->line[k];
  }
  base_free(line);
  return status;
}

static lapis_status build(const triplets *t, lapis_array *out)
{
  int64_t samples = 0, features = t->least;
  for (int64_t k = 0; k < t->count; k++) {
    if (t->row[k] >= samples) samples = t->row[k] + 1;
    if (t->col[k] >= features) features = t->col[k] + 1;
  }
  io_triplets all = {.rows = features,
                     .cols = samples,
                     .nnz = t->count,
                     .row = t->col,
                     .col = t->row,
                     .value = t->value};
  TRY(io_sparse_build(t->ctx, t->path, &all, out));
  lapis_status status = refuse_twice(t, &out->mat);
  if (status < 0) lapis_array_free(out);
  return status;
}

/* From where places count; -1: no triplets.  *headed: a header says so. */
static lapis_status find_base(const csv_scan *start,
                              const lapis_table_options *opt, int *base,
                              bool *headed)
{
  static const int asked_base[] = {[LAPIS_TRIPLETS_HEADED] = -1,
                                   [LAPIS_TRIPLETS_FROM_1] = 1,
                                   [LAPIS_TRIPLETS_FROM_0] = 0};
  int asked = opt == NULL ? -1 : asked_base[opt->triplets];
  *base = headed_base(start);
  *headed = *base >= 0;
  if (*headed && asked >= 0 && asked != *base)
    return lapis_fail(start->ctx, LAPIS_EINVAL,
                      "%s: its header counts from %d, --triplets from %d; "
                      "leave --triplets out",
                      start->path, *base, asked);
  if (!*headed) *base = asked;
  return LAPIS_OK;
}

static lapis_status read_entries(triplets *t, csv_scan *s, bool headed)
{
  csv_cell cell;
  for (int k = 0; headed && k < 3; k++) TRY(csv_next(s, &cell));
  csv_skip_blank(s);
  while (!csv_at_end(s)) TRY(read_entry(t, s));
  if (t->count > 0) return LAPIS_OK;
  return lapis_fail(
      t->ctx, LAPIS_EMISSING,
      "%s: has a header and no entry; a line is row, column and value",
      t->path);
}

lapis_status triplets_read(const csv_scan *start, const table_request *q,
                           lapis_arrays *out, bool *done)
{
  triplets t = {.ctx = start->ctx, .path = start->path};
  csv_scan s = *start;
  s.passes = 1;
  lapis_array a;
  bool headed;
  *done = false;
  TRY(find_base(start, q->opt, &t.base, &headed));
  if (t.base < 0) return LAPIS_OK;
  if (q->opt != NULL) t.least = q->opt->features;
  lapis_status status = read_entries(&t, &s, headed);
  if (status >= 0) status = build(&t, &a);
  if (status >= 0) status = io_arrays_add(t.ctx, out, q->features, &a);
  base_free(t.row);
  base_free(t.col);
  base_free(t.line);
  base_free(t.value);
  *done = status >= 0;
  return status;
}
