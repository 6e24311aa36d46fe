/* bordered.c - completion with labels where every feature was seen.
 *
 *   minimize  tau |Z|_* + |Z_X - X|^2 / 2 + beta sum_{Omega_Y} c_y
 *   subject to  the last row of Z is e'
 *
 * which is mc.c's problem of mc1 divided by a = 1/|Omega_X|.  Where X has no
 * hole, its squared loss is the quadratic of the proximal step itself: with
 * rho = 1 the splitting needs the p = K + 1 rows of labels and ones alone,
 *
 *   T = B - U;  L = SVT([T; X], tau);  V = U + 1.6 L - .6 B;
 *   B = V, but log-loss prox on known labels and e in the last row; U = V - B
 *
 * (B and U are functions of V, which is the state: a step needs B of the state
 * it begins at, and only bounds need those of the one it ends at), and no rho
 * is to be balanced.  Samples without any label enter as D + 1 columns
 * (compress.c); X enters the step by its eigenvalues (bordered_step.c).
 * Anderson acceleration, safeguarded, on V.
 *
 * Certificate: [B_Y; L_X; e] is feasible.  The multiplier is [U_Y; L_X - X],
 * scaled to |g|_2 <= tau, which inertia.c proves by counting signs; the row of
 * ones of the dual is closed form (proofs.md, `factored`):
 *
 *   dual = sqrt(tau^2 |e|^2 - |g e|^2) - <g_X, X> - |g_X|^2 / 2 - labels*(g_Y).
 *
 * Numerics: X enters by squares.  What rounding does to them widens the proved
 * norm; where that alone would keep the gap above the tolerance, the problem
 * is handed back (auto then takes admm). */
#include "methods/mc/bordered/bordered.h"

#include <float.h>
#include <math.h>

static const double RELAXATION = 1.6;
static const anderson_options ACCELERATION = {
    .memory = 8, .regular = 1e-10, .firm = true, .whole = true};
static const double NEAR = 10; /* tolerances away, bounds are sharpened */
enum { CHECK_EVERY = 5, MORE_BLOCKS = 3, MOST_BLOCKS = 100 };

static bordered *state(const mc *w)
{
  return w->state;
}

/* ---- steps --------------------------------------------------------------*/
/* B = prox of V: labels, then the row of ones. */
static lapis_status prox(mc *w)
{
  bordered *b = state(w);
  la_array V = la_rows(&b->V, 0, b->K), B = la_rows(&b->B, 0, b->K);
  TRY(w->h.ops->prox(&w->h, &b->labels, 1, &V, &B));
  for (int64_t j = 0; j < b->N; j++)
    ((double *)b->B.data)[j * b->B.ld + b->K] = b->columns.e[j];
  return LAPIS_OK;
}

/* B and T = B - U = 2 B - V of the state. */
static lapis_status take_state(mc *w)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  TRY(prox(w));
  TRY(ops->axpby(&w->h, 2, &b->B, 0, &b->T));
  return ops->axpby(&w->h, -1, &b->V, 1, &b->T);
}

/* V = U + 1.6 L - .6 B = V + 1.6 (L - B) */
static lapis_status update_fit(mc *w)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  TRY(ops->axpby(&w->h, RELAXATION, &b->L, 1, &b->V));
  return ops->axpby(&w->h, -RELAXATION, &b->B, 1, &b->V);
}

/* B and U = V - B of the state, which bounds are made of. */
static lapis_status split_state(mc *w)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  TRY(prox(w));
  TRY(la_copy(&w->h, &b->V, &b->U));
  return ops->axpby(&w->h, -1, &b->B, 1, &b->U);
}

/* off = B - L_T, 0 at the solution. */
static lapis_status split_off(mc *w)
{
  bordered *b = state(w);
  TRY(la_copy(&w->h, &b->B, &b->off));
  return w->h.ops->axpby(&w->h, -1, &b->L, 1, &b->off);
}

/* ---- primal -------------------------------------------------------------*/
/* Sum of the square roots of the eigenvalues of A A': |A|_*, k rows. */
static lapis_status nuclear_of_rows(mc *w, const la_array *A, double *out)
{
  bordered *b = state(w);
  int64_t found = 0;
  *out = 0;
  TRY(w->h.ops->syrk(&w->h, LA_N, A, &b->svt.C1));
  TRY(w->h.ops->eigh(&w->h, &b->svt.C1, 0, b->proof.values, NULL, &found));
  for (int64_t i = 0; i < found; i++) *out += sqrt(b->proof.values[i]);
  return LAPIS_OK;
}

typedef struct factors {
  la_array left, right; /* (p + r) x (R + p), N x (R + p) */
  la_array A, C, Z;     /* triangles of both; their product, or Z turned */
  double *values;
} factors;

/* Z = [B_Y; L_X; e], its rows of X turned into Xr: left right', where
 * left = [u f, I_p over 0], right = [[T; Xr]'u, (B - L_T)']. */
static lapis_status put_factors(mc *w, factors *q)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  border_svt *s = &b->svt;
  int64_t R = s->R;
  la_array lT = la_rows(&q->left, 0, b->p),
           lX = la_rows(&q->left, b->p, b->x.r);
  la_array top = la_cols(&lT, 0, R), low = la_cols(&lX, 0, R);
  la_array begin = la_cols(&q->right, 0, R);
  TRY(la_copy(&w->h, &s->uT, &top));
  TRY(la_copy(&w->h, &s->uX, &low));
  TRY(la_scale_cols(&w->h, s->f, &top));
  TRY(la_scale_cols(&w->h, s->f, &low));
  for (int64_t k = 0; k < b->p; k++)
    ((double *)lT.data)[(R + k) * lT.ld + k] = 1;
  for (int64_t j = 0; j < b->N; j++)
    for (int64_t k = 0; k < b->p; k++)
      ((double *)q->right.data)[(R + k) * q->right.ld + j] =
          ((double *)b->off.data)[j * b->off.ld + k];
  TRY(ops->gemm(&w->h, LA_T, LA_N, 1, &b->T, &s->uT, 0, &begin));
  if (b->x.turned)
    return ops->gemm(&w->h, LA_T, LA_N, 1, &b->x.X, &s->uX, 1, &begin);
  la_array PU = la_cols(&q->Z, 0, R); /* room: D x R */
  TRY(ops->gemm(&w->h, LA_N, LA_N, 1, &b->x.P, &s->uX, 0, &PU));
  return ops->gemm(&w->h, LA_T, LA_N, 1, &b->x.X, &PU, 1, &begin);
}

/* The sum of the roots of the eigenvalues of left (right'right) left', where
 * there are more factors than rows: a few products in place of the singular
 * values of a wide matrix.  A square is off by at most |left|^2 times what
 * rounding does to right'right, (N + k) eps |right|_F^2, and to its products,
 * so that it is added to each: *found is false where that alone would add more
 * than the tolerance bears. */
static lapis_status sum_by_squares(mc *w, factors *q, double *sum, bool *found)
{
  const la_backend *ops = w->h.ops;
  int64_t k = q->left.cols, rows = q->left.rows, count = 0;
  double size, lefts, bare = 0;
  *found = false;
  if (k <= rows || rows > q->right.rows) return LAPIS_OK;
  TRY(ops->dot(&w->h, &q->right, &q->right, &size));
  TRY(ops->dot(&w->h, &q->left, &q->left, &lefts));
  double most = fmin(lefts, 2); /* |left|^2: u f and I_p have norm 1 at most */
  double off = 2 * most * DBL_EPSILON * (double)(q->right.rows + 4 * k) * size;
  TRY(ops->alloc(&w->h, LAPIS_F64, k, k + 2 * rows, &q->A));
  la_array G = la_cols(&q->A, 0, k), M = la_cols(&q->A, k, rows);
  la_array P = la_cols(&q->A, k + rows, rows);
  M.rows = rows;
  TRY(ops->syrk(&w->h, LA_T, &q->right, &G));
  TRY(ops->gemm(&w->h, LA_N, LA_T, 1, &G, &q->left, 0, &P));
  TRY(ops->gemm(&w->h, LA_N, LA_N, 1, &q->left, &P, 0, &M));
  TRY(ops->eigh(&w->h, &M, -INFINITY, q->values, NULL, &count));
  ops->free(&w->h, &q->A);
  *sum = 0;
  for (int64_t i = 0; i < count; i++) {
    bare += sqrt(fmax(q->values[i], 0));
    *sum += sqrt(fmax(q->values[i], 0) + off);
  }
  *found = *sum - bare <= .01 * w->set.stop.tol * bare;
  return LAPIS_OK;
}

static lapis_status values_of(mc *w, factors *q, int64_t *count)
{
  const la_backend *ops = w->h.ops;
  int64_t k = q->left.cols, rows = q->left.rows, cols = q->right.rows;
  int64_t least = rows < cols ? rows : cols;
  bool few = k <= least;
  TRY(ops->alloc(&w->h, LAPIS_F64, few ? k : rows, few ? k : cols, &q->C));
  *count = few ? k : least;
  if (!few) {
    TRY(ops->gemm(&w->h, LA_N, LA_T, 1, &q->left, &q->right, 0, &q->C));
    return ops->svd(&w->h, &q->C, NULL, q->values, NULL);
  }
  TRY(ops->alloc(&w->h, LAPIS_F64, k, 2 * k, &q->A));
  la_array one = la_cols(&q->A, 0, k), two = la_cols(&q->A, k, k);
  TRY(ops->qr(&w->h, &q->left, &one));
  TRY(ops->qr(&w->h, &q->right, &two));
  TRY(ops->gemm(&w->h, LA_N, LA_T, 1, &one, &two, 0, &q->C));
  return ops->svd(&w->h, &q->C, NULL, q->values, NULL);
}

/* |[B_Y; L_X; e]|_* where off is B - L_T, exactly or by a hundredth of the
 * tolerance above it: rank R + p at most. */
static lapis_status nuclear_exact(mc *w, double *out)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  int64_t k = b->svt.R + b->p, count = 0;
  factors q = {.values =
                   base_alloc(w->base.ctx, k + b->p + b->x.r, sizeof(double))};
  lapis_status s = q.values == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = ops->alloc(&w->h, LAPIS_F64, b->p + b->x.r, k, &q.left);
  if (s >= 0) s = ops->alloc(&w->h, LAPIS_F64, b->N, k, &q.right);
  if (s >= 0) s = ops->alloc(&w->h, LAPIS_F64, b->x.X.rows, k, &q.Z);
  if (s >= 0) s = put_factors(w, &q);
  bool found = false;
  *out = 0;
  if (s >= 0) s = sum_by_squares(w, &q, out, &found);
  if (s >= 0 && !found) *out = 0;
  if (s >= 0 && !found) s = values_of(w, &q, &count);
  for (int64_t i = count - 1; s >= 0 && i >= 0; i--) *out += q.values[i];
  la_array *all[] = {&q.left, &q.right, &q.A, &q.C, &q.Z};
  for (int i = 0; i < 5; i++) ops->free(&w->h, all[i]);
  base_free(q.values);
  return s;
}

/* ---- bounds -------------------------------------------------------------*/
/* What both bounds are made of; g is the multiplier before it is scaled. */
typedef struct sums {
  double gx, g2, ge2; /* <g_X, X>, |g_X|^2, |g e|^2 */
  double labels;      /* loss of B_Y */
  double thin, loose; /* |L|_*; |L|_* + |B - L_T|_*, never below |Z|_* */
} sums;

/* g e: L_X e - X e = u_X f (u_T'T e + u_X'Xr e) - Xr e, in the basis P. */
static lapis_status columns_sum(mc *w, double *out)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  border_svt *s = &b->svt;
  la_array fe = la_rows(&b->fe, 0, s->R);
  double one, two;
  TRY(ops->gemv(&w->h, LA_N, 1, &b->T, &b->e, 0, &b->Te));
  TRY(ops->gemv(&w->h, LA_T, 1, &s->uT, &b->Te, 0, &fe));
  TRY(ops->gemv(&w->h, LA_T, 1, &s->uX, &b->Xe, 1, &fe));
  for (int64_t k = 0; k < s->R; k++) ((double *)fe.data)[k] *= s->f[k];
  TRY(ops->axpby(&w->h, -1, &b->Xe, 0, &b->Ge));
  TRY(ops->gemv(&w->h, LA_N, 1, &s->uX, &fe, 1, &b->Ge));
  TRY(ops->gemv(&w->h, LA_N, 1, &b->proof.UY, &b->e, 0, &b->UYe));
  TRY(ops->dot(&w->h, &b->Ge, &b->Ge, &one));
  TRY(ops->dot(&w->h, &b->UYe, &b->UYe, &two));
  *out = one + two;
  return LAPIS_OK;
}

static void features_sums(const bordered *b, sums *q)
{
  const border_svt *s = &b->svt;
  double once = 0, twice = 0;
  for (int64_t k = 0; k < s->R; k++) {
    const double *u = (const double *)s->uX.data + k * s->uX.ld;
    double x2 = 0, s2 = s->s[k] * s->s[k];
    for (int64_t i = 0; i < b->x.r; i++) x2 += u[i] * u[i];
    once += s->f[k] * s2 * x2;
    twice += s->f[k] * s->f[k] * s2 * x2;
    q->thin += s->s[k] - s->tau;
  }
  q->gx = once - b->x.square;
  q->g2 = b->x.square - 2 * once + twice;
}

static lapis_status gather(mc *w, sums *q)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  la_array BY = la_rows(&b->B, 0, b->K), UY = la_rows(&b->U, 0, b->K);
  double apart;
  *q = (sums){.gx = 0};
  TRY(la_copy(&w->h, &UY, &b->proof.UY));
  TRY(ops->clamp(&w->h, &b->labels, &b->proof.UY));
  TRY(columns_sum(w, &q->ge2));
  features_sums(b, q);
  TRY(ops->loss(&w->h, &b->labels, &BY, &q->labels));
  TRY(split_off(w));
  TRY(nuclear_of_rows(w, &b->off, &apart));
  q->loose = q->thin + apart;
  return LAPIS_OK;
}

static void set_primal(mc *w, const sums *q, double nuclear)
{
  double tau = state(w)->tau;
  w->bounds.primal = w->p.a * (tau * nuclear + q->g2 / 2 + q->labels);
}

/* The dual value of g scaled so that |g|_2 = (1 + over) tau is tau. */
static lapis_status set_dual(mc *w, const sums *q, double over)
{
  bordered *b = state(w);
  double conjugate, s = 1 / (1 + over), e2;
  TRY(w->h.ops->dot(&w->h, &b->e, &b->e, &e2));
  TRY(w->h.ops->conjugate(&w->h, &b->labels, s, &b->proof.UY, &conjugate));
  double ones = sqrt(fmax(b->tau * b->tau * e2 - s * s * q->ge2, 0));
  mc_bounds *o = &w->bounds;
  o->dual = w->p.a * (ones - conjugate - s * q->gx - s * s * q->g2 / 2);
  o->norm = 1 + over;
  b->scale = s;
  double size = fmax(fmax(fabs(o->primal), fabs(o->dual)), 1e-300);
  o->gap = (o->primal - o->dual) / size;
  return LAPIS_OK;
}

/* By what share |g|_2 exceeds tau at most, if the step's singular values were
 * exact: g = [T; X] - SVT, of norm tau, and what U_Y is off. */
static lapis_status likely(mc *w, double *over)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  la_array U = la_rows(&b->off, 0, b->K), L = la_rows(&b->L, 0, b->K);
  la_array T = la_rows(&b->T, 0, b->K);
  int64_t found = 0;
  TRY(la_copy(&w->h, &b->proof.UY, &U));
  TRY(ops->axpby(&w->h, -1, &L, 1, &U));
  TRY(ops->axpby(&w->h, 1, &T, 1, &U));
  TRY(ops->syrk(&w->h, LA_N, &U, &b->proof.S));
  TRY(ops->eigh(&w->h, &b->proof.S, 0, b->proof.values, NULL, &found));
  *over = found > 0 ? sqrt(b->proof.values[0]) / b->tau : 0;
  return LAPIS_OK;
}

/* over >= *over such that |g|_2 < (1 + over) tau, proved. */
static lapis_status prove(mc *w, double *over)
{
  bordered *b = state(w);
  bool below = false;
  *over = fmax(*over, 1e-14) * (1 + 1e-9);
  while (true) {
    TRY(border_norm_below(&b->svt, &b->proof, b->tau * (1 + *over), &below));
    if (below || *over > 1e6) break;
    *over *= 3;
  }
  return LAPIS_OK;
}

/* Closer to |g|_2, by bisection on a logarithmic scale. */
static lapis_status sharpen(mc *w, double *over)
{
  bordered *b = state(w);
  double low = *over * 1e-3;
  for (int i = 0; i < 8 && *over > 1.1 * low; i++) {
    bool below;
    double middle = sqrt(low * *over);
    TRY(border_norm_below(&b->svt, &b->proof, b->tau * (1 + middle), &below));
    if (below)
      *over = middle;
    else
      low = middle;
  }
  return LAPIS_OK;
}

/* One proof, of the largest norm that would end the solve: where that fails,
 * none that is smaller matters yet. */
static lapis_status aim(mc *w, const sums *q, double *over)
{
  bordered *b = state(w);
  double low = *over * 1e-3, high = *over, tol = w->set.stop.tol;
  bool below = false;
  TRY(set_dual(w, q, low));
  if (w->bounds.gap > tol) return LAPIS_OK;
  for (int i = 0; i < 8; i++) {
    double middle = sqrt(low * high);
    TRY(set_dual(w, q, middle));
    if (w->bounds.gap <= tol)
      low = middle;
    else
      high = middle;
  }
  TRY(border_norm_below(&b->svt, &b->proof, b->tau * (1 + low), &below));
  if (below) *over = low;
  return LAPIS_OK;
}

/* Primal and dual of what is at hand; sharp ones where they may end it. */
static lapis_status certify(mc *w, bool sharp)
{
  bordered *b = state(w);
  double over, nuclear, tol = w->set.stop.tol;
  sums q;
  TRY(gather(w, &q));
  set_primal(w, &q, q.loose);
  TRY(likely(w, &over));
  TRY(border_proof_prepare(&b->svt, &b->proof));
  TRY(prove(w, &over));
  TRY(set_dual(w, &q, over));
  b->thorough = sharp || w->bounds.gap <= NEAR * tol;
  if (!b->thorough) return LAPIS_OK;
  TRY(split_off(w)); /* likely put something else there */
  TRY(nuclear_exact(w, &nuclear));
  set_primal(w, &q, nuclear);
  TRY(set_dual(w, &q, over));
  if (w->bounds.gap <= tol) return LAPIS_OK;
  TRY(sharp ? sharpen(w, &over) : aim(w, &q, &over));
  return set_dual(w, &q, over);
}

/* ---- the loop -----------------------------------------------------------*/
static lapis_status make_steps(mc *w)
{
  bordered *b = state(w);
  border_proof_free(&w->h, &b->proof);
  border_svt_free(&b->svt);
  TRY(border_svt_new(&b->x, b->p, b->tau, b->blocks, &b->svt));
  TRY(border_proof_new(&w->h, &b->svt, b->K, &b->proof));
  b->proof.T = &b->T;
  /* of the Gram matrix of n columns, of its eigenvalues, as in svt.c, and of
   * Xr = P'X */
  b->proof.rounding =
      DBL_EPSILON * ((double)w->p.all * b->x.square +
                     4 * (double)b->x.r * (b->x.r > 0 ? b->x.S2[0] : 0));
  return LAPIS_OK;
}

/* The step's Krylov spaces leave out more than the tolerance bears. */
static bool too_coarse(const mc *w)
{
  const bordered *b = state(w);
  double left_out = b->proof.slack - b->proof.rounding;
  return b->svt.tail > 0 && b->svt.blocks < MOST_BLOCKS - MORE_BLOCKS &&
         w->bounds.gap < 100 * w->set.stop.tol &&
         left_out > 0.5 * w->set.stop.tol * b->tau * b->tau;
}

static lapis_status record(mc *w)
{
  const la_backend *ops = w->h.ops;
  bordered *b = state(w);
  mc_bounds *o = &w->bounds;
  double off, size, V;
  TRY(split_off(w));
  TRY(ops->dot(&w->h, &b->off, &b->off, &off));
  TRY(ops->dot(&w->h, &b->B, &b->B, &size));
  TRY(ops->dot(&w->h, &b->V, &b->V, &V));
  double residual = sqrt(off / fmax(size, 1e-300)), rank = (double)b->svt.R;
  w->base.info.residual = residual;
  w->low_rank.rank = b->svt.R;
  base_say(w->base.ctx, 2,
           "mc: %" PRId64 " objective %.10g gap %.2e residual %.2e rank %g "
           "norm 1 + %.1e",
           w->base.loop.iter, o->primal, o->gap, residual, rank, o->norm - 1);
  /* the iterates stand still to within rounding */
  if (sqrt(off) <= 64 * DBL_EPSILON * sqrt(V) && o->gap > w->set.stop.tol)
    w->base.loop.status = LAPIS_PRECISION_FLOOR;
  return loop_record(&w->base.loop,
                     (double[]){o->primal, o->dual, o->gap, residual, rank});
}

static lapis_status check_gap(mc *w)
{
  TRY(certify(w, false));
  return record(w);
}

static void keep(mc *w)
{
  loop *l = &w->base.loop;
  bordered *b = state(w);
  la_keep(l, "V", &b->V);
  la_keep(l, "B", &b->B);
  la_keep(l, "U", &b->U);
  la_keep(l, "T", &b->T);
  loop_keep_whole(l, "blocks", &b->blocks, 1, 0, MOST_BLOCKS);
  loop_keep_whole(l, "rank", &w->low_rank.rank, 1, 0, LOOP_MOST);
  anderson_keep(&b->accel, l);
}

static lapis_status step(mc *w)
{
  bordered *b = state(w);
  la_array *const all[] = {&b->V};
  TRY(anderson_before(&b->accel, all));
  TRY(take_state(w));
  TRY(border_svt_apply(&b->svt, &b->T, &b->L));
  return update_fit(w);
}

static lapis_status iterate(mc *w)
{
  loop *l = &w->base.loop;
  bordered *b = state(w);
  la_array *const all[] = {&b->V};
  bool resumed, moved = false, last = false;
  w->bounds.gap = INFINITY;
  anderson_reset(&b->accel);
  keep(w);
  TRY(loop_resume(l, &resumed));
  if (resumed) TRY(make_steps(w));
  while (w->bounds.gap > w->set.stop.tol && loop_next(l)) {
    TRY(step(w));
    moved = true;
    last = l->iter == w->set.stop.max_iters;
    if (l->iter % CHECK_EVERY == 0 || last) TRY(split_state(w));
    if (l->iter % CHECK_EVERY == 0) TRY(check_gap(w));
    mc_show(w);
    if (w->bounds.gap <= w->set.stop.tol) break;
    TRY(anderson_after(&b->accel, all));
    if (l->iter % CHECK_EVERY != 0 || !too_coarse(w)) continue;
    b->blocks = b->svt.blocks + MORE_BLOCKS;
    moved = false; /* what was found goes with the old room */
    TRY(make_steps(w));
  }
  bool stale = l->iter % CHECK_EVERY != 0 || l->iter == 0;
  if (!moved) TRY(border_svt_apply(&b->svt, &b->T, &b->L));
  if (!stale && moved && b->thorough) return LAPIS_OK;
  if (stale && moved && !last) TRY(split_state(w)); /* time was up */
  TRY(certify(w, true));
  return stale ? record(w) : LAPIS_OK;
}

static lapis_status solve(mc *w)
{
  static const char *const columns[] = {"iteration", "objective", "dual",
                                        "gap",       "residual",  "rank"};
  TRY(loop_begin(&w->base.loop, w->base.ctx, "mc", &w->set.stop, 6, columns));
  TRY(iterate(w));
  w->low_rank.rank = state(w)->svt.R;
  return LAPIS_OK;
}

/* ---- construction -------------------------------------------------------*/
static const char *refuses(const mc *w, const lapis_data *data)
{
  if (mc_variant_of(w->set.variant)->loss != LA_SQUARE)
    return "it is for --variant mc1, whose feature loss is squared";
  if (w->p.K == 0) return "there are no labels";
  int64_t samples = w->p.all - (w->p.n - w->p.samples);
  if (w->p.seen_X < data->X.rows * samples) return "some features are missing";
  if (w->set.class_features)
    return "class representatives have no feature that was seen";
  return NULL;
}

static const char *suits(const mc *w, const lapis_data *data)
{
  (void)w;
  (void)data;
  return "every feature was seen";
}

/* What their labels count; the others have none. */
static lapis_status put_times(mc *w)
{
  bordered *b = state(w);
  la_array *times = &b->labels.times, own;
  if (w->p.weight == NULL && times->data == NULL) return LAPIS_OK;
  if (times->data == NULL)
    TRY(w->h.ops->alloc(&w->h, LAPIS_F64, 1, b->N, times));
  double *t = times->data;
  for (int64_t k = 0; k < b->N; k++) t[k] = k < b->columns.own ? 0 : 1;
  for (int64_t j = 0; j < w->p.n; j++)
    if (b->columns.place[j] >= 0) t[b->columns.place[j]] = mc_times(&w->p, j);
  own = la_cols(times, 0, b->columns.own);
  return la_sum(&w->h, &own);
}

/* Labels of the samples that have a column; V = B = [labels or 0; e]. */
static lapis_status put_labels(mc *w)
{
  bordered *b = state(w);
  la_array *Z0 = &b->labels.Z0, own = la_cols(Z0, 0, b->columns.own);
  for (int64_t k = b->K * b->columns.own; k < b->K * b->N; k++)
    ((double *)Z0->data)[k] = NAN;
  for (int64_t j = 0; j < w->p.n; j++)
    if (b->columns.place[j] >= 0)
      mc_label_column(w, j, (double *)Z0->data + b->columns.place[j] * Z0->ld);
  TRY(la_sum(&w->h, &own)); /* zeros where another has the sample */
  TRY(put_times(w));
  for (int64_t j = 0; j < b->N; j++) {
    double *v = (double *)b->V.data + j * b->V.ld;
    const double *z = (const double *)Z0->data + j * Z0->ld;
    for (int64_t k = 0; k < b->K; k++) v[k] = isnan(z[k]) ? 0 : z[k];
    v[b->K] = b->columns.e[j];
  }
  const la_backend *ops = w->h.ops;
  TRY(la_copy(&w->h, &b->V, &b->B));
  TRY(la_copy(&w->h, &b->V, &b->T));
  return ops->axpby(&w->h, 0, &b->V, 0, &b->U);
}

/* Weights in units of a; room for the steps at this tau. */
static lapis_status set_weights(mc *w)
{
  bordered *b = state(w);
  const mc_problem *p = &w->p;
  b->tau = p->mu / p->a;
  b->beta = p->b / p->a;
  b->labels.n_blocks = 1;
  b->labels.block[0] = p->phi.block[0]; /* labels come first */
  b->labels.block[0].weight = b->beta;
  b->labels.zero_one = p->phi.zero_one;
  TRY(make_steps(w));
  double share = b->proof.rounding / (b->tau * b->tau);
  double least = 1e-6 * sqrt(b->x.r > 0 ? b->x.S2[0] : 0);
  if (b->tau > least && share < fmax(w->set.stop.tol, 1e-9)) return LAPIS_OK;
  return lapis_fail(w->base.ctx, LAPIS_ENOTBUILT,
                    "mc: --solver bordered squares X, and mu = %g is too small "
                    "for that beside its largest singular value; admm takes it",
                    p->mu);
}

static lapis_status arrays(mc *w)
{
  bordered *b = state(w);
  int64_t r = b->x.r;
  struct {
    la_array *a;
    int64_t rows, cols;
  } all[] = {{&b->V, b->p, b->N},  {&b->B, b->p, b->N},
             {&b->U, b->p, b->N},  {&b->T, b->p, b->N},
             {&b->L, b->p, b->N},  {&b->off, b->p, b->N},
             {&b->e, b->N, 1},     {&b->labels.Z0, b->K, b->N},
             {&b->Te, b->p, 1},    {&b->Xe, r, 1},
             {&b->Ge, r, 1},       {&b->UYe, b->K, 1},
             {&b->fe, b->p + r, 1}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    TRY(w->h.ops->alloc(&w->h, LAPIS_F64, all[i].rows, all[i].cols, all[i].a));
  anderson_new(&w->h, b->p, b->N, 1, &ACCELERATION, &b->accel);
  lapis_mat e = lapis_mat_f64(b->columns.e, b->N, 1);
  TRY(w->h.ops->upload(&w->h, &e, &b->e));
  la_array Xe = {0}; /* Xr e: X e in the basis P */
  if (b->x.turned)
    return w->h.ops->gemv(&w->h, LA_N, 1, &b->x.X, &b->e, 0, &b->Xe);
  TRY(w->h.ops->alloc(&w->h, LAPIS_F64, r, 1, &Xe));
  lapis_status s = w->h.ops->gemv(&w->h, LA_N, 1, &b->x.X, &b->e, 0, &Xe);
  if (s >= 0) s = w->h.ops->gemv(&w->h, LA_T, 1, &b->x.P, &Xe, 0, &b->Xe);
  w->h.ops->free(&w->h, &Xe);
  return s;
}

static lapis_status columns(mc *w, const lapis_data *data)
{
  const targets *t = &w->p.labels;
  bordered *b = state(w);
  bool *known = base_alloc(w->base.ctx, w->p.n, sizeof *known);
  if (known == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < t->classes * t->samples; k++)
    known[k / t->classes] |= !isnan(t->sign[k]);
  lapis_status s =
      border_columns_new(&w->h, &data->X, w->shift, known, &b->columns);
  base_free(known);
  if (s < 0) return s;
  b->N = b->columns.own + b->columns.rest;
  if (b->columns.rest > 0)
    base_say(w->base.ctx, 1,
             "mc: bordered: %" PRId64 " samples without a label became %" PRId64
             " columns, exactly",
             b->columns.others, b->columns.rest);
  return border_spectrum_new(&w->h, &b->columns.X, &b->x);
}

/* A cold start for the labels at hand. */
static lapis_status begin(mc *w)
{
  bordered *b = state(w);
  b->blocks = 0;
  TRY(put_labels(w));
  TRY(border_largest(&b->x, &b->T, &w->p.sigma_1));
  mc_set_weights(w);
  return set_weights(w);
}

static lapis_status alloc(mc *w, const lapis_data *data)
{
  bordered *b = base_alloc(w->base.ctx, 1, sizeof *b);
  if (b == NULL) return LAPIS_ENOMEM;
  w->state = b;
  mc_problem_kind(w);
  b->K = w->p.K;
  b->p = b->K + 1;
  TRY(columns(w, data));
  TRY(arrays(w));
  return begin(w);
}

/* Every known label has a column: unlabelled samples that were compressed
 * cannot be told apart any more. */
static bool has_places(const mc *w)
{
  const targets *t = &w->p.labels;
  bool all = true;
  for (int64_t k = 0; k < t->classes * t->samples; k++)
    all = all &&
          (isnan(t->sign[k]) || state(w)->columns.place[k / t->classes] >= 0);
  return all;
}

/* Other labels: the columns, X's spectrum and all arrays stay. */
static lapis_status relabel(mc *w, const lapis_data *data)
{
  bordered *b = state(w);
  const lapis_mat *X = &b->columns.data;
  bool same = data->X.val == X->val && data->X.rows == X->rows &&
              data->X.cols == X->cols && w->p.K == b->K;
  if (!same || !has_places(w))
    return lapis_fail(w->base.ctx, LAPIS_ENOTBUILT,
                      "mc: --solver bordered can take other labels of samples "
                      "that had one, and of the same X");
  mc_problem_kind(w);
  return begin(w);
}

static lapis_status retune(mc *w, double before)
{
  (void)before; /* V lives on the scale of Z */
  return set_weights(w);
}

static void release(mc *w)
{
  bordered *b = state(w);
  if (b == NULL) return;
  la_array *all[] = {&b->V,   &b->B,  &b->U,         &b->T,           &b->L,
                     &b->off, &b->e,  &b->Te,        &b->Xe,          &b->Ge,
                     &b->UYe, &b->fe, &b->labels.Z0, &b->labels.times};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    w->h.ops->free(&w->h, all[i]);
  if (b->accel.h != NULL) anderson_free(&b->accel);
  border_proof_free(&w->h, &b->proof);
  border_svt_free(&b->svt);
  border_spectrum_free(&b->x);
  border_columns_free(&b->columns);
  base_free(b);
}

const mc_solver mc_bordered = {.name = "bordered",
                               .on_host = true,
                               .refuses = refuses,
                               .suits = suits,
                               .alloc = alloc,
                               .solve = solve,
                               .publish = border_publish,
                               .learn = border_learn,
                               .retune = retune,
                               .relabel = relabel,
                               .free = release};
