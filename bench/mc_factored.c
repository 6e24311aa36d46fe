/* mc_factored.c - completion by factors beside two published ways to do it.
 *
 *   bench_mc_factored SAMPLES FEATURES SHARE RANK TOL
 *
 * Rank 10 plus unit noise, a share of the entries seen, mu at twice the norm of
 * the noise there.  LAPIS solves to a proved gap of TOL; the rivals run on the
 * same entries, with RANK columns, until their objective is within TOL of what
 * LAPIS found, which they could not know.  One thread, processor seconds.
 *
 *   softImpute   Hastie, Mazumder, Lee and Zadeh (2015), algorithm 3.1: a
 *                majorisation, then a ridge step against diagonal factors
 *   plain ALS    normal equations a row, as implicit and LIBMF solve them */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lapis/lapis.h"

enum { MOST = 500 };

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double uniform(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
  double u = uniform(state), v = uniform(state);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* ---- the problem ----------------------------------------------------------*/
typedef struct problem { /* by sample, and by feature (t) */
  int64_t n, d, count;
  int64_t *at, *at_t, *place; /* place: of an entry by feature, by sample */
  int32_t *col, *row_t;
  double *value, *rest;
} problem;

static void by_feature(problem *p)
{
  p->at_t = calloc((size_t)p->d + 2, sizeof *p->at_t);
  p->row_t = malloc((size_t)p->count * sizeof *p->row_t);
  p->place = malloc((size_t)p->count * sizeof *p->place);
  p->rest = malloc((size_t)p->count * sizeof *p->rest);
  for (int64_t k = 0; k < p->count; k++) p->at_t[p->col[k] + 2]++;
  for (int64_t i = 0; i < p->d; i++) p->at_t[i + 2] += p->at_t[i + 1];
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t k = p->at[j]; k < p->at[j + 1]; k++) {
      int64_t to = p->at_t[p->col[k] + 1]++;
      p->row_t[to] = (int32_t)j;
      p->place[to] = k;
    }
}

static problem make(int64_t n, int64_t d, double share)
{
  enum { RANK = 10 };
  problem p = {.n = n, .d = d};
  uint64_t seed = 7;
  int64_t room = (int64_t)((double)n * (double)d * share * 1.2) + 1000;
  double *A = malloc((size_t)(n * RANK) * sizeof *A);
  double *B = malloc((size_t)(d * RANK) * sizeof *B);
  for (int64_t k = 0; k < n * RANK; k++) A[k] = normal(&seed);
  for (int64_t k = 0; k < d * RANK; k++)
    B[k] = normal(&seed) * (1 - 0.06 * (double)(k % RANK));
  p.at = calloc((size_t)n + 1, sizeof *p.at);
  p.col = malloc((size_t)room * sizeof *p.col);
  p.value = malloc((size_t)room * sizeof *p.value);
  for (int64_t j = 0; j < n; j++) {
    int64_t i = -1;
    while ((i += 1 + (int64_t)(log(uniform(&seed)) / log(1 - share))) < d) {
      double x = normal(&seed);
      for (int k = 0; k < RANK; k++) x += A[j * RANK + k] * B[i * RANK + k];
      p.col[p.count] = (int32_t)i;
      p.value[p.count++] = x;
    }
    p.at[j + 1] = p.count;
  }
  free(A);
  free(B);
  by_feature(&p);
  return p;
}

/* ---- what the rivals share
 * --------------------------------------------------*/
/* rest = X - A B' where seen; half of its square. */
static double residual(problem *p, const double *A, const double *B, int r)
{
  double sum = 0;
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t k = p->at[j]; k < p->at[j + 1]; k++) {
      const double *b = B + (int64_t)p->col[k] * r, *a = A + j * r;
      double z = 0;
      for (int c = 0; c < r; c++) z += a[c] * b[c];
      p->rest[k] = p->value[k] - z;
      sum += p->rest[k] * p->rest[k] / 2;
    }
  return sum;
}

/* out = rest B, or rest' A */
static void times(const problem *p, bool by_sample, const double *F, int r,
                  double *out)
{
  int64_t lines = by_sample ? p->n : p->d;
  const int64_t *at = by_sample ? p->at : p->at_t;
  for (int64_t i = 0; i < lines; i++) {
    double *to = out + i * r;
    for (int c = 0; c < r; c++) to[c] = 0;
    for (int64_t k = at[i]; k < at[i + 1]; k++) {
      int64_t other = by_sample ? p->col[k] : p->row_t[k];
      double s = p->rest[by_sample ? k : p->place[k]];
      const double *f = F + other * r;
      for (int c = 0; c < r; c++) to[c] += s * f[c];
    }
  }
}

/* ---- softImpute
 * ----------------------------------------------------------------*/
/* F (rows x r) <- the ridge step against diagonal factors U D of the other
 * side; then F D = V D2 R', F = V D again. */
static void half_step(const problem *p, bool by_sample, const double *other,
                      double *D, double lambda, int r, double *F, double *T)
{
  int64_t rows = by_sample ? p->n : p->d;
  double *G = malloc((size_t)(r * r) * sizeof *G), *w = malloc(8 * (size_t)r);
  times(p, by_sample, other, r, T); /* other = U D */
  for (int64_t i = 0; i < rows; i++)
    for (int c = 0; c < r; c++) {
      double dd = D[c] * D[c];
      F[i * r + c] = (T[i * r + c] + dd * F[i * r + c]) / (dd + lambda) * D[c];
    }
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, r, (int)rows, 1, F, r, 0,
              G, r);
  LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', r, G, r, w);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, r, r, 1, F,
              r, G, r, 0, T, r);
  for (int c = 0; c < r; c++) D[c] = sqrt(sqrt(fmax(w[c], 1e-300)));
  for (int64_t i = 0; i < rows; i++)
    for (int c = 0; c < r; c++) F[i * r + c] = T[i * r + c] / D[c];
  /* the other side turns with it: U R D */
  free(w);
  D[r] = 0;
  memcpy(D + r, G, (size_t)(r * r) * sizeof *G);
  free(G);
}

/* other <- (other / D_old) R D */
static void follow(int64_t rows, const double *old, const double *D, int r,
                   double *other, double *T)
{
  for (int64_t i = 0; i < rows; i++)
    for (int c = 0; c < r; c++) other[i * r + c] /= old[c];
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, r, r, 1,
              other, r, D + r, r, 0, T, r);
  for (int64_t i = 0; i < rows; i++)
    for (int c = 0; c < r; c++) other[i * r + c] = T[i * r + c] * D[c];
}

static double squares(const double *F, int64_t count)
{
  double sum = 0;
  for (int64_t k = 0; k < count; k++) sum += F[k] * F[k];
  return sum;
}

static void soft_impute(problem *p, double lambda, int r, double goal)
{
  int64_t most = p->n > p->d ? p->n : p->d;
  uint64_t seed = 11;
  double *A = malloc((size_t)(p->n * r) * 8),
         *B = calloc((size_t)(p->d * r), 8);
  double *T = malloc((size_t)(most * r) * 8), *old = malloc(8 * (size_t)r);
  double *D = malloc((size_t)(r + r * r + 1) * 8);
  for (int64_t k = 0; k < p->n * r; k++) A[k] = normal(&seed);
  LAPACKE_dgeqrf(LAPACK_ROW_MAJOR, (int)p->n, r, A, r, T);
  LAPACKE_dorgqr(LAPACK_ROW_MAJOR, (int)p->n, r, r, A, r, T);
  for (int c = 0; c < r; c++) D[c] = 1;
  double start = now(), value = INFINITY;
  int it = 0;
  for (; it < MOST && value > goal; it++) {
    residual(p, A, B, r);
    memcpy(old, D, 8 * (size_t)r);
    half_step(p, false, A, D, lambda, r, B, T);
    follow(p->n, old, D, r, A, T);
    residual(p, A, B, r);
    memcpy(old, D, 8 * (size_t)r);
    half_step(p, true, B, D, lambda, r, A, T);
    follow(p->d, old, D, r, B, T);
    double skipped = now();
    value = residual(p, A, B, r) +
            lambda * (squares(A, p->n * r) + squares(B, p->d * r)) / 2;
    start += now() - skipped;
  }
  printf("softImpute  %8.3f s  %d iterations, objective %.9g%s\n",
         now() - start, it, value / (double)p->count,
         value > goal ? ", not there" : "");
  free(A);
  free(B);
  free(T);
  free(old);
  free(D);
}

/* ---- plain ALS
 * -------------------------------------------------------------------*/
static void plain_half(const problem *p, bool by_sample, const double *F,
                       double lambda, int r, double *X)
{
  int64_t lines = by_sample ? p->n : p->d;
  const int64_t *at = by_sample ? p->at : p->at_t;
  double *G = malloc((size_t)(r * r) * sizeof *G);
  for (int64_t i = 0; i < lines; i++) {
    double *x = X + i * r;
    memset(G, 0, (size_t)(r * r) * sizeof *G);
    memset(x, 0, (size_t)r * sizeof *x);
    for (int c = 0; c < r; c++) G[c * r + c] = lambda;
    for (int64_t k = at[i]; k < at[i + 1]; k++) {
      const double *f = F + (by_sample ? p->col[k] : p->row_t[k]) * (int64_t)r;
      double v = p->value[by_sample ? k : p->place[k]];
      for (int a = 0; a < r; a++) {
        x[a] += v * f[a];
        for (int b = 0; b < r; b++) G[a * r + b] += f[a] * f[b];
      }
    }
    LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', r, 1, G, r, x, r);
  }
  free(G);
}

static void plain_als(problem *p, double lambda, int r, double goal)
{
  uint64_t seed = 11;
  double *A = malloc((size_t)(p->n * r) * 8),
         *B = malloc((size_t)(p->d * r) * 8);
  for (int64_t k = 0; k < p->d * r; k++) B[k] = 0.3 * normal(&seed);
  double start = now(), value = INFINITY;
  int it = 0;
  for (; it < MOST && value > goal; it++) {
    plain_half(p, true, B, lambda, r, A);
    plain_half(p, false, A, lambda, r, B);
    double skipped = now();
    value = residual(p, A, B, r) +
            lambda * (squares(A, p->n * r) + squares(B, p->d * r)) / 2;
    start += now() - skipped;
  }
  printf("plain ALS   %8.3f s  %d sweeps, objective %.9g%s\n", now() - start,
         it, value / (double)p->count, value > goal ? ", not there" : "");
  free(A);
  free(B);
}

/* ---- LAPIS
 * -----------------------------------------------------------------------*/
static double lapis(const problem *p, double mu, double tol)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_ctx_set(ctx, "threads", "1");
  lapis_data data = {.X = {.dtype = LAPIS_F64,
                           .rows = p->d,
                           .cols = p->n,
                           .ld = p->d,
                           .val = p->value,
                           .colptr = p->at,
                           .rowidx = p->col}};
  lapis_mc_settings set = lapis_mc_defaults();
  set.solver = LAPIS_MC_FACTORED;
  set.absent = LAPIS_ABSENT_MISSING;
  set.mu = mu;
  set.stop.tol = tol;
  lapis_solver *s;
  double start = now(), objective = NAN;
  if (lapis_mc_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0) {
    fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
    exit(1);
  }
  const lapis_info *info = lapis_result_info(s);
  objective = info->objective;
  printf(
      "LAPIS       %8.3f s  %d sweeps, objective %.9g, gap %.1e proved, rank "
      "%d\n",
      now() - start, (int)info->iterations, objective, info->gap,
      (int)info->rank);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  return objective;
}

int main(int argc, char **argv)
{
  if (argc != 6) {
    fprintf(stderr, "mc_factored SAMPLES FEATURES SHARE RANK TOL\n");
    return 2;
  }
  double share = atof(argv[3]), tol = atof(argv[5]);
  problem p = make(atoll(argv[1]), atoll(argv[2]), share);
  int r = atoi(argv[4]);
  double edge = sqrt((double)p.n * share) + sqrt((double)p.d * share);
  double lambda = 2 * edge, mu = lambda / (double)p.count;
  printf("%lld x %lld, %lld seen, lambda %.4g\n", (long long)p.n,
         (long long)p.d, (long long)p.count, lambda);
  double best = lapis(&p, mu, tol);
  double goal = best * (1 + tol) * (double)p.count;
  plain_als(&p, lambda, r, goal);
  soft_impute(&p, lambda, r, goal);
  return 0;
}
