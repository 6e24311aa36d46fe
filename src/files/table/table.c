/* table.c - delimited text -> arrays.
 *
 * The text is scanned twice.  The first pass learns how many rows and columns
 * there are and what each column holds, so that everything is checked before
 * anything is allocated; the second stores values where they belong.
 *
 * A column is a feature, a target or the samples' names.  Features are
 * numbers.  Targets are all numbers or all text.  The first row is a header
 * if it says so (text above numbers) in more columns than it speaks against it
 * (numbers), or if a target was asked for by a name it holds: one wrong cell
 * in the first row of a table without a header shall not hide that row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/table/table.h"
#include "lapis/tools.h"

enum { MAX_COLUMNS = 1000000 };

/* ---- first pass ---------------------------------------------------------*/
static lapis_status count_columns(table *t)
{
  csv_scan s = t->start;
  csv_cell cell = {.last = false};
  if (csv_at_end(&s))
    return lapis_fail(t->ctx, LAPIS_EFORMAT,
                      "%s: holds no rows; write one on each line", t->path);
  for (; !cell.last; t->columns++) TRY(csv_next(&s, &cell));
  if (t->columns > MAX_COLUMNS)
    return lapis_fail(t->ctx, LAPIS_EFORMAT,
                      "%s: has %" PRId64 " columns, at most %d are read; save "
                      "it as .npy",
                      t->path, t->columns, MAX_COLUMNS);
  t->column = base_alloc(t->ctx, t->columns, sizeof *t->column);
  if (t->column == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < t->columns; j++)
    t->column[j] =
        (column){.width = 1, .like_number = true, .facts = facts_begin()};
  return LAPIS_OK;
}

static void note_cell(column *c, const csv_cell *cell, bool first)
{
  double value;
  csv_kind kind = csv_value(cell, &value);
  c->bytes += cell->size + 1;
  if (first) {
    c->title = *cell;
    c->first = kind;
    return;
  }
  if (kind == CSV_TEXT) {
    if (c->facts.texts == 0) c->text_cell = *cell;
    if (!csv_is_date(cell) && marks_of(cell, kind) == MARK_NOT)
      c->like_number = false;
  }
  facts_note(&c->facts, cell, kind, value);
  marks_note(&c->marks, cell, kind);
}

static lapis_status fail_ragged(const table *t, const csv_cell *cell,
                                int64_t have)
{
  if (t->start.at < t->start.end && *t->start.at == '#')
    return lapis_fail(t->ctx, LAPIS_ESHAPE,
                      "%s:%" PRId64 ":1: the first row begins with # and has "
                      "another number of cells than this one, %" PRId64
                      "; if it is a remark, take it out",
                      t->path, t->start.line, cell->line);
  char mark = t->start.delimiter;
  bool more = have > t->columns;
  bool title = t->rows == 1 || t->columns == 1;
  int64_t count = more ? t->columns : have;
  return lapis_fail(t->ctx, LAPIS_ESHAPE,
                    "%s:%" PRId64 ":%" PRId64 ": this row has %s %" PRId64
                    " cell%s, the first row has %" PRId64 "; a cell that %s%s",
                    t->path, cell->line, cell->column,
                    more ? "more than" : "only", count, count > 1 ? "s" : "",
                    t->columns,
                    !more          ? "holds nothing is written, too"
                    : mark == '\t' ? "holds a tab is quoted"
                    : mark == ';'  ? "holds a semicolon is quoted"
                    : mark == '|'  ? "holds a bar is quoted"
                                   : "holds a comma is quoted",
                    title ? "; if the first row is a title of the table, take "
                            "it out"
                          : "");
}

static void note_lines(const csv_scan *s, column *c, const csv_cell *cell,
                       int64_t j, int64_t columns)
{
  int64_t rows = csv_swallowed(s, cell, j, columns);
  c->wide += rows == 0;
  if (rows == 0 || c->swallowed > 0) return;
  c->swallow = *cell;
  c->swallowed = rows;
}

static lapis_status scan_row(table *t, csv_scan *s, bool first)
{
  csv_cell cell = {.last = false};
  int64_t j = 0;
  for (; !cell.last; j++) {
    TRY(csv_next(s, &cell));
    if (j == t->columns) return fail_ragged(t, &cell, j + 1);
    note_cell(&t->column[j], &cell, first);
    if (cell.quoted && memchr(cell.text, '\n', (size_t)cell.size) != NULL)
      note_lines(s, &t->column[j], &cell, j, t->columns);
  }
  return j < t->columns ? fail_ragged(t, &cell, j) : LAPIS_OK;
}

static lapis_status scan_rows(table *t)
{
  csv_scan s = t->start;
  while (!csv_at_end(&s)) {
    TRY(scan_row(t, &s, t->rows == 0));
    t->rows++;
    csv_skip_blank(&s);
  }
  return LAPIS_OK;
}

/* ---- roles ---------------------------------------------------------------*/
/* Groups and weights: a column each. */
static lapis_status check_one(const table *t)
{
  const lapis_table_options *opt = t->request->opt;
  const char *what = t->request->targets;
  bool one = strcmp(what, "group") == 0 || strcmp(what, "weight") == 0;
  int64_t count = 0, last = 0;
  char name[24];
  for (int64_t j = 0; j < t->columns; j++) {
    io_role role = t->column[j].role;
    if (role != IO_FEATURE && role != IO_TARGET) continue;
    count++;
    last = j;
  }
  if (!one || count < 2 || (opt != NULL && opt->target != NULL))
    return LAPIS_OK;
  const csv_cell *title = &t->column[last].title;
  bool titled = t->header && title->size > 0;
  (void)snprintf(name, sizeof name, "%" PRId64, last + 1);
  return lapis_fail(t->ctx, LAPIS_EFORMAT,
                    "%s: has %" PRId64
                    " columns, and the %s of a sample is one of them: name it, "
                    "as in %s:%.*s",
                    t->path, count, what, t->path,
                    titled ? csv_shown_bytes(title) : (int)strlen(name),
                    titled ? title->text : name);
}

static lapis_status settle_roles(table *t)
{
  TRY(table_mark_roles(t));
  TRY(check_one(t));
  bool known = table_model(t) != NULL && t->header;
  if (known) TRY(table_meet_model(t));
  for (int64_t j = 0; j < t->columns; j++) {
    column *c = &t->column[j];
    TRY(table_find_codes(t, j));
    if (c->role == IO_TARGET && (column_has_text(c) || c->codes))
      t->text_targets = true;
    if (c->role == IO_FEATURE && known) continue;
    if (c->role == IO_FEATURE) TRY(table_list_values(t, j));
    c->place = t->count[c->role];
    t->count[c->role] += c->width;
  }
  if (t->request->as_text) t->text_targets = true;
  bool targets = t->request->all_targets || t->request->targets_only;
  if (t->count[targets ? IO_TARGET : IO_FEATURE] > 0) return LAPIS_OK;
  return lapis_fail(t->ctx, LAPIS_EINVAL,
                    "%s: no column is left for %s; --drop fewer", t->path,
                    targets ? t->request->targets : t->request->features);
}

/* ---- second pass --------------------------------------------------------*/
static int64_t role_bytes(const table *t, io_role r)
{
  int64_t bytes = 0;
  for (int64_t j = 0; j < t->columns; j++)
    if (t->column[j].role == r) bytes += t->column[j].bytes;
  return bytes;
}

static lapis_status allocate(table *t)
{
  double numbers = (double)(t->count[IO_FEATURE] + t->count[IO_TARGET]);
  TRY(base_unfolds(t->ctx, t->path, 8.0 * numbers * (double)t->rows,
                   (double)(t->start.end - t->start.begin)));
  TRY(io_number_array(t->ctx, LAPIS_F64, t->count[IO_FEATURE], t->rows, &t->X));
  if (t->text_targets)
    TRY(io_text_array(t->ctx, t->count[IO_TARGET], t->rows,
                      role_bytes(t, IO_TARGET), &t->Y, &t->pool_Y));
  else
    TRY(io_number_array(t->ctx, LAPIS_F64, t->count[IO_TARGET], t->rows,
                        &t->Y));
  return io_text_array(t->ctx, t->count[IO_ID], t->rows, role_bytes(t, IO_ID),
                       &t->names, &t->pool_names);
}

static void store_text(lapis_array *a, int64_t place, const csv_cell *cell,
                       char **pool)
{
  ((const char **)a->mat.val)[place] = *pool;
  *pool += csv_copy(cell, *pool);
}

/* 1 at the cell's value and 0 at the others; of a missing cell, and of a value
 * that a model does not know, nothing is known. */
static void store_one_hot(table *t, column *c, int64_t place,
                          const csv_cell *cell)
{
  double *x = (double *)t->X.mat.val + place;
  bool missing = facts_kind(&c->facts, cell, NULL) == CSV_MISSING;
  int64_t at = missing ? -1 : table_value_at(c, cell);
  bool other = at < 0 && c->nought != NULL &&
               table_title_is(cell, c->nought, strlen(c->nought));
  if (at < 0 && !other && !missing && c->strange++ == 0)
    c->strange_cell = *cell;
  for (int64_t k = 0; k < c->width; k++)
    x[k] = missing ? NAN : at < 0 && !other ? base_unmet() : (double)(k == at);
}

/* A missing target among texts is the empty text. */
static void store_cell(table *t, column *c, int64_t row, const csv_cell *cell)
{
  double value;
  int64_t place = row * t->count[c->role] + c->place;
  csv_kind kind = facts_kind(&c->facts, cell, &value);
  csv_cell none = {.text = "", .size = 0};
  bool missing = kind == CSV_MISSING && !t->request->as_text;
  if (c->role == IO_LEFT_OUT) return;
  if (c->role == IO_ID)
    store_text(&t->names, place, cell, &t->pool_names);
  else if (c->value != NULL)
    store_one_hot(t, c, place, cell);
  else if (c->role == IO_FEATURE)
    ((double *)t->X.mat.val)[place] = value;
  else if (t->text_targets)
    store_text(&t->Y, place, missing ? &none : cell, &t->pool_Y);
  else
    ((double *)t->Y.mat.val)[place] = value;
}

static lapis_status store_rows(table *t)
{
  csv_scan s = t->start;
  csv_cell cell = {.last = false};
  s.pass = 1;
  if (t->header)
    while (!cell.last) TRY(csv_next(&s, &cell));
  csv_skip_blank(&s);
  for (int64_t row = 0; row < t->rows; row++) {
    for (int64_t j = 0; j < t->columns; j++) {
      TRY(csv_next(&s, &cell));
      store_cell(t, &t->column[j], row, &cell);
    }
    csv_skip_blank(&s);
  }
  return LAPIS_OK;
}

/* ---- results ------------------------------------------------------------*/
static void store_title(lapis_array *a, const column *c, int64_t at,
                        char **pool)
{
  store_text(a, c->place + at, &c->title, pool);
  if (c->value == NULL) return;
  (*pool)[-1] = '=';
  size_t size = strlen(c->value[at]) + 1;
  *pool = (char *)memcpy(*pool, c->value[at], size) + size;
  if (c->nought != NULL)
    *pool += snprintf(*pool - 1, sizeof IO_NOT + strlen(c->nought) + 1,
                      IO_NOT "%s)", c->nought);
}

/* The titles of the columns of a role, as a row of text; of a one-hot column
 * "TITLE=VALUE". */
static lapis_status add_titles(const table *t, io_role r, const char *name,
                               lapis_arrays *out)
{
  lapis_array a;
  char *pool;
  int64_t bytes = 0;
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    for (int64_t k = 0; k < c->width; k++)
      bytes +=
          c->title.size + 1 +
          (c->value == NULL ? 0 : (int64_t)strlen(c->value[k]) + 1) +
          (c->nought == NULL ? 0
                             : (int64_t)(sizeof IO_NOT + strlen(c->nought)));
  }
  TRY(io_text_array(t->ctx, 1, t->count[r], bytes, &a, &pool));
  for (int64_t j = 0; j < t->columns; j++)
    for (int64_t k = 0; t->column[j].role == r && k < t->column[j].width; k++)
      store_title(&a, &t->column[j], k, &pool);
  return io_arrays_add(t->ctx, out, name, &a);
}

/* How many decimals the table writes each target with, as texts; -1: numbers
 * such as 1e-3 say nothing of that. */
static lapis_status add_decimals(const table *t, lapis_arrays *out)
{
  enum { ROOM = 8 };
  lapis_array a;
  char *pool;
  TRY(io_text_array(t->ctx, 1, t->count[IO_TARGET], ROOM * t->count[IO_TARGET],
                    &a, &pool));
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    if (c->role != IO_TARGET) continue;
    ((const char **)a.mat.val)[c->place] = pool;
    pool += snprintf(pool, ROOM, "%d", (int)c->facts.decimals) + 1;
  }
  return io_arrays_add(t->ctx, out, "target_decimals", &a);
}

static lapis_status add_array(table *t, io_role r, const char *name,
                              lapis_array *a, lapis_arrays *out)
{
  if (t->count[r] == 0) return LAPIS_OK;
  (void)snprintf(a->stored, sizeof a->stored, "text");
  return io_arrays_add(t->ctx, out, name, a);
}

/* The values of one text target name its classes better than its title. */
static lapis_status hand_over(table *t, lapis_arrays *out)
{
  const table_request *q = t->request;
  TRY(add_array(t, IO_FEATURE, q->features, &t->X, out));
  TRY(add_array(t, IO_TARGET, q->targets, &t->Y, out));
  TRY(add_array(t, IO_ID, "names", &t->names, out));
  if (t->header && t->count[IO_FEATURE] > 0 && strcmp(q->features, "X") == 0)
    TRY(add_titles(t, IO_FEATURE, "feature_names", out));
  bool titles = t->count[IO_TARGET] > (t->text_targets ? 1 : 0);
  bool asked = t->header && strcmp(q->targets, "Y") == 0;
  if (asked && titles) TRY(add_titles(t, IO_TARGET, "class_names", out));
  if (asked && t->count[IO_TARGET] > 0)
    TRY(add_titles(t, IO_TARGET, "target_names", out));
  if (t->count[IO_TARGET] > 0 && !t->text_targets &&
      strcmp(q->targets, "Y") == 0)
    TRY(add_decimals(t, out));
  if (t->header && t->count[IO_ID] > 0)
    TRY(add_titles(t, IO_ID, "id_name", out));
  return dialect_add(t->ctx, t->dialect, out);
}

/* Numbers of the rows are rarely meant as a feature. */
static void warn_of_counters(const table *t)
{
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    bool read = c->role == IO_FEATURE && !c->asked && !c->one_hot &&
                table_model(t) == NULL && facts_count_rows(&c->facts);
    if (!read && !c->counter) continue;
    bool titled = t->header && c->title.size > 0;
    base_say(t->ctx, 0,
             "%s: column %" PRId64 "%s%.*s%s numbers the rows, and is %s; --id "
             "%" PRId64 " makes it their names",
             t->path, j + 1, titled ? " (\"" : "",
             titled ? csv_shown_bytes(&c->title) : 0, c->title.text,
             titled ? "\")" : "",
             read ? "read as a feature, which --drop changes"
                  : "left out of the features; --use '*' keeps it",
             j + 1);
  }
}

/* 1,234 beside 567 was read as 1.234: once, of the first such column. */
static void warn_of_marks(const table *t)
{
  char said[MARKS_BYTES];
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    bool read = c->role == IO_FEATURE || c->role == IO_TARGET;
    if (!read || column_has_text(c) ||
        table_judge_marks(t, c, said) != MARKS_DOUBTFUL)
      continue;
    base_say(t->ctx, 0, "%s: column %" PRId64 "%s%.*s%s: %s", t->path, j + 1,
             t->header ? " (\"" : "",
             t->header ? csv_shown_bytes(&c->title) : 0, c->title.text,
             t->header ? "\")" : "", said);
    return;
  }
}

/* What facts_say has of column j that is read, of a row of totals of any;
 * false: nothing. */
static bool doubt_of(const table *t, int64_t j, int k, char said[FACTS_BYTES])
{
  const column *c = &t->column[j];
  *said = '\0';
  bool read = c->role == IO_FEATURE || c->role == IO_TARGET;
  if ((read || k == FACTS_KINDS - 1) && !t->request->as_text)
    (void)facts_say(&c->facts, k, said);
  return *said != '\0';
}

/* What is said, and of how many columns behind the first. */
typedef struct remark {
  int64_t column, more;
  char said[FACTS_BYTES];
} remark;

/* Once of a word that several columns have: "NA" occurs ... */
static remark *same_remark(remark *all, int count, const char *said)
{
  size_t word = (size_t)(strstr(said, " occurs ") - said) + 1;
  for (int i = 0; i < count; i++)
    if (strncmp(all[i].said, said, word) == 0) return &all[i];
  return NULL;
}

static void say_remark(const table *t, const remark *r)
{
  const csv_cell *title = &t->column[r->column].title;
  char others[64] = "";
  if (r->more > 0)
    (void)snprintf(others, sizeof others, ", and so in %" PRId64 " other%s",
                   r->more, r->more > 1 ? "s" : "");
  base_say(t->ctx, 0, "%s: column %" PRId64 "%s%.*s%s%s: %s", t->path,
           r->column + 1, t->header ? " (\"" : "",
           t->header ? csv_shown_bytes(title) : 0, title->text,
           t->header ? "\")" : "", others, r->said);
}

/* A word of --missing that no cell has is likely misspelt. */
static void warn_of_unmet(const table *t)
{
  const char *list = t->start.missing;
  bool reads = false;
  if (list == NULL || list[strspn(list, ",")] == '\0' || table_model(t) != NULL)
    return;
  for (int64_t j = 0; j < t->columns; j++) {
    reads = reads || t->column[j].role == IO_FEATURE;
    if (t->column[j].facts.absent[CSV_MARKER] > 0) return;
  }
  if (reads)
    base_say(t->ctx, 0, "%s: no cell is what --missing names: \"%s\"", t->path,
             list);
}

/* What is doubtful of the cells that are read. */
static void warn_of_doubts(const table *t)
{
  enum { MOST = 16 };
  remark all[MOST], *same, next;
  int count = 0;
  int64_t more = 0;
  for (int64_t j = 0; j < t->columns; j++)
    for (int k = 0; k < FACTS_KINDS; k++) {
      if (!doubt_of(t, j, k, next.said)) continue;
      next.column = j, next.more = 0;
      if ((same = same_remark(all, count, next.said)) != NULL)
        same->more++;
      else if (count < MOST)
        all[count++] = next;
      else
        more++;
    }
  for (int i = 0; i < count; i++) say_remark(t, &all[i]);
  if (more > 0)
    base_say(t->ctx, 0,
             "%s: %" PRId64 " column(s) more with doubtful cells; 'lapis info' "
             "lists them",
             t->path, more);
}

static lapis_status open_table(table *t, const io_file *f)
{
  const lapis_table_options *opt = t->request->opt;
  t->memory = (arena){.ctx = t->ctx};
  t->file = f;
  TRY(csv_open(t->ctx, t->path, (const char *)f->data, f->size, &t->start));
  t->start.passes = 2; /* scan_rows, and what stores or walks */
  if (opt != NULL) t->start.decimal = opt->decimal;
  if (opt != NULL) t->start.missing = opt->missing;
  return LAPIS_OK;
}

static void close_table(table *t)
{
  base_free(t->column);
  arena_free(&t->memory);
  lapis_array_free(&t->X);
  lapis_array_free(&t->Y);
  lapis_array_free(&t->names);
}

/* Whether the rows that a cell may have swallowed have numbers where the table
 * has: 1, 0, or -1 where no column of it says. */
static int fits_rows(const table *t, int64_t at, const csv_cell *cell)
{
  const char *from = cell->text, *end = from + cell->size;
  int said = -1;
  for (int64_t j = at; from <= end; j++) {
    const char *to = from;
    while (to < end && *to != t->start.delimiter && *to != '\n') to++;
    csv_cell one = *cell;
    one.text = from;
    one.size = to - from;
    while (one.size > 0 && one.text[one.size - 1] == '\r') one.size--;
    const io_facts *f = &t->column[j].facts;
    bool edge = j == at && (from == cell->text || to == end);
    if (!edge && f->numbers > 0 && f->texts == 0) {
      if (csv_value(&one, NULL) == CSV_TEXT) return 0;
      said = 1;
    }
    if (to < end && *to == '\n') j = -1;
    from = to + 1;
  }
  return said;
}

/* A quote that nobody closed ends at the next one, rows later. */
static lapis_status check_quotes(const table *t)
{
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    int fits = c->swallowed == 0 ? 0 : fits_rows(t, j, &c->swallow);
    if (fits == 0 || (fits < 0 && c->wide > 0)) continue;
    return lapis_fail(
        t->ctx, LAPIS_EFORMAT,
        "%s:%" PRId64 ":%" PRId64 ": this quote is closed %" PRId64
        " line%s later, and the lines between have as many cells as a row; a "
        "quote in a cell is written twice, and the cell in quotes",
        t->path, c->swallow.line, c->swallow.column, c->swallowed,
        c->swallowed > 1 ? "s" : "");
  }
  return LAPIS_OK;
}

static void judge_cells(table *t)
{
  const lapis_table_options *opt = t->request->opt;
  bool bare = false;
  for (int64_t j = 0; j < t->columns; j++) bare |= t->column[j].facts.bare;
  for (int64_t j = 0; j < t->columns; j++)
    facts_judge(&t->column[j].facts, bare, opt != NULL && opt->none_is_word);
}

static lapis_status learn_columns(table *t)
{
  TRY(count_columns(t));
  TRY(scan_rows(t));
  TRY(check_quotes(t));
  TRY(table_settle_header(t));
  judge_cells(t);
  TRY(settle_roles(t));
  TRY(table_check_columns(t));
  dialect_find(t->file, &t->start, t->dialect);
  return LAPIS_OK;
}

static lapis_status read_steps(table *t, lapis_arrays *out)
{
  TRY(learn_columns(t));
  TRY(allocate(t));
  TRY(store_rows(t));
  if (strcmp(t->request->features, "X") == 0) warn_of_counters(t);
  warn_of_marks(t);
  warn_of_doubts(t);
  warn_of_unmet(t);
  for (const column *c = t->column; c < t->column + t->columns; c++)
    io_tell_strange(t->ctx, t->path, &c->title, &c->strange_cell, c->strange);
  return hand_over(t, out);
}

/* ---- every cell as it stands --------------------------------------------*/
/* The codes of a column as they are written, NULL: it has none. */
static const char **codes_of(table *t, const io_facts *f)
{
  const char **word = NULL;
  if (facts_are_codes(f))
    word = arena_take(&t->memory, FACTS_FEW, sizeof *word);
  for (int k = 0; word != NULL && k < f->n_few; k++) {
    char *text = arena_take(&t->memory, f->few[k].size + 1, 1);
    if (text != NULL) memcpy(text, f->few[k].text, (size_t)f->few[k].size);
    word[k] = text;
  }
  return word;
}

static lapis_status walk_rows(table *t, io_cell_fn visit, void *user)
{
  csv_scan s = t->start;
  s.pass = 1;
  const char ***word = arena_take(&t->memory, t->columns, sizeof *word);
  for (int64_t j = 0; word != NULL && j < t->columns; j++)
    word[j] = codes_of(t, &t->column[j].facts);
  TRY(arena_status(&t->memory));
  for (int64_t row = -t->header; row < t->rows; row++) {
    for (int64_t j = 0; j < t->columns; j++) {
      csv_cell cell;
      const column *c = &t->column[j];
      TRY(csv_next(&s, &cell));
      char *text = base_alloc_raw(t->ctx, cell.size + 1, 1);
      if (text == NULL) return LAPIS_ENOMEM;
      (void)csv_copy(&cell, text);
      visit(user, &(io_cell){.dialect = t->dialect,
                             .row = row,
                             .column = j,
                             .role = c->role,
                             .place = c->place,
                             .width = c->width,
                             .value = c->value,
                             .word = word[j],
                             .words = word[j] ? c->facts.n_few : 0,
                             .whole = c->facts.whole && c->facts.numbers > 0,
                             .digits = c->facts.padded ? c->facts.digits : 0,
                             .decimals = c->facts.decimals,
                             .numbers = c->facts.numbers,
                             .thousands = c->facts.thousands,
                             .text = text,
                             .missing = facts_kind(&c->facts, &cell, NULL) ==
                                        CSV_MISSING,
                             .cell = &cell,
                             .last = j + 1 == t->columns});
      base_free(text);
    }
    csv_skip_blank(&s);
  }
  return LAPIS_OK;
}

lapis_status table_walk(lapis_ctx *ctx, io_file *f, const table_request *q,
                        io_cell_fn visit, void *user)
{
  table t = {.ctx = ctx, .path = io_name(f->path), .request = q};
  TRY(open_table(&t, f));
  lapis_status status = learn_columns(&t);
  if (status >= 0) status = walk_rows(&t, visit, user);
  close_table(&t);
  return status;
}

lapis_status table_shape(const csv_scan *start, const lapis_table_options *opt,
                         lapis_columns *out, arena *memory, io_facts **facts)
{
  table_request request = {.opt = opt};
  table t = {.ctx = start->ctx,
             .path = start->path,
             .request = &request,
             .start = *start};
  lapis_status status = count_columns(&t);
  if (status >= 0) status = scan_rows(&t);
  if (status >= 0) status = check_quotes(&t);
  if (status >= 0) status = table_settle_header(&t);
  if (status >= 0) judge_cells(&t);
  out->columns = t.columns;
  out->rows = t.rows;
  out->header = t.header;
  out->delimiter = start->delimiter;
  if (status >= 0) *facts = arena_take(memory, t.columns, sizeof **facts);
  for (int64_t j = 0; status >= 0 && *facts != NULL && j < t.columns; j++)
    (*facts)[j] = t.column[j].facts;
  if (status >= 0) status = arena_status(memory);
  base_free(t.column);
  arena_free(&t.memory);
  return status;
}

lapis_status table_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                        lapis_arrays *out)
{
  table t = {.ctx = ctx, .path = io_name(f->path), .request = &request->table};
  TRY(open_table(&t, f));
  if (strcmp(request->table.features, "X") == 0) {
    bool done;
    TRY(triplets_read(&t.start, &request->table, out, &done));
    if (done) dialect_find(f, &t.start, t.dialect);
    if (done) return dialect_add(ctx, t.dialect, out);
  }
  lapis_status status = read_steps(&t, out);
  close_table(&t);
  return status;
}
