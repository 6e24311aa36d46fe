/* bag.c - learning a vocabulary from many images, and counting its words. */
#include "images/words/bag.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "images/image/ops.h"
#include "lapis/tools.h"

enum { OUT_X, OUT_WORD, OUT_PLACE };
enum { LONGEST = 640, ENLARGE = 0 }; /* where nothing says otherwise */

/* ---- beginning ----------------------------------------------------------*/
static lapis_status check_sizes(lapis_ctx *ctx, const char *kind,
                                const lapis_bag_settings *set)
{
  if (set->enlarge <= set->longest) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --enlarge %" PRId64 " is more than --longest %" PRId64
                    ", to which large images are made smaller",
                    kind, set->enlarge, set->longest);
}

static lapis_status check_files(lapis_ctx *ctx, const char *kind,
                                const lapis_bag_settings *set)
{
  if (set->vocabulary == NULL ||
      (set->save_vocabulary == NULL && set->vocabulary_from == NULL))
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --vocabulary reads words that were learnt before; "
                    "--%s goes without it",
                    kind,
                    set->save_vocabulary != NULL ? "save-vocabulary"
                                                 : "vocabulary-from");
}

static lapis_status read_words(feature_job *j, bag *b)
{
  lapis_bag_settings *set = j->settings;
  TRY(vocabulary_read(j->base.ctx, set->vocabulary, b->of, b->family->d,
                      &b->v));
  set->words = b->v.words;
  set->levels = b->v.levels;
  if (set->longest < 0) set->longest = b->v.longest;
  if (set->enlarge < 0) set->enlarge = b->v.enlarge;
  j->known = true;
  return LAPIS_OK;
}

/* Words of images of one size say little of those of another. */
static void warn_side(const feature_job *j, const char *name, int64_t learnt,
                      int64_t side)
{
  const lapis_bag_settings *set = j->settings;
  if (!j->known || learnt < 0 || side == learnt) return;
  base_say(j->base.ctx, 0,
           "%s: --%s %" PRId64
           " is used, though %s was learnt with --%s %" PRId64,
           j->kind->shown.name, name, side, set->vocabulary, name, learnt);
}

/* As asked for, or as words were learnt at, or the kind's own. */
static lapis_status choose_bins(const feature_job *j, bag *b, const char *own)
{
  lapis_bag_settings *set = j->settings;
  lapis_ctx *ctx = j->base.ctx;
  const char *kind = j->kind->shown.name, *learnt = b->v.bins;
  if (learnt != NULL) TRY(bag_read_bins(ctx, set->vocabulary, learnt, b));
  if (set->bins == NULL) set->bins = learnt != NULL ? learnt : own;
  TRY(bag_read_bins(ctx, kind, set->bins, b));
  if (learnt != NULL && strcmp(learnt, set->bins) != 0)
    base_say(ctx, 0,
             "%s: --bins %s is used, though %s was learnt with --bins %s", kind,
             set->bins, set->vocabulary, learnt);
  return LAPIS_OK;
}

/* Which images words are learnt from, and how many vectors each gives. */
static lapis_status choose_images(feature_job *j, bag *b)
{
  const lapis_bag_settings *set = b->set;
  lapis_ctx *ctx = j->base.ctx;
  int64_t images = j->count;
  TRY(vocabulary_branch(ctx, j->kind->shown.name, set->words, set->levels,
                        &b->branch));
  if (set->vocabulary_from != NULL) {
    b->learns = base_alloc(ctx, j->count, sizeof *b->learns);
    if (b->learns == NULL) return LAPIS_ENOMEM;
    TRY(bag_read_names(j, set->vocabulary_from, b->learns));
    j->studied = b->learns;
  }
  for (int64_t i = 0; j->studied != NULL && i < j->count; i++)
    images -= !j->studied[i];
  if (images < 1)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: there are no images; name image files, or folders "
                      "of them to learn words from",
                      j->kind->shown.name);
  b->share = (set->learn + images - 1) / images;
  return LAPIS_OK;
}

lapis_status bag_begin(feature_job *j, const bag_family *family,
                       const char *bins)
{
  lapis_ctx *ctx = j->base.ctx;
  lapis_bag_settings *set = j->settings;
  const char *kind = j->kind->shown.name;
  bag *b = j->state = base_alloc(ctx, 1, sizeof *b);
  if (b == NULL) return LAPIS_ENOMEM;
  b->family = family;
  b->set = set;
  if (bins != NULL)
    lapis_number_print(b->of, sizeof b->of, "%s of magnif %g", family->of,
                       set->magnif);
  else
    snprintf(b->of, sizeof b->of, "%s", family->of);
  TRY(check_files(ctx, kind, set));
  if (set->vocabulary != NULL) TRY(read_words(j, b));
  if (bins != NULL) TRY(choose_bins(j, b, bins));
  if (set->longest < 0) set->longest = LONGEST;
  if (set->enlarge < 0) set->enlarge = ENLARGE;
  TRY(check_sizes(ctx, kind, set));
  warn_side(j, "longest", b->v.longest, set->longest);
  warn_side(j, "enlarge", b->v.enlarge, set->enlarge);
  return set->vocabulary != NULL ? LAPIS_OK : choose_images(j, b);
}

void bag_end(feature_job *j)
{
  bag *b = j->state;
  if (b == NULL) return;
  vocabulary_free(&b->v);
  base_free(b->learns);
  base_free(b);
}

/* ---- one image ----------------------------------------------------------*/
/* FNV-1a over what is seen, so that an image has the same random numbers
 * wherever it stands in a list. */
static uint64_t content(const lapis_image *m)
{
  uint64_t h = 14695981039346656037U;
  int64_t n = image_count(m);
  for (int64_t k = 0; k < n; k++) {
    uint32_t bits;
    memcpy(&bits, &m->pixels[k], sizeof bits);
    h = (h ^ bits) * 1099511628211U;
  }
  return h ^ (uint64_t)m->width;
}

static lapis_status open_view(const feature_job *j, const feature_view *v,
                              bag_view *out)
{
  const bag *b = j->state;
  lapis_image small;
  TRY(image_between(v->ctx, v->image, b->set->enlarge, b->set->longest,
                    &small));
  *out = (bag_view){.ctx = v->ctx,
                    .own = b,
                    .path = j->path[v->index],
                    .width = v->image->width,
                    .height = v->image->height,
                    .stream = content(&small)};
  const bag_family *f = b->family;
  int64_t across = f->columns > 0 ? f->columns : small.width;
  int64_t down = f->rows > 0 ? f->rows : small.height;
  out->shrunk_x = (double)v->image->width / (double)across;
  out->shrunk_y = (double)v->image->height / (double)down;
  lapis_status s = f->colours(v->ctx, &small, &out->image);
  lapis_image_free(&small);
  return s;
}

/* Patches in the order of a random permutation, the first `most` of them. */
static lapis_status thin(const bag_view *v, int64_t most, bag_patches *p)
{
  if (p->count <= most) return LAPIS_OK;
  int64_t *order = base_alloc(v->ctx, p->count, sizeof *order);
  bag_patch *some = base_alloc(v->ctx, most, sizeof *some);
  bool room = order != NULL && some != NULL;
  if (room) {
    rng_shuffle(base_seed(v->ctx), v->stream, order, p->count);
    for (int64_t k = 0; k < most; k++) some[k] = p->patch[order[k]];
    base_free(p->patch);
    *p = (bag_patches){most, some};
  } else {
    base_free(some);
  }
  base_free(order);
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

lapis_status bag_study(const feature_job *j, const feature_view *v,
                       feature_piece *out)
{
  const bag *b = j->state;
  const bag_family *f = b->family;
  bag_view view;
  bag_patches p = {.count = 0};
  TRY(open_view(j, v, &view));
  lapis_status s = f->find(&view, &p);
  if (s >= 0) s = thin(&view, b->share, &p);
  float *to = NULL;
  if (s >= 0) to = base_alloc(v->ctx, f->d * p.count, sizeof *to);
  out->item[0] = lapis_mat_f32(to, f->d, p.count);
  if (s >= 0) s = to == NULL ? LAPIS_ENOMEM : f->describe(&view, &p, to);
  base_free(p.patch);
  lapis_image_free(&view.image);
  return s;
}

/* ---- words of one image -------------------------------------------------*/
static void count_words(const bag *b, const int32_t *word, int64_t n, double *X)
{
  for (int64_t i = 0; i < n; i++) X[word[i]]++;
  for (int64_t k = 0; b->family->roots && k < b->v.words; k++)
    X[k] = sqrt(X[k] / (double)n);
}

static float inside(double at, int64_t side)
{
  return (float)fmin(fmax(at, 0), (double)(side - 1));
}

/* Of the patch's middle, in the file's pixels, and how wide it is.  The middle
 * of what is smaller than a pixel may lie beyond the outermost pixels'. */
static void place(const bag_view *v, const bag_patch *p, float *to)
{
  double bin = p->bin, middle = 1.5 * bin;
  double x = p->x + middle + 0.5, y = p->y + middle + 0.5;
  to[0] = (float)(x * v->shrunk_x - 0.5);
  to[1] = (float)(y * v->shrunk_y - 0.5);
  if (v->own->family->columns > 0) {
    to[0] = inside((double)to[0], v->width);
    to[1] = inside((double)to[1], v->height);
  }
  to[2] = (float)((bin > 0 ? 4 * bin : 1) * v->shrunk_x);
}

static lapis_status publish(const bag_view *v, const bag_patches *p,
                            const int32_t *word, feature_piece *out)
{
  const bag *b = v->own;
  int64_t shown = 0;
  for (int64_t i = 0; i < p->count; i++) shown += p->patch[i].shown;
  double *X = base_alloc(v->ctx, b->v.words, sizeof *X);
  int64_t *id = base_alloc(v->ctx, shown, sizeof *id);
  float *at = base_alloc(v->ctx, 3 * shown, sizeof *at);
  out->item[OUT_X] = lapis_mat_f64(X, b->v.words, 1);
  out->item[OUT_WORD] = lapis_mat_i64(id, 1, shown);
  out->item[OUT_PLACE] = lapis_mat_f32(at, 3, shown);
  if (X == NULL || id == NULL || at == NULL) return LAPIS_ENOMEM;
  count_words(b, word, p->count, X);
  for (int64_t i = 0; i < p->count; i++) {
    if (!p->patch[i].shown) continue;
    *id++ = word[i];
    place(v, &p->patch[i], at);
    at += 3;
  }
  return LAPIS_OK;
}

static lapis_status find_words(const bag_view *v, const bag_patches *p,
                               feature_piece *out)
{
  const bag *b = v->own;
  float *points =
      base_alloc_raw(v->ctx, b->family->d * p->count, sizeof *points);
  int32_t *word = base_alloc(v->ctx, p->count, sizeof *word);
  lapis_status s = points == NULL || word == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = b->family->describe(v, p, points);
  if (s >= 0) s = vocabulary_find(v->ctx, &b->v, points, p->count, word);
  if (s >= 0) s = publish(v, p, word, out);
  base_free(points);
  base_free(word);
  return s;
}

lapis_status bag_make(const feature_job *j, const feature_view *v,
                      feature_piece *out)
{
  const bag *b = j->state;
  bag_view view;
  bag_patches p = {.count = 0};
  TRY(open_view(j, v, &view));
  lapis_status s = b->family->find(&view, &p);
  if (s >= 0) s = find_words(&view, &p, out);
  base_free(p.patch);
  lapis_image_free(&view.image);
  return s;
}

bool bag_fits(const feature_job *j, const feature_slot *s)
{
  const bag *b = j->state;
  const lapis_mat *X = &s->piece.item[OUT_X], *word = &s->piece.item[OUT_WORD];
  const lapis_mat *at = &s->piece.item[OUT_PLACE];
  double last = (double)(b->v.words - 1);
  return feature_finite(X, LAPIS_F64, b->v.words, 1) &&
         feature_numbers(word, LAPIS_I64, 1, -1, 0, last) &&
         feature_places(at, LAPIS_F32, 3, word->cols, s);
}

/* ---- learning -----------------------------------------------------------*/
static lapis_status learn_from(feature_job *j, const feature_piece *all,
                               float *points, int64_t n)
{
  bag *b = j->state;
  float *at = points;
  int64_t images = 0;
  for (int64_t i = 0; i < j->count; i++) {
    const lapis_mat *m = &all[i].item[0];
    if (m->cols == 0) continue;
    memcpy(at, m->val, (size_t)(m->rows * m->cols) * sizeof *at);
    at += m->rows * m->cols;
    images++;
  }
  vocabulary_task t = {.points = points,
                       .d = b->family->d,
                       .n = n,
                       .branch = b->branch,
                       .levels = b->set->levels,
                       .restarts = b->set->restarts,
                       .standardise = b->family->standardise,
                       .threads = j->threads};
  vocabulary_free(&b->v); /* of an earlier solve */
  lapis_status s = vocabulary_learn(j->base.ctx, &t, &b->v);
  return s == LAPIS_OK ? bag_say_made(j, images, n, &b->v.made) : s;
}

lapis_status bag_learn(feature_job *j, const feature_piece *all)
{
  const bag *b = j->state;
  lapis_ctx *ctx = j->base.ctx;
  int64_t n = 0;
  for (int64_t i = 0; i < j->count; i++) n += all[i].item[0].cols;
  float *points = base_alloc_raw(ctx, n * b->family->d, sizeof *points);
  if (points == NULL) return LAPIS_ENOMEM;
  lapis_status s = learn_from(j, all, points, n);
  base_free(points);
  if (s == LAPIS_OK && b->set->save_vocabulary != NULL)
    s = vocabulary_write(ctx, b->set->save_vocabulary, &b->v);
  return s;
}

/* ---- words that were learnt before --------------------------------------*/
lapis_status bag_keep(const feature_job *j, const char *path)
{
  const bag *b = j->state;
  return vocabulary_write(j->base.ctx, path, &b->v);
}

lapis_status bag_recall(feature_job *j, const char *path)
{
  bag *b = j->state;
  vocabulary v = {.d = 0};
  TRY(vocabulary_read(j->base.ctx, path, b->of, b->family->d, &v));
  vocabulary_free(&b->v);
  b->v = v;
  if (b->set->save_vocabulary == NULL) return LAPIS_OK;
  return bag_keep(j, b->set->save_vocabulary);
}

static uint64_t hash_floats(uint64_t h, float *val, int64_t rows, int64_t cols)
{
  lapis_mat m = lapis_mat_f32(val, rows, cols);
  uint64_t both[2] = {h, lapis_mat_hash(&m)};
  lapis_mat pair = lapis_mat_i64((int64_t *)both, 2, 1);
  return lapis_mat_hash(&pair);
}

uint64_t bag_learnt(const feature_job *j)
{
  const vocabulary *v = &((const bag *)j->state)->v;
  uint64_t h = hash_floats(0, v->shift, 1, v->d);
  h = hash_floats(h, v->scale, 1, v->d);
  for (int64_t l = 0; l < v->levels; l++)
    h = hash_floats(h, v->level[l].val, v->d, v->level[l].count);
  return h;
}
