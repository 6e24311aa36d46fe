/* hdf5_absent.c - HDF5 is not built in: its files are named and refused. */
#include "files/io.h"

static lapis_status absent(lapis_ctx *ctx, const char *path)
{
  return lapis_fail(ctx, LAPIS_ENOTBUILT,
                    "%s: HDF5 and MATLAB 7.3 files need a LAPIS built with "
                    "HDF5 (Debian: libhdf5-dev); save it as .npz, or in MATLAB "
                    "with -v7",
                    path);
}

static lapis_status hdf5_read(lapis_ctx *ctx, io_file *f,
                              const io_request *request, lapis_arrays *out)
{
  (void)request;
  (void)out;
  return absent(ctx, io_name(f->path));
}

static lapis_status hdf5_write(lapis_ctx *ctx, const char *path,
                               const lapis_named *item, int count)
{
  (void)item;
  (void)count;
  return absent(ctx, path);
}

const io_kind io_mat73 = {.shown = {IO_MAT73_SHOWN, false, true},
                          .read = hdf5_read,
                          .write = hdf5_write};
const io_kind io_hdf5 = {.shown = {IO_HDF5_SHOWN, false, true},
                         .read = hdf5_read,
                         .write = hdf5_write};
