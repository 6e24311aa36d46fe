/* sift_points.c - points made elsewhere that keypoints' descriptors are asked
 * for: rows of name,x,y[,scale[,angle]]. */
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
                                .most = 4};

/* Its whole path, or else the one image it may be; *out. */
static lapis_status find_image(const feature_job *j, const char *path,
                               const place_row *row, int64_t *out)
{
  int64_t found = 0, other = -1;
  for (int64_t i = 0; i < j->count; i++) {
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

lapis_status sift_points_read(const feature_job *j, const char *path,
                              double scale, sift_points *out)
{
  place_table all;
  *out = (sift_points){0};
  TRY(places_read(j->base.ctx, path, &form, &all));
  out->at = base_alloc(j->base.ctx, all.count, sizeof *out->at);
  lapis_status s = out->at == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (; s >= 0 && out->count < all.count; out->count++) {
    const place_row *row = &all.row[out->count];
    const double *v = row->number;
    sift_point *p = &out->at[out->count];
    *p = (sift_point){.line = row->line,
                      .x = v[0],
                      .y = v[1],
                      .scale = isnan(v[2]) ? scale : v[2],
                      .angle = isnan(v[3]) ? 0 : v[3]};
    s = find_image(j, path, row, &p->image);
  }
  places_free(&all);
  if (s >= 0) s = check_twice(j, path, out);
  if (s < 0) sift_points_free(out);
  return s;
}

void sift_points_free(sift_points *p)
{
  base_free(p->at);
  *p = (sift_points){0};
}

static lapis_status check_inside(const feature_job *j, const feature_view *v,
                                 const char *path, const sift_point *p)
{
  double w = (double)v->image->width, h = (double)v->image->height;
  if (p->x >= -.5 && p->x <= w - .5 && p->y >= -.5 && p->y <= h - .5)
    return LAPIS_OK;
  return lapis_fail(v->ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ": the point %g,%g lies outside the "
                    "%g x %g pixels of %s",
                    path, p->line, p->x, p->y, w, h, j->path[v->index]);
}

lapis_status sift_points_of(const feature_job *j, const feature_view *v,
                            const char *path, const sift_points *all,
                            sift_points *out)
{
  int64_t first = 0, end;
  while (first < all->count && all->at[first].image < v->index) first++;
  for (end = first; end < all->count && all->at[end].image == v->index; end++)
    TRY(check_inside(j, v, path, &all->at[end]));
  if (end == first)
    return lapis_fail(v->ctx, LAPIS_EMISSING, "%s: has no point in %s",
                      j->path[v->index], path);
  out->count = end - first;
  out->at = base_alloc(v->ctx, out->count, sizeof *out->at);
  if (out->at == NULL) return LAPIS_ENOMEM;
  memcpy(out->at, all->at + first, (size_t)out->count * sizeof *out->at);
  return LAPIS_OK;
}
