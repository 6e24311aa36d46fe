/* split.c - several representatives of a class: its samples in clusters.
 *
 * [MC15] completes one column a class, all of its labels known and none of its
 * features (Sec. 4.5), although its model lets a class have several histograms
 * (Sec. 3.2, N_k of class k); to have them is its future work.  Two such
 * columns of one class may be exchanged, so that an optimum has them equal (the
 * problem is convex).  So the samples that are known to be of a class are put
 * in N clusters, and Z gets a row a cluster: yes for the samples of the cluster
 * and for its representative, no for all others, unknown where it is unknown
 * whether a sample is of the class.  An entry of these rows weighs as much as a
 * label. The labels themselves, and how they are scored, stay what they are.
 * Other ways were tried: bench/results/class_features.md.
 *
 * Clusters are those of k-means on features that may not be below 0 as roots of
 * shares (so that distances are Hellinger's), on others as they are; what is
 * missing is the mean of the class.  Of many features those that vary most
 * within the class decide. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "op/kmeans.h"
#include "op/nearest.h"
#include "solve/mc/mc.h"

enum { RESTARTS = 5, MOST_STEPS = 100 };

typedef struct class_points { /* samples known to be of one class */
  int64_t d, n;
  int64_t *sample; /* n */
  float *x;        /* d x n */
} class_points;

/* ---- points -------------------------------------------------------------*/
static void read_column(const lapis_data *data, double absent, int64_t j,
                        double *x)
{
  const lapis_mat *X = &data->X;
  for (int64_t i = 0; i < X->rows; i++)
    x[i] = X->colptr == NULL ? lapis_mat_at(X, i, j) : absent;
  for (int64_t k = X->colptr == NULL ? 0 : X->colptr[j];
       X->colptr != NULL && k < X->colptr[j + 1]; k++)
    x[X->rowidx[k]] = mat_stored(X, k);
}

enum { LEAST_EXPONENT = DBL_MIN_EXP - DBL_MANT_DIG };

/* Of the least power of two above all |x|. */
static int exponent_of(const double *x, int64_t d)
{
  double most = 0;
  int exponent;
  for (int64_t i = 0; i < d; i++) most = fmax(most, fabs(x[i])); /* not NaN */
  frexp(most, &exponent);
  return most > 0 ? exponent : LEAST_EXPONENT;
}

/* Entries of 0 or more as roots of their share of the sum; NaN stays. */
static void take_roots(double *x, int64_t d)
{
  int exponent = exponent_of(x, d);
  double sum = 0;
  for (int64_t i = 0; i < d; i++) {
    x[i] = ldexp(x[i], -exponent);
    sum += isnan(x[i]) ? 0 : x[i];
  }
  for (int64_t i = 0; i < d && sum > 0; i++) x[i] = sqrt(x[i] / sum);
}

typedef struct feature_spread {
  double variance;
  int64_t feature;
} feature_spread;

static int wider(const void *a, const void *b)
{
  const feature_spread *p = a, *q = b;
  if (p->variance > q->variance || p->variance < q->variance)
    return p->variance > q->variance ? -1 : 1;
  return p->feature < q->feature ? -1 : 1;
}

/* Row i of x (d x n) has no NaN any more; its variance. */
static double fill_row(float *x, int64_t d, int64_t n, int64_t i)
{
  double sum = 0, squares = 0, known = 0;
  for (int64_t j = 0; j < n; j++) {
    bool seen = !isnan(x[j * d + i]);
    sum += seen ? (double)x[j * d + i] : 0;
    known += seen;
  }
  double mean = known > 0 ? sum / known : 0;
  for (int64_t j = 0; j < n; j++) {
    if (isnan(x[j * d + i])) x[j * d + i] = (float)mean;
    squares += pow((double)x[j * d + i] - mean, 2);
  }
  return squares;
}

/* The features that vary most, at most NEAREST_MOST, move to the front. */
static void keep_widest(class_points *p, feature_spread *spread)
{
  int64_t d = p->d;
  for (int64_t i = 0; i < d; i++)
    spread[i] = (feature_spread){fill_row(p->x, d, p->n, i), i};
  if (d <= NEAREST_MOST) return;
  qsort(spread, (size_t)d, sizeof *spread, wider);
  for (int64_t j = 0; j < p->n; j++) {
    float kept[NEAREST_MOST];
    for (int64_t i = 0; i < NEAREST_MOST; i++)
      kept[i] = p->x[j * d + spread[i].feature];
    for (int64_t i = 0; i < NEAREST_MOST; i++)
      p->x[j * NEAREST_MOST + i] = kept[i];
  }
  p->d = NEAREST_MOST;
}

static void read_point(const mc *w, const lapis_data *data, int64_t j,
                       double *x)
{
  double absent = mc_leaves_out(&w->set, data) ? NAN : 0;
  read_column(data, absent, j, x);
  if (w->set.variant != LAPIS_MC_1) take_roots(x, data->X.rows);
}

/* In single precision, divided by the least power of two above them all. */
static lapis_status fill_points(mc *w, const lapis_data *data, class_points *p)
{
  lapis_ctx *ctx = w->base.ctx;
  int exponent = LEAST_EXPONENT;
  double *x = base_alloc_raw(ctx, p->d, sizeof *x);
  feature_spread *spread = base_alloc_raw(ctx, p->d, sizeof *spread);
  p->x = base_alloc_raw(ctx, p->d * p->n, sizeof *p->x);
  bool room = x != NULL && spread != NULL && p->x != NULL;
  for (int64_t j = 0; room && j < p->n; j++) {
    read_point(w, data, p->sample[j], x);
    int own = exponent_of(x, p->d);
    exponent = own > exponent ? own : exponent;
  }
  for (int64_t j = 0; room && j < p->n; j++) {
    read_point(w, data, p->sample[j], x);
    for (int64_t i = 0; i < p->d; i++)
      p->x[j * p->d + i] = (float)ldexp(x[i], -exponent);
  }
  if (room) keep_widest(p, spread);
  base_free(x);
  base_free(spread);
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

/* ---- clusters -----------------------------------------------------------*/
static int64_t nearest_of(const class_points *p, int64_t j, const float *centre,
                          int64_t k)
{
  int64_t best = 0;
  double least = INFINITY;
  for (int64_t s = 0; s < k; s++) {
    double sum = 0;
    for (int64_t i = 0; i < p->d; i++)
      sum += pow((double)p->x[j * p->d + i] - (double)centre[s * p->d + i], 2);
    if (sum < least) {
      least = sum;
      best = s;
    }
  }
  return best;
}

/* of: the cluster of each point, 0 .. *k - 1, the largest first; an empty one
 * is left out. */
static lapis_status number_clusters(lapis_ctx *ctx, const class_points *p,
                                    const float *centre, int64_t *k,
                                    int64_t *of)
{
  int64_t *size = base_alloc(ctx, *k, sizeof *size);
  int64_t *place = base_alloc(ctx, *k, sizeof *place);
  int64_t found = 0;
  for (int64_t j = 0; size != NULL && place != NULL && j < p->n; j++)
    size[of[j] = nearest_of(p, j, centre, *k)]++;
  for (int64_t s = 0; size != NULL && place != NULL && s < *k; s++) {
    for (int64_t t = 0; t < *k; t++)
      place[s] += size[t] > size[s] || (size[t] == size[s] && t < s);
    found += size[s] > 0;
  }
  for (int64_t j = 0; place != NULL && j < p->n; j++) of[j] = place[of[j]];
  bool room = size != NULL && place != NULL;
  base_free(size);
  base_free(place);
  *k = found;
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

/* The points in *k clusters, or fewer.  A stop is for the loop that comes
 * after: a problem of fewer clusters would be another, also to a checkpoint. */
static lapis_status cluster(mc *w, const class_points *p, int64_t c, int64_t *k,
                            int64_t *of)
{
  lapis_ctx *ctx = w->base.ctx;
  float *centre = base_alloc(ctx, p->d * *k, sizeof *centre);
  kmeans_task task = {.points = p->x,
                      .d = p->d,
                      .n = p->n,
                      .k = *k,
                      .restarts = RESTARTS,
                      .max_iters = MOST_STEPS,
                      .stream = (uint64_t)c,
                      .threads = base_threads(ctx),
                      .to_the_end = true};
  if (centre == NULL) return LAPIS_ENOMEM;
  lapis_status s = kmeans(ctx, &task, centre, NULL);
  if (s == LAPIS_OK) s = number_clusters(ctx, p, centre, k, of);
  base_free(centre);
  if (s >= 0) return LAPIS_OK;
  return lapis_fail(ctx, s, "mc: no memory for the clusters of a class");
}

static bool is_of(const mc_problem *p, int64_t c, int64_t j)
{
  return p->labels.sign[j * p->K + c] * p->turn[c] > 0;
}

static void say_fewer(mc *w, int64_t c, const class_points *p, int64_t k)
{
  int64_t N = w->set.class_features;
  if (p->n < N)
    base_say(w->base.ctx, 0,
             "mc: class %" PRId64 " has %" PRId64 " sample%s, and %" PRId64
             " representative%s, not %" PRId64,
             c + 1, p->n, p->n == 1 ? "" : "s", k, k == 1 ? "" : "s", N);
  else if (k < N)
    base_say(w->base.ctx, 0,
             "mc: the samples of class %" PRId64 " are alike: it has %" PRId64
             " representative%s, not %" PRId64,
             c + 1, k, k == 1 ? "" : "s", N);
}

/* Representatives of class c, behind those that there are. */
static lapis_status split_class(mc *w, const lapis_data *data, int64_t c,
                                class_points *p, int64_t *of)
{
  mc_problem *q = &w->p;
  int64_t k = w->set.class_features, R = q->R;
  p->d = q->D;
  p->n = 0;
  for (int64_t j = 0; j < q->samples; j++)
    if (is_of(q, c, j)) p->sample[p->n++] = j;
  for (int64_t j = 0; j < p->n; j++) of[j] = 0;
  k = k < p->n ? k : p->n > 1 ? p->n : 1;
  if (k > 1) {
    lapis_status s = fill_points(w, data, p);
    if (s >= 0) s = cluster(w, p, c, &k, of);
    base_free(p->x);
    TRY(s);
  }
  say_fewer(w, c, p, k);
  for (int64_t j = 0; j < p->n; j++)
    q->cluster[p->sample[j] * q->K + c] = R + of[j];
  for (int64_t s = 0; s < k; s++) q->of_class[q->R++] = c;
  return LAPIS_OK;
}

lapis_status mc_split(mc *w, const lapis_data *data)
{
  mc_problem *p = &w->p;
  lapis_ctx *ctx = w->base.ctx;
  int64_t N = w->set.class_features;
  p->R = N > 0 ? p->K : 0;
  if (N < 2 || p->K == 0) return LAPIS_OK;
  if (base_ranks(ctx) > 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "mc: --class-features %" PRId64 " is not divided among "
                      "processes; --class-features 1 is",
                      N);
  if (N > p->samples)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "mc: --class-features %" PRId64 " is more than the "
                      "%" PRId64 " samples that there are",
                      N, p->samples);
  class_points points = {.sample =
                             base_alloc(ctx, p->samples, sizeof(int64_t))};
  int64_t *of = base_alloc(ctx, p->samples, sizeof *of);
  p->of_class = base_alloc(ctx, p->K * N, sizeof *p->of_class);
  p->cluster = base_alloc(ctx, p->K * p->samples, sizeof *p->cluster);
  bool room = points.sample != NULL && of != NULL && p->of_class != NULL &&
              p->cluster != NULL;
  lapis_status s = room ? LAPIS_OK : LAPIS_ENOMEM;
  for (int64_t k = 0; room && k < p->K * p->samples; k++) p->cluster[k] = -1;
  p->R = 0;
  for (int64_t c = 0; s >= 0 && c < p->K; c++)
    s = split_class(w, data, c, &points, of);
  if (p->R > p->K) p->S = p->R;
  base_free(points.sample);
  base_free(of);
  return s;
}

/* Whether representative r of class c is the one of column j: 1, 0, NaN. */
static double is_own(const mc_problem *p, int64_t r, int64_t c, int64_t j)
{
  if (j >= p->samples) return j - p->samples == r;
  if (isnan(p->labels.sign[j * p->K + c])) return NAN;
  return p->cluster[j * p->K + c] == r;
}

/* A class of one cluster has nothing to be said in its row. */
void mc_cluster_column(const mc *w, int64_t j, double *out)
{
  const mc_problem *p = &w->p;
  double no = p->zero_one ? 0 : -1;
  for (int64_t r = 0; r < p->S; r++) {
    int64_t c = p->of_class[r];
    bool alone = (r == 0 || p->of_class[r - 1] != c) &&
                 (r == p->R - 1 || p->of_class[r + 1] != c);
    double own = alone ? NAN : is_own(p, r, c, j);
    out[r] = isnan(own) ? NAN : own > 0 ? 1 : no;
  }
}
