/* decimal_marks.c - 1,234 is 1234 to some and 1.234 to others.
 *
 * Which mark is decimal is never guessed: a number is read by --decimal, or
 * has a point.  But a table says much about it, by cells that are a number in
 * one reading alone (0,5 and 1,234,567), and by whole numbers below 1000 that
 * stand without a mark beside others that have one before their last three
 * digits: enough to say which reading is likely, and to doubt one that was
 * asked for. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "files/io.h"

static char other_mark(char mark)
{
  return mark == ',' ? '.' : ',';
}

static bool is_sign(char c)
{
  return c == '-' || c == '+';
}

/* Bytes of a mark between thousands at at, or 0. */
static size_t group_mark(const char *at, const char *end)
{
  static const char *const between[] = {" ",      "'",      "\u00a0",
                                        "\u2009", "\u202f", "\u2019"};
  for (size_t k = 0; k < sizeof between / sizeof *between; k++) {
    size_t size = strlen(between[k]);
    if ((size_t)(end - at) >= size && memcmp(at, between[k], size) == 0)
      return size;
  }
  return 0;
}

static int64_t count_digits(const char *at, const char *end)
{
  int64_t n = 0;
  while (at + n < end && isdigit((unsigned char)at[n])) n++;
  return n;
}

int64_t marks_ungroup(const csv_cell *cell, char plain[MARKS_PLAIN])
{
  const char *at = cell->text, *end = at + cell->size, *first = NULL;
  char *to = plain;
  if (cell->size < 5 || cell->size >= MARKS_PLAIN) return 0;
  if (is_sign(*at)) *to++ = *at++;
  int64_t digits = count_digits(at, end);
  if (digits < 1 || digits > 3 || *at == '0') return 0;
  for (;;) {
    memcpy(to, at, (size_t)digits);
    to += digits;
    at += digits;
    size_t size = group_mark(at, end);
    if (size == 0) break;
    if (first == NULL) first = at;
    if (memcmp(first, at, size) != 0) return 0; /* another mark */
    at += size;
    digits = count_digits(at, end);
    if (digits != 3) return 0;
  }
  if (first == NULL) return 0;
  memcpy(to, at, (size_t)(end - at)); /* decimals */
  return to - plain + (end - at);
}

bool marks_number(const csv_cell *cell, char decimal, double *value)
{
  char plain[64];
  const char *mark = memchr(cell->text, decimal, (size_t)cell->size);
  int64_t whole = mark == NULL ? cell->size : mark - cell->text, used = 0;
  char between = other_mark(decimal);
  int digits = 0, groups = 0;
  bool other = false; /* an exponent in what would be grouped */
  if (cell->size >= (int64_t)sizeof plain) return false;
  for (int64_t i = 0; i < cell->size; i++) {
    char c = cell->text[i];
    bool separates = i < whole && c == between;
    if (separates && (groups == 0 ? digits < 1 || digits > 3 : digits != 3))
      return false;
    if (separates && groups == 0 && cell->text[i - digits] == '0') return false;
    bool digit = isdigit((unsigned char)c) != 0;
    bool sign = i == 0 && is_sign(c);
    if (i < whole) digits = separates ? 0 : digits + digit;
    if (i < whole && !separates && !digit && !sign) other = true;
    groups += separates;
    if (!separates && c == between) return false;
    if (!separates) plain[used++] = c == decimal ? '.' : c;
  }
  if (groups > 0 && (digits != 3 || other)) return false;
  return io_number(plain, used, value);
}

/* Of a number without marks. */
static mark_kind size_of(const char *digit, int64_t size)
{
  for (int64_t i = 0; i < size; i++)
    if (!isdigit((unsigned char)digit[i])) return MARK_LARGE; /* 1e5, inf */
  return size > 3 ? MARK_LARGE : MARK_SMALL;
}

/* "1,234": one to three digits, the first no 0, a mark and three digits. */
static bool has_two_readings(const char *text, int64_t size, int64_t mark)
{
  if (mark < 1 || mark > 3 || size != mark + 4 || *text == '0') return false;
  for (int64_t i = 0; i < size; i++)
    if (i != mark && !isdigit((unsigned char)text[i])) return false;
  return true;
}

mark_kind marks_of(const csv_cell *cell, csv_kind kind)
{
  char plain[MARKS_PLAIN];
  csv_cell bare = *cell;
  bare.text = plain;
  bare.size = marks_ungroup(cell, plain);
  if (bare.size > 0) return marks_of(&bare, kind);
  bool sign = cell->size > 0 && is_sign(*cell->text);
  const char *text = cell->text + sign;
  int64_t size = cell->size - sign, mark = 0;
  if (size <= 0) return MARK_NOT;
  while (mark < size && text[mark] != ',' && text[mark] != '.') mark++;
  if (mark == size) return kind == CSV_TEXT ? MARK_NOT : size_of(text, size);
  if (has_two_readings(text, size, mark))
    return text[mark] == ',' ? MARK_COMMA : MARK_POINT;
  bool comma = memchr(text, ',', (size_t)size) != NULL;
  if (kind == CSV_NUMBER && cell->decimal == ',') return MARK_BY_COMMA;
  if (kind == CSV_NUMBER) return comma ? MARK_BY_POINT : MARK_PLAIN;
  if (mark > 0 && !isdigit((unsigned char)*text)) return MARK_NOT;
  if (marks_number(cell, ',', NULL)) return MARK_BY_COMMA;
  if (!marks_number(cell, '.', NULL)) return MARK_NOT;
  return comma ? MARK_BY_POINT : MARK_PLAIN;
}

void marks_note(marks *m, const csv_cell *cell, csv_kind kind)
{
  if (kind == CSV_MISSING) return;
  mark_kind k = marks_of(cell, kind);
  if (m->first[k].text != NULL) return;
  m->first[k].text = cell->text;
  m->first[k].size = cell->size;
}

static bool has(const marks *m, mark_kind kind)
{
  return m->first[kind].text != NULL;
}

void marks_join(marks *table, const marks *m)
{
  if (has(m, MARK_NOT)) return;
  for (int k = 0; k < MARK_KINDS; k++)
    if (has(m, k) && !has(table, k)) table->first[k] = m->first[k];
}

/* ---- judgement ----------------------------------------------------------*/
/* Whole numbers below 1000 have no mark, all others have one. */
static bool grouped(const marks *m)
{
  return has(m, MARK_SMALL) && !has(m, MARK_LARGE);
}

/* The decimal mark by cells of one reading; 0: there are none, or of both. */
static char proven(const marks *m)
{
  bool comma = has(m, MARK_BY_COMMA);
  bool point = has(m, MARK_BY_POINT) || has(m, MARK_PLAIN);
  return comma == point ? '\0' : comma ? ',' : '.';
}

/* The likely decimal mark: by the column's cells of one reading, by those of
 * the table, by whole numbers without marks, by what delimits cells: a table
 * with semicolons comes from where commas are decimal. */
static char likely(const marks *m, const marks *table, char delimiter)
{
  char by_cells = proven(m), by_table = proven(table);
  if (by_cells != '\0') return by_cells;
  if (by_table != '\0') return by_table;
  if (grouped(m)) return has(m, MARK_COMMA) ? '.' : ',';
  return delimiter == ';' ? ',' : '.';
}

/* "1,234" and how it is read by each mark. */
static void say_readings(const csv_cell *cell, const char *before, char rather,
                         char said[MARKS_BYTES])
{
  char number[2][40];
  double value;
  for (int k = 0; k < 2; k++)
    if (marks_number(cell, k == 0 ? rather : other_mark(rather), &value))
      lapis_number_text(value, number[k], sizeof number[k]);
    else
      (void)snprintf(number[k], sizeof number[k], "no number");
  (void)snprintf(said, MARKS_BYTES,
                 "%s: \"%.*s\" is %s with --decimal %c and %s with --decimal "
                 "%c",
                 before, (int)cell->size, cell->text, number[0], rather,
                 number[1], other_mark(rather));
}

static csv_cell cell_of(const marks *m, mark_kind kind)
{
  return (csv_cell){.text = m->first[kind].text, .size = m->first[kind].size};
}

static marks_found judge_texts(const marks *m, const marks *table,
                               char delimiter, char decimal, char *rather,
                               char said[MARKS_BYTES])
{
  bool commas = has(m, MARK_BY_COMMA), points = has(m, MARK_BY_POINT);
  mark_kind shown = commas               ? MARK_BY_COMMA
                    : points             ? MARK_BY_POINT
                    : has(m, MARK_COMMA) ? MARK_COMMA
                    : has(m, MARK_POINT) ? MARK_POINT
                                         : MARK_PLAIN;
  csv_cell cell = cell_of(m, shown);
  if (commas && (points || (has(m, MARK_PLAIN) && decimal != '\0')))
    return MARKS_FINE; /* no mark reads all: they stay texts */
  *rather = commas ? ',' : likely(m, table, delimiter);
  if (commas && decimal == '\0' &&
      memchr(cell.text, ',', (size_t)cell.size) != NULL)
    return MARKS_DECIMAL_COMMA;
  bool comma = memchr(cell.text, ',', (size_t)cell.size) != NULL;
  bool thousands = (*rather == ',') != comma;
  bool sure = thousands && (shown == MARK_BY_COMMA || shown == MARK_BY_POINT ||
                            proven(m) == *rather || grouped(m));
  char before[80];
  (void)snprintf(before, sizeof before, "its %s %s",
                 comma ? "commas" : "points",
                 shown == MARK_PLAIN ? "are decimal marks"
                 : sure              ? "look like thousands"
                 : thousands         ? "may separate thousands, or be decimal"
                                     : "may be decimal, or separate thousands");
  say_readings(&cell, before, *rather, said);
  return MARKS_TWO_READINGS;
}

/* 1,234 was read as 1.234, and 567 as 567. */
static marks_found judge_numbers(const marks *m, const marks *table,
                                 char delimiter, char decimal, char *rather,
                                 char said[MARKS_BYTES])
{
  bool by_comma = decimal == ',';
  mark_kind shown = by_comma ? MARK_COMMA : MARK_POINT;
  char mark = by_comma ? ',' : '.', text[2][40];
  double value[2];
  if (!has(m, shown) || !grouped(m) || proven(m) != '\0' ||
      proven(table) == mark || (!by_comma && delimiter != ';'))
    return MARKS_FINE;
  csv_cell cell = cell_of(m, shown), small = cell_of(m, MARK_SMALL);
  for (int k = 0; k < 2; k++) {
    (void)marks_number(&cell, k == 0 ? mark : other_mark(mark), &value[k]);
    lapis_number_text(value[k], text[k], sizeof text[k]);
  }
  *rather = other_mark(mark);
  (void)snprintf(said, MARKS_BYTES,
                 "\"%.*s\" is read as %s, next to \"%.*s\"; if its %s "
                 "separate thousands, --decimal %c reads it as %s",
                 (int)cell.size, cell.text, text[0], (int)small.size,
                 small.text, by_comma ? "commas" : "points", *rather, text[1]);
  return MARKS_DOUBTFUL;
}

marks_found marks_judge(const marks *m, const marks *table, char delimiter,
                        char decimal, char *rather, char said[MARKS_BYTES])
{
  /* what is no number as the table was read */
  static const mark_kind text[3][3] = {
      {MARK_COMMA, MARK_BY_COMMA, MARK_BY_POINT},
      {MARK_PLAIN, MARK_PLAIN, MARK_BY_POINT},
      {MARK_BY_COMMA, MARK_BY_COMMA, MARK_BY_COMMA}};
  const mark_kind *t = text[decimal == '\0' ? 0 : decimal == ',' ? 1 : 2];
  *rather = said[0] = '\0';
  return has(m, t[0]) || has(m, t[1]) || has(m, t[2])
             ? judge_texts(m, table, delimiter, decimal, rather, said)
             : judge_numbers(m, table, delimiter, decimal, rather, said);
}
