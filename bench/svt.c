/* svt.c - singular values above a threshold against LAPACK's gesdd, with and
 * without a warm start, in one run.
 *
 *   bench/svt [ROWS COLS [RANK [REPEATS [SECONDS]]]]    4117 9963 50 3
 *
 * SECONDS: what gesdd took, where it need not run again.
 *
 * W = Q_1 diag(s) Q_2', Q_1 and Q_2 products of four random reflections
 * (splitmix64, seed 1), so that every singular value is known.  Spectra:
 *   power       s_i = 1 / i
 *   geometric   s_i = 0.95^i, at least 1e-4
 *   flat        RANK ones, then uniform below 0.99 t, t = 0.8
 * with t between the values of index RANK and RANK + 1.  Warm: W moves by
 * 1e-3 t in spectral norm (two random rank-one terms) between calls.  gesdd
 * runs once, on the power spectrum: it costs the same on each; the rest is
 * repeated, medians are printed.  bench/rivals/svt_arpack.py times ARPACK. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "op/svt/svt.h"

enum { REFLECTIONS = 4, MOST_REPEATS = 15 };

typedef enum spectrum { POWER, GEOMETRIC, FLAT, SPECTRA } spectrum;
static const char *const names[] = {
    [POWER] = "power", [GEOMETRIC] = "geometric", [FLAT] = "flat"};

typedef struct bench {
  lapis_ctx *ctx;
  la h;
  la_array W, A; /* m x n */
  double *s;     /* min(m, n): the true values */
  double t;
  int64_t m, n, k, rank;
  int repeats;
  uint64_t random;
} bench;

typedef struct timing {
  double seconds, error;
  svt_report report;
} timing;

static int rising(const void *a, const void *b)
{
  double x = ((const timing *)a)->seconds, y = ((const timing *)b)->seconds;
  return (x > y) - (x < y);
}

/* W -= 2 v (v'W) / v'v from the left, or W -= 2 (W v) v' / v'v. */
static void reflect(bench *b, bool left)
{
  la *h = &b->h;
  int64_t length = left ? b->m : b->n, others = left ? b->n : b->m;
  la_array v, d;
  bench_check(b->ctx, h->ops->alloc(h, LAPIS_F64, length, 1, &v));
  bench_check(b->ctx, h->ops->alloc(h, LAPIS_F64, others, 1, &d));
  double *p = v.data, square;
  for (int64_t i = 0; i < length; i++) p[i] = bench_uniform(&b->random) - 0.5;
  bench_check(b->ctx, h->ops->dot(h, &v, &v, &square));
  double f = -2 / square;
  bench_check(b->ctx,
              h->ops->gemm(h, left ? LA_T : LA_N, LA_N, 1, &b->W, &v, 0, &d));
  if (left)
    bench_check(b->ctx, h->ops->gemm(h, LA_N, LA_T, f, &v, &d, 1, &b->W));
  else
    bench_check(b->ctx, h->ops->gemm(h, LA_N, LA_T, f, &d, &v, 1, &b->W));
  h->ops->free(h, &v);
  h->ops->free(h, &d);
}

static double value(bench *b, spectrum kind, int64_t i)
{
  double u = bench_uniform(&b->random);
  if (kind == POWER) return 1 / (double)(i + 1);
  if (kind == GEOMETRIC) return fmax(pow(0.95, (double)i), 1e-4);
  return i < b->rank ? 1 : 0.8 * 0.99 * u;
}

static void build(bench *b, spectrum kind)
{
  double *w = b->W.data;
  b->random = 1;
  memset(w, 0, (size_t)(b->m * b->n) * sizeof *w);
  for (int64_t i = 0; i < b->k; i++) b->s[i] = value(b, kind, i);
  for (int64_t i = 0; i < b->k; i++) w[i * (b->m + 1)] = b->s[i];
  for (int i = 0; i < REFLECTIONS; i++) reflect(b, true);
  for (int i = 0; i < REFLECTIONS; i++) reflect(b, false);
  b->t = kind == FLAT ? 0.8 : 0.5 * (b->s[b->rank - 1] + b->s[b->rank]);
}

/* Two terms u v' of norm 1e-3 t / 2 each. */
static void drift(bench *b)
{
  la *h = &b->h;
  la_array u, v;
  bench_check(b->ctx, h->ops->alloc(h, LAPIS_F64, b->m, 2, &u));
  bench_check(b->ctx, h->ops->alloc(h, LAPIS_F64, b->n, 2, &v));
  double f = 12e-3 * b->t / 2 / sqrt((double)b->m * (double)b->n);
  for (int64_t i = 0; i < 2 * b->m; i++)
    ((double *)u.data)[i] = bench_uniform(&b->random) - 0.5;
  for (int64_t i = 0; i < 2 * b->n; i++)
    ((double *)v.data)[i] = bench_uniform(&b->random) - 0.5;
  bench_check(b->ctx, h->ops->gemm(h, LA_N, LA_T, f, &u, &v, 1, &b->W));
  h->ops->free(h, &u);
  h->ops->free(h, &v);
}

static timing apply(bench *b, op_svt *s)
{
  timing out = {0};
  double start = base_seconds();
  bench_check(b->ctx, op_svt_apply(s, &b->W, b->t, &b->A, &out.report));
  out.seconds = base_seconds() - start;
  return out;
}

/* |nuclear norm - true one| / sigma_1: the residual that needs no reference. */
static double nuclear_error(const bench *b, const svt_report *r)
{
  double sum = 0, top = 0;
  for (int64_t i = 0; i < b->k; i++) {
    if (b->s[i] > b->t) sum += b->s[i] - b->t;
    if (b->s[i] > top) top = b->s[i];
  }
  return fabs(r->nuclear - sum) / top;
}

static timing median(timing *v, int n)
{
  qsort(v, (size_t)n, sizeof *v, rising);
  return v[n / 2];
}

static void show(const char *what, const char *form, const timing *x,
                 double gesdd)
{
  static const char *const way[] = {"auto", "gram", "full", "qr", "subspace"};
  printf("| %s | %s | %.3f | %.1f | %lld | %.1e | %s |\n", form, what,
         x->seconds, gesdd / x->seconds, (long long)x->report.rank, x->error,
         way[x->report.way]);
  fflush(stdout);
}

static timing cold(bench *b, svt_way way, int repeats)
{
  timing each[MOST_REPEATS];
  for (int i = 0; i < repeats; i++) {
    op_svt *s;
    bench_check(b->ctx, op_svt_new(&b->h, b->m, b->n, &s));
    op_svt_force(s, way);
    each[i] = apply(b, s);
    each[i].error = nuclear_error(b, &each[i].report);
    op_svt_free(s);
  }
  return median(each, repeats);
}

/* The first call is not counted; the last is repeated by GRAM on the same W
 * and compared entry by entry. */
static timing warm(bench *b)
{
  timing each[MOST_REPEATS];
  op_svt *s;
  bench_check(b->ctx, op_svt_new(&b->h, b->m, b->n, &s));
  (void)apply(b, s);
  for (int i = 0; i < b->repeats; i++) {
    drift(b);
    each[i] = apply(b, s);
  }
  la_array other;
  double difference;
  bench_check(b->ctx, b->h.ops->alloc(&b->h, LAPIS_F64, b->m, b->n, &other));
  bench_check(b->ctx, b->h.ops->axpby(&b->h, 1, &b->A, 0, &other));
  op_svt_force(s, SVT_GRAM);
  timing gram = apply(b, s);
  bench_check(b->ctx, b->h.ops->axpby(&b->h, -1, &b->A, 1, &other));
  bench_check(b->ctx, b->h.ops->dot(&b->h, &other, &other, &difference));
  b->h.ops->free(&b->h, &other);
  timing out = median(each, b->repeats);
  out.error = sqrt(difference) / gram.report.sigma_1;
  if (gram.report.rank != out.report.rank) out.error = INFINITY;
  op_svt_free(s);
  return out;
}

static void one_spectrum(bench *b, spectrum kind, double *gesdd)
{
  timing x;
  build(b, kind);
  x = cold(b, SVT_AUTO, b->repeats);
  if (*gesdd > 0) show("cold", names[kind], &x, *gesdd);
  if (*gesdd <= 0) {
    timing full = cold(b, SVT_FULL, 1), after = cold(b, SVT_AUTO, b->repeats);
    *gesdd = full.seconds;
    show("gesdd", names[kind], &full, *gesdd);
    show("cold, before gesdd", names[kind], &x, *gesdd);
    show("cold, after gesdd", names[kind], &after, *gesdd);
  }
  if (kind == POWER) {
    timing gram = cold(b, SVT_GRAM, 1);
    show("cold, gram", names[kind], &gram, *gesdd);
  }
  x = warm(b);
  show("warm", names[kind], &x, *gesdd);
}

int main(int argc, char **argv)
{
  bench b = {.m = argc > 2 ? atoll(argv[1]) : 4117,
             .n = argc > 2 ? atoll(argv[2]) : 9963,
             .rank = argc > 3 ? atoll(argv[3]) : 50,
             .repeats = argc > 4 ? atoi(argv[4]) : 3};
  double gesdd = argc > 5 ? atof(argv[5]) : 0; /* seconds, not run again */
  b.k = b.m < b.n ? b.m : b.n;
  if (b.repeats > MOST_REPEATS) b.repeats = MOST_REPEATS;
  b.ctx = bench_context();
  bench_check(b.ctx, la_open(b.ctx, &b.h));
  bench_check(b.ctx, b.h.ops->alloc(&b.h, LAPIS_F64, b.m, b.n, &b.W));
  bench_check(b.ctx, b.h.ops->alloc(&b.h, LAPIS_F64, b.m, b.n, &b.A));
  b.s = base_alloc(b.ctx, b.k, sizeof *b.s);
  printf("%s, kernels %s, %d threads, %lld x %lld, rank %lld\n\n",
         b.h.ops->describe(&b.h), lapis_ctx_kernels(b.ctx), b.h.threads,
         (long long)b.m, (long long)b.n, (long long)b.rank);
  printf("| spectrum | call | seconds | gesdd / this | rank | error / sigma_1 "
         "| way |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  for (int kind = POWER; kind < SPECTRA; kind++)
    one_spectrum(&b, (spectrum)kind, &gesdd);
  b.h.ops->free(&b.h, &b.W);
  b.h.ops->free(&b.h, &b.A);
  base_free(b.s);
  lapis_ctx_free(b.ctx);
  return 0;
}
