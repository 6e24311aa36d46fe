/* notes.h - lists of remarks, between who makes solvers and who runs them. */
#ifndef LAPIS_NOTES_H
#define LAPIS_NOTES_H
#include "base/base.h"

/* {.count = 0} is an empty one. */
typedef struct note_list {
  arena words;
  const char **cell; /* 3 x room: level, name, text */
  int64_t count, room;
  int depth;               /* muted so often when it was opened */
  struct note_list *outer; /* while it is open */
} note_list;
/* In between, what base_note says is added to list.  Calls nest. */
void notes_open(lapis_ctx *ctx, note_list *list);
void notes_close(lapis_ctx *ctx);
void notes_free(note_list *list);
lapis_status notes_status(const note_list *list); /* OK or LAPIS_ENOMEM */
/* TEXT, 3 x count: a column a remark. */
lapis_mat notes_mat(const note_list *list);

#endif
