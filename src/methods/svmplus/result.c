/* result.c - what a solve hands out, and what a model keeps. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"

/* One against the rest: margins of 1 make classes comparable. */
static void divide_by_rho(svmplus *w)
{
  for (int64_t i = 0; w->K > 1 && w->kind == SV_L2 && i < w->q.n; i++)
    for (int64_t c = 0; c < w->K; c++)
      w->scores[i * w->K + c] /= fmax(w->rho[c], 1e-300);
}

/* w = sum a_i y_i x_i, bias last. */
static void weights_from_alpha(svmplus *w)
{
  const sv_data *q = &w->q;
  int64_t rows = q->d + 1;
  if (!w->linear || w->kind == SV_LINEAR) return;
  memset(w->weights, 0, (size_t)(rows * w->K) * sizeof *w->weights);
  for (int64_t i = 0; i < q->n; i++)
    for (int64_t c = 0; c < w->K; c++) {
      double a = w->alpha[i * w->K + c] * w->labels.sign[i * w->K + c];
      if (a != 0) column_add(&q->X, i, a, w->weights + c * rows);
    }
  for (int64_t c = 0; c < w->K; c++) w->weights[c * rows + q->d] = w->bias[c];
}

static bool supports(const svmplus *w, int64_t i, double above)
{
  for (int64_t c = 0; c < w->K; c++)
    if (w->alpha[i * w->K + c] > above) return true;
  return false;
}

/* Inside the interior no multiplier is 0, those that would be are small. */
static lapis_status count_support(const svmplus *w, int64_t *count)
{
  static const double SMALL = 1e-6;
  double most = 0;
  for (int64_t k = 0; k < w->K * w->q.n && w->kind == SV_LINEAR; k++)
    most = fmax(most, w->alpha[k]);
  TRY(base_max(w->base.ctx, &most, 1));
  *count = 0;
  for (int64_t i = 0; i < w->q.n; i++) *count += supports(w, i, SMALL * most);
  return base_sum_whole(w->base.ctx, count, 1);
}

void sv_decide(const targets *labels, bool balanced, const double *scores,
               const double *probabilities, double *decided)
{
  bool likely = probabilities != NULL && !balanced;
  targets_decode(labels, likely ? probabilities : scores, likely ? .5 : 0,
                 decided);
}

lapis_status sv_publish(svmplus *w)
{
  lapis_solver *s = &w->base;
  int64_t n = w->q.n, K = w->K, count;
  divide_by_rho(w);
  weights_from_alpha(w);
  for (int64_t c = 0; w->linear && c < K; c++)
    sv_scale_weights(&w->scale, w->weights + c * (w->q.d + 1));
  TRY(count_support(w, &count));
  s->info.rank = count;
  solver_publish(s, "scores", lapis_mat_f64(w->scores, K, n));
  if (w->platt != NULL && w->probabilities == NULL) {
    w->probabilities = arena_reals(&s->arena, K * n);
    if (w->probabilities == NULL) return LAPIS_ENOMEM;
  }
  if (w->platt != NULL) {
    targets_calibrate(&w->labels, w->platt, w->scores, w->probabilities);
    solver_publish(s, "probabilities", lapis_mat_f64(w->probabilities, K, n));
  }
  sv_decide(&w->labels, w->set.balanced, w->scores, w->probabilities,
            w->decided);
  targets_publish(&w->labels, w->decided, n, s);
  if (w->linear)
    solver_publish(s, "weights", lapis_mat_f64(w->weights, w->q.d + 1, K));
  solver_publish_history(s);
  if (!w->set.certificate) return LAPIS_OK;
  for (int64_t c = 0; w->slack != NULL && c < K; c++)
    sv_scale_weights(&w->scale_priv, w->slack + c * (w->q.p + 1));
  if (w->slack != NULL)
    solver_publish(s, "weights_priv", lapis_mat_f64(w->slack, w->q.p + 1, K));
  if (w->scale.used)
    solver_publish(s, "scale", lapis_mat_f64(w->scale.centre, w->q.d, 2));
  if (w->scale_priv.used)
    solver_publish(s, "scale_priv",
                   lapis_mat_f64(w->scale_priv.centre, w->q.p, 2));
  solver_publish(s, "alpha", lapis_mat_f64(w->alpha, K, n));
  if (w->kind != SV_L2) solver_publish(s, "zeta", lapis_mat_f64(w->zeta, K, n));
  return LAPIS_OK;
}

/* The objective is strongly convex in w: |w - w*|^2 <= 2 gap, so that |f - f*|
 * <= sqrt(2 gap) |x|, and where no f is larger w* may be 0. */
lapis_status sv_warn_zero(const svmplus *w, int64_t c, double gap,
                          double margin)
{
  static const double SMALL = 1e-3;
  const sv_data *q = &w->q;
  double most[] = {0, 0}; /* |f|, |x|^2 with its 1 */
  for (int64_t i = 0; i < q->n; i++) {
    double square = w->kind == SV_LINEAR ? column_square(&q->X, i)
                                         : op_kernel_self(&w->gram.main, i) + 1;
    most[0] = fmax(most[0], fabs(w->scores[i * w->K + c]));
    most[1] = fmax(most[1], square);
  }
  TRY(base_max(q->ctx, most, 2));
  double unknown = sqrt(2 * fmax(gap, 0) * most[1]);
  if (most[0] > SMALL * margin || most[0] > fmax(unknown, 1e-9 * margin))
    return LAPIS_OK;
  base_note(
      q->ctx, BASE_WARNING, "zero-weights",
      q->plain
          ? "svmplus: w is 0 within the tolerance: at this C no feature "
            "separates the labels; try a larger C"
          : "svmplus: w is 0 within the tolerance, and scores are within "
            "rounding: the privileged features explain all "
            "labels at this C and gamma; leave gamma open ({gamma auto}), or "
            "try a larger gamma or C");
  return LAPIS_OK;
}

/* ---- the model ----------------------------------------------------------*/
static void learned(lapis_solver *s, const char *name, double *val,
                    int64_t rows, int64_t cols)
{
  named_put(&s->learned, name, lapis_mat_f64(val, rows, cols));
}

static void dense_column(const lapis_mat *X, int64_t j, double *out)
{
  lapis_mat one = *X;
  one.cols = 1;
  if (X->colptr != NULL)
    one.colptr = X->colptr + j; /* offsets stay absolute */
  else
    one.val = mat_col(X, j);
  mat_to_f64(&one, out, X->rows);
}

static lapis_status learn_support(svmplus *w)
{
  lapis_solver *s = &w->base;
  int64_t m = s->info.rank, K = w->K, d = w->q.d, at = 0;
  bool square = w->set.kernel == LAPIS_KERNEL_PRECOMPUTED;
  base_free(w->support);
  base_free(w->coefficients);
  base_free(w->index);
  w->support = base_alloc(s->ctx, square ? 1 : d * m, sizeof(double));
  w->coefficients = base_alloc(s->ctx, K * m, sizeof(double));
  w->index = base_alloc(s->ctx, m, sizeof(double));
  if (w->support == NULL || w->coefficients == NULL || w->index == NULL)
    return LAPIS_ENOMEM;
  for (int64_t i = 0; i < w->q.n; i++) {
    if (!supports(w, i, 0)) continue;
    for (int64_t c = 0; c < K; c++)
      w->coefficients[at * K + c] =
          w->alpha[i * K + c] * w->labels.sign[i * K + c];
    if (!square) dense_column(&w->q.X, i, w->support + at * d);
    w->index[at++] = (double)i;
  }
  if (!square) learned(s, "support", w->support, d, m);
  learned(s, "index", w->index, 1, m);
  learned(s, "coefficients", w->coefficients, K, m);
  learned(s, "bias", w->bias, 1, K);
  return LAPIS_OK;
}

/* What stands for a feature of a new sample that is not known. */
static lapis_status learn_means(svmplus *w)
{
  const lapis_mat *X = &w->q.X;
  int64_t d = w->q.d;
  if (X->colptr != NULL || w->set.kernel == LAPIS_KERNEL_PRECOMPUTED ||
      base_ranks(w->base.ctx) > 1)
    return LAPIS_OK;
  if (w->means == NULL) w->means = arena_reals(&w->base.arena, d);
  if (w->means == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < d; i++) {
    double sum = 0;
    for (int64_t j = 0; j < X->cols; j++)
      sum += mat_col(X, j)[i] / (double)X->cols;
    w->means[i] = w->scale.used ? w->scale.centre[i] : sum;
  }
  learned(&w->base, "means", w->means, 1, d);
  return LAPIS_OK;
}

lapis_status sv_learn(lapis_solver *s)
{
  svmplus *w = (svmplus *)s;
  const targets *t = &w->labels;
  if (w->kind_value == NULL) w->kind_value = arena_reals(&s->arena, 3);
  if (w->kind_value == NULL) return LAPIS_ENOMEM;
  w->kind_value[0] = t->kind;
  w->kind_value[1] = (double)w->K;
  w->kind_value[2] = (double)w->q.d;
  learned(s, "shape", w->kind_value, 1, 3);
  learned(s, "values", t->value, 1, t->n_values);
  for (int64_t c = 0; c < w->K; c++)
    if (w->kind != SV_L2 || w->K == 1) w->rho[c] = 1;
  learned(s, "rho", w->rho, 1, w->K);
  if (w->platt != NULL) learned(s, "calibration", w->platt, 2, w->K);
  TRY(learn_means(w));
  if (!w->linear && w->scale.used)
    learned(s, "scale", w->scale.centre, w->q.d, 2);
  if (!w->linear) return learn_support(w);
  learned(s, "weights", w->weights, w->q.d + 1, w->K);
  return LAPIS_OK;
}

void sv_add_info(svmplus *w, double objective, double dual, double gap)
{
  lapis_info *info = &w->base.info;
  info->objective += objective;
  info->dual += dual;
  info->gap = fmax(info->gap, gap);
}
