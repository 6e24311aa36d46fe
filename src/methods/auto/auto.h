/* auto.h - the method that chooses among the others.  It makes models of what
 * it chose, so that it lies above them (src/methods/auto/auto.c); the list of
 * methods knows it by these names. */
#ifndef LAPIS_AUTO_H
#define LAPIS_AUTO_H
#include "base/base.h"
#include "solver/solver.h"

extern const lapis_method auto_method, auto_predict_method;
/* method_new_fn (methods/method_entry.h): auto itself, and mc whose mu is open.
 */
lapis_status auto_new(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings, lapis_solver **out);
lapis_status auto_new_mc(lapis_ctx *ctx, const lapis_data *data,
                         const void *settings, lapis_solver **out);

/* method_holds_fn (methods/method_entry.h) */
double auto_holds(const solver_size *z, const void *settings);

#endif
