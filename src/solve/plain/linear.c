/* linear.c - logistic regression, the plain method beside mc.
 *
 *   minimize   |w|^2 / 2 + C sum of v_j log(1 + exp(-s_j (w'x_j + b)))
 *
 * a label, v_j being the weight of a sample; one class of several by the
 * softmax of all (op/logistic.c).  What is missing of the features is filled by
 * the mean of what is there.
 *
 * Numerics: where a feature is large the problem is solved in
 *   x'_i = (x_i - m_i) f_i,   w_i = f_i w'_i,   f_i = (1 + C n s_i^2 /
 * 4)^(-1/2), m and s its mean and deviation, n the sum of v: the second
 * derivatives are then about alike. It is the same problem, |w|^2 = sum f_i^2
 * w'_i^2, and b takes the means. */
#include "solve/plain/linear.h"

#include <math.h>

#include "op/logistic.h"

typedef struct linear {
  lapis_solver base;
  lapis_linear_settings set;
  la h;
  lapis_mat data; /* X, borrowed */
  linear_answer answer;
  double *fill, *W;      /* d; (d + 1) x K */
  double *scaled;        /* d x n, or NULL: X is solved for as it is */
  double *mean, *factor; /* d each */
  double kind;           /* targets_kind, as a model keeps it */
} linear;

#define AT(field) offsetof(lapis_linear_settings, field)
static const lapis_param params[] = {
    REAL("C", C, .symbol = "C", .value = 1, ABOVE(0),
         .help = "how closely training samples are fitted: larger is closer "
                 "(weight of the losses against |w|^2 / 2)"),
    PARAM_TOL(1e-6, "stop where the gradient is this share of the first"),
    PARAM_MAX_ITERS(2000),
    PARAM_TIME_LIMIT,
};

static const lapis_result_row results[] = {
    RESULT("scores", "n x K",
           .help =
               "w'x + b: log-odds of yes, or of the class against all others"),
    RESULT("probabilities", "n x K", .help = "of yes, or of each class"),
    RESULT_LABELS(),
    RESULT_CLASSES(),
    RESULT("weights", "K x (d + 1)", .help = "w, the offset b last"),
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method linear_method = {
    .name = "linear",
    .title = "logistic regression",
    .summary = "the plain method to compare with: one weight a feature, for "
               "each label "
               "or class",
    .source = "[HTF09]",
    .reads = LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_WEIGHT,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_linear_settings)};

/* ---- solving ------------------------------------------------------------*/
static const double LARGE = 100; /* of a feature's root mean square */

/* Means and factors; whether some feature is large. */
static bool find_factors(linear *w)
{
  const linear_answer *a = &w->answer;
  const double *v = a->weight;
  double n = v == NULL ? (double)a->n : 0, most = 0;
  for (int64_t j = 0; v != NULL && j < a->n; j++) n += v[j];
  for (int64_t i = 0; i < a->d; i++) {
    double mean = 0, square = 0;
    for (int64_t j = 0; j < a->n; j++)
      mean += (v == NULL ? 1 : v[j]) * a->X[j * a->d + i] / n;
    for (int64_t j = 0; j < a->n; j++) {
      double off = a->X[j * a->d + i] - mean;
      square += (v == NULL ? 1 : v[j]) * off * off / n;
    }
    most = fmax(most, sqrt(mean * mean + square));
    w->mean[i] = mean;
    w->factor[i] = 1 / sqrt(1 + w->set.C * n * square / 4);
    if (!isfinite(mean) || !(w->factor[i] > 0)) return false;
  }
  return most > LARGE;
}

/* ridge (d): f^2 */
static lapis_status scale_features(linear *w, double **ridge)
{
  const linear_answer *a = &w->answer;
  arena *own = &w->base.arena;
  if (w->mean == NULL) {
    w->mean = arena_reals(own, 3 * a->d);
    w->factor = w->mean == NULL ? NULL : w->mean + a->d;
    TRY(arena_status(own));
  }
  *ridge = NULL;
  if (!find_factors(w)) return LAPIS_OK;
  if (w->scaled == NULL) w->scaled = arena_reals(own, a->d * a->n);
  TRY(arena_status(own));
  for (int64_t k = 0; k < a->d * a->n; k++) {
    int64_t i = k % a->d;
    w->scaled[k] = (a->X[k] - w->mean[i]) * w->factor[i];
  }
  *ridge = w->factor + a->d;
  for (int64_t i = 0; i < a->d; i++) (*ridge)[i] = w->factor[i] * w->factor[i];
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

static lapis_status solve(lapis_solver *s)
{
  static const char *const columns[] = {"iteration", "objective", "residual"};
  linear *w = (linear *)s;
  linear_answer *a = &w->answer;
  TRY(loop_begin(&s->loop, s->ctx, "linear", &w->set.stop, 3, columns));
  double *ridge;
  TRY(scale_features(w, &ridge));
  double *X = ridge == NULL ? a->X : w->scaled;
  logistic_problem p = {.X = lapis_mat_f64(X, a->d, a->n),
                        .ridge = ridge,
                        .sign = a->labels.sign,
                        .weight = a->weight,
                        .K = a->K,
                        .classes = a->labels.kind == TARGETS_CLASS,
                        .C = w->set.C,
                        .tol = w->set.stop.tol,
                        .max_iters = w->set.stop.max_iters,
                        .loop = &s->loop};
  TRY(op_logistic(&w->h, &p, w->W, &s->info.residual));
  if (ridge != NULL) restore_weights(w);
  if (ridge != NULL && s->loop.status == LAPIS_MAX_ITERS)
    base_note(s->ctx, BASE_WARNING, "far-from-unit-size",
              "linear: features are far from unit size, where C means little "
              "and steps are many: {map standard} brings them there");
  linear_answer_give(s, a, w->W);
  solver_publish(s, "weights", lapis_mat_f64(w->W, a->d + 1, a->K));
  solver_publish_history(s);
  s->info.iterations = s->loop.iter;
  if (s->loop.n_rows > 0)
    s->info.objective = s->loop.history[3 * (s->loop.n_rows - 1) + 1];
  s->info.rank = a->K;
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

static lapis_status build(linear *w, const lapis_data *data)
{
  const linear_answer *a = &w->answer;
  TRY(linear_begin(&w->base, &w->answer, data, &w->fill));
  w->W = arena_reals(&w->base.arena, (a->d + 1) * a->K);
  TRY(arena_status(&w->base.arena));
  return la_open_host(w->base.ctx, &w->h);
}

lapis_status linear_new(lapis_ctx *ctx, const lapis_data *data,
                        const void *settings, lapis_solver **out)
{
  lapis_solver *s;
  *out = NULL;
  TRY(linear_check(ctx, "linear", data));
  TRY(solver_alloc(ctx, &linear_class, sizeof(linear), &s));
  linear *w = (linear *)s;
  w->set = *(const lapis_linear_settings *)settings;
  s->settings = &w->set;
  return solver_deliver(s, build(w, data), out);
}
