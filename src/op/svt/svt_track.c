/* svt_track.c - singular values above t of a W that moved a little, for a
 * caller who proves the whole in the end: two products with W a round.
 *
 * B (k x p) is the basis that the last call left: left singular vectors, the
 * ones above t and guards (as for G = W W'; for W'W read W' for W).  A round is
 *   T = W'B, Y = W T;  H = B'Y = T'T = L L';  V = T L^-T, N = W V = Y L^-T
 *   N = U S Z', by the eigenvectors Z of N'N;  B = U for what follows
 * V is orthonormal without a pass over T: T's columns are nearly orthogonal,
 * whatever their lengths, and Cholesky's factor does not mind these.  A power
 * step for U and a Rayleigh-Ritz step in V come out of the same two products.
 *
 * How good.  The triplets above t are U_r, S_r and V_r = V Z_r.  W + E with
 *   E = -U_r U_r'W (I - V V')
 * has them exactly, and otherwise (I - U_r U_r') W (I - V_r V_r'): where that
 * is at most t in norm, U_r (S_r - t) V_r' is exactly SVT(W + E).  Because
 * B'W (I - V V') = 0, for any C
 *   |E|_F = |(U_r - B C)'W (I - V V')|_F <= |U_r - B C|_F |W (I - V V')|_2,
 * and the last norm is at most t where nothing is missed.  So what U moved away
 * from B, times t, bounds the error, and no product is needed to know it.  Both
 * sides of the answer are orthonormal: its nuclear norm is sum (S_r - t).
 *
 * Nothing missed, by the test of svt_subspace.c.  With b = W (I - V V') it is
 * G U = U S^2 + b b'U, |b b'u| <= |b|^2 |u - B c|, and |b|^2 <= t^2 / (1 - d^2)
 * where the test succeeds, d = |U - B C|_F of the columns of U that its proof
 * takes: guards that moved far are not among them. */
#include <float.h>
#include <math.h>

#include "op/svt/svt_inside.h"

enum { MOST_ROUNDS = 3, MOST_PAUSE = 16 };
static const double LEAST = 1e-9;   /* of theta_1: U is orthonormal to 1e-6 */
static const double TRUSTED = 1e-4; /* t / sigma_1 */
static const double STEADY = 1e-3;  /* |u - B c|^2 of a guard in a proof */

/* What a round finds of p columns, and how far U went: |u - B c|. */
typedef struct turn {
  int64_t p, rank;
  la host;          /* for squares */
  la_array C, Z, V; /* p x p there: L^-1, Z, room */
  double away;      /* of those above t, Frobenius */
  double steady;    /* of these and of steady guards, squared */
  bool fine;        /* numbers allow it */
} turn;

/* C = L^-1 of H = L L', here and there; false where H is not positive
 * definite. */
static lapis_status factor(svt_subspace *s, turn *r, bool *good)
{
  la *host = &r->host;
  lapis_mat own, factor = la_as_mat(&r->C);
  la_array H = svt_basis_corner(&s->H, r->p, r->p);
  la_array C = svt_basis_corner(&s->C, r->p, r->p);
  TRY(la_borrow(s->h, &H, &own));
  la_array L = svt_basis_there(&own);
  *good = host->ops->potrf(host, &L) >= 0;
  if (!*good) return LAPIS_OK;
  TRY(la_zero(host, &r->C));
  TRY(la_add_diagonal(host, 1, &r->C));
  TRY(host->ops->trsm(host, &L, &r->C));
  return s->h->ops->upload(s->h, &factor, &C);
}

/* N in R; theta = S^2, Z; rank and fine. */
static lapis_status decompose(svt_subspace *s, double t, turn *r)
{
  la *h = s->h;
  int64_t p = r->p, count;
  lapis_mat own;
  la_array H = svt_basis_corner(&s->H, p, p), C = svt_basis_corner(&s->C, p, p);
  la_array N = la_cols(&s->R, 0, p), Y = la_cols(&s->GB, 0, p);
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &Y, &C, 0, &N));
  TRY(h->ops->syrk(h, LA_T, &N, &H));
  TRY(la_borrow(h, &H, &own));
  la_array square = svt_basis_there(&own);
  TRY(r->host.ops->eigh(&r->host, &square, -INFINITY, s->theta, &r->Z, &count));
  for (r->rank = 0; r->rank < p && s->theta[r->rank] > t * t;) r->rank++;
  r->fine = s->theta[p - 1] > LEAST * s->theta[0] &&
            t >= TRUSTED * sqrt(fmax(s->theta[0], 0));
  return LAPIS_OK;
}

/* U = N Z S^-1 in X; in H what T is multiplied by for the other side's S_r V_r:
 * C'Z_r S_r, as C'(Z S^-1)_r S_r^2. */
static lapis_status make_sides(svt_subspace *s, turn *r)
{
  la *h = s->h, *host = &r->host;
  int64_t p = r->p;
  la_array Z = svt_basis_corner(&s->S, p, p), N = la_cols(&s->R, 0, p);
  la_array Hr = svt_basis_corner(&s->H, p, r->rank), U = la_cols(&s->X, 0, p);
  la_array Zr = la_cols(&r->Z, 0, r->rank), side = la_cols(&r->V, 0, r->rank);
  lapis_mat turned = la_as_mat(&r->Z), other = la_as_mat(&side);
  for (int64_t i = 0; i < p; i++) s->error[i] = 1 / sqrt(s->theta[i]);
  TRY(la_scale_cols(host, s->error, &r->Z));
  TRY(h->ops->upload(h, &turned, &Z));
  if (r->rank > 0) {
    TRY(host->ops->gemm(host, LA_T, LA_N, 1, &r->C, &Zr, 0, &side));
    TRY(la_scale_cols(host, s->theta, &side));
    TRY(h->ops->upload(h, &other, &Hr));
  }
  return h->ops->gemm(h, LA_N, LA_N, 1, &N, &Z, 0, &U);
}

/* error = |u - B c|, c = B'u; then B = U. */
static lapis_status move(svt_subspace *s, turn *r)
{
  la *h = s->h;
  int64_t p = r->p;
  la_array B = la_cols(&s->B, 0, p), U = la_cols(&s->X, 0, p);
  la_array C = svt_basis_corner(&s->C, p, p), D = la_cols(&s->R, 0, p);
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &B, &U, 0, &C));
  TRY(la_copy(h, &U, &D));
  TRY(h->ops->gemm(h, LA_N, LA_N, -1, &B, &C, 1, &D));
  TRY(h->ops->dot_cols(h, &D, &D, s->error));
  r->away = r->steady = 0;
  for (int64_t i = 0; i < p; i++) {
    double square = s->error[i];
    s->error[i] = sqrt(square);
    if (i < r->rank) r->away += square;
    if (i < r->rank || square <= STEADY) r->steady += square;
  }
  r->away = sqrt(r->away);
  return la_copy(h, &U, &B);
}

static lapis_status one_round(svt_subspace *s, const svt_question *q, turn *r)
{
  la *h = s->h;
  la_array B = la_cols(&s->B, 0, r->p), Y = la_cols(&s->GB, 0, r->p);
  la_array H = svt_basis_corner(&s->H, r->p, r->p);
  bool good;
  r->fine = false;
  TRY(svt_inside_product(s, q->W, &B, &Y));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &B, &Y, 0, &H));
  TRY(factor(s, r, &good));
  if (!good) return LAPIS_OK;
  TRY(decompose(s, q->t, r));
  if (!r->fine) return LAPIS_OK;
  TRY(make_sides(s, r));
  return move(s, r);
}

/* Where it is due; good: passed, or not due. */
static lapis_status test(svt_subspace *s, const svt_question *q, const turn *r,
                         bool *good)
{
  verdict v;
  double left = 1 - r->steady;
  s->rank = r->rank;
  bool due = svt_inside_due(s, q);
  s->shown = r->p;
  *good = !due;
  if (*good || !(left > 0.5)) return LAPIS_OK;
  for (int64_t i = 0; i < r->p; i++) {
    double d = s->error[i];
    bool use = i < r->rank || d * d <= STEADY;
    s->error[i] = use ? d * (q->t * q->t / left) : INFINITY;
  }
  TRY(svt_inside_certify(s, q, &v));
  *good = v == PROVED;
  return LAPIS_OK;
}

/* The next call begins with the guards that a call of svt_subspace.c has. */
static void answer(svt_subspace *s, const turn *r, svt_found *out)
{
  int64_t most = r->rank + guards(r->rank);
  s->used = r->p < most ? r->p : most;
  s->loose = true;
  out->certified = true;
  out->why = "few singular values, near those of the last call";
  out->rank = r->rank;
  out->Q = la_cols(&s->X, 0, r->rank);
  out->theta = s->theta;
  out->kept = true;
  out->T = s->T;
  out->S = svt_basis_corner(&s->H, r->p, r->rank);
}

static bool worth_trying(svt_subspace *s, const svt_question *q)
{
  if (!q->rough || s->used < 2 || s->rank < 1) return false;
  if (s->pause == 0) return true;
  s->pause--;
  return false;
}

/* B, for svt_subspace.c to go on from, and some calls without this. */
static lapis_status give_up(svt_subspace *s)
{
  la_array B = la_cols(&s->B, 0, s->used);
  s->fails++;
  s->loose = false;
  s->pause = s->fails < 4 ? (int64_t)1 << s->fails : MOST_PAUSE;
  return s->h->ops->qr(s->h, &B, NULL);
}

/* Rounds until one moves U no further than the question allows. */
static lapis_status turn_until(svt_subspace *s, const svt_question *q, turn *r,
                               bool *done)
{
  la_array *small[] = {&r->C, &r->Z, &r->V};
  for (int i = 0; i < 3; i++)
    TRY(r->host.ops->alloc(&r->host, LAPIS_F64, r->p, r->p, small[i]));
  for (int i = 0; i < MOST_ROUNDS && !*done; i++) {
    TRY(one_round(s, q, r));
    if (!r->fine || 2 * (r->p - r->rank) < GUARDS) break;
    double sigma_1 = sqrt(s->theta[0]);
    double floor = 64 * DBL_EPSILON * (sigma_1 / q->t);
    *done = r->away * q->t <= fmax(q->accuracy, floor) * sigma_1;
  }
  return LAPIS_OK;
}

lapis_status svt_track(svt_subspace *s, const svt_question *q, svt_found *out,
                       bool *done)
{
  turn r = {.p = s->used, .host = la_beside(s->h)};
  *done = false;
  if (!worth_trying(s, q)) return LAPIS_OK;
  lapis_status status = turn_until(s, q, &r, done);
  la_array *small[] = {&r.C, &r.Z, &r.V};
  for (int i = 0; i < 3; i++) r.host.ops->free(&r.host, small[i]);
  TRY(status);
  if (*done) {
    TRY(test(s, q, &r, done));
    if (!*done) s->before = UNTESTED;
  }
  if (!*done) return give_up(s);
  s->fails = 0;
  answer(s, &r, out);
  base_say(s->h->ctx, 2,
           "svt: subspace of %" PRId64 ", rank %" PRId64 ": %" PRId64
           " columns in %" PRId64 " products, %s",
           s->k, s->rank, s->columns, s->sums, out->why);
  return LAPIS_OK;
}
