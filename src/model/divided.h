/* divided.h - arrays of which every process has its samples' part: put together
 * in the hands of rank 0, which alone has files, and handed out again.
 *
 * All processes call these at the same place; they travel in sums of blocks,
 * so that nobody but rank 0 needs memory for the whole. */
#ifndef LAPIS_DIVIDED_H
#define LAPIS_DIVIDED_H
#include "base/base.h"

/* An array of `blocks` blocks; in each our numbers lie at first. */
typedef struct divided {
  int64_t blocks, own, first, all; /* the last three of one block */
} divided;

/* count: numbers of ours in all blocks. */
lapis_status divided_place(lapis_ctx *ctx, int64_t count, int64_t blocks,
                           divided *out);
/* whole: blocks x all numbers of rank 0; NULL elsewhere, or where it has no
 * memory for them. */
lapis_status divided_join(lapis_ctx *ctx, const divided *d, const double *own,
                          double *whole);
lapis_status divided_hand_out(lapis_ctx *ctx, const divided *d,
                              const double *whole, double *own);
/* What rank 0 has, in everybody's hands. */
lapis_status divided_tell(lapis_ctx *ctx, void *bytes, int64_t size);

#endif
