/* mc.c - fill in the labels of half of the samples.
 *
 * Two classes in the plane, around (1, 1) and (-1, -1); every second label is
 * hidden, and so is one feature of one sample.
 *
 * It prints:
 *   sample 0: +
 *   sample 1: -
 *   sample 2: +
 *   sample 3: -
 *   sample 4: +
 *   sample 5: -
 *   sample 6: +
 *   sample 7: -
 *   proved optimal within 0.0001: yes
 */
#include <lapis/lapis.h>
#include <math.h>
#include <stdio.h>

enum { FEATURES = 2, SAMPLES = 8 };

static int complain(lapis_ctx *ctx, lapis_solver *solver)
{
  fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 1;
}

int main(void)
{
  /* A column is a sample; NaN is "not observed". */
  double x[SAMPLES][FEATURES] = {{1.1, 0.9},   {-0.9, -1.0}, {0.8, 1.2},
                                 {-1.2, -0.8}, {1.0, NAN},   {-1.1, -1.1},
                                 {0.9, 1.0},   {-1.0, -0.9}};
  double y[SAMPLES] = {1, -1, 1, -1, NAN, NAN, NAN, NAN};
  lapis_data data = {.X = lapis_mat_f64(&x[0][0], FEATURES, SAMPLES),
                     .Y = lapis_mat_f64(y, 1, SAMPLES)};
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_solver *solver = NULL;
  lapis_mat scores;

  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  if (lapis_mc_new(ctx, &data, &set, &solver) < 0 || lapis_solve(solver) < 0 ||
      lapis_result_get(solver, "scores", &scores) < 0)
    return complain(ctx, solver);
  for (int j = 0; j < SAMPLES; j++)
    printf("sample %d: %s\n", j, lapis_mat_at(&scores, 0, j) > 0 ? "+" : "-");
  printf("proved optimal within %g: %s\n", set.stop.tol,
         lapis_result_info(solver)->gap <= set.stop.tol ? "yes" : "no");
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 0;
}
