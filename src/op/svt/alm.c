/* alm.c - passes of an augmented Lagrangian iteration. */
#include "op/svt/alm.h"

#include <math.h>

#include "base/width.h"

/* Sums are two registers of numbers side by side. */
typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t bits __attribute__((vector_size(32), aligned(8), may_alias));
enum {
  LANES = 4,
  STEP = 2 * LANES,
  CHUNK = 256
}; /* CHUNK: numbers between two loops */

static inline double add_up(const lanes *sum)
{
  const lanes v = sum[0] + sum[1];
  return (v[0] + v[2]) + (v[1] + v[3]);
}

static inline double soft(double v, double cut)
{
  double least = v < -cut ? -cut : v;
  return v - (least > cut ? cut : least);
}

WIDTH_CLONES static void shift(const op_alm *a, double t)
{
  const double *restrict D = a->D, *restrict E = a->E, *restrict Y = a->Y;
  double *restrict W = a->W;
  for (int64_t i = 0; i < a->count; i++) W[i] = D[i] - E[i] - t * Y[i];
}

WIDTH_CLONES static double sparse(const op_alm *a, double t, double cut)
{
  const double *restrict D = a->D, *restrict L = a->L, *restrict Y = a->Y;
  double *restrict E = a->E, *restrict W = a->W, rest = 0;
  lanes sum[2] = {{0}, {0}};
  for (int64_t from = 0; from < a->count; from += CHUNK) {
    int64_t end = from + CHUNK < a->count ? from + CHUNK : a->count, i = from;
    for (int64_t j = from; j < end; j++) {
      double y = t * Y[j];
      E[j] = soft(D[j] - L[j] - y, cut);
      W[j] = L[j] + E[j] + y;
    }
    for (; i + STEP <= end; i += STEP) {
      const bits *e = (const bits *)(const void *)(E + i);
      sum[0] += (lanes)(e[0] & INT64_MAX);
      sum[1] += (lanes)(e[1] & INT64_MAX);
    }
    for (; i < end; i++) rest += fabs(E[i]);
  }
  return add_up(sum) + rest;
}

WIDTH_CLONES static op_alm_sums multiply(const op_alm *a, double rho,
                                         double next)
{
  const double *restrict D = a->D, *restrict L = a->L, *restrict E = a->E;
  double *restrict Y = a->Y, *restrict W = a->W;
  lanes residual[2] = {{0}, {0}}, size[2] = {{0}, {0}};
  op_alm_sums rest = {0, 0};
  int64_t i = 0;
  for (; i + STEP <= a->count; i += STEP)
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) {
      int64_t at = i + k * LANES;
      lanes d = *(const lanes *)(D + at), e = *(const lanes *)(E + at);
      lanes r = *(const lanes *)(L + at) + e - d;
      lanes y = *(const lanes *)(Y + at) + rho * r;
      *(lanes *)(Y + at) = y;
      *(lanes *)(W + at) = d - e - next * y;
      residual[k] += r * r;
      size[k] += d * d;
    }
  for (; i < a->count; i++) {
    double r = L[i] + E[i] - D[i];
    Y[i] += rho * r;
    W[i] = D[i] - E[i] - next * Y[i];
    rest.residual += r * r;
    rest.size += D[i] * D[i];
  }
  return (op_alm_sums){add_up(residual) + rest.residual,
                       add_up(size) + rest.size};
}

void op_alm_shift(const op_alm *a, double t)
{
  shift(a, t);
}

double op_alm_sparse(const op_alm *a, double t, double cut)
{
  return sparse(a, t, cut);
}

op_alm_sums op_alm_multiply(const op_alm *a, double rho, double next)
{
  return multiply(a, rho, next);
}
