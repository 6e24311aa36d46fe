/* hog.c - the kind "hog": histograms of oriented gradients (Dalal and Triggs,
 * CVPR 2005), or the shorter ones of Felzenszwalb et al. (PAMI 2010, UoCTTI),
 * computed by VLFeat.
 *
 * Every image is brought to one size, so that vectors are equally long.  Place
 * of a number: (row of cells, column of cells, depth), the last fastest. */
#include "images/features/hog.h"

#include "images/features/feature.h"
#include "images/image/ops.h"
#include "lapis/images.h"

enum { MOST = 4096, LEAST = 3 };
#define SHAPE "64x64"

int64_t hog_depth(const hog_task *t)
{
  return t->dalal_triggs ? 4 * t->orientations : 4 + 3 * t->orientations;
}

int64_t hog_cells(int64_t n, int64_t cell)
{
  return (n + cell / 2) / cell;
}

static lapis_status begin(feature_job *j)
{
  lapis_ctx *ctx = j->base.ctx;
  lapis_hog_settings *set = j->settings;
  if (!hog_built())
    return lapis_fail(ctx, LAPIS_ENOTBUILT,
                      "hog: is not built into this LAPIS; it needs VLFeat "
                      "(Debian: libvlfeat-dev)");
  if (set->shape == NULL) set->shape = SHAPE;
  hog_task *t = j->state = base_alloc(ctx, 1, sizeof *t);
  if (t == NULL) return LAPIS_ENOMEM;
  t->cell = set->cell;
  t->orientations = set->orientations;
  t->dalal_triggs = set->variant == LAPIS_HOG_DALAL_TRIGGS;
  TRY(feature_shape(ctx, "hog", set->shape, MOST, &t->width, &t->height));
  int64_t least = set->cell > LEAST ? set->cell : LEAST;
  if (t->width >= least && t->height >= least) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "hog: --size %s is below one cell; at least %" PRId64
                    "x%" PRId64 " is needed",
                    set->shape, least, least);
}

/* Interleaved pixels as planes. */
static void split(const lapis_image *m, float *planes)
{
  int64_t n = m->width * m->height;
  for (int64_t k = 0; k < n; k++)
    for (int64_t c = 0; c < m->channels; c++)
      planes[c * n + k] = m->pixels[k * m->channels + c];
}

static lapis_status compute(const feature_view *v, const lapis_image *small,
                            hog_task t, feature_piece *out)
{
  int64_t cells = hog_cells(t.width, t.cell) * hog_cells(t.height, t.cell);
  int64_t depth = hog_depth(&t);
  float *planes = base_alloc(v->ctx, image_count(small), sizeof *planes);
  float *found = base_alloc(v->ctx, cells * depth, sizeof *found);
  double *to = feature_room(v, out, 0, cells * depth, 1);
  bool room = planes != NULL && found != NULL && to != NULL;
  if (room) {
    split(small, planes);
    t.planes = planes;
    t.channels = small->channels;
    hog_compute(&t, found);
    for (int64_t k = 0; k < cells; k++)
      for (int64_t i = 0; i < depth; i++)
        to[k * depth + i] = (double)found[i * cells + k];
  }
  base_free(planes);
  base_free(found);
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

static lapis_status make(const feature_job *j, const feature_view *v,
                         feature_piece *out)
{
  const hog_task *t = j->state;
  lapis_image small;
  TRY(image_resize(v->ctx, v->image, t->width, t->height, &small));
  lapis_status s = compute(v, &small, *t, out);
  lapis_image_free(&small);
  return s;
}

static bool fits(const feature_job *j, const feature_slot *s)
{
  const hog_task *t = j->state;
  int64_t cells = hog_cells(t->width, t->cell) * hog_cells(t->height, t->cell);
  return feature_finite(&s->piece.item[0], LAPIS_F64, cells * hog_depth(t), 1);
}

static void end(feature_job *j)
{
  base_free(j->state);
}

#define AT(field) offsetof(lapis_hog_settings, field)
static const lapis_param params[] = {
    TEXT("size", shape, .arg = "WxH",
         .help = "size an image is brought to (default " SHAPE ")"),
    INT("cell", cell, .value = 8, FROM_TO(2, 1024),
        .help = "side of a cell in pixels"),
    INT("orientations", orientations, .value = 9, FROM_TO(2, 64),
        .help = "directions of an edge that are distinguished"),
    CHOICE("variant", variant, "uoctti|dalal-triggs", .value = LAPIS_HOG_UOCTTI,
           .arg = "NAME", .help = "how a cell is described"),
};

const feature_kind feature_hog = {
    .shown = {.name = "hog",
              .title = "histograms of oriented gradients",
              .summary = "how edges run in each cell of a grid: for the shape "
                         "of an object that fills the image.",
              .source = "[DT05] [FGMR10]",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_hog_settings)},
    .array = {{"X", NULL, NULL}},
    .begin = begin,
    .make = make,
    .fits = fits,
    .end = end};
