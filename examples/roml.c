/* roml.c - find the same points in three images.
 *
 * Each image shows the four points in an order of its own, with one more that
 * is nowhere else.
 *
 * It prints:
 *   0 = 2 = 3
 *   1 = 4 = 1
 *   2 = 1 = 4
 *   3 = 3 = 0
 */
#include <lapis/lapis.h>
#include <math.h>
#include <stdio.h>

enum { FEATURES = 6, POINTS = 4, SHOWN = 5, IMAGES = 3 };

/* Feature i of a point; points from 4 on are in one image alone. */
static double feature(int point, int i)
{
  return sin(3.7 * point + 1.3 * i + 0.9 * point * i);
}

static int complain(lapis_ctx *ctx, lapis_solver *solver)
{
  fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 1;
}

int main(void)
{
  int order[IMAGES][SHOWN] = {
      {0, 1, 2, 3, 4}, {5, 2, 0, 3, 1}, {3, 1, 6, 0, 2}};
  double x[IMAGES * SHOWN][FEATURES];
  int64_t image[IMAGES * SHOWN];
  for (int j = 0; j < IMAGES * SHOWN; j++) {
    image[j] = j / SHOWN;
    for (int i = 0; i < FEATURES; i++)
      x[j][i] = feature(order[j / SHOWN][j % SHOWN], i);
  }
  lapis_data data = {.X = lapis_mat_f64(&x[0][0], FEATURES, IMAGES * SHOWN),
                     .group = image};
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = POINTS;
  lapis_solver *solver = NULL;
  lapis_mat match;

  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return 1;
  if (lapis_roml_new(ctx, &data, &set, &solver) < 0 ||
      lapis_solve(solver) < 0 || lapis_result_get(solver, "match", &match) < 0)
    return complain(ctx, solver);
  for (int slot = 0; slot < POINTS; slot++) {
    for (int k = 0; k < IMAGES; k++) {
      int at = (int)lapis_mat_at(&match, slot, k) - k * SHOWN;
      printf("%s%d", k > 0 ? " = " : "", at);
      if (order[k][at] != order[0][(int)lapis_mat_at(&match, slot, 0)])
        return complain(ctx, solver);
    }
    printf("\n");
  }
  lapis_solver_free(solver);
  lapis_ctx_free(ctx);
  return 0;
}
