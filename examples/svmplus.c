/* svmplus.c - learn with knowledge that a test will not have.
 *
 * Training samples come with P, which says how far a sample lies from the
 * boundary; new samples are predicted from X alone, by a model in a file.
 *
 * It prints:
 *   -2.0: -1
 *   -1.0: -1
 *   +1.0: +1
 *   +2.0: +1
 */
#include <lapis/lapis.h>
#include <math.h>
#include <stdio.h>

enum { SAMPLES = 40, NEW = 4 };

/* Fits, and writes what was learnt. */
static lapis_status learn(lapis_ctx *ctx, const lapis_data *data,
                          const char *path)
{
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  lapis_solver *solver = NULL;
  lapis_model *model = NULL;
  set.C = 10;
  lapis_status s = lapis_svmplus_new(ctx, data, &set, &solver);
  if (s >= 0) s = lapis_solve(solver);
  if (s >= 0) s = lapis_model_new(solver, &model);
  if (s >= 0) s = lapis_model_save(ctx, model, path);
  lapis_model_free(model);
  lapis_solver_free(solver);
  return s;
}

/* Reads it again, maybe another day, and answers for new samples. */
static lapis_status answer(lapis_ctx *ctx, const char *path,
                           const lapis_data *data)
{
  lapis_solver *solver = NULL;
  lapis_model *model = NULL;
  lapis_mat labels;
  lapis_status s = lapis_model_load(ctx, path, &model);
  if (s >= 0) s = lapis_predict_new(ctx, data, model, NULL, &solver);
  if (s >= 0) s = lapis_solve(solver);
  if (s >= 0) s = lapis_result_get(solver, "labels", &labels);
  for (int j = 0; s >= 0 && j < NEW; j++)
    printf("%+.1f: %+.0f\n", lapis_mat_at(&data->X, 0, j),
           lapis_mat_at(&labels, 0, j));
  lapis_solver_free(solver);
  lapis_model_free(model);
  return s;
}

int main(int argc, char **argv)
{
  const char *path = argc > 1 ? argv[1] : "svmplus.lapis";
  double x[SAMPLES], p[SAMPLES], y[SAMPLES], fresh[NEW] = {-2, -1, 1, 2};
  for (int j = 0; j < SAMPLES; j++) {
    double truth = sin(2.3 * j);
    x[j] = truth + 0.3 * cos(7.1 * j); /* seen through noise */
    p[j] = fabs(truth);
    y[j] = truth > 0 ? 1 : -1;
  }
  lapis_data data = {.X = lapis_mat_f64(x, 1, SAMPLES),
                     .Y = lapis_mat_f64(y, 1, SAMPLES),
                     .P = lapis_mat_f64(p, 1, SAMPLES)};
  lapis_data later = {.X = lapis_mat_f64(fresh, 1, NEW)};
  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  lapis_status s = learn(ctx, &data, path);
  if (s >= 0) s = answer(ctx, path, &later);
  if (s < 0) fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  lapis_ctx_free(ctx);
  return s < 0;
}
