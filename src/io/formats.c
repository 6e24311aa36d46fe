/* formats.c - the one table of what is read and written: recognising a file,
 * `lapis formats`, `lapis convert` and the sentences of refusals follow it. */
#include <stdio.h>
#include <string.h>

#include "io/io.h"
#include "mat/mat.h"

/* The only array, or X. */
static lapis_status npy_write(lapis_ctx *ctx, const char *path,
                              const lapis_named *item, int count)
{
  const char *const kept[] = {count == 1 ? item->name : "X", NULL};
  const lapis_named *X = count == 1 ? item : io_find_item(item, count, "X");
  if (X == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: there is no X to write", path);
  lapis_named dense = *X;
  lapis_array owned;
  TRY(io_dense(ctx, path, &X->mat, &owned, &dense.mat));
  lapis_status status = io_npy_write(ctx, path, &dense);
  lapis_array_free(&owned);
  if (status == LAPIS_OK) io_warn_lost(ctx, path, item, count, kept);
  return status;
}

#define TABLE_HOLDS "X, names, and Y as the last columns"

static const io_kind kind_npy = {.shown = {"npy", ".npy", "numpy array",
                                           "X alone", false, NULL, true, false},
                                 .read = io_arrays_npy,
                                 .write = npy_write};
static const io_kind kind_npz = {
    .shown = {"npz", ".npz .lapis", "numpy archive, scipy sparse matrix, model",
              "every member", true, NULL, true, true},
    .read = npz_read,
    .write = io_npz_write};
static const io_kind kind_csv = {.shown = {"csv", ".csv .txt",
                                           "cells between commas", TABLE_HOLDS,
                                           false, NULL, true, false},
                                 .read = table_read,
                                 .write = csv_write};
static const io_kind kind_tsv = {.shown = {"tsv", ".tsv .tab",
                                           "cells between tabs", TABLE_HOLDS,
                                           false, NULL, true, false},
                                 .read = table_read,
                                 .write = tsv_write};
static const io_kind kind_svm = {
    .shown = {"svm", ".svm .libsvm .svmlight", "LIBSVM, SVMlight",
              "X, and Y as numbers or several labels", true, NULL, true, false},
    .read = svm_read,
    .write = svm_write};
static const io_kind kind_arff = {.shown = {"arff", ".arff",
                                            "Weka, Mulan, MEKA", TABLE_HOLDS,
                                            true, NULL, true, false},
                                  .read = arff_read}; /* and not written */
static const io_kind kind_mat = {
    .shown = {"mat", ".mat", "MATLAB 5, Octave -v7", "every member", true, NULL,
              true, true},
    .read = mat_read,
    .write = mat_write};

/* In the order of io_format. */
static const io_kind *const kinds[IO_FORMATS] = {
    [IO_NPY] = &kind_npy,  [IO_NPZ] = &kind_npz,   [IO_CSV] = &kind_csv,
    [IO_TSV] = &kind_tsv,  [IO_SVM] = &kind_svm,   [IO_ARFF] = &kind_arff,
    [IO_MAT] = &kind_mat,  [IO_MAT73] = &io_mat73, [IO_HDF5] = &io_hdf5,
    [IO_PARTS] = &io_parts};

const io_kind *io_kind_of(io_format format)
{
  return kinds[format];
}

/* ---- by the beginning of a file -----------------------------------------*/
static bool begins(const unsigned char *head, int64_t size, const char *magic,
                   size_t length)
{
  return size >= (int64_t)length && memcmp(head, magic, length) == 0;
}

/* The text at its beginning is free; version and byte order are not. */
static bool is_matlab(const unsigned char *head, int64_t size)
{
  if (begins(head, size, "MATLAB 5.0", 10)) return true;
  return size >= 128 && (memcmp(head + 124, "\x00\x01IM", 4) == 0 ||
                         memcmp(head + 124, "\x01\x00MI", 4) == 0);
}

/* The signature lies at 0, 512, 1024, ... */
static bool is_hdf5(const unsigned char *head, int64_t size)
{
  bool found = begins(head, size, "\x89HDF\r\n\x1a\n", 8);
  for (int64_t at = 512; at < size && !found; at *= 2)
    found = begins(head + at, size - at, "\x89HDF\r\n\x1a\n", 8);
  return found;
}

/* Text has no control characters but white space. */
static bool looks_like_text(const unsigned char *head, int64_t size)
{
  for (int64_t i = 0; i < size; i++) {
    bool space = head[i] >= '\t' && head[i] <= '\r';
    if ((head[i] < ' ' && !space) || head[i] == 0x7f) return false;
  }
  return true;
}

io_format io_recognise(const unsigned char *head, int64_t size)
{
  if (begins(head, size, "\x93NUMPY", 6)) return IO_NPY;
  if (begins(head, size, "PK\x03\x04", 4) ||
      begins(head, size, "PK\x05\x06", 4))
    return IO_NPZ;
  if (is_matlab(head, size)) return IO_MAT;
  if (is_hdf5(head, size))
    return begins(head, size, "MATLAB 7.3", 10) ? IO_MAT73 : IO_HDF5;
  if (!looks_like_text(head, size)) return IO_FORMATS;
  if (arff_is(head, size)) return IO_ARFF;
  if (svm_is(head, size)) return IO_SVM;
  return IO_CSV;
}

/* ---- by name ------------------------------------------------------------*/
/* One of the words, "  .csv .txt", ends path. */
static bool has_ending(const char *path, const char *words)
{
  size_t length = strlen(path);
  while (*words != '\0') {
    size_t n = strcspn(words, " ");
    if (n > 0 && length > n && memcmp(path + length - n, words, n) == 0)
      return true;
    words += n + (words[n] == ' ');
  }
  return false;
}

const lapis_format *lapis_format_at(int i)
{
  return i >= 0 && i < IO_FORMATS ? &kinds[i]->shown : NULL;
}

const lapis_format *lapis_format_of_name(const char *path)
{
  if (path == NULL) return NULL;
  for (int i = 0; i < IO_FORMATS; i++)
    if (has_ending(path, kinds[i]->shown.endings)) return &kinds[i]->shown;
  return NULL;
}

lapis_status lapis_format_of_file(lapis_ctx *ctx, const char *path,
                                  const lapis_format **out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  io_file f;
  TRY(io_file_open(ctx, path, &f));
  *out = &kinds[f.format]->shown;
  io_file_close(&f);
  return LAPIS_OK;
}

static const io_kind *kind_named(const char *path, const char *format)
{
  for (int i = 0; i < IO_FORMATS; i++)
    if (format != NULL ? strcmp(format, kinds[i]->shown.name) == 0
                       : has_ending(path, kinds[i]->shown.endings))
      return kinds[i];
  return NULL;
}

static lapis_status fail_unknown(lapis_ctx *ctx, const char *path,
                                 const char *format)
{
  char known[256] = "";
  size_t used = 0;
  for (int i = 0; i < IO_FORMATS && used < sizeof known; i++) {
    const lapis_format *f = &kinds[i]->shown;
    const char *word = format != NULL ? f->name : f->endings;
    int n = *word == '\0' ? 0
                          : snprintf(known + used, sizeof known - used, "%s%s",
                                     used > 0 ? " " : "", word);
    used += n > 0 ? (size_t)n : 0;
  }
  if (format != NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "there is no format '%s'; known are %s", format, known);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: its name says no format; endings are %s", path, known);
}

/* ---- reading and writing by the table -----------------------------------*/
bool io_is_wanted(const char *const *want, const char *name)
{
  if (want == NULL) return true;
  for (; *want != NULL; want++)
    if (strcmp(*want, name) == 0) return true;
  return false;
}

lapis_status io_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                     lapis_arrays *out)
{
  *out = (lapis_arrays){.count = 0};
  if (request->seen != NULL) *request->seen = NULL;
  lapis_status status = kinds[f->format]->read(ctx, f, request, out);
  if (status < 0) {
    lapis_arrays_free(out);
    if (request->seen != NULL) base_free(*request->seen);
    if (request->seen != NULL) *request->seen = NULL;
  }
  return status;
}

const lapis_named *io_find_item(const lapis_named *item, int count,
                                const char *name)
{
  for (int i = 0; i < count; i++)
    if (strcmp(item[i].name, name) == 0) return &item[i];
  return NULL;
}

void io_warn_lost(lapis_ctx *ctx, const char *path, const lapis_named *item,
                  int count, const char *const *kept)
{
  char lost[256] = "";
  size_t used = 0;
  for (int i = 0; i < count && used < sizeof lost; i++) {
    if (io_is_wanted(kept, item[i].name)) continue;
    int n = snprintf(lost + used, sizeof lost - used, "%s%s",
                     used > 0 ? ", " : "", item[i].name);
    used += n > 0 ? (size_t)n : 0;
  }
  if (used > 0)
    base_say(ctx, 0, "%s: left out, as the format has no place for it: %s",
             path, lost);
}

lapis_status lapis_arrays_write(lapis_ctx *ctx, const char *path,
                                const char *format, const lapis_named *item,
                                int count)
{
  NEEDS(ctx, path, item);
  for (int i = 0; i < count; i++)
    TRY(mat_check_view(ctx, path, "an array", &item[i].mat));
  const io_kind *kind = kind_named(path, format);
  if (kind == NULL) return fail_unknown(ctx, path, format);
  if (kind->write == NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: %s files are read, not written; take .npz, which "
                      "keeps all, or .csv",
                      path, kind->shown.name);
  return kind->write(ctx, path, item, count);
}
