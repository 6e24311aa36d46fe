/* match.c - match ratios by counting pairs one by one, boxes by hand. */
#include "check.h"
#include "lapis/choose.h"

enum { SLOTS = 4, FOUND = 5, IMAGES = 6, EACH = 9 };

typedef struct matches {
  double truth[IMAGES * SLOTS], found[IMAGES * FOUND];
} matches;

static lapis_mat truth_of(matches *m)
{
  return lapis_mat_f64(m->truth, SLOTS, IMAGES);
}
static lapis_mat found_of(matches *m)
{
  return lapis_mat_f64(m->found, FOUND, IMAGES);
}

/* Different features of each image, some of them missing. */
static void random_rows(double *out, int slots, uint64_t *s)
{
  for (int k = 0; k < IMAGES; k++) {
    int order[EACH];
    for (int i = 0; i < EACH; i++) order[i] = i;
    for (int i = EACH - 1; i > 0; i--) {
      int j = (int)(check_uniform(s) * (i + 1)), t = order[i];
      order[i] = order[j], order[j] = t;
    }
    for (int j = 0; j < slots; j++)
      out[k * slots + j] =
          check_uniform(s) < 0.2 ? -1 : (double)(k * EACH + order[j]);
  }
}

static int slot_of(const double *all, int slots, int image, double row)
{
  for (int j = 0; j < slots; j++)
    if (all[image * slots + j] == row) return j;
  return -1;
}

/* The twin: every pair of images, every found pair. */
static double count_true_pairs(const matches *m)
{
  double sum = 0;
  for (int a = 0; a < IMAGES; a++)
    for (int b = a + 1; b < IMAGES; b++)
      for (int j = 0; j < FOUND; j++) {
        double x = m->found[a * FOUND + j], y = m->found[b * FOUND + j];
        if (x < 0 || y < 0) continue;
        int s = slot_of(m->truth, SLOTS, a, x);
        sum += s >= 0 && s == slot_of(m->truth, SLOTS, b, y);
      }
  return sum;
}

static double count_pairs(const double *all, int slots)
{
  double sum = 0;
  for (int a = 0; a < IMAGES; a++)
    for (int b = a + 1; b < IMAGES; b++)
      for (int j = 0; j < slots; j++)
        sum += all[a * slots + j] >= 0 && all[b * slots + j] >= 0;
  return sum;
}

static void ratios_equal_counting(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 1; seed <= 100; seed++) {
    uint64_t s = seed;
    matches m;
    random_rows(m.truth, SLOTS, &s);
    random_rows(m.found, FOUND, &s);
    lapis_mat truth = truth_of(&m), found = found_of(&m);
    lapis_match_scores r;
    assert_int_equal(lapis_match_ratio(ctx, &truth, &found, NULL, &r),
                     LAPIS_OK);
    double both = count_true_pairs(&m);
    CHECK_NEAR(r.match_ratio, both / count_pairs(m.found, FOUND), 1e-15);
    CHECK_NEAR(r.identification_ratio, both / count_pairs(m.truth, SLOTS),
               1e-15);
  }
  lapis_ctx_free(ctx);
}

static void the_truth_in_other_slots_is_perfect(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double truth[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  double found[] = {2, 0, 1, 5, 3, 4, 8, 6, 7};
  lapis_mat t = lapis_mat_f64(truth, 3, 3), f = lapis_mat_f64(found, 3, 3);
  lapis_match_scores r;
  assert_int_equal(lapis_match_ratio(ctx, &t, &f, NULL, &r), LAPIS_OK);
  CHECK_NEAR(r.match_ratio, 1, 0);
  CHECK_NEAR(r.identification_ratio, 1, 0);
  lapis_ctx_free(ctx);
}

/* Two of three marked features are true ones; of four true ones, two are
 * marked. */
static void marks_are_scored(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double truth[] = {0, 1, 5, 6}, found[] = {0, 2, 5, 6};
  double inlier[] = {1, 1, 1, 0};
  lapis_mat t = lapis_mat_f64(truth, 2, 2), f = lapis_mat_f64(found, 2, 2);
  lapis_mat i = lapis_mat_f64(inlier, 2, 2);
  lapis_match_scores r;
  assert_int_equal(lapis_match_ratio(ctx, &t, &f, &i, &r), LAPIS_OK);
  CHECK_NEAR(r.precision, 2.0 / 3, 1e-15);
  CHECK_NEAR(r.recall, 0.5, 1e-15);
  lapis_ctx_free(ctx);
}

static void bad_matches_are_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double truth[] = {0, 1, 2, 3}, found[] = {0, 1, 2, 3};
  lapis_mat t = lapis_mat_f64(truth, 2, 2), f = lapis_mat_f64(found, 4, 1);
  lapis_match_scores r;
  assert_int_equal(lapis_match_ratio(ctx, &t, &f, NULL, &r), LAPIS_ESHAPE);
  f = lapis_mat_f64(found, 2, 2);
  found[2] = 0.5;
  assert_int_equal(lapis_match_ratio(ctx, &t, &f, NULL, &r), LAPIS_EDATA);
  found[2] = NAN;
  assert_int_equal(lapis_match_ratio(ctx, &t, &f, NULL, &r), LAPIS_EDATA);
  found[2] = -2;
  assert_int_equal(lapis_match_ratio(ctx, &t, &f, NULL, &r), LAPIS_EDATA);
  lapis_ctx_free(ctx);
}

static void boxes_by_hand(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  /* the same; half of each shared; apart; inside, a quarter; no area */
  double truth[] = {0, 0, 2, 2, 0, 0, 2, 1, 0, 0, 1, 1, 0, 0, 4, 4, 1, 1, 1, 1};
  double found[] = {0, 0, 2, 2, 1, 0, 3, 1, 5, 5, 6, 6, 1, 1, 3, 3, 1, 1, 1, 1};
  double want[] = {1, 1.0 / 3, 0, 0.25, 0}, each[5], mean, correct;
  lapis_mat t = lapis_mat_f64(truth, 4, 5), f = lapis_mat_f64(found, 4, 5);
  assert_int_equal(lapis_iou(ctx, &t, &f, each, &mean, &correct), LAPIS_OK);
  for (int i = 0; i < 5; i++) CHECK_NEAR(each[i], want[i], 1e-15);
  CHECK_NEAR(mean, (1 + 1.0 / 3 + 0.25) / 5, 1e-15);
  CHECK_NEAR(correct, 0.2, 1e-15);
  truth[2] = -1;
  assert_int_equal(lapis_iou(ctx, &t, &f, each, &mean, &correct), LAPIS_EDATA);
  f.cols = 4;
  assert_int_equal(lapis_iou(ctx, &t, &f, each, &mean, &correct), LAPIS_ESHAPE);
  lapis_ctx_free(ctx);
}

int test_match(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ratios_equal_counting),
      cmocka_unit_test(the_truth_in_other_slots_is_perfect),
      cmocka_unit_test(marks_are_scored),
      cmocka_unit_test(bad_matches_are_refused),
      cmocka_unit_test(boxes_by_hand),
  };
  return run_cases(tests, NULL, NULL);
}
