/* Scene-15: one cell of bench/papers/svmp16.py's table once more, on the
 * training images that the data set itself marks. */
#include "svmplus_case.h"

enum { WIDTH = 100, TRAIN = 300, TEST = 1794 };

typedef struct scenes {
  lapis_ctx *ctx;
  double X[WIDTH * TRAIN], P[WIDTH * TRAIN], y[TRAIN];
  double T[WIDTH * TEST], truth[TEST];
} scenes;

/* Columns whose split is wanted, divided by their root mean square norm in
 * training. */
static void take(const lapis_mat *from, const lapis_mat *split, int64_t wanted,
                 double *out)
{
  for (int64_t j = 0; j < from->cols; j++)
    for (int64_t i = 0; i < from->rows; i++)
      if (lapis_mat_at(split, 0, j) == (double)wanted)
        *out++ = lapis_mat_at(from, i, j);
}

static double mean_norm(const double *x, int64_t n)
{
  double sum = 0;
  for (int64_t k = 0; k < WIDTH * n; k++) sum += x[k] * x[k];
  return sqrt(sum / (double)n);
}

static void scale(double *x, int64_t n, double by)
{
  for (int64_t k = 0; k < WIDTH * n; k++) x[k] /= by;
}

static scenes *load(void)
{
  char path[1200];
  lapis_arrays all;
  snprintf(path, sizeof path, "%s/scene15/scene15.npz", check_data());
  scenes *s = test_calloc(1, sizeof *s);
  s->ctx = lapis_ctx_new();
  assert_int_equal(lapis_arrays_read(s->ctx, path, &all), 0);
  lapis_mat main = fixture_mat(&all, "main"), priv = fixture_mat(&all, "priv");
  lapis_mat label = fixture_mat(&all, "label");
  lapis_mat split = fixture_mat(&all, "split");
  take(&main, &split, 0, s->X);
  take(&priv, &split, 0, s->P);
  take(&label, &split, 0, s->y);
  take(&main, &split, 1, s->T);
  take(&label, &split, 1, s->truth);
  lapis_arrays_free(&all);
  double by = mean_norm(s->X, TRAIN);
  scale(s->X, TRAIN, by);
  scale(s->T, TEST, by);
  scale(s->P, TRAIN, mean_norm(s->P, TRAIN));
  return s;
}

/* Per cent of the test images right. */
static double accuracy(scenes *s, bool privileged)
{
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  lapis_data data = {.X = lapis_mat_f64(s->X, WIDTH, TRAIN),
                     .Y = lapis_mat_f64(s->y, 1, TRAIN)};
  lapis_data fresh = {.X = lapis_mat_f64(s->T, WIDTH, TEST)};
  lapis_model *m;
  lapis_solver *p;
  lapis_mat labels;
  if (privileged) data.P = lapis_mat_f64(s->P, WIDTH, TRAIN);
  set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
  lapis_solver *fit = sv_solve(s->ctx, &data, &set);
  assert_int_equal(lapis_model_new(fit, &m), 0);
  assert_int_equal(lapis_predict_new(s->ctx, &fresh, m, NULL, &p), 0);
  assert_true(lapis_solve(p) >= 0);
  assert_int_equal(lapis_result_get(p, "labels", &labels), 0);
  double right = 0;
  for (int64_t j = 0; j < TEST; j++)
    right += lapis_mat_at(&labels, 0, j) == s->truth[j];
  lapis_solver_free(p);
  lapis_model_free(m);
  lapis_solver_free(fit);
  return 100 * right / TEST;
}

static void a_cell_of_the_table(void **state)
{
  scenes *s = load();
  double plain = accuracy(s, false), with = accuracy(s, true);
  print_message("kernel l2-SVM %.2f, l2-SVM+ %.2f\n", plain, with);
  CHECK_NEAR(plain, 63.5, 3); /* the table's mean, three deviations */
  CHECK_NEAR(with, 64.5, 3);
  lapis_ctx_free(s->ctx);
  test_free(s);
}

int test_scene15(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_cell_of_the_table)};
  return run_cases(tests, NULL, NULL);
}
