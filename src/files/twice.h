/* twice.h - a sample that two lines are of. */
#ifndef LAPIS_FILES_TWICE_H
#define LAPIS_FILES_TWICE_H
#include "files/io.h"

/* noun: "row", "name".  The cell names a sample that `line` names, too. */
lapis_status io_fail_twice(lapis_ctx *ctx, const char *path, const char *noun,
                           const csv_cell *cell, int64_t line);
/* Rows first and again of n are both called that; a table's lines are named. */
lapis_status io_fail_named_twice(lapis_ctx *ctx, const io_file *f,
                                 const char *name, int64_t n, int64_t first,
                                 int64_t again);
#endif
