/* map.h - the state of a fitted map of features, to store and restore it. */
#ifndef LAPIS_MAP_H
#define LAPIS_MAP_H
#include "mat/seen.h"

/* All that was found in fitting, as one row of numbers (1 x N, borrowed).
 * Together with the map's spec (its text, such as "sqrt,standard") it makes the
 * map again. */
lapis_mat map_state(const lapis_map *map);
lapis_status map_restore(lapis_ctx *ctx, const char *spec,
                         const lapis_mat *state, lapis_map **out);
const char *map_spec(const lapis_map *map); /* its text */
/* What was seen of the features it was fitted to, before the map; NULL: nobody
 * looked (mat_see), or it was restored. */
const mat_seen *map_seen(const lapis_map *map, int64_t *features,
                         int64_t *samples);
/* Rows of samples that a fitted map makes `rows` rows of. */
int64_t map_inputs(const lapis_map *map, int64_t rows);
/* Whether a fitted map shifts and scales each of d features alone, behind which
 * x is (x - off) / by (d each): gaps stay where they are. */
bool map_shift(const lapis_map *map, int64_t d, double *off, double *by);
/* What is 0 before the map is 0 behind it: standard and chi2 are no such. */
bool map_keeps_zeros(const lapis_map *map);

#endif
