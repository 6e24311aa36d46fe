/* svmplus.c - support vector machines with privileged information [SVMP16].
 *
 * Slack is a function v'z of privileged features z that exist for training
 * samples only.  Three problems, each with its file:
 *   linear    (7)   linear.c, by dcd.c and ipm.c
 *   l2        (18)  l2.c over gram.c or rows.c, by smo.c and polish.c
 *   original  (4)   original.c
 * choose.c takes C and gamma by held-out samples where P is given.
 * This file holds the settings and the constructor, classes.c the loop over
 * classes.
 * Without P each is the plain SVM of the same formulation.  Several classes
 * or labels are problems of one against the rest over shared kernels, whose
 * scores are compared as f / rho, rho = a'Qa (l2): the margin is 1 then.
 *
 * Deviations: Q_aa in Alg. 1 step 2 (dcd.c); a relative gap in place
 * of the absolute 1e-3 of one-class solvers, which is larger than the
 * objective here; an interior point where descent stalls. */
#include "methods/svmplus/svmplus.h"

#include <math.h>

#define AT(field) offsetof(lapis_svmplus_settings, field)
static const lapis_param params[] = {
    CHOICE("kernel", kernel, SV_KERNELS, .symbol = "K",
           .value = LAPIS_KERNEL_LINEAR, .arg = "K", .help = "kernel of X"),
    SV_KERNEL_PRIV_ROW,
    REAL("C", C, .symbol = "C", .value = NAN, ANY_NUMBER,
         .help = "how closely training samples are fitted: larger is closer "
                 "(weight of the slack, above 0; auto: 1, with P .1, 1, 10 or "
                 "100 by held-out samples)"),
    REAL("gamma", gamma, .symbol = "gamma", .value = NAN, ANY_NUMBER,
         .goes_with = "P",
         .help = "how little P may say: small lets it decide (weight of the "
                 "slack function's length, above 0; inf: P is left out; auto: "
                 ".01, 1, 100 or inf, by held-out samples)"),
    SV_WIDTH_ROWS,
    CHOICE("formulation", formulation, "auto|l2|original",
           .value = LAPIS_SVMPLUS_AUTO, .arg = "F",
           .help = "auto: hinge loss where both kernels are linear, else l2"),
    CHOICE("solver", solver, "auto|dcd|ipm|smo",
           .value = LAPIS_SVMPLUS_SOLVER_AUTO, .arg = "S",
           .help = "linear: dcd or ipm; l2: smo; original: ipm"),
    SV_SCALE_ROW,
    BOOL("balanced", balanced,
         .help = "weigh samples so that both kinds count equally"),
    BOOL("probability", probability,
         .help = "also fit probabilities, on held-out folds"),
    INT("rank", rank, .value = -1, AT_LEAST(1),
        .goes_with = "P "
                     "formulation=l2,kernel=rbf|chi2|precomputed,kernel-priv="
                     "rbf|chi2|precomputed",
        .help = "rank at which a privileged kernel is cut; auto: exact if "
                "memory allows"),
    REAL_IN("cache", cache, "MB", .value = 4000, AT_LEAST(.01),
            .help = "memory for kernels; beyond it their rows are made again "
                    "when used"),
    BOOL("certificate", certificate,
         .help =
             "also write alpha, zeta and v, which prove how near the answer "
             "is to the best one"),
    REAL("tol", stop.tol, .value = 1e-4, FROM_TO(0, 1),
         .help = "stop when the objective is proved to be within this share of "
                 "the best one"),
    INT("max-iters", stop.max_iters, .value = 10000, AT_LEAST(0),
        .help = "stop after this many epochs, sweeps or steps"),
    PARAM_TIME_LIMIT,
};

static const lapis_result_row results[] = {
    RESULT("scores", "n x K",
           .help = "f(x), the decision: above 0 says the larger value, or yes"),
    RESULT_LABELS(),
    RESULT_CLASSES(),
    RESULT("probabilities", "n x K", .when = "probability",
           .help = "of each column of scores, fitted to held-out samples; "
                   "those of classes add up to 1"),
    RESULT("weights", "K x (d + 1)", .when = "kernel=linear",
           .help = "w, the offset last"),
    RESULT("alpha", "n x K", .when = "certificate",
           .help = "the multipliers of the margins"),
    RESULT("zeta", "n x K", .when = "certificate",
           .where = "the formulation is not l2",
           .help = "the multipliers of v'z >= 0"),
    RESULT("weights_priv", "K x (p + 1)", .when = "certificate P",
           .where = "P is used, kernels are linear and the formulation is not "
                    "l2",
           .help = "v of the slack v'z, the offset last"),
    RESULT("scale", "2 x d", .when = "certificate", .where = "X was scaled",
           .help = "x' = (x - row 1) row 2"),
    RESULT("scale_priv", "2 x p", .when = "certificate P",
           .where = "P is used and was scaled", .help = "the same of P"),
    RESULT_USED,
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method svmplus_method = {
    .name = "svmplus",
    .title = "SVM with privileged information",
    .summary = "a classifier that learns from features which exist at "
               "training time only",
    .source = "[SVMP16]",
    .reads = LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_P | LAPIS_READS_GROUP |
             LAPIS_READS_WEIGHT,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_svmplus_settings),
    .each = true,
    .counted = "support vectors",
};

/* Groups keep the folds of probabilities apart, and nothing else. */
unsigned sv_idle(const void *settings)
{
  const lapis_svmplus_settings *set = settings;
  return (set->probability ? 0 : LAPIS_READS_GROUP) |
         (isinf(set->gamma) ? LAPIS_READS_P : 0);
}

/* ---- one part: one class against the rest --------------------------------*/

static void keep(svmplus *w)
{
  loop *l = &w->base.loop;
  int64_t cells = w->K * w->q.n;
  double *all[] = {w->scores, w->alpha, w->zeta, w->weights,
                   w->bias,   w->rho,   w->slack};
  const char *name[] = {"scores", "alpha", "zeta", "weights",
                        "bias",   "rho",   "slack"};
  int64_t count[] = {cells,
                     cells,
                     cells,
                     w->K * (w->q.d + 1),
                     w->K,
                     w->K,
                     w->K * (w->q.p + 1)};
  for (int i = 0; i < 7; i++)
    if (all[i] != NULL) {
      loop_keep(l, name[i], all[i], count[i]);
      if (i < 3) loop_divide(l, 1);
    }
  loop_keep(l, "objective", &w->base.info.objective, 1);
  loop_keep(l, "bound", &w->base.info.dual, 1);
  loop_keep(l, "worst", &w->base.info.gap, 1);
  loop_keep_whole(l, "rank", &w->base.info.rank, 1, 0, LOOP_MOST);
}

static lapis_status solve_parts(svmplus *w)
{
  loop *l = &w->base.loop;
  bool resumed;
  keep(w);
  TRY(loop_resume(l, &resumed));
  return sv_classes(w, resumed);
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
    base_note(w->base.ctx, BASE_WARNING, "nothing-known",
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
  s->info.rank = 0;
  w->platt = NULL;
  if (w->set.probability) TRY(sv_platt_folds(w));
  if (w->kind != SV_LINEAR) TRY(sv_gram_make(&w->gram));
  TRY(solve_parts(w));
  /* a resumed run begins the folds of --probability anew */
  loop_keep_no_more(&s->loop);
  settle_status(w);
  s->info.iterations = s->loop.iter;
  if (w->set.probability) {
    sv_gram_yield(&w->gram); /* folds have kernels of their own */
    TRY(sv_platt(w, sv_new));
  }
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
  folds_free(&w->folds);
  base_free(w->support);
  base_free(w->coefficients);
  base_free(w->index);
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
  return LAPIS_OK;
}

/* A view as doubles: X itself, or a dense copy that the solver owns. */
static lapis_status as_doubles(arena *a, const lapis_mat *X, lapis_mat *out)
{
  *out = *X;
  if (X->dtype == LAPIS_F64 || mat_empty(X)) return LAPIS_OK;
  double *copy = base_alloc_raw(a->ctx, X->rows * X->cols, sizeof *copy);
  if (arena_keep(a, copy) == NULL) return LAPIS_ENOMEM;
  mat_to_f64(X, copy, X->rows);
  *out = lapis_mat_f64(copy, X->rows, X->cols);
  return LAPIS_OK;
}

static lapis_status scaled(svmplus *w, const char *name, int kernel,
                           double width, lapis_mat *X, sv_scale *scale)
{
  arena *a = &w->base.arena;
  double *memory = NULL;
  TRY(sv_scale_fit(a, w->set.scale, kernel, width, X, scale));
  if (!scale->used) return LAPIS_OK;
  base_say(w->base.ctx, 1,
           "svmplus: features of %s are standardised inside (--scale)", name);
  lapis_status s = sv_scale_apply(w->base.ctx, scale, X, &memory, X);
  return arena_keep(a, memory) == NULL ? LAPIS_ENOMEM : s;
}

static lapis_status scale_features(svmplus *w)
{
  lapis_svmplus_settings *set = &w->set;
  TRY(scaled(w, "X", set->kernel, set->width, &w->data.X, &w->scale));
  TRY(scaled(w, "P", set->kernel_priv, set->width_priv, &w->data.P,
             &w->scale_priv));
  bool used = w->scale.used || w->scale_priv.used;
  set->scale = used ? LAPIS_SCALE_STANDARD : LAPIS_SCALE_NONE;
  return LAPIS_OK;
}

static lapis_status allocate_results(svmplus *w)
{
  int64_t n = w->q.n, K = w->K;
  arena *a = &w->base.arena;
  w->scores = arena_reals(a, K * n);
  w->decided = arena_reals(a, targets_label_rows(&w->labels) * n);
  w->alpha = arena_reals(a, K * n);
  w->zeta = arena_reals(a, K * n);
  w->bias = arena_reals(a, K);
  w->rho = arena_reals(a, K);
  w->q.y = arena_reals(a, n);
  w->q.C = arena_reals(a, n);
  if (w->linear) w->weights = arena_reals(a, (w->q.d + 1) * K);
  if (w->set.certificate && w->kind == SV_LINEAR && !w->q.plain)
    w->slack = arena_reals(a, (w->q.p + 1) * K);
  return arena_status(a);
}

/* Kernels of the l2 form take what is left (gram.c), and at least what stands
 * in for a whole one: its low rank (approximate.c). */
double sv_lines_hold(const solver_size *z)
{
  double weights = 6 * z->K * (z->d + z->p + 2), answers = 6 * z->K * z->n;
  return weights + answers + 2 * z->features + 2 * z->p * z->n;
}

double sv_kernels_hold(const solver_size *z)
{
  enum { LOW_RANK = 1250 };
  return (z->p == 0 ? 1 : 2) * fmin(3 * z->n, LOW_RANK) * z->n;
}

double sv_holds(const solver_size *z, const void *settings)
{
  bool plain = z->p == 0;
  sv_kind kind = kind_of(settings, plain);
  double whole = (plain ? 2.5 : 6.5) * z->n * z->n, order = z->d + z->p + 2;
  /* by itself it is taken where its system is small (linear.c) */
  bool asked =
      ((const lapis_svmplus_settings *)settings)->solver == LAPIS_SVMPLUS_IPM;
  double system = asked ? 2 * order * order : 0;
  return sv_lines_hold(z) + (kind == SV_LINEAR ? system
                             : kind == SV_L2   ? sv_kernels_hold(z)
                                               : whole);
}

static lapis_status build(svmplus *w, const lapis_data *data)
{
  lapis_ctx *ctx = w->base.ctx;
  TRY(la_open_host(ctx, &w->h));
  w->data = *data;
  TRY(as_doubles(&w->base.arena, &data->X, &w->data.X));
  TRY(as_doubles(&w->base.arena, &data->P, &w->data.P));
  TRY(sv_encode(ctx, "svmplus", &data->Y, &w->labels));
  sv_warn_constant(ctx, "svmplus", &data->P);
  TRY(scale_features(w));
  w->K = w->labels.classes;
  bool plain = data->P.rows == 0;
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
  TRY(sv_linear_divides(w));
  TRY(allocate_results(w));
  switch (w->kind) {
  case SV_LINEAR:
    return LAPIS_OK;
  case SV_L2:
    return sv_l2_alloc(w);
  case SV_ORIGINAL:
    break;
  }
  return sv_original_alloc(w);
}

lapis_status sv_new(lapis_ctx *ctx, const lapis_data *data,
                    const lapis_svmplus_settings *set, lapis_solver **out)
{
  *out = NULL;
  TRY(sv_check_settings(ctx, "svmplus", set->C, set->gamma));
  TRY(sv_scale_check(ctx, "svmplus", set));
  TRY(sv_check_data(ctx, "svmplus", set, data));
  lapis_solver *s;
  TRY(solver_alloc(ctx, &svmplus_class, sizeof(svmplus), &s));
  svmplus *w = (svmplus *)s;
  w->set = *set;
  s->settings = &w->set;
  return solver_deliver(s, build(w, data), out);
}

void sv_note_scale(const lapis_solver *s, int asked, int used)
{
  if (asked == LAPIS_SCALE_AUTO && used == LAPIS_SCALE_STANDARD)
    base_note(s->ctx, BASE_NOTE, "standardised",
              "%s: the sizes of the features differ much, or are far from 1: "
              "they were standardised inside ({scale none} leaves them)",
              s->cls->method);
}

lapis_status svmplus_new(lapis_ctx *ctx, const lapis_data *data,
                         const void *settings, lapis_solver **out)
{
  lapis_svmplus_settings set = *(const lapis_svmplus_settings *)settings;
  if (sv_is_open(ctx, data, &set)) {
    TRY(sv_open_new(ctx, data, &set, sv_new, out));
    (*out)->table = &svmplus_method;
    return LAPIS_OK;
  }
  if (isnan(set.C)) set.C = 1;
  if (isnan(set.gamma)) set.gamma = 1;
  TRY(sv_new(ctx, data, &set, out));
  sv_note_scale(*out, set.scale, ((const svmplus *)*out)->set.scale);
  return LAPIS_OK;
}

/* auto leaves a solver with what it found. */
static bool same_scale(int now, int wanted)
{
  return wanted == LAPIS_SCALE_AUTO || now == wanted;
}

static bool same_width(double now, double wanted)
{
  return isnan(wanted) || !(now < wanted || now > wanted);
}

static lapis_status svmplus_retune(lapis_solver *s, const void *settings)
{
  svmplus *w = (svmplus *)s;
  lapis_svmplus_settings own;
  const lapis_svmplus_settings *set = &own, *now = &w->set;
  TRY(lapis_settings_copy(s->ctx, &svmplus_method, settings, &own));
  if (isnan(own.C)) own.C = 1;
  if (isnan(own.gamma)) own.gamma = 1;
  TRY(sv_check_settings(s->ctx, "svmplus", set->C, set->gamma));
  bool same = set->kernel == now->kernel &&
              set->kernel_priv == now->kernel_priv &&
              set->formulation == now->formulation && set->rank == now->rank &&
              !isinf(set->gamma) == !isinf(now->gamma) &&
              same_scale(now->scale, set->scale) &&
              same_width(now->width, set->width) &&
              same_width(now->width_priv, set->width_priv);
  if (!same)
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "svmplus: other kernels need a new solver");
  TRY(check_solver(s->ctx, set, w->kind));
  double width = now->width, width_priv = now->width_priv;
  int scale = now->scale;
  w->set = *set;
  w->set.width = width;
  w->set.width_priv = width_priv;
  w->set.scale = scale;
  w->q.gamma = set->gamma;
  w->gram.grid = true;
  w->gram.tol = set->stop.tol;
  return LAPIS_OK;
}
