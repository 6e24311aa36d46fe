/* svmplus.c - SVM+ against LIBLINEAR and LIBSVM at the same relative gap.
 *
 *   bench/svmplus linear [n [d]]   linear SVM+ on (X, P) against LIBLINEAR's
 *                                  plain SVM (L2R_L1LOSS_SVC_DUAL) on X alone
 *   bench/svmplus kernel [n [d]]   l2-SVM+, rbf/rbf, from kernel matrices to
 *                                  alpha, against the published recipe: G by
 *                                  inversion, LIBSVM's one-class on n (H + G)
 *   bench/svmplus grid [n [d]]     a 6 x 7 (C, gamma) grid against one fit
 *   bench/svmplus memory [n [d]]   our linear fit alone, peak memory
 *   bench/svmplus rows [n [d]]     our kernel fit alone, peak memory; kernel
 *                                  rows on demand where n x n does not fit
 *
 * Data: splitmix64, seed 1, Box-Muller.  A direction w; x = g, y = sign(w'x)
 * flipped for 10 % of the samples; privileged z: its first entry is y w'x,
 * the clean margin, the others are noise.  d = p.  The largest eps of the
 * rival that reaches the gap is used; the time of looking for it is not
 * counted.  LIBLINEAR returns no dual point: its gap is measured against our
 * certified dual value, to its advantage.  One thread on both sides, processor
 * seconds.
 * OPENBLAS_CORETYPE should name the core of the machine: what OpenBLAS finds
 * by itself may be a slow one. */
#define _POSIX_C_SOURCE 200809L
#include <lapacke.h>
#include <libsvm/svm.h>
#include <linear.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "lapis/lapis.h"

static const double GAP = 1e-3;

typedef struct sample_set {
  int64_t n, d;
  double *X, *P, *y; /* d x n, d x n, n */
} sample_set;

static void *get(size_t bytes)
{
  void *p = malloc(bytes);
  if (p != NULL) return p;
  fputs("out of memory\n", stderr);
  exit(1);
}

static sample_set generate(int64_t n, int64_t d)
{
  uint64_t state = 1;
  size_t bytes = (size_t)(n * d) * sizeof(double);
  sample_set p = {n, d, get(bytes), get(bytes),
                  get((size_t)n * sizeof(double))};
  double *w = get((size_t)d * sizeof *w);
  for (int64_t i = 0; i < d; i++) w[i] = bench_normal(&state) / sqrt((double)d);
  for (int64_t j = 0; j < n; j++) {
    double margin = 0;
    for (int64_t i = 0; i < d; i++) {
      p.X[j * d + i] = bench_normal(&state);
      margin += w[i] * p.X[j * d + i];
    }
    p.y[j] = (margin > 0) == (bench_uniform(&state) > 0.1) ? 1 : -1;
    for (int64_t i = 0; i < d; i++) p.P[j * d + i] = bench_normal(&state);
    p.P[j * d] = p.y[j] * margin;
  }
  free(w);
  return p;
}

static void drop(sample_set *p)
{
  free(p->X);
  free(p->P);
  free(p->y);
}

static lapis_data data_of(const sample_set *p, int privileged)
{
  lapis_data data = {.X = lapis_mat_f64(p->X, p->d, p->n),
                     .Y = lapis_mat_f64(p->y, 1, p->n)};
  if (privileged) data.P = lapis_mat_f64(p->P, p->d, p->n);
  return data;
}

static lapis_svmplus_settings settings_of(int kernel)
{
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.kernel = set.kernel_priv = kernel;
  set.stop.tol = GAP;
  return set;
}

static lapis_solver *open_solver(lapis_ctx *ctx, const lapis_data *data,
                                 const lapis_svmplus_settings *set)
{
  lapis_solver *s;
  if (lapis_svmplus_new(ctx, data, set, &s) >= 0) return s;
  fprintf(stderr, "%s\n", lapis_ctx_error(ctx));
  exit(1);
}

static double timed_solve(lapis_solver *s)
{
  double start = bench_processor_seconds();
  lapis_solve(s);
  return bench_processor_seconds() - start;
}

/* ---- linear -------------------------------------------------------------*/
static struct feature_node *nodes_of(const sample_set *p,
                                     struct feature_node **row)
{
  struct feature_node *all = get((size_t)(p->n * (p->d + 2)) * sizeof *all);
  for (int64_t j = 0; j < p->n; j++) {
    struct feature_node *at = row[j] = all + j * (p->d + 2);
    for (int64_t i = 0; i < p->d; i++)
      at[i] = (struct feature_node){(int)i + 1, p->X[j * p->d + i]};
    at[p->d] = (struct feature_node){(int)p->d + 1, 1};
    at[p->d + 1].index = -1;
  }
  return all;
}

static double primal_of(const sample_set *p, const double *w, double C)
{
  double sum = 0;
  for (int64_t i = 0; i <= p->d; i++) sum += w[i] * w[i] / 2;
  for (int64_t j = 0; j < p->n; j++) {
    double f = w[p->d];
    for (int64_t i = 0; i < p->d; i++) f += w[i] * p->X[j * p->d + i];
    sum += C * fmax(0, 1 - p->y[j] * f);
  }
  return sum;
}

static void silent(const char *text)
{
  (void)text;
}

/* Time of LIBLINEAR at the largest eps that reaches the gap. */
static double time_liblinear(const sample_set *p, double C, double dual,
                             double *eps)
{
  struct feature_node **row = get((size_t)p->n * sizeof *row);
  struct feature_node *all = nodes_of(p, row);
  struct problem lp = {
      .l = (int)p->n, .n = (int)p->d + 1, .y = p->y, .x = row, .bias = 1};
  double best = NAN, trial = 3;
  set_print_string_function(silent);
  for (int k = 0; k < 14 && isnan(best); k++, trial /= 2) {
    struct parameter how = {
        .solver_type = L2R_L1LOSS_SVC_DUAL, .eps = trial, .C = C};
    double start = bench_processor_seconds();
    struct model *m = train(&lp, &how);
    double took = bench_processor_seconds() - start;
    double sign = m->label[0] > 0 ? 1 : -1;
    for (int64_t i = 0; i <= p->d; i++) m->w[i] *= sign;
    double primal = primal_of(p, m->w, C);
    if (primal - dual <= GAP * primal) best = took;
    *eps = trial;
    free_and_destroy_model(&m);
  }
  free(row);
  free(all);
  return best;
}

static void linear(lapis_ctx *ctx, int64_t n, int64_t d)
{
  sample_set p = generate(n, d);
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  static const double gammas[] = {1, 1e-2};
  lapis_data plain = data_of(&p, 0), data = data_of(&p, 1);
  set.stop.tol = 1e-6;
  lapis_solver *s = open_solver(ctx, &plain, &set);
  timed_solve(s);
  double eps, dual = lapis_result_info(s)->dual;
  lapis_solver_free(s);
  double rival = time_liblinear(&p, set.C, dual, &eps);
  printf("LIBLINEAR plain SVM: %.3f s (eps %g)\n", rival, eps);
  set.stop.tol = GAP;
  s = open_solver(ctx, &plain, &set);
  printf("lapis plain SVM:     %.3f s\n", timed_solve(s));
  lapis_solver_free(s);
  for (int k = 0; k < 2; k++) {
    set.gamma = gammas[k];
    s = open_solver(ctx, &data, &set);
    double took = timed_solve(s);
    const lapis_info *info = lapis_result_info(s);
    printf("lapis SVM+ gamma %g: %.3f s, %.2f times LIBLINEAR; gap %.1e, %lld "
           "steps\n",
           set.gamma, took, took / rival, info->gap,
           (long long)info->iterations);
    lapis_solver_free(s);
  }
  drop(&p);
}

static void memory(lapis_ctx *ctx, const lapis_svmplus_settings *set, int64_t n,
                   int64_t d)
{
  sample_set p = generate(n, d);
  lapis_data data = data_of(&p, 1);
  double start = bench_processor_seconds();
  lapis_solver *s = open_solver(ctx, &data, set);
  lapis_solve(s);
  const lapis_info *info = lapis_result_info(s);
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  double took = bench_processor_seconds() - start;
  double held = (double)n * (double)(2 * d + 1) * 8;
  double peak = (double)use.ru_maxrss * 1024;
  printf("%.1f s, gap %.1e, %lld rounds, %lld samples with weight; peak memory "
         "%.2f GB, %.3f times the data\n",
         took, info->gap, (long long)info->iterations, (long long)info->rank,
         peak / 1e9, peak / held);
  lapis_solver_free(s);
  drop(&p);
}

/* ---- kernel -------------------------------------------------------------*/
/* exp(-|x - z|^2 / mean) + 1, d x n -> n x n */
static double *rbf(const double *X, int64_t d, int64_t n)
{
  double *K = get((size_t)(n * n) * sizeof *K), sum = 0;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++) {
      double far = 0;
      for (int64_t k = 0; k < d; k++) {
        double off = X[i * d + k] - X[j * d + k];
        far += off * off;
      }
      K[j * n + i] = K[i * n + j] = far;
      sum += i == j ? far : 2 * far;
    }
  for (int64_t k = 0; k < n * n; k++)
    K[k] = exp(-K[k] / (sum / ((double)n * (double)n))) + 1;
  return K;
}

/* As published a general inverse; by Cholesky: a stronger rival. */
static void invert(int64_t n, double *A, bool cholesky)
{
  lapack_int m = (lapack_int)n;
  if (cholesky) {
    LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', m, A, m);
    LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', m, A, m);
    return;
  }
  lapack_int *pivot = get((size_t)n * sizeof *pivot);
  LAPACKE_dgetrf(LAPACK_COL_MAJOR, m, m, A, m, pivot);
  LAPACKE_dgetri(LAPACK_COL_MAJOR, m, A, m, pivot);
  free(pivot);
}

/* Q = (K + 1) o yy' + (1/C) [I - (I + (C/gamma) Kt)^-1], in place of Kt. */
static void published_Q(const sample_set *p, const double *K, double C,
                        double gamma, bool cholesky, double *Q)
{
  int64_t n = p->n;
  for (int64_t k = 0; k < n * n; k++) Q[k] *= C / gamma;
  for (int64_t i = 0; i < n; i++) Q[i * n + i] += 1;
  invert(n, Q, cholesky);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) {
      double G = ((i == j) - Q[j * n + i]) / C;
      Q[j * n + i] = G + p->y[i] * p->y[j] * K[j * n + i];
      Q[i * n + j] = Q[j * n + i];
    }
}

static double gap_of(const double *Q, const double *a, int64_t n)
{
  double norm = 0, least = INFINITY;
  for (int64_t j = 0; j < n; j++) {
    double g = 0;
    for (int64_t i = 0; i < n; i++) g += Q[j * n + i] * a[i];
    norm += a[j] * g;
    least = fmin(least, g);
  }
  return (norm - least) / (norm / 2);
}

/* Time of the one-class solver on nodes of n Q at eps; gap of its answer. */
static double one_class(const sample_set *p, const double *Q, double eps,
                        double *gap)
{
  int64_t n = p->n;
  double start = bench_processor_seconds();
  struct svm_node *all = get((size_t)(n * (n + 2)) * sizeof *all);
  struct svm_node **row = get((size_t)n * sizeof *row);
  for (int64_t j = 0; j < n; j++) {
    row[j] = all + j * (n + 2);
    row[j][0] = (struct svm_node){0, (double)(j + 1)};
    for (int64_t i = 0; i < n; i++)
      row[j][i + 1] = (struct svm_node){(int)i + 1, (double)n * Q[j * n + i]};
    row[j][n + 1].index = -1;
  }
  struct svm_problem sp = {(int)n, p->y, row};
  struct svm_parameter how = {.svm_type = ONE_CLASS,
                              .kernel_type = PRECOMPUTED,
                              .nu = 1 / (double)n,
                              .eps = eps,
                              .cache_size = 2000,
                              .shrinking = 1};
  svm_set_print_string_function(silent);
  struct svm_model *m = svm_train(&sp, &how);
  double took = bench_processor_seconds() - start;
  double *a = calloc((size_t)n, sizeof *a), sum = 0;
  for (int k = 0; k < m->l; k++) sum += m->sv_coef[0][k];
  for (int k = 0; k < m->l; k++)
    a[m->sv_indices[k] - 1] = m->sv_coef[0][k] / sum;
  *gap = gap_of(Q, a, n);
  svm_free_and_destroy_model(&m);
  free(a);
  free(row);
  free(all);
  return took;
}

static double published(const sample_set *p, double C, double gamma,
                        bool cholesky)
{
  double *K = rbf(p->X, p->d, p->n), *Q = rbf(p->P, p->d, p->n);
  double start = bench_processor_seconds(), eps = 1, gap = 1, took = 0;
  published_Q(p, K, C, gamma, cholesky, Q);
  double inverse = bench_processor_seconds() - start;
  for (int k = 0; k < 20 && gap > GAP; k++, eps /= 2)
    took = one_class(p, Q, eps, &gap);
  printf(
      "  published recipe, G by %s: %.3f s (G %.3f, LIBSVM %.3f, eps %g, gap "
      "%.1e)\n",
      cholesky ? "Cholesky" : "inversion", inverse + took, inverse, took,
      2 * eps, gap);
  free(K);
  free(Q);
  return inverse + took;
}

static void kernel(lapis_ctx *ctx, int64_t n, int64_t d)
{
  sample_set p = generate(n, d);
  lapis_data data = data_of(&p, 1);
  static const double gammas[] = {1, 1e-2};
  for (int k = 0; k < 2; k++) {
    lapis_svmplus_settings set = settings_of(LAPIS_KERNEL_RBF);
    set.gamma = gammas[k];
    lapis_solver *s = open_solver(ctx, &data, &set); /* makes the kernels */
    double took = timed_solve(s);
    const lapis_info *info = lapis_result_info(s);
    printf("lapis l2-SVM+, gamma %g: %.3f s, gap %.1e, %lld sweeps, %lld "
           "support vectors\n",
           set.gamma, took, info->gap, (long long)info->iterations,
           (long long)info->rank);
    lapis_solver_free(s);
    printf("  %.2f times it\n", took / published(&p, set.C, set.gamma, false));
    printf("  %.2f times it\n", took / published(&p, set.C, set.gamma, true));
  }
  drop(&p);
}

static void grid(lapis_ctx *ctx, int64_t n, int64_t d)
{
  sample_set p = generate(n, d);
  lapis_data data = data_of(&p, 1);
  lapis_svmplus_settings set = settings_of(LAPIS_KERNEL_RBF);
  lapis_solver *s = open_solver(ctx, &data, &set);
  double one = timed_solve(s), all = 0;
  lapis_solver_free(s);
  s = open_solver(ctx, &data, &set);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 7; j++) {
      set.C = pow(10, i - 2);
      set.gamma = pow(10, j - 3);
      lapis_solver_retune(s, &set);
      all += timed_solve(s);
    }
  printf("one fit %.3f s, a 6 x 7 grid %.3f s: %.1f times\n", one, all,
         all / one);
  lapis_solver_free(s);
  drop(&p);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    int64_t n;
  } modes[] = {{"linear", 100000},
               {"kernel", 3000},
               {"grid", 3000},
               {"memory", 1000000},
               {"rows", 50000}};
  int k = 0;
  while (argc > 1 && k < 4 && strcmp(argv[1], modes[k].name) != 0) k++;
  int64_t n = argc > 2 ? atoll(argv[2]) : modes[k].n;
  int64_t d = argc > 3 ? atoll(argv[3]) : 100;
  lapis_svmplus_settings line = settings_of(LAPIS_KERNEL_LINEAR);
  lapis_svmplus_settings rbf = settings_of(LAPIS_KERNEL_RBF);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_ctx_set(ctx, "threads", "1");
  printf("%s, n %lld, d = p = %lld, seed 1, gap %g, C 1, one thread, %s\n",
         modes[k].name, (long long)n, (long long)d, GAP,
         lapis_ctx_backend(ctx));
  fflush(stdout);
  if (k == 0) linear(ctx, n, d);
  if (k == 1) kernel(ctx, n, d);
  if (k == 2) grid(ctx, n, d);
  if (k == 3) memory(ctx, &line, n, d);
  if (k == 4) memory(ctx, &rbf, n, d);
  lapis_ctx_free(ctx);
  return 0;
}
