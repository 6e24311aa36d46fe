/* arrays.c - the arrays of a file, whatever it is. */
#include <string.h>

#include "io/io.h"

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

/* An array whose values lie in the file's bytes takes those over. */
static void adopt(lapis_array *a, io_file *f)
{
  if (a->kind != IO_BORROWED) return;
  a->memory = f->data;
  a->bytes = (size_t)f->size;
  a->kind = (int)f->kind;
  f->kind = IO_NONE;
}

/* "folder/X.npy" -> "X" */
static lapis_status bare_name(lapis_ctx *ctx, const char *path, char **out)
{
  const char *slash = strrchr(path, '/');
  *out = base_strdup(ctx, slash == NULL ? path : slash + 1);
  if (*out == NULL) return LAPIS_ENOMEM;
  size_t size = strlen(*out);
  if (size > 4 && strcmp(*out + size - 4, ".npy") == 0) (*out)[size - 4] = '\0';
  return LAPIS_OK;
}

lapis_status io_arrays_npy(lapis_ctx *ctx, io_file *f,
                           const io_request *request, lapis_arrays *out)
{
  char *name;
  lapis_array a;
  TRY(bare_name(ctx, io_name(f->path), &name));
  io_source s = io_source_memory(ctx, io_name(f->path), f->data, f->size);
  npy_header h;
  lapis_status status = npy_header_read(&s, &h);
  if (status == LAPIS_OK)
    status = npy_share_read(&s, &h, &request->share, name, &a);
  if (status == LAPIS_OK) {
    adopt(&a, f);
    status = io_arrays_add(ctx, out, name, &a);
  }
  base_free(name);
  return status;
}

lapis_status lapis_arrays_read(lapis_ctx *ctx, const char *path,
                               lapis_arrays *out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  io_file f;
  TRY(io_file_open(ctx, path, &f));
  const io_kind *kind = io_kind_of(f.format);
  lapis_status status;
  if (kind->shown.container || f.format == IO_NPY)
    status = io_read(ctx, &f, &(io_request){.want = NULL}, out);
  else
    status = lapis_fail(ctx, LAPIS_EFORMAT,
                        "%s: is text; a .npy or .npz file is expected here, as "
                        "'lapis convert' makes of it",
                        io_name(path));
  io_file_close(&f);
  return status;
}

static bool is_seen(const char *seen, const char *name)
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
  if (seen != NULL && is_seen(seen, name))
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

lapis_status io_check_members(lapis_ctx *ctx, const char *path,
                              const char *seen, lapis_arrays *all)
{
  static const char *const numbers[] = {"X",      "Y",  "P", "group",
                                        "weight", "xy", NULL};
  const char *const *names = numbers;
  for (; seen != NULL && *names != NULL; names++) {
    if (!is_seen(seen, *names) || lapis_arrays_find(all, *names) != NULL)
      continue;
    lapis_arrays_free(all);
    return io_fail_member(ctx, io_name(path), *names, seen);
  }
  return LAPIS_OK;
}
