/* svm.c - LIBSVM and SVMlight: "label index:value index:value", a line a
 * sample, only what is not 0.
 *
 * Labels may be several, "1,3", or none: then Y has a row for each label that
 * occurs.  A label "nan" or "?" is unknown; a file without a known label has
 * no Y.  Text behind # is a comment; qid is for rankings and left out.
 * Indices count from 1 and rise.  X stays sparse; the last feature of all is
 * written even where it is 0, so that their number survives.
 *
 * A number cut short is a number still, and so is a line: only that nothing
 * ends the last line tells of a file that was cut.  Editors leave such files
 * behind, too, so it is said and no more.
 *
 * The text is scanned twice: the first pass checks everything and counts, the
 * second stores. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/io.h"

enum { SHOWN_BYTES = 40, TEST_LINES = 20 };

typedef struct svm {
  lapis_ctx *ctx;
  const char *path, *at, *end, *line_start, *asked;
  int64_t line;
  /* of the first pass */
  int64_t samples, nnz, features, bytes;     /* bytes: of the file */
  int64_t labels, most_labels, least_labels; /* all; in one line */
  bool ranked, whole; /* qid was seen; every label is a whole number */
} svm;

typedef struct token {
  const char *text;
  int64_t size;
} token;

static lapis_status fail_token(const svm *s, const token *t, const char *what)
{
  int64_t n = t->size < SHOWN_BYTES ? t->size : SHOWN_BYTES;
  while (n > 0 && n < t->size && (t->text[n] & 0xc0) == 0x80) n--;
  return lapis_fail(s->ctx, LAPIS_EFORMAT, "%s:%" PRId64 ":%td: \"%.*s\" %s",
                    s->path, s->line, t->text - s->line_start + 1, (int)n,
                    t->text, what);
}

/* ---- tokens -------------------------------------------------------------*/
static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The next token of the line; false at its end or where a comment begins. */
static bool next_token(svm *s, token *t)
{
  while (s->at < s->end && is_space(*s->at)) s->at++;
  if (s->at == s->end || *s->at == '\n' || *s->at == '#') return false;
  t->text = s->at;
  while (s->at < s->end && !is_space(*s->at) && *s->at != '\n' && *s->at != '#')
    s->at++;
  t->size = s->at - t->text;
  return true;
}

/* Every so many bytes. */
static lapis_status go_on(svm *s)
{
  enum { EVERY = 1 << 20 };
  if (s->at - s->asked < EVERY) return LAPIS_OK;
  s->asked = s->at;
  return base_go_on(s->ctx, "reading", s->path);
}

static void skip_line(svm *s)
{
  const char *stop = memchr(s->at, '\n', (size_t)(s->end - s->at));
  s->at = stop == NULL ? s->end : stop + 1;
  s->line++;
  s->line_start = s->at;
}

/* Lines that hold no sample: empty, or a comment alone. */
static void skip_empty(svm *s)
{
  while (s->at < s->end) {
    const char *at = s->at;
    while (at < s->end && is_space(*at)) at++;
    if (at < s->end && *at != '\n' && *at != '#') return;
    skip_line(s);
  }
}

/* Where the token is "index:value": the colon. */
static const char *colon_of(const token *t)
{
  return memchr(t->text, ':', (size_t)t->size);
}

static bool is_rank(const token *t)
{
  return t->size > 4 && memcmp(t->text, "qid:", 4) == 0;
}

static bool read_value(const char *text, int64_t size, double *value)
{
  static const char *const unknown[] = {"nan", "NaN", "NAN", "-nan", "?"};
  if (io_number(text, size, value)) return true;
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    if ((int64_t)strlen(unknown[i]) == size &&
        memcmp(unknown[i], text, (size_t)size) == 0)
      return *value = NAN, true;
  return false;
}

/* The next of "1,3,5"; *at moves behind it. */
static token next_label(const char **at, const char *end)
{
  const char *comma = memchr(*at, ',', (size_t)(end - *at));
  token t = {*at, (comma == NULL ? end : comma) - *at};
  *at = comma == NULL ? end : comma + 1;
  return t;
}

static lapis_status read_entry(const svm *s, const token *t, int64_t last,
                               int64_t *index, double *value)
{
  const char *colon = colon_of(t);
  double number;
  int64_t digits = colon == NULL ? 0 : colon - t->text;
  if (colon == NULL) return fail_token(s, t, "is not index:value");
  if (!io_number(t->text, digits, &number) || floor(number) < number)
    return fail_token(s, t, "has no whole number before its colon");
  if (!(number >= 1))
    return fail_token(s, t,
                      "has an index below 1; indices count from 1 (scikit-"
                      "learn's dump_svmlight_file: zero_based=False)");
  if (number > INT32_MAX)
    return fail_token(s, t, "has an index above 2147483647, the most there is");
  *index = (int64_t)number;
  if (*index == last) return fail_token(s, t, "repeats the index before it");
  if (*index < last)
    return fail_token(s, t, "comes after a larger index; they must rise");
  if (!read_value(colon + 1, t->size - digits - 1, value))
    return fail_token(s, t, "has no number after its colon");
  return LAPIS_OK;
}

/* ---- first pass ---------------------------------------------------------*/
static lapis_status check_labels(svm *s, const token *t)
{
  const char *at = t->text, *end = t->text + t->size;
  int64_t count = 0;
  while (at < end) {
    double value;
    token label = next_label(&at, end);
    if (!read_value(label.text, label.size, &value))
      return fail_token(s, t,
                        "is not a label; a number, or numbers between "
                        "commas, is needed");
    s->whole = s->whole && floor(value) >= value;
    count++;
  }
  s->labels += count;
  if (count > s->most_labels) s->most_labels = count;
  if (count < s->least_labels) s->least_labels = count;
  return LAPIS_OK;
}

/* What a line begins with: labels, or, where there are none, an entry. */
static bool take_labels(svm *s, token *t)
{
  svm before = *s;
  t->text = s->at;
  t->size = 0;
  if (next_token(s, t) && colon_of(t) == NULL) return true;
  *s = before;
  t->size = 0;
  return false;
}

static lapis_status check_line(svm *s)
{
  token t;
  int64_t last = 0;
  double value;
  if (take_labels(s, &t))
    TRY(check_labels(s, &t));
  else
    s->least_labels = 0;
  while (next_token(s, &t)) {
    s->ranked = s->ranked || is_rank(&t);
    if (is_rank(&t)) continue;
    TRY(read_entry(s, &t, last, &last, &value));
    s->nnz++;
  }
  if (last > s->features) s->features = last;
  s->samples++;
  return LAPIS_OK;
}

static svm scan_begin(lapis_ctx *ctx, const io_file *f)
{
  const char *data = (const char *)f->data;
  bool mark = f->size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
  svm s = {.ctx = ctx,
           .path = io_name(f->path),
           .at = data + (mark ? 3 : 0),
           .end = data + f->size,
           .line = 1,
           .bytes = f->size,
           .least_labels = INT64_MAX,
           .whole = true};
  s.line_start = s.asked = s.at;
  return s;
}

static lapis_status scan_all(svm *s)
{
  for (skip_empty(s); s->at < s->end; skip_empty(s)) {
    TRY(check_line(s));
    TRY(go_on(s));
    if (s->at == s->end)
      base_say(s->ctx, 0,
               "%s:%" PRId64 ": no end of line; if the file was cut short, its "
               "last sample is not whole",
               s->path, s->line);
    skip_line(s);
  }
  if (s->ranked)
    base_say(s->ctx, 0, "%s: qid is left out: LAPIS has no method that ranks",
             s->path);
  if (s->samples > 0) return LAPIS_OK;
  return lapis_fail(
      s->ctx, LAPIS_EFORMAT,
      "%s: holds no samples; a line is a label and index:value pairs", s->path);
}

/* ---- second pass --------------------------------------------------------*/
static lapis_status fill_features(svm s, lapis_array *X)
{
  int64_t *colptr = (int64_t *)(uintptr_t)X->mat.colptr, k = 0, j = 0;
  int32_t *rowidx = (int32_t *)(uintptr_t)X->mat.rowidx;
  double *val = X->mat.val;
  for (skip_empty(&s); s.at < s.end; skip_empty(&s)) {
    token t;
    int64_t index = 0;
    (void)take_labels(&s, &t);
    while (next_token(&s, &t)) {
      if (is_rank(&t)) continue;
      TRY(read_entry(&s, &t, index, &index, &val[k]));
      rowidx[k++] = (int32_t)(index - 1);
    }
    colptr[++j] = k;
    TRY(go_on(&s));
    skip_line(&s);
  }
  return LAPIS_OK;
}

/* Every label of every sample in order: visit(user, sample, value). */
typedef void (*label_fn)(void *user, int64_t sample, double value);
static void visit_labels(svm s, label_fn visit, void *user)
{
  int64_t j = 0;
  for (skip_empty(&s); s.at < s.end; skip_empty(&s), j++) {
    token t;
    (void)take_labels(&s, &t);
    const char *at = t.text, *end = t.text + t.size;
    while (at < end) {
      double value = NAN;
      token label = next_label(&at, end);
      (void)read_value(label.text, label.size, &value);
      visit(user, j, value);
    }
    skip_line(&s);
  }
}

static void put_single(void *user, int64_t sample, double value)
{
  ((double *)user)[sample] = value;
}

typedef struct label_list {
  double *value;
  int64_t count;
} label_list;

static void append(void *user, int64_t sample, double value)
{
  label_list *l = user;
  (void)sample;
  if (!isnan(value)) l->value[l->count++] = value;
}

/* The distinct labels, sorted. */
static void make_distinct(label_list *l)
{
  int64_t count = 0;
  if (l->count > 0)
    qsort(l->value, (size_t)l->count, sizeof *l->value, base_ascending);
  for (int64_t k = 0; k < l->count; k++)
    if (count == 0 || l->value[k] > l->value[count - 1])
      l->value[count++] = l->value[k];
  l->count = count;
}

typedef struct marking {
  const label_list *classes;
  lapis_mat Y; /* classes x samples */
} marking;

static void mark(void *user, int64_t sample, double value)
{
  marking *m = user;
  const label_list *l = m->classes;
  double *column = (double *)m->Y.val + sample * m->Y.ld;
  const double *at = l->count == 0 ? NULL
                                   : bsearch(&value, l->value, (size_t)l->count,
                                             sizeof value, base_ascending);
  if (!isnan(value) && at != NULL) column[at - l->value] = 1;
  for (int64_t c = 0; isnan(value) && c < l->count; c++) column[c] = NAN;
}

/* The classes' numbers as text. */
static lapis_status name_classes(const svm *s, const label_list *l,
                                 lapis_arrays *out)
{
  lapis_array names;
  lapis_mat row = lapis_mat_f64(l->value, 1, l->count);
  TRY(codes_names(s->ctx, &row, &names));
  return io_arrays_add(s->ctx, out, "class_names", &names);
}

static lapis_status add_multilabel(const svm *s, label_list *l,
                                   const char *name, lapis_arrays *out)
{
  lapis_array Y;
  char what[300];
  visit_labels(*s, append, l);
  make_distinct(l);
  if (l->count == 0) return LAPIS_OK;
  (void)snprintf(what, sizeof what, "%.200s: Y of %" PRId64 " labels", s->path,
                 l->count);
  TRY(base_unfolds(s->ctx, what, 8.0 * (double)l->count * (double)s->samples,
                   (double)s->bytes));
  TRY(io_number_array(s->ctx, LAPIS_F64, l->count, s->samples, &Y));
  (void)snprintf(Y.stored, sizeof Y.stored, "text");
  visit_labels(*s, mark, &(marking){l, Y.mat});
  TRY(io_arrays_add(s->ctx, out, name, &Y));
  return strcmp(name, "Y") == 0 ? name_classes(s, l, out) : LAPIS_OK;
}

static lapis_status add_single(const svm *s, const char *name,
                               lapis_arrays *out)
{
  lapis_array Y;
  TRY(io_number_array(s->ctx, LAPIS_F64, 1, s->samples, &Y));
  (void)snprintf(Y.stored, sizeof Y.stored, "text");
  visit_labels(*s, put_single, Y.mat.val);
  bool known = lapis_mat_missing(&Y.mat) < s->samples;
  if (known) return io_arrays_add(s->ctx, out, name, &Y);
  lapis_array_free(&Y);
  return LAPIS_OK;
}

static lapis_status add_targets(const svm *s, const char *name,
                                lapis_arrays *out)
{
  if (s->least_labels == 1 && s->most_labels == 1)
    return add_single(s, name, out);
  label_list l = {.count = 0};
  l.value = base_alloc_raw(s->ctx, s->labels, sizeof *l.value);
  if (l.value == NULL) return LAPIS_ENOMEM;
  lapis_status status = add_multilabel(s, &l, name, out);
  base_free(l.value);
  return status;
}

static lapis_status add_features(const svm *s, const io_request *request,
                                 lapis_arrays *out)
{
  lapis_array X;
  const lapis_table_options *opt = request->table.opt;
  int64_t features = s->features, asked = opt == NULL ? 0 : opt->features;
  if (asked > 0 && asked < features)
    return lapis_fail(s->ctx, LAPIS_ESHAPE,
                      "%s: has a feature %" PRId64 ", more than the %" PRId64
                      " that were requested",
                      s->path, features, asked);
  if (asked > features) features = asked;
  TRY(io_sparse_array(s->ctx, s->path, features, s->samples, s->nnz, &X));
  lapis_status status = fill_features(*s, &X);
  if (status == LAPIS_OK)
    return io_arrays_add(s->ctx, out, request->table.features, &X);
  lapis_array_free(&X);
  return status;
}

lapis_status svm_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                      lapis_arrays *out)
{
  const table_request *t = &request->table;
  svm s = scan_begin(ctx, f), start = s;
  TRY(scan_all(&s));
  s.at = start.at;
  s.line = start.line;
  s.line_start = s.asked = start.line_start;
  bool targets = t->all_targets || t->targets_only;
  if (targets) return add_targets(&s, t->targets, out);
  TRY(add_features(&s, request, out));
  return strcmp(t->features, "X") == 0 ? add_targets(&s, "Y", out) : LAPIS_OK;
}

/* ---- recognising --------------------------------------------------------*/
/* A line that is a sample and no row of a table: a label or a space, then an
 * entry.  -1: it cannot be, 0: it could be. */
static int line_speaks(svm *s)
{
  token t;
  double value;
  bool indented = is_space(*s->at);
  bool labelled = take_labels(s, &t);
  const char *at = t.text, *end = t.text + t.size;
  while (at < end) {
    token label = next_label(&at, end);
    if (!read_value(label.text, label.size, &value)) return -1;
  }
  while (next_token(s, &t)) {
    const char *colon = colon_of(&t);
    if (is_rank(&t)) continue;
    if (colon == NULL || !io_number(t.text, colon - t.text, &value)) return -1;
    return labelled || indented;
  }
  return 0;
}

bool svm_is(const unsigned char *head, int64_t size)
{
  io_file f = {
      .path = "", .data = (unsigned char *)(uintptr_t)head, .size = size};
  svm s = scan_begin(NULL, &f);
  int speaks = 0;
  skip_empty(&s);
  for (int i = 0; i < TEST_LINES && speaks == 0 && s.at < s.end; i++) {
    speaks = line_speaks(&s);
    skip_line(&s);
    skip_empty(&s);
  }
  return speaks > 0;
}

/* ---- writing ------------------------------------------------------------*/
static lapis_status check_targets(lapis_ctx *ctx, const char *path,
                                  const lapis_mat *Y)
{
  for (int64_t c = 0; Y->rows > 1 && c < Y->rows; c++) {
    bool seen = false;
    for (int64_t j = 0; j < Y->cols; j++) {
      double v = lapis_mat_at(Y, c, j);
      seen = seen || v == 1;
      if (v != 0 && v != 1 && v != -1)
        return lapis_fail(ctx, LAPIS_EDATA,
                          "%s: Y is %g at row %" PRId64 ", column %" PRId64
                          "; several columns are written as labels, which are "
                          "there or not: 0 or 1; write .npz",
                          path, v, j + 1, c + 1);
    }
    if (!seen)
      return lapis_fail(ctx, LAPIS_EDATA,
                        "%s: no sample has label %" PRId64
                        ", and the format holds only labels that occur; write "
                        ".npz",
                        path, c + 1);
  }
  return LAPIS_OK;
}

static void put_labels(io_print *p, const lapis_mat *Y, int64_t j)
{
  bool first = true;
  if (Y == NULL) {
    io_put_text(p, "nan");
    return;
  }
  if (Y->rows == 1) {
    io_put_number(p, lapis_mat_at(Y, 0, j));
    return;
  }
  for (int64_t c = 0; c < Y->rows; c++) {
    if (lapis_mat_at(Y, c, j) != 1) continue;
    if (!first) io_put_text(p, ",");
    io_put_integer(p, c + 1);
    first = false;
  }
}

static void put_sample(io_print *p, const lapis_mat *X, int64_t j)
{
  int64_t k = 0, row, last = 0;
  double value;
  while (io_next_stored(X, j, &k, &row, &value)) {
    io_put_text(p, " ");
    io_put_integer(p, last = row + 1);
    io_put_text(p, ":");
    io_put_number(p, value);
  }
  if (j == 0 && last < X->rows) { /* how many features there are */
    io_put_text(p, " ");
    io_put_integer(p, X->rows);
    io_put_text(p, ":0");
  } else if (last == 0) {
    io_put_text(p, " 1:0"); /* a line of its own, even without label */
  }
  io_put_text(p, "\n");
}

lapis_status svm_write(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count)
{
  static const char *const kept[] = {"X", "Y", NULL};
  const lapis_named *X = io_find_item(item, count, "X");
  const lapis_named *Y = io_find_item(item, count, "Y");
  io_print p;
  if (X == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: there is no X to write", path);
  if (Y != NULL) TRY(check_targets(ctx, path, &Y->mat));
  TRY(io_print_begin(ctx, path, &p));
  for (int64_t j = 0; j < X->mat.cols; j++) {
    put_labels(&p, Y == NULL ? NULL : &Y->mat, j);
    put_sample(&p, &X->mat, j);
  }
  TRY(io_print_end(&p));
  io_warn_lost(ctx, path, item, count, kept);
  return LAPIS_OK;
}
