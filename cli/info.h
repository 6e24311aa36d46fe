/* info.h - the parts of lapis info: a model, a table, a picture, the build. */
#ifndef LAPIS_INFO_H
#define LAPIS_INFO_H
#include "cli.h"

/* all: the arrays of the model's file, whose header says the version. */
void info_model(cli *c, const lapis_model *m, const lapis_arrays *all);
lapis_json *info_model_json(cli *c, const lapis_model *m,
                            const lapis_arrays *all);
int info_build(cli *c);
/* A folder of pictures; a picture, false: it is none.  *code: as it ended. */
int info_folder(cli *c, const char *path);
bool info_picture(cli *c, const char *path, int *code);
/* One column of a table, by title or number; a sentence where there is none. */
int info_column(cli *c, const lapis_columns *all, const char *path,
                const char *wanted);
/* A table by its columns: titles, types, ranges, classes; why: what keeps it
 * from being data as it is, or ""; and what to do. */
void info_columns(const cli *c, const lapis_columns *all, const char *path,
                  const char *why);
lapis_json *info_columns_json(const lapis_columns *all);

#endif
