/* follow.c - the points of one image in all others, by features made here. */
#include <math.h>
#include <string.h>

#include "images/pipeline/pipeline.h"
#include "room.h"

/* Five points on a grid of places; what is at a place looks like point j in the
 * manner of the first image (numbers 0 to 4) or of most others (5 to 9), or of
 * no point (the rest, others for each place). */
enum { POINTS = 5, SIDE = 12, NODES = SIDE * SIDE, D = 2 * POINTS + 64, K = 7 };
static const int at_x[POINTS] = {3, 5, 3, 5, 4}, at_y[POINTS] = {3, 3, 5, 5, 4};
static double X[K * NODES + POINTS][D], at[K * NODES + POINTS][4];

/* Point j of image k at x, y: how much in either manner. */
static void draw(int64_t first, int j, int dx, double mine, double theirs)
{
  double *to = X[first + SIDE * at_y[j] + at_x[j] + dx];
  memset(to, 0, D * sizeof *to);
  to[j] = mine, to[POINTS + j] = theirs;
}

/* In the last image what looks more like the first image's points lies four
 * places aside of what looks like everybody else's. */
static void make(int64_t first[K + 1], bool misleads)
{
  int64_t m = 0;
  memset(X, 0, sizeof X);
  for (int k = 0; k < K; k++) {
    first[k] = m;
    for (int j = 0; k == 0 && j < POINTS; j++, m++) {
      X[m][j] = 1;
      at[m][0] = 10 * at_x[j], at[m][1] = 10 * at_y[j];
    }
    for (int i = 0; i < NODES; i++) {
      X[m + i][2 * POINTS + (7 * i + 13 * k) % 64] = 1;
      at[m + i][0] = 10 * (i % SIDE), /* NOLINT: whole */
          at[m + i][1] = 10 * (i / SIDE);
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
  first[K] = m;
}

static void points_that_other_images_have_elsewhere_are_doubted(void **state)
{
  for (int misleads = 0; misleads < 2; misleads++) {
    int64_t first[K + 1], pick[K * POINTS];
    unsigned char sure[K * POINTS], placed[K];
    lapis_flow f = {.ctx = lapis_ctx_new(), .end = INFINITY};
    make(first, misleads);
    flow_follow v = {.d = D,
                     .K = K,
                     .n = POINTS,
                     .X = X[0],
                     .at = at[0],
                     .first = first,
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

int test_follow(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_that_other_images_have_elsewhere_are_doubted)};
  return run_cases(tests, NULL, NULL);
}
