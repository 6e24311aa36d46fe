/* predict.c - new samples: cleaned with what was learnt, then answered.
 *
 *   scores = T [D z; 1]; with refill T [x filled; 1]; without cleaning T [x; 1]
 *
 * Where the fit took nothing from its samples, nothing is taken from new ones:
 * what they lack is filled, and the rest stays.  Nothing of the batch enters a
 * sample's answer unless --joint asks for it. */
#include "methods/robust/robust.h"

#include <math.h>
#include <string.h>

#include "mat/mat.h"

typedef struct rr_predict {
  lapis_solver base;
  lapis_rr_predict_settings set;
  const char *method;
  la h;
  bool cleans;
  bool empty;     /* its dictionary is of rank 0 */
  rr_basis basis; /* views of the model's arrays */
  const lapis_mat *T, *value;
  const lapis_mat *scale, *means; /* of scale.c and rlda.c, or NULL */
  /* the fit cleaned nothing: gaps alone are filled, of these samples */
  bool fills;
  int64_t gappy, *place; /* n */
  double *gaps;          /* d x gappy */
  double *length;        /* n: what samples were divided by, or NULL */
  int64_t d, n, K;       /* K: rows of T', 0: none */
  double error_weight;   /* w */
  clean_job job;
  double *X;               /* d x n: what T is applied to */
  double *scores, *labels; /* K x n */
  targets decode;
  knn_task knn;
} rr_predict;

#define AT(field) offsetof(lapis_rr_predict_settings, field)
#define CLEAN_ROWS                                                          \
  CHOICE("clean", clean, "scaled|paper|none|nuclear|auto",                  \
         .value = LAPIS_RR_CLEAN_AUTO, .arg = "W",                          \
         .help = "weight of the error: lambda sqrt(r n)/|D|_* or "          \
                 "lambda/|D|_*; or as given; nuclear: lambda, beside what " \
                 "|D|_* would grow by; auto: nuclear where the fit scaled " \
                 "features, else scaled; rlda that cleaned nothing: gaps "  \
                 "alone are filled"),                                       \
      RR_CLEAN_WEIGHT("times this (auto: as in the fit)"),                  \
      RR_JOINT("clean the batch together")
#define STOP_ROWS                                                \
  PARAM_TOL(1e-5, "stop cleaning at this relative duality gap"), \
      PARAM_MAX_ITERS(10000), PARAM_TIME_LIMIT

static const lapis_param plain_params[] = {CLEAN_ROWS, STOP_ROWS};
static const lapis_param lda_params[] = {
    CLEAN_ROWS,
    INT("knn", knn, .symbol = "k", .value = 0, AT_LEAST(0),
        .help = "labels by this many neighbours in the projected space (0: by "
                "score)"),
    STOP_ROWS};
enum {
  PLAIN = sizeof plain_params / sizeof *plain_params,
  LDA = sizeof lda_params / sizeof *lda_params
};

/* What cleaning answers with, in the tables of all three. */
#define CLEANED                                                              \
  RESULT_LOW_RANK(.where = "samples were cleaned",                           \
                  .help = "the cleaned samples"),                            \
      RESULT_SPARSE(.where = "samples were cleaned"),                        \
      RESULT("coefficients", "n x m", .where = "samples were cleaned",       \
             .help = "low_rank in terms of the dictionary"),                 \
      RESULT_FILLED(.where = "the fit refilled"),                            \
      RESULT("history", "checks x columns", .where = "samples were cleaned", \
             .help = "the course of the cleaning"),                          \
      RESULT("history_columns", "columns", .type = LAPIS_TEXT,               \
             .where = "samples were cleaned",                                \
             .help = "names of the columns of history"),                     \
      RESULT_NOTES
static const lapis_result_row rpca_results[] = {CLEANED};
static const lapis_result_row rr_results[] = {
    RESULT("scores", "n x c", .help = "T [x; 1] of the cleaned samples x"),
    RESULT_INTERVALS(RESULT_COVERED), CLEANED};
static const lapis_result_row rlda_results[] = {
    RESULT("scores", "n x K",
           .help = "T [x; 1] of the cleaned samples x; of two classes the "
                   "second's less the first's"),
    RESULT("labels", "n x c",
           .help = "what is decided by the scores, as Y was written"),
    RESULT_CLASSES(), CLEANED};

const lapis_method rpca_predict_method = {
    .name = "rpca",
    .title = "robust principal component analysis: predicting",
    .summary = "clean new samples with the learnt dictionary",
    .source = "[RR16] Sec. 3.2",
    .reads = LAPIS_READS_X,
    .completes = true,
    .params = plain_params,
    .n_params = PLAIN,
    .results = rpca_results,
    .n_results = sizeof rpca_results / sizeof *rpca_results,
    .settings_size = sizeof(lapis_rr_predict_settings)};
const lapis_method rr_predict_method = {
    .name = "rr",
    .title = "robust regression: predicting",
    .summary = "clean new samples, then regress",
    .source = "[RR16] Sec. 3.2",
    .reads = LAPIS_READS_X,
    .completes = true,
    .numbers = true,
    .params = plain_params,
    .n_params = PLAIN,
    .results = rr_results,
    .n_results = sizeof rr_results / sizeof *rr_results,
    .settings_size = sizeof(lapis_rr_predict_settings)};
const lapis_method rlda_predict_method = {
    .name = "rlda",
    .title = "robust linear discriminant analysis: predicting",
    .summary = "clean new samples, then classify",
    .source = "[RR16] Sec. 3.2",
    .reads = LAPIS_READS_X,
    .completes = true,
    .params = lda_params,
    .n_params = LDA,
    .results = rlda_results,
    .n_results = sizeof rlda_results / sizeof *rlda_results,
    .settings_size = sizeof(lapis_rr_predict_settings)};

/* ---- solving ------------------------------------------------------------*/
/* scores = T'[0..d)' X + bias; binary: the difference of two rows. */
static lapis_status score(rr_predict *w)
{
  la h = la_beside(&w->h); /* T and X are in the host's memory */
  double *t = w->T->val;
  la_array T = {LAPIS_F64, w->d, w->K, w->d + 1, t, true, NULL};
  la_array X = la_wrap(w->X, w->d, w->n), F = la_wrap(w->scores, w->K, w->n);
  TRY(h.ops->gemm(&h, LA_T, LA_N, 1, &T, &X, 0, &F));
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t k = 0; k < w->K; k++)
      w->scores[j * w->K + k] += t[k * (w->d + 1) + w->d];
  bool pair = w->value != NULL && w->decode.kind == TARGETS_BINARY;
  if (pair)
    for (int64_t j = 0; j < w->n; j++)
      w->scores[j] = w->scores[2 * j + 1] - w->scores[2 * j];
  solver_publish(&w->base, "scores",
                 lapis_mat_f64(w->scores, pair ? 1 : w->K, w->n));
  return LAPIS_OK;
}

static void decide(rr_predict *w)
{
  const targets *t = &w->decode;
  bool pair = t->kind == TARGETS_BINARY;
  if (w->means != NULL && w->set.knn == 0)
    rlda_lines(w->means->val, w->means->rows, w->n, w->scores, w->labels);
  if (w->set.knn > 0)
    knn_labels(&w->knn, w->scores, w->n, t->kind == TARGETS_CLASS, w->labels);
  else
    targets_decode(t, w->scores, pair ? 0 : 0.5, w->labels);
  targets_publish(t, w->labels, w->n, &w->base);
}

/* What T is applied to, and what was found in the units of the data. */
static void take_clean(rr_predict *w, const double *from, double *low_rank,
                       double *sparse)
{
  size_t bytes = (size_t)(w->d * w->n) * sizeof *from;
  bool lda = w->value != NULL; /* its T is of features of one size */
  if (lda) memcpy(w->X, from, bytes);
  if (w->scale != NULL)
    rr_scale_restore(w->scale->val, w->length, w->d, w->n, low_rank, sparse);
  if (!lda) memcpy(w->X, from, bytes);
}

/* A dictionary of rank 0: all of a sample is error. */
static lapis_status answer_zero(rr_predict *w)
{
  int64_t count = w->d * w->n;
  arena *a = &w->base.arena;
  double *low_rank = arena_reals(a, count), *sparse = arena_reals(a, count);
  TRY(arena_status(a));
  rr_residual(w->X, low_rank, count, sparse);
  solver_publish(&w->base, "low_rank", lapis_mat_f64(low_rank, w->d, w->n));
  solver_publish(&w->base, "sparse", lapis_mat_f64(sparse, w->d, w->n));
  take_clean(w, low_rank, low_rank, sparse);
  if (w->T == NULL)
    base_note(w->base.ctx, BASE_WARNING, "all-error",
              "%s: the model is of rank 0: all of X is error", w->method);
  return LAPIS_OK;
}

/* A sample of which nothing is known is the mean of the clean ones, D 1 / n. */
static void answer_blank(rr_predict *w)
{
  clean_job *job = &w->job;
  const rr_basis *b = &w->basis;
  lapis_mat X = lapis_mat_f64(job->X, w->d, job->c.n);
  for (int64_t j = 0; j < X.cols; j++) {
    if (!mat_is_blank(&X, j, false)) continue;
    double *x = job->low_rank + j * w->d;
    memset(x, 0, (size_t)w->d * sizeof *x);
    for (int64_t k = 0; k < b->n && job->coefficients != NULL; k++)
      job->coefficients[j * b->n + k] = 1 / (double)b->n;
    for (int64_t r = 0; r < b->r; r++) {
      double mean = 0;
      for (int64_t k = 0; k < b->n; k++)
        mean += b->Vt[k * b->r + r] / (double)b->n;
      for (int64_t i = 0; i < w->d; i++) x[i] += b->K[r * w->d + i] * mean;
    }
    if (job->filled != NULL)
      memcpy(job->filled + j * w->d, x, (size_t)w->d * sizeof *x);
  }
}

static lapis_status fill_gaps(rr_predict *w)
{
  clean_job *job = &w->job;
  int64_t count = w->d * w->n;
  arena *a = &w->base.arena;
  double *filled = arena_reals(a, count), *sparse = arena_reals(a, count);
  TRY(arena_status(a));
  if (w->gappy > 0) {
    TRY(clean_job_run(job, &w->base, w->error_weight, w->set.stop.tol));
    answer_blank(w);
  }
  memcpy(filled, w->X, (size_t)count * sizeof *filled);
  for (int64_t k = 0; k < w->gappy; k++)
    for (int64_t i = 0; i < w->d; i++) {
      double *x = filled + w->place[k] * w->d + i;
      if (isnan(*x)) *x = job->low_rank[k * w->d + i];
    }
  solver_publish(&w->base, "low_rank", lapis_mat_f64(filled, w->d, w->n));
  solver_publish(&w->base, "sparse", lapis_mat_f64(sparse, w->d, w->n));
  take_clean(w, filled, filled, sparse);
  return LAPIS_OK;
}

static lapis_status predict_solve(lapis_solver *s)
{
  rr_predict *w = (rr_predict *)s;
  TRY(loop_begin(&s->loop, s->ctx, w->method, &w->set.stop, 6, clean_columns));
  if (w->fills) TRY(fill_gaps(w));
  if (w->cleans && !w->fills) {
    TRY(clean_job_run(&w->job, s, w->error_weight, w->set.stop.tol));
    answer_blank(w);
    clean_job_publish(&w->job, s);
    const double *from =
        w->job.filled != NULL ? w->job.filled : w->job.low_rank;
    take_clean(w, from, w->job.low_rank, w->job.sparse);
  }
  if (w->empty) TRY(answer_zero(w));
  if (w->K > 0) TRY(score(w));
  if (w->value != NULL) decide(w);
  if (w->cleans && !w->fills) solver_publish_history(s);
  s->info.iterations = s->loop.iter;
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

/* ---- constructor --------------------------------------------------------*/
static void predict_free(lapis_solver *s)
{
  rr_predict *w = (rr_predict *)s;
  clean_job_free(&w->job);
  base_free(w->X);
  base_free(w->scores);
  base_free(w->labels);
  base_free(w->knn.near);
  base_free(w->knn.far);
  base_free(w->length);
  base_free(w->place);
  base_free(w->gaps);
}

static const solver_class predict_class = {
    .method = "rr", .solve = predict_solve, .free = predict_free};

typedef struct fitted { /* what a fit's settings say to predicting */
  double lambda, tau, clean_weight;
  int64_t refill;
  int assign, denoise;
} fitted;

static lapis_status bad_model(lapis_ctx *ctx, const char *method)
{
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "predict: the %s model holds arrays that do not fit "
                    "together; fit it again",
                    method);
}

/* rlda: how scores become classes.  One row of training scores is the
 * difference of two classes. */
static lapis_status set_decoding(rr_predict *w, const named_list *learned)
{
  w->value = named_numbers(learned, "class_values", 1, -1);
  if (named_find(learned, "class_values") == NULL) return LAPIS_OK;
  const lapis_mat *train = named_numbers(learned, "train_scores", -1, -1);
  if (w->value == NULL || train == NULL || train->cols < 1)
    return bad_model(w->base.ctx, w->method);
  bool pair = train->rows == 1;
  const lapis_mat *signs =
      named_numbers(learned, "train_signs", train->rows, train->cols);
  targets_kind kind = TARGETS_MULTILABEL;
  if (pair)
    kind = TARGETS_BINARY;
  else if (w->K > 2 && w->value->cols == w->K)
    kind = TARGETS_CLASS;
  if (signs == NULL || w->K != (pair ? 2 : train->rows) ||
      w->value->cols != (kind == TARGETS_CLASS ? w->K : 2))
    return bad_model(w->base.ctx, w->method);
  w->decode = (targets){.kind = kind,
                        .classes = signs->rows,
                        .samples = w->n,
                        .value = w->value->val,
                        .n_values = w->value->cols};
  w->means = named_numbers(learned, "class_means", train->rows, w->value->cols);
  w->knn = (knn_task){train, signs, w->value, w->set.knn, NULL, NULL};
  return LAPIS_OK;
}

static lapis_status set_scale(rr_predict *w, const named_list *learned)
{
  w->scale = named_numbers(learned, "scale", w->d, 2);
  bool usable = w->scale != NULL || named_find(learned, "scale") == NULL;
  for (int64_t i = 0; w->scale != NULL && i < w->d; i++)
    usable = usable && mat_col(w->scale, 1)[i] > 0;
  bool unit = named_find(learned, "unit") != NULL;
  usable = usable && (!unit || w->scale != NULL);
  if (usable && unit) {
    w->length = base_alloc(w->base.ctx, w->n, sizeof *w->length);
    if (w->length == NULL) return LAPIS_ENOMEM;
  }
  return usable ? LAPIS_OK : bad_model(w->base.ctx, w->method);
}

static lapis_status allocate(rr_predict *w, const lapis_mat *X)
{
  lapis_ctx *ctx = w->base.ctx;
  w->X = base_alloc(ctx, w->d * w->n, sizeof *w->X);
  w->scores = base_alloc(ctx, w->K * w->n, sizeof *w->scores);
  w->labels = base_alloc(ctx, w->K * w->n, sizeof *w->labels);
  w->knn.near = base_alloc(ctx, w->set.knn, sizeof *w->knn.near);
  w->knn.far = base_alloc(ctx, w->set.knn, sizeof *w->knn.far);
  if (w->X == NULL || w->scores == NULL || w->labels == NULL ||
      w->knn.near == NULL || w->knn.far == NULL)
    return LAPIS_ENOMEM;
  mat_to_f64(X, w->X, w->d);
  if (w->length != NULL) rr_divide_by_length(w->d, w->n, w->X, w->length);
  if (w->scale != NULL && (w->cleans || w->empty || w->value != NULL))
    rr_scale_apply(w->scale->val, w->d, w->n, w->X);
  return LAPIS_OK;
}

/* Where D spans every feature, |z|_2 and w |x|_1 of the scaled weight are about
 * the same for a clean sample x = D z (sigma alike, n >= d: w |x|_1 / |z|_2 is
 * near sqrt(2 / pi)), so that leaving it out altogether costs no more than
 * keeping it; twice the balance keeps it. */
static const double SPANNING = 2.5;

static double automatic_weight(const rr_predict *w)
{
  bool scaled = w->set.clean == LAPIS_RR_CLEAN_SCALED;
  return scaled && w->basis.r == w->d ? SPANNING : 1;
}

static lapis_status gather_gaps(rr_predict *w)
{
  w->place = base_alloc(w->base.ctx, w->n, sizeof *w->place);
  if (w->place == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < w->n; j++) {
    int64_t i = 0;
    while (i < w->d && !isnan(w->X[j * w->d + i])) i++;
    if (i < w->d) w->place[w->gappy++] = j;
  }
  w->gaps = base_alloc(w->base.ctx, w->d * w->gappy, sizeof *w->gaps);
  if (w->gaps == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < w->gappy; k++)
    memcpy(w->gaps + k * w->d, w->X + w->place[k] * w->d,
           (size_t)w->d * sizeof *w->gaps);
  return LAPIS_OK;
}

static lapis_status build(rr_predict *w, const lapis_mat *X, const fitted *f)
{
  bool nuclear = w->set.clean == LAPIS_RR_CLEAN_NUCLEAR;
  clean_options opt = {.joint = w->set.joint,
                       .nuclear = nuclear,
                       .refill = f->refill,
                       .tau = f->tau};
  TRY(la_open(w->base.ctx, &w->h));
  TRY(allocate(w, X));
  if (!w->cleans) return LAPIS_OK;
  if (isnan(w->set.clean_weight)) w->set.clean_weight = f->clean_weight;
  if (isnan(w->set.clean_weight)) w->set.clean_weight = automatic_weight(w);
  w->error_weight =
      w->set.clean_weight *
      (nuclear ? f->lambda
               : clean_weight(&w->basis, f->lambda,
                              w->set.clean == LAPIS_RR_CLEAN_PAPER));
  lapis_mat own = lapis_mat_f64(w->X, w->d, w->n);
  if (w->fills) {
    TRY(gather_gaps(w));
    own = lapis_mat_f64(w->gaps, w->d, w->gappy);
    if (w->gappy == 0) return LAPIS_OK;
  }
  return clean_job_new(&w->h, &w->basis, w->scale != NULL ? &own : X, &opt,
                       &w->job);
}

/* What auto stands for; the nuclear form has no joint one. */
static lapis_status settle_clean(rr_predict *w, const fitted *f)
{
  bool cleans = rr_cleans(f->lambda, w->d, w->basis.n);
  bool own = w->scale != NULL && !w->set.joint;
  bool given = !isnan(w->set.clean_weight) || !isnan(f->clean_weight);
  w->fills = own && !cleans && !given && w->cleans && w->value != NULL &&
             f->denoise == LAPIS_RR_RPCA && w->set.clean == LAPIS_RR_CLEAN_AUTO;
  own = own && (w->value == NULL || cleans || w->fills);
  if (w->set.clean == LAPIS_RR_CLEAN_AUTO)
    w->set.clean = own ? LAPIS_RR_CLEAN_NUCLEAR : LAPIS_RR_CLEAN_SCALED;
  if (w->set.clean != LAPIS_RR_CLEAN_NUCLEAR || !w->set.joint) return LAPIS_OK;
  return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                    "%s: --clean nuclear cleans each sample on its own; leave "
                    "out --joint, or take --clean scaled",
                    w->method);
}

static lapis_status check_X(lapis_ctx *ctx, const char *method,
                            const lapis_mat *X, int64_t d, bool cleans)
{
  if (X->rows != d)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: X has %" PRId64
                      " feature(s), the model was fitted to "
                      "%" PRId64,
                      method, X->rows, d);
  TRY(rr_check_new(ctx, method, X));
  if (cleans) mat_say_blank(ctx, X, NULL, false);
  return cleans ? LAPIS_OK : rr_check_raw(ctx, method, X);
}

static lapis_status predict_new(lapis_ctx *ctx, const lapis_data *data,
                                const lapis_method *table, const fitted *f,
                                const named_list *learned,
                                const lapis_rr_predict_settings *set,
                                lapis_solver **out)
{
  rr_basis basis;
  *out = NULL;
  const lapis_mat *T = named_numbers(learned, "weights", -1, -1);
  bool has = rr_basis_get(learned, &basis);
  bool asked = has && (set->clean != LAPIS_RR_CLEAN_NONE || T == NULL);
  bool cleans = asked && basis.r > 0;
  int64_t d = T != NULL ? T->rows - 1 : basis.d;
  if ((T != NULL && (T->rows < 2 || T->cols < 1)) || (cleans && basis.d != d) ||
      (T == NULL && !has))
    return bad_model(ctx, table->name);
  TRY(check_X(ctx, table->name, &data->X, d, asked));
  lapis_solver *s;
  TRY(solver_alloc(ctx, &predict_class, sizeof(rr_predict), &s));
  rr_predict *w = (rr_predict *)s;
  w->set = *set;
  w->method = table->name;
  w->cleans = cleans;
  w->empty = asked && !cleans;
  w->basis = basis;
  w->T = T;
  w->d = d;
  w->n = data->X.cols;
  w->K = T != NULL ? T->cols : 0;
  s->settings = &w->set;
  if (f->assign == LAPIS_RLDA_KNN && w->set.knn == 0)
    w->set.knn = RLDA_NEIGHBOURS;
  lapis_status status = set_decoding(w, learned);
  if (status >= 0) status = set_scale(w, learned);
  if (status >= 0) status = settle_clean(w, f);
  if (status >= 0) status = build(w, &data->X, f);
  return solver_deliver(s, status, out);
}

lapis_status rpca_predict_new(lapis_ctx *ctx, const lapis_data *data,
                              const void *settings, const named_list *learned,
                              const void *options, lapis_solver **out)
{
  const lapis_rpca_settings *set = settings;
  fitted f = {set->lambda, set->tau, set->clean_weight, set->refill, 0, 0};
  return predict_new(ctx, data, &rpca_predict_method, &f, learned, options,
                     out);
}

lapis_status rr_predict_new(lapis_ctx *ctx, const lapis_data *data,
                            const void *settings, const named_list *learned,
                            const void *options, lapis_solver **out)
{
  const lapis_rr_settings *set = settings;
  fitted f = {set->lambda, set->tau,    set->clean_weight,
              set->refill, set->assign, set->denoise};
  bool lda = named_find(learned, "class_values") != NULL;
  return predict_new(ctx, data, lda ? &rlda_predict_method : &rr_predict_method,
                     &f, learned, options, out);
}
