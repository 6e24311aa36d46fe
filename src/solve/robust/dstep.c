/* dstep.c - low rank plus sparse, with or without a linear fit, certified.
 *
 * Douglas-Rachford on A = B (= C2): A <- SVT at the reflected point, B <-
 * proximal step of the sparse error, C2 <- that of the fit.  It is ADMM with
 * the multiplier folded into one array (S = B - multiplier/rho), so that a
 * step reads and writes five arrays and no more.
 *
 * Deviations: the papers let rho grow without end (inexact ALM); the iterates
 * then freeze and only the residual says that they converge.  We grow it for
 * the first steps, which finds rank and support quickly where the data are
 * exactly low rank plus sparse, and then balance it by the two residuals at
 * fixed steps, which data with noise need; from step LAST_BALANCE on it
 * stays, which keeps the convergence proof.
 *
 * Certificate: C = rho (B - S) lies in [-lambda, lambda] by construction, and
 * rho (W - A) has norm at most 1; their difference is rho (A - B).  So
 * |C|_2 <= 1 + rho |A - B|_F costs nothing and tells when the exact norm is
 * worth its price. */
#include "solve/robust/robust.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double FIRST_RHO = 1.25, GROWTH = 1.8, TOP_RHO = 2000;
static const double INEXACT = 1e-3; /* of a step, times its residual */
static const double RELAXATION = 1.6, STRIDE = 10; /* of balancing */
enum {
  GROWING = 33,
  FIRST_BALANCE = 34,
  BALANCE_EVERY = 6,
  LAST_BALANCE = 250
};
enum { POWER_STEPS = 12, GUESS_STEPS = 4, GUESS_EVERY = 5, PROVE_EVERY = 100 };
static const anderson_options ACCELERATION = {.memory = 20, .regular = 1e-13};
enum { SMALL = 250000 }; /* entries that are worth accelerating */

/* ---- memory -------------------------------------------------------------*/
lapis_status rr_dstep_new(la *h, const lapis_mat *X, int64_t k, rr_dstep *w)
{
  memset(w, 0, sizeof *w);
  w->h = h;
  w->d = X->rows;
  w->n = X->cols;
  TRY(op_svt_new(h, w->d, w->n, &w->svt));
  la_array *all[] = {&w->X, &w->S, &w->W, &w->A};
  for (int i = 0; i < 4; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, w->d, w->n, all[i]));
  TRY(h->ops->alloc(h, LAPIS_F64, w->d, 1, &w->u));
  TRY(h->ops->alloc(h, LAPIS_F64, w->n, 1, &w->v));
  TRY(rr_fit_alloc(w, k));
  if (w->d * w->n <= SMALL)
    TRY(anderson_new(h, w->d, w->n, k > 0 ? 2 : 1, &ACCELERATION, &w->accel));
  return h->ops->upload(h, X, &w->X);
}

void rr_dstep_free(rr_dstep *w)
{
  if (w->h == NULL) return;
  la_array *all[] = {&w->X, &w->S, &w->W, &w->A, &w->u, &w->v};
  for (int i = 0; i < 6; i++) w->h->ops->free(w->h, all[i]);
  rr_fit_free(w);
  anderson_free(&w->accel);
  op_svt_free(w->svt);
  w->h = NULL;
}

/* ---- starting -----------------------------------------------------------*/
/* |A|_2 from below by some steps of the power method from v, which learns: a
 * unit or a guess, never a bound. */
static lapis_status power(rr_dstep *w, const la_array *A, int steps,
                          double *norm)
{
  la *h = w->h;
  double square = 0;
  *norm = 0;
  for (int i = 0; i < steps; i++) {
    TRY(h->ops->gemm(h, LA_N, LA_N, 1, A, &w->v, 0, &w->u));
    TRY(h->ops->dot(h, &w->u, &w->u, &square));
    if (!(square > 0)) break;
    TRY(la_scale(h, 1 / sqrt(square), &w->u));
    TRY(h->ops->gemm(h, LA_T, LA_N, 1, A, &w->u, 0, &w->v));
    TRY(h->ops->dot(h, &w->v, &w->v, &square));
    *norm = sqrt(square);
    if (*norm > 0) TRY(la_scale(h, 1 / *norm, &w->v));
  }
  return LAPIS_OK;
}

static void forget_direction(rr_dstep *w)
{
  double *v = w->v.data;
  for (int64_t j = 0; j < w->n; j++) v[j] = rng_normal(1, 0, (uint64_t)j);
}

static lapis_status measure(rr_dstep *w)
{
  forget_direction(w);
  TRY(power(w, &w->S, POWER_STEPS, &w->unit));
  forget_direction(w);
  if (!(w->unit > 0)) w->unit = 1;
  return LAPIS_OK;
}

/* W = 2 B - S (and its mean with the fit's). */
static lapis_status reflect(rr_dstep *w)
{
  la *h = w->h;
  TRY(h->ops->l1_dual(h, w->lambda / w->rho, &w->X, &w->S, &w->W));
  TRY(h->ops->axpby(h, 1, &w->S, 2, &w->W));
  return rr_fit_reflect(w);
}

/* S = X, 0 where not observed: S + clamp(X - S) with S = 0 and no bound. */
static lapis_status start_cold(rr_dstep *w)
{
  la *h = w->h;
  TRY(la_zero(h, &w->S));
  TRY(h->ops->l1_dual(h, INFINITY, &w->X, &w->S, &w->W));
  TRY(la_copy(h, &w->W, &w->S));
  TRY(measure(w));
  w->rho = FIRST_RHO / w->unit;
  w->age = 0;
  w->fit.rho = w->rho;
  if (w->fit.k > 0) TRY(la_copy(h, &w->S, &w->fit.S));
  return LAPIS_OK;
}

lapis_status rr_dstep_start(rr_dstep *w, double lambda, bool warm)
{
  w->lambda = lambda;
  w->bounds = (rr_bounds){NAN, NAN, INFINITY, NAN};
  memset(w->sums, 0, sizeof w->sums);
  memset(w->fit.sums, 0, sizeof w->fit.sums);
  if (warm)
    w->age = FIRST_BALANCE - 2;
  else
    TRY(start_cold(w));
  anderson_reset(&w->accel);
  TRY(rr_fit_factor(w));
  return reflect(w);
}

/* ---- bounds -------------------------------------------------------------*/
/* primal at A; dual of (C, Q) scaled into |C + K'Q|_2 <= 1. */
static void set_bounds(rr_dstep *w, double l1, double inner, double norm,
                       rr_bounds *out)
{
  const rr_fit *f = &w->fit;
  double s = norm > 1 ? 1 / norm : 1;
  out->norm = norm;
  out->primal = w->low_rank.nuclear + w->lambda * l1;
  out->dual = s * inner;
  if (f->k > 0) {
    out->primal += f->eta / 2 * f->loss;
    out->dual += s * f->inner - s * s * f->square / (2 * f->eta);
  }
  double size = fmax(fmax(fabs(out->primal), fabs(out->dual)), 1e-300);
  out->gap = (out->primal - out->dual) / size;
}

/* The free estimate, before rho changes; the fit's multiplier is in units of
 * the rho it had. */
static void estimate(rr_dstep *w)
{
  const rr_fit *f = &w->fit;
  double norm = 1 + w->rho * sqrt(w->sums[0]);
  if (f->k > 0) norm += f->before * sqrt(f->sums[0]);
  set_bounds(w, w->sums[4], w->rho * w->sums[5], norm, &w->bounds);
}

/* ---- the steps ----------------------------------------------------------*/
/* A <- SVT(W, 1/rho), the rho of both copies of D together, as exactly as the
 * last residual makes worth while; others who share w->svt want it exact. */
static lapis_status update_low_rank(rr_dstep *w)
{
  double rho = w->rho + (w->fit.k > 0 ? w->fit.rho : 0);
  op_svt_accept(w->svt, w->age > 1 ? INEXACT * rr_dstep_residual(w) : INEXACT);
  lapis_status s = op_svt_apply(w->svt, &w->W, 1 / rho, &w->A, &w->low_rank);
  op_svt_accept(w->svt, 0);
  return s;
}

/* By how much rho grows after this step: |A - B|^2, |B_new - B|^2, |B_new|^2
 * and |multiplier / rho|^2 of both copies together. */
static double growth(const rr_dstep *w)
{
  int64_t k = w->age;
  double sums[4];
  if (k <= GROWING) return w->rho * w->unit < TOP_RHO ? GROWTH : 1;
  for (int i = 0; i < 4; i++) sums[i] = w->sums[i] + w->fit.sums[i];
  bool due = (k - FIRST_BALANCE) % BALANCE_EVERY == 0 && k <= LAST_BALANCE;
  double primal = sqrt(sums[0] * sums[3]), dual = sqrt(sums[1] * sums[2]);
  if (!due || !(primal > 0) || !(dual > 0)) return 1;
  return fmin(fmax(sqrt(primal / dual), 1 / STRIDE), STRIDE);
}

/* rho stays, and there is room to accelerate. */
static bool settled(const rr_dstep *w)
{
  return w->age > LAST_BALANCE && w->accel.parts > 0;
}

/* B and S, C2 and its S, W. */
static lapis_status update_sparse(rr_dstep *w)
{
  double factor = growth(w);
  bool plain = w->age < FIRST_BALANCE || settled(w);
  double relax = plain ? 1 : RELAXATION;
  la_l1 p = {.t = w->lambda / w->rho, .relax = relax, .rescale = 1 / factor};
  if (w->fit.k > 0) TRY(rr_fit_loss(w));
  TRY(w->h->ops->l1_step(w->h, &p, &w->X, &w->A, &w->S, &w->W, w->sums));
  TRY(base_sum(w->h->ctx, w->sums, 6));
  TRY(rr_fit_step(w, relax, factor));
  estimate(w);
  w->rho *= factor;
  if (w->fit.k > 0 && (factor < 1 || factor > 1)) TRY(rr_fit_factor(w));
  return rr_fit_reflect(w);
}

/* ---- the certificate ------------------------------------------------------*/
/* Bounds at A; the norm exact, or guessed in a fraction of the time. */
static lapis_status weigh_up(rr_dstep *w, bool exact)
{
  la *h = w->h;
  rr_fit *f = &w->fit;
  double sums[2], norm = 0;
  la_array *G = &w->W;
  TRY(h->ops->l1_dual(h, w->lambda / w->rho, &w->X, &w->S, &w->W));
  TRY(la_scale(h, w->rho, &w->W));
  TRY(h->ops->l1_sums(h, &w->X, &w->A, &w->W, sums));
  if (f->k > 0) {
    G = &f->G;
    TRY(la_copy(h, &w->W, G));
    TRY(h->ops->axpby(h, f->rho, &f->P, 1, G));
    TRY(rr_fit_loss(w));
    TRY(h->ops->dot(h, &f->H, &f->R, &f->inner));
    TRY(h->ops->dot(h, &f->H, &f->H, &f->square));
    f->inner *= f->rho;
    f->square *= f->rho * f->rho;
  }
  TRY(base_sum(h->ctx, sums, 2));
  TRY(exact ? op_norm2_upper(w->svt, G, &norm)
            : power(w, G, GUESS_STEPS, &norm));
  set_bounds(w, sums[0], sums[1], norm, &w->bounds);
  if (norm <= 1) return LAPIS_OK;
  return la_scale(h, 1 / norm, &w->W);
}

lapis_status rr_dstep_certify(rr_dstep *w)
{
  return weigh_up(w, true);
}

/* ---- the loop -----------------------------------------------------------*/
const char *const rr_dstep_columns[] = {"iteration", "objective", "dual",
                                        "gap",       "residual",  "rank"};

double rr_dstep_residual(const rr_dstep *w)
{
  return sqrt(w->sums[0] / fmax(w->sums[2], 1e-300));
}

static lapis_status record(rr_dstep *w, loop *l)
{
  const rr_bounds *b = &w->bounds;
  double residual = rr_dstep_residual(w);
  double rank = (double)w->low_rank.rank;
  base_say(l->ctx, 2,
           "%s: %" PRId64 " objective %.10g gap %.2e residual %.2e rank %g "
           "rho %.3g %s",
           l->method, l->iter, b->primal, b->gap, residual, rank,
           w->rho * w->unit, w->low_rank.why);
  TRY(loop_record(l, (double[]){b->primal, b->dual, b->gap, residual, rank}));
  lapis_progress now = {.rank = w->low_rank.rank,
                        .objective = b->primal,
                        .gap = b->gap,
                        .residual = residual};
  loop_show(l, &now, NAN);
  return LAPIS_OK;
}

/* Rounding decides once the iterates stand still to a few units in the last
 * place. */
static bool at_floor(const rr_dstep *w)
{
  double limit = 16 * DBL_EPSILON * sqrt(w->sums[2]);
  return sqrt(w->sums[0]) <= limit && sqrt(w->sums[1]) <= limit;
}

static lapis_status step(rr_dstep *w)
{
  la_array *const state[] = {&w->S, &w->fit.S};
  w->age++;
  TRY(update_low_rank(w));
  if (!settled(w)) return update_sparse(w);
  TRY(anderson_before(&w->accel, state));
  TRY(update_sparse(w));
  TRY(anderson_after(&w->accel, state));
  TRY(rr_fit_project(w));
  return reflect(w);
}

static lapis_status prove(rr_dstep *w, const loop *l)
{
  rr_proof *p = &w->proof;
  bool floor = at_floor(w);
  bool guess = w->age > GROWING / 2 && l->iter % GUESS_EVERY == 0;
  p->spent = floor || guess || w->bounds.gap <= p->ask;
  if (!p->spent) return LAPIS_OK;
  double ask = l->iter % PROVE_EVERY == 0 ? p->tol : p->ask;
  if (!floor && w->bounds.gap > ask) TRY(weigh_up(w, false));
  if (!floor && w->bounds.gap > ask) return LAPIS_OK;
  TRY(weigh_up(w, true));
  p->done = w->bounds.gap <= p->tol;
  if (!p->done) p->ask /= 2;
  return LAPIS_OK;
}

static void keep_fit(rr_dstep *w, loop *l)
{
  rr_fit *f = &w->fit;
  if (f->k == 0) return;
  la_keep(l, "fit.S", &f->S);
  loop_keep_positive(l, "fit.rho", &f->rho, 1);
  loop_keep(l, "fit.before", &f->before, 1);
  loop_keep(l, "fit.sums", f->sums, 4);
}

void rr_dstep_keep(rr_dstep *w, loop *l, bool masked)
{
  if (masked) la_keep_holes(l, "X", &w->X);
  la_keep(l, "S", &w->S);
  la_keep(l, "W", &w->W);
  la_keep(l, "A", &w->A);
  la_keep(l, "v", &w->v);
  keep_fit(w, l);
  loop_keep_positive(l, "rho", &w->rho, 1);
  loop_keep(l, "unit", &w->unit, 1);
  loop_keep_whole(l, "age", &w->age, 1, 0, LOOP_MOST);
  loop_keep(l, "sums", w->sums, 6);
  loop_keep_whole(l, "rank", &w->low_rank.rank, 1, 0, LOOP_MOST);
  loop_keep(l, "nuclear", &w->low_rank.nuclear, 1);
  loop_keep(l, "primal", &w->bounds.primal, 1);
  loop_keep(l, "dual", &w->bounds.dual, 1);
  loop_keep(l, "gap", &w->bounds.gap, 1);
  loop_keep(l, "norm", &w->bounds.norm, 1);
  loop_keep(l, "tol", &w->proof.tol, 1);
  loop_keep(l, "ask", &w->proof.ask, 1);
  loop_keep_switch(l, "spent", &w->proof.spent);
  loop_keep_switch(l, "done", &w->proof.done);
  loop_keep_whole(l, "round", &w->round, 1, 0, LOOP_MOST);
  anderson_keep(&w->accel, l);
}

lapis_status rr_dstep_run(rr_dstep *w, loop *l, double tol)
{
  rr_proof *p = &w->proof;
  bool resumed;
  *p = (rr_proof){.tol = tol, .ask = tol};
  TRY(loop_resume(l, &resumed));
  if (resumed && w->fit.k > 0) TRY(rr_fit_factor(w));
  while (!p->done && loop_next(l)) {
    if (p->spent) TRY(reflect(w));
    TRY(step(w));
    bool floor = at_floor(w);
    TRY(prove(w, l));
    TRY(record(w, l));
    if (floor && !p->done) l->status = LAPIS_PRECISION_FLOOR;
  }
  if (p->done) return LAPIS_OK;
  TRY(rr_dstep_certify(w));
  bool late = l->status == LAPIS_MAX_ITERS || l->status == LAPIS_TIME_LIMIT;
  if (late && w->bounds.gap <= tol) l->status = LAPIS_OK; /* the last step */
  return LAPIS_OK;
}
