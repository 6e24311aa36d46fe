/* info.h - the parts of lapis info: a model, a run, a table, a picture, the
 * build. */
#ifndef LAPIS_INFO_H
#define LAPIS_INFO_H
#include "command/command.h"

/* The header of a file that lapis wrote for itself; NULL: there is none. */
lapis_json *info_header(cli *c, const lapis_arrays *all);
/* What a file of a run that has not ended is: a checkpoint, the folds of cv
 * --part; NULL: none.  name: what the user calls the file at path. */
const char *info_run_title(cli *c, const lapis_arrays *all);
void info_run(cli *c, const char *path, const char *name,
              const lapis_arrays *all);
lapis_json *info_run_json(cli *c, const char *path, const lapis_arrays *all);
/* Whether info_model tells of an array what there is to tell. */
bool info_model_tells(const char *array);
/* all: the arrays of the model's file, whose header says the version. */
void info_model(cli *c, const lapis_model *m, const lapis_arrays *all);
lapis_json *info_model_json(cli *c, const lapis_model *m,
                            const lapis_arrays *all);
/* Goes on with the line of an array of texts. */
void info_texts(const lapis_mat *A);
/* Rows of a dense X of two features or more: of NaN alone, of 0 alone; and how
 * many values are infinite. */
typedef struct info_rows {
  int64_t blank, zero, infinite;
} info_rows;
info_rows info_rows_of(const lapis_mat *X);
/* What to type next; ds: the arrays as data, or NULL. */
void info_next(const char *path, const lapis_arrays *all,
               const lapis_dataset *ds);
int info_build(cli *c);
/* A folder of pictures; a picture, false: it is none.  *code: as it ended. */
int info_folder(cli *c, const char *path);
bool info_picture(cli *c, const char *path, int *code);
/* The format that a file's name ends as, or NULL. */
const char *info_picture_format(const char *path);
/* One column of a table, by title or number; a sentence where there is none. */
int info_column(cli *c, const lapis_columns *all, const char *path,
                const char *wanted);
/* A table by its columns: titles, types, ranges, classes. */
void info_columns(const cli *c, const lapis_columns *all, const char *path);
/* What to type next; why: what keeps it from being data as it is, or "". */
void info_columns_next(const cli *c, const lapis_columns *all, const char *path,
                       const char *why);
/* Says what LAPIS wrote such a table for; false: another's. */
bool info_written(const cli *c, const lapis_columns *all, const char *path);
bool info_is_class(const lapis_column *c);
bool info_has_value(const lapis_column *c, const char *value);
lapis_json *info_columns_json(const lapis_columns *all);

#endif
