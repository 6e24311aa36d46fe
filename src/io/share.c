/* share.c - some of the samples of an array, which alone are read: the part of
 * one process. */
#include <string.h>

#include "io/io.h"

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

/* ---- of a .npy array -----------------------------------------------------*/
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
