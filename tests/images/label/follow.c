/* follow.c - points of one image that are followed through others: all the way,
 * and where the run is stopped. */
#include <math.h>

#include "check.h"
#include "images/pipeline/pipeline.h"

enum { D = 2, IMAGES = 3, EACH = 2 };

/* Each image has the labelled point's feature once, and another one. */
static const double X[D * IMAGES * EACH] = {1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1};
static const double at[4 * IMAGES * EACH] = {
    5, 5, 0, 0, 50, 5, 0, 0, 5, 50, 0, 0, 50, 5, 0, 0, 5, 5, 0, 0, 50, 5, 0, 0};
static const int64_t first[IMAGES + 1] = {0, 2, 4, 6};

static lapis_status follow(lapis_ctx *ctx, double end, int64_t *pick)
{
  unsigned char sure[IMAGES] = {0}, placed[IMAGES] = {0};
  lapis_flow f = {.ctx = ctx, .end = end};
  flow_follow v = {.d = D,
                   .K = IMAGES,
                   .n = 1,
                   .X = X,
                   .at = at,
                   .first = first,
                   .near = 8,
                   .pick = pick,
                   .sure = sure,
                   .placed = placed};
  return flow_find_points(&f, &v);
}

static void it_is_found_in_all(void **state)
{
  static const int64_t right[IMAGES] = {0, 3, 4};
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t pick[IMAGES] = {-1, -1, -1};
  (void)state;
  assert_int_equal(follow(ctx, INFINITY, pick), LAPIS_OK);
  assert_memory_equal(pick, right, sizeof right);
  lapis_ctx_free(ctx);
}

static void a_stop_ends_it_at_the_next_image(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  (void)state;
  for (int late = 0; late < 2; late++) {
    int64_t pick[IMAGES] = {-1, -1, -1};
    if (!late) lapis_ctx_cancel(ctx);
    assert_int_equal(follow(ctx, late ? 0 : INFINITY, pick),
                     late ? LAPIS_TIME_LIMIT : LAPIS_CANCELLED);
    assert_int_equal((pick[1] < 0) + (pick[2] < 0), 1);
  }
  lapis_ctx_free(ctx);
}

static bool hear(const lapis_progress *now, void *share)
{
  *(double *)share = now->done;
  return false;
}

static void it_says_how_far_it_is(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t pick[IMAGES] = {-1, -1, -1};
  double share = NAN;
  (void)state;
  lapis_ctx_on_progress(ctx, hear, &share);
  assert_int_equal(follow(ctx, INFINITY, pick), LAPIS_CANCELLED);
  /* beside them, 24 are asked again of each */
  CHECK_NEAR(share, 1 - (4.5 + 2 * 24) / (10 + 2 * 24), 1e-12);
  lapis_ctx_free(ctx);
}

int test_follow(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_found_in_all),
      cmocka_unit_test(a_stop_ends_it_at_the_next_image),
      cmocka_unit_test(it_says_how_far_it_is)};
  return run_cases(tests, NULL, NULL);
}
