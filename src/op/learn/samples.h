/* samples.h - products of many samples with few vectors.  Sparse ones stay so:
 * what is left out of them is 0. */
#ifndef LAPIS_SAMPLES_H
#define LAPIS_SAMPLES_H
#include "la/backend.h"

typedef struct samples {
  lapis_mat X;         /* d x n doubles, no NaN */
  const double *shift; /* d: each sample is without it; or NULL: 0 */
} samples;
/* out (n x K) = X'B, B having K columns of d numbers, ldb apart */
lapis_status op_samples_dot(la *h, const samples *of, const double *B,
                            int64_t ldb, int64_t K, double *out);
/* out (d x K, columns ldo apart) = X B, of an n x K B */
lapis_status op_samples_add(la *h, const samples *of, const double *B,
                            int64_t K, double *out, int64_t ldo);

/* What rounding may make of op_samples_add's column of one b (n): out (d). */
void op_samples_rounding(const samples *of, const double *b, double *out);

/* Where column j lies in X->val, and how many numbers it is. */
static inline int64_t op_sample(const lapis_mat *X, int64_t j, int64_t *count)
{
  bool dense = X->colptr == NULL;
  int64_t first = dense ? j * X->ld : X->colptr[j];
  *count = dense ? X->rows : X->colptr[j + 1] - first;
  return first;
}
/* The feature of number k of a sample that begins at `first`. */
static inline int64_t op_feature(const lapis_mat *X, int64_t first, int64_t k)
{
  return X->colptr == NULL ? k : X->rowidx[first + k];
}

#endif
