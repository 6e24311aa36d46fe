/* forget.h - values of arrays that mean "not known". */
#ifndef LAPIS_FILES_FORGET_H
#define LAPIS_FILES_FORGET_H
#include "files/io.h"

/* What opt->missing lists (opt NULL: nothing) of X, Y and P becomes unknown:
 * numbers of numbers, words of texts.  Tables of text are read so by csv.c. */
lapis_status io_forget(lapis_ctx *ctx, const lapis_table_options *opt,
                       io_format format, lapis_arrays *all);
#endif
