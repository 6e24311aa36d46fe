/* kind.h - the kinds of blocks and what passes do to them, by name: the host's
 * and a device's kernels read this alike. */
#ifndef LAPIS_LA_KIND_H
#define LAPIS_LA_KIND_H

/* The costs of docs/mathematics.md, section 1.  z0 is the observed value, NaN
 * where not observed. */
typedef enum la_kind {
  LA_SQUARE,       /* (z - z0)^2 / 2; no cost where unobserved */
  LA_CHI2,         /* (z - z0)^2 / (z + z0); z >= 0, also unobserved ones */
  LA_CHI2_SIMPLEX, /* the same; each column of the block sums to 1 */
  LA_LOGISTIC_PM,  /* log(1 + exp(-gamma z0 z)) / gamma, z0 in {-1, 1} */
  LA_LOGISTIC_01,  /* s = 2 z0 - 1, c = z0: log(1 + exp(-gamma s (z - c)))
                      / gamma, z0 in {0, 1} */
  LA_ONES          /* z = 1 */
} la_kind;

/* The passes of a device that change entries, and those that add them up. */
typedef enum la_pass {
  LA_PROX,
  LA_STEP,
  LA_CLAMP,
  LA_PROJECT,
  LA_LOSS,
  LA_CONJUGATE
} la_pass;

#endif
