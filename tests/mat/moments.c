/* Means and deviations of features, of what is known of them. */
#include "check.h"
#include "mat/mat.h"

enum { D = 3, N = 4 };

static void moments_of_what_is_known(void **state)
{
  (void)state;
  lapis_ctx *ctx = lapis_ctx_new();
  double X[N * D] = {1, 1e8 + .1, NAN, 3,   1e8 + .1, NAN,
                     5, 1e8 + .1, NAN, NAN, 1e8 + .1, NAN};
  double weight[N] = {1, 2, 1, 5}, room[3 * D];
  mat_moments of = {D, room, room + D, room + 2 * D};
  lapis_mat view = lapis_mat_f64(X, D, N);
  assert_int_equal(mat_measure(ctx, &view, NULL, &of), LAPIS_OK);
  CHECK_NEAR(of.count[0], 3, 0);
  CHECK_NEAR(of.mean[0], 3, 0);
  CHECK_NEAR(of.deviation[0], sqrt(8.0 / 3), 1e-15);
  CHECK_NEAR(of.deviation[1], 0, 0); /* a constant, whatever its mean rounds */
  CHECK_NEAR(of.count[2] + of.mean[2] + of.deviation[2], 0, 0);
  assert_int_equal(mat_measure(ctx, &view, weight, &of), LAPIS_OK);
  CHECK_NEAR(of.count[0], 4, 0); /* as the second sample twice */
  CHECK_NEAR(of.mean[0], 3, 0);
  CHECK_NEAR(of.deviation[0], sqrt(2), 1e-15);
  lapis_ctx_free(ctx);
}

int test_moments(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moments_of_what_is_known),
  };
  return run_cases(tests, NULL, NULL);
}
