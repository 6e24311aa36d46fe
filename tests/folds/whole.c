/* Metrics of all outputs together, by hand. */
#include "check.h"
#include "lapis/choose.h"

static double metric(const char *name, double *truth, int64_t rows,
                     double *scores, int64_t score_rows, int64_t n, double *per)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat t = lapis_mat_f64(truth, rows, n);
  lapis_mat s = lapis_mat_f64(scores, score_rows, n);
  double out;
  if (lapis_metric(ctx, name, &t, &s, per, &out) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  lapis_ctx_free(ctx);
  return out;
}

static void rae(void **state)
{
  double Y[] = {3, 0, 4, 5}, S[] = {3, 0, 1, 1}, per[2];
  CHECK_NEAR(metric("rae", Y, 2, S, 2, 2, per), 5 / sqrt(50), 1e-15);
  CHECK_NEAR(per[0], 3.0 / 5, 1e-15);
  CHECK_NEAR(per[1], 4.0 / 5, 1e-15);
}

static void angle_wraps(void **state)
{
  double a = 3.0543261909900767; /* 175 degrees */
  double Y[] = {1, 0, cos(a), sin(a)};
  double S[] = {0, 2, 3 * cos(-a), 3 * sin(-a)};
  CHECK_NEAR(metric("angle-error", Y, 2, S, 2, 2, NULL), (90 + 10) / 2.0,
             1e-10);
}

/* 1 - 1.5 / 29.1875 of the classic four values; a row that says the mean has 0,
 * one that says worse less, one of a single value none, and the mean over rows
 * leaves that out.  What is not known does not count. */
static void r2_by_hand(void **state)
{
  double Y[] = {3, -0.5, 2, 7}, S[] = {2.5, 0.0, 2, 8}, per[4];
  CHECK_NEAR(metric("r2", Y, 1, S, 1, 4, per), 1 - 1.5 / 29.1875, 1e-15);
  CHECK_NEAR(per[0], 1 - 1.5 / 29.1875, 1e-15);
  double T[] = {1, 1, .1, NAN, 2, NAN, .1, NAN, 3, 3, .1, 7};
  double A[] = {2, 3, .1, 0, 2, 9, .1, 0, 2, 1, .2, 7};
  CHECK_NEAR(metric("r2", T, 4, A, 4, 3, per), (0 + (1 - 8 / 2.)) / 2, 1e-15);
  CHECK_NEAR(per[0], 0, 1e-15);
  CHECK_NEAR(per[1], 1 - 8 / 2., 1e-15);
  assert_true(isnan(per[2]));
  assert_true(isnan(per[3]));
  double C[] = {.1, .1, .1}, R[] = {.1, .1, .2};
  assert_true(isnan(metric("r2", C, 1, R, 1, 3, NULL)));
}

/* Student's t, two-sided .95, of 2, 4 and many degrees of freedom. */
static void few_units_vary_more(void **state)
{
  CHECK_NEAR(lapis_far_errors(3), 4.3027, .04);
  assert_true(lapis_is_clear(.21, .1) && !lapis_is_clear(.2, .1));
  assert_false(lapis_is_clear(-.3, .1) || lapis_is_clear(NAN, .1));
  assert_true(lapis_is_clear_among(.21, .1, 1)); /* quantiles of tables */
  assert_true(lapis_is_clear_among(.2577, .1, 10));
  assert_false(lapis_is_clear_among(.2575, .1, 10));
  assert_true(lapis_is_clear_among(.38907, .1, 1000));
  assert_false(lapis_is_clear_among(.38905, .1, 1000));
  assert_true(lapis_is_clear_among(.1, 0, 1000));
  assert_false(lapis_is_clear_among(0, 0, 1) ||
               lapis_is_clear_among(-.3, .1, 1) ||
               lapis_is_clear_among(NAN, .1, 1));
  CHECK_NEAR(lapis_far_errors(5), 2.7764, .01);
  CHECK_NEAR(lapis_far_errors(INFINITY), 1.96, 1e-3);
}

static void rmse_is_in_the_units(void **state)
{
  double Y[] = {3, 0, 4, NAN, 5, 1}, S[] = {3, 2, 1, 9, 1, 1}, per[2];
  CHECK_NEAR(metric("rmse", Y, 2, S, 2, 3, per), sqrt(29 / 5.), 1e-15);
  CHECK_NEAR(per[0], sqrt(25 / 3.), 1e-15);
  CHECK_NEAR(per[1], sqrt(2), 1e-15);
}

static void accuracy(void **state)
{
  double Y[] = {10, 20, 30, NAN}, L[] = {10, 30, 30, 10};
  double F[] = {1, 0, 0, 0, 2, 1, 3, 2, 1, 0, 0, 1};
  CHECK_NEAR(metric("accuracy", Y, 1, L, 1, 4, NULL), 2.0 / 3, 1e-15);
  CHECK_NEAR(metric("accuracy", Y, 1, F, 3, 4, NULL), 2.0 / 3, 1e-15);
}

/* Several columns: a sample is right when all that is known of it is. */
static void accuracy_of_several(void **state)
{
  double Y[] = {1, 0, 1, 1, NAN, 0}, L[] = {1, 0, 0, 1, 1, 0};
  CHECK_NEAR(metric("accuracy", Y, 2, L, 2, 3, NULL), 2.0 / 3, 1e-15);
  CHECK_NEAR(metric("hamming", Y, 2, L, 2, 3, NULL), 1.0 / 5, 1e-15);
}

/* f1 of two columns by hand: TP 1, FN 1 and TP 1, FP 1. */
static void f1(void **state)
{
  double Y[] = {1, 0, 1, 1, NAN, 0}, L[] = {1, 1, 0, 1, 1, 0}, per[3];
  CHECK_NEAR(metric("f1", Y, 2, L, 2, 3, per), 2.0 / 3, 1e-15);
  CHECK_NEAR(per[0], 2.0 / 3, 1e-15);
  CHECK_NEAR(per[1], 2.0 / 3, 1e-15);
  double C[] = {5, 6, 7, 7}, said[] = {5, 7, 7, 6};
  CHECK_NEAR(metric("f1", C, 1, said, 1, 4, per), (1 + 0 + 0.5) / 3, 1e-15);
  CHECK_NEAR(per[0], 1, 1e-15);
  CHECK_NEAR(per[1], 0, 1e-15);
  CHECK_NEAR(per[2], 0.5, 1e-15);
}

/* Scores in place of labels would be compared with them in silence. */
static void scores_are_no_labels(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double Y[] = {1, -1, 1}, S[] = {1, -1, 0.25}, out;
  lapis_mat t = lapis_mat_f64(Y, 1, 3), s = lapis_mat_f64(S, 1, 3);
  const char *const names[] = {"accuracy", "hamming", "f1"};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(lapis_metric(ctx, names[i], &t, &s, NULL, &out),
                     LAPIS_EDATA);
    check_says(lapis_ctx_error(ctx), "3 1 0.25");
  }
  lapis_ctx_free(ctx);
}

/* Two events, two others; the best threshold takes the first alone. */
static void detection_cost(void **state)
{
  double Y[] = {1, -1, 1, -1}, S[] = {4, 3, 2, 1};
  CHECK_NEAR(metric("minndc", Y, 1, S, 1, 4, NULL), 0.5, 1e-15);
}

int test_whole(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(rae),
                                     cmocka_unit_test(r2_by_hand),
                                     cmocka_unit_test(rmse_is_in_the_units),
                                     cmocka_unit_test(few_units_vary_more),
                                     cmocka_unit_test(angle_wraps),
                                     cmocka_unit_test(accuracy),
                                     cmocka_unit_test(accuracy_of_several),
                                     cmocka_unit_test(f1),
                                     cmocka_unit_test(scores_are_no_labels),
                                     cmocka_unit_test(detection_cost)};
  return run_cases(tests, NULL, NULL);
}
