/* parts_folder.h - the names in a folder of parts (parts.c). */
#ifndef LAPIS_IO_PARTS_H
#define LAPIS_IO_PARTS_H
#include "files/io.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 64, RUN_BYTES = 17 };
extern const char parts_index[]; /* "index.json" */

/* "DIR/name" in to (PATH_BYTES), whether or not the folder was given with its
 * slash. */
void parts_join(const char *folder, const char *name, char *to);
/* "part-0001-of-0004-0123456789abcdef.npz" in to (NAME_BYTES). */
void parts_name(int part, int parts, const char *run, char *to);
/* Who may write to a folder: one at a time, and nobody else before the end. */
typedef struct parts_hold {
  int fd;                /* of the lock; -1: none is held */
  bool made;             /* the folder was not there before */
  char lock[PATH_BYTES]; /* the file that is locked */
} parts_hold;
/* Makes the folder where there is none; refused while another is at work. */
lapis_status parts_lock(lapis_ctx *ctx, const char *folder, parts_hold *hold);
void parts_unlock(const char *folder, parts_hold *hold);
/* Removes the parts of all other runs, and what dead ones were writing. */
void parts_sweep(const char *folder, const char *run);
/* LAPIS_EIO where the folder holds no result in parts, or no whole one. */
lapis_status parts_find(lapis_ctx *ctx, const char *folder);

#endif
