/* predict.c - answers for new samples: f = sum a_i y_i (k(x_i, x) + 1)
 * or + b, w'x where the kernel is linear; privileged features take no part. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"

enum { BLOCK = 256 }; /* new samples at a time */

/* Predicting leaves nothing to choose. */
typedef struct no_settings {
  size_t size;
} no_settings;
static const lapis_result_row results[] = {
    RESULT("scores", "n x K",
           .help = "f(x), the decision: above 0 says the larger value, or yes"),
    RESULT("labels", "n x c", .help = "what is decided, as Y was written"),
    RESULT_CLASSES(),
    RESULT("probabilities", "n x K", .where = "the fit had probability",
           .help = "of each column of scores"),
    RESULT_NOTES,
};
static const lapis_result_row misvm_results[] = {
    RESULT("scores", "n", .help = "f of each instance"),
    RESULT("labels", "n", .help = "its sign"),
    RESULT("bags", "B", .when = "group",
           .help = "the group of each of the B bags"),
    RESULT("bag_scores", "B", .when = "group", .help = "the largest f in it"),
    RESULT("bag_labels", "B", .when = "group",
           .help = "whether that is above the model's threshold"),
    RESULT_NOTES,
};

const lapis_method svmplus_predict_method = {
    .name = "svmplus",
    .title = "SVM with privileged information",
    .summary = "scores and labels of new samples",
    .source = "[SVMP16]",
    .reads = LAPIS_READS_X,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(no_settings)};
const lapis_method misvm_predict_method = {
    .name = "misvm",
    .title = "SVM for bags with privileged information",
    .summary = "scores and labels of new instances and of their bags",
    .source = "[SVMP16]",
    .reads = LAPIS_READS_X | LAPIS_READS_GROUP,
    .results = misvm_results,
    .n_results = sizeof misvm_results / sizeof *misvm_results,
    .settings_size = sizeof(no_settings)};

typedef struct sv_predict {
  lapis_solver base;
  la h;
  lapis_mat X;
  double *copy, *scaled;
  targets labels; /* values borrowed from the model */
  const lapis_mat *weights, *coefficients, *bias, *rho, *index, *platt;
  bool unknown;     /* some feature of a sample is */
  bool balanced;    /* svmplus: classes count alike */
  double threshold; /* misvm: of a bag's score */
  op_kernel kernel;
  bool square; /* precomputed: rows of X are the training samples */
  double *scores, *decided, *probabilities, *block;
  bag_list bags; /* misvm, where groups are given */
  double *bag_score, *bag_label;
} sv_predict;

static void finish_scores(sv_predict *w, int64_t j)
{
  int64_t K = w->labels.classes;
  for (int64_t c = 0; c < K; c++)
    w->scores[j * K + c] /= fmax(mat_col(w->rho, c)[0], 1e-300);
}

static void linear_scores(sv_predict *w)
{
  int64_t K = w->labels.classes;
  for (int64_t j = 0; j < w->X.cols; j++)
    for (int64_t c = 0; c < K; c++)
      w->scores[j * K + c] = column_dot(&w->X, j, mat_col(w->weights, c));
}

static lapis_mat columns(const lapis_mat *X, int64_t first, int64_t cols)
{
  lapis_mat out = *X;
  out.cols = cols;
  if (X->colptr != NULL)
    out.colptr = X->colptr + first;
  else
    out.val = mat_col(X, first);
  return out;
}

/* Rows of a precomputed kernel that belong to support vectors. */
static lapis_status square_block(sv_predict *w, const lapis_mat *B)
{
  int64_t m = w->index->cols;
  for (int64_t j = 0; j < B->cols; j++)
    for (int64_t i = 0; i < m; i++)
      w->block[j * m + i] =
          lapis_mat_at(B, (int64_t)mat_col(w->index, i)[0], j);
  return LAPIS_OK;
}

static lapis_status kernel_scores(sv_predict *w)
{
  int64_t K = w->labels.classes, m = w->coefficients->cols;
  for (int64_t first = 0; first < w->X.cols; first += BLOCK) {
    int64_t cols = w->X.cols - first < BLOCK ? w->X.cols - first : BLOCK;
    lapis_mat B = columns(&w->X, first, cols);
    TRY(w->square ? square_block(w, &B)
                  : op_kernel_block(&w->h, &w->kernel, &B, w->block));
    la_array A = la_wrap(w->coefficients->val, K, m);
    la_array k = la_wrap(w->block, m, cols);
    la_array f = la_wrap(w->scores + first * K, K, cols);
    TRY(w->h.ops->gemm(&w->h, LA_N, LA_N, 1, &A, &k, 0, &f));
  }
  for (int64_t j = 0; j < w->X.cols; j++)
    for (int64_t c = 0; c < K; c++)
      w->scores[j * K + c] += mat_col(w->bias, c)[0];
  return LAPIS_OK;
}

static void publish_bags(sv_predict *w)
{
  lapis_solver *s = &w->base;
  int64_t count = w->bags.count;
  bag_scores(&w->bags, w->scores, w->bag_score);
  for (int64_t k = 0; k < count; k++)
    w->bag_label[k] = w->labels.value[w->bag_score[k] > w->threshold];
  solver_publish(s, "bags", lapis_mat_f64(w->bags.id, 1, count));
  solver_publish(s, "bag_scores", lapis_mat_f64(w->bag_score, 1, count));
  solver_publish(s, "bag_labels", lapis_mat_f64(w->bag_label, 1, count));
}

static lapis_status predict_solve(lapis_solver *s)
{
  sv_predict *w = (sv_predict *)s;
  static const char *const columns_[] = {"iteration"};
  lapis_stop stop = {.max_iters = -1, .seconds = INFINITY};
  int64_t K = w->labels.classes, n = w->X.cols;
  TRY(loop_begin(&s->loop, s->ctx, s->cls->method, &stop, 1, columns_));
  if (w->weights != NULL)
    linear_scores(w);
  else
    TRY(kernel_scores(w));
  for (int64_t j = 0; j < n; j++) finish_scores(w, j);
  solver_publish(s, "scores", lapis_mat_f64(w->scores, K, n));
  if (w->platt != NULL) {
    targets_calibrate(&w->labels, w->platt->val, w->scores, w->probabilities);
    solver_publish(s, "probabilities", lapis_mat_f64(w->probabilities, K, n));
  }
  sv_decide(&w->labels, w->balanced, w->scores,
            w->platt == NULL ? NULL : w->probabilities, w->decided);
  targets_publish(&w->labels, w->decided, n, s);
  if (w->bags.count > 0) publish_bags(w);
  s->info.gap = s->info.objective = NAN;
  s->info.seconds = loop_seconds(&s->loop);
  return LAPIS_OK;
}

static void predict_free(lapis_solver *s)
{
  sv_predict *w = (sv_predict *)s;
  op_kernel_free(&w->kernel);
  bags_free(&w->bags);
  double *all[] = {w->copy,          w->scaled, w->scores,    w->decided,
                   w->probabilities, w->block,  w->bag_score, w->bag_label};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) base_free(all[i]);
}

static const solver_class predict_class = {
    .method = "svmplus", .solve = predict_solve, .free = predict_free};
static const solver_class bag_class = {
    .method = "misvm", .solve = predict_solve, .free = predict_free};

/* ---- constructor --------------------------------------------------------*/
static lapis_status bad_model(lapis_ctx *ctx)
{
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "predict: the svmplus model lacks an array that predicting "
                    "needs; fit it again");
}

enum { MOST = 1 << 30 }; /* classes, features */

/* Kind, classes, features; false where they make no sense. */
static bool read_shape(sv_predict *w, const named_list *m, int64_t *d)
{
  const lapis_mat *shape = named_numbers(m, "shape", 1, 3);
  const lapis_mat *values = named_numbers(m, "values", 1, -1);
  if (shape == NULL || values == NULL) return false;
  const double *say = shape->val;
  if (!number_is_whole(say[0], 0, TARGETS_MULTILABEL) ||
      !number_is_whole(say[1], 1, MOST) || !number_is_whole(say[2], 1, MOST))
    return false;
  w->labels = (targets){.kind = (targets_kind)say[0],
                        .classes = (int64_t)say[1],
                        .samples = w->X.cols,
                        .value = values->val,
                        .n_values = values->cols};
  const targets *t = &w->labels;
  *d = (int64_t)say[2];
  return values->cols == (t->kind == TARGETS_CLASS ? t->classes : 2) &&
         (t->kind != TARGETS_BINARY || t->classes == 1);
}

static bool read_kernel(sv_predict *w, const named_list *m, int64_t d)
{
  w->coefficients = named_numbers(m, "coefficients", w->labels.classes, -1);
  w->bias = named_numbers(m, "bias", 1, w->labels.classes);
  if (w->coefficients == NULL || w->bias == NULL) return false;
  w->index = named_numbers(m, "index", 1, w->coefficients->cols);
  double last = w->square ? (double)d - 1 : MOST;
  for (int64_t i = 0; w->index != NULL && i < w->index->cols; i++)
    if (!number_is_whole(mat_col(w->index, i)[0], 0, last)) return false;
  return w->index != NULL;
}

static lapis_status read_model(sv_predict *w, const named_list *m)
{
  int64_t d = 0;
  if (!read_shape(w, m, &d)) return bad_model(w->base.ctx);
  int64_t K = w->labels.classes;
  w->rho = named_numbers(m, "rho", 1, K);
  w->weights = named_numbers(m, "weights", d + 1, K);
  w->platt = named_numbers(m, "calibration", 2, K);
  bool odd = named_find(m, "calibration") != NULL && w->platt == NULL;
  bool fits = w->weights != NULL || read_kernel(w, m, d);
  if (odd || !fits || w->rho == NULL) return bad_model(w->base.ctx);
  /* What a sparse sample does not mention is 0. */
  if (w->X.colptr != NULL && w->X.rows < d) w->X.rows = d;
  if (w->X.rows == d) return LAPIS_OK;
  return lapis_fail(w->base.ctx, LAPIS_ESHAPE,
                    "predict: X has %" PRId64
                    " column(s), the model was fitted "
                    "on %" PRId64,
                    w->X.rows, d);
}

/* X as the support vectors are. */
static lapis_status scale_samples(sv_predict *w, const named_list *m)
{
  const lapis_mat *z = named_numbers(m, "scale", w->X.rows, 2);
  if (z == NULL && named_find(m, "scale") != NULL)
    return bad_model(w->base.ctx);
  if (z == NULL || w->weights != NULL) return LAPIS_OK;
  sv_scale scale = {true, z->rows, mat_col(z, 0), mat_col(z, 1)};
  lapis_mat X = w->X;
  return sv_scale_apply(w->base.ctx, &scale, &X, &w->scaled, &w->X);
}

static lapis_status prepare_kernel(sv_predict *w, int kernel, double width,
                                   const named_list *m)
{
  lapis_ctx *ctx = w->base.ctx;
  if (w->weights != NULL) return LAPIS_OK;
  int64_t block = w->X.cols < BLOCK ? w->X.cols : BLOCK;
  w->block =
      base_alloc_raw(ctx, w->coefficients->cols * block, sizeof *w->block);
  if (w->block == NULL) return LAPIS_ENOMEM;
  if (w->square) return LAPIS_OK;
  const lapis_mat *support =
      named_numbers(m, "support", w->X.rows, w->coefficients->cols);
  if (support == NULL) return bad_model(ctx);
  return op_kernel_new(&w->h, kernel, width, "X", support, &w->kernel);
}

static lapis_status allocate(sv_predict *w)
{
  lapis_ctx *ctx = w->base.ctx;
  int64_t n = w->X.cols, K = w->labels.classes;
  w->scores = base_alloc(ctx, K * n, sizeof(double));
  w->decided =
      base_alloc(ctx, targets_label_rows(&w->labels) * n, sizeof(double));
  w->probabilities = base_alloc(ctx, w->platt != NULL ? K * n : 0, 8);
  bool ok = w->scores != NULL && w->decided != NULL && w->probabilities != NULL;
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

static lapis_status take_samples(sv_predict *w, const lapis_mat *X)
{
  w->X = *X;
  if (X->dtype == LAPIS_F64 && !w->unknown) return LAPIS_OK;
  TRY(mat_check_dense(w->base.ctx, "svmplus", "X", X));
  w->copy = base_alloc_raw(w->base.ctx, X->rows * X->cols, sizeof(double));
  if (w->copy == NULL) return LAPIS_ENOMEM;
  mat_to_f64(X, w->copy, X->rows);
  w->X = lapis_mat_f64(w->copy, X->rows, X->cols);
  return LAPIS_OK;
}

/* The mean of the training samples for each feature that is not known. */
static void fill_unknown(sv_predict *w, const lapis_mat *means)
{
  int64_t count = 0;
  for (int64_t j = 0; j < w->X.cols; j++)
    for (int64_t i = 0; i < w->X.rows; i++) {
      double *x = mat_col(&w->X, j) + i;
      if (!isnan(*x)) continue;
      *x = mat_col(means, i)[0];
      count++;
    }
  base_say(
      w->base.ctx, 0,
      "%s: %" PRId64 " value%s of X %s not known; the mean of the feature "
      "takes the place of %s; a fit with --map impute fills in better ones",
      w->base.cls->method, count, count > 1 ? "s" : "",
      count > 1 ? "are" : "is", count > 1 ? "each" : "it");
}

static lapis_status predict_new(lapis_ctx *ctx, const lapis_data *data,
                                const solver_class *cls, int kernel,
                                double width, const named_list *learned,
                                lapis_solver **out)
{
  *out = NULL;
  const lapis_mat *means = named_numbers(learned, "means", 1, data->X.rows);
  bool fills = means != NULL && data->X.colptr == NULL;
  TRY(mat_check_known(ctx, cls->method, "X", &data->X,
                      fills ? NULL
                            : "this model takes no missing values; a fit with "
                              "--map impute fills them in"));
  lapis_solver *s;
  TRY(solver_alloc(ctx, cls, sizeof(sv_predict), &s));
  sv_predict *w = (sv_predict *)s;
  w->square = kernel == LAPIS_KERNEL_PRECOMPUTED;
  w->unknown = fills && lapis_mat_missing(&data->X) > 0;
  if (w->unknown) mat_say_blank(ctx, &data->X, NULL, false);
  lapis_status status = la_open_host(ctx, &w->h);
  if (status >= 0) status = take_samples(w, &data->X);
  if (status >= 0) status = read_model(w, learned);
  if (status >= 0 && w->unknown) fill_unknown(w, means);
  if (status >= 0) status = scale_samples(w, learned);
  if (status >= 0) status = prepare_kernel(w, kernel, width, learned);
  if (status >= 0) status = allocate(w);
  return solver_deliver(s, status, out);
}

lapis_status sv_predict_new(lapis_ctx *ctx, const lapis_data *data,
                            const void *settings, const named_list *learned,
                            const void *options, lapis_solver **out)
{
  const lapis_svmplus_settings *set = settings;
  (void)options;
  if (set->balanced && named_find(learned, "calibration") != NULL)
    sv_say_balanced(ctx);
  TRY(predict_new(ctx, data, &predict_class, set->kernel, set->width, learned,
                  out));
  ((sv_predict *)*out)->balanced = set->balanced;
  return LAPIS_OK;
}

static lapis_status add_bags(sv_predict *w, const named_list *m,
                             const int64_t *group)
{
  lapis_ctx *ctx = w->base.ctx;
  const lapis_mat *threshold = named_numbers(m, "threshold", 1, 1);
  bool odd = named_find(m, "threshold") != NULL && threshold == NULL;
  if (w->labels.kind != TARGETS_BINARY || odd) return bad_model(ctx);
  if (threshold != NULL) w->threshold = mat_col(threshold, 0)[0];
  if (group == NULL) return LAPIS_OK;
  TRY(bags_new(ctx, group, w->X.cols, &w->bags));
  w->bag_score = base_alloc(ctx, w->bags.count, sizeof(double));
  w->bag_label = base_alloc(ctx, w->bags.count, sizeof(double));
  bool ok = w->bag_score != NULL && w->bag_label != NULL;
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

lapis_status misvm_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const void *settings, const named_list *learned,
                               const void *options, lapis_solver **out)
{
  const lapis_misvm_settings *set = settings;
  (void)options;
  TRY(predict_new(ctx, data, &bag_class, set->kernel, set->width, learned,
                  out));
  lapis_status s = add_bags((sv_predict *)*out, learned, data->group);
  if (s >= 0) return s;
  lapis_solver_free(*out);
  *out = NULL;
  return s;
}
