/* where.c - where in the image: a window for two classes, regions for more.
 *
 * Two classes [MC15 Sec. 4.3]: in every image of the second one, the window
 * whose words are nearest to the image's repaired column of Z_X.  More [MC15
 * Sec. 4.5]: what
 * the completion puts into a class's own column weighs the words; in every
 * image and for each of its classes, the connected group of segments of the
 * greatest weight. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/label/label.h"
#include "lapis/images.h"

static const double REGION_SECONDS = 1; /* a region, before its bound is kept */
static const double WHOLE = .9; /* share of a picture that is no place in it */

/* ---- what words can say -------------------------------------------------*/
static bool learns_words(const lapis_method *kind)
{
  return lapis_param_find(kind, "vocabulary") != NULL;
}

static bool keeps_counts(const char *map)
{
  static const char *const known[] = {"none", "l1", "sqrt", "l1-sqrt"};
  for (size_t size; *map != '\0'; map += size + (map[size] == ',')) {
    bool found = strncmp(map, "scale:", 6) == 0;
    size = strcspn(map, ",");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      found |= strlen(known[i]) == size && strncmp(map, known[i], size) == 0;
    if (!found) return false;
  }
  return true;
}

/* Times that a root was taken. */
static int roots_in(const char *map)
{
  int count = 0;
  for (; (map = strstr(map, "sqrt")) != NULL; map += 4) count++;
  return count;
}

/* Whether every one of the methods "a,b" answers with repaired features; what
 * is no method is auto's to refuse. */
static bool all_repair(const char *names)
{
  bool whole = strstr(names, " --") != NULL; /* with their settings */
  const char *between = whole ? ";" : ",";
  for (size_t n; *names != '\0'; names += n + (names[n] != '\0')) {
    char name[64];
    names += strspn(names, " ");
    n = strcspn(names, whole ? " ;" : ",");
    (void)snprintf(name, sizeof name, "%.*s", (int)n, names);
    const lapis_method *m = lapis_method_find(name);
    bool repairs = m == NULL;
    for (int i = 0; m != NULL && i < m->n_results; i++)
      repairs |= strcmp(m->results[i].name, "low_rank") == 0;
    if (!repairs) return false;
    n = strcspn(names, between);
  }
  return true;
}

lapis_status label_check_where(label_run *w)
{
  if (!w->set.where) return LAPIS_OK;
  if (w->set.candidates != NULL && !all_repair(w->set.candidates))
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: --where finds places in features that are "
                      "repaired; leave out --candidates %s",
                      w->set.candidates);
  if (w->kinds.count > 1)
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: --where takes one kind of features, not %s; "
                      "sift-bow, texton-bow and onnx-map have words with a "
                      "place",
                      w->set.features);
  if (!learns_words(w->kinds.kind[0]))
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: --where needs features with a place in the "
                      "image, visual words; %s has none, sift-bow has",
                      w->kinds.kind[0]->name);
  if (w->set.map != NULL && !keeps_counts(w->set.map))
    return lapis_fail(
        w->flow->ctx, LAPIS_EINVAL,
        "label: --where goes back from features to counts of "
        "words; --map %s cannot; none, l1, sqrt, l1-sqrt and scale can",
        w->set.map);
  return LAPIS_OK;
}

/* Roots of shares have length 1, counts do not. */
static bool are_roots(const lapis_mat *X)
{
  double squares = 0;
  for (int64_t k = 0; k < X->rows; k++)
    squares += pow(lapis_mat_at(X, k, 0), 2);
  return fabs(squares - 1) < 1e-6;
}

/* Words of image i, as views. */
static lapis_words words_of(const label_run *w, int64_t i)
{
  const int64_t *start = w->word_start.val, *size = w->flow->size.val;
  lapis_words found = {.word = w->words,
                       .xy = w->places_xy,
                       .vocabulary = w->d,
                       .width = size[2 * i],
                       .height = size[2 * i + 1]};
  found.word.cols = found.xy.cols = start[i + 1] - start[i];
  found.word.val = (int64_t *)w->words.val + start[i];
  found.xy.val = (float *)w->places_xy.val + start[i] * w->places_xy.ld;
  return found;
}

/* Column j of A as shares of words again. */
static void undo_map(const label_run *w, const lapis_mat *A, int64_t j,
                     bool roots, double *to)
{
  int squares = roots_in(w->map) + roots;
  for (int64_t k = 0; k < A->rows; k++) {
    double v = fmax(lapis_mat_at(A, k, j), 0);
    for (int i = 0; i < squares; i++) v *= v;
    to[k] = v;
  }
}

static bool all_zero(const double *v, int64_t d)
{
  for (int64_t k = 0; k < d; k++)
    if (v[k] > 0) return false;
  return true;
}

/* ---- what was found -----------------------------------------------------*/
/* weight: of each word of the image, which makes the heat map. */
static lapis_status add_place(label_run *w, const lapis_box *b, int64_t image,
                              int64_t class_, const double *weight)
{
  enum { CELLS = LABEL_HEAT * LABEL_HEAT };
  found_boxes *p = &w->places;
  if (p->count == p->room) {
    int64_t room = 2 * p->room + w->flow->n;
    double *box = realloc(p->box, (size_t)(5 * room) * sizeof *box);
    if (box != NULL) p->box = box;
    int64_t *at = realloc(p->image, (size_t)room * sizeof *at);
    if (at != NULL) p->image = at;
    int64_t *of = realloc(p->class_, (size_t)room * sizeof *of);
    if (of != NULL) p->class_ = of;
    double *heat = realloc(p->heat, (size_t)(CELLS * room) * sizeof *heat);
    if (heat != NULL) p->heat = heat;
    if (box == NULL || at == NULL || of == NULL || heat == NULL)
      return flow_no_memory(w->flow);
    p->room = room;
  }
  double *to = p->box + 5 * p->count;
  to[0] = b->x, to[1] = b->y, to[2] = b->width, to[3] = b->height;
  to[4] = b->score;
  p->image[p->count] = image;
  p->class_[p->count] = class_;
  lapis_words words = words_of(w, image);
  int64_t across = words.width < LABEL_HEAT ? words.width : LABEL_HEAT;
  double *heat = p->heat + CELLS * p->count++;
  if (across < LABEL_HEAT || words.height < LABEL_HEAT) {
    for (int k = 0; k < CELLS; k++) heat[k] = NAN; /* a tiny picture */
    return LAPIS_OK;
  }
  return lapis_heat_map(w->flow->ctx, &words, weight, LABEL_HEAT, LABEL_HEAT,
                        heat);
}

static void publish_places(label_run *w)
{
  const found_boxes *p = &w->places;
  flow_publish(w->flow, "boxes", lapis_mat_f64(p->box, 5, p->count));
  flow_publish(w->flow, "box_image", lapis_mat_i64(p->image, 1, p->count));
  flow_publish(w->flow, "box_class", lapis_mat_i64(p->class_, 1, p->count));
  flow_publish(w->flow, "heat",
               lapis_mat_f64(p->heat, LABEL_HEAT * LABEL_HEAT, p->count));
  flow_publish(w->flow, "region_mask", lapis_mat_u8(w->mask, 1, w->mask_used));
}

/* ---- two classes --------------------------------------------------------*/
/* weight: of each word, for the heat maps: the shares that are left of images
 * that have the label, less those of the others; target: d numbers. */
static lapis_status weigh_two(label_run *w, const lapis_mat *Z, bool roots,
                              double *target, double *weight)
{
  double *mean = calloc((size_t)(2 * w->d), sizeof *mean); /* has it, has not */
  lapis_mat of = lapis_mat_f64(mean, w->d, 2);
  if (mean == NULL) return flow_no_memory(w->flow);
  for (int64_t i = 0; i < w->flow->n; i++) {
    double *to = mean + (label_has(w, i, 0) ? 0 : w->d), sum = 0;
    undo_map(w, Z, i, roots, target);
    for (int64_t k = 0; k < w->d; k++) sum += target[k];
    for (int64_t k = 0; k < w->d && sum > 0; k++) to[k] += target[k] / sum;
  }
  lapis_status s = lapis_class_weights(w->flow->ctx, &of, 0, true, weight);
  free(mean);
  return s;
}

/* box: room for set.places; target: for d numbers. */
static lapis_status find_window(label_run *w, int64_t i, const lapis_mat *Z,
                                bool roots, lapis_box *box, double *target,
                                const double *weight)
{
  int64_t found;
  undo_map(w, Z, i, roots, target);
  if (all_zero(target, w->d)) return LAPIS_OK;
  lapis_words words = words_of(w, i);
  lapis_mat t = lapis_mat_f64(target, w->d, 1);
  lapis_status s = lapis_windows_find(w->flow->ctx, &words, &t, NULL,
                                      w->set.places, box, &found, NULL);
  if (s < 0) return s;
  for (int64_t k = 0; k < found; k++)
    TRY(add_place(w, &box[k], i, w->given.n_names - 1, weight));
  return LAPIS_OK;
}

static lapis_status find_windows(label_run *w, bool roots)
{
  lapis_mat Z;
  TRY(flow_get(w->flow, "low_rank", &Z));
  if (w->given.n_names == 2)
    flow_remark(w->flow, "one-class-placed",
                "places are of \"%.60s\" alone, of two classes the second: "
                "\"%.60s\" is taken for its absence; to look for that instead, "
                "give it a name that sorts last",
                w->given.name[1], w->given.name[0]);
  double *target = malloc((size_t)(2 * w->d) * sizeof *target);
  double *weight = target == NULL ? NULL : target + w->d;
  lapis_box *box = malloc((size_t)w->set.places * sizeof *box);
  bool room = target != NULL && box != NULL;
  lapis_status s =
      room ? weigh_two(w, &Z, roots, target, weight) : flow_no_memory(w->flow);
  for (int64_t i = 0; s >= 0 && i < w->flow->n; i++) {
    if (s == LAPIS_OK) s = flow_stops(w->flow);
    if (s != LAPIS_OK) break;
    if (!label_has(w, i, 0)) continue;
    s = find_window(w, i, &Z, roots, box, target, weight);
  }
  free(target);
  free(box);
  return s;
}

/* ---- more classes -------------------------------------------------------*/
/* weight: d x K, of each word in each class; malloc'ed. */
static lapis_status weigh_words(label_run *w, bool roots, double **weight)
{
  lapis_mat Z;
  TRY(lapis_result_get(w->flow->solver, "class_features", &Z));
  double *mean = malloc((size_t)(w->d * Z.cols) * sizeof *mean);
  *weight = malloc((size_t)(w->d * Z.cols) * sizeof **weight);
  bool room = mean != NULL && *weight != NULL;
  lapis_status s = room ? LAPIS_OK : flow_no_memory(w->flow);
  lapis_mat of = lapis_mat_f64(mean, w->d, Z.cols);
  for (int64_t c = 0; room && c < Z.cols; c++)
    undo_map(w, &Z, c, roots, mean + c * w->d);
  for (int64_t c = 0; s >= 0 && c < Z.cols; c++)
    s = lapis_class_weights(w->flow->ctx, &of, c, true, *weight + c * w->d);
  free(mean);
  return s;
}

/* FOLDER/NAME with the image's own ending, .png or .npy. */
static bool given_segments(const label_run *w, const char *image, char *path,
                           size_t size)
{
  static const char *const endings[] = {"", ".png", ".npy"};
  const char *slash = strrchr(image, '/');
  const char *base = slash == NULL ? image : slash + 1;
  const char *dot = strrchr(base, '.');
  int stem = dot == NULL || dot == base ? (int)strlen(base) : (int)(dot - base);
  for (int k = 0; k < 3; k++) {
    snprintf(path, size, "%s/%.*s%s", w->set.segments,
             k == 0 ? (int)strlen(base) : stem, base, endings[k]);
    if (access(path, R_OK) == 0) return true;
  }
  return false;
}

static lapis_status read_segments(const label_run *w, int64_t i,
                                  lapis_segments *out)
{
  char path[4096];
  const char *image = ((const char *const *)w->flow->names.val)[i];
  const int64_t *size = w->flow->size.val;
  if (!given_segments(w, image, path, sizeof path))
    return lapis_fail(w->flow->ctx, LAPIS_EIO,
                      "%s: has no segments for %s: a file of the same name, "
                      "or ending in .png or .npy",
                      w->set.segments, image);
  TRY(lapis_segments_read(w->flow->ctx, path, 1, out));
  if (out->width == size[2 * i] && out->height == size[2 * i + 1])
    return LAPIS_OK;
  return lapis_fail(
      w->flow->ctx, LAPIS_ESHAPE,
      "%s: is %" PRId64 " x %" PRId64 ", its image %" PRId64 " x %" PRId64,
      path, out->width, out->height, size[2 * i], size[2 * i + 1]);
}

static lapis_status make_segments(const label_run *w, int64_t i,
                                  lapis_segments *out)
{
  lapis_image image;
  *out = (lapis_segments){.width = 0};
  if (w->set.segments != NULL) return read_segments(w, i, out);
  TRY(lapis_image_read(w->flow->ctx,
                       ((const char *const *)w->flow->names.val)[i], &image));
  lapis_status s = lapis_segments_slic(w->flow->ctx, &image, NULL, out);
  lapis_image_free(&image);
  return s;
}

/* The box around a region, and its pixels behind those of the others. */
static lapis_status add_region(label_run *w, const lapis_segments *g,
                               const unsigned char *inside, double score,
                               int64_t image, int64_t class_,
                               const double *weight)
{
  int64_t wide = g->width, count = wide * g->height;
  int64_t low[2] = {wide, g->height}, high[2] = {-1, -1};
  if (w->mask_used + count > w->mask_room) {
    int64_t room = 2 * (w->mask_used + count);
    unsigned char *mask = realloc(w->mask, (size_t)room);
    if (mask == NULL) return flow_no_memory(w->flow);
    w->mask = mask;
    w->mask_room = room;
  }
  unsigned char *to = w->mask + w->mask_used;
  int64_t covered = 0;
  for (int64_t p = 0; p < count; p++) {
    int64_t at[2] = {p % wide, p / wide};
    covered += to[p] = inside[g->label[p]];
    for (int k = 0; to[p] != 0 && k < 2; k++) {
      if (at[k] < low[k]) low[k] = at[k];
      if (at[k] > high[k]) high[k] = at[k];
    }
  }
  if (high[0] < 0) return LAPIS_OK; /* an empty region */
  w->mask_used += count;
  w->regions_whole += (double)covered > WHOLE * (double)count;
  lapis_box box = {(double)low[0], (double)low[1],
                   (double)(high[0] - low[0] + 1),
                   (double)(high[1] - low[1] + 1), score};
  return add_place(w, &box, image, class_, weight);
}

/* So low that no other region goes through it. */
static void close_region(const unsigned char *inside, int64_t n, double *score)
{
  double most = 1;
  for (int64_t s = 0; s < n; s++) most += fabs(score[s]);
  for (int64_t s = 0; s < n; s++)
    if (inside[s]) score[s] = -most;
}

/* The best regions that have nothing in common, as long as words speak for
 * them. */
static lapis_status add_regions(label_run *w, int64_t i, int64_t c,
                                const lapis_segments *g, double *score,
                                unsigned char *inside, const double *weight)
{
  lapis_region_settings set = lapis_region_defaults();
  lapis_region_info info;
  set.seconds = REGION_SECONDS;
  for (int64_t k = 0; k < w->set.places; k++) {
    lapis_status s =
        lapis_region_find(w->flow->ctx, &g->graph, score, &set, inside, &info);
    if (s < 0 || s == LAPIS_CANCELLED) return s;
    if (k > 0 && !(info.score > 0)) break;
    w->regions_open += s > 0;
    TRY(add_region(w, g, inside, info.score, i, c, weight));
    close_region(inside, g->graph.count, score);
  }
  return LAPIS_OK;
}

static lapis_status search_image(label_run *w, int64_t i,
                                 const lapis_segments *g, const double *weight)
{
  int64_t n = g->graph.count;
  lapis_words words = words_of(w, i);
  double *score = malloc((size_t)n * sizeof *score);
  unsigned char *inside = malloc((size_t)n);
  bool room = score != NULL && inside != NULL;
  lapis_status s = room ? LAPIS_OK : flow_no_memory(w->flow);
  for (int64_t c = 0; s == LAPIS_OK && c < w->given.K; c++) {
    const double *own = weight + c * w->d;
    if (!label_has(w, i, c)) continue;
    s = lapis_segment_scores(w->flow->ctx, &words, g, own, score);
    if (s == LAPIS_OK) s = add_regions(w, i, c, g, score, inside, own);
  }
  free(score);
  free(inside);
  return s;
}

static lapis_status find_regions(label_run *w, bool roots)
{
  double *weight = NULL;
  lapis_status s = weigh_words(w, roots, &weight);
  for (int64_t i = 0; s >= 0 && s != LAPIS_CANCELLED && i < w->flow->n; i++) {
    lapis_segments g;
    s = flow_stops(w->flow);
    if (s != LAPIS_OK) break;
    s = make_segments(w, i, &g);
    if (s >= 0) s = search_image(w, i, &g, weight);
    lapis_segments_free(&g);
  }
  free(weight);
  if (w->regions_whole > 0)
    flow_remark(w->flow, "whole-pictures",
                "%" PRId64 " of %" PRId64
                " places are nearly the whole picture: what tells their class "
                "from the others is everywhere in it, and nothing smaller has "
                "more of it",
                w->regions_whole, w->places.count);
  if (w->regions_open > 0)
    flow_remark(w->flow, "regions",
                "%" PRId64 " regions were not proved to be the best in %g s",
                w->regions_open, REGION_SECONDS);
  return s;
}

lapis_status label_where(label_run *w)
{
  lapis_mat X;
  TRY(lapis_result_get(w->flow->features, "X", &X));
  TRY(lapis_result_get(w->flow->features, "word", &w->words));
  TRY(lapis_result_get(w->flow->features, "word_xy", &w->places_xy));
  TRY(lapis_result_get(w->flow->features, "word_start", &w->word_start));
  w->d = X.rows;
  bool roots = are_roots(&X);
  flow_allow(w->flow, 1);
  lapis_status s =
      w->given.K == 1 ? find_windows(w, roots) : find_regions(w, roots);
  publish_places(w);
  return s;
}
