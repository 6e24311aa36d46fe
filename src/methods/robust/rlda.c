/* rlda.c - how scores become classes.
 *
 * Of three classes and more, scores are first brought to where classes are
 * balls: T' and scores become L^-1 times themselves, L L' the covariance of
 * scores within classes with a hundredth of its mean variance on the diagonal.
 * Distances there are those of linear discriminant analysis; distances of plain
 * scores put a class between two others too near to both.
 *
 * mean: the class c whose samples' mean score m_c is nearest, which is the one
 * with the largest m_c's - |m_c|^2 / 2: lines again, and what is published as
 * scores and weights. */
#include <math.h>
#include <string.h>

#include "methods/robust/robust.h"

/* ---- the nearest class mean ---------------------------------------------*/
bool rlda_is_of(const rr *w, int64_t j, int64_t c)
{
  const targets *t = &w->labels;
  const double *sign = t->sign + j * t->classes;
  return t->kind == TARGETS_BINARY ? (sign[0] > 0) == (c == 1) : sign[c] > 0;
}

void rlda_means(const rr *w, int64_t rows, double *means)
{
  int64_t C = w->labels.n_values;
  for (int64_t c = 0; c < C; c++) {
    double count = 0, *mean = means + c * rows;
    memset(mean, 0, (size_t)rows * sizeof *mean);
    for (int64_t j = 0; j < w->n; j++)
      if (rlda_is_of(w, j, c)) count += rr_times(w, j);
    for (int64_t j = 0; j < w->n; j++)
      for (int64_t i = 0; i < rows && rlda_is_of(w, j, c); i++)
        mean[i] += rr_times(w, j) * w->scores[j * rows + i] / count;
  }
}

/* One row of scores: the difference of two classes, 0 in their middle. */
void rlda_lines(const double *means, int64_t rows, int64_t n, double *scores,
                double *room)
{
  double half = rows == 1 ? (means[0] + means[1]) / 2 : 0;
  for (int64_t j = 0; j < n; j++) {
    double *s = scores + j * rows;
    for (int64_t c = 0; c < rows && rows > 1; c++) {
      room[c] = 0;
      for (int64_t i = 0; i < rows; i++)
        room[c] += means[c * rows + i] * (s[i] - means[c * rows + i] / 2);
    }
    if (rows == 1)
      s[0] = (means[1] - means[0]) * (s[0] - half);
    else
      memcpy(s, room, (size_t)rows * sizeof *s);
  }
}

/* T' so that T [D; 1] are those lines.  Its rows are scores of a kind: each
 * feature's share goes through the same map, the bias takes what is constant.
 */
lapis_status rlda_line_weights(rr *w)
{
  int64_t d1 = w->d + 1, K = w->K, rows = K == 2 ? 1 : K;
  const double *m = w->means;
  double *T = w->weights;
  if (rows == 1) {
    for (int64_t i = 0; i < 2 * d1; i++) T[i] *= m[1] - m[0];
    T[d1 + w->d] -= (m[1] - m[0]) * (m[1] + m[0]) / 2;
    return LAPIS_OK;
  }
  double *t = base_alloc(w->base.ctx, K, sizeof *t);
  if (t == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < d1; i++) {
    for (int64_t k = 0; k < K; k++) t[k] = T[k * d1 + i];
    for (int64_t c = 0; c < K; c++) {
      double sum = 0;
      for (int64_t k = 0; k < K; k++)
        sum += m[c * K + k] * (t[k] - (i == w->d ? m[c * K + k] / 2 : 0));
      T[c * d1 + i] = sum;
    }
  }
  base_free(t);
  return LAPIS_OK;
}

/* ---- scores in which classes are balls ----------------------------------*/
/* S (K x K, columns) = covariance within classes of scores (K x n); means: room
 * for K x classes. */
static void within(const rr *w, double *means, double *S)
{
  int64_t K = w->K;
  double all = 0;
  rlda_means(w, K, means);
  memset(S, 0, (size_t)(K * K) * sizeof *S);
  for (int64_t j = 0; j < w->n; j++) all += rr_times(w, j);
  for (int64_t j = 0; j < w->n; j++) {
    const double *f = w->scores + j * K;
    int64_t c = 0;
    while (c + 1 < w->labels.n_values && !rlda_is_of(w, j, c)) c++;
    const double *m = means + c * K;
    for (int64_t k = 0; k < K; k++)
      for (int64_t i = k; i < K; i++)
        S[k * K + i] += rr_times(w, j) * (f[k] - m[k]) * (f[i] - m[i]) / all;
  }
}

static const double ROUNDER = .01; /* share of the mean variance */

/* The lower factor, in place; false: there is none. */
static bool factor(double *S, int64_t K)
{
  double mean = 0;
  for (int64_t k = 0; k < K; k++) mean += S[k * K + k] / (double)K;
  if (!(mean > 0)) return false;
  for (int64_t k = 0; k < K; k++) {
    for (int64_t i = k; i < K; i++) S[k * K + i] *= 1 - ROUNDER;
    S[k * K + k] += ROUNDER * mean;
  }
  for (int64_t k = 0; k < K; k++) {
    for (int64_t l = 0; l < k; l++)
      for (int64_t i = k; i < K; i++)
        S[k * K + i] -= S[l * K + i] * S[l * K + k];
    if (!(S[k * K + k] > 0)) return false;
    double pivot = sqrt(S[k * K + k]);
    for (int64_t i = k; i < K; i++) S[k * K + i] /= pivot;
  }
  return true;
}

/* L^-1 x, in place; its entries are step apart. */
static void forward(const double *L, int64_t K, double *x, int64_t step)
{
  for (int64_t k = 0; k < K; k++) {
    x[k * step] /= L[k * K + k];
    for (int64_t i = k + 1; i < K; i++)
      x[i * step] -= L[k * K + i] * x[k * step];
  }
}

lapis_status rlda_round(rr *w)
{
  int64_t K = w->K, d1 = w->d + 1;
  double *S = base_alloc(w->base.ctx, K * (K + w->labels.n_values), sizeof *S);
  if (S == NULL) return LAPIS_ENOMEM;
  within(w, S + K * K, S);
  if (factor(S, K)) {
    for (int64_t j = 0; j < w->n; j++) forward(S, K, w->scores + j * K, 1);
    for (int64_t i = 0; i < d1; i++) forward(S, K, w->weights + i, d1);
  }
  base_free(S);
  return LAPIS_OK;
}
