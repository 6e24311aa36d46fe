/* mc.h - the matrix completion problem, between the files of the method. */
#ifndef LAPIS_MC_H
#define LAPIS_MC_H
#include "base/param.h"
#include "base/solver.h"
#include "la/backend.h"
#include "mat/mat.h"
#include "op/svt.h"

/*   minimize  F(Z) = mu |Z|_* + phi(Z),  Z of m = K + D + 1 rows, n columns:
 * labels, features, ones; phi holds losses and constraints. */
typedef struct mc_problem {
  int64_t K, D, n, m;
  int64_t seen_X, seen_Y; /* |Omega_X|, |Omega_Y| */
  double a, b;            /* 1 / |Omega_X|, lambda / |Omega_Y| */
  double mu, sigma_1;     /* sigma_1(Z_0), unknown entries 0 */
  double threshold;       /* a score above it is a positive label */
  targets labels;
  la_penalty phi; /* Z0 with NaN where unobserved */
} mc_problem;

/* What a primal point and a multiplier prove together. */
typedef struct mc_bounds {
  double primal, dual, gap;
  double norm; /* |G|_2 / mu before scaling */
} mc_bounds;

typedef struct mc {
  lapis_solver base;
  lapis_mc_settings set;
  mc_problem p;
  la h;
  op_svt *svt;
  la_array A, B, U, W; /* m x n each */
  double rho;
  svt_report low_rank; /* of A */
  mc_bounds bounds;
  double *values; /* min(m, n) singular values */
  /* what is published: K x n, labels, D x n twice, m x n */
  double *scores, *decided, *fit, *sparse, *dual;
} mc;

extern const lapis_method mc_method;

/* Checks data against the settings' variant, allocating nothing. */
lapis_status mc_check_data(lapis_ctx *ctx, const lapis_mc_settings *set,
                           const lapis_data *data);
/* Encodes the labels; sets K, D, n, m. */
lapis_status mc_problem_size(mc *w, const lapis_data *data);
/* Fills phi, Z0, weights, mu; leaves Z_0 with zeros in W. */
lapis_status mc_problem_build(mc *w, const lapis_data *data);
void mc_problem_free(mc *w);

/* F(B), and the dual value of G = rho U; W is scratch and returns holding the
 * feasible, scaled multiplier. */
lapis_status mc_certify(mc *w, mc_bounds *out);

/* Result arrays, from B and from W, which holds the multiplier. */
lapis_status mc_results_alloc(mc *w);
lapis_status mc_publish(mc *w);

#endif
