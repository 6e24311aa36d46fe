/* param.h - what a table of parameters does; its rows: lapis_rows.h. */
#ifndef LAPIS_PARAM_H
#define LAPIS_PARAM_H
#include "base/base.h"
#include "lapis/rows.h"
#include "lapis/tools.h"

/* A condition as of goes_with. */
bool param_when_holds(const lapis_method *m, const void *settings,
                      unsigned members, const char *when);
/* LAPIS_EINVAL, with a sentence, where settings are of a newer header or a
 * value is outside its row's bounds; NULL, the defaults, is fine. */
lapis_status settings_check(lapis_ctx *ctx, const lapis_method *m,
                            const void *settings);
/* LAPIS_EINVAL where one is set that goes without another, which is, too: the
 * conditions !NAME of goes_with, and `choose` beside `unless`. */
lapis_status settings_check_exclusions(lapis_ctx *ctx, const lapis_method *m,
                                       const void *settings);
/* LAPIS_EINVAL where one is set that says nothing beside the others, or names
 * the file of a matrix that is empty; a warning where it would say something
 * beside other members of data. */
lapis_status settings_check_use(lapis_ctx *ctx, const lapis_method *m,
                                const void *settings, unsigned members,
                                const char *tried);
bool param_is_default(const lapis_param *p, const void *settings);

/* A method registers {table row, constructor}; src/methods/methods.c lists
 * them, and has checked the settings by the table: they are never NULL, and
 * live as long as the call. */
typedef lapis_status (*method_new_fn)(lapis_ctx *ctx, const lapis_data *data,
                                      const void *settings, lapis_solver **out);

#endif
