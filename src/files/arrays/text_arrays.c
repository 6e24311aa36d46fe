/* text_arrays.c - arrays of texts and of numbers, of what a file has. */
#include <string.h>

#include "files/io.h"

static void set_matrix(lapis_array *a, lapis_dtype dtype, int64_t rows,
                       int64_t cols)
{
  a->mat = (lapis_mat){.dtype = dtype,
                       .rows = rows,
                       .cols = cols,
                       .ld = rows > 0 ? rows : 1,
                       .val = a->memory};
  a->axes = 2;
  a->shape[0] = cols;
  a->shape[1] = rows;
}

lapis_status io_text_array(lapis_ctx *ctx, int64_t rows, int64_t cols,
                           int64_t bytes, lapis_array *out, char **pool)
{
  int64_t count = rows * cols;
  *out = (lapis_array){.kind = IO_HEAP};
  if (bytes > INT64_MAX / 2 || count > (INT64_MAX / 2) / 8)
    return lapis_fail(ctx, LAPIS_ENOMEM, "out of memory: %" PRId64 " texts",
                      count);
  out->bytes = (size_t)count * sizeof(char *) + (size_t)bytes;
  out->memory = base_alloc(ctx, (int64_t)out->bytes, 1);
  if (out->memory == NULL) return LAPIS_ENOMEM;
  set_matrix(out, LAPIS_TEXT, rows, cols);
  *pool = (char *)out->memory + (size_t)count * sizeof(char *);
  return LAPIS_OK;
}

/* size 0: pointers to texts, NULL for an empty one. */
static const char *text_at(const char *raw, size_t size, int64_t i,
                           size_t *length)
{
  const char *text = size == 0 ? ((char *const *)(const void *)raw)[i]
                               : raw + (size_t)i * size;
  if (text == NULL) text = "";
  *length = size == 0 ? strlen(text) : strnlen(text, size);
  return text;
}

lapis_status io_text_copy(lapis_ctx *ctx, const char *what, const char *raw,
                          size_t size, int64_t count, lapis_array *out)
{
  size_t length;
  int64_t bytes = 0;
  char *pool = NULL;
  for (int64_t i = 0; i < count; i++) {
    (void)text_at(raw, size, i, &length);
    bytes += (int64_t)length + 1;
  }
  TRY(io_text_array(ctx, 1, count, bytes, out, &pool));
  for (int64_t i = 0; pool != NULL && i < count; i++) {
    const char *text = text_at(raw, size, i, &length);
    memcpy(pool, text, length);
    pool[length] = '\0';
    ((const char **)out->mat.val)[i] = pool;
    if (utf8_length(pool) < 0) {
      lapis_array_free(out);
      return lapis_fail(ctx, LAPIS_EFORMAT,
                        "%s: holds text that is not UTF-8; save it as UTF-8 "
                        "(of Latin-1: iconv -f cp1252 -t utf-8 FILE >NEW)",
                        what);
    }
    pool += length + 1;
  }
  return LAPIS_OK;
}

lapis_status io_number_array(lapis_ctx *ctx, lapis_dtype dtype, int64_t rows,
                             int64_t cols, lapis_array *out)
{
  *out = (lapis_array){.kind = IO_HEAP};
  if (cols > 0 && rows > INT64_MAX / cols)
    return lapis_fail(ctx, LAPIS_ENOMEM,
                      "out of memory: %" PRId64 " x %" PRId64 " numbers", rows,
                      cols);
  out->memory = base_alloc(ctx, rows * cols, 8);
  if (out->memory == NULL) return LAPIS_ENOMEM;
  out->bytes = (size_t)(rows * cols) * 8;
  set_matrix(out, dtype, rows, cols);
  return LAPIS_OK;
}
