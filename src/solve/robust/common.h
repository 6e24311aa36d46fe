/* common.h - what rpca, rr, rlda and clean share: checks, what is learnt
 * from D, what is published of it. */
#ifndef LAPIS_RR_COMMON_H
#define LAPIS_RR_COMMON_H
#include "base/param.h"
#include "base/solver.h"
#include "la/backend.h"

/* D = U S V' without the values below 1e-9 sigma_1: all that cleaning needs,
 * since the best Z lies in the span of V. */
typedef struct rr_basis {
  int64_t d, n, r;
  double nuclear; /* |D|_* */
  double *K;      /* d x r: U S */
  double *sigma;  /* r */
  double *Vt;     /* r x n */
} rr_basis;
lapis_status rr_basis_new(la *h, const lapis_mat *D, rr_basis *out);
void rr_basis_free(rr_basis *b);
/* basis (d x r), sigma (1 x r), loadings (r x n), and back: views. */
void rr_basis_put(const rr_basis *b, named_list *to);
bool rr_basis_get(const named_list *from, rr_basis *out);

/* X of at least one sample and feature; Inf refused with its place, NaN
 * allowed; a sample observed nowhere refused. */
lapis_status rr_check_X(lapis_ctx *ctx, const char *method, const lapis_mat *X);
/* lambda, or 1 / sqrt(max(d, n)). */
double rr_lambda(double lambda, const lapis_mat *X);
/* sparse = X - D where X was seen, 0 elsewhere; d x n each. */
void rr_residual(const double *X, const double *D, int64_t count,
                 double *sparse);
/* Warns of an answer that is all low rank or all error. */
void rr_warn_if_empty(lapis_ctx *ctx, const char *method, int64_t rank,
                      const double *sparse, const double *X, int64_t count);

/* Rows of their tables, as those of base/param.h. */
#define RR_REFILL                                                             \
  {                                                                           \
    "refill", "N", LAPIS_PARAM_INT, AT(refill), 0, 0, 1000, false, NULL, "N", \
        "rounds of finding covered entries and filling them"                  \
  }
#define RR_TAU                                                             \
  {                                                                        \
    "tau", "tau", LAPIS_PARAM_REAL, AT(tau), 0.2, 0, INFINITY, true, NULL, \
        "X", "refill: an entry off by more is covered"                     \
  }
#define RR_CLEAN_WEIGHT(help)                                                  \
  {                                                                            \
    "clean-weight", "w", LAPIS_PARAM_REAL, AT(clean_weight), NAN, 0, INFINITY, \
        true, NULL, "X", help                                                  \
  }
#define RR_FITTED_CLEAN_WEIGHT                                               \
  RR_CLEAN_WEIGHT(                                                           \
      "predicting: weight of the error, relative (auto: 1; 2.5 where D has " \
      "full rank)")
#define RR_JOINT(help)                                                      \
  {                                                                         \
    "joint", NULL, LAPIS_PARAM_BOOL, AT(joint), 0, 0, 1, false, NULL, NULL, \
        help "; answers then depend on the batch"                           \
  }

#endif
