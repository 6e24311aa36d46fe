/* problem.c - from data to images of features: checks, order, length. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/roml/roml.h"

/* Products in float32 from this many numbers on: below, their doubt costs what
 * they save. */
static const int64_t FLOAT_FROM = 1 << 14;

/* ---- checks -------------------------------------------------------------*/
static lapis_status check_shapes(lapis_ctx *ctx, const lapis_data *data)
{
  if (mat_empty(&data->X))
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "roml: X has %" PRId64 " rows of %" PRId64
                      " numbers; a row a feature is needed",
                      data->X.cols, data->X.rows);
  if (data->group == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "roml: there are no groups; %s which image a feature is "
                      "from",
                      BAG_OF(ctx));
  return LAPIS_OK;
}

/* What goes with several sets of features in an image. */
static lapis_status check_instances(lapis_ctx *ctx,
                                    const lapis_roml_settings *set,
                                    const lapis_data *data)
{
  lapis_mat xy = data->xy;
  const char *other = set->fix_first                 ? "--fix-first"
                      : set->start_match.val != NULL ? "--start"
                                                     : NULL;
  if (set->layout == LAPIS_ROML_COORDINATES)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "roml: --instances is for descriptors; points alone do "
                      "not distinguish objects");
  if (set->inliers < 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "roml: --instances needs --inliers N, the number of "
                      "features that one instance has");
  if (other == NULL && xy.cols == 0) return LAPIS_OK;
  if (other == NULL && (xy.rows < 2 || xy.cols != data->X.cols))
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "roml: xy has %" PRId64 " rows of %" PRId64
                      " numbers; a position (x, y) for each of the %" PRId64
                      " rows of X is needed",
                      xy.cols, xy.rows, data->X.cols);
  xy.rows = 2;
  if (other == NULL) return mat_check_finite(ctx, "roml", "xy", &xy, false);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "roml: %s is for one instance; leave out --instances",
                    other);
}

static lapis_status check_settings(lapis_ctx *ctx,
                                   const lapis_roml_settings *set,
                                   const lapis_data *data)
{
  bool coordinates = set->layout == LAPIS_ROML_COORDINATES;
  if (set->inliers == 0)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "roml: 0 inliers are wanted; --inliers takes 1 or "
                      "more, or auto");
  if (set->start_match.val == NULL && !roml_start_known(set->start))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "roml: --start '%s' is not one of auto, seeded, mst, "
                      "sync, first, nor a file",
                      set->start);
  roml_invariance invariance = roml_invariance_of(set->invariance);
  if (invariance == ROML_INVARIANCES)
    return lapis_fail(
        ctx, LAPIS_EINVAL,
        "roml: --invariance '%s' is not one of auto, none, shift, "
        "scale, rotation, similarity",
        set->invariance);
  if (invariance > ROML_UPRIGHT && !coordinates)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "roml: --invariance is for points; add --layout "
                      "coordinates");
  if (invariance > ROML_UPRIGHT && data->X.rows != 2)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "roml: --invariance needs points (x, y), X has %" PRId64
                      " columns",
                      data->X.rows);
  if (set->robust && !coordinates)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "roml: --robust is for points; add --layout coordinates");
  if (set->robust && data->X.rows != 2)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "roml: --robust needs points (x, y), X has %" PRId64
                      " columns",
                      data->X.rows);
  if (set->instances != 1) TRY(check_instances(ctx, set, data));
  if (set->map == LAPIS_ROML_MAP_NONE) return LAPIS_OK;
  if (coordinates)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "roml: --map embed makes descriptors; leave out --layout "
                      "coordinates");
  if (data->xy.rows < 2 || data->xy.cols != data->X.cols)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "roml: --map embed needs xy, a position (x, y) for each "
                      "of the %" PRId64 " rows of X",
                      data->X.cols);
  lapis_mat xy = data->xy; /* keypoints go on: scale, angle */
  xy.rows = 2;
  return mat_check_finite(ctx, "roml", "xy", &xy, false);
}

lapis_status roml_check_data(lapis_ctx *ctx, const lapis_roml_settings *set,
                             const lapis_data *data)
{
  TRY(check_shapes(ctx, data));
  TRY(check_settings(ctx, set, data));
  return mat_check_finite(ctx, "roml", "X", &data->X, false);
}

/* ---- images -------------------------------------------------------------*/
typedef struct member {
  int64_t image, row;
} member;

static int by_image(const void *a, const void *b)
{
  const member *x = a, *y = b;
  if (x->image != y->image) return x->image < y->image ? -1 : 1;
  return x->row < y->row ? -1 : 1;
}

/* Images in rising order of their numbers, features in the order of X. */
static lapis_status sort_features(lapis_ctx *ctx, roml_problem *p,
                                  const int64_t *group)
{
  member *all = base_alloc_raw(ctx, p->N, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  bool sorted = true;
  p->K = 1;
  for (int64_t i = 0; i < p->N; i++) {
    all[i] = (member){group[i], i};
    if (i > 0 && group[i] < group[i - 1]) sorted = false;
  }
  if (!sorted) qsort(all, (size_t)p->N, sizeof *all, by_image);
  for (int64_t i = 1; i < p->N; i++) p->K += all[i].image != all[i - 1].image;
  p->first = base_alloc(ctx, p->K + 1, sizeof *p->first);
  p->row = base_alloc(ctx, p->N, sizeof *p->row);
  bool ok = p->first != NULL && p->row != NULL;
  for (int64_t i = 0, k = 0; ok && i < p->N; i++) {
    p->row[i] = all[i].row;
    if (i > 0 && all[i].image != all[i - 1].image) p->first[++k] = i;
  }
  if (ok) p->first[p->K] = p->N;
  base_free(all);
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

static lapis_status check_images(roml *w, const int64_t *group)
{
  const roml_problem *p = &w->p;
  if (p->K < 2)
    return lapis_fail(w->base.ctx, LAPIS_ESHAPE,
                      "roml: all features are from one image (group %" PRId64
                      "); at least two images are matched",
                      group[0]);
  int64_t sets = w->set.instances > 0 ? w->set.instances : 1;
  for (int64_t k = 0; k < p->K; k++)
    if (roml_count(p, k) / sets < w->set.inliers)
      return lapis_fail(w->base.ctx, LAPIS_ESHAPE,
                        "roml: image %" PRId64 " has %" PRId64
                        " features, fewer than --inliers %" PRId64 "%s",
                        group[p->row[p->first[k]]], roml_count(p, k),
                        w->set.inliers, sets > 1 ? " for each instance" : "");
  return LAPIS_OK;
}

/* ---- lengths ------------------------------------------------------------*/
/* |f|, safe where squares overflow or vanish. */
static double length(const double *f, int64_t d)
{
  double most = 0, sum = 0;
  for (int64_t a = 0; a < d; a++) most = fmax(most, fabs(f[a]));
  if (!(most > 0)) return 0;
  for (int64_t a = 0; a < d; a++) sum += (f[a] / most) * (f[a] / most);
  return most * sqrt(sum);
}

static lapis_status set_lengths(lapis_ctx *ctx, const lapis_roml_settings *set,
                                roml_problem *p)
{
  bool unit = set->normalise == LAPIS_ROML_NORMALISE_AUTO && !p->coordinates;
  p->scale = base_alloc(ctx, p->N, sizeof *p->scale);
  if (!unit) p->half = base_alloc(ctx, p->N, sizeof *p->half);
  if (p->scale == NULL || (!unit && p->half == NULL)) return LAPIS_ENOMEM;
  p->longest = unit ? 1 : 0;
  for (int64_t i = 0; i < p->N; i++) {
    double size = length(mat_col(&p->X, p->row[i]), p->d);
    p->scale[i] = 1;
    if (unit && !(size > 0))
      return lapis_fail(
          ctx, LAPIS_EDATA,
          "roml: %s of X is all zero and has no direction; leave it "
          "out, or --normalise none",
          CELL(ctx, p->row[i], NULL, -1));
    if (unit)
      p->scale[i] = 1 / size;
    else
      p->half[i] = size * size / 2;
    if (!unit) p->longest = fmax(p->longest, size);
  }
  if (isfinite(p->longest * p->longest) && p->longest > 0) return LAPIS_OK;
  return lapis_fail(
      ctx, LAPIS_EDATA,
      p->longest > 0
          ? "roml: X holds numbers whose squares "
            "overflow; scale them down"
          : "roml: X is zero everywhere; give descriptors, a row a point");
}

/* Features in image order, scaled, packed in the type of the products. */
static lapis_status gather_features(const roml *w, roml_problem *p)
{
  bool small = p->coordinates || p->N * p->d < FLOAT_FROM;
  p->panel = base_alloc(w->base.ctx, p->K + 1, sizeof *p->panel);
  if (p->panel == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < p->K; k++)
    p->panel[k + 1] = p->panel[k] + op_panels_round(roml_count(p, k));
  TRY(op_panels_new(w->base.ctx, small ? LAPIS_F64 : LAPIS_F32, p->d,
                    p->panel[p->K], &p->F));
#pragma omp parallel for num_threads( \
    small ? 1 : base_team(w->base.ctx, base_threads(w->base.ctx)))
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t i = 0; i < roml_count(p, k); i++)
      op_panels_set(&p->F, p->panel[k] + i, roml_feature(p, k, i),
                    p->scale[p->first[k] + i]);
  return LAPIS_OK;
}

/* X as dense doubles: borrowed where it is. */
static lapis_status take_features(lapis_ctx *ctx, const lapis_data *data,
                                  roml_problem *p)
{
  p->N = data->X.cols;
  p->X = data->X;
  if (data->X.dtype != LAPIS_F64 || data->X.colptr != NULL) {
    p->embedded = base_alloc_raw(ctx, data->X.rows * p->N, sizeof(double));
    if (p->embedded == NULL) return LAPIS_ENOMEM;
    mat_to_f64(&data->X, p->embedded, data->X.rows);
    p->X = lapis_mat_f64(p->embedded, data->X.rows, p->N);
  }
  return LAPIS_OK;
}

lapis_status roml_problem_sort(lapis_ctx *ctx, const lapis_data *data,
                               const int64_t *group, roml_problem *p)
{
  TRY(take_features(ctx, data, p));
  return sort_features(ctx, p, group);
}

lapis_status roml_problem_scale(lapis_ctx *ctx, const lapis_roml_settings *set,
                                roml_problem *p)
{
  p->d = p->X.rows;
  p->coordinates = set->layout == LAPIS_ROML_COORDINATES;
  for (int64_t k = 0; k < p->K; k++)
    if (roml_count(p, k) > p->largest) p->largest = roml_count(p, k);
  return set_lengths(ctx, set, p);
}

lapis_status roml_problem_place(roml *w, double *X)
{
  roml_problem *p = &w->p;
  base_free(p->embedded), base_free(p->scale);
  base_free(p->half), base_free(p->panel);
  op_panels_free(&p->F);
  p->scale = p->half = NULL;
  p->panel = NULL;
  p->embedded = X;
  p->X = lapis_mat_f64(X, p->X.rows, p->N);
  TRY(set_lengths(w->base.ctx, &w->set, p));
  return gather_features(w, p);
}

lapis_status roml_problem_build(roml *w, const lapis_data *data)
{
  roml_problem *p = &w->p;
  TRY(roml_problem_sort(w->base.ctx, data, data->group, p));
  TRY(check_images(w, data->group));
  if (w->set.map != LAPIS_ROML_MAP_NONE) TRY(roml_embed(w, data));
  TRY(roml_problem_scale(w->base.ctx, &w->set, p));
  TRY(gather_features(w, p));
  return roml_read_given(w);
}

void roml_problem_free(roml_problem *p)
{
  base_free(p->first);
  base_free(p->row);
  base_free(p->scale);
  base_free(p->half);
  base_free(p->embedded);
  base_free(p->panel);
  op_panels_free(&p->F);
  *p = (roml_problem){.K = 0};
}

int64_t roml_fewest(const roml_problem *p)
{
  int64_t least = roml_count(p, 0);
  for (int64_t k = 1; k < p->K; k++)
    if (roml_count(p, k) < least) least = roml_count(p, k);
  return least;
}

/* ---- some of the features -----------------------------------------------*/
static void take_kept(const roml_problem *from, const bool *out,
                      roml_problem *p)
{
  for (int64_t k = 0; k < p->K; k++) {
    p->first[k] = p->N;
    for (int64_t i = from->first[k]; i < from->first[k + 1]; i++) {
      if (out[i]) continue;
      p->row[p->N] = from->row[i];
      p->scale[p->N] = from->scale[i];
      if (p->half != NULL) p->half[p->N] = from->half[i];
      p->N++;
    }
    int64_t count = p->N - p->first[k];
    if (count > p->largest) p->largest = count;
  }
  p->first[p->K] = p->N;
}

lapis_status roml_problem_without(const roml *w, const roml_problem *from,
                                  const bool *out, roml_problem *p)
{
  lapis_ctx *ctx = w->base.ctx;
  *p = (roml_problem){.K = from->K,
                      .d = from->d,
                      .X = from->X,
                      .longest = from->longest,
                      .coordinates = from->coordinates};
  p->first = base_alloc(ctx, p->K + 1, sizeof *p->first);
  p->row = base_alloc(ctx, from->N, sizeof *p->row);
  p->scale = base_alloc(ctx, from->N, sizeof *p->scale);
  if (from->half != NULL) p->half = base_alloc(ctx, from->N, sizeof *p->half);
  lapis_status s = LAPIS_OK;
  if (p->first == NULL || p->row == NULL || p->scale == NULL ||
      (from->half != NULL && p->half == NULL))
    s = LAPIS_ENOMEM;
  if (s >= 0) take_kept(from, out, p);
  if (s >= 0) s = gather_features(w, p);
  if (s < 0) roml_problem_free(p);
  return s;
}

lapis_status roml_problem_of(const roml *w, const roml_problem *from,
                             const la_array *F, roml_problem *p)
{
  lapis_ctx *ctx = w->base.ctx;
  *p = (roml_problem){.K = from->K,
                      .N = from->N,
                      .d = from->d,
                      .largest = from->largest,
                      .coordinates = from->coordinates};
  p->first = base_alloc(ctx, p->K + 1, sizeof *p->first);
  p->row = base_alloc(ctx, p->N, sizeof *p->row);
  p->embedded = base_alloc_raw(ctx, p->d * p->N, sizeof *p->embedded);
  bool ok = p->first != NULL && p->row != NULL && p->embedded != NULL;
  lapis_status s = ok ? LAPIS_OK : LAPIS_ENOMEM;
  for (int64_t k = 0; ok && k <= p->K; k++) p->first[k] = from->first[k];
  for (int64_t i = 0; ok && i < p->N; i++) {
    p->row[i] = i;
    memcpy(p->embedded + i * p->d, (const double *)F->data + i * F->ld,
           (size_t)p->d * sizeof *p->embedded);
  }
  if (ok) p->X = lapis_mat_f64(p->embedded, p->d, p->N);
  if (s >= 0) s = set_lengths(ctx, &w->set, p);
  if (s >= 0) s = gather_features(w, p);
  if (s < 0) roml_problem_free(p);
  return s;
}

/* ---- a start that is given -----------------------------------------------*/
static int64_t place_in_image(const roml_problem *p, int64_t k, int64_t row)
{
  for (int64_t i = 0; i < roml_count(p, k); i++)
    if (p->row[p->first[k] + i] == row) return i;
  return -1;
}

lapis_status roml_read_given(roml *w)
{
  const roml_problem *p = &w->p;
  const lapis_mat *m = &w->set.start_match;
  if (m->val == NULL) return LAPIS_OK;
  int64_t n = w->set.inliers > 0 ? w->set.inliers : m->rows;
  if (m->dtype == LAPIS_TEXT || m->rows != n || m->cols != p->K)
    return lapis_fail(w->base.ctx, LAPIS_ESHAPE,
                      "roml: the start matches %" PRId64 " slots in %" PRId64
                      " images; %" PRId64 " in %" PRId64 " are needed",
                      m->rows, m->cols, n, p->K);
  w->given = base_alloc(w->base.ctx, n * p->K, sizeof *w->given);
  if (w->given == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t j = 0; j < n; j++) {
      double given = lapis_mat_at(m, j, k); /* NaN and Inf are no row */
      int64_t row = given >= -1 && given < (double)p->N ? (int64_t)given : -2;
      int64_t i = row < 0 ? -1 : place_in_image(p, k, row);
      if (row != -1 && i < 0)
        return lapis_fail(w->base.ctx, LAPIS_EDATA,
                          "roml: the start gives slot %" PRId64
                          " of image %" PRId64 " row %g of X, which is not "
                          "a feature of that image",
                          j + 1, k + 1, given);
      w->given[k * n + j] = i;
    }
  return LAPIS_OK;
}
