/* answer_sheet.h - answers as columns side by side, for a table or a page. */
#ifndef LAPIS_CLI_ANSWER_SHEET_H
#define LAPIS_CLI_ANSWER_SHEET_H
#include "command/command.h"

enum { SHEET_TITLE = 512 };

/* Memory of each column in owned. */
typedef struct sheet {
  lapis_sheet_column *column;
  char (*title)[SHEET_TITLE];
  void **owned;
  int count, room;
  int targets; /* 0: the columns are features */
  /* which column says of the first target whether it was given (of each
   * further one two columns on), what one given target rather is, the first of
   * the probabilities, 0: none does, and how many these are */
  int origin, rather, share, shares;
  int set, sets;  /* the first of the columns of sets, or intervals; how many */
  lapis_mat kept; /* classes in sets: targets x values, n; or empty */
  int64_t n;      /* samples */
  double *back;   /* features in the units of the table, or NULL */
} sheet;
/* To be closed whatever is returned.  map: of the features that s was given, or
 * NULL. */
lapis_status sheet_make(cli *c, const lapis_solver *s, const lapis_dataset *ds,
                        const lapis_map *map, bool origins, const char *path,
                        sheet *t);
void sheet_close(sheet *s);
/* Features that a map made, in the units of the table, where it can be undone;
 * *back is freed by free. */
lapis_status sheet_units(cli *c, const lapis_dataset *ds, const lapis_map *map,
                         lapis_mat *features, double **back);
/* --sure: the least probability of an answer that is taken for sure. */
double sure_from(const cli *c);
/* Whether target k of sample j was given. */
bool sheet_is_given(const sheet *t, int target, int64_t j);

#endif
