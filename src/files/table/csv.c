/* csv.c - cells of delimited text, as people have it.
 *
 * RFC 4180 with what is met besides: \n, \r\n and \r end lines, a byte order
 * mark may come first, a semicolon or a tab may delimit, spaces around an
 * unquoted cell do not belong to it.  Cells are views into the text; nothing
 * is copied until a value is wanted. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "files/io.h"

enum { SAMPLE_LINES = 20 };

/* ---- the file -----------------------------------------------------------*/

/* Delimiters in the record at *at, outside quotes; *at moves behind it. */
static int64_t count_in_record(const char **at, const char *end, char delimiter)
{
  bool quoted = false;
  int64_t count = 0;
  const char *s = *at;
  for (; s < end; s++) {
    if (*s == '"') quoted = !quoted;
    if (quoted) continue;
    if (*s == '\n' || *s == '\r') break;
    count += *s == delimiter;
  }
  while (s < end && (*s == '\n' || *s == '\r')) s++;
  *at = s;
  return count;
}

/* Delimiters a record where all sampled records agree; 0: they do not. */
static int64_t agreed_count(const char *at, const char *end, char delimiter)
{
  int64_t first = count_in_record(&at, end, delimiter);
  for (int i = 1; i < SAMPLE_LINES && at < end; i++)
    if (count_in_record(&at, end, delimiter) != first) return 0;
  return first;
}

void csv_delimit(csv_scan *s, const char *candidates)
{
  for (const char *c = candidates; *c != '\0'; c++)
    if (agreed_count(s->at, s->end, *c) > 0) {
      s->delimiter = *c;
      return;
    }
  int64_t most = 0;
  s->delimiter = ',';
  for (const char *c = candidates; *c != '\0'; c++) {
    const char *at = s->at;
    int64_t count = count_in_record(&at, s->end, *c);
    if (count > most) s->delimiter = *c;
    if (count > most) most = count;
  }
}

/* No sampled record has a delimiter. */
static bool has_one_column(const csv_scan *s, const char *candidates)
{
  for (const char *c = candidates; *c != '\0'; c++) {
    const char *at = s->at;
    for (int i = 0; i < SAMPLE_LINES && at < s->end; i++)
      if (count_in_record(&at, s->end, *c) > 0) return false;
  }
  return true;
}

/* Text that is no table, by how it begins: NULL, or what it is. */
static const char *other_text(const char *data, const char *end)
{
  static const struct {
    const char *begins, *hint;
  } all[] = {
      {"{\"", "is JSON; save it as a table, CSV (UTF-8)"},
      {"{\n", "is JSON; save it as a table, CSV (UTF-8)"},
      {"[{", "is JSON; save it as a table, CSV (UTF-8)"},
      {"# Created by Octave", "is Octave's text format; save it with -v7"},
      {"# name: ", "is Octave's text format; save it with -v7"},
      {"<!doctype", "is a web page; save the table in it as CSV (UTF-8)"},
      {"<html", "is a web page; save the table in it as CSV (UTF-8)"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    size_t size = strlen(all[i].begins);
    if ((size_t)(end - data) > size &&
        strncasecmp(data, all[i].begins, size) == 0)
      return all[i].hint;
  }
  return NULL;
}

static bool ends_line(char c)
{
  return c == '\n' || c == '\r';
}

static void next_line(csv_scan *s)
{
  if (s->at < s->end && *s->at == '\r') {
    s->at++;
    if (s->at < s->end && *s->at == '\n') s->at++;
  } else {
    s->at++;
  }
  s->line++;
  s->line_start = s->at;
}

lapis_status csv_open(lapis_ctx *ctx, const char *path, const char *data,
                      int64_t size, csv_scan *out)
{
  const char *end = data + size, *last = end;
  if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) data += 3;
  while (end > data && (end[-1] == '\n' || end[-1] == '\r')) end--;
  *out = (csv_scan){.ctx = ctx,
                    .meter = io_meter_begin(),
                    .begin = data,
                    .told = data,
                    .path = path,
                    .at = data,
                    .end = end,
                    .line_start = data,
                    .line = 1};
  TRY(io_check_utf8(ctx, path, data, end));
  const char *other = other_text(data, end);
  if (other != NULL)
    return lapis_fail(ctx, LAPIS_EFORMAT, "%s: %s", path, other);
  csv_scan first = *out; /* what no line is skipped of */
  csv_skip_blank(out);
  const char *candidates = "\t;,|";
  char written[2] = "";
  bool named = end - out->at > 5 && strncasecmp(out->at, "sep=", 4) == 0 &&
               (ends_line(out->at[5]));
  if (named) { /* as Excel reads, and some write, the delimiter */
    out->delimiter = out->at[4];
    out->named = true;
    out->at += 5;
    next_line(out);
    first = *out;
    candidates = memcpy(written, &out->delimiter, 1);
  } else {
    csv_delimit(out, candidates);
  }
  if (out->at < end && has_one_column(out, candidates)) {
    first.delimiter = out->delimiter;
    *out = first;
    out->end = last;
    out->one_column = true;
  }
  csv_skip_blank(out);
  return LAPIS_OK;
}

/* ---- lines --------------------------------------------------------------*/
static bool is_blank(const csv_scan *s, char c)
{
  bool tab = c == '\t' && s->delimiter != '\t' && s->delimiter != '\0';
  return c == ' ' || c == '\v' || c == '\f' || tab;
}

void csv_skip_blank(csv_scan *s)
{
  while (!s->one_column && s->at < s->end) {
    const char *at = s->at;
    while (at < s->end && is_blank(s, *at)) at++;
    if (at < s->end && !ends_line(*at)) return;
    s->at = at;
    if (at < s->end) next_line(s);
  }
}

bool csv_at_end(const csv_scan *s)
{
  return s->at >= s->end && !s->in_row;
}

/* ---- cells --------------------------------------------------------------*/
static lapis_status fail_quote(const csv_scan *s, const csv_cell *cell,
                               const char *did)
{
  return lapis_fail(s->ctx, LAPIS_EFORMAT, "%s:%" PRId64 ":%" PRId64 ": %s",
                    s->path, cell->line, cell->column, did);
}

static lapis_status take_quoted(csv_scan *s, csv_cell *cell)
{
  cell->quoted = true;
  cell->text = ++s->at;
  for (; s->at < s->end; s->at++) {
    if (*s->at == '"') {
      if (s->at + 1 == s->end || s->at[1] != '"') break;
      cell->escaped = true;
      s->at++;
    } else if (*s->at == '\n') {
      s->line++;
      s->line_start = s->at + 1;
    }
  }
  if (s->at >= s->end)
    return fail_quote(
        s, cell,
        "this quote is never closed; a quote inside a cell is written twice");
  cell->size = s->at - cell->text;
  s->at++;
  while (s->at < s->end && is_blank(s, *s->at)) s->at++;
  bool fine = s->at == s->end || ends_line(*s->at) || *s->at == s->delimiter;
  return fine ? LAPIS_OK
              : fail_quote(s, cell,
                           "something follows the closing quote; a quote "
                           "inside a cell is written twice");
}

int64_t csv_swallowed(const csv_scan *s, const csv_cell *cell, int64_t at,
                      int64_t columns)
{
  const char *from = cell->text, *end = from + cell->size;
  int64_t rows = 0, count = at;
  if (!cell->quoted || columns < 2) return 0;
  for (; from < end; from++) {
    count += *from == s->delimiter;
    if (*from != '\n') continue;
    if (count != columns - 1) return 0;
    rows++;
    count = 0;
  }
  return rows > 0 && count == at ? rows : 0;
}

static void take_plain(csv_scan *s, csv_cell *cell)
{
  cell->text = s->at;
  while (s->at < s->end && !ends_line(*s->at) && *s->at != s->delimiter)
    s->at++;
  const char *end = s->at;
  while (end > cell->text && is_blank(s, end[-1])) end--;
  cell->size = end - cell->text;
}

/* "'=1+1" is how a text that a spreadsheet would run is written. */
static void take_mark_off(csv_cell *cell)
{
  char text[80];
  if (cell->size < 2 || *cell->text != '\'') return;
  size_t size = (size_t)cell->size - 1;
  if (size > sizeof text - 1) size = sizeof text - 1;
  memcpy(text, cell->text + 1, size);
  text[size] = '\0';
  cell->marked = lapis_text_runs(text);
  cell->text += cell->marked;
  cell->size -= cell->marked;
}

/* Every megabyte, and at the end. */
static lapis_status tell(csv_scan *s)
{
  enum { EVERY = 1 << 20 };
  bool ends = s->at >= s->end;
  if (s->at - s->told < EVERY && !ends) return LAPIS_OK;
  bool long_since = s->at - s->told >= EVERY;
  s->told = s->at;
  double share = (double)(s->at - s->begin) / (double)(s->end - s->begin);
  double alone = ends ? 1 : NAN; /* of one pass nobody knows what follows */
  io_meter_show(s->ctx, &s->meter, "reading",
                s->passes == 0 ? alone : (s->pass + share) / s->passes);
  return long_since ? base_go_on(s->ctx, "reading", s->path) : LAPIS_OK;
}

lapis_status csv_next(csv_scan *s, csv_cell *cell)
{
  const char *raw = s->at;
  while (s->at < s->end && is_blank(s, *s->at)) s->at++;
  *cell = (csv_cell){.raw = raw,
                     .line = s->line,
                     .column = s->at - s->line_start + 1,
                     .decimal = s->decimal,
                     .missing = s->missing};
  if (s->at < s->end && *s->at == '"')
    TRY(take_quoted(s, cell));
  else
    take_plain(s, cell);
  cell->raw_size = s->at - raw;
  take_mark_off(cell);
  s->in_row = s->at < s->end && *s->at == s->delimiter;
  cell->last = !s->in_row;
  if (s->in_row)
    s->at++;
  else if (s->at < s->end)
    next_line(s);
  return tell(s);
}

static bool is_number(const csv_cell *cell, double *value)
{
  return cell->decimal != '\0' ? marks_number(cell, cell->decimal, value)
                               : io_number(cell->text, cell->size, value);
}

/* What --missing lists: a word in capitals or not, as NA is, and a number in
 * any spelling. */
static bool is_listed(const csv_cell *cell)
{
  double value, listed;
  for (const char *at = cell->missing; *at != '\0';) {
    size_t size = strcspn(at, ",");
    if ((int64_t)size == cell->size && strncasecmp(at, cell->text, size) == 0)
      return true;
    if (io_number(at, (int64_t)size, &listed) && is_number(cell, &value) &&
        !(value < listed) && !(value > listed))
      return true;
    at += size + (at[size] == ',');
  }
  return false;
}

csv_absence csv_absence_of(const csv_cell *cell)
{
  const char *list = cell->missing;
  if (list != NULL && cell->size > 0) {
    if (is_listed(cell)) return CSV_MARKER;
    if (*list == '\0' || *list == ',') return CSV_PRESENT; /* these alone */
  }
  csv_absence why = io_absence_of(cell->text, cell->size);
  return cell->quoted && why > CSV_EMPTY ? CSV_QUOTED : why;
}

csv_kind csv_value(const csv_cell *cell, double *value)
{
  if (value != NULL) *value = NAN;
  if (csv_absence_of(cell) != CSV_PRESENT) return CSV_MISSING;
  if (is_number(cell, value)) return CSV_NUMBER;
  char plain[MARKS_PLAIN];
  csv_cell bare = *cell;
  bare.text = plain;
  bare.size = marks_ungroup(cell, plain);
  return bare.size > 0 && is_number(&bare, value) ? CSV_NUMBER : CSV_TEXT;
}

int64_t csv_copy(const csv_cell *cell, char *to)
{
  char *start = to;
  for (int64_t i = 0; i < cell->size; i++) {
    *to++ = cell->text[i];
    if (cell->escaped && cell->text[i] == '"') i++;
  }
  *to++ = '\0';
  return to - start;
}

bool csv_is_date(const csv_cell *cell)
{
  int64_t digits[3] = {0, 0, 0}, at = 0;
  char mark = '\0';
  for (int part = 0; part < 3; part++) {
    while (at < cell->size && isdigit((unsigned char)cell->text[at]))
      at++, digits[part]++;
    if (part == 2 || at == cell->size) break;
    if (strchr("-./", cell->text[at]) == NULL) return false;
    if (mark != '\0' && cell->text[at] != mark) return false;
    mark = cell->text[at++];
  }
  bool ends = at == cell->size || strchr("T ", cell->text[at]) != NULL;
  bool year_first = digits[0] == 4 && digits[2] >= 1 && digits[2] <= 2;
  bool year_last =
      digits[0] >= 1 && digits[0] <= 2 && (digits[2] == 4 || digits[2] == 2);
  return ends && mark != '\0' && digits[1] >= 1 && digits[1] <= 2 &&
         (year_first || year_last);
}

int csv_shown_bytes(const csv_cell *cell)
{
  int size = 0;
  while (size < cell->size && size < 40 &&
         (unsigned char)cell->text[size] >= 32)
    size++;
  if (size == cell->size) return size;
  while (size > 0 && (cell->text[size] & 0xc0) == 0x80) size--;
  return size;
}
