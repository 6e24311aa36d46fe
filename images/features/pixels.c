/* pixels.c - the kind "pixels": grey values of an image made w x h pixels,
 * row by row from the top, 0..1. */
#include <string.h>

#include "images/features/feature.h"
#include "images/image/ops.h"
#include "lapis/images.h"

enum { MOST = 4096 };
#define SHAPE "32x32"

typedef struct shape {
  int64_t width, height;
} shape;

static lapis_status begin(feature_job *j)
{
  lapis_pixels_settings *set = j->settings;
  if (set->shape == NULL) set->shape = SHAPE;
  shape *s = j->state = base_alloc(j->base.ctx, 1, sizeof *s);
  if (s == NULL) return LAPIS_ENOMEM;
  return feature_shape(j->base.ctx, "pixels", set->shape, MOST, &s->width,
                       &s->height);
}

static lapis_status make(const feature_job *j, const feature_view *v,
                         feature_piece *out)
{
  const shape *s = j->state;
  lapis_image grey = {.width = 0}, small = {.width = 0};
  int64_t count = s->width * s->height;
  lapis_status status = image_grey(v->ctx, v->image, &grey);
  if (status >= 0)
    status = image_resize(v->ctx, &grey, s->width, s->height, &small);
  double *to = status < 0 ? NULL : feature_room(v, out, 0, count, 1);
  for (int64_t k = 0; to != NULL && k < count; k++)
    to[k] = (double)small.pixels[k];
  lapis_image_free(&grey);
  lapis_image_free(&small);
  return status >= 0 && to == NULL ? LAPIS_ENOMEM : status;
}

static bool fits(const feature_job *j, const feature_slot *s)
{
  const shape *to = j->state;
  int64_t count = to->width * to->height;
  return feature_finite(&s->piece.item[0], LAPIS_F64, count, 1);
}

static void end(feature_job *j)
{
  base_free(j->state);
}

#define AT(field) offsetof(lapis_pixels_settings, field)
static const lapis_param params[] = {
    TEXT("size", shape, .arg = "WxH",
         .help = "size an image is brought to (default " SHAPE ")"),
};

const feature_kind feature_pixels = {
    .shown = {.name = "pixels",
              .title = "grey values",
              .summary = "the image itself, made small: for faces and other "
                         "images that are aligned.",
              .source = "",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_pixels_settings)},
    .array = {{"X", NULL, NULL}},
    .begin = begin,
    .make = make,
    .fits = fits,
    .end = end};
