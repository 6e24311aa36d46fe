/* decide.c - labels from scores.
 *
 * By the threshold of the coding, or by what a race has found on hidden labels:
 * slope and bias a label, p = 1 / (1 + exp(-(slope s + bias))), yes above 1/2;
 * one class of K: the largest of slope s_c + bias_c, p their softmax. */
#include "methods/mc/mc.h"

void mc_decide(const mc_problem *p, const double *scores, int64_t n,
               double *labels, double *probabilities)
{
  targets t = p->labels;
  t.samples = n;
  if (p->calibration == NULL) {
    targets_decode(&t, scores, p->threshold, labels);
    return;
  }
  targets_calibrate(&t, p->calibration, scores, probabilities);
  targets_decode(&t, probabilities, 0.5, labels);
}

lapis_status mc_calibrate(lapis_ctx *ctx, mc_problem *p,
                          const lapis_mat *calibration)
{
  if (mat_empty(calibration) || p->K == 0) return LAPIS_OK;
  if (calibration->rows != 2 || calibration->cols != p->K)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "mc: calibration is %" PRId64 " x %" PRId64
                      "; slope and bias of each of %" PRId64
                      " labels are needed",
                      calibration->cols, calibration->rows, p->K);
  TRY(mat_check_finite(ctx, "mc", "calibration", calibration, false));
  p->calibration = base_alloc(ctx, 2 * p->K, sizeof *p->calibration);
  if (p->calibration == NULL) return LAPIS_ENOMEM;
  mat_to_f64(calibration, p->calibration, 2);
  return LAPIS_OK;
}
