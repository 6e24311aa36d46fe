/* rpca.c - robust principal component analysis [RR16 (7)].
 *
 *   minimize  |D|_* + lambda |P_Omega(X - D)|_1
 *
 * over the observed entries Omega: D is the clean data, X - D what was wrong
 * with it.  Convex; solved and certified by convex_step.c, refilled by
 * refill.c. */
#include "methods/robust/robust.h"

#include "mat/mat.h"

typedef struct rpca {
  lapis_solver base;
  lapis_rpca_settings set;
  la h;
  rr_dstep step;
  bool solved;
  double unit; /* X, and what is found, are divided by it */
  rr_basis basis;
  /* what is published, d x n each */
  double *X, *low_rank, *sparse, *filled, *dual;
} rpca;

#define AT(field) offsetof(lapis_rpca_settings, field)
static const lapis_param params[] = {
    REAL("lambda", lambda, .symbol = "lambda", .value = NAN, ABOVE(0),
         .help = "smaller takes more of X for errors (weight of the sparse "
                 "error; auto: 1/sqrt(max(d, n)), d features, n samples)"),
    PARAM_CERTIFICATE,
    RR_REFILL,
    RR_TAU,
    RR_FITTED_CLEAN_WEIGHT,
    PARAM_TOL(1e-7, "stop when the objective is proved to be within this share "
                    "of the best one"),
    PARAM_MAX_ITERS(50000),
    PARAM_TIME_LIMIT,
};

static const lapis_result_row results[] = {
    RESULT_LOW_RANK(.help =
                        "D, the clean part, also where nothing was observed"),
    RESULT_SPARSE(),
    RESULT_FILLED(.when = "refill"),
    RESULT("dual", "n x d", .when = "certificate",
           .help = "the multiplier that proves the gap"),
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method rpca_method = {
    .name = "rpca",
    .title = "robust principal component analysis",
    .summary =
        "split data into a simple (low-rank) part and a few large errors",
    .source = "[RR16] Sec. 3.2",
    .reads = LAPIS_READS_X,
    .completes = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_rpca_settings),
};

double rpca_holds(const solver_size *z, const void *settings)
{
  const lapis_rpca_settings *set = settings;
  return (RR_COPIES + (set->refill > 0) + set->certificate) * z->features +
         rr_dstep_holds(z);
}

/* ---- solving ------------------------------------------------------------*/
/* With small noise in every number most differ from a low-rank part; few of
 * these are wrong. */
static lapis_status remark_noise(const rpca *w, double largest)
{
  static const double FEW = .5;
  double number[2] = {0, 0}; /* known, off */
  if (!(largest > 0) || w->step.low_rank.rank == 0) return LAPIS_OK;
  for (int64_t k = 0; k < w->step.d * w->step.n; k++) {
    number[0] += !isnan(w->X[k]);
    number[1] += fabs(w->sparse[k]) > RR_NO_ERROR * largest;
  }
  TRY(base_sum(w->base.ctx, number, 2));
  if (number[1] > FEW * number[0])
    base_note(w->base.ctx, BASE_NOTE, "noise",
              "rpca: %.0f of 100 numbers differ from the low-rank part: there "
              "is small noise nearly everywhere, so only the largest in sparse "
              "are likely errors",
              100 * number[1] / number[0]);
  return LAPIS_OK;
}

static lapis_status publish(rpca *w)
{
  int64_t d = w->step.d, n = w->step.n;
  lapis_mat low_rank = lapis_mat_f64(w->low_rank, d, n);
  TRY(w->h.ops->download(&w->h, &w->step.A, &low_rank));
  rr_residual(w->X, w->low_rank, d * n, w->sparse);
  double largest; /* 0 of what is not solved */
  TRY(rr_warn_if_empty(&w->base, w->step.low_rank.rank, w->sparse, w->X, d * n,
                       &largest));
  TRY(remark_noise(w, largest));
  mat_multiply(w->low_rank, d * n, w->unit);
  mat_multiply(w->sparse, d * n, w->unit);
  mat_multiply(w->filled, d * n, w->unit);
  solver_publish(&w->base, "low_rank", low_rank);
  solver_publish(&w->base, "sparse", lapis_mat_f64(w->sparse, d, n));
  if (w->filled != NULL)
    solver_publish(&w->base, "filled", lapis_mat_f64(w->filled, d, n));
  solver_publish_history(&w->base);
  if (w->dual == NULL) return LAPIS_OK;
  lapis_mat dual = lapis_mat_f64(w->dual, d, n);
  TRY(w->h.ops->download(&w->h, &w->step.W, &dual));
  solver_publish(&w->base, "dual", dual);
  return LAPIS_OK;
}

static void report(rpca *w)
{
  lapis_info *info = &w->base.info;
  const rr_bounds *b = &w->step.bounds;
  info->iterations = w->base.loop.iter;
  info->rank = w->step.low_rank.rank;
  info->objective = b->primal * w->unit;
  info->dual = b->dual * w->unit;
  info->gap = b->gap;
  info->residual = rr_dstep_residual(&w->step);
  info->svd_seconds = op_svt_seconds(w->step.svt);
}

static lapis_status solve_steps(rpca *w)
{
  loop *l = &w->base.loop;
  const lapis_rpca_settings *set = &w->set;
  TRY(rr_dstep_start(&w->step, set->lambda, w->solved));
  rr_dstep_keep(&w->step, l, set->refill > 0);
  if (set->refill > 0)
    return rr_refill_train(&w->step, l, set->refill, set->tau / w->unit,
                           set->stop.tol, w->X, w->filled);
  return rr_dstep_run(&w->step, l, set->stop.tol);
}

static lapis_status rpca_solve(lapis_solver *s)
{
  rpca *w = (rpca *)s;
  TRY(loop_begin(&s->loop, s->ctx, "rpca", &w->set.stop, 6, rr_dstep_columns));
  TRY(solve_steps(w));
  w->solved = true;
  report(w);
  TRY(publish(w));
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

static lapis_status rpca_retune(lapis_solver *s, const void *settings)
{
  rpca *w = (rpca *)s;
  lapis_rpca_settings own;
  const lapis_rpca_settings *set = &own;
  TRY(lapis_settings_copy(s->ctx, &rpca_method, settings, &own));
  if (set->certificate != w->set.certificate ||
      (set->refill > 0) != (w->set.refill > 0))
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "rpca: another --certificate or --refill needs a new "
                      "solver");
  w->set = *set;
  w->set.lambda = rr_lambda(set->lambda, w->step.d, w->step.all);
  return LAPIS_OK;
}

static lapis_status rpca_learn(lapis_solver *s)
{
  rpca *w = (rpca *)s;
  lapis_mat D = lapis_mat_f64(w->low_rank, w->step.d, w->step.n);
  rr_basis_free(&w->basis);
  TRY(rr_basis_new(&w->h, &D, w->step.low_rank.rank, &w->basis));
  return rr_basis_put(&w->basis, s);
}

/* ---- constructor --------------------------------------------------------*/
static void rpca_free(lapis_solver *s)
{
  rpca *w = (rpca *)s;
  rr_dstep_free(&w->step);
  rr_basis_free(&w->basis);
}

static const solver_class rpca_class = {.method = "rpca",
                                        .solve = rpca_solve,
                                        .free = rpca_free,
                                        .retune = rpca_retune,
                                        .learn = rpca_learn};

static lapis_status allocate(rpca *w, const lapis_mat *X)
{
  arena *a = &w->base.arena;
  int64_t count = X->rows * X->cols;
  TRY(la_open(w->base.ctx, &w->h));
  w->X = arena_reals(a, count);
  w->low_rank = arena_reals(a, count);
  w->sparse = arena_reals(a, count);
  if (w->set.refill > 0) w->filled = arena_reals(a, count);
  if (w->set.certificate) w->dual = arena_reals(a, count);
  TRY(arena_status(a));
  mat_to_f64(X, w->X, X->rows);
  TRY(mat_unit(w->base.ctx, w->X, count, &w->unit));
  mat_multiply(w->X, count, 1 / w->unit);
  lapis_mat own = lapis_mat_f64(w->X, X->rows, X->cols);
  TRY(rr_dstep_new(&w->h, &own, 0, &w->step));
  w->step.scale = w->unit;
  w->set.lambda = rr_lambda(w->set.lambda, X->rows, w->step.all);
  return LAPIS_OK;
}

lapis_status rpca_new(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings, lapis_solver **out)
{
  *out = NULL;
  TRY(rr_check_X(ctx, "rpca", &data->X));
  TRY(mat_say_units(ctx, "rpca", &data->X));
  lapis_solver *s;
  TRY(solver_alloc(ctx, &rpca_class, sizeof(rpca), &s));
  rpca *w = (rpca *)s;
  w->set = *(const lapis_rpca_settings *)settings;
  s->settings = &w->set;
  return solver_deliver(s, allocate(w, &data->X), out);
}
