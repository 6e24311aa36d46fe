/* reference_passes.c - the passes once more, independently of losses.h, so
 * that the two can judge each other: every root by bisection in extended
 * precision, every formula as docs/mathematics.md has it, one entry after
 * another.  Slow.
 *
 * Where a function is decreasing or increasing is all that bisection needs;
 * it stops when the interval holds no other number. */
#include <float.h>
#include <math.h>

#include "la/host/host.h"

typedef long double wide;

/* What an entry is: its block's kind with labels read as (s, c). */
typedef struct item {
  la_kind kind;
  bool seen;
  wide z0, s, c, weight, gamma;
} item;

static item item_at(const la_penalty *phi, int k, int64_t i, int64_t j)
{
  const la_block *b = &phi->block[k];
  double z0 = host_col(&phi->Z0, j)[b->first + i];
  item e = {b->kind, !isnan(z0), z0, 0, 0, host_weight(phi, b, j), b->gamma};
  e.s = phi->zero_one ? 2 * e.z0 - 1 : e.z0;
  e.c = phi->zero_one ? e.z0 : 0;
  if (b->kind == LA_ONES) e.seen = true;
  return e;
}

/* ---- one entry ----------------------------------------------------------*/

static wide slope(const item *e, wide z)
{
  if (!e->seen) return 0;
  switch (e->kind) {
  case LA_ONES:
    return 0;
  case LA_SQUARE:
    return z - e->z0;
  case LA_LOGISTIC:
    return -e->s / (1 + expl(e->gamma * e->s * (z - e->c)));
  case LA_CHI2:
  case LA_CHI2_SIMPLEX:
    if (!(e->z0 > 0)) return 1;
    return (z - e->z0) * (z + 3 * e->z0) / ((z + e->z0) * (z + e->z0));
  }
  return NAN;
}

static wide value(const item *e, wide z)
{
  if (!e->seen) return 0;
  wide x = -e->gamma * e->s * (z - e->c); /* log(1 + e^x) */
  switch (e->kind) {
  case LA_ONES:
    return 0;
  case LA_SQUARE:
    return (z - e->z0) * (z - e->z0) / 2;
  case LA_LOGISTIC:
    return ((x > 0 ? x : 0) + log1pl(expl(-fabsl(x)))) / e->gamma;
  case LA_CHI2:
  case LA_CHI2_SIMPLEX:
    if (z < 0) return INFINITY;
    return z + e->z0 > 0 ? (z - e->z0) * (z - e->z0) / (z + e->z0) : 0;
  }
  return NAN;
}

/* z + t slope(z) - v increases with z. */
static wide bisect(const item *e, wide v, wide t, wide low, wide high)
{
  for (int k = 0; k < 20000; k++) {
    wide mid = low + (high - low) / 2;
    if (!(mid > low && mid < high)) break;
    if (mid + t * slope(e, mid) - v > 0)
      high = mid;
    else
      low = mid;
  }
  return high;
}

static wide prox_entry(const item *e, wide v, wide t)
{
  switch (e->kind) {
  case LA_ONES:
    return 1;
  case LA_SQUARE:
    return e->seen ? (v + t * e->z0) / (1 + t) : v;
  case LA_LOGISTIC: /* slopes lie in [-1, 1] */
    return e->seen ? bisect(e, v, t, v - t, v + t) : v;
  case LA_CHI2: /* slopes lie in [-3, 1] */
  case LA_CHI2_SIMPLEX:
    if (!e->seen) return v < 0 ? 0 : v;
    if (!(e->z0 > 0)) return v > t ? v - t : 0;
    return v + 3 * t <= 0 ? 0 : bisect(e, v, t, 0, v + 3 * t);
  }
  return NAN;
}

static wide xlogx(wide p)
{
  return p > 0 ? p * logl(p) : 0;
}

/* phi*(y) of one entry outside the simplex. */
static wide conjugate_entry(const item *e, wide y)
{
  if (e->kind == LA_ONES) return y;
  if (!e->seen || !(e->weight > 0)) return 0;
  wide x = y / e->weight, q = sqrtl(x < 1 ? 1 - x : 0), p = -x * e->s;
  switch (e->kind) {
  case LA_ONES:
    return y;
  case LA_SQUARE:
    return y * e->z0 + y * y / (2 * e->weight);
  case LA_LOGISTIC:
    return y * e->c + e->weight / e->gamma * (xlogx(p) + xlogx(1 - p));
  case LA_CHI2:
  case LA_CHI2_SIMPLEX:
    return q >= 2 ? -e->weight * e->z0 : e->weight * e->z0 * (q - 1) * (q - 3);
  }
  return NAN;
}

/* ---- a simplex column ---------------------------------------------------*/

typedef struct column {
  const la_penalty *phi;
  int k;
  int64_t j, n;
  const double *v;
  wide t, scale;
} column;

static item column_item(const column *c, int64_t i)
{
  item e = item_at(c->phi, c->k, i, c->j);
  if (!(c->t > 0)) e.seen = false;
  return e;
}

static wide prox_sum(const column *c, wide theta)
{
  wide sum = 0;
  for (int64_t i = 0; i < c->n; i++) {
    item e = column_item(c, i);
    sum += prox_entry(&e, c->v[i] - theta, c->t);
  }
  return sum;
}

/* The sum is at least 1 where the largest v is 1 + t above theta, and 0
 * where it is 3t below. */
static wide column_theta(const column *c)
{
  wide top = -INFINITY;
  for (int64_t i = 0; i < c->n; i++)
    if (c->v[i] > top) top = c->v[i];
  wide low = top - 1 - c->t, high = top + 3 * c->t;
  for (int k = 0; k < 200; k++) {
    wide mid = low + (high - low) / 2;
    if (!(mid > low && mid < high)) break;
    if (prox_sum(c, mid) > 1)
      low = mid;
    else
      high = mid;
  }
  return low + (high - low) / 2;
}

/* max { y'z - a sum chi2 : z in the simplex } = min over theta of theta + sum
 * phi_i*(y_i - theta), y = scale v, by ternary search on the convex function;
 * infinite left of the walls. */
static wide conjugate_at(const column *c, wide theta)
{
  wide sum = theta;
  for (int64_t i = 0; i < c->n; i++) {
    item e = column_item(c, i);
    wide y = c->scale * c->v[i] - theta;
    if (y > (e.seen ? c->t : 0)) return INFINITY;
    sum += conjugate_entry(&e, y);
  }
  return sum;
}

static wide column_conjugate(const column *c)
{
  wide top = -INFINITY;
  for (int64_t i = 0; i < c->n; i++)
    if (c->scale * c->v[i] > top) top = c->scale * c->v[i];
  wide low = top - c->t, high = top + 3 * c->t + 1;
  for (int k = 0; k < 400; k++) {
    wide a = low + (high - low) / 3, b = high - (high - low) / 3;
    wide fa = conjugate_at(c, a), fb = conjugate_at(c, b);
    if (fa <= fb && !isinf((double)fa))
      high = b;
    else
      low = a;
  }
  return conjugate_at(c, high);
}

static column make_column(const la_penalty *phi, int k, int64_t j,
                          const double *v, wide t, wide scale)
{
  return (column){phi, k, j, phi->block[k].rows, v, t, scale};
}

/* ---- passes -------------------------------------------------------------*/

static bool coupled(const la_penalty *phi, int k)
{
  return phi->block[k].kind == LA_CHI2_SIMPLEX;
}

/* weight / rho of the entries of a block's column. */
static wide step_of(const la_penalty *phi, int k, int64_t j, double rho)
{
  return item_at(phi, k, 0, j).weight / rho;
}

/* Prox of block k of column j with step t (0: the projection); out = v is
 * fine. */
static void prox_block(const la_penalty *phi, int k, int64_t j, const double *v,
                       wide t, double *out)
{
  wide theta = 0;
  column c = make_column(phi, k, j, v, t, 1);
  if (coupled(phi, k)) theta = column_theta(&c);
  for (int64_t i = 0; i < c.n; i++) {
    item e = coupled(phi, k) ? column_item(&c, i) : item_at(phi, k, i, j);
    out[i] = (double)prox_entry(&e, v[i] - theta, t);
  }
}

lapis_status plain_prox(la *h, const la_penalty *phi, double rho,
                        const la_array *V, la_array *B)
{
  TRY(host_check_penalty(h, "prox", phi, V));
  TRY(host_check_shape(h, "prox", B, V->rows, V->cols));
  for (int64_t j = 0; j < V->cols; j++)
    for (int k = 0; k < phi->n_blocks; k++) {
      int64_t first = phi->block[k].first;
      if (phi->block[k].rows == 0) continue;
      prox_block(phi, k, j, host_col(V, j) + first, step_of(phi, k, j, rho),
                 host_col(B, j) + first);
    }
  return LAPIS_OK;
}

/* Rows first .. of one block and column: b and w, and their shares of sums. */
static void reflect_block(const la_penalty *phi, int k, int64_t j, double rho,
                          const double *a, const double *v, double *b,
                          double *w, double sums[4])
{
  if (phi->block[k].rows == 0) return;
  prox_block(phi, k, j, v, step_of(phi, k, j, rho), w);
  for (int64_t i = 0; i < phi->block[k].rows; i++) {
    double z = w[i], u = v[i] - z;
    sums[0] += (a[i] - z) * (a[i] - z);
    sums[1] += (z - b[i]) * (z - b[i]);
    sums[2] += z * z;
    sums[3] += u * u;
    b[i] = z;
    w[i] = z - u;
  }
}

lapis_status plain_reflect(la *h, const la_penalty *phi, double rho,
                           const la_array *A, const la_array *V, la_array *B,
                           la_array *W, double sums[4])
{
  TRY(host_check_penalty(h, "reflect", phi, A));
  TRY(host_check_shape(h, "reflect", V, A->rows, A->cols));
  TRY(host_check_shape(h, "reflect", B, A->rows, A->cols));
  TRY(host_check_shape(h, "reflect", W, A->rows, A->cols));
  for (int c = 0; c < 4; c++) sums[c] = 0;
  for (int64_t j = 0; j < A->cols; j++)
    for (int k = 0; k < phi->n_blocks; k++) {
      int64_t first = phi->block[k].first;
      reflect_block(phi, k, j, rho, host_col(A, j) + first,
                    host_col(V, j) + first, host_col(B, j) + first,
                    host_col(W, j) + first, sums);
    }
  return LAPIS_OK;
}

lapis_status plain_loss(la *h, const la_penalty *phi, const la_array *Z,
                        double *out)
{
  TRY(host_check_penalty(h, "loss", phi, Z));
  wide sum = 0;
  for (int64_t j = 0; j < Z->cols; j++)
    for (int k = 0; k < phi->n_blocks; k++)
      for (int64_t i = 0; i < phi->block[k].rows; i++) {
        item e = item_at(phi, k, i, j);
        double z = host_col(Z, j)[phi->block[k].first + i];
        if (e.weight > 0) sum += e.weight * value(&e, z);
      }
  *out = (double)sum;
  return LAPIS_OK;
}

lapis_status plain_gradient_step(la *h, const la_penalty *phi, double tau,
                                 const la_array *Z, la_array *A)
{
  TRY(host_check_penalty(h, "gradient_step", phi, Z));
  TRY(host_check_shape(h, "gradient_step", A, Z->rows, Z->cols));
  for (int64_t j = 0; j < Z->cols; j++)
    for (int k = 0; k < phi->n_blocks; k++)
      for (int64_t i = 0; i < phi->block[k].rows; i++) {
        item e = item_at(phi, k, i, j);
        int64_t row = phi->block[k].first + i;
        wide z = host_col(Z, j)[row];
        host_col(A, j)[row] = (double)(z - tau * e.weight * slope(&e, z));
      }
  return LAPIS_OK;
}

lapis_status plain_project(la *h, const la_penalty *phi, la_array *Z)
{
  TRY(host_check_penalty(h, "project", phi, Z));
  for (int64_t j = 0; j < Z->cols; j++)
    for (int k = 0; k < phi->n_blocks; k++) {
      double *z = host_col(Z, j) + phi->block[k].first;
      la_kind kind = phi->block[k].kind;
      if (kind == LA_CHI2_SIMPLEX) prox_block(phi, k, j, z, 0, z);
      for (int64_t i = 0; i < phi->block[k].rows; i++) {
        if (kind == LA_CHI2 && z[i] < 0) z[i] = 0;
        if (kind == LA_ONES) z[i] = 1;
      }
    }
  return LAPIS_OK;
}

static double clamp_entry(const item *e, double y)
{
  double w = (double)e->weight, s = (double)e->s;
  switch (e->kind) {
  case LA_ONES:
  case LA_CHI2_SIMPLEX:
    return y;
  case LA_CHI2:
    return fmin(y, e->seen ? w : 0);
  case LA_SQUARE:
    return !e->seen || !(w > 0) ? 0 : y;
  case LA_LOGISTIC:
    return !e->seen || !(w > 0) ? 0 : -s * fmin(fmax(-s * y, 0), w);
  }
  return NAN;
}

lapis_status plain_clamp(la *h, const la_penalty *phi, la_array *G)
{
  TRY(host_check_penalty(h, "clamp", phi, G));
  for (int64_t j = 0; j < G->cols; j++)
    for (int k = 0; k < phi->n_blocks; k++)
      for (int64_t i = 0; i < phi->block[k].rows; i++) {
        item e = item_at(phi, k, i, j);
        double *y = host_col(G, j) + phi->block[k].first + i;
        *y = clamp_entry(&e, *y);
      }
  return LAPIS_OK;
}

lapis_status plain_conjugate(la *h, const la_penalty *phi, double scale,
                             const la_array *G, double *out)
{
  TRY(host_check_penalty(h, "conjugate", phi, G));
  wide sum = 0;
  for (int64_t j = 0; j < G->cols; j++)
    for (int k = 0; k < phi->n_blocks; k++) {
      const la_block *b = &phi->block[k];
      const double *g = host_col(G, j) + b->first;
      column c = make_column(phi, k, j, g, b->weight, scale);
      if (coupled(phi, k) && b->rows > 0) {
        sum += column_conjugate(&c);
        continue;
      }
      for (int64_t i = 0; i < b->rows; i++) {
        item e = item_at(phi, k, i, j);
        sum += conjugate_entry(&e, (wide)scale * g[i]);
      }
    }
  *out = (double)sum;
  return LAPIS_OK;
}
