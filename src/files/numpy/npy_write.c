/* npy_write.c - the bytes of a .npy file, made as they are asked for.
 *
 * The header is numpy's: version 1 up to 65535 bytes of dictionary, 2 beyond,
 * padded so that the data begin at a multiple of 64.  Column by column our
 * memory is C order, so entries are copied as they lie; only text is encoded,
 * one entry at a time. */
#include <stdio.h>
#include <string.h>

#include "files/io.h"
#include "mat/mat.h"

enum { DICTIONARY_BYTES = 384, COPY_BYTES = 1 << 16 };

static const char *label(const lapis_named *item)
{
  return item->name == NULL ? "array" : item->name;
}

/* Longest text in characters, at least 1. */
static lapis_status text_width(lapis_ctx *ctx, const char *path,
                               const lapis_named *item, int64_t *width)
{
  const lapis_mat *m = &item->mat;
  *width = 1;
  for (int64_t j = 0; j < m->cols; j++)
    for (int64_t i = 0; i < m->rows; i++) {
      const char *text = ((const char *const *)m->val)[j * m->ld + i];
      int64_t length = text == NULL ? 0 : utf8_length(text);
      if (length < 0)
        return lapis_fail(ctx, LAPIS_EINVAL,
                          "%s: member %s: text is not UTF-8; write it as UTF-8",
                          path, label(item));
      if (length > *width) *width = length;
    }
  return LAPIS_OK;
}

static lapis_status describe(lapis_ctx *ctx, const char *path,
                             const lapis_named *item, char *descr, size_t size,
                             int64_t *entry)
{
  static const char *const fixed[] = {[LAPIS_F64] = "<f8",
                                      [LAPIS_F32] = "<f4",
                                      [LAPIS_I64] = "<i8",
                                      [LAPIS_U8] = "|u1"};
  if (item->mat.dtype == LAPIS_TEXT) {
    int64_t width;
    TRY(text_width(ctx, path, item, &width));
    (void)snprintf(descr, size, "<U%" PRId64, width);
    *entry = 4 * width;
    return LAPIS_OK;
  }
  (void)snprintf(descr, size, "%s", fixed[item->mat.dtype]);
  *entry = descr[2] - '0';
  return LAPIS_OK;
}

/* The shape to be written into shape, whose product must be the matrix's. */
static lapis_status choose_shape(lapis_ctx *ctx, const char *path,
                                 const lapis_named *item, int *axes,
                                 int64_t *shape)
{
  const lapis_mat *m = &item->mat;
  *axes = item->axes > 0 ? item->axes : item->flat ? 1 : 2;
  shape[0] = m->cols;
  shape[1] = m->rows;
  if (item->axes == 0 && item->flat) shape[0] = m->cols * m->rows;
  if (item->axes == 0) return LAPIS_OK;
  int64_t product = 1;
  for (int i = 0; i < item->axes && i < LAPIS_MAX_AXES; i++) {
    shape[i] = item->shape[i];
    bool fine =
        shape[i] >= 0 && (shape[i] == 0 || product <= INT64_MAX / shape[i]);
    product = fine ? product * shape[i] : -1;
    if (!fine) break;
  }
  if (item->axes > LAPIS_MAX_AXES || product != m->rows * m->cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: member %s: the shape asked for does not have the "
                      "%" PRId64 " x %" PRId64 " entries of the matrix",
                      path, label(item), m->rows, m->cols);
  return LAPIS_OK;
}

static lapis_status check_matrix(lapis_ctx *ctx, const char *path,
                                 const lapis_named *item)
{
  const lapis_mat *m = &item->mat;
  if (m->colptr != NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: member %s: is sparse; a dense matrix is needed",
                      path, label(item));
  if (m->rows < 0 || m->cols < 0 || item->axes < 0 || m->ld < m->rows)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: member %s: is %" PRId64 " x %" PRId64
                      " with ld %" PRId64,
                      path, label(item), m->rows, m->cols, m->ld);
  if ((int)m->dtype < LAPIS_F64 || m->dtype > LAPIS_TEXT)
    return lapis_fail(ctx, LAPIS_EINVAL, "%s: member %s: has no known type",
                      path, label(item));
  if (item->flat && item->axes == 0 && m->rows != 1 && m->cols != 0)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: member %s: a flat array needs one row, not %" PRId64,
                      path, label(item), m->rows);
  return LAPIS_OK;
}

/* {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } */
static int64_t print_dictionary(const char *descr, int axes,
                                const int64_t *shape, char *to)
{
  int at =
      snprintf(to, DICTIONARY_BYTES,
               "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int i = 0; i < axes; i++)
    at += snprintf(to + at, (size_t)(DICTIONARY_BYTES - at), "%" PRId64 "%s",
                   shape[i],
                   i + 1 < axes ? ", "
                   : axes == 1  ? ","
                                : "");
  at += snprintf(to + at, (size_t)(DICTIONARY_BYTES - at), "), }");
  return at;
}

/* 8 axes of 20 digits fit version 1 many times over. */
static lapis_status make_header(lapis_ctx *ctx, const char *dictionary,
                                int64_t size, npy_stream *out)
{
  int64_t total = (10 + size + 1 + 63) / 64 * 64, length = total - 10;
  out->header = base_alloc_raw(ctx, total, 1);
  if (out->header == NULL) return LAPIS_ENOMEM;
  memcpy(out->header, "\x93NUMPY\x01\x00", 8);
  out->header[8] = (char)(length & 0xff);
  out->header[9] = (char)(length >> 8);
  memcpy(out->header + 10, dictionary, (size_t)size);
  memset(out->header + 10 + size, ' ', (size_t)(length - size - 1));
  out->header[total - 1] = '\n';
  out->header_size = total;
  return LAPIS_OK;
}

lapis_status npy_stream_open(lapis_ctx *ctx, const char *path,
                             const lapis_named *item, npy_stream *out)
{
  char descr[24], dictionary[DICTIONARY_BYTES];
  int axes;
  int64_t shape[LAPIS_MAX_AXES];
  *out = (npy_stream){.item = item, .scratch_index = -1};
  TRY(check_matrix(ctx, path, item));
  TRY(choose_shape(ctx, path, item, &axes, shape));
  TRY(describe(ctx, path, item, descr, sizeof descr, &out->entry));
  int64_t size = print_dictionary(descr, axes, shape, dictionary);
  TRY(make_header(ctx, dictionary, size, out));
  out->total = out->header_size + item->mat.rows * item->mat.cols * out->entry;
  if (item->mat.dtype != LAPIS_TEXT) return LAPIS_OK;
  out->scratch = base_alloc(ctx, out->entry, 1);
  if (out->scratch == NULL) npy_stream_close(out);
  return out->scratch == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

void npy_stream_close(npy_stream *s)
{
  base_free(s->header);
  base_free(s->scratch);
  s->header = s->scratch = NULL;
}

/* Text index of the matrix, column by column, as padded UCS-4. */
static void encode_entry(npy_stream *s, int64_t index)
{
  const lapis_mat *m = &s->item->mat;
  int64_t place = index / m->rows * m->ld + index % m->rows;
  const char *text = ((const char *const *)m->val)[place];
  memset(s->scratch, 0, (size_t)s->entry);
  const char *end = text == NULL ? text : text + strlen(text);
  for (char *to = s->scratch; text < end; to += 4) {
    uint32_t code;
    text += utf8_decode(text, end, &code); /* checked by text_width */
    memcpy(to, &code, 4);
  }
  s->scratch_index = index;
}

/* The longest run of ready bytes at offset `at` of the data. */
static const char *ready_bytes(npy_stream *s, int64_t at, int64_t *size)
{
  const lapis_mat *m = &s->item->mat;
  if (m->dtype == LAPIS_TEXT) {
    int64_t index = at / s->entry, within = at % s->entry;
    if (index != s->scratch_index) encode_entry(s, index);
    *size = s->entry - within;
    return s->scratch + within;
  }
  int64_t column = m->rows * s->entry, j = at / column, within = at % column;
  *size = column - within;
  return (const char *)m->val + j * m->ld * s->entry + within;
}

int64_t npy_stream_read(npy_stream *s, void *to, int64_t size)
{
  int64_t done = 0;
  while (done < size && s->at < s->total) {
    int64_t run = s->header_size - s->at;
    const char *from = s->header + s->at;
    if (run <= 0) from = ready_bytes(s, s->at - s->header_size, &run);
    if (run > size - done) run = size - done;
    memcpy((char *)to + done, from, (size_t)run);
    s->at += run;
    done += run;
  }
  return done;
}

static lapis_status write_stream(io_out *o, npy_stream *s)
{
  char *block = base_alloc_raw(o->ctx, COPY_BYTES, 1);
  if (block == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  int64_t got;
  while (status == LAPIS_OK &&
         (got = npy_stream_read(s, block, COPY_BYTES)) > 0) {
    status = base_write_on(o->ctx, io_name(o->path));
    if (status == LAPIS_OK) status = io_out_write(o, block, got);
  }
  base_free(block);
  return status;
}

lapis_status io_npy_write(lapis_ctx *ctx, const char *path,
                          const lapis_named *item)
{
  NEEDS(ctx, path, item);
  if (item->mat.colptr == NULL)
    TRY(mat_check_view(ctx, path, "the array", &item->mat));
  io_out o;
  npy_stream s;
  TRY(npy_stream_open(ctx, path, item, &s));
  lapis_status status = io_out_begin(ctx, path, &o);
  if (status == LAPIS_OK) status = io_out_end(&o, write_stream(&o, &s));
  npy_stream_close(&s);
  return status;
}
