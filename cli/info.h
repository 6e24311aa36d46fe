/* info.h - the parts of lapis info: a model, the build. */
#ifndef LAPIS_INFO_H
#define LAPIS_INFO_H
#include "cli.h"

/* all: the arrays of the model's file, whose header says the version. */
void info_model(cli *c, const lapis_model *m, const lapis_arrays *all);
lapis_json *info_model_json(cli *c, const lapis_model *m,
                            const lapis_arrays *all);
int info_build(cli *c);

#endif
