/* rows.c - labels that name the rows they are of: a table whose first column is
 * titled row, counted from 1, or row0, counted from 0. */
#include <math.h>
#include <string.h>

#include "files/io.h"
#include "files/twice.h"

/* Without reading on: whether a table of which that can be true begins so. */
static bool may_begin(const io_file *f)
{
  static const char *const begins[] = {"row", "\"row", "sep="};
  const char *at = (const char *)f->data, *end = at + f->size;
  if (f->size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
  while (at < end && strchr(" \t\r\n", *at) != NULL && *at != '\0') at++;
  for (size_t k = 0; k < sizeof begins / sizeof *begins; k++) {
    size_t size = strlen(begins[k]);
    if ((size_t)(end - at) > size && memcmp(at, begins[k], size) == 0)
      return true;
  }
  return false;
}

static bool is_word(const csv_cell *cell, const char *word)
{
  return cell->size == (int64_t)strlen(word) &&
         memcmp(cell->text, word, (size_t)cell->size) == 0;
}

lapis_status io_rows_title(lapis_ctx *ctx, const io_file *f,
                           const lapis_table_options *opt, const char *asked,
                           const char **title)
{
  csv_scan s;
  csv_cell cell;
  bool other =
      opt != NULL && (opt->id != NULL || opt->header == LAPIS_HEADER_NO);
  if (asked == NULL && opt != NULL) asked = opt->target;
  *title = NULL;
  if (f->format != IO_CSV || other || !may_begin(f)) return LAPIS_OK;
  TRY(csv_open(ctx, io_name(f->path), (const char *)f->data, f->size, &s));
  TRY(csv_next(&s, &cell));
  if (cell.last || (asked != NULL && is_word(&cell, asked))) return LAPIS_OK;
  const char *found = is_word(&cell, "row")    ? "row"
                      : is_word(&cell, "row0") ? "row0"
                                               : NULL;
  TRY(csv_next(&s, &cell));
  if (!is_word(&cell, "column") && !is_word(&cell, "column0")) *title = found;
  return LAPIS_OK;
}

typedef struct places {
  csv_scan s;
  int64_t base, n, *row, *line; /* of each of n: its label, where that stands */
} places;

static lapis_status place(places *p, const csv_cell *cell, int64_t j)
{
  double v;
  int shown = csv_shown_bytes(cell);
  const char *path = p->s.path;
  bool whole = csv_value(cell, &v) == CSV_NUMBER && floor(v) == v;
  if (!whole || v < (double)p->base || v >= (double)(p->base + p->n))
    return lapis_fail(p->s.ctx, LAPIS_EDATA,
                      "%s:%" PRId64 ":%" PRId64
                      ": the row '%.*s' is not a whole "
                      "number from %" PRId64 " to %" PRId64 ", the rows of X%s",
                      path, cell->line, cell->column, shown, cell->text,
                      p->base, p->base + p->n - 1,
                      p->base == 1 ? "; the title row0 counts from 0" : "");
  int64_t at = (int64_t)v - p->base;
  if (p->row[at] >= 0)
    return io_fail_twice(p->s.ctx, path, "row", cell, p->line[at]);
  p->row[at] = j;
  p->line[at] = cell->line;
  return LAPIS_OK;
}

static lapis_status place_all(places *p)
{
  csv_cell cell;
  for (int64_t j = 0; j < p->n; j++) p->row[j] = -1;
  for (int64_t j = -1; !csv_at_end(&p->s); j++) { /* -1: the titles */
    TRY(csv_next(&p->s, &cell));
    if (j >= 0) TRY(place(p, &cell, j));
    while (!cell.last) TRY(csv_next(&p->s, &cell));
    csv_skip_blank(&p->s);
  }
  return LAPIS_OK;
}

static lapis_status place_member(lapis_ctx *ctx, const io_file *f, places *p,
                                 lapis_array *of)
{
  TRY(csv_open(ctx, io_name(f->path), (const char *)f->data, f->size, &p->s));
  TRY(place_all(p));
  return io_arrange(ctx, p->row, p->n, of);
}

lapis_status io_rows_place(lapis_ctx *ctx, const io_file *f, const char *title,
                           int64_t n, const char *member, lapis_arrays *all)
{
  places p = {.base = strcmp(title, "row") == 0, .n = n};
  p.row = base_alloc(ctx, n + 1, sizeof *p.row);
  p.line = base_alloc(ctx, n + 1, sizeof *p.line);
  lapis_status s = p.row == NULL || p.line == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int i = 0; i < all->count && s >= 0; i++) {
    lapis_array *a = &all->item[i];
    if (strcmp(a->name, member) == 0)
      s = place_member(ctx, f, &p, a);
    else if (strcmp(a->name, "names") == 0 || strcmp(a->name, "id_name") == 0)
      a->name[0] = '\0';
  }
  base_free(p.row);
  base_free(p.line);
  return s;
}
