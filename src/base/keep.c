/* keep.c - scopes of named arrays, innermost last. */
#include "base/keep.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/private.h"

void keep_set_hook(lapis_ctx *ctx, const keep_hook *hook)
{
  keep_state *k = base_keep(ctx);
  k->hook = hook == NULL ? (keep_hook){.self = NULL} : *hook;
}

static bool active(const keep_state *k)
{
  return k->hook.take != NULL && k->paused == 0;
}

void keep_pause(lapis_ctx *ctx, bool on)
{
  base_keep(ctx)->paused += on ? 1 : -1;
}

static size_t put_path(const keep_scope *scope, char path[KEEP_PATH])
{
  size_t used = scope->outer == NULL ? 0 : put_path(scope->outer, path);
  int n = snprintf(path + used, KEEP_PATH - used, "%s%s", used > 0 ? "/" : "",
                   scope->name);
  assert(n > 0 && used + (size_t)n < KEEP_PATH);
  return used + (size_t)n;
}

void keep_path(const keep_scope *scope, const char *name, char path[KEEP_PATH])
{
  size_t used = put_path(scope, path);
  if (name != NULL) (void)snprintf(path + used, KEEP_PATH - used, "/%s", name);
}

void keep_open(lapis_ctx *ctx, keep_scope *scope, const char *name)
{
  keep_state *k = base_keep(ctx);
  scope->name = name;
  scope->count = scope->restored = 0;
  scope->open = active(k);
  if (!scope->open) return;
  scope->outer = k->innermost;
  k->innermost = scope;
  char path[KEEP_PATH];
  keep_path(scope, NULL, path);
  k->hook.forget(k->hook.self, path, false);
}

void keep_close(lapis_ctx *ctx, keep_scope *scope, bool finished)
{
  keep_state *k = base_keep(ctx);
  if (!scope->open) return;
  if (finished && active(k)) {
    char path[KEEP_PATH];
    keep_path(scope, NULL, path);
    k->hook.forget(k->hook.self, path, true);
    (void)keep_take(ctx, true);
  }
  k->innermost = scope->outer;
  scope->open = false;
}

void keep_add(keep_scope *scope, lapis_dtype dtype, void *val, int64_t count,
              const char *name, ...)
{
  if (!scope->open) return;
  assert(scope->count < KEEP_ROWS);
  keep_row *r = &scope->row[scope->count++];
  va_list args;
  va_start(args, name);
  (void)vsnprintf(r->name, sizeof r->name, name, args);
  va_end(args);
  r->dtype = dtype;
  r->val = val;
  r->count = count;
}

const void *keep_find(lapis_ctx *ctx, const keep_scope *scope, const char *name,
                      lapis_dtype dtype, int64_t *count)
{
  keep_state *k = base_keep(ctx);
  char path[KEEP_PATH];
  if (!scope->open) return NULL;
  keep_path(scope, name, path);
  return k->hook.find(k->hook.self, path, dtype, count);
}

void keep_spend(lapis_ctx *ctx, const keep_scope *scope, const char *name)
{
  keep_state *k = base_keep(ctx);
  char path[KEEP_PATH];
  keep_path(scope, name, path);
  k->hook.spend(k->hook.self, path);
}

static lapis_status check_row(lapis_ctx *ctx, const keep_scope *scope,
                              const keep_row *r, bool *found)
{
  int64_t count = 0;
  *found = keep_find(ctx, scope, r->name, r->dtype, &count) != NULL;
  if (!*found || count == r->count) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "checkpoint: %s/%s holds %" PRId64
                    " numbers, this run has %" PRId64
                    "; remove the file to start anew",
                    scope->name, r->name, count, r->count);
}

static size_t row_bytes(const keep_row *r)
{
  return (size_t)r->count * (r->dtype == LAPIS_U8 ? 1 : 8);
}

lapis_status keep_restore(lapis_ctx *ctx, keep_scope *scope, bool *found)
{
  int first = scope->restored;
  *found = scope->open && first < scope->count;
  scope->restored = scope->count;
  for (int i = first; *found && i < scope->count; i++)
    TRY(check_row(ctx, scope, &scope->row[i], found));
  for (int i = first; *found && i < scope->count; i++) {
    const keep_row *r = &scope->row[i];
    int64_t count;
    const void *from = keep_find(ctx, scope, r->name, r->dtype, &count);
    if (row_bytes(r) > 0) memcpy(r->val, from, row_bytes(r));
    keep_spend(ctx, scope, r->name);
  }
  return LAPIS_OK;
}

lapis_status keep_take(lapis_ctx *ctx, bool must)
{
  keep_state *k = base_keep(ctx);
  if (!active(k) || k->innermost == NULL) return LAPIS_OK;
  return k->hook.take(k->hook.self, k->innermost, must);
}
