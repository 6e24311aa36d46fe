/* rr.c - robust regression and robust linear discriminant analysis [RR16].
 *
 *   minimize  eta/2 (|W (Y - T [D; 1]) V^(1/2)|_F^2 + gamma |T|_F^2)
 *             + |D|_* + lambda |P_Omega(X - D)|_1
 *
 * V: weights of samples (robust.h).  rr: real targets Y, W the identity or
 * given.  rlda: Y the indicators of the classes, W = (Y Y')^(-1/2), a full
 * matrix where a sample has several.
 *
 * Deviations: the papers call this convex; T D is bilinear and it is not.  With
 * gamma = 0 the pair (c T, D / c) lowers J without bound on T, so gamma > 0 is
 * required.  Where the weights are given, what is left is convex and solved
 * with a certificate (convex_step.c); its objective leaves out the gamma term.
 * Where D comes from is a setting (denoise): besides the paper's joint form,
 * robust PCA first, or X itself, which is ridge regression and ridge LDA. */
#include "methods/robust/robust.h"

#include <math.h>
#include <string.h>

#define AT(field) offsetof(lapis_rr_settings, field)
#define SHARED_ROWS(auto_lambda, auto_scale)                                   \
  CHOICE("denoise", denoise, "joint|rpca|none", .value = LAPIS_RR_JOINT,       \
         .arg = "D",                                                           \
         .help = "clean data: with the regression (joint), by robust PCA "     \
                 "before it (rpca), or X as it is: ridge (none)"),             \
      REAL("eta", eta, .symbol = "eta", .value = NAN, ABOVE(0),                \
           .help = "weight of predicting the targets, against cleaning the "   \
                   "features (auto: 10)"),                                     \
      REAL("lambda", lambda, .symbol = "lambda", .value = NAN, ABOVE(0),       \
           .help = "weight of the sparse error (" auto_lambda ")"),            \
      REAL("gamma", gamma, .symbol = "gamma", .value = NAN, AT_LEAST(0),       \
           .goes_with = "!fix-weights",                                        \
           .help = "how small the weights T of the regression are kept "       \
                   "(weight of |T|^2); above 0 (auto: chosen with lambda, or " \
                   ".1)"),                                                     \
      CHOICE("scale", scale, "auto|standard|none|robust",                      \
             .value = LAPIS_SCALE_AUTO, .arg = "S",                            \
             .help = "one size for all inside, by means and deviations "       \
                     "(standard) or medians (robust); auto: " auto_scale),     \
      REAL("rho", rho, .symbol = "rho", .value = 1.05, ABOVE(1),               \
           .help = "of the solver: growth of mu from iteration to iteration; " \
                   "nearer to 1 is slower and safer"),                         \
      REAL("mu", mu, .symbol = "mu_0", .value = NAN, ABOVE(0),                 \
           .help = "first mu (auto: d n / (4 |X|_1))")
#define LAST_ROWS                                                           \
  RR_REFILL, RR_TAU, RR_FITTED_CLEAN_WEIGHT,                                \
      PARAM_TOL(                                                            \
          1e-8,                                                             \
          "stop at these residuals, or this relative gap where certified; " \
          "robust PCA before it, where rr chose that, at 1e-6, rlda 1e-4"), \
      PARAM_MAX_ITERS(50000), PARAM_TIME_LIMIT

static const lapis_param rr_params[] = {
    SHARED_ROWS("auto: chosen on two folds with gamma, or 1/sqrt(max(d, n)) "
                "where eta or gamma is given",
                "robust, or none where eta and lambda are given"),
    TEXT("weight", weight, .symbol = "W", .arg = "W", .choices = "identity",
         .help = "identity (default), or FILE: K x K weight of the targets"),
    TEXT("fix-weights", fix_weights, .symbol = "T", .arg = "FILE",
         .help = "clean X for weights that are given, K targets x (d + 1), "
                 "bias last; none are learnt"),
    BOOL("certificate", certificate,
         .help = "with --fix-weights: also write the array that proves the "
                 "answer (dual)"),
    LAST_ROWS,
};
static const lapis_param rlda_params[] = {
    SHARED_ROWS("auto: chosen on two folds, or 1/sqrt(max(d, n)) where gamma "
                "is given",
                "standard where lambda and gamma are left open, else none"),
    CHOICE("assign", assign, "auto|score|mean|knn", .value = LAPIS_RLDA_AUTO,
           .arg = "A",
           .help = "class by the largest score, the nearest class mean or the "
                   "nearest 5 training samples; auto: mean where lambda and "
                   "gamma are left open, else score"),
    LAST_ROWS};

/* Where they are left open, and not chosen. */
static const double OPEN_ETA = 10, OPEN_GAMMA = .1;

static const lapis_matrix_setting rr_matrices[] = {
    {"weight", NULL, AT(W)}, {"fix-weights", NULL, AT(weights)}};

static const lapis_result_row rr_results[] = {
    RESULT("scores", "n x c", .help = "T [D; 1], the targets of all samples"),
    RESULT("weights", "c x (d + 1)", .help = "T, the offset last"),
    RESULT_LOW_RANK(.help = "D, the clean part of the samples"),
    RESULT_SPARSE(),
    RESULT_FILLED(.when = "refill"),
    RESULT("tried", "candidates x 5", .where = "lambda and gamma are left open",
           .help = "lambda, gamma (0: from the data), R^2 on hidden samples, 1 "
                   "where robust PCA comes first, the standard error"),
    RESULT("scale", "2 x d", .where = "features were brought to one size",
           .help = "what was taken off, and what the rest was divided by"),
    RESULT("target_scale", "2 x c", .where = "targets were brought to one size",
           .help = "the same of the targets"),
    RESULT("dual", "n x d", .when = "certificate fix-weights",
           .help = "the multiplier that proves the gap"),
    RESULT_USED,
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method rr_method = {
    .name = "rr",
    .title = "robust regression",
    .summary =
        "predict numbers from features that may be wrong or missing in part",
    .source = "[RR16] Sec. 3",
    .reads =
        LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_GROUP | LAPIS_READS_WEIGHT,
    .completes = true,
    .numbers = true,
    .params = rr_params,
    .n_params = sizeof rr_params / sizeof *rr_params,
    .results = rr_results,
    .n_results = sizeof rr_results / sizeof *rr_results,
    .settings_size = sizeof(lapis_rr_settings),
    .matrices = rr_matrices,
    .n_matrices = sizeof rr_matrices / sizeof *rr_matrices,
};

static const lapis_result_row rlda_results[] = {
    RESULT("scores", "n x K",
           .help = "T [D; 1]; of two classes the second's less the first's"),
    RESULT_LABELS(),
    RESULT_CLASSES(),
    RESULT("weights", "classes x (d + 1)", .help = "T, the offset last"),
    RESULT_LOW_RANK(.help = "D, the clean part of the samples"),
    RESULT_SPARSE(),
    RESULT_FILLED(.when = "refill"),
    RESULT("tried", "candidates x 6", .where = "lambda and gamma are left open",
           .help = "lambda, gamma (0: from the data), mean share right of each "
                   "class on hidden samples (NaN: not asked), 1 where robust "
                   "PCA comes first, the standard error, 1 where samples were "
                   "brought to length 1"),
    RESULT("scale", "2 x d", .where = "features were brought to one size",
           .help = "what was taken off, and what the rest was divided by"),
    RESULT_USED,
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method rlda_method = {
    .name = "rlda",
    .title = "robust linear discriminant analysis",
    .summary =
        "predict a class from features that may be wrong or missing in part",
    .source = "[RR16] Sec. 3.1",
    .reads =
        LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_GROUP | LAPIS_READS_WEIGHT,
    .completes = true,
    .params = rlda_params,
    .n_params = sizeof rlda_params / sizeof *rlda_params,
    .results = rlda_results,
    .n_results = sizeof rlda_results / sizeof *rlda_results,
    .settings_size = sizeof(lapis_rr_settings),
};

/* ---- solving ------------------------------------------------------------*/
/* K and R of the convex step from the weights given. */
static lapis_status set_fixed(rr *w)
{
  la *h = &w->h;
  rr_fit *f = &w->step.fit;
  lapis_mat T = w->set.weights; /* (d + 1) x K */
  TRY(h->ops->upload(h, &T, &w->t.Tt));
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &w->t.Tt, &w->Wm, 0, &w->TW));
  la_array top = la_rows(&w->TW, 0, w->d);
  lapis_mat tw, K;
  TRY(la_borrow(h, &top, &tw));
  TRY(la_borrow(h, &f->K, &K));
  for (int64_t k = 0; k < w->K; k++)
    for (int64_t i = 0; i < w->d; i++)
      ((double *)K.val)[i * K.ld + k] = lapis_mat_at(&tw, i, k);
  TRY(la_give_back(h, &K, &f->K));
  TRY(la_copy(h, &w->WY, &f->R));
  TRY(rr_take_constants(w, &f->R));
  f->eta = w->set.eta;
  return LAPIS_OK;
}

static lapis_status solve_fixed(rr *w, loop *l)
{
  TRY(set_fixed(w));
  TRY(rr_dstep_start(&w->step, w->set.lambda, w->solved));
  rr_dstep_keep(&w->step, l, false);
  TRY(rr_dstep_run(&w->step, l, w->set.stop.tol));
  w->base.info.objective = w->step.bounds.primal;
  w->base.info.dual = w->step.bounds.dual;
  w->base.info.gap = w->step.bounds.gap;
  w->base.info.residual = rr_dstep_residual(&w->step);
  return LAPIS_OK;
}

/* D = what step.X holds, 0 where not observed. */
static lapis_status take_data(rr *w)
{
  la *h = &w->h;
  TRY(la_zero(h, &w->step.S));
  TRY(h->ops->l1_dual(h, INFINITY, &w->step.X, &w->step.S, &w->step.A));
  double *values = w->t.values;
  int64_t k = w->d < w->step.all ? w->d : w->step.all;
  TRY(op_singular_values(w->step.svt, &w->step.A, values));
  w->step.low_rank = (svt_report){.way = SVT_AUTO, .why = "data as given"};
  for (int64_t i = k - 1; i >= 0; i--) {
    w->step.low_rank.nuclear += values[i];
    w->step.low_rank.rank += values[i] > 1e-9 * values[0];
  }
  return LAPIS_OK;
}

/* Covered entries found by robust PCA and filled; then step.X is what was
 * filled, and the dictionary is what filled it. */
static lapis_status refill_rounds(rr *w, loop *l)
{
  const lapis_rr_settings *set = &w->set;
  lapis_mat X = lapis_mat_f64(w->X, w->d, w->n);
  TRY(w->h.ops->upload(&w->h, &X, &w->step.X));
  TRY(rr_dstep_start(&w->step, set->lambda, false));
  rr_dstep_keep(&w->step, l, true);
  TRY(rr_refill_train(&w->step, l, set->refill, set->tau,
                      fmax(set->stop.tol, 1e-6), w->X, w->filled));
  lapis_mat D = lapis_mat_f64(w->low_rank, w->d, w->n);
  return w->h.ops->download(&w->h, &w->step.A, &D);
}

/* Stage 0 finds and fills, which stage 1 goes on from. */
static lapis_status refill(rr *w, loop *l)
{
  bool resumed;
  lapis_mat D = lapis_mat_f64(w->low_rank, w->d, w->n);
  if (l->stage == 0) TRY(refill_rounds(w, l));
  loop_set_stage(l, 1);
  loop_keep(l, "low_rank", w->low_rank, w->d * w->n);
  loop_keep_holes(l, "filled", w->filled, w->d * w->n);
  TRY(loop_resume(l, &resumed));
  rr_basis_free(&w->basis);
  TRY(rr_basis_new(&w->h, &D, w->step.low_rank.rank, &w->basis));
  lapis_mat filled = lapis_mat_f64(w->filled, w->d, w->n);
  return w->h.ops->upload(&w->h, &filled, &w->step.X);
}

/* robust PCA that rr and rlda chose themselves */
static const double OPEN_GAP[] = {1e-6, 1e-4};

/* Of the data with their errors: of D it would be all but 0, which new samples
 * do not bear, whose errors are not found that well. */
static lapis_status take_gamma(rr *w)
{
  if (!w->shrink) return LAPIS_OK;
  TRY(rlda_shrinkage(w, w->X, &w->set.gamma));
  w->t.gamma = w->set.gamma;
  return LAPIS_OK;
}

/* No entry of a subgradient of |D|_*, U V', is above 1: with lambda at least 1,
 * and every entry observed, D = X is the answer of robust PCA. */
static lapis_status nothing_to_clean(const rr *w, bool *out)
{
  double gaps = 0;
  for (int64_t k = 0; k < w->d * w->n; k++) gaps += isnan(w->X[k]);
  TRY(base_sum(w->base.ctx, &gaps, 1));
  *out = w->set.lambda >= 1 && !(gaps > 0);
  return LAPIS_OK;
}

static lapis_status solve_rpca(rr *w, loop *l)
{
  bool as_it_is;
  TRY(nothing_to_clean(w, &as_it_is));
  if (as_it_is) {
    TRY(take_data(w));
    return rr_regress(w);
  }
  TRY(rr_dstep_start(&w->step, w->set.lambda, w->stepped));
  w->stepped = true;
  rr_dstep_keep(&w->step, l, false);
  double tol = w->set.stop.tol;
  TRY(rr_dstep_run(&w->step, l, w->open ? fmax(tol, OPEN_GAP[w->lda]) : tol));
  w->base.info.residual = rr_dstep_residual(&w->step);
  return rr_regress(w);
}

static lapis_status solve_free(rr *w, loop *l)
{
  const lapis_rr_settings *set = &w->set;
  bool filled = set->refill > 0;
  TRY(take_gamma(w));
  if (filled) TRY(refill(w, l));
  if (set->denoise == LAPIS_RR_JOINT) {
    TRY(rr_alm(w, l));
    w->base.info.residual = fmax(w->residual[0], w->residual[1]);
  } else if (set->denoise == LAPIS_RR_RPCA && !filled) {
    TRY(solve_rpca(w, l));
  } else { /* ridge, on what was filled where anything was */
    TRY(take_data(w));
    TRY(rr_regress(w));
  }
  w->base.info.objective = w->J;
  return LAPIS_OK;
}

/* ---- answers ------------------------------------------------------------*/
static void by_neighbours(const rr *w, int64_t rows)
{
  const targets *t = &w->labels;
  lapis_mat train = lapis_mat_f64(w->scores, rows, w->n);
  lapis_mat signs = lapis_mat_f64(t->sign, t->classes, w->n);
  lapis_mat value = lapis_mat_f64(t->value, 1, t->n_values);
  int64_t near[RLDA_NEIGHBOURS];
  double far[RLDA_NEIGHBOURS];
  knn_task task = {&train, &signs, &value, RLDA_NEIGHBOURS, near, far};
  knn_labels(&task, w->scores, w->n, t->kind == TARGETS_CLASS, w->decided);
}

static void assign(rr *w)
{
  const targets *t = &w->labels;
  bool pair = t->kind == TARGETS_BINARY;
  int64_t rows = pair ? 1 : w->K;
  if (w->means != NULL) {
    rlda_means(w, rows, w->means);
    memcpy(w->plain_scores, w->scores,
           (size_t)(rows * w->n) * sizeof *w->scores);
    rlda_lines(w->means, rows, w->n, w->scores, w->means + rows * t->n_values);
  }
  if (w->set.assign == LAPIS_RLDA_KNN)
    by_neighbours(w, rows);
  else
    targets_decode(t, w->scores, pair ? 0 : 0.5, w->decided);
}

/* scores = T [D; 1]; binary: the difference of its two rows. */
static void decide(rr *w)
{
  bool pair = w->lda && w->labels.kind == TARGETS_BINARY;
  if (pair)
    for (int64_t j = 0; j < w->n; j++)
      w->scores[j] = w->scores[2 * j + 1] - w->scores[2 * j];
  solver_publish(&w->base, "scores",
                 lapis_mat_f64(w->scores, pair ? 1 : w->K, w->n));
  if (!w->lda) return;
  assign(w);
  targets_publish(&w->labels, w->decided, w->n, &w->base);
}

static bool is_scaled(const rr *w)
{
  return w->scale.centre != NULL || w->target_scale.centre != NULL;
}

/* Scores and weights of scaled features and targets, in their units. */
static void restore_fit(rr *w)
{
  rr_scale *y = &w->target_scale;
  rr_scale_weights(&w->scale, y, w->K, w->weights);
  if (y->centre == NULL) return;
  rr_scale_restore(y->centre, NULL, w->K, w->n, w->scores, NULL);
  solver_publish(&w->base, "target_scale", lapis_mat_f64(y->centre, w->K, 2));
}

static lapis_status publish_fit(rr *w)
{
  la *h = &w->h;
  la_array top = la_rows(&w->t.Tt, 0, w->d);
  lapis_mat F = lapis_mat_f64(w->scores, w->K, w->n);
  lapis_mat T = lapis_mat_f64(w->weights, w->d + 1, w->K);
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &top, &w->step.A, 0, &w->H));
  TRY(h->ops->download(h, &w->H, &F));
  TRY(h->ops->download(h, &w->t.Tt, &T));
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t k = 0; k < w->K; k++)
      w->scores[j * w->K + k] += w->weights[k * (w->d + 1) + w->d];
  solver_publish(&w->base, "weights", T);
  if (w->round) TRY(rlda_round(w));
  decide(w);
  if (w->own_weights != NULL)
    memcpy(w->own_weights, w->weights,
           (size_t)((w->d + 1) * w->K) * sizeof *w->weights);
  if (w->means != NULL) TRY(rlda_line_weights(w));
  if (is_scaled(w)) restore_fit(w);
  return LAPIS_OK;
}

static lapis_status publish(rr *w)
{
  lapis_mat D = lapis_mat_f64(w->low_rank, w->d, w->n);
  TRY(w->h.ops->download(&w->h, &w->step.A, &D));
  rr_residual(w->X, w->low_rank, w->d * w->n, w->sparse);
  bool told = w->set.denoise != LAPIS_RR_NONE && w->set.refill == 0;
  if (told && !w->open && !w->in_fold)
    TRY(rr_warn_if_empty(&w->base, w->step.low_rank.rank, w->sparse, w->X,
                         w->d * w->n, NULL));
  TRY(publish_fit(w));
  if (w->open && !w->in_fold) TRY(rr_remark_choice(w));
  if (w->scale.centre != NULL) {
    rr_scale_restore(w->scale.centre, w->unit ? w->length : NULL, w->d, w->n,
                     w->low_rank, w->sparse);
    solver_publish(&w->base, "scale", lapis_mat_f64(w->scale.centre, w->d, 2));
  }
  if (w->open) {
    lapis_mat tried = lapis_mat_f64(w->tried, RR_TRIED, rr_tries(w));
    if (!w->lda) tried.rows--; /* length is rlda's */
    solver_publish(&w->base, "tried", tried);
  }
  solver_publish(&w->base, "low_rank", D);
  solver_publish(&w->base, "sparse", lapis_mat_f64(w->sparse, w->d, w->n));
  if (w->filled != NULL)
    solver_publish(&w->base, "filled", lapis_mat_f64(w->filled, w->d, w->n));
  solver_publish_history(&w->base);
  if (w->dual == NULL) return LAPIS_OK;
  lapis_mat dual = lapis_mat_f64(w->dual, w->d, w->n);
  TRY(w->h.ops->download(&w->h, &w->step.W, &dual));
  solver_publish(&w->base, "dual", dual);
  return LAPIS_OK;
}

/* Not chosen yet, or what rr_choose can choose: of a file, all may stand
 * there. */
static bool may_be_chosen(const double *chosen)
{
  double lambda = chosen[0], gamma = chosen[1], denoise = chosen[2];
  double unit = chosen[3];
  if (isnan(lambda) && isnan(gamma) && isnan(denoise) && isnan(unit))
    return true;
  return lambda > 0 && isfinite(lambda) && gamma >= 0 && isfinite(gamma) &&
         denoise >= LAPIS_RR_JOINT && denoise <= LAPIS_RR_NONE &&
         denoise == floor(denoise) && (unit == 0 || unit == 1);
}

static lapis_status settle_open(rr *w)
{
  if (!may_be_chosen(w->chosen)) return loop_refuse(&w->base.loop, "chosen");
  if (isnan(w->chosen[0])) TRY(rr_choose(w, w->lda ? rlda_new : rr_new));
  w->set.lambda = w->chosen[0];
  w->shrink = !(w->chosen[1] > 0);
  if (!w->shrink) w->set.gamma = w->chosen[1];
  w->set.denoise = (int)w->chosen[2];
  w->unit = w->chosen[3] > 0;
  if (!w->unit) return LAPIS_OK;
  TRY(rr_take_unit(w, w->X));
  w->scale = w->of_unit;
  lapis_mat X = lapis_mat_f64(w->X, w->d, w->n);
  return w->h.ops->upload(&w->h, &X, &w->step.X);
}

/* A Cholesky factor that breaks down is a matter of sizes: the largest number
 * of X squared, against gamma. */
static lapis_status explain(rr *w, lapis_status status)
{
  double most = 0;
  if (status != LAPIS_ENUMERIC) return status;
  for (int64_t k = 0; k < w->d * w->n; k++)
    if (!isnan(w->X[k])) most = fmax(most, fabs(w->X[k]));
  return lapis_fail(w->base.ctx, LAPIS_ENUMERIC,
                    "%s: rounding ended it: numbers of X reach %.2g, which "
                    "--gamma %g is too small for; --map standard brings "
                    "features near 1",
                    w->base.cls->method, most, w->set.gamma);
}

static lapis_status rr_solve(lapis_solver *s)
{
  rr *w = (rr *)s;
  const char *method = w->lda ? "rlda" : "rr";
  TRY(loop_begin(&s->loop, s->ctx, method, &w->set.stop, 6, rr_dstep_columns));
  bool resumed;
  if (w->open) loop_keep_holes(&s->loop, "chosen", w->chosen, 4);
  if (w->open)
    loop_keep_holes(&s->loop, "tried", w->tried, RR_TRIED * rr_tries(w));
  TRY(loop_resume(&s->loop, &resumed));
  if (w->open) TRY(settle_open(w));
  TRY(rr_alm_targets(w));
  TRY(explain(w,
              w->fixed ? solve_fixed(w, &s->loop) : solve_free(w, &s->loop)));
  w->solved = true;
  s->info.iterations = s->loop.iter;
  s->info.rank = w->step.low_rank.rank;
  s->info.svd_seconds = op_svt_seconds(w->step.svt);
  TRY(publish(w));
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

/* ---- other settings, and what is learnt ---------------------------------*/
/* What the multiplier proves is an answer of the problem in D alone. */
static lapis_status check_certificate(lapis_ctx *ctx, const char *method,
                                      const lapis_rr_settings *set)
{
  if (!set->certificate || !mat_empty(&set->weights)) return LAPIS_OK;
  return lapis_fail(
      ctx, LAPIS_EINVAL,
      "%s: --certificate needs --fix-weights: in D and T together "
      "the problem is not convex, and nothing proves an answer",
      method);
}

/* Whether choose.c settles lambda and gamma, of targets that it can judge. */
static bool may_choose(const lapis_rr_settings *set, bool lda)
{
  return set->denoise == LAPIS_RR_JOINT && mat_empty(&set->weights) &&
         set->refill == 0 && isnan(set->lambda) && isnan(set->gamma) &&
         (lda || isnan(set->eta)) && set->scale != LAPIS_SCALE_NONE;
}

static bool left_open(const rr *w, const lapis_rr_settings *set)
{
  bool several = w->lda && w->labels.kind == TARGETS_MULTILABEL;
  return !several && !w->fixed && may_choose(set, w->lda);
}

/* Groups keep folds apart, and nothing else.  The certificate of D alone knows
 * no weights of samples, and neighbours count alike. */
unsigned rr_idle(const void *settings)
{
  const lapis_rr_settings *set = settings;
  unsigned fixed = mat_empty(&set->weights) ? 0 : LAPIS_READS_WEIGHT;
  return fixed | (may_choose(set, false) ? 0 : LAPIS_READS_GROUP);
}

unsigned rlda_idle(const void *settings)
{
  const lapis_rr_settings *set = settings;
  unsigned near = set->assign == LAPIS_RLDA_KNN ? LAPIS_READS_WEIGHT : 0;
  return near | (may_choose(set, true) ? 0 : LAPIS_READS_GROUP);
}

/* What --scale auto is.  eta and lambda of rr together state a problem of the
 * data as they are. */
static int scale_of(const rr *w, const lapis_rr_settings *set, bool open)
{
  if (w->fixed) return LAPIS_SCALE_NONE;
  if (set->scale != LAPIS_SCALE_AUTO) return set->scale;
  if (w->lda) return open ? LAPIS_SCALE_STANDARD : LAPIS_SCALE_NONE;
  bool stated = !isnan(set->eta) && !isnan(set->lambda);
  return stated ? LAPIS_SCALE_NONE : LAPIS_SCALE_ROBUST;
}

static void set_defaults(lapis_rr_settings *set)
{
  if (isnan(set->eta)) set->eta = OPEN_ETA;
  if (isnan(set->gamma)) set->gamma = OPEN_GAMMA;
}

static lapis_status rr_retune(lapis_solver *s, const void *settings)
{
  rr *w = (rr *)s;
  lapis_rr_settings own;
  const lapis_rr_settings *set = &own;
  TRY(lapis_settings_copy(s->ctx, w->lda ? &rlda_method : &rr_method, settings,
                          &own));
  if (!w->fixed) TRY(check_certificate(s->ctx, s->cls->method, set));
  bool open = left_open(w, &own);
  own.scale = scale_of(w, &own, open);
  set_defaults(&own);
  if (open != w->open || own.scale != w->set.scale || set->assign != w->asked ||
      set->denoise != w->asked_denoise || w->fixed ||
      (set->refill > 0) != (w->set.refill > 0) || !(set->gamma > 0))
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "%s: another --denoise, --refill or --scale, or fixed "
                      "weights, need a new solver",
                      s->cls->method);
  lapis_mat W = w->set.W;
  own.assign = w->set.assign;
  w->set = *set;
  w->set.W = W;
  w->set.lambda = rr_lambda(set->lambda, w->d, w->step.all);
  return LAPIS_OK;
}

/* What predicting needs: weights; the dictionary; for neighbours the training
 * scores with their labels. */
static lapis_status rr_learn(lapis_solver *s)
{
  rr *w = (rr *)s;
  bool cleans = w->set.denoise != LAPIS_RR_NONE || w->set.refill > 0;
  lapis_mat D = lapis_mat_f64(w->low_rank, w->d, w->n);
  lapis_mat T = lapis_mat_f64(w->weights, w->d + 1, w->K);
  if (w->scale.centre != NULL) {
    if (w->own_low_rank == NULL)
      w->own_low_rank = arena_reals(&s->arena, w->d * w->n);
    TRY(arena_status(&s->arena));
    D.val = w->own_low_rank;
    TRY(w->h.ops->download(&w->h, &w->step.A, &D));
    named_put(&s->learned, "scale", lapis_mat_f64(w->scale.centre, w->d, 2));
    if (w->unit)
      named_put(&s->learned, "unit", lapis_mat_f64(&w->chosen[3], 1, 1));
  }
  if (w->own_weights != NULL) T.val = w->own_weights;
  named_put(&s->learned, "weights", T);
  if (cleans && w->set.refill == 0) {
    rr_basis_free(&w->basis);
    TRY(rr_basis_new(&w->h, &D, w->step.low_rank.rank, &w->basis));
  }
  if (cleans) TRY(rr_basis_put(&w->basis, s));
  if (!w->lda) return LAPIS_OK;
  named_put(&s->learned, "class_values",
            lapis_mat_f64(w->labels.value, 1, w->labels.n_values));
  int64_t rows = w->labels.kind == TARGETS_BINARY ? 1 : w->K;
  double *f = w->means != NULL ? w->plain_scores : w->scores;
  if (w->means != NULL)
    named_put(&s->learned, "class_means",
              lapis_mat_f64(w->means, rows, w->labels.n_values));
  TRY(solver_learn_all(s, "train_scores", lapis_mat_f64(f, rows, w->n)));
  return solver_learn_all(
      s, "train_signs", lapis_mat_f64(w->labels.sign, w->labels.classes, w->n));
}

/* ---- constructor --------------------------------------------------------*/
static void rr_free(lapis_solver *s)
{
  rr *w = (rr *)s;
  if (w->h.ops != NULL) {
    rr_alm_free(w);
    rr_tstep_free(&w->h, &w->t);
  }
  rr_dstep_free(&w->step);
  rr_basis_free(&w->basis);
  targets_free(&w->labels);
}

static const solver_class rr_class = {.method = "rr",
                                      .solve = rr_solve,
                                      .free = rr_free,
                                      .retune = rr_retune,
                                      .learn = rr_learn};
static const solver_class rlda_class = {.method = "rlda",
                                        .solve = rr_solve,
                                        .free = rr_free,
                                        .retune = rr_retune,
                                        .learn = rr_learn};

double rr_holds(const solver_size *z, const void *settings)
{
  double side = fmin(z->d + 1, z->n), K = z->K;
  (void)settings; /* what is chosen may be any of them */
  return (RR_COPIES + 10) * z->features + rr_dstep_holds(z) + 3 * side * side +
         K * (20 * z->n + 20 * (z->d + 1) + 10 * K);
}

/* X and Y of one size; with refilling X stays, since tau is of its units. */
static lapis_status scale_data(rr *w)
{
  arena *a = &w->base.arena;
  if (w->set.refill == 0) {
    lapis_mat X = lapis_mat_f64(w->X, w->d, w->n);
    TRY(rr_scale_fit(a, w->set.scale, &X, w->weight, &w->scale));
    rr_scale_apply(w->scale.centre, w->d, w->n, w->X);
  }
  if (w->lda) return LAPIS_OK;
  rr_scale *y = &w->target_scale;
  lapis_mat Y = lapis_mat_f64(w->Y, w->K, w->n);
  TRY(rr_scale_fit(a, LAPIS_SCALE_STANDARD, &Y, w->weight, y));
  rr_scale_apply(y->centre, w->K, w->n, w->Y);
  return LAPIS_OK;
}

static lapis_status allocate(rr *w, const lapis_data *data)
{
  arena *a = &w->base.arena;
  int64_t count = w->d * w->n;
  w->X = arena_reals(a, count);
  w->low_rank = arena_reals(a, count);
  w->sparse = arena_reals(a, count);
  if (w->set.refill > 0) w->filled = arena_reals(a, count);
  if (w->set.certificate && w->fixed) w->dual = arena_reals(a, count);
  w->scores = arena_reals(a, w->K * w->n);
  if (w->lda) w->decided = arena_reals(a, w->K * w->n);
  w->weights = arena_reals(a, (w->d + 1) * w->K);
  if (w->open) w->tried = arena_reals(a, RR_TRIED * rr_tries(w));
  bool scaled = w->set.scale != LAPIS_SCALE_NONE;
  if (w->lda && (scaled || w->set.assign == LAPIS_RLDA_MEAN))
    w->own_weights = arena_reals(a, (w->d + 1) * w->K);
  if (w->set.assign == LAPIS_RLDA_MEAN) {
    w->plain_scores = arena_reals(a, w->K * w->n);
    w->means = arena_reals(a, w->K * (w->labels.n_values + 1)); /* and room */
  }
  TRY(arena_status(a));
  mat_to_f64(&data->X, w->X, w->d);
  if (scaled) TRY(scale_data(w));
  lapis_mat own = lapis_mat_f64(w->X, w->d, w->n);
  bool moved = w->scale.centre != NULL;
  TRY(rr_dstep_new(&w->h, moved ? &own : &data->X, w->fixed ? w->K : 0,
                   &w->step));
  w->set.lambda = rr_lambda(w->set.lambda, w->d, w->step.all);
  TRY(rr_tstep_new(&w->h, w->d, w->n, w->K, w->root, &w->t));
  return rr_alm_alloc(w);
}

static lapis_status check_gamma(lapis_ctx *ctx, const char *method,
                                const lapis_rr_settings *set)
{
  bool open = isnan(set->gamma); /* auto */
  if (open || set->gamma > 0 || !mat_empty(&set->weights)) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --gamma is 0; then T c and D / c lower the objective "
                    "without end, take a small one above 0",
                    method);
}

static lapis_status check(lapis_ctx *ctx, bool lda, const lapis_data *data,
                          const lapis_rr_settings *set)
{
  const char *method = lda ? "rlda" : "rr";
  if (base_ranks(ctx) > 1 && set->refill > 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: --refill is not divided among processes", method);
  TRY(check_gamma(ctx, method, set));
  TRY(check_certificate(ctx, method, set));
  TRY(rr_check_X(ctx, method, &data->X));
  TRY(mat_check_size(ctx, method, "X", &data->X));
  TRY(rr_check_targets(ctx, lda, set, data));
  TRY(mat_check_weights(ctx, method, data->weight, data->X.cols));
  bool raw = set->denoise == LAPIS_RR_NONE && set->refill == 0;
  return raw ? rr_check_raw(ctx, method, &data->X) : LAPIS_OK;
}

/* What is left open, and what it is where it is not chosen. */
static lapis_status settle_settings(rr *w)
{
  lapis_rr_settings *set = &w->set;
  bool several = w->lda && w->labels.kind == TARGETS_MULTILABEL;
  w->asked = set->assign;
  w->asked_denoise = set->denoise;
  for (int k = 0; k < 4; k++) w->chosen[k] = NAN;
  w->asked_scale = set->scale;
  w->open = left_open(w, set);
  set->scale = scale_of(w, set, w->open);
  if (w->fixed && w->asked_scale > LAPIS_SCALE_AUTO &&
      w->asked_scale != LAPIS_SCALE_NONE)
    return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                      "%s: weights that are given are of the data as they are; "
                      "leave out --scale, or --fix-weights",
                      w->base.cls->method);
  bool sized = w->asked_scale == LAPIS_SCALE_STANDARD ||
               w->asked_scale == LAPIS_SCALE_ROBUST;
  if (w->lda && sized && set->refill > 0)
    return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                      "rlda: --refill takes features as they are, since --tau "
                      "is of their units; leave out --scale, or --refill");
  set_defaults(set);
  if (set->assign == LAPIS_RLDA_MEAN && several)
    return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                      "rlda: --assign mean is for one class a sample; with "
                      "several labels take score or knn");
  if (set->assign == LAPIS_RLDA_AUTO)
    set->assign = w->open && w->lda ? LAPIS_RLDA_MEAN : LAPIS_RLDA_SCORE;
  w->round = w->open && w->labels.kind == TARGETS_CLASS &&
             set->assign != LAPIS_RLDA_SCORE;
  bool together = w->lda && (w->open || set->assign != LAPIS_RLDA_SCORE);
  if (base_ranks(w->base.ctx) > 1 && together)
    return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                      "rlda: the choice of settings and --assign mean and knn "
                      "are not divided among processes; give --lambda or "
                      "--gamma, and --assign score");
  return LAPIS_OK;
}

static lapis_status create(lapis_ctx *ctx, bool lda, const lapis_data *data,
                           const lapis_rr_settings *set, lapis_solver **out)
{
  lapis_solver *s;
  *out = NULL;
  TRY(check(ctx, lda, data, set));
  TRY(solver_alloc(ctx, lda ? &rlda_class : &rr_class, sizeof(rr), &s));
  rr *w = (rr *)s;
  w->set = *set;
  w->lda = lda;
  w->fixed = !mat_empty(&set->weights);
  w->group = data->group;
  w->given = data->X;
  s->settings = &w->set;
  lapis_status status = rr_take_roots(w, data);
  if (status >= 0) status = la_open(ctx, &w->h);
  if (status >= 0) status = rr_targets_build(w, data);
  if (status >= 0) status = settle_settings(w);
  if (status >= 0) status = allocate(w, data);
  return solver_deliver(s, status, out);
}

lapis_status rr_new(lapis_ctx *ctx, const lapis_data *data,
                    const void *settings, lapis_solver **out)
{
  return create(ctx, false, data, settings, out);
}

lapis_status rlda_new(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings, lapis_solver **out)
{
  return create(ctx, true, data, settings, out);
}
