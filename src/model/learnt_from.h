/* learnt_from.h - what a model knows of the features it was learnt from. */
#ifndef LAPIS_LEARNT_FROM_H
#define LAPIS_LEARNT_FROM_H
#include "mat/seen.h"
#include "model/model.h"

/* Keeps what was seen (or NULL: nothing) of `features`, of so many samples, in
 * place of what m kept before. */
lapis_status learnt_from_keep(lapis_ctx *ctx, lapis_model *m,
                              const mat_seen *seen, int64_t features,
                              int64_t samples);
bool learnt_from_is_kept(const lapis_model *m);
/* Remarks of new samples that are unlike those. */
lapis_status learnt_from_check(lapis_ctx *ctx, const lapis_model *m,
                               const lapis_data *data);

#endif
