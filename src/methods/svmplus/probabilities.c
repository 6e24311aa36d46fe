/* probabilities.c - by the sigmoids that platt.c has fitted. */
#include <math.h>

#include "methods/svmplus/svmplus.h"

void sv_publish_probabilities(lapis_solver *s, const double *platt, int64_t K,
                              int64_t n, const double *scores, double *p)
{
  for (int64_t k = 0; k < K * n; k++) {
    const double *by = platt + 2 * (k % K);
    double u = by[0] * scores[k] + by[1];
    p[k] = u > 0 ? exp(-u) / (1 + exp(-u)) : 1 / (1 + exp(u));
  }
  solver_publish(s, "probabilities", lapis_mat_f64(p, K, n));
}

void sv_say_balanced(lapis_ctx *ctx)
{
  base_say(ctx, -1,
           "svmplus: --balanced decides as if classes were equally frequent; "
           "probabilities keep the shares of the data, so a label may have one "
           "that is below another's");
}
