/* la_case.h - two backends side by side and random arrays for them. */
#ifndef LAPIS_LA_CASE_H
#define LAPIS_LA_CASE_H
#include "check.h"
#include "la/backend.h"

typedef struct la_pair {
  lapis_ctx *ctx;
  la fast, slow;
} la_pair;

static inline la la_case_open(lapis_ctx *ctx, const char *name,
                              const char *threads)
{
  la h;
  assert_int_equal(lapis_ctx_set(ctx, "backend", name), LAPIS_OK);
  assert_int_equal(lapis_ctx_set(ctx, "threads", threads), LAPIS_OK);
  assert_int_equal(la_open(ctx, &h), LAPIS_OK);
  return h;
}

static inline la_pair la_pair_open(void)
{
  la_pair p = {.ctx = lapis_ctx_new()};
  assert_non_null(p.ctx);
  p.slow = la_case_open(p.ctx, "reference", "1");
  p.fast = la_case_open(p.ctx, "openblas", "2");
  return p;
}

/* Of a test: set up, tear down. */
static inline int la_case_open_pair(void **state)
{
  static la_pair pair;
  pair = la_pair_open();
  *state = &pair;
  return 0;
}

static inline int la_case_close_pair(void **state)
{
  lapis_ctx_free(((la_pair *)*state)->ctx);
  return 0;
}

static inline void la_case_release(la *h, la_array **all, int count)
{
  for (int i = 0; i < count; i++) h->ops->free(h, all[i]);
}
#define LA_RELEASE(h, ...)              \
  la_case_release(                      \
      (h), (la_array *[]){__VA_ARGS__}, \
      (int)(sizeof((la_array *[]){__VA_ARGS__}) / sizeof(la_array *)))

static inline la_array la_case_new(la *h, int64_t rows, int64_t cols)
{
  la_array A;
  assert_int_equal(h->ops->alloc(h, LAPIS_F64, rows, cols, &A), LAPIS_OK);
  return A;
}

static inline double *la_case_at(const la_array *A, int64_t i, int64_t j)
{
  return (double *)A->data + j * A->ld + i;
}

static inline la_array la_case_copy(la *h, const la_array *A)
{
  la_array B = la_case_new(h, A->rows, A->cols);
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      *la_case_at(&B, i, j) = *la_case_at(A, i, j);
  return B;
}

/* Sides that meet the edges often. */
static inline int64_t la_case_side(uint64_t *seed)
{
  static const int64_t side[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 40};
  return side[(int)(10 * check_uniform(seed))];
}

/* Normal entries, sometimes all zero, of low rank, or badly scaled. */
static inline la_array la_case_random(la *h, int64_t rows, int64_t cols,
                                      uint64_t *seed)
{
  la_array A = la_case_new(h, rows, cols);
  int kind = (int)(6 * check_uniform(seed));
  if (kind == 0) return A;
  double scale = kind == 1 ? 1e6 : kind == 2 ? 1e-6 : 1;
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < rows; i++)
      *la_case_at(&A, i, j) = scale * check_normal(seed);
  if (kind != 3) return A;
  for (int64_t j = 2; j < cols; j++) /* rank 2 */
    for (int64_t i = 0; i < rows; i++)
      *la_case_at(&A, i, j) =
          (double)j * *la_case_at(&A, i, 0) + 0.5 * *la_case_at(&A, i, 1);
  return A;
}

/* max |A - B|. */
static inline double la_case_distance(const la_array *A, const la_array *B)
{
  double d = 0;
  assert_int_equal(A->rows, B->rows);
  assert_int_equal(A->cols, B->cols);
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) {
      double e = fabs(*la_case_at(A, i, j) - *la_case_at(B, i, j));
      if (!(e <= d)) d = e; /* NaN shows */
    }
  return d;
}

static inline double la_case_norm(const la_array *A)
{
  double sum = 0;
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      sum += *la_case_at(A, i, j) * *la_case_at(A, i, j);
  return sqrt(sum);
}

/* max |A'A - I|. */
static inline double la_case_skew(const la_array *A)
{
  double worst = 0;
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t k = 0; k <= j; k++) {
      double sum = j == k ? -1 : 0;
      for (int64_t i = 0; i < A->rows; i++)
        sum += *la_case_at(A, i, j) * *la_case_at(A, i, k);
      if (!(fabs(sum) <= worst)) worst = fabs(sum);
    }
  return worst;
}
#endif
