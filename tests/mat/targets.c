/* Y as people give it. */
#include "check.h"
#include "mat/mat.h"

static targets encode(double *y, int64_t rows, int64_t cols, lapis_status want)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat Y = lapis_mat_f64(y, rows, cols);
  targets t;
  assert_int_equal(targets_encode(ctx, "test", &Y, &t), want);
  lapis_ctx_free(ctx);
  return t;
}

static void check_binary(double low, double high, bool zero_one)
{
  double y[] = {high, low, NAN, high};
  targets t = encode(y, 1, 4, LAPIS_OK);
  assert_int_equal(t.kind, TARGETS_BINARY);
  assert_int_equal(t.classes, 1);
  assert_int_equal(t.zero_one, zero_one);
  CHECK_NEAR(t.sign[0], 1, 0);
  CHECK_NEAR(t.sign[1], -1, 0);
  assert_true(isnan(t.sign[2]));
  double labels[4];
  targets_decode(&t, (double[]){2, -2, 0.1, -0.1}, 0, labels);
  double wanted[] = {high, low, high, low};
  for (int i = 0; i < 4; i++) CHECK_NEAR(labels[i], wanted[i], 0);
  targets_free(&t);
}

static void count_warnings(int level, const char *text, void *user)
{
  if (level == 0 && strstr(text, "-1, 0 and 1") != NULL) ++*(int *)user;
}

/* Said once, however often: and of nothing that looks alike. */
static void three_signs_are_said(void **state)
{
  double signs[] = {1, -1, 0, NAN, 1}, ranks[] = {1, -1, 2, 0, 1};
  double two[] = {1, -1, NAN, NAN, 1};
  double *all[] = {two, ranks, signs, signs};
  int said = 0;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_ctx_on_message(ctx, count_warnings, &said);
  for (int i = 0; i < 4; i++) {
    lapis_mat Y = lapis_mat_f64(all[i], 1, 5);
    targets t;
    assert_int_equal(targets_encode(ctx, "test", &Y, &t), LAPIS_OK);
    assert_int_equal(t.classes, i == 0 ? 1 : i == 1 ? 4 : 3);
    targets_free(&t);
    assert_int_equal(said, i >= 2);
  }
  lapis_ctx_free(ctx);
}

static void two_values_are_binary(void **state)
{
  check_binary(0, 1, true);
  check_binary(-1, 1, false);
  check_binary(3, 8, false);
  check_binary(-0.5, 0.25, false);
}

/* A single known 0 is a negative, a single 1 or 7 a positive. */
static void one_value(void **state)
{
  const double value[] = {0, 1, -1, 7}, sign[] = {-1, 1, -1, 1};
  for (int k = 0; k < 4; k++) {
    double y[] = {value[k], NAN};
    targets t = encode(y, 1, 2, LAPIS_OK);
    assert_int_equal(t.kind, TARGETS_BINARY);
    CHECK_NEAR(t.sign[0], sign[k], 0);
    targets_free(&t);
  }
}

static void more_values_are_classes(void **state)
{
  double y[] = {30, 10, NAN, 20, 10};
  targets t = encode(y, 1, 5, LAPIS_OK);
  assert_int_equal(t.kind, TARGETS_CLASS);
  assert_int_equal(t.classes, 3);
  const double wanted[] = {-1, -1, 1, 1, -1, -1};
  for (int i = 0; i < 6; i++) CHECK_NEAR(t.sign[i], wanted[i], 0);
  for (int i = 6; i < 9; i++) assert_true(isnan(t.sign[i]));
  double labels[5], scores[15] = {0, 5, 1, 9, 8, 7, 0, 0, 1};
  targets_decode(&t, scores, 0.5, labels);
  CHECK_NEAR(labels[0], 20, 0);
  CHECK_NEAR(labels[1], 10, 0);
  CHECK_NEAR(labels[2], 30, 0);
  assert_int_equal(targets_label_rows(&t), 1);
  targets_free(&t);
}

static void several_rows_are_labels(void **state)
{
  double y[] = {0, 1, NAN, 1, 1, 0};
  targets t = encode(y, 2, 3, LAPIS_OK);
  assert_int_equal(t.kind, TARGETS_MULTILABEL);
  assert_true(t.zero_one);
  CHECK_NEAR(t.sign[0], -1, 0);
  CHECK_NEAR(t.sign[1], 1, 0);
  assert_int_equal(targets_label_rows(&t), 2);
  targets_free(&t);
  double z[] = {-1, 1, 1, 1};
  t = encode(z, 2, 2, LAPIS_OK);
  assert_false(t.zero_one);
  targets_free(&t);
  double mixed[] = {-1, 1, 0, 1};
  encode(mixed, 2, 2, LAPIS_EDATA);
}

static void too_many_classes(void **state)
{
  double *y = malloc(20000 * sizeof *y);
  for (int i = 0; i < 20000; i++) y[i] = i * 0.5;
  encode(y, 1, 20000, LAPIS_EDATA);
  free(y);
}

static void views(void **state)
{
  float f[] = {1, NAN, 3, 4, 5, 6};
  lapis_mat A = {.dtype = LAPIS_F32, .rows = 2, .cols = 2, .ld = 3, .val = f};
  assert_int_equal(lapis_mat_missing(&A), 1);
  CHECK_NEAR(lapis_mat_at(&A, 1, 1), 5, 0);
  int64_t colptr[] = {0, 1, 1, 3};
  int32_t rowidx[] = {1, 0, 2};
  double val[] = {7, NAN, 9};
  lapis_mat S = {.dtype = LAPIS_F64,
                 .rows = 3,
                 .cols = 3,
                 .val = val,
                 .colptr = colptr,
                 .rowidx = rowidx};
  assert_int_equal(lapis_mat_missing(&S), 1);
  CHECK_NEAR(lapis_mat_at(&S, 2, 2), 9, 0);
  CHECK_NEAR(lapis_mat_at(&S, 2, 1), 0, 0);
  double dense[9];
  mat_to_f64(&S, dense, 3);
  const double wanted[] = {0, 7, 0, 0, 0, 0, NAN, 0, 9};
  for (int i = 0; i < 9; i++)
    assert_true(dense[i] == wanted[i] || (isnan(dense[i]) && i == 6));
}

int test_targets(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_values_are_binary),
      cmocka_unit_test(three_signs_are_said),
      cmocka_unit_test(one_value),
      cmocka_unit_test(more_values_are_classes),
      cmocka_unit_test(several_rows_are_labels),
      cmocka_unit_test(too_many_classes),
      cmocka_unit_test(views),
  };
  return run_cases(tests, NULL, NULL);
}
