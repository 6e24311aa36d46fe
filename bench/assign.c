/* assign.c - how fast assignment is, cold and warm.
 *
 *   bench/assign            median of several random uniform problems a size
 *
 * Costs come from splitmix64, seed 1 + 1000 t for problem t, row by row;
 * bench/rivals/assign_scipy.py solves the same problems. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "lapis/lapis.h"
#include "lapis/methods.h"

enum { PROBLEMS = 7 };

typedef struct timings {
  double cold[PROBLEMS], again[PROBLEMS], near[PROBLEMS], sum;
} timings;

static double solve(lapis_ctx *ctx, const lapis_mat *c, lapis_assignment *a)
{
  double best = 1e9;
  for (int i = 0; i < 3; i++) {
    bool warm = a->warm;
    double start = bench_seconds();
    if (lapis_assign(ctx, c, a) < 0) puts(lapis_ctx_error(ctx));
    double took = bench_seconds() - start;
    a->warm = warm;
    if (took < best) best = took;
  }
  return best;
}

static void one(lapis_ctx *ctx, int64_t rows, int64_t cols, int t, timings *out)
{
  uint64_t state = 1 + 1000 * (uint64_t)t;
  double *c = malloc((size_t)(rows * cols) * sizeof *c);
  int64_t *match = malloc((size_t)rows * sizeof *match);
  double *price = malloc((size_t)cols * sizeof *price);
  for (int64_t i = 0; i < rows * cols; i++) c[i] = bench_uniform(&state);
  lapis_mat mat = lapis_mat_f64(c, cols, rows);
  lapis_assignment a = {match, price, false, 0};
  out->cold[t] = solve(ctx, &mat, &a);
  out->sum += a.objective;
  a.warm = true;
  out->again[t] = solve(ctx, &mat, &a);
  for (int64_t i = 0; i < rows * cols; i++)
    c[i] += 1e-6 * bench_uniform(&state);
  out->near[t] = solve(ctx, &mat, &a);
  free(c), free(match), free(price);
}

int main(void)
{
  static const int64_t sizes[][2] = {{10, 100},    {100, 100},  {100, 1000},
                                     {100, 10000}, {500, 1000}, {1000, 1000},
                                     {2000, 2000}};
  lapis_ctx *ctx = lapis_ctx_new();
  printf("| rows x columns | cold ms | warm, same ms | warm, costs + 1e-6 ms | "
         "sum of optima |\n| --- | --- | --- | --- | --- |\n");
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    timings out = {.sum = 0};
    for (int t = 0; t < PROBLEMS; t++)
      one(ctx, sizes[s][0], sizes[s][1], t, &out);
    printf("| %lld x %lld | %.4g | %.4g | %.4g | %.12g |\n",
           (long long)sizes[s][0], (long long)sizes[s][1],
           1e3 * bench_median(out.cold, PROBLEMS),
           1e3 * bench_median(out.again, PROBLEMS),
           1e3 * bench_median(out.near, PROBLEMS), out.sum);
  }
  lapis_ctx_free(ctx);
  return 0;
}
