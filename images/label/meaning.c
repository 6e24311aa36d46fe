/* meaning.c - what labels mean: two kinds, classes, or many at a time.
 *
 * One column of two values: two kinds, the larger positive (numbers by size,
 * texts by bytes).  Of more values: classes.  With ';' in any cell: lists of
 * labels, and what a list does not name is absent.  Several columns of 0 (or
 * -1) and 1: a label each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/label/label.h"

enum { FEW_CLASSES = 20, MOST_CLASSES = 10000 };

static lapis_status no_memory(lapis_ctx *ctx)
{
  return lapis_fail(ctx, LAPIS_ENOMEM, "out of memory");
}

/* ---- the items of cells -------------------------------------------------*/
typedef struct item {
  const char *text; /* in the pool */
  int64_t image;
} item;
typedef struct items {
  int64_t count;
  item *at;
  bool lists;
} items;

/* Cuts a cell at ';', without the spaces around; returns bytes of the pool. */
static size_t cut(const char *cell, int64_t image, char *pool, items *to)
{
  char *start = pool;
  for (const char *at = cell;; at++) {
    while (*at == ' ') at++;
    size_t size = strcspn(at, ";"), kept = size;
    while (kept > 0 && at[kept - 1] == ' ') kept--;
    memcpy(pool, at, kept);
    pool[kept] = '\0';
    if (kept > 0) to->at[to->count++] = (item){pool, image};
    pool += kept + 1;
    at += size;
    if (*at == '\0') return (size_t)(pool - start);
    to->lists = true;
  }
}

static lapis_status take_items(const label_table *s, labels *out, items *to)
{
  size_t bytes = 1, most = 1;
  int64_t column = s->target[0];
  for (int64_t i = s->first; i < s->cells->rows; i++) {
    const char *cell = label_cell(s, i, column);
    bytes += strlen(cell) + 1;
    for (most++; *cell != '\0'; cell++) most += *cell == ';';
  }
  out->pool = malloc(bytes);
  to->at = calloc(most, sizeof *to->at);
  if (out->pool == NULL || to->at == NULL) return no_memory(s->ctx);
  char *pool = out->pool;
  for (int64_t i = s->first; i < s->cells->rows; i++) {
    const char *cell = label_cell(s, i, column);
    if (s->image[i] >= 0 && *cell != '\0')
      pool += cut(cell, s->image[i], pool, to);
  }
  return LAPIS_OK;
}

/* ---- distinct values ----------------------------------------------------*/
static int by_bytes(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_size(const void *a, const void *b)
{
  double x = strtod(*(const char *const *)a, NULL);
  double y = strtod(*(const char *const *)b, NULL);
  return x < y ? -1 : x > y ? 1 : by_bytes(a, b);
}

static bool all_numbers(const items *all)
{
  for (int64_t k = 0; k < all->count; k++) {
    char *end;
    (void)strtod(all->at[k].text, &end);
    if (end == all->at[k].text || *end != '\0') return false;
  }
  return true;
}

static lapis_status take_names(const label_table *s, const items *all,
                               labels *out)
{
  int (*order)(const void *, const void *) =
      all_numbers(all) ? by_size : by_bytes;
  out->name = calloc((size_t)all->count + 1, sizeof *out->name);
  if (out->name == NULL) return no_memory(s->ctx);
  for (int64_t k = 0; k < all->count; k++) out->name[k] = all->at[k].text;
  qsort(out->name, (size_t)all->count, sizeof *out->name, order);
  for (int64_t k = 0; k < all->count; k++)
    if (k == 0 || strcmp(out->name[k], out->name[out->n_names - 1]) != 0)
      out->name[out->n_names++] = out->name[k];
  return LAPIS_OK;
}

static int64_t code_of(const labels *table, const char *text)
{
  for (int64_t c = 0; c < table->n_names; c++)
    if (strcmp(table->name[c], text) == 0) return c;
  return -1;
}

/* ---- checks -------------------------------------------------------------*/
static lapis_status none_labelled(const label_table *s)
{
  return lapis_fail(s->ctx, LAPIS_EMISSING,
                    "%s: no image is labelled; column %" PRId64
                    " is empty: write labels of some images into it, or name "
                    "another column by --target",
                    s->r->path, s->target[0] + 1);
}

static lapis_status check_values(const label_table *s, const items *all,
                                 const labels *table)
{
  if (all->count == 0) return none_labelled(s);
  if (table->n_names == 1)
    return lapis_fail(
        s->ctx, LAPIS_EMISSING,
        "%s: every label is '%.100s'; label some images of "
        "another kind, too, two kinds are needed to learn the difference",
        s->r->path, table->name[0]);
  if (table->n_names > MOST_CLASSES ||
      (table->n_names > FEW_CLASSES && 2 * table->n_names > all->count))
    return lapis_fail(s->ctx, LAPIS_EDATA,
                      "%s: column %" PRId64 " holds %" PRId64
                      " different values for %" PRId64
                      " labels, too many for classes; --target names another",
                      s->r->path, s->target[0] + 1, table->n_names, all->count);
  return LAPIS_OK;
}

/* ---- one column ---------------------------------------------------------*/
static lapis_status room(const label_table *s, labels *out)
{
  int64_t count = out->rows * out->n;
  out->Y = malloc((size_t)count * sizeof *out->Y);
  if (out->Y == NULL) return no_memory(s->ctx);
  for (int64_t k = 0; k < count; k++) out->Y[k] = NAN;
  return LAPIS_OK;
}

static void set_kind(const items *all, labels *out)
{
  out->lists = all->lists;
  out->kind = all->lists          ? LABEL_MANY
              : out->n_names == 2 ? LABEL_TWO
                                  : LABEL_CLASS;
  out->K = out->kind == LABEL_TWO ? 1 : out->n_names;
  out->rows = out->kind == LABEL_MANY ? out->K : 1;
}

static void put_item(const labels *table, const item *it)
{
  double *y = table->Y + it->image * table->rows;
  int64_t code = code_of(table, it->text);
  if (table->kind == LABEL_TWO) *y = code == 1 ? 1 : -1;
  if (table->kind == LABEL_CLASS) *y = (double)code;
  if (table->kind != LABEL_MANY) return;
  for (int64_t c = 0; c < table->K; c++)
    if (isnan(y[c])) y[c] = -1;
  y[code] = 1;
}

static lapis_status one_column(const label_table *s, labels *out)
{
  items all = {.count = 0};
  lapis_status status = take_items(s, out, &all);
  if (status >= 0) status = take_names(s, &all, out);
  if (status >= 0) status = check_values(s, &all, out);
  if (status >= 0) {
    set_kind(&all, out);
    status = room(s, out);
  }
  for (int64_t k = 0; status >= 0 && k < all.count; k++)
    put_item(out, &all.at[k]);
  free(all.at);
  return status;
}

/* ---- a column a label ---------------------------------------------------*/
static lapis_status bad_indicator(const label_table *s, int64_t row,
                                  int64_t column)
{
  return lapis_fail(s->ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ": '%.100s' in column %" PRId64
                    "; several columns of labels are all 1 or 0 (or -1), empty "
                    "where unknown",
                    s->r->path, s->cells->line[row], label_cell(s, row, column),
                    column + 1);
}

static lapis_status put_row(const label_table *s, int64_t i, labels *out,
                            bool *zero, bool *minus)
{
  double *y = out->Y + s->image[i] * out->rows;
  for (int64_t c = 0; c < out->K; c++) {
    const char *cell = label_cell(s, i, s->target[c]);
    bool no = strcmp(cell, "0") == 0, least = strcmp(cell, "-1") == 0;
    bool yes = strcmp(cell, "1") == 0;
    *zero |= no;
    *minus |= least;
    if ((*cell != '\0' && !no && !least && !yes) || (*zero && *minus))
      return bad_indicator(s, i, s->target[c]);
    if (*cell != '\0') y[c] = yes ? 1 : -1;
  }
  return LAPIS_OK;
}

static bool has_both(const labels *table, int64_t c)
{
  bool yes = false, no = false;
  for (int64_t i = 0; i < table->n; i++) {
    yes |= table->Y[i * table->rows + c] > 0;
    no |= table->Y[i * table->rows + c] < 0;
  }
  return yes && no;
}

static lapis_status check_both(const label_table *s, const labels *table)
{
  bool known = false;
  for (int64_t k = 0; k < table->rows * table->n; k++)
    known |= !isnan(table->Y[k]);
  if (!known) return none_labelled(s);
  for (int64_t c = 0; c < table->K; c++)
    if (has_both(table, c)) return LAPIS_OK;
  return lapis_fail(s->ctx, LAPIS_EMISSING,
                    "%s: every label is present in all labelled images, or in "
                    "none; for some label, labelled images with it and without "
                    "it are needed",
                    s->r->path);
}

/* Titles, or "column 3" where there are none: texts in the pool. */
static lapis_status name_columns(const label_table *s, labels *out)
{
  enum { ROOM = 32 };
  out->name = calloc((size_t)out->K, sizeof *out->name);
  out->pool = calloc((size_t)out->K, ROOM);
  if (out->name == NULL || out->pool == NULL) return no_memory(s->ctx);
  for (int64_t c = 0; c < out->K; c++) {
    char *number = out->pool + c * ROOM;
    snprintf(number, ROOM, "column %" PRId64, s->target[c] + 1);
    const char *title = s->first > 0 ? label_cell(s, 0, s->target[c]) : "";
    out->name[c] = *title != '\0' ? title : number;
  }
  return LAPIS_OK;
}

static lapis_status many_columns(const label_table *s, labels *out)
{
  bool zero = false, minus = false;
  out->kind = LABEL_MANY;
  out->K = out->rows = out->n_names = s->n_targets;
  TRY(room(s, out));
  TRY(name_columns(s, out));
  for (int64_t i = s->first; i < s->cells->rows; i++)
    if (s->image[i] >= 0) TRY(put_row(s, i, out, &zero, &minus));
  return LAPIS_OK;
}

lapis_status classes_find(const label_table *s, labels *out)
{
  TRY(s->n_targets == 1 ? one_column(s, out) : many_columns(s, out));
  return out->kind == LABEL_MANY ? check_both(s, out) : LAPIS_OK;
}

const char *label_cell(const label_table *s, int64_t row, int64_t column)
{
  return s->cells->text[row * s->cells->columns + column];
}
