/* hdf5.h - what the library is asked, in the process that hdf5_apart.c made for
 * it. */
#ifndef LAPIS_IO_HDF5_H
#define LAPIS_IO_HDF5_H
#include "files/io.h"

enum { HDF5_USER_BLOCK = 512 }; /* bytes before MATLAB's part begins */

typedef struct hdf5_target {
  const char *path, *temp; /* as the user calls it; what is written */
  bool matlab;
  const lapis_named *item; /* count */
  int count;
} hdf5_target;

/* After it the process can open no file. */
lapis_status hdf5_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                       lapis_arrays *out);
lapis_status hdf5_write(lapis_ctx *ctx, const hdf5_target *to);

#endif
