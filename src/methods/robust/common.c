/* common.c - checks, bases and residuals for rpca, rr, rlda and clean. */
#include "methods/robust/robust.h"

#include <math.h>
#include <string.h>

#include "mat/mat.h"

static const double SMALLEST = 1e-9; /* of sigma_1: below it counts as 0 */
const double RR_NO_ERROR = 1e-6;     /* of |X|: ten times the loosest default
                                            tolerance of the fits */

/* ---- checks -------------------------------------------------------------*/
static bool seen(const lapis_mat *X, int64_t i, int64_t j)
{
  return !isnan(lapis_mat_at(X, i, j));
}

static lapis_status check_sample(lapis_ctx *ctx, const char *method,
                                 const lapis_mat *X, int64_t j)
{
  int64_t i = 0;
  while (i < X->rows && !seen(X, i, j)) i++;
  if (i < X->rows) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EMISSING,
                    "%s: X, %s: nothing of this sample is observed; leave it "
                    "out",
                    method, CELL(ctx, base_row(ctx, j, X->cols) - 1, NULL, -1));
}

static lapis_status check_samples(lapis_ctx *ctx, const char *method,
                                  const lapis_mat *X)
{
  for (int64_t j = 0; j < X->cols; j++) TRY(check_sample(ctx, method, X, j));
  return LAPIS_OK;
}

lapis_status rr_check_new(lapis_ctx *ctx, const char *method,
                          const lapis_mat *X)
{
  TRY(mat_check_samples(ctx, method, X));
  return mat_check_finite(ctx, method, "X", X, true);
}

lapis_status rr_check_X(lapis_ctx *ctx, const char *method, const lapis_mat *X)
{
  TRY(rr_check_new(ctx, method, X));
  return check_samples(ctx, method, X);
}

lapis_status rr_check_raw(lapis_ctx *ctx, const char *method,
                          const lapis_mat *X)
{
  return mat_check_known(ctx, method, "X", X,
                         "nothing fills it in without cleaning (--denoise "
                         "none, --clean none): add --map standard,impute to "
                         "fit, or let it clean");
}

lapis_status rr_check_unlabelled(lapis_ctx *ctx, const char *method,
                                 const lapis_data *data, const void *settings,
                                 const bool *known)
{
  const lapis_rr_settings *set = settings;
  const lapis_mat *X = &data->X;
  bool raw = set->denoise == LAPIS_RR_NONE && set->refill == 0;
  TRY(raw ? rr_check_raw(ctx, method, X)
          : mat_check_finite(ctx, method, "X", X, true));
  for (int64_t j = 0; j < X->cols; j++)
    if (known[j]) TRY(check_sample(ctx, method, X, j));
  return LAPIS_OK;
}

double rr_lambda(double lambda, int64_t d, int64_t n)
{
  double side = (double)(d > n ? d : n);
  return isnan(lambda) ? 1 / sqrt(side) : lambda;
}

/* ---- residuals ----------------------------------------------------------*/
void rr_residual(const double *X, const double *D, int64_t count,
                 double *sparse)
{
  for (int64_t k = 0; k < count; k++) sparse[k] = isnan(X[k]) ? 0 : X[k] - D[k];
}

lapis_status rr_warn_if_empty(const lapis_solver *s, int64_t rank,
                              const double *sparse, const double *X,
                              int64_t count, double *largest)
{
  lapis_ctx *ctx = s->ctx;
  const char *method = s->cls->method;
  double most[2] = {0, 0}; /* error, size */
  if (largest != NULL) *largest = 0;
  if (s->loop.status != LAPIS_OK && s->loop.status != LAPIS_PRECISION_FLOOR)
    return LAPIS_OK;
  for (int64_t k = 0; k < count; k++) {
    most[0] = fmax(most[0], fabs(sparse[k]));
    if (!isnan(X[k])) most[1] = fmax(most[1], fabs(X[k]));
  }
  TRY(base_max(ctx, most, 2));
  if (largest != NULL) *largest = most[1];
  if (!(most[1] > 0)) return LAPIS_OK;
  if (rank == 0)
    base_note(
        ctx, BASE_WARNING, "all-error",
        "%s: the low-rank part is 0, all of X is error: a larger {lambda} "
        "keeps more",
        method);
  else if (most[0] <= RR_NO_ERROR * most[1])
    base_note(ctx, BASE_WARNING, "no-error",
              "%s: no error was found, the low-rank part is X itself: a "
              "smaller {lambda} removes more",
              method);
  return LAPIS_OK;
}

/* ---- basis --------------------------------------------------------------*/
void rr_basis_free(rr_basis *b)
{
  base_free(b->K);
  base_free(b->sigma);
  base_free(b->Vt);
  *b = (rr_basis){0};
}

static lapis_status keep(la *h, const la_array *U, const double *s,
                         const la_array *Vt, rr_basis *b)
{
  int64_t k = U->cols;
  while (b->r < k && s[b->r] > SMALLEST * s[0]) b->nuclear += s[b->r++];
  b->K = base_alloc(h->ctx, b->d * b->r, sizeof *b->K);
  b->sigma = base_alloc(h->ctx, b->r, sizeof *b->sigma);
  b->Vt = base_alloc(h->ctx, b->r * b->n, sizeof *b->Vt);
  if (b->K == NULL || b->sigma == NULL || b->Vt == NULL) return LAPIS_ENOMEM;
  la_array first = la_cols(U, 0, b->r), rows = la_rows(Vt, 0, b->r);
  lapis_mat K = lapis_mat_f64(b->K, b->d, b->r);
  lapis_mat V = lapis_mat_f64(b->Vt, b->r, b->n);
  memcpy(b->sigma, s, (size_t)b->r * sizeof *s);
  if (b->r == 0) return LAPIS_OK;
  TRY(la_scale_cols(h, s, &first));
  TRY(h->ops->download(h, &first, &K));
  return h->ops->download(h, &rows, &V);
}

/* W = D / *unit */
static lapis_status take(la *h, const lapis_mat *D, la_array *W, double *unit)
{
  lapis_mat own;
  TRY(h->ops->upload(h, D, W));
  TRY(la_borrow(h, W, &own));
  TRY(mat_unit(h->ctx, own.val, D->rows * D->cols, unit));
  return la_scale(h, 1 / *unit, W);
}

/* By the rank where that is known: what it leaves, a tenth of what keep drops,
 * hides nothing. */
static lapis_status factor(la *h, const lapis_mat *D, int64_t rank,
                           la_array all[3], double *s, rr_basis *out)
{
  double unit;
  bool found = false;
  TRY(h->ops->alloc(h, LAPIS_F64, D->rows, D->cols, &all[0]));
  TRY(take(h, D, &all[0], &unit));
  if (rank > 0)
    TRY(op_svd_of_rank(h, &all[0], rank, SMALLEST / 10, &all[1], s, &all[2],
                       &found));
  if (rank > 0 && !found) TRY(take(h, D, &all[0], &unit));
  if (!found) TRY(op_svd(h, &all[0], &all[1], s, &all[2]));
  mat_multiply(s, all[1].cols, unit);
  return keep(h, &all[1], s, &all[2], out);
}

lapis_status rr_basis_new(la *h, const lapis_mat *D, int64_t rank,
                          rr_basis *out)
{
  la_array all[3] = {{.data = NULL}, {.data = NULL}, {.data = NULL}};
  double *s = base_alloc(h->ctx, D->rows, sizeof *s);
  *out = (rr_basis){.d = D->rows, .n = D->cols};
  if (s == NULL) return LAPIS_ENOMEM;
  lapis_status status = factor(h, D, rank, all, s, out);
  for (int i = 0; i < 3; i++) h->ops->free(h, &all[i]);
  base_free(s);
  if (status < 0) rr_basis_free(out);
  return status;
}

lapis_status rr_basis_put(const rr_basis *b, lapis_solver *s)
{
  named_put(&s->learned, "basis", lapis_mat_f64(b->K, b->d, b->r));
  named_put(&s->learned, "sigma", lapis_mat_f64(b->sigma, 1, b->r));
  return solver_learn_all(s, "loadings", lapis_mat_f64(b->Vt, b->r, b->n));
}

bool rr_basis_get(const named_list *from, rr_basis *out)
{
  *out = (rr_basis){0};
  const lapis_mat *K = named_numbers(from, "basis", -1, -1);
  if (K == NULL) return false;
  const lapis_mat *sigma = named_numbers(from, "sigma", 1, K->cols);
  const lapis_mat *Vt = named_numbers(from, "loadings", K->cols, -1);
  if (sigma == NULL || Vt == NULL) return false;
  const double *s = sigma->val;
  for (int64_t i = 0; i < K->cols; i++)
    if (!(s[i] > 0) || !isfinite(s[i])) return false;
  *out = (rr_basis){.d = K->rows,
                    .n = Vt->cols,
                    .r = K->cols,
                    .K = K->val,
                    .sigma = sigma->val,
                    .Vt = Vt->val};
  for (int64_t i = 0; i < out->r; i++) out->nuclear += out->sigma[i];
  return true;
}

static const double LEAST_CLEANING = 10; /* rlda's factor of ridge LDA */

bool rr_cleans(double lambda, int64_t d, int64_t n)
{
  return lambda < LEAST_CLEANING / 2 * rr_lambda(NAN, d, n);
}
