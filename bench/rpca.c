/* rpca.c - robust PCA against the inexact augmented Lagrangian with a full
 * SVD a step, to the same distance from the truth, one thread.
 *
 *   bench/rpca [ROWS COLS [RANK [FRACTION]]] [--alone | --save FOLDER]
 *                                                3111 1721 20 .05
 *
 * X = U V' + S, U and V of RANK columns of standard normals (splitmix64, seed
 * 1), FRACTION of the entries of S uniform in [-m, m], m the largest |U V'|;
 * lambda = 1/sqrt(max(ROWS, COLS)).  The distance is |L - U V'|_F / |U V'|_F.
 *
 *   lapis     the fewest steps that reach 1e-7, and their time (median of 3,
 *             with what the constructor takes); then a whole run, which stops
 *             by itself once its relative gap is proved to be below 1e-7
 *   ialm      Lin, Chen, Ma 2010: mu = 1.25/|X|_2, times 1.5 a step, singular
 *             values by gesdd; stops at the same distance, once
 *   ialm svt  the same with this library's way for singular values
 *
 * Seconds are the processor's.  --alone: the first two rows and no others.
 * --save writes X.bin and L.bin (column-major doubles) for
 * bench/rivals/rpca_rsvd.R, which runs rsvd::rrpca on them. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "op/svt/svt.h"

static const double WANTED = 1e-7;
enum { REPEATS = 3, MOST_STEPS = 100 };

typedef struct bench {
  lapis_ctx *ctx;
  la h;
  int64_t d, n, rank;
  double fraction, lambda;
  double *X, *L; /* d x n */
} bench;

/* ---- the problem ----------------------------------------------------------*/
static double *reals(int64_t count)
{
  double *p = calloc((size_t)count, sizeof *p);
  if (p == NULL) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return p;
}

static double *normals(int64_t count, uint64_t *random)
{
  double *p = reals(count);
  for (int64_t i = 0; i < count; i++) p[i] = bench_normal(random);
  return p;
}

/* L = U V', as products of the backend. */
static void low_rank(bench *b, uint64_t *random)
{
  double *U = normals(b->d * b->rank, random);
  double *V = normals(b->n * b->rank, random);
  la_array u = {LAPIS_F64, b->d, b->rank, b->d, U, true, NULL};
  la_array v = {LAPIS_F64, b->n, b->rank, b->n, V, true, NULL};
  la_array l = {LAPIS_F64, b->d, b->n, b->d, b->L, true, NULL};
  bench_check(b->ctx, b->h.ops->gemm(&b->h, LA_N, LA_T, 1, &u, &v, 0, &l));
  free(U);
  free(V);
}

static void build(bench *b)
{
  uint64_t random = 1;
  int64_t count = b->d * b->n;
  double largest = 0;
  b->X = reals(count);
  b->L = reals(count);
  low_rank(b, &random);
  for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(b->L[i]));
  for (int64_t i = 0; i < count; i++) {
    bool wrong = bench_uniform(&random) < b->fraction;
    double by = largest * (2 * bench_uniform(&random) - 1);
    b->X[i] = b->L[i] + (wrong ? by : 0);
  }
  b->lambda = 1 / sqrt((double)(b->d > b->n ? b->d : b->n));
}

static double distance(const bench *b, const double *A)
{
  double off = 0, all = 0;
  for (int64_t i = 0; i < b->d * b->n; i++) {
    double e = A[i] - b->L[i];
    off += e * e;
    all += b->L[i] * b->L[i];
  }
  return sqrt(off / all);
}

/* ---- this library ---------------------------------------------------------*/
typedef struct answer {
  double seconds, distance, gap, svd_seconds;
  int64_t steps, rank;
} answer;

static answer lapis(const bench *b, int64_t steps, double tol)
{
  lapis_data data = {.X = lapis_mat_f64(b->X, b->d, b->n)};
  lapis_rpca_settings set = lapis_rpca_defaults();
  lapis_solver *s;
  lapis_mat A;
  set.lambda = b->lambda;
  set.stop.tol = tol;
  set.stop.max_iters = steps;
  double start = bench_processor_seconds();
  bench_check(b->ctx, lapis_rpca_new(b->ctx, &data, &set, &s));
  bench_check(b->ctx, lapis_solve(s));
  double seconds = bench_processor_seconds() - start;
  const lapis_info *info = lapis_result_info(s);
  bench_check(b->ctx, lapis_result_get(s, "low_rank", &A));
  answer out = {seconds,           distance(b, A.val), info->gap,
                info->svd_seconds, info->iterations,   info->rank};
  lapis_solver_free(s);
  return out;
}

/* The fewest steps that get there; then they are timed again. */
static answer lapis_fewest(const bench *b)
{
  answer a[REPEATS];
  double seconds[REPEATS];
  int64_t steps = 1;
  int64_t below = 0; /* too few */
  while (steps < MOST_STEPS && lapis(b, steps, 0).distance > WANTED) {
    below = steps;
    steps *= 2;
  }
  while (steps - below > 1) {
    int64_t middle = (steps + below) / 2;
    if (lapis(b, middle, 0).distance > WANTED)
      below = middle;
    else
      steps = middle;
  }
  for (int i = 0; i < REPEATS; i++) {
    a[i] = lapis(b, steps, 0);
    seconds[i] = a[i].seconds;
  }
  a[0].seconds = bench_median(seconds, REPEATS);
  return a[0];
}

/* ---- inexact augmented Lagrangian -----------------------------------------*/
typedef struct ialm {
  la_array A, W; /* d x n: the low-rank part; X - S + Y/mu */
  double *S, *Y; /* d x n */
  double mu;
  op_svt *svt;
} ialm;

static double norm2(const bench *b, ialm *w)
{
  double bound;
  la_array X = {LAPIS_F64, b->d, b->n, b->d, b->X, true, NULL};
  bench_check(b->ctx, op_norm2_upper(w->svt, &X, &bound));
  return bound;
}

static void ialm_begin(bench *b, svt_way way, ialm *w)
{
  int64_t count = b->d * b->n;
  double largest = 0;
  bench_check(b->ctx, op_svt_new(&b->h, b->d, b->n, &w->svt));
  w->S = reals(count);
  w->Y = reals(count);
  bench_check(b->ctx, b->h.ops->alloc(&b->h, LAPIS_F64, b->d, b->n, &w->A));
  bench_check(b->ctx, b->h.ops->alloc(&b->h, LAPIS_F64, b->d, b->n, &w->W));
  for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(b->X[i]));
  double norm = norm2(b, w);
  double scale = fmax(norm, largest / b->lambda);
  for (int64_t i = 0; i < count; i++) w->Y[i] = b->X[i] / scale;
  w->mu = 1.25 / norm;
  op_svt_force(w->svt, way);
}

static void ialm_end(bench *b, ialm *w)
{
  b->h.ops->free(&b->h, &w->A);
  b->h.ops->free(&b->h, &w->W);
  free(w->S);
  free(w->Y);
  op_svt_free(w->svt);
}

/* A <- SVT(X - S + Y/mu, 1/mu); S <- soft(X - A + Y/mu, lambda/mu);
 * Y += mu (X - A - S); mu grows. */
static int64_t ialm_step(bench *b, ialm *w)
{
  svt_report report;
  double *W = w->W.data, t = b->lambda / w->mu;
  const double *A = w->A.data;
  for (int64_t i = 0; i < b->d * b->n; i++)
    W[i] = b->X[i] - w->S[i] + w->Y[i] / w->mu;
  bench_check(b->ctx, op_svt_apply(w->svt, &w->W, 1 / w->mu, &w->A, &report));
  for (int64_t i = 0; i < b->d * b->n; i++) {
    double v = b->X[i] - A[i] + w->Y[i] / w->mu;
    w->S[i] = v > t ? v - t : v < -t ? v + t : 0;
    w->Y[i] += w->mu * (b->X[i] - A[i] - w->S[i]);
  }
  w->mu *= 1.5;
  return report.rank;
}

/* The clock leaves out the comparison with the truth. */
static answer ialm_run(bench *b, svt_way way)
{
  ialm w;
  answer out = {.distance = INFINITY, .gap = NAN};
  double start = bench_processor_seconds();
  ialm_begin(b, way, &w);
  out.seconds = bench_processor_seconds() - start;
  while (out.distance > WANTED && out.steps < MOST_STEPS) {
    start = bench_processor_seconds();
    out.rank = ialm_step(b, &w);
    out.seconds += bench_processor_seconds() - start;
    out.steps++;
    out.distance = distance(b, w.A.data);
  }
  out.svd_seconds = op_svt_seconds(w.svt);
  ialm_end(b, &w);
  return out;
}

/* ---- the table ------------------------------------------------------------*/
static void show(const char *what, const answer *a, const answer *unit)
{
  printf("| %s | %lld | %.2f | %.2f | %.1f | %.1e | %.1e | %lld |\n", what,
         (long long)a->steps, a->seconds, a->svd_seconds,
         a->seconds / unit->seconds, a->distance, a->gap, (long long)a->rank);
  fflush(stdout);
}

static void save(const bench *b, const char *folder, const char *name,
                 const double *values)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.bin", folder, name);
  FILE *f = fopen(path, "wb");
  size_t count = (size_t)(b->d * b->n);
  if (f == NULL || fwrite(values, sizeof *values, count, f) != count ||
      fclose(f) != 0) {
    perror(path);
    exit(1);
  }
}

static void compare(bench *b, bool alone)
{
  printf("%s, kernels %s, %d thread, %lld x %lld, rank %lld, %g corrupted\n\n"
         "| | steps | seconds | of which singular values | times lapis | "
         "distance | gap | rank |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
         b->h.ops->describe(&b->h), lapis_ctx_kernels(b->ctx), b->h.threads,
         (long long)b->d, (long long)b->n, (long long)b->rank, b->fraction);
  answer fast = lapis_fewest(b);
  show("lapis, to 1e-7 of the truth", &fast, &fast);
  answer whole = lapis(b, lapis_rpca_defaults().stop.max_iters, 1e-7);
  show("lapis, to a proved gap of 1e-7", &whole, &fast);
  if (alone) return;
  answer slow = ialm_run(b, SVT_FULL);
  show("ialm, full SVD", &slow, &fast);
  answer mixed = ialm_run(b, SVT_AUTO);
  show("ialm svt", &mixed, &fast);
  fast = lapis_fewest(b);
  show("lapis again, to 1e-7 of the truth", &fast, &fast);
}

int main(int argc, char **argv)
{
  const char *folder = NULL;
  bool alone = argc > 1 && strcmp(argv[argc - 1], "--alone") == 0;
  argc -= alone;
  if (argc > 2 && strcmp(argv[argc - 2], "--save") == 0) {
    folder = argv[argc - 1];
    argc -= 2;
  }
  bench b = {.d = argc > 2 ? atoll(argv[1]) : 3111,
             .n = argc > 2 ? atoll(argv[2]) : 1721,
             .rank = argc > 3 ? atoll(argv[3]) : 20,
             .fraction = argc > 4 ? atof(argv[4]) : 0.05};
  b.ctx = bench_context();
  bench_check(b.ctx, lapis_ctx_set(b.ctx, "threads", "1"));
  bench_check(b.ctx, la_open(b.ctx, &b.h));
  build(&b);
  if (folder != NULL) {
    save(&b, folder, "X", b.X);
    save(&b, folder, "L", b.L);
  } else {
    compare(&b, alone);
  }
  free(b.X);
  free(b.L);
  lapis_ctx_free(b.ctx);
  return 0;
}
