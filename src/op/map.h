/* map.h - what a fitted map is made of, for those who store it. */
#ifndef LAPIS_MAP_H
#define LAPIS_MAP_H
#include "base/base.h"

/* Everything fitting found, as one row of numbers (1 x N, borrowed); with the
 * spec it makes the map again. */
lapis_mat map_state(const lapis_map *map);
lapis_status map_restore(lapis_ctx *ctx, const char *spec,
                         const lapis_mat *state, lapis_map **out);

#endif
