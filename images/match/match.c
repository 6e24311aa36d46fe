/* match.c - images of one object -> the same points in all of them.
 *
 *   keypoints -> roml -> slots -> votes
 *   points of one image, a grid in all -> followed (follow.c) -> slots
 *
 * Keypoints with their descriptors are found in every image, or points that are
 * given are described, and roml [ROML16] chooses as many of each as the object
 * has, in one order for all images.  A match is sure when most images bear it
 * out (votes.c).
 *
 * How many points the object has, where nobody says: roml is run with as many
 * slots as the poorest image has points, and those that most images bear out
 * are kept.  The measure of the paper, gamma_n, looks at the worst slot
 * alone and at 60 slots of which one is worse than the rest says little: on
 * frames of a sequence it gave 5 to 43 where 23 to 55 can be followed, 1 for
 * images that are the same, and 50 for noise. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/pipeline/pipeline.h"

/* An image of fewer says nothing of an object. */
enum { LEAST_POINTS = 4, FRAME = 4 };
static const double HEIGHT = 8; /* radii of the points; see lift */

typedef struct match {
  lapis_match_settings set;
  double *X;                /* 128 x m */
  double *frame;            /* FRAME x m: x, y, scale, angle */
  double *spot;             /* 2 x m: x, y */
  int64_t *group;           /* m: image */
  double *place;            /* 4 x slots that are sure: image, slot, x, y */
  double *shown;            /* the same for the page */
  int64_t *first;           /* K + 1: points of image k begin at first[k] */
  int64_t *pick;            /* n x K: points by their number */
  int64_t *slot;            /* n x K: what is handed out */
  int64_t *instance;        /* n: whose */
  bool *good;               /* n */
  double *support, *blocks; /* n x K; d x n x K */
  unsigned char *sure;      /* n x K */
  unsigned char *placed;    /* K: with --first, not in doubt as a whole */
  int64_t tried;            /* slots that were counted in */
  int64_t from, labelled;   /* with --first: the image, its points */
  const char **name;        /* labelled */
  char *names;              /* what they point to */
} match;

/* ---- beginning ----------------------------------------------------------*/
static lapis_status begin(lapis_flow *f)
{
  match *m = f->own;
  m->set = *(const lapis_match_settings *)f->settings;
  f->common = FLOW_COMMON(&m->set);
  if (m->set.instances != 1 && m->set.inliers < 0)
    return lapis_fail(f->ctx, LAPIS_EINVAL,
                      "match: --instances needs --inliers N, the number of "
                      "points that one instance has");
  bool positions = m->set.map == LAPIS_MATCH_POSITIONS;
  if (positions && m->set.xy == NULL)
    return lapis_fail(f->ctx, LAPIS_EINVAL,
                      "match: --map positions is for points that are given; "
                      "add --xy F.csv");
  if (positions && m->set.instances != 1)
    return lapis_fail(f->ctx, LAPIS_EINVAL,
                      "match: --map positions does not distinguish instances; "
                      "leave out --instances");
  if (m->set.xy == NULL && m->set.inliers > m->set.points)
    return lapis_fail(f->ctx, LAPIS_EINVAL,
                      "match: --inliers %" PRId64
                      " is more than the --points %" PRId64
                      " that are used in each image",
                      m->set.inliers, m->set.points);
  return LAPIS_OK;
}

static void forget(lapis_flow *f)
{
  match *m = f->own;
  free(m->X);
  free(m->frame);
  free(m->spot);
  free(m->group);
  free(m->place);
  free(m->shown);
  free(m->first);
  free(m->pick);
  free(m->slot);
  free(m->good);
  free(m->support);
  free(m->instance);
  free(m->blocks);
  free(m->sure);
  free(m->placed);
  free(m->name);
  free(m->names);
}

/* ---- keypoints ----------------------------------------------------------*/
static lapis_sift_settings described(const match *m)
{
  lapis_sift_settings sift;
  lapis_settings_default(lapis_feature_find("sift"), &sift);
  sift.peak = m->set.peak;
  sift.longest = m->set.longest;
  sift.xy = m->set.first != NULL ? m->set.first : m->set.xy;
  if (sift.xy == NULL) sift.most = m->set.points;
  sift.grid = m->set.first != NULL ? m->set.grid : 0;
  sift.scale = m->set.scale;
  return sift;
}

static lapis_status find_points(lapis_flow *f)
{
  lapis_sift_settings sift = described(f->own);
  flow_kinds kinds = {
      .count = 1, .kind = {lapis_feature_find("sift")}, .settings = {&sift}};
  return flow_features(f, &kinds, NULL);
}

static int64_t least_points(const match *own)
{
  int64_t sets = own->set.instances > 0 ? own->set.instances : 1;
  if (own->set.first != NULL) return 1;
  return own->set.inliers > 0 ? own->set.inliers * sets : LEAST_POINTS;
}

static const char *points_of(const match *own)
{
  bool found = own->set.xy == NULL && own->set.first == NULL;
  return found ? "keypoints" : "points";
}

/* few: images of fewer points than are to be matched; how many those are.
 * group: image of each point. */
static int64_t mark_few(const lapis_flow *f, const int64_t *group, int64_t m,
                        int64_t *count, bool *few)
{
  int64_t found = 0;
  for (int64_t j = 0; j < m; j++) count[group[j]]++;
  for (int64_t k = 0; k < f->n; k++)
    found += few[k] = count[k] < least_points(f->own);
  return found;
}

static lapis_status too_few(const lapis_flow *f, const int64_t *count)
{
  const match *own = f->own;
  int64_t k = 0;
  while (count[k] >= least_points(own)) k++;
  return lapis_fail(
      f->ctx, LAPIS_EDATA,
      own->set.inliers > 0
          ? "match: %s: has %" PRId64 " %s, fewer than --inliers %" PRId64
            "; leave the image out%s"
          : "match: %s: has %" PRId64 " %s, fewer than the %" PRId64
            " needed; leave the image out%s",
      ((const char *const *)f->names.val)[k], count[k], points_of(own),
      least_points(own), own->set.xy == NULL ? ", or try a lower peak" : "");
}

/* The points of the images that stay, which are numbered anew. */
static void drop_points(const lapis_flow *f, const bool *few, lapis_mat *X)
{
  match *m = f->own;
  int64_t kept = 0, image = -1, last = -1;
  for (int64_t j = 0; j < X->cols; j++) {
    int64_t of = m->group[j];
    if (few[of]) continue;
    image += of != last;
    last = of;
    memmove(m->X + kept * X->rows, m->X + j * X->rows,
            (size_t)X->rows * sizeof *m->X);
    memmove(m->frame + kept * FRAME, m->frame + j * FRAME,
            FRAME * sizeof *m->frame);
    m->group[kept++] = image;
  }
  X->cols = kept;
}

static lapis_status leave_out(lapis_flow *f, const bool *few, lapis_mat *X)
{
  const match *own = f->own;
  char why[128];
  snprintf(why, sizeof why, "has fewer %s than the %" PRId64 " needed",
           points_of(own), least_points(own));
  drop_points(f, few, X);
  return flow_leave_out(f, few, why);
}

/* Images of too few points are refused, or left out; X: the points that stay.*/
static lapis_status check_counts(lapis_flow *f, lapis_mat *X)
{
  const match *own = f->own;
  int64_t *count = calloc((size_t)f->n + 1, sizeof *count);
  bool *few = calloc((size_t)f->n + 1, sizeof *few);
  lapis_status s = LAPIS_OK;
  if (count == NULL || few == NULL)
    s = flow_no_memory(f);
  else if (mark_few(f, own->group, X->cols, count, few) > 0)
    s = f->common.keep_going ? leave_out(f, few, X) : too_few(f, count);
  free(count);
  free(few);
  if (s < 0 || f->n >= 2) return s;
  return lapis_fail(f->ctx, LAPIS_EMISSING,
                    "match: only one image is left; two or more are needed");
}

static void copy_points(match *m, const lapis_mat *X, const lapis_mat *xy,
                        const int64_t *group)
{
  for (int64_t j = 0; j < X->cols; j++) {
    for (int64_t i = 0; i < X->rows; i++)
      m->X[j * X->rows + i] = lapis_mat_at(X, i, j);
    for (int64_t i = 0; i < FRAME; i++)
      m->frame[FRAME * j + i] = lapis_mat_at(xy, i, j);
    m->group[j] = group[j];
  }
}

/* ---- points of one image ------------------------------------------------*/
/* Their image, of those that were read; *n: how many they are. */
static lapis_status find_labelled(const lapis_flow *f, int64_t *image,
                                  int64_t *n)
{
  const match *m = f->own;
  lapis_mat given;
  int64_t images = 0;
  TRY(lapis_result_get(f->features, "given", &given));
  for (int64_t k = given.cols - 1; k >= 0; k--) {
    int64_t count = (int64_t)lapis_mat_at(&given, 0, k);
    if (count > 0) *image = k, *n = count, images++;
  }
  if (images == 1) return LAPIS_OK;
  return lapis_fail(f->ctx, LAPIS_EDATA,
                    images == 0
                        ? "match: %s: the image with these points is left out"
                        : "match: %s: holds points of %" PRId64
                          " images; --first takes those of one, --xy "
                          "the points of all",
                    m->set.first, images);
}

/* What the points are called: as the table says, or by their number. */
static lapis_status take_names(lapis_flow *f)
{
  enum { NUMBER = 24 };
  match *m = f->own;
  lapis_mat given;
  size_t size = 0, used = 0;
  TRY(lapis_result_get(f->features, "point_names", &given));
  const char *const *text = given.val;
  for (int64_t j = 0; j < m->labelled; j++) size += strlen(text[j]) + NUMBER;
  m->name = calloc((size_t)m->labelled + 1, sizeof *m->name);
  m->names = calloc(size + 1, 1);
  if (m->name == NULL || m->names == NULL) return flow_no_memory(f);
  for (int64_t j = 0; j < m->labelled; j++) {
    m->name[j] = m->names + used;
    used += (size_t)(*text[j] == '\0'
                         ? snprintf(m->names + used, NUMBER, "%" PRId64, j + 1)
                         : snprintf(m->names + used, strlen(text[j]) + 1, "%s",
                                    text[j])) +
            1;
  }
  lapis_mat names = given;
  names.val = m->name;
  flow_publish(f, "point_names", names);
  return LAPIS_OK;
}

/* Only the features of the points that were found stay: n of each image. */
static lapis_status keep_found(lapis_flow *f, lapis_mat *X)
{
  match *m = f->own;
  int64_t d = X->rows, found = m->labelled * f->n;
  double *kept = malloc((size_t)(found * d + 1) * sizeof *kept);
  double *frame = malloc((size_t)(found * FRAME + 1) * sizeof *frame);
  if (kept != NULL && frame != NULL)
    for (int64_t i = 0; i < found; i++) {
      memcpy(kept + i * d, m->X + m->slot[i] * d, (size_t)d * sizeof *kept);
      memcpy(frame + i * FRAME, m->frame + m->slot[i] * FRAME,
             FRAME * sizeof *frame);
    }
  if (kept == NULL || frame == NULL) {
    free(kept);
    free(frame);
    return flow_no_memory(f);
  }
  free(m->X);
  free(m->frame);
  free(m->group);
  m->X = kept;
  m->frame = frame;
  m->group = malloc((size_t)(found + 1) * sizeof *m->group);
  if (m->group == NULL) return flow_no_memory(f);
  for (int64_t i = 0; i < found; i++)
    m->slot[i] = i, m->group[i] = i / m->labelled;
  X->cols = found;
  return LAPIS_OK;
}

/* The points of one image in all others; X: of each image its points. */
static lapis_status follow_points(lapis_flow *f, lapis_mat *X)
{
  static const double SCALES = 3, STEPS = 1.5;
  match *m = f->own;
  TRY(find_labelled(f, &m->from, &m->labelled));
  TRY(take_names(f));
  size_t slots = (size_t)(m->labelled * f->n) + 1;
  m->first = calloc((size_t)f->n + 1, sizeof *m->first);
  m->slot = calloc(slots, sizeof *m->slot);
  m->sure = calloc(slots, 1);
  m->placed = calloc((size_t)f->n + 1, 1);
  if (m->first == NULL || m->slot == NULL || m->sure == NULL ||
      m->placed == NULL)
    return flow_no_memory(f);
  for (int64_t j = 0; j < X->cols; j++) m->first[m->group[j] + 1]++;
  for (int64_t k = 0; k < f->n; k++) m->first[k + 1] += m->first[k];
  flow_follow v = {.d = X->rows,
                   .K = f->n,
                   .n = m->labelled,
                   .X = m->X,
                   .at = m->frame,
                   .first = m->first,
                   .from = m->from,
                   .near =
                       fmax(SCALES * m->set.scale, STEPS * (double)m->set.grid),
                   .pick = m->slot,
                   .sure = m->sure,
                   .placed = m->placed};
  lapis_sift_settings sift = described(m);
  lapis_status s = flow_find_points(f, &v);
  if (s == LAPIS_OK) s = flow_doubt_shifted(f, &v, &sift);
  return s == LAPIS_OK ? keep_found(f, X) : s;
}

/* ---- points of all images -----------------------------------------------*/
static lapis_status take_points(lapis_flow *f)
{
  match *m = f->own;
  lapis_mat X, xy, group;
  TRY(lapis_result_get(f->features, "X", &X));
  TRY(lapis_result_get(f->features, "xy", &xy));
  TRY(lapis_result_get(f->features, "group", &group));
  size_t room = (size_t)X.cols + 1;
  m->X = calloc(room * (size_t)(X.rows + 1), sizeof *m->X);
  m->frame = calloc(FRAME * room, sizeof *m->frame);
  m->group = calloc(room, sizeof *m->group);
  m->spot = calloc(2 * room, sizeof *m->spot);
  if (m->X == NULL || m->frame == NULL || m->group == NULL || m->spot == NULL)
    return flow_no_memory(f);
  copy_points(m, &X, &xy, group.val);
  TRY(check_counts(f, &X));
  lapis_status s = m->set.first == NULL ? LAPIS_OK : follow_points(f, &X);
  if (s != LAPIS_OK) return s;
  for (int64_t i = 0; i < 2 * X.cols; i++)
    m->spot[i] = m->frame[FRAME * (i / 2) + i % 2];
  f->data.X = lapis_mat_f64(m->X, X.rows, X.cols);
  f->data.xy = lapis_mat_f64(m->frame, FRAME, X.cols);
  f->data.group = m->group;
  flow_publish(f, "xy", f->data.xy);
  flow_publish(f, "group", lapis_mat_i64(m->group, 1, X.cols));
  return LAPIS_OK;
}

/* ---- matching -----------------------------------------------------------*/
/* place: image, slot, x, y of every slot that an image has without doubt. */
static lapis_status place_slots(lapis_flow *f)
{
  match *m = f->own;
  lapis_mat slot, sure;
  int64_t used = 0;
  TRY(flow_get(f, "match", &slot));
  TRY(flow_get(f, "inlier", &sure));
  size_t most = (size_t)(4 * slot.rows * slot.cols + 1);
  m->place = malloc(most * sizeof *m->place);
  m->shown = malloc(most * sizeof *m->shown);
  if (m->place == NULL || m->shown == NULL) return flow_no_memory(f);
  for (int64_t k = 0; k < slot.cols; k++)
    for (int64_t j = 0; j < slot.rows; j++) {
      int64_t at = (int64_t)lapis_mat_at(&slot, j, k);
      if (at < 0 || lapis_mat_at(&sure, j, k) < 0.5) continue;
      double *to = m->place + 4 * used++;
      to[0] = (double)k, to[1] = (double)j;
      to[2] = m->frame[FRAME * at], to[3] = m->frame[FRAME * at + 1];
    }
  flow_publish(f, "points", lapis_mat_f64(m->place, 4, used));
  return LAPIS_OK;
}

static lapis_status solve_slots(lapis_flow *f, int64_t n)
{
  const match *m = f->own;
  lapis_roml_settings roml = lapis_roml_defaults();
  if (m->set.first != NULL) { /* its objective, and doubts by xi */
    roml.start_match = lapis_mat_i64(m->slot, n, f->n);
    roml.stop.max_iters = 0;
  }
  roml.inliers = n;
  roml.instances = m->set.instances;
  roml.map = m->set.map == LAPIS_MATCH_EMBED ? LAPIS_ROML_MAP_EMBED
                                             : LAPIS_ROML_MAP_NONE;
  roml.xi = m->set.xi;
  lapis_data data = f->data;
  if (m->set.map == LAPIS_MATCH_POSITIONS) {
    roml.layout = LAPIS_ROML_COORDINATES;
    data.X = lapis_mat_f64(m->spot, 2, data.xy.cols);
  }
  flow_allow(f, 1);
  TRY(lapis_roml_new(f->ctx, &data, &roml, &f->solver));
  flow_answers(f);
  return lapis_solve(f->solver);
}

/* Given points that are compared by positions, too: what these were made into
 * is known of the points that were chosen, as low_rank + sparse; they are each
 * other's rivals.  Of keypoints descriptors vote in any case. */
static bool votes_embedded(const match *m)
{
  return m->set.map != LAPIS_MATCH_NONE && m->set.xy != NULL;
}

/* Room for n slots of K images. */
static bool votes_alloc(match *m, int64_t n, int64_t K, int64_t d)
{
  size_t slots = (size_t)(n * K) + 1;
  bool blocks = votes_embedded(m);
  m->first = calloc((size_t)K + 1, sizeof *m->first);
  m->pick = calloc(slots, sizeof *m->pick);
  m->slot = calloc(slots, sizeof *m->slot);
  m->good = calloc((size_t)n + 1, sizeof *m->good);
  m->support = calloc(slots, sizeof *m->support);
  m->sure = calloc(slots, 1);
  m->blocks = blocks ? calloc(slots * (size_t)d, sizeof *m->blocks) : NULL;
  return m->first != NULL && m->pick != NULL && m->slot != NULL &&
         m->good != NULL && m->support != NULL && m->sure != NULL &&
         (m->blocks != NULL || !blocks);
}

/* Votes look at directions alone.  Positions (2 x count) become directions that
 * are as near to each other: about their mean and over their size, on a plane
 * that is HEIGHT away (3 x count). */
static void lift(double *blocks, int64_t count)
{
  double mean[2] = {0, 0}, square = 0;
  for (int64_t i = 0; i < 2 * count; i++)
    mean[i % 2] += blocks[i] / (double)count;
  for (int64_t i = 0; i < 2 * count; i++)
    square += (blocks[i] - mean[i % 2]) * (blocks[i] - mean[i % 2]);
  double size = square > 0 ? sqrt(square / (double)count) : 1;
  for (int64_t i = count - 1; i >= 0; i--) {
    double x = blocks[2 * i] - mean[0], y = blocks[2 * i + 1] - mean[1];
    blocks[3 * i] = x / size;
    blocks[3 * i + 1] = y / size;
    blocks[3 * i + 2] = HEIGHT;
  }
}

static lapis_status take_blocks(const lapis_flow *f, flow_votes *v)
{
  match *m = f->own;
  lapis_mat low, sparse;
  TRY(lapis_result_get(f->solver, "low_rank", &low));
  TRY(lapis_result_get(f->solver, "sparse", &sparse));
  for (int64_t i = 0; i < low.rows * low.cols; i++)
    m->blocks[i] = lapis_mat_at(&low, i % low.rows, i / low.rows) +
                   lapis_mat_at(&sparse, i % low.rows, i / low.rows);
  if (m->set.map == LAPIS_MATCH_POSITIONS) lift(m->blocks, v->n * v->K);
  for (int64_t i = 0; i < v->n * v->K; i++) m->pick[i] = i;
  for (int64_t k = 0; k <= v->K; k++) m->first[k] = k * v->n;
  v->X = m->blocks;
  v->at = NULL;
  return LAPIS_OK;
}

/* Which matches are sure: roml's doubt, and what the images say. */
static lapis_status vote(const lapis_flow *f, int64_t n, int64_t *points)
{
  match *m = f->own;
  lapis_mat slot, inlier, low;
  TRY(lapis_result_get(f->solver, "match", &slot));
  TRY(lapis_result_get(f->solver, "inlier", &inlier));
  TRY(lapis_result_get(f->solver, "low_rank", &low));
  int64_t K = slot.cols;
  bool embedded = votes_embedded(m);
  bool lifted = m->set.map == LAPIS_MATCH_POSITIONS;
  flow_votes v = {.d = lifted     ? 3
                       : embedded ? low.rows / n
                                  : f->data.X.rows,
                  .K = K,
                  .n = n,
                  .X = m->X,
                  .at = m->frame};
  if (!votes_alloc(m, n, K, v.d)) return flow_no_memory(f);
  v.first = m->first, v.pick = m->pick, v.support = m->support;
  v.sure = m->sure, v.good = m->good;
  for (int64_t j = 0; j < f->data.X.cols; j++) m->first[m->group[j] + 1]++;
  for (int64_t k = 0; k < K; k++) m->first[k + 1] += m->first[k];
  for (int64_t i = 0; i < n * K; i++)
    m->slot[i] = m->pick[i] = (int64_t)lapis_mat_at(&slot, i % n, i / n);
  if (embedded) TRY(take_blocks(f, &v));
  if (!flow_vote(&v, points)) return flow_no_memory(f);
  for (int64_t i = 0; i < n * K; i++)
    m->sure[i] = m->sure[i] && lapis_mat_at(&inlier, i % n, i / n) > 0.5;
  return LAPIS_OK;
}

/* Whether two slots are one place in most images: a keypoint with several
 * directions, or a point that is given with two scales. */
static bool are_one(const match *m, int64_t n, int64_t K, int64_t i, int64_t j)
{
  int64_t same = 0;
  for (int64_t k = 0; k < K; k++) {
    const double *a = m->frame + FRAME * m->slot[k * n + i];
    const double *b = m->frame + FRAME * m->slot[k * n + j];
    same += !(a[0] < b[0] || a[0] > b[0] || a[1] < b[1] || a[1] > b[1]);
  }
  return 2 * same > K;
}

/* A place is one point of the object: its other slots are not good. */
static void drop_twins(match *m, int64_t n, int64_t K, int64_t *points)
{
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < j && m->good[j]; i++) {
      if (!m->good[i] || !are_one(m, n, K, i, j)) continue;
      m->good[j] = false;
      for (int64_t k = 0; k < K; k++) m->sure[k * n + j] = 0;
      --*points;
    }
}

/* Where no slot is good, the one with most support stays, in doubt. */
static void keep_one(match *m, int64_t n, int64_t K)
{
  int64_t best = 0;
  double most = -1;
  for (int64_t j = 0; j < n; j++) {
    double sum = 0;
    for (int64_t k = 0; k < K; k++) sum += m->support[k * n + j];
    if (sum > most) most = sum, best = j;
  }
  m->good[best] = true;
}

/* Only the good of n slots stay; how many. */
static int64_t keep_good(match *m, int64_t n, int64_t K)
{
  int64_t to = 0;
  for (int64_t i = 0; i < n * K; i++) {
    if (!m->good[i % n]) continue;
    m->slot[to] = m->slot[i];
    m->support[to] = m->support[i];
    m->sure[to++] = m->sure[i];
  }
  for (int64_t j = 0, kept = 0; j < n; j++)
    if (m->good[j]) m->instance[kept++] = m->instance[j];
  return to / K;
}

static int64_t fewest_points(const lapis_flow *f)
{
  const match *m = f->own;
  int64_t fewest = INT64_MAX, count = 0;
  for (int64_t j = 0; j < f->data.X.cols; j++) {
    count++;
    if (j + 1 < f->data.X.cols && m->group[j + 1] == m->group[j]) continue;
    fewest = count < fewest ? count : fewest;
    count = 0;
  }
  return fewest;
}

/* Whose the slots are, and how many there are of all instances: *n. */
static lapis_status take_instances(lapis_flow *f, int64_t *n)
{
  match *m = f->own;
  lapis_mat of;
  TRY(lapis_result_get(f->solver, "instance", &of));
  *n = of.cols;
  m->instance = calloc((size_t)*n + 1, sizeof *m->instance);
  if (m->instance == NULL) return flow_no_memory(f);
  for (int64_t j = 0; j < *n; j++)
    m->instance[j] = (int64_t)lapis_mat_at(&of, 0, j);
  return LAPIS_OK;
}

/* Descriptors of given points may say little where positions say much. */
static void name_maps(lapis_flow *f, int64_t n)
{
  const match *m = f->own;
  int64_t doubtful = 0;
  if (m->set.xy == NULL || m->set.map != LAPIS_MATCH_NONE) return;
  for (int64_t i = 0; i < n * f->n; i++) doubtful += !m->sure[i];
  if (2 * doubtful <= n * f->n) return;
  flow_remark(
      f, "map",
      "%" PRId64 " of the %" PRId64 " matches tried were not confirmed, where "
      "only the surroundings of points are compared; {map embed} "
      "also compares positions, in upright pictures that the object fills",
      doubtful, n * f->n);
  if (m->set.instances == 1)
    flow_remark(
        f, "map",
        "{map positions} compares positions only, shifted, scaled or turned");
}

/* Of 60 pairs of photographs of different things (MSRC v2) one had more than
 * three points confirmed, and of 24 sets of three or five none had any: what
 * chance gives is in doubt. */
static void name_chance(lapis_flow *f, int64_t n, int64_t points)
{
  match *m = f->own;
  int64_t chance = f->n == 2 ? 3 : 1;
  if (points > chance || (points > 0 && n <= chance)) return;
  memset(m->sure, 0, (size_t)(n * f->n));
  if (points == 0)
    flow_remark(f, "nothing-common",
                "none of %" PRId64 " points is confirmed by most of the "
                "images: they may show nothing in common; every match is in "
                "doubt",
                n);
  else
    flow_remark(f, "nothing-common",
                "only %" PRId64 " of %" PRId64 " points %s confirmed, and "
                "%s of different things have up to %" PRId64 ": they may show "
                "nothing in common; every match is in doubt",
                points, n, points == 1 ? "is" : "are",
                f->n == 2 ? "two images" : "images", chance);
}

/* Images in which all points are in doubt. */
static void name_misplaced(lapis_flow *f)
{
  const match *m = f->own;
  int64_t count = 0, first = 0;
  for (int64_t k = f->n - 1; k >= 0; k--)
    if (!m->placed[k]) count++, first = k;
  if (count > 0)
    flow_remark(
        f, "misplaced",
        "in %" PRId64 " image(s), the first being %.200s, all points "
        "are in doubt: looked for in other ways, most are at other places",
        count, ((const char *const *)f->names.val)[first]);
}

/* Which points that were followed are sure: roml's doubt, too; and none where
 * no image has more than chance gives: of 4 points 3 were confirmed in 6 of 40
 * pairs of photographs of different things, all 4 in one. */
static lapis_status doubt_followed(lapis_flow *f, int64_t n)
{
  enum { CHANCE = 3 };
  match *m = f->own;
  lapis_mat inlier;
  int64_t sure = 0, most = 0;
  TRY(lapis_result_get(f->solver, "inlier", &inlier));
  for (int64_t i = 0; i < n * f->n; i++) {
    m->sure[i] = m->sure[i] && lapis_mat_at(&inlier, i % n, i / n) > 0.5;
    if (i / n == m->from) continue;
    sure = (i % n == 0 ? 0 : sure) + m->sure[i];
    most = sure > most ? sure : most;
  }
  bool chance = most <= CHANCE && most < n;
  for (int64_t i = 0; chance && i < n * f->n; i++)
    if (i / n != m->from) m->sure[i] = m->placed[i / n] = 0;
  if (most > 0 && chance)
    flow_remark(f, "nothing-common",
                "in no other image more than %" PRId64 " of the %" PRId64
                " points are confirmed, as in images of different things: they "
                "may show nothing in common; every match is in doubt",
                most, n);
  if (most == 0)
    flow_remark(f, "nothing-common",
                "none of the %" PRId64 " points is found without doubt in "
                "another image: they may show nothing in common",
                n);
  if (most > 0 && !chance) name_misplaced(f);
  flow_publish(f, "placed", lapis_mat_u8(m->placed, 1, f->n));
  return LAPIS_OK;
}

static lapis_status solve(lapis_flow *f)
{
  match *m = f->own;
  bool follows = m->set.first != NULL;
  bool estimated = m->set.inliers < 0 && !follows;
  int64_t n = estimated ? fewest_points(f)
              : follows ? m->labelled
                        : m->set.inliers;
  int64_t points = 0;
  lapis_status s = solve_slots(f, n);
  if (follows && s == LAPIS_MAX_ITERS) s = LAPIS_OK; /* none was wanted */
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  TRY(take_instances(f, &n));
  TRY(follows ? doubt_followed(f, n) : vote(f, n, &points));
  if (!follows) drop_twins(m, n, f->n, &points);
  if (!follows) name_chance(f, n, points);
  if (!follows) name_maps(f, n);
  if (estimated) {
    m->tried = n;
    flow_publish(f, "tried", lapis_mat_i64(&m->tried, 1, 1));
    if (points == 0) keep_one(m, n, f->n);
    n = keep_good(m, n, f->n);
  }
  flow_publish(f, "match", lapis_mat_i64(m->slot, n, f->n));
  flow_publish(f, "inlier", lapis_mat_u8(m->sure, n, f->n));
  if (!follows) flow_publish(f, "support", lapis_mat_f64(m->support, n, f->n));
  flow_publish(f, "instance", lapis_mat_i64(m->instance, 1, n));
  TRY(place_slots(f));
  return s;
}

static lapis_status run(lapis_flow *f)
{
  flow_step(f, 1, 2, "finding points");
  lapis_status s = find_points(f);
  flow_step(f, 2, 2, "matching them");
  if (s == LAPIS_OK) s = take_points(f);
  return s == LAPIS_OK ? solve(f) : s;
}

/* Keypoints have the centre of the first pixel at 0, pages its corner. */
static lapis_status page(const lapis_flow *f, const char *path,
                         const char *command)
{
  const match *m = f->own;
  char inliers[32];
  lapis_mat points, slot;
  TRY(flow_get(f, "points", &points));
  TRY(flow_get(f, "match", &slot));
  snprintf(inliers, sizeof inliers, "%" PRId64, slot.rows);
  for (int64_t i = 0; i < 4 * points.cols; i++)
    m->shown[i] = m->place[i] + (i % 4 >= 2 ? 0.5 : 0);
  flow_pictures shown = {.title = "The same points in all images",
                         .settings = &m->set,
                         .fact = {"points of the object", inliers},
                         .doubtful = "doubtful places, not drawn",
                         .placed = m->placed,
                         .points = lapis_mat_f64(m->shown, 4, points.cols)};
  if (m->name != NULL) TRY(flow_get(f, "point_names", &shown.point_names));
  return flow_pictures_page(f, &shown, path, command);
}

/* A row a point an image; a point that an image lacks has no place.  With
 * --first also whether all points of the image are in doubt. */
static lapis_status table(const lapis_flow *f, const char *path)
{
  static const char *const title[] = {"name",     "point",    "x",        "y",
                                      "doubtful", "instance", "placement"};
  lapis_mat slot, sure, xy, of;
  const match *m = f->own;
  int titles = m->placed == NULL ? 6 : 7;
  csv_writer s;
  TRY(flow_get(f, "match", &slot));
  TRY(flow_get(f, "inlier", &sure));
  TRY(flow_get(f, "xy", &xy));
  TRY(flow_get(f, "instance", &of));
  csv_writer_begin(&s, NULL, path);
  for (int i = 0; i < titles; i++)
    csv_writer_put(&s, title[i], i + 1 == titles);
  for (int64_t k = 0; k < slot.cols; k++) {
    for (int64_t p = 0; p < slot.rows; p++) {
      double at = lapis_mat_at(&slot, p, k);
      csv_writer_put(&s, ((const char *const *)f->names.val)[k], false);
      if (m->name == NULL)
        csv_writer_put_number(&s, "%.0f", (double)p + 1, false);
      else
        csv_writer_put(&s, m->name[p], false);
      for (int i = 0; i < 2; i++)
        csv_writer_put_number(&s, "%.9g",
                              at >= 0 ? lapis_mat_at(&xy, i, (int64_t)at) : NAN,
                              false);
      csv_writer_put(&s, lapis_mat_at(&sure, p, k) < 0.5 ? "yes" : "no", false);
      csv_writer_put_number(&s, "%.0f", lapis_mat_at(&of, 0, p),
                            m->placed == NULL);
      if (m->placed != NULL)
        csv_writer_put(&s, m->placed[k] ? "sure" : "doubtful", true);
    }
  }
  return csv_writer_write(f->ctx, &s, path);
}

const flow_class match_class = {.work = FLOW_WORK(match_method),
                                .least = 2,
                                .own = sizeof(match),
                                .begin = begin,
                                .run = run,
                                .forget = forget,
                                .page = page,
                                .table = table,
                                .sheet = table};
