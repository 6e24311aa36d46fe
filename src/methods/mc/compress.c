/* compress.c - samples without any label become D + 1 columns, exactly.
 *
 * Nuclear norm, squared loss and the row of ones know the unlabelled samples
 * only up to a rotation of their columns.  With  [1'; X_u] = C O, O O' = I,
 * the columns of C stand for all of them: Z_u = Z~ O has the objective of Z~,
 * and a multiplier G~ O the norm of G~ (proofs.md, `bordered`,
 * has the proof).  C comes from the Gram matrix of [1'; X_u], which
 * one pass over the data makes.
 *
 * Numerics: C is the Cholesky factor.  Where that breaks down or nearly does
 * (features that repeat each other), C is made of the mean and the principal
 * axes with variance above 1e-12 of the largest. */
#include <math.h>
#include <string.h>

#include "methods/mc/bordered/bordered.h"

static const double LEAST_PIVOT = 1e-5;     /* of a Cholesky factor, relative */
static const double LEAST_VARIANCE = 1e-12; /* of a principal axis, relative */

bool border_compresses(int64_t others, int64_t D)
{
  return others > 2 * (D + 1);
}

int64_t border_block_size(int64_t D)
{
  const int64_t most = INT64_C(1) << 21; /* doubles: 16 MB */
  int64_t fit = most / (D + 1);
  return fit < 64 ? 64 : fit > 8192 ? 8192 : fit;
}

void border_block(const border_columns *c, int64_t first, int64_t count,
                  double *out)
{
  int64_t rows = c->data.rows + 1;
  lapis_mat part = mat_columns(&c->data, first, count);
  mat_shifted(&part, c->shift, out + 1, rows);
  for (int64_t j = 0; j < count; j++) out[j * rows] = 1;
}

/* ---- one pass over the data ---------------------------------------------*/
typedef struct pass {
  border_columns *c;
  double *block;      /* (D + 1) x border_block_size */
  la_array sum, part; /* (D + 1) square: Gram of [1; x] of the others */
} pass;

/* Numbers of X are finite, but not always what a shift makes of them. */
static lapis_status check_block(const pass *q, int64_t count)
{
  const border_columns *c = q->c;
  int64_t length = (c->data.rows + 1) * count, odd = 0;
  if (c->shift == NULL) return LAPIS_OK;
  for (int64_t k = 0; k < length; k++) odd += !isfinite(q->block[k]);
  if (odd == 0) return LAPIS_OK;
  return lapis_fail(c->h->ctx, LAPIS_ENOTBUILT,
                    "mc: --solver bordered takes finite numbers, and behind "
                    "its map X has %" PRId64 " others",
                    odd);
}

/* Own samples go to their columns; the others move together in the block. */
static int64_t sort_block(const pass *q, int64_t first, int64_t count)
{
  int64_t D = q->c->data.rows, others = 0;
  size_t size = (size_t)(D + 1) * sizeof(double);
  for (int64_t j = 0; j < count; j++) {
    const double *x = q->block + j * (D + 1);
    int64_t to = q->c->place[first + j];
    if (to >= 0)
      memcpy((double *)q->c->X.data + to * q->c->X.ld, x + 1,
             size - sizeof(double));
    else if (others++ < j)
      memcpy(q->block + (others - 1) * (D + 1), x, size);
  }
  return others;
}

static lapis_status read_all(pass *q)
{
  la *h = q->c->h;
  int64_t D = q->c->data.rows, n = q->c->data.cols;
  int64_t size = border_block_size(D);
  for (int64_t j = 0; j < n; j += size) {
    int64_t count = n - j < size ? n - j : size;
    border_block(q->c, j, count, q->block);
    TRY(check_block(q, count));
    int64_t others = sort_block(q, j, count);
    if (others == 0 || q->c->rest == 0) continue;
    la_array x = la_wrap(q->block, D + 1, others);
    TRY(la_syrk_there(h, LA_N, &x, &q->part));
    TRY(h->ops->axpby(h, 1, &q->part, 1, &q->sum));
  }
  la_array own = la_cols(&q->c->X, 0, q->c->own);
  TRY(la_sum(h, &own)); /* where the others have zeros */
  return q->c->rest > 0 ? la_sum(h, &q->sum) : LAPIS_OK;
}

/* ---- C and its inverse on its range -------------------------------------*/
static double *entry(la_array *A, int64_t i, int64_t j)
{
  return (double *)A->data + j * A->ld + i;
}

/* C is lower triangular; back = C^-1. */
static lapis_status by_cholesky(pass *q, bool *done)
{
  border_columns *c = q->c;
  la *h = c->h;
  int64_t m = q->sum.rows;
  double least = INFINITY, most = 0;
  *done = false;
  TRY(h->ops->axpby(h, 1, &q->sum, 0, &q->part));
  if (h->ops->potrf(h, &q->part) < 0) return LAPIS_OK;
  for (int64_t i = 0; i < m; i++) {
    /* a pivot against the length of its row: how much of it is new */
    double share = *entry(&q->part, i, i) / sqrt(*entry(&q->sum, i, i));
    least = fmin(least, share);
    most = fmax(most, share);
  }
  if (!(least > LEAST_PIVOT * most)) return LAPIS_OK;
  TRY(h->ops->alloc(h, LAPIS_F64, m, m, &c->back));
  for (int64_t i = 0; i < m; i++) *entry(&c->back, i, i) = 1;
  TRY(h->ops->trsm(h, &q->part, &c->back));
  for (int64_t j = 0; j < m; j++) {
    c->e[c->own + j] = j == 0 ? *entry(&q->part, 0, 0) : 0;
    for (int64_t i = 1; i < m; i++)
      *entry(&c->X, i - 1, c->own + j) = i >= j ? *entry(&q->part, i, j) : 0;
  }
  *done = true;
  return LAPIS_OK;
}

/* Columns (sqrt n; s / sqrt n) and (0; sigma_k p_k) of the scatter about the
 * mean; back: (1 / sqrt n, 0) and (-p_k'mean, p_k') / sigma_k. */
static lapis_status by_axes(pass *q)
{
  border_columns *c = q->c;
  la *h = c->h;
  int64_t D = c->data.rows, found = 0;
  double n = (double)c->others;
  la_array S = la_cols(&q->part, 0, D), Q = {0};
  S.rows = D;
  for (int64_t j = 0; j < D; j++)
    for (int64_t i = 0; i < D; i++)
      *entry(&S, i, j) =
          *entry(&q->sum, i + 1, j + 1) -
          *entry(&q->sum, i + 1, 0) * (*entry(&q->sum, j + 1, 0) / n);
  double *lambda = base_alloc(h->ctx, D, sizeof *lambda);
  lapis_status s = lambda == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, D, D, &Q);
  if (s >= 0) s = h->ops->eigh(h, &S, 0, lambda, &Q, &found);
  int64_t k = 0;
  while (k < found && lambda[k] > LEAST_VARIANCE * lambda[0]) k++;
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, k + 1, D + 1, &c->back);
  for (int64_t a = 0; s >= 0 && a <= k; a++) {
    double sigma = a == 0 ? sqrt(n) : sqrt(lambda[a - 1]), along = 0;
    c->e[c->own + a] = a == 0 ? sigma : 0;
    for (int64_t i = 0; i < D; i++) {
      double mean = *entry(&q->sum, i + 1, 0) / n;
      double x = a == 0 ? mean : *entry(&Q, i, a - 1);
      *entry(&c->X, i, c->own + a) = sigma * x;
      *entry(&c->back, a, i + 1) = a == 0 ? 0 : x / sigma;
      along += x * mean;
    }
    *entry(&c->back, a, 0) = a == 0 ? 1 / sigma : -along / sigma;
  }
  if (s >= 0) {
    c->rest = k + 1;
    c->X.cols = c->own + c->rest;
  }
  h->ops->free(h, &Q);
  base_free(lambda);
  return s;
}

static lapis_status run(pass *q)
{
  la *h = q->c->h;
  int64_t m = q->c->data.rows + 1;
  bool done = false;
  q->block =
      base_alloc_raw(h->ctx, m * border_block_size(m - 1), sizeof *q->block);
  if (q->block == NULL) return LAPIS_ENOMEM;
  if (q->c->rest == 0) return read_all(q);
  TRY(h->ops->alloc(h, LAPIS_F64, m, m, &q->sum));
  TRY(h->ops->alloc(h, LAPIS_F64, m, m, &q->part));
  TRY(read_all(q));
  TRY(by_cholesky(q, &done));
  return done ? LAPIS_OK : by_axes(q);
}

/* ---- the columns --------------------------------------------------------*/
/* Processes have the columns of their own samples in the order of ranks; the
 * columns of the others follow, and everybody holds all of them. */
static lapis_status place_all(border_columns *c, const bool *known)
{
  int64_t n = c->data.cols, first, next;
  c->place = base_alloc(c->h->ctx, n, sizeof *c->place);
  if (c->place == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < n; j++) c->others += !known[j];
  TRY(base_sum_whole(c->h->ctx, &c->others, 1));
  bool smaller = border_compresses(c->others, c->data.rows);
  if (!smaller) c->others = 0;
  int64_t own = 0;
  for (int64_t j = 0; j < n; j++) own += known[j] || !smaller;
  TRY(base_place(c->h->ctx, own, &first, &c->own));
  next = first;
  for (int64_t j = 0; j < n; j++)
    c->place[j] = known[j] || !smaller ? next++ : -1;
  c->rest = smaller ? c->data.rows + 1 : 0;
  c->e = base_alloc(c->h->ctx, c->own + c->rest, sizeof *c->e);
  if (c->e == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < c->own; j++) c->e[j] = 1;
  return LAPIS_OK;
}

lapis_status border_columns_new(la *h, const lapis_mat *X,
                                const mat_shift *shift, const bool *known,
                                border_columns *out)
{
  *out = (border_columns){.h = h, .data = *X, .shift = shift};
  TRY(place_all(out, known));
  bool divided = base_ranks(h->ctx) > 1;
  bool as_it_is =
      X->dtype == LAPIS_F64 && X->colptr == NULL && !divided && shift == NULL;
  if (out->rest == 0 && as_it_is) {
    out->X = (la_array){LAPIS_F64, X->rows, X->cols, X->ld, X->val, true, NULL};
    return LAPIS_OK;
  }
  if (divided)
    TRY(base_fits(h->ctx, "mc: the labelled samples of all processes",
                  8.0 * (double)X->rows * (double)(out->own + out->rest)));
  TRY(h->ops->alloc(h, LAPIS_F64, X->rows, out->own + out->rest, &out->X));
  pass q = {.c = out};
  lapis_status s = run(&q);
  base_free(q.block);
  h->ops->free(h, &q.sum);
  h->ops->free(h, &q.part);
  return s;
}

void border_columns_free(border_columns *c)
{
  if (c->h == NULL) return;
  c->h->ops->free(c->h, &c->X);
  c->h->ops->free(c->h, &c->back);
  base_free(c->place);
  base_free(c->e);
}
