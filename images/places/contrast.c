/* contrast.c - how unlike boxes are to those of images without the object.
 *
 *   d_b = - mean over the 5 greatest of
 *           z_b'z_o - 3 |m_b - m_o|^2 - 0.5 |l_b - l_o|^2
 *
 * over the boxes o of the images without it; m is the middle of a box and l the
 * logarithms of its sides, both as shares of the image's.  What those images
 * show at a like place and of a like size is no object. */
#include "images/places/contrast.h"

#include <math.h>
#include <string.h>

#include "op/dense/product.h"

enum { NEAREST = 5, AT_ONCE = 64 };
static const double weight_middle = 3, weight_size = 0.5;

static double place_distance(const double *a, const double *b)
{
  double x = a[0] - b[0], y = a[1] - b[1], w = a[2] - b[2], h = a[3] - b[3];
  return weight_middle * (x * x + y * y) + weight_size * (w * w + h * h);
}

/* The mean of the NEAREST least costs, or of as many as there are. */
static double mean_of_least(const double *cost, const double *g, int64_t m,
                            const double *other_g)
{
  double least[NEAREST], sum = 0;
  int64_t known = 0;
  for (int64_t o = 0; o < m; o++) {
    double v = cost[o] + place_distance(g, other_g + o * CONTRAST_PLACE);
    if (known == NEAREST && v >= least[NEAREST - 1]) continue;
    int64_t at = known < NEAREST ? known++ : NEAREST - 1;
    for (; at > 0 && least[at - 1] > v; at--) least[at] = least[at - 1];
    least[at] = v;
  }
  for (int64_t i = 0; i < known; i++) sum += least[i];
  return sum / (double)known;
}

lapis_status contrast_distances(lapis_ctx *ctx, int64_t n, const double *z,
                                const double *g, int64_t m,
                                const double *other_z, const double *other_g,
                                double *out)
{
  op_panels others;
  int64_t d = CONTRAST_LENGTH;
  TRY(op_panels_new(ctx, LAPIS_F64, d, op_panels_round(m), &others));
  double *part = base_alloc(ctx, AT_ONCE * d, sizeof *part);
  double *cost = base_alloc(ctx, AT_ONCE * m, sizeof *cost);
  lapis_status s = part != NULL && cost != NULL ? LAPIS_OK : LAPIS_ENOMEM;
  for (int64_t o = 0; s >= 0 && o < m; o++)
    op_panels_set(&others, o, other_z + o * d, 1);
  for (int64_t b = 0; s == LAPIS_OK && b < n; b += AT_ONCE) {
    int64_t some = n - b < AT_ONCE ? n - b : AT_ONCE;
    if (base_must_stop(ctx))
      s = base_cancelled(ctx) ? LAPIS_CANCELLED : LAPIS_TIME_LIMIT;
    memcpy(part, z + b * d, (size_t)(some * d) * sizeof *part);
    op_panels_costs(&others, 0, m, part, some, NULL, cost, m);
    for (int64_t i = 0; i < some; i++)
      out[b + i] =
          mean_of_least(cost + i * m, g + (b + i) * CONTRAST_PLACE, m, other_g);
  }
  op_panels_free(&others);
  base_free(part), base_free(cost);
  return s;
}
