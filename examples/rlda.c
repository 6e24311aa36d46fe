/* rlda.c - tell classes apart by features of which some are wrong.
 *
 * The samples of rr.c; the class is whether the first cause is positive, the
 * last is asked.
 *
 * It prints:
 *   asked: class 0, in truth 0
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
    y[j] = a > 0 ? 1 : 0;
  }
  x[2][5] += 4;  /* occluded */
  x[9][1] = NAN; /* not observed */
  double asked = y[SAMPLES - 1];
  y[SAMPLES - 1] = NAN;
  lapis_data data = {.X = lapis_mat_f64(&x[0][0], FEATURES, SAMPLES),
                     .Y = lapis_mat_f64(y, 1, SAMPLES)};
  lapis_rr_settings set = lapis_rlda_defaults();
  set.denoise = LAPIS_RR_RPCA;
  lapis_solver *solver = NULL;
  lapis_mat labels;

  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  if (lapis_rlda_new(ctx, &data, &set, &solver) < 0 ||
      lapis_solve(solver) < 0 ||
      lapis_result_get(solver, "labels", &labels) < 0)
    return complain(ctx, solver);
  printf("asked: class %.0f, in truth %.0f\n",
         lapis_mat_at(&labels, 0, SAMPLES - 1), asked);
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 0;
}
