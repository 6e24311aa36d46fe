/* sift_bow.c - the kinds "sift-bow" and "dense-sift-bow": words of upright SIFT
 * descriptors, at random places and scales ([MC11] Sec. 5: 10000 an image, 1000
 * words by hierarchical k-means), or on a grid at several scales. */
#include "images/image/ops.h"
#include "images/words/bag.h"
#include "images/words/dense.h"

#define RANDOM_BINS "2,3,4,5,6,8"
#define DENSE_BINS "4,6,8,10"

/* Sizes of cells that fit into the image, in the order given. */
static lapis_status fitting(const bag_view *v, int64_t *bin, int64_t *count)
{
  const bag *b = v->own;
  int64_t least = b->bin[0];
  *count = 0;
  for (int64_t k = 0; k < b->n_bins; k++) {
    if (b->bin[k] < least) least = b->bin[k];
    if (dense_places(v->image.width, b->bin[k]) > 0 &&
        dense_places(v->image.height, b->bin[k]) > 0)
      bin[(*count)++] = b->bin[k];
  }
  if (*count > 0) return LAPIS_OK;
  return lapis_fail(v->ctx, LAPIS_EDATA,
                    "%s: an image of %" PRId64 " x %" PRId64
                    " pixels has no room for a patch; the smallest of --bins "
                    "needs %" PRId64 " each way",
                    v->path, v->image.width, v->image.height, 3 * least + 1);
}

static int32_t pick(const bag_view *v, int64_t index, int64_t n)
{
  double u = rng_uniform(base_seed(v->ctx), v->stream, (uint64_t)index);
  return (int32_t)(u * (double)n);
}

static lapis_status find_random(const bag_view *v, bag_patches *out)
{
  int64_t bin[BAG_BINS], bins, n = v->own->set->count;
  TRY(fitting(v, bin, &bins));
  bag_patch *p = out->patch = base_alloc(v->ctx, n, sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  out->count = n;
  for (int64_t i = 0; i < n; i++) {
    int64_t size = bin[pick(v, 3 * i, bins)];
    p[i] = (bag_patch){
        .x = pick(v, 3 * i + 1, dense_places(v->image.width, size)),
        .y = pick(v, 3 * i + 2, dense_places(v->image.height, size)),
        .bin = (int32_t)size,
        .shown = true};
  }
  return LAPIS_OK;
}

static int64_t steps(int64_t side, int64_t bin, int64_t step)
{
  return (dense_places(side, bin) + step - 1) / step;
}

static lapis_status find_grid(const bag_view *v, bag_patches *out)
{
  int64_t bin[BAG_BINS], bins, step = v->own->set->step, n = 0;
  int64_t w = v->image.width, h = v->image.height;
  TRY(fitting(v, bin, &bins));
  for (int64_t k = 0; k < bins; k++)
    n += steps(w, bin[k], step) * steps(h, bin[k], step);
  bag_patch *p = out->patch = base_alloc(v->ctx, n, sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  out->count = n;
  for (int64_t k = 0; k < bins; k++)
    for (int64_t y = 0; y < dense_places(h, bin[k]); y += step)
      for (int64_t x = 0; x < dense_places(w, bin[k]); x += step)
        *p++ = (bag_patch){.x = (int32_t)x,
                           .y = (int32_t)y,
                           .bin = (int32_t)bin[k],
                           .shown = true};
  return LAPIS_OK;
}

static lapis_status describe(const bag_view *v, const bag_patches *p, float *to)
{
  const bag *b = v->own;
  for (int64_t k = 0; k < b->n_bins; k++) {
    dense_maps maps = {.bin = 0};
    for (int64_t i = 0; i < p->count; i++) {
      const bag_patch *at = &p->patch[i];
      if (at->bin != b->bin[k]) continue;
      lapis_status s = maps.bin > 0 ? LAPIS_OK
                                    : dense_open(v->ctx, &v->image, at->bin,
                                                 b->set->magnif, &maps);
      if (s < 0) return s;
      dense_describe(&maps, at->x, at->y, to + i * DENSE_SIZE);
    }
    dense_close(&maps);
  }
  return LAPIS_OK;
}

static const bag_family random_family = {.of = "upright SIFT",
                                         .d = DENSE_SIZE,
                                         .colours = image_grey,
                                         .find = find_random,
                                         .describe = describe};
static const bag_family dense_family = {.of = "upright SIFT",
                                        .d = DENSE_SIZE,
                                        .roots = true,
                                        .colours = image_grey,
                                        .find = find_grid,
                                        .describe = describe};

static lapis_status begin_random(feature_job *j)
{
  return bag_begin(j, &random_family, RANDOM_BINS);
}

static lapis_status begin_dense(feature_job *j)
{
  return bag_begin(j, &dense_family, DENSE_BINS);
}

#define BINS_HELP(its)                                              \
  "pixels along a cell, a patch is 4 x 4 of them (default: as the " \
  "vocabulary was learnt, else " its ")"
#define BIN_ROWS(text, blur)                                    \
  TEXT("bins", bins, .arg = "N,N", .help = (text)),             \
      REAL("magnif", magnif, .value = (blur), FROM_TO(0, 1000), \
           .help = "blur by cell / X before; 0: not at all")

#define AT(field) offsetof(lapis_bag_settings, field)
static const lapis_param random_params[] = {
    INT("count", count, .value = 10000, FROM_TO(1, 1e7),
        .help = "descriptors an image"),
    BIN_ROWS(BINS_HELP(RANDOM_BINS), 0),
    BAG_ROWS(1000, 3, 100000),
};
static const lapis_param dense_params[] = {
    INT("step", step, .value = 4, FROM_TO(1, 1000),
        .help = "pixels from a patch to the next"),
    BIN_ROWS(BINS_HELP(DENSE_BINS), 6),
    BAG_ROWS(4096, 1, 65536),
};

const feature_kind feature_sift_bow = {
    .shown = {.name = "sift-bow",
              .title = "visual words at random places",
              .summary = "counts of visual words, SIFT descriptors at random "
                         "places and scales: for what mc repairs and locates.",
              .source = "[MC11]",
              .params = random_params,
              .n_params = sizeof random_params / sizeof *random_params,
              .settings_size = sizeof(lapis_bag_settings)},
    BAG_KIND(begin_random, bag_aside)};

const feature_kind feature_dense_sift_bow = {
    .shown = {.name = "dense-sift-bow",
              .title = "visual words on a grid",
              .summary = "square roots of the shares of visual words, SIFT "
                         "descriptors on a grid at several scales: for scenes "
                         "and linear classifiers.",
              .source = "[SVMP16]",
              .params = dense_params,
              .n_params = sizeof dense_params / sizeof *dense_params,
              .settings_size = sizeof(lapis_bag_settings)},
    BAG_KIND(begin_dense, bag_aside)};
