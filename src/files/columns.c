/* columns.c - what each column of a table holds, delimited text or ARFF, and
 * whatever that is.
 *
 * Nothing is refused but a table whose rows differ in length: this is for
 * looking at a table before it is known what its columns are for.  The first
 * values are counted one by one, so that classes, and a class that somebody
 * misspelt, can be seen; how many there are is counted by their hashes. */
#include <math.h>
#include <string.h>

#include "files/arff/arff.h"
#include "files/far_cells.h"

enum { FEW = LAPIS_COLUMN_VALUES, MANY = 20 };

typedef struct seen { /* of one column */
  csv_cell value[FEW];
  bool in_order[2];   /* so far the cells are 0, 1, .. or 1, 2, .. */
  bool whole;         /* all numbers are */
  csv_cell text[FEW]; /* the first different texts */
  int texts;
  uint64_t *met; /* hashes of values, in a table of `room` places; 0: free */
  int64_t room;
  int64_t dates;
  csv_cell odd; /* the first text that is no date */
  bool many;    /* and it is not the only one */
  marks marks;
  const io_facts *facts; /* of delimited text, else NULL */
  bool begins;           /* its first row holds a text */
  int64_t digits;        /* texts with a digit */
  double *number;        /* of each row, of those there is room for */
  int64_t rows;
  csv_cell before; /* in the row above */
  int64_t runs;    /* of one value */
} seen;

static bool same_text(const csv_cell *a, const csv_cell *b)
{
  return a->size == b->size && memcmp(a->text, b->text, (size_t)a->size) == 0;
}

static bool has_digit(const csv_cell *cell)
{
  for (int64_t i = 0; i < cell->size; i++)
    if (cell->text[i] >= '0' && cell->text[i] <= '9') return true;
  return false;
}

static uint64_t hash_of(const csv_cell *cell)
{
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (int64_t i = 0; i < cell->size; i++)
    h = (h ^ (unsigned char)cell->text[i]) * UINT64_C(1099511628211);
  return h == 0 ? 1 : h;
}

/* Whether it was not there. */
static bool put_hash(uint64_t *met, int64_t room, uint64_t h)
{
  uint64_t at = (h ^ h >> 32) % (uint64_t)room;
  while (met[at] != 0 && met[at] != h) at = (at + 1) % (uint64_t)room;
  bool is_new = met[at] == 0;
  met[at] = h;
  return is_new;
}

/* Room for twice as many. */
static bool grow_met(seen *s, arena *memory)
{
  int64_t room = s->room == 0 ? 64 : 2 * s->room;
  uint64_t *met = arena_take(memory, room, sizeof *met);
  if (met == NULL) return false;
  for (int64_t k = 0; k < s->room; k++)
    if (s->met[k] != 0) (void)put_hash(met, room, s->met[k]);
  s->met = met;
  s->room = room;
  return true;
}

static void count_value(lapis_column *c, seen *s, const csv_cell *cell,
                        arena *memory)
{
  int k = 0, listed = c->different < FEW ? (int)c->different : FEW;
  while (k < listed && !same_text(&s->value[k], cell)) k++;
  if (k < listed) c->count[k]++;
  if (c->different > LAPIS_COLUMN_MOST) return;
  if (2 * c->different >= s->room && !grow_met(s, memory)) return;
  if (!put_hash(s->met, s->room, hash_of(cell))) return;
  c->different++;
  if (k == FEW) return;
  s->value[k] = *cell;
  c->count[k] = 1;
}

/* What has no number is NaN. */
static void keep_number(seen *s, int64_t row, double value, arena *memory)
{
  if (row >= s->rows) {
    int64_t rows = 2 * row + 64;
    double *all = arena_reals(memory, rows);
    if (all == NULL) return;
    for (int64_t i = 0; i < rows; i++)
      all[i] = i < s->rows ? s->number[i] : NAN;
    s->number = all;
    s->rows = rows;
  }
  s->number[row] = value;
}

static void note_text(seen *s, const csv_cell *cell)
{
  int k = 0;
  while (k < s->texts && !same_text(&s->text[k], cell)) k++;
  if (k == s->texts && k < FEW) s->text[s->texts++] = *cell;
}

/* Of a column of too many values to be listed, whose numbers have texts among
 * them: these texts are what somebody looks for. */
static void texts_first(const lapis_column *c, seen *s)
{
  if (c->type != LAPIS_COLUMN_TEXT || c->numbers == 0 || c->different <= FEW)
    return;
  for (int k = 0; k < s->texts; k++) s->value[k] = s->text[k];
}

static void note(lapis_column *c, seen *s, const csv_cell *cell, csv_kind kind,
                 double value, int64_t row, arena *memory)
{
  for (int from = 0; from < 2; from++)
    if (kind != CSV_NUMBER || value != (double)(row + from))
      s->in_order[from] = false;
  if (kind == CSV_MISSING) {
    c->missing++;
    return;
  }
  marks_note(&s->marks, cell, kind);
  count_value(c, s, cell, memory);
  s->runs += row == 0 || !same_text(&s->before, cell);
  s->before = *cell;
  if (kind == CSV_TEXT) {
    c->texts++;
    if (row == 0) s->begins = true;
    s->digits += has_digit(cell);
    note_text(s, cell);
    bool date = csv_is_date(cell);
    s->dates += date;
    if (!date && s->odd.text == NULL) s->odd = *cell;
    s->many = s->many || (!date && !same_text(&s->odd, cell));
    return;
  }
  c->numbers++;
  if (s->facts != NULL) keep_number(s, row, value, memory);
  c->low = fmin(c->low, value);
  c->high = fmax(c->high, value);
  if (value != floor(value)) s->whole = false;
}

static lapis_column_type type_of(const lapis_column *c, const seen *s,
                                 bool marked)
{
  if (c->numbers + c->texts == 0) return LAPIS_COLUMN_EMPTY;
  bool counts = s->facts == NULL
                    ? (s->in_order[0] || s->in_order[1]) && c->numbers > 1
                    : facts_count_rows(s->facts);
  if (c->texts == 0 && counts) return LAPIS_COLUMN_COUNTER;
  if (c->texts == 0) return s->whole ? LAPIS_COLUMN_WHOLE : LAPIS_COLUMN_NUMBER;
  if (s->dates == c->texts && c->numbers == 0) return LAPIS_COLUMN_DATE;
  return marked ? LAPIS_COLUMN_COMMA : LAPIS_COLUMN_TEXT;
}

typedef int64_t (*copy_fn)(const csv_cell *cell, char *to);

static char *copy_cell(arena *memory, copy_fn copy, const csv_cell *cell)
{
  char *to = arena_take(memory, cell->size + 1, 1);
  if (to != NULL) (void)copy(cell, to);
  return to;
}

/* The text that stands for what is not known among many numbers, or dates: few
 * numbers may be codes, and the text one more. */
static const csv_cell *odd_one(const lapis_column *c, const seen *s)
{
  int64_t odd = c->texts - s->dates, others = c->numbers + s->dates;
  bool numbers = s->dates == 0 && c->different > FACTS_FEW + 1;
  bool dates = c->numbers == 0 && c->different > 2;
  if (odd == 0 || s->many || 2 * odd > others || !(numbers || dates))
    return NULL;
  return memchr(s->odd.text, ',', (size_t)s->odd.size) == NULL ? &s->odd : NULL;
}

/* A row of cells into the columns that are listed. */
static lapis_status scan_row(csv_scan *s, lapis_columns *out, seen *seen_in,
                             int64_t row, arena *memory)
{
  csv_cell cell = {.last = false};
  for (int64_t j = 0; j < out->columns; j++) {
    TRY(csv_next(s, &cell));
    if (j >= out->listed) continue;
    double value;
    csv_kind kind = facts_kind(seen_in[j].facts, &cell, &value);
    if (row < 0)
      out->column[j].title = copy_cell(memory, csv_copy, &cell);
    else
      note(&out->column[j], &seen_in[j], &cell, kind, value, row, memory);
  }
  csv_skip_blank(s);
  return arena_status(memory);
}

/* Of a lone column of texts, a word without a digit above those that all have
 * one: "photo" above "p12", "p13". */
static bool is_title_of(const lapis_column *c, const seen *s)
{
  enum { LEAST = 4 };
  return c->texts > LEAST && s->digits == c->texts - 1 &&
         !has_digit(&s->value[0]);
}

/* Of texts alone, a first row that stands nowhere else in its columns names
 * them, where some column below it holds classes: "name,eyes" above "ann,open",
 * "bob,open". */
static bool first_row_names(const lapis_columns *all, const seen *in)
{
  bool classes = false;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    if (c->numbers > 0 || !in[j].begins || c->count[0] != 1) return false;
    classes |= c->different > 1 && c->different <= FEW &&
               c->texts - 1 >= 2 * (c->different - 1);
  }
  return classes || (all->columns == 1 && is_title_of(all->column, in));
}

static lapis_status begin_columns(lapis_columns *out, arena *memory,
                                  const io_facts *facts, seen **in)
{
  out->listed =
      (int)(out->columns < LAPIS_COLUMNS_LISTED ? out->columns
                                                : LAPIS_COLUMNS_LISTED);
  *in = arena_take(memory, out->listed, sizeof **in);
  out->column = arena_take(memory, out->listed, sizeof *out->column);
  TRY(arena_status(memory));
  for (int j = 0; j < out->listed; j++) {
    (*in)[j] = (seen){.in_order = {true, true},
                      .whole = true,
                      .facts = facts == NULL ? NULL : &facts[j]};
    out->column[j] = (lapis_column){.low = INFINITY, .high = -INFINITY};
  }
  return LAPIS_OK;
}

/* Type and marks; ARFF has numbers of one kind alone. */
static void judge(lapis_column *c, const seen *in, const marks *all,
                  char delimiter, char decimal, arena *memory)
{
  char said[MARKS_BYTES];
  bool numbers = in->marks.first[MARK_NOT].text == NULL && delimiter != '\0';
  marks_found found = !numbers ? MARKS_FINE
                               : marks_judge(&in->marks, all, delimiter,
                                             decimal, &c->decimal, said);
  c->type = type_of(c, in, found != MARKS_FINE);
  if (found != MARKS_TWO_READINGS && found != MARKS_DOUBTFUL) return;
  csv_cell sentence = {.text = said, .size = (int64_t)strlen(said)};
  c->marks = copy_cell(memory, csv_copy, &sentence);
}

static void add_remark(lapis_column *c, const char *said, arena *memory)
{
  csv_cell sentence = {.text = said, .size = (int64_t)strlen(said)};
  int n = 0;
  while (n < LAPIS_COLUMN_REMARKS && c->remark[n] != NULL) n++;
  if (*said != '\0' && n < LAPIS_COLUMN_REMARKS)
    c->remark[n] = copy_cell(memory, csv_copy, &sentence);
}

/* What is doubtful, in sentences. */
static lapis_status doubt(lapis_column *c, seen *in, int columns, arena *memory)
{
  char said[FACTS_BYTES];
  double far;
  bool numbers =
      c->type == LAPIS_COLUMN_NUMBER || c->type == LAPIS_COLUMN_WHOLE;
  c->code = NAN;
  if (in->facts == NULL) return LAPIS_OK;
  c->code = facts_sentinel(in->facts);
  for (int k = 0; facts_say(in->facts, k, said); k++)
    add_remark(c, said, memory);
  if (!numbers) return LAPIS_OK;
  TRY(far_cells_say(memory->ctx, in->facts, in->number, in->rows, columns, said,
                    &far));
  if (isnan(c->code)) c->code = far;
  add_remark(c, said, memory);
  return LAPIS_OK;
}

static lapis_status end_columns(lapis_columns *out, arena *memory, seen *in,
                                char decimal, copy_fn copy)
{
  marks all = {.first = {{NULL, 0}}};
  for (int j = 0; j < out->listed; j++) marks_join(&all, &in[j].marks);
  for (int j = 0; j < out->listed; j++) {
    lapis_column *c = &out->column[j];
    judge(c, &in[j], &all, out->delimiter, decimal, memory);
    texts_first(c, &in[j]);
    TRY(doubt(c, &in[j], out->listed, memory));
    const csv_cell *odd = c->declared ? NULL : odd_one(c, &in[j]);
    if (odd != NULL && c->type == LAPIS_COLUMN_TEXT)
      c->odd_one = copy_cell(memory, copy, odd);
    c->padded = in[j].facts != NULL && in[j].facts->padded && in[j].whole &&
                c->texts == 0;
    c->together = c->missing == 0 && in[j].runs == c->different &&
                  c->different >= MANY && 2 * c->different <= out->rows;
    for (int k = 0; k < FEW && k < c->different; k++)
      c->value[k] = copy_cell(memory, copy, &in[j].value[k]);
  }
  return arena_status(memory);
}

/* ---- what a column of texts tells of the others -------------------------*/
enum { TOLD = 16, TELLERS = 16, TELLING = 1000, TWICE = 5 };

/* One that may tell, and the columns of few values of which it may. */
typedef struct teller {
  int column, count, of[TOLD];
  int64_t room;    /* places of its values */
  uint64_t *value; /* room: 0: free */
  uint64_t *first; /* room x count: what stands beside the value */
  bool *again;     /* ... twice or more */
  bool *tells;     /* listed */
} teller;

static bool may_tell(const lapis_column *c)
{
  return c->type == LAPIS_COLUMN_TEXT && c->numbers == 0 &&
         c->odd_one == NULL && c->different >= TWICE &&
         c->different <= TELLING && 2 * c->different <= c->texts;
}

static bool begin_teller(const lapis_columns *all, int j, arena *memory,
                         teller *x)
{
  *x = (teller){.column = j, .room = 2 * all->column[j].different};
  for (int k = 0; k < all->listed && x->count < TOLD; k++)
    if (k != j && all->column[k].different >= 2 &&
        all->column[k].different <= FEW)
      x->of[x->count++] = k;
  x->value = arena_take(memory, x->room, sizeof *x->value);
  x->first = arena_take(memory, x->room * TOLD, sizeof *x->first);
  x->again = arena_take(memory, x->room * TOLD, sizeof *x->again);
  x->tells = arena_take(memory, all->listed, sizeof *x->tells);
  if (arena_status(memory) < 0) return false;
  for (int k = 0; k < x->count; k++) x->tells[x->of[k]] = true;
  return true;
}

/* met: hashes of a row's cells; 0: missing. */
static void tell_row(teller *x, const uint64_t *met)
{
  uint64_t h = met[x->column];
  int64_t at = (int64_t)((h ^ h >> 32) % (uint64_t)x->room);
  if (h == 0) return;
  while (x->value[at] != 0 && x->value[at] != h) at = (at + 1) % x->room;
  x->value[at] = h;
  for (int k = 0; k < x->count; k++) {
    uint64_t *first = &x->first[at * TOLD + k], now = met[x->of[k]];
    if (now == 0) continue;
    if (*first == now) x->again[at * TOLD + k] = true;
    if (*first != 0 && *first != now) x->tells[x->of[k]] = false;
    if (*first == 0) *first = now;
  }
}

/* Few values that are met again beside their own may be alike by chance. */
static void end_teller(teller *x, lapis_column *c)
{
  for (int k = 0; k < x->count; k++) {
    int times = 0;
    for (int64_t at = 0; at < x->room; at++) times += x->again[at * TOLD + k];
    x->tells[x->of[k]] = x->tells[x->of[k]] && times >= TWICE;
  }
  c->tells = x->tells;
}

static lapis_status find_tellers(csv_scan s, lapis_columns *out, arena *memory,
                                 const io_facts *facts)
{
  teller x[TELLERS];
  int count = 0;
  csv_cell cell = {.last = false};
  uint64_t *met = arena_take(memory, out->listed, sizeof *met);
  TRY(arena_status(memory));
  for (int j = 0; j < out->listed && count < TELLERS; j++)
    if (may_tell(&out->column[j]) && begin_teller(out, j, memory, &x[count]))
      count++;
  for (int64_t row = out->header ? -1 : 0; count > 0 && row < out->rows;
       row++) {
    for (int64_t j = 0; j < out->columns; j++) {
      TRY(csv_next(&s, &cell));
      if (j < out->listed)
        met[j] = facts_kind(&facts[j], &cell, NULL) == CSV_MISSING
                     ? 0
                     : hash_of(&cell);
    }
    csv_skip_blank(&s);
    for (int k = 0; k < count && row >= 0; k++) tell_row(&x[k], met);
  }
  for (int k = 0; k < count; k++) end_teller(&x[k], &out->column[x[k].column]);
  return arena_status(memory);
}

/* ---- rows that stand twice ----------------------------------------------*/
/* No name of a row. */
static bool is_compared(const lapis_column *c)
{
  bool names = c->type == LAPIS_COLUMN_TEXT && c->different > 1 &&
               c->different == c->numbers + c->texts;
  return c->type != LAPIS_COLUMN_COUNTER && !names;
}

/* About how many pairs of rows are alike where columns say nothing of each
 * other. */
static double alike_by_chance(const lapis_columns *all)
{
  double pairs = (double)all->rows * (double)(all->rows - 1) / 2;
  for (int j = 0; j < all->listed; j++)
    if (is_compared(&all->column[j]) && all->column[j].different > 1)
      pairs /= (double)all->column[j].different;
  return pairs;
}

static lapis_status find_twins(csv_scan s, lapis_columns *out, arena *memory)
{
  static const double FEW_PAIRS = .1;
  if (out->rows < 2 || alike_by_chance(out) > FEW_PAIRS) return LAPIS_OK;
  int64_t room = 2 * out->rows + 1;
  uint64_t *met = arena_take(memory, room, sizeof *met);
  TRY(arena_status(memory));
  for (int64_t row = out->header ? -1 : 0; row < out->rows; row++) {
    uint64_t h = 1;
    bool any = false;
    for (int64_t j = 0; j < out->columns; j++) {
      csv_cell cell;
      TRY(csv_next(&s, &cell));
      if (j < out->listed && !is_compared(&out->column[j])) continue;
      any = any || cell.size > 0;
      h = (h ^ hash_of(&cell)) * UINT64_C(1099511628211);
    }
    csv_skip_blank(&s);
    if (row >= 0 && any) out->twins += !put_hash(met, room, h == 0 ? 1 : h);
  }
  return LAPIS_OK;
}

static lapis_status scan(csv_scan s, const lapis_table_options *opt,
                         lapis_columns *out, arena *memory,
                         const io_facts *facts, seen **seen_in)
{
  const csv_scan start = s;
  seen *in;
  TRY(begin_columns(out, memory, facts, &in));
  for (int64_t row = out->header ? -1 : 0; row < out->rows; row++)
    TRY(scan_row(&s, out, in, row, memory));
  bool asked = opt != NULL && opt->header != LAPIS_HEADER_AUTO;
  if (!out->header && !asked && first_row_names(out, in)) {
    out->header = true;
    out->rows--;
    return scan(start, opt, out, memory, facts, seen_in);
  }
  TRY(end_columns(out, memory, in, start.decimal, csv_copy));
  *seen_in = in;
  TRY(find_tellers(start, out, memory, facts));
  return find_twins(start, out, memory);
}

static lapis_status read_once(csv_scan s, const lapis_table_options *opt,
                              lapis_columns *out, arena *memory, seen **in)
{
  io_facts *facts;
  TRY(table_shape(&s, opt, out, memory, &facts));
  return scan(s, opt, out, memory, facts, in);
}

/* Texts beside numbers by commas and none by points. */
static bool is_mixed_comma(const lapis_column *c, const marks *m)
{
  return c->type == LAPIS_COLUMN_TEXT && m->first[MARK_BY_COMMA].text != NULL &&
         m->first[MARK_BY_POINT].text == NULL &&
         m->first[MARK_PLAIN].text == NULL;
}

/* Where commas are decimal, "k.A." among 1,5 and 2,5 is a text among numbers,
 * and not one class more: such columns are as they are with --decimal. */
static lapis_status read_mixed(csv_scan s, const lapis_table_options *opt,
                               lapis_columns *out, arena *memory,
                               const seen *in)
{
  lapis_columns again = {.columns = 0};
  seen *unused;
  bool any = false;
  for (int j = 0; j < out->listed; j++)
    any = any || is_mixed_comma(&out->column[j], &in[j].marks);
  if (!any || s.decimal != '\0') return LAPIS_OK;
  s.decimal = ',';
  TRY(read_once(s, opt, &again, memory, &unused));
  if (again.rows != out->rows || again.listed != out->listed) return LAPIS_OK;
  for (int j = 0; j < out->listed; j++) {
    lapis_column *c = &again.column[j];
    if (!is_mixed_comma(&out->column[j], &in[j].marks) ||
        c->numbers <= c->texts)
      continue;
    out->column[j] = *c;
    out->column[j].decimal = ',';
  }
  return LAPIS_OK;
}

static lapis_status read_text(lapis_ctx *ctx, const io_file *f,
                              const lapis_table_options *opt,
                              lapis_columns *out, arena *memory)
{
  csv_scan s;
  TRY(csv_open(ctx, io_name(f->path), (const char *)f->data, f->size, &s));
  if (opt != NULL) s.decimal = opt->decimal;
  if (opt != NULL) s.missing = opt->missing;
  seen *in;
  TRY(read_once(s, opt, out, memory, &in));
  return read_mixed(s, opt, out, memory, in);
}

/* ---- ARFF ---------------------------------------------------------------*/
typedef struct rows {
  const arff *a;
  lapis_columns *out;
  seen *in;
  csv_cell *cell; /* of each attribute listed, in the row at hand */
  csv_kind *kind;
  double *value;
  int64_t row; /* at hand; -1: none yet */
  arena *memory;
} rows;

static csv_cell as_cell(const arff_word *w)
{
  return (csv_cell){
      .text = w->text, .size = w->size, .quoted = w->quote != '\0'};
}

static int64_t copy_word(const csv_cell *cell, char *to)
{
  arff_word w = {.text = cell->text,
                 .size = cell->size,
                 .quote = cell->quoted ? '\'' : '\0'};
  return arff_copy(&w, to);
}

static bool holds_numbers(const arff_attribute *t)
{
  return t->kind == ARFF_NUMBER || t->kind == ARFF_NUMBERS;
}

static void end_row(rows *r)
{
  for (int j = 0; r->row >= 0 && j < r->out->listed; j++)
    note(&r->out->column[j], &r->in[j], &r->cell[j], r->kind[j], r->value[j],
         r->row, r->memory);
}

/* What a sparse row leaves out is 0, or the first word declared. */
static void begin_row(void *user, int64_t row, bool sparse)
{
  static const arff_word zero = {.text = "0", .size = 1};
  rows *r = user;
  end_row(r);
  r->row = row;
  for (int j = 0; sparse && j < r->out->listed; j++) {
    const arff_attribute *t = &r->a->attribute[j];
    const arff_word *first =
        t->n_values > 0 ? &r->a->value[t->first_value] : &zero;
    r->cell[j] = as_cell(first);
    r->kind[j] = holds_numbers(t) ? CSV_NUMBER : CSV_TEXT;
    r->value[j] = 0;
    if (holds_numbers(t))
      (void)io_number(first->text, first->size, &r->value[j]);
  }
}

static void take_value(void *user, int64_t j, double value,
                       const arff_word *word)
{
  rows *r = user;
  if (j >= r->out->listed) return;
  bool missing = word->quote == '\0' && word->size == 1 && *word->text == '?';
  r->cell[j] = as_cell(word);
  r->kind[j] = missing                              ? CSV_MISSING
               : holds_numbers(&r->a->attribute[j]) ? CSV_NUMBER
                                                    : CSV_TEXT;
  r->value[j] = value;
}

static lapis_status read_attributes(arff *a, lapis_columns *out, arena *memory)
{
  rows r = {.a = a, .out = out, .row = -1, .memory = memory};
  out->columns = a->n_attributes;
  out->header = true;
  TRY(begin_columns(out, memory, NULL, &r.in));
  r.cell = arena_take(memory, out->listed, sizeof *r.cell);
  r.kind = arena_take(memory, out->listed, sizeof *r.kind);
  r.value = arena_take(memory, out->listed, sizeof *r.value);
  TRY(arena_status(memory));
  TRY(arff_rows(a, &(arff_visit){begin_row, take_value, &r}));
  end_row(&r);
  out->rows = a->rows;
  for (int j = 0; j < out->listed; j++) {
    const csv_cell name = as_cell(&a->attribute[j].name);
    out->column[j].title = copy_cell(memory, copy_word, &name);
    out->column[j].declared = a->attribute[j].n_values > 0;
  }
  return end_columns(out, memory, r.in, '\0', copy_word);
}

static lapis_status read_arff(lapis_ctx *ctx, const io_file *f,
                              lapis_columns *out, arena *memory)
{
  arff a;
  TRY(arff_open(ctx, f, &a));
  lapis_status status = read_attributes(&a, out, memory);
  arff_close(&a);
  return status;
}

lapis_status lapis_columns_read(lapis_ctx *ctx, const char *path,
                                const lapis_table_options *opt,
                                lapis_columns *out)
{
  io_file f;
  MAKES(out);
  NEEDS(ctx, path, out);
  TRY(io_options_check(ctx, opt));
  TRY(io_file_open(ctx, path, &f));
  lapis_status status = LAPIS_OK;
  arena *memory = base_alloc(ctx, 1, sizeof *memory);
  if (memory == NULL) status = LAPIS_ENOMEM;
  if (memory != NULL) *memory = (arena){.ctx = ctx};
  out->memory = memory;
  if (status >= 0 && f.format == IO_CSV)
    status = read_text(ctx, &f, opt, out, memory);
  else if (status >= 0 && f.format == IO_ARFF)
    status = read_arff(ctx, &f, out, memory);
  else if (status >= 0)
    status = lapis_fail(ctx, LAPIS_EINVAL,
                        "%s: is not a table of text; save it as .csv or .tsv",
                        io_name(path));
  io_file_close(&f);
  if (status < 0) lapis_columns_free(out);
  return status;
}

void lapis_columns_free(lapis_columns *all)
{
  if (all == NULL) return;
  if (all->memory != NULL) arena_free(all->memory);
  base_free(all->memory);
  *all = (lapis_columns){.rows = 0};
}

lapis_table_options io_columns_alone(const lapis_table_options *opt,
                                     const char *columns)
{
  lapis_table_options own =
      opt == NULL ? (lapis_table_options){.use = NULL} : *opt;
  own.use = columns;
  own.drop = own.target = NULL;
  own.features_of = own.targets_of = NULL;
  own.features = 0;
  return own;
}
