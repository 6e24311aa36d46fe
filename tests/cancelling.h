/* cancelling.h - a cancellation (Ctrl-C) in the middle: when a message that
 * begins so is heard for the n-th time. */
#ifndef LAPIS_CANCELLING_H
#define LAPIS_CANCELLING_H
#include "check.h"

typedef struct cancelling {
  lapis_ctx *ctx;
  const char *begins;
  int nth; /* 0: never */
  int heard;
} cancelling;

static inline void cancel_at_nth(int level, const char *text, void *user)
{
  cancelling *t = user;
  (void)level;
  if (strncmp(text, t->begins, strlen(t->begins)) == 0 && ++t->heard == t->nth)
    lapis_ctx_cancel(t->ctx);
}

static inline void cancelling_listen(cancelling *t)
{
  assert_int_equal(lapis_ctx_set(t->ctx, "verbose", "2"), LAPIS_OK);
  lapis_ctx_on_message(t->ctx, cancel_at_nth, t);
}
#endif
