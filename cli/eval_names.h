/* eval_names.h - whether truth and answers stand in the same order. */
#ifndef LAPIS_EVAL_NAMES_H
#define LAPIS_EVAL_NAMES_H
#include "cli.h"

/* Member `as` of ds from a file, of an archive from its `member`. */
lapis_status eval_read(lapis_dataset *ds, const char *as, const char *spec,
                       const char *member, const lapis_table_options *opt);
/* The columns of a table of answers, against the classes of the truth. */
int eval_check_columns(const lapis_dataset *ds, const char *scores);

#endif
