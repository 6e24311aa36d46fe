/* onnx_map.c - the kind "onnx-map": words of what a layer of a neural network
 * says of places in an image.
 *
 * The layer's map is read at grid x grid places, bilinearly between the centres
 * of its own and as at the nearest beyond them; a place's channels, brought to
 * length 1, are a patch's descriptor, and what follows is as with other bags.
 * A word's place is the middle of the part of the image that lies under it:
 * what the layer saw reaches further. */
#include <math.h>
#include <stdio.h>

#include "images/features/onnx.h"
#include "images/image/ops.h"
#include "images/words/bag.h"

typedef struct map_state {
  bag_family family; /* first: patches are described by the family's pointer */
  char of[64];
  lapis_onnx_settings set; /* as resolved */
  onnx_state *net;
  onnx_map shape;
} map_state;

static const map_state *state_of(const bag *b)
{
  return (const map_state *)(const void *)b->family;
}

/* ---- places -------------------------------------------------------------*/
static lapis_status find(const bag_view *v, bag_patches *out)
{
  int64_t grid = v->own->family->columns;
  bag_patch *p = out->patch = base_alloc(v->ctx, grid * grid, sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  out->count = grid * grid;
  for (int64_t k = 0; k < out->count; k++)
    p[k] = (bag_patch){
        .x = (int32_t)(k % grid), .y = (int32_t)(k / grid), .shown = true};
  return LAPIS_OK;
}

/* The two of n places around place i of a grid, and the share of the second. */
static float between(int64_t i, int64_t grid, int64_t n, int64_t *low,
                     int64_t *high)
{
  double at = ((double)i + .5) / (double)grid * (double)n - .5;
  at = fmin(fmax(at, 0), (double)(n - 1));
  *low = (int64_t)at;
  *high = *low + 1 < n ? *low + 1 : *low;
  return (float)(at - (double)*low);
}

/* to: depth; false: not finite. */
static bool read_place(const onnx_map *m, int64_t grid, const bag_patch *p,
                       float *to)
{
  int64_t x[2], y[2];
  float right = between(p->x, grid, m->columns, &x[0], &x[1]);
  float below = between(p->y, grid, m->rows, &y[0], &y[1]);
  double squares = 0;
  for (int64_t c = 0; c < m->depth; c++) {
    const float *at = m->at + c * m->deep_step;
    float row[2];
    for (int k = 0; k < 2; k++)
      row[k] = (1 - right) * at[y[k] * m->row_step + x[0] * m->step] +
               right * at[y[k] * m->row_step + x[1] * m->step];
    to[c] = (1 - below) * row[0] + below * row[1];
    squares += (double)to[c] * (double)to[c];
  }
  double shorter = squares > 0 ? 1 / sqrt(squares) : 0;
  for (int64_t c = 0; c < m->depth; c++)
    to[c] = (float)(shorter * (double)to[c]);
  return isfinite(squares);
}

static lapis_status describe(const bag_view *v, const bag_patches *p, float *to)
{
  const map_state *s = state_of(v->own);
  onnx_map m;
  TRY(onnx_look(v->ctx, s->net, &s->set, &v->image, &m));
  bool same = m.rows == s->shape.rows && m.columns == s->shape.columns &&
              m.depth == s->shape.depth;
  bool finite = true;
  for (int64_t i = 0; same && finite && i < p->count; i++)
    finite = read_place(&m, s->family.columns, &p->patch[i], to + i * m.depth);
  onnx_let_go(s->net, &m);
  if (!same) return onnx_odd(v->ctx, s->net);
  return finite ? LAPIS_OK : onnx_not_finite(v->ctx, s->net);
}

/* ---- beginning ----------------------------------------------------------*/
static lapis_status check_shape(lapis_ctx *ctx, const map_state *s)
{
  if (s->shape.rows < 2 || s->shape.columns < 2)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "onnx-map: '%.200s' has no places, %" PRId64 "x%" PRId64
                      "; --layer names a value inside the network that has",
                      s->set.layer, s->shape.columns, s->shape.rows);
  if (s->shape.depth > NEAREST_MOST)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "onnx-map: '%.200s' has %" PRId64
                      " channels; words are of at most %d, so --layer names "
                      "another",
                      s->set.layer, s->shape.depth, NEAREST_MOST);
  return LAPIS_OK;
}

static void take(const lapis_bag_settings *from, lapis_onnx_settings *to)
{
  *to = (lapis_onnx_settings){.size = sizeof *to, .grid = 1};
  COPY_OF_NET(to, from);
}

static void give(const lapis_onnx_settings *from, lapis_bag_settings *to)
{
  COPY_OF_NET(to, from);
  to->longest = VOCABULARY_SIDE; /* the network has a size of its own */
  to->enlarge = 0;
}

/* What words describe: the network and how it was given images. */
static uint64_t hash_look(const map_state *s)
{
  char text[2000];
  int size = snprintf(text, sizeof text, "%016" PRIx64 "|%s|%s|%.17g|%s|%s|%d",
                      onnx_hash(s->net), s->set.layer, s->set.shape,
                      s->set.scale, s->set.mean, s->set.std, s->set.bgr);
  if (size >= (int)sizeof text) size = (int)sizeof text - 1;
  lapis_mat bytes = lapis_mat_u8((unsigned char *)text, size, 1);
  return lapis_mat_hash(&bytes);
}

static lapis_status open_net(feature_job *j, map_state *s)
{
  lapis_ctx *ctx = j->base.ctx;
  lapis_bag_settings *set = j->settings;
  take(set, &s->set);
  TRY(onnx_open(ctx, j->kind->shown.name, &s->set, &s->net));
  give(&s->set, set);
  onnx_shape(s->net, &s->shape);
  TRY(check_shape(ctx, s));
  j->given = hash_look(s);
  snprintf(s->of, sizeof s->of, "places by network %016" PRIx64, j->given);
  s->family = (bag_family){.of = s->of,
                           .d = s->shape.depth,
                           .columns = set->count,
                           .rows = set->count,
                           .colours = image_rgb,
                           .find = find,
                           .describe = describe};
  return LAPIS_OK;
}

static void release(map_state *s)
{
  if (s == NULL) return;
  onnx_close(s->net);
  base_free(s);
}

static lapis_status begin(feature_job *j)
{
  map_state *s = base_alloc(j->base.ctx, 1, sizeof *s);
  if (s == NULL) return LAPIS_ENOMEM;
  lapis_status status = open_net(j, s);
  if (status >= 0) status = bag_begin(j, &s->family, NULL);
  if (j->state == NULL) release(s);
  return status;
}

static void end(feature_job *j)
{
  const bag *b = j->state;
  map_state *s = b == NULL ? NULL : (map_state *)(uintptr_t)state_of(b);
  bag_end(j);
  release(s);
}

static lapis_status say(feature_job *j)
{
  const map_state *s = state_of(j->state);
  onnx_say(j->base.ctx, j->kind->shown.name, s->net, &s->set, s->shape.depth);
  return LAPIS_OK;
}

static uint64_t learnt(const feature_job *j)
{
  uint64_t both[2] = {bag_learnt(j), j->given};
  lapis_mat pair = lapis_mat_i64((int64_t *)both, 2, 1);
  return lapis_mat_hash(&pair);
}

/* ---- the kind -----------------------------------------------------------*/
#define AT(field) offsetof(lapis_bag_settings, field)
static const lapis_param params[] = {
    ONNX_ROWS,
    INT("grid", count, .value = 32, FROM_TO(2, 256),
        .help = "places along each side, between which the map is read"),
    BAG_WORDS(256, 2, 20000)};

const feature_kind feature_onnx_map = {
    .shown = {.name = "onnx-map",
              .title = "visual words of a neural network",
              .summary = "counts of words of what a layer of a network in the "
                         "ONNX format says of places: to find where a class "
                         "is.",
              .source = "",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_bag_settings)},
    .array = BAG_ARRAYS,
    .begin = begin,
    .study = bag_study,
    .learn = bag_learn,
    .make = bag_make,
    .fits = bag_fits,
    .finish = say,
    .end = end,
    .keep = bag_keep,
    .recall = bag_recall,
    .learnt = learnt,
    .aside = bag_aside};
