/* table_roles.c - whether the first row holds titles, and what each column is
 * for. */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/table/table.h"
#include "lapis/tools.h"

/* Bytes of the first name in "COL,COL". */
static size_t next_name(const char *list)
{
  return strcspn(list, ",");
}

/* A whole number other than 0: from 1, or negative, from the end; "#3" is never
 * a title. */
static bool as_number(const char *name, size_t size, int64_t *value)
{
  char *end;
  bool marked = size > 0 && *name == '#';
  name += marked;
  size -= marked;
  if (size == 0 || size > 10 || strchr("-123456789", *name) == NULL)
    return false;
  *value = strtoll(name, &end, 10);
  return end == name + size && *value != 0;
}

/* Some column asked for is in the first row by its name, and cannot be meant by
 * its number. */
static bool names_first_row(const table *t, const char *list)
{
  int64_t at, number;
  for (; list != NULL && *list != '\0';) {
    size_t size = next_name(list);
    bool place = as_number(list, size, &number) && number <= t->columns &&
                 number >= -t->columns;
    if (!place && table_count_titled(t, list, size, &at) > 0) return true;
    list += size + (list[size] == ',');
  }
  return false;
}

/* Names above numbers of the rows, which have none, as R and pandas write
 * them. */
static bool is_above_row_numbers(const table *t)
{
  const column *c = t->column;
  if (t->columns < 2 || c->first != CSV_MISSING || c->title.size > 0 ||
      !facts_count_rows(&c->facts))
    return false;
  for (int64_t j = 1; j < t->columns; j++)
    if (c[j].first != CSV_TEXT) return false;
  return true;
}

bool table_has_units(const table *t)
{
  int columns = 0;
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    columns += c->facts.texts == 1 && c->facts.numbers > 1 &&
               c->text_cell.line == c->title.line + 1;
  }
  return columns > 1;
}

static bool looks_like_header(const table *t)
{
  const lapis_table_options *opt = t->request->opt;
  if (opt != NULL && names_first_row(t, opt->target)) return true;
  if (opt != NULL && names_first_row(t, opt->id)) return true;
  if (opt != NULL && names_first_row(t, opt->use)) return true;
  if (opt != NULL && names_first_row(t, opt->drop)) return true;
  if (opt != NULL && names_first_row(t, opt->one_hot)) return true;
  if (table_names_features(t) || is_above_row_numbers(t)) return true;
  bool units = table_has_units(t);
  int64_t for_it = 0, against = 0, texts = 0;
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    bool numbers = c->facts.numbers > 0 && c->facts.texts == 0;
    bool odd = (csv_is_date(&c->title) && !numbers) ||
               marks_of(&c->title, c->first) != MARK_NOT;
    bool below = c->facts.texts > 0
                     ? c->like_number || units
                     : c->facts.numbers > 0; /* 1,5 counts as 1.5 */
    for_it += c->first == CSV_TEXT && !odd && below;
    against += c->first == CSV_NUMBER;
    texts += c->first == CSV_TEXT;
  }
  /* features are numbers: a lone row of words names them */
  const table_request *q = t->request;
  bool features = !q->targets_only && !q->all_targets;
  if (t->rows == 1 && features && texts == t->columns) return true;
  if (for_it > against) return true;
  table_titled numbers = table_numbers_are_titles(t);
  if (numbers == TABLE_RATHER_TITLES || numbers == TABLE_RATHER_DATA)
    base_say(t->ctx, 0,
             "%s: its first row, of numbers, is read as %s; --header %s reads "
             "it as %s",
             t->path, numbers == TABLE_RATHER_DATA ? "a sample" : "titles",
             numbers == TABLE_RATHER_DATA ? "yes" : "no",
             numbers == TABLE_RATHER_DATA ? "titles" : "a sample");
  return numbers >= TABLE_RATHER_TITLES;
}

/* Without a header the first row is data like any other. */
static void demote_first_row(table *t)
{
  for (int64_t j = 0; j < t->columns; j++) {
    column *c = &t->column[j];
    double value;
    (void)csv_value(&c->title, &value);
    marks_note(&c->marks, &c->title, c->first);
    facts_note_before(&c->facts, &c->title, c->first, value);
    if (c->first == CSV_TEXT) c->text_cell = c->title;
  }
}

/* Whether text of that size ends in the word, in letters of any case, as a word
 * of its own: ID of "patient_id" and "CustomerID", none of "acid". */
static bool ends_in(const char *text, size_t size, const char *word)
{
  size_t n = strlen(word);
  if (size < n || strncasecmp(text + size - n, word, n) != 0) return false;
  if (size == n) return true;
  char before = text[size - n - 1], first = text[size - n];
  return !isalpha((unsigned char)before) ||
         (islower((unsigned char)before) && isupper((unsigned char)first));
}

/* What pandas, R and most people call the numbers of rows: the tenths of the
 * rows that need a number of their own; 0: another title. */
static int names_rows(const csv_cell *title, int64_t j)
{
  enum { SURE = 5, LIKELY = 9 };
  static const char *const whole[] = {"row",        "index",    "no",  "nr",
                                      "unnamed: 0", "rownames", "obs", "key"};
  const char *text = title->text;
  size_t size = (size_t)title->size;
  if (size == 0) return j == 0 ? SURE : 0;
  if (size == 2 && ends_in(text, size, "id")) return SURE;
  if (text[size - 1] == '.') size--;
  for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
    if (strlen(whole[k]) == size && ends_in(text, size, whole[k]))
      return LIKELY;
  static const char *const end[] = {"id", "number", "no"};
  static const char *const within[] = {"nr", "nummer"}; /* Kundennummer */
  for (size_t k = 0; k < sizeof end / sizeof *end; k++)
    if (ends_in(text, size, end[k])) return LIKELY;
  for (size_t k = 0; k < sizeof within / sizeof *within; k++) {
    size_t n = strlen(within[k]);
    if (size > n && strncasecmp(text + size - n, within[k], n) == 0)
      return LIKELY;
  }
  return 0;
}

static lapis_status find_names(table *t)
{
  for (int64_t j = 0; j < t->columns; j++) {
    io_facts *f = &t->column[j].facts;
    int64_t different = 0;
    int tenths = names_rows(&t->column[j].title, j);
    if (tenths == 0 || !f->whole || f->texts > 0 || f->n_few <= FACTS_FEW)
      continue;
    TRY(table_count_numbers(t, j, &different));
    f->named = 10 * different >= tenths * f->numbers;
  }
  return LAPIS_OK;
}

/* A first row with a text in its first cell alone is no row of names. */
static bool has_title_above(const table *t)
{
  enum { LEAST = 3 };
  if (t->columns < LEAST || t->column[0].first != CSV_TEXT) return false;
  for (int64_t j = 1; j < t->columns; j++)
    if (t->column[j].title.size > 0) return false;
  return true;
}

lapis_status table_settle_header(table *t)
{
  TRY(table_sort_titles(t));
  int asked =
      t->request->opt == NULL ? LAPIS_HEADER_AUTO : t->request->opt->header;
  if (asked != LAPIS_HEADER_NO && has_title_above(t))
    return lapis_fail(
        t->ctx, LAPIS_EFORMAT,
        "%s:%" PRId64 ": the row holds \"%.*s\" and nothing else, "
        "as a title of the table does; take it out, so that the "
        "names of columns come first (--header no reads it as "
        "data)",
        t->path, t->column[0].title.line, csv_shown_bytes(&t->column[0].title),
        t->column[0].title.text);
  t->header = asked == LAPIS_HEADER_AUTO ? looks_like_header(t)
                                         : asked == LAPIS_HEADER_YES;
  if (!t->header) demote_first_row(t);
  t->rows -= t->header;
  if (t->header) TRY(find_names(t));
  if (t->rows > 0) return LAPIS_OK;
  return lapis_fail(t->ctx, LAPIS_EFORMAT,
                    "%s: holds a header and no rows below it; if the line is "
                    "data, --header no says so",
                    t->path);
}

static void nearest_title(const table *t, const char *name, size_t size,
                          char *hint, size_t room)
{
  char title[64], best[64];
  lapis_nearest near = {.word = name, .size = size};
  for (int64_t j = 0; t->header && j < t->columns; j++) {
    if (t->column[j].title.size >= (int64_t)sizeof title) continue;
    (void)csv_copy(&t->column[j].title, title);
    lapis_nearest_try(&near, title);
    if (near.name == title) near.name = strcpy(best, title);
  }
  lapis_nearest_hint(&near, "", hint, room);
}

/* By its title; else by its number. */
static lapis_status find_column(const table *t, const char *name, size_t size,
                                int64_t *at)
{
  int64_t number, place = -1;
  if (as_number(name, size, &number)) {
    place = number < 0 ? t->columns + number : number - 1;
    if (place >= t->columns) place = -1;
  }
  int64_t found = t->header ? table_count_titled(t, name, size, at) : 0;
  if (found == 1 && place >= 0 && place != *at)
    base_say(t->ctx, 0,
             "%s: \"%.*s\" is taken for the title of column %" PRId64
             "; #%.*s is the column of that number",
             t->path, (int)size, name, *at + 1, (int)size, name);
  if (found == 1) return LAPIS_OK;
  if (found > 1)
    return lapis_fail(t->ctx, LAPIS_EINVAL,
                      "%s: %" PRId64 " columns are named \"%.*s\"; give its "
                      "number, #%" PRId64,
                      t->path, found, (int)size, name, *at + 1);
  *at = place;
  if (place >= 0) return LAPIS_OK;
  char hint[128];
  nearest_title(t, name, size, hint, sizeof hint);
  return lapis_fail(
      t->ctx, LAPIS_EINVAL,
      "%s: has no column \"%.*s\"%s; it has %" PRId64 " column(s), %s", t->path,
      (int)size, name, hint, t->columns,
      t->header ? "named in its first row" : "and no header that names them");
}

/* One-hot is no role of its own: such a column is a feature still. */
static void give_role(column *c, io_role r)
{
  if (r == IO_ONE_HOT)
    c->one_hot = true;
  else
    c->role = r;
  c->dropped = c->dropped || r == IO_LEFT_OUT;
}

/* Columns whose titles a pattern with * ? [..] matches take io_role r; false:
 * there is none. */
static bool mark_pattern(table *t, const char *pattern, size_t size, io_role r)
{
  char wanted[256], title[256];
  bool any = false;
  if (!t->header || size >= sizeof wanted || strpbrk(pattern, "*?[") == NULL)
    return false;
  memcpy(wanted, pattern, size);
  wanted[size] = '\0';
  for (int64_t j = 0; j < t->columns; j++) {
    if (t->column[j].title.size >= (int64_t)sizeof title) continue;
    (void)csv_copy(&t->column[j].title, title);
    if (fnmatch(wanted, title, 0) != 0) continue;
    give_role(&t->column[j], r);
    if (r == IO_FEATURE) t->column[j].asked = true;
    any = true;
  }
  return any;
}

/* The columns of a list of titles, numbers and patterns take io_role r. */
static lapis_status mark(table *t, const char *list, io_role r)
{
  while (*list != '\0') {
    int64_t at;
    size_t size = next_name(list);
    bool titled = t->header && table_count_titled(t, list, size, &at) > 0;
    if (titled || !mark_pattern(t, list, size, r)) {
      TRY(find_column(t, list, size, &at));
      give_role(&t->column[at], r);
      if (r == IO_FEATURE) t->column[at].asked = true;
    }
    list += size + (list[size] == ',');
  }
  return LAPIS_OK;
}

/* Numbers of the rows are no features, where others are left; a table without
 * titles goes by places, which have to stay. */
static void leave_counters(table *t)
{
  const lapis_table_options *opt = t->request->opt;
  const char *features = t->request->features;
  int64_t left = 0;
  if (!t->header || table_model(t) != NULL || features == NULL ||
      (strcmp(features, "X") != 0 && strcmp(features, "P") != 0) ||
      (opt != NULL && opt->keep_counters))
    return;
  for (int64_t j = 0; j < t->columns; j++)
    left += t->column[j].role == IO_FEATURE &&
            !facts_count_rows(&t->column[j].facts);
  for (int64_t j = 0; left > 0 && j < t->columns; j++) {
    column *c = &t->column[j];
    if (c->role != IO_FEATURE || c->asked || c->one_hot ||
        !facts_count_rows(&c->facts))
      continue;
    c->role = IO_LEFT_OUT;
    c->counter = true;
  }
}

/* Of what would be features, only those to be used, and not those to be
 * dropped. */
static lapis_status mark_features(table *t)
{
  const lapis_table_options *opt = t->request->opt;
  if (opt == NULL || t->request->all_targets || t->request->targets_only)
    return LAPIS_OK;
  if (opt->use != NULL) {
    for (int64_t j = 0; j < t->columns; j++) t->column[j].role = IO_LEFT_OUT;
    TRY(mark(t, opt->use, IO_FEATURE));
  }
  if (opt->drop != NULL) TRY(mark(t, opt->drop, IO_LEFT_OUT));
  return opt->one_hot == NULL ? LAPIS_OK : mark(t, opt->one_hot, IO_ONE_HOT);
}

/* Of labels in a file of their own. */
static void find_id(table *t)
{
  for (int64_t j = 0; t->header && j < t->columns; j++) {
    column *c = &t->column[j];
    bool named = c->title.size == 2 && strncasecmp(c->title.text, "id", 2) == 0;
    bool counts = j == 0 && facts_count_rows(&c->facts);
    if ((!named && !counts) || c->role != IO_LEFT_OUT) continue;
    c->role = IO_ID;
    return;
  }
}

static lapis_status mark_id(table *t)
{
  const char *id = t->request->opt == NULL ? NULL : t->request->opt->id;
  int64_t at;
  bool known = id == NULL && table_model(t) != NULL;
  if (known) id = t->request->opt->id_of;
  const char *by = t->request->named_by;
  bool titled = id != NULL && t->header &&
                table_count_titled(t, id, strlen(id), &at) == 1;
  bool found = by != NULL && !titled && (id == NULL || *id != '\0');
  if (found) id = by;
  if (id == NULL && t->request->find_id) find_id(t);
  if (id == NULL || (*id == '\0' && !known)) return LAPIS_OK;
  if ((t->request->id_optional || known) && !titled && !found) return LAPIS_OK;
  TRY(find_column(t, id, strlen(id), &at));
  const char *read = t->request->targets;
  bool target = t->column[at].role == IO_TARGET && !t->request->all_targets;
  if (target && (found || (read != NULL && strcmp(read, "group") == 0)))
    return LAPIS_OK; /* rows of one name are a group */
  if (target)
    return lapis_fail(t->ctx, LAPIS_EINVAL,
                      "%s: column %" PRId64
                      " cannot be both a target and the samples' names",
                      t->path, at + 1);
  t->column[at].role = IO_ID;
  return LAPIS_OK;
}

lapis_status table_mark_roles(table *t)
{
  const char *list = t->request->opt == NULL ? NULL : t->request->opt->target;
  io_role others = t->request->all_targets    ? IO_TARGET
                   : t->request->targets_only ? IO_LEFT_OUT
                                              : IO_FEATURE;
  for (int64_t j = 0; j < t->columns; j++) t->column[j].role = others;
  TRY(mark_features(t));
  while (list != NULL && *list != '\0' && !t->request->all_targets) {
    int64_t at;
    size_t size = next_name(list);
    TRY(find_column(t, list, size, &at));
    if (t->column[at].dropped)
      return lapis_fail(t->ctx, LAPIS_EINVAL,
                        "%s: column %" PRId64
                        " cannot be both a target and left out, as --drop, "
                        "-G, --priv and --weights leave out",
                        t->path, at + 1);
    t->column[at].role = IO_TARGET;
    list += size + (list[size] == ',');
  }
  table_mark_targets(t);
  TRY(mark_id(t));
  leave_counters(t);
  return LAPIS_OK;
}
