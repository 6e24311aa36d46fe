/* mat_write.c - MATLAB 5 files: a row a sample, texts as cell arrays, sparse
 * matrices as such.  Not compressed: equal data give equal files. */
#include <stdio.h>
#include <string.h>

#include "files/matlab/matlab.h"

enum { HEAD_TEXT = 116 };
static const int64_t LARGEST = INT32_MAX; /* bytes of a variable */

static void put_word(io_print *p, int64_t value)
{
  uint32_t v = (uint32_t)value;
  unsigned char bytes[4] = {(unsigned char)v, (unsigned char)(v >> 8),
                            (unsigned char)(v >> 16), (unsigned char)(v >> 24)};
  io_put(p, (const char *)bytes, 4);
}

static void put_tag(io_print *p, uint32_t type, int64_t size)
{
  put_word(p, type);
  put_word(p, size);
}

static void put_padding(io_print *p, int64_t size)
{
  io_put(p, "\0\0\0\0\0\0\0", -size & 7);
}

static int64_t padded(int64_t size)
{
  return 8 + (size + 7) / 8 * 8;
}

/* Flags, shape and name, as every variable has them. */
static int64_t head_bytes(const char *name)
{
  return 16 + 16 + padded((int64_t)strlen(name));
}

typedef struct head {
  int class;
  const char *name;
  int64_t rows, cols, body; /* body: bytes behind the head */
  int64_t nzmax;
} head;

static void put_head(io_print *p, head h)
{
  int64_t size = (int64_t)strlen(h.name);
  put_tag(p, MI_MATRIX, head_bytes(h.name) + h.body);
  put_tag(p, MI_UINT32, 8);
  put_word(p, h.class);
  put_word(p, h.nzmax);
  put_tag(p, MI_INT32, 8);
  put_word(p, h.rows);
  put_word(p, h.cols);
  put_tag(p, MI_INT8, size);
  io_put(p, h.name, size);
  put_padding(p, size);
}

/* ---- numbers ------------------------------------------------------------*/
typedef struct number_type {
  int class;
  uint32_t type;
  int64_t size;
} number_type;

static number_type type_of(lapis_dtype t)
{
  static const number_type types[] = {
      [LAPIS_F64] = {MX_DOUBLE, MI_DOUBLE, 8},
      [LAPIS_F32] = {MX_SINGLE, MI_SINGLE, 4},
      [LAPIS_I64] = {MX_UINT64 - 1, MI_INT64, 8},
      [LAPIS_U8] = {MX_INT8 + 1, MI_UINT8, 1}};
  return types[t];
}

/* Feature by feature: samples run fastest. */
static void put_numbers(io_print *p, const lapis_named *item)
{
  const lapis_mat *m = &item->mat;
  number_type t = type_of(m->dtype);
  int64_t size = m->rows * m->cols * t.size;
  put_head(p, (head){.class = t.class,
                     .name = item->name,
                     .rows = m->cols,
                     .cols = m->rows,
                     .body = padded(size)});
  put_tag(p, t.type, size);
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++)
      io_put(p, (const char *)m->val + (j * m->ld + i) * t.size, t.size);
  put_padding(p, size);
}

/* ---- sparse -------------------------------------------------------------*/
/* Column by column of (samples x features): ours, transposed. */
static lapis_status put_sparse(lapis_ctx *ctx, io_print *p,
                               const lapis_named *item)
{
  const lapis_mat *m = &item->mat;
  int64_t nnz = io_count_stored(m), d = m->rows;
  lapis_array turned;
  TRY(io_sparse_transpose(ctx, item->name, m, &turned));
  const int64_t *ptr = turned.mat.colptr;
  int64_t body = padded(4 * nnz) + padded(4 * (d + 1)) + padded(8 * nnz);
  put_head(p, (head){.class = MX_SPARSE,
                     .name = item->name,
                     .rows = m->cols,
                     .cols = d,
                     .body = body,
                     .nzmax = nnz > 0 ? nnz : 1});
  put_tag(p, MI_INT32, 4 * nnz);
  for (int64_t k = 0; k < nnz; k++) put_word(p, turned.mat.rowidx[k]);
  put_padding(p, 4 * nnz);
  put_tag(p, MI_INT32, 4 * (d + 1));
  for (int64_t i = 0; i <= d; i++) put_word(p, ptr[i]);
  put_padding(p, 4 * (d + 1));
  put_tag(p, MI_DOUBLE, 8 * nnz);
  io_put(p, turned.mat.val, 8 * nnz);
  lapis_array_free(&turned);
  return LAPIS_OK;
}

/* ---- text ---------------------------------------------------------------*/
static const char *text_at(const lapis_mat *m, int64_t i)
{
  const char *s = ((const char *const *)m->val)[i * m->ld];
  return s == NULL ? "" : s;
}

/* UTF-16 units of a text, into the file where p is not NULL. */
static int64_t put_units(io_print *p, const char *text)
{
  const char *end = text + strlen(text);
  int64_t count = 0;
  while (text < end) {
    uint32_t code, unit[2];
    int length = utf8_decode(text, end, &code), n = 1;
    if (length == 0) return -1;
    text += length;
    unit[0] = code;
    if (code > 0xffff) {
      unit[0] = 0xd800 + ((code - 0x10000) >> 10);
      unit[1] = 0xdc00 + ((code - 0x10000) & 0x3ff);
      n = 2;
    }
    for (int i = 0; i < n && p != NULL; i++)
      io_put(p, (char[]){(char)(unit[i] & 0xff), (char)(unit[i] >> 8)}, 2);
    count += n;
  }
  return count;
}

static int64_t cell_bytes(const char *text)
{
  return 8 + head_bytes("") + padded(2 * put_units(NULL, text));
}

static void put_texts(io_print *p, const lapis_named *item)
{
  const lapis_mat *m = &item->mat;
  int64_t body = 0;
  for (int64_t j = 0; j < m->cols; j++) body += cell_bytes(text_at(m, j));
  put_head(p, (head){.class = MX_CELL,
                     .name = item->name,
                     .rows = m->cols,
                     .cols = 1,
                     .body = body});
  for (int64_t j = 0; j < m->cols; j++) {
    const char *text = text_at(m, j);
    int64_t units = put_units(NULL, text);
    put_head(p, (head){.class = MX_CHAR,
                       .name = "",
                       .rows = units > 0,
                       .cols = units,
                       .body = padded(2 * units)});
    put_tag(p, MI_UTF16, 2 * units);
    (void)put_units(p, text);
    put_padding(p, 2 * units);
  }
}

/* ---- all ----------------------------------------------------------------*/
static lapis_status check_text(lapis_ctx *ctx, const char *path,
                               const lapis_named *item, int64_t *bytes)
{
  if (item->mat.rows > 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: %s: a list of texts is needed, not a table", path,
                      item->name);
  for (int64_t j = 0; j < item->mat.cols; j++) {
    const char *text = text_at(&item->mat, j);
    if (put_units(NULL, text) < 0)
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "%s: %s: text is not UTF-8; write it as UTF-8", path,
                        item->name);
    *bytes += cell_bytes(text);
  }
  return LAPIS_OK;
}

static lapis_status check_item(lapis_ctx *ctx, const char *path,
                               const lapis_named *item)
{
  const lapis_mat *m = &item->mat;
  int64_t bytes = 0, entries = m->rows * m->cols;
  if (m->dtype == LAPIS_TEXT)
    TRY(check_text(ctx, path, item, &bytes));
  else if (m->colptr != NULL)
    bytes = 12 * io_count_stored(m) + 4 * m->rows;
  else
    bytes = entries * type_of(m->dtype).size;
  if (strlen(item->name) > 63)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: a variable's name has at most 63 bytes, not %s",
                      path, item->name);
  if (bytes < LARGEST - 4096 && m->rows < INT32_MAX && m->cols < INT32_MAX)
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "%s: %s has %.3g GB; a MATLAB 5 file holds less than 2 GB "
                    "in a variable: write it --as mat73, or .h5",
                    path, item->name, (double)bytes / 1e9);
}

static lapis_status put_item(lapis_ctx *ctx, io_print *p,
                             const lapis_named *item)
{
  if (item->mat.colptr != NULL) return put_sparse(ctx, p, item);
  if (item->mat.dtype == LAPIS_TEXT)
    put_texts(p, item);
  else
    put_numbers(p, item);
  return LAPIS_OK;
}

lapis_status mat_write(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count)
{
  io_print p;
  char text[HEAD_TEXT + 13];
  for (int i = 0; i < count; i++) TRY(check_item(ctx, path, &item[i]));
  TRY(io_print_begin(ctx, path, &p));
  (void)snprintf(text, sizeof text, "%-*s", HEAD_TEXT + 8,
                 "MATLAB 5.0 MAT-file, written by LAPIS");
  memset(text + HEAD_TEXT, 0, 8);
  io_put(&p, text, HEAD_TEXT + 8);
  io_put(&p, "\x00\x01IM", 4);
  for (int i = 0; i < count && p.status == LAPIS_OK; i++) {
    lapis_status s = put_item(ctx, &p, &item[i]);
    if (p.status == LAPIS_OK) p.status = s; /* else what a write says */
  }
  return io_print_end(&p);
}
