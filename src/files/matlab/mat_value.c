/* mat_value.c - what a MATLAB 5 variable holds: numbers, a sparse matrix,
 * text, or a cell array of texts.
 *
 * MATLAB stores a matrix column by column, which is a .npy file in Fortran
 * order, so numbers are read as such; a number may be stored in a smaller
 * type than the variable's. */
#include <stdio.h>
#include <string.h>

#include "files/matlab/matlab.h"
#include "mat/mat.h"

static lapis_status fail(const mat_variable *v, const char *what)
{
  return lapis_fail(v->rest.ctx, LAPIS_EFORMAT, "%s: %s", v->rest.what, what);
}

/* "<f8" of an element's type; "": it is no number. */
static const char *type_name(uint32_t type)
{
  static const char *const names[] = {
      [MI_INT8] = "|i1",   [MI_UINT8] = "|u1",  [MI_INT16] = "<i2",
      [MI_UINT16] = "<u2", [MI_INT32] = "<i4",  [MI_UINT32] = "<u4",
      [MI_SINGLE] = "<f4", [MI_DOUBLE] = "<f8", [MI_INT64] = "<i8",
      [MI_UINT64] = "<u8"};
  size_t known = sizeof names / sizeof *names;
  return type < known && names[type] != NULL ? names[type] : "";
}

static const char *class_name(const mat_variable *v)
{
  static const char *const names[] = {"double", "single", "int8",  "uint8",
                                      "int16",  "uint16", "int32", "uint32",
                                      "int64",  "uint64"};
  if (v->logical) return "logical";
  return v->class >= MX_DOUBLE && v->class <= MX_UINT64
             ? names[v->class - MX_DOUBLE]
             : "";
}

/* Values that lie in bytes which will go get memory of their own. */
static lapis_status own(lapis_ctx *ctx, lapis_array *a, int64_t bytes)
{
  if (a->kind != IO_BORROWED) return LAPIS_OK;
  void *copy = base_alloc_raw(ctx, bytes, 1);
  if (copy == NULL) return LAPIS_ENOMEM;
  memcpy(copy, a->mat.val, (size_t)bytes);
  a->mat.val = a->memory = copy;
  a->bytes = (size_t)bytes;
  a->kind = IO_HEAP;
  return LAPIS_OK;
}

/* The next element as an array of this shape, first axis fastest. */
static lapis_status numbers(mat_variable *v, int axes, const int64_t *shape,
                            int64_t count, lapis_array *out)
{
  mat_element e;
  TRY(mat_next(&v->rest, &e));
  const char *type = type_name(e.type);
  *out = (lapis_array){.kind = IO_NONE};
  if (*type == '\0') return fail(v, "holds no numbers where they should be");
  npy_header h = {.kind = type[1],
                  .item = type[2] - '0',
                  .big = v->rest.big && type[2] != '1',
                  .fortran = true,
                  .axes = axes,
                  .count = count};
  (void)snprintf(h.descr, sizeof h.descr, "%s", type);
  for (int i = 0; i < axes; i++) h.shape[i] = shape[i];
  if (e.size % h.item != 0 || e.size / h.item != count)
    return lapis_fail(v->rest.ctx, LAPIS_EFORMAT,
                      "%s: has %" PRId64 " bytes of numbers, its %" PRId64
                      " entries need %" PRId64,
                      v->rest.what, e.size, count, count * h.item);
  io_source s = io_source_memory(v->rest.ctx, v->rest.what, e.data, e.size);
  TRY(npy_data_read(&s, &h, out));
  lapis_status status = own(v->rest.ctx, out, e.size);
  if (status < 0) *out = (lapis_array){.kind = IO_NONE};
  return status;
}

/* An entry a list of integers has room for; as many as the element has. */
static lapis_status integers(mat_variable *v, lapis_array *out)
{
  mat_bytes peek = v->rest;
  mat_element e;
  TRY(mat_next(&peek, &e));
  if (e.type != MI_INT32 && e.type != MI_UINT32)
    return fail(v, "its sparse indices are not integers");
  int64_t count = e.size / 4;
  return numbers(v, 1, &count, count, out);
}

/* ---- sparse -------------------------------------------------------------*/
/* ir: sample of each entry, jc: where each feature begins, pr: values; ir and
 * pr may be longer than what jc uses. */
static lapis_status sparse_from(mat_variable *v, const lapis_mat *ir,
                                const lapis_mat *jc, const lapis_array *pr,
                                lapis_array *out)
{
  lapis_ctx *ctx = v->rest.ctx;
  int64_t d = v->shape[1];
  int64_t nnz = jc->cols == d + 1 ? ((const int64_t *)jc->val)[d] : -1;
  if (nnz < 0 || nnz > ir->cols || nnz > pr->mat.cols)
    return fail(v, "its sparse columns do not match its shape or its entries");
  double *value = base_alloc_raw(ctx, nnz, sizeof *value);
  if (value == NULL) return LAPIS_ENOMEM;
  lapis_mat used = pr->mat;
  used.cols = nnz;
  mat_to_f64(&used, value, 1);
  io_compressed c = {.samples = v->shape[0],
                     .features = d,
                     .nnz = nnz,
                     .n_ptr = jc->cols,
                     .ptr = jc->val,
                     .at = ir->val,
                     .value = value};
  lapis_status status = io_sparse_compressed(ctx, v->rest.what, &c, out);
  base_free(value);
  return status;
}

static lapis_status sparse(mat_variable *v, lapis_array *out)
{
  lapis_array ir = {.kind = IO_NONE}, jc = ir, pr = ir;
  mat_element e;
  if (v->axes != 2) return fail(v, "is sparse of more than two dimensions");
  lapis_status status = integers(v, &ir);
  if (status == LAPIS_OK) status = integers(v, &jc);
  mat_bytes peek = v->rest;
  if (status == LAPIS_OK) status = mat_next(&peek, &e);
  if (status == LAPIS_OK) {
    const char *type = type_name(e.type);
    int64_t count = *type == '\0' ? 0 : e.size / (type[2] - '0');
    status = numbers(v, 1, &count, count, &pr);
  }
  if (status == LAPIS_OK) status = sparse_from(v, &ir.mat, &jc.mat, &pr, out);
  lapis_array_free(&ir);
  lapis_array_free(&jc);
  lapis_array_free(&pr);
  return status;
}

/* ---- text ---------------------------------------------------------------*/
static uint32_t unit(const mat_bytes *b, const mat_element *e, int64_t i)
{
  bool wide = e->type == MI_UINT16 || e->type == MI_UTF16;
  if (!wide) return e->data[i];
  const unsigned char *at = e->data + 2 * i;
  return b->big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

static int64_t unit_count(const mat_element *e)
{
  bool wide = e->type == MI_UINT16 || e->type == MI_UTF16;
  return wide ? e->size / 2 : e->size;
}

/* Row i of a rows x cols character matrix as UTF-8, blanks at its end gone; to
 * has room for 3 bytes a character and a NUL.  NULL: it is no text. */
static char *copy_row(const mat_bytes *b, const mat_element *e, int64_t i,
                      int64_t rows, int64_t cols, char *to)
{
  char *end = to;
  bool bytes = e->type == MI_UTF8;
  for (int64_t j = 0; j < cols; j++) {
    uint32_t code = unit(b, e, j * rows + i);
    if (code >= 0xd800 && code < 0xdc00 && j + 1 < cols) {
      uint32_t low = unit(b, e, ++j * rows + i);
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    int n = 1;
    if (bytes)
      *to = (char)code;
    else
      n = utf8_encode(code, to);
    if (n == 0 || code == 0) return NULL;
    to += n;
    if (code != ' ') end = to;
  }
  *end = '\0';
  return end + 1;
}

typedef struct mat_text {
  mat_element e;
  int64_t rows, cols;
} mat_text;

static lapis_status take_text(mat_variable *v, mat_text *t)
{
  TRY(mat_next(&v->rest, &t->e));
  uint32_t type = t->e.type;
  t->rows = v->shape[0];
  t->cols = v->shape[0] > 0 ? v->count / v->shape[0] : 0;
  if (t->cols == 0) t->rows = 0;
  bool known = type == MI_UINT16 || type == MI_UTF16 || type == MI_UTF8 ||
               type == MI_INT8 || type == MI_UINT8;
  if (!known) return fail(v, "its text is in no known encoding");
  /* UTF-8 has more bytes than characters, in one row. */
  if (type == MI_UTF8 && t->rows == 1) t->cols = unit_count(&t->e);
  if (unit_count(&t->e) == t->rows * t->cols) return LAPIS_OK;
  return fail(v, "its text does not match its shape");
}

static lapis_status characters(mat_variable *v, lapis_array *out)
{
  mat_text t;
  char *pool;
  TRY(take_text(v, &t));
  TRY(io_text_array(v->rest.ctx, 1, t.rows, t.rows * (3 * t.cols + 1), out,
                    &pool));
  for (int64_t i = 0; i < t.rows; i++) {
    ((const char **)out->mat.val)[i] = pool;
    pool = copy_row(&v->rest, &t.e, i, t.rows, t.cols, pool);
    if (pool == NULL || utf8_length(((const char **)out->mat.val)[i]) < 0) {
      lapis_array_free(out);
      return fail(v, "holds text that is not Unicode");
    }
  }
  return LAPIS_OK;
}

/* The texts of a cell array: how many bytes, or (pool not NULL) themselves.
 * *plain false: a cell holds something else. */
static lapis_status walk_cells(const mat_variable *v, int64_t *bytes,
                               const char **text, char *pool, bool *plain)
{
  mat_bytes b = v->rest;
  *bytes = 0;
  *plain = true;
  for (int64_t i = 0; i < v->count && *plain; i++) {
    mat_element e;
    mat_variable cell;
    mat_text t = {.rows = 0};
    TRY(mat_next(&b, &e));
    if (e.type != MI_MATRIX)
      return fail(v, "has a cell that is not a variable");
    if (e.size > 0) TRY(mat_head(&b, &e, &cell));
    bool empty = e.size == 0 || cell.count == 0;
    *plain = empty || (cell.class == MX_CHAR && cell.shape[0] == 1);
    if (!*plain) break;
    if (!empty) TRY(take_text(&cell, &t));
    *bytes += 3 * t.cols + 1;
    if (pool == NULL) continue;
    text[i] = pool;
    char *end = pool + 1;
    *pool = '\0';
    if (!empty) end = copy_row(&b, &t.e, 0, 1, t.cols, pool);
    if (end == NULL || utf8_length(pool) < 0)
      return fail(v, "holds text that is not Unicode");
    pool = end;
  }
  return LAPIS_OK;
}

static lapis_status cells(mat_variable *v, lapis_array *out, bool *skipped)
{
  int64_t bytes;
  bool plain;
  char *pool;
  if (v->count > v->rest.end - v->rest.at)
    return fail(v, "claims more cells than it has bytes");
  TRY(walk_cells(v, &bytes, NULL, NULL, &plain));
  *skipped = !plain;
  if (!plain) return LAPIS_OK;
  TRY(io_text_array(v->rest.ctx, 1, v->count, bytes, out, &pool));
  lapis_status status = walk_cells(v, &bytes, out->mat.val, pool, &plain);
  if (status < 0) lapis_array_free(out);
  return status;
}

/* ---- any variable -------------------------------------------------------*/
static void make_flat(lapis_array *a, const char *stored)
{
  (void)snprintf(a->stored, sizeof a->stored, "%s", stored);
  if (a->mat.dtype != LAPIS_TEXT) return;
  a->axes = 1;
  a->shape[0] = a->mat.cols;
}

lapis_status mat_value(mat_variable *v, lapis_array *out, bool *skipped)
{
  *skipped = false;
  if (v->complex)
    return fail(v, "is complex; real numbers are read: save real and imaginary "
                   "parts separately");
  if (v->class == MX_SPARSE) return sparse(v, out);
  if (v->class >= MX_DOUBLE && v->class <= MX_UINT64) {
    TRY(numbers(v, v->axes, v->shape, v->count, out));
    make_flat(out, class_name(v));
    return LAPIS_OK;
  }
  if (v->class != MX_CHAR && v->class != MX_CELL) {
    *skipped = true; /* a struct, a function, an object */
    return LAPIS_OK;
  }
  TRY(v->class == MX_CHAR ? characters(v, out) : cells(v, out, skipped));
  if (!*skipped) make_flat(out, v->class == MX_CHAR ? "char" : "cell");
  return LAPIS_OK;
}
