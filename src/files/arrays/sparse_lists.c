/* sparse_lists.c - a sparse matrix that a file has as three lists: where each
 * line begins, the place of each entry in its line, its value.
 *
 * Of some samples only their entries are read.  Where samples are the lines
 * they lie together; where features are, the places are read block by block, to
 * find them, and of the values the stretches that have any. */
#include <string.h>

#include "files/io.h"
#include "mat/mat.h"

enum { AT_ONCE = 1 << 18, FIRST_ROOM = 1 << 12 };

typedef struct samples { /* that are wanted */
  int64_t first, count;
} samples;

static int64_t length(const lapis_array *list)
{
  return list->mat.rows * list->mat.cols;
}

/* The lists must have as many numbers as the pointers say. */
static lapis_status check_pointers(const io_lists *l, const lapis_array *list)
{
  int64_t lines = l->by_sample ? l->samples : l->features;
  const int64_t *ptr = list->mat.val;
  bool fine = length(list) == lines + 1 && ptr[0] == 0;
  for (int64_t i = 0; fine && i < lines; i++) fine = ptr[i] <= ptr[i + 1];
  if (fine) return LAPIS_OK;
  return lapis_fail(l->ctx, LAPIS_EFORMAT,
                    "%s: is sparse, %" PRId64 " x %" PRId64
                    ", and its pointers are not %" PRId64 " that rise from 0",
                    l->what, l->samples, l->features, lines + 1);
}

static lapis_status build(const io_lists *l, int64_t count, int64_t n_ptr,
                          const int64_t *ptr, const lapis_array *at,
                          const lapis_array *data, lapis_array *out)
{
  if (length(at) != length(data))
    return lapis_fail(l->ctx, LAPIS_EFORMAT,
                      "%s: has not as many indices as values; write it again",
                      l->what);
  double *value = base_alloc_raw(l->ctx, length(data), sizeof *value);
  if (value == NULL) return LAPIS_ENOMEM;
  mat_to_f64(&data->mat, value, data->mat.ld);
  io_compressed c = {.by_sample = l->by_sample,
                     .samples = count,
                     .features = l->features,
                     .nnz = length(data),
                     .n_ptr = n_ptr,
                     .ptr = ptr,
                     .at = at->mat.val,
                     .value = value};
  lapis_status s = io_sparse_compressed(l->ctx, l->what, &c, out);
  base_free(value);
  return s;
}

/* ---- all, or samples that are the lines ---------------------------------*/
static lapis_status read_lists(const io_lists *l, int64_t count, int64_t n_ptr,
                               const int64_t *ptr, int64_t from, int64_t size,
                               lapis_array *out)
{
  lapis_array at = {.kind = IO_NONE}, data = {.kind = IO_NONE};
  lapis_status s = l->read(l->self, l->at, true, from, size, &at);
  if (s >= 0) s = l->read(l->self, l->data, false, from, size, &data);
  if (s >= 0) s = build(l, count, n_ptr, ptr, &at, &data, out);
  lapis_array_free(&at);
  lapis_array_free(&data);
  return s;
}

static lapis_status read_lines(const io_lists *l, const samples *w,
                               const int64_t *ptr, lapis_array *out)
{
  int64_t from = ptr[w->first], size = ptr[w->first + w->count] - from;
  int64_t *own = base_alloc_raw(l->ctx, w->count + 1, sizeof *own);
  if (own == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i <= w->count; i++) own[i] = ptr[w->first + i] - from;
  lapis_status s = read_lists(l, w->count, w->count + 1, own, from, size, out);
  base_free(own);
  return s;
}

/* ---- features are the lines ---------------------------------------------*/
typedef struct found { /* entries of the samples that are wanted */
  int64_t *line, *sample;
  double *value;
  int64_t count, room;
} found;

static lapis_status make_room(const io_lists *l, found *f, int64_t more)
{
  int64_t room = f->room == 0 ? FIRST_ROOM : f->room;
  while (room < f->count + more) room *= 2;
  if (room == f->room) return LAPIS_OK;
  void *line = f->line, *sample = f->sample, *value = f->value;
  lapis_status s = base_grow(l->ctx, &line, f->count, room, sizeof *f->line);
  if (s >= 0) s = base_grow(l->ctx, &sample, f->count, room, sizeof *f->sample);
  if (s >= 0) s = base_grow(l->ctx, &value, f->count, room, sizeof *f->value);
  f->line = line;
  f->sample = sample;
  f->value = value;
  if (s >= 0) f->room = room;
  return s;
}

/* Entries from .. from + n - 1 of the file; *at: the line of the first. */
static lapis_status look_through(const io_lists *l, const samples *w,
                                 const int64_t *ptr, int64_t from, int64_t n,
                                 const int64_t *place, int64_t *at, found *f)
{
  lapis_array data = {.kind = IO_NONE};
  int64_t low = n, high = -1, before = f->count;
  TRY(make_room(l, f, n));
  for (int64_t k = 0; k < n; k++) {
    while (ptr[*at + 1] <= from + k) ++*at;
    if (place[k] < 0 || place[k] >= l->samples)
      return lapis_fail(l->ctx, LAPIS_EFORMAT,
                        "%s: has an entry of sample %" PRId64
                        ", counted from 0, and %" PRId64 " samples",
                        l->what, place[k], l->samples);
    if (place[k] < w->first || place[k] >= w->first + w->count) continue;
    if (high < 0) low = k;
    high = k;
    f->line[f->count] = *at;
    f->sample[f->count] = place[k] - w->first;
    f->value[f->count++] = (double)k; /* until its value is read */
  }
  if (high < 0) return LAPIS_OK;
  TRY(l->read(l->self, l->data, false, from + low, high - low + 1, &data));
  for (int64_t e = before; e < f->count; e++)
    f->value[e] = lapis_mat_at(&data.mat, 0, (int64_t)f->value[e] - low);
  lapis_array_free(&data);
  return LAPIS_OK;
}

static lapis_status read_places(const io_lists *l, const samples *w,
                                const int64_t *ptr, lapis_array *out)
{
  found f = {.count = 0};
  int64_t all = ptr[l->features], at = 0;
  lapis_status s = make_room(l, &f, 0);
  for (int64_t from = 0; s >= 0 && from < all; from += AT_ONCE) {
    lapis_array place = {.kind = IO_NONE};
    int64_t n = all - from < AT_ONCE ? all - from : AT_ONCE;
    s = l->read(l->self, l->at, true, from, n, &place);
    if (s >= 0) s = look_through(l, w, ptr, from, n, place.mat.val, &at, &f);
    lapis_array_free(&place);
  }
  io_triplets t = {.rows = l->features,
                   .cols = w->count,
                   .nnz = f.count,
                   .row = f.line,
                   .col = f.sample,
                   .value = f.value};
  if (s >= 0) s = io_sparse_build(l->ctx, l->what, &t, out);
  base_free(f.line);
  base_free(f.sample);
  base_free(f.value);
  return s;
}

/* ---- both ---------------------------------------------------------------*/
lapis_status io_sparse_lists(const io_lists *l, const io_share *share,
                             const char *name, lapis_array *out)
{
  lapis_array list = {.kind = IO_NONE};
  io_lists own = *l;
  TRY(l->read(l->self, l->ptr, true, 0, -1, &list));
  if (own.features < 0) own.features = length(&list) - 1;
  const int64_t *ptr = list.mat.val;
  samples w;
  bool some = io_share_of(share, name, own.samples, &w.first, &w.count);
  lapis_status s = some ? check_pointers(&own, &list) : LAPIS_OK;
  if (s >= 0 && !some)
    s = read_lists(&own, own.samples, length(&list), ptr, 0, -1, out);
  else if (s >= 0)
    s = own.by_sample ? read_lines(&own, &w, ptr, out)
                      : read_places(&own, &w, ptr, out);
  if (s >= 0) out->shape[0] = own.samples;
  lapis_array_free(&list);
  return s;
}
