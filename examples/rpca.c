/* rpca.c - find the entries that do not belong.
 *
 * Twelve samples are multiples of one; two entries were spoilt.
 *
 * It prints:
 *   sample 3, feature 2: off by 9.0
 *   sample 7, feature 8: off by -6.0
 */
#include <lapis/lapis.h>
#include <math.h>
#include <stdio.h>

enum { FEATURES = 10, SAMPLES = 12 };

static int complain(lapis_ctx *ctx, lapis_solver *solver)
{
  fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 1;
}

int main(void)
{
  double x[SAMPLES][FEATURES];
  for (int j = 0; j < SAMPLES; j++)
    for (int i = 0; i < FEATURES; i++) x[j][i] = (j + 1) * (i - 4.5) / 10;
  x[3][2] += 9;
  x[7][8] -= 6;
  lapis_data data = {.X = lapis_mat_f64(&x[0][0], FEATURES, SAMPLES)};
  lapis_rpca_settings set = lapis_rpca_defaults();
  lapis_solver *solver = NULL;
  lapis_mat sparse;

  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  if (lapis_rpca_new(ctx, &data, &set, &solver) < 0 ||
      lapis_solve(solver) < 0 ||
      lapis_result_get(solver, "sparse", &sparse) < 0)
    return complain(ctx, solver);
  for (int j = 0; j < SAMPLES; j++)
    for (int i = 0; i < FEATURES; i++) {
      double wrong = lapis_mat_at(&sparse, i, j);
      if (fabs(wrong) > 0.1)
        printf("sample %d, feature %d: off by %.1f\n", j, i, wrong);
    }
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 0;
}
