/* svt_call.c - lapis_svt and lapis_singular_values: one call for one matrix,
 * with nothing known before and nothing kept (svt.c has what they do). */
#include <float.h>

#include "lapis/methods.h"
#include "mat/mat.h"
#include "op/svt/svt.h"

static lapis_status check_public(lapis_ctx *ctx, const lapis_mat *W, double t,
                                 const lapis_mat *A)
{
  if (W->dtype != LAPIS_F64 || A->dtype != LAPIS_F64 || W->colptr != NULL ||
      A->colptr != NULL)
    return lapis_fail(ctx, LAPIS_EINVAL, "svt: W and A must be dense doubles");
  if (W->rows != A->rows || W->cols != A->cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "svt: W is %" PRId64 " x %" PRId64 ", A is %" PRId64
                      " x %" PRId64 "; they must agree",
                      W->rows, W->cols, A->rows, A->cols);
  if (!(t >= 0 && t <= DBL_MAX))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "svt: the threshold is %g; it must be at least 0", t);
  return LAPIS_OK;
}

static la_array view(const lapis_mat *A)
{
  int64_t ld = A->ld < 1 ? 1 : A->ld; /* an empty view */
  return (la_array){A->dtype, A->rows, A->cols, ld, A->val, true, NULL};
}

static bool overlap(const lapis_mat *A, const lapis_mat *B)
{
  uintptr_t a = (uintptr_t)A->val, b = (uintptr_t)B->val;
  size_t of_a = (size_t)(A->ld * A->cols) * sizeof(double);
  size_t of_b = (size_t)(B->ld * B->cols) * sizeof(double);
  return a < b + of_b && b < a + of_a;
}

/* A may be W, and stays as it is when anything fails. */
static lapis_status apply_public(la *h, op_svt *s, const lapis_mat *W, double t,
                                 lapis_mat *A, svt_report *report)
{
  la_array from = view(W), to = view(A);
  bool apart = !overlap(W, A);
  op_svt_spare(s);
  op_svt_once(s);
  if (!apart) TRY(h->ops->alloc(h, LAPIS_F64, W->rows, W->cols, &to));
  lapis_status status = op_svt_apply(s, &from, t, &to, report);
  if (status == LAPIS_OK && !apart) status = h->ops->download(h, &to, A);
  h->ops->free(h, &to);
  return status;
}

lapis_status lapis_svt(lapis_ctx *ctx, const lapis_mat *W, double t,
                       lapis_mat *A, lapis_svt_info *info)
{
  NEEDS(ctx, ctx, W, A);
  TRY(mat_check_view(ctx, "svt", "W", W));
  TRY(mat_check_view(ctx, "svt", "A", A));
  static const char *const name[] = {[SVT_AUTO] = "auto",
                                     [SVT_GRAM] = "gram",
                                     [SVT_FULL] = "full",
                                     [SVT_QR] = "qr",
                                     [SVT_SUBSPACE] = "subspace"};
  la h;
  op_svt *s;
  svt_report r;
  TRY(check_public(ctx, W, t, A));
  TRY(la_open_host(ctx, &h));
  TRY(op_svt_new(&h, W->rows, W->cols, &s));
  lapis_status status = apply_public(&h, s, W, t, A, &r);
  op_svt_free(s);
  if (status == LAPIS_OK && info != NULL)
    *info = (lapis_svt_info){r.rank, r.nuclear, r.sigma_1, name[r.way], r.why};
  return status;
}

lapis_status lapis_singular_values(lapis_ctx *ctx, const lapis_mat *W,
                                   double *values)
{
  NEEDS(ctx, ctx, W, values);
  TRY(mat_check_view(ctx, "singular values", "the matrix", W));
  la h;
  op_svt *s;
  TRY(check_public(ctx, W, 0, W));
  TRY(mat_check_finite(ctx, "singular values", "the matrix", W, false));
  TRY(la_open_host(ctx, &h));
  TRY(op_svt_new(&h, W->rows, W->cols, &s));
  la_array from = view(W);
  lapis_status status = op_singular_values(s, &from, values);
  op_svt_free(s);
  return status;
}
