/* labelled.h - learning from the samples that have targets, answers for all. */
#ifndef LAPIS_LABELLED_H
#define LAPIS_LABELLED_H
#include "methods/method_entry.h"

/* Some samples lack a target, and this method learns from the others alone. */
bool labelled_is_needed(lapis_ctx *ctx, const method_entry *e,
                        const lapis_data *data);
/* settings: checked, of the method.  data is borrowed. */
lapis_status labelled_new(lapis_ctx *ctx, const method_entry *e,
                          const lapis_data *data, const void *settings,
                          lapis_solver **out);

#endif
