/* arrays.c - the arrays of a file, whatever it is: a list of them, some of
 * which are wanted, or some of their samples. */
#include <stdio.h>
#include <string.h>

#include "files/io.h"

void lapis_array_free(lapis_array *a)
{
  if (a == NULL) return;
  io_release(a->memory, a->bytes, (io_memory)a->kind);
  base_free(a->name);
  *a = (lapis_array){.kind = IO_NONE};
}

void lapis_arrays_free(lapis_arrays *all)
{
  if (all == NULL) return;
  for (int i = 0; i < all->count; i++) lapis_array_free(&all->item[i]);
  base_free(all->item);
  *all = (lapis_arrays){.count = 0};
}

const lapis_array *lapis_arrays_find(const lapis_arrays *all, const char *name)
{
  if (all == NULL || name == NULL) return NULL;
  for (int i = 0; i < all->count; i++)
    if (strcmp(all->item[i].name, name) == 0) return &all->item[i];
  return NULL;
}

/* Room doubles when the count reaches a power of two. */
static lapis_status make_room(lapis_ctx *ctx, lapis_arrays *all)
{
  int n = all->count;
  if (n > 0 && (n & (n - 1)) != 0) return LAPIS_OK;
  void *item = all->item;
  TRY(base_grow(ctx, &item, n, n == 0 ? 1 : 2 * (int64_t)n, sizeof *all->item));
  all->item = item;
  return LAPIS_OK;
}

lapis_status io_arrays_add(lapis_ctx *ctx, lapis_arrays *all, const char *name,
                           lapis_array *a)
{
  a->name = base_strdup(ctx, name);
  if (a->name == NULL || make_room(ctx, all) < 0) {
    lapis_array_free(a);
    return LAPIS_ENOMEM;
  }
  all->item[all->count++] = *a;
  *a = (lapis_array){.kind = IO_NONE};
  return LAPIS_OK;
}

/* A sentence has room for so many bytes of names. */
enum { SEEN_BYTES = 1000 };

lapis_status io_note_seen(lapis_ctx *ctx, char **seen, const char *name)
{
  int64_t old = *seen == NULL ? 0 : (int64_t)strlen(*seen);
  if (old > SEEN_BYTES) return LAPIS_OK;
  char *both = base_alloc(ctx, old + (int64_t)strlen(name) + 3, 1);
  if (both == NULL) return LAPIS_ENOMEM;
  if (old > 0) {
    memcpy(both, *seen, (size_t)old);
    memcpy(both + old, ", ", 2);
    old += 2;
  }
  memcpy(both + old, name, strlen(name));
  base_free(*seen);
  *seen = both;
  return LAPIS_OK;
}

bool io_is_seen(const char *seen, const char *name)
{
  while (*seen != '\0') {
    size_t size = strcspn(seen, ",");
    if (strlen(name) == size && strncmp(seen, name, size) == 0) return true;
    seen += size;
    seen += strspn(seen, ", ");
  }
  return false;
}

lapis_status io_fail_member(lapis_ctx *ctx, const char *path, const char *name,
                            const char *seen)
{
  if (seen != NULL && (seen == name || io_is_seen(seen, name)))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s%s%s is of a type that is not read: a struct, an "
                      "object, records or complex numbers; save its fields, or "
                      "real and imaginary parts, as arrays",
                      path == NULL ? "" : path, path == NULL ? "" : ": member ",
                      name);
  if (path != NULL)
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: has no member %s; it has %s",
                      path, name, seen == NULL ? "none" : seen);
  return lapis_fail(ctx, LAPIS_EMISSING,
                    "%s is missing; the members found are %s; -X FILE:NAME "
                    "says which of them it is",
                    name, seen);
}

void io_share_cut(const io_share *s, int64_t n, int64_t *first, int64_t *count)
{
  *first = n * s->part / s->parts;
  *count = n * (s->part + 1) / s->parts - *first;
}

bool io_share_of(const io_share *s, const char *name, int64_t n, int64_t *first,
                 int64_t *count)
{
  if (s->parts <= 1 || n <= 1 || !io_is_wanted(s->of, name)) return false;
  io_share_cut(s, n, first, count);
  return true;
}

bool io_is_wanted(const char *const *want, const char *name)
{
  if (want == NULL) return true;
  for (; *want != NULL; want++)
    if (strcmp(*want, name) == 0) return true;
  return false;
}

const lapis_named *io_find_item(const lapis_named *item, int count,
                                const char *name)
{
  for (int i = 0; i < count; i++)
    if (strcmp(item[i].name, name) == 0) return &item[i];
  return NULL;
}

void io_warn_lost(lapis_ctx *ctx, const char *path, const lapis_named *item,
                  int count, const char *const *kept)
{
  char lost[256] = "";
  size_t used = 0;
  for (int i = 0; i < count && used < sizeof lost; i++) {
    if (io_is_wanted(kept, item[i].name)) continue;
    int n = snprintf(lost + used, sizeof lost - used, "%s%s",
                     used > 0 ? ", " : "", item[i].name);
    used += n > 0 ? (size_t)n : 0;
  }
  if (used > 0)
    base_say(ctx, 0, "%s: left out, as the format has no place for it: %s",
             path, lost);
}

lapis_status io_read_by(lapis_ctx *ctx, io_reader read, io_file *f,
                        const io_request *request, lapis_arrays *out)
{
  *out = (lapis_arrays){.count = 0};
  if (request->seen != NULL) *request->seen = NULL;
  lapis_status status = read(ctx, f, request, out);
  if (status < 0) {
    lapis_arrays_free(out);
    if (request->seen != NULL) base_free(*request->seen);
    if (request->seen != NULL) *request->seen = NULL;
  }
  return status;
}
