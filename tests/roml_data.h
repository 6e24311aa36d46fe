/* roml_data.h - objects in sets of images, drawn as in [ROML16 Sec. 3.2.2] with
 * errors uniform in +-max|f|; features are shuffled within each image. */
#ifndef LAPIS_ROML_DATA_H
#define LAPIS_ROML_DATA_H
#include "check.h"

typedef struct scene {
  int64_t K, each, n, d;
  double *X;              /* d x (K each) */
  int64_t *group, *truth; /* K each; n x K rows of X, -1 missing */
} scene;

static inline int64_t below(uint64_t *s, int64_t n)
{
  return (int64_t)(check_uniform(s) * (double)n);
}

/* Errors on a share of the entries. */
static inline void scene_errors(double *f, int64_t d, double ratio, uint64_t *s)
{
  double most = 0;
  int64_t left = (int64_t)floor(ratio * (double)d + 0.5);
  for (int64_t a = 0; a < d; a++) most = fmax(most, fabs(f[a]));
  for (int64_t a = 0; a < d; a++) { /* left of d - a entries, each equally */
    if (check_uniform(s) * (double)(d - a) >= (double)left) continue;
    left--;
    f[a] += (2 * check_uniform(s) - 1) * most;
  }
}

static inline scene scene_new(int64_t K, int64_t each, int64_t n, int64_t d,
                              double ratio, double missing, uint64_t seed)
{
  uint64_t s = seed;
  scene c = {.K = K, .each = each, .n = n, .d = d};
  c.X = malloc((size_t)(K * each * d) * sizeof *c.X);
  c.group = malloc((size_t)(K * each) * sizeof *c.group);
  c.truth = malloc((size_t)(K * n) * sizeof *c.truth);
  int64_t *order = malloc((size_t)each * sizeof *order);
  double *object = malloc((size_t)(n * d) * sizeof *object);
  for (int64_t i = 0; i < n * d; i++) object[i] = check_normal(&s);
  for (int64_t k = 0; k < K; k++) {
    for (int64_t i = 0; i < each; i++) order[i] = i;
    for (int64_t i = each - 1; i > 0; i--) {
      int64_t j = below(&s, i + 1), t = order[i];
      order[i] = order[j], order[j] = t;
    }
    for (int64_t i = 0; i < each; i++) {
      int64_t row = k * each + order[i];
      double *f = c.X + row * d;
      bool absent = i >= n || check_uniform(&s) < missing;
      for (int64_t a = 0; a < d; a++)
        f[a] = absent ? check_normal(&s) : object[i * d + a];
      scene_errors(f, d, ratio, &s);
      c.group[row] = k;
      if (i < n) c.truth[k * n + i] = absent ? -1 : row;
    }
  }
  free(order);
  free(object);
  return c;
}

static inline lapis_data scene_data(const scene *c)
{
  return (lapis_data){.X = lapis_mat_f64(c->X, c->d, c->K * c->each),
                      .group = c->group};
}

static inline void scene_free(scene *c)
{
  free(c->X), free(c->group), free(c->truth);
}
#endif
