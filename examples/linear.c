/* linear.c - the same labels by two methods that are named at run time.
 *
 * Every method is used the same way: find it, fill its settings, set some by
 * their names, solve, read arrays.  linear is logistic regression, trees are
 * extremely randomised ones.
 *
 * It prints:
 *   linear: the last sample is positive
 *   trees: the last sample is positive
 */
#include <lapis/lapis.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 2, SAMPLES = 60 };

static lapis_status fit(lapis_ctx *ctx, const lapis_data *data,
                        const char *name, const char *key, const char *value)
{
  const lapis_method *m = lapis_method_find(name);
  void *set = calloc(1, m->settings_size);
  lapis_solver *solver = NULL;
  lapis_mat p;
  if (set == NULL) return LAPIS_ENOMEM;
  lapis_settings_default(m, set);
  lapis_status s = lapis_settings_set(ctx, m, set, key, value);
  if (s >= 0) s = lapis_solver_new(ctx, m, data, set, &solver);
  if (s >= 0) s = lapis_solve(solver);
  if (s >= 0) s = lapis_result_get(solver, "probabilities", &p);
  if (s >= 0)
    printf("%s: the last sample is %s\n", name,
           lapis_mat_at(&p, 0, SAMPLES - 1) > 0.5 ? "positive" : "negative");
  lapis_solver_free(solver);
  free(set);
  return s;
}

int main(void)
{
  double x[SAMPLES][FEATURES], y[SAMPLES];
  for (int j = 0; j < SAMPLES; j++) {
    x[j][0] = sin(2.3 * j);
    x[j][1] = cos(1.1 * j);
    y[j] = x[j][0] + x[j][1] > 0 ? 1 : -1;
  }
  x[SAMPLES - 1][0] = x[SAMPLES - 1][1] = 0.7;
  y[SAMPLES - 1] = NAN;
  lapis_data data = {.X = lapis_mat_f64(&x[0][0], FEATURES, SAMPLES),
                     .Y = lapis_mat_f64(y, 1, SAMPLES)};
  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  lapis_status s = fit(ctx, &data, "linear", "C", "10");
  if (s >= 0) s = fit(ctx, &data, "trees", "trees", "50");
  if (s < 0) fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  lapis_ctx_free(ctx);
  return s < 0;
}
