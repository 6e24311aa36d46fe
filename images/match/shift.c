/* shift.c - whether points found together would be better elsewhere.
 *
 * What is around a point in a wide square may be mostly not the object: the
 * points of a head that is turned are then found where the outline is, all as
 * far off, and alike in all pictures of the pose.  What is close around them
 * is that of another part.  So it is compared with the marked image: of all
 * shifts t of the marks up to REACH `near`, that with the least sum over the
 * points of
 *
 *   |f_j - g(q_j + t)|^2,
 *
 * f_j the feature of a small square where point j was found, g(x) that at x in
 * the marked image, both of length 1, q_j the mark.  Where that is far from 0
 * the points are somewhere else than what was marked.  All shifts are looked at
 * in one image, the marked one; what another image hides, or has of another
 * shape, costs at all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/pipeline/pipeline.h"

/* Of near: how far they are shifted, by what steps, and what is not far. */
static const double REACH = 2, STEPS = .25, STAYS = .4;
static const double SMALLER = 4; /* squares */
static const int64_t LEAST_STEP = 2;

typedef struct ground { /* features of one image on a grid */
  lapis_mat X, at;      /* of it and of others */
  int64_t step, wide, high;
  int64_t *cell; /* feature at it, or -1 */
} ground;

typedef struct shift {
  const flow_follow *v;
  lapis_solver *marked, *all; /* features: of the marked image, of all */
  ground first, other;
  double *seen;     /* d x n: around the points of an image */
  bool *known;      /* n */
  int64_t *node, t; /* n x t: of the marked image at each shift */
  double *far;      /* t: how far that shift is, of near */
} shift;

/* ---- features on a grid -------------------------------------------------*/
static int64_t *cell_at(const ground *g, double x, double y)
{
  double column = floor(x / (double)g->step), row = floor(y / (double)g->step);
  bool inside = column >= 0 && row >= 0 && column < (double)g->wide &&
                row < (double)g->high;
  return inside ? g->cell + (int64_t)row * g->wide + (int64_t)column : NULL;
}

static bool set_room(ground *g, const lapis_mat *size, int64_t images)
{
  for (int64_t k = 0; k < images; k++) {
    int64_t wide = (int64_t)lapis_mat_at(size, 0, k) / g->step + 1;
    int64_t high = (int64_t)lapis_mat_at(size, 1, k) / g->step + 1;
    g->wide = wide > g->wide ? wide : g->wide;
    g->high = high > g->high ? high : g->high;
  }
  g->cell = malloc((size_t)(g->wide * g->high) * sizeof *g->cell);
  return g->cell != NULL;
}

/* Features from .. to are those of the image. */
static void set_cells(ground *g, int64_t from, int64_t to)
{
  for (int64_t i = 0; i < g->wide * g->high; i++) g->cell[i] = -1;
  for (int64_t i = from; i < to; i++) {
    int64_t *cell =
        cell_at(g, lapis_mat_at(&g->at, 0, i), lapis_mat_at(&g->at, 1, i));
    if (cell != NULL) *cell = i;
  }
}

static double dot(const lapis_mat *X, int64_t i, const double *f)
{
  double sum = 0;
  for (int64_t a = 0; a < X->rows; a++) sum += lapis_mat_at(X, a, i) * f[a];
  return sum;
}

static double length_of(const lapis_mat *X, int64_t i)
{
  double square = 0;
  for (int64_t a = 0; a < X->rows; a++)
    square += lapis_mat_at(X, a, i) * lapis_mat_at(X, a, i);
  return sqrt(square);
}

/* ---- shifts -------------------------------------------------------------*/
static lapis_status list_shifts(lapis_flow *f, shift *w)
{
  const flow_follow *v = w->v;
  double step = (double)w->first.step, reach = REACH * v->near;
  int64_t side = (int64_t)(reach / step),
          room = (2 * side + 1) * (2 * side + 1);
  w->node = malloc((size_t)(room * v->n + 1) * sizeof *w->node);
  w->far = malloc((size_t)room * sizeof *w->far);
  if (w->node == NULL || w->far == NULL) return flow_no_memory(f);
  for (int64_t i = 0; i < room; i++) {
    double dx = (double)(i % (2 * side + 1) - side) * step;
    int64_t row = i / (2 * side + 1) - side;
    double dy = (double)row * step;
    if (hypot(dx, dy) > reach) continue;
    for (int64_t j = 0; j < v->n; j++) {
      const double *mark = v->at + 4 * (v->first[v->from] + j);
      const int64_t *cell = cell_at(&w->first, mark[0] + dx, mark[1] + dy);
      w->node[w->t * v->n + j] = cell == NULL ? -1 : *cell;
    }
    w->far[w->t++] = hypot(dx, dy) / v->near;
  }
  return LAPIS_OK;
}

/* What is seen around the points of image k; how many say something. */
static int64_t look(shift *w, int64_t k)
{
  const flow_follow *v = w->v;
  int64_t count = 0, d = w->other.X.rows;
  for (int64_t j = 0; j < v->n; j++) {
    const double *at = v->at + 4 * v->pick[k * v->n + j];
    const int64_t *cell = cell_at(&w->other, at[0], at[1]);
    w->known[j] = cell != NULL && *cell >= 0;
    if (!w->known[j]) continue;
    double length = length_of(&w->other.X, *cell);
    for (int64_t a = 0; a < d; a++)
      w->seen[j * d + a] = lapis_mat_at(&w->other.X, a, *cell) / length;
    count++;
  }
  return count;
}

/* What is outside or even has nothing in common with anything. */
static double cost_of(const shift *w, int64_t t)
{
  const flow_follow *v = w->v;
  double cost = 0;
  for (int64_t j = 0; j < v->n; j++) {
    int64_t node = w->node[t * v->n + j];
    if (!w->known[j]) continue;
    cost += 2;
    if (node >= 0)
      cost -= 2 * dot(&w->first.X, node, w->seen + j * w->first.X.rows) /
              length_of(&w->first.X, node);
  }
  return cost;
}

static bool stays(const shift *w)
{
  double least = INFINITY, far = INFINITY;
  for (int64_t t = 0; t < w->t; t++) {
    double cost = cost_of(w, t);
    if (cost < least) least = cost, far = w->far[t];
  }
  return far <= STAYS;
}

/* ---- all images ---------------------------------------------------------*/
static lapis_status describe(lapis_flow *f, shift *w,
                             const lapis_sift_settings *as)
{
  lapis_sift_settings set = *as;
  flow_kinds kinds = {
      .count = 1, .kind = {lapis_feature_find("sift")}, .settings = {&set}};
  const char *const *path = f->names.val;
  lapis_mat size;
  set.xy = NULL;
  set.scale /= SMALLER;
  w->other.step = set.grid;
  TRY(flow_features_of(f, &kinds, NULL, path, f->n, true, &w->all));
  set.grid = (int64_t)fmax(round(STEPS * w->v->near), LEAST_STEP);
  w->first.step = set.grid;
  TRY(flow_features_of(f, &kinds, NULL, path + w->v->from, 1, true,
                       &w->marked));
  TRY(lapis_result_get(w->all, "X", &w->other.X));
  TRY(lapis_result_get(w->all, "xy", &w->other.at));
  TRY(lapis_result_get(w->marked, "X", &w->first.X));
  TRY(lapis_result_get(w->marked, "xy", &w->first.at));
  TRY(lapis_result_get(w->all, "image_size", &size));
  if (!set_room(&w->other, &size, size.cols)) return flow_no_memory(f);
  TRY(lapis_result_get(w->marked, "image_size", &size));
  if (!set_room(&w->first, &size, 1)) return flow_no_memory(f);
  set_cells(&w->first, 0, w->first.X.cols);
  return list_shifts(f, w);
}

static lapis_status check_all(lapis_flow *f, shift *w)
{
  const flow_follow *v = w->v;
  lapis_mat group;
  TRY(lapis_result_get(w->all, "group", &group));
  w->seen = malloc((size_t)(v->n * w->other.X.rows + 1) * sizeof *w->seen);
  w->known = malloc((size_t)v->n + 1);
  if (w->seen == NULL || w->known == NULL) return flow_no_memory(f);
  for (int64_t k = 0, from = 0, to = 0; k < v->K; k++, from = to) {
    while (to < group.cols && (int64_t)lapis_mat_at(&group, 0, to) == k) to++;
    if (k == v->from || !v->placed[k]) continue;
    set_cells(&w->other, from, to);
    v->placed[k] = look(w, k) > 0 && stays(w);
    if (!v->placed[k]) memset(v->sure + k * v->n, 0, (size_t)v->n);
  }
  return LAPIS_OK;
}

lapis_status flow_doubt_shifted(lapis_flow *f, const flow_follow *v,
                                const lapis_sift_settings *as)
{
  shift w = {.v = v};
  lapis_status s = describe(f, &w, as);
  if (s == LAPIS_OK) s = check_all(f, &w);
  lapis_solver_free(w.marked);
  lapis_solver_free(w.all);
  free(w.first.cell);
  free(w.other.cell);
  free(w.seen);
  free(w.known);
  free(w.node);
  free(w.far);
  return s;
}
