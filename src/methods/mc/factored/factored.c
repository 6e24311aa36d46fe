/* factored.c - completion where most of X is unseen: alternating least squares
 * on Z = A B' + c e', with a proof.
 *
 *   minimize  tau/2 (|A|^2 + |B|^2) + tau |e| sqrt(1 + |c|^2)
 *             + sum_Omega losses of A B' + c e'      (in units of a)
 *
 * |L|_* is the smallest (|A|^2 + |B|^2) / 2 over L = A B', and with the row of
 * ones fixed |[L + c e'; e']|_* is at most |L|_* + |e| sqrt(1 + |c|^2), with
 * equality at the best split (proofs.md): the same minimum as mc's,
 * with neither Z nor a multiplier.  Without labels there is no offset and this
 * is softImpute's problem.  Memory: 28 bytes an entry seen, and a few vectors
 * a column of the factors.
 *
 * The product has critical points that are not optimal; each of them shows,
 * because the residual S then has a singular value above tau outside the
 * factors' space.  So:
 *   sweep    A given B, B given A: least squares a row (factored_step.c)
 *   balance  A'A = B'B = Sigma; what S does not want goes
 *   look     one block power step on S: an estimate of |S|_2, of the gap, and
 *            vectors above tau outside, which join the factors
 *   prove    where the estimate is good enough (factored_proof.c)
 * and nothing is called solved without the last.
 *
 * Source: alternating least squares for |.|_* is [MC11 Sec. 4]'s bilinear form
 * and that of Hastie, Mazumder, Lee and Zadeh (2015); the global test of a
 * critical point is due to Bach, Mairal and Ponce (2008).
 *
 * Numerics: Gram matrices of the factors resolve singular values down to 1e-8
 * of the largest; smaller ones leave the factors.  The primal is computed at
 * the factors as they are, so that this costs no truth. */
#include <math.h>
#include <string.h>

#include "methods/mc/factored/factored.h"

enum { WORTH_THREADS = 20000 /* entries */ };
enum {
  LOOK_EVERY = 2, /* sweeps, */
  LOOK_LAST = 4,  /* where the gap falls as foreseen */
  FIRST = 16,
  GUARDS = 8,
  START_STEPS = 3,
  AUTO_MOST = 256,
  PATIENCE = 30,
  MOST_EXTRA = 64
};
static const int64_t WORTH = 3000; /* min(m, n) from which auto takes it */
static const int64_t MOST_EXACT = 20000;
static const double SETTLED = 1e-2; /* primal's fall between two looks */
static const double MOST_RHO = 0.9; /* of a sweep: a guess above is no help */
static const double OUTSIDE = 0.5;  /* share of a vector outside the factors */

static int64_t smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* ---- vectors that join, directions that go --------------------------------*/
/* own_k = u_k'S v_k is below tau where S wants less of direction k; where its
 * weight is smaller than the difference, one gradient step takes all of it. */
static lapis_status drop_unwanted(mc *w, const double *own)
{
  factored *f = w->state;
  int64_t gone = 0;
  bool *keep = base_alloc(w->base.ctx, f->R, sizeof *keep);
  if (keep == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < f->R; k++) {
    keep[k] = f->sigma.v[k] > f->eager * (f->tau - own[k]);
    gone += !keep[k];
  }
  if (gone > 0) factored_drop(f, keep);
  f->dropped = f->dropped || gone > 0;
  base_free(keep);
  return LAPIS_OK;
}

/* outside[j]: share of Ritz vector j that the factors' space lacks. */
static lapis_status shares_outside(mc *w, double *outside)
{
  factored *f = w->state;
  const tall *F = f->by_sample ? &f->B : &f->A;
  int64_t ldq = f->V.ld;
  double *C = f->small;
  TRY(tall_cross(&w->h, F, &f->V, C));
  for (int64_t j = 0; j < f->q; j++) {
    outside[j] = 1;
    for (int64_t k = 0; k < f->R; k++) {
      double c = C[(k + f->off) * ldq + j];
      outside[j] -= c * (c / f->sigma.v[k]);
    }
  }
  return LAPIS_OK;
}

static void swap_guards(factored *f, int64_t j, int64_t k)
{
  for (int64_t i = 0; i < f->GV.rows; i++) {
    double *row = f->GV.v + i * f->GV.ld, kept = row[j];
    row[j] = row[k];
    row[k] = kept;
  }
}

/* The next block takes the factors' directions and, as guards, what stands
 * behind the first R columns: that is where missed vectors go, which come first
 * and would be lost if they do not join now. */
static void guard_missed(factored *f, const double *outside)
{
  int64_t to = f->R;
  for (int64_t j = 0; j < smaller(f->R, f->q); j++) {
    while (to < f->q && outside[to] > 0) to++;
    if (to >= f->q) return;
    if (outside[j] > 0) swap_guards(f, j, to++);
  }
}

/* Ritz values that no weight of the factors explains. */
static lapis_status find_missed(mc *w, double *outside)
{
  factored *f = w->state;
  f->missed = 0;
  TRY(shares_outside(w, outside));
  for (int64_t j = 0; j < f->q; j++) {
    bool above = f->theta.v[j] > f->tau * f->tau && outside[j] > OUTSIDE;
    outside[j] = above ? 1 : 0;
    f->missed += above;
  }
  if (f->missed > 0) guard_missed(f, outside);
  return LAPIS_OK;
}

/* Column R of the factors: the step along Ritz vector j that would be best if
 * Omega were a fair sample. */
static void append(factored *f, int64_t j)
{
  tall *side = f->by_sample ? &f->B : &f->A;
  tall *other = f->by_sample ? &f->A : &f->B;
  double value = sqrt(f->theta.v[j]), at = (value - f->tau) / f->seen_share;
  double root = sqrt(at);
  int64_t k = f->off + f->R;
  for (int64_t i = 0; i < side->rows; i++)
    side->v[i * side->ld + k] = root * f->V.v[i * f->V.ld + j];
  for (int64_t i = 0; i < other->rows; i++)
    other->v[i * other->ld + k] = root / value * f->T.v[i * f->T.ld + j];
  f->sigma.v[f->R++] = at;
}

/* Up to `most` missed vectors join the factors. */
static lapis_status join_missed(mc *w, const double *outside, int64_t most)
{
  factored *f = w->state;
  int64_t room = smaller(most, f->most - f->R), wanted = 0, before = f->R;
  for (int64_t j = 0; j < f->q; j++) wanted += outside[j] > 0;
  f->capped = f->R + wanted > f->most;
  if (wanted > room) wanted = room;
  if (wanted == 0) return LAPIS_OK;
  /* what had gone may be what comes back: the next is let go later */
  if (f->dropped) f->eager /= 4;
  f->dropped = false;
  TRY(factored_reserve(w, f->R + wanted, f->q));
  f->R = before;
  for (int64_t j = 0; j < f->q && f->R < before + wanted; j++)
    if (outside[j] > 0) append(f, j);
  return LAPIS_OK;
}

/* Column 0 of B is e, where there is an offset. */
static void set_ones(factored *f)
{
  for (int64_t j = 0; f->off > 0 && j < f->n; j++) f->B.v[j * f->B.ld] = 1;
}

/* ---- state that outlives the process
 * ---------------------------------------*/
static void keep_arrays(mc *w)
{
  factored *f = w->state;
  loop *l = &w->base.loop;
  loop_keep(l, "A", f->A.v, f->A.rows * f->A.ld);
  loop_keep(l, "B", f->B.v, f->B.rows * f->B.ld);
  loop_divide(l, 1);
  loop_keep(l, "GV", f->GV.v, f->GV.rows * f->GV.ld);
}

static lapis_status keep(mc *w, bool *resumed)
{
  factored *f = w->state;
  loop *l = &w->base.loop;
  bool arrays;
  loop_keep_whole(l, "columns", &f->shape[0], 1, 0, f->most);
  loop_keep_whole(l, "vectors", &f->shape[1], 1, 1, f->V.rows);
  loop_keep_whole(l, "extra", &f->extra, 1, 0, MOST_EXTRA);
  loop_keep_whole(l, "drawn", &f->drawn, 1, 0, LOOP_MOST);
  loop_keep_whole(l, "tests", &f->tests, 1, 0, LOOP_MOST);
  loop_keep_whole(l, "next", &f->next_look, 1, 0, LOOP_MOST);
  loop_keep(l, "numbers", f->numbers, 5);
  loop_keep_positive(l, "alpha2", &f->alpha2, 1);
  loop_keep_positive(l, "eager", &f->eager, 1);
  loop_keep_positive(l, "relax", &f->relax, 1);
  loop_keep_switch(l, "dropped", &f->dropped);
  TRY(loop_resume(l, resumed));
  if (*resumed) TRY(factored_reserve(w, f->shape[0], f->shape[1]));
  keep_arrays(w);
  TRY(loop_resume(l, &arrays));
  set_ones(f); /* whatever the file says */
  return LAPIS_OK;
}

/* The arrays may lie elsewhere, and be of other sizes, after a look. */
static lapis_status keep_again(mc *w)
{
  bool resumed;
  loop_set_stage(&w->base.loop, w->base.loop.stage + 1);
  keep_arrays(w);
  return loop_resume(&w->base.loop, &resumed);
}

/* ---- looking
 * ----------------------------------------------------------------*/
static lapis_status record(mc *w)
{
  factored *f = w->state;
  loop *l = &w->base.loop;
  double a = w->p.a, rank = (double)f->R;
  w->bounds = (mc_bounds){.primal = a * f->now.primal,
                          .dual = a * f->now.dual,
                          .gap = f->now.gap,
                          .norm = f->now.norm};
  w->low_rank.rank = f->R;
  base_say(w->base.ctx, 2,
           "mc: %" PRId64 " objective %.10g gap %.2e (%s) rank %g, %g above "
           "tau outside",
           l->iter, w->bounds.primal, w->bounds.gap,
           f->now.proved ? "proved" : "estimated", rank, f->missed);
  return loop_record(l, (double[]){w->bounds.primal, w->bounds.dual,
                                   w->bounds.gap, f->now.norm, rank});
}

static int64_t guards(const factored *f)
{
  return GUARDS + f->R / 8 + f->extra;
}

static int64_t more_guards(const factored *f)
{
  return smaller(8 + 2 * f->extra, MOST_EXTRA);
}

/* Balance, the residual, and an estimate of all that is claimed of it. */
static lapis_status look(mc *w, double *own)
{
  factored *f = w->state;
  TRY(factored_rest(w));
  TRY(factored_ritz(w, true, own));
  TRY(find_missed(w, own + f->R));
  return factored_bound(w, sqrt(f->theta.v[0]) / f->tau, &f->now);
}

static bool solved(const mc *w)
{
  const factored *f = w->state;
  return f->now.proved && f->now.gap <= w->set.stop.tol;
}

/* A look, and the proof where it may hold; own: R + q numbers. */
static lapis_status check(mc *w, bool last, double **own)
{
  factored *f = w->state;
  TRY(factored_balance(w));
  int64_t q = smaller(f->R + guards(f), f->V.rows);
  TRY(factored_reserve(w, f->R, q));
  base_free(*own);
  *own = base_alloc(w->base.ctx, f->R + f->q, sizeof **own);
  if (*own == NULL) return LAPIS_ENOMEM;
  TRY(look(w, *own));
  if (2 * f->missed > guards(f)) f->extra = more_guards(f);
  bool near = f->now.gap <= w->set.stop.tol;
  if (near || last) TRY(factored_prove(w, last));
  if (near && !f->now.proved) f->extra = more_guards(f);
  return record(w);
}

/* Rounding decides, or the cap on the rank does. */
static void give_up(mc *w, double fall)
{
  factored *f = w->state;
  loop *l = &w->base.loop;
  double *best = &f->numbers[1], *stalled = &f->numbers[2];
  *stalled = f->now.gap < 0.9 * *best ? 0 : *stalled + 1;
  *best = fmin(*best, f->now.gap);
  if (f->capped && f->missed > 0 && fall <= w->set.stop.tol) {
    base_note(w->base.ctx, BASE_WARNING, "most-rank",
              "mc: the factors have %" PRId64
              " columns, which is the most, and "
              "%g more singular values of the residual lie above mu: nothing "
              "is solved; raise {most-rank} or mu",
              f->R, f->missed);
    l->status = LAPIS_MAX_ITERS;
  } else if (*stalled > PATIENCE && fall <= 1e-14) {
    l->status = LAPIS_PRECISION_FLOOR;
  }
}

/* The two halves of a sweep are a Gauss-Seidel iteration in two blocks, which
 * theory knows whole [Young 1971]: with relaxation omega a sweep's factor
 * lambda has (lambda + omega - 1)^2 = lambda omega^2 rho, rho that of omega =
 * 1, and 2 / (1 + sqrt(1 - rho)) is best, with lambda = omega - 1.  Each half
 * is quadratic where nothing is a label, so that any omega below 2 goes down.
 */
static void set_relaxation(mc *w, double lambda)
{
  factored *f = w->state;
  double *omega = &f->relax;
  if (w->p.K > 0 || !(lambda > *omega - 1)) return;
  double root = lambda + *omega - 1, rho = root * root / lambda;
  rho = fmin(rho / (*omega * *omega), MOST_RHO);
  *omega = 2 / (1 + sqrt(1 - rho));
}

/* A look costs as much as a sweep: while no vectors join, the next comes where
 * the gap will have fallen to tol if it goes on as between the last two. */
static void plan_look(mc *w, bool settled)
{
  factored *f = w->state;
  double *before = &f->numbers[3], *since = &f->numbers[4];
  double gap = f->now.gap, fall = log(*before / gap) / *since, sweeps = 0;
  bool known = settled && fall > 0 && isfinite(fall);
  if (known) set_relaxation(w, exp(-fall));
  if (known) fall = fmax(fall, -log(f->relax - 1) / 2);
  if (known) sweeps = ceil(log(gap / w->set.stop.tol) / fall);
  if (!settled) f->relax = 1;
  *before = settled ? gap : INFINITY;
  *since = fmin(fmax(sweeps, LOOK_EVERY), LOOK_LAST);
  f->next_look = w->base.loop.iter + (int64_t)*since;
}

/* What a look teaches: directions go, vectors join. */
static lapis_status adapt(mc *w, double *own)
{
  factored *f = w->state;
  double *before = &f->numbers[0];
  double fall = (*before - f->now.primal) / fmax(fabs(f->now.primal), 1e-300);
  int64_t R = f->R;
  *before = f->now.primal;
  give_up(w, isnan(fall) ? INFINITY : fall);
  if (w->base.loop.status != LAPIS_OK) return LAPIS_OK;
  /* outside stands behind own: joining comes first, R moves */
  if (fall <= SETTLED || R == 0) TRY(join_missed(w, own + R, GUARDS + R / 2));
  int64_t joined = f->R - R;
  for (int64_t k = R; k < f->R; k++) own[k] = f->tau;
  TRY(drop_unwanted(w, own));
  plan_look(w, joined == 0);
  return keep_again(w);
}

/* ---- the loop
 * ---------------------------------------------------------------*/
static void show(mc *w)
{
  factored *f = w->state;
  lapis_progress now = {.rank = f->R,
                        .objective = w->bounds.primal,
                        .gap = f->now.gap,
                        .residual = NAN};
  loop_show(&w->base.loop, &now, w->set.stop.tol);
}

/* The offset alone, then the singular vectors of what is left of X. */
static lapis_status start(mc *w)
{
  factored *f = w->state;
  int64_t q = smaller(FIRST + GUARDS, f->V.rows);
  TRY(factored_reserve(w, 0, q));
  if (f->off > 0) TRY(factored_rows(w));
  TRY(factored_rest(w));
  for (int k = 0; k < START_STEPS; k++) TRY(factored_ritz(w, k == 0, NULL));
  double *outside = base_alloc(w->base.ctx, q, sizeof *outside);
  if (outside == NULL) return LAPIS_ENOMEM;
  lapis_status status = find_missed(w, outside);
  if (status >= 0) status = join_missed(w, outside, FIRST);
  base_free(outside);
  return status;
}

static lapis_status iterate(mc *w, double **own)
{
  factored *f = w->state;
  loop *l = &w->base.loop;
  bool resumed;
  f->now = (factored_bounds){.gap = INFINITY};
  f->eager = f->relax = 1;
  f->tests = 0;
  f->dropped = false;
  f->numbers[0] = f->numbers[1] = INFINITY;
  f->numbers[2] = 0;
  f->numbers[3] = INFINITY;
  f->numbers[4] = LOOK_EVERY;
  f->next_look = LOOK_EVERY;
  TRY(keep(w, &resumed));
  if (!resumed && f->R == 0) {
    TRY(start(w));
    TRY(keep_again(w));
  }
  while (!solved(w) && loop_next(l)) {
    TRY(factored_rows(w));
    TRY(factored_samples(w));
    if (l->iter >= f->next_look) {
      TRY(check(w, false, own));
      if (!solved(w)) TRY(adapt(w, *own));
    }
    show(w);
  }
  return solved(w) ? LAPIS_OK : check(w, true, own);
}

static lapis_status solve(mc *w)
{
  static const char *const columns[] = {"iteration", "objective", "dual",
                                        "gap",       "norm",      "rank"};
  double *own = NULL;
  TRY(loop_begin(&w->base.loop, w->base.ctx, "mc", &w->set.stop, 6, columns));
  lapis_status status = iterate(w, &own);
  base_free(own);
  return status;
}

/* ---- the row of the list
 * ------------------------------------------------------*/
static const char *refuses(const mc *w, const lapis_data *data)
{
  bool divided = base_ranks(w->base.ctx) > 1;
  if (divided && w->p.all < w->p.m)
    return "fewer samples than features are not divided among processes";
  if (divided && w->set.certificate)
    return "its --certificate is not divided among processes";
  if (mc_variant_of(w->set.variant)->loss != LA_SQUARE)
    return "it is for --variant mc1, whose feature loss is squared";
  if (w->set.class_features)
    return "--class-features needs columns without a feature; admm has them";
  if (w->set.proof == LAPIS_MC_PROOF_EXACT &&
      smaller(data->X.rows, w->p.all) > MOST_EXACT)
    return "--proof exact takes at most 20000 samples or 20000 features; "
           "leave it at random";
  return NULL;
}

static const char *suits(const mc *w, const lapis_data *data)
{
  const mc_problem *p = &w->p;
  double all = (double)p->D * (double)p->all;
  if (mc_leaves_out(&w->set, data))
    return "what a sparse X leaves out is not observed";
  if ((double)p->seen_X < 0.5 * all && smaller(p->m, p->all) > WORTH)
    return "more than half of X is not observed, and it is large";
  return NULL;
}

static void say_memory(mc *w, const lapis_data *data)
{
  const mc_problem *p = &w->p;
  double vectors = (double)(p->m + p->n) * (4.0 * (FIRST + GUARDS) + 32) * 8;
  double bytes = observed_bytes(p, &data->X) + vectors;
  if (w->set.dense) bytes += 16.0 * (double)p->D * (double)p->n;
  base_say(w->base.ctx, 1,
           "mc: factored: about %.2g GB for %" PRId64 " entries, %.2g GB of it "
           "for 24 columns of factors and vectors",
           bytes / 1e9, p->seen_X + p->seen_Y, vectors / 1e9);
}

static lapis_status allocate(mc *w)
{
  factored *f = w->state;
  int64_t side = f->by_sample ? f->n : f->m, other = f->m + f->n - side;
  f->A.rows = f->m;
  f->B.rows = f->n;
  f->V.rows = f->GV.rows = side;
  f->T.rows = f->W.rows = other;
  f->B.divided = f->T.divided = f->W.divided = base_ranks(w->base.ctx) > 1;
  f->sigma.rows = f->theta.rows = f->error.rows = 1;
  for (int i = 0; i < 4; i++) f->Z[i].rows = side;
  tall *probes[] = {&f->Z[0], &f->Z[1], &f->Z[2], &f->Z[3], &f->W};
  for (int i = 0; i < 5; i++) {
    probes[i]->ld = FACTORED_PROBES;
    probes[i]->v = base_alloc(w->base.ctx, probes[i]->rows * FACTORED_PROBES,
                              sizeof(double));
    if (probes[i]->v == NULL) return LAPIS_ENOMEM;
  }
  f->push = base_alloc(w->base.ctx, f->m, sizeof *f->push);
  if (f->push == NULL) return LAPIS_ENOMEM;
  TRY(factored_reserve(w, 0, smaller(FIRST + GUARDS, side)));
  set_ones(f);
  f->alpha2 = sqrt((double)f->all);
  return LAPIS_OK;
}

static void set_units(mc *w)
{
  factored *f = w->state;
  f->tau = w->p.mu / w->p.a;
  f->beta = w->p.b / w->p.a;
}

/* sigma_1 of Z_0, its row of ones included: a block of eight vectors on the
 * samples' side, until the value stands still. */
static lapis_status largest_of_start(mc *w)
{
  factored *f = w->state;
  lapis_ctx *ctx = w->base.ctx;
  const observed *o = &f->o;
  tall V = {f->n, FACTORED_PROBES, NULL, false};
  tall T = {f->m, FACTORED_PROBES, NULL, false};
  double before = 0, value = 0;
  int64_t first, all;
  TRY(base_place(ctx, f->n, &first, &all));
  V.divided = f->B.divided;
  V.v = base_alloc(ctx, V.rows * V.ld, sizeof *V.v);
  T.v = base_alloc(ctx, T.rows * T.ld, sizeof *T.v);
  lapis_status status = V.v == NULL || T.v == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t i = 0; status >= 0 && i < V.rows * V.ld; i++)
    V.v[i] = rng_normal(base_seed(ctx), 1, (uint64_t)(first * V.ld + i));
  for (int step = 0; status >= 0 && step < 200; step++) {
    status = factored_power(&w->h, o, f->off > 0, &V, &T, &value);
    if (status < 0) break;
    if (fabs(value - before) <= 1e-13 * value && step > 4) break;
    before = value;
  }
  base_free(V.v);
  base_free(T.v);
  w->p.sigma_1 = value;
  mc_check_unit(w);
  return status;
}

static lapis_status alloc(mc *w, const lapis_data *data)
{
  mc_problem *p = &w->p;
  mc_problem_kind(w);
  say_memory(w, data);
  factored *f = base_alloc(w->base.ctx, 1, sizeof *f);
  w->state = f;
  if (f == NULL) return LAPIS_ENOMEM;
  TRY(observed_new(w->base.ctx, p, &data->X, &f->o));
  f->m = p->K + p->D;
  f->n = p->n;
  f->all = p->all;
  f->off = p->ones;
  f->threads = f->o.count > WORTH_THREADS ? w->h.threads : 1;
  f->by_sample = f->all < f->m;
  f->seen_share =
      (double)(p->seen_X + p->seen_Y) / ((double)f->m * (double)f->all);
  f->most = smaller(f->m, f->all);
  if (w->set.most_rank >= 0)
    f->most = smaller(f->most, w->set.most_rank);
  else
    f->most = smaller(f->most, AUTO_MOST);
  TRY(allocate(w));
  if (isnan(w->set.mu)) TRY(largest_of_start(w));
  mc_set_weights(w);
  set_units(w);
  w->rho = w->p.a; /* where folding in begins */
  return factored_results(w);
}

static lapis_status retune(mc *w, double before)
{
  (void)before;
  set_units(w);
  return LAPIS_OK;
}

static void release(mc *w)
{
  factored *f = w->state;
  if (f == NULL) return;
  observed_free(&f->o);
  double *all[] = {f->A.v,    f->B.v,     f->V.v,     f->GV.v,    f->T.v,
                   f->Z[0].v, f->Z[1].v,  f->Z[2].v,  f->Z[3].v,  f->W.v,
                   f->push,   f->sigma.v, f->theta.v, f->error.v, f->scratch,
                   f->small,  f->normal};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) base_free(all[i]);
  arena_free(&f->made);
  base_free(f);
  w->state = NULL;
}

const mc_solver mc_factored = {.name = "factored",
                               .refuses = refuses,
                               .suits = suits,
                               .alloc = alloc,
                               .solve = solve,
                               .publish = factored_publish,
                               .learn = factored_learn,
                               .retune = retune,
                               .free = release};
