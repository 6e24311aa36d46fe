/* label_answer.c - labels as people wrote them: given ones stay, the rest is
 * what the completion says; and the table that holds them. */
#include <math.h>
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

/* ---- the table: columns in the order of the page's labels.csv -----------*/
static void put_titles(csv_writer *s, const labels *table)
{
  bool columns = table->kind == LABEL_MANY && !table->lists;
  csv_writer_put(s, *table->name_title == '\0' ? "name" : table->name_title,
                 false);
  if (table->group != NULL)
    csv_writer_put(
        s, *table->group_title == '\0' ? "group" : table->group_title, false);
  bool last = table->checked == NULL;
  for (int64_t c = 0; columns && c < table->K; c++)
    csv_writer_put(s, table->name[c], last && c + 1 == table->K);
  if (!columns)
    csv_writer_put(s, *table->title == '\0' ? "label" : table->title, last);
  if (table->checked != NULL) csv_writer_put(s, "checked", true);
}

static void put_image(csv_writer *s, const label_run *w, int64_t i)
{
  const labels *table = &w->given;
  bool columns = table->kind == LABEL_MANY && !table->lists;
  csv_writer_put(s, ((const char *const *)w->flow->names.val)[i], false);
  if (table->group != NULL)
    csv_writer_put(s, table->group_text[w->path_at[i]], false);
  bool last = table->checked == NULL;
  for (int64_t c = 0; columns && c < table->K; c++)
    csv_writer_put(s, is_present(w, i, c) ? "1" : "0",
                   last && c + 1 == table->K);
  if (!columns) csv_writer_put(s, w->answer[i], last);
  if (table->checked != NULL)
    csv_writer_put(s, w->checked[i] ? "yes" : "", true);
}

lapis_status label_table_write(const lapis_flow *f, const char *path)
{
  csv_writer s;
  const label_run *w = f->own;
  if (w->answer == NULL)
    return lapis_fail(f->ctx, LAPIS_EINVAL, "label: there are no labels yet");
  csv_writer_begin(&s, w->given.cells.dialect, path);
  put_titles(&s, &w->given);
  for (int64_t i = 0; i < f->n; i++) put_image(&s, w, i);
  return csv_writer_write(f->ctx, &s, path);
}
