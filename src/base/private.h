/* private.h - between the files of base only. */
#ifndef LAPIS_BASE_PRIVATE_H
#define LAPIS_BASE_PRIVATE_H
#include "base/base.h"
#include "base/keep.h"

/* Forgets a cancellation. */
void base_rearm(lapis_ctx *ctx);

/* Where a context keeps its open scopes. */
typedef struct keep_state {
  keep_hook hook;
  keep_scope *innermost;
  int paused; /* depth */
} keep_state;
keep_state *base_keep(lapis_ctx *ctx);

#endif
