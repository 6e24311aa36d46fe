/* follow.c - the points of one image, found in all others.
 *
 * The image most like those that are done is next, and is compared with the one
 * of them that it is most like.  Point j, with feature g_j at q_j there, is at
 * one of the PLACES that look most like it, far enough from each other to be
 * different: at that with the least
 *
 *   |f - g_j|^2 + WEIGHT min(|x - (A q_j + t)|^2 / near^2, FAR),
 *
 * f the feature at x, all of length 1.  The affine map, fitted to the places
 * that are chosen, and the choice alternate; a point far from where the map has
 * it hardly counts.  What spreads less than `near` says little of A, which then
 * stays near the identity: images are upright and of one scale.
 *
 * A point is sure where a second way comes to the same: looked for straight
 * from the first image it is there, and looked for from there the first image
 * has it where it was labelled; and in an image where most points are: a map
 * that few confirm has been found in noise; and where six of ten of the
 * other images, each looked from by itself, have the points together where they
 * are.  shift.c doubts more.  Two points that were marked apart are not at one
 * place.
 *
 * roml with the first image held fixed, which might do the same, compares
 * features alone or takes positions into them, and on frames of a sequence is
 * less often right (bench/results/match.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/pipeline/pipeline.h"

enum { PLACES = 6, ROUNDS = 10, LANES = 8, ASKED = 24 };
static const double WEIGHT = .05, FAR = 9;
static const double CLEAR = .85, UNCLEAR = .05; /* ratio to the next; weight */
static const double CONFIRM = .6, SHARED = .5;  /* of images; of `near` */

typedef struct affine { /* x -> A (x - from) + to */
  double A[4], from[2], to[2];
} affine;

typedef struct follow {
  const flow_follow *v;
  float *unit;         /* d x m: features of length 1 */
  float *likeness;     /* of an image's features to one */
  int64_t *place;      /* PLACES x n: features */
  double *cost;        /* PLACES x n: |f - g|^2 */
  double *weight;      /* n */
  int64_t *second;     /* n */
  int64_t *parent;     /* K */
  double *like;        /* K: to the parent; -1: done */
  unsigned char *kept; /* K: those whose points others confirm */
} follow;

/* ---- features -----------------------------------------------------------*/
static void make_unit(follow *w)
{
  int64_t d = w->v->d, m = w->v->first[w->v->K];
  for (int64_t j = 0; j < m; j++) {
    const double *from = w->v->X + j * d;
    double square = 0;
    for (int64_t i = 0; i < d; i++) square += from[i] * from[i];
    double scale = square > 0 ? 1 / sqrt(square) : 0;
    for (int64_t i = 0; i < d; i++)
      w->unit[j * d + i] = (float)(scale * from[i]);
  }
}

static float product(const float *x, const float *y, int64_t d)
{
  float sum[LANES] = {0}, all = 0;
  int64_t i = 0;
  for (; i + LANES <= d; i += LANES)
    for (int a = 0; a < LANES; a++) sum[a] += x[i + a] * y[i + a];
  for (; i < d; i++) all += x[i] * y[i];
  for (int a = 0; a < LANES; a++) all += sum[a];
  return all;
}

/* likeness <- of each feature of image l to feature g; the highest. */
static float compare(follow *w, int64_t g, int64_t l)
{
  int64_t d = w->v->d, start = w->v->first[l];
  float most = -1;
  for (int64_t i = start; i < w->v->first[l + 1]; i++) {
    float like = product(w->unit + g * d, w->unit + i * d, d);
    w->likeness[i - start] = like;
    most = like > most ? like : most;
  }
  return most;
}

static double apart(const follow *w, int64_t a, int64_t b)
{
  const double *at = w->v->at;
  return hypot(at[4 * a] - at[4 * b], at[4 * a + 1] - at[4 * b + 1]);
}

/* The places of image l where point j, feature g of another image, may be, the
 * most like first; fewer repeat the first. */
static void list_places(follow *w, int64_t g, int64_t l, int64_t j)
{
  int64_t start = w->v->first[l], count = w->v->first[l + 1] - start;
  int64_t *place = w->place + PLACES * j;
  double *cost = w->cost + PLACES * j;
  (void)compare(w, g, l);
  for (int p = 0; p < PLACES; p++) {
    int64_t best = 0;
    for (int64_t i = 1; i < count; i++)
      if (w->likeness[i] > w->likeness[best]) best = i;
    bool none = p > 0 && w->likeness[best] < -1;
    place[p] = none ? place[0] : start + best;
    cost[p] = none ? cost[0] : 2 - 2 * (double)w->likeness[best];
    for (int64_t i = 0; i < count; i++)
      if (apart(w, start + i, start + best) <= w->v->near) w->likeness[i] = -2;
  }
}

/* ---- one image from another ---------------------------------------------*/
static affine fit(const follow *w, const int64_t *from, const int64_t *to)
{
  affine f = {.A = {1, 0, 0, 1}};
  double all = 0, Q[3] = {w->v->near * w->v->near, 0, 0}, N[4] = {0};
  Q[2] = Q[0];
  for (int64_t j = 0; j < w->v->n; j++) {
    all += w->weight[j];
    for (int a = 0; a < 2; a++) {
      f.from[a] += w->weight[j] * w->v->at[4 * from[j] + a];
      f.to[a] += w->weight[j] * w->v->at[4 * to[j] + a];
    }
  }
  for (int a = 0; a < 2; a++) f.from[a] /= all, f.to[a] /= all;
  for (int64_t j = 0; j < w->v->n; j++) {
    const double *q = w->v->at + 4 * from[j], *x = w->v->at + 4 * to[j];
    double u = q[0] - f.from[0], v = q[1] - f.from[1], weight = w->weight[j];
    double du = x[0] - f.to[0] - u, dv = x[1] - f.to[1] - v;
    Q[0] += weight * u * u, Q[1] += weight * u * v, Q[2] += weight * v * v;
    N[0] += weight * du * u, N[1] += weight * du * v;
    N[2] += weight * dv * u, N[3] += weight * dv * v;
  }
  double det = Q[0] * Q[2] - Q[1] * Q[1]; /* near^4 at least */
  for (int a = 0; a < 4; a += 2) {
    f.A[a] += (N[a] * Q[2] - N[a + 1] * Q[1]) / det;
    f.A[a + 1] += (N[a + 1] * Q[0] - N[a] * Q[1]) / det;
  }
  return f;
}

/* Distance of a place from where the map has a point, in `near`, squared. */
static double off(const follow *w, const affine *f, int64_t from, int64_t to)
{
  const double *q = w->v->at + 4 * from, *x = w->v->at + 4 * to;
  double u = q[0] - f->from[0], v = q[1] - f->from[1];
  double dx = f->A[0] * u + f->A[1] * v + f->to[0] - x[0];
  double dy = f->A[2] * u + f->A[3] * v + f->to[1] - x[1];
  return (dx * dx + dy * dy) / (w->v->near * w->v->near);
}

static void choose(follow *w, const affine *f, const int64_t *from, int64_t *to)
{
  for (int64_t j = 0; j < w->v->n; j++) {
    double least = INFINITY;
    for (int p = 0; p < PLACES; p++) {
      int64_t place = w->place[PLACES * j + p];
      double far = off(w, f, from[j], place);
      double cost = w->cost[PLACES * j + p] + WEIGHT * fmin(far, FAR);
      if (!(cost < least)) continue;
      least = cost;
      to[j] = place;
      w->weight[j] = 1 / ((1 + far) * (1 + far));
    }
  }
}

/* to: features of image l for those of another image, both n. */
static void find(follow *w, const int64_t *from, int64_t l, int64_t *to)
{
  for (int64_t j = 0; j < w->v->n; j++) {
    const double *cost = w->cost + PLACES * j;
    list_places(w, from[j], l, j);
    to[j] = w->place[PLACES * j];
    bool clear = sqrt(fmax(cost[0], 0)) < CLEAR * sqrt(fmax(cost[1], 0));
    w->weight[j] = clear ? 1 : UNCLEAR;
  }
  for (int round = 0; round < ROUNDS; round++) {
    affine f = fit(w, from, to);
    choose(w, &f, from, to);
  }
}

/* ---- all images ---------------------------------------------------------*/
/* The images not done, compared with image k, which is; the next, or -1. */
static int64_t next_image(follow *w, int64_t k)
{
  const flow_follow *v = w->v;
  int64_t next = -1;
  w->like[k] = -1;
  for (int64_t l = 0; l < v->K; l++) {
    double like = 0;
    if (w->like[l] < 0) continue;
    for (int64_t j = 0; j < v->n; j++)
      like += 1 + (double)compare(w, v->pick[k * v->n + j], l);
    if (like >= w->like[l]) w->like[l] = like, w->parent[l] = k;
    if (next < 0 || w->like[l] > w->like[next]) next = l;
  }
  return next;
}

/* Two points of image k at one place that are at two in the first image. */
static void doubt_twins(const follow *w, int64_t k)
{
  const int64_t *labelled = w->v->pick + w->v->from * w->v->n;
  const int64_t *found = w->v->pick + k * w->v->n;
  unsigned char *sure = w->v->sure + k * w->v->n;
  for (int64_t j = 0; j < w->v->n; j++)
    for (int64_t i = 0; i < j; i++)
      if (found[i] == found[j] &&
          apart(w, labelled[i], labelled[j]) > w->v->near)
        sure[i] = sure[j] = 0;
}

/* What agrees is taken as the first image has it, or errors would add up from
 * image to image. */
static void check(follow *w, int64_t k)
{
  const flow_follow *v = w->v;
  const int64_t *labelled = v->pick + v->from * v->n;
  int64_t *found = v->pick + k * v->n;
  unsigned char *sure = v->sure + k * v->n;
  find(w, labelled, k, w->second);
  for (int64_t j = 0; j < v->n; j++) {
    sure[j] = apart(w, w->second[j], found[j]) <= v->near;
    if (sure[j]) found[j] = w->second[j];
  }
  find(w, found, v->from, w->second);
  doubt_twins(w, k);
  int64_t agree = 0;
  for (int64_t j = 0; j < v->n; j++) {
    sure[j] &= apart(w, w->second[j], labelled[j]) <= v->near;
    agree += sure[j];
  }
  v->placed[k] = 2 * agree > v->n;
}

/* Whether image l, which is done, has the points of image k on average where
 * they are; those that leave the others count less. */
static bool confirms(follow *w, int64_t l, int64_t k)
{
  const flow_follow *v = w->v;
  const int64_t *found = v->pick + k * v->n;
  double off[2] = {0, 0}, all = 0;
  find(w, v->pick + l * v->n, k, w->second);
  for (int64_t j = 0; j < v->n; j++) {
    all += w->weight[j];
    for (int a = 0; a < 2; a++)
      off[a] += w->weight[j] *
                (v->at[4 * w->second[j] + a] - v->at[4 * found[j] + a]);
  }
  return hypot(off[0], off[1]) < all * v->near * SHARED;
}

/* An error that all points share is seen neither beside their neighbours nor on
 * the way back; another image, whose points were found by other ways and which
 * looks otherwise, seldom makes the same. */
static bool most_confirm(follow *w, int64_t k)
{
  const flow_follow *v = w->v;
  int64_t with = 0, all = 0, step = (v->K + ASKED - 1) / ASKED;
  for (int64_t l = v->from % step; l < v->K; l += step) {
    if (l == k || !v->placed[l]) continue;
    all++;
    with += confirms(w, l, k);
  }
  return (double)with >= CONFIRM * (double)all;
}

/* What images left over will take: each pair of them is compared, and each is
 * looked through four times, and from ASKED others in the end. */
static double work_of(double images)
{
  return images * (images / 2 + 4 + ASKED);
}

/* All are asked before any of them is doubted. */
static lapis_status check_together(lapis_flow *f, follow *w, double all)
{
  const flow_follow *v = w->v;
  lapis_status s = LAPIS_OK;
  for (int64_t k = 0; k < v->K && s == LAPIS_OK; k++) {
    w->kept[k] = v->placed[k] && (k == v->from || most_confirm(w, k));
    s = flow_done(f, 1 - (double)((v->K - 1 - k) * ASKED) / all);
  }
  for (int64_t k = 0; k < v->K; k++) {
    v->placed[k] = w->kept[k];
    if (!w->kept[k]) memset(v->sure + k * v->n, 0, (size_t)v->n);
  }
  return s;
}

static lapis_status follow_all(lapis_flow *f, follow *w)
{
  const flow_follow *v = w->v;
  lapis_status s = LAPIS_OK;
  double all = work_of(v->K - 1), left = v->K - 1, end = left * ASKED;
  for (int64_t j = 0; j < v->n; j++) {
    v->pick[v->from * v->n + j] = v->first[v->from] + j;
    v->sure[v->from * v->n + j] = 1;
  }
  v->placed[v->from] = 1;
  for (int64_t k = v->from; s == LAPIS_OK && (k = next_image(w, k)) >= 0;) {
    find(w, v->pick + w->parent[k] * v->n, k, v->pick + k * v->n);
    check(w, k);
    --left;
    s = flow_done(f, 1 - (work_of(left) + end - left * ASKED) / all);
  }
  return s == LAPIS_OK ? check_together(f, w, all) : s;
}

lapis_status flow_find_points(lapis_flow *f, const flow_follow *v)
{
  size_t m = (size_t)v->first[v->K], n = (size_t)v->n, K = (size_t)v->K;
  follow w = {.v = v,
              .unit = malloc((m * (size_t)v->d + 1) * sizeof *w.unit),
              .likeness = malloc((m + 1) * sizeof *w.likeness),
              .place = malloc((PLACES * n + 1) * sizeof *w.place),
              .cost = malloc((PLACES * n + 1) * sizeof *w.cost),
              .weight = malloc((n + 1) * sizeof *w.weight),
              .second = malloc((n + 1) * sizeof *w.second),
              .parent = calloc(K + 1, sizeof *w.parent),
              .like = calloc(K + 1, sizeof *w.like),
              .kept = calloc(K + 1, 1)};
  bool ok = w.unit != NULL && w.likeness != NULL && w.place != NULL &&
            w.cost != NULL && w.weight != NULL && w.second != NULL &&
            w.parent != NULL && w.like != NULL && w.kept != NULL;
  lapis_status s = ok ? LAPIS_OK : flow_no_memory(f);
  if (ok) {
    make_unit(&w);
    s = follow_all(f, &w);
  }
  free(w.unit);
  free(w.likeness);
  free(w.place);
  free(w.cost);
  free(w.weight);
  free(w.second);
  free(w.parent);
  free(w.like);
  free(w.kept);
  return s;
}
