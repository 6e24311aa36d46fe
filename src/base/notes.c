/* notes.c - what a method remarks about its data and its answer.
 *
 * A remark is heard at once, as any message, and stands in the lists that are
 * open: of a solver that is being made or solves, and of those around it.  What
 * is said while the context is muted, by the many solves of a whole, stands in
 * the lists alone that were opened there.
 *
 * A sentence names a setting as {mu-rel}, with a value as {scale none}, and who
 * reads it sees --scale none, or scale='none' (the key `spelling` of the
 * context). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/private.h"
#include "lapis/tools.h"

enum { LONGEST = 1024, ROWS = 3 }; /* a remark: level, name, text */

/* ---- lists --------------------------------------------------------------*/
void notes_open(lapis_ctx *ctx, note_list *list)
{
  note_state *state = base_notes(ctx);
  list->words.ctx = ctx;
  list->depth = base_muted(ctx);
  list->outer = state->open;
  state->open = list;
}

void notes_close(lapis_ctx *ctx)
{
  note_state *state = base_notes(ctx);
  note_list *list = state->open;
  state->open = list->outer;
  list->outer = NULL;
}

void notes_free(note_list *list)
{
  arena_free(&list->words);
  base_free(list->cell);
  *list = (note_list){.words.ctx = list->words.ctx};
}

lapis_status notes_status(const note_list *list)
{
  return arena_status(&list->words);
}

lapis_mat notes_mat(const note_list *list)
{
  return lapis_mat_text(list->cell, ROWS, list->count);
}

static bool has(const note_list *list, const char *name, const char *text)
{
  for (int64_t k = 0; k < list->count; k++)
    if (strcmp(list->cell[ROWS * k + 1], name) == 0 &&
        strcmp(list->cell[ROWS * k + 2], text) == 0)
      return true;
  return false;
}

static const char *copy(note_list *list, const char *text)
{
  return arena_keep(&list->words, base_strdup(list->words.ctx, text));
}

static void add(note_list *list, base_level level, const char *name,
                const char *text)
{
  if (has(list, name, text)) return;
  if (list->count == list->room) {
    void *cell = list->cell;
    int64_t room = 2 * list->room + 4;
    if (base_grow(list->words.ctx, &cell, ROWS * list->count, ROWS * room,
                  sizeof *list->cell) < 0)
      list->words.failed = true;
    list->cell = cell;
    if (list->words.failed) return;
    list->room = room;
  }
  const char **to = list->cell + ROWS * list->count;
  to[0] = level < BASE_WARNING ? "note" : "warning";
  to[1] = copy(list, name);
  to[2] = copy(list, text);
  list->count += to[1] != NULL && to[2] != NULL;
}

/* ---- sentences ----------------------------------------------------------*/
/* name[0 .. size) with its value, if any, behind a blank, as keywords are
 * written; to has room for more than twice as much. */
static size_t spell_keyword(const char *name, size_t size, char *to)
{
  size_t used = 0, k = 0;
  for (; k < size && name[k] != ' '; k++)
    to[used++] = (char)(name[k] == '-' ? '_' : name[k]);
  if (k == size) return used;
  const char *value = name + k + 1;
  size_t length = size - k - 1;
  bool word = isalpha((unsigned char)*value) || strncmp(value, "%s", 2) == 0;
  to[used++] = '=';
  if (word) to[used++] = '\'';
  memcpy(to + used, value, length);
  used += length;
  if (word) to[used++] = '\'';
  return used;
}

/* What braces of a format hold, as a reader of ctx writes it. */
static void spell(const lapis_ctx *ctx, const char *format, char *to,
                  size_t size)
{
  size_t used = 0;
  while (*format != '\0' && used + 8 < size) {
    size_t length = *format == '{' ? strcspn(format, "}") : 0;
    if (length < 2 || used + 2 * length + 8 > size) {
      to[used++] = *format++;
      continue;
    }
    if (base_notes_of(ctx)->keywords) {
      used += spell_keyword(format + 1, length - 1, to + used);
    } else {
      memcpy(to + used, "--", 2);
      memcpy(to + used + 2, format + 1, length - 1);
      used += length + 1;
    }
    format += length + 1;
  }
  to[used] = '\0';
}

/* In the lists that are open. */
static void record(lapis_ctx *ctx, base_level level, const char *name,
                   const char *text)
{
  const note_state *state = base_notes_of(ctx);
  int depth = base_muted(ctx);
  for (note_list *list = state->open; list != NULL; list = list->outer)
    if (list->depth == depth) add(list, level, name, text);
}

void notes_add(lapis_ctx *ctx, base_level level, const char *name,
               const char *text)
{
  const note_state *state = base_notes_of(ctx);
  if (state->relay != NULL && base_muted(ctx) == state->relay_depth) {
    state->relay(level, name, text, state->relay_user);
    return;
  }
  record(ctx, level, name, text);
  base_say(ctx, level, "%s", text);
}

LAPIS_PRINTF(2, 0)
static void compose(const lapis_ctx *ctx, const char *format, va_list args,
                    char to[LONGEST])
{
  char spelt[LONGEST], text[LONGEST];
  spell(ctx, format, spelt, sizeof spelt);
  (void)number_vprint(text, sizeof text, spelt, args);
  (void)lapis_text_shown(text, to, LONGEST);
}

void base_note(lapis_ctx *ctx, base_level level, const char *name,
               const char *format, ...)
{
  char text[LONGEST];
  va_list args;
  va_start(args, format);
  compose(ctx, format, args, text);
  va_end(args);
  notes_add(ctx, level, name, text);
}

void lapis_remark(lapis_ctx *ctx, int level, const char *name,
                  const char *format, ...)
{
  char text[LONGEST];
  va_list args;
  if (ctx == NULL || name == NULL || format == NULL) return;
  va_start(args, format);
  compose(ctx, format, args, text);
  va_end(args);
  notes_add(ctx, level < 0 ? BASE_NOTE : BASE_WARNING, name, text);
}

void base_warn_once(lapis_ctx *ctx, base_topic topic, const char *name,
                    const char *format, ...)
{
  char text[LONGEST];
  va_list args;
  va_start(args, format);
  compose(ctx, format, args, text);
  va_end(args);
  record(ctx, BASE_WARNING, name, text);
  base_say_once(ctx, topic, "%s", text);
}
