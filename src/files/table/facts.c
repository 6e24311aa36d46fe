/* facts.c - what the cells of a column say together.
 *
 * A cell alone does not say what it means.  "none" is an answer where other
 * cells are empty, "NA" in quotes is Namibia where R wrote the table, 007 is no
 * 7, and -999 among ages is no age.  All readers of tables ask here, so that
 * fit, info, eval and label agree. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "files/io.h"

io_facts facts_begin(void)
{
  return (io_facts){.whole = true,
                    .step = 2,
                    .low = {.value = INFINITY, .next = INFINITY},
                    .high = {.value = -INFINITY, .next = -INFINITY}};
}

/* ---- gathering ----------------------------------------------------------*/
static void note_missing(io_facts *f, const csv_cell *cell)
{
  csv_absence why = csv_absence_of(cell);
  f->absent[why]++;
  if (f->first[why].text == NULL) f->first[why] = *cell;
}

/* 007, but neither 0 nor 0.7. */
static bool is_padded(const csv_cell *cell)
{
  for (int64_t i = 0; i < cell->size; i++)
    if (cell->text[i] < '0' || cell->text[i] > '9') return false;
  return true;
}

/* Whether LAPIS would spell the number in another way: 1.10, +1, 1e3, -0, or
 * more digits than a double keeps apart. */
static bool is_odd(const csv_cell *cell, double value)
{
  const char *s = cell->text;
  char last = s[cell->size - 1];
  size_t size = (size_t)cell->size;
  bool point = memchr(s, '.', size) != NULL || memchr(s, ',', size) != NULL;
  bool signed_zero = *s == '-' && value == 0;
  return size > 15 || signed_zero || *s == '+' || *s == '.' || last == '.' ||
         (last == '0' && point) || memchr(s, 'e', size) != NULL ||
         memchr(s, 'E', size) != NULL;
}

/* Digits behind the decimal mark; -1: 1e-3 says nothing of that. */
static int64_t decimals_of(const csv_cell *cell)
{
  enum { MOST = 15 };
  int64_t behind = 0;
  char mark = cell->decimal == ',' ? ',' : '.';
  while (behind < cell->size && cell->text[cell->size - 1 - behind] != mark)
    behind++;
  for (int64_t i = 0; i < cell->size; i++)
    if (cell->text[i] == 'e' || cell->text[i] == 'E') return -1;
  return behind == cell->size ? 0 : behind <= MOST ? behind : -1;
}

static void note_spelling(io_facts *f, const csv_cell *cell, double value)
{
  int64_t decimals = decimals_of(cell);
  if (decimals < 0 || f->decimals < 0)
    f->decimals = -1;
  else if (decimals > f->decimals)
    f->decimals = decimals;
  const char *s = cell->text;
  char other = cell->decimal == ',' ? '.' : ',';
  if (memchr(s, other, (size_t)cell->size) != NULL) f->thousands = other;
  if (f->numbers == 0) f->digits = cell->size;
  if (f->digits != cell->size) f->digits = 0;
  bool zero = cell->size > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9';
  if (zero && !f->padded) f->padded = is_padded(cell);
  if (!f->odd) f->odd = zero || is_odd(cell, value);
}

/* -> +1, -1, or 0 where they neither rise nor fall all the way. */
static int step_of(double from, double to)
{
  return to > from ? 1 : to < from ? -1 : 0;
}

static void note_end(io_end *e, double value, int direction)
{
  double off = direction * (value - e->value);
  if (value == e->value)
    e->count++;
  else if (off > 0)
    *e = (io_end){.value = value, .count = 1, .next = e->value};
  else if (direction * (value - e->next) > 0)
    e->next = value;
}

static void note_few(io_facts *f, const csv_cell *cell, double value)
{
  int k = 0;
  while (k < f->n_few && k < FACTS_FEW && f->few[k].value != value) k++;
  if (k < f->n_few) return;
  f->n_few++;
  if (k == FACTS_FEW) return;
  f->few[k].value = value;
  f->few[k].text = cell->text;
  f->few[k].size = cell->size;
}

static void note_number(io_facts *f, const csv_cell *cell, double value)
{
  note_spelling(f, cell, value);
  if (value != floor(value) || isinf(value)) f->whole = false;
  if (f->n_few <= FACTS_FEW) note_few(f, cell, value);
  if (f->numbers == 0) f->start = value;
  int step = f->numbers == 0 ? 2 : step_of(f->last, value);
  if (f->numbers == 1) f->step = step;
  if (f->numbers > 1 && step != f->step) f->step = 0;
  if (f->numbers > 0 && fabs(value - f->last) != 1) f->gaps = true;
  f->last = value;
  f->sum += value;
  f->others += value != 0;
  f->numbers++;
  note_end(&f->low, value, -1);
  note_end(&f->high, value, 1);
}

void facts_note(io_facts *f, const csv_cell *cell, csv_kind kind, double value)
{
  f->bare = f->bare || (!cell->quoted && cell->size > 0);
  f->final.text = cell->text;
  f->final.size = cell->size;
  f->final.number = kind == CSV_NUMBER;
  if (kind == CSV_MISSING) note_missing(f, cell);
  if (kind == CSV_NUMBER) note_number(f, cell, value);
  if (kind == CSV_TEXT && io_is_unsure(cell->text, cell->size) &&
      f->unsure++ == 0)
    f->first_unsure = *cell;
  f->plus = f->plus || (cell->size == 1 && *cell->text == '+');
  f->texts += kind == CSV_TEXT;
  f->bare_texts += kind == CSV_TEXT && !cell->quoted;
}

void facts_note_before(io_facts *f, const csv_cell *cell, csv_kind kind,
                       double value)
{
  const io_facts rest = *f;
  bool any = rest.numbers > 0, one = rest.numbers == 1;
  facts_note(f, cell, kind, value);
  if (rest.final.text != NULL) f->final = rest.final;
  if (kind != CSV_NUMBER || !any) return;
  int step = step_of(value, rest.start);
  f->start = value;
  f->last = rest.last;
  f->gaps = rest.gaps || fabs(rest.start - value) != 1;
  f->step = one || step == rest.step ? step : 0;
}

/* ---- judging ------------------------------------------------------------*/
void facts_judge(io_facts *f, bool quotes_mean, bool none_is_word)
{
  bool beside = f->absent[CSV_EMPTY] + f->absent[CSV_MARKER] > 0;
  f->words = f->texts > 0 && (beside || none_is_word);
  f->quotes = f->texts > 0 && (beside || quotes_mean);
}

csv_kind facts_kind(const io_facts *f, const csv_cell *cell, double *value)
{
  csv_kind kind = csv_value(cell, value);
  if (kind != CSV_MISSING || !(f->words || f->quotes)) return kind;
  csv_absence why = csv_absence_of(cell);
  bool word = (why == CSV_WORD && f->words) || (why == CSV_QUOTED && f->quotes);
  return word ? CSV_TEXT : CSV_MISSING;
}

bool facts_count_rows(const io_facts *f)
{
  enum { COUNTED = 5, RISING = 10 };
  int64_t missing = 0;
  for (int k = 0; k < CSV_ABSENCES; k++) missing += f->absent[k];
  bool runs = (f->step == 1 || f->step == -1) &&
              f->numbers >= (f->gaps ? RISING : COUNTED);
  bool few_missing = 10 * missing <= f->numbers;
  return f->whole && f->texts == 0 && few_missing && (runs || f->named);
}

bool facts_are_codes(const io_facts *f)
{
  return f->whole && f->texts == 0 && f->n_few >= 2 && f->n_few <= FACTS_FEW &&
         (f->n_few == 2 || f->numbers >= 2 * f->n_few);
}

/* ---- saying -------------------------------------------------------------*/
static void say_words(const io_facts *f, char said[FACTS_BYTES])
{
  csv_absence why = f->absent[CSV_WORD] > 0 ? CSV_WORD : CSV_QUOTED;
  const csv_cell *cell = &f->first[why];
  int64_t count = f->absent[why];
  int64_t empty = f->absent[CSV_EMPTY] + f->absent[CSV_MARKER];
  bool word = why == CSV_WORD ? f->words : f->quotes;
  char beside[64] = "";
  if (f->texts == 0 && (why != CSV_WORD || empty == 0 || !facts_are_codes(f)))
    return;
  if (count > 0 && why == CSV_QUOTED && word && f->bare_texts > 0)
    return;         /* in quotes among others without: it is meant */
  if (count == 0) { /* NA beside empty cells */
    cell = &f->first[CSV_MARKER];
    count = f->absent[CSV_MARKER];
    empty = f->absent[CSV_EMPTY];
    word = false;
    if (count == 0 || empty == 0 || cell->missing != NULL) return;
  }
  if (empty > 0)
    (void)snprintf(beside, sizeof beside, " besides %" PRId64 " empty cell%s",
                   empty, empty > 1 ? "s" : "");
  (void)snprintf(said, FACTS_BYTES,
                 "\"%.*s\" occurs %" PRId64 " time%s%s%s and is read as %s; "
                 "--missing %.*s reads it as %s",
                 csv_shown_bytes(cell), cell->text, count, count > 1 ? "s" : "",
                 why == CSV_QUOTED && cell->quoted ? " in quotes" : "", beside,
                 word ? "a word" : "unknown", word ? csv_shown_bytes(cell) : 2,
                 word ? cell->text : "''", word ? "unknown" : "a word");
}

static void say_unsure(const io_facts *f, char said[FACTS_BYTES])
{
  const csv_cell *cell = &f->first_unsure;
  bool sign = f->plus && cell->size == 1; /* - where + is the other class */
  if (f->unsure == 0 || sign) return;
  (void)snprintf(said, FACTS_BYTES,
                 "\"%.*s\" occurs %" PRId64 " time%s and is read as a word; "
                 "--missing \"%.*s\" reads it as unknown",
                 csv_shown_bytes(cell), cell->text, f->unsure,
                 f->unsure > 1 ? "s" : "", csv_shown_bytes(cell), cell->text);
}

/* -1, 9, -99, 9999: what people write for unknown. */
static bool is_usual(double value)
{
  double nines = 9, size = fabs(value);
  while (nines < size && nines < 1e15) nines = 10 * nines + 9;
  return size == nines || value == -1;
}

/* A value at one end that repeats, farther from the rest than the rest is wide;
 * or a usual one: below 0 alone, or three or more above codes without a gap. */
static bool is_sentinel(const io_facts *f, const io_end *e)
{
  enum { REPEATS = 3, TIMES = 3, OTHERS = 10, GAP = 3 };
  double width = f->high.next - f->low.next, off = fabs(e->value - e->next);
  if (e->count < REPEATS || f->n_few <= 4 || f->numbers - e->count < OTHERS)
    return false;
  if (width > 0 && !isinf(width) && off > TIMES * width) return true;
  if (!is_usual(e->value)) return false;
  if (e == &f->low)
    return e->value < 0 && e->next >= 0 &&
           (e->value < -1 || f->n_few > FACTS_FEW);
  return f->whole && f->n_few <= FACTS_FEW && off >= GAP &&
         f->n_few - 2 == (int)(e->next - f->low.value);
}

bool facts_is_sentinel(const io_facts *f, double value)
{
  return (value == f->low.value && is_sentinel(f, &f->low)) ||
         (value == f->high.value && is_sentinel(f, &f->high));
}

double facts_sentinel(const io_facts *f)
{
  if (f->texts > 0) return NAN;
  if (is_sentinel(f, &f->low)) return f->low.value;
  return is_sentinel(f, &f->high) ? f->high.value : NAN;
}

static void say_sentinel(const io_facts *f, const io_end *e,
                         char said[FACTS_BYTES])
{
  if (f->texts > 0 || !is_sentinel(f, e)) return;
  (void)snprintf(
      said, FACTS_BYTES,
      "%.15g occurs %" PRId64 " times, far from the others "
      "(%.6g .. %.6g): if it means unknown, give --missing %.15g",
      e->value, e->count, is_sentinel(f, &f->low) ? f->low.next : f->low.value,
      is_sentinel(f, &f->high) ? f->high.next : f->high.value, e->value);
}

/* The sum of a spreadsheet's column below it. */
static bool ends_in_sum(const io_facts *f)
{
  enum { ENOUGH = 6 };
  double unit = f->decimals < 0 ? 0 : pow(10, -(double)f->decimals);
  double off = fabs(f->sum - 2 * f->last), most = 1e-9 * fabs(f->last) + unit;
  return f->final.number && f->others >= ENOUGH && f->last > 0 &&
         f->last == f->high.value && f->high.count == 1 && off <= most;
}

static bool ends_in_total(const io_facts *f)
{
  static const char *const words[] = {
      "total",     "totals",      "grand total", "sum",  "summe",  "gesamt",
      "insgesamt", "gesamtsumme", "somme",       "suma", "totale", "totaal"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if ((size_t)f->final.size == strlen(words[k]) &&
        strncasecmp(f->final.text, words[k], strlen(words[k])) == 0)
      return true;
  return false;
}

static void say_total(const io_facts *f, char said[FACTS_BYTES])
{
  bool word = ends_in_total(f);
  if (word || ends_in_sum(f))
    (void)snprintf(said, FACTS_BYTES,
                   "a total occurs in the last row (%s): take that row out, or "
                   "it is learnt from like the others",
                   word ? "by its name" : "the sum of the others");
}

bool facts_say(const io_facts *f, int k, char said[FACTS_BYTES])
{
  *said = '\0';
  if (k == 0) say_words(f, said);
  if (k == 1) say_sentinel(f, &f->low, said);
  if (k == 2) say_sentinel(f, &f->high, said);
  if (k == 3) say_unsure(f, said);
  if (k == 4) say_total(f, said);
  return k < FACTS_KINDS;
}
