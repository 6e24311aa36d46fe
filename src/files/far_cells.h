/* far_cells.h - the cells of a column that are far from all its others. */
#ifndef LAPIS_FAR_CELLS_H
#define LAPIS_FAR_CELLS_H
#include "files/io.h"

/* Of the numbers of a column of so many, a row each, NaN where there is none;
 * "" where all are near.  Those that facts_say names become NaN.  *code: the
 * value that several such cells have, all of them, or NaN. */
lapis_status far_cells_say(lapis_ctx *ctx, const io_facts *facts,
                           double *number, int64_t rows, int64_t columns,
                           char said[FACTS_BYTES], double *code);

#endif
