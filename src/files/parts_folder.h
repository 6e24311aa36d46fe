/* parts_folder.h - the names in a folder of parts (parts.c). */
#ifndef LAPIS_IO_PARTS_H
#define LAPIS_IO_PARTS_H
#include "files/io.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 64 };
extern const char parts_index[]; /* "index.json" */

/* "DIR/name" in to (PATH_BYTES), whether or not the folder was given with its
 * slash. */
void parts_join(const char *folder, const char *name, char *to);
/* "part-0001-of-0004.npz" in to (NAME_BYTES). */
void parts_name(int part, int parts, char *to);
/* Of the one that has files: a folder in which parts may be begun. */
lapis_status parts_prepare(lapis_ctx *ctx, const char *folder);
/* Removes index and parts of an earlier run. */
void parts_sweep(const char *folder);
/* LAPIS_EIO where the folder holds no result in parts, or no whole one. */
lapis_status parts_find(lapis_ctx *ctx, const char *folder);

#endif
