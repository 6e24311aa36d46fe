/* Metrics against their definitions. */
#include "check.h"
#include "folds/rank.h"
#include "lapis/choose.h"

static double auroc(const double *truth, const double *scores, int64_t n)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double out;
  assert_int_equal(metric_auroc(ctx, truth, scores, n, &out), LAPIS_OK);
  lapis_ctx_free(ctx);
  return out;
}

/* The chance that a positive beats a negative, by looking at every pair. */
static double by_pairs(const double *truth, const double *scores, int64_t n)
{
  double wins = 0, pairs = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      if (!(truth[i] > 0) || !(truth[j] < 0)) continue;
      pairs += 1;
      wins += scores[i] > scores[j] ? 1 : scores[i] < scores[j] ? 0 : 0.5;
    }
  return wins / pairs;
}

static void auroc_counts_pairs(void **state)
{
  uint64_t s = 1;
  for (int trial = 0; trial < 200; trial++) {
    int64_t n = 3 + (int64_t)(40 * check_uniform(&s));
    double truth[64], scores[64];
    for (int64_t i = 0; i < n; i++) {
      truth[i] = check_uniform(&s) < 0.2 ? NAN : i % 3 == 0 ? 1 : -1;
      scores[i] = floor(8 * check_uniform(&s)); /* many ties */
    }
    truth[0] = 1;
    truth[1] = -1;
    CHECK_NEAR(auroc(truth, scores, n), by_pairs(truth, scores, n), 1e-14);
  }
}

static void auroc_by_hand(void **state)
{
  const double truth[] = {1, 0, 1, 0}, up[] = {4, 1, 3, 2},
               flat[] = {1, 1, 1, 1}, ones[] = {1, 1, 1, 1};
  CHECK_NEAR(auroc(truth, up, 4), 1, 0);
  CHECK_NEAR(auroc(truth, flat, 4), 0.5, 0);
  const double half[] = {4, 3, 1, 2}; /* one of two positives on top */
  CHECK_NEAR(auroc(truth, half, 4), 0.5, 0);
  assert_true(isnan(auroc(ones, up, 4)));
}

static void per_class_and_mean(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double y[] = {1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1};
  double s[] = {9, 1, 0, 2, 2, 0, 1, 3, 0, 8, 4, 0};
  lapis_mat truth = lapis_mat_f64(y, 3, 4), scores = lapis_mat_f64(s, 3, 4);
  double each[3], mean;
  assert_int_equal(lapis_metric(ctx, "auroc", &truth, &scores, each, &mean), 0);
  /* class 1: 1 0 0 0 against 9 2 1 8; class 2: all positive */
  CHECK_NEAR(each[0], 1, 0);
  assert_true(isnan(each[1]));
  CHECK_NEAR(each[2], 0.5, 0);
  CHECK_NEAR(mean, 0.75, 1e-15);
  lapis_ctx_free(ctx);
}

/* precision at each positive: 1/1, 2/3 */
static void average_precision_by_hand(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double y[] = {1, 0, 1, 0}, s[] = {4, 3, 2, 1}, mean;
  lapis_mat truth = lapis_mat_f64(y, 1, 4), scores = lapis_mat_f64(s, 1, 4);
  assert_int_equal(lapis_metric(ctx, "map", &truth, &scores, NULL, &mean), 0);
  CHECK_NEAR(mean, (1 + 2.0 / 3) / 2, 1e-15);
  lapis_ctx_free(ctx);
}

/* A part that lacks a class is judged with the classes of the whole. */
static void a_part_keeps_the_classes(void **state)
{
  static const char *const names[] = {"auroc",   "map", "minndc", "accuracy",
                                      "hamming", "f1",  "rae"};
  lapis_ctx *ctx = lapis_ctx_new();
  double y[] = {0, 1, 2, 0, 1, 0}, l[] = {0, 1, 2, 0, 0, 1};
  double some[] = {NAN, NAN, NAN, 0, 1, 0}, each[3], mean, all;
  lapis_mat truth = lapis_mat_f64(y, 1, 6), said = lapis_mat_f64(l, 1, 6);
  lapis_mat part = lapis_mat_f64(some, 1, 6);
  assert_int_equal(
      lapis_metric_part(ctx, "accuracy", &truth, &part, &said, NULL, &mean), 0);
  CHECK_NEAR(mean, 1 / 3., 1e-15);
  assert_int_equal(
      lapis_metric_part(ctx, "f1", &truth, &part, &said, each, &mean), 0);
  CHECK_NEAR(each[0], 2 / 4., 1e-15); /* hit d; e said wrongly, f missed */
  CHECK_NEAR(each[1], 0, 1e-15);
  assert_true(isnan(each[2]));
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    double s[] = {3, 1, 0, 0, 2, 1, 0, 1, 2, 2, 1, 0, 2, 1, 0, 1, 2, 0};
    bool labels = k > 2;
    lapis_mat scores = labels ? said : lapis_mat_f64(s, 3, 6);
    assert_int_equal(lapis_metric(ctx, names[k], &truth, &scores, NULL, &all),
                     0);
    assert_int_equal(
        lapis_metric_part(ctx, names[k], &truth, &truth, &scores, NULL, &mean),
        0);
    assert_memory_equal(&all, &mean, sizeof all);
  }
  part.cols = 5;
  assert_int_equal(
      lapis_metric_part(ctx, "f1", &truth, &part, &said, each, &mean),
      LAPIS_ESHAPE);
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double y[] = {1, 0, 1, 0}, s[] = {4, NAN, 2, 1}, mean;
  lapis_mat truth = lapis_mat_f64(y, 1, 4), scores = lapis_mat_f64(s, 1, 4);
  assert_int_equal(lapis_metric(ctx, "auroc", &truth, &scores, NULL, &mean),
                   LAPIS_EMISSING);
  scores.cols = 3;
  assert_int_equal(lapis_metric(ctx, "auroc", &truth, &scores, NULL, &mean),
                   LAPIS_ESHAPE);
  assert_int_equal(lapis_metric(ctx, "beauty", &truth, &scores, NULL, &mean),
                   LAPIS_EINVAL);
  lapis_ctx_free(ctx);
}

/* By hand: two labels of which one is not known, and a class of three. */
static void log_loss_is_of_the_truth(void **state)
{
  double y[] = {1, 0, NAN, 1}, p[] = {.8, .3, .4, .5};
  double classes[] = {0, 2, 1}, q[] = {.5, .25, .25, .1, .1, .6, .2, .3, .5};
  double each[3], mean;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat truth = lapis_mat_f64(y, 2, 2), said = lapis_mat_f64(p, 2, 2);
  (void)state;
  assert_int_equal(lapis_metric(ctx, "log-loss", &truth, &said, each, &mean),
                   0);
  CHECK_NEAR(each[0], -log(.8), 1e-15);
  CHECK_NEAR(each[1], -(log(.7) + log(.5)) / 2, 1e-15);
  CHECK_NEAR(mean, -(log(.8) + log(.7) + log(.5)) / 3, 1e-15);
  truth = lapis_mat_f64(classes, 1, 3);
  said = lapis_mat_f64(q, 3, 3);
  assert_int_equal(lapis_metric(ctx, "log-loss", &truth, &said, each, &mean),
                   0);
  CHECK_NEAR(mean, -(log(.5) + log(.75) + log(.3)) / 3, 1e-15);
  p[1] = 1.5;
  truth = lapis_mat_f64(y, 2, 2);
  said = lapis_mat_f64(p, 2, 2);
  assert_int_equal(lapis_metric(ctx, "log-loss", &truth, &said, NULL, &mean),
                   LAPIS_EDATA);
  assert_non_null(
      strstr(lapis_ctx_error(ctx), "sample 1, target 2 (from 1) is 1.5"));
  lapis_ctx_free(ctx);
}

int test_metric(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(log_loss_is_of_the_truth),
      cmocka_unit_test(auroc_counts_pairs),
      cmocka_unit_test(auroc_by_hand),
      cmocka_unit_test(per_class_and_mean),
      cmocka_unit_test(average_precision_by_hand),
      cmocka_unit_test(a_part_keeps_the_classes),
      cmocka_unit_test(refusals),
  };
  return run_cases(tests, NULL, NULL);
}
