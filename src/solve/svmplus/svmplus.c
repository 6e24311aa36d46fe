/* svmplus.c - support vector machines with privileged information [SVMP16].
 *
 * Slack is a function v'z of privileged features z that exist for training
 * samples only.  Three problems, each with its file:
 *   linear    (7)   linear.c, by dcd.c and ipm.c
 *   l2        (18)  gram.c, by smo.c and polish.c
 *   original  (4)   original.c
 * Without P each is the plain SVM of the same formulation.  Several classes
 * or labels are problems of one against the rest over shared kernels, whose
 * scores are compared as f / rho, rho = a'Qa (l2): the margin is 1 then.
 *
 * Deviations: Q_aa in Alg. 1 step 2 (dcd.c); a relative gap in place
 * of the absolute 1e-3 of one-class solvers, which is larger than the
 * objective here; an interior point where descent stalls. */
#include "solve/svmplus/svmplus.h"

#include <math.h>
#include <string.h>

#include "solve/svmplus/columns.h"

enum {
  ORDER_MODERATE = 700,  /* d + p: interior point first */
  ORDER_POSSIBLE = 6000, /* after descent, still */
  EPOCHS = 300           /* of descent before that */
};

#define AT(field) offsetof(lapis_svmplus_settings, field)
static const lapis_param params[] = {
    {"kernel", "K", LAPIS_PARAM_ENUM, AT(kernel), LAPIS_KERNEL_LINEAR, 0, 0,
     false, "linear|rbf|chi2|precomputed", "K", "kernel of X"},
    {"kernel-priv", NULL, LAPIS_PARAM_ENUM, AT(kernel_priv),
     LAPIS_KERNEL_LINEAR, 0, 0, false, "linear|rbf|chi2|precomputed", "K",
     "kernel of P"},
    {"C", "C", LAPIS_PARAM_REAL, AT(C), 1, -INFINITY, INFINITY, false, NULL,
     "X", "weight of the slack, above 0"},
    {"gamma", "gamma", LAPIS_PARAM_REAL, AT(gamma), 1, -INFINITY, INFINITY,
     false, NULL, "X",
     "weight of the slack function's length, above 0: small lets P decide"},
    {"width", NULL, LAPIS_PARAM_REAL, AT(width), NAN, 0, INFINITY, true, NULL,
     "X", "exp(-distance^2 / width); auto: mean squared distance"},
    {"width-priv", NULL, LAPIS_PARAM_REAL, AT(width_priv), NAN, 0, INFINITY,
     true, NULL, "X", "the same for P"},
    {"formulation", NULL, LAPIS_PARAM_ENUM, AT(formulation), LAPIS_SVMPLUS_AUTO,
     0, 0, false, "auto|l2|original", "F",
     "auto: hinge loss where both kernels are linear, else l2"},
    {"solver", NULL, LAPIS_PARAM_ENUM, AT(solver), LAPIS_SVMPLUS_SOLVER_AUTO, 0,
     0, false, "auto|dcd|ipm|smo", "S",
     "linear: dcd or ipm; l2: smo; original: ipm"},
    {"balanced", NULL, LAPIS_PARAM_BOOL, AT(balanced), 0, 0, 1, false, NULL,
     NULL, "weigh samples so that both kinds count alike"},
    {"probability", NULL, LAPIS_PARAM_BOOL, AT(probability), 0, 0, 1, false,
     NULL, NULL, "also fit probabilities, on held-out folds"},
    {"rank", NULL, LAPIS_PARAM_INT, AT(rank), -1, 1, INFINITY, false, NULL, "N",
     "rank at which a privileged kernel is cut; auto: exact if memory allows"},
    {"cache", NULL, LAPIS_PARAM_REAL, AT(cache), 4000, .01, INFINITY, false,
     NULL, "MB",
     "memory for kernels; beyond it their rows are made again when used"},
    {"certificate", NULL, LAPIS_PARAM_BOOL, AT(certificate), 0, 0, 1, false,
     NULL, NULL, "also write alpha and zeta, which prove the gap"},
    {"tol", NULL, LAPIS_PARAM_REAL, AT(stop.tol), 1e-4, 0, 1, false, NULL, "X",
     "stop at this relative duality gap"},
    {"max-iters", NULL, LAPIS_PARAM_INT, AT(stop.max_iters), 10000, 0, INFINITY,
     false, NULL, "N", "stop after this many epochs, sweeps or steps"},
    PARAM_TIME_LIMIT,
};

const lapis_method svmplus_method = {
    .name = "svmplus",
    .title = "SVM with privileged information",
    .summary = "a classifier that learns from features which exist at "
               "training time only",
    .source = "[SVMP16]",
    .reads = LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_P | LAPIS_READS_WEIGHT,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .settings_size = sizeof(lapis_svmplus_settings),
};

lapis_svmplus_settings lapis_svmplus_defaults(void)
{
  lapis_svmplus_settings set;
  param_defaults(&svmplus_method, &set);
  return set;
}

/* ---- one part: one class against the rest --------------------------------*/
void sv_class_weights(const svmplus *w, int64_t c)
{
  const sv_data *q = &w->q;
  int64_t positive = 0;
  for (int64_t i = 0; i < q->n; i++) {
    q->y[i] = w->labels.sign[i * w->K + c];
    positive += q->y[i] > 0;
  }
  double n = (double)q->n, share = (double)positive / n;
  for (int64_t i = 0; i < q->n; i++) {
    double f = w->data.weight == NULL ? 1 : w->data.weight[i];
    if (w->set.balanced) f /= 2 * (q->y[i] > 0 ? share : 1 - share);
    q->C[i] = w->set.C * f;
  }
}

static void add_info(svmplus *w, double objective, double dual, double gap)
{
  lapis_info *info = &w->base.info;
  info->objective += objective;
  info->dual += dual;
  info->gap = fmax(info->gap, gap);
}

static bool interior_first(const svmplus *w)
{
  int64_t order = w->q.d + w->q.p;
  if (w->set.solver == LAPIS_SVMPLUS_IPM) return true;
  return w->set.solver == LAPIS_SVMPLUS_SOLVER_AUTO && order <= ORDER_MODERATE;
}

/* Samples for which the last digits are worth a dense system. */
enum { SMALL = 20000 };
static const double PRECISE = 1e-6;

static lapis_status interior(sv_linear *l, double tol)
{
  TRY(sv_ipm(l, tol));
  bool worth = l->q->n <= SMALL && base_ranks(l->q->ctx) == 1;
  bool wanted = tol <= PRECISE || l->gap > tol;
  return worth && wanted && l->q->loop->status == LAPIS_OK ? sv_vertex(l)
                                                           : LAPIS_OK;
}

/* A stage of the loop is a phase of a class. */
enum { PHASES = 4 };

static int64_t phase_of(const loop *l)
{
  return l->stage % PHASES;
}

static lapis_status linear_solve(svmplus *w, sv_linear *l)
{
  const sv_data *q = &w->q;
  double tol = w->set.stop.tol;
  bool solved = false, free_choice = w->set.solver == LAPIS_SVMPLUS_SOLVER_AUTO;
  if (interior_first(w)) return interior(l, tol);
  for (int64_t i = 0; i < q->n && q->plain; i++) l->s[i] = q->C[i];
  int64_t epochs = free_choice ? EPOCHS : INT64_MAX;
  if (phase_of(q->loop) == 0) {
    TRY(sv_dcd(l, tol, epochs, &solved));
    if (solved || !free_choice || q->loop->status != LAPIS_OK) return LAPIS_OK;
    loop_set_stage(q->loop, q->loop->stage + 1);
  }
  if (q->d + q->p > ORDER_POSSIBLE) return sv_dcd(l, tol, INT64_MAX, &solved);
  base_say(q->ctx, 1,
           "svmplus: descent stands at a gap of %.1e after %d epochs; interior "
           "point from here",
           l->gap, EPOCHS);
  return interior(l, tol);
}

static double largest(const double *x, int64_t n)
{
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static lapis_status linear_part(svmplus *w, int64_t c)
{
  const sv_data *q = &w->q;
  sv_linear l;
  TRY(sv_linear_new(q, &l));
  lapis_status s = linear_solve(w, &l);
  for (int64_t i = 0; s >= 0 && i < q->n; i++) {
    w->scores[i * w->K + c] = column_dot(&q->X, i, l.w);
    w->alpha[i * w->K + c] = l.a[i];
    w->zeta[i * w->K + c] = l.s[i];
  }
  if (s >= 0) {
    memcpy(w->weights + c * (q->d + 1), l.w, (size_t)(q->d + 1) * sizeof *l.w);
    add_info(w, l.primal, l.dual, l.gap);
    if (largest(l.w, q->d) <= 1e-9)
      base_say(q->ctx, 0,
               "svmplus: w is 0: the privileged features explain all labels at "
               "this C and gamma; try a larger C or gamma");
  }
  sv_linear_free(&l);
  return s;
}

/* Q = y y' o (K + 1) + G, dense. */
static lapis_status build_Q(svmplus *w)
{
  const sv_data *q = &w->q;
  const sv_gram *k = &w->gram;
  int64_t n = q->n;
  la_array Q = la_wrap(w->Q, n, n), R = la_wrap(k->G, k->r, n);
  if (k->L != NULL) TRY(w->h.ops->syrk(&w->h, LA_T, &R, &Q));
  const double *G = k->L != NULL ? w->Q : k->G;
#pragma omp parallel for num_threads(w->h.threads) if (n > 200)
  for (int64_t j = 0; j < n; j++) {
    double *to = w->Q + j * n;
    const double *main = k->K + j * n;
    for (int64_t i = 0; i < n; i++) {
      double slack = k->plain ? 0 : G[j * n + i];
      to[i] = q->y[i] * q->y[j] * main[i] + slack;
    }
    if (k->plain) to[j] += 1 / q->C[j];
  }
  for (int64_t j = 0; j < n; j++) w->diag[j] = w->Q[j * n + j];
  return LAPIS_OK;
}

static void prepare_rows(svmplus *w)
{
  const sv_gram *k = &w->gram;
  w->rows.y = w->q.y;
  w->rows.R = k->plain ? NULL : k->G;
  w->rows.r = k->r;
  w->rows.C = k->plain ? w->q.C : NULL;
  for (int64_t j = 0; j < w->q.n; j++) {
    double sum = op_kernel_self(&k->main, j) + 1;
    if (k->plain) sum += 1 / w->q.C[j];
    for (int64_t i = 0; i < k->r; i++)
      sum += k->G[j * k->r + i] * k->G[j * k->r + i];
    w->diag[j] = sum;
  }
}

/* y f = (Qa - Ga), so f costs no kernel. */
static void scores_from_gradient(svmplus *w, const sv_quadratic *p, int64_t c)
{
  const sv_data *q = &w->q;
  const sv_gram *k = &w->gram;
  double *Ra = w->diag; /* spent; n >= r */
  memset(Ra, 0, (size_t)q->n * sizeof *Ra);
  for (int64_t j = 0; j < q->n; j++)
    for (int64_t i = 0; i < k->r; i++) Ra[i] += p->a[j] * k->G[j * k->r + i];
  for (int64_t j = 0; j < q->n; j++) {
    double slack = k->plain ? p->a[j] / q->C[j] : 0;
    for (int64_t i = 0; i < k->r; i++) slack += Ra[i] * k->G[j * k->r + i];
    w->scores[j * w->K + c] = q->y[j] * (p->g[j] - slack);
  }
}

/* f = (K + 1) (a o y) */
static lapis_status scores_from_kernel(svmplus *w, const double *a, int64_t c,
                                       double b)
{
  const sv_data *q = &w->q;
  int64_t n = q->n;
  double *ay = base_alloc(q->ctx, 2 * n, sizeof *ay);
  if (ay == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < n; i++) ay[i] = a[i] * q->y[i];
  la_array K = la_wrap(w->gram.K, n, n), v = la_wrap(ay, n, 1);
  la_array f = la_wrap(ay + n, n, 1);
  lapis_status s = w->h.ops->gemv(&w->h, LA_N, 1, &K, &v, 0, &f);
  for (int64_t i = 0; i < n; i++) w->scores[i * w->K + c] = ay[n + i] + b;
  base_free(ay);
  return s;
}

static lapis_status l2_solve(sv_quadratic *p, double tol)
{
  /* SMO finds the support, Cholesky the digits; SMO again where it failed.
   * Where a step of SMO makes all rows, Cholesky takes over earlier. */
  double enough = p->Q != NULL ? 1e-3 : 1e-1;
  if (phase_of(p->loop) == 0) {
    TRY(sv_smo(p, fmax(tol, enough)));
    if (p->gap > tol || tol < 1e-3) TRY(sv_polish(p, tol));
    if (p->gap <= tol) return LAPIS_OK;
    loop_set_stage(p->loop, p->loop->stage + 1);
    return sv_smo(p, tol);
  }
  return sv_smo(p, tol);
}

static bool weighted(const svmplus *w)
{
  return w->data.weight != NULL || w->set.balanced;
}

static lapis_status slack_part(svmplus *w)
{
  const sv_data *q = &w->q;
  if (!weighted(w))
    return sv_gram_slack(&w->gram, w->set.C, w->set.gamma, NULL);
  double *share = w->diag; /* filled later */
  for (int64_t i = 0; i < q->n; i++) share[i] = q->C[i] / w->set.C;
  return sv_gram_slack(&w->gram, w->set.C, w->set.gamma, share);
}

static void keep_l2(svmplus *w, const sv_quadratic *p, int64_t c)
{
  const sv_data *q = &w->q;
  w->rho[c] = p->norm;
  w->bias[c] = 0;
  for (int64_t i = 0; i < q->n; i++) {
    w->alpha[i * w->K + c] = p->a[i];
    w->bias[c] += p->a[i] * q->y[i];
  }
  add_info(w, p->norm / 2, p->norm / 2 * (1 - p->gap), p->gap);
}

static lapis_status l2_part(svmplus *w, int64_t c)
{
  const sv_data *q = &w->q;
  bool dense = w->gram.dense;
  TRY(slack_part(w));
  if (dense)
    TRY(build_Q(w));
  else
    prepare_rows(w);
  sv_quadratic p = {.ctx = q->ctx,
                    .h = &w->h,
                    .loop = q->loop,
                    .n = q->n,
                    .Q = dense ? w->Q : NULL,
                    .source = &w->rows,
                    .diag = w->diag};
  p.a = base_alloc(q->ctx, 2 * q->n, sizeof *p.a);
  if (p.a == NULL) return LAPIS_ENOMEM;
  p.g = p.a + q->n;
  for (int64_t i = 0; i < q->n; i++) p.a[i] = w->alpha[i * w->K + c]; /* warm */
  lapis_status s = l2_solve(&p, w->set.stop.tol);
  if (s >= 0) keep_l2(w, &p, c);
  if (s >= 0 && dense) s = scores_from_kernel(w, p.a, c, 0);
  if (s >= 0 && !dense) scores_from_gradient(w, &p, c);
  base_free(p.a);
  return s;
}

static lapis_status original_part(svmplus *w, int64_t c)
{
  const sv_data *q = &w->q;
  int64_t n = q->n;
  double *room = base_alloc(q->ctx, 2 * n, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  sv_original o = {
      .q = q, .K = w->gram.K, .Kp = w->gram.Kp, .a = room, .s = room + n};
  lapis_status s = sv_original_solve(&o, w->set.stop.tol);
  if (s >= 0) s = scores_from_kernel(w, o.a, c, o.b);
  if (s >= 0) {
    add_info(w, o.objective, o.dual, o.gap);
    w->bias[c] = o.b;
    w->rho[c] = 1;
    for (int64_t i = 0; i < n; i++) {
      w->alpha[i * w->K + c] = o.a[i];
      w->zeta[i * w->K + c] = o.s[i];
    }
  }
  base_free(room);
  return s;
}

static lapis_status solve_part(svmplus *w, int64_t c)
{
  sv_class_weights(w, c);
  if (w->K > 1) base_say(w->base.ctx, 1, "svmplus: class %" PRId64, c + 1);
  switch (w->kind) {
  case SV_LINEAR:
    return linear_part(w, c);
  case SV_L2:
    return l2_part(w, c);
  case SV_ORIGINAL:
    break;
  }
  return original_part(w, c);
}

static void keep(svmplus *w)
{
  loop *l = &w->base.loop;
  int64_t cells = w->K * w->q.n;
  double *all[] = {w->scores, w->alpha, w->zeta, w->weights, w->bias, w->rho};
  const char *name[] = {"scores", "alpha", "zeta", "weights", "bias", "rho"};
  int64_t count[] = {cells, cells, cells, w->K * (w->q.d + 1), w->K, w->K};
  for (int i = 0; i < 6; i++)
    if (all[i] != NULL) loop_keep(l, name[i], all[i], count[i]);
  loop_keep_bytes(l, "info", &w->base.info, sizeof w->base.info);
}

static lapis_status solve_parts(svmplus *w)
{
  loop *l = &w->base.loop;
  bool resumed;
  keep(w);
  TRY(loop_resume(l, &resumed));
  for (int64_t c = l->stage / PHASES; c < w->K; c++) {
    if (l->stage < c * PHASES) loop_set_stage(l, c * PHASES);
    TRY(solve_part(w, c));
  }
  return LAPIS_OK;
}

/* A limit may end the loop when the last step has met the tolerance. */
static void settle_status(svmplus *w)
{
  lapis_status *status = &w->base.loop.status;
  double gap = w->base.info.gap;
  bool limited = *status == LAPIS_TIME_LIMIT || *status == LAPIS_MAX_ITERS;
  if (*status == LAPIS_OK && gap > w->set.stop.tol)
    *status = LAPIS_PRECISION_FLOOR;
  if (limited && gap <= w->set.stop.tol) *status = LAPIS_OK;
  if (limited && gap > 1)
    base_say(w->base.ctx, 0,
             "svmplus: stopped so early that nothing is known of the optimum; "
             "the answer may be far off");
}

static lapis_status svmplus_solve(lapis_solver *s)
{
  svmplus *w = (svmplus *)s;
  static const char *const columns[] = {"iteration", "objective", "dual",
                                        "gap"};
  TRY(loop_begin(&s->loop, s->ctx, "svmplus", &w->set.stop, 4, columns));
  s->info.objective = s->info.dual = s->info.gap = 0;
  TRY(solve_parts(w));
  loop_keep_no_more(&s->loop); /* the folds of --probability start again */
  settle_status(w);
  s->info.iterations = s->loop.iter;
  if (w->set.probability) TRY(sv_platt(w));
  TRY(sv_publish(w));
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

/* ---- constructor --------------------------------------------------------*/
static void svmplus_free(lapis_solver *s)
{
  svmplus *w = (svmplus *)s;
  sv_gram_free(&w->gram);
  sv_rows_free(&w->rows);
  targets_free(&w->labels);
  double *all[] = {
      w->X_copy,  w->P_copy,       w->q.y,     w->q.C,       w->Q,
      w->diag,    w->scores,       w->decided, w->alpha,     w->zeta,
      w->weights, w->bias,         w->rho,     w->platt,     w->probabilities,
      w->support, w->coefficients, w->index,   w->kind_value};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) base_free(all[i]);
}

static lapis_status svmplus_retune(lapis_solver *s, const void *settings);

static const solver_class svmplus_class = {.method = "svmplus",
                                           .solve = svmplus_solve,
                                           .free = svmplus_free,
                                           .retune = svmplus_retune,
                                           .learn = sv_learn};

static sv_kind kind_of(const lapis_svmplus_settings *set, bool plain)
{
  bool linear = set->kernel == LAPIS_KERNEL_LINEAR &&
                (plain || set->kernel_priv == LAPIS_KERNEL_LINEAR);
  if (set->formulation == LAPIS_SVMPLUS_ORIGINAL) return SV_ORIGINAL;
  return set->formulation == LAPIS_SVMPLUS_AUTO && linear ? SV_LINEAR : SV_L2;
}

static lapis_status
check_solver(lapis_ctx *ctx, const lapis_svmplus_settings *set, sv_kind kind)
{
  int s = set->solver;
  static const char *const ways[] = {
      [SV_LINEAR] = "the linear problem: dcd or ipm",
      [SV_L2] = "the l2 problem: smo",
      [SV_ORIGINAL] = "the original problem: ipm"};
  bool fits =
      s == LAPIS_SVMPLUS_SOLVER_AUTO ||
      (kind == SV_L2 ? s == LAPIS_SVMPLUS_SMO
                     : s == LAPIS_SVMPLUS_IPM ||
                           (kind == SV_LINEAR && s == LAPIS_SVMPLUS_DCD));
  if (!fits)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "svmplus: this --solver does not solve %s", ways[kind]);
  bool spreads = kind == SV_LINEAR && s == LAPIS_SVMPLUS_IPM;
  if (base_ranks(ctx) > 1 && !spreads)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "svmplus: this solver works in one process; linear "
                      "kernels with --solver ipm spread over several");
  return LAPIS_OK;
}

/* A view as doubles: X itself, or a dense copy. */
static lapis_status as_doubles(lapis_ctx *ctx, const lapis_mat *X,
                               lapis_mat *out, double **copy)
{
  *out = *X;
  if (X->dtype == LAPIS_F64 || mat_empty(X)) return LAPIS_OK;
  *copy = base_alloc_raw(ctx, X->rows * X->cols, sizeof **copy);
  if (*copy == NULL) return LAPIS_ENOMEM;
  mat_to_f64(X, *copy, X->rows);
  *out = lapis_mat_f64(*copy, X->rows, X->cols);
  return LAPIS_OK;
}

static double *reals(svmplus *w, int64_t rows, int64_t cols, bool *ok)
{
  double *p = base_alloc(w->base.ctx, rows * cols, sizeof *p);
  *ok = *ok && p != NULL;
  return p;
}

static lapis_status allocate_results(svmplus *w)
{
  int64_t n = w->q.n, K = w->K;
  bool ok = true;
  w->scores = reals(w, K, n, &ok);
  w->decided = reals(w, targets_label_rows(&w->labels), n, &ok);
  w->alpha = reals(w, K, n, &ok);
  w->zeta = reals(w, K, n, &ok);
  w->bias = reals(w, K, 1, &ok);
  w->rho = reals(w, K, 1, &ok);
  w->q.y = reals(w, n, 1, &ok);
  w->q.C = reals(w, n, 1, &ok);
  if (w->linear) w->weights = reals(w, w->q.d + 1, K, &ok);
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

/* Slightly shifted, a positive semidefinite matrix has a Cholesky factor. */
static lapis_status check_definite(svmplus *w, const char *name,
                                   const op_kernel *k)
{
  if (k->kind != LAPIS_KERNEL_PRECOMPUTED) return LAPIS_OK;
  int64_t n = k->n;
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(k->X[i * n + i]));
  double *A = base_alloc_raw(w->base.ctx, n * n, sizeof *A);
  if (A == NULL) return LAPIS_ENOMEM;
  memcpy(A, k->X, (size_t)(n * n) * sizeof *A);
  for (int64_t i = 0; i < n; i++) A[i * n + i] += 1e-9 * (double)n * most;
  la_array L = la_wrap(A, n, n);
  lapis_status s = w->h.ops->potrf(&w->h, &L);
  base_free(A);
  if (s != LAPIS_ENUMERIC) return s;
  return lapis_fail(w->base.ctx, LAPIS_EDATA,
                    "svmplus: the precomputed kernel %s is not positive "
                    "semidefinite; add to its diagonal, or use another kernel",
                    name);
}

static lapis_status allocate_kernels(svmplus *w)
{
  int64_t n = w->q.n;
  bool ok = true;
  if (w->kind == SV_LINEAR) return LAPIS_OK;
  sv_gram *k = &w->gram;
  lapis_svmplus_settings set = w->set;
  if (w->kind == SV_ORIGINAL) set.rank = SV_WHOLE;
  TRY(sv_gram_new(&w->h, &set, &w->data, k));
  if (w->kind == SV_ORIGINAL && !k->dense)
    return lapis_fail(w->base.ctx, LAPIS_ESHAPE,
                      "svmplus: the original formulation needs whole kernels "
                      "of %" PRId64 " samples; raise --cache, or use l2",
                      n);
  TRY(check_definite(w, "X", &k->main));
  if (!k->plain) TRY(check_definite(w, "P", &k->priv));
  w->set.width = k->main.width;
  if (!k->plain) w->set.width_priv = k->priv.width;
  w->diag = reals(w, n, 1, &ok);
  if (w->kind == SV_ORIGINAL) return ok ? LAPIS_OK : LAPIS_ENOMEM;
  if (!k->dense)
    return ok ? sv_rows_new(&w->h, &k->main, &w->rows) : LAPIS_ENOMEM;
  w->Q = base_alloc(w->base.ctx, n * n, sizeof *w->Q);
  return ok && w->Q != NULL ? LAPIS_OK : LAPIS_ENOMEM;
}

static lapis_status build(svmplus *w, const lapis_data *data)
{
  lapis_ctx *ctx = w->base.ctx;
  TRY(la_open(ctx, &w->h));
  w->data = *data;
  TRY(as_doubles(ctx, &data->X, &w->data.X, &w->X_copy));
  TRY(as_doubles(ctx, &data->P, &w->data.P, &w->P_copy));
  TRY(sv_encode(ctx, "svmplus", &data->Y, &w->labels));
  sv_warn_constant(ctx, "svmplus", &data->P);
  w->K = w->labels.classes;
  bool plain = mat_empty(&data->P);
  w->kind = kind_of(&w->set, plain);
  w->linear = w->set.kernel == LAPIS_KERNEL_LINEAR;
  w->q = (sv_data){.ctx = ctx,
                   .h = &w->h,
                   .loop = &w->base.loop,
                   .X = w->data.X,
                   .P = w->data.P,
                   .n = data->X.cols,
                   .d = data->X.rows,
                   .p = plain ? 0 : data->P.rows,
                   .plain = plain,
                   .gamma = w->set.gamma};
  TRY(check_solver(ctx, &w->set, w->kind));
  TRY(allocate_results(w));
  return allocate_kernels(w);
}

lapis_status lapis_svmplus_new(lapis_ctx *ctx, const lapis_data *data,
                               const lapis_svmplus_settings *set,
                               lapis_solver **out)
{
  *out = NULL;
  lapis_svmplus_settings defaults = lapis_svmplus_defaults();
  if (set == NULL) set = &defaults;
  TRY(param_check(ctx, &svmplus_method, set));
  TRY(sv_check_settings(ctx, "svmplus", set->C, set->gamma));
  TRY(sv_check_data(ctx, "svmplus", set, data));
  lapis_solver *s;
  TRY(solver_alloc(ctx, &svmplus_class, sizeof(svmplus), &s));
  svmplus *w = (svmplus *)s;
  w->set = *set;
  s->settings = &w->set;
  lapis_status status = build(w, data);
  if (status < 0) {
    lapis_solver_free(s);
    return status;
  }
  *out = s;
  return LAPIS_OK;
}

static bool same_width(double now, double wanted)
{
  return isnan(wanted) || !(now < wanted || now > wanted);
}

static lapis_status svmplus_retune(lapis_solver *s, const void *settings)
{
  svmplus *w = (svmplus *)s;
  const lapis_svmplus_settings *set = settings, *now = &w->set;
  TRY(param_check(s->ctx, &svmplus_method, set));
  TRY(sv_check_settings(s->ctx, "svmplus", set->C, set->gamma));
  bool same = set->kernel == now->kernel &&
              set->kernel_priv == now->kernel_priv &&
              set->formulation == now->formulation && set->rank == now->rank &&
              same_width(now->width, set->width) &&
              same_width(now->width_priv, set->width_priv);
  if (!same)
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "svmplus: other kernels need a new solver");
  TRY(check_solver(s->ctx, set, w->kind));
  double width = now->width, width_priv = now->width_priv;
  w->set = *set;
  w->set.width = width;
  w->set.width_priv = width_priv;
  w->q.gamma = set->gamma;
  w->gram.grid = true;
  return LAPIS_OK;
}
