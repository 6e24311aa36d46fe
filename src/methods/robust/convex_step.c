/* convex_step.c - low rank plus sparse, with or without a linear fit,
 * certified.
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
#include "methods/robust/robust.h"

#include <math.h>
#include <string.h>

static const double FIRST_RHO = 1.25, GROWTH = 1.8, TOP_RHO = 2000;
static const double INEXACT = 1e-2; /* of a step, times its residual */
static const double RELAXATION = 1.6;
enum {
  GROWING = 33,
  FIRST_BALANCE = 34,
  BALANCE_EVERY = 6,
  LAST_BALANCE = 250
};
enum { POWER_STEPS = 12, GUESS_STEPS = 4, GUESS_EVERY = 5, PROVE_EVERY = 100 };
static const double MENDABLE = 1; /* gap but for the norm, times tol */
static const anderson_options ACCELERATION = {.memory = 20, .regular = 1e-13};
enum { SMALL = 250000 }; /* entries that are worth accelerating */

/* ---- memory -------------------------------------------------------------*/
double rr_dstep_holds(const solver_size *z)
{
  return 6 * z->features + 8 * z->small * z->small +
         (2 * ACCELERATION.memory + 3) * fmin(z->features, SMALL);
}

lapis_status rr_dstep_new(la *h, const lapis_mat *X, int64_t k, rr_dstep *dstep)
{
  memset(dstep, 0, sizeof *dstep);
  dstep->h = h;
  dstep->scale = 1;
  dstep->d = X->rows;
  dstep->n = X->cols;
  TRY(base_place(h->ctx, dstep->n, &dstep->first, &dstep->all));
  TRY(op_svt_new(h, dstep->d, dstep->n, &dstep->svt));
  la_array *all[] = {&dstep->X, &dstep->S, &dstep->W, &dstep->A};
  for (int i = 0; i < 4; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, dstep->d, dstep->n, all[i]));
  TRY(h->ops->alloc(h, LAPIS_F64, dstep->d, 1, &dstep->u));
  TRY(h->ops->alloc(h, LAPIS_F64, dstep->n, 1, &dstep->v));
  TRY(rr_fit_alloc(dstep, k));
  if (dstep->d * dstep->all <= SMALL)
    anderson_new(h, dstep->d, dstep->n, k > 0 ? 2 : 1, &ACCELERATION,
                 &dstep->accel);
  return h->ops->upload(h, X, &dstep->X);
}

void rr_dstep_free(rr_dstep *dstep)
{
  if (dstep->h == NULL) return;
  la_array *all[] = {&dstep->X, &dstep->S, &dstep->W,
                     &dstep->A, &dstep->u, &dstep->v};
  for (int i = 0; i < 6; i++) dstep->h->ops->free(dstep->h, all[i]);
  rr_fit_free(dstep);
  anderson_free(&dstep->accel);
  op_svt_free(dstep->svt);
  dstep->h = NULL;
}

/* ---- starting -----------------------------------------------------------*/
/* |A|_2 from below by some steps of the power method from v, which learns: a
 * unit or a guess, never a bound. */
static lapis_status power(rr_dstep *dstep, const la_array *A, int steps,
                          double *norm)
{
  la *h = dstep->h;
  double square = 0;
  *norm = 0;
  for (int i = 0; i < steps; i++) {
    TRY(h->ops->gemv(h, LA_N, 1, A, &dstep->v, 0, &dstep->u));
    TRY(la_sum(h, &dstep->u));
    TRY(h->ops->dot(h, &dstep->u, &dstep->u, &square));
    if (!(square > 0)) break;
    TRY(la_scale(h, 1 / sqrt(square), &dstep->u));
    TRY(h->ops->gemv(h, LA_T, 1, A, &dstep->u, 0, &dstep->v));
    TRY(h->ops->dot(h, &dstep->v, &dstep->v, &square));
    TRY(base_sum(h->ctx, &square, 1));
    *norm = sqrt(square);
    if (*norm > 0) TRY(la_scale(h, 1 / *norm, &dstep->v));
  }
  return LAPIS_OK;
}

static lapis_status forget_direction(rr_dstep *dstep)
{
  lapis_mat v;
  TRY(la_borrow(dstep->h, &dstep->v, &v));
  for (int64_t j = 0; j < dstep->n; j++)
    ((double *)v.val)[j] = rng_normal(1, 0, (uint64_t)(dstep->first + j));
  return la_give_back(dstep->h, &v, &dstep->v);
}

static lapis_status measure(rr_dstep *dstep)
{
  TRY(forget_direction(dstep));
  TRY(power(dstep, &dstep->S, POWER_STEPS, &dstep->unit));
  TRY(forget_direction(dstep));
  if (!(dstep->unit > 0)) dstep->unit = 1;
  return LAPIS_OK;
}

/* W = 2 B - S (and its mean with the fit's). */
static lapis_status reflect(rr_dstep *dstep)
{
  la *h = dstep->h;
  TRY(h->ops->l1_dual(h, dstep->lambda / dstep->rho, &dstep->X, &dstep->S,
                      &dstep->W));
  TRY(h->ops->axpby(h, 1, &dstep->S, 2, &dstep->W));
  return rr_fit_reflect(dstep);
}

/* S = X, 0 where not observed: S + clamp(X - S) with S = 0 and no bound. */
static lapis_status start_cold(rr_dstep *dstep)
{
  la *h = dstep->h;
  TRY(la_zero(h, &dstep->S));
  TRY(h->ops->l1_dual(h, INFINITY, &dstep->X, &dstep->S, &dstep->W));
  TRY(la_copy(h, &dstep->W, &dstep->S));
  TRY(measure(dstep));
  dstep->rho = FIRST_RHO / dstep->unit;
  dstep->age = 0;
  dstep->fit.rho = dstep->rho;
  if (dstep->fit.k > 0) TRY(la_copy(h, &dstep->S, &dstep->fit.S));
  return LAPIS_OK;
}

lapis_status rr_dstep_start(rr_dstep *dstep, double lambda, bool warm)
{
  dstep->lambda = lambda;
  dstep->bounds = (rr_bounds){NAN, NAN, INFINITY, NAN};
  memset(dstep->sums, 0, sizeof dstep->sums);
  memset(dstep->fit.sums, 0, sizeof dstep->fit.sums);
  if (warm)
    dstep->age = FIRST_BALANCE - 2;
  else
    TRY(start_cold(dstep));
  anderson_reset(&dstep->accel);
  TRY(rr_fit_factor(dstep));
  return reflect(dstep);
}

/* ---- bounds -------------------------------------------------------------*/
/* primal at A; dual of (C, Q) scaled into |C + K'Q|_2 <= 1. */
static void set_bounds(rr_dstep *dstep, double l1, double inner, double norm,
                       rr_bounds *out)
{
  const rr_fit *f = &dstep->fit;
  double s = norm > 1 ? 1 / norm : 1;
  out->norm = norm;
  out->primal = dstep->low_rank.nuclear + dstep->lambda * l1;
  out->dual = s * inner;
  if (f->k > 0) {
    out->primal += f->eta / 2 * f->loss;
    out->dual += s * f->inner - s * s * f->square / (2 * f->eta);
  }
  double size = fmax(fmax(fabs(out->primal), fabs(out->dual)), 1e-300);
  out->gap = (out->primal - out->dual) / size;
}

/* The free estimate, of sums that have arrived, before rho changes; the fit's
 * multiplier is in units of the rho it had. */
static void estimate(rr_dstep *dstep)
{
  const rr_fit *f = &dstep->fit;
  double norm = 1 + dstep->rho * sqrt(dstep->sums[0]);
  if (f->k > 0) norm += f->before * sqrt(f->sums[0]);
  set_bounds(dstep, dstep->sums[4], dstep->rho * dstep->sums[5], norm,
             &dstep->bounds);
}

/* ---- the steps ----------------------------------------------------------*/
/* A <- SVT(W, 1/rho), the rho of both copies of D together, as exactly as the
 * last residual makes worth while; others who share w->svt want it exact. */
static lapis_status update_low_rank(rr_dstep *dstep)
{
  double rho = dstep->rho + (dstep->fit.k > 0 ? dstep->fit.rho : 0);
  op_svt_accept(dstep->svt,
                dstep->age > 1 ? INEXACT * rr_dstep_residual(dstep) : INEXACT);
  lapis_status s =
      op_svt_apply(dstep->svt, &dstep->W, 1 / rho, &dstep->A, &dstep->low_rank);
  op_svt_accept(dstep->svt, 0);
  return s;
}

/* |A - B|^2, |B_new - B|^2, |B_new|^2 and |multiplier / rho|^2 of both copies
 * together. */
static void sums_of_both(const rr_dstep *dstep, double sums[4])
{
  for (int i = 0; i < 4; i++) sums[i] = dstep->sums[i] + dstep->fit.sums[i];
}

/* By how much rho grows after this step. */
static double growth(const rr_dstep *dstep)
{
  int64_t k = dstep->age;
  double sums[4];
  if (k <= GROWING) return dstep->rho * dstep->unit < TOP_RHO ? GROWTH : 1;
  sums_of_both(dstep, sums);
  bool due = (k - FIRST_BALANCE) % BALANCE_EVERY == 0 && k <= LAST_BALANCE;
  return due ? rr_balance(sums) : 1;
}

/* rho stays, and there is room to accelerate. */
static bool settled(const rr_dstep *dstep)
{
  return dstep->age > LAST_BALANCE && dstep->accel.parts > 0;
}

/* B and S, C2 and its S; W where nothing accelerates.  The sums are on their
 * way. */
static lapis_status update_sparse(rr_dstep *dstep, double factor)
{
  bool plain = dstep->age < FIRST_BALANCE || settled(dstep);
  double relax = plain ? 1 : RELAXATION;
  la_l1 p = {
      .t = dstep->lambda / dstep->rho, .relax = relax, .rescale = 1 / factor};
  if (dstep->fit.k > 0) TRY(rr_fit_loss(dstep));
  TRY(dstep->h->ops->l1_step(dstep->h, &p, &dstep->X, &dstep->A, &dstep->S,
                             &dstep->W, dstep->sums));
  TRY(base_sum_later(dstep->h->ctx, dstep->sums, 6));
  return rr_fit_step(dstep, relax, factor);
}

/* rho of the next step, and what is made of it. */
static lapis_status change_rho(rr_dstep *dstep, double factor)
{
  dstep->rho *= factor;
  if (dstep->fit.k > 0 && (factor < 1 || factor > 1)) TRY(rr_fit_factor(dstep));
  return rr_fit_reflect(dstep);
}

/* ---- the certificate ------------------------------------------------------*/
/* W <- C = rho (B - S) */
static lapis_status multiplier(rr_dstep *dstep)
{
  la *h = dstep->h;
  TRY(h->ops->l1_dual(h, dstep->lambda / dstep->rho, &dstep->X, &dstep->S,
                      &dstep->W));
  return la_scale(h, dstep->rho, &dstep->W);
}

/* Bounds at A with the multiplier in W; the norm from above, or guessed in a
 * fraction of the time. */
static lapis_status weigh(rr_dstep *dstep, bool exact)
{
  la *h = dstep->h;
  rr_fit *f = &dstep->fit;
  double sums[4], norm = 0; /* of l1_sums; the fit's inner and square */
  la_array *G = &dstep->W;
  TRY(h->ops->l1_sums(h, &dstep->X, &dstep->A, &dstep->W, sums));
  if (f->k > 0) {
    G = &f->G;
    TRY(la_copy(h, &dstep->W, G));
    TRY(h->ops->axpby(h, f->rho, &f->P, 1, G));
    TRY(rr_fit_loss(dstep));
    TRY(h->ops->dot(h, &f->H, &f->R, &f->inner));
    TRY(h->ops->dot(h, &f->H, &f->H, &f->square));
    sums[2] = f->inner * f->rho;
    sums[3] = f->square * (f->rho * f->rho);
  }
  TRY(base_sum_later(h->ctx, sums, f->k > 0 ? 4 : 2));
  TRY(exact ? op_norm2_upper(dstep->svt, G, &norm)
            : power(dstep, G, GUESS_STEPS, &norm));
  if (f->k > 0) {
    f->inner = sums[2];
    f->square = sums[3];
  }
  set_bounds(dstep, sums[0], sums[1], norm, &dstep->bounds);
  if (norm <= 1) return LAPIS_OK;
  return la_scale(h, 1 / norm, &dstep->W);
}

lapis_status rr_dstep_certify(rr_dstep *dstep)
{
  TRY(multiplier(dstep));
  return weigh(dstep, true);
}

/* ---- the loop -----------------------------------------------------------*/
const char *const rr_dstep_columns[] = {"iteration", "objective", "dual",
                                        "gap",       "residual",  "rank"};

double rr_dstep_residual(const rr_dstep *dstep)
{
  const double *sums = dstep->sums;
  double size = sums[2] > 0 ? sums[2] : sums[0]; /* B = 0: all of it is left */
  return sqrt(sums[0] / fmax(size, 1e-300));
}

static lapis_status record(rr_dstep *dstep, loop *l)
{
  const rr_bounds *b = &dstep->bounds;
  double residual = rr_dstep_residual(dstep);
  double rank = (double)dstep->low_rank.rank;
  double primal = b->primal * dstep->scale, dual = b->dual * dstep->scale;
  base_say(l->ctx, 2,
           "%s: %" PRId64 " objective %.10g gap %.2e residual %.2e rank %g "
           "rho %.3g %s",
           l->method, l->iter, primal, b->gap, residual, rank,
           dstep->rho * dstep->unit, dstep->low_rank.why);
  TRY(loop_record(l, (double[]){primal, dual, b->gap, residual, rank}));
  lapis_progress now = {.rank = dstep->low_rank.rank,
                        .objective = primal,
                        .gap = b->gap,
                        .residual = residual};
  loop_show(l, &now, dstep->proof.tol);
  return LAPIS_OK;
}

/* Rounding decides once the iterates stand still to a few units in the last
 * place, the fit's copy, too: where nothing is seen but zeros, the other one
 * stands at 0 from the start. */
static bool at_floor(const rr_dstep *dstep)
{
  double sums[4];
  sums_of_both(dstep, sums);
  return rr_at_rounding(sums);
}

static lapis_status step(rr_dstep *dstep)
{
  la_array *const state[] = {&dstep->S, &dstep->fit.S};
  dstep->age++;
  TRY(update_low_rank(dstep));
  double factor = growth(dstep); /* 1 where it is settled */
  bool accelerated = settled(dstep);
  if (accelerated) TRY(anderson_before(&dstep->accel, state));
  TRY(update_sparse(dstep, factor));
  if (accelerated) TRY(anderson_after(&dstep->accel, state));
  TRY(base_sum_due(dstep->h->ctx));
  estimate(dstep);
  if (!accelerated) return change_rho(dstep, factor);
  TRY(rr_fit_project(dstep));
  return reflect(dstep);
}

/* Whether the excess of the norm alone is in the way, and mending was not tried
 * just now. */
static bool worth_mending(const rr_dstep *dstep, int64_t iter)
{
  const rr_bounds *b = &dstep->bounds;
  double size = fmax(fabs(b->primal), 1e-300);
  double inner = b->dual * fmax(b->norm, 1);
  return dstep->fit.k == 0 && dstep->proof.mend <= iter &&
         fabs(b->primal - inner) <= MENDABLE * dstep->proof.tol * size;
}

/* Half of what is left between the norm that was guessed and the largest that
 * is small enough is what the proof asks for: one factorisation. */
static lapis_status prove_mended(rr_dstep *dstep, int64_t iter)
{
  rr_bounds *b = &dstep->bounds;
  rr_proof *p = &dstep->proof;
  p->mend = iter + 1 + iter / 8;
  TRY(rr_mend(dstep));
  TRY(weigh(dstep, false)); /* W is scaled by the guess */
  double limit = (1 + b->dual / (b->primal * (1 - p->tol))) / 2;
  if (!(b->gap <= p->tol && limit > 1)) return LAPIS_OK;
  TRY(op_norm2_within(dstep->svt, &dstep->W, limit, &p->done));
  if (!p->done) return LAPIS_OK;
  b->norm = fmax(b->norm, 1) * limit;
  b->dual /= limit;
  b->gap = (b->primal - b->dual) / fmax(b->primal, b->dual);
  return la_scale(dstep->h, 1 / limit, &dstep->W);
}

static lapis_status prove(rr_dstep *dstep, const loop *l)
{
  rr_proof *p = &dstep->proof;
  bool floor = at_floor(dstep);
  bool mend = !floor && worth_mending(dstep, l->iter);
  bool guess = dstep->age > GROWING / 2 && l->iter % GUESS_EVERY == 0;
  p->spent = floor || mend || guess || dstep->bounds.gap <= p->ask;
  if (!p->spent) return LAPIS_OK;
  double ask = l->iter % PROVE_EVERY == 0 ? p->tol : p->ask;
  TRY(multiplier(dstep));
  if (mend) return prove_mended(dstep, l->iter);
  if (!floor && dstep->bounds.gap > ask) {
    TRY(weigh(dstep, false));
    if (dstep->bounds.gap > ask) return LAPIS_OK;
    TRY(multiplier(dstep));
  }
  TRY(weigh(dstep, true));
  p->done = dstep->bounds.gap <= p->tol;
  if (!p->done) p->ask /= 2;
  return LAPIS_OK;
}

static void keep_fit(rr_dstep *dstep, loop *l)
{
  rr_fit *f = &dstep->fit;
  if (f->k == 0) return;
  la_keep_part(l, "fit.S", &f->S);
  loop_keep_positive(l, "fit.rho", &f->rho, 1);
  loop_keep(l, "fit.before", &f->before, 1);
  loop_keep(l, "fit.sums", f->sums, 4);
}

void rr_dstep_keep(rr_dstep *dstep, loop *l, bool masked)
{
  if (masked) la_keep_part_holes(l, "X", &dstep->X);
  la_keep_part(l, "S", &dstep->S);
  la_keep_part(l, "W", &dstep->W);
  la_keep_part(l, "A", &dstep->A);
  la_keep_part(l, "v", &dstep->v);
  keep_fit(dstep, l);
  loop_keep_positive(l, "rho", &dstep->rho, 1);
  loop_keep(l, "unit", &dstep->unit, 1);
  loop_keep_whole(l, "age", &dstep->age, 1, 0, LOOP_MOST);
  loop_keep(l, "sums", dstep->sums, 6);
  loop_keep_whole(l, "rank", &dstep->low_rank.rank, 1, 0, LOOP_MOST);
  loop_keep(l, "nuclear", &dstep->low_rank.nuclear, 1);
  loop_keep_holes(l, "primal", &dstep->bounds.primal, 1); /* before a step */
  loop_keep_holes(l, "dual", &dstep->bounds.dual, 1);
  loop_keep(l, "gap", &dstep->bounds.gap, 1);
  loop_keep_holes(l, "norm", &dstep->bounds.norm, 1);
  loop_keep(l, "tol", &dstep->proof.tol, 1);
  loop_keep(l, "ask", &dstep->proof.ask, 1);
  loop_keep_whole(l, "mend", &dstep->proof.mend, 1, 0, LOOP_MOST);
  loop_keep_switch(l, "spent", &dstep->proof.spent);
  loop_keep_switch(l, "done", &dstep->proof.done);
  loop_keep_whole(l, "round", &dstep->round, 1, 0, LOOP_MOST);
  anderson_keep(&dstep->accel, l);
}

lapis_status rr_dstep_run(rr_dstep *dstep, loop *l, double tol)
{
  rr_proof *p = &dstep->proof;
  bool resumed;
  *p = (rr_proof){.tol = tol, .ask = tol};
  TRY(loop_resume(l, &resumed));
  if (resumed && dstep->fit.k > 0) TRY(rr_fit_factor(dstep));
  while (!p->done && loop_next(l)) {
    if (p->spent) TRY(reflect(dstep));
    TRY(step(dstep));
    bool floor = at_floor(dstep);
    TRY(prove(dstep, l));
    TRY(record(dstep, l));
    if (floor && !p->done) l->status = LAPIS_PRECISION_FLOOR;
  }
  if (p->done) return LAPIS_OK;
  TRY(rr_dstep_certify(dstep));
  bool late = l->status == LAPIS_MAX_ITERS || l->status == LAPIS_TIME_LIMIT;
  if (late && dstep->bounds.gap <= tol)
    l->status = LAPIS_OK; /* the last step */
  return LAPIS_OK;
}
