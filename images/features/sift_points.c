/* sift_points.c - points made elsewhere that keypoints' descriptors are asked
 * for: rows of name,x,y[,scale[,angle]], with titles also of a last column
 * `point`, their names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/features/sift.h"
#include "images/image/place_table.h"

static const place_form form = {.noun = "point",
                                .nouns = "points",
                                .title = "name,x,y[,scale[,angle]]",
                                .rows = "name,x,y[,scale[,angle]]",
                                .column = {"x", "y", "scale", "angle"},
                                .positive = {false, false, true},
                                .needed = 2,
                                .most = 4,
                                .word = "point"};

/* Beside a grid, which is of one scale and upright. */
static const place_form plain = {.noun = "point",
                                 .nouns = "points",
                                 .title = "[name,]x,y[,point]",
                                 .rows = "[name,]x,y[,point]",
                                 .column = {"x", "y"},
                                 .needed = 2,
                                 .most = 2,
                                 .word = "point",
                                 .unnamed = true};

/* Its whole path, or else the one image it may be; without a name the first;
 * *out. */
static lapis_status find_image(const feature_job *j, const char *path,
                               const place_row *row, int64_t *out)
{
  int64_t found = *row->name == '\0', other = -1;
  *out = 0;
  for (int64_t i = 0; i < j->count && *row->name != '\0'; i++) {
    if (strcmp(row->name, j->path[i]) == 0) {
      *out = i;
      return LAPIS_OK;
    }
    if (!place_names_path(row->name, j->path[i])) continue;
    if (found++ == 0)
      *out = i;
    else
      other = i;
  }
  if (found == 1) return LAPIS_OK;
  if (found == 0)
    return lapis_fail(j->base.ctx, LAPIS_EDATA,
                      "%s:%" PRId64 ": '%.200s' is not one of the %" PRId64
                      " images",
                      path, row->line, row->name, j->count);
  return lapis_fail(j->base.ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ": '%.200s' may be %s or %s; write more of "
                    "the path",
                    path, row->line, row->name, j->path[*out], j->path[other]);
}

static int compare(double a, double b)
{
  return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
  const sift_point *p = a, *q = b;
  if (p->image != q->image) return p->image < q->image ? -1 : 1;
  int order = compare(p->x, q->x);
  if (order == 0) order = compare(p->y, q->y);
  if (order == 0) order = compare(p->scale, q->scale);
  if (order == 0) order = compare(p->angle, q->angle);
  return order != 0 ? order : (p->line > q->line) - (p->line < q->line);
}

static int by_line(const void *a, const void *b)
{
  const sift_point *p = a, *q = b;
  if (p->image != q->image) return p->image < q->image ? -1 : 1;
  return (p->line > q->line) - (p->line < q->line);
}

static bool same_place(const sift_point *p, const sift_point *q)
{
  return p->image == q->image && compare(p->x, q->x) == 0 &&
         compare(p->y, q->y) == 0 && compare(p->scale, q->scale) == 0 &&
         compare(p->angle, q->angle) == 0;
}

/* Sorts by image and line. */
static lapis_status check_twice(const feature_job *j, const char *path,
                                sift_points *p)
{
  qsort(p->at, (size_t)p->count, sizeof *p->at, by_place);
  for (int64_t i = 1; i < p->count; i++) {
    const sift_point *a = &p->at[i - 1], *b = &p->at[i];
    if (same_place(a, b))
      return lapis_fail(j->base.ctx, LAPIS_EDATA,
                        "%s:%" PRId64 ": the point %g,%g of %s is on line "
                        "%" PRId64 " already",
                        path, b->line, b->x, b->y, j->path[b->image], a->line);
  }
  qsort(p->at, (size_t)p->count, sizeof *p->at, by_line);
  return LAPIS_OK;
}

static int by_name(const void *a, const void *b)
{
  const sift_point *p = a, *q = b;
  int order = strcmp(p->name, q->name);
  return order != 0 ? order : by_line(a, b);
}

/* Beside a grid each point has a name of its own, or none. */
static lapis_status check_names(const feature_job *j, const char *path,
                                sift_points *p)
{
  qsort(p->at, (size_t)p->count, sizeof *p->at, by_name);
  for (int64_t i = 1; i < p->count; i++) {
    const sift_point *a = &p->at[i - 1], *b = &p->at[i];
    if (*b->name != '\0' && a->image == b->image &&
        strcmp(a->name, b->name) == 0)
      return lapis_fail(j->base.ctx, LAPIS_EDATA,
                        "%s:%" PRId64 ": the point '%.200s' is on line "
                        "%" PRId64 " already",
                        path, b->line, b->name, a->line);
  }
  qsort(p->at, (size_t)p->count, sizeof *p->at, by_line);
  return LAPIS_OK;
}

lapis_status sift_points_read(const feature_job *j, sift_points *out)
{
  const lapis_sift_settings *set = j->settings;
  const char *path = set->xy;
  bool grid = set->grid > 0;
  place_table all;
  *out = (sift_points){0};
  TRY(places_read(j->base.ctx, path, grid ? &plain : &form, &all));
  out->at = base_alloc(j->base.ctx, all.count, sizeof *out->at);
  lapis_status s = out->at == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (; s >= 0 && out->count < all.count; out->count++) {
    place_row *row = &all.row[out->count];
    const double *v = row->number;
    sift_point *p = &out->at[out->count];
    *p = (sift_point){.line = row->line,
                      .name = row->word,
                      .x = v[0],
                      .y = v[1],
                      .scale = isnan(v[2]) ? set->scale : v[2],
                      .angle = isnan(v[3]) ? 0 : v[3]};
    row->word = NULL;
    s = find_image(j, path, row, &p->image);
  }
  places_free(&all);
  if (s >= 0) s = check_twice(j, path, out);
  if (s >= 0 && grid) s = check_names(j, path, out);
  if (s < 0) sift_points_free(out);
  return s;
}

lapis_status sift_points_take(const feature_job *j, sift_points *out)
{
  const lapis_sift_settings *set = j->settings;
  const lapis_mat *from = &set->points;
  if (set->xy != NULL || set->grid > 0)
    return lapis_fail(j->base.ctx, LAPIS_EINVAL,
                      "sift: with points there is neither {xy} nor {grid}");
  if (from->rows != 4)
    return lapis_fail(j->base.ctx, LAPIS_ESHAPE,
                      "sift: points have %" PRId64
                      " numbers each, not image, x, y and scale",
                      from->rows);
  out->at = base_alloc(j->base.ctx, from->cols, sizeof *out->at);
  if (out->at == NULL) return LAPIS_ENOMEM;
  for (double last = 0; out->count < from->cols; out->count++) {
    int64_t i = out->count;
    double image = lapis_mat_at(from, 0, i), scale = lapis_mat_at(from, 3, i);
    if (!(image >= last && image < (double)j->count))
      return lapis_fail(j->base.ctx, LAPIS_EINVAL,
                        "sift: point %" PRId64
                        " is of image %g; images count from 0 to %" PRId64
                        ", in order",
                        i + 1, image, j->count - 1);
    if (!(scale > 0 && scale <= 1000))
      return lapis_fail(j->base.ctx, LAPIS_EINVAL,
                        "sift: point %" PRId64
                        " has the scale %g, not one above 0 up to 1000",
                        i + 1, scale);
    out->at[i] = (sift_point){.image = (int64_t)image,
                              .x = lapis_mat_at(from, 1, i),
                              .y = lapis_mat_at(from, 2, i),
                              .scale = scale};
    last = image;
  }
  return LAPIS_OK;
}

void sift_points_free(sift_points *p)
{
  for (int64_t i = 0; i < p->count; i++) base_free(p->at[i].name);
  base_free(p->at);
  *p = (sift_points){0};
}

static lapis_status check_inside(const feature_job *j, const feature_view *v,
                                 const char *path, const sift_point *p)
{
  double w = (double)v->image->width, h = (double)v->image->height;
  if (p->x >= -.5 && p->x <= w - .5 && p->y >= -.5 && p->y <= h - .5)
    return LAPIS_OK;
  if (path == NULL)
    return lapis_fail(v->ctx, LAPIS_EDATA,
                      "sift: the point %g,%g lies outside the %g x %g pixels "
                      "of %s",
                      p->x, p->y, w, h, j->path[v->index]);
  return lapis_fail(v->ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ": the point %g,%g lies outside the "
                    "%g x %g pixels of %s",
                    path, p->line, p->x, p->y, w, h, j->path[v->index]);
}

/* How many a grid has along a side of so many pixels; the first is half a
 * step inside. */
static int64_t grid_along(int64_t side, int64_t step)
{
  return step == 0 ? 0 : (side + step / 2) / step;
}

static void fill_grid(const feature_view *v, const lapis_sift_settings *set,
                      sift_point *to)
{
  int64_t wide = grid_along(v->image->width, set->grid);
  int64_t high = grid_along(v->image->height, set->grid);
  int64_t start = (set->grid - 1) / 2;
  for (int64_t i = 0; i < wide * high; i++) {
    int64_t x = start + i % wide * set->grid;
    int64_t y = start + i / wide * set->grid;
    to[i] = (sift_point){
        .image = v->index, .x = (double)x, .y = (double)y, .scale = set->scale};
  }
}

lapis_status sift_points_of(const feature_job *j, const feature_view *v,
                            const sift_points *all, sift_points *out)
{
  const lapis_sift_settings *set = j->settings;
  int64_t first = 0, end;
  while (first < all->count && all->at[first].image < v->index) first++;
  for (end = first; end < all->count && all->at[end].image == v->index; end++)
    TRY(check_inside(j, v, set->xy, &all->at[end]));
  int64_t given = end - first;
  int64_t grid = grid_along(v->image->width, set->grid) *
                 grid_along(v->image->height, set->grid);
  if (given + grid == 0)
    return lapis_fail(v->ctx, LAPIS_EMISSING, "%s: has no point in %s",
                      j->path[v->index], set->xy == NULL ? "points" : set->xy);
  out->count = given + grid;
  out->at = base_alloc(v->ctx, out->count, sizeof *out->at);
  if (out->at == NULL) return LAPIS_ENOMEM;
  if (given > 0)
    memcpy(out->at, all->at + first, (size_t)given * sizeof *out->at);
  if (grid > 0) fill_grid(v, set, out->at + given);
  return LAPIS_OK;
}
