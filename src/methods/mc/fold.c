/* fold.c - new samples for a completed matrix.
 *
 * With Z = U S V' the solution and A = U S^(1/2), |Z|_* is the smallest
 * (|A|^2 + |B|^2) / 2 over Z = A B.  A new column keeps A and asks for
 *
 *   minimize over b  mu/2 |b|^2 + phi(A_X b)  subject to  A_1 b = 1
 *
 * phi: losses and constraints of the features as in the fit, with the weights
 * of the fit; its scores are A_Y b.  The constraints hold for every training
 * b, so the problem is never empty, and an unlabelled training sample gets its
 * own column back; a sample of which nothing is known gets the shortest b with
 * A_1 b = 1.  ADMM on A_X b = z; labels are no part of the splitting and
 * A_1 b = 1 holds exactly in every step, which one Cholesky factor of
 * H = mu I + rho A_X'A_X serves:
 *   b0 = H^-1 rho A_X'(z - u);  b = b0 + h (1 - A_1 b0),  h ~ H^-1 A_1'.
 *
 * For any g in dom phi* and t = A_X'g, the value is at least
 *   -phi*(g) + nu - |nu A_1' - t|^2 / (2 mu),  nu = (mu + A_1 t) / |A_1|^2.
 * The primal is taken at b; where phi has constraints (pos, simplex), A_X b is
 * put right first, by some d, and how far it was off is the residual.  Such a
 * primal is that of the problem whose phi is moved by d, of which the value is
 * at least the bound + <g, d>: so where <g, d> < 0 that is added, and what is
 * left bounds both problems from below. */
#include <math.h>
#include <string.h>

#include "methods/mc/mc.h"
#include "methods/mc/observed.h"

static const double RELAXATION = 1.6;
enum { CHECK_EVERY = 10 };

/* Places in the row of numbers "layout" that a model keeps. */
enum { L_K, L_D, L_A, L_B, L_MU, L_ZERO_ONE, L_KIND, L_RHO };

#define AT(field) offsetof(lapis_mc_fold_settings, field)
static const lapis_param params[] = {
    PARAM_TOL(1e-4, "stop when the objective is proved to be within this share "
                    "of the best one, and the residual is as small"),
    PARAM_MAX_ITERS(10000),
    PARAM_TIME_LIMIT,
};
static const lapis_result_row results[] = {
    RESULT("scores", "n x K", .where = "the fit had labels",
           .help = "the labels of Z, as in the fit"),
    RESULT("labels", "n x c", .where = "the fit had labels",
           .help = "what is decided by the scores, as Y was written"),
    RESULT_CLASSES(),
    RESULT("probabilities", "n x K",
           .where = "the fit chose settings by hidden labels",
           .help = "of yes, or of each class"),
    RESULT_LOW_RANK(.help = "the features of Z: X repaired and completed"),
    RESULT_SPARSE(),
    RESULT("gaps", "n",
           .help = "relative, proved, of each sample's own problem"),
    RESULT("class_features", "K x d", .where = "the fit has them",
           .help = "those of the fit"),
    RESULT_SETS(RESULT_COVERED),
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method mc_fold_method = {
    .name = "mc",
    .title = "fold-in",
    .summary = "complete new samples, one by one, against a completed matrix",
    .source = "[MC11] [MC15]",
    .reads = LAPIS_READS_X,
    .completes = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_mc_fold_settings),
};

typedef struct fold {
  lapis_solver base;
  lapis_mc_fold_settings set;
  mc_problem p; /* phi: the feature block alone, D x n */
  la h;
  int64_t r;
  la_array A;          /* (K + D + ones) x r: labels, features, ones */
  la_array AY, AX;     /* views of it: K x r, D x r */
  la_array gram, H;    /* r x r: A_X'A_X; Cholesky factor of H */
  la_array one, push;  /* r x 1: A_1'; H^-1 A_1' / (A_1 H^-1 A_1') */
  la_array b, t;       /* r x n: coefficients, A_X'g */
  la_array Y;          /* K x n: scores */
  la_array Z, F, B, V; /* D x n: scratch, A_X b, prox, its argument */
  la_array weights;    /* (D + 1) x K, constant last: the fit's own affine map
                          of scores; empty where a feature is missing */
  la_array ones;       /* 1 x n: A_1 b or A_1 t */
  bool zero;           /* A_X is 0 */
  double rho;
  double *ones_row;  /* r */
  double *constants; /* K: of the weights */
  double gap, residual;
  double *scores, *decided, *probabilities, *fit, *sparse, *gaps;
  lapis_mat class_features; /* of the fit, which a model keeps */
} fold;
static const char *const CLASS_FEATURES = "class_features";

/* ---- what a fit leaves behind -------------------------------------------*/
/* A new b has A_1 b = 1, so that (A_1 - A_c) b is 1 - label where a row holds
 * that: a model knows no turned rows. */
void mc_turn_back(const mc_problem *p, double *A, int64_t r)
{
  for (int64_t k = 0; k < r; k++)
    for (int64_t c = 0; c < p->K; c++)
      if (p->turn[c] < 0)
        A[k * p->m + c] = A[k * p->m + p->m - 1] - A[k * p->m + c];
}

/* A = U S^(1/2) of the low-rank iterate; rank counts s > 1e-12 s_1. */
static lapis_status factorise(mc *w, la_array *U, la_array *Vt, int64_t *rank)
{
  const la_backend *ops = w->h.ops;
  int64_t m = w->p.m, r = 0;
  TRY(la_copy(&w->h, &w->A, &w->W));
  TRY(op_svd(&w->h, &w->W, U, w->values, Vt));
  while (r < U->cols && w->values[r] > 1e-12 * w->values[0]) {
    w->values[r] = sqrt(w->values[r]);
    r++;
  }
  *rank = r;
  la_array kept = la_cols(U, 0, r);
  TRY(la_scale_cols(&w->h, w->values, &kept));
  base_free(w->factors);
  w->factors = base_alloc_raw(w->base.ctx, m * r, sizeof *w->factors);
  if (w->factors == NULL) return LAPIS_ENOMEM;
  lapis_mat out = lapis_mat_f64(w->factors, m, r);
  TRY(ops->download(&w->h, &kept, &out));
  mc_turn_back(&w->p, w->factors, r);
  return LAPIS_OK;
}

/* Z = 0: one column of zeros, which gives new samples zeros as well.  Where the
 * problem asks for a row of ones or columns that sum to 1, 0 is no answer. */
static lapis_status learn_zero(mc *w)
{
  if (w->p.ones || w->p.variant->sums_to_1)
    return lapis_fail(w->base.ctx, LAPIS_ENUMERIC,
                      "mc: the completed matrix is 0, which is not a model for "
                      "new samples; a smaller --mu or more iterations keep "
                      "more");
  base_free(w->factors);
  w->factors = base_alloc(w->base.ctx, w->p.m, sizeof *w->factors);
  return w->factors == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

lapis_status mc_learn_factors(mc *w, int64_t rank)
{
  lapis_solver *s = &w->base;
  const mc_problem *p = &w->p;
  if (rank == 0) TRY(learn_zero(w));
  int64_t kept = rank > 0 ? rank : 1;
  const double layout[8] = {[L_K] = (double)p->K,
                            [L_D] = (double)p->D,
                            [L_A] = p->a,
                            [L_B] = p->b,
                            [L_MU] = p->mu,
                            [L_ZERO_ONE] = p->phi.zero_one,
                            [L_KIND] = (double)p->labels.kind,
                            [L_RHO] = w->rho};
  memcpy(w->layout, layout, sizeof layout);
  named_put(&s->learned, "factors", lapis_mat_f64(w->factors, p->m, kept));
  named_put(&s->learned, "layout", lapis_mat_f64(w->layout, 1, 8));
  if (named_find(&s->result, CLASS_FEATURES) != NULL)
    named_put(&s->learned, CLASS_FEATURES,
              *named_find(&s->result, CLASS_FEATURES));
  if (p->calibration != NULL)
    named_put(&s->learned, "calibration",
              lapis_mat_f64(p->calibration, 2, p->K));
  if (p->K > 0)
    named_put(&s->learned, "classes",
              lapis_mat_f64(p->labels.value, 1, p->labels.n_values));
  return LAPIS_OK;
}

lapis_status mc_learn(mc *w)
{
  la_array U = {0}, Vt = {0};
  int64_t rank = 0;
  lapis_status status = factorise(w, &U, &Vt, &rank);
  w->h.ops->free(&w->h, &U);
  w->h.ops->free(&w->h, &Vt);
  TRY(status);
  return mc_learn_factors(w, rank);
}

/* ---- the steps ----------------------------------------------------------*/
/* ones = A_1 M, M of r rows. */
static lapis_status ones_of(fold *w, const la_array *M)
{
  return w->h.ops->gemm(&w->h, LA_T, LA_N, 1, &w->one, M, 0, &w->ones);
}

/* b <- b + push (1 - A_1 b) */
static lapis_status meet_ones(fold *w)
{
  if (w->p.ones == 0) return LAPIS_OK;
  TRY(ones_of(w, &w->b));
  TRY(la_scale(&w->h, -1, &w->ones));
  TRY(w->h.ops->add_to_cols(&w->h, &(double){1}, &w->ones));
  return w->h.ops->gemm(&w->h, LA_N, LA_N, 1, &w->push, &w->ones, 1, &w->b);
}

static lapis_status update_coefficients(fold *w)
{
  const la_backend *ops = w->h.ops;
  TRY(la_copy(&w->h, &w->B, &w->Z));
  TRY(ops->axpby(&w->h, -1, &w->V, 2, &w->Z));
  TRY(ops->gemm(&w->h, LA_T, LA_N, w->rho, &w->AX, &w->Z, 0, &w->b));
  TRY(ops->potrs(&w->h, &w->H, &w->b));
  TRY(meet_ones(w));
  return ops->gemm(&w->h, LA_N, LA_N, 1, &w->AX, &w->b, 0, &w->F);
}

/* V <- V + 1.6 (F - B); B <- prox.  Z is scratch. */
static lapis_status update_fit(fold *w, double sums[4])
{
  const la_backend *ops = w->h.ops;
  TRY(ops->axpby(&w->h, RELAXATION, &w->F, 1, &w->V));
  TRY(ops->axpby(&w->h, -RELAXATION, &w->B, 1, &w->V));
  TRY(ops->reflect(&w->h, &w->p.phi, w->rho, &w->F, &w->V, &w->B, &w->Z, sums));
  return base_sum(w->base.ctx, sums, 4);
}

/* Factors H = mu I + rho A_X'A_X and the push that meets the row of ones. */
static lapis_status set_rho(fold *w, double rho)
{
  const la_backend *ops = w->h.ops;
  double along;
  w->rho = rho;
  TRY(ops->axpby(&w->h, rho, &w->gram, 0, &w->H));
  TRY(la_add_diagonal(&w->h, w->p.mu, &w->H));
  TRY(ops->potrf(&w->h, &w->H));
  if (w->p.ones == 0) return LAPIS_OK;
  TRY(la_copy(&w->h, &w->one, &w->push));
  TRY(ops->potrs(&w->h, &w->H, &w->push));
  TRY(ops->dot(&w->h, &w->one, &w->push, &along));
  if (!(along > 0))
    return lapis_fail(
        w->base.ctx, LAPIS_EFORMAT,
        "predict: the mc model's row of ones is empty; fit it again");
  return la_scale(&w->h, 1 / along, &w->push);
}

static lapis_status balance_rho(fold *w, double factor)
{
  TRY(w->h.ops->axpby(&w->h, 1 - 1 / factor, &w->B, 1 / factor, &w->V));
  return set_rho(w, w->rho * factor);
}

/* ---- bounds -------------------------------------------------------------*/
/* The largest -|nu a - t|^2 / (2 mu) + nu over nu, for t with |t|^2 = tt and
 * A_1 t = at; aa = |A_1|^2, 0 where there is no row of ones (and no nu). */
static double best_nu(double mu, double aa, double at, double tt)
{
  if (aa == 0) return -tt / (2 * mu);
  double nu = (mu + at) / aa;
  return nu - (nu * nu * aa - 2 * nu * at + tt) / (2 * mu);
}

/* The part of the dual that t = A_X'g decides, over columns first .. + n - 1;
 * w->ones holds A_1 t of all columns. */
static lapis_status dual_of_t(fold *w, int64_t first, int64_t n, double *out)
{
  double aa, tt;
  lapis_mat ones;
  TRY(w->h.ops->dot(&w->h, &w->one, &w->one, &aa));
  TRY(la_borrow(&w->h, &w->ones, &ones));
  const double *at = ones.val;
  *out = 0;
  for (int64_t j = first; j < first + n; j++) {
    la_array t = la_cols(&w->t, j, 1);
    TRY(w->h.ops->dot(&w->h, &t, &t, &tt));
    *out += best_nu(w->p.mu, aa, at[j], tt);
  }
  return LAPIS_OK;
}

/* <g, d> of columns first .. first + n - 1, where that is below 0: d is A_X b
 * put right less A_X b, and <g, A_X b> = <t, b>. */
static lapis_status moved(fold *w, int64_t first, int64_t n, double *out)
{
  la_array F = la_cols(&w->F, first, n), G = la_cols(&w->Z, first, n);
  la_array b = la_cols(&w->b, first, n), t = la_cols(&w->t, first, n);
  double right, as_is;
  *out = 0;
  if (w->p.variant->check == NULL) return LAPIS_OK;
  TRY(w->h.ops->dot(&w->h, &G, &F, &right));
  TRY(w->h.ops->dot(&w->h, &t, &b, &as_is));
  *out = fmin(right - as_is, 0);
  return LAPIS_OK;
}

/* Primal and dual of columns first .. first + n - 1, after prepare_bounds. */
static lapis_status bounds(fold *w, int64_t first, int64_t n, double of[2])
{
  const la_backend *ops = w->h.ops;
  la_penalty phi = w->p.phi;
  phi.Z0 = la_cols(&w->p.phi.Z0, first, n);
  la_array F = la_cols(&w->F, first, n), G = la_cols(&w->Z, first, n);
  la_array b = la_cols(&w->b, first, n);
  double loss, conjugate, bb, rest, shift;
  TRY(ops->loss(&w->h, &phi, &F, &loss));
  TRY(ops->conjugate(&w->h, &phi, 1, &G, &conjugate));
  TRY(ops->dot(&w->h, &b, &b, &bb));
  TRY(dual_of_t(w, first, n, &rest));
  TRY(moved(w, first, n, &shift));
  of[0] = w->p.mu / 2 * bb + loss;
  of[1] = rest - conjugate + shift;
  return LAPIS_OK;
}

static double gap_of(const double of[2])
{
  return (of[0] - of[1]) / fmax(fmax(fabs(of[0]), fabs(of[1])), 1e-300);
}

/* Z = rho (V - B) clamped, t = A_X'Z, ones = A_1 t, F = A_X b made feasible. */
static lapis_status prepare_bounds(fold *w)
{
  const la_backend *ops = w->h.ops;
  TRY(ops->axpby(&w->h, w->rho, &w->V, 0, &w->Z));
  TRY(ops->axpby(&w->h, -w->rho, &w->B, 1, &w->Z));
  TRY(ops->clamp(&w->h, &w->p.phi, &w->Z));
  TRY(ops->gemm(&w->h, LA_T, LA_N, 1, &w->AX, &w->Z, 0, &w->t));
  TRY(ones_of(w, &w->t));
  return ops->project(&w->h, &w->p.phi, &w->F);
}

/* A model of Z = 0 alone has such a factor (learn_zero). */
static bool is_zero(const fold *w)
{
  return w->zero;
}

/* Where A = 0 every A b is 0, and B - 0 against 0 says nothing. */
static lapis_status check_gap(fold *w, const double sums[4])
{
  loop *l = &w->base.loop;
  double of[2];
  TRY(prepare_bounds(w));
  TRY(bounds(w, 0, w->p.n, of));
  TRY(base_sum(w->base.ctx, of, 2));
  w->gap = gap_of(of);
  w->base.info.objective = of[0];
  w->base.info.dual = of[1];
  w->residual = l->iter > 0 ? sqrt(sums[0] / fmax(sums[2], 1e-300)) : INFINITY;
  if (is_zero(w)) w->residual = 0;
  return loop_record(l, (double[]){w->base.info.objective, w->base.info.dual,
                                   w->gap, w->residual});
}

/* ---- solving and publishing ---------------------------------------------*/
static bool settled(const fold *w)
{
  return fabs(w->gap) <= w->set.stop.tol && w->residual <= w->set.stop.tol;
}

/* In every iteration, as of many samples ten are long: what was last checked.
 */
static void show(fold *w)
{
  bool checked = isfinite(w->gap);
  lapis_progress now = {.rank = w->r,
                        .objective = checked ? w->base.info.objective : NAN,
                        .gap = checked ? w->gap : NAN,
                        .residual = checked ? w->residual : NAN};
  loop_show(&w->base.loop, &now, w->set.stop.tol);
}

static lapis_status iterate(fold *w)
{
  loop *l = &w->base.loop;
  double sums[4] = {0};
  w->gap = INFINITY;
  while (!settled(w) && loop_next(l)) {
    TRY(update_coefficients(w));
    TRY(update_fit(w, sums));
    if (l->iter % CHECK_EVERY == 0) TRY(check_gap(w, sums));
    show(w);
    double factor = mc_balance(l->iter, sums);
    if (factor != 1) TRY(balance_rho(w, factor));
  }
  bool stale = l->iter % CHECK_EVERY != 0 || l->iter == 0;
  return stale ? check_gap(w, sums) : LAPIS_OK;
}

/* A_Y b; or by the weights that scored the fit's own unlabelled samples. */
static lapis_status scores(fold *w)
{
  const la_backend *ops = w->h.ops;
  if (w->weights.cols == 0)
    return ops->gemm(&w->h, LA_N, LA_N, 1, &w->AY, &w->b, 0, &w->Y);
  la_array slopes = la_rows(&w->weights, 0, w->p.D);
  TRY(ops->gemm(&w->h, LA_T, LA_N, 1, &slopes, &w->p.phi.Z0, 0, &w->Y));
  la_array last = la_rows(&w->weights, w->p.D, 1);
  lapis_mat constants;
  TRY(la_borrow(&w->h, &last, &constants));
  mat_to_f64(&constants, w->constants, 1);
  return w->h.ops->add_to_cols(&w->h, w->constants, &w->Y);
}

/* Each sample's own gap, before F goes back to A b. */
static lapis_status sample_gaps(fold *w)
{
  double of[2];
  TRY(prepare_bounds(w));
  for (int64_t j = 0; j < w->p.n; j++) {
    TRY(bounds(w, j, 1, of));
    w->gaps[j] = gap_of(of);
  }
  TRY(scores(w));
  return w->h.ops->gemm(&w->h, LA_N, LA_N, 1, &w->AX, &w->b, 0, &w->F);
}

static lapis_status publish(fold *w)
{
  const mc_problem *p = &w->p;
  lapis_mat fit = lapis_mat_f64(w->fit, p->D, p->n);
  lapis_mat sparse = lapis_mat_f64(w->sparse, p->D, p->n);
  lapis_mat scores = lapis_mat_f64(w->scores, p->K, p->n);
  TRY(w->h.ops->download(&w->h, &w->F, &fit));
  TRY(w->h.ops->download(&w->h, &p->phi.Z0, &sparse));
  for (int64_t k = 0; k < p->D * p->n; k++)
    w->sparse[k] = isnan(w->sparse[k]) ? 0 : w->sparse[k] - w->fit[k];
  if (p->K > 0) {
    TRY(w->h.ops->download(&w->h, &w->Y, &scores));
    mc_decide(p, w->scores, p->n, w->decided, w->probabilities);
    solver_publish(&w->base, "scores", scores);
    if (p->calibration != NULL)
      solver_publish(&w->base, "probabilities",
                     lapis_mat_f64(w->probabilities, p->K, p->n));
    targets_publish(&p->labels, w->decided, p->n, &w->base);
  }
  solver_publish(&w->base, "low_rank", fit);
  solver_publish(&w->base, "sparse", sparse);
  solver_publish(&w->base, "gaps", lapis_mat_f64(w->gaps, 1, p->n));
  if (w->class_features.cols > 0)
    solver_publish(&w->base, CLASS_FEATURES, w->class_features);
  solver_publish_history(&w->base);
  return LAPIS_OK;
}

static lapis_status fold_solve(lapis_solver *s)
{
  fold *w = (fold *)s;
  static const char *const columns[] = {"iteration", "objective", "dual", "gap",
                                        "residual"};
  TRY(loop_begin(&s->loop, s->ctx, "mc fold-in", &w->set.stop, 5, columns));
  TRY(iterate(w));
  TRY(sample_gaps(w));
  TRY(publish(w));
  s->info.iterations = s->loop.iter;
  s->info.rank = is_zero(w) ? 0 : w->r;
  s->info.gap = w->gap;
  s->info.residual = w->residual;
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

/* ---- constructor --------------------------------------------------------*/
static void fold_free(lapis_solver *s)
{
  fold *w = (fold *)s;
  la_array *all[] = {&w->A, &w->gram, &w->H,        &w->one,     &w->push,
                     &w->b, &w->t,    &w->Y,        &w->Z,       &w->F,
                     &w->B, &w->V,    &w->p.phi.Z0, &w->weights, &w->ones};
  for (int i = 0; w->h.ops != NULL && i < 15; i++)
    w->h.ops->free(&w->h, all[i]);
  base_free(w->p.labels.value);
  base_free(w->constants);
  base_free(w->ones_row);
  base_free(w->scores);
  base_free(w->decided);
  base_free(w->probabilities);
  base_free(w->p.calibration);
  base_free(w->fit);
  base_free(w->sparse);
  base_free(w->gaps);
  base_free(w->class_features.val);
}

static const solver_class fold_class = {
    .method = "mc", .solve = fold_solve, .free = fold_free};

static lapis_status check(lapis_ctx *ctx, const lapis_mc_settings *set,
                          const lapis_data *data, int64_t D)
{
  const lapis_mat *X = &data->X;
  bool left_out = mc_leaves_out(set, data);
  if (X->rows != D)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "predict: X has %" PRId64 " feature(s), the model has "
                      "%" PRId64,
                      X->rows, D);
  if (left_out) TRY(observed_check(ctx, X));
  TRY(mc_check_features(ctx, set->variant, X));
  mat_say_blank(ctx, X, NULL, left_out);
  return LAPIS_OK;
}

static lapis_status bad_model(lapis_ctx *ctx)
{
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "predict: the mc model lacks factors, layout or classes "
                    "that fit together; fit it again");
}

enum { MOST = 1 << 30 }; /* classes, features */

static bool layout_is_sane(const double *l)
{
  bool sizes = number_is_whole(l[L_K], 0, MOST) &&
               number_is_whole(l[L_D], 1, MOST) &&
               number_is_whole(l[L_KIND], 0, TARGETS_MULTILABEL);
  bool labels = l[L_K] < 1 || (l[L_B] >= 0 && isfinite(l[L_B]));
  return sizes && labels && l[L_A] > 0 && l[L_MU] > 0 && l[L_RHO] > 0 &&
         isfinite(l[L_A] + l[L_MU] + l[L_RHO]);
}

/* The problem a model describes; LAPIS_EFORMAT where it describes none. */
static lapis_status read_layout(fold *w, const lapis_mc_settings *set,
                                const named_list *learned)
{
  const lapis_mat *layout = named_numbers(learned, "layout", 1, 8);
  const double *l = layout != NULL ? layout->val : NULL;
  mc_problem *p = &w->p;
  if (l == NULL || !layout_is_sane(l)) return bad_model(w->base.ctx);
  p->K = (int64_t)l[L_K];
  p->D = (int64_t)l[L_D];
  p->ones = p->K > 0;
  p->m = p->K + p->D + p->ones;
  p->labels.kind = (targets_kind)l[L_KIND];
  bool binary = p->labels.kind == TARGETS_BINARY;
  int64_t values = p->labels.kind == TARGETS_CLASS ? p->K : 2;
  const lapis_mat *A = named_numbers(learned, "factors", p->m, -1);
  if (A == NULL || A->cols < 1 || (binary && p->K > 1) ||
      (p->K > 0 && named_numbers(learned, "classes", 1, values) == NULL))
    return bad_model(w->base.ctx);
  p->a = l[L_A];
  p->b = l[L_B];
  p->mu = l[L_MU];
  p->phi.zero_one = l[L_ZERO_ONE] != 0;
  mc_problem_stated(p, set);
  w->rho = l[L_RHO];
  w->r = A->cols;
  return LAPIS_OK;
}

static lapis_status copy_classes(fold *w, const named_list *learned)
{
  if (named_find(learned, "calibration") != NULL) {
    const lapis_mat *c = named_numbers(learned, "calibration", 2, w->p.K);
    if (c == NULL) return bad_model(w->base.ctx);
    TRY(mc_calibrate(w->base.ctx, &w->p, c));
  }
  const lapis_mat *classes = named_find(learned, "classes");
  targets *t = &w->p.labels;
  t->classes = w->p.K;
  t->samples = w->p.n;
  if (w->p.K == 0) return LAPIS_OK;
  t->n_values = classes->cols;
  t->value = base_alloc(w->base.ctx, t->n_values, sizeof *t->value);
  if (t->value == NULL) return LAPIS_ENOMEM;
  mat_to_f64(classes, t->value, 1);
  return LAPIS_OK;
}

/* How the classes look belongs to the model, not to the samples. */
static lapis_status copy_class_features(fold *w, const named_list *learned)
{
  const lapis_mat *m = named_numbers(learned, CLASS_FEATURES, w->p.D, -1);
  if (m == NULL) return LAPIS_OK;
  double *val = base_alloc(w->base.ctx, m->rows * m->cols, sizeof *val);
  if (val == NULL) return LAPIS_ENOMEM;
  mat_to_f64(m, val, m->rows);
  w->class_features = lapis_mat_f64(val, m->rows, m->cols);
  return LAPIS_OK;
}

static lapis_status allocate(fold *w)
{
  const mc_problem *p = &w->p;
  struct {
    la_array *a;
    int64_t rows, cols;
  } all[] = {
      {&w->A, p->m, w->r},        {&w->gram, w->r, w->r}, {&w->H, w->r, w->r},
      {&w->one, w->r, 1},         {&w->push, w->r, 1},    {&w->b, w->r, p->n},
      {&w->t, w->r, p->n},        {&w->Y, p->K, p->n},    {&w->Z, p->D, p->n},
      {&w->F, p->D, p->n},        {&w->B, p->D, p->n},    {&w->V, p->D, p->n},
      {&w->p.phi.Z0, p->D, p->n}, {&w->ones, 1, p->n}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    TRY(w->h.ops->alloc(&w->h, LAPIS_F64, all[i].rows, all[i].cols, all[i].a));
  struct {
    double **to;
    int64_t count;
  } host[] = {{&w->constants, p->K},
              {&w->ones_row, w->r},
              {&w->scores, p->K * p->n},
              {&w->decided, p->K * p->n},
              {&w->fit, p->D * p->n},
              {&w->sparse, p->D * p->n},
              {&w->gaps, p->n},
              {&w->probabilities, p->calibration ? p->K * p->n : 0}};
  for (size_t i = 0; i < sizeof host / sizeof *host; i++) {
    *host[i].to = base_alloc(w->base.ctx, host[i].count, sizeof(double));
    if (*host[i].to == NULL) return LAPIS_ENOMEM;
  }
  return LAPIS_OK;
}

/* What a sparse X leaves out is 0, or unknown as it was in the fit. */
static void put_features(const lapis_mc_settings *set, const lapis_data *data,
                         double *host)
{
  const lapis_mat *X = &data->X;
  if (!mc_leaves_out(set, data)) {
    mat_to_f64(X, host, X->rows);
    return;
  }
  for (int64_t k = 0; k < X->rows * X->cols; k++) host[k] = NAN;
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t k = X->colptr[j]; k < X->colptr[j + 1]; k++)
      host[j * X->rows + X->rowidx[k]] = mat_stored(X, k);
}

/* Z_0: the features as given; B: the same with 0 where unknown. */
static lapis_status fill(fold *w, const lapis_mc_settings *set,
                         const lapis_data *data)
{
  const mc_problem *p = &w->p;
  double *host = base_alloc_raw(w->base.ctx, p->D * p->n, sizeof *host);
  if (host == NULL) return LAPIS_ENOMEM;
  put_features(set, data, host);
  lapis_mat view = lapis_mat_f64(host, p->D, p->n);
  lapis_status s = w->h.ops->upload(&w->h, &view, &w->p.phi.Z0);
  for (int64_t i = 0; i < p->D * p->n; i++)
    if (isnan(host[i])) host[i] = 0;
  if (s >= 0) s = w->h.ops->upload(&w->h, &view, &w->B);
  base_free(host);
  return s;
}

/* The feature block of the fit's phi, on its own. */
static void take_feature_block(mc_problem *p)
{
  mc_set_blocks(p);
  la_block features = p->phi.block[p->K > 0 ? 1 : 0];
  features.first = 0;
  p->phi.block[0] = features;
  p->phi.n_blocks = 1;
}

/* A, its views, A_X'A_X and the row of ones as a column. */
static lapis_status take_factors(fold *w, const lapis_mat *A)
{
  const mc_problem *p = &w->p;
  TRY(w->h.ops->upload(&w->h, A, &w->A));
  w->AY = la_rows(&w->A, 0, p->K);
  w->AX = la_rows(&w->A, p->K, p->D);
  TRY(w->h.ops->syrk(&w->h, LA_T, &w->AX, &w->gram));
  lapis_mat gram;
  TRY(la_borrow(&w->h, &w->gram, &gram));
  w->zero = w->r == 1 && *(const double *)gram.val == 0;
  if (p->ones == 0) return LAPIS_OK;
  for (int64_t i = 0; i < w->r; i++)
    w->ones_row[i] = lapis_mat_at(A, p->m - 1, i);
  lapis_mat row = lapis_mat_f64(w->ones_row, w->r, 1);
  return w->h.ops->upload(&w->h, &row, &w->one);
}

/* For samples that are wholly seen, from a fit whose samples were.  "weights"
 * of older models have the constant first; they are answered without. */
static lapis_status take_weights(fold *w, const lapis_mc_settings *set,
                                 const lapis_data *data,
                                 const named_list *learned)
{
  const lapis_mat *W = named_numbers(learned, "affine", w->p.D + 1, w->p.K);
  double gaps = mc_leaves_out(set, data) || lapis_mat_missing(&data->X) > 0;
  TRY(base_max(w->base.ctx, &gaps, 1)); /* one way for all samples */
  if (W == NULL || gaps > 0) return LAPIS_OK;
  TRY(w->h.ops->alloc(&w->h, LAPIS_F64, W->rows, W->cols, &w->weights));
  return w->h.ops->upload(&w->h, W, &w->weights);
}

static lapis_status prepare(fold *w, const lapis_mc_settings *set,
                            const lapis_data *data, const named_list *learned)
{
  const lapis_mat *A = named_find(learned, "factors");
  TRY(la_open(w->base.ctx, &w->h));
  TRY(copy_classes(w, learned));
  TRY(copy_class_features(w, learned));
  TRY(allocate(w));
  TRY(fill(w, set, data));
  take_feature_block(&w->p);
  TRY(take_factors(w, A));
  TRY(take_weights(w, set, data, learned));
  TRY(set_rho(w, w->rho));
  TRY(w->h.ops->project(&w->h, &w->p.phi, &w->B));
  return la_copy(&w->h, &w->B, &w->V);
}

lapis_status mc_fold_new(lapis_ctx *ctx, const lapis_data *data,
                         const void *settings, const named_list *learned,
                         const void *options, lapis_solver **out)
{
  const lapis_mc_settings *set = settings;
  lapis_solver *s;
  TRY(solver_alloc(ctx, &fold_class, sizeof(fold), &s));
  fold *w = (fold *)s;
  w->set = *(const lapis_mc_fold_settings *)options;
  s->settings = &w->set;
  w->p.n = data->X.cols;
  lapis_status status = mat_check_dense(ctx, "mc", "X", &data->X);
  if (status >= 0) status = read_layout(w, set, learned);
  if (status >= 0) status = check(ctx, set, data, w->p.D);
  if (status >= 0) status = prepare(w, set, data, learned);
  return solver_deliver(s, status, out);
}
