/* resume.c - scopes of named arrays, innermost last. */
#include "base/resume.h"

#include <assert.h>
#include <math.h>
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

bool keep_is_on(lapis_ctx *ctx)
{
  return active(base_keep(ctx));
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

lapis_dtype keep_dtype(const keep_row *r)
{
  bool whole = r->rule == KEEP_WHOLE || r->rule == KEEP_ORDER;
  bool bytes = r->rule == KEEP_SWITCHES || r->rule == KEEP_SIGNS;
  return whole ? LAPIS_I64 : bytes ? LAPIS_U8 : LAPIS_F64;
}

lapis_status keep_fetch(const keep_row *r)
{
  return r->move == NULL ? LAPIS_OK : r->move(r->self, false);
}

void keep_add(keep_scope *scope, const char *name, keep_row row)
{
  if (!scope->open) return;
  assert(scope->count < KEEP_ROWS && strlen(name) < KEEP_NAME);
  (void)snprintf(row.name, sizeof row.name, "%s", name);
  scope->row[scope->count++] = row;
}

void keep_divide(keep_scope *scope, int64_t blocks)
{
  if (scope->open) scope->row[scope->count - 1].divided = blocks;
}

static lapis_status find(lapis_ctx *ctx, const keep_scope *scope,
                         const keep_row *row, const void **val, int64_t *count,
                         int64_t *wanted)
{
  keep_state *k = base_keep(ctx);
  char path[KEEP_PATH];
  *val = NULL;
  if (!scope->open) return LAPIS_OK;
  keep_path(scope, row->name, path);
  return k->hook.find(k->hook.self, path, row, val, count, wanted);
}

lapis_status keep_find(lapis_ctx *ctx, const keep_scope *scope,
                       const char *name, keep_rule rule, const void **val,
                       int64_t *count)
{
  keep_row row = {.rule = rule};
  int64_t wanted;
  (void)snprintf(row.name, sizeof row.name, "%s", name);
  return find(ctx, scope, &row, val, count, &wanted);
}

void keep_spend(lapis_ctx *ctx, const keep_scope *scope, const char *name)
{
  keep_state *k = base_keep(ctx);
  char path[KEEP_PATH];
  keep_path(scope, name, path);
  k->hook.spend(k->hook.self, path);
}

/* ---- what a file may put into a row --------------------------------------*/
static bool number_fits(keep_rule rule, double v)
{
  if (rule == KEEP_POSITIVE) return v > 0 && isfinite(v);
  return rule == KEEP_HOLES || !isnan(v);
}

static bool byte_fits(keep_rule rule, signed char v)
{
  return v == 1 || v == (rule == KEEP_SIGNS ? -1 : 0);
}

/* seen: count bytes, for KEEP_ORDER. */
static bool whole_fits(const keep_row *r, int64_t v, char *seen)
{
  if (r->rule == KEEP_WHOLE) return v >= r->low && v <= r->high;
  return v >= 0 && v < r->count && seen[v]++ == 0;
}

static bool value_fits(const keep_row *r, const void *from, int64_t i,
                       char *seen)
{
  lapis_dtype dtype = keep_dtype(r);
  if (dtype == LAPIS_I64)
    return whole_fits(r, ((const int64_t *)from)[i], seen);
  if (dtype == LAPIS_U8)
    return byte_fits(r->rule, ((const signed char *)from)[i]);
  return number_fits(r->rule, ((const double *)from)[i]);
}

static lapis_status check_values(lapis_ctx *ctx, const char *path,
                                 const keep_row *r, const void *from)
{
  char *seen = NULL;
  int64_t i = 0;
  if (r->rule == KEEP_ORDER) {
    seen = base_alloc(ctx, r->count, 1);
    if (seen == NULL) return LAPIS_ENOMEM;
  }
  while (i < r->count && value_fits(r, from, i, seen)) i++;
  base_free(seen);
  if (i == r->count) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "checkpoint: value %" PRId64
                    " of %s is not one that a run writes; remove the file to "
                    "start anew",
                    i + 1, path);
}

static lapis_status check_row(lapis_ctx *ctx, const keep_scope *scope,
                              const keep_row *r, bool *found)
{
  int64_t count = 0, wanted = r->count;
  char path[KEEP_PATH];
  const void *from;
  TRY(find(ctx, scope, r, &from, &count, &wanted));
  *found = from != NULL;
  if (!*found) return LAPIS_OK;
  keep_path(scope, r->name, path);
  if (count == wanted) return check_values(ctx, path, r, from);
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "checkpoint: %s holds %" PRId64
                    " numbers, this run has %" PRId64
                    "; remove the file to start anew",
                    path, count, wanted);
}

static size_t row_bytes(const keep_row *r)
{
  return (size_t)r->count * (keep_dtype(r) == LAPIS_U8 ? 1 : 8);
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
    int64_t count, wanted;
    const void *from;
    TRY(find(ctx, scope, r, &from, &count, &wanted));
    if (from == NULL) return LAPIS_EIO; /* cannot be: it was there above */
    if (row_bytes(r) > 0) memcpy(r->val, from, row_bytes(r));
    if (r->move != NULL) TRY(r->move(r->self, true));
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
