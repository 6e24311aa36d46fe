/* private.h - between the files of base only. */
#ifndef LAPIS_BASE_PRIVATE_H
#define LAPIS_BASE_PRIVATE_H
#include "base/base.h"

/* Forgets a cancellation. */
void base_rearm(lapis_ctx *ctx);

#endif
