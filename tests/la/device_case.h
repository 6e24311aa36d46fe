/* device_case.h - what tests of devices share: a context whose backend is
 * changed, and what a backend that cannot be opened says. */
#ifndef DEVICE_CASE_H
#define DEVICE_CASE_H
#include "la_case.h"

#define OK(call) assert_int_equal((call), LAPIS_OK)

static lapis_ctx *ctx;

static la on(const char *name)
{
  la h;
  OK(lapis_ctx_set(ctx, "backend", name));
  OK(la_open(ctx, &h));
  return h;
}

static inline void refused(const char *name, lapis_status s, const char *words)
{
  la h;
  OK(lapis_ctx_set(ctx, "backend", name));
  assert_int_equal(la_open(ctx, &h), s);
  assert_int_equal(lapis_ctx_status(ctx), s);
  check_says(lapis_ctx_error(ctx), words);
}

#endif
