/* single.c - the kernel problem in single precision, proved in double.
 *
 *   G = (I - t (t I + Kt)^-1) / C,   t = gamma / C
 *
 * The inverse, Q and the factor of Q on the support are made in single
 * precision: half of the bytes and of the time.  They say where to go and
 * nothing else.  What an answer is worth follows from
 *
 *   Qa = y o (K + 1) (y o a) + (a - t u) / C,   (t I + Kt) u = a,
 *
 * whose products are in double (Kt is the kernel + 1 here, too, and K + 1 is
 * K x + sum x).  u is refined,
 * u += inverse r with r = a - (t I + Kt) u, until what is left matters no more:
 * t I + Kt is at least t I, so that an error of |r| / t in u is one of |r| / C
 * in Ga, and the gap is given that much more.
 *
 * Numerics: refinement gains a factor of eps |Kt| / t a round, where it gains
 * anything.  Rounding may leave Kt with eigenvalues down to -below (gram.c):
 * |r| / (t - below) is the error of u then, and where t is not above 2 below
 * the inverse is not made.  Where that is so, a factor breaks down, the first
 * round gains less than a digit, numbers overflow or the gap asked for is not
 * reached, l2.c does all in double. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/width.h"
#include "la/parts.h"
#include "methods/svmplus/svmplus.h"

enum { REFINEMENTS = 12 };
/* Share of the tolerance that errors of Qa may use up. */
static const double SHARE = 1e-2;

/* ---- (t I + Kt)^-1 ------------------------------------------------------*/
static void narrow(const double *from, float *to, int64_t n)
{
  for (int64_t i = 0; i < n; i++) to[i] = (float)from[i];
}

/* r = a - (t I + Kt) u; its length. */
static lapis_status left(la *h, const double *Kp, double t, int64_t n,
                         const double *a, const double *u, double *r,
                         double *size)
{
  for (int64_t i = 0; i < n; i++) r[i] = a[i] - t * u[i];
  TRY(sv_kernel_times(h, Kp, n, -1, u, 1, r));
  *size = 0;
  for (int64_t i = 0; i < n; i++) *size += r[i] * r[i];
  *size = sqrt(*size);
  return LAPIS_OK;
}

/* u += inverse r; some: 2 n */
static lapis_status correct(la *h, const float *inverse, int64_t n,
                            const double *r, float *some, double *u)
{
  la_array A = la_wrap_single((float *)(uintptr_t)inverse, n, n);
  la_array x = la_wrap_single(some, n, 1), y = la_wrap_single(some + n, n, 1);
  narrow(r, some, n);
  TRY(h->ops->symv(h, 1, &A, &x, 0, &y));
  for (int64_t i = 0; i < n; i++) u[i] += some[n + i];
  return LAPIS_OK;
}

/* Whether a round of refinement gains a digit. */
static lapis_status gains(const sv_gram *k, const float *inverse, double t,
                          bool *good)
{
  int64_t n = k->n;
  double size;
  double *a = base_alloc(k->h->ctx, 3 * n, sizeof *a);
  float *some = base_alloc(k->h->ctx, 2 * n, sizeof *some);
  lapis_status s = a == NULL || some == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t i = 0; s >= 0 && i < n; i++) a[i] = rng_normal(1, 0, i);
  if (s >= 0) s = correct(k->h, inverse, n, a, some, a + n);
  if (s >= 0) s = left(k->h, k->Kp, t, n, a, a + n, a + 2 * n, &size);
  if (s >= 0) *good = size <= 0.1 * sqrt((double)n);
  base_free(a);
  base_free(some);
  return s;
}

/* NULL: single precision does not do. */
static lapis_status invert(const sv_gram *k, double t, float **out)
{
  int64_t n = k->n;
  la *h = k->h;
  bool good = false;
  *out = NULL;
  if (!(t > 2 * k->below)) return LAPIS_OK;
  float *A = *out = base_alloc_raw(h->ctx, n * n, sizeof *A);
  if (A == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < n * n; i++) A[i] = (float)(k->Kp[i] + 1);
  for (int64_t i = 0; i < n; i++)
    A[i * n + i] = (float)(k->Kp[i * n + i] + 1 + t);
  la_array L = la_wrap_single(A, n, n);
  lapis_status s = h->ops->potrf(h, &L);
  if (s >= 0) s = h->ops->potri(h, &L);
  if (s >= 0) s = gains(k, A, t, &good);
  if (s == LAPIS_ENUMERIC) s = LAPIS_OK;
  if (s < 0 || !good) {
    base_free(A);
    *out = NULL;
  }
  return s;
}

/* A grid keeps what its ratios have been asked for, as memory allows; else the
 * last one. */
lapis_status sv_gram_inverse(sv_gram *k, double t, const float **out)
{
  for (int s = 0; s < k->n_inverses; s++)
    if (fabs(k->inverse_t[s] - t) <= 1e-14 * t) {
      *out = k->inverse[s];
      return LAPIS_OK;
    }
  int at = k->n_inverses;
  double bytes = 4.0 * (double)k->n * (double)k->n;
  if (at == SV_SHARED || (at > 0 && !sv_gram_keeps(k, bytes))) at--;
  if (at < k->n_inverses) base_free(k->inverse[at]);
  k->n_inverses = at;
  TRY(invert(k, t, &k->inverse[at]));
  k->inverse_t[at] = t;
  k->n_inverses = at + 1;
  *out = k->inverse[at];
  return LAPIS_OK;
}

/* ---- Q ------------------------------------------------------------------*/
lapis_status sv_single_new(const sv_single *given, double *diag, sv_single *out)
{
  *out = *given;
  sv_single *x = out;
  int64_t n = x->n;
  x->work = base_alloc(x->h->ctx, 3 * n, sizeof *x->work);
  x->some = base_alloc(x->h->ctx, 2 * n, sizeof *x->some);
  if (x->work == NULL || x->some == NULL) {
    sv_single_free(x);
    return LAPIS_ENOMEM;
  }
#pragma omp parallel for num_threads(parts_team(x->h, n *n))
  for (int64_t j = 0; j < n; j++) {
    float *to = x->Q + j * n, f = (float)(-x->t / x->C);
    const double *main = x->K + j * n, *y = x->y;
    const float *inverse = x->inverse + j * n;
    for (int64_t i = 0; i < n; i++)
      to[i] = (float)(y[i] * y[j] * (main[i] + 1)) + f * inverse[i];
    to[j] = (float)(main[j] + 1 + (1 - x->t * (double)inverse[j]) / x->C);
    diag[j] = to[j];
  }
  return LAPIS_OK;
}

void sv_single_free(sv_single *x)
{
  base_free(x->work);
  base_free(x->some);
  *x = (sv_single){.n = 0};
}

WIDTH_CLONES static void widen(const float *restrict from, double *restrict to,
                               int64_t n)
{
  for (int64_t k = 0; k < n; k++) to[k] = from[k];
}

void sv_single_row(const sv_single *x, int64_t i, double *row)
{
  widen(x->Q + i * x->n, row, x->n);
}

static double dot(const double *a, const double *b, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

lapis_status sv_single_times(sv_single *x, const double *a, double *g)
{
  int64_t n = x->n;
  double *u = x->work, *r = u + n, *v = r + n, last = INFINITY, sum = 0;
  double worth = x->t / (x->t - x->below) / x->C; /* of |r| in Qa */
  for (int64_t i = 0; i < n; i++) v[i] = x->y[i] * a[i], sum += fabs(a[i]);
  TRY(sv_kernel_times(x->h, x->K, n, 1, v, 0, g));
  for (int64_t i = 0; i < n; i++) g[i] *= x->y[i];
  double own = dot(a, g, n), size = sqrt(dot(a, a, n));
  memset(u, 0, (size_t)n * sizeof *u);
  memcpy(r, a, (size_t)n * sizeof *r);
  for (int k = 0; k < REFINEMENTS && size <= 0.5 * last; k++) {
    /* g as a whole is of the order of a'Qa / sum a, or larger */
    double norm = own + (dot(a, a, n) - x->t * dot(a, u, n)) / x->C;
    if (k > 0 && 4 * size * worth <= SHARE * x->tol * norm / sum) break;
    last = size;
    TRY(correct(x->h, x->inverse, n, r, x->some, u));
    TRY(left(x->h, x->Kp, x->t, n, a, u, r, &size));
  }
  for (int64_t i = 0; i < n; i++) g[i] += (a[i] - x->t * u[i]) / x->C;
  x->doubt = size * worth;
  return LAPIS_OK;
}

/* ---- on the support -----------------------------------------------------*/
/* r = 1 - (Qb)_F and its largest entry; whole: 2 n */
static lapis_status remainder_of(sv_single *x, const int64_t *F, int64_t count,
                                 const double *b, double *r, double *whole,
                                 double *most)
{
  double *g = whole + x->n;
  memset(whole, 0, (size_t)x->n * sizeof *whole);
  for (int64_t c = 0; c < count; c++) whole[F[c]] = b[c];
  TRY(sv_single_times(x, whole, g));
  *most = 0;
  for (int64_t c = 0; c < count; c++) {
    r[c] = 1 - g[F[c]];
    *most = fmax(*most, fabs(r[c]));
  }
  return LAPIS_OK;
}

/* b += d, Q_FF d = r; whole: n */
static lapis_status add_solution(const sv_single *x, sv_support *t,
                                 const int64_t *F, int64_t count, double *b,
                                 const double *r, double *whole)
{
  memset(whole, 0, (size_t)x->n * sizeof *whole);
  for (int64_t c = 0; c < count; c++) whole[F[c]] = r[c];
  TRY(sv_support_solve(x, t, whole));
  for (int64_t c = 0; c < count; c++) b[c] += whole[F[c]];
  return LAPIS_OK;
}

lapis_status sv_single_solve(sv_single *x, sv_support *t, const int64_t *F,
                             int64_t count, double *b, double *r)
{
  double most = 1, last = INFINITY;
  double *whole = base_alloc(x->h->ctx, 2 * x->n, sizeof *whole);
  lapis_status s = whole == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = sv_support_set(x, t, F, count);
  bool positive = true;
  /* where some leave F the others need no digits yet */
  for (int k = 0; s >= 0 && k < REFINEMENTS && positive; k++) {
    s = add_solution(x, t, F, count, b, r, whole);
    for (int64_t c = 0; c < count; c++) positive = positive && b[c] > 0;
    if (s >= 0 && positive) s = remainder_of(x, F, count, b, r, whole, &most);
    if (most <= 2 * SHARE * x->tol || most > 0.5 * last) break;
    last = most;
  }
  base_free(whole);
  return s;
}
