/* fpc.c - fixed point continuation, the papers' loop [MC11 Alg. 1, 3, 4].
 *
 *   A = Z - tau g(Z);  Z = U max(S - tau mu, 0) V';  project Z_X and Z_1
 *
 * for mu = mu_0 > mu_0 eta > ... > mu, each until the objective changes by
 * less than tol, relative.  Kept so that the papers can be reproduced: a
 * projection after a proximal step is not the proximal step of the sum, so
 * the fixed point is off the optimum by O(tau), even for mc1, whose row of
 * ones is constraint enough; that it stopped changing proves nothing, and the
 * gap comes from another solver, where it is asked for.  [MC11 (19)] prints
 * -z_ij for -z0_ij in the label gradient; [MC15 (26)] has it right.  The papers
 * do not say whose relative change stops a stage: here it is that of mu |Z|_* +
 * phi(Z), with |Z|_* before the projection. */
#include <math.h>

#include "methods/mc/mc.h"

static const double PROVED = 1e-4; /* the gap to which the bound is sought */

/* As long as no loss overshoots: the papers' formula, with the curvature that
 * chi2 has, 8 over the least z0 above 0 (docs/errata.md, MC-2), for their 1. */
static double step(const mc *w, double least)
{
  if (!isnan(w->set.tau)) return w->set.tau;
  const la_penalty *phi = &w->p.phi; /* labels, if any, then features */
  double gamma = w->set.gamma, bend = e_bend(w->p.variant->loss, gamma, least);
  double tau = (double)w->p.seen_X / (bend > 0 ? bend : 1);
  if (w->p.K == 0) return tau;
  bend = e_bend(phi->block[0].kind, gamma, least);
  return fmin(w->p.weight_Y / (w->set.lambda * bend * w->p.most), tau);
}

/* B = the rank-1 approximation of Z_0 (in W), projected. */
static lapis_status start(mc *w)
{
  const la_backend *ops = w->h.ops;
  la_array U = {0}, Vt = {0};
  lapis_status s = op_svd(&w->h, &w->W, &U, w->values, &Vt);
  la_array u = la_cols(&U, 0, 1), v = la_rows(&Vt, 0, 1);
  if (s >= 0) s = ops->gemm(&w->h, LA_N, LA_N, w->values[0], &u, &v, 0, &w->B);
  if (s >= 0) s = ops->project(&w->h, &w->p.phi, &w->B);
  ops->free(&w->h, &U);
  ops->free(&w->h, &Vt);
  return s;
}

/* W = Z_0 with zeros where unknown, as the problem was built; least: of the
 * known features above 0. */
static lapis_status known_entries(mc *w, double *least)
{
  lapis_mat view;
  int64_t m = w->p.m, K = w->p.K;
  double most = 0; /* of 1 / z0 */
  TRY(la_borrow(&w->h, &w->W, &view));
  TRY(w->h.ops->download(&w->h, &w->p.phi.Z0, &view));
  double *z = view.val;
  for (int64_t i = 0; i < m * w->p.n; i++) {
    bool feature = i % m >= K && i % m < K + w->p.D;
    if (isnan(z[i])) z[i] = 0;
    if (feature && z[i] > 0) most = fmax(most, 1 / z[i]);
  }
  TRY(la_give_back(&w->h, &view, &w->W));
  TRY(base_max(w->base.ctx, &most, 1));
  *least = 1 / most;
  return LAPIS_OK;
}

/* One step at the given mu; the objective as the stop sees it. */
static lapis_status iterate(mc *w, double mu, double tau, double *objective)
{
  double loss = 0;
  TRY(w->h.ops->gradient_step(&w->h, &w->p.phi, tau, &w->B, &w->W));
  TRY(op_svt_apply(w->svt, &w->W, tau * mu, &w->B, &w->low_rank));
  TRY(w->h.ops->project(&w->h, &w->p.phi, &w->B));
  TRY(w->h.ops->loss(&w->h, &w->p.phi, &w->B, &loss));
  TRY(base_sum(w->base.ctx, &loss, 1));
  *objective = mu * w->low_rank.nuclear + loss;
  return LAPIS_OK;
}

static void show(mc *w, double objective, double change)
{
  lapis_progress now = {.rank = w->low_rank.rank,
                        .objective = objective,
                        .gap = NAN,
                        .residual = change};
  loop_show(&w->base.loop, &now, w->set.stop.tol);
}

/* Steps at one mu until the objective settles or the loop is told to stop. */
static lapis_status stage(mc *w, double mu, double tau)
{
  loop *l = &w->base.loop;
  double now = 0, *before = &w->path[1], *change = &w->path[2];
  while (*change > w->set.stop.tol || w->set.stop.tol <= 0) {
    if (!loop_next(l)) return LAPIS_OK;
    TRY(iterate(w, mu, tau, &now));
    if (!isfinite(now))
      return lapis_fail(w->base.ctx, LAPIS_ENUMERIC,
                        "mc: fpc diverged after %" PRId64
                        " iterations: the step --tau %g is too long; auto is "
                        "what the papers take",
                        l->iter, tau);
    *change = fabs(now - *before) / fmax(fabs(now), 1e-300);
    *before = now;
    TRY(loop_record(l, (double[]){now, mu, *change, (double)w->low_rank.rank}));
    show(w, now, *change);
  }
  w->base.info.residual = *change;
  return LAPIS_OK;
}

/* How far the answer is from the optimum, by the multiplier of another solver
 * of the same problem, which begins at the answer. */
static lapis_status prove(mc *w)
{
  loop own = w->base.loop;
  lapis_mc_settings set = w->set;
  double primal = w->bounds.primal;
  int64_t rank = w->low_rank.rank;
  loop_keep_no_more(&own); /* a resumed run proves anew */
  TRY(la_copy(&w->h, &w->B, &w->answer));
  TRY(la_copy(&w->h, &w->B, &w->V));
  w->solver = &mc_admm;
  w->base.loop = (loop){0};
  w->set.stop.tol = PROVED;
  w->set.stop.max_iters = -1;
  w->set.stop.seconds = loop_seconds_left(&own);
  lapis_status s = w->solver->solve(w);
  lapis_status ended = w->base.loop.status;
  loop_end(&w->base.loop);
  loop_free(&w->base.loop);
  w->base.loop = own;
  w->set = set;
  w->solver = &mc_fpc;
  TRY(s);
  if (ended == LAPIS_CANCELLED || ended == LAPIS_TIME_LIMIT)
    w->base.loop.status = ended;
  w->bounds.primal = primal;
  w->bounds.gap = mc_relative_gap(primal, w->bounds.dual);
  w->low_rank.rank = rank;
  return la_copy(&w->h, &w->answer, &w->B);
}

static void say_worth(mc *w)
{
  const mc_bounds *b = &w->bounds;
  w->base.told = true;
  if (base_is_inside(w->base.ctx)) return; /* of a trial nobody asks */
  if (!(b->dual > 0))
    base_note(w->base.ctx, BASE_WARNING, "stopped",
              "mc: fpc stopped changing, which does not say that it is near "
              "the optimum; {certificate} proves how near");
  else
    base_note(w->base.ctx, BASE_WARNING, "stopped",
              "mc: fpc stopped changing at %.3g times what is proved to be the "
              "least objective",
              b->primal / b->dual);
}

static lapis_status fpc_solve(mc *w)
{
  static const char *const columns[] = {"iteration", "objective", "mu",
                                        "change", "rank"};
  loop *l = &w->base.loop;
  TRY(loop_begin(l, w->base.ctx, "mc fpc", &w->set.stop, 5, columns));
  bool resumed;
  double least, mu = w->set.mu_start, *path = w->path;
  if (isnan(mu)) mu = 0.25 * w->p.sigma_1;
  TRY(known_entries(w, &least));
  double tau = step(w, least);
  TRY(start(w));
  path[0] = fmax(mu, w->p.mu);
  path[1] = path[2] = INFINITY;
  w->bounds = (mc_bounds){.dual = 0}; /* of the solve before: a NaN is no
                                       * state that can be gone on from */
  mc_keep(w);
  TRY(loop_resume(l, &resumed));
  while (l->status == LAPIS_OK) {
    bool last = path[0] <= w->p.mu;
    TRY(stage(w, fmax(path[0], w->p.mu), tau));
    if (last) break;
    path[0] *= w->set.mu_decay;
    path[1] = path[2] = INFINITY;
  }
  bool settled = l->status == LAPIS_OK;
  if (settled) l->status = LAPIS_STOPPED_CHANGING;
  w->bounds = (mc_bounds){.dual = NAN, .gap = NAN, .norm = NAN};
  TRY(mc_primal(w, &w->bounds.primal));
  if (w->set.certificate) TRY(prove(w));
  if (settled) say_worth(w);
  return LAPIS_OK;
}

/* What the proof refuses. */
static const char *refuses(const mc *w, const lapis_data *data)
{
  return mc_admm.refuses(w, data);
}

/* It is asked for by those who repeat the papers. */
static const char *suits_none(const mc *w, const lapis_data *data)
{
  (void)w;
  (void)data;
  return NULL;
}

const mc_solver mc_fpc = {.name = "fpc",
                          .refuses = refuses,
                          .suits = suits_none,
                          .alloc = mc_state_alloc,
                          .solve = fpc_solve,
                          .publish = mc_publish,
                          .learn = mc_learn,
                          .retune = mc_state_retune,
                          .free = mc_state_free};
