/* notes.c - what a method remarks about its data and its answer.
 *
 * A remark is heard at once, as any message, and stands in the lists that are
 * open: of a solver that is being made or solves, and of those around it.  What
 * is said while the context is muted, by the many solves of a whole, stands in
 * the lists alone that were opened there.
 *
 * How it names settings: spell.c. */
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
  spell_sentence(ctx->notes.keywords, format, args, to, LONGEST);
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
