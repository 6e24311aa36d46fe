/* columns.h - what info finds in the columns of a table. */
#ifndef LAPIS_INFO_COLUMNS_H
#define LAPIS_INFO_COLUMNS_H
#include "info.h"

/* How many values are listed. */
int column_values(const lapis_column *c);
/* Words that stand for kinds: a few of which some repeats, or many each of
 * which stands twice or more on average. */
bool column_repeats(const lapis_column *c);
/* Whether texts are numbers with units, the first of which has company. */
bool column_has_units(const lapis_column *c);
/* A name for every row, but for a few twins. */
bool column_is_id(const lapis_column *c);
/* The names of samples: what is asked for; else a first column that numbers
 * them, as no two have one number; else the first of texts that may be names;
 * else numbers in another column.  -1: none. */
int column_of_names(const cli *c, const lapis_columns *all);
const char *column_title(const lapis_columns *all, int j, char *to,
                         size_t size);
/* What a column says alike of all rows is no feature. */
bool column_is_constant(const lapis_columns *all, const lapis_column *c);
/* All its numbers have decimal commas, or do so beside texts. */
bool column_has_commas(const lapis_column *c);

#endif
