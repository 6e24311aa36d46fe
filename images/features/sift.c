/* sift.c - the kind "sift": keypoints of the difference of Gaussians and their
 * descriptors (Lowe, IJCV 2004), computed by VLFeat: what roml matches. */
#include "images/features/sift.h"

#include <stdlib.h>

#include "images/features/feature.h"
#include "images/image/ops.h"
#include "lapis/images.h"
#include "lapis/tools.h"

enum { LEAST_SIDE = 8 };

typedef struct given_points {
  sift_points all;
  int64_t *count;    /* of each image that was kept */
  const char **name; /* all.count */
} given_points;

/* Given points belong to names, the cache goes by content. */
static lapis_status take_points(feature_job *j)
{
  const lapis_sift_settings *set = j->settings;
  given_points *given = j->state = base_alloc(j->base.ctx, 1, sizeof *given);
  if (given == NULL) return LAPIS_ENOMEM;
  j->cache = NULL;
  return set->points.cols > 0 ? sift_points_take(j, &given->all)
                              : sift_points_read(j, &given->all);
}

/* Beside a grid: how many points of an image were given, and their names. */
static lapis_status finish(feature_job *j)
{
  const lapis_sift_settings *set = j->settings;
  given_points *given = j->state;
  if (given == NULL || set->grid == 0) return LAPIS_OK;
  given->count = base_alloc(j->base.ctx, j->kept, sizeof *given->count);
  given->name = base_alloc(j->base.ctx, given->all.count, sizeof *given->name);
  if (given->count == NULL || given->name == NULL) return LAPIS_ENOMEM;
  int64_t names = 0, kept = 0;
  for (int64_t i = 0, p = 0; i < j->count; i++) {
    bool stays = j->slot[i].status >= 0;
    for (; p < given->all.count && given->all.at[p].image == i; p++) {
      if (!stays) continue;
      given->name[names++] = given->all.at[p].name;
      given->count[kept]++;
    }
    kept += stays;
  }
  lapis_mat name = {LAPIS_TEXT, 1, names, 1, (void *)given->name, NULL, NULL};
  solver_publish(&j->base, "given", lapis_mat_i64(given->count, 1, kept));
  solver_publish(&j->base, "point_names", name);
  return LAPIS_OK;
}

static lapis_status begin(feature_job *j)
{
  const lapis_sift_settings *set = j->settings;
  bool given = set->xy != NULL || set->points.cols > 0;
  if (sift_built()) return given ? take_points(j) : LAPIS_OK;
  return lapis_fail(j->base.ctx, LAPIS_ENOTBUILT,
                    "sift: is not built into this LAPIS; it needs VLFeat "
                    "(Debian: libvlfeat-dev)");
}

static void end(feature_job *j)
{
  given_points *given = j->state;
  if (given == NULL) return;
  sift_points_free(&given->all);
  base_free(given->count);
  base_free(given->name);
  base_free(given);
}

/* ---- the strongest ------------------------------------------------------*/
typedef struct ranked {
  float strength;
  int64_t index;
} ranked;

static int stronger(const void *a, const void *b)
{
  const ranked *p = a, *q = b;
  if (p->strength > q->strength) return -1;
  if (p->strength < q->strength) return 1;
  return p->index < q->index ? -1 : 1;
}

/* Marks the strongest; of those that are equally strong, the first. */
static lapis_status mark(lapis_ctx *ctx, const sift_list *list, int64_t most,
                         bool *keep)
{
  ranked *all = base_alloc(ctx, list->count, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < list->count; i++)
    all[i] = (ranked){list->strength[i], i};
  qsort(all, (size_t)list->count, sizeof *all, stronger);
  for (int64_t i = 0; i < most; i++) keep[all[i].index] = true;
  base_free(all);
  return LAPIS_OK;
}

/* Keeps `most` of them, in their order. */
static lapis_status keep_strongest(lapis_ctx *ctx, sift_list *list,
                                   int64_t most)
{
  int64_t kept = 0;
  if (most == 0 || list->count <= most) return LAPIS_OK;
  bool *keep = base_alloc(ctx, list->count, sizeof *keep);
  lapis_status s = keep == NULL ? LAPIS_ENOMEM : mark(ctx, list, most, keep);
  for (int64_t i = 0; s >= 0 && i < list->count; i++) {
    if (!keep[i]) continue;
    for (int a = 0; a < SIFT_SIZE; a++)
      list->vector[kept * SIFT_SIZE + a] = list->vector[i * SIFT_SIZE + a];
    for (int a = 0; a < SIFT_PLACE; a++)
      list->place[kept * SIFT_PLACE + a] = list->place[i * SIFT_PLACE + a];
    kept++;
  }
  list->count = kept;
  base_free(keep);
  return s;
}

/* ---- one image ----------------------------------------------------------*/
static lapis_status check(const feature_job *j, const feature_view *v,
                          const sift_task *t)
{
  int64_t w = t->grey->width, h = t->grey->height;
  int64_t least = LEAST_SIDE << (t->first_octave > 0 ? t->first_octave : 0);
  if (w < least || h < least)
    return lapis_fail(v->ctx, LAPIS_EDATA,
                      "%s: is %" PRId64 " x %" PRId64
                      " pixels; keypoints need %" PRId64 " each way",
                      j->path[v->index], w, h, least);
  double bytes = sift_bytes(t), most = base_memory_bytes() / 2 / j->threads;
  if (bytes <= most) return LAPIS_OK;
  return lapis_fail(v->ctx, LAPIS_EDATA,
                    "%s: keypoints would take %.3g GB; ask for a smaller "
                    "--longest or a higher --first-octave",
                    j->path[v->index], bytes / 1e9);
}

static lapis_mat columns(float *val, int64_t rows, int64_t cols)
{
  return lapis_mat_f32(val, rows, cols);
}

/* From the small image's pixels to the file's. */
static void enlarge(sift_list *list, double x, double y)
{
  for (int64_t i = 0; i < list->count; i++) {
    float *p = list->place + i * SIFT_PLACE;
    p[0] = (float)(((double)p[0] + 0.5) * x - 0.5);
    p[1] = (float)(((double)p[1] + 0.5) * y - 0.5);
    p[2] = (float)((double)p[2] * x);
  }
}

static lapis_status find(const feature_job *j, const feature_view *v,
                         const lapis_image *grey, feature_piece *out)
{
  const lapis_sift_settings *set = j->settings;
  sift_list list = {.count = 0};
  sift_task t = {.grey = grey,
                 .levels = set->levels,
                 .first_octave = set->first_octave,
                 .peak = set->peak,
                 .edge = set->edge};
  TRY(check(j, v, &t));
  lapis_status s = sift_find(v->ctx, &t, &list);
  if (s == LAPIS_OK) s = keep_strongest(v->ctx, &list, set->most);
  enlarge(&list, (double)v->image->width / (double)grey->width,
          (double)v->image->height / (double)grey->height);
  out->item[0] = columns(list.vector, SIFT_SIZE, list.count);
  out->item[1] = columns(list.place, SIFT_PLACE, list.count);
  base_free(list.strength);
  return s;
}

/* ---- points made elsewhere ----------------------------------------------*/
static bool says_something(const float *v)
{
  for (int a = 0; a < SIFT_SIZE; a++)
    if (v[a] > 0) return true;
  return false;
}

/* From the file's pixels to the small image's; the rows to points. */
static void reduce(const feature_view *v, const lapis_image *grey,
                   sift_points *points, float *place)
{
  double x = (double)grey->width / (double)v->image->width;
  double y = (double)grey->height / (double)v->image->height;
  for (int64_t i = 0; i < points->count; i++, place += SIFT_PLACE) {
    sift_point *p = &points->at[i];
    place[0] = (float)p->x, place[1] = (float)p->y;
    place[2] = (float)p->scale, place[3] = (float)p->angle;
    p->x = (p->x + .5) * x - .5;
    p->y = (p->y + .5) * y - .5;
    p->scale *= x;
  }
}

/* Of a grid only what says something stays; what a file gives has to. */
static lapis_status check_described(const feature_job *j, const feature_view *v,
                                    const sift_points *points,
                                    feature_piece *piece)
{
  const lapis_sift_settings *set = j->settings;
  float *vector = piece->item[0].val, *place = piece->item[1].val;
  int64_t kept = 0;
  for (int64_t i = 0; i < points->count; i++)
    if (says_something(vector + i * SIFT_SIZE)) {
      memmove(vector + kept * SIFT_SIZE, vector + i * SIFT_SIZE,
              SIFT_SIZE * sizeof *vector);
      memmove(place + kept * SIFT_PLACE, place + i * SIFT_PLACE,
              SIFT_PLACE * sizeof *place);
      kept++;
    } else if (points->at[i].line > 0)
      return lapis_fail(v->ctx, LAPIS_EDATA,
                        "%s:%" PRId64 ": around the point %g,%g %s is even; "
                        "there is nothing to describe",
                        set->xy, points->at[i].line,
                        (double)place[SIFT_PLACE * i],
                        (double)place[SIFT_PLACE * i + 1], j->path[v->index]);
  piece->item[0].cols = piece->item[1].cols = kept;
  if (kept > 0) return LAPIS_OK;
  return lapis_fail(v->ctx, LAPIS_EDATA,
                    "%s: is even everywhere; there is nothing to describe",
                    j->path[v->index]);
}

static lapis_status describe(const feature_job *j, const feature_view *v,
                             const lapis_image *grey, feature_piece *out)
{
  static const sift_points none = {.count = 0};
  const lapis_sift_settings *set = j->settings;
  sift_points own;
  sift_task t = {
      .grey = grey, .levels = set->levels, .first_octave = set->first_octave};
  const given_points *given = j->state;
  TRY(check(j, v, &t));
  TRY(sift_points_of(j, v, given == NULL ? &none : &given->all, &own));
  float *vector = base_alloc(v->ctx, own.count * SIFT_SIZE, sizeof *vector);
  float *place = base_alloc(v->ctx, own.count * SIFT_PLACE, sizeof *place);
  out->item[0] = columns(vector, SIFT_SIZE, own.count);
  out->item[1] = columns(place, SIFT_PLACE, own.count);
  bool room = vector != NULL && place != NULL;
  lapis_status s = room ? LAPIS_OK : LAPIS_ENOMEM;
  if (room) reduce(v, grey, &own, place);
  if (room) s = sift_describe(v->ctx, &t, &own, vector);
  if (s == LAPIS_OK && set->points.cols == 0)
    s = check_described(j, v, &own, out);
  base_free(own.at);
  return s;
}

static lapis_status make(const feature_job *j, const feature_view *v,
                         feature_piece *out)
{
  const lapis_sift_settings *set = j->settings;
  lapis_image small = {.width = 0}, grey = {.width = 0};
  TRY(image_between(v->ctx, v->image, 0, set->longest, &small));
  lapis_status s = image_grey(v->ctx, &small, &grey);
  bool found = set->xy == NULL && set->grid == 0 && set->points.cols == 0;
  if (s >= 0) s = (found ? find : describe)(j, v, &grey, out);
  lapis_image_free(&small);
  lapis_image_free(&grey);
  return s;
}

static bool fits(const feature_job *j, const feature_slot *s)
{
  const lapis_mat *vector = &s->piece.item[0], *place = &s->piece.item[1];
  (void)j;
  return feature_finite(vector, LAPIS_F32, SIFT_SIZE, -1) &&
         feature_places(place, LAPIS_F32, SIFT_PLACE, vector->cols, s);
}

#define AT(field) offsetof(lapis_sift_settings, field)
static const lapis_param params[] = {
    REAL("peak", peak, .value = 0.01, FROM_TO(0, 1), .goes_with = "!xy",
         .help = "least contrast of a keypoint, of grey values 0 to 1"),
    REAL("edge", edge, .value = 10, AT_LEAST(1), .goes_with = "!xy",
         .help = "largest ratio of the two curvatures"),
    INT("levels", levels, .value = 3, FROM_TO(1, 10),
        .help = "scales an octave"),
    INT("first-octave", first_octave, .value = -1, FROM_TO(-2, 6),
        .help = "-1: the image is doubled first; 0: it is not"),
    INT("most", most, .value = 0, FROM_TO(0, 1e6), .goes_with = "!xy",
        .help = "keep the N of highest contrast in each image; 0: all"),
    INT("longest", longest, .value = 1024, FROM_TO(16, 20000),
        .help = "an image with a longer side is made smaller"),
    TEXT("xy", xy, .arg = "F.csv",
         .help = "describe these points: rows of name,x,y[,scale[,angle]] "
                 "(default: keypoints are found)"),
    REAL("scale", scale, .value = 4, ABOVE_TO(0, 1000), .goes_with = "xy,grid",
         .help = "with --xy, --grid: of points without one; a square 12 times "
                 "as wide is described"),
    INT("grid", grid, .value = 0, FROM_TO(0, 1000),
        .help = "describe every N pixels of each image, behind its points of "
                "--xy; 0: none"),
};

const feature_kind feature_sift = {
    .shown = {.name = "sift",
              .title = "keypoints",
              .summary = "points that can be found again in other images, and "
                         "descriptors of what is around them: for matching.",
              .source = "",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_sift_settings)},
    .array = {{"X", NULL, "group"}, {"xy", NULL, NULL}},
    .edition = 1,
    .begin = begin,
    .make = make,
    .fits = fits,
    .finish = finish,
    .end = end};
