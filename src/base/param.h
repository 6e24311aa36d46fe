/* param.h - building blocks of a method's parameter table. */
#ifndef LAPIS_PARAM_H
#define LAPIS_PARAM_H
#include <math.h>

#include "base/base.h"

/* A method registers {table row, constructor}; src/solve/methods.c lists
 * them. */
typedef lapis_status (*method_new_fn)(lapis_ctx *ctx, const lapis_data *data,
                                      const void *settings, lapis_solver **out);

/* Rows that many tables have, for settings with a `stop` and a `certificate`;
 * AT(field) is the offset of a field in the table's settings. */
#define PARAM_CERTIFICATE                                                   \
  {                                                                         \
    "certificate", NULL, LAPIS_PARAM_BOOL, AT(certificate), 0, 0, 1, false, \
        NULL, NULL, "also write the multiplier that proves the gap (dual)"  \
  }
#define PARAM_TOL(value, help)                                             \
  {                                                                        \
    "tol", NULL, LAPIS_PARAM_REAL, AT(stop.tol), value, 0, 1, false, NULL, \
        "X", help                                                          \
  }
#define PARAM_MAX_ITERS(count)                                        \
  {                                                                   \
    "max-iters", NULL, LAPIS_PARAM_INT, AT(stop.max_iters), count, 0, \
        INFINITY, false, NULL, "N", "stop after this many iterations" \
  }
#define PARAM_TIME_LIMIT                                                 \
  {                                                                      \
    "time-limit", NULL, LAPIS_PARAM_REAL, AT(stop.seconds), INFINITY, 0, \
        INFINITY, false, NULL, "S", "stop after this many seconds"       \
  }

/* Checks every parameter of a settings struct against its table. */
lapis_status param_check(lapis_ctx *ctx, const lapis_method *m,
                         const void *settings);
void param_defaults(const lapis_method *m, void *settings);

#endif
