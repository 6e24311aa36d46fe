/* follow.c - points of one image that are followed through others, by features
 * made here: all the way, and where the run is stopped. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "images/pipeline/pipeline.h"
#include "room.h"

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
  lapis_status s = flow_find_points(&f, &v);
  for (int k = 0; k < IMAGES && s == LAPIS_OK; k++)
    assert_true(sure[k] && placed[k]);
  return s;
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
  CHECK_NEAR(share, 1 - 52.5 / 58, 1e-12);
  lapis_ctx_free(ctx);
}

/* Five points on a grid of places; what is at a place looks like point j in the
 * manner of the first image (numbers 0 to 4) or of most others (5 to 9), or of
 * no point (the rest, others for each place). */
enum {
  POINTS = 5,
  SIDE = 12,
  NODES = SIDE * SIDE,
  LONGER = 2 * POINTS + 64,
  K = 7
};
static const int at_x[POINTS] = {3, 5, 3, 5, 4}, at_y[POINTS] = {3, 3, 5, 5, 4};
static double many[K * NODES + POINTS][LONGER], many_at[K * NODES + POINTS][4];

/* Point j of image k at x, y: how much in either manner. */
static void draw(int64_t start, int j, int dx, double mine, double theirs)
{
  double *to = many[start + SIDE * at_y[j] + at_x[j] + dx];
  memset(to, 0, LONGER * sizeof *to);
  to[j] = mine, to[POINTS + j] = theirs;
}

/* In the last image what looks more like the first image's points lies four
 * places aside of what looks like everybody else's. */
static void make(int64_t begin[K + 1], bool misleads)
{
  int64_t m = 0;
  memset(many, 0, sizeof many);
  for (int k = 0; k < K; k++) {
    begin[k] = m;
    for (int j = 0; k == 0 && j < POINTS; j++, m++) {
      many[m][j] = 1;
      many_at[m][0] = 10 * at_x[j], many_at[m][1] = 10 * at_y[j];
    }
    for (int i = 0; i < NODES; i++) {
      many[m + i][2 * POINTS + (7 * i + 13 * k) % 64] = 1;
      many_at[m + i][0] = 10 * (i % SIDE), /* NOLINT: whole */
          many_at[m + i][1] = 10 * (i / SIDE);
    }
    for (int j = 0; j < POINTS; j++) {
      bool last = k == K - 1 && misleads;
      if (k == 0)
        draw(m, j, 0, 1, 0);
      else
        draw(m, j, 0, last ? 0 : .7, 1);
      if (last) draw(m, j, 4, 1, 0);
    }
    m += NODES;
  }
  begin[K] = m;
}

static void points_that_other_images_have_elsewhere_are_doubted(void **state)
{
  for (int misleads = 0; misleads < 2; misleads++) {
    int64_t begin[K + 1], pick[K * POINTS];
    unsigned char sure[K * POINTS], placed[K];
    lapis_flow f = {.ctx = lapis_ctx_new(), .end = INFINITY};
    make(begin, misleads);
    flow_follow v = {.d = LONGER,
                     .K = K,
                     .n = POINTS,
                     .X = many[0],
                     .at = many_at[0],
                     .first = begin,
                     .near = 12,
                     .pick = pick,
                     .sure = sure,
                     .placed = placed};
    assert_int_equal(flow_find_points(&f, &v), LAPIS_OK);
    for (int k = 0; k < K; k++) {
      bool kept = k < K - 1 || !misleads;
      assert_int_equal(placed[k], kept);
      for (int j = 0; j < POINTS; j++)
        assert_int_equal(sure[k * POINTS + j], kept);
    }
    lapis_ctx_free(f.ctx);
  }
}

/* Two points are marked apart; the other image has what looks like both at one
 * place. */
static void two_points_at_one_place_are_doubted(void **state)
{
  static const double both[] = {1, 0, .6, .8, .9, .43, -1, 0};
  static const double apart[] = {5, 5, 0, 0, 50, 5, 0, 0,
                                 5, 5, 0, 0, 90, 5, 0, 0};
  static const int64_t from[] = {0, 2, 4};
  (void)state;
  for (int two = 0; two < 2; two++) {
    lapis_flow f = {.ctx = lapis_ctx_new(), .end = INFINITY};
    int64_t pick[4];
    unsigned char sure[4], placed[2];
    flow_follow v = {.d = D,
                     .K = 2,
                     .n = 2,
                     .X = both,
                     .at = apart,
                     .first = from,
                     .near = two ? 8 : 60,
                     .pick = pick,
                     .sure = sure,
                     .placed = placed};
    assert_int_equal(flow_find_points(&f, &v), LAPIS_OK);
    assert_int_equal(pick[2], pick[3]);
    assert_int_equal(sure[2] + sure[3], two ? 0 : 2);
    lapis_ctx_free(f.ctx);
  }
}

int test_follow(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_found_in_all),
      cmocka_unit_test(a_stop_ends_it_at_the_next_image),
      cmocka_unit_test(it_says_how_far_it_is),
      cmocka_unit_test(points_that_other_images_have_elsewhere_are_doubted),
      cmocka_unit_test(two_points_at_one_place_are_doubted)};
  return run_cases(tests, NULL, NULL);
}
