/* answer.c - labels as people wrote them: given ones stay, the rest is what
 * the completion says; and the table that holds them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/flow.h"

/* ---- decided ------------------------------------------------------------*/
/* Given, or above the threshold of labels -1 and 1. */
static bool is_present(const lapis_flow *f, int64_t i, int64_t c)
{
  double y = f->Y[i * f->given.rows + c];
  lapis_mat scores;
  if (!isnan(y)) return y > 0;
  return lapis_flow_get(f, "scores", &scores) >= 0 &&
         lapis_mat_at(&scores, c, i) > 0;
}

static int64_t class_at(const lapis_flow *f, int64_t i)
{
  lapis_mat scores;
  int64_t best = 0;
  if (!isnan(f->Y[i])) return (int64_t)f->Y[i];
  lapis_flow_get(f, "scores", &scores);
  for (int64_t c = 1; c < scores.rows; c++)
    if (lapis_mat_at(&scores, c, i) > lapis_mat_at(&scores, best, i)) best = c;
  return best;
}

bool label_has(const lapis_flow *f, int64_t i, int64_t c)
{
  return f->given.kind == LABEL_CLASS ? class_at(f, i) == c
                                      : is_present(f, i, c);
}

/* "a;b" into the pool. */
static size_t join(const lapis_flow *f, int64_t i, char *to)
{
  size_t used = 0;
  const labels *l = &f->given;
  for (int64_t c = 0; c < l->K; c++) {
    if (!is_present(f, i, c)) continue;
    if (used > 0) to[used++] = ';';
    size_t size = strlen(l->name[c]);
    memcpy(to + used, l->name[c], size);
    used += size;
  }
  to[used] = '\0';
  return used + 1;
}

static size_t pool_bytes(const lapis_flow *f)
{
  size_t each = 1;
  for (int64_t c = 0; c < f->given.n_names; c++)
    each += strlen(f->given.name[c]) + 1;
  return each * (size_t)f->n;
}

lapis_status label_answer(lapis_flow *f)
{
  const labels *l = &f->given;
  f->label = calloc((size_t)f->n, sizeof *f->label);
  if (l->kind == LABEL_MANY) f->label_pool = malloc(pool_bytes(f));
  if (f->label == NULL || (l->kind == LABEL_MANY && f->label_pool == NULL))
    return flow_no_memory(f);
  char *pool = f->label_pool;
  for (int64_t i = 0; i < f->n; i++) {
    f->label[i] = pool;
    if (l->kind == LABEL_MANY) pool += join(f, i, pool);
    if (l->kind == LABEL_TWO) f->label[i] = l->name[is_present(f, i, 0)];
    if (l->kind == LABEL_CLASS) f->label[i] = l->name[class_at(f, i)];
  }
  flow_publish(f, "labels", flow_text(f->label, f->n));
  return LAPIS_OK;
}

/* ---- the table ----------------------------------------------------------*/
static void put_titles(sheet *s, const labels *l)
{
  bool columns = l->kind == LABEL_MANY && !l->lists;
  sheet_put(s, *l->name_title == '\0' ? "name" : l->name_title, ',');
  if (l->group != NULL)
    sheet_put(s, *l->group_title == '\0' ? "group" : l->group_title, ',');
  for (int64_t c = 0; columns && c < l->K; c++)
    sheet_put(s, l->name[c], c + 1 < l->K ? ',' : '\n');
  if (!columns) sheet_put(s, *l->title == '\0' ? "label" : l->title, '\n');
}

static void put_image(sheet *s, const lapis_flow *f, int64_t i)
{
  const labels *l = &f->given;
  bool columns = l->kind == LABEL_MANY && !l->lists;
  sheet_put(s, ((const char *const *)f->names.val)[i], ',');
  if (l->group != NULL) sheet_put(s, l->group_text[f->at[i]], ',');
  for (int64_t c = 0; columns && c < l->K; c++)
    sheet_put(s, is_present(f, i, c) ? "1" : "0", c + 1 < l->K ? ',' : '\n');
  if (!columns) sheet_put(s, f->label[i], '\n');
}

lapis_status lapis_label_write(const lapis_flow *f, const char *path)
{
  sheet s = {.used = 0};
  if (f->label == NULL)
    return lapis_fail(f->ctx, LAPIS_EINVAL, "label: there are no labels yet");
  put_titles(&s, &f->given);
  for (int64_t i = 0; i < f->n; i++) put_image(&s, f, i);
  return sheet_write(f->ctx, &s, path);
}
