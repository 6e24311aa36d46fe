/* on_backend.c - the backend that LAPIS_TEST_BACKEND names is the default of
 * every context of a test: so a suite runs on another one as it is. */
#include <stdlib.h>

#include "lapis/lapis.h"

lapis_ctx *__real_lapis_ctx_new(void);
lapis_ctx *__wrap_lapis_ctx_new(void);

lapis_ctx *__wrap_lapis_ctx_new(void)
{
  lapis_ctx *ctx = __real_lapis_ctx_new();
  const char *name = getenv("LAPIS_TEST_BACKEND");
  if (ctx != NULL && name != NULL) (void)lapis_ctx_set(ctx, "backend", name);
  return ctx;
}
