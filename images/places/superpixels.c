/* superpixels.c - SLIC segments of an image.
 *
 * VLFeat compares squared differences of colour with squared distances over
 * side^2, times a factor: ours is regularity^2, so that the regularity is in
 * units of CIELab a segment.
 * Its segments are then cut and joined as any labels are (segments.c), so that
 * each is connected and none is too small. */
#include <math.h>

#include "images/image/image.h"
#include "images/image/ops.h"
#include "images/places/places.h"
#include "images/places/slic.h"

enum { USUAL_SEGMENTS = 300 };

static lapis_status take_settings(lapis_ctx *ctx,
                                  const lapis_slic_settings *given,
                                  lapis_slic_settings *s)
{
  *s = lapis_slic_defaults();
  TRY(base_take(ctx, "slic: the settings", given, s, sizeof *s));
  if ((s->side != -1 && s->side < 1) ||
      !(s->regularity >= 0 && s->regularity < INFINITY) || s->least < -1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "slic: a side of %" PRId64
                      " pixels, a regularity of %g, at least %" PRId64
                      " pixels; the side must be 1 or more, the others 0 or "
                      "more (-1: found from the image)",
                      s->side, s->regularity, s->least);
  return LAPIS_OK;
}

/* Interleaved pixels -> planes. */
static void planes_of(const lapis_image *image, float *planes)
{
  int64_t n = image->width * image->height;
  for (int64_t k = 0; k < n; k++)
    for (int64_t c = 0; c < image->channels; c++)
      planes[c * n + k] = image->pixels[k * image->channels + c];
}

static lapis_status segment(lapis_ctx *ctx, const lapis_image *lab,
                            const lapis_slic_settings *set, lapis_segments *out)
{
  int64_t n = lab->width * lab->height, side = set->side;
  if (side == -1) side = (int64_t)fmax(sqrt((double)n / USUAL_SEGMENTS), 1);
  int64_t least = set->least == -1 ? side * side / 4 : set->least;
  float *planes = base_alloc_raw(ctx, n * lab->channels, sizeof *planes);
  int32_t *label = base_alloc(ctx, n, sizeof *label);
  lapis_status status = LAPIS_ENOMEM;
  if (planes != NULL && label != NULL) {
    planes_of(lab, planes);
    slic_task t = {.planes = planes,
                   .width = lab->width,
                   .height = lab->height,
                   .channels = lab->channels,
                   .side = side,
                   .least = least,
                   .regularity = (float)(set->regularity * set->regularity)};
    slic_compute(&t, label);
    status =
        segments_of_labels(ctx, label, lab->width, lab->height, least, out);
  }
  base_free(planes), base_free(label);
  return status;
}

lapis_status lapis_segments_slic(lapis_ctx *ctx, const lapis_image *image,
                                 const lapis_slic_settings *given,
                                 lapis_segments *out)
{
  MAKES(out);
  NEEDS(ctx, image, out);
  lapis_slic_settings set;
  if (!slic_built())
    return lapis_fail(ctx, LAPIS_ENOTBUILT,
                      "slic: not built in; Debian: libvlfeat-dev, then build "
                      "LAPIS again, or give a label image");
  TRY(image_check(ctx, "slic", image));
  TRY(take_settings(ctx, given, &set));
  lapis_image lab;
  TRY(image_lab(ctx, image, &lab));
  lapis_status status = segment(ctx, &lab, &set, out);
  lapis_image_free(&lab);
  return status;
}
