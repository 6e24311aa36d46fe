/* table_values.c - the different texts of a column: the values of a one-hot
 * one, and whether numbers are codes, which are texts. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/table/table.h"

enum { MAX_VALUES = 1000 };

static int by_bytes(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int64_t table_value_at(const column *c, const csv_cell *cell)
{
  for (int64_t k = 0; k < c->width; k++)
    if (table_title_is(cell, c->value[k], strlen(c->value[k]))) return k;
  return -1;
}

/* ---- the cells of one column --------------------------------------------*/
typedef lapis_status (*cell_fn)(table *t, int64_t j, const csv_cell *cell,
                                void *user);

/* Below the header, row by row.  A pass keeps the place in every row, so that
 * columns that are asked for from left to right are one pass together. */
static lapis_status visit_column(table *t, int64_t j, cell_fn visit, void *user)
{
  bool anew = t->beyond == NULL || j < t->passed;
  if (t->beyond == NULL)
    t->beyond = arena_take(&t->memory, t->rows, sizeof *t->beyond);
  TRY(arena_status(&t->memory));
  csv_scan s = t->start;
  csv_cell cell, other;
  s.passes = 0; /* one more than was counted on */
  for (int64_t row = anew ? -t->header : 0; row < t->rows; row++) {
    table_place *place = &t->beyond[row < 0 ? 0 : row];
    if (!anew) {
      s.at = place->at;
      s.line_start = place->line_start;
      s.line = place->line;
    }
    for (int64_t k = anew ? 0 : t->passed; k <= j; k++)
      TRY(csv_next(&s, &cell));
    *place = (table_place){s.at, s.line_start, s.line};
    if (row >= 0) TRY(visit(t, j, &cell, user));
    if (!anew) continue;
    for (int64_t k = j + 1; k < t->columns; k++) TRY(csv_next(&s, &other));
    csv_skip_blank(&s);
  }
  t->passed = j + 1;
  return LAPIS_OK;
}

/* The different texts of column j, missing ones left out. */
static lapis_status collect_value(table *t, int64_t j, const csv_cell *cell,
                                  void *user)
{
  column *c = &t->column[j];
  (void)user;
  if (facts_kind(&c->facts, cell, NULL) == CSV_MISSING ||
      table_value_at(c, cell) >= 0)
    return LAPIS_OK;
  if (c->width == MAX_VALUES)
    return lapis_fail(t->ctx, LAPIS_EFORMAT,
                      "%s:%" PRId64 ": column %" PRId64
                      " has more than %d different values, one-hot is for "
                      "few; leave it out with --drop",
                      t->path, cell->line, j + 1, MAX_VALUES);
  char *text = arena_take(&t->memory, cell->size + 1, 1);
  if (text == NULL) return arena_status(&t->memory);
  (void)csv_copy(cell, text);
  c->value[c->width++] = text;
  return LAPIS_OK;
}

static lapis_status collect_values(table *t, int64_t j)
{
  column *c = &t->column[j];
  c->width = 0;
  TRY(visit_column(t, j, collect_value, NULL));
  if (c->width > 0)
    qsort(c->value, (size_t)c->width, sizeof *c->value, by_bytes);
  return LAPIS_OK;
}

/* Words for things of which there are many, of two rows to twenty each. */
static void tell_values(const table *t, int64_t j)
{
  enum { MANY = 20 };
  const column *c = &t->column[j];
  char what[256];
  (void)snprintf(what, sizeof what, "column %" PRId64 "%s%.*s%s: the values",
                 j + 1, t->header ? " (\"" : "",
                 t->header ? csv_shown_bytes(&c->title) : 0, c->title.text,
                 t->header ? "\")" : "");
  codes_tell_twins(t->ctx, t->path, what, c->value, c->width);
  if (c->width >= MANY && c->width * MANY >= t->rows && 2 * c->width <= t->rows)
    base_say(t->ctx, 0,
             "%s: %s become %" PRId64 " features of %" PRId64 " rows; if they "
             "name what several rows are of, as visits are of one patient, -G "
             "holds those out together, and --drop leaves them out",
             t->path, what, c->width, t->rows);
}

lapis_status table_list_values(table *t, int64_t j)
{
  column *c = &t->column[j];
  if (!c->one_hot) return LAPIS_OK;
  c->value = arena_take(&t->memory, MAX_VALUES, sizeof *c->value);
  if (c->value == NULL) return arena_status(&t->memory);
  TRY(collect_values(t, j));
  tell_values(t, j);
  if (c->width > 0) return LAPIS_OK;
  return lapis_fail(t->ctx, LAPIS_EFORMAT,
                    "%s: column %" PRId64 " is empty and has no values for "
                    "--one-hot; leave it out with --drop",
                    t->path, j + 1);
}

/* ---- numbers that are codes ---------------------------------------------*/
typedef struct spelling {
  csv_cell cell;
  bool text;
  double value; /* of a text 0 */
} spelling;

/* Numbers first. */
static int by_value(const void *a, const void *b)
{
  const spelling *x = a, *y = b;
  if (x->text != y->text) return x->text ? 1 : -1;
  if (x->value < y->value || x->value > y->value)
    return x->value < y->value ? -1 : 1;
  int64_t least = x->cell.size < y->cell.size ? x->cell.size : y->cell.size;
  int order = memcmp(x->cell.text, y->cell.text, (size_t)least);
  return order != 0
             ? order
             : (x->cell.size > y->cell.size) - (x->cell.size < y->cell.size);
}

typedef struct spellings {
  spelling *all;
  int64_t count;
} spellings;

static lapis_status collect_cell(table *t, int64_t j, const csv_cell *cell,
                                 void *user)
{
  spellings *w = user;
  spelling *to = &w->all[w->count];
  csv_kind kind = facts_kind(&t->column[j].facts, cell, &to->value);
  to->cell = *cell;
  to->text = kind == CSV_TEXT;
  if (to->text) to->value = 0;
  w->count += kind != CSV_MISSING;
  return LAPIS_OK;
}

/* The cells of column j that are not missing, sorted. */
static lapis_status sorted_cells(table *t, int64_t j, spelling **all,
                                 int64_t *count)
{
  const io_facts *f = &t->column[j].facts;
  int64_t most = f->numbers + f->texts + 1;
  for (int k = 0; k < CSV_ABSENCES; k++) most += f->absent[k];
  *count = 0;
  *all = base_alloc(t->ctx, most, sizeof **all);
  if (*all == NULL) return LAPIS_ENOMEM;
  spellings w = {.all = *all};
  lapis_status status = visit_column(t, j, collect_cell, &w);
  if (status < 0) base_free(*all);
  *count = w.count;
  if (status >= 0 && w.count > 0)
    qsort(*all, (size_t)w.count, sizeof **all, by_value);
  return status;
}

static bool is_new(const spelling *all, int64_t k)
{
  return k == 0 || by_value(&all[k - 1], &all[k]) != 0;
}

/* What is said before a remark on a column. */
static void say_codes(const table *t, const column *c, const char *why)
{
  base_say(t->ctx, 0,
           "%s: column %" PRId64 "%s%.*s%s: %s, so its cells are read as texts",
           t->path, (int64_t)(c - t->column) + 1, t->header ? " (\"" : "",
           t->header ? csv_shown_bytes(&c->title) : 0, c->title.text,
           t->header ? "\")" : "", why);
}

/* Of numbers in two spellings, 1.1 and 1.10, those of codes repeat; whole ones
 * in two spellings, 01234 and 1234 or beyond 2^53, are nothing else. */
static void judge_spellings(const table *t, column *c, const spelling *all,
                            int64_t count)
{
  const spelling *twin = NULL;
  int64_t different = 0;
  char why[160];
  for (int64_t k = 0; k < count; k++) {
    bool new = is_new(all, k);
    different += new;
    bool same = new &&k > 0 && !(all[k - 1].value < all[k].value);
    if (same && twin == NULL) twin = &all[k];
  }
  bool few = 2 * different <= count;
  c->codes = c->facts.padded || (twin != NULL && (few || c->facts.whole));
  if (!c->codes || twin == NULL) return;
  const csv_cell *a = &twin[-1].cell, *b = &twin->cell;
  (void)snprintf(why, sizeof why,
                 "%.*s and %.*s are one number in two spellings",
                 csv_shown_bytes(a), a->text, csv_shown_bytes(b), b->text);
  say_codes(t, c, why);
}

static bool has_letter(const csv_cell *cell)
{
  for (int64_t i = 0; i < cell->size; i++)
    if (isalnum((unsigned char)cell->text[i]) ||
        (unsigned char)cell->text[i] >= 0x80)
      return true;
  return false;
}

/* Texts beside numbers, 3a and 4, name classes where each repeats; one that
 * stands alone may be a mistake, and "." or "-" means something else.  A table
 * that is compared, or asked of a model, may have few of each. */
static void judge_mixture(const table *t, column *c, const spelling *all,
                          int64_t count)
{
  const csv_cell *text = &c->text_cell;
  const lapis_table_options *opt = t->request->opt;
  int64_t different = 0;
  char why[160];
  c->codes = table_model(t) != NULL || (opt != NULL && opt->none_is_word);
  if (c->codes) return;
  for (int64_t k = 0; k < count; k++) {
    bool new = is_new(all, k),
         alone = new && (k + 1 == count || is_new(all, k + 1));
    different += new;
    if (all[k].text && (alone || !has_letter(&all[k].cell))) return;
  }
  c->codes = 2 * different <= count;
  if (!c->codes) return;
  (void)snprintf(why, sizeof why,
                 "\"%.*s\" and other texts occur among numbers (--missing "
                 "lists those that mean unknown)",
                 csv_shown_bytes(text), text->text);
  say_codes(t, c, why);
}

lapis_status table_find_codes(table *t, int64_t j)
{
  column *c = &t->column[j];
  bool mixed = c->facts.texts > 0;
  spelling *all;
  int64_t count;
  if (c->role != IO_TARGET || c->facts.numbers == 0 || t->request->as_text ||
      !(c->facts.odd || mixed))
    return LAPIS_OK;
  TRY(sorted_cells(t, j, &all, &count));
  if (mixed)
    judge_mixture(t, c, all, count);
  else
    judge_spellings(t, c, all, count);
  base_free(all);
  return LAPIS_OK;
}

lapis_status table_count_numbers(table *t, int64_t j, int64_t *different)
{
  spelling *all;
  int64_t count;
  *different = 0;
  TRY(sorted_cells(t, j, &all, &count));
  for (int64_t k = 0; k < count; k++)
    *different += k == 0 || all[k - 1].value < all[k].value;
  base_free(all);
  return LAPIS_OK;
}

lapis_status table_count_cells(table *t, int64_t j, int64_t *different,
                               int64_t *count)
{
  spelling *all;
  *different = 0;
  TRY(sorted_cells(t, j, &all, count));
  for (int64_t k = 0; k < *count; k++) *different += is_new(all, k);
  base_free(all);
  return LAPIS_OK;
}
