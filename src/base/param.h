/* param.h - what a table of parameters does; its rows: lapis_rows.h. */
#ifndef LAPIS_PARAM_H
#define LAPIS_PARAM_H
#include "base/base.h"
#include "lapis/lapis_rows.h"

/* A method registers {table row, constructor}; src/solve/methods.c lists
 * them. */
typedef lapis_status (*method_new_fn)(lapis_ctx *ctx, const lapis_data *data,
                                      const void *settings, lapis_solver **out);

/* Checks every parameter of a settings struct against its table. */
lapis_status param_check(lapis_ctx *ctx, const lapis_method *m,
                         const void *settings);
void param_defaults(const lapis_method *m, void *settings);

#endif
