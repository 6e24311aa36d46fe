/* scale.c - features and targets brought to one size before they are learnt
 * from.
 *
 *   x' = (x - m) / s    a feature, of what was observed of it
 *   y' = (y - m) / s    a target
 *
 * One lambda judges the errors of all features, gamma and eta weigh T and the
 * targets, and the bias is penalised with T: without this a target's mean, and
 * the units of X and Y, decide the answer.  Behind it the answer goes along
 * with any shift, and any change of unit, of a feature or a target.
 *
 * standard: m and s are the mean and the deviation.  robust: the median, and
 * the median of |x - m| in units of a normal deviation.  Gross errors in a
 * tenth of a feature's entries, 100 deviations away, move its mean by 10
 * deviations and make its deviation 30 times as large, so that to lambda
 * everything true in it is small; its median moves by .14 of a deviation.
 *
 * A sensor that rests for half of the time and longer has a median of |x - m|
 * that is 0 or the noise of its rest: s is no less than half of what the upper
 * quartile of |x - m| says, and where its 90 % quantile is a thousand times as
 * large, half of what that says.  Where half of a feature's entries are one
 * number to the bit and this leaves 0, s is the deviation.
 * Targets have no such errors here: the loss is their square, and m and s are
 * mean and deviation.  A sample of weight k counts as k in all of these.
 *
 * Samples may be brought to length 1 before (rlda): an image by its light.
 *
 * D, E = X - D, T and scores return to the units of the data. */
#include <math.h>
#include <string.h>

#include "methods/robust/robust.h"

/* Quantiles of |x - m|, and of normal numbers their deviation over these. */
static const double WIDE[] = {.5, .75, .9};
static const double NORMAL[] = {1.4826022185056018, .8693011159, .6079568};
static const double SHARE = .5;  /* of a wider one */
static const double REST = 1e-3; /* of the widest: the sensor was at rest */

/* What is measured, and room for it. */
typedef struct measured {
  lapis_ctx *ctx;
  const double *X;      /* d x n, NaN: not observed */
  int64_t d, n;         /* n: of this process */
  const double *weight; /* n, or NULL: 1 each */
  double *count;        /* d: what was observed, by all processes */
  double *room;         /* 4 d */
  uint64_t *low, *high; /* d: bounds of a quantile */
} measured;

static void measured_free(measured *m)
{
  base_free(m->count);
  base_free(m->room);
  base_free(m->low);
  base_free(m->high);
}

static double times(const measured *m, int64_t j)
{
  return m->weight == NULL ? 1 : m->weight[j];
}

static lapis_status measured_new(lapis_ctx *ctx, const lapis_mat *X,
                                 const double *weight, measured *m)
{
  int64_t d = X->rows, n = X->cols;
  const double *x = X->val;
  *m = (measured){.ctx = ctx, .X = x, .d = d, .n = n, .weight = weight};
  m->count = base_alloc(ctx, d, sizeof *m->count);
  m->room = base_alloc(ctx, 4 * d, sizeof *m->room);
  m->low = base_alloc(ctx, d, sizeof *m->low);
  m->high = base_alloc(ctx, d, sizeof *m->high);
  if (m->count == NULL || m->room == NULL || m->low == NULL || m->high == NULL)
    return LAPIS_ENOMEM;
  for (int64_t k = 0; k < d * n; k++)
    if (!isnan(x[k])) m->count[k % d] += times(m, k / d);
  return base_sum(ctx, m->count, d);
}

/* ---- mean and deviation -------------------------------------------------*/
static lapis_status deviations(const measured *m, const double *centre,
                               double *size)
{
  int64_t d = m->d;
  memset(size, 0, (size_t)d * sizeof *size);
  for (int64_t k = 0; k < d * m->n; k++) {
    double off = m->X[k] - centre[k % d];
    if (!isnan(off))
      size[k % d] += times(m, k / d) * (off * off) / m->count[k % d];
  }
  TRY(base_sum(m->ctx, size, d));
  for (int64_t i = 0; i < d; i++) size[i] = sqrt(size[i]);
  return LAPIS_OK;
}

/* The second pass takes away what rounding left in the first. */
static lapis_status means(const measured *m, double *centre)
{
  int64_t d = m->d;
  double *more = m->room;
  memset(centre, 0, (size_t)d * sizeof *centre);
  for (int pass = 0; pass < 2; pass++) {
    memset(more, 0, (size_t)d * sizeof *more);
    for (int64_t k = 0; k < d * m->n; k++)
      if (!isnan(m->X[k]))
        more[k % d] +=
            times(m, k / d) * (m->X[k] - centre[k % d]) / m->count[k % d];
    TRY(base_sum(m->ctx, more, d));
    for (int64_t i = 0; i < d; i++) centre[i] += more[i];
  }
  return LAPIS_OK;
}

/* ---- quantiles, whoever has the samples -----------------------------------*/
/* Numbers in their order as whole ones, and back. */
static uint64_t key_of(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double number_of(uint64_t key)
{
  double x;
  uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t middle_of(const measured *m, int64_t i)
{
  return m->low[i] + (m->high[i] - m->low[i]) / 2;
}

/* out (d): the number of which this share of |x - off|, or of x where off is
 * NULL, are not above (of two in the middle the lower), by halving: 64 counts
 * find it to the bit, and a count is a sum, which processes can share. */
static lapis_status quantiles(const measured *m, const double *off,
                              double share, double *out)
{
  int64_t d = m->d;
  double *below = m->room; /* not above the middle, which is in out */
  for (int64_t i = 0; i < d; i++) {
    m->low[i] = key_of(off == NULL ? -INFINITY : 0);
    m->high[i] = key_of(INFINITY);
  }
  for (int turn = 0; turn < 64; turn++) {
    for (int64_t i = 0; i < d; i++) {
      out[i] = number_of(middle_of(m, i));
      below[i] = 0;
    }
    for (int64_t j = 0; j < m->n; j++)
      for (int64_t i = 0; i < d; i++) {
        double x = m->X[j * d + i];
        if ((off == NULL ? x : fabs(x - off[i])) <= out[i])
          below[i] += times(m, j);
      }
    TRY(base_sum(m->ctx, below, d));
    for (int64_t i = 0; i < d; i++) {
      bool enough = below[i] >= share * m->count[i];
      uint64_t at = middle_of(m, i);
      if (enough) m->high[i] = at;
      if (!enough && at < m->high[i]) m->low[i] = at + 1;
    }
  }
  for (int64_t i = 0; i < d; i++)
    out[i] = m->count[i] > 0 ? number_of(m->high[i]) + 0.0 : 0; /* no -0 */
  return LAPIS_OK;
}

/* The size of a feature: q, quantiles of |x - m| in units of a deviation. */
static double robust_size(const double q[3])
{
  double s = fmax(q[0], SHARE * q[1]);
  return s < REST * q[2] ? SHARE * q[2] : s;
}

/* centre and size hold means and deviations, which stay where there is nothing
 * better. */
static lapis_status robust(const measured *m, rr_scale *z)
{
  double *wide = m->room + m->d; /* d each of WIDE */
  TRY(quantiles(m, NULL, .5, z->centre));
  for (int k = 0; k < 3; k++)
    TRY(quantiles(m, z->centre, WIDE[k], wide + k * m->d));
  for (int64_t i = 0; i < m->d; i++) {
    double own[3];
    for (int k = 0; k < 3; k++) own[k] = NORMAL[k] * wide[k * m->d + i];
    double size = robust_size(own);
    if (mat_varies(size, z->centre[i])) z->size[i] = size;
  }
  return LAPIS_OK;
}

/* ---- what others use ----------------------------------------------------*/
lapis_status rr_scale_fit(arena *a, int mode, const lapis_mat *X,
                          const double *weight, rr_scale *out)
{
  measured m;
  int64_t d = X->rows;
  lapis_status s = measured_new(a->ctx, X, weight, &m);
  out->d = d;
  out->centre = s >= 0 ? arena_reals(a, 2 * d) : NULL;
  out->size = out->centre != NULL ? out->centre + d : NULL;
  if (s >= 0 && out->centre == NULL) s = LAPIS_ENOMEM;
  if (s >= 0) s = means(&m, out->centre);
  if (s >= 0) s = deviations(&m, out->centre, out->size);
  if (s >= 0 && mode == LAPIS_SCALE_ROBUST) s = robust(&m, out);
  measured_free(&m);
  TRY(s);
  for (int64_t i = 0; i < d; i++) { /* a constant; squares that are none */
    double centre = fabs(out->centre[i]), *size = out->size + i;
    if (!(mat_varies(*size, centre) && isfinite(*size)))
      *size = centre > 0 ? centre : 1;
  }
  return LAPIS_OK;
}

lapis_status rr_scale_nothing(arena *a, int64_t d, rr_scale *out)
{
  double *centre = arena_reals(a, 2 * d);
  TRY(arena_status(a));
  for (int64_t i = 0; i < d; i++) centre[d + i] = 1;
  *out = (rr_scale){d, centre, centre + d};
  return LAPIS_OK;
}

void rr_scale_apply(const double *centre, int64_t d, int64_t n, double *X)
{
  for (int64_t k = 0; k < d * n; k++)
    X[k] = (X[k] - centre[k % d]) / centre[d + k % d];
}

void rr_scale_restore(const double *centre, const double *length, int64_t d,
                      int64_t n, double *D, double *E)
{
  for (int64_t k = 0; k < d * n; k++) {
    D[k] = D[k] * centre[d + k % d] + centre[k % d];
    if (E != NULL) E[k] *= centre[d + k % d];
    if (length == NULL) continue;
    D[k] *= length[k / d];
    if (E != NULL) E[k] *= length[k / d];
  }
}

void rr_divide_by_length(int64_t d, int64_t n, double *X, double *length)
{
  for (int64_t j = 0; j < n; j++) {
    double *x = X + j * d, sum = 0, seen = 0, unit = 0;
    for (int64_t i = 0; i < d; i++) unit = fmax(unit, fabs(x[i]));
    for (int64_t i = 0; i < d && unit > 0; i++) {
      if (isnan(x[i])) continue;
      sum += x[i] / unit * (x[i] / unit);
      seen++;
    }
    length[j] = sum > 0 ? unit * sqrt(sum * (double)d / seen) : 1;
    for (int64_t i = 0; i < d; i++) x[i] /= length[j];
  }
}

lapis_status rr_take_roots(rr *w, const lapis_data *data)
{
  double differ = 0;
  for (int64_t j = 0; data->weight != NULL && j < data->X.cols; j++)
    differ = fmax(differ, fabs(data->weight[j] - 1));
  TRY(base_max(w->base.ctx, &differ, 1));
  if (!(differ > 0)) return LAPIS_OK;
  w->weight = data->weight;
  w->root = arena_reals(&w->base.arena, data->X.cols);
  TRY(arena_status(&w->base.arena));
  for (int64_t j = 0; j < data->X.cols; j++) w->root[j] = sqrt(w->weight[j]);
  return LAPIS_OK;
}

lapis_status rr_take_unit(rr *w, double *X)
{
  arena *a = &w->base.arena;
  if (w->length == NULL) w->length = arena_reals(a, w->n);
  TRY(arena_status(a));
  mat_to_f64(&w->given, X, w->d);
  rr_divide_by_length(w->d, w->n, X, w->length);
  lapis_mat own = lapis_mat_f64(X, w->d, w->n);
  TRY(rr_scale_fit(a, w->set.scale, &own, w->weight, &w->of_unit));
  rr_scale_apply(w->of_unit.centre, w->d, w->n, X);
  return LAPIS_OK;
}

void rr_scale_weights(const rr_scale *x, const rr_scale *y, int64_t K,
                      double *T)
{
  for (int64_t k = 0; k < K; k++, T += x->d + 1) {
    double size = y->centre == NULL ? 1 : y->size[k];
    for (int64_t i = 0; i < x->d + 1; i++) T[i] *= size;
    if (y->centre != NULL) T[x->d] += y->centre[k];
    for (int64_t i = 0; i < x->d && x->centre != NULL; i++) {
      T[i] /= x->size[i];
      T[x->d] -= T[i] * x->centre[i];
    }
  }
}
