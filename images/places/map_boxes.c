/* map_boxes.c - boxes compared by the places of a network's map.
 *
 * A layer of a network gives each of g x g places of an image d numbers; x_i is
 * these of place i, brought to length 1, less the mean of all places of all
 * images, and C their covariance,
 *   C = sum of x_i x_i' / n + ridge tr(C)/d I.
 * In a round, from the p of choose_boxes.c, with c_bi the share of place i that
 * box b covers,
 *   a_i <- sum over the image's boxes of p_b c_bi:  so much of i is object
 *   m1, m0 <- means of all x, weighted by a and by 1 - a
 *   w <- C^-1 (m1 - m0):  the linear discriminant of object against ground
 *   h_i <- w'x_i - w'(m1 + m0)/2
 *   v_b <- sum over the image's places of c_bi h_i
 *   s_b <- v_b / |the image's largest v|
 *   t_b <- u_b + s_b, or u_b where no v of the image is above 0.
 * Since x sums to 0, with S the sum of a_i x_i and A that of a over n places,
 *   m1 = S / A,  m0 = - S / (n - A). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "images/places/choice.h"
#include "op/dense/thin.h"

enum { MOST_CHANNELS = 4096 }; /* C is factored: a minute */

struct place_map {
  int64_t g, d, ld; /* places a side, channels, room for them */
  int64_t n;        /* places of all images */
  double *x;        /* ld x n */
  double *U;        /* ld x ld: U'U = C */
  bool told;        /* places differ */
  double *a, *h;    /* n */
  double *cover;    /* 2 g x boxes: of each column, each row in the box */
  double *S, *w;    /* ld */
};

/* ---- places -------------------------------------------------------------*/
static void take_places(place_map *m, const lapis_mat *map)
{
  int64_t places = m->g * m->g;
  double *x = m->x;
  for (int64_t k = 0; k < map->cols; k++)
    for (int64_t i = 0; i < places; i++, x += m->ld) {
      double squares = 0;
      for (int64_t j = 0; j < m->d; j++) {
        x[j] = lapis_mat_at(map, i * m->d + j, k);
        squares += x[j] * x[j];
      }
      for (int64_t j = 0; j < m->d && squares > 0; j++) x[j] /= sqrt(squares);
    }
}

static void centre(place_map *m)
{
  memset(m->S, 0, (size_t)m->ld * sizeof *m->S);
  for (int64_t i = 0; i < m->n; i++)
    for (int64_t j = 0; j < m->d; j++) m->S[j] += m->x[i * m->ld + j];
  for (int64_t i = 0; i < m->n; i++)
    for (int64_t j = 0; j < m->d; j++)
      m->x[i * m->ld + j] -= m->S[j] / (double)m->n;
}

/* U <- of C. */
static lapis_status factor(lapis_ctx *ctx, place_map *m, double ridge)
{
  int64_t places = m->g * m->g, ld = m->ld;
  double trace = 0;
  for (int64_t i = 0; i < m->n; i += places) {
    if (base_must_stop(ctx))
      return base_cancelled(ctx) ? LAPIS_CANCELLED : LAPIS_TIME_LIMIT;
    tall_normal(ld, m->d, m->x + i * ld, NULL, places, NULL, NULL, m->U, NULL);
  }
  for (int64_t i = 0; i < ld * ld; i++) m->U[i] /= (double)m->n;
  for (int64_t j = 0; j < m->d; j++) trace += m->U[j * ld + j];
  for (int64_t j = 0; j < m->d; j++)
    m->U[j * ld + j] += ridge * trace / (double)m->d;
  /* x of length 1 less a mean of n: rounding leaves less than (n eps)^2 */
  double least = (double)m->n * DBL_EPSILON;
  m->told = trace > least * least && tall_cholesky(m->d, ld, m->U);
  return LAPIS_OK;
}

/* ---- boxes --------------------------------------------------------------*/
/* The shares of the g parts of a side that lie from `from` on, so long. */
static void cover_side(int64_t g, double whole, double from, double length,
                       double *share)
{
  for (int64_t i = 0; i < g; i++) {
    double low = fmax((double)i, from / whole * (double)g);
    double high = fmin((double)i + 1, (from + length) / whole * (double)g);
    share[i] = fmax(high - low, 0);
  }
}

static void cover_boxes(place_map *m, const choice *c, const lapis_mat *box,
                        const lapis_mat *size)
{
  for (int64_t k = 0; k < c->K; k++)
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++)
      for (int64_t i = 0; i < 2; i++)
        cover_side(m->g, lapis_mat_at(size, i, k), lapis_mat_at(box, i, b),
                   lapis_mat_at(box, 2 + i, b), m->cover + (2 * b + i) * m->g);
}

/* ---- a round ------------------------------------------------------------*/
static void weigh_places(place_map *m, const choice *c)
{
  memset(m->a, 0, (size_t)m->n * sizeof *m->a);
  for (int64_t k = 0; k < c->K; k++)
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++) {
      const double *across = m->cover + 2 * b * m->g, *down = across + m->g;
      double *a = m->a + k * m->g * m->g;
      for (int64_t y = 0; y < m->g; y++)
        for (int64_t x = 0; x < m->g; x++)
          *a++ += c->p[b] * down[y] * across[x];
    }
}

/* h <- w'x - w'(m1 + m0)/2. */
static void score_places(place_map *m)
{
  double A = 0, n = (double)m->n;
  for (int64_t i = 0; i < m->n; i++) A += m->a[i];
  memset(m->h, 0, (size_t)m->n * sizeof *m->h);
  if (!m->told || !(A > 0 && A < n)) return;
  tall_combine(m->ld, m->x, NULL, m->n, m->a, m->S);
  for (int64_t j = 0; j < m->ld; j++) m->w[j] = m->S[j] * (1 / A + 1 / (n - A));
  tall_solve(m->d, m->ld, m->U, m->w);
  double middle = tall_dot(m->ld, m->w, m->S) * (1 / A - 1 / (n - A)) / 2;
  for (int64_t i = 0; i < m->n; i++)
    m->h[i] = tall_dot(m->ld, m->w, m->x + i * m->ld) - middle;
}

static double score_box(const place_map *m, int64_t k, int64_t b)
{
  const double *across = m->cover + 2 * b * m->g, *down = across + m->g;
  const double *h = m->h + k * m->g * m->g;
  double v = 0;
  for (int64_t y = 0; y < m->g; y++)
    for (int64_t x = 0; x < m->g; x++) v += down[y] * across[x] * *h++;
  return v;
}

static void score_boxes(const place_map *m, choice *c)
{
  for (int64_t k = 0; k < c->K; k++) {
    double most = -INFINITY;
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++)
      most = fmax(most, c->s[b] = score_box(m, k, b));
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++) {
      c->s[b] = fabs(most) > 0 ? c->s[b] / fabs(most) : 0;
      c->t[b] = c->u[b] + (most > 0 ? c->s[b] : 0);
    }
  }
}

void map_compare(place_map *m, choice *c)
{
  weigh_places(m, c);
  score_places(m);
  score_boxes(m, c);
}

/* ---- beginning and end --------------------------------------------------*/
static lapis_status check(lapis_ctx *ctx, const lapis_mat *map, int64_t g,
                          int64_t images)
{
  TRY(mat_check_numbers(ctx, "boxes", "map", map));
  if (map->rows < 1 || map->rows % (g * g) != 0 || map->cols != images)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "boxes: the map is %" PRId64 " x %" PRId64
                      "; it must have %" PRId64 " x %" PRId64
                      " places, so many numbers each, and %" PRId64
                      " columns, one an image",
                      map->rows, map->cols, g, g, images);
  if (map->rows / (g * g) > MOST_CHANNELS)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "boxes: the map has %" PRId64 " channels; boxes are "
                      "compared by at most %d",
                      map->rows / (g * g), MOST_CHANNELS);
  for (int64_t k = 0; k < map->cols; k++)
    for (int64_t i = 0; i < map->rows; i++)
      if (!isfinite(lapis_mat_at(map, i, k)))
        return lapis_fail(ctx, LAPIS_EDATA,
                          "boxes: number %" PRId64
                          " of the map of image %" PRId64 " is not finite",
                          i, k);
  return LAPIS_OK;
}

static lapis_status make_room(lapis_ctx *ctx, place_map *m, int64_t boxes)
{
  m->x = base_alloc(ctx, m->ld * m->n, sizeof *m->x);
  m->U = base_alloc(ctx, m->ld * m->ld, sizeof *m->U);
  m->a = base_alloc(ctx, m->n, sizeof *m->a);
  m->h = base_alloc(ctx, m->n, sizeof *m->h);
  m->cover = base_alloc(ctx, 2 * m->g * boxes, sizeof *m->cover);
  m->S = base_alloc(ctx, m->ld, sizeof *m->S);
  m->w = base_alloc(ctx, m->ld, sizeof *m->w);
  bool all = m->x != NULL && m->U != NULL && m->a != NULL && m->h != NULL &&
             m->cover != NULL && m->S != NULL && m->w != NULL;
  return all ? LAPIS_OK : LAPIS_ENOMEM;
}

lapis_status map_new(lapis_ctx *ctx, const choice *c, const lapis_mat *box,
                     const lapis_mat *size, place_map **out)
{
  const lapis_mat *map = c->set->map;
  int64_t g = c->set->grid;
  *out = NULL;
  TRY(check(ctx, map, g, c->K));
  place_map *m = *out = base_alloc(ctx, 1, sizeof *m);
  if (m == NULL) return LAPIS_ENOMEM;
  m->g = g;
  m->d = map->rows / (g * g);
  m->ld = tall_ld(m->d);
  m->n = g * g * c->K;
  TRY(make_room(ctx, m, c->N));
  take_places(m, map);
  centre(m);
  cover_boxes(m, c, box, size);
  return factor(ctx, m, c->set->ridge);
}

void map_free(place_map *m)
{
  if (m == NULL) return;
  base_free(m->x), base_free(m->U), base_free(m->a), base_free(m->h);
  base_free(m->cover), base_free(m->S), base_free(m->w);
  base_free(m);
}
