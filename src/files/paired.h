/* paired.h - which file a member is read from, and how its rows come to those
 * of X. */
#ifndef LAPIS_FILES_PAIRED_H
#define LAPIS_FILES_PAIRED_H
#include "files/io.h"

/* "faces.npz:X" is a file and a member, unless there is a file of that name.
 * path is allocated; member points into it, or is NULL. */
lapis_status io_spec_split(lapis_ctx *ctx, const char *spec, char **path,
                           const char **member);
/* Says that rows of `order`, whose names X's file lacks, were paired with
 * X's as they stand; not of names that count the rows. */
void io_tell_paired(lapis_ctx *ctx, const io_order *order, const char *x_file);
/* "; X has no names, ...", where those of `file` therefore join nothing; "". */
const char *io_unjoined(const io_order *order, const char *x_file,
                        const char *file);
#endif
