/* arff_data.c - ARFF's attributes and rows become X, Y, names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/arff/arff.h"

typedef struct strange { /* words of an attribute that its model has not met */
  csv_cell first;
  int64_t count;
} strange;

typedef struct job {
  arff a;
  const table_request *request;
  io_role *role;  /* of each attribute */
  bool *one_hot;  /* ... a feature for each value */
  int64_t *place; /* ... among those of its role */
  double *absent; /* ... its value where a sparse row leaves it out */
  io_known *as;   /* ... what a model knows it as; NULL: no model asks */
  strange *met;   /* ... */
  int64_t *code;  /* of each declared text the number it stands for, of a
                   * one-hot attribute the place of its feature, -1: none */
  arena memory;
  int64_t count[4]; /* attributes of each role */
  bool text_targets, sparse;
  lapis_array X, Y, names;
  char *pool;         /* of names */
  const char **texts; /* of all declared values */
  int64_t *filled;    /* attributes that a sparse row leaves out to be stored */
  int64_t n_filled, bytes; /* bytes: of the file */
  int64_t nnz, id_bytes, row;
} job;

/* ---- roles --------------------------------------------------------------*/
static lapis_status find_attribute(const job *w, const char *name, int64_t *at)
{
  char *end;
  const arff *a = &w->a;
  int64_t number = strtoll(name + (*name == '#'), &end, 10);
  *at = arff_find(a, name);
  if (*at >= 0) return LAPIS_OK;
  *at = number < 0 ? a->n_attributes + number : number - 1;
  if (*end == '\0' && *at >= 0 && *at < a->n_attributes) return LAPIS_OK;
  return lapis_fail(a->ctx, LAPIS_EINVAL,
                    "%s: has no attribute \"%.60s\"; it has %" PRId64, a->path,
                    name, a->n_attributes);
}

static lapis_status mark_named(job *w, const char *name, io_role r)
{
  int64_t at;
  TRY(find_attribute(w, name, &at));
  if (r == IO_ID && w->role[at] == IO_TARGET && !w->request->all_targets)
    return lapis_fail(w->a.ctx, LAPIS_EINVAL,
                      "%s: \"%.60s\" cannot be both a target and the samples' "
                      "names",
                      w->a.path, name);
  if (r != IO_ONE_HOT) {
    w->role[at] = r;
    return LAPIS_OK;
  }
  const arff_attribute *t = &w->a.attribute[at];
  w->one_hot[at] = t->kind == ARFF_TEXTS || t->kind == ARFF_NUMBERS;
  if (w->one_hot[at]) return LAPIS_OK;
  return lapis_fail(w->a.ctx, LAPIS_EINVAL,
                    "%s: \"%.60s\" declares no values; --one-hot is for "
                    "attributes such as {a, b, c}",
                    w->a.path, name);
}

/* "COL,COL" */
static lapis_status mark_list(job *w, const char *list, io_role r)
{
  while (*list != '\0') {
    char name[256];
    size_t n = strcspn(list, ",");
    (void)snprintf(name, sizeof name, "%.*s", (int)(n < 255 ? n : 255), list);
    TRY(mark_named(w, name, r));
    list += n + (list[n] == ',');
  }
  return LAPIS_OK;
}

/* &amp; and its four like, in place. */
static void decode_entities(char *text)
{
  static const struct {
    const char *name;
    char is;
  } known[] = {{"&amp;", '&'},
               {"&lt;", '<'},
               {"&gt;", '>'},
               {"&quot;", '"'},
               {"&apos;", '\''}};
  char *to = text;
  while (*text != '\0') {
    size_t i = 0, n = sizeof known / sizeof *known;
    while (i < n && strncmp(text, known[i].name, strlen(known[i].name)) != 0)
      i++;
    *to++ = i < n ? known[i].is : *text;
    text += i < n ? strlen(known[i].name) : 1;
  }
  *to = '\0';
}

/* The next <label name="..."> of Mulan's list, from *at on. */
static bool next_xml_label(const char **at, const char *end, char *name,
                           size_t size)
{
  for (; end - *at > 7; ++*at) {
    if (memcmp(*at, "<label ", 7) != 0) continue;
    const char *stop = memchr(*at, '>', (size_t)(end - *at));
    const char *s = *at + 7;
    if (stop == NULL) return false;
    while (stop - s > 6 && memcmp(s, "name=", 5) != 0) s++;
    *at = stop;
    if (stop - s <= 6) continue;
    const char *close = memchr(s + 6, s[5], (size_t)(end - s - 6));
    if (close == NULL) return false;
    (void)snprintf(name, size, "%.*s", (int)(close - s - 6), s + 6);
    decode_entities(name);
    *at = close;
    return true;
  }
  return false;
}

static lapis_status mark_xml(job *w, const char *path)
{
  io_file f;
  char name[512];
  int64_t count = 0;
  TRY(io_file_whole(w->a.ctx, path, &f));
  const char *at = (const char *)f.data, *end = at + (at ? f.size : 0);
  lapis_status status = io_check_stranger(w->a.ctx, path, f.data, f.size);
  while (status == LAPIS_OK && at != NULL &&
         next_xml_label(&at, end, name, sizeof name)) {
    status = mark_named(w, name, IO_TARGET);
    count++;
  }
  io_file_close(&f);
  if (status < 0 || count > 0) return status;
  return lapis_fail(w->a.ctx, LAPIS_EFORMAT,
                    "%s: names no label; <label name=\"...\"> is needed", path);
}

static lapis_status mark_labels(job *w, const char *labels)
{
  char *end;
  int64_t k = strtoll(labels, &end, 10), n = w->a.n_attributes;
  if (*end != '\0') return mark_xml(w, labels);
  if (k == 0 || k >= n || -k >= n)
    return lapis_fail(w->a.ctx, LAPIS_EINVAL,
                      "%s: --arff-labels %" PRId64 " of %" PRId64
                      " attributes leaves no features, or no labels",
                      w->a.path, k, n);
  for (int64_t j = k > 0 ? n - k : 0; j < (k > 0 ? n : -k); j++)
    w->role[j] = IO_TARGET;
  return LAPIS_OK;
}

/* The features that a model asks for, or NULL. */
static const lapis_mat *model_of(const job *w)
{
  const table_request *q = w->request;
  bool X = q->features != NULL && strcmp(q->features, "X") == 0 &&
           !q->targets_only && !q->all_targets;
  return X && q->opt != NULL ? q->opt->features_of : NULL;
}

/* What a model calls so, where this file has it. */
static void mark_known(job *w, const char *name, io_role r)
{
  const arff *a = &w->a;
  int64_t size = (int64_t)strlen(name), first = arff_find(a, name);
  const io_text *t = io_lookup_from(a->by_name, a->n_attributes, name, size);
  if (first < 0 || w->role[first] == r) return; /* so are all of that name */
  for (; t < a->by_name + a->n_attributes && t->size == size &&
         memcmp(t->text, name, (size_t)size) == 0;
       t++)
    w->role[t->at] = r;
}

static lapis_status mark_all(job *w)
{
  const table_request *q = w->request;
  const lapis_table_options none = {.header = LAPIS_HEADER_AUTO},
                            *opt = q->opt == NULL ? &none : q->opt;
  bool labels = opt->labels != NULL && strcmp(q->targets, "Y") == 0;
  bool all = q->all_targets && !labels;
  io_role others = all               ? IO_TARGET
                   : q->targets_only ? IO_LEFT_OUT
                   : q->all_targets  ? IO_LEFT_OUT
                                     : IO_FEATURE;
  for (int64_t j = 0; j < w->a.n_attributes; j++) w->role[j] = others;
  if (others == IO_FEATURE && opt->use != NULL) {
    for (int64_t j = 0; j < w->a.n_attributes; j++) w->role[j] = IO_LEFT_OUT;
    TRY(mark_list(w, opt->use, IO_FEATURE));
  }
  if (others == IO_FEATURE && opt->drop != NULL)
    TRY(mark_list(w, opt->drop, IO_LEFT_OUT));
  if (others == IO_FEATURE && opt->one_hot != NULL)
    TRY(mark_list(w, opt->one_hot, IO_ONE_HOT));
  if (labels) TRY(mark_labels(w, opt->labels));
  if (!all && opt->target != NULL) TRY(mark_list(w, opt->target, IO_TARGET));
  if (opt->id != NULL && !q->id_optional) TRY(mark_named(w, opt->id, IO_ID));
  if (model_of(w) == NULL) return LAPIS_OK;
  if (opt->target == NULL && !labels && opt->targets_of != NULL)
    for (int64_t i = 0; i < opt->targets_of->cols; i++)
      mark_known(w, ((const char *const *)opt->targets_of->val)[i], IO_TARGET);
  if (opt->id == NULL && opt->id_of != NULL) mark_known(w, opt->id_of, IO_ID);
  return LAPIS_OK;
}

/* ---- what attributes may be ---------------------------------------------*/
static const arff_word *value_of(const job *w, int64_t j, int64_t k)
{
  return &w->a.value[w->a.attribute[j].first_value + k];
}

static int64_t *code_of(const job *w, int64_t j, int64_t k)
{
  return &w->code[w->a.attribute[j].first_value + k];
}

static lapis_status fail_attribute(const job *w, int64_t j, const char *what)
{
  const arff_attribute *t = &w->a.attribute[j];
  int shown = t->name.size < 60 ? (int)t->name.size : 60;
  return lapis_fail(w->a.ctx, LAPIS_EFORMAT, "%s:%" PRId64 ": \"%.*s\" %s",
                    w->a.path, t->line, shown, t->name.text, what);
}

/* Three or more texts have no order, so each becomes a feature. */
static void settle_feature(job *w, int64_t j)
{
  const arff_attribute *t = &w->a.attribute[j];
  if (t->kind == ARFF_STRING) {
    base_say(w->a.ctx, 0,
             "%s: attribute %" PRId64 " is text and left out; --id takes it "
             "for the samples' names",
             w->a.path, j + 1);
    w->role[j] = IO_LEFT_OUT;
  }
  if (t->kind == ARFF_TEXTS && t->n_values > 2 && w->as == NULL)
    w->one_hot[j] = true;
}

/* Features, or targets, that attribute j becomes. */
static int64_t width_of(const job *w, int64_t j)
{
  if (w->role[j] != IO_FEATURE || !w->one_hot[j]) return 1;
  return w->as != NULL ? w->as[j].width : w->a.attribute[j].n_values;
}

/* A word of the model has that code, where this file declares it. */
static bool meet_word_of(job *w, int64_t j, const char *word, int64_t code)
{
  double number;
  const arff_attribute *t = &w->a.attribute[j];
  int64_t size = (int64_t)strlen(word), at = -1;
  if (t->kind == ARFF_TEXTS)
    at = arff_text_at(&w->a, t, word, size);
  else if (io_number(word, size, &number))
    at = arff_number_at(&w->a, t, number);
  if (at >= 0) *code_of(w, j, at) = code;
  return at >= 0;
}

/* What is declared has the places and numbers that the model's features name,
 * in whatever order this file declares it; of a word that the model does not
 * know, nothing is known. */
static lapis_status meet_values(job *w, int64_t j)
{
  const io_known *as = &w->as[j];
  const arff_attribute *t = &w->a.attribute[j];
  if (t->kind == ARFF_STRING ||
      (as->value == NULL && t->n_values > 1 && t->kind == ARFF_TEXTS))
    return fail_attribute(w, j,
                          as->value == NULL
                              ? "holds words, for the model it is a number"
                              : "is text, for the model it is one of some "
                                "declared words");
  if (as->value != NULL && t->n_values == 0)
    return fail_attribute(w, j,
                          "declares no values, for the model it is one of "
                          "some words");
  w->one_hot[j] = as->value != NULL && as->other == NULL;
  bool any = as->value == NULL || w->one_hot[j];
  for (int64_t k = 0; k < t->n_values; k++) *code_of(w, j, k) = -1;
  for (int64_t i = 0; as->value != NULL && i < as->width; i++)
    any |= meet_word_of(w, j, as->value[i], as->other == NULL ? i : 1);
  if (as->other != NULL) any |= meet_word_of(w, j, as->other, 0);
  if (any) return LAPIS_OK;
  char what[256];
  (void)snprintf(what, sizeof what,
                 "declares neither \"%.60s\" nor \"%.60s\", which it is for "
                 "the model",
                 as->value[0], as->other);
  return fail_attribute(w, j, what);
}

static lapis_status meet_model(job *w, const lapis_mat *known)
{
  int64_t n = w->a.n_attributes;
  const char **title = arena_take(&w->memory, n, sizeof *title);
  w->as = arena_take(&w->memory, n, sizeof *w->as);
  for (int64_t j = 0; arena_status(&w->memory) >= 0 && j < n; j++) {
    if (w->role[j] != IO_FEATURE) continue;
    const arff_word *name = &w->a.attribute[j].name;
    char *text = arena_take(&w->memory, name->size + 1, 1);
    if (text != NULL) (void)arff_copy(name, text);
    title[j] = text;
  }
  TRY(arena_status(&w->memory));
  TRY(io_know(&w->memory, w->a.path, known, n, title, w->as));
  for (int64_t j = 0; j < n; j++) {
    if (w->role[j] == IO_FEATURE && w->as[j].place < 0)
      w->role[j] = IO_LEFT_OUT;
    if (w->role[j] == IO_FEATURE) TRY(meet_values(w, j));
  }
  return LAPIS_OK;
}

static lapis_status check_roles(job *w)
{
  int64_t first = -1;
  for (int64_t j = 0; j < w->a.n_attributes; j++) {
    const arff_attribute *t = &w->a.attribute[j];
    if (w->role[j] == IO_FEATURE) settle_feature(w, j);
    w->place[j] = w->count[w->role[j]];
    w->count[w->role[j]] += width_of(w, j);
    if (w->as != NULL && w->role[j] == IO_FEATURE) w->place[j] = w->as[j].place;
    w->absent[j] = 0;
    if (t->kind == ARFF_NUMBERS)
      (void)io_number(w->a.value[t->first_value].text,
                      w->a.value[t->first_value].size, &w->absent[j]);
    if (w->role[j] != IO_TARGET) continue;
    bool text = t->kind == ARFF_TEXTS;
    if (t->kind == ARFF_STRING && !w->request->as_text)
      return fail_attribute(w, j,
                            "is text; a target is a number or one of "
                            "declared values");
    if (first >= 0 && text != w->text_targets)
      return fail_attribute(w, j,
                            "is a target of another kind than the first; "
                            "all numbers, or all texts, are needed");
    w->text_targets = text;
    first = j;
  }
  bool wanted = w->request->all_targets || w->request->targets_only;
  if (w->count[wanted ? IO_TARGET : IO_FEATURE] > 0) return LAPIS_OK;
  return lapis_fail(w->a.ctx, LAPIS_EINVAL,
                    "%s: no attribute is left for %s; --target, --id and "
                    "--drop take all of them",
                    w->a.path,
                    wanted ? w->request->targets : w->request->features);
}

/* ---- counting -----------------------------------------------------------*/
static void count_row(void *user, int64_t row, bool sparse)
{
  (void)user;
  (void)row;
  (void)sparse;
}

static void count_value(void *user, int64_t j, double value,
                        const arff_word *word)
{
  job *w = user;
  (void)value;
  w->nnz += w->role[j] == IO_FEATURE;
  if (w->role[j] == IO_ID) w->id_bytes += word->size + 1;
}

static lapis_status count_entries(job *w)
{
  w->sparse = w->a.all_sparse;
  for (int64_t j = 0; j < w->a.n_attributes; j++) {
    bool coded = w->a.attribute[j].kind == ARFF_TEXTS;
    if (w->role[j] == IO_FEATURE && (w->absent[j] != 0 || w->one_hot[j] ||
                                     (coded && *code_of(w, j, 0) != 0)))
      w->sparse = false;
  }
  for (int64_t j = 0; j < w->a.n_attributes; j++)
    if (w->role[j] == IO_TARGET || (w->role[j] == IO_FEATURE && !w->sparse))
      w->filled[w->n_filled++] = j;
  return arff_rows(&w->a, &(arff_visit){count_row, count_value, w});
}

/* ---- allocating ---------------------------------------------------------*/
/* Text targets point into w->texts until copied at the end. */
static lapis_status allocate(job *w)
{
  lapis_ctx *ctx = w->a.ctx;
  int64_t n = w->a.rows, d = w->count[IO_FEATURE], k = w->count[IO_TARGET];
  char *none;
  TRY(base_unfolds(ctx, w->a.path,
                   8.0 * (double)n * ((double)k + (w->sparse ? 0 : (double)d)),
                   (double)w->bytes));
  if (w->sparse)
    TRY(io_sparse_array(ctx, w->a.path, d, n, w->nnz, &w->X));
  else
    TRY(io_number_array(ctx, LAPIS_F64, d, n, &w->X));
  if (w->text_targets) {
    TRY(io_text_array(ctx, k, n, 0, &w->Y, &none));
  } else {
    TRY(io_number_array(ctx, LAPIS_F64, k, n, &w->Y));
  }
  if (w->count[IO_ID] == 0) return LAPIS_OK;
  return io_text_array(ctx, 1, n, w->id_bytes + n, &w->names, &w->pool);
}

/* ---- storing ------------------------------------------------------------*/
static void store_target(job *w, int64_t j, double value)
{
  int64_t at = w->row * w->count[IO_TARGET] + w->place[j];
  const arff_attribute *t = &w->a.attribute[j];
  if (!w->text_targets)
    ((double *)w->Y.mat.val)[at] = value;
  else
    ((const char **)w->Y.mat.val)[at] =
        isnan(value) ? "" : w->texts[t->first_value + (int64_t)value];
}

/* The code of a declared value; -1: missing, or a model does not know it. */
static int64_t coded(const job *w, int64_t j, double value)
{
  const arff_attribute *t = &w->a.attribute[j];
  int64_t at = isnan(value)            ? -1
               : t->kind == ARFF_TEXTS ? (int64_t)value
                                       : arff_number_at(&w->a, t, value);
  return at < 0 ? -1 : *code_of(w, j, at);
}

static void store_one_hot(job *w, int64_t j, double value)
{
  double *x = (double *)w->X.mat.val + w->row * w->X.mat.ld + w->place[j];
  int64_t at = coded(w, j, value);
  for (int64_t k = 0; k < width_of(w, j); k++)
    x[k] = isnan(value) ? NAN : at < 0 ? base_unmet() : (double)(k == at);
}

static void store_feature(job *w, int64_t j, double value)
{
  double *val = w->X.mat.val;
  if (w->one_hot[j]) {
    store_one_hot(w, j, value);
    return;
  }
  if (w->a.attribute[j].kind == ARFF_TEXTS && !isnan(value))
    value = coded(w, j, value) < 0 ? base_unmet() : (double)coded(w, j, value);
  if (!w->sparse) {
    val[w->row * w->X.mat.ld + w->place[j]] = value;
    return;
  }
  ((int32_t *)(uintptr_t)w->X.mat.rowidx)[w->nnz] = (int32_t)w->place[j];
  val[w->nnz++] = value;
  ((int64_t *)(uintptr_t)w->X.mat.colptr)[w->row + 1] = w->nnz;
}

static csv_cell cell_of(const job *w, const arff_word *word)
{
  return (csv_cell){.text = word->text,
                    .size = word->size,
                    .line = w->a.line,
                    .column = word->text - w->a.line_start + 1};
}

/* Of a nominal attribute of the model, a word that the model does not know. */
static void meet_word(job *w, int64_t j, double value, const arff_word *word)
{
  bool words = w->as != NULL && w->as[j].value != NULL &&
               (w->one_hot[j] || w->a.attribute[j].kind == ARFF_TEXTS);
  if (!words || isnan(value) || coded(w, j, value) >= 0) return;
  if (w->met[j].count++ == 0) w->met[j].first = cell_of(w, word);
}

static void store_row(void *user, int64_t row, bool sparse)
{
  job *w = user;
  int64_t *colptr = (int64_t *)(uintptr_t)w->X.mat.colptr;
  w->row = row;
  if (w->sparse) colptr[row + 1] = colptr[row];
  if (w->names.mat.val != NULL) ((const char **)w->names.mat.val)[row] = "";
  for (int64_t i = 0; sparse && i < w->n_filled; i++) {
    int64_t j = w->filled[i];
    if (w->role[j] == IO_TARGET)
      store_target(w, j, w->absent[j]);
    else
      store_feature(w, j, w->absent[j]);
  }
}

static void store_value(void *user, int64_t j, double value,
                        const arff_word *word)
{
  job *w = user;
  if (w->role[j] == IO_FEATURE) {
    store_feature(w, j, value);
    meet_word(w, j, value, word);
  }
  if (w->role[j] == IO_TARGET) store_target(w, j, value);
  if (w->role[j] != IO_ID) return;
  ((const char **)w->names.mat.val)[w->row] = w->pool;
  w->pool += arff_copy(word, w->pool);
}

/* ---- results ------------------------------------------------------------*/
/* "NAME"; of one-hot attributes "NAME=VALUE"; of two texts "NAME=VALUE (not
 * OTHER)", the first being 1 and the other 0. */
static char *copy_name(const job *w, int64_t j, int64_t k, char *to)
{
  const arff_attribute *t = &w->a.attribute[j];
  bool one_hot = width_of(w, j) > 1;
  bool two = w->role[j] == IO_FEATURE && t->kind == ARFF_TEXTS &&
             t->n_values == 2 && !one_hot;
  to += arff_copy(&t->name, to);
  if (!one_hot && !two) return to;
  to[-1] = '=';
  to += arff_copy(value_of(w, j, two ? 1 : k), to);
  if (!two) return to;
  memcpy(to - 1, IO_NOT, sizeof IO_NOT);
  to += sizeof IO_NOT - 2;
  to += arff_copy(value_of(w, j, 0), to);
  memcpy(to - 1, ")", 2);
  return to + 1;
}

/* Bytes that all of an attribute's take, at most; of a model's features nobody
 * asks. */
static int64_t name_bytes(const job *w, int64_t j)
{
  const arff_attribute *t = &w->a.attribute[j];
  int64_t bytes = width_of(w, j) * (t->name.size + (int64_t)sizeof IO_NOT + 4);
  for (int64_t k = 0; k < t->n_values; k++) bytes += value_of(w, j, k)->size;
  return bytes;
}

static lapis_status add_names(job *w, io_role r, const char *name,
                              lapis_arrays *out)
{
  lapis_array a;
  char *pool;
  int64_t bytes = 0;
  for (int64_t j = 0; j < w->a.n_attributes; j++)
    if (w->role[j] == r) bytes += name_bytes(w, j);
  TRY(io_text_array(w->a.ctx, 1, w->count[r], bytes, &a, &pool));
  for (int64_t j = 0; j < w->a.n_attributes; j++) {
    for (int64_t k = 0; w->role[j] == r && k < width_of(w, j); k++) {
      ((const char **)a.mat.val)[w->place[j] + k] = pool;
      pool = copy_name(w, j, k, pool);
    }
  }
  return io_arrays_add(w->a.ctx, out, name, &a);
}

/* Texts that stand alone. */
static lapis_status copy_targets(job *w)
{
  const lapis_mat *m = &w->Y.mat;
  const char *const *from = m->val;
  lapis_array copy;
  char *pool;
  int64_t bytes = 0, n = m->rows * m->cols;
  for (int64_t i = 0; i < n; i++) bytes += (int64_t)strlen(from[i]) + 1;
  TRY(io_text_array(w->a.ctx, m->rows, m->cols, bytes, &copy, &pool));
  for (int64_t i = 0; i < n; i++) {
    size_t size = strlen(from[i]) + 1;
    ((const char **)copy.mat.val)[i] = memcpy(pool, from[i], size);
    pool += size;
  }
  lapis_array_free(&w->Y);
  w->Y = copy;
  return LAPIS_OK;
}

static lapis_status add_array(job *w, io_role r, const char *name,
                              lapis_array *a, lapis_arrays *out)
{
  if (w->count[r] == 0) return LAPIS_OK;
  if (a->stored[0] == '\0') (void)snprintf(a->stored, sizeof a->stored, "text");
  return io_arrays_add(w->a.ctx, out, name, a);
}

static lapis_status hand_over(job *w, lapis_arrays *out)
{
  const table_request *q = w->request;
  if (w->text_targets) TRY(copy_targets(w));
  TRY(add_array(w, IO_FEATURE, q->features, &w->X, out));
  TRY(add_array(w, IO_TARGET, q->targets, &w->Y, out));
  TRY(add_array(w, IO_ID, "names", &w->names, out));
  if (w->count[IO_FEATURE] > 0 && strcmp(q->features, "X") == 0 &&
      w->as == NULL) /* else they are the model's own */
    TRY(add_names(w, IO_FEATURE, "feature_names", out));
  bool titles = w->count[IO_TARGET] > (w->text_targets ? 1 : 0);
  bool asked = strcmp(q->targets, "Y") == 0;
  if (asked && titles) TRY(add_names(w, IO_TARGET, "class_names", out));
  if (asked && w->count[IO_TARGET] > 0)
    TRY(add_names(w, IO_TARGET, "target_names", out));
  if (w->count[IO_ID] > 0) TRY(add_names(w, IO_ID, "id_name", out));
  return LAPIS_OK;
}

static lapis_status learn_roles(job *w)
{
  int64_t n = w->a.n_attributes;
  w->role = base_alloc(w->a.ctx, n, sizeof *w->role);
  w->place = base_alloc(w->a.ctx, n, sizeof *w->place);
  w->absent = base_alloc(w->a.ctx, n, sizeof *w->absent);
  w->one_hot = base_alloc(w->a.ctx, n, sizeof *w->one_hot);
  w->met = base_alloc(w->a.ctx, n, sizeof *w->met);
  w->code = base_alloc(w->a.ctx, w->a.n_values, sizeof *w->code);
  w->filled = base_alloc(w->a.ctx, n, sizeof *w->filled);
  w->texts = base_alloc(w->a.ctx, w->a.n_values, sizeof *w->texts);
  w->memory.ctx = w->a.ctx;
  if (w->role == NULL || w->place == NULL || w->absent == NULL ||
      w->one_hot == NULL || w->met == NULL || w->code == NULL ||
      w->filled == NULL || w->texts == NULL)
    return LAPIS_ENOMEM;
  for (int64_t i = 0; i < w->a.n_values; i++) w->texts[i] = w->a.value[i].text;
  for (int64_t j = 0; j < n; j++)
    for (int64_t k = 0; k < w->a.attribute[j].n_values; k++)
      *code_of(w, j, k) = k;
  TRY(mark_all(w));
  if (model_of(w) != NULL) TRY(meet_model(w, model_of(w)));
  return check_roles(w);
}

static lapis_status read_steps(job *w, lapis_arrays *out)
{
  TRY(learn_roles(w));
  TRY(count_entries(w));
  TRY(allocate(w));
  w->nnz = 0;
  TRY(arff_rows(&w->a, &(arff_visit){store_row, store_value, w}));
  for (int64_t j = 0; j < w->a.n_attributes; j++) {
    const arff_word *name = &w->a.attribute[j].name;
    csv_cell title = {.text = name->text, .size = name->size};
    io_tell_strange(w->a.ctx, w->a.path, &title, &w->met[j].first,
                    w->met[j].count);
  }
  return hand_over(w, out);
}

static void close_job(job *w)
{
  base_free(w->role);
  base_free(w->place);
  base_free(w->absent);
  base_free(w->one_hot);
  base_free(w->met);
  base_free(w->code);
  base_free(w->filled);
  arena_free(&w->memory);
  base_free(w->texts);
  lapis_array_free(&w->X);
  lapis_array_free(&w->Y);
  lapis_array_free(&w->names);
  arff_close(&w->a);
}

lapis_status arff_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                       lapis_arrays *out)
{
  job w = {.request = &request->table, .bytes = f->size};
  TRY(arff_open(ctx, f, &w.a));
  lapis_status status = read_steps(&w, out);
  close_job(&w);
  return status;
}

/* ---- every value as it stands -------------------------------------------*/
/* A row is kept until it is whole: a sparse one leaves values out. */
typedef struct walk {
  job *w;
  io_cell_fn visit;
  void *user;
  arff_word *word; /* of each attribute, in the row at hand */
  bool *missing;
  int64_t row; /* at hand; -2: none yet */
  lapis_status status;
} walk;

static void visit_cell(walk *k, int64_t j, int64_t row, const arff_word *word,
                       bool missing)
{
  const job *w = k->w;
  const arff_attribute *t = &w->a.attribute[j];
  bool listed = t->kind == ARFF_TEXTS || t->kind == ARFF_NUMBERS;
  int64_t width = width_of(w, j), words = listed ? t->n_values : 0;
  const char *const *value = w->texts + t->first_value, *two[2];
  char *text = base_alloc_raw(w->a.ctx, word->size + 1, 1);
  if (text == NULL) k->status = LAPIS_ENOMEM;
  if (text == NULL) return;
  (void)arff_copy(word, text);
  bool single = width == 1 && t->kind == ARFF_TEXTS;
  if (single && w->role[j] == IO_FEATURE && w->as != NULL &&
      w->as[j].other != NULL) { /* as the model counts them */
    two[0] = w->as[j].other;
    two[1] = w->as[j].value[0];
    value = two;
    words = 2;
  }
  if (width > 1 && w->as != NULL) value = w->as[j].value;
  k->visit(k->user, &(io_cell){.row = row,
                               .column = j,
                               .role = w->role[j],
                               .place = w->place[j],
                               .width = width,
                               .value = width > 1 ? value : NULL,
                               .word = listed ? value : NULL,
                               .words = words,
                               .coded = t->kind == ARFF_TEXTS,
                               .whole = t->whole,
                               .decimals = -1,
                               .numbers = 1, /* or none: it says nothing */
                               .text = text,
                               .missing = missing,
                               .last = j + 1 == w->a.n_attributes});
  base_free(text);
}

static void end_row(walk *k)
{
  for (int64_t j = 0; k->row >= 0 && j < k->w->a.n_attributes; j++)
    visit_cell(k, j, k->row, &k->word[j], k->missing[j]);
}

static void walk_row(void *user, int64_t row, bool sparse)
{
  static const arff_word zero = {.text = "0", .size = 1};
  walk *k = user;
  end_row(k);
  k->row = row;
  for (int64_t j = 0; sparse && j < k->w->a.n_attributes; j++) {
    bool listed = k->w->a.attribute[j].n_values > 0;
    k->word[j] = listed ? *value_of(k->w, j, 0) : zero;
    k->missing[j] = false;
  }
}

static void walk_value(void *user, int64_t j, double value,
                       const arff_word *word)
{
  walk *k = user;
  (void)value;
  k->word[j] = *word;
  k->missing[j] = word->quote == 0 && word->size == 1 && *word->text == '?';
}

static lapis_status walk_steps(walk *k)
{
  job *w = k->w;
  int64_t n = w->a.n_attributes;
  TRY(learn_roles(w));
  k->word = base_alloc(w->a.ctx, n, sizeof *k->word);
  k->missing = base_alloc(w->a.ctx, n, sizeof *k->missing);
  if (k->word == NULL || k->missing == NULL) return LAPIS_ENOMEM;
  if (w->a.all_sparse) /* every cell is visited */
    TRY(base_unfolds(w->a.ctx, w->a.path, 2.0 * (double)n * (double)w->a.rows,
                     (double)w->bytes));
  for (int64_t j = 0; j < n; j++)
    visit_cell(k, j, -1, &w->a.attribute[j].name, false);
  TRY(arff_rows(&w->a, &(arff_visit){walk_row, walk_value, k}));
  end_row(k);
  return k->status;
}

lapis_status arff_walk(lapis_ctx *ctx, io_file *f, const table_request *q,
                       io_cell_fn visit, void *user)
{
  job w = {.request = q, .bytes = f->size};
  walk k = {.w = &w, .visit = visit, .user = user, .row = -2};
  TRY(arff_open(ctx, f, &w.a));
  lapis_status status = walk_steps(&k);
  base_free(k.word);
  base_free(k.missing);
  close_job(&w);
  return status;
}
