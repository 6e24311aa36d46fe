/* knn.c - labels by the nearest training samples in the projected space,
 * as linear discriminant analysis is used in [RR16]. */
#include <math.h>

#include "methods/robust/robust.h"

/* The k nearest, nearest first; ties by the lower index. */
static void find_nearest(const knn_task *t, const double *x)
{
  int64_t m = t->train->rows, N = t->train->cols, have = 0;
  const double *train = t->train->val;
  for (int64_t j = 0; j < N; j++) {
    double d = 0;
    for (int64_t i = 0; i < m; i++) {
      double e = x[i] - train[j * m + i];
      d += e * e;
    }
    if (have == t->k && !(d < t->far[have - 1])) continue;
    int64_t at = have < t->k ? have++ : have - 1;
    for (; at > 0 && d < t->far[at - 1]; at--) {
      t->far[at] = t->far[at - 1];
      t->near[at] = t->near[at - 1];
    }
    t->far[at] = d;
    t->near[at] = j;
  }
}

/* Votes for class c among the neighbours; *first: how near the first one. */
static int64_t votes(const knn_task *t, int64_t c, int64_t *first)
{
  int64_t K = t->signs->rows, count = 0, k = t->k;
  const double *sign = t->signs->val;
  if (k > t->train->cols) k = t->train->cols;
  *first = k;
  for (int64_t i = 0; i < k; i++) {
    if (!(sign[t->near[i] * K + c] > 0)) continue;
    if (count++ == 0) *first = i;
  }
  return count;
}

/* The class with most votes; the nearest of those that tie. */
static double winner(const knn_task *t)
{
  int64_t best = 0, most = -1, nearest = 0;
  for (int64_t c = 0; c < t->signs->rows; c++) {
    int64_t first, count = votes(t, c, &first);
    if (count < most || (count == most && first >= nearest)) continue;
    best = c;
    most = count;
    nearest = first;
  }
  return ((const double *)t->value->val)[best];
}

void knn_labels(const knn_task *t, const double *scores, int64_t n,
                bool classes, double *labels)
{
  int64_t m = t->train->rows, K = t->signs->rows;
  const double *value = t->value->val;
  for (int64_t j = 0; j < n; j++) {
    int64_t first, k = t->k < t->train->cols ? t->k : t->train->cols;
    find_nearest(t, scores + j * m);
    if (classes) labels[j] = winner(t);
    for (int64_t c = 0; !classes && c < K; c++)
      labels[j * K + c] = value[2 * votes(t, c, &first) > k];
  }
}
