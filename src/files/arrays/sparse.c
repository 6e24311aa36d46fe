/* sparse.c - compressed columns: made from what other programs store, and
 * read entry by entry whatever a matrix is.
 *
 * A column is a sample, so scipy's csr of (samples, features) is ours as it
 * lies.  What comes in another order is sorted by counting digits, first of
 * the feature, then of the sample: each pass keeps the order of the one
 * before, and the memory it takes does not depend on how large the matrix
 * claims to be. */
#include <stdio.h>
#include <string.h>

#include "files/io.h"
#include "mat/mat.h"

enum { MANY_SAMPLES = 1 << 24 };

lapis_status io_sparse_array(lapis_ctx *ctx, const char *what, int64_t rows,
                             int64_t cols, int64_t nnz, lapis_array *out)
{
  *out = (lapis_array){.kind = IO_HEAP, .axes = 2, .shape = {cols, rows}};
  if (rows > INT32_MAX)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: has %" PRId64 " features; a sparse matrix has at "
                      "most %d",
                      what, rows, INT32_MAX);
  double stored = 12.0 * (double)nnz, bytes = 8.0 * ((double)cols + 1) + stored;
  TRY(base_unfolds(ctx, what, bytes, stored)); /* samples may be declared */
  int64_t size = 8 * (cols + 1) + 12 * nnz;
  char *memory = base_alloc(ctx, size, 1);
  if (memory == NULL) return LAPIS_ENOMEM;
  out->memory = memory;
  out->bytes = (size_t)size;
  (void)snprintf(out->stored, sizeof out->stored, "sparse");
  out->mat =
      (lapis_mat){.dtype = LAPIS_F64,
                  .rows = rows,
                  .cols = cols,
                  .ld = rows > 0 ? rows : 1,
                  .val = memory + 8 * (cols + 1),
                  .colptr = (int64_t *)(void *)memory,
                  .rowidx = (int32_t *)(void *)(memory + 8 * (cols + 1 + nnz))};
  return LAPIS_OK;
}

/* ---- from any order -----------------------------------------------------*/
enum { DIGIT_BITS = 16, DIGITS = 1 << DIGIT_BITS };

/* order: entries sorted by one digit of key, equal ones as they were in
 * `from` (NULL: 0, 1, ...).  start has room for DIGITS + 1. */
static void sort_by_digit(const int64_t *key, int shift, int64_t nnz,
                          const int64_t *from, int64_t *start, int64_t *order)
{
  memset(start, 0, (DIGITS + 1) * sizeof *start);
  for (int64_t k = 0; k < nnz; k++)
    start[(key[k] >> shift & (DIGITS - 1)) + 1]++;
  for (int i = 0; i < DIGITS; i++) start[i + 1] += start[i];
  for (int64_t k = 0; k < nnz; k++) {
    int64_t entry = from == NULL ? k : from[k];
    order[start[key[entry] >> shift & (DIGITS - 1)]++] = entry;
  }
}

/* By row, then by column, digit by digit; returns the one of the two arrays
 * that holds the order. */
static int64_t *sort_entries(const io_triplets *t, int64_t *start, int64_t *one,
                             int64_t *other)
{
  const int64_t *keys[] = {t->row, t->col}, limits[] = {t->rows, t->cols};
  const int64_t *from = NULL;
  for (int i = 0; i < 2; i++)
    for (int shift = 0; shift == 0 || (limits[i] - 1) >> shift > 0;
         shift += DIGIT_BITS) {
      int64_t *to = from == one ? other : one;
      sort_by_digit(keys[i], shift, t->nnz, from, start, to);
      from = to;
    }
  return from == one ? one : other;
}

/* Entries in order into out, those at one place added up. */
static void fill_columns(const io_triplets *t, const int64_t *order,
                         lapis_array *out)
{
  int64_t *colptr = (int64_t *)(uintptr_t)out->mat.colptr, at = -1;
  int32_t *rowidx = (int32_t *)(uintptr_t)out->mat.rowidx;
  double *val = out->mat.val;
  int64_t col = -1, row = -1;
  for (int64_t k = 0; k < t->nnz; k++) {
    int64_t e = order[k];
    if (t->col[e] == col && t->row[e] == row) {
      val[at] += t->value[e];
      continue;
    }
    col = t->col[e];
    row = t->row[e];
    rowidx[++at] = (int32_t)row;
    val[at] = t->value[e];
    colptr[col + 1]++;
  }
  for (int64_t j = 0; j < t->cols; j++) colptr[j + 1] += colptr[j];
}

static lapis_status check_places(lapis_ctx *ctx, const char *what,
                                 const io_triplets *t)
{
  for (int64_t k = 0; k < t->nnz; k++)
    if (t->row[k] < 0 || t->row[k] >= t->rows || t->col[k] < 0 ||
        t->col[k] >= t->cols)
      return lapis_fail(ctx, LAPIS_EFORMAT,
                        "%s: entry %" PRId64 " lies at row %" PRId64
                        ", column %" PRId64 ", counted from 0, of a matrix of "
                        "%" PRId64 " x %" PRId64,
                        what, k + 1, t->col[k], t->row[k], t->cols, t->rows);
  return LAPIS_OK;
}

lapis_status io_sparse_build(lapis_ctx *ctx, const char *what,
                             const io_triplets *t, lapis_array *out)
{
  *out = (lapis_array){.kind = IO_NONE};
  TRY(check_places(ctx, what, t));
  /* A file's word alone is no reason to make room for empty samples. */
  if (t->cols > MANY_SAMPLES && t->cols / 64 > t->nnz)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: claims %" PRId64 " samples and has %" PRId64
                      " entries; leave the empty samples out",
                      what, t->cols, t->nnz);
  TRY(io_sparse_array(ctx, what, t->rows, t->cols, t->nnz, out));
  int64_t *work = base_alloc_raw(ctx, DIGITS + 1 + 2 * t->nnz, sizeof *work);
  if (work == NULL) {
    lapis_array_free(out);
    return LAPIS_ENOMEM;
  }
  int64_t *one = work + DIGITS + 1;
  fill_columns(t, sort_entries(t, work, one, one + t->nnz), out);
  base_free(work);
  return LAPIS_OK;
}

/* The line of each entry. */
static lapis_status lines_of(lapis_ctx *ctx, const char *what,
                             const int64_t *ptr, int64_t lines, int64_t nnz,
                             int64_t *line)
{
  for (int64_t i = 0; i < lines; i++) {
    if (ptr[i] < 0 || ptr[i + 1] < ptr[i] || ptr[i + 1] > nnz)
      return lapis_fail(ctx, LAPIS_EFORMAT,
                        "%s: its pointers do not rise from 0 to the %" PRId64
                        " entries: number %" PRId64 " is %" PRId64,
                        what, nnz, i + 2, ptr[i + 1]);
    for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) line[k] = i;
  }
  if (ptr[0] == 0 && ptr[lines] == nnz) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "%s: its pointers run from %" PRId64 " to %" PRId64
                    ", not from 0 to the %" PRId64 " entries",
                    what, ptr[0], ptr[lines], nnz);
}

lapis_status io_sparse_compressed(lapis_ctx *ctx, const char *what,
                                  const io_compressed *c, lapis_array *out)
{
  int64_t lines = c->by_sample ? c->samples : c->features;
  *out = (lapis_array){.kind = IO_NONE};
  if (c->samples < 0 || c->features < 0 || c->n_ptr != lines + 1)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: is sparse, %" PRId64 " x %" PRId64
                      ", and has %" PRId64 " pointers, not %" PRId64,
                      what, c->samples, c->features, c->n_ptr, lines + 1);
  int64_t *line = base_alloc_raw(ctx, c->nnz, sizeof *line);
  if (line == NULL) return LAPIS_ENOMEM;
  io_triplets t = {.rows = c->features,
                   .cols = c->samples,
                   .nnz = c->nnz,
                   .row = c->by_sample ? c->at : line,
                   .col = c->by_sample ? line : c->at,
                   .value = c->value};
  lapis_status status = lines_of(ctx, what, c->ptr, lines, c->nnz, line);
  if (status == LAPIS_OK) status = io_sparse_build(ctx, what, &t, out);
  base_free(line);
  return status;
}

lapis_status io_sparse_transpose(lapis_ctx *ctx, const char *what,
                                 const lapis_mat *A, lapis_array *out)
{
  int64_t nnz = io_count_stored(A), at = 0, row;
  double value;
  *out = (lapis_array){.kind = IO_NONE};
  int64_t *place = base_alloc_raw(ctx, 3 * nnz, sizeof *place);
  if (place == NULL) return LAPIS_ENOMEM;
  io_triplets t = {.rows = A->cols,
                   .cols = A->rows,
                   .nnz = nnz,
                   .row = place,
                   .col = place + nnz,
                   .value = (double *)(void *)(place + 2 * nnz)};
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t k = 0; io_next_stored(A, j, &k, &row, &value); at++) {
      place[at] = j;
      place[nnz + at] = row;
      ((double *)(void *)(place + 2 * nnz))[at] = value;
    }
  lapis_status status = io_sparse_build(ctx, what, &t, out);
  base_free(place);
  return status;
}

/* ---- entry by entry -----------------------------------------------------*/
/* Minus zero and NaN are entries too: they shall come back as they were. */
static bool is_plain_zero(double v)
{
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits == 0;
}

bool io_next_stored(const lapis_mat *A, int64_t j, int64_t *k, int64_t *row,
                    double *value)
{
  bool dense = A->colptr == NULL;
  int64_t first = dense ? 0 : A->colptr[j];
  int64_t count = dense ? A->rows : A->colptr[j + 1] - first;
  while (*k < count) {
    int64_t at = (*k)++;
    *row = dense ? at : A->rowidx[first + at];
    *value = dense ? lapis_mat_at(A, at, j) : mat_stored(A, first + at);
    if (!dense || !is_plain_zero(*value)) return true;
  }
  return false;
}

int64_t io_count_stored(const lapis_mat *A)
{
  int64_t count = 0, row;
  double value;
  if (A->colptr != NULL) return A->colptr[A->cols] - A->colptr[0];
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t k = 0; io_next_stored(A, j, &k, &row, &value);) count++;
  return count;
}

lapis_status io_dense(lapis_ctx *ctx, const char *what, const lapis_mat *A,
                      lapis_array *owned, lapis_mat *out)
{
  char text[300];
  *owned = (lapis_array){.kind = IO_NONE};
  *out = *A;
  if (A->colptr == NULL) return LAPIS_OK;
  (void)snprintf(text, sizeof text, "%.200s: as a dense matrix", what);
  TRY(base_unfolds(ctx, text, 8.0 * (double)A->rows * (double)A->cols,
                   mat_stored_bytes(A)));
  TRY(io_number_array(ctx, LAPIS_F64, A->rows, A->cols, owned));
  mat_to_f64(A, owned->mat.val, owned->mat.ld);
  *out = owned->mat;
  return LAPIS_OK;
}
