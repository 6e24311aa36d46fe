/* bench.h - what every benchmark in C needs: numbers, clock, medians. */
#ifndef LAPIS_BENCH_H
#define LAPIS_BENCH_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lapis/lapis.h"

/* splitmix64, in [0, 1) */
static inline double bench_uniform(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Box-Muller */
static inline double bench_normal(uint64_t *state)
{
  double u = 1 - bench_uniform(state), v = bench_uniform(state);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static inline double bench_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this process, all its threads: other work on the machine leaves it alone.
 */
static inline double bench_processor_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_rising(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of n values, which come out sorted. */
static inline double bench_median(double *v, int n)
{
  qsort(v, (size_t)n, sizeof *v, bench_rising);
  return v[n / 2];
}

/* Ends the run with the library's sentence where it has one. */
static inline void bench_check(const lapis_ctx *ctx, lapis_status status)
{
  if (status >= 0) return;
  fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  exit(1);
}

/* The environment's KERNELS (plain, avx2, ...) forces our own kernels as
 * OPENBLAS_CORETYPE does OpenBLAS's. */
static inline lapis_ctx *bench_context(void)
{
  lapis_ctx *ctx = lapis_ctx_new();
  const char *kernels = getenv("KERNELS");
  if (kernels != NULL) bench_check(ctx, lapis_ctx_set(ctx, "kernels", kernels));
  return ctx;
}

#endif
