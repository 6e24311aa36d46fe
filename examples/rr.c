/* rr.c - predict a number from features of which some are wrong.
 *
 * Features are mixtures of two causes, the target is their sum.  One feature of
 * sample 2 is wrong, one of sample 9 missing, and the last target is asked.
 *
 * It prints:
 *   asked: -1.3, in truth -1.3
 *   feature 5 of sample 2 is off by 4.0
 */
#include <lapis/lapis.h>
#include <math.h>
#include <stdio.h>

enum { FEATURES = 8, SAMPLES = 24 };

static int complain(lapis_ctx *ctx, lapis_solver *solver)
{
  fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 1;
}

int main(void)
{
  double x[SAMPLES][FEATURES], y[SAMPLES];
  for (int j = 0; j < SAMPLES; j++) {
    double a = sin(1.0 + j), b = cos(2.0 * j);
    for (int i = 0; i < FEATURES; i++)
      x[j][i] = a * (i + 1) / 8 + b * (8 - i) / 8;
    y[j] = a + b;
  }
  x[2][5] += 4;  /* occluded */
  x[9][1] = NAN; /* not observed */
  double asked = y[SAMPLES - 1];
  y[SAMPLES - 1] = NAN;
  lapis_data data = {.X = lapis_mat_f64(&x[0][0], FEATURES, SAMPLES),
                     .Y = lapis_mat_f64(y, 1, SAMPLES)};
  lapis_rr_settings set = lapis_rr_defaults();
  set.denoise = LAPIS_RR_RPCA; /* clean first, then regress */
  set.gamma = 1e-4;
  lapis_solver *solver = NULL;
  lapis_mat scores, sparse;

  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  if (lapis_rr_new(ctx, &data, &set, &solver) < 0 || lapis_solve(solver) < 0 ||
      lapis_result_get(solver, "scores", &scores) < 0 ||
      lapis_result_get(solver, "sparse", &sparse) < 0)
    return complain(ctx, solver);
  printf("asked: %.1f, in truth %.1f\n", lapis_mat_at(&scores, 0, SAMPLES - 1),
         asked);
  printf("feature 5 of sample 2 is off by %.1f\n", lapis_mat_at(&sparse, 5, 2));
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 0;
}
