/* label_answer.c - labels as people wrote them: given ones stay, the rest is
 * what the completion says; and the table that holds them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/label/label.h"

/* ---- decided ------------------------------------------------------------*/
/* Given, or above the threshold of labels -1 and 1. */
static bool is_present(const label_run *w, int64_t i, int64_t c)
{
  double y = w->Y[i * w->given.rows + c];
  lapis_mat scores;
  if (!isnan(y)) return y > 0;
  return flow_get(w->flow, "scores", &scores) >= 0 &&
         lapis_mat_at(&scores, c, i) > 0;
}

static int64_t class_at(const label_run *w, int64_t i)
{
  lapis_mat scores;
  int64_t best = 0;
  if (!isnan(w->Y[i])) return (int64_t)w->Y[i];
  flow_get(w->flow, "scores", &scores);
  for (int64_t c = 1; c < scores.rows; c++)
    if (lapis_mat_at(&scores, c, i) > lapis_mat_at(&scores, best, i)) best = c;
  return best;
}

bool label_has(const label_run *w, int64_t i, int64_t c)
{
  return w->given.kind == LABEL_CLASS ? class_at(w, i) == c
                                      : is_present(w, i, c);
}

const char *label_other(const label_run *w, int64_t i, int64_t k)
{
  return w->given.other[w->path_at[i] * w->given.others + k];
}

/* "a;b" into the pool. */
static size_t join(const label_run *w, int64_t i, char *to)
{
  size_t used = 0;
  const labels *table = &w->given;
  for (int64_t c = 0; c < table->K; c++) {
    if (!is_present(w, i, c)) continue;
    if (used > 0) to[used++] = ';';
    size_t size = strlen(table->name[c]);
    memcpy(to + used, table->name[c], size);
    used += size;
  }
  to[used] = '\0';
  return used + 1;
}

static size_t pool_bytes(const label_run *w)
{
  size_t each = 1;
  for (int64_t c = 0; c < w->given.n_names; c++)
    each += strlen(w->given.name[c]) + 1;
  return each * (size_t)w->flow->n;
}

lapis_status label_answer(label_run *w)
{
  const labels *table = &w->given;
  w->answer = calloc((size_t)w->flow->n, sizeof *w->answer);
  if (table->kind == LABEL_MANY) w->answer_pool = malloc(pool_bytes(w));
  if (w->answer == NULL ||
      (table->kind == LABEL_MANY && w->answer_pool == NULL))
    return flow_no_memory(w->flow);
  char *pool = w->answer_pool;
  for (int64_t i = 0; i < w->flow->n; i++) {
    w->answer[i] = pool;
    if (table->kind == LABEL_MANY) pool += join(w, i, pool);
    if (table->kind == LABEL_TWO)
      w->answer[i] = table->name[is_present(w, i, 0)];
    if (table->kind == LABEL_CLASS) w->answer[i] = table->name[class_at(w, i)];
  }
  flow_publish(w->flow, "labels", lapis_mat_text(w->answer, 1, w->flow->n));
  return LAPIS_OK;
}

/* ---- whether they were given ---------------------------------------------*/
const char *label_origin_at(const label_run *w, int64_t i, int64_t c)
{
  return isnan(w->Y[i * w->given.rows + c]) ? "filled" : "given";
}

const char *label_origin(const label_run *w, int64_t i)
{
  int64_t given = 0, rows = w->given.rows;
  for (int64_t c = 0; c < rows; c++) given += !isnan(w->Y[i * rows + c]);
  return given == 0 ? "filled" : given == rows ? "given" : "partly given";
}

/* ---- the table, in the columns of the one that was read ------------------*/
static const char *title_of(const labels *table, int64_t column)
{
  bool columns = table->kind == LABEL_MANY && !table->lists;
  int64_t label = column - 1 - table->others;
  if (column == 0)
    return *table->name_title == '\0' ? "name" : table->name_title;
  if (label < 0) return table->other_title[column - 1];
  if (label == (columns ? table->K : 1)) return "checked";
  if (columns) return table->name[label];
  return *table->title == '\0' ? "label" : table->title;
}

static void put_cell(csv_writer *s, const label_run *w, int64_t i,
                     int64_t column)
{
  const labels *table = &w->given;
  bool columns = table->kind == LABEL_MANY && !table->lists;
  int64_t label = column - 1 - table->others;
  if (column == 0)
    csv_writer_put(s, ((const char *const *)w->flow->names.val)[i], false);
  else if (label < 0)
    csv_writer_copy(s, label_other(w, i, column - 1), false);
  else if (label == (columns ? table->K : 1))
    csv_writer_put(s, w->checked[i] ? "yes" : "", false);
  else if (columns)
    csv_writer_put(s, is_present(w, i, label) ? "1" : "0", false);
  else
    csv_writer_put(s, w->answer[i], false);
}

static void put_origin_title(csv_writer *s, const char *of, bool last)
{
  char *title = malloc(strlen(of) + sizeof "origin of ");
  s->lost |= title == NULL;
  if (title != NULL) sprintf(title, "origin of %s", of);
  csv_writer_put(s, title == NULL ? "" : title, last);
  free(title);
}

/* Behind them, whether each label was given, which labels_read then knows; i:
 * -1 for titles. */
static void put_origins(csv_writer *s, const label_run *w, int64_t i)
{
  const labels *table = &w->given;
  bool columns = table->kind == LABEL_MANY && !table->lists;
  if (!columns) csv_writer_put(s, i < 0 ? "origin" : label_origin(w, i), true);
  for (int64_t c = 0; columns && c < table->K; c++)
    if (i < 0)
      put_origin_title(s, table->name[c], c + 1 == table->K);
    else
      csv_writer_put(s, label_origin_at(w, i, c), c + 1 == table->K);
}

lapis_status label_table_write(const lapis_flow *f, const char *path)
{
  csv_writer s;
  const label_run *w = f->own;
  if (w->answer == NULL)
    return lapis_fail(f->ctx, LAPIS_EINVAL, "label: there are no labels yet");
  csv_writer_begin(&s, w->given.cells.dialect, path);
  const labels *table = &w->given;
  for (int64_t k = 0; k < table->columns; k++)
    csv_writer_put(&s, title_of(table, table->column[k]), false);
  put_origins(&s, w, -1);
  for (int64_t i = 0; i < f->n; i++) {
    for (int64_t k = 0; k < table->columns; k++)
      put_cell(&s, w, i, table->column[k]);
    put_origins(&s, w, i);
  }
  return csv_writer_write(f->ctx, &s, path);
}
