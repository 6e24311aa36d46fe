/* source.c - bytes one after the other, from memory or from elsewhere. */
#include <string.h>

#include "files/io.h"

static lapis_status memory_read(io_source *s, void *to, int64_t size)
{
  memcpy(to, s->at, (size_t)size);
  s->at += size;
  return LAPIS_OK;
}

io_source io_source_memory(lapis_ctx *ctx, const char *what, const void *data,
                           int64_t size)
{
  return (io_source){
      .ctx = ctx, .what = what, .left = size, .read = memory_read, .at = data};
}

lapis_status io_take(io_source *s, void *to, int64_t size)
{
  if (size > s->left)
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: ends inside its .npy header: %" PRId64
                      " more bytes are needed, %" PRId64 " are there",
                      s->what, size, s->left);
  if (size > 0) TRY(s->read(s, to, size));
  s->left -= size;
  return LAPIS_OK;
}
