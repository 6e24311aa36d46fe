/* table.h - delimited text while it is read: table.c, table_*.c. */
#ifndef LAPIS_TABLE_H
#define LAPIS_TABLE_H
#include "files/io.h"

typedef struct column {
  csv_cell title;          /* the cell in the first row */
  csv_kind first;          /* ... and what it holds */
  csv_cell swallow;        /* the first cell that may have swallowed rows */
  int64_t swallowed, wide; /* how many; other cells of several lines */
  io_facts facts;          /* of later rows; without a header of all */
  bool codes;              /* numbers that are kept as texts */
  bool like_number;        /* all texts in later rows are dates, 1,5 or 1,234 */
  csv_cell text_cell;      /* the first text in later rows */
  marks marks;             /* of later rows */
  int64_t bytes;           /* of all cells, with a NUL each */
  io_role role;
  int64_t place;      /* of its first number or text in a sample of its role */
  bool one_hot;       /* asked for */
  bool asked;         /* named as a feature */
  bool dropped;       /* asked to be left out */
  bool counter;       /* numbers of the rows, left out unasked */
  int64_t width;      /* features it becomes: 1, or one a value */
  const char **value; /* of a one-hot column: width texts, in memory */
  const char *nought; /* of a column of two words the one that is 0, or NULL */
  int64_t strange; /* cells of a one-hot column that are none of its values */
  csv_cell strange_cell; /* the first of them */
} column;

typedef struct table_place {
  const char *at, *line_start;
  int64_t line;
} table_place;

typedef struct table {
  lapis_ctx *ctx;
  const char *path;
  const table_request *request;
  const io_file *file;
  csv_scan start;
  int64_t columns, rows; /* rows: without the header */
  bool header, text_targets;
  int64_t count[4]; /* columns of each role */
  column *column;
  marks marks; /* of all columns of numbers */
  char dialect[DIALECT_BYTES];
  io_text *titled;     /* the titles, sorted */
  table_place *beyond; /* of each row, where column `passed` begins */
  int64_t passed;
  arena memory;
  lapis_array X, Y, names;
  char *pool_Y, *pool_names;
} table;

static inline bool column_has_text(const column *c)
{
  return c->facts.texts > 0;
}

static inline bool column_has_number(const column *c)
{
  return c->facts.numbers > 0;
}

/* table_check.c: whether each column holds what its role takes; and what the
 * marks of its numbers are, or a sentence. */
lapis_status table_check_columns(table *t);
marks_found table_judge_marks(const table *t, const column *c,
                              char said[MARKS_BYTES]);
/* table_titles.c: of a first row of numbers. */
typedef enum table_titled {
  TABLE_DATA,
  TABLE_RATHER_DATA,
  TABLE_RATHER_TITLES,
  TABLE_TITLES
} table_titled;
table_titled table_numbers_are_titles(const table *t);
/* table_roles.c: whether there are titles; then what columns are for. */
lapis_status table_settle_header(table *t);
/* Texts above numbers alone right below the titles, in several columns. */
bool table_has_units(const table *t);
lapis_status table_mark_roles(table *t);
/* table_values.c: texts of a column that was asked for one-hot. */
lapis_status table_list_values(table *t, int64_t j);
/* The place of a cell's text among the values of its column, or -1. */
int64_t table_value_at(const column *c, const csv_cell *cell);
/* Whether a target's numbers are codes. */
lapis_status table_find_codes(table *t, int64_t j);
/* How many different numbers a column has. */
lapis_status table_count_numbers(table *t, int64_t j, int64_t *different);
/* The different texts of a column, and the cells that are not missing. */
lapis_status table_count_cells(table *t, int64_t j, int64_t *different,
                               int64_t *count);
bool table_title_is(const csv_cell *title, const char *name, size_t size);
/* After it: columns of that title; *last: the last of them. */
lapis_status table_sort_titles(table *t);
int64_t table_count_titled(const table *t, const char *name, size_t size,
                           int64_t *last);
/* Names of a model's features, where X is read for it; or NULL. */
const lapis_mat *table_model(const table *t);
/* The first row holds one, or the title of a "TITLE=VALUE". */
bool table_names_features(const table *t);
/* Where no targets are named, the model's, as far as they are there. */
void table_mark_targets(table *t);
/* Features get their places in the model; what it does not know is left out. */
lapis_status table_meet_model(table *t);

#endif
