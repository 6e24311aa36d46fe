/* linear.c - logistic regression, the plain method beside mc; of numbers ridge
 * regression (op/learn/ridge.c).
 *
 *   minimize   |w|^2 / 2 + C sum of v_j log(1 + exp(-s_j (w'x_j + b)))
 *
 * a label, v_j being the weight of a sample; one class of several by the
 * softmax of all (op/learn/logistic.c).  What is missing of the features is
 * filled by the mean of what is there.
 *
 * Numerics: where a feature is large the problem is solved in
 *   x'_i = (x_i - m_i) f_i,   w_i = f_i w'_i,   f_i = (1 + C n s_i^2 /
 * 4)^(-1/2), m and s its mean and deviation, n the sum of v: the second
 * derivatives are then about alike. It is the same problem, |w|^2 = sum f_i^2
 * w'_i^2, and b takes the means.  A sparse X stays so: m f is taken off the
 * products.
 *
 * L-BFGS walks first, whose gradient says little of the objective where C or
 * units are large; the gap to Fenchel's dual is proved (prove.c), and where it
 * is too wide Newton's steps close it (newton.c). */
#include "methods/plain/linear.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/plain/prove.h"
#include "op/learn/logistic.h"
#include "op/learn/ridge.h"
#include "op/learn/samples.h"

/* What brings features to unit size. */
static const char *standard(const lapis_ctx *ctx)
{
  return base_door(ctx, "--map standard", "dividing each by its deviation");
}

/* Samples of which some label is known; all: the answer's own arrays. */
typedef struct taught {
  int64_t n;
  int64_t *place;       /* n: in the data, or NULL: all */
  lapis_mat X;          /* d x n */
  double *sign;         /* K x n */
  const double *weight; /* n, or NULL */
} taught;

typedef struct linear {
  lapis_solver base;
  lapis_linear_settings set;
  la h;
  lapis_mat data; /* X, borrowed */
  linear_answer answer;
  taught from;
  double *fill, *W;      /* d; (d + 1) x K */
  double *scaled;        /* as X.val, or NULL: X is solved for as it is */
  double *mean, *factor; /* d each */
  double *shift;         /* d: factor mean, of what a sparse X does not store */
  double kind;           /* targets_kind, as a model keeps it */
  lines_proof proof;
  double *F, *slope; /* n x K, n of what is learnt from; (d + 1) x K */
  double *dual;      /* K x n, n of the data */
} linear;

#define AT(field) offsetof(lapis_linear_settings, field)
static const lapis_param params[] = {
    REAL("C", C, .symbol = "C", .value = 1, ABOVE(0),
         .help = "how closely training samples are fitted: larger is closer "
                 "(weight of the losses against |w|^2 / 2)"),
    PARAM_TARGETS,
    BOOL("certificate", certificate,
         .help = "also write dual, which proves how near the answer is to the "
                 "best one"),
    PARAM_TOL(1e-6, "stop where the gradient is this share of the first, and "
                    "the objective proved to be within this share of the best"),
    PARAM_MAX_ITERS(2000),
    PARAM_TIME_LIMIT,
};

#define OF_CLASSES .where = "targets are classes"
static const lapis_result_row results[] = {
    RESULT("scores", "n x K",
           .help =
               "w'x + b: log-odds of yes, or of the class against all others; "
               "of numbers what is predicted"),
    RESULT("probabilities", "n x K", OF_CLASSES,
           .help = "of yes, or of each class"),
    RESULT_LABELS(OF_CLASSES),
    RESULT_CLASSES(),
    RESULT("weights", "K x (d + 1)", .help = "w, the offset b last"),
    RESULT("dual", "n x K", .when = "certificate",
           .help =
               "bounds the objective from below; the sum of dual_j x_j is w "
               "where both meet"),
    RESULT("history", "checks x columns", OF_CLASSES,
           .help = "the course of the solve"),
    RESULT("history_columns", "columns", .type = LAPIS_TEXT, OF_CLASSES,
           .help = "names of the columns of history"),
    RESULT_NOTES,
};

const lapis_method linear_method = {
    .name = "linear",
    .title = "logistic regression, ridge regression",
    .summary = "the plain method to compare with: one weight a feature, for "
               "each label "
               "or class",
    .source = "[HTF09]",
    .reads = LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_WEIGHT,
    .paper_grid = "C=1e-6:1e6:13", /* of [MC15 Sec. 4.1]'s SVM */
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_linear_settings)};

/* ---- solving ------------------------------------------------------------*/
static const double LARGE = 100; /* of a feature's root mean square */

/* Means and factors; whether some feature is large. */
static lapis_status find_factors(linear *w, bool *large)
{
  const taught *t = &w->from;
  double n = (double)t->n, most = 0;
  mat_moments of = {w->answer.d, w->shift, w->mean, w->factor};
  TRY(mat_measure(w->base.ctx, &t->X, t->weight, &of));
  if (t->weight != NULL) n = 0;
  for (int64_t j = 0; t->weight != NULL && j < t->n; j++) n += t->weight[j];
  *large = true;
  for (int64_t i = 0; i < of.d; i++) {
    double s = of.deviation[i];
    most = fmax(most, hypot(of.mean[i], s));
    w->factor[i] = 1 / sqrt(1 + w->set.C * n * s * s / 4);
    *large = *large && isfinite(of.mean[i]) && w->factor[i] > 0;
  }
  *large = *large && most > LARGE;
  return LAPIS_OK;
}

/* What is solved for, and ridge (d), f^2, where it is scaled; else NULL. */
static lapis_status scale_features(linear *w, samples *T, double **ridge)
{
  bool large, dense = T->X.colptr == NULL;
  int64_t d = T->X.rows, all = dense ? d * T->X.cols : T->X.colptr[T->X.cols];
  const double *val = T->X.val;
  arena *own = &w->base.arena;
  if (w->mean == NULL) {
    w->mean = arena_reals(own, 4 * d);
    TRY(arena_status(own));
    w->factor = w->mean + d;
    w->shift = w->factor + d;
  }
  *ridge = NULL;
  TRY(find_factors(w, &large));
  if (!large) return LAPIS_OK;
  if (w->scaled == NULL) w->scaled = arena_reals(own, all);
  TRY(arena_status(own));
  for (int64_t k = 0; k < all; k++) {
    int64_t i = dense ? k % d : T->X.rowidx[k];
    w->scaled[k] = (val[k] - (dense ? w->mean[i] : 0)) * w->factor[i];
  }
  *ridge = w->shift + d;
  for (int64_t i = 0; i < d; i++) {
    (*ridge)[i] = w->factor[i] * w->factor[i];
    w->shift[i] = w->mean[i] * w->factor[i];
  }
  T->X.val = w->scaled;
  if (!dense) T->shift = w->shift;
  return LAPIS_OK;
}

static void restore_weights(linear *w)
{
  int64_t d = w->answer.d;
  for (int64_t c = 0; c < w->answer.K; c++) {
    double *v = w->W + c * (d + 1);
    for (int64_t i = 0; i < d; i++) {
      v[i] *= w->factor[i];
      v[d] -= v[i] * w->mean[i];
    }
  }
}

/* ---- proof --------------------------------------------------------------*/
static lines as_lines(const linear *w, samples T, const double *ridge)
{
  const linear_answer *a = &w->answer;
  return (lines){.h = (la *)&w->h,
                 .T = T,
                 .ridge = ridge,
                 .sign = w->from.sign,
                 .weight = w->from.weight,
                 .C = w->set.C,
                 .K = a->K,
                 .classes = a->labels.kind == TARGETS_CLASS};
}

static const double A_SECOND = 1e9; /* operations, about */
enum { LOSS = 50 };                 /* of them, of a score */

/* The objective of every part at W; F becomes the slopes of its losses. */
static lapis_status value_parts(linear *w, const lines *p)
{
  lines_proof *to = &w->proof;
  for (int64_t c = 0; c < p->K; c += lines_together(p)) {
    const double *W = w->W + c * (p->T.X.rows + 1);
    TRY(lines_score(p, W, w->F + c * p->T.X.cols));
    to->value[c] =
        lines_loss(p, c, w->F + c * p->T.X.cols) + lines_square(p, W);
  }
  return LAPIS_OK;
}

/* Bounds that nobody waits for: more than a step of them, out of time. */
static bool has_no_time(linear *w, const lines *p)
{
  double part = (double)p->T.X.cols * (double)lines_together(p);
  return part * (double)(p->T.X.rows + LOSS) > A_SECOND &&
         loop_must_end(&w->base.loop);
}

/* And the bounds of these slopes; 0, which no objective is below, without. */
static lapis_status prove(linear *w, const lines *p)
{
  lines_proof *to = &w->proof;
  int64_t n = p->T.X.cols;
  TRY(value_parts(w, p));
  for (int64_t c = 0; c < p->K; c += lines_together(p)) {
    if (lines_one_kind(p, c)) continue;
    if (has_no_time(w, p)) continue;
    memcpy(to->R + c * n, w->F + c * n,
           (size_t)(n * lines_together(p)) * sizeof *w->F);
    TRY(lines_bound(p, to->R + c * n, w->slope, &to->bound[c]));
  }
  return LAPIS_OK;
}

/* Whether every part is proved; a label of one kind has nothing to prove. */
static bool is_proved(const linear *w, const lines *p)
{
  double least = lines_rounding(p);
  bool all = true;
  for (int64_t c = 0; c < p->K; c += lines_together(p))
    all = all && (lines_one_kind(p, c) ||
                  lines_proved(&w->proof, c, w->set.stop.tol - least));
  return all;
}

/* The largest gradient of a part against the one at W = 0. */
static lapis_status measure_slope(linear *w, const lines *p, double *left)
{
  int64_t G = lines_together(p), len = (p->T.X.rows + 1) * G;
  double *F = w->F, length[2];
  *left = 0;
  for (int64_t c = 0; c < p->K; c += G) {
    if (lines_one_kind(p, c)) continue;
    double *W[2] = {w->W + c * (p->T.X.rows + 1), w->slope + len};
    memset(W[1], 0, (size_t)len * sizeof *W[1]);
    for (int k = 0; k < 2; k++) {
      TRY(lines_score(p, W[k], F));
      (void)lines_loss(p, c, F);
      TRY(lines_slope(p, W[k], F, w->slope));
      length[k] = 0;
      for (int64_t i = 0; i < len; i++) length[k] += w->slope[i] * w->slope[i];
    }
    if (length[1] > 0) *left = fmax(*left, sqrt(length[0] / length[1]));
  }
  return LAPIS_OK;
}

/* ---- all of it ------------------------------------------------------------*/
enum { PATIENCE = 300, AGAIN = 4 }; /* steps; walks where Newton costs much */

/* Walks until the gap is proved, rounding ends it, or the loop. */
static lapis_status find(linear *w, const lines *p, double *left)
{
  loop *l = &w->base.loop;
  bool fits = lines_newton_fits(p);
  logistic_problem q = {.of = p->T,
                        .ridge = p->ridge,
                        .sign = p->sign,
                        .weight = p->weight,
                        .K = p->K,
                        .classes = p->classes,
                        .C = p->C,
                        .tol = w->set.stop.tol,
                        .max_iters = fits ? PATIENCE : INT64_MAX,
                        .loop = l};
  TRY(op_logistic(&w->h, &q, w->W, left));
  TRY(prove(w, p));
  q.warm = true;
  q.tol = .01; /* of the gradient where it is */
  for (int k = 0; !fits && k < AGAIN && !is_proved(w, p); k++) {
    double more;
    if (l->status != LAPIS_OK) return LAPIS_OK;
    TRY(op_logistic(&w->h, &q, w->W, &more));
    TRY(prove(w, p));
    *left *= more;
  }
  bool ended = l->status != LAPIS_OK && l->status != LAPIS_PRECISION_FLOOR;
  if (!fits || ended || (is_proved(w, p) && *left <= w->set.stop.tol))
    return LAPIS_OK;
  bool floor = l->status == LAPIS_PRECISION_FLOOR;
  if (floor && is_proved(w, p)) return LAPIS_OK;
  l->status = LAPIS_OK;
  TRY(lines_newton(p, w->set.stop.tol / 2, l, w->W, &w->proof));
  return measure_slope(w, p, left);
}

/* What rounding of the scores may make of the losses, whose slopes are F: in
 * units far from their origin terms of a score take each other away. */
static double score_rounding(const linear *w, int64_t c)
{
  const lapis_mat *X = &w->from.X;
  int64_t d = w->answer.d, n = w->from.n;
  const double *v = w->W + c * (d + 1), *val = X->val;
  double sum = 0;
  for (int64_t j = 0; j < n; j++) {
    double slope = fabs(w->F[c * n + j]), size = 0;
    int64_t count, first = op_sample(X, j, &count);
    if (!(slope > 0)) continue;
    for (int64_t k = 0; k < count; k++)
      size += fabs(v[op_feature(X, first, k)] * val[first + k]);
    sum += slope * (size + fabs(v[d]));
  }
  return 2 * DBL_EPSILON * sum;
}

static const double HALF_PROVED = .5; /* what answer_check asks for */

/* By the weights as they are given, in the units of the data. */
static lapis_status conclude(linear *w)
{
  lapis_solver *s = &w->base;
  const lines p = as_lines(w, (samples){.X = w->from.X}, NULL);
  double gap = 0, value = 0, all = 0;
  TRY(value_parts(w, &p));
  for (int64_t c = 0; c < p.K; c += lines_together(&p)) {
    all += w->proof.value[c];
    if (lines_one_kind(&p, c)) continue;
    for (int64_t g = c; g < c + lines_together(&p); g++)
      w->proof.value[c] += score_rounding(w, g);
    gap += fmax(w->proof.value[c] - w->proof.bound[c], 0);
    value += w->proof.value[c];
  }
  s->info.objective = all;
  s->info.gap = value > 0 ? gap / value : 0;
  if (s->loop.status == LAPIS_OK && !is_proved(w, &p))
    s->loop.status = LAPIS_PRECISION_FLOOR;
  if (s->loop.status != LAPIS_PRECISION_FLOOR || s->info.gap <= HALF_PROVED ||
      !(s->info.residual <= w->set.stop.tol))
    return LAPIS_OK;
  base_note(s->ctx, BASE_WARNING, "unproved",
            "linear: the gradient is %.1e of the first one, but rounding lets "
            "no gap below %.1e be proved: features are far from unit size; "
            "%s brings them there",
            s->info.residual, s->info.gap, standard(s->ctx));
  s->info.gap = NAN;
  return LAPIS_OK;
}

/* Numbers, by one factor. */
static lapis_status solve_numbers(linear *w)
{
  lapis_solver *s = &w->base;
  const linear_answer *a = &w->answer;
  double started = base_seconds();
  ridge_problem p = {
      .X = a->X, .Y = a->Y, .K = a->K, .weight = a->weight, .C = w->set.C};
  TRY(op_ridge(&w->h, &p, w->W));
  linear_answer_give(s, &w->answer, w->W);
  solver_publish(s, "weights", lapis_mat_f64(w->W, a->d + 1, a->K));
  s->info.seconds = base_seconds() - started;
  return LAPIS_OK;
}

/* Of samples without a label it is 0. */
static void publish_dual(linear *w)
{
  const taught *t = &w->from;
  int64_t K = w->answer.K;
  for (int64_t k = 0; k < K * t->n; k++) {
    int64_t j = t->place == NULL ? k / K : t->place[k / K];
    w->dual[j * K + k % K] = -w->proof.R[k % K * t->n + k / K];
  }
  solver_publish(&w->base, "dual", lapis_mat_f64(w->dual, K, w->answer.n));
}

static lapis_status solve(lapis_solver *s)
{
  static const char *const columns[] = {"iteration", "objective", "residual",
                                        "gap"};
  linear *w = (linear *)s;
  if (w->answer.numbers) return solve_numbers(w);
  linear_answer *a = &w->answer;
  TRY(loop_begin(&s->loop, s->ctx, "linear", &w->set.stop, 4, columns));
  samples T = {.X = w->from.X};
  double *ridge;
  TRY(scale_features(w, &T, &ridge));
  const lines p = as_lines(w, T, ridge);
  TRY(find(w, &p, &s->info.residual));
  if (ridge != NULL) restore_weights(w);
  TRY(conclude(w));
  if (ridge != NULL && (s->loop.status == LAPIS_MAX_ITERS ||
                        s->loop.status == LAPIS_PRECISION_FLOOR))
    base_note(s->ctx, BASE_WARNING, "far-from-unit-size",
              "linear: features are far from unit size, where C means little "
              "and steps are many: %s brings them there",
              standard(s->ctx));
  linear_answer_give(s, a, w->W);
  solver_publish(s, "weights", lapis_mat_f64(w->W, a->d + 1, a->K));
  if (w->dual != NULL) publish_dual(w);
  solver_publish_history(s);
  s->info.iterations = s->loop.iter;
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

static lapis_status learn(lapis_solver *s)
{
  linear *w = (linear *)s;
  const linear_answer *a = &w->answer;
  named_put(&s->learned, "weights", lapis_mat_f64(w->W, a->d + 1, a->K));
  linear_learn(&s->learned, a, w->fill, &w->kind);
  return LAPIS_OK;
}

/* ---- constructor --------------------------------------------------------*/
static void release(lapis_solver *s)
{
  targets_free(&((linear *)s)->answer.labels);
}

static lapis_status calibrate(lapis_solver *s, const lapis_mat *slopes)
{
  return linear_calibrate(s, &((linear *)s)->answer, slopes);
}

static const solver_class linear_class = {.method = "linear",
                                          .solve = solve,
                                          .free = release,
                                          .calibrate = calibrate,
                                          .learn = learn};

double linear_holds(const solver_size *z, const void *settings)
{
  (void)settings;
  double weights = z->K * (z->d + 1), answers = z->K * z->n;
  if (z->numbers)
    return 2 * z->d * z->n + 2 * z->small * z->small + 4 * answers + weights;
  return 2 * z->features + 8 * answers + 24 * weights +
         lines_newton_holds(z->d, z->n, z->K);
}

/* Copies those that are kept, not all. */
static lapis_status copy_taught(linear *w, const bool *keep, taught *t)
{
  const linear_answer *a = &w->answer;
  arena *own = &w->base.arena;
  int64_t K = a->K;
  double *X, *weight = a->weight == NULL ? NULL : arena_reals(own, t->n);
  t->sign = arena_reals(own, K * t->n);
  TRY(arena_status(own));
  TRY(mat_pick(w->base.ctx, &a->X, keep, &X, &t->X));
  if (arena_keep(own, X) == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < t->n; k++) {
    int64_t j = t->place[k];
    memcpy(t->sign + k * K, a->labels.sign + j * K,
           (size_t)K * sizeof *t->sign);
    if (weight != NULL) weight[k] = a->weight[j];
  }
  t->weight = weight;
  return LAPIS_OK;
}

/* A sample without a label has no loss. */
static lapis_status find_taught(linear *w)
{
  const linear_answer *a = &w->answer;
  arena *own = &w->base.arena;
  taught all = {a->n, NULL, a->X, a->labels.sign, a->weight};
  w->from = all;
  if (a->numbers) return LAPIS_OK;
  int64_t *place = arena_take(own, a->n, sizeof *place), n = 0;
  bool *keep = arena_take(own, a->n, sizeof *keep);
  TRY(arena_status(own));
  for (int64_t j = 0; j < a->n; j++) {
    for (int64_t c = 0; c < a->K; c++)
      keep[j] = keep[j] || !isnan(a->labels.sign[j * a->K + c]);
    if (keep[j]) place[n++] = j;
  }
  if (n == a->n) return LAPIS_OK;
  w->from = (taught){.n = n, .place = place};
  return copy_taught(w, keep, &w->from);
}

static lapis_status build(linear *w, const lapis_data *data)
{
  const linear_answer *a = &w->answer;
  w->answer.sparse = !a->numbers;
  TRY(linear_begin(&w->base, &w->answer, data, &w->fill));
  TRY(find_taught(w));
  arena *own = &w->base.arena;
  w->W = arena_reals(own, (a->d + 1) * a->K);
  w->F = arena_reals(own, w->from.n * a->K);
  w->slope = arena_reals(own, 2 * (a->d + 1) * a->K);
  w->proof.R = arena_reals(own, w->from.n * a->K);
  w->proof.bound = arena_reals(own, a->K);
  w->proof.value = arena_reals(own, a->K);
  if (w->set.certificate) w->dual = arena_reals(own, a->n * a->K);
  TRY(arena_status(&w->base.arena));
  return la_open_host(w->base.ctx, &w->h);
}

lapis_status linear_new(lapis_ctx *ctx, const lapis_data *data,
                        const void *settings, lapis_solver **out)
{
  lapis_solver *s;
  *out = NULL;
  const lapis_linear_settings *set = settings;
  TRY(linear_check(ctx, "linear", data));
  if (set->certificate && set->targets == LAPIS_TARGETS_NUMBERS)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "linear: --certificate is of classes; ridge regression "
                      "of numbers is solved by one factor");
  TRY(solver_alloc(ctx, &linear_class, sizeof(linear), &s));
  linear *w = (linear *)s;
  w->set = *(const lapis_linear_settings *)settings;
  w->answer.numbers = w->set.targets == LAPIS_TARGETS_NUMBERS;
  s->settings = &w->set;
  return solver_deliver(s, build(w, data), out);
}
