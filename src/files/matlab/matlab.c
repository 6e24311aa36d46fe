/* matlab.c - MATLAB 5 files: elements, compressed or not, and variables' heads.
 *
 * A file is 128 bytes of text, version and byte order, then elements: type,
 * size, bytes, padded to 8.  A variable is a matrix element made of elements,
 * or the same compressed.  A size is believed only as far as there are bytes;
 * a compressed variable grows as it is unpacked, never beyond what deflate
 * can make of its bytes. */
#include <stdio.h>
#include <zlib.h>

#include "files/matlab/matlab.h"

enum { HEAD_BYTES = 128, CHUNK = 1 << 16 };

/* ---- compressed ---------------------------------------------------------*/
static lapis_status fail_packed(const mat_bytes *b, const char *why)
{
  return lapis_fail(
      b->ctx, LAPIS_EFORMAT,
      "%s: a variable cannot be unpacked: %s; write the file again", b->what,
      why);
}

/* Unpacks until the stream ends; *out grows with what comes. */
static lapis_status inflate_all(const mat_bytes *b, z_stream *z, void **out,
                                int64_t *size)
{
  int64_t capacity = 0;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    if (*size == capacity) {
      int64_t more = capacity == 0 ? CHUNK : 2 * capacity;
      TRY(base_grow(b->ctx, out, *size, more, 1));
      capacity = more;
    }
    int64_t room = capacity - *size;
    z->next_out = (unsigned char *)*out + *size;
    z->avail_out = (uInt)(room < (1 << 30) ? room : 1 << 30);
    uInt before = z->avail_out;
    code = inflate(z, Z_NO_FLUSH);
    *size += before - z->avail_out;
    if (code == Z_MEM_ERROR)
      return lapis_fail(b->ctx, LAPIS_ENOMEM, "out of memory");
    if (code != Z_OK && code != Z_STREAM_END)
      return fail_packed(b, z->msg != NULL ? z->msg : "it is cut short");
  }
  return LAPIS_OK;
}

/* Memory is the caller's, also on failure. */
static lapis_status unpack(const mat_bytes *b, const mat_element *e, void **out,
                           int64_t *size)
{
  z_stream z = {.next_in = (unsigned char *)(uintptr_t)e->data,
                .avail_in = (uInt)e->size};
  *out = NULL;
  *size = 0;
  if (inflateInit(&z) != Z_OK)
    return lapis_fail(b->ctx, LAPIS_ENOMEM, "out of memory");
  lapis_status status = inflate_all(b, &z, out, size);
  (void)inflateEnd(&z);
  return status;
}

/* ---- a variable's head --------------------------------------------------*/

/* ---- all variables ------------------------------------------------------*/
typedef struct mat_job {
  lapis_ctx *ctx;
  const char *path;
  const io_request *request;
  lapis_arrays *out;
} mat_job;

static lapis_status take_variable(const mat_job *j, const mat_bytes *b,
                                  const mat_element *e)
{
  mat_variable v;
  char what[400];
  lapis_array a = {.kind = IO_NONE};
  bool skipped = false;
  if (e->type != MI_MATRIX) return LAPIS_OK; /* nothing of ours */
  TRY(mat_head(b, e, &v));
  if (v.name[0] == '\0') return LAPIS_OK; /* MATLAB's own */
  if (j->request->seen != NULL)
    TRY(io_note_seen(j->ctx, j->request->seen, v.name));
  if (!io_is_wanted(j->request->want, v.name)) return LAPIS_OK;
  if (lapis_arrays_find(j->out, v.name) != NULL)
    return lapis_fail(
        j->ctx, LAPIS_EFORMAT,
        "%s: has two variables named %s; write it again, with each name once",
        j->path, v.name);
  (void)snprintf(what, sizeof what, "%.150s: variable %.200s", j->path, v.name);
  v.rest.what = what;
  TRY(mat_value(&v, &a, &skipped));
  return skipped ? LAPIS_OK : io_arrays_add(j->ctx, j->out, v.name, &a);
}

static lapis_status take_packed(const mat_job *j, const mat_bytes *b,
                                const mat_element *e)
{
  void *memory;
  int64_t size;
  mat_element inner;
  lapis_status status = unpack(b, e, &memory, &size);
  mat_bytes all = *b;
  all.at = memory;
  all.end = all.at + size;
  if (status == LAPIS_OK) status = mat_next(&all, &inner);
  if (status == LAPIS_OK) status = take_variable(j, &all, &inner);
  base_free(memory);
  return status;
}

lapis_status mat_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                      lapis_arrays *out)
{
  mat_bytes b = {.ctx = ctx,
                 .what = io_name(f->path),
                 .at = f->data + HEAD_BYTES,
                 .end = f->data + f->size};
  mat_job j = {ctx, io_name(f->path), request, out};
  if (f->size < HEAD_BYTES)
    return lapis_fail(
        ctx, LAPIS_EFORMAT,
        "%s: is a MATLAB 5 file cut short within its head; write it again",
        b.what);
  b.big = f->data[126] == 'M' && f->data[127] == 'I';
  if (!b.big && (f->data[126] != 'I' || f->data[127] != 'M'))
    return lapis_fail(
        ctx, LAPIS_EFORMAT,
        "%s: is a MATLAB file that states no byte order; write it again",
        b.what);
  while (b.at < b.end) {
    mat_element e;
    TRY(mat_next(&b, &e));
    TRY(e.type == MI_COMPRESSED ? take_packed(&j, &b, &e)
                                : take_variable(&j, &b, &e));
  }
  return LAPIS_OK;
}
