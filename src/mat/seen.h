/* seen.h - what is known of the features of some samples. */
#ifndef LAPIS_SEEN_H
#define LAPIS_SEEN_H
#include "base/base.h"

typedef struct mat_seen {
  double low, high; /* of what is known; low > high: nothing is */
  int64_t known;    /* samples */
  int64_t unmet;    /* samples: of base_unmet */
  /* Of 200 samples at most, spread over all; NaN where none of them is known.
   * The tenth lies above a tenth of the values, the ninth above nine. */
  double tenth, median, ninth;
} mat_seen;
/* Of each row of X, freed by base_free; NULL where nobody asks: X is sparse,
 * divided among processes, without rows or of more than 10,000. */
lapis_status mat_see(lapis_ctx *ctx, const lapis_mat *X, mat_seen **out);

#endif
