/* resume.h - what a killed run needs to go on: named arrays, in nested scopes.
 *
 * A solve, and a whole made of solves, opens a scope and lists the arrays that
 * are its state, as it lists its results.  At the boundary of an iteration the
 * rows of all open scopes are handed to the context's hook, which copies them
 * (src/model/checkpoint.c); a later run that opens the same scope finds them
 * there.  Without a hook nothing happens. */
#ifndef LAPIS_KEEP_H
#define LAPIS_KEEP_H
#include "base/base.h"

enum { KEEP_ROWS = 128, KEEP_NAME = 24, KEEP_PATH = 128 };

/* What a row holds, and so what a file may put into it: anyone can have
 * written the file, and rows are used as indices and counts. */
typedef enum keep_rule {
  KEEP_NUMBERS,  /* F64, no NaN */
  KEEP_HOLES,    /* F64, NaN too */
  KEEP_POSITIVE, /* F64, above 0 and finite */
  KEEP_WHOLE,    /* I64, low to high */
  KEEP_ORDER,    /* I64, each of 0..count-1 once */
  KEEP_SWITCHES, /* bool */
  KEEP_SIGNS     /* signed char, -1 or 1 */
} keep_rule;

typedef struct keep_row {
  char name[KEEP_NAME];
  keep_rule rule;
  void *val;
  int64_t count;
  int64_t low, high; /* of KEEP_WHOLE */
  /* 0: every process has the same.  Else each has its samples' part of numbers,
   * and the whole is so many blocks, in each of which the parts of all
   * processes follow each other. */
  int64_t divided;
  /* Where val only mirrors what lies elsewhere: brings it, before val is read
   * (filled: false), or takes it, once val was filled.  NULL: val is all. */
  lapis_status (*move)(void *self, bool filled);
  void *self;
} keep_row;

typedef struct keep_scope {
  const char *name;
  struct keep_scope *outer;
  bool open;
  int count, restored; /* rows; those looked for already */
  keep_row row[KEEP_ROWS];
} keep_scope;

typedef struct keep_hook {
  void *self;
  /* What a former run left at a path for a row, of a divided one the part that
   * is ours; or NULL.  *count: how many numbers; *wanted: how many of a divided
   * row all processes have, where that is another number. */
  lapis_status (*find)(void *self, const char *path, const keep_row *row,
                       const void **val, int64_t *count, int64_t *wanted);
  /* Copies the rows of this scope and of those around it, now if it must. */
  lapis_status (*take)(void *self, const keep_scope *innermost, bool must);
  /* What find gave for a path has been used and is not to be found again. */
  void (*spend)(void *self, const char *path);
  /* Nothing below this path belongs to the run any more; unless all, what a
   * former run left there and find may still give stays. */
  void (*forget)(void *self, const char *path, bool all);
} keep_hook;

/* NULL: none. */
void keep_set_hook(lapis_ctx *ctx, const keep_hook *hook);
bool keep_is_on(lapis_ctx *ctx); /* there is a hook, and it listens */
/* Opens an empty scope inside the innermost open one.  A whole that closes as
 * finished hands its last state over, and what was inside it is forgotten. */
void keep_open(lapis_ctx *ctx, keep_scope *scope, const char *name);
void keep_close(lapis_ctx *ctx, keep_scope *scope, bool finished);
lapis_dtype keep_dtype(const keep_row *r); /* F64, I64, or U8 for bytes */
/* Brings what the row mirrors, before its val is read. */
lapis_status keep_fetch(const keep_row *r);
/* One more row, where the scope is open. */
void keep_add(keep_scope *scope, const char *name, keep_row row);
/* The last row is divided among processes, in so many blocks. */
void keep_divide(keep_scope *scope, int64_t blocks);
/* Fills the rows added since the last call from what a former run left there;
 * all of them or none.  LAPIS_EFORMAT where a size or a value is none that the
 * rule of its row allows. */
lapis_status keep_restore(lapis_ctx *ctx, keep_scope *scope, bool *found);
/* What a former run left under a name; *val NULL: nothing. */
lapis_status keep_find(lapis_ctx *ctx, const keep_scope *scope,
                       const char *name, keep_rule rule, const void **val,
                       int64_t *count);
void keep_spend(lapis_ctx *ctx, const keep_scope *scope, const char *name);
lapis_status keep_take(lapis_ctx *ctx, bool must);
/* "outer/inner/name"; name may be NULL. */
void keep_path(const keep_scope *scope, const char *name, char path[KEEP_PATH]);
/* While paused no scope opens and nothing is taken: what runs now is done
 * again by a resumed run.  Calls nest. */
void keep_pause(lapis_ctx *ctx, bool on);

#endif
