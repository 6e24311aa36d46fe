/* table_check.c - what columns hold, before anything is allocated: texts where
 * numbers belong, and what would be right. */
#include <stdio.h>
#include <string.h>

#include "files/table/table.h"
#include "lapis/tools.h"

/* what: the text, the date. */
static lapis_status fail_cell(const table *t, const csv_cell *cell,
                              int64_t column_number, const char *what,
                              const char *wanted)
{
  const csv_cell *title = &t->column[column_number - 1].title;
  bool titled = t->header && title->size > 0;
  return lapis_fail(t->ctx, LAPIS_EFORMAT,
                    "%s:%" PRId64 ":%" PRId64 ": column %" PRId64
                    "%s%.*s%s holds %s \"%.*s\"; %s",
                    t->path, cell->line, cell->column, column_number,
                    titled ? " (\"" : "", titled ? csv_shown_bytes(title) : 0,
                    title->text, titled ? "\")" : "", what,
                    csv_shown_bytes(cell), cell->text, wanted);
}

marks_found table_judge_marks(const table *t, const column *c,
                              char said[MARKS_BYTES])
{
  char rather;
  return marks_judge(&c->marks, &t->marks, t->start.delimiter, t->start.decimal,
                     &rather, said);
}

/* A text that is a number once its marks are named. */
static lapis_status check_marks(const table *t, const column *c, int64_t j)
{
  char said[MARKS_BYTES];
  const csv_cell *cell = &c->text_cell;
  bool comma = memchr(cell->text, ',', (size_t)cell->size) != NULL;
  bool words = c->role == IO_TARGET && !column_has_number(c);
  if (marks_of(cell, CSV_TEXT) == MARK_NOT) return LAPIS_OK;
  if (words && (t->start.decimal != '\0' || !comma)) return LAPIS_OK;
  if (table_judge_marks(t, c, said) == MARKS_TWO_READINGS)
    return fail_cell(t, cell, j, "the text", said);
  if (t->start.decimal != '\0' || !comma) return LAPIS_OK;
  return fail_cell(t, cell, j, "the text",
                   "write numbers with a decimal point, as in 1.5, or read "
                   "them with --decimal ,");
}

/* Of a number with its unit behind it, as "36.0 years": what to write, and why;
 * false: the cell is none. */
static bool write_alone(const csv_cell *cell, const char *why, char *wanted,
                        size_t room)
{
  enum { LONG = 48 };
  char text[LONG];
  const char *number;
  int size;
  if (cell->size >= LONG) return false;
  (void)csv_copy(cell, text);
  const char *unit = lapis_number_unit(text, &number, &size);
  if (unit == NULL) return false;
  (void)snprintf(wanted, room,
                 "write %.*s alone: %s, and its unit may stand in the title",
                 size, number, why);
  return true;
}

static lapis_status check_unit(const table *t, const column *c, int64_t j)
{
  char wanted[200];
  if (!write_alone(&c->text_cell, "a feature is a number", wanted,
                   sizeof wanted))
    return LAPIS_OK;
  return fail_cell(t, &c->text_cell, j, "the text", wanted);
}

/* 515.7 tis. among hundreds of others is a number; 10 mm and 20 mm, which
 * repeat, are classes. */
static lapis_status check_target_unit(table *t, const column *c, int64_t j)
{
  enum { MANY = 20 };
  char wanted[200], why[80];
  int64_t different, count;
  bool texts = t->request->as_text || table_model(t) != NULL;
  if (texts || !write_alone(&c->text_cell, "", wanted, sizeof wanted))
    return LAPIS_OK;
  TRY(table_count_cells(t, j - 1, &different, &count));
  if (different < MANY || 2 * different < count) return LAPIS_OK;
  (void)snprintf(why, sizeof why,
                 "%" PRId64 " different values are numbers to predict",
                 different);
  (void)write_alone(&c->text_cell, why, wanted, sizeof wanted);
  return fail_cell(t, &c->text_cell, j, "the text", wanted);
}

/* All columns of text that nothing is asked of, as a list of columns has them.
 */
static void list_texts(const table *t, char *list, size_t room)
{
  enum { LONG = 64 };
  size_t used = 0;
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    char title[LONG] = "";
    if (c->role != IO_FEATURE || !column_has_text(c) || column_has_number(c) ||
        c->value != NULL || c->codes || csv_is_date(&c->text_cell))
      continue;
    if (t->header && c->title.size < LONG) (void)csv_copy(&c->title, title);
    if (*title == '\0' || strpbrk(title, ",*?[ ") != NULL)
      (void)snprintf(title, sizeof title, "%" PRId64, j + 1);
    if (used + strlen(title) + 8 > room) {
      (void)snprintf(list + used, room - used, ",..");
      return;
    }
    used += (size_t)snprintf(list + used, room - used, "%s%s",
                             used > 0 ? "," : "", title);
  }
}

/* A word among the numbers of a feature. */
static lapis_status fail_word(const table *t, const column *c, int64_t j)
{
  enum { LONG = 32 };
  char word[LONG] = "WORD,..", wanted[320], number[96] = "";
  double end;
  if (c->text_cell.size < LONG) (void)csv_copy(&c->text_cell, word);
  int limit = lapis_number_limit(word, &end);
  if (limit != 0)
    (void)snprintf(number, sizeof number,
                   "a number %s the limit, such as %g, keeps what is known; ",
                   limit < 0 ? "below" : "at", limit < 0 ? end / 2 : end);
  if (strpbrk(word, " ,;\t\"'$*?&|<>()#") != NULL) strcpy(word, "WORD,..");
  (void)snprintf(wanted, sizeof wanted,
                 "its other cells are numbers; %swhere it means unknown, "
                 "--missing %s reads it so, and --drop leaves the column out%s",
                 number, word,
                 t->header ? "" : "; --header yes is for a first row of names");
  return fail_cell(t, &c->text_cell, j, "the text", wanted);
}

/* Words among features: what to do with all such columns. */
static lapis_status fail_text(const table *t, const column *c, int64_t j)
{
  char list[200] = "", wanted[600];
  list_texts(t, list, sizeof list);
  (void)snprintf(wanted, sizeof wanted,
                 "a feature is a number, or empty where unknown; --id and "
                 "--target take columns of text, --one-hot%s%s makes a feature "
                 "of each value, --drop leaves them out%s",
                 *list == '\0' ? "" : " ", list,
                 t->header ? "" : ", --header yes is for a first row of names");
  return fail_cell(t, &c->text_cell, j, "the text", wanted);
}

static lapis_status check_column(table *t, const column *c, int64_t j)
{
  bool any_text =
      c->role >= IO_ID || t->request->as_text || c->value != NULL || c->codes;
  if (!column_has_text(c) || any_text) return LAPIS_OK;
  TRY(check_marks(t, c, j));
  if (c->role == IO_TARGET && !column_has_number(c))
    return check_target_unit(t, c, j);
  if (t->header && c->facts.texts == 1 && table_has_units(t))
    return fail_cell(t, &c->text_cell, j, "the text",
                     "the cells below are numbers: a row of units, or of more "
                     "titles, is no sample; take it out");
  if (c->role == IO_TARGET)
    return fail_cell(t, &c->text_cell, j, "the text",
                     "its other cells are numbers, and a target is all "
                     "numbers or all text; --missing lists what means unknown");
  if (csv_is_date(&c->text_cell))
    return fail_cell(t, &c->text_cell, j, "the date",
                     "a feature is a number: write days since a first date "
                     "instead, or leave the column out with --drop");
  TRY(check_unit(t, c, j));
  return column_has_number(c) ? fail_word(t, c, j) : fail_text(t, c, j);
}

lapis_status table_check_columns(table *t)
{
  for (int64_t j = 0; j < t->columns; j++)
    marks_join(&t->marks, &t->column[j].marks);
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    TRY(check_column(t, c, j + 1));
    if (t->text_targets && c->role == IO_TARGET && column_has_number(c) &&
        !column_has_text(c) && !c->codes && !t->request->as_text)
      return lapis_fail(t->ctx, LAPIS_EFORMAT,
                        "%s: target column %" PRId64
                        " holds numbers, another holds text; they must be of "
                        "one kind: fit once for each kind",
                        t->path, j + 1);
  }
  return LAPIS_OK;
}
