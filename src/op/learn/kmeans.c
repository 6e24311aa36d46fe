/* kmeans.c - k-means by Lloyd's iterations from k-means++ seeds.
 *
 *   minimize  sum_i min_k |x_i - c_k|^2
 *
 * Seeds as in Arthur and Vassilvitskii, "k-means++" (SODA 2007), greedy: of
 * CANDIDATES points drawn with probability proportional to their squared
 * distance from the seeds so far, the one that lowers the sum most.
 *
 * VLFeat has k-means too, but its random generator and number of threads belong
 * to the process, and its memory fails by ending it.  Here random numbers are
 * Philox's, threads are the caller's, and every sum runs in an order that does
 * not depend on them: over blocks of BLOCK points, then over blocks; a centre
 * sums its points in the order they came.
 *
 * A centre that loses all its points moves to the point farthest from its own
 * centre, which cannot raise the sum.  Iterations end when none lowers it by
 * more than GAIN of itself. */
#include "op/learn/kmeans.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "op/learn/nearest.h"

enum { CANDIDATES = 4, BLOCK = 8 * PANEL };
static const double GAIN = 1e-4;

typedef struct work {
  lapis_ctx *ctx;
  const kmeans_task *t;
  int64_t blocks;
  op_panels points;
  float *square;          /* n: |x|^2 */
  nearest_centres c;      /* at hand */
  nearest_centres tried;  /* seeds to choose from */
  int32_t *word;          /* n */
  float *cost, *near;     /* n: of the nearest centre; squared distance */
  float *product;         /* n x CANDIDATES */
  double *sum;            /* blocks */
  double *sums;           /* CANDIDATES x blocks */
  int64_t *start, *order; /* k + 1; n: points by centre */
  uint64_t drawn;         /* random numbers so far */
} work;

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static lapis_status stopped(const work *w)
{
  if (base_cancelled(w->ctx)) return LAPIS_CANCELLED;
  return base_late(w->ctx) ? LAPIS_TIME_LIMIT : LAPIS_OK;
}

/* ---- memory -------------------------------------------------------------*/
static void close_work(work *w)
{
  op_panels_free(&w->points);
  nearest_free(&w->c);
  nearest_free(&w->tried);
  base_free(w->square);
  base_free(w->word);
  base_free(w->cost);
  base_free(w->near);
  base_free(w->product);
  base_free(w->sum);
  base_free(w->sums);
  base_free(w->start);
  base_free(w->order);
}

static lapis_status open_work(lapis_ctx *ctx, const kmeans_task *t, work *w)
{
  int64_t n = t->n, blocks = (n + BLOCK - 1) / BLOCK;
  lapis_ctx *quiet = NULL; /* see kmeans.h */
  *w = (work){.ctx = ctx, .t = t, .blocks = blocks};
  TRY(op_panels_new(quiet, LAPIS_F32, t->d, n, &w->points));
  TRY(nearest_new(quiet, t->d, t->k, &w->c));
  TRY(nearest_new(quiet, t->d, CANDIDATES, &w->tried));
  w->square = base_alloc(quiet, n, sizeof *w->square);
  w->word = base_alloc(quiet, n, sizeof *w->word);
  w->cost = base_alloc(quiet, n, sizeof *w->cost);
  w->near = base_alloc(quiet, n, sizeof *w->near);
  w->product = base_alloc(quiet, n * CANDIDATES, sizeof *w->product);
  w->sum = base_alloc(quiet, blocks, sizeof *w->sum);
  w->sums = base_alloc(quiet, blocks * CANDIDATES, sizeof *w->sums);
  w->start = base_alloc(quiet, t->k + 1, sizeof *w->start);
  w->order = base_alloc(quiet, n, sizeof *w->order);
  bool room = w->square != NULL && w->word != NULL && w->cost != NULL &&
              w->near != NULL && w->product != NULL && w->sum != NULL &&
              w->sums != NULL && w->start != NULL && w->order != NULL;
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

static void take_points(work *w)
{
  const kmeans_task *t = w->t;
  nearest_pack(&w->points, 0, t->points, t->n);
  for (int64_t i = 0; i < t->n; i++) {
    double sum = 0;
    for (int64_t a = 0; a < t->d; a++) {
      double x = (double)t->points[i * t->d + a];
      sum += x * x;
    }
    w->square[i] = (float)sum;
  }
}

/* ---- seeds --------------------------------------------------------------*/
/* Distances of a block's points from what was tried, and what is left of the
 * sum with each. */
static void try_block(work *w, int64_t b)
{
  int64_t n = w->t->n, first = b * BLOCK, count = least(BLOCK, n - first);
  op_panels_costs(&w->points, first, count, w->tried.val, w->tried.count, NULL,
                  w->product + first, n);
  for (int64_t s = 0; s < CANDIDATES; s++) {
    float *p = w->product + s * n;
    double sum = 0;
    for (int64_t i = first; i < first + count; i++) {
      float v = w->square[i] + 2 * (w->tried.half[s] + p[i]);
      v = v < 0 ? 0 : v;
      p[i] = v < w->near[i] ? v : w->near[i];
      sum += (double)p[i];
    }
    w->sums[b * CANDIDATES + s] = sum;
  }
}

static int64_t best_tried(const work *w)
{
  double total[CANDIDATES] = {0};
  int64_t best = 0;
  for (int64_t b = 0; b < w->blocks; b++)
    for (int64_t s = 0; s < CANDIDATES; s++)
      total[s] += w->sums[b * CANDIDATES + s];
  for (int64_t s = 1; s < CANDIDATES; s++)
    if (total[s] < total[best]) best = s;
  return best;
}

/* A point with probability proportional to near. */
static int64_t draw(work *w, double total)
{
  double u = rng_uniform(base_seed(w->ctx), w->t->stream, w->drawn++) * total;
  int64_t b = 0;
  while (b < w->blocks - 1 && u >= w->sum[b]) u -= w->sum[b++];
  int64_t i = b * BLOCK, last = least(i + BLOCK, w->t->n) - 1;
  while (i < last && u >= (double)w->near[i]) u -= (double)w->near[i++];
  return i;
}

static void add_seed(work *w, int64_t k)
{
  const kmeans_task *t = w->t;
  size_t bytes = (size_t)t->d * sizeof(float);
  double total = 0;
  for (int64_t b = 0; b < w->blocks; b++) total += w->sum[b];
  for (int64_t s = 0; s < CANDIDATES; s++)
    memcpy(w->tried.val + s * t->d, t->points + draw(w, total) * t->d, bytes);
  nearest_refresh(&w->tried);
  for (int64_t i = 0; k == 0 && i < t->n; i++) w->near[i] = INFINITY;
#pragma omp parallel for num_threads( \
    base_team(w->ctx, (int)least(t->threads, w->blocks)))
  for (int64_t b = 0; b < w->blocks; b++) try_block(w, b);
  int64_t best = best_tried(w);
  memcpy(w->c.val + k * t->d, w->tried.val + best * t->d, bytes);
  memcpy(w->near, w->product + best * t->n, (size_t)t->n * sizeof(float));
  for (int64_t b = 0; b < w->blocks; b++)
    w->sum[b] = w->sums[b * CANDIDATES + best];
}

static lapis_status seed(work *w)
{
  /* the first is drawn evenly */
  for (int64_t i = 0; i < w->t->n; i++) w->near[i] = 1;
  for (int64_t b = 0; b < w->blocks; b++)
    w->sum[b] = (double)least(BLOCK, w->t->n - b * BLOCK);
  for (int64_t k = 0; k < w->t->k; k++) {
    lapis_status s = stopped(w);
    if (s != LAPIS_OK) return s;
    add_seed(w, k);
  }
  nearest_refresh(&w->c);
  return LAPIS_OK;
}

/* ---- iterations ---------------------------------------------------------*/
static double distance(const work *w, int64_t i)
{
  float v = w->square[i] + 2 * w->cost[i];
  return v < 0 ? 0 : (double)v;
}

static double assign(work *w)
{
  double total = 0;
#pragma omp parallel for num_threads( \
    base_team(w->ctx, (int)least(w->t->threads, w->blocks)))
  for (int64_t b = 0; b < w->blocks; b++) {
    int64_t first = b * BLOCK, count = least(BLOCK, w->t->n - first);
    nearest_find(&w->points, first, count, &w->c, w->word + first,
                 w->cost + first);
    w->sum[b] = 0;
    for (int64_t i = first; i < first + count; i++) w->sum[b] += distance(w, i);
  }
  for (int64_t b = 0; b < w->blocks; b++) total += w->sum[b];
  return total;
}

static void average(work *w, int64_t c)
{
  int64_t d = w->t->d, first = w->start[c], count = w->start[c + 1] - first;
  double sum[NEAREST_MOST] = {0};
  for (int64_t j = first; j < first + count; j++) {
    const float *x = w->t->points + w->order[j] * d;
    for (int64_t a = 0; a < d; a++) sum[a] += (double)x[a];
  }
  for (int64_t a = 0; a < d && count > 0; a++)
    w->c.val[c * d + a] = (float)(sum[a] / (double)count);
}

/* The farthest point becomes centre c, and is farthest no more. */
static void revive(work *w, int64_t c)
{
  int64_t far = 0;
  for (int64_t i = 1; i < w->t->n; i++)
    if (distance(w, i) > distance(w, far)) far = i;
  if (distance(w, far) <= 0) return;
  memcpy(w->c.val + c * w->t->d, w->t->points + far * w->t->d,
         (size_t)w->t->d * sizeof(float));
  w->cost[far] = -w->square[far] / 2;
}

static void update(work *w)
{
  nearest_sort(w->word, w->t->n, w->t->k, w->start, w->order);
#pragma omp parallel for schedule(dynamic, 8) \
    num_threads(base_team(w->ctx, w->t->threads))
  for (int64_t c = 0; c < w->t->k; c++) average(w, c);
  for (int64_t c = 0; c < w->t->k; c++)
    if (w->start[c] == w->start[c + 1]) revive(w, c);
  nearest_refresh(&w->c);
}

static lapis_status lloyd(work *w, double *objective)
{
  double last = INFINITY;
  lapis_status s = seed(w);
  for (int64_t iter = 0; s == LAPIS_OK; iter++) {
    *objective = assign(w);
    if (iter == w->t->max_iters || last - *objective <= GAIN * *objective)
      break;
    last = *objective;
    update(w);
    s = stopped(w);
  }
  return s;
}

static lapis_status best_of(work *w, float *centres, double *objective)
{
  double best = INFINITY, found = INFINITY;
  for (int64_t r = 0; r < w->t->restarts; r++) {
    lapis_status s = lloyd(w, &found);
    if (s != LAPIS_OK) return s;
    if (found >= best) continue;
    best = found;
    memcpy(centres, w->c.val, (size_t)(w->t->d * w->t->k) * sizeof *centres);
  }
  if (objective != NULL) *objective = best;
  return LAPIS_OK;
}

lapis_status kmeans(lapis_ctx *ctx, const kmeans_task *t, float *centres,
                    double *objective)
{
  work w;
  lapis_status s = open_work(ctx, t, &w);
  if (s >= 0) take_points(&w);
  if (s >= 0) s = best_of(&w, centres, objective);
  close_work(&w);
  return s;
}
