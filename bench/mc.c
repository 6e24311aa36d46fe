/* mc.c - matrix completion: ADMM against the papers' fixed point
 * continuation with a full SVD a step, and plain completion.
 *
 *   bench/mc                 the comparison, 600 x 1500, rank 10
 *   bench/mc plain           1000 x 2000, rank 10, 30 % seen, no labels
 *   bench/mc fit ROWS COLS [STEPS]   one fit, for its memory
 *
 * X = U V of rank 10, entries uniform in (0, 1) (splitmix64, seed 1) plus 1 %
 * noise, divided by 10; half of its entries seen; Y: the signs of 9 random
 * combinations of V around their means, half of them seen.  With the row of
 * ones 600 x 1500.  F* is ADMM's dual value at a gap of 1e-7.
 *
 * fpc takes one stage at mu.  Its iterates do not depend on how singular
 * values are found, so that its steps are counted with the fast way and
 * priced with LAPACK's gesdd: (seconds - svd_seconds) / steps + one full svt.
 * bench/mc_numpy.py prices the same step in NumPy. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "op/svt.h"

enum { RANK = 10, CLASSES = 9, MOST_STEPS = 4096 };

typedef struct bench {
  lapis_ctx *ctx;
  int64_t d, n, classes;
  double seen;
  double *X, *Y, *U, *V; /* d x n, classes x n, d x RANK, RANK x n */
  uint64_t random;
  lapis_data data;
} bench;

static void check(bench *b, lapis_status status)
{
  if (status >= 0) return;
  fprintf(stderr, "%s\n", lapis_ctx_error(b->ctx));
  exit(1);
}

static double uniform(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void features(bench *b)
{
  for (int64_t i = 0; i < b->d * RANK; i++) b->U[i] = uniform(&b->random);
  for (int64_t i = 0; i < RANK * b->n; i++) b->V[i] = uniform(&b->random);
  for (int64_t j = 0; j < b->n; j++)
    for (int64_t i = 0; i < b->d; i++) {
      double sum = 0.01 * uniform(&b->random);
      for (int64_t r = 0; r < RANK; r++)
        sum += b->U[r * b->d + i] * b->V[j * RANK + r];
      bool seen = uniform(&b->random) < b->seen;
      b->X[j * b->d + i] = seen ? sum / RANK : NAN;
    }
}

static void labels(bench *b)
{
  for (int64_t c = 0; c < b->classes; c++) {
    double w[RANK], mean = 0;
    for (int64_t r = 0; r < RANK; r++) w[r] = uniform(&b->random) - 0.5;
    for (int64_t r = 0; r < RANK; r++) mean += 0.5 * w[r];
    for (int64_t j = 0; j < b->n; j++) {
      double sum = -mean;
      for (int64_t r = 0; r < RANK; r++) sum += w[r] * b->V[j * RANK + r];
      bool seen = uniform(&b->random) < b->seen;
      b->Y[j * b->classes + c] = !seen ? NAN : sum > 0 ? 1 : -1;
    }
  }
}

static void build(bench *b)
{
  b->random = 1;
  b->X = malloc((size_t)(b->d * b->n) * sizeof *b->X);
  b->Y = malloc((size_t)(b->classes * b->n + 1) * sizeof *b->Y);
  b->U = malloc((size_t)(b->d * RANK) * sizeof *b->U);
  b->V = malloc((size_t)(RANK * b->n) * sizeof *b->V);
  features(b);
  labels(b);
  b->data.X = lapis_mat_f64(b->X, b->d, b->n);
  if (b->classes > 0) b->data.Y = lapis_mat_f64(b->Y, b->classes, b->n);
}

static void release(bench *b)
{
  free(b->X), free(b->Y), free(b->U), free(b->V);
}

static lapis_info solve(bench *b, const lapis_mc_settings *set)
{
  lapis_solver *s;
  check(b, lapis_mc_new(b->ctx, &b->data, set, &s));
  check(b, lapis_solve(s));
  lapis_info info = *lapis_result_info(s);
  lapis_solver_free(s);
  return info;
}

/* The fewest steps after which the excess is at most `excess`: doubling, then
 * halving the interval.  Infinite gap allowed: false, after MOST_STEPS. */
static bool steps_to(bench *b, lapis_mc_settings set, double best,
                     double excess, lapis_info *out)
{
  int64_t low = 0, high = 1;
  set.stop.tol = 0;
  for (;; high *= 2) {
    set.stop.max_iters = high;
    *out = solve(b, &set);
    if (out->objective - best <= excess * best) break;
    low = high;
    if (2 * high > MOST_STEPS) return false;
  }
  while (high - low > 1) {
    set.stop.max_iters = low + (high - low) / 2;
    lapis_info middle = solve(b, &set);
    bool reached = middle.objective - best <= excess * best;
    if (reached) *out = middle;
    *(reached ? &high : &low) = set.stop.max_iters;
  }
  return true;
}

/* Median of three full svt of a matrix of this shape, seconds. */
static double full_svt(bench *b)
{
  int64_t m = b->d + b->classes + 1;
  la h;
  la_array W, A;
  op_svt *s;
  double t[3];
  check(b, la_open(b->ctx, &h));
  check(b, h.ops->alloc(&h, LAPIS_F64, m, b->n, &W));
  check(b, h.ops->alloc(&h, LAPIS_F64, m, b->n, &A));
  for (int64_t i = 0; i < m * b->n; i++)
    ((double *)W.data)[i] = uniform(&b->random);
  check(b, op_svt_new(&h, m, b->n, &s));
  op_svt_force(s, SVT_FULL);
  for (int i = 0; i < 3; i++) {
    double start = base_seconds();
    check(b, op_svt_apply(s, &W, 10, &A, NULL));
    t[i] = base_seconds() - start;
  }
  op_svt_free(s);
  h.ops->free(&h, &W);
  h.ops->free(&h, &A);
  return fmax(fmin(t[0], t[1]), fmin(fmax(t[0], t[1]), t[2]));
}

static void compare(bench *b, int variant, double excess)
{
  lapis_mc_settings set = lapis_mc_defaults();
  set.variant = variant;
  set.mu_rel = 0.02;
  set.stop.tol = 1e-7;
  lapis_info best = solve(b, &set), admm, fpc;
  bool done = steps_to(b, set, best.dual, excess, &admm);
  printf("| %s | admm | %g | %lld | %.2f | %.2e |%s\n",
         variant == LAPIS_MC_1 ? "mc1" : "pos", excess,
         (long long)admm.iterations, admm.seconds,
         (admm.objective - best.dual) / best.dual, done ? "" : " not reached");
  lapis_mc_settings f = set;
  f.solver = LAPIS_MC_FPC;
  f.mu_start = 1e-300; /* one stage */
  /* Smaller steps where the papers' own does not get there. */
  done = false;
  for (int k = 0; k < 3 && !done; k++, f.tau /= 10) {
    if (k == 1)
      f.tau = fmin(4 * 0.5 * (double)(b->classes * b->n) / 0.3,
                   0.5 * (double)(b->d * b->n)) /
              10;
    done = steps_to(b, f, best.dual, excess, &fpc);
    double step = (fpc.seconds - fpc.svd_seconds) / (double)fpc.iterations;
    double seconds = (double)fpc.iterations * (step + full_svt(b));
    printf("| %s | fpc, full SVD, tau / %g | %g | %lld | %.2f | %.2e |%s "
           "%.1f x admm\n",
           variant == LAPIS_MC_1 ? "mc1" : "pos", pow(10, k), excess,
           (long long)fpc.iterations, seconds,
           (fpc.objective - best.dual) / best.dual, done ? "" : " not reached",
           seconds / admm.seconds);
    fflush(stdout);
  }
}

static void one_fit(bench *b, double tol, int64_t steps)
{
  struct rusage before, after;
  lapis_mc_settings set = lapis_mc_defaults();
  set.stop.tol = tol;
  set.stop.max_iters = steps;
  build(b);
  getrusage(RUSAGE_SELF, &before);
  lapis_info i = solve(b, &set);
  getrusage(RUSAGE_SELF, &after);
  printf("objective %.12g, dual %.12g, gap %.1e, rank %lld, %lld iterations, "
         "%.2f s (svd %.2f); peak %.2f GB, of which data %.2f GB\n",
         i.objective, i.dual, i.gap, (long long)i.rank, (long long)i.iterations,
         i.seconds, i.svd_seconds, (double)after.ru_maxrss / 1e6,
         (double)before.ru_maxrss / 1e6);
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  bench b = {.ctx = lapis_ctx_new(), .d = 590, .n = 1500, .classes = CLASSES};
  b.seen = 0.5;
  printf("%s\n", lapis_ctx_backend(b.ctx));
  if (strcmp(what, "plain") == 0) {
    b.d = 1000, b.n = 2000, b.classes = 0, b.seen = 0.3;
    one_fit(&b, 1e-6, 10000);
  } else if (strcmp(what, "fit") == 0 && argc > 3) {
    b.d = atoll(argv[2]) - CLASSES - 1, b.n = atoll(argv[3]);
    one_fit(&b, 1e-3, argc > 4 ? atoll(argv[4]) : 10000);
  } else {
    build(&b);
    printf("| variant | solver | excess | steps | seconds | reached |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    compare(&b, LAPIS_MC_1, 1e-4);
    compare(&b, LAPIS_MC_POS, 1e-1);
  }
  release(&b);
  lapis_ctx_free(b.ctx);
  return 0;
}
