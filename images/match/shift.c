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
 * shape, costs at all of them.
 *
 * Only what is compared is described: the marked image where shifts put the
 * marks, others where their points were found, as long as they are placed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/pipeline/pipeline.h"

/* Of near: how far they are shifted, by what steps, and what is not far. */
static const double REACH = 2, STEPS = .25, STAYS = .4;
static const double SMALLER = 4; /* squares */
static const int64_t LEAST_STEP = 2;
enum { POINT = 4 }; /* numbers of one: image, x, y, scale */

typedef struct squares { /* described around points */
  double *point;         /* POINT x count */
  int64_t count;
  lapis_solver *of;
  lapis_mat X; /* d x count; a column of zeros says nothing */
  double *length;
} squares;

typedef struct shift {
  const flow_follow *v;
  lapis_sift_settings set;
  double scale;           /* of the squares */
  const char **path;      /* of the images that are still placed: */
  int64_t images;         /* all but the marked one */
  squares marked, placed; /* placed: n of each of them */
  int64_t step;           /* of the grid that shifted marks are put on */
  int64_t *node, t;       /* n x t: of squares at each shift; -1: outside */
  double *far;            /* t: how far that shift is, of near */
  double *seen;           /* d x n: around the points of an image */
} shift;

/* ---- squares ------------------------------------------------------------*/
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

static lapis_status describe(lapis_flow *f, shift *w, squares *s,
                             const char *const *path, int64_t images)
{
  flow_kinds kinds = {
      .count = 1, .kind = {lapis_feature_find("sift")}, .settings = {&w->set}};
  w->set.points = lapis_mat_f64(s->point, POINT, s->count);
  s->length = malloc((size_t)s->count * sizeof *s->length);
  if (s->length == NULL) return flow_no_memory(f);
  lapis_status status =
      flow_features_of(f, &kinds, NULL, path, images, false, &s->of);
  if (status != LAPIS_OK) return status;
  TRY(lapis_result_get(s->of, "X", &s->X));
  for (int64_t i = 0; i < s->count; i++) s->length[i] = length_of(&s->X, i);
  return LAPIS_OK;
}

static void free_squares(squares *s)
{
  lapis_solver_free(s->of);
  free(s->point);
  free(s->length);
}

/* ---- the marked image ---------------------------------------------------*/
/* The place of its grid at x, y, in order of rows; -1: outside. */
static int64_t cell_at(const shift *w, const double size[2], double x, double y)
{
  double at[] = {floor(x / (double)w->step), floor(y / (double)w->step)};
  int64_t start = (w->step - 1) / 2;
  for (int a = 0; a < 2; a++) {
    double pixel = at[a] * (double)w->step + (double)start;
    if (at[a] < 0 || pixel > size[a] - 1) return -1;
  }
  return (int64_t)at[1] * ((int64_t)size[0] / w->step + 1) + (int64_t)at[0];
}

/* The square of a cell, which is added where it is the first of this cell. */
static int64_t square_of(shift *w, int64_t cell, double wide, int64_t *known)
{
  squares *s = &w->marked;
  int64_t across = (int64_t)wide / w->step + 1, start = (w->step - 1) / 2;
  if (cell < 0) return -1;
  if (known[cell] == 0) {
    double *to = s->point + POINT * s->count++;
    int64_t row = cell / across, column = cell % across;
    to[0] = 0;
    to[1] = (double)(column * w->step + start);
    to[2] = (double)(row * w->step + start);
    to[3] = w->scale;
    known[cell] = s->count;
  }
  return known[cell] - 1;
}

static void fill_shifts(shift *w, int64_t side, const double size[2],
                        int64_t *known)
{
  const flow_follow *v = w->v;
  double step = (double)w->step;
  for (int64_t row = -side; row <= side; row++)
    for (int64_t column = -side; column <= side; column++) {
      double dx = (double)column * step, dy = (double)row * step;
      if (hypot(dx, dy) > REACH * v->near) continue;
      for (int64_t j = 0; j < v->n; j++) {
        const double *mark = v->at + 4 * (v->first[v->from] + j);
        int64_t cell = cell_at(w, size, mark[0] + dx, mark[1] + dy);
        w->node[w->t * v->n + j] = square_of(w, cell, size[0], known);
      }
      w->far[w->t++] = hypot(dx, dy) / v->near;
    }
}

static lapis_status list_shifts(lapis_flow *f, shift *w)
{
  const flow_follow *v = w->v;
  double size[] = {lapis_mat_at(&f->size, 0, v->from),
                   lapis_mat_at(&f->size, 1, v->from)};
  w->step = (int64_t)fmax(round(STEPS * v->near), LEAST_STEP);
  int64_t side = (int64_t)(REACH * v->near / (double)w->step);
  size_t room = (size_t)((2 * side + 1) * (2 * side + 1));
  size_t nodes = room * (size_t)v->n;
  size_t cells = (size_t)((int64_t)size[0] / w->step + 1) *
                 (size_t)((int64_t)size[1] / w->step + 1);
  w->node = malloc(nodes * sizeof *w->node);
  w->far = malloc(room * sizeof *w->far);
  w->marked.point =
      malloc((nodes < cells ? nodes : cells) * POINT * sizeof(double));
  int64_t *known = calloc(cells, sizeof *known);
  bool ok = w->node != NULL && w->far != NULL && w->marked.point != NULL &&
            known != NULL;
  if (ok) fill_shifts(w, side, size, known);
  free(known);
  return ok ? LAPIS_OK : flow_no_memory(f);
}

/* ---- the others ---------------------------------------------------------*/
static bool is_asked(const flow_follow *v, int64_t k)
{
  return k != v->from && v->placed[k];
}

static lapis_status list_places(lapis_flow *f, shift *w)
{
  const flow_follow *v = w->v;
  const char *const *path = f->names.val;
  squares *s = &w->placed;
  s->point = malloc((size_t)(v->K * v->n) * POINT * sizeof *s->point);
  w->path = malloc((size_t)v->K * sizeof *w->path);
  if (s->point == NULL || w->path == NULL) return flow_no_memory(f);
  for (int64_t k = 0; k < v->K; k++) {
    if (!is_asked(v, k)) continue;
    for (int64_t j = 0; j < v->n; j++) {
      double *to = s->point + POINT * s->count++;
      to[0] = (double)w->images;
      memcpy(to + 1, v->at + 4 * v->pick[k * v->n + j], 2 * sizeof *to);
      to[3] = w->scale;
    }
    w->path[w->images++] = path[k];
  }
  return LAPIS_OK;
}

/* What is seen around the points of an image, from square i on; false: nothing
 * anywhere. */
static bool look(shift *w, int64_t i)
{
  const squares *s = &w->placed;
  int64_t d = s->X.rows;
  bool any = false;
  for (int64_t j = 0; j < w->v->n; j++, i++) {
    any |= s->length[i] > 0;
    for (int64_t a = 0; a < d && s->length[i] > 0; a++)
      w->seen[j * d + a] = lapis_mat_at(&s->X, a, i) / s->length[i];
  }
  return any;
}

/* What is outside or even has nothing in common with anything. */
static double cost_of(const shift *w, int64_t t, int64_t i)
{
  const flow_follow *v = w->v;
  double cost = 0;
  for (int64_t j = 0; j < v->n; j++, i++) {
    int64_t node = w->node[t * v->n + j];
    if (!(w->placed.length[i] > 0)) continue;
    cost += 2;
    if (node >= 0 && w->marked.length[node] > 0)
      cost -= 2 * dot(&w->marked.X, node, w->seen + j * w->marked.X.rows) /
              w->marked.length[node];
  }
  return cost;
}

static bool stays(const shift *w, int64_t i)
{
  double least = INFINITY, far = INFINITY;
  for (int64_t t = 0; t < w->t; t++) {
    double cost = cost_of(w, t, i);
    if (cost < least) least = cost, far = w->far[t];
  }
  return far <= STAYS;
}

static lapis_status check_placed(lapis_flow *f, shift *w)
{
  const flow_follow *v = w->v;
  w->seen = malloc((size_t)(v->n * w->placed.X.rows) * sizeof *w->seen);
  if (w->seen == NULL) return flow_no_memory(f);
  for (int64_t k = 0, i = 0; k < v->K; k++) {
    if (!is_asked(v, k)) continue;
    v->placed[k] = look(w, i) && stays(w, i);
    i += v->n;
    if (!v->placed[k]) memset(v->sure + k * v->n, 0, (size_t)v->n);
  }
  return LAPIS_OK;
}

/* ---- all of it ----------------------------------------------------------*/
static lapis_status check(lapis_flow *f, shift *w)
{
  const char *const *path = f->names.val;
  TRY(list_places(f, w));
  if (w->images == 0) return LAPIS_OK;
  TRY(list_shifts(f, w));
  lapis_status s = describe(f, w, &w->placed, w->path, w->images);
  if (s == LAPIS_OK) s = describe(f, w, &w->marked, path + w->v->from, 1);
  return s == LAPIS_OK ? check_placed(f, w) : s;
}

lapis_status flow_doubt_shifted(lapis_flow *f, const flow_follow *v,
                                const lapis_sift_settings *as)
{
  shift w = {.v = v, .set = *as, .scale = as->scale / SMALLER};
  lapis_settings_default(lapis_feature_find("sift"), &w.set);
  w.set.longest = as->longest;
  lapis_status s = check(f, &w);
  free_squares(&w.marked);
  free_squares(&w.placed);
  free(w.path);
  free(w.node);
  free(w.far);
  free(w.seen);
  return s;
}
