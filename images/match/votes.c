/* votes.c - which matches are borne out by the other images.
 *
 * Slot j holds a feature of every image.  Images k and l agree on it when each
 * of their two features is clearly nearest to the other: nearer than RATIO
 * times the nearest rival, a feature of the other image at another place
 * [Lowe 2004].  A match is sure while more than half of the other images agree
 * with it, and more than half of those in which the slot is sure; two that
 * share no image that agrees with both are then never sure together, so that a
 * slot that is one point in half of the images and another in the rest falls.
 * A slot that is sure in no more than half of the images is no point of the
 * object. */
#include <math.h>
#include <stdlib.h>

#include "images/pipeline/pipeline.h"

static const double RATIO = .8, SAME_PLACE = 3; /* pixels */
static const double ROUNDING = 1e-12;

typedef struct election {
  const flow_votes *v;
  double *unit;        /* d x m: features of length 1 */
  unsigned char *vote; /* n x K x K: image k is for l's, at (k * K + l) * n */
} election;

static void make_unit(election *e, int64_t m)
{
  int64_t d = e->v->d;
  for (int64_t j = 0; j < m; j++) {
    const double *from = e->v->X + j * d;
    double *to = e->unit + j * d, square = 0;
    for (int64_t i = 0; i < d; i++) square += from[i] * from[i];
    double scale = square > 0 ? 1 / sqrt(square) : 0;
    for (int64_t i = 0; i < d; i++) to[i] = scale * from[i];
  }
}

/* |a - b|^2 */
static double distance(const election *e, int64_t a, int64_t b)
{
  const double *x = e->unit + a * e->v->d, *y = e->unit + b * e->v->d;
  double sum = 0;
  for (int64_t i = 0; i < e->v->d; i++) {
    double off = x[i] - y[i];
    sum += off * off;
  }
  return sum;
}

static bool same_place(const election *e, int64_t a, int64_t b)
{
  const double *at = e->v->at;
  if (a == b) return true;
  if (at == NULL) return false;
  return hypot(at[4 * a] - at[4 * b], at[4 * a + 1] - at[4 * b + 1]) <=
         SAME_PLACE;
}

/* Of all features of image l, that of slot j is clearly nearest to k's. */
static bool is_nearest(const election *e, int64_t k, int64_t l, int64_t j)
{
  const flow_votes *v = e->v;
  int64_t mine = v->pick[k * v->n + j], other = v->pick[l * v->n + j];
  double rival = INFINITY;
  for (int64_t i = v->first[l]; i < v->first[l + 1]; i++)
    if (!same_place(e, other, i)) rival = fmin(rival, distance(e, mine, i));
  return distance(e, mine, other) <= RATIO * RATIO * rival + ROUNDING;
}

static void hold(election *e)
{
  const flow_votes *v = e->v;
  for (int64_t k = 0; k < v->K; k++)
    for (int64_t l = 0; l < v->K; l++)
      for (int64_t j = 0; k != l && j < v->n; j++)
        e->vote[(k * v->K + l) * v->n + j] = is_nearest(e, k, l, j);
}

static bool agree(const election *e, int64_t k, int64_t l, int64_t j)
{
  int64_t K = e->v->K, n = e->v->n;
  return e->vote[(k * K + l) * n + j] && e->vote[(l * K + k) * n + j];
}

/* Whether more than half of the other images, or of those in which slot j is
 * sure, agree with image k; *share of them. */
static bool has_most(const election *e, int64_t k, int64_t j, bool of_sure,
                     double *share)
{
  const flow_votes *v = e->v;
  int64_t with = 0, all = 0;
  for (int64_t l = 0; l < v->K; l++) {
    if (l == k || (of_sure && !v->sure[l * v->n + j])) continue;
    with += agree(e, k, l, j);
    all++;
  }
  *share = all > 0 ? (double)with / (double)all : 0;
  return 2 * with > all;
}

/* good: slots that are sure in most images; how many. */
static int64_t count(const election *e)
{
  const flow_votes *v = e->v;
  double share;
  bool changed = true;
  for (int64_t i = 0; i < v->K * v->n; i++)
    v->sure[i] = has_most(e, i / v->n, i % v->n, false, &v->support[i]) ? 1 : 0;
  while (changed) {
    changed = false;
    for (int64_t i = 0; i < v->K * v->n; i++) {
      if (!v->sure[i] || has_most(e, i / v->n, i % v->n, true, &share))
        continue;
      v->sure[i] = 0;
      changed = true;
    }
  }
  int64_t points = 0;
  for (int64_t j = 0; j < v->n; j++) {
    int64_t images = 0;
    for (int64_t k = 0; k < v->K; k++) images += v->sure[k * v->n + j];
    v->good[j] = 2 * images > v->K;
    points += v->good[j];
    for (int64_t k = 0; k < v->K && !v->good[j]; k++) v->sure[k * v->n + j] = 0;
  }
  return points;
}

bool flow_vote(const flow_votes *v, int64_t *points)
{
  int64_t m = v->first[v->K];
  election e = {.v = v,
                .unit = calloc((size_t)(m * v->d) + 1, sizeof *e.unit),
                .vote = calloc((size_t)(v->K * v->K * v->n) + 1, 1)};
  bool ok = e.unit != NULL && e.vote != NULL;
  if (ok) {
    make_unit(&e, m);
    hold(&e);
    *points = count(&e);
  }
  free(e.unit);
  free(e.vote);
  return ok;
}
