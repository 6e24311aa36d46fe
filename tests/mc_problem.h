/* mc_problem.h - random features of low rank with linear labels, a share of
 * both hidden. */
#ifndef LAPIS_MC_PROBLEM_H
#define LAPIS_MC_PROBLEM_H
#include "fixture.h"

typedef struct problem {
  double *X, *Y;
  lapis_data data;
} problem;

/* Rank 3 non-negative features of columns that sum to 1, linear labels, a
 * share of both hidden; two labels of each kind stay known. */
static inline problem make(int64_t D, int64_t K, int64_t n, double hidden,
                           bool complete, uint64_t seed)
{
  problem p = {calloc((size_t)(D * n) + 1, sizeof(double)),
               calloc((size_t)(K * n) + 1, sizeof(double)),
               {.group = NULL}};
  uint64_t s = seed * 1000003 + 17;
  double *B = malloc((size_t)(3 * D) * sizeof *B);
  for (int64_t i = 0; i < 3 * D; i++) B[i] = check_uniform(&s);
  for (int64_t j = 0; j < n; j++) {
    double w[3], sum = 0;
    for (int r = 0; r < 3; r++) w[r] = check_uniform(&s);
    for (int64_t i = 0; i < D; i++) {
      double v = 0.02 * check_uniform(&s);
      for (int r = 0; r < 3; r++) v += w[r] * B[3 * i + r];
      p.X[j * D + i] = v;
      sum += v;
    }
    for (int64_t i = 0; i < D; i++) {
      p.X[j * D + i] /= sum;
      if (!complete && i > 0 && check_uniform(&s) < hidden)
        p.X[j * D + i] = NAN;
    }
    for (int64_t k = 0; k < K; k++) {
      p.Y[j * K + k] = j < 2 ? 1 : j < 4 ? -1 : w[k % 3] > 0.5 ? 1 : -1;
      if (j >= 4 && check_uniform(&s) < hidden) p.Y[j * K + k] = NAN;
    }
  }
  free(B);
  p.data.X = lapis_mat_f64(p.X, D, n);
  if (K > 0) p.data.Y = lapis_mat_f64(p.Y, K, n);
  return p;
}

static inline void discard(problem *p)
{
  free(p->X);
  free(p->Y);
}

#endif
