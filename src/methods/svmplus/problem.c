/* problem.c - checks of what is given: shapes, values, classes,
 * kernels. */
#include <math.h>

#include "methods/svmplus/svmplus.h"

lapis_status sv_check_settings(lapis_ctx *ctx, const char *method, double C,
                               double gamma)
{
  const char *name = C > 0 ? "gamma" : "C";
  if (C > 0 && gamma > 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA, "%s: --%s is %g; it must be above 0",
                    method, name, C > 0 ? gamma : C);
}

static lapis_status check_shapes(lapis_ctx *ctx, const char *method,
                                 const lapis_data *data)
{
  const lapis_mat *X = &data->X, *Y = &data->Y, *P = &data->P;
  TRY(mat_check_samples(ctx, method, X));
  if (Y->rows == 0 || (Y->cols == 0 && X->cols > 0))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: there is no Y; labels are needed to learn from",
                      method);
  TRY(mat_check_beside(ctx, method, "Y", Y, X));
  return mat_empty(P) ? LAPIS_OK : mat_check_beside(ctx, method, "P", P, X);
}

static bool all_zero(const lapis_mat *P)
{
  for (int64_t k = 0; P->colptr != NULL && k < P->colptr[P->cols]; k++)
    if (mat_stored(P, k) != 0) return false;
  if (P->colptr != NULL) return true;
  for (int64_t j = 0; j < P->cols; j++)
    for (int64_t i = 0; i < P->rows; i++)
      if (lapis_mat_at(P, i, j) != 0) return false;
  return true;
}

static lapis_status check_weights(lapis_ctx *ctx, const char *method,
                                  const lapis_data *data)
{
  for (int64_t i = 0; data->weight != NULL && i < data->X.cols; i++)
    if (!(data->weight[i] > 0) || isinf(data->weight[i]))
      return lapis_fail(
          ctx, LAPIS_EDATA,
          "%s: the weight of %s is %g; weights are above 0: leave "
          "out a sample that does not count",
          method, CELL(ctx, base_row(ctx, i, data->X.cols) - 1, NULL, -1),
          data->weight[i]);
  return LAPIS_OK;
}

/* Entries (i, j) .. (i + TILE - 1, j + TILE - 1) against those mirrored. */
enum { TILE = 32 };
static lapis_status check_tile(lapis_ctx *ctx, const char *method,
                               const char *name, const lapis_mat *X, int64_t i0,
                               int64_t j0, double limit)
{
  int64_t n = X->cols;
  bool direct = X->colptr == NULL && X->dtype == LAPIS_F64;
  const double *val = X->val;
  for (int64_t j = j0; j < n && j < j0 + TILE; j++)
    for (int64_t i = i0; i < j && i < i0 + TILE; i++) {
      double a = direct ? val[j * X->ld + i] : lapis_mat_at(X, i, j);
      double b = direct ? val[i * X->ld + j] : lapis_mat_at(X, j, i);
      if (fabs(a - b) > limit)
        return lapis_fail(ctx, LAPIS_EDATA,
                          "%s: the kernel %s is not symmetric: %g at row "
                          "%" PRId64 ", column %" PRId64 " and %g mirrored",
                          method, name, b, i + 1, j + 1, a);
    }
  return LAPIS_OK;
}

static lapis_status check_square(lapis_ctx *ctx, const char *method,
                                 const char *name, int kernel,
                                 const lapis_mat *X)
{
  if (kernel != LAPIS_KERNEL_PRECOMPUTED || mat_empty(X)) return LAPIS_OK;
  if (X->rows != X->cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: %s has %" PRId64 " rows and %" PRId64
                      " columns; a precomputed kernel is square, a row and a "
                      "column for each sample",
                      method, name, X->cols, X->rows);
  double size = 0;
  for (int64_t i = 0; i < X->cols; i++)
    size = fmax(size, fabs(lapis_mat_at(X, i, i)));
  for (int64_t j = 0; j < X->cols; j += TILE)
    for (int64_t i = 0; i <= j; i += TILE)
      TRY(check_tile(ctx, method, name, X, i, j, 1e-8 * size));
  return LAPIS_OK;
}

static bool same_features(const lapis_mat *X, const lapis_mat *P)
{
  if (X->rows != P->rows || X->cols != P->cols) return false;
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++)
      if (lapis_mat_at(X, i, j) != lapis_mat_at(P, i, j)) return false;
  return true;
}

lapis_status sv_check_data(lapis_ctx *ctx, const char *method,
                           const lapis_svmplus_settings *set,
                           const lapis_data *data)
{
  TRY(check_shapes(ctx, method, data));
  TRY(mat_check_finite(ctx, method, "X", &data->X, false));
  TRY(mat_check_size(ctx, method, "X", &data->X));
  TRY(mat_check_finite(ctx, method, "Y", &data->Y, false));
  TRY(mat_check_finite(ctx, method, "P", &data->P, false));
  TRY(check_weights(ctx, method, data));
  TRY(check_square(ctx, method, "X", set->kernel, &data->X));
  TRY(check_square(ctx, method, "P", set->kernel_priv, &data->P));
  double other = data->P.rows > 0 && !same_features(&data->X, &data->P);
  TRY(base_max(ctx, &other, 1));
  if (data->P.rows > 0 && !(other > 0))
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: P is X: privileged features are those that new "
                      "samples lack; leave P out for the plain SVM",
                      method);
  double some = data->P.rows > 0 && !all_zero(&data->P);
  TRY(base_max(ctx, &some, 1));
  if (data->P.rows > 0 && !(some > 0))
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: P is zero everywhere; leave it out for the plain "
                      "SVM",
                      method);
  return LAPIS_OK;
}

lapis_status sv_check_unlabelled(lapis_ctx *ctx, const char *method,
                                 const lapis_data *data, const void *settings,
                                 const bool *known)
{
  const lapis_svmplus_settings *set = settings;
  const lapis_mat *P = &data->P;
  if (set->kernel == LAPIS_KERNEL_PRECOMPUTED ||
      set->kernel_priv == LAPIS_KERNEL_PRECOMPUTED)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: Y has unknown labels, and a precomputed kernel "
                      "is of the samples that are learnt from: give those, and "
                      "ask predict for the others",
                      method);
  TRY(mat_check_finite(ctx, method, "X", &data->X, true));
  for (int64_t j = 0; j < P->cols && P->colptr == NULL; j++)
    for (int64_t i = 0; i < P->rows && known[j]; i++)
      if (isnan(lapis_mat_at(P, i, j)))
        return lapis_fail(
            ctx, LAPIS_EMISSING,
            "%s: P is NaN at %s; samples with a label need all of "
            "P",
            method, CELL(ctx, j, "feature", i));
  return LAPIS_OK;
}

void sv_warn_constant(lapis_ctx *ctx, const char *method, const lapis_mat *P)
{
  if (mat_empty(P) || P->colptr != NULL) return; /* sparse: hardly so */
  if (base_ranks(ctx) > 1) return; /* a part says nothing of all */
  for (int64_t j = 1; j < P->cols; j++)
    for (int64_t i = 0; i < P->rows; i++) {
      double first = lapis_mat_at(P, i, 0);
      if (fabs(lapis_mat_at(P, i, j) - first) > 1e-12 * fabs(first)) return;
    }
  base_note(ctx, BASE_WARNING, "constant-privileged",
            "%s: P is the same for every sample: it is uninformative, and all "
            "samples share one slack",
            method);
}

lapis_status sv_encode(lapis_ctx *ctx, const char *method, const lapis_mat *Y,
                       targets *out)
{
  TRY(targets_encode(ctx, method, Y, out));
  lapis_status s = targets_check_known(ctx, method, out, "");
  for (int64_t c = 0; c < out->classes && s >= 0; c++) {
    int64_t count[2]; /* there are no unknown ones */
    s = targets_count_all(ctx, out, c, count);
    if (s < 0 || (count[0] > 0 && count[1] > 0)) continue;
    s = lapis_fail(ctx, LAPIS_EDATA,
                   "%s: Y, column %" PRId64 ": all samples are %s; samples of "
                   "both kinds are needed",
                   method, c + 1, count[1] > 0 ? "positive" : "negative");
  }
  if (s < 0) targets_free(out);
  return s;
}
