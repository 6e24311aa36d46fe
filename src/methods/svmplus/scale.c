/* scale.c - features brought to one size before they are learned from.
 *
 *   x'_i = (x_i - m_i) f_i,   f_i = 1 / (s_i sqrt(d)),
 *
 * m and s the means and deviations of the training samples, so that the mean of
 * |x'|^2 is 1: C is absolute and the appended 1 is penalised like a weight,
 * hence both mean the same whatever the units are.  A feature that never
 * changes gets f = 0.  Sparse samples stay sparse: m = 0, s the root mean
 * square.  Weights return to the units of the data: w_i = w'_i f_i,
 * b = b' - sum w_i m_i.
 *
 * auto looks whether it is needed: where deviations differ by more than SPREAD,
 * or where kernels are linear and the mean of |x|^2 is above LONG or below
 * SHORT (kernels with a width of their own do not mind the size).  A feature
 * that is 0 in half of the samples or more is not counted as a small one: its
 * deviation is small because it is rare, as a pixel at the edge is, and not
 * because of its unit. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/svmplus/svmplus.h"

static const double SPREAD = 100, LONG = 1000, SHORT = 1e-6;

typedef struct sizes {
  double *big; /* d: largest |x_i|; what follows is in its units */
  double *mean, *dev;
  double *seen; /* d: samples in which it is not 0 */
} sizes;

/* Stored entry k of sample j: its feature; dense: k itself. */
static int64_t feature(const lapis_mat *X, int64_t j, int64_t k)
{
  return X->colptr == NULL ? k : X->rowidx[X->colptr[j] + k];
}

static int64_t entries(const lapis_mat *X, int64_t j, const double **val)
{
  const double *all = X->val;
  bool dense = X->colptr == NULL;
  *val = dense ? mat_col(X, j) : all + X->colptr[j];
  return dense ? X->rows : X->colptr[j + 1] - X->colptr[j];
}

/* Divided by the largest, no square can overflow.  n: samples of all
 * processes. */
static lapis_status measure(lapis_ctx *ctx, const lapis_mat *X, int64_t n,
                            sizes *z)
{
  int64_t d = X->rows;
  const double *x;
  for (int pass = 0; pass < 3; pass++) {
    for (int64_t j = 0; j < X->cols; j++) {
      int64_t count = entries(X, j, &x);
      for (int64_t k = 0; k < count; k++) {
        int64_t i = feature(X, j, k);
        double in_big = z->big[i] > 0 ? x[k] / z->big[i] : 0;
        double off = in_big - z->mean[i];
        if (pass == 0) z->big[i] = fmax(z->big[i], fabs(x[k]));
        if (pass == 0) z->seen[i] += x[k] != 0;
        if (pass == 1 && X->colptr == NULL) z->mean[i] += in_big / (double)n;
        if (pass == 2) z->dev[i] += off * off / (double)n;
      }
    }
    if (pass == 0) TRY(base_max(ctx, z->big, d));
    if (pass == 0) TRY(base_sum(ctx, z->seen, d));
    if (pass == 1) TRY(base_sum(ctx, z->mean, d));
    if (pass == 2) TRY(base_sum(ctx, z->dev, d));
  }
  for (int64_t i = 0; i < d; i++) {
    z->dev[i] = sqrt(z->dev[i]);
    if (!mat_varies(z->dev[i], z->mean[i])) z->dev[i] = 0;
  }
  return LAPIS_OK;
}

static bool needed(const sizes *z, int64_t d, int64_t n, bool linear)
{
  double least = INFINITY, most = 0, length = 0;
  for (int64_t i = 0; i < d; i++) {
    double dev = z->dev[i] * z->big[i], mean = z->mean[i] * z->big[i];
    length += mean * mean + dev * dev;
    if (dev > 0 && 2 * z->seen[i] > (double)n) least = fmin(least, dev);
    most = fmax(most, dev);
  }
  bool size = length > LONG || length < SHORT;
  return most > 0 && (most > SPREAD * least || (linear && size));
}

static void fill(const sizes *z, int64_t d, sv_scale *out)
{
  for (int64_t i = 0; i < d; i++) {
    double dev = z->dev[i] * z->big[i];
    bool usable = dev > 0 && 1 / (dev * sqrt((double)d)) <= DBL_MAX;
    out->centre[i] = z->mean[i] * z->big[i];
    out->factor[i] = usable ? 1 / (dev * sqrt((double)d)) : 0;
  }
}

lapis_status sv_scale_check(lapis_ctx *ctx, const char *method,
                            const lapis_svmplus_settings *set)
{
  const int kernels[] = {set->kernel, set->kernel_priv};
  for (int i = 0; i < 2 && set->scale == LAPIS_SCALE_STANDARD; i++)
    if (kernels[i] == LAPIS_KERNEL_CHI2 ||
        kernels[i] == LAPIS_KERNEL_PRECOMPUTED)
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "%s: --scale standard does not go with --kernel%s %s; "
                        "linear and rbf are the kernels of features that may "
                        "be shifted",
                        method, i == 0 ? "" : "-priv",
                        kernels[i] == LAPIS_KERNEL_CHI2 ? "chi2"
                                                        : "precomputed");
  return LAPIS_OK;
}

/* auto: a width that is given is one of the data as they are. */
static bool may_be_scaled(int mode, int kernel, double width)
{
  if (mode == LAPIS_SCALE_NONE) return false;
  if (mode == LAPIS_SCALE_STANDARD || kernel == LAPIS_KERNEL_LINEAR)
    return true;
  return kernel == LAPIS_KERNEL_RBF && isnan(width);
}

lapis_status sv_scale_fit(arena *a, int mode, int kernel, double width,
                          const lapis_mat *X, sv_scale *out)
{
  int64_t d = X->rows, first, n;
  *out = (sv_scale){.d = d};
  if (d == 0 || !may_be_scaled(mode, kernel, width)) return LAPIS_OK;
  TRY(base_place(a->ctx, X->cols, &first, &n));
  if (n == 0) return LAPIS_OK;
  double *room = base_alloc(a->ctx, 4 * d, sizeof *room);
  out->centre = arena_reals(a, 2 * d);
  lapis_status s =
      room == NULL || out->centre == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) {
    sizes z = {room, room + d, room + 2 * d, room + 3 * d};
    out->factor = out->centre + d;
    s = measure(a->ctx, X, n, &z);
    out->used = mode == LAPIS_SCALE_STANDARD ||
                needed(&z, d, n, kernel == LAPIS_KERNEL_LINEAR);
    if (out->used) fill(&z, d, out);
  }
  base_free(room);
  return s;
}

static bool shifts(const sv_scale *z)
{
  for (int64_t i = 0; i < z->d; i++)
    if (z->centre[i] != 0) return true;
  return false;
}

/* Sparse samples for means of dense ones. */
static lapis_status apply_dense(lapis_ctx *ctx, const sv_scale *z,
                                const lapis_mat *X, double **memory,
                                lapis_mat *out)
{
  TRY(mat_check_dense(ctx, "svmplus", "X", X));
  double *val = *memory = base_alloc_raw(ctx, X->rows * X->cols, sizeof *val);
  if (val == NULL) return LAPIS_ENOMEM;
  mat_to_f64(X, val, X->rows);
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) {
      double *x = val + j * X->rows + i;
      *x = (*x - z->centre[i]) * z->factor[i];
    }
  *out = lapis_mat_f64(val, X->rows, X->cols);
  return LAPIS_OK;
}

lapis_status sv_scale_apply(lapis_ctx *ctx, const sv_scale *z,
                            const lapis_mat *X, double **memory, lapis_mat *out)
{
  int64_t n = X->cols;
  if (X->colptr != NULL && shifts(z))
    return apply_dense(ctx, z, X, memory, out);
  bool dense = X->colptr == NULL;
  int64_t first = dense ? 0 : X->colptr[0];
  int64_t count = dense ? X->rows * n : X->colptr[n] - first;
  const double *x;
  double *val = base_alloc_raw(ctx, first + count, sizeof *val);
  *memory = val;
  if (val == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < n; j++) {
    int64_t some = entries(X, j, &x);
    double *to = val + (dense ? j * X->rows : X->colptr[j]);
    for (int64_t k = 0; k < some; k++) {
      int64_t i = feature(X, j, k);
      to[k] = (x[k] - (dense ? z->centre[i] : 0)) * z->factor[i];
    }
  }
  *out = *X;
  out->val = val;
  if (dense) out->ld = X->rows;
  return LAPIS_OK;
}

void sv_scale_weights(const sv_scale *z, double *w)
{
  for (int64_t i = 0; z->used && i < z->d; i++) {
    w[i] *= z->factor[i];
    w[z->d] -= w[i] * z->centre[i];
  }
}
