/* table_model.c - the columns of delimited text as a model knows them: by their
 * titles. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files/table/table.h"

bool table_title_is(const csv_cell *title, const char *name, size_t size)
{
  size_t i = 0;
  for (int64_t at = 0; at < title->size; at++, i++) {
    if (i == size || title->text[at] != name[i]) return false;
    if (title->escaped && title->text[at] == '"') at++;
  }
  return i == size;
}

lapis_status table_sort_titles(table *t)
{
  t->titled = arena_take(&t->memory, t->columns, sizeof *t->titled);
  for (int64_t j = 0; arena_status(&t->memory) >= 0 && j < t->columns; j++) {
    const csv_cell *title = &t->column[j].title;
    t->titled[j] = (io_text){title->text, title->size, j};
    if (!title->escaped) continue;
    char *text = arena_take(&t->memory, title->size + 1, 1);
    if (text != NULL)
      t->titled[j] = (io_text){text, csv_copy(title, text) - 1, j};
  }
  TRY(arena_status(&t->memory));
  io_lookup_sort(t->titled, t->columns);
  return LAPIS_OK;
}

int64_t table_count_titled(const table *t, const char *name, size_t size,
                           int64_t *last)
{
  const io_text *end = t->titled + t->columns,
                *at =
                    io_lookup_from(t->titled, t->columns, name, (int64_t)size),
                *first = at;
  for (; at < end && at->size == (int64_t)size &&
         memcmp(at->text, name, size) == 0;
       at++)
    *last = at->at;
  return at - first;
}

const lapis_mat *table_model(const table *t)
{
  const table_request *q = t->request;
  bool X = q->features != NULL && strcmp(q->features, "X") == 0 &&
           !q->targets_only && !q->all_targets;
  return X && q->opt != NULL ? q->opt->features_of : NULL;
}

/* Whether the first row has every feature by name, numbers that are titles,
 * too.
 */
static bool has_every(const table *t, const lapis_mat *known)
{
  enum { MOST = 1000 };
  int64_t at;
  if (known->cols == 0 || known->cols > MOST || t->columns > MOST) return false;
  for (int64_t i = 0; i < known->cols; i++) {
    const char *name = ((const char *const *)known->val)[i];
    if (table_count_titled(t, name, strlen(name), &at) == 0) return false;
  }
  return true;
}

bool table_names_features(const table *t)
{
  enum { LOOKED_AT = 8 };
  const lapis_mat *known = table_model(t);
  int looked = 0;
  if (known != NULL && has_every(t, known)) return true;
  for (int64_t j = 0; known != NULL && j < t->columns; j++) {
    const csv_cell *title = &t->column[j].title;
    if (t->column[j].first != CSV_TEXT || looked++ == LOOKED_AT) continue;
    for (int64_t i = 0; i < known->cols; i++) {
      const char *name = ((const char *const *)known->val)[i];
      if (table_title_is(title, name, strlen(name)) ||
          (strchr(name, '=') != NULL &&
           table_title_is(title, name, strcspn(name, "="))))
        return true;
    }
  }
  return false;
}

void table_mark_targets(table *t)
{
  const lapis_table_options *opt = t->request->opt;
  bool any = table_model(t) != NULL && t->header && opt->target == NULL &&
             opt->targets_of != NULL;
  for (int64_t i = 0; any && i < opt->targets_of->cols; i++) {
    int64_t at = 0;
    const char *name = ((const char *const *)opt->targets_of->val)[i];
    if (table_count_titled(t, name, strlen(name), &at) == 1)
      t->column[at].role = IO_TARGET;
  }
}

lapis_status table_meet_model(table *t)
{
  const lapis_mat *known = table_model(t);
  const char **title = arena_take(&t->memory, t->columns, sizeof *title);
  io_known *as = arena_take(&t->memory, t->columns, sizeof *as);
  for (int64_t j = 0; arena_status(&t->memory) >= 0 && j < t->columns; j++) {
    column *c = &t->column[j];
    if (c->role != IO_FEATURE) continue;
    char *text = arena_take(&t->memory, c->title.size + 1, 1);
    if (text != NULL) (void)csv_copy(&c->title, text);
    title[j] = text;
  }
  TRY(arena_status(&t->memory));
  TRY(io_know(&t->memory, t->path, known, t->columns, title, as));
  for (int64_t j = 0; j < t->columns; j++) {
    column *c = &t->column[j];
    if (c->role == IO_FEATURE && as[j].place < 0) c->role = IO_LEFT_OUT;
    if (c->role != IO_FEATURE) continue;
    c->place = as[j].place;
    c->width = as[j].width;
    c->value = as[j].value;
    c->nought = as[j].other;
  }
  t->count[IO_FEATURE] = known->cols;
  return LAPIS_OK;
}
