/* arff.c - ARFF, the tables of Weka, Mulan and MEKA.
 *
 *   @relation name
 *   @attribute 'a name' numeric        (real, integer)
 *   @attribute kind {a, 'b c'}         nominal
 *   @attribute text string             (date, relational: the samples' names
 *   @data                               by --id, otherwise left out)
 *   1.5, 'b c', ?                      ? is missing
 *   {0 1.5, 1 a}                       sparse: what is left out is 0, or the
 *                                      first value of a nominal attribute
 *
 * Nominal values that are numbers are those numbers; two texts are 0 and 1 in
 * the order declared.  A file whose rows are all sparse gives a sparse X.
 * Targets are attributes by name or number (--target), the last K
 * (--arff-labels K), or those an XML file names (--arff-labels F.xml). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/arff/arff.h"

enum { ASKS_EVERY = 1 << 20 }; /* bytes */

/* ---- words --------------------------------------------------------------*/
static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static lapis_status fail_at(const arff *a, const char *at, const char *what)
{
  return lapis_fail(a->ctx, LAPIS_EFORMAT, "%s:%" PRId64 ":%td: %s", a->path,
                    a->line, at - a->line_start + 1, what);
}

lapis_status arff_fail_word(const arff *a, const arff_word *w, const char *what)
{
  int64_t n = w->size < 40 ? w->size : 40;
  while (n > 0 && n < w->size && (w->text[n] & 0xc0) == 0x80) n--;
  return lapis_fail(a->ctx, LAPIS_EFORMAT, "%s:%" PRId64 ":%td: \"%.*s\" %s",
                    a->path, a->line, w->text - a->line_start + 1, (int)n,
                    w->text, what);
}

static void skip_blanks(arff *a)
{
  while (a->at < a->end && is_blank(*a->at)) a->at++;
}

static void skip_line(arff *a)
{
  const char *stop = memchr(a->at, '\n', (size_t)(a->end - a->at));
  a->at = stop == NULL ? a->end : stop + 1;
  a->line++;
  a->line_start = a->at;
}

/* To the next line that says something. */
static void skip_empty(arff *a)
{
  for (; a->at < a->end; skip_line(a)) {
    skip_blanks(a);
    if (a->at < a->end && *a->at != '\n' && *a->at != '%') return;
  }
}

/* 'it''s', "it", 'it\'s', or up to one of `stops` or a blank. */
static lapis_status take_word(arff *a, const char *stops, arff_word *w)
{
  skip_blanks(a);
  char quote = a->at < a->end && (*a->at == '\'' || *a->at == '"') ? *a->at : 0;
  *w = (arff_word){.text = a->at, .quote = quote};
  if (quote == 0) {
    while (a->at < a->end && *a->at != '\n' && !is_blank(*a->at) &&
           strchr(stops, *a->at) == NULL)
      a->at++;
    w->size = a->at - w->text;
    return LAPIS_OK;
  }
  w->text = ++a->at;
  while (a->at < a->end && *a->at != '\n' && *a->at != quote)
    a->at += *a->at == '\\' && a->end - a->at > 1 && a->at[1] != '\n' ? 2 : 1;
  if (a->at >= a->end || *a->at != quote)
    return fail_at(
        a, w->text - 1,
        "this quote is never closed; a quote inside a cell is written twice");
  w->size = a->at++ - w->text;
  return LAPIS_OK;
}

/* The word without its escapes, a NUL behind it; returns bytes written. */
static int64_t copy_word(const arff_word *w, char *to)
{
  char *start = to;
  for (int64_t i = 0; i < w->size; i++) {
    if (w->quote != 0 && w->text[i] == '\\' && i + 1 < w->size) i++;
    *to++ = w->text[i];
  }
  *to++ = '\0';
  return to - start;
}

static bool word_is(const arff_word *w, const char *keyword)
{
  size_t n = strlen(keyword);
  return w->quote == 0 && (size_t)w->size == n &&
         strncasecmp(w->text, keyword, n) == 0;
}

static bool is_missing(const arff_word *w)
{
  return w->quote == 0 && w->size == 1 && *w->text == '?';
}

/* ---- the header ---------------------------------------------------------*/
/* A word that stays, without its escapes; where nothing is allocated it is
 * counted alone. */
static arff_word keep_word(arff *a, const arff_word *w)
{
  arff_word kept = {.text = a->pool};
  if (a->pool == NULL) a->text_bytes += w->size + 1;
  if (a->pool == NULL) return kept;
  int64_t bytes = copy_word(w, a->pool + a->text_bytes);
  kept.text = a->pool + a->text_bytes;
  kept.size = bytes - 1;
  a->text_bytes += bytes;
  return kept;
}

static lapis_status take_values(arff *a, arff_attribute *to)
{
  const char *open = a->at++;
  to->kind = ARFF_NUMBERS;
  to->first_value = a->n_values;
  for (;;) {
    arff_word w;
    skip_blanks(a);
    if (a->at < a->end && *a->at == '}') break;
    TRY(take_word(a, ",}", &w));
    double number;
    if (w.size == 0 && w.quote == 0)
      return fail_at(a, open, "these values are not closed by }");
    if (!io_number(w.text, w.size, &number)) to->kind = ARFF_TEXTS;
    arff_word kept = keep_word(a, &w);
    if (a->value != NULL) a->value[a->n_values] = kept;
    if (w.size > a->longest) a->longest = w.size;
    a->n_values++;
    skip_blanks(a);
    if (a->at < a->end && *a->at == ',') a->at++;
  }
  a->at++;
  to->n_values = a->n_values - to->first_value;
  if (to->n_values > 0) return LAPIS_OK;
  return fail_at(a, open, "a nominal attribute needs values, as in {a, b}");
}

static lapis_status take_attribute(arff *a)
{
  static const char *const numbers[] = {"numeric", "real", "integer", NULL};
  static const char *const texts[] = {"string", "date", NULL};
  arff_attribute to = {.line = a->line, .kind = ARFF_NUMBER};
  arff_word type;
  TRY(take_word(a, "{", &to.name));
  if (to.name.size == 0)
    return fail_at(
        a, a->at, "an attribute needs a name, as in @attribute height numeric");
  skip_blanks(a);
  if (a->at < a->end && *a->at == '{') {
    TRY(take_values(a, &to));
  } else {
    TRY(take_word(a, "{", &type));
    int i = 0, j = 0;
    while (numbers[i] != NULL && !word_is(&type, numbers[i])) i++;
    while (texts[j] != NULL && !word_is(&type, texts[j])) j++;
    if (numbers[i] == NULL && texts[j] == NULL)
      return arff_fail_word(
          a, &type,
          "is not a type that is read; numeric, real, integer, "
          "string, date and {a, b} are");
    if (numbers[i] == NULL) to.kind = ARFF_STRING;
    to.whole = word_is(&type, "integer");
  }
  to.name = keep_word(a, &to.name);
  if (a->attribute != NULL) a->attribute[a->n_attributes] = to;
  a->n_attributes++;
  return LAPIS_OK;
}

/* Up to the line behind @data; where arrays are NULL it only counts. */
static lapis_status take_header(arff *a)
{
  for (skip_empty(a); a->at < a->end; skip_empty(a)) {
    arff_word w;
    TRY(take_word(a, "", &w));
    if (word_is(&w, "@data")) {
      skip_line(a);
      skip_empty(a);
      return LAPIS_OK;
    }
    if (word_is(&w, "@attribute"))
      TRY(take_attribute(a));
    else if (!word_is(&w, "@relation"))
      return arff_fail_word(a, &w,
                            "is not one of @relation, @attribute and @data");
    skip_line(a);
  }
  return fail_at(a, a->at,
                 "the file ends before @data; the rows follow a line @data");
}

static arff rewound(const arff *a, const char *data)
{
  arff b = *a;
  b.at = b.line_start = data;
  b.line = 1;
  b.n_attributes = b.n_values = b.text_bytes = 0;
  return b;
}

/* What looks rows up; -0 is 0. */
static lapis_status sort_declared(arff *a)
{
  a->by_name = base_alloc(a->ctx, a->n_attributes, sizeof *a->by_name);
  a->by_value = base_alloc(a->ctx, a->n_values, sizeof *a->by_value);
  a->number = base_alloc(a->ctx, a->n_values, sizeof *a->number);
  a->plain = base_alloc(a->ctx, 2 * a->longest + 1, 1);
  if (a->by_name == NULL || a->by_value == NULL || a->number == NULL ||
      a->plain == NULL)
    return LAPIS_ENOMEM;
  for (int64_t j = 0; j < a->n_attributes; j++) {
    const arff_attribute *t = &a->attribute[j];
    io_text *sorted = a->by_value + t->first_value;
    a->by_name[j] = (io_text){t->name.text, t->name.size, j};
    for (int64_t k = 0; k < t->n_values; k++) {
      const arff_word *v = &a->value[t->first_value + k];
      double *number = &a->number[t->first_value + k];
      sorted[k] = (io_text){v->text, v->size, k};
      if (t->kind == ARFF_TEXTS) continue;
      (void)io_number(v->text, v->size, number);
      *number += 0.0;
      sorted[k] = (io_text){(const char *)number, sizeof *number, k};
    }
    io_lookup_sort(sorted, t->n_values);
  }
  io_lookup_sort(a->by_name, a->n_attributes);
  return LAPIS_OK;
}

static lapis_status open_header(arff *a)
{
  const char *data = a->at;
  TRY(take_header(a));
  if (a->n_attributes == 0)
    return lapis_fail(a->ctx, LAPIS_EFORMAT,
                      "%s: declares no @attribute; each column needs a line "
                      "such as @attribute height numeric",
                      a->path);
  a->attribute = base_alloc(a->ctx, a->n_attributes, sizeof *a->attribute);
  a->value = base_alloc(a->ctx, a->n_values, sizeof *a->value);
  a->pool = base_alloc_raw(a->ctx, a->text_bytes, 1);
  if (a->attribute == NULL || a->value == NULL || a->pool == NULL)
    return LAPIS_ENOMEM;
  *a = rewound(a, data);
  TRY(take_header(a));
  a->data = (arff_place){a->at, a->line_start, a->line};
  return sort_declared(a);
}

/* ---- rows ---------------------------------------------------------------*/
int64_t arff_find(const arff *a, const char *name)
{
  return io_lookup(a->by_name, a->n_attributes, name, (int64_t)strlen(name));
}

int64_t arff_text_at(const arff *a, const arff_attribute *t, const char *text,
                     int64_t size)
{
  return io_lookup(a->by_value + t->first_value, t->n_values, text, size);
}

int64_t arff_number_at(const arff *a, const arff_attribute *t, double number)
{
  number += 0.0; /* -0 is 0 */
  return io_lookup(a->by_value + t->first_value, t->n_values,
                   (const char *)&number, sizeof number);
}

/* Of a word in a row; quotes do not matter: 'a' is a. */
static int64_t place_of(const arff *a, const arff_attribute *t,
                        const arff_word *w)
{
  if (w->quote == 0) return arff_text_at(a, t, w->text, w->size);
  if (w->size > 2 * a->longest) return -1; /* longer than any */
  return arff_text_at(a, t, a->plain, copy_word(w, a->plain) - 1);
}

/* What a word is for an attribute: a number, or the place among its texts. */
static lapis_status read_value(const arff *a, const arff_word *w,
                               const arff_attribute *t, double *value)
{
  *value = NAN;
  if (is_missing(w) || t->kind == ARFF_STRING) return LAPIS_OK;
  bool number = io_number(w->text, w->size, value);
  if (t->kind == ARFF_NUMBER && number) return LAPIS_OK;
  if (t->kind == ARFF_NUMBER)
    return arff_fail_word(a, w,
                          "is not a number, as this attribute wants, nor ?");
  if (t->kind == ARFF_TEXTS) {
    int64_t at = place_of(a, t, w);
    *value = (double)at;
    if (at >= 0) return LAPIS_OK;
  } else if (number && arff_number_at(a, t, *value) >= 0) {
    return LAPIS_OK;
  }
  return arff_fail_word(a, w,
                        "is not one of the values declared for this "
                        "attribute");
}

static lapis_status end_of_row(arff *a)
{
  skip_blanks(a);
  if (a->at == a->end || *a->at == '\n' || *a->at == '%') return LAPIS_OK;
  return fail_at(a, a->at,
                 *a->at == '{' || *a->at == ','
                     ? "the row has more values than there are attributes"
                     : "a comma is needed here");
}

static lapis_status dense_row(arff *a, const arff_visit *visit)
{
  for (int64_t j = 0; j < a->n_attributes; j++) {
    arff_word w;
    double value;
    if (j > 0) {
      skip_blanks(a);
      if (a->at < a->end && *a->at == ',')
        a->at++;
      else
        return lapis_fail(a->ctx, LAPIS_ESHAPE,
                          "%s:%" PRId64 ":%td: this row has %" PRId64
                          " values, %" PRId64 " attributes are declared",
                          a->path, a->line, a->at - a->line_start + 1, j,
                          a->n_attributes);
    }
    TRY(take_word(a, ",%", &w));
    if (w.size == 0 && w.quote == 0)
      return fail_at(a, w.text, "a value is missing; write ? where unknown");
    TRY(read_value(a, &w, &a->attribute[j], &value));
    if (visit != NULL) visit->value(visit->user, j, value, &w);
  }
  return end_of_row(a);
}

static lapis_status sparse_index(arff *a, int64_t last, int64_t *index)
{
  arff_word w;
  double number;
  TRY(take_word(a, ",}", &w));
  if (!io_number(w.text, w.size, &number) || floor(number) < number)
    return arff_fail_word(a, &w,
                          "is not an attribute's number; {0 1.5, 3 2} is");
  if (number < 0 || number >= (double)a->n_attributes)
    return arff_fail_word(a, &w,
                          "is the number of no attribute; they count "
                          "from 0");
  *index = (int64_t)number;
  return *index > last ? LAPIS_OK
                       : arff_fail_word(a, &w,
                                        "does not come after the "
                                        "attribute before it");
}

static lapis_status sparse_row(arff *a, const arff_visit *visit)
{
  int64_t last = -1;
  a->at++;
  for (skip_blanks(a); a->at < a->end && *a->at != '}'; skip_blanks(a)) {
    arff_word w;
    double value;
    if (*a->at == '\n') return fail_at(a, a->at, "} is expected here");
    TRY(sparse_index(a, last, &last));
    TRY(take_word(a, ",}", &w));
    if (w.size == 0 && w.quote == 0)
      return fail_at(a, w.text, "a value is missing; write ? where unknown");
    TRY(read_value(a, &w, &a->attribute[last], &value));
    if (visit != NULL) visit->value(visit->user, last, value, &w);
    skip_blanks(a);
    if (a->at < a->end && *a->at == ',') a->at++;
  }
  if (a->at == a->end) return fail_at(a, a->at, "} is expected here");
  a->at++;
  return end_of_row(a);
}

lapis_status arff_rows(arff *a, const arff_visit *visit)
{
  a->at = a->data.at;
  a->line_start = a->data.line_start;
  a->line = a->data.line;
  a->rows = 0;
  a->all_sparse = true;
  const char *asked = a->at;
  for (; a->at < a->end; skip_empty(a), a->rows++) {
    if (a->at - asked >= ASKS_EVERY) {
      TRY(base_go_on(a->ctx, "reading", a->path));
      asked = a->at;
    }
    bool sparse = *a->at == '{';
    a->all_sparse = a->all_sparse && sparse;
    if (visit != NULL) visit->row(visit->user, a->rows, sparse);
    TRY(sparse ? sparse_row(a, visit) : dense_row(a, visit));
    skip_line(a);
  }
  if (a->rows > 0) return LAPIS_OK;
  return lapis_fail(a->ctx, LAPIS_EFORMAT,
                    "%s: holds no rows after @data; a row is a line of values "
                    "with commas between them",
                    a->path);
}

int64_t arff_copy(const arff_word *w, char *to)
{
  return copy_word(w, to);
}

lapis_status arff_open(lapis_ctx *ctx, const io_file *f, arff *a)
{
  const char *data = (const char *)f->data;
  bool mark = f->size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
  *a = (arff){.ctx = ctx,
              .path = io_name(f->path),
              .at = data + (mark ? 3 : 0),
              .end = data + f->size,
              .line = 1};
  a->line_start = a->at;
  TRY(io_check_utf8(ctx, a->path, a->at, a->end));
  lapis_status status = open_header(a);
  if (status == LAPIS_OK) status = arff_rows(a, NULL);
  if (status < 0) arff_close(a);
  return status;
}

void arff_close(arff *a)
{
  base_free(a->attribute);
  base_free(a->value);
  base_free(a->pool);
  base_free(a->plain);
  base_free(a->by_name);
  base_free(a->by_value);
  base_free(a->number);
  *a = (arff){.ctx = a->ctx};
}

bool arff_is(const unsigned char *head, int64_t size)
{
  const char *data = (const char *)head;
  bool mark = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
  arff a = {.at = data + (mark ? 3 : 0), .end = data + size, .line = 1};
  arff_word w;
  a.line_start = a.at;
  skip_empty(&a);
  if (a.at == a.end || *a.at != '@') return false;
  return take_word(&a, "", &w) == LAPIS_OK &&
         (word_is(&w, "@relation") || word_is(&w, "@attribute"));
}
