/* chi2_map.h - features whose inner products are near the additive chi2 kernel.
 */
#ifndef LAPIS_CHI2_MAP_H
#define LAPIS_CHI2_MAP_H
#include <stdint.h>

enum { CHI2_ORDER = 3, CHI2_ROWS = 2 * CHI2_ORDER + 1 };
/* x (d), 0 or more, becomes CHI2_ROWS d numbers, in place. */
void chi2_features(double *x, int64_t d);

#endif
