/* misvm.c - learn from bags: which samples make a bag positive?
 *
 * A bag is positive when one of its samples is; only bags have labels.
 *
 * It prints:
 *   positive samples: 1 7 13 19
 */
#include <lapis/lapis.h>
#include <math.h>
#include <stdio.h>

enum { FEATURES = 2, BAGS = 8, EACH = 3, SAMPLES = BAGS * EACH };

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
  int64_t bag[SAMPLES];
  for (int j = 0; j < SAMPLES; j++) {
    bag[j] = j / EACH;
    y[j] = bag[j] % 2 == 0 ? 1 : -1;
    bool special = y[j] > 0 && j % EACH == 1; /* what training does not know */
    x[j][0] = 0.2 * sin(5.0 * j) + (special ? 2 : 0);
    x[j][1] = 0.2 * cos(3.0 * j);
  }
  lapis_data data = {.X = lapis_mat_f64(&x[0][0], FEATURES, SAMPLES),
                     .Y = lapis_mat_f64(y, 1, SAMPLES),
                     .group = bag};
  lapis_misvm_settings set = lapis_misvm_defaults();
  set.kernel = LAPIS_KERNEL_LINEAR;
  set.C = 1;
  lapis_solver *solver = NULL;
  lapis_mat labels;

  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  if (lapis_misvm_new(ctx, &data, &set, &solver) < 0 ||
      lapis_solve(solver) < 0 ||
      lapis_result_get(solver, "labels", &labels) < 0)
    return complain(ctx, solver);
  printf("positive samples:");
  for (int j = 0; j < SAMPLES; j++)
    if (lapis_mat_at(&labels, 0, j) > 0) printf(" %d", j);
  printf("\n");
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 0;
}
