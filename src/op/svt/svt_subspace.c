/* svt_subspace.c - all singular values of W above t, where they are few: a
 * block Krylov space, warm-started, and a bound on what it may have missed.
 *
 * G = W W' or W'W, k x k, the smaller.  B (k x q) is an orthonormal basis,
 * X = B S its Ritz vectors with G X = X Theta + R, B'R = 0.
 *   step     what R spans joins B (svt_basis.c), of the vectors that matter:
 *            those above t not yet good enough, and a few guards below t,
 *            which go on searching.  A cold call makes Ritz vectors of 16
 *            columns, of 32, and when B has grown by half of them, or by a
 *            quarter, or by less where the error, as it fell so far, will be
 *            small enough; between, what G makes of the last columns,
 *            which spans the same, joins B
 *   restart  B = X's leading columns, when B has grown too wide
 * The next call starts from the last X, so that a W which moved a little
 * costs a step or two.
 *
 * How good.  Let U be the r Ritz vectors above t^2, V' = Theta^(-1/2) U'W.
 * W + E with E = -R Theta^(-1/2) V' has exactly these singular triplets and
 * otherwise (I - UU') W (I - VV'); where that is at most t in norm the answer
 * U (1 - t Theta^(-1/2)) U'W is exactly SVT(W + E).  SVT is a proximal step
 * and expands nothing: it is off by at most |E|_F = sqrt(sum |R_i|^2 /
 * theta_i), which is what the steps drive down.
 *
 * Nothing missed.  theta_i > t^2 on U shows r values above t at least.  No
 * more than r if P G P < t^2, P = I - UU' (Courant-Fischer), for any U.
 * Guards with theta_i < t^2 may join U: by Sylvester's law on t^2 - G in the
 * basis of U and its complement there are still r above, if
 *   P G P < t^2 - nu, nu = sum over the guards of |R_i|^2 / (t^2 - theta_i),
 * and P G P is then far smaller.  Either
 *   |W|_F^2 - sum theta <= t^2 - nu, the sum over all of U: the trace of P G P,
 *   where the rest is small as a whole.  A Krylov space of a decaying spectrum
 *   has guards enough for it;
 * or by 8 fresh random vectors z ~ N(0, I): were l >= t^2 - nu an eigenvalue of
 *   P G P with unit vector y, |p(P G P) z| >= p(l) |y'z| for every polynomial
 *   p.  So if |p(P G P) z| < p(t^2 - nu)/100 for all 8, where p rises from
 *   t^2 - nu on, then |y'z| < 1/100 for all 8, which has a probability below
 *   (0.008)^8 < 2e-17.  Where the caller proves the whole in the end 1/4 is
 *   enough, (0.198)^8 < 3e-6, and a third of the products less; of a W that a
 *   cache holds 4 vectors and 8e-5, (6.4e-5)^4 < 2e-17.  p is what
 *   Lanczos' process makes of each z, the monic polynomial of its degree that
 *   leaves least of it; its zeros are Ritz values of P G P.
 * A zero above t^2 - nu points at a value missed: its vectors join B.  Where
 * neither test succeeds, the caller takes another way.
 *
 * Flat spectra.  A cold call whose values below t are many and large may take
 * many steps: its first residuals tell how many, unless a value is there as
 * often as a block has columns, or most of B is above t.  Where a Gram matrix
 * in single precision costs less than they would, the basis is filtered by that
 * (svt_filter.c) until its residuals are rounding, then its residuals are found
 * by W itself, in double, and filtered up to three times more; steps follow
 * where that was not enough.  What is said above of residuals then holds as it
 * stands. The test is then one product with W: the same matrix makes an H with
 * P H P <= c (svt_filter.c).  Were l >= t^2 - nu an eigenvalue of P G P with
 * unit vector y, then |(G - H) y| >= t^2 - nu - c, and |(G - H) z| at least
 * |v'z| times that, v the unit vector along (G - H) y: to be below a hundredth
 * of it for 8 fresh z is as improbable as above.  Errors of single precision
 * are in G - H.
 *
 * A rough question, of a caller who proves the norm of a multiplier by all of
 * its spectrum.  About a W that moved a little it is answered by svt_track.c
 * from the same basis, where its bounds allow it; and the test is made where
 * the rank changes, and at every fourth call else: a value that climbs above t
 * between two tests is one that the guards have not met, and the next test
 * finds it.
 *
 * Where the columns of W are divided among processes G X is a sum over them,
 * and all else is done by every one alike.
 *
 * Numerics: G is known to eps sigma_1^2, so that values near t are good to
 * eps sigma_1^2 / t, as those of a Gram matrix; t < 1e-4 sigma_1 is left to
 * others. */
#include "op/svt/svt_subspace.h"

#include <float.h>
#include <math.h>

#include "op/svt/svt_inside.h"

/* BLOCK: columns of a cold call's steps; the fewer, the fewer in all.  Below 4
 * a product with W costs hardly less, but for a W of CACHED numbers at most,
 * which a cache holds. */
enum { BLOCK = 4, CACHED_BLOCK = 2, CACHED = 3 << 19, FIRST = 32, ROOM = 128 };
enum { MOST_STEPS = 80, NARROW = 16 };
static const double TRUSTED = 1e-4;   /* t / sigma_1 at least */
static const double SMALLEST = 1e-70; /* t: a residual is t^2, and squared */
static const double UNLIKELY = 0.01;  /* |y'z| */
static const double ROUGHLY = 0.25;   /* the same where others prove */
static const double SPREAD = 1e5;     /* of what a filter magnifies */

/* ---- workspace ----------------------------------------------------------*/

void svt_subspace_free(svt_subspace *s)
{
  if (s == NULL) return;
  svt_filter_free(s->filter);
  s->h->ops->free(s->h, &s->T);
  svt_basis_release(s);
  base_free(s);
}

lapis_status svt_subspace_new(la *h, la_trans side, int64_t k,
                              svt_subspace **out)
{
  *out = NULL;
  svt_subspace *s = base_alloc(h->ctx, 1, sizeof *s);
  if (s == NULL) return LAPIS_ENOMEM;
  s->h = h;
  s->side = side;
  s->k = k;
  s->room = k < ROOM ? k : ROOM;
  lapis_status status = svt_basis_allocate(s);
  if (status < 0)
    svt_subspace_free(s);
  else
    *out = s;
  return status;
}

static int64_t first_block(const svt_subspace *s)
{
  int64_t c = s->cached ? CACHED_BLOCK : BLOCK;
  return c < s->k / 4 ? c : s->k / 4;
}

/* All of B, if it may be enough; of few columns gram_times reads W once. */
static bool worth_keeping(const svt_subspace *s, const la_array *W)
{
  return s->multiplied == 0 && s->used > NARROW && W->own == NULL &&
         (!s->cold || s->filter != NULL);
}

/* GB and H = B'GB for the columns of B that lack them. */
static lapis_status multiply(svt_subspace *s, const la_array *W)
{
  la *h = s->h;
  int64_t old = s->multiplied, c = s->used - old;
  la_array B = la_cols(&s->B, 0, s->used), Q = la_cols(&s->B, old, c);
  la_array GQ = la_cols(&s->GB, old, c);
  la_array H = svt_basis_corner(&s->H, s->used, s->used);
  la_array top = la_rows(&H, 0, old), above = la_cols(&top, old, c);
  la_array low =
      la_rows(&H, old, c); /* H is read below the diagonal, but has */
  TRY(la_zero(h, &above)); /* to be of numbers above it, too */
  s->whole = false;
  if (s->filter != NULL && !s->exact)
    TRY(svt_filter_times(s->filter, &Q, &GQ));
  else if (worth_keeping(s, W))
    TRY(svt_inside_product(s, W, &Q, &GQ));
  else
    TRY(svt_inside_times(s, W, &Q, &GQ));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &GQ, &B, 0, &low));
  s->newest = old;
  s->multiplied = s->used;
  return LAPIS_OK;
}

/* Columns that a step or a miss may add. */
static int64_t most_added(const svt_subspace *s)
{
  int64_t missed = SVT_PROBES + (s->rank < BLOCK ? BLOCK : s->rank);
  return s->shown > missed ? s->shown : missed;
}

/* Rayleigh-Ritz: theta, rank, X and G X. */
static lapis_status ritz(svt_subspace *s, double t)
{
  int64_t q = s->used, count;
  la_array H = svt_basis_corner(&s->H, q, q), C = svt_basis_corner(&s->C, q, q);
  la_array S = svt_basis_corner(&s->S, q, q);
  TRY(la_copy(s->h, &H, &C));
  TRY(s->h->ops->eigh(s->h, &C, -INFINITY, s->theta, &S, &count));
  s->rank = 0;
  while (s->rank < q && s->theta[s->rank] > t * t) s->rank++;
  s->shown = s->rank + guards(s->rank);
  if (s->shown > q || (s->filter != NULL && !s->exact)) s->shown = q;
  TRY(svt_basis_reserve(s, q + most_added(s)));
  return svt_inside_ritz_vectors(s, 0, s->shown);
}

/* B = X, where q would pass the width that pays. */
static lapis_status restart(svt_subspace *s)
{
  int64_t p = s->shown;
  la_array X = la_cols(&s->X, 0, p), GX = la_cols(&s->R, 0, p);
  la_array B = la_cols(&s->B, 0, p), GB = la_cols(&s->GB, 0, p);
  TRY(la_copy(s->h, &X, &B));
  TRY(la_copy(s->h, &GX, &GB));
  s->used = s->multiplied = p;
  la_array H = svt_basis_corner(&s->H, p, p);
  return s->h->ops->gemm(s->h, LA_T, LA_N, 1, &B, &GB, 0, &H);
}

/* Columns of a small or usual cold call's B. */
static int64_t first_ask(const svt_subspace *s, int64_t cols)
{
  return s->k / 4 < cols ? s->k / 4 : cols;
}

/* Columns of B at which the error, now `over` times what is wanted, may be
 * small enough, going by what it fell since Ritz vectors were last made, or
 * since the beginning; but half as many more at most, and a quarter where that
 * may be too many. */
static int64_t next_ask(svt_subspace *s, double over)
{
  double used = (double)s->used, left = INFINITY, most;
  double fallen = log(s->over / over), grown = used - (double)s->asked_at;
  if (grown > 0 && fallen > 0) left = fmax(grown * log(over) / fallen, 1);
  most = left > used ? used / 2 : used / 4;
  if (s->used < FIRST) most = (double)(first_ask(s, FIRST) - s->used);
  s->over = over;
  s->asked_at = s->used;
  return s->used + (int64_t)ceil(fmin(left, most));
}

/* Residuals worth a place in B: those above t that are too large for their
 * share of the wanted error, and the guards', as errors of the answer.  What is
 * left of a residual at the level of rounding points nowhere. */
static lapis_status expand(svt_subspace *s, const svt_question *q,
                           double answer, double wanted, int64_t *added)
{
  double share = wanted / (2 * sqrt((double)(s->rank + 1)));
  double noise = 8 * DBL_EPSILON * s->theta[0];
  int64_t c = 0;
  *added = 0;
  if (s->cold) s->ask = next_ask(s, answer / wanted);
  for (int64_t i = 0; i < s->shown; i++) {
    double root = fmax(sqrt(fmax(s->theta[i], 0)), q->t);
    bool good = i < s->rank && s->error[i] <= share * root;
    if (good || s->error[i] <= noise) continue;
    s->which[c] = i;
    s->host[c++] = 1 / root;
  }
  la_array Y = la_cols(&s->B, s->used, c);
  if (c == 0) return LAPIS_OK;
  TRY(s->h->ops->axpby_cols(s->h, s->host, s->which, &s->R, 0, &Y));
  return svt_basis_join(s, c, added);
}

/* What the test found, and as many new random columns as there are values. */
static lapis_status add_missed(svt_subspace *s, bool *room)
{
  int64_t most = 3 * s->k / 4 - s->used, c = s->Z[1].cols;
  int64_t more = s->rank < BLOCK ? BLOCK : s->rank;
  *room = c <= most;
  if (!*room) return LAPIS_OK;
  if (more > most - c) more = most - c;
  la_array found = la_cols(&s->B, s->used, c);
  s->block = c + more;
  la_array fresh = la_cols(&s->B, s->used + c, more);
  TRY(svt_basis_norms(s, &s->Z[1], s->host));
  for (int64_t j = 0; j < c; j++) s->host[j] = 1 / s->host[j];
  TRY(s->h->ops->axpby_cols(s->h, s->host, NULL, &s->Z[1], 0, &found));
  TRY(svt_basis_draw(s, &fresh));
  return svt_basis_join(s, c + more, &more);
}

/* The image of the last block, less what B has of it, joins B: a step whose
 * Ritz vectors nobody asks for. */
static lapis_status grow(svt_subspace *s, int64_t *added)
{
  la *h = s->h;
  int64_t q = s->used, c = q - s->newest;
  TRY(svt_basis_reserve(s, q + c));
  la_array B = la_cols(&s->B, 0, q), Y = la_cols(&s->B, q, c);
  la_array GQ = la_cols(&s->GB, s->newest, c);
  la_array H = svt_basis_corner(&s->H, q, q), low = la_rows(&H, s->newest, c);
  TRY(la_copy(h, &GQ, &Y));
  TRY(h->ops->gemm(h, LA_N, LA_T, -1, &B, &low, 1, &Y));
  return svt_basis_join(s, c, added);
}

/* Ritz vectors cost more than a narrow product: they are asked for when B has
 * grown by a share (next_ask). */
static lapis_status extend(svt_subspace *s, const la_array *W)
{
  bool whole = true;
  TRY(multiply(s, W));
  while (s->filter == NULL && s->used < s->ask && whole) {
    int64_t added, c = s->used - s->newest;
    TRY(grow(s, &added));
    whole = added == c;
    TRY(multiply(s, W));
  }
  return LAPIS_OK;
}

/* ---- filters ------------------------------------------------------------*/
/* Largest residual above t, in units of theta_1. */
static double worst_residual(const svt_subspace *s)
{
  double worst = 0;
  for (int64_t i = 0; i < s->rank; i++) worst = fmax(worst, s->error[i]);
  return worst / s->theta[0];
}

/* Whether a value above t is there as often as a block has columns: it may be
 * there more often than such blocks can show. */
static bool repeated(const svt_subspace *s)
{
  const double equal = 1 - 1e-3;
  bool found = false;
  for (int64_t i = 0; i < s->rank && i + s->block <= s->used; i++)
    found |= s->theta[i + s->block - 1] > equal * s->theta[i];
  return found;
}

/* Columns that steps will take, as far as the residuals of the first Ritz
 * vectors tell: they fall like a power. */
static double columns_left(const svt_subspace *s, const svt_question *q)
{
  double worst = fmax(worst_residual(s), DBL_EPSILON);
  double fallen = fmax(-log(worst), 1e-3), all = -log(q->accuracy);
  bool blind = repeated(s) || 2 * s->rank > s->used;
  return blind ? INFINITY : (double)s->used * (all / fallen - 1);
}

/* A cold call whose values below t are many and large: the mean of their
 * squares is no small part of t^2.  Steps may then be many, and a Gram matrix
 * in single precision and its filters cost less than their products.  What a
 * filter gains is bounded by how far it may magnify theta_1 (SPREAD): beyond
 * 4 t^2 less than steps do. */
static bool filter_pays(const svt_subspace *s, const svt_question *q)
{
  const double flat = 1. / 16, most = 4, price = 2;
  double rest = q->square, square = q->t * q->t;
  bool may = s->cold && !s->small && s->filter == NULL && s->asked_at < FIRST &&
             s->used >= FIRST && q->W->own == NULL &&
             base_ranks(s->h->ctx) == 1;
  if (!may || s->theta[0] > most * square) return false;
  for (int64_t i = 0; i < s->used; i++) rest -= s->theta[i];
  return rest > flat * square * (double)(s->k - s->used) &&
         columns_left(s, q) > price * svt_filter_cost(s->side, q->W);
}

static lapis_status begin_filter(svt_subspace *s, const svt_question *q)
{
  lapis_status status =
      svt_filter_new(s->h, s->side, q->W, q->square, &s->filter);
  if (status == LAPIS_ENOMEM) s->cold = false; /* products of W then */
  if (status == LAPIS_ENOMEM) return LAPIS_OK;
  TRY(status);
  s->used = s->shown < FIRST ? s->shown : FIRST;
  la_array X = la_cols(&s->X, 0, s->used), B = la_cols(&s->B, 0, s->used);
  TRY(la_copy(s->h, &X, &B));
  int64_t more = 2 * FIRST - s->used, most = s->k / 2 - s->used;
  if (more > most) more = most;
  if (more > 0) { /* of a value that is many there is one a column of a block */
    la_array fresh = la_cols(&s->B, s->used, more);
    TRY(svt_basis_draw(s, &fresh));
    TRY(svt_basis_join(s, more, &more));
  }
  s->exact = false;
  s->multiplied = 0;
  s->rounds = 0;
  base_say(s->h->ctx, 2, "svt: Gram matrix of order %" PRId64 " in single",
           s->k);
  return LAPIS_OK;
}

/* B = the filtered X.  The degree divides residuals by `by`, or by what single
 * precision can, but leaves what is near t in sight of the largest. */
static lapis_status filter(svt_subspace *s, const svt_question *q, double by)
{
  int64_t p = s->shown, r = s->rank;
  double square = q->t * q->t, low = s->theta[p - 1];
  double next = r < p ? s->theta[r] : low, last = r > 0 ? s->theta[r - 1] : 0;
  double c = fmax(fmax(low, 0.9 * next), square / 16);
  c = fmin(c, (1 - 2e-3) * square);
  double at_t = acosh(2 * (square / c) - 1);
  double at_last = acosh(2 * (fmax(last, square) / c) - 1);
  double at_first = acosh(2 * (fmax(s->theta[0], square) / c) - 1);
  double wanted = log(fmin(fmax(by, 2), 1 / FLT_EPSILON)) / at_last;
  double most = log(SPREAD) / fmax(at_first - at_t, 1e-2);
  svt_filtering how = {.c = c, .theta = s->theta, .lift = 1.02 * c};
  int64_t eighth = s->k / 8;
  how.degree = 1 + (int64_t)fmin(fmin(wanted, most), (double)eighth);
  la_array X = la_cols(&s->X, 0, p), R = la_cols(&s->R, 0, p);
  la_array B = la_cols(&s->B, 0, p);
  TRY(svt_filter_run(s->filter, &how, &R, &X));
  TRY(la_copy(s->h, &X, &B));
  TRY(s->h->ops->qr(s->h, &B, NULL));
  s->used = p;
  s->multiplied = 0;
  s->rounds++;
  return LAPIS_OK;
}

/* Products of single precision: a wider block where it has no room for guards,
 * a filter, or, once they tell nothing more, the products of W. */
static lapis_status filter_step(svt_subspace *s, const svt_question *q)
{
  enum { MOST_ROUNDS = 20 };
  int64_t want = s->rank + guards(s->rank);
  double worst = worst_residual(s);
  if (want > s->used) {
    int64_t more = s->used < s->k / 2 - s->used ? s->used : s->k / 2 - s->used;
    la_array fresh = la_cols(&s->B, s->used, more);
    TRY(svt_basis_draw(s, &fresh));
    s->multiplied = 0;
    s->rounds = 0;
    return svt_basis_join(s, more, &more);
  }
  bool stuck = s->rounds > 2 && worst > 0.5 * s->worst;
  bool ended = s->rounds > 0 && worst <= 32 * FLT_EPSILON;
  s->worst = worst;
  if (!stuck && !ended && s->rounds < MOST_ROUNDS)
    return filter(s, q, worst / FLT_EPSILON);
  s->exact = true;
  s->used = want;
  s->multiplied = 0;
  s->rounds = 0;
  return LAPIS_OK;
}

/* ---- the loop -----------------------------------------------------------*/

bool svt_subspace_serves(int64_t k, int64_t rank)
{
  return 6 * (rank + guards(rank)) <= k;
}

/* Columns of B at which to restart; below half of k, so that what joins B is
 * never made of rounding. */
static int64_t widest(const svt_subspace *s)
{
  int64_t q = 8 * s->shown + 2 * FIRST;
  return q < s->k / 2 ? q : s->k / 2;
}

static lapis_status begin(svt_subspace *s)
{
  s->multiplied = 0;
  la_array B = la_cols(&s->B, 0, s->used);
  bool loose = s->loose;
  s->loose = false;
  if (s->used > 0) return loose ? s->h->ops->qr(s->h, &B, NULL) : LAPIS_OK;
  int64_t c = first_block(s);
  la_array fresh = la_cols(&s->B, 0, c);
  TRY(svt_basis_draw(s, &fresh));
  return svt_basis_join(s, c, &c);
}

static lapis_status conclude(svt_subspace *s, const svt_question *q,
                             svt_found *out, bool *done)
{
  verdict v = PROVED;
  bool room;
  if (svt_inside_due(s, q)) TRY(svt_inside_certify(s, q, &v));
  out->certified = v == PROVED;
  out->why = v == PROVED ? "few singular values above the threshold"
                         : "singular values crowd below the threshold";
  if (v != MISSED) return LAPIS_OK;
  s->before = UNTESTED;
  TRY(add_missed(s, &room));
  *done = !room;
  if (s->filter == NULL) return LAPIS_OK;
  s->exact = false;
  s->multiplied = 0;
  s->rounds = 0;
  return LAPIS_OK;
}

/* Whether the first value below t is known well enough to guess c by. */
static bool settled(const svt_subspace *s, double t)
{
  return s->shown == s->rank || s->error[s->rank] <= 0.05 * t * t;
}

/* Of a small W, whose Gram matrix is cheap, the first columns have to tell, or
 * what a test found beside them. */
static bool few(const svt_subspace *s)
{
  bool many =
      2 * s->rank >= s->used || (s->block > first_block(s) && repeated(s));
  return !(s->small && many) && svt_subspace_serves(s->k, s->rank);
}

/* One step; *done: out says how it ended. */
static lapis_status step(svt_subspace *s, const svt_question *q, svt_found *out,
                         bool *done)
{
  double answer;
  int64_t added = 0;
  *done = true;
  TRY(extend(s, q->W));
  TRY(ritz(s, q->t));
  double sigma_1 = sqrt(fmax(s->theta[0], 0));
  out->why = "many singular values above the threshold";
  if (!few(s)) return LAPIS_OK;
  out->why = "threshold below 1e-4 sigma_1";
  if (q->t < TRUSTED * sigma_1) return LAPIS_OK;
  bool single = s->filter != NULL;
  bool filters = single && (!s->exact || s->rounds < 3);
  if (filters || s->used + s->shown > widest(s)) TRY(restart(s));
  TRY(svt_inside_residuals(s, 0, &answer));
  *done = false;
  if (single && !s->exact) return filter_step(s, q);
  double floor = 64 * DBL_EPSILON * (sigma_1 / q->t);
  double wanted = fmax(q->accuracy, floor) * sigma_1;
  bool good = answer <= wanted;
  if (!good && filter_pays(s, q)) return begin_filter(s, q);
  *done = true;
  if (good && settled(s, q->t)) return conclude(s, q, out, done);
  *done = false;
  if (filters) return filter(s, q, 8 * answer / wanted);
  TRY(expand(s, q, answer, wanted, &added));
  *done = true;
  if (good && added == 0) return conclude(s, q, out, done);
  out->why = "rounding hides the rest";
  *done = added == 0;
  return LAPIS_OK;
}

/* The Ritz vectors stay for the next call. */
static lapis_status keep(svt_subspace *s, svt_found *out)
{
  la_array X = la_cols(&s->X, 0, s->shown), B = la_cols(&s->B, 0, s->shown);
  TRY(la_copy(s->h, &X, &B));
  s->used = s->shown;
  out->rank = s->rank;
  out->Q = la_cols(&s->X, 0, s->rank);
  out->theta = s->theta;
  out->kept = s->whole;
  out->T = s->T;
  if (s->whole) out->S = svt_basis_corner(&s->S, s->T.cols, s->rank);
  return LAPIS_OK;
}

lapis_status svt_subspace_run(svt_subspace *s, const svt_question *q,
                              svt_found *out)
{
  bool done = false;
  *out = (svt_found){.why = "W is small, or its squares are out of range"};
  if (!svt_subspace_serves(s->k, 0) || q->t < SMALLEST ||
      !(q->square <= DBL_MAX))
    return LAPIS_OK;
  s->columns = s->sums = 0;
  s->before = s->rank;
  s->cold = s->used == 0;
  s->small = q->once && s->k < SVT_LARGE;
  s->cached = q->once && q->W->own == NULL && q->W->rows * q->W->cols <= CACHED;
  s->asked_at = 0;
  s->over = 1 / q->accuracy;
  s->block = first_block(s);
  s->ask = s->cold ? first_ask(s, FIRST / 2) : 0;
  s->unlikely = q->rough ? ROUGHLY : UNLIKELY;
  TRY(svt_track(s, q, out, &done));
  if (done) return LAPIS_OK;
  TRY(begin(s));
  lapis_status status = LAPIS_OK;
  for (int i = 0; i < MOST_STEPS && !done && status >= 0; i++)
    status = step(s, q, out, &done);
  base_say(s->h->ctx, 2,
           "svt: subspace of %" PRId64 ", rank %" PRId64 ": %" PRId64
           " columns in %" PRId64 " products, %s",
           s->k, s->rank, s->columns, s->sums, out->why);
  svt_filter_free(s->filter);
  s->filter = NULL;
  TRY(status);
  if (!done) out->why = "no convergence";
  if (!out->certified) s->used = 0;
  return out->certified ? keep(s, out) : LAPIS_OK;
}

lapis_status svt_subspace_seed(svt_subspace *s, const la_array *Q,
                               int64_t count)
{
  int64_t c = guards(count);
  TRY(svt_basis_reserve(s, count + c));
  la_array from = la_cols(Q, 0, count), to = la_cols(&s->B, 0, count);
  la_array fresh = la_cols(&s->B, count, c);
  TRY(la_copy(s->h, &from, &to));
  s->used = s->rank = count; /* all above t, of another W */
  TRY(svt_basis_draw(s, &fresh));
  return svt_basis_join(s, c, &c);
}
