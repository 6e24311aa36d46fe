/* support.c - Q_FF d = r in single precision, on a support F that changes.
 *
 * The factor is that of a support B.  Where F differs from B by few samples, E
 * that came and D that left,
 *   [ Q_BB  U ] [ d_B ]   [ r_B ]   U = [Q_BE  I_D],
 *   [ U'    T ] [  z  ] = [ r_2 ],  T = [Q_EE  0; 0  0],  r_2 = [r_E; 0],
 * where z = [d_E; what holds d_D at 0].  With W = Q_BB^-1 U,
 *   (T - U'W) z = r_2 - W'r_B,  d_B = Q_BB^-1 r_B - W z.
 *
 * Numerics: T - U'W is indefinite and small: elimination with pivots, in
 * double.  What single precision loses is refined by who asks (single.c). */
#include <math.h>
#include <string.h>

#include "methods/svmplus/svmplus.h"

enum { MOST = SV_EDGES };

lapis_status sv_support_new(lapis_ctx *ctx, int64_t n, int64_t most,
                            sv_support *out)
{
  *out = (sv_support){.n = n};
  out->A = base_alloc_raw(ctx, most * most, sizeof *out->A);
  out->W = base_alloc_raw(ctx, n * (MOST + 2), sizeof *out->W);
  out->B = base_alloc_raw(ctx, 3 * n + MOST, sizeof *out->B);
  bool ok = out->A != NULL && out->W != NULL && out->B != NULL;
  if (ok) {
    out->place = out->B + n;
    out->now = out->place + n;
    out->edge = out->now + n;
    return LAPIS_OK;
  }
  sv_support_free(out);
  return LAPIS_ENOMEM;
}

void sv_support_free(sv_support *t)
{
  base_free(t->A);
  base_free(t->W);
  base_free(t->B);
  *t = (sv_support){.n = 0};
}

static la_array factor_of(const sv_support *t)
{
  return la_wrap_single(t->A, t->count, t->count);
}

static lapis_status factorise(const sv_single *x, sv_support *t,
                              const int64_t *F, int64_t count)
{
  t->count = t->edges = 0;
  for (int64_t c = 0; c < count; c++)
    for (int64_t r = 0; r < count; r++)
      t->A[c * count + r] = x->Q[F[c] * x->n + F[r]];
  la_array A = la_wrap_single(t->A, count, count);
  TRY(x->h->ops->potrf(x->h, &A));
  for (int64_t i = 0; i < t->n; i++) t->place[i] = -1;
  for (int64_t c = 0; c < count; c++) t->place[F[c]] = c;
  memcpy(t->B, F, (size_t)count * sizeof *F);
  t->count = count;
  return LAPIS_OK;
}

/* Which samples came and left; false: too many for a border. */
static bool compare(sv_support *t, const int64_t *F, int64_t count)
{
  int64_t found = 0;
  t->edges = 0;
  for (int64_t i = 0; i < t->n; i++) t->now[i] = 0;
  for (int64_t c = 0; c < count; c++) t->now[F[c]] = 1;
  for (int64_t i = 0; i < t->n; i++) {
    if ((t->place[i] >= 0) == (t->now[i] != 0)) continue;
    if (found == MOST || found * MOST > t->count) return false;
    t->edge[found++] = i;
  }
  t->edges = found;
  return true;
}

/* Entry i of B in column e of U. */
static float border(const sv_single *x, const sv_support *t, int64_t e,
                    int64_t i)
{
  int64_t j = t->edge[e];
  if (t->place[j] < 0) return x->Q[j * x->n + t->B[i]];
  return t->place[j] == i ? 1 : 0;
}

static lapis_status make_border(const sv_single *x, sv_support *t)
{
  la_array L = factor_of(t), W = la_wrap_single(t->W, t->count, t->edges);
  for (int64_t e = 0; e < t->edges; e++)
    for (int64_t i = 0; i < t->count; i++)
      t->W[e * t->count + i] = border(x, t, e, i);
  TRY(x->h->ops->potrs(x->h, &L, &W));
  for (int64_t e = 0; e < t->edges; e++)
    for (int64_t f = 0; f < t->edges; f++) {
      int64_t i = t->edge[e], j = t->edge[f];
      bool both = t->place[i] < 0 && t->place[j] < 0;
      double sum = both ? x->Q[i * x->n + j] : 0;
      for (int64_t k = 0; k < t->count; k++)
        sum -= (double)border(x, t, e, k) * (double)t->W[f * t->count + k];
      t->S[f * MOST + e] = sum;
    }
  return LAPIS_OK;
}

lapis_status sv_support_set(const sv_single *x, sv_support *t, const int64_t *F,
                            int64_t count)
{
  if (t->count == 0 || !compare(t, F, count)) return factorise(x, t, F, count);
  return t->edges > 0 ? make_border(x, t) : LAPIS_OK;
}

/* S z = c in place. */
static lapis_status eliminate(const sv_support *t, double *z)
{
  double S[MOST * MOST];
  int64_t m = t->edges;
  memcpy(S, t->S, sizeof S);
  for (int64_t k = 0; k < m; k++) {
    int64_t p = k;
    for (int64_t i = k + 1; i < m; i++)
      if (fabs(S[k * MOST + i]) > fabs(S[k * MOST + p])) p = i;
    if (!(fabs(S[k * MOST + p]) > 0)) return LAPIS_ENUMERIC;
    for (int64_t j = k; j < m; j++) {
      double swap = S[j * MOST + k];
      S[j * MOST + k] = S[j * MOST + p];
      S[j * MOST + p] = swap;
    }
    double swap = z[k];
    z[k] = z[p];
    z[p] = swap;
    for (int64_t i = k + 1; i < m; i++) {
      double f = S[k * MOST + i] / S[k * MOST + k];
      for (int64_t j = k; j < m; j++) S[j * MOST + i] -= f * S[j * MOST + k];
      z[i] -= f * z[k];
    }
  }
  for (int64_t k = m - 1; k >= 0; k--) {
    for (int64_t j = k + 1; j < m; j++) z[k] -= S[j * MOST + k] * z[j];
    z[k] /= S[k * MOST + k];
  }
  return LAPIS_OK;
}

lapis_status sv_support_solve(const sv_single *x, sv_support *t, double *d)
{
  float *own = t->W + MOST * t->n;
  double z[MOST];
  int64_t n = t->count;
  la_array L = factor_of(t), v = la_wrap_single(own, n, 1);
  for (int64_t i = 0; i < n; i++) own[i] = (float)d[t->B[i]];
  for (int64_t e = 0; e < t->edges; e++) {
    z[e] = t->place[t->edge[e]] < 0 ? d[t->edge[e]] : 0;
    for (int64_t i = 0; i < n; i++)
      z[e] -= (double)t->W[e * n + i] * (double)own[i];
  }
  TRY(eliminate(t, z));
  TRY(x->h->ops->potrs(x->h, &L, &v));
  for (int64_t i = 0; i < n; i++) {
    double sum = own[i];
    for (int64_t e = 0; e < t->edges; e++) sum -= t->W[e * n + i] * z[e];
    d[t->B[i]] = sum;
  }
  for (int64_t e = 0; e < t->edges; e++)
    d[t->edge[e]] = t->place[t->edge[e]] < 0 ? z[e] : 0;
  return LAPIS_OK;
}
