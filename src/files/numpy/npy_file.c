/* npy_file.c - a .npy file: its array, or one process's part of it. */
#include <string.h>

#include "files/io.h"

static lapis_status skip(io_source *s, int64_t size)
{
  enum { SCRATCH = 1 << 14 };
  char scratch[SCRATCH];
  if (s->at != NULL) {
    s->at += size;
    s->left -= size;
    return LAPIS_OK;
  }
  for (; size > 0; size -= SCRATCH)
    TRY(io_take(s, scratch, size < SCRATCH ? size : SCRATCH));
  return LAPIS_OK;
}

/* Bytes of another source: of each stretch those in its middle. */
typedef struct runs {
  io_source *from;
  int64_t before, run, behind;
  int64_t given;
} runs;

static lapis_status runs_read(io_source *s, void *to, int64_t size)
{
  runs *r = s->self;
  for (char *at = to; size > 0;) {
    int64_t done = r->given % r->run, some = r->run - done;
    if (some > size) some = size;
    if (done == 0) TRY(skip(r->from, r->before));
    TRY(io_take(r->from, at, some));
    if (done + some == r->run) TRY(skip(r->from, r->behind));
    r->given += some;
    at += some;
    size -= some;
  }
  return LAPIS_OK;
}

/* In Fortran order a stretch is one feature, else it is everything. */
static runs runs_of(io_source *from, const npy_header *h, int64_t first,
                    int64_t count)
{
  int64_t n = h->shape[0], bytes = h->item;
  if (npy_is_straight(h)) bytes *= h->count / n;
  return (runs){.from = from,
                .before = bytes * first,
                .run = bytes * count,
                .behind = bytes * (n - first - count)};
}

lapis_status npy_share_read(io_source *s, const npy_header *h,
                            const io_share *share, const char *name,
                            lapis_array *out)
{
  int64_t first, count;
  bool text = h->kind == 'U' || h->kind == 'S';
  if (text || h->axes == 0 ||
      !io_share_of(share, name, h->shape[0], &first, &count))
    return npy_data_read(s, h, out);
  npy_header own = *h;
  own.shape[0] = count;
  own.count = h->count / h->shape[0] * count;
  runs r = runs_of(s, h, first, count);
  io_source part = {.ctx = s->ctx,
                    .what = s->what,
                    .left = own.count * h->item,
                    .read = runs_read,
                    .self = &r};
  if (s->at != NULL && npy_is_straight(h)) {
    part = io_source_memory(s->ctx, s->what, s->at + r.before, part.left);
    part.any_place = s->any_place;
  }
  TRY(npy_data_read(&part, &own, out));
  out->shape[0] = h->shape[0];
  lapis_status status = skip(s, s->left);
  if (status < 0) lapis_array_free(out);
  return status;
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
