/* SVM+ at any size of its features: the problem as stated, and --scale. */
#include "svmplus_case.h"

enum { N = 80, D = 6, PRIV = 3 };

static lapis_svmplus_settings with_scale(int scale)
{
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.certificate = true;
  set.scale = scale;
  return set;
}

/* Feature i of A times size[i]. */
static void resize(const lapis_mat *A, const double *size)
{
  double *val = A->val;
  for (int64_t k = 0; k < A->rows * A->cols; k++) val[k] *= size[k % A->rows];
}

/* ---- the problem as stated ----------------------------------------------*/
/* The primal at the weights against the dual at alpha, both made here. */
static double plain_gap(const lapis_data *data, const lapis_solver *s, double C)
{
  const double *w = sv_array(s, "weights"), *a = sv_array(s, "alpha");
  int64_t d = data->X.rows;
  long double own[D + 1] = {0}, sum = 0, cost = 0, dual = 0, square = 0;
  for (int64_t j = 0; j < data->X.cols; j++) {
    double y = lapis_mat_at(&data->Y, 0, j);
    assert_true(a[j] >= 0 && a[j] <= C);
    sum += a[j];
    for (int64_t i = 0; i <= d; i++)
      own[i] +=
          (long double)a[j] * y * (i == d ? 1 : lapis_mat_at(&data->X, i, j));
    cost += C * fmax(0, 1 - y * sv_product(&data->X, j, w));
  }
  for (int64_t i = 0; i <= d; i++) {
    dual += own[i] * own[i] / 2;
    square += (long double)w[i] * w[i] / 2;
  }
  return (double)((square + cost - (sum - dual)) / (square + cost));
}

static void check_stated(lapis_ctx *ctx, const sv_case *c, const char *what)
{
  lapis_svmplus_settings set = with_scale(LAPIS_SCALE_NONE);
  lapis_solver *s = sv_solve(ctx, &c->data, &set);
  const lapis_info *info = lapis_result_info(s);
  if (info->status != LAPIS_OK || !(info->gap <= set.stop.tol))
    fail_msg("%s: %s, gap %g", what, lapis_status_name(info->status),
             info->gap);
  if (c->p == 0) CHECK_AT_MOST(plain_gap(&c->data, s, set.C), 1e-4);
  lapis_solver_free(s);
}

static void stated_problem_is_solved_at_any_size(void **state)
{
  static const double all[] = {1e-6, 1e-3, 1, 1e2, 1e4};
  static const double mixed[D] = {1e-3, 1, 1e4, 10, .1, 1e3};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int seed = 1; seed <= 3; seed++)
    for (int k = 0; k <= 5; k++)
      for (int64_t p = 0; p <= PRIV; p += PRIV) {
        char what[60];
        double size[D];
        sv_case c = sv_random((uint64_t)seed, N, D, p);
        for (int i = 0; i < D; i++) size[i] = k < 5 ? all[k] : mixed[i];
        resize(&c.data.X, size);
        if (p > 0) resize(&c.data.P, size);
        snprintf(what, sizeof what, "seed %d, sizes %d, p %d", seed, k, (int)p);
        check_stated(ctx, &c, what);
        sv_drop(&c);
      }
  lapis_ctx_free(ctx);
}

/* ---- standard -----------------------------------------------------------*/
/* A case whose features have units and places, and its twin standardised by
 * hand. */
static sv_case in_units(uint64_t seed, sv_case *twin)
{
  sv_case c = sv_random(seed, N, D, PRIV);
  *twin = sv_random(seed, N, D, PRIV);
  for (int64_t i = 0; i < D; i++) {
    double unit = pow(10, (double)i - 2), mean = 0, dev = 0;
    for (int64_t j = 0; j < N; j++) {
      c.X[j * D + i] = unit * (c.X[j * D + i] + 3);
      mean += c.X[j * D + i] / N;
    }
    for (int64_t j = 0; j < N; j++)
      dev += (c.X[j * D + i] - mean) * (c.X[j * D + i] - mean) / N;
    for (int64_t j = 0; j < N; j++)
      twin->X[j * D + i] = (c.X[j * D + i] - mean) / sqrt(dev * D);
  }
  c.data.P = twin->data.P = (lapis_mat){0};
  return c;
}

static void check_twin(lapis_ctx *ctx, int kernel, int formulation)
{
  sv_case twin, c = in_units(7, &twin);
  lapis_svmplus_settings set = with_scale(LAPIS_SCALE_STANDARD);
  lapis_svmplus_settings plain = with_scale(LAPIS_SCALE_NONE);
  set.kernel = plain.kernel = kernel;
  set.formulation = plain.formulation = formulation;
  set.stop.tol = plain.stop.tol = 1e-10;
  set.probability = plain.probability = true;
  lapis_solver *s = sv_solve(ctx, &c.data, &set), *q;
  lapis_solver *t = sv_solve(ctx, &twin.data, &plain);
  const double *f = sv_array(s, "scores"), *g = sv_array(t, "scores");
  for (int64_t j = 0; j < N; j++) CHECK_NEAR(f[j], g[j], 1e-7);
  lapis_model *m;
  assert_int_equal(lapis_model_new(s, &m), 0);
  assert_int_equal(lapis_predict_new(ctx, &c.data, m, NULL, &q), 0);
  assert_int_equal(lapis_solve(q), 0);
  const double *again = sv_array(q, "scores");
  for (int64_t j = 0; j < N; j++) CHECK_NEAR(f[j], again[j], 1e-9);
  if (kernel == LAPIS_KERNEL_LINEAR && formulation != LAPIS_SVMPLUS_L2) {
    const double *w = sv_array(s, "weights");
    for (int64_t j = 0; j < N; j++)
      CHECK_NEAR(f[j], sv_product(&c.data.X, j, w), 1e-9);
  }
  lapis_solver_free(q);
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_solver_free(t);
  sv_drop(&c);
  sv_drop(&twin);
}

static void standard_is_standardising_by_hand(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  check_twin(ctx, LAPIS_KERNEL_LINEAR, LAPIS_SVMPLUS_AUTO);
  check_twin(ctx, LAPIS_KERNEL_LINEAR, LAPIS_SVMPLUS_L2);
  check_twin(ctx, LAPIS_KERNEL_LINEAR, LAPIS_SVMPLUS_ORIGINAL);
  check_twin(ctx, LAPIS_KERNEL_RBF, LAPIS_SVMPLUS_AUTO);
  lapis_ctx_free(ctx);
}

/* Sparse samples are divided by root mean squares and not shifted. */
static void sparse_samples_stay_sparse(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(4, N, D, 0), twin = sv_random(4, N, D, 0);
  double val[N * D];
  int64_t start[N + 1], count = 0;
  int32_t row[N * D];
  for (int64_t j = 0; j < N; j++) {
    start[j] = count;
    for (int64_t i = 0; i < D; i++) {
      bool kept = (i + j) % 3 == 0;
      c.X[j * D + i] = twin.X[j * D + i] = kept ? c.X[j * D + i] * 1e3 : 0;
      if (!kept) continue;
      val[count] = c.X[j * D + i];
      row[count++] = (int32_t)i;
    }
  }
  start[N] = count;
  for (int64_t i = 0; i < D; i++) {
    double square = 0;
    for (int64_t j = 0; j < N; j++)
      square += c.X[j * D + i] * c.X[j * D + i] / N;
    for (int64_t j = 0; j < N; j++) twin.X[j * D + i] /= sqrt(square * D);
  }
  c.data.X = (lapis_mat){.dtype = LAPIS_F64,
                         .rows = D,
                         .cols = N,
                         .ld = D,
                         .val = val,
                         .colptr = start,
                         .rowidx = row};
  lapis_svmplus_settings set = with_scale(LAPIS_SCALE_AUTO);
  lapis_svmplus_settings plain = with_scale(LAPIS_SCALE_NONE);
  lapis_solver *s = sv_solve(ctx, &c.data, &set);
  lapis_solver *t = sv_solve(ctx, &twin.data, &plain);
  const double *f = sv_array(s, "scores"), *g = sv_array(t, "scores");
  for (int64_t j = 0; j < N; j++) CHECK_NEAR(f[j], g[j], 1e-9);
  lapis_solver_free(s);
  lapis_solver_free(t);
  sv_drop(&c);
  sv_drop(&twin);
  lapis_ctx_free(ctx);
}

/* ---- auto ---------------------------------------------------------------*/
static int used_scale(lapis_ctx *ctx, const sv_case *c,
                      const lapis_svmplus_settings *set)
{
  lapis_solver *s = sv_solve(ctx, &c->data, set);
  int used = ((const lapis_svmplus_settings *)lapis_result_settings(s))->scale;
  lapis_solver_free(s);
  return used;
}

static void auto_looks_whether_it_is_needed(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_svmplus_settings set = with_scale(LAPIS_SCALE_AUTO), rbf = set;
  rbf.kernel = LAPIS_KERNEL_RBF;
  sv_case c = sv_random(2, N, D, PRIV);
  double *X = c.X;
  assert_int_equal(used_scale(ctx, &c, &set), LAPIS_SCALE_NONE);
  double whole[D] = {1e2, 1e2, 1e2, 1e2, 1e2, 1e2},
         one[D] = {90, 1, 1, 1, 1, 1};
  resize(&c.data.X, whole); /* |x|^2 is 6e4 */
  assert_int_equal(used_scale(ctx, &c, &set), LAPIS_SCALE_STANDARD);
  assert_int_equal(used_scale(ctx, &c, &rbf), LAPIS_SCALE_NONE);
  for (int i = 0; i < D; i++) whole[i] = 1e-2;
  resize(&c.data.X, whole);
  resize(&c.data.X, one);
  assert_int_equal(used_scale(ctx, &c, &rbf), LAPIS_SCALE_NONE);
  resize(&c.data.X, one);
  assert_int_equal(used_scale(ctx, &c, &rbf), LAPIS_SCALE_STANDARD);
  rbf.width = 1e4; /* in units of the data as they are */
  assert_int_equal(used_scale(ctx, &c, &rbf), LAPIS_SCALE_NONE);
  sv_drop(&c);
  c = sv_random(2, N, D, 0);
  X = c.X;
  for (int j = 0; j < N; j++) X[j * D + 1] = j < 2 ? 1e-4 : 0; /* rare */
  assert_int_equal(used_scale(ctx, &c, &set), LAPIS_SCALE_NONE);
  for (int j = 0; j < N; j++) X[j * D + 1] = 5; /* constant */
  assert_int_equal(used_scale(ctx, &c, &set), LAPIS_SCALE_NONE);
  for (int j = 0; j < N; j++) X[j * D + 1] = 1e-4 * j; /* small */
  assert_int_equal(used_scale(ctx, &c, &set), LAPIS_SCALE_STANDARD);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void what_is_in_order_keeps_its_bits(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(5, N, D, PRIV);
  lapis_svmplus_settings a = with_scale(LAPIS_SCALE_AUTO);
  lapis_svmplus_settings b = with_scale(LAPIS_SCALE_NONE);
  lapis_solver *s = sv_solve(ctx, &c.data, &a), *t = sv_solve(ctx, &c.data, &b);
  assert_memory_equal(sv_array(s, "scores"), sv_array(t, "scores"),
                      N * sizeof(double));
  assert_memory_equal(sv_array(s, "alpha"), sv_array(t, "alpha"),
                      N * sizeof(double));
  lapis_solver_free(s);
  lapis_solver_free(t);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void kernels_of_counts_are_not_shifted(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(5, N, D, 0);
  lapis_svmplus_settings set = with_scale(LAPIS_SCALE_STANDARD);
  lapis_solver *s;
  set.kernel = LAPIS_KERNEL_CHI2;
  lapis_status status = lapis_svmplus_new(ctx, &c.data, &set, &s);
  check_refused(ctx, status, LAPIS_EINVAL, s, "scale kernel chi2");
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* Bags: units change nothing once features are standardised inside. */
static void bags_do_not_mind_units(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case twin, c = in_units(9, &twin);
  int64_t group[N];
  for (int64_t j = 0; j < N; j++) {
    group[j] = j / 4;
    c.y[j] = twin.y[j] = j / 4 % 2 == 0 ? 1 : -1;
  }
  c.data.group = twin.data.group = group;
  lapis_misvm_settings set = lapis_misvm_defaults(), plain = set;
  plain.scale = LAPIS_SCALE_NONE;
  lapis_solver *s, *t;
  assert_int_equal(lapis_misvm_new(ctx, &c.data, &set, &s), 0);
  assert_int_equal(lapis_misvm_new(ctx, &twin.data, &plain, &t), 0);
  assert_int_equal(lapis_solve(s), 0);
  assert_int_equal(lapis_solve(t), 0);
  const double *f = sv_array(s, "scores"), *g = sv_array(t, "scores");
  for (int64_t j = 0; j < N; j++) CHECK_NEAR(f[j], g[j], 1e-6);
  lapis_solver_free(s);
  lapis_solver_free(t);
  sv_drop(&c);
  sv_drop(&twin);
  lapis_ctx_free(ctx);
}

int test_scale(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stated_problem_is_solved_at_any_size),
      cmocka_unit_test(standard_is_standardising_by_hand),
      cmocka_unit_test(sparse_samples_stay_sparse),
      cmocka_unit_test(auto_looks_whether_it_is_needed),
      cmocka_unit_test(what_is_in_order_keeps_its_bits),
      cmocka_unit_test(kernels_of_counts_are_not_shifted),
      cmocka_unit_test(bags_do_not_mind_units)};
  return run_cases(tests, NULL, NULL);
}
