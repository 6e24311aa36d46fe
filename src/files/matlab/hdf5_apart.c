/* hdf5_apart.c - HDF5 in a process of its own.
 *
 * How the library follows damaged structures is beyond our checks (1.10.8
 * crashes on some), and what it could not write it keeps, and falls over it in
 * the handler that it leaves for the end of the process. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/matlab/hdf5.h"

static lapis_status read_apart(lapis_ctx *ctx, io_file *f,
                               const io_request *request, lapis_arrays *out)
{
  struct stat st = {.st_size = f->size};
  if (f->data == NULL && stat(f->path, &st) != 0)
    return io_fail_errno(ctx, f->path, "cannot be read");
  return io_read_apart(ctx, f, st.st_size, request, hdf5_read, out);
}

/* The text that says MATLAB 7.3, in the block kept free for it. */
static lapis_status put_block(lapis_ctx *ctx, const hdf5_target *to)
{
  char block[HDF5_USER_BLOCK + 1];
  (void)snprintf(block, sizeof block, "%-124s",
                 "MATLAB 7.3 MAT-file, written by LAPIS HDF5 schema 1.00 .");
  memset(block + 116, 0, HDF5_USER_BLOCK - 116);
  memcpy(block + 124, "\x00\x02IM", 4);
  int fd = open(to->temp, O_WRONLY | O_CLOEXEC);
  bool fine =
      fd >= 0 && pwrite(fd, block, HDF5_USER_BLOCK, 0) == HDF5_USER_BLOCK;
  if (fd >= 0) (void)close(fd);
  return fine ? LAPIS_OK : io_fail_errno(ctx, to->path, "cannot be written");
}

static lapis_status write_here(lapis_ctx *ctx, void *task)
{
  const hdf5_target *to = task;
  TRY(hdf5_write(ctx, to));
  return to->matlab ? put_block(ctx, to) : LAPIS_OK;
}

static lapis_status write_file(lapis_ctx *ctx, const char *path, bool matlab,
                               const lapis_named *item, int count)
{
  io_out o;
  TRY(io_out_begin(ctx, path, &o));
  hdf5_target to = {.path = path,
                    .temp = o.temp,
                    .matlab = matlab,
                    .item = item,
                    .count = count};
  lapis_status status = io_write_apart(ctx, path, write_here, &to);
  return io_out_end(&o, status);
}

static lapis_status h5_write(lapis_ctx *ctx, const char *path,
                             const lapis_named *item, int count)
{
  return write_file(ctx, path, false, item, count);
}

static lapis_status mat73_write(lapis_ctx *ctx, const char *path,
                                const lapis_named *item, int count)
{
  static const char *const kept[] = {"X",     "Y",      "P", "xy",
                                     "group", "weight", NULL};
  TRY(write_file(ctx, path, true, item, count));
  io_warn_lost(ctx, path, item, count, kept);
  return LAPIS_OK;
}

const io_kind io_mat73 = {.shown = {IO_MAT73_SHOWN, true, true},
                          .read = read_apart,
                          .write = mat73_write};
const io_kind io_hdf5 = {.shown = {IO_HDF5_SHOWN, true, true},
                         .read = read_apart,
                         .write = h5_write};
