/* clean.c - clean a sample by what clean ones look like.
 *
 * The dictionary holds three clean samples; the new one is a mixture of two of
 * them in which one feature was spoilt.
 *
 * It prints:
 *   feature 4: off by 3.0
 *   a mixture of 1.0 of the first and 0.5 of the third
 */
#include <lapis/lapis.h>
#include <math.h>
#include <stdio.h>

enum { FEATURES = 12, KNOWN = 3 };

static int complain(lapis_ctx *ctx, lapis_solver *solver)
{
  fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 1;
}

int main(void)
{
  double known[KNOWN][FEATURES], x[FEATURES];
  for (int j = 0; j < KNOWN; j++)
    for (int i = 0; i < FEATURES; i++) known[j][i] = cos(i * (j + 1) * 0.3);
  for (int i = 0; i < FEATURES; i++) x[i] = known[0][i] + 0.5 * known[2][i];
  x[4] += 3;
  lapis_data data = {.X = lapis_mat_f64(x, FEATURES, 1)};
  lapis_clean_settings set = lapis_clean_defaults();
  set.weight = "1"; /* of what does not fit, beside |z| */
  set.dictionary = lapis_mat_f64(&known[0][0], FEATURES, KNOWN);
  lapis_solver *solver = NULL;
  lapis_mat sparse, coefficients;

  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  if (lapis_clean_new(ctx, &data, &set, &solver) < 0 ||
      lapis_solve(solver) < 0 ||
      lapis_result_get(solver, "sparse", &sparse) < 0 ||
      lapis_result_get(solver, "coefficients", &coefficients) < 0)
    return complain(ctx, solver);
  for (int i = 0; i < FEATURES; i++)
    if (fabs(lapis_mat_at(&sparse, i, 0)) > 0.1)
      printf("feature %d: off by %.1f\n", i, lapis_mat_at(&sparse, i, 0));
  printf("a mixture of %.1f of the first and %.1f of the third\n",
         lapis_mat_at(&coefficients, 0, 0), lapis_mat_at(&coefficients, 2, 0));
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 0;
}
