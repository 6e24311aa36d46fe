/* info.h - the parts of lapis info: a model, a table, the build. */
#ifndef LAPIS_INFO_H
#define LAPIS_INFO_H
#include "cli.h"

/* all: the arrays of the model's file, whose header says the version. */
void info_model(cli *c, const lapis_model *m, const lapis_arrays *all);
lapis_json *info_model_json(cli *c, const lapis_model *m,
                            const lapis_arrays *all);
int info_build(cli *c);
/* A table by its columns: titles, types, ranges, classes, and what to do. */
void info_columns(const lapis_columns *all, const char *path);
lapis_json *info_columns_json(const lapis_columns *all);

#endif
