/* luv_histogram.c - the kind "luv-histogram": the shares of an image's pixels
 * in each of bins^3 boxes of L*u*v*, colours as the eye distinguishes them: the
 * colours of [MC11 Sec. 5, MSRC].
 *
 * Place of a share: (bin of L bins + bin of u) bins + bin of v.  The boxes
 * divide what sRGB reaches evenly. */
#include "images/features/feature.h"
#include "images/image/ops.h"
#include "lapis/images.h"

enum { CHANNELS = 3 };
static const double LOW[] = {0, -84, -136}, HIGH[] = {100, 176, 108};

static int64_t bin_of(double v, int c, int64_t bins)
{
  double at = (v - LOW[c]) / (HIGH[c] - LOW[c]) * (double)bins;
  if (!(at > 0)) return 0;
  return at < (double)bins ? (int64_t)at : bins - 1;
}

static void fill(const lapis_image *luv, int64_t bins, double *to)
{
  int64_t pixels = luv->width * luv->height;
  for (int64_t k = 0; k < bins * bins * bins; k++) to[k] = 0;
  for (int64_t j = 0; j < pixels; j++) {
    int64_t at = 0;
    for (int c = 0; c < CHANNELS; c++)
      at = at * bins + bin_of((double)luv->pixels[j * CHANNELS + c], c, bins);
    to[at]++;
  }
  for (int64_t k = 0; k < bins * bins * bins; k++) to[k] /= (double)pixels;
}

static lapis_status begin(feature_job *j)
{
  (void)j;
  return LAPIS_OK;
}

static lapis_status make(const feature_job *j, const feature_view *v,
                         feature_piece *out)
{
  const lapis_luv_histogram_settings *set = j->settings;
  lapis_image luv;
  TRY(image_luv(v->ctx, v->image, &luv));
  double *to = feature_room(v, out, 0, set->bins * set->bins * set->bins, 1);
  if (to != NULL) fill(&luv, set->bins, to);
  lapis_image_free(&luv);
  return to == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static bool fits(const feature_job *j, const feature_slot *s)
{
  const lapis_luv_histogram_settings *set = j->settings;
  int64_t count = set->bins * set->bins * set->bins;
  return feature_finite(&s->piece.item[0], LAPIS_F64, count, 1);
}

#define AT(field) offsetof(lapis_luv_histogram_settings, field)
static const lapis_param params[] = {
    INT("bins", bins, .value = 5, FROM_TO(1, 16),
        .help = "bins along each of L, u and v"),
};

const feature_kind feature_luv_histogram = {
    .shown = {.name = "luv-histogram",
              .title = "histogram of colours",
              .summary = "shares of the pixels in boxes of L*u*v*, colours as "
                         "the eye distinguishes them.",
              .source = "[MC11]",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_luv_histogram_settings)},
    .array = {{"X", NULL, NULL}},
    .begin = begin,
    .make = make,
    .fits = fits};
