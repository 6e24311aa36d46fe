/* Steps of SMO and Cholesky's together: how many, and the gap from alpha. */
#include "svmplus_case.h"

/* The relative gap of the l2 problem without P, kernel linear, from alpha. */
static double plain_gap(const lapis_data *data, const double *a, double C)
{
  int64_t n = data->X.cols;
  double norm = 0, least = INFINITY;
  for (int64_t i = 0; i < n; i++) {
    double g = a[i] / C, y = lapis_mat_at(&data->Y, 0, i);
    if (a[i] < 0) fail_msg("a dual variable is negative");
    for (int64_t j = 0; j < n; j++) {
      double k = 1;
      for (int64_t r = 0; r < data->X.rows; r++)
        k += lapis_mat_at(&data->X, r, i) * lapis_mat_at(&data->X, r, j);
      g += y * lapis_mat_at(&data->Y, 0, j) * k * a[j];
    }
    norm += a[i] * g;
    least = fmin(least, g);
  }
  return (norm - least) / (norm / 2);
}

/* Of one feature and labels of chance, K has rank 2 and Q is I / C but for it:
 * hundreds of sweeps, where Cholesky does not end them. */
static void few_sweeps_where_Q_is_ill_conditioned(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 1; seed <= 3; seed++) {
    sv_case c = sv_random(seed, 500, 1, 0);
    uint64_t chance = seed;
    for (int64_t j = 0; j < c.n; j++)
      c.y[j] = check_uniform(&chance) > .5 ? 1 : -1;
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.certificate = true;
    set.formulation = LAPIS_SVMPLUS_L2;
    set.C = 100;
    set.stop.tol = 1e-6;
    lapis_solver *s = sv_solve(ctx, &c.data, &set);
    const lapis_info *info = lapis_result_info(s);
    print_message("%d sweeps, gap %.1e\n", (int)info->iterations, info->gap);
    assert_int_equal(info->status, LAPIS_OK);
    CHECK_AT_MOST(plain_gap(&c.data, sv_array(s, "alpha"), 100), 1e-6);
    CHECK_AT_MOST((double)info->iterations, 16);
    lapis_solver_free(s);
    sv_drop(&c);
  }
  lapis_ctx_free(ctx);
}

int test_smo(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_sweeps_where_Q_is_ill_conditioned)};
  return run_cases(tests, NULL, NULL);
}
