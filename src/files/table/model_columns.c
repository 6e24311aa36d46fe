/* model_columns.c - columns of a table by the titles that a model gave its
 * features, in the model's order, whatever the table's own is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files/io.h"
#include "lapis/tools.h"

typedef struct known {
  arena *memory;
  const char *path;
  int64_t count;
  io_text *sorted; /* by name, then place */
  int64_t *taken;  /* of the sorted: how many of that name columns are */
  size_t *looked;  /* ... bytes of the "TITLE=" that begins there and was
                    * looked for; 0: none */
  bool *found;     /* by place */
  const char *const *name;
} known;

/* The first of the sorted that begins with text, or would stand there. */
static int64_t lower_bound(const known *k, const char *text, size_t size)
{
  return io_lookup_from(k->sorted, k->count, text, (int64_t)size) - k->sorted;
}

/* A feature of just that name: of several equal ones the next that no column
 * before this one is. */
static lapis_status find_bare(known *k, const char *title, io_known *out)
{
  int64_t first = lower_bound(k, title, strlen(title)), i = first;
  if (first < k->count) i += k->taken[first];
  while (i < k->count && strcmp(k->sorted[i].text, title) == 0 &&
         k->found[k->sorted[i].at])
    i++;
  if (first < k->count) k->taken[first] = i - first;
  if (i == k->count || strcmp(k->sorted[i].text, title) != 0) {
    if (i == first) return LAPIS_OK;
    return lapis_fail(k->memory->ctx, LAPIS_EINVAL,
                      "%s: more columns are named \"%.60s\" than the model has "
                      "features of that name; --drop the others by number",
                      k->path, title);
  }
  *out = (io_known){.place = k->sorted[i].at, .width = 1};
  k->found[out->place] = true;
  return LAPIS_OK;
}

/* "VALUE (not OTHER)": two words. */
static lapis_status split_words(known *k, io_known *out)
{
  const char *mark = NULL, *at = out->value[0];
  size_t size = strlen(at);
  while ((at = strstr(at, IO_NOT)) != NULL) mark = at++;
  if (mark == NULL || out->value[0][size - 1] != ')') return LAPIS_OK;
  char *text = arena_take(k->memory, (int64_t)size + 1, 1);
  if (text == NULL) return arena_status(k->memory);
  memcpy(text, out->value[0], size - 1); /* the rest is zero */
  text[mark - out->value[0]] = '\0';
  out->other = text + (mark - out->value[0]) + sizeof IO_NOT - 1;
  out->value[0] = text;
  return LAPIS_OK;
}

/* "TITLE=VALUE", features side by side. */
static lapis_status find_values(known *k, const char *title, io_known *out)
{
  size_t size = strlen(title) + 1;
  char *start = arena_take(k->memory, (int64_t)size + 1, 1);
  if (start == NULL) return arena_status(k->memory);
  memcpy(start, title, size);
  start[size - 1] = '=';
  int64_t first = k->count, width = 0, from = lower_bound(k, start, size);
  if (from == k->count || k->looked[from] == size ||
      strncmp(k->sorted[from].text, start, size) != 0)
    return LAPIS_OK;
  k->looked[from] = size; /* a second column of that title finds nothing */
  for (int64_t i = from;
       i < k->count && strncmp(k->sorted[i].text, start, size) == 0; i++)
    if (k->sorted[i].at < first) first = k->sorted[i].at;
  while (first + width < k->count && !k->found[first + width] &&
         strncmp(k->name[first + width], start, size) == 0)
    width++;
  if (width == 0) return LAPIS_OK;
  const char **value = arena_take(k->memory, width, sizeof *value);
  if (value == NULL) return arena_status(k->memory);
  for (int64_t i = 0; i < width; i++) {
    value[i] = k->name[first + i] + size;
    k->found[first + i] = true;
  }
  *out = (io_known){.place = first, .width = width, .value = value};
  return width == 1 ? split_words(k, out) : LAPIS_OK;
}

/* Bytes of the title of the column that a feature is of: of "TITLE=VALUE"
 * those before the value. */
static int title_bytes(const char *name)
{
  size_t size = strcspn(name, "=");
  return (int)(size > 0 ? size : strlen(name));
}

/* The model has more features of one name than there are columns. */
static lapis_status fail_twins(const known *k, const char *name, int64_t is)
{
  int64_t has = 0;
  for (int64_t i = 0; i < k->count; i++) has += strcmp(k->name[i], name) == 0;
  return lapis_fail(k->memory->ctx, LAPIS_EMISSING,
                    "%s: the model has %" PRId64 " features called \"%.60s\", "
                    "and here %s; columns of one title are taken in their "
                    "order",
                    k->path, has, name,
                    is > 1 ? "are fewer columns" : "is one column");
}

/* The first feature that no column is; of values their column. */
static lapis_status fail_missing(const known *k, int64_t count,
                                 const char *const *title)
{
  char hint[128], others[64] = "", column[64], of[112] = "";
  int64_t first = 0, more = 0, twins = 0;
  while (k->found[first]) first++;
  const char *name = k->name[first];
  int size = title_bytes(name);
  for (int64_t i = first + 1, last = first; i < k->count; i++) {
    if (k->found[i]) continue;
    bool same = title_bytes(k->name[i]) == title_bytes(k->name[last]) &&
                strncmp(k->name[i], k->name[last],
                        (size_t)title_bytes(k->name[i])) == 0;
    more += !same;
    last = i;
  }
  (void)snprintf(column, sizeof column, "%.*s", size < 60 ? size : 60, name);
  lapis_nearest near = {.word = column, .size = strlen(column)};
  for (int64_t j = 0; j < count; j++) {
    if (title[j] == NULL) continue;
    twins += strcmp(title[j], name) == 0;
    lapis_nearest_try(&near, title[j]);
  }
  if (twins > 0) return fail_twins(k, name, twins);
  for (int64_t i = 0; i < k->count && near.name != NULL; i++)
    if (strcmp(near.name, k->name[i]) == 0) near.name = NULL; /* another one */
  if (more > 0)
    (void)snprintf(others, sizeof others, ", nor %" PRId64 " other%s", more,
                   more > 1 ? "s" : "");
  if (name[size] == '=')
    (void)snprintf(of, sizeof of, " for \"%.60s\", nor one of that whole title",
                   name);
  return lapis_fail(k->memory->ctx, LAPIS_EMISSING,
                    "%s: has no column \"%s\"%s%s, a feature of the model%s; "
                    "columns are found by their titles, in any order; give the "
                    "column this title, or add an empty one where it is not "
                    "known",
                    k->path, column,
                    lapis_nearest_hint(&near, "", hint, sizeof hint), of,
                    others);
}

/* Columns that are no feature of the model; the first ones by title. */
static void say_unknown(lapis_ctx *ctx, const char *path, int64_t count,
                        const char *const *title, const io_known *is)
{
  enum { SHOWN = 3 };
  char list[3 * 48] = "", more[40] = "", one[41];
  size_t size = 0;
  int64_t unknown = 0;
  for (int64_t j = 0; j < count; j++) {
    if (title[j] == NULL || is[j].place >= 0 || unknown++ >= SHOWN) continue;
    size += (size_t)snprintf(list + size, sizeof list - size, "%s\"%s\"",
                             size > 0 ? ", " : "",
                             lapis_text_shown(title[j], one, sizeof one));
  }
  if (unknown == 0) return;
  if (unknown > SHOWN)
    (void)snprintf(more, sizeof more, " and %" PRId64 " more", unknown - SHOWN);
  base_say(ctx, -1, "%s: column%s that the model does not use: %s%s", path,
           unknown > 1 ? "s" : "", list, more);
}

lapis_status io_know(arena *memory, const char *path, const lapis_mat *names,
                     int64_t count, const char *const *title, io_known *out)
{
  known k = {
      .memory = memory, .path = path, .count = names->cols, .name = names->val};
  k.sorted = arena_take(memory, k.count, sizeof *k.sorted);
  k.found = arena_take(memory, k.count, sizeof *k.found);
  k.taken = arena_take(memory, k.count, sizeof *k.taken);
  k.looked = arena_take(memory, k.count, sizeof *k.looked);
  TRY(arena_status(memory));
  for (int64_t i = 0; i < k.count; i++)
    k.sorted[i] = (io_text){k.name[i], (int64_t)strlen(k.name[i]), i};
  io_lookup_sort(k.sorted, k.count);
  for (int64_t j = 0; j < count; j++) {
    out[j] = (io_known){.place = -1, .width = 1};
    if (title[j] == NULL) continue;
    TRY(find_bare(&k, title[j], &out[j]));
    if (out[j].place < 0) TRY(find_values(&k, title[j], &out[j]));
  }
  for (int64_t i = 0; i < k.count; i++)
    if (!k.found[i]) return fail_missing(&k, count, title);
  say_unknown(memory->ctx, path, count, title, out);
  return LAPIS_OK;
}

void io_tell_strange(lapis_ctx *ctx, const char *path, const csv_cell *title,
                     const csv_cell *first, int64_t count)
{
  char more[64] = "";
  if (count == 0) return;
  if (count > 1)
    (void)snprintf(more, sizeof more, ", nor of %" PRId64 " cell%s below",
                   count - 1, count > 2 ? "s" : "");
  base_say(ctx, 0,
           "%s:%" PRId64 ":%" PRId64 ": \"%.*s\" is not a value of \"%.*s\" "
           "that the model has met, so nothing is known of it%s",
           path, first->line, first->column, csv_shown_bytes(first),
           first->text, csv_shown_bytes(title), title->text, more);
}
