/* oracle.h - slow, plain mathematics that shares no code with the library. */
#ifndef LAPIS_ORACLE_H
#define LAPIS_ORACLE_H
#include "check.h"

/* Rotates columns p and q of A (m rows) until they are orthogonal; returns
 * how far from it they were, relative. */
static inline double oracle_rotate(double *p, double *q, int64_t m)
{
  double pp = 0, qq = 0, pq = 0;
  for (int64_t i = 0; i < m; i++) {
    pp += p[i] * p[i];
    qq += q[i] * q[i];
    pq += p[i] * q[i];
  }
  if (pq * pq <= 1e-30 * pp * qq || pp * qq <= 0) return 0;
  double zeta = (qq - pp) / (2 * pq);
  double t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
  double c = 1 / sqrt(1 + t * t), s = c * t;
  for (int64_t i = 0; i < m; i++) {
    double x = p[i], y = q[i];
    p[i] = c * x - s * y;
    q[i] = s * x + c * y;
  }
  return fabs(pq) / sqrt(pp * qq);
}

/* Singular values of A (m x n, leading dimension m) by one-sided Jacobi, into
 * s (n values, unsorted; n - m of them 0 where n > m). */
static inline void oracle_singular_values(const double *A, int64_t m, int64_t n,
                                          double *s)
{
  double *B = malloc((size_t)(m * n) * sizeof *B);
  memcpy(B, A, (size_t)(m * n) * sizeof *B);
  for (int sweep = 0; sweep < 60; sweep++) {
    double worst = 0;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++)
        worst = fmax(worst, oracle_rotate(B + p * m, B + q * m, m));
    if (worst < 1e-14) break;
  }
  for (int64_t j = 0; j < n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < m; i++) sum += B[j * m + i] * B[j * m + i];
    s[j] = sqrt(sum);
  }
  free(B);
}

static inline void oracle_norms(const double *A, int64_t m, int64_t n,
                                double *nuclear, double *spectral)
{
  double *s = malloc((size_t)n * sizeof *s);
  oracle_singular_values(A, m, n, s);
  *nuclear = *spectral = 0;
  for (int64_t j = 0; j < n; j++) {
    *nuclear += s[j];
    *spectral = fmax(*spectral, s[j]);
  }
  free(s);
}
#endif
