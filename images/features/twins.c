/* twins.c - images whose files have the same bytes, under several names. */
#include <stdlib.h>
#include <sys/stat.h>

#include "files/io.h"
#include "images/features/cache.h"

typedef struct file {
  int64_t image, size; /* size -1: nothing can be said of it */
  uint64_t id[2];
  bool read;
} file;

uint64_t image_hash(const void *bytes, int64_t rows, int64_t cols)
{
  lapis_mat view = lapis_mat_u8((unsigned char *)(uintptr_t)bytes, rows, cols);
  return lapis_mat_hash(&view);
}

lapis_status image_content(lapis_ctx *ctx, const char *path, uint64_t id[2])
{
  io_file f;
  TRY(io_file_bytes(ctx, path, &f));
  id[0] = image_hash(f.data, f.size, 1);
  id[1] = image_hash(f.data, 1, f.size);
  io_file_close(&f);
  return LAPIS_OK;
}

static int by_size(const void *a, const void *b)
{
  const file *x = a, *y = b;
  if (x->size != y->size) return x->size < y->size ? -1 : 1;
  return (x->image > y->image) - (x->image < y->image);
}

static int by_content(const void *a, const void *b)
{
  const file *x = a, *y = b;
  for (int k = 0; k < 2; k++)
    if (x->id[k] != y->id[k]) return x->id[k] < y->id[k] ? -1 : 1;
  return by_size(a, b);
}

static int64_t size_of(const char *path)
{
  struct stat st;
  bool plain = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
  return plain ? (int64_t)st.st_size : -1;
}

/* Only files of one size are read. */
static void find(lapis_ctx *ctx, const char *const *path, file *at,
                 int64_t count, int64_t *first)
{
  for (int64_t k = 0; k < count; k++)
    at[k].read = image_content(ctx, path[at[k].image], at[k].id) >= 0;
  qsort(at, (size_t)count, sizeof *at, by_content);
  for (int64_t k = 1; k < count; k++)
    if (at[k].read && at[k - 1].read && at[k].id[0] == at[k - 1].id[0] &&
        at[k].id[1] == at[k - 1].id[1])
      first[at[k].image] = first[at[k - 1].image];
}

lapis_status lapis_image_twins(lapis_ctx *ctx, const char *const *path,
                               int64_t count, int64_t *first)
{
  NEEDS(ctx, path, first);
  if (count < 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "images: their number is %" PRId64 "; it must be 0 or "
                      "more",
                      count);
  file *all = base_alloc(ctx, count + 1, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < count; i++) {
    all[i] = (file){.image = i, .size = size_of(path[i])};
    first[i] = i;
  }
  qsort(all, (size_t)count, sizeof *all, by_size);
  for (int64_t k = 0, end; k < count; k = end) {
    for (end = k; end < count && all[end].size == all[k].size;) end++;
    if (end - k > 1 && all[k].size > 0)
      find(ctx, path, all + k, end - k, first);
  }
  base_free(all);
  return LAPIS_OK;
}
