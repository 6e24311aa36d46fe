/* kernel.c - kernel matrices in blocks of columns. */
#include "op/dense/kernel.h"

#include <math.h>
#include <string.h>

#include "la/parts.h"
#include "mat/mat.h"

/* ---- chi2: sum (x - z)^2 / (x + z), 0/0 = 0 ------------------------------*/
static double chi2_distance(const double *x, const double *z, int64_t d)
{
  double sum = 0;
  for (int64_t i = 0; i < d; i++) {
    double off = x[i] - z[i], size = x[i] + z[i];
    sum += size > 0 ? off * off / size : 0;
  }
  return sum;
}

static lapis_status check_counts(lapis_ctx *ctx, const char *name,
                                 const double *X, int64_t d, int64_t n)
{
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < d; i++)
      if (X[j * d + i] < 0)
        return lapis_fail(ctx, LAPIS_EDATA,
                          "kernel chi2: %s is %g at %s; it takes counts or "
                          "shares, 0 or more",
                          name, X[j * d + i],
                          CELL(ctx, base_row(ctx, j, n) - 1, "feature", i));
  return LAPIS_OK;
}

/* ---- widths -------------------------------------------------------------*/
/* Mean over all pairs of |x_i - x_j|^2 = 2 mean |x - mean|^2. */
static double mean_square(const op_kernel *k)
{
  double sum = 0;
  for (int64_t j = 0; j < k->n; j++) sum += k->square[j];
  return 2 * sum / (double)k->n;
}

static double mean_chi2(const op_kernel *k)
{
  double sum = 0;
  for (int64_t j = 0; j < k->n; j++)
    for (int64_t i = 0; i < j; i++)
      sum += chi2_distance(k->X + i * k->d, k->X + j * k->d, k->d);
  return 2 * sum / ((double)k->n * (double)k->n);
}

static lapis_status choose_width(la *h, op_kernel *k, const char *name)
{
  if (!isnan(k->width)) return LAPIS_OK;
  k->width = k->kind == LAPIS_KERNEL_RBF ? mean_square(k) : mean_chi2(k);
  if (k->width > 0) return LAPIS_OK;
  base_note(h->ctx, BASE_WARNING, "constant-kernel",
            "all samples of %s are the same: its kernel is constant", name);
  k->width = 1;
  return LAPIS_OK;
}

/* ---- making samples ready -----------------------------------------------*/
static bool may_stay(int kind, const lapis_mat *X)
{
  return kind == LAPIS_KERNEL_PRECOMPUTED && X->colptr == NULL &&
         X->dtype == LAPIS_F64 && X->ld == X->rows;
}

static void learn_center(op_kernel *k)
{
  for (int64_t j = 0; j < k->n; j++)
    for (int64_t i = 0; i < k->d; i++)
      k->center[i] += k->X[j * k->d + i] / (double)k->n;
}

static void subtract(const double *center, int64_t d, int64_t n, double *X)
{
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < d; i++) X[j * d + i] -= center[i];
}

static void squares(const double *X, int64_t d, int64_t n, double *out)
{
  for (int64_t j = 0; j < n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < d; i++) sum += X[j * d + i] * X[j * d + i];
    out[j] = sum;
  }
}

static lapis_status fill(la *h, op_kernel *k, const char *name,
                         const lapis_mat *X)
{
  if (k->own == NULL) return LAPIS_OK;
  mat_to_f64(X, k->own, k->d);
  if (k->kind == LAPIS_KERNEL_PRECOMPUTED) return LAPIS_OK;
  if (k->kind == LAPIS_KERNEL_CHI2)
    TRY(check_counts(h->ctx, name, k->X, k->d, k->n));
  if (k->kind == LAPIS_KERNEL_RBF) learn_center(k);
  subtract(k->center, k->d, k->n, k->own);
  squares(k->X, k->d, k->n, k->square);
  return k->kind == LAPIS_KERNEL_LINEAR ? LAPIS_OK : choose_width(h, k, name);
}

lapis_status op_kernel_new(la *h, int kind, double width, const char *name,
                           const lapis_mat *X, op_kernel *out)
{
  *out = (op_kernel){.kind = kind, .width = width, .d = X->rows, .n = X->cols};
  if (kind == LAPIS_KERNEL_PRECOMPUTED && X->rows != X->cols)
    return lapis_fail(h->ctx, LAPIS_ESHAPE,
                      "%s has %" PRId64 " rows and %" PRId64
                      " columns; a precomputed kernel is square, a row and a "
                      "column for each sample",
                      name, X->cols, X->rows);
  TRY(mat_check_dense(h->ctx, "kernel", name, X));
  bool stays = may_stay(kind, X);
  if (!stays)
    out->own = base_alloc_raw(h->ctx, X->rows * X->cols, sizeof(double));
  out->X = stays ? X->val : out->own;
  out->center = base_alloc(h->ctx, X->rows, sizeof(double));
  out->square = base_alloc(h->ctx, X->cols, sizeof(double));
  bool ok = out->X != NULL && out->center != NULL && out->square != NULL;
  lapis_status s = ok ? fill(h, out, name, X) : LAPIS_ENOMEM;
  if (s < 0) op_kernel_free(out);
  return s;
}

void op_kernel_free(op_kernel *k)
{
  base_free(k->own);
  base_free(k->center);
  base_free(k->square);
  *k = (op_kernel){0};
}

double op_kernel_self(const op_kernel *k, int64_t i)
{
  if (k->kind == LAPIS_KERNEL_PRECOMPUTED) return k->X[i * k->d + i];
  return k->kind == LAPIS_KERNEL_LINEAR ? k->square[i] : 1;
}

/* ---- exp(-x / width) ----------------------------------------------------
 * glibc's vector exp where it is: kernels spend their time here.  Whole groups
 * always, so that equal distances give equal values wherever they stand. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && \
    defined(__x86_64__)
__attribute__((__simd__("notinbranch"))) extern double exp(double);
#define EVERY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#define AT_ONCE _Pragma("omp simd")
#else
#define EVERY_WIDTH
#define AT_ONCE
#endif
enum { GROUP = 64 };

EVERY_WIDTH static void decay_group(double *x, double width)
{
  AT_ONCE
  for (int c = 0; c < GROUP; c++) x[c] = exp(-x[c] / width);
}

static void decay(double *x, int64_t n, double width)
{
  int64_t i = 0;
  for (; i + GROUP <= n; i += GROUP) decay_group(x + i, width);
  double last[GROUP] = {0};
  memcpy(last, x + i, (size_t)(n - i) * sizeof *x);
  decay_group(last, width);
  memcpy(x + i, last, (size_t)(n - i) * sizeof *x);
}

/* ---- blocks -------------------------------------------------------------*/
/* K holds x'z: K <- exp(-(|x|^2 + |z|^2 - 2 x'z) / width) */
static void rbf_from_products(la *h, const op_kernel *k, const double *square,
                              int64_t cols, double *K)
{
#pragma omp parallel for num_threads(parts_team(h, k->n *cols))
  for (int64_t j = 0; j < cols; j++) {
    double *column = K + j * k->n;
    for (int64_t i = 0; i < k->n; i++) {
      double far = k->square[i] + square[j] - 2 * column[i];
      column[i] = far > 0 ? far : 0;
    }
    decay(column, k->n, k->width);
  }
}

static void chi2_block(la *h, const op_kernel *k, const double *B, int64_t cols,
                       double *K)
{
#pragma omp parallel for num_threads(parts_team(h, 10 * k->n * cols))
  for (int64_t j = 0; j < cols; j++) {
    double *column = K + j * k->n;
    for (int64_t i = 0; i < k->n; i++)
      column[i] = chi2_distance(k->X + i * k->d, B + j * k->d, k->d);
    decay(column, k->n, k->width);
  }
}

/* B: d x cols, centred like X; square: |b|^2. */
static lapis_status block(la *h, const op_kernel *k, double *B,
                          const double *square, int64_t cols, double *K)
{
  if (k->kind == LAPIS_KERNEL_CHI2) {
    chi2_block(h, k, B, cols, K);
    return LAPIS_OK;
  }
  la_array left = la_wrap(k->X, k->d, k->n), right = la_wrap(B, k->d, cols);
  la_array out = la_wrap(K, k->n, cols);
  if (B == k->X && cols == k->n)
    TRY(la_syrk_there(h, LA_T, &left, &out));
  else
    TRY(h->ops->gemm(h, LA_T, LA_N, 1, &left, &right, 0, &out));
  if (k->kind == LAPIS_KERNEL_RBF) rbf_from_products(h, k, square, cols, K);
  return LAPIS_OK;
}

lapis_status op_kernel_own(la *h, const op_kernel *k, int64_t first,
                           int64_t cols, double *K)
{
  double *B = k->X + first * k->d;
  if (k->kind == LAPIS_KERNEL_PRECOMPUTED) {
    memcpy(K, B, (size_t)(k->n * cols) * sizeof *K);
    return LAPIS_OK;
  }
  TRY(block(h, k, B, k->square + first, cols, K));
  for (int64_t j = 0; j < cols; j++) /* exact, whatever rounding said */
    K[j * k->n + first + j] = op_kernel_self(k, first + j);
  return LAPIS_OK;
}

lapis_status op_kernel_some(la *h, const op_kernel *k, const int64_t *index,
                            int64_t cols, double *K)
{
  if (k->kind == LAPIS_KERNEL_PRECOMPUTED) {
    for (int64_t j = 0; j < cols; j++)
      TRY(op_kernel_own(h, k, index[j], 1, K + j * k->n));
    return LAPIS_OK;
  }
  double *B = base_alloc_raw(h->ctx, (k->d + 1) * cols, sizeof *B);
  if (B == NULL) return LAPIS_ENOMEM;
  double *square = B + k->d * cols;
  for (int64_t j = 0; j < cols; j++) {
    memcpy(B + j * k->d, k->X + index[j] * k->d, (size_t)k->d * sizeof *B);
    square[j] = k->square[index[j]];
  }
  lapis_status s = block(h, k, B, square, cols, K);
  for (int64_t j = 0; j < cols; j++)
    K[j * k->n + index[j]] = op_kernel_self(k, index[j]);
  base_free(B);
  return s;
}

lapis_status op_kernel_block(la *h, const op_kernel *k, const lapis_mat *B,
                             double *K)
{
  if (k->kind == LAPIS_KERNEL_PRECOMPUTED) {
    mat_to_f64(B, K, k->n);
    return LAPIS_OK;
  }
  double *copy = base_alloc_raw(h->ctx, (k->d + 1) * B->cols, sizeof *copy);
  if (copy == NULL) return LAPIS_ENOMEM;
  double *square = copy + k->d * B->cols;
  mat_to_f64(B, copy, k->d);
  lapis_status s = LAPIS_OK;
  if (k->kind == LAPIS_KERNEL_CHI2)
    s = check_counts(h->ctx, "X", copy, k->d, B->cols);
  subtract(k->center, k->d, B->cols, copy); /* 0 unless rbf */
  squares(copy, k->d, B->cols, square);
  if (s >= 0) s = block(h, k, copy, square, B->cols, K);
  base_free(copy);
  return s;
}
