/* onnx.c - the kinds "onnx" and "onnx-boxes": what a layer of a network says of
 * an image, or of boxes in it; what "onnx-map" shares with them.
 *
 * An image is brought to the network's size; a level v of 0..255 becomes
 *   (scale v - mean) / std
 * of its channel, in the network's order of channels.  Of a layer that has
 * places (a map), X holds means over grid x grid cells; place of a number: (row
 * of cells, column of cells, channel), the last fastest.
 *
 * What is not given is taken from the file's metadata, where they have it:
 * image_mean, image_std and rescale_factor, as networks' configurations call
 * them, and Image.* of the ONNX specification.
 *
 * A file may ask for any memory and never end, so a copy of this process tries
 * it first, within limits and with no other file to open: a network whose
 * numbers lie in further files is refused, since what is kept is known by the
 * bytes of this one. */
#include "images/features/onnx.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "files/io.h"
#include "images/features/box_source.h"
#include "images/image/ops.h"
#include "lapis/images.h"
#include "lapis/tools.h"

enum {
  MOST_GRID = 64,
  MOST_SIDE = 4096,
  MOST_NUMBERS = 1 << 24,
  WORDS = 100,
  MOST = 3
};
/* For the copy, beyond what a file's size gives it. */
enum { MORE_BYTES = 8 << 20, MEMORY_A_BYTE = 32 };
static const double LEAST_MEMORY = 2e9;

struct onnx_state {
  ort api;
  onnx_net net;
  uint64_t hash;
  box_source from;
  int64_t width, height, length; /* of the image; numbers of X */
  double scale, mean[MOST], std[MOST];
  onnx_map tried; /* its sides */
  bool said;      /* something is as the metadata say */
  char shape[48], mean_text[WORDS], std_text[WORDS];
};

/* ---- how images are given to it -----------------------------------------*/
/* "[0.5, 0.4, 0.3]", or one number for all channels. */
static bool read_numbers(const char *text, int64_t channels, double *to)
{
  int64_t n = 0;
  for (const char *at = text; n < channels; at++) {
    at += strspn(at, " [");
    if (!lapis_number_read(at, &at, &to[n++])) return false;
    at += strspn(at, " ]");
    if (*at == '\0') break;
    if (*at != ',' || n == channels) return false;
  }
  for (int64_t c = 1; c < channels && n == 1; c++) to[c] = to[0];
  for (int64_t c = 0; c < channels; c++)
    if (!isfinite(to[c])) return false;
  return n == 1 || n == channels;
}

/* Given, of the metadata, or the usual one; `is` says what was taken. */
static lapis_status choose_numbers(lapis_ctx *ctx, onnx_state *s,
                                   const char *name, const char *key,
                                   const char **is, char *said, double *to)
{
  const char *usual = strcmp(name, "std") == 0 ? "1" : "0";
  bool given = *is != NULL;
  if (!given) {
    bool found = net_says(&s->net, key, said, WORDS);
    s->said = s->said || found;
    *is = found ? said : usual;
  }
  bool fine = read_numbers(*is, s->net.channels, to);
  for (int64_t c = 0; c < s->net.channels && *usual == '1'; c++)
    fine = fine && to[c] > 0;
  if (fine) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "onnx: %s%s'%s' is not a number%s, or %" PRId64
                    " of them with commas between",
                    given ? "--" : s->net.path,
                    given ? name : ": its metadata ", *is,
                    *usual == '1' ? " above 0" : "", s->net.channels);
}

/* Image.NominalPixelRange of the specification: what numbers levels become. */
static void choose_range(onnx_state *s, lapis_onnx_settings *set)
{
  static const struct {
    const char *name, *mean;
    double scale;
  } range[] = {{"NominalRange_0_255", "0", 1},
               {"Normalized_0_1", "0", 1 / 255.},
               {"Normalized_1_1", "1", 2 / 255.}};
  char said[WORDS];
  if (!isnan(set->scale)) return;
  set->scale = 1 / 255.;
  if (net_says(&s->net, "rescale_factor", said, sizeof said)) {
    s->said = true;
    if (!lapis_number_read(said, NULL, &set->scale)) set->scale = NAN;
    return;
  }
  if (!net_says(&s->net, "Image.NominalPixelRange", said, sizeof said)) return;
  for (size_t k = 0; k < sizeof range / sizeof *range; k++) {
    if (strcmp(range[k].name, said) != 0) continue;
    s->said = true;
    set->scale = range[k].scale;
    if (set->mean == NULL) set->mean = range[k].mean;
  }
}

static lapis_status choose_size(lapis_ctx *ctx, onnx_state *s,
                                lapis_onnx_settings *set)
{
  const onnx_net *n = &s->net;
  bool fixed = n->width > 0 && n->height > 0;
  if (set->shape == NULL && !fixed)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "onnx: %s takes images of any size; give --size WxH, "
                      "that which it was trained with",
                      n->path);
  if (set->shape == NULL) {
    snprintf(s->shape, sizeof s->shape, "%" PRId64 "x%" PRId64, n->width,
             n->height);
    set->shape = s->shape;
  }
  TRY(feature_shape(ctx, "onnx", set->shape, MOST_SIDE, &s->width, &s->height));
  if ((n->width < 1 || n->width == s->width) &&
      (n->height < 1 || n->height == s->height))
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "onnx: --size %s, but %s takes images of %" PRId64
                    "x%" PRId64,
                    set->shape, n->path, n->width, n->height);
}

static lapis_status choose(lapis_ctx *ctx, onnx_state *s,
                           lapis_onnx_settings *set)
{
  char said[WORDS];
  set->layer = s->net.layer;
  TRY(choose_size(ctx, s, set));
  choose_range(s, set);
  s->scale = set->scale;
  if (!isfinite(s->scale) || !(s->scale > 0))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "onnx: %s: its metadata rescale_factor is not a number "
                      "above 0; give --scale",
                      s->net.path);
  TRY(choose_numbers(ctx, s, "mean", "image_mean", &set->mean, s->mean_text,
                     s->mean));
  TRY(choose_numbers(ctx, s, "std", "image_std", &set->std, s->std_text,
                     s->std));
  if (net_says(&s->net, "Image.BitmapPixelFormat", said, sizeof said) &&
      strncmp(said, "Bgr", 3) == 0)
    set->bgr = s->said = true;
  return LAPIS_OK;
}

/* ---- one image ----------------------------------------------------------*/
static void fill(const onnx_state *s, bool bgr, const lapis_image *m, float *in)
{
  int64_t n = m->width * m->height, channels = m->channels;
  for (int64_t k = 0; k < n; k++)
    for (int64_t c = 0; c < channels; c++) {
      int64_t from = bgr ? channels - 1 - c : c;
      double v = 255 * (double)m->pixels[k * channels + from];
      in[s->net.last ? k * channels + c : c * n + k] =
          (float)((s->scale * v - s->mean[c]) / s->std[c]);
    }
}

/* Means over cells; to: grid x grid x depth. */
static void pool(const onnx_map *m, int64_t grid, double *to)
{
  for (int64_t cell = 0; cell < grid * grid; cell++) {
    int64_t row = cell / grid, column = cell % grid;
    int64_t y0 = row * m->rows / grid, y1 = (row + 1) * m->rows / grid;
    int64_t x0 = column * m->columns / grid;
    int64_t x1 = (column + 1) * m->columns / grid;
    for (int64_t c = 0; c < m->depth; c++) {
      double sum = 0;
      for (int64_t y = y0; y < y1; y++)
        for (int64_t x = x0; x < x1; x++)
          sum +=
              (double)m->at[y * m->row_step + x * m->step + c * m->deep_step];
      *to++ = sum / (double)((y1 - y0) * (x1 - x0));
    }
  }
}

/* How many numbers describe an image, from one that is black. */
static lapis_status try_out(lapis_ctx *ctx, onnx_state *s, int64_t *cells)
{
  onnx_map m;
  float *in =
      base_alloc(ctx, s->net.channels * s->width * s->height, sizeof *in);
  if (in == NULL) return LAPIS_ENOMEM;
  lapis_status status = net_run(ctx, &s->net, in, s->width, s->height, &m);
  base_free(in);
  TRY(status);
  if (*cells < 0) {
    *cells = m.rows < m.columns ? m.rows : m.columns;
    if (*cells > MOST_GRID) *cells = MOST_GRID;
  }
  int64_t grid = *cells;
  if (m.rows < grid || m.columns < grid)
    status = lapis_fail(ctx, LAPIS_EINVAL,
                        "onnx: --grid %" PRId64 ", but '%.200s' has %" PRId64
                        "x%" PRId64 " places",
                        grid, s->net.layer, m.columns, m.rows);
  else if (m.depth > MOST_NUMBERS / (grid * grid))
    status = lapis_fail(ctx, LAPIS_EDATA,
                        "onnx: '%.200s' gives more than %d numbers an image",
                        s->net.layer, MOST_NUMBERS);
  s->length = grid * grid * m.depth;
  s->tried = m;
  net_release(&s->net, &m);
  return status;
}

static lapis_status check_answer(lapis_ctx *ctx, const onnx_state *s,
                                 const double *x)
{
  for (int64_t i = 0; i < s->length; i++)
    if (!isfinite(x[i])) return onnx_not_finite(ctx, s);
  return LAPIS_OK;
}

lapis_status onnx_not_finite(lapis_ctx *ctx, const onnx_state *s)
{
  return lapis_fail(ctx, LAPIS_EDATA,
                    "onnx: %s gives a number that is not finite; its "
                    "--scale, --mean and --std may be others",
                    s->net.path);
}

lapis_status onnx_look(lapis_ctx *ctx, const onnx_state *s,
                       const lapis_onnx_settings *set, const lapis_image *image,
                       onnx_map *m)
{
  lapis_image colours = {.width = 0}, small = {.width = 0};
  lapis_status status =
      (s->net.channels == 1 ? image_grey : image_rgb)(ctx, image, &colours);
  if (status >= 0)
    status = image_resize(ctx, &colours, s->width, s->height, &small);
  lapis_image_free(&colours);
  TRY(status);
  float *in = base_alloc_raw(ctx, image_count(&small), sizeof *in);
  if (in != NULL) fill(s, set->bgr, &small, in);
  lapis_image_free(&small);
  if (in == NULL) return LAPIS_ENOMEM;
  status = net_run(ctx, &s->net, in, s->width, s->height, m);
  base_free(in);
  return status;
}

lapis_status onnx_odd(lapis_ctx *ctx, const onnx_state *s)
{
  return lapis_fail(ctx, LAPIS_EDATA,
                    "onnx: %s gives as many numbers as an image asks for; "
                    "features need %" PRId64,
                    s->net.path, s->length);
}

void onnx_let_go(const onnx_state *s, onnx_map *m)
{
  net_release(&s->net, m);
}

/* x: length. */
static lapis_status describe(const feature_job *j, lapis_ctx *ctx,
                             const lapis_image *image, double *x)
{
  const onnx_state *s = j->state;
  const lapis_onnx_settings *set = j->settings;
  onnx_map m;
  TRY(onnx_look(ctx, s, set, image, &m));
  bool same = m.rows >= set->grid && m.columns >= set->grid &&
              m.depth * set->grid * set->grid == s->length;
  if (same) pool(&m, set->grid, x);
  net_release(&s->net, &m);
  return same ? check_answer(ctx, s, x) : onnx_odd(ctx, s);
}

/* ---- beginning ----------------------------------------------------------*/
typedef struct trial { /* what the copy tries */
  io_file file;        /* first: a reader is given this */
  onnx_state *state;
  lapis_onnx_settings *set;
} trial;

static lapis_status prepare(lapis_ctx *ctx, const trial *t)
{
  onnx_state *s = t->state;
  TRY(net_open(ctx, &s->api, t->file.path, t->file.data, t->file.size,
               t->set->layer, &s->net));
  TRY(choose(ctx, s, t->set));
  return try_out(ctx, s, &t->set->grid);
}

static lapis_status try_apart(lapis_ctx *ctx, io_file *f,
                              const io_request *request, lapis_arrays *out)
{
  struct rlimit most;
  double room =
      base_address_bytes() + LEAST_MEMORY + MEMORY_A_BYTE * (double)f->size;
  (void)request, (void)out;
  io_open_no_more();
  if (getrlimit(RLIMIT_AS, &most) == 0 && (double)most.rlim_cur > room) {
    most.rlim_cur = most.rlim_max = (rlim_t)room;
    (void)setrlimit(RLIMIT_AS, &most);
  }
  return prepare(ctx, (const trial *)(const void *)f);
}

static lapis_status open_net(lapis_ctx *ctx, trial *t)
{
  lapis_arrays none = {.count = 0};
  const io_request request = {.remedy = "is it a network that others use?"};
  lapis_mat bytes = lapis_mat_u8(t->file.data, t->file.size, 1);
  t->state->hash = lapis_mat_hash(&bytes);
  TRY(onnx_library(ctx, &t->state->api));
  TRY(io_read_apart(ctx, &t->file, t->file.size + MORE_BYTES, &request,
                    try_apart, &none));
  return prepare(ctx, t);
}

lapis_status onnx_open(lapis_ctx *ctx, const char *kind,
                       lapis_onnx_settings *set, onnx_state **out)
{
  trial t = {.set = set};
  if (set->net == NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: --net F.onnx names the file of the network", kind);
  t.state = *out = base_alloc(ctx, 1, sizeof *t.state);
  if (t.state == NULL) return LAPIS_ENOMEM;
  TRY(io_file_bytes(ctx, set->net, &t.file));
  lapis_status s = open_net(ctx, &t);
  io_file_close(&t.file);
  return s;
}

static lapis_status begin(feature_job *j)
{
  lapis_onnx_settings *set = j->settings;
  onnx_state *s = NULL;
  lapis_status status = onnx_open(j->base.ctx, j->kind->shown.name, set, &s);
  j->state = s;
  TRY(status);
  return feature_is_single(j->kind)
             ? LAPIS_OK
             : box_source_open(j, set->boxes, set->candidates, &s->from);
}

void onnx_say(lapis_ctx *ctx, const char *kind, const onnx_state *s,
              const lapis_onnx_settings *set, int64_t numbers)
{
  base_say(ctx, -1,
           "%s: '%s' of %s: %" PRId64 " numbers; images become %s, a level v "
           "(v * %.6g - %s) / %s%s%s",
           kind, s->net.layer, s->net.path, numbers, set->shape, s->scale,
           set->mean, set->std, set->bgr ? ", blue first" : "",
           s->said ? ", as its metadata say"
                   : "; its metadata do not say how it was trained, so see "
                     "that --scale, --mean, --std and --bgr are right");
}

static lapis_status say(feature_job *j)
{
  const onnx_state *s = j->state;
  onnx_say(j->base.ctx, j->kind->shown.name, s, j->settings, s->length);
  box_source_say_cut(j, &s->from);
  return LAPIS_OK;
}

uint64_t onnx_hash(const onnx_state *s)
{
  return s->hash;
}

void onnx_shape(const onnx_state *s, onnx_map *shape)
{
  *shape = s->tried;
}

static uint64_t learnt(const feature_job *j)
{
  return onnx_hash(j->state);
}

void onnx_close(onnx_state *s)
{
  if (s == NULL) return;
  net_close(&s->net);
  box_source_close(&s->from);
  base_free(s);
}

static void end(feature_job *j)
{
  onnx_close(j->state);
}

/* ---- the kinds ----------------------------------------------------------*/
static lapis_status make(const feature_job *j, const feature_view *v,
                         feature_piece *out)
{
  const onnx_state *s = j->state;
  double *x = feature_room(v, out, 0, s->length, 1);
  return x == NULL ? LAPIS_ENOMEM : describe(j, v->ctx, v->image, x);
}

static bool fits(const feature_job *j, const feature_slot *slot)
{
  const onnx_state *s = j->state;
  return feature_finite(&slot->piece.item[0], LAPIS_F64, s->length, 1);
}

static lapis_status describe_boxes(const feature_job *j, const feature_view *v,
                                   const lapis_box *box, int64_t count,
                                   feature_piece *out)
{
  const onnx_state *s = j->state;
  double *x = feature_room(v, out, 0, s->length, count);
  double *place = feature_room(v, out, 1, BOX_ROWS, count);
  if (x == NULL || place == NULL) return LAPIS_ENOMEM;
  for (int64_t b = 0; b < count; b++) {
    lapis_image part;
    image_box at = {(int64_t)box[b].x, (int64_t)box[b].y, (int64_t)box[b].width,
                    (int64_t)box[b].height};
    if (base_must_stop(v->ctx)) return LAPIS_CANCELLED;
    TRY(image_crop(v->ctx, v->image, &at, &part));
    lapis_status status = describe(j, v->ctx, &part, x + b * s->length);
    lapis_image_free(&part);
    TRY(status);
    box_put(&box[b], place + b * BOX_ROWS);
  }
  return LAPIS_OK;
}

static lapis_status make_boxes(const feature_job *j, const feature_view *v,
                               feature_piece *out)
{
  const onnx_state *s = j->state;
  lapis_box *box = NULL;
  int64_t count;
  lapis_status status = box_source_find(j, v, &s->from, &box, &count);
  if (status >= 0) status = describe_boxes(j, v, box, count, out);
  base_free(box);
  return status;
}

static bool boxes_fit(const feature_job *j, const feature_slot *slot)
{
  return box_pieces_fit(slot, ((const onnx_state *)j->state)->length);
}

#define AT(field) offsetof(lapis_onnx_settings, field)
#define NET_ROWS                                                               \
  ONNX_ROWS,                                                                   \
      INT("grid", grid, .value = 1, FROM_TO(1, MOST_GRID), .choices = "auto",  \
          .help = "cells along each side of a map, of which means are taken; " \
                  "auto: as many as it has on its shorter side")

static const lapis_param params[] = {NET_ROWS};
static const lapis_param box_params[] = {NET_ROWS, BOX_PARAMS};

const feature_kind feature_onnx = {
    .shown = {.name = "onnx",
              .title = "a layer of a neural network",
              .summary = "what a network in the ONNX format says of an image, "
                         "run by ONNX Runtime; onnx:F.onnx names its file, "
                         "too.",
              .source = "",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_onnx_settings)},
    .array = {{"X", NULL, NULL}},
    .begin = begin,
    .make = make,
    .fits = fits,
    .finish = say,
    .end = end,
    .learnt = learnt,
    .learns = "network"};

const feature_kind feature_onnx_boxes = {
    .shown = {.name = "onnx-boxes",
              .title = "boxes in images, by a neural network",
              .summary = "what a network in the ONNX format says of boxes that "
                         "may hold an object.",
              .source = "",
              .params = box_params,
              .n_params = sizeof box_params / sizeof *box_params,
              .settings_size = sizeof(lapis_onnx_settings)},
    .array = BOX_ARRAYS,
    .begin = begin,
    .make = make_boxes,
    .fits = boxes_fit,
    .finish = say,
    .end = end,
    .learnt = learnt,
    .learns = "network"};
