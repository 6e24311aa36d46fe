/* mc.c - matrix completion with labels [MC11] [MC15].
 *
 *   minimize    mu |Z|_* + a sum_{Omega_X} c_x(z, z0) + b sum_{Omega_Y} c_y
 *   subject to  the last row of Z is 1;  pos: Z_X >= 0;
 *               simplex: every column of Z_X in the probability simplex
 *
 * Z stacks labels, features and a row of ones (none without labels, whose
 * intercept it is); a = 1/|Omega_X|,
 * b = lambda/|Omega_Y|.  Losses: docs/mathematics.md, section 1.
 *
 * Solved by over-relaxed ADMM on A (singular values) = B (losses and
 * constraints) with exact proximal steps, in one state V; the scaled
 * multiplier is V - B:
 *   A <- SVT(2B - V, mu/rho)
 *   V <- V + 1.6 (A - B), accelerated (anderson.h)
 *   B <- prox_{phi/rho}(V)
 *
 * Deviations: the papers' FPC applies a projection after a proximal step,
 * which is not the proximal step of the sum, so its fixed point is off the
 * optimum by O(tau) [MC11 Theorem 3 fails]; and -z_ij in the numerator of
 * [MC11 (19)] must be -z0_ij.  ADMM needs neither step size nor continuation,
 * and its multiplier G = rho (V - B) lies in dom phi* after every step, so
 * that scaling it to |G|_2 <= mu certifies the answer.
 *
 * Numerics: rho changes at a few fixed iterations only.  A - B of the plain
 * iteration never grows; where an accelerated step makes it more than twice
 * the least so far, the plain step is taken in its place; |B|_* is summed over
 * exact singular values, since squared ones lose half of the digits of the
 * small ones. */
#include "methods/mc/mc.h"

#include <math.h>

static const double RELAXATION = 1.6;
static const double INEXACT = 1e-2; /* of a step, times its residual */
static const anderson_options ACCELERATION = {
    .memory = 6, .regular = 1e-10, .firm = true};

/* ---- the steps ----------------------------------------------------------*/
/* |A - B| / |B| */
static double residual_of(const double sums[4])
{
  return sqrt(sums[0] / fmax(sums[2], 1e-300));
}

/* A <- SVT(W, mu / rho), W = 2B - V, as exactly as the residual makes worth
 * while that has come, of the step before the last. */
static lapis_status update_low_rank(mc *w)
{
  op_svt_accept(w->svt, INEXACT * fmin(w->residual, 1));
  TRY(op_svt_apply(w->svt, &w->W, w->p.mu / w->rho, &w->A, &w->low_rank));
  op_svt_accept(w->svt, 0);
  w->residual = residual_of(w->sums);
  return LAPIS_OK;
}

/* V <- V + 1.6 (A - B), the plain step from A. */
static lapis_status update_state(mc *w)
{
  TRY(w->h.ops->axpby(&w->h, RELAXATION, &w->A, 1, &w->V));
  return w->h.ops->axpby(&w->h, -RELAXATION, &w->B, 1, &w->V);
}

/* B <- prox at V, W <- 2B - V, at w->rho; sums as la's reflect, by the next
 * message. */
static lapis_status update_fit(mc *w, double sums[4])
{
  TRY(w->h.ops->reflect(&w->h, &w->p.phi, w->rho, &w->A, &w->V, &w->B, &w->W,
                        sums));
  return base_sum_later(w->base.ctx, sums, 4);
}

/* The same, and further to where past steps suggest that it leads. */
static lapis_status accelerate_state(mc *w)
{
  la_array *const state[] = {&w->V};
  bool early = w->base.loop.iter < w->p.variant->accelerated;
  if (w->accel.parts == 0 || early) return update_state(w);
  TRY(anderson_before(&w->accel, state));
  TRY(update_state(w));
  return anderson_after(&w->accel, state);
}

/* Where the balance of a variant looks at the sums; elsewhere they come by the
 * message of the next step. */
static bool may_balance(int64_t k)
{
  return k <= 160 && (k % 4 == 0 || k == 10);
}

/* W = B - (V - B), rounded as update_fit rounds it: a resumed run makes W
 * here and goes on with the same bits. */
static lapis_status mirror(mc *w)
{
  TRY(la_copy(&w->h, &w->V, &w->W));
  TRY(w->h.ops->axpby(&w->h, -1, &w->B, 1, &w->W));
  return w->h.ops->axpby(&w->h, 1, &w->B, -1, &w->W);
}

/* rho (V - B) is the multiplier and stays what it is; so does B. */
static lapis_status balance_rho(mc *w, double factor)
{
  w->rho *= factor;
  anderson_reset(&w->accel);
  TRY(w->h.ops->axpby(&w->h, 1 - 1 / factor, &w->B, 1 / factor, &w->V));
  return mirror(w);
}

/* Rounding decides when the iterates stand still to within a few units in
 * the last place and the gap is still above what was asked for. */
static bool stands_still(const double sums[4])
{
  const double ulps = 16 * 2.2e-16;
  double limit = ulps * sqrt(sums[2]);
  return sqrt(sums[0]) <= limit && sqrt(sums[1]) <= limit;
}

static lapis_status check_gap(mc *w)
{
  const double *sums = w->sums;
  loop *l = &w->base.loop;
  TRY(mc_certify(w, &w->bounds));
  mc_bounds *b = &w->bounds;
  bool moved = l->iter > 0;
  double residual = moved ? residual_of(sums) : NAN;
  double rank = (double)w->low_rank.rank;
  TRY(loop_record(l, (double[]){b->primal, b->dual, b->gap, residual, rank}));
  base_say(w->base.ctx, 2,
           "mc: %" PRId64 " objective %.10g gap %.2e residual %.2e rank %g",
           l->iter, b->primal, b->gap, residual, rank);
  w->base.info.residual = residual;
  if (moved && stands_still(sums) && b->gap > w->set.stop.tol)
    l->status = LAPIS_PRECISION_FLOOR;
  w->checked = l->iter;
  return LAPIS_OK;
}

/* About as far as |G|_2 may be above mu: rho (W - A) has norm mu at most, and
 * G = rho (V - B) is rho (A - B) - rho (W - A); the sums are of the A before.
 */
static double excess(const mc *w)
{
  return w->rho * sqrt(w->sums[0]);
}

/* A proof costs as much as two steps and more, an estimate a few passes: the
 * proof is made where the estimate promises the tolerance, and now and then to
 * learn which share of the bound above |rho U|_2 takes, and by what the proved
 * gap differs from the estimate. */
static lapis_status check_if_due(mc *w)
{
  enum { ESTIMATE_EVERY = 5, PROVE_EVERY = 40 };
  int64_t k = w->base.loop.iter;
  double gap, most = excess(w);
  if (k % ESTIMATE_EVERY != 0) return LAPIS_OK;
  TRY(mc_estimate(w, w->p.mu + w->share * most, &gap));
  bool hope = w->ratio * gap <= w->set.stop.tol;
  if (!hope && k % PROVE_EVERY != 0 && !stands_still(w->sums)) return LAPIS_OK;
  TRY(check_gap(w));
  double above = w->p.mu * (w->bounds.norm - 1);
  if (most > 0) w->share = fmin(fmax(above / most, 0), 1);
  w->ratio = gap > 0 ? fmin(fmax(w->bounds.gap / gap, 0.5), 1.25) : 1;
  return LAPIS_OK;
}

void mc_show(mc *w)
{
  lapis_progress now = {.rank = w->low_rank.rank,
                        .objective = w->bounds.primal,
                        .gap = w->bounds.gap,
                        .residual = NAN};
  loop_show(&w->base.loop, &now, w->set.stop.tol);
}

/* A is made from B and V, but a run that ends at once publishes it. */
void mc_keep(mc *w)
{
  loop *l = &w->base.loop;
  la_keep_part(l, "B", &w->B);
  if (w->solver == &mc_admm) {
    la_keep_part(l, "A", &w->A);
    la_keep_part(l, "V", &w->V);
    loop_keep(l, "sums", w->sums, 4);
    loop_keep(l, "residual", &w->residual, 1);
    anderson_keep(&w->accel, l);
  }
  loop_keep(l, "path", w->path, 3);
  loop_keep_positive(l, "rho", &w->rho, 1);
  loop_keep(l, "share", &w->share, 1);
  loop_keep(l, "ratio", &w->ratio, 1);
  loop_keep_whole(l, "checked", &w->checked, 1, -1, LOOP_MOST);
  loop_keep(l, "primal", &w->bounds.primal, 1);
  loop_keep(l, "dual", &w->bounds.dual, 1);
  loop_keep(l, "gap", &w->bounds.gap, 1);
  loop_keep(l, "norm", &w->bounds.norm, 1);
  loop_keep_whole(l, "rank", &w->low_rank.rank, 1, 0, LOOP_MOST);
  loop_keep(l, "nuclear", &w->low_rank.nuclear, 1);
}

static bool solved(const mc *w)
{
  return w->bounds.gap <= w->set.stop.tol;
}

static lapis_status iterate(mc *w)
{
  loop *l = &w->base.loop;
  bool resumed;
  w->bounds.gap = INFINITY;
  w->checked = -1;
  w->sums[0] = w->sums[1] = w->residual = INFINITY; /* no step yet */
  anderson_reset(&w->accel);
  mc_keep(w);
  TRY(loop_resume(l, &resumed));
  TRY(mirror(w));
  while (!solved(w) && loop_next(l)) {
    TRY(update_low_rank(w));
    TRY(check_if_due(w));
    mc_show(w);
    if (solved(w)) break;
    TRY(accelerate_state(w));
    TRY(update_fit(w, w->sums));
    w->checked = -1; /* B is another */
    if (may_balance(l->iter)) TRY(base_sum_due(w->base.ctx));
    double factor = w->p.variant->balance(l->iter, w->sums);
    if (factor < 1 || factor > 1) TRY(balance_rho(w, factor));
  }
  return w->checked < l->iter ? check_gap(w) : LAPIS_OK;
}

static lapis_status admm_solve(mc *w)
{
  static const char *const columns[] = {"iteration", "objective", "dual",
                                        "gap",       "residual",  "rank"};
  TRY(loop_begin(&w->base.loop, w->base.ctx, "mc", &w->set.stop, 6, columns));
  return iterate(w);
}

/* ---- its row ------------------------------------------------------------*/
static const char *refuses(const mc *w, const lapis_data *data)
{
  (void)data;
  bool divided = base_ranks(w->base.ctx) > 1;
  if (divided && w->set.class_features && w->set.certificate)
    return "--certificate with --class-features is not divided among processes";
  return NULL;
}

static const char *suits_all(const mc *w, const lapis_data *data)
{
  (void)w;
  (void)data;
  return "it takes every problem";
}

lapis_status mc_state_alloc(mc *w, const lapis_data *data)
{
  int64_t m = w->p.m, n = w->p.n;
  TRY(op_svt_new(&w->h, m, n, &w->svt));
  la_array *all[] = {&w->A, &w->B, &w->V, &w->W};
  for (int i = 0; i < 4; i++)
    TRY(w->h.ops->alloc(&w->h, LAPIS_F64, m, n, all[i]));
  bool kept = !w->solver->proves && w->set.certificate;
  if (kept) TRY(w->h.ops->alloc(&w->h, LAPIS_F64, m, n, &w->answer));
  bool walks = w->solver == &mc_admm || kept;
  if (walks && mc_variant_of(w->set.variant)->accelerated > 0)
    anderson_new(&w->h, m, n, 1, &ACCELERATION, &w->accel);
  TRY(w->h.ops->alloc(&w->h, LAPIS_F64, m, 1, &w->column));
  TRY(mc_results_alloc(w));
  TRY(mc_problem_build(w, data));
  TRY(w->p.variant->first_rho(w));
  w->share = 0.1;
  w->ratio = 0.5;
  /* B = V starts at what is known, made feasible; W holds Z_0 with zeros. */
  TRY(la_copy(&w->h, &w->W, &w->B));
  TRY(w->h.ops->project(&w->h, &w->p.phi, &w->B));
  return la_copy(&w->h, &w->B, &w->V);
}

/* B, V and mu / rho stay, since they live on the scale of Z. */
lapis_status mc_state_retune(mc *w, double before)
{
  w->rho *= w->p.mu / before;
  return LAPIS_OK;
}

void mc_state_free(mc *w)
{
  la_array *all[] = {&w->A, &w->B, &w->V, &w->W, &w->column, &w->answer};
  for (int i = 0; i < 6; i++) w->h.ops->free(&w->h, all[i]);
  anderson_free(&w->accel);
  op_svt_free(w->svt);
}

const mc_solver mc_admm = {.name = "admm",
                           .proves = true,
                           .refuses = refuses,
                           .suits = suits_all,
                           .alloc = mc_state_alloc,
                           .solve = admm_solve,
                           .publish = mc_publish,
                           .learn = mc_learn,
                           .retune = mc_state_retune,
                           .free = mc_state_free};
