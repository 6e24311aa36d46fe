/* inertia.c - a proof that |g|_2 < t, by counting signs.
 *
 * g = [U_Y; L_X - X], L_X = u_X f u'W.  In the basis P of X's rows
 *
 *   g_X g_X' = S2 - H H' + Delta,   H = u_X s sqrt(2 f - f^2),
 *
 * where Delta is what the singular value step's Krylov space left out: with
 * rest_k = (W W'u_k - s_k^2 u_k) in the tail, c_k^2 = f_k / ((2 - f_k) s_k^2),
 *
 *   -f (u r' + r u') - H H' = -(H + c r)(H + c r)' + c^2 r r',
 *
 * so that H + c r stands for H and Delta <= sum_k c_k^2 |r_k|^2.  This, and
 * what rounding did to S2, is `slack`; t_X^2 = t^2 - slack.
 *
 * t^2 I - g g' is positive definite if and only if S = t^2 I - U_Y U_Y' is and
 * its Schur complement t_X^2 - S2 + H H' - E_g'S^-1 E_g too, E_g = U_Y g_X'.
 * That one has order r; by Haynsworth's additivity of inertia, taken twice
 * on [t_X^2 - S2, W; W', diag(-I, S)], W = [H, E_g'],
 *
 *   its negative eigenvalues = #(S2 > t_X^2) + negative ones of T(t) - R,
 *   T(t) = diag(-I_R, S) - W'(t_X^2 - S2)^-1 W,
 *
 * a matrix of order R + K.  Nothing is assumed of how g was found.
 * proofs.md, `bordered`, has the whole argument. */
#include <float.h>
#include <math.h>

#include "methods/mc/bordered/bordered.h"

static double *column(const la_array *A, int64_t j)
{
  return (double *)A->data + j * A->ld;
}

/* All arrays of the proof, for alloc and free. */
typedef struct slot {
  la_array *a;
  int64_t rows, cols;
} slot;
enum { SLOTS = 10 };

static void list(const border_svt *s, int64_t K, border_proof *q,
                 slot out[SLOTS])
{
  int64_t r = s->x->r, most = s->M.rows, x = s->x->X.rows;
  slot all[SLOTS] = {{&q->UU, K, K},
                     {&q->S, K, K},
                     {&q->UX, K, r},
                     {&q->room, K, x},
                     {&q->UT, K, s->p},
                     {&q->KR, K, most},
                     {&q->W, r, most + K},
                     {&q->Wd, r, most + K},
                     {&q->A, most + K, most + K},
                     {&q->UY, K, s->x->X.cols}};
  for (int i = 0; i < SLOTS; i++) out[i] = all[i];
}

lapis_status border_proof_new(la *h, const border_svt *s, int64_t K,
                              border_proof *out)
{
  slot all[SLOTS];
  *out = (border_proof){.slack = 0};
  list(s, K, out, all);
  for (int i = 0; i < SLOTS; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, all[i].rows, all[i].cols, all[i].a));
  out->values = base_alloc(h->ctx, s->M.rows + K, sizeof *out->values);
  return out->values == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

void border_proof_free(la *h, border_proof *q)
{
  slot all[SLOTS];
  border_svt none = {.x = &(border_spectrum){.r = 0}};
  list(&none, 0, q, all);
  for (int i = 0; h != NULL && i < SLOTS; i++) h->ops->free(h, all[i].a);
  base_free(q->values);
  *q = (border_proof){.values = NULL};
}

/* W = [H + c r, .]; returns sum c^2 |r|^2.  The tail's rest of W W'u is
 * E'u_T + S2 u_X - s^2 u_X; the head's is nothing but rounding. */
static double put_left_out(const border_svt *s, border_proof *q)
{
  double sum = 0;
  for (int64_t k = 0; k < s->R; k++) {
    double f = s->f[k], j = 2 * f - f * f, size = s->s[k];
    double c = j > 0 ? f / (sqrt(j) * size) : 0, square = 0;
    const double *uT = column(&s->uT, k), *uX = column(&s->uX, k);
    double *to = column(&q->W, k);
    for (int64_t i = 0; i < s->x->r; i++) to[i] = size * sqrt(j) * uX[i];
    for (int64_t i = s->head; i < s->x->r; i++) {
      const double *e = column(&s->E, i);
      double rest = (s->x->S2[i] - size * size) * uX[i];
      for (int64_t t = 0; t < s->p; t++) rest += e[t] * uT[t];
      to[i] += c * rest;
      square += rest * rest;
    }
    sum += c * c * square;
  }
  return sum;
}

/* E_g' = u_X f (u_T'T U_Y' + u_X'Xr U_Y') - Xr U_Y', into W's last columns. */
static lapis_status put_labels(const border_svt *s, border_proof *q)
{
  la *h = s->x->h;
  int64_t K = q->UY.rows;
  la_array KR = la_cols(&q->KR, 0, s->R), to = la_cols(&q->W, s->R, K);
  TRY(h->ops->syrk(h, LA_N, &q->UY, &q->UU));
  TRY(border_onto(s->x, &q->UY, &q->room, &q->UX));
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &q->UY, q->T, 0, &q->UT));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &q->UT, &s->uT, 0, &KR));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &q->UX, &s->uX, 1, &KR));
  TRY(la_scale_cols(h, s->f, &KR));
  for (int64_t j = 0; j < K; j++)
    for (int64_t i = 0; i < s->x->r; i++)
      column(&to, j)[i] = -column(&q->UX, i)[j];
  return h->ops->gemm(h, LA_N, LA_T, 1, &s->uX, &KR, 1, &to);
}

lapis_status border_proof_prepare(const border_svt *s, border_proof *q)
{
  TRY(put_labels(s, q));
  q->slack = put_left_out(s, q) + q->rounding;
  return LAPIS_OK;
}

/* Wd = (limit - S2)^-1 W; how many S2 lie above the limit. */
static int64_t divide(const border_svt *s, border_proof *q, double limit,
                      int64_t columns)
{
  int64_t above = 0;
  for (int64_t i = 0; i < s->x->r; i++) {
    double d = limit - s->x->S2[i];
    above += d < 0;
    /* a value on the limit: a little more of either sign counts alike */
    if (fabs(d) < 1e-13 * limit) d = d < 0 ? -1e-13 * limit : 1e-13 * limit;
    for (int64_t j = 0; j < columns; j++)
      column(&q->Wd, j)[i] = column(&q->W, j)[i] / d;
  }
  return above;
}

lapis_status border_norm_below(const border_svt *s, border_proof *q,
                               double bound, bool *below)
{
  la *h = s->x->h;
  int64_t K = q->UY.rows, R = s->R, m = R + K, positive = 0;
  double square = bound * bound, limit = square - q->slack;
  *below = false;
  if (!(limit > 0)) return LAPIS_OK;
  TRY(h->ops->axpby(h, -1, &q->UU, 0, &q->S));
  for (int64_t k = 0; k < K; k++) column(&q->S, k)[k] += square;
  la_array W = la_cols(&q->W, 0, m), Wd = la_cols(&q->Wd, 0, m);
  la_array A = la_cols(&q->A, 0, m);
  A.rows = m;
  int64_t above = divide(s, q, limit, m);
  /* A = -T(t): its positive eigenvalues are T's negative ones */
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &W, &Wd, 0, &A));
  for (int64_t k = 0; k < R; k++) column(&A, k)[k] += 1;
  for (int64_t j = 0; j < K; j++)
    for (int64_t i = 0; i < K; i++)
      column(&A, R + j)[R + i] -= column(&q->S, j)[i];
  if (h->ops->potrf(h, &q->S) < 0) return LAPIS_OK;
  TRY(h->ops->eigh(h, &A, 0, q->values, NULL, &positive));
  *below = above + positive == R;
  return LAPIS_OK;
}
