/* formats.c - the one table of what is read and written: recognising a file,
 * `lapis formats`, `lapis convert` and the sentences of refusals follow it. */
#include <stdio.h>
#include <string.h>

#include "files/io.h"
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
static const io_kind kind_tsv = {.shown = {"tsv", IO_TSV_ENDINGS,
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

/* ---- by name ------------------------------------------------------------*/
const lapis_format *lapis_format_at(int i)
{
  return i >= 0 && i < IO_FORMATS ? &kinds[i]->shown : NULL;
}

const lapis_format *lapis_format_of_name(const char *path)
{
  if (path == NULL) return NULL;
  for (int i = 0; i < IO_FORMATS; i++)
    if (io_ends_in(path, kinds[i]->shown.endings)) return &kinds[i]->shown;
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
                       : io_ends_in(path, kinds[i]->shown.endings))
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
  return lapis_fail(
      ctx, LAPIS_EINVAL,
      "%s: its name does not say the format; give it one of the endings  %s",
      path, known);
}

/* ---- reading and writing by the table -----------------------------------*/

lapis_status io_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                     lapis_arrays *out)
{
  return io_read_by(ctx, kinds[f->format]->read, f, request, out);
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
                      "%s: %s files can be read, but not written; write .npz, "
                      "which keeps all, or .csv",
                      path, kind->shown.name);
  return kind->write(ctx, path, item, count);
}

lapis_status lapis_arrays_read(lapis_ctx *ctx, const char *path,
                               lapis_arrays *out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  io_file f;
  TRY(io_file_open(ctx, path, &f));
  const io_kind *kind = io_kind_of(f.format);
  lapis_status status;
  if (kind->shown.container || f.format == IO_NPY)
    status = io_read(ctx, &f, &(io_request){.want = NULL}, out);
  else
    status = lapis_fail(ctx, LAPIS_EFORMAT,
                        "%s: is text; a .npy or .npz file is expected here%s",
                        io_name(path),
                        base_door(ctx, ", as 'lapis convert' makes of it", ""));
  io_file_close(&f);
  return status;
}
