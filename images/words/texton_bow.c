/* texton_bow.c - the kind "texton-bow": every pixel is a word, the nearest of
 * some responses of a bank of 17 filters, as in TextonBoost (Shotton, Winn,
 * Rother, Criminisi, ECCV 2006) and [MC15] Sec. 5: Gaussians of 1, 2 and 4
 * pixels on L, a and b; Laplacians of Gaussians of 1, 2, 4 and 8 on L; first
 * derivatives of Gaussians of 2 and 4 on L, along x and along y.  Laplacians
 * times sigma^2 and derivatives times sigma; each response is then brought to
 * mean 0 and variance 1 over the pixels that words are learnt from. */
#include "images/image/ops.h"
#include "images/words/bag.h"

enum { TEXTON_SIZE = 17 };
static const double octave[] = {1, 2, 4, 8}; /* pixels */

typedef struct bank {
  const bag_view *v;
  const bag_patches *p;
  float *to; /* TEXTON_SIZE x patches */
  int64_t response;
} bank;

static void put(bank *b, const lapis_image *m, int64_t channel, double factor)
{
  for (int64_t i = 0; i < b->p->count; i++) {
    const bag_patch *at = &b->p->patch[i];
    float v = m->pixels[(at->y * m->width + at->x) * m->channels + channel];
    b->to[i * TEXTON_SIZE + b->response] += (float)factor * v;
  }
}

static lapis_status colours(bank *b, double sigma)
{
  lapis_image soft;
  TRY(image_gaussian(b->v->ctx, &b->v->image, sigma, 0, 0, &soft));
  for (int64_t c = 0; c < 3; c++) {
    put(b, &soft, c, 1);
    b->response++;
  }
  lapis_image_free(&soft);
  return LAPIS_OK;
}

static lapis_status derivative(bank *b, const lapis_image *L, double sigma,
                               int order_x, int order_y)
{
  lapis_image soft;
  double factor = order_x + order_y == 2 ? sigma * sigma : sigma;
  TRY(image_gaussian(b->v->ctx, L, sigma, order_x, order_y, &soft));
  put(b, &soft, 0, factor);
  lapis_image_free(&soft);
  return LAPIS_OK;
}

static lapis_status edges(bank *b, const lapis_image *L)
{
  for (int k = 0; k < 4; k++) {
    TRY(derivative(b, L, octave[k], 2, 0));
    TRY(derivative(b, L, octave[k], 0, 2));
    b->response++;
  }
  for (int k = 1; k < 3; k++)
    for (int y = 0; y < 2; y++) {
      TRY(derivative(b, L, octave[k], 1 - y, y));
      b->response++;
    }
  return LAPIS_OK;
}

static lapis_status describe(const bag_view *v, const bag_patches *p, float *to)
{
  bank b = {.v = v, .p = p, .to = to};
  lapis_image L;
  int64_t n = v->image.width * v->image.height;
  TRY(image_alloc(v->ctx, v->image.width, v->image.height, 1, &L));
  for (int64_t k = 0; k < n; k++) L.pixels[k] = v->image.pixels[3 * k];
  for (int64_t k = 0; k < TEXTON_SIZE * p->count; k++) to[k] = 0;
  lapis_status s = LAPIS_OK;
  for (int k = 0; s >= 0 && k < 3; k++) s = colours(&b, octave[k]);
  if (s >= 0) s = edges(&b, &L);
  lapis_image_free(&L);
  return s;
}

static lapis_status find(const bag_view *v, bag_patches *out)
{
  int64_t w = v->image.width, h = v->image.height, step = v->own->set->step;
  bag_patch *p = out->patch = base_alloc(v->ctx, w * h, sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  out->count = w * h;
  for (int64_t y = 0; y < h; y++)
    for (int64_t x = 0; x < w; x++)
      *p++ = (bag_patch){.x = (int32_t)x,
                         .y = (int32_t)y,
                         .shown = x % step == 0 && y % step == 0};
  return LAPIS_OK;
}

static const bag_family family = {.of = "textons",
                                  .d = TEXTON_SIZE,
                                  .standardise = true,
                                  .colours = image_lab,
                                  .find = find,
                                  .describe = describe};

static lapis_status begin(feature_job *j)
{
  return bag_begin(j, &family, NULL);
}

#define AT(field) offsetof(lapis_bag_settings, field)
static const lapis_param params[] = {
    BAG_ROWS(400, 1, 40000),
    INT("step", step, .value = 2, FROM_TO(1, 1000),
        .help = "publish the words of every N-th pixel each way; X counts all"),
};

const feature_kind feature_texton_bow = {
    .shown = {.name = "texton-bow",
              .title = "textons",
              .summary = "counts of textons, the word of every pixel by colour "
                         "and texture around it: for what is in a photograph, "
                         "and where.",
              .source = "[MC15]",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_bag_settings)},
    BAG_KIND(begin, bag_aside_and_step)};
