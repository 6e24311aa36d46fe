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
 * ones 600 x 1500.  mc1 at mu-rel .02, lambda .1, gamma 3.  For pos the same
 * as word counts: entries of U and V cubed, U V rounded down, mu-rel .002,
 * lambda .01, gamma 1 (what suits pos on the faces).  F* is ADMM's dual value
 * at a gap a thousand times below the excess asked for.
 *
 * fpc takes one stage at mu, at most 1024 steps.  Its iterates do not depend on
 * how singular values are found, so that its steps are counted with the fast
 * way and priced with LAPACK's gesdd: (seconds - svd_seconds) / steps + one
 * full svt.
 * bench/rivals/mc_numpy.py prices the same step in NumPy. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "op/svt/svt.h"

enum { RANK = 10, CLASSES = 9, MOST_STEPS = 1024 };

typedef struct bench {
  lapis_ctx *ctx;
  int64_t d, n, classes;
  double seen;
  double *X, *Y, *U, *V; /* d x n, classes x n, d x RANK, RANK x n */
  bool counts;
  uint64_t random;
  lapis_data data;
} bench;

static void features(bench *b)
{
  double power = b->counts ? 3 : 1;
  for (int64_t i = 0; i < b->d * RANK; i++)
    b->U[i] = pow(bench_uniform(&b->random), power);
  for (int64_t i = 0; i < RANK * b->n; i++)
    b->V[i] = pow(bench_uniform(&b->random), power);
  for (int64_t j = 0; j < b->n; j++)
    for (int64_t i = 0; i < b->d; i++) {
      double sum = 0.01 * bench_uniform(&b->random);
      for (int64_t r = 0; r < RANK; r++)
        sum += b->U[r * b->d + i] * b->V[j * RANK + r];
      bool seen = bench_uniform(&b->random) < b->seen;
      double value = b->counts ? floor(RANK * sum) : sum / RANK;
      b->X[j * b->d + i] = seen ? value : NAN;
    }
}

static void labels(bench *b)
{
  for (int64_t c = 0; c < b->classes; c++) {
    double w[RANK], mean = 0;
    for (int64_t r = 0; r < RANK; r++) w[r] = bench_uniform(&b->random) - 0.5;
    for (int64_t r = 0; r < RANK; r++) mean += 0.5 * w[r];
    for (int64_t j = 0; j < b->n; j++) {
      double sum = -mean;
      for (int64_t r = 0; r < RANK; r++) sum += w[r] * b->V[j * RANK + r];
      bool seen = bench_uniform(&b->random) < b->seen;
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
  bench_check(b->ctx, lapis_mc_new(b->ctx, &b->data, set, &s));
  bench_check(b->ctx, lapis_solve(s));
  lapis_info info = *lapis_result_info(s);
  lapis_solver_free(s);
  return info;
}

/* The fewest steps, more than low, after which the objective is at most
 * limit: doubling, then halving the interval.  Where MOST_STEPS do not get
 * there: what those get. */
static lapis_info fewest(bench *b, lapis_mc_settings set, int64_t low,
                         double limit)
{
  lapis_info out;
  set.stop.tol = 0;
  for (int64_t high = low + 1;;
       high = 2 * high < MOST_STEPS ? 2 * high : MOST_STEPS) {
    set.stop.max_iters = high;
    out = solve(b, &set);
    if (out.objective <= limit) break;
    low = high;
    if (high == MOST_STEPS) return out;
  }
  while (out.iterations - low > 1) {
    set.stop.max_iters = low + (out.iterations - low) / 2;
    lapis_info middle = solve(b, &set);
    if (middle.objective <= limit)
      out = middle;
    else
      low = middle.iterations;
  }
  return out;
}

/* A step before which fpc is not there, by a history that leaves out what the
 * projection does to the nuclear norm. */
static int64_t too_few(bench *b, lapis_mc_settings set, double limit)
{
  lapis_solver *s;
  lapis_mat history;
  int64_t steps = MOST_STEPS;
  set.stop.tol = 0;
  set.stop.max_iters = MOST_STEPS;
  bench_check(b->ctx, lapis_mc_new(b->ctx, &b->data, &set, &s));
  bench_check(b->ctx, lapis_solve(s));
  bench_check(b->ctx, lapis_result_get(s, "history", &history));
  for (int64_t k = history.cols - 1; k >= 0; k--)
    if (lapis_mat_at(&history, 1, k) <= limit)
      steps = (int64_t)lapis_mat_at(&history, 0, k);
  lapis_solver_free(s);
  return steps - 1;
}

/* Median of three full svt of a matrix of this shape, seconds. */
static double full_svt(bench *b)
{
  int64_t m = b->d + b->classes + 1;
  la h;
  la_array W, A;
  op_svt *s;
  double t[3];
  bench_check(b->ctx, la_open(b->ctx, &h));
  bench_check(b->ctx, h.ops->alloc(&h, LAPIS_F64, m, b->n, &W));
  bench_check(b->ctx, h.ops->alloc(&h, LAPIS_F64, m, b->n, &A));
  for (int64_t i = 0; i < m * b->n; i++)
    ((double *)W.data)[i] = bench_uniform(&b->random);
  bench_check(b->ctx, op_svt_new(&h, m, b->n, &s));
  op_svt_force(s, SVT_FULL);
  for (int i = 0; i < 3; i++) {
    double start = base_seconds();
    bench_check(b->ctx, op_svt_apply(s, &W, 10, &A, NULL));
    t[i] = base_seconds() - start;
  }
  op_svt_free(s);
  h.ops->free(&h, &W);
  h.ops->free(&h, &A);
  return bench_median(t, 3);
}

/* The papers' step, then a tenth and a hundredth of it: the chi2 loss has no
 * Lipschitz constant that would do for all counts. */
static double step_size(const bench *b, const lapis_mc_settings *set, int k)
{
  double seen = b->seen * (double)(b->d * b->n);
  double labels = b->seen * (double)(b->classes * b->n);
  double tau = fmin(4 * labels / (set->lambda * set->gamma), seen);
  return k == 0 ? NAN : tau / pow(10, k);
}

static void compare_fpc(bench *b, const char *name, lapis_mc_settings set,
                        double best, double excess, double admm)
{
  bool reached = false;
  set.solver = LAPIS_MC_FPC;
  set.mu_start = 1e-300; /* one stage */
  for (int k = 0; k < 3 && !reached; k++) {
    set.tau = step_size(b, &set, k);
    double limit = best * (1 + excess);
    lapis_info fpc = fewest(b, set, too_few(b, set, limit), limit);
    double off = (fpc.objective - best) / best;
    reached = off <= excess;
    double step = (fpc.seconds - fpc.svd_seconds) / (double)fpc.iterations;
    double seconds = (double)fpc.iterations * (step + full_svt(b));
    printf(
        "| %s | fpc, full SVD, tau / %g | %g | %lld | %.2f | %.2e%s | %s%.1f "
        "|\n",
        name, pow(10, k), excess, (long long)fpc.iterations, seconds, off,
        reached ? "" : " (not reached)", reached ? "" : "more than ",
        seconds / admm);
    fflush(stdout);
  }
}

static void compare(bench *b, const char *name, lapis_mc_settings set,
                    double excess)
{
  double admm[3];
  build(b);
  set.stop.tol = 1e-3 * excess;
  double best = solve(b, &set).dual;
  lapis_info info;
  for (int i = 0; i < 3; i++) {
    info = fewest(b, set, 0, best * (1 + excess));
    admm[i] = info.seconds;
  }
  double median =
      fmax(fmin(admm[0], admm[1]), fmin(fmax(admm[0], admm[1]), admm[2]));
  printf("| %s | admm | %g | %lld | %.2f | %.2e | 1 |\n", name, excess,
         (long long)info.iterations, median, (info.objective - best) / best);
  fflush(stdout);
  compare_fpc(b, name, set, best, excess, median);
  release(b);
}

static void compare_all(bench *b)
{
  lapis_mc_settings mc1 = lapis_mc_defaults(), pos = mc1;
  mc1.mu_rel = 0.02;
  pos.variant = LAPIS_MC_POS;
  pos.mu_rel = 0.002;
  pos.lambda = 0.01;
  pos.gamma = 1;
  printf("| variant | solver | excess | steps | seconds | reached | times admm "
         "|\n| --- | --- | --- | --- | --- | --- | --- |\n");
  compare(b, "mc1", mc1, 1e-4);
  b->counts = true;
  compare(b, "pos", pos, 1e-1);
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
  release(b);
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
    compare_all(&b);
  }
  lapis_ctx_free(b.ctx);
  return 0;
}
