/* common_remarks.h - what is remarked alike of every method's data and answer.
 */
#ifndef LAPIS_COMMON_REMARKS_H
#define LAPIS_COMMON_REMARKS_H
#include "solver/solver.h"

enum { REMARK_VALUE = 128 };
/* The place of the word of a value of Y; -1: it has none. */
int64_t remark_word(const lapis_data *data, double value);
/* A value of Y as its reader knows it. */
const char *remark_value(const lapis_data *data, double value,
                         char name[REMARK_VALUE]);
/* What feature i is called; "feature 3" where nothing names them. */
const char *remark_feature(const lapis_data *data, int64_t i,
                           char name[REMARK_VALUE]);
/* A feature is known of so many samples, of all. */
typedef struct known_share {
  double known, all;
} known_share;
/* By more than gaps that come by chance. */
bool remark_shares_differ(known_share a, known_share b);
/* Of features whose gaps tell known samples from others; Y has rows. */
lapis_status remark_gaps(lapis_ctx *ctx, const char *method,
                         const lapis_data *data);
/* Of cells far from all others of their feature, where the map that features
 * are read through (or NULL; other words may stand beside it) has no trim. */
lapis_status remark_far(lapis_ctx *ctx, const char *method, const char *map,
                        const lapis_data *data);
/* Whether all targets, which are numbers, hold one value each. */
lapis_status remark_is_constant(lapis_ctx *ctx, const lapis_data *data,
                                bool *out);
/* Of targets that are given to a method; called by all processes. */
lapis_status remark_data(lapis_ctx *ctx, const lapis_method *m,
                         const void *settings, const lapis_data *data);
/* solver.look: of an answer that leaves one of two classes out. */
lapis_status remark_answer(lapis_solver *s);

#endif
