/* kernel_ridge.c - ridge regression behind a kernel.
 *
 * With centres c, K(c, c) + e I = L L' and g(x) = L^-1 k(c, x), so that g'g is
 * Nystrom's kernel: exactly the kernel's where every sample is a centre, up to
 * the e that keeps L apart from rounding. */
#include "op/learn/kernel_ridge.h"

#include <math.h>
#include <string.h>

#include "op/dense/kernel.h"

static const double KEPT = 1e-8; /* e: k(x, x) is 1 */

/* Known samples, every so many of them; how many. */
static int64_t pick(const ridge_problem *p, double *to)
{
  int64_t d = p->X.rows, known = 0, count = 0, most = KERNEL_RIDGE_CENTRES;
  for (int pass = 0, at = 0; pass < 2; pass++)
    for (int64_t j = 0; j < p->X.cols; j++) {
      bool weighs = p->weight == NULL || p->weight[j] > 0;
      if (!weighs || isnan(p->Y[j * p->K])) continue;
      if (pass == 0) {
        known++;
      } else if (known <= most || at++ * most / known >= count) {
        if (count == most) break;
        const double *x = (const double *)p->X.val + j * p->X.ld;
        memcpy(to + count++ * d, x, (size_t)d * sizeof *to);
      }
    }
  return count;
}

/* g of all samples, count x n. */
static lapis_status map(la *h, const ridge_problem *p, double width,
                        lapis_mat *centres, double *K, double *G)
{
  op_kernel k;
  int64_t count = centres->cols;
  la_array L = la_wrap(K, count, count), to = la_wrap(G, count, p->X.cols);
  TRY(op_kernel_new(h, LAPIS_KERNEL_RBF, width, "X", centres, &k));
  lapis_status s = op_kernel_own(h, &k, 0, count, K);
  if (s >= 0) s = h->ops->add_diagonal(h, KEPT, &L);
  if (s >= 0) s = h->ops->potrf(h, &L);
  if (s >= 0) s = op_kernel_block(h, &k, &p->X, G);
  if (s >= 0) s = h->ops->trsm(h, &L, &to);
  op_kernel_free(&k);
  return s;
}

lapis_status op_kernel_ridge(la *h, const ridge_problem *p, double width,
                             double *A)
{
  arena own = {.ctx = h->ctx};
  int64_t d = p->X.rows, n = p->X.cols, most = KERNEL_RIDGE_CENTRES;
  if (most > n) most = n;
  double *at = arena_reals(&own, d * most), *G = arena_reals(&own, most * n);
  double *K = arena_reals(&own, most * most);
  double *W = arena_reals(&own, (most + 1) * p->K);
  lapis_status s = arena_status(&own);
  ridge_problem behind = *p;
  if (s >= 0) {
    lapis_mat centres = lapis_mat_f64(at, d, pick(p, at));
    behind.X = lapis_mat_f64(G, centres.cols, n);
    if (centres.cols > 0) s = map(h, p, width, &centres, K, G);
  }
  if (s >= 0) s = op_ridge(h, &behind, W);
  if (s >= 0) s = op_ridge_answer(h, &behind.X, p->K, W, A);
  arena_free(&own);
  return s;
}

lapis_status op_ridge_answer(la *h, const lapis_mat *X, int64_t K,
                             const double *W, double *A)
{
  int64_t d = X->rows, n = X->cols;
  la_array F = la_wrap((double *)(uintptr_t)X->val, d, n);
  la_array to = la_wrap(A, K, n);
  la_array lines = {.dtype = LAPIS_F64,
                    .rows = d,
                    .cols = K,
                    .ld = d + 1,
                    .data = (double *)(uintptr_t)W,
                    .view = true};
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &lines, &F, 0, &to));
  for (int64_t k = 0; k < K * n; k++) A[k] += W[k % K * (d + 1) + d];
  return LAPIS_OK;
}
