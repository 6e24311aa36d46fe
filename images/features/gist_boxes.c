/* gist_boxes.c - GIST of boxes in images, to find the object common to all.
 *
 * [ROML16] Sec. 6: a box of width w, height h and objectness o, whose GIST is
 * f, is described by
 *   x = [f / |f|; kappa_r w / h] + kappa_n (1 - o) n,   n normal of deviation
 * 1, so that a box that hardly holds an object is unlike every other.
 * Objectness is the score of a given table where no score exceeds 1; otherwise,
 * and for proposed boxes, the score over the image's largest.  A box without a
 * score has no noise.
 *
 * Deviations: f has unit length, since methods compare directions and the
 * length of GIST depends on the picture; kappa_n is larger than the paper's,
 * because our score is cruder than a learnt objectness (docs/locate.md has
 * figures).
 *
 * With --look outline a box is described by outline.c instead, without noise.
 *
 * n is drawn for (pixels of the image, number of the box), so that what is made
 * of an image depends on the image alone and can be kept.  Given boxes belong
 * to names, not to pixels, and are not kept. */
#include <math.h>
#include <string.h>

#include "images/features/box_source.h"
#include "images/features/gist.h"
#include "images/features/outline.h"
#include "lapis/tools.h"
#include "mat/mat.h"

typedef struct boxes_state {
  gist_bank *bank;
  box_source from;
} boxes_state;

static lapis_status begin(feature_job *j)
{
  const lapis_gist_boxes_settings *set = j->settings;
  lapis_ctx *ctx = j->base.ctx;
  boxes_state *s = j->state = base_alloc(ctx, 1, sizeof *s);
  if (s == NULL) return LAPIS_ENOMEM;
  TRY(gist_bank_new(ctx, &set->gist, &s->bank));
  return box_source_open(j, set->boxes, set->candidates, &s->from);
}

static void end(feature_job *j)
{
  boxes_state *s = j->state;
  if (s == NULL) return;
  gist_bank_free(s->bank);
  box_source_close(&s->from);
  base_free(s);
}

/* What scores are divided by. */
static double largest_score(const feature_job *j, const lapis_box *box,
                            int64_t count)
{
  const lapis_gist_boxes_settings *set = j->settings;
  double most = 0;
  for (int64_t b = 0; b < count; b++)
    if (box[b].score > most) most = box[b].score;
  return set->boxes != NULL && most <= 1 ? 1 : most > 0 ? most : 1;
}

/* ---- describing ---------------------------------------------------------*/
typedef struct noise {
  uint64_t seed, stream;
  double weight; /* kappa_n */
} noise;

static uint64_t hash_pixels(const lapis_image *m)
{
  lapis_mat view = lapis_mat_f32(m->pixels, m->width * m->channels, m->height);
  return lapis_mat_hash(&view);
}

static void add_noise(const noise *n, int64_t index, double share, int64_t d,
                      double *x)
{
  for (int64_t i = 0; i < d; i++)
    x[i] += n->weight * share *
            rng_normal(n->seed, n->stream, (uint64_t)(index * d + i));
}

static void to_unit_length(int64_t d, double *x)
{
  double sum = 0;
  for (int64_t i = 0; i < d; i++) sum += x[i] * x[i];
  for (int64_t i = 0; i < d && sum > 0; i++) x[i] /= sqrt(sum);
}

static int64_t length_of(const feature_job *j)
{
  const lapis_gist_boxes_settings *set = j->settings;
  const boxes_state *s = j->state;
  if (set->look == LAPIS_BOX_GIST) return gist_length(s->bank) + 1;
  return LAPIS_OUTLINE_EDGES + LAPIS_OUTLINE_COLOURS + 1;
}

static lapis_status describe_outlines(const feature_job *j,
                                      const feature_view *v,
                                      const lapis_box *box, int64_t count,
                                      feature_piece *out)
{
  int64_t d = length_of(j);
  outline *o;
  double *X = feature_room(v, out, 0, d, count);
  double *place = feature_room(v, out, 1, BOX_ROWS, count);
  if (X == NULL || place == NULL) return LAPIS_ENOMEM;
  TRY(outline_new(v->ctx, v->image, &o));
  for (int64_t b = 0; b < count; b++) {
    outline_describe(o, &box[b], X + b * d);
    box_put(&box[b], place + b * BOX_ROWS);
  }
  outline_free(o);
  return base_must_stop(v->ctx) ? LAPIS_CANCELLED : LAPIS_OK;
}

static lapis_status describe(const feature_job *j, const feature_view *v,
                             const lapis_box *box, int64_t count,
                             feature_piece *out)
{
  const lapis_gist_boxes_settings *set = j->settings;
  const boxes_state *s = j->state;
  int64_t d = length_of(j);
  double most = largest_score(j, box, count);
  noise n = {base_seed(v->ctx), hash_pixels(v->image), set->noise};
  double *X = feature_room(v, out, 0, d, count);
  double *place = feature_room(v, out, 1, BOX_ROWS, count);
  if (X == NULL || place == NULL) return LAPIS_ENOMEM;
  for (int64_t b = 0; b < count; b++) {
    if (base_must_stop(v->ctx)) return LAPIS_CANCELLED;
    const lapis_box *at = &box[b];
    image_box part = {(int64_t)at->x, (int64_t)at->y, (int64_t)at->width,
                      (int64_t)at->height};
    double *x = X + b * d;
    double share = 1 - fmin(1, fmax(0, at->score / most));
    TRY(gist_describe(v->ctx, s->bank, v->image, &part, x));
    to_unit_length(d - 1, x);
    x[d - 1] = set->aspect * at->width / at->height;
    if (!isnan(at->score)) add_noise(&n, b, share, d, x);
    box_put(at, place + b * BOX_ROWS);
  }
  return LAPIS_OK;
}

static lapis_status make(const feature_job *j, const feature_view *v,
                         feature_piece *out)
{
  lapis_box *box = NULL;
  int64_t count;
  const lapis_gist_boxes_settings *set = j->settings;
  const boxes_state *b = j->state;
  lapis_status s = box_source_find(j, v, &b->from, &box, &count);
  if (s >= 0)
    s = (set->look == LAPIS_BOX_GIST ? describe : describe_outlines)(
        j, v, box, count, out);
  base_free(box);
  return s;
}

static bool fits(const feature_job *j, const feature_slot *s)
{
  return box_pieces_fit(s, length_of(j));
}

static lapis_status say(feature_job *j)
{
  const boxes_state *s = j->state;
  box_source_say_cut(j, &s->from);
  return LAPIS_OK;
}

/* ---- the kind -----------------------------------------------------------*/
#define AT(field) offsetof(lapis_gist_boxes_settings, field)
static const lapis_param params[] = {
    BOX_PARAMS,
    REAL("aspect", aspect, .symbol = "kappa_r", .value = 0.08, AT_LEAST(0),
         .goes_with = "look=gist",
         .help = "weight of width / height against GIST"),
    REAL("noise", noise, .symbol = "kappa_n", .value = 0.05, AT_LEAST(0),
         .goes_with = "look=gist", .help = "noise on boxes of a low score"),
    INT("side", gist.side, .value = 64, FROM_TO(16, 256),
        .goes_with = "look=gist",
        .help = "side of the square a box is brought to, a power of two"),
    INT("scales", gist.scales, .value = 4, FROM_TO(1, 6),
        .goes_with = "look=gist", .help = "scales of the filters"),
    INT("orientations", gist.orientations, .value = 8, FROM_TO(1, 16),
        .goes_with = "look=gist", .help = "orientations of the filters"),
    INT("blocks", gist.blocks, .value = 4, FROM_TO(1, 16),
        .goes_with = "look=gist",
        .help = "blocks along each side that answers are averaged over"),
    CHOICE("look", look, "gist|outline", .value = LAPIS_BOX_GIST, .arg = "L",
           .help = "GIST and shape, or edges and colours in and around a box"),
};

const feature_kind feature_gist_boxes = {
    .shown = {.name = "gist-boxes",
              .title = "boxes in images",
              .summary = "GIST and shape of boxes that may hold an object, to "
                         "find the one common to all images.",
              .source = "[OT01] [ROML16]",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_gist_boxes_settings)},
    .array = BOX_ARRAYS,
    .begin = begin,
    .make = make,
    .fits = fits,
    .finish = say,
    .end = end};
