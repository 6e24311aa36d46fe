/* opencl.c - a device by the plug-in lapis-opencl: what it refuses, what
 * travels, and that its answers are openblas's.  Each pass is judged by
 * test_backend and test_l1, which CI runs by way of it (through.h), and the
 * methods by their own suites on it. */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_case.h"
#include "lapis/tools.h"
#include "op/svt/svt.h"

enum { D = 40, N = 300, LONG = 3300, SOME = 4 };

typedef struct traffic {
  long launches, up, down, reads;
} traffic;

static void names_are_understood(void **state)
{
  la any = on("opencl"), first = on("opencl:0"), again = on("opencl");
  assert_ptr_equal(any.ops, again.ops);
  assert_memory_equal(any.ops->describe(&any), "opencl ", 7);
  assert_memory_equal(first.ops->describe(&first), "opencl ", 7);
  refused("opencl:99", LAPIS_EDEVICE, "no OpenCL device 99");
  refused("opencl:x", LAPIS_EINVAL, "is not known");
  refused("opencl2", LAPIS_EINVAL, "is not known");
}

static void memory_of_others_is_refused(void **state)
{
  la h = on("opencl"), other = on("strict");
  double x[4] = {0};
  la_array A = la_case_new(&h, 2, 2), B = la_wrap(x, 2, 2), C;
  C = la_case_new(&other, 2, 2);
  assert_int_equal(la_copy(&h, &A, &B), LAPIS_EINVAL);
  check_says(lapis_ctx_error(ctx), "memory");
  assert_int_equal(la_copy(&h, &C, &A), LAPIS_EINVAL);
  assert_int_equal(h.ops->alloc(&h, LAPIS_F32, 2, 2, &B), LAPIS_EINVAL);
  other.ops->free(&other, &C);
  h.ops->free(&h, &A);
}

/* The side of a square that takes `share` of the device's memory. */
static int64_t side_of(double share, bool *is_processor)
{
  for (int i = 0; lapis_backend_at(i) != NULL; i++) {
    const lapis_backend *b = lapis_backend_at(i);
    double size;
    if (strcmp(b->name, "opencl:0") != 0) continue;
    const char *last = strrchr(b->what, ',');
    assert_int_equal(sscanf(last, ", %lf GB", &size), 1);
    *is_processor = strncmp(b->what, "pthread", 7) == 0;
    return (int64_t)sqrt(share * size * 1e9 / sizeof(double));
  }
  fail_msg("opencl:0 is not listed");
  return 0;
}

/* main gives pocl 1 GB; a refusal leaves the device usable. */
static void too_much_is_one_sentence(void **state)
{
  la h = on("opencl:0");
  la_array A, B = {0};
  bool pocl;
  int64_t n = side_of(3, &pocl);
  assert_int_equal(h.ops->alloc(&h, LAPIS_F64, n, n, &A), LAPIS_ENOMEM);
  check_says(lapis_ctx_error(ctx), "memory");
  assert_null(strchr(lapis_ctx_error(ctx), '\n'));
  /* it fits, but in one piece where the driver sets a limit, as pocl does: the
   * command looks for the word */
  n = side_of(.5, &pocl);
  lapis_status half = h.ops->alloc(&h, LAPIS_F64, n, n, &A);
  if (pocl) assert_int_equal(half, LAPIS_ENOMEM);
  if (half < 0) check_says(lapis_ctx_error(ctx), "memory");
  h.ops->free(&h, &A);
  OK(h.ops->alloc(&h, LAPIS_F64, 200, 200, &B));
  OK(la_add_diagonal(&h, 2, &B));
  double square;
  OK(h.ops->dot(&h, &B, &B, &square));
  CHECK_NEAR(square, 800, 0);
  h.ops->free(&h, &B);
}

static void forks_are_refused(void **state)
{
  la h = on("opencl");
  (void)h;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    la again;
    bool told = la_open(ctx, &again) == LAPIS_EINVAL &&
                strstr(lapis_ctx_error(ctx), "jobs 1") != NULL;
    _exit(told ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* ---- factorisations -------------------------------------------------------*/
enum { SIDE = 30, FAR = 900 };

/* Singular values 10^(-step k), or of rank 2 where step is 0. */
static void fill_graded(double *A, int64_t rows, int64_t cols, double step)
{
  uint64_t seed = 11;
  int64_t k = rows < cols ? rows : cols, rank = step > 0 ? k : 2;
  for (int64_t i = 0; i < rows * cols; i++) A[i] = 0;
  for (int64_t r = 0; r < rank; r++) {
    double u[FAR], v[FAR], size = pow(10, -step * (double)r);
    for (int64_t i = 0; i < rows; i++) u[i] = check_normal(&seed);
    for (int64_t j = 0; j < cols; j++) v[j] = check_normal(&seed);
    for (int64_t j = 0; j < cols; j++)
      for (int64_t i = 0; i < rows; i++) A[j * rows + i] += size * u[i] * v[j];
  }
}

static double skew(const double *Q, int64_t rows, int64_t cols)
{
  la_array view = la_wrap((double *)(uintptr_t)Q, rows, cols);
  return la_case_skew(&view);
}

/* Decomposes a device's A; its bytes both ways. */
static traffic decompose(la *h, int64_t rows, int64_t cols, double step)
{
  static double a[SIDE * FAR], u[SIDE * FAR], v[SIDE * FAR], vt[SIDE * FAR];
  int64_t k = rows < cols ? rows : cols;
  double s[SIDE], values[SIDE], worst = 0, size = 0;
  la_array A = la_case_new(h, rows, cols), U = la_case_new(h, rows, k);
  la_array Vt = la_case_new(h, k, cols), B = la_case_new(h, rows, cols);
  lapis_mat from = lapis_mat_f64(a, rows, cols);
  lapis_mat u_to = lapis_mat_f64(u, rows, k), v_to = lapis_mat_f64(vt, k, cols);
  fill_graded(a, rows, cols, step);
  OK(h->ops->upload(h, &from, &A));
  OK(la_copy(h, &A, &B));
  base_traffic before = *base_traffic_of(ctx);
  OK(h->ops->svd(h, &A, &U, s, &Vt));
  OK(h->ops->svd(h, &B, NULL, values, NULL));
  base_traffic after = *base_traffic_of(ctx);
  OK(h->ops->download(h, &U, &u_to));
  OK(h->ops->download(h, &Vt, &v_to));
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < rows; i++) {
      double sum = -a[j * rows + i];
      for (int64_t r = 0; r < k; r++)
        sum += u[r * rows + i] * s[r] * vt[j * k + r];
      worst = fmax(worst, fabs(sum));
      size += a[j * rows + i] * a[j * rows + i];
    }
  for (int64_t j = 0; j < cols; j++)
    for (int64_t r = 0; r < k; r++) v[r * cols + j] = vt[j * k + r];
  CHECK_AT_MOST(worst, 1e-13 * sqrt(size));
  CHECK_AT_MOST(skew(u, rows, k), 1e-13);
  CHECK_AT_MOST(skew(v, cols, k), 1e-13);
  for (int64_t r = 0; r < k; r++)
    CHECK_NEAR(s[r], values[r], 1e-13 * sqrt(size));
  LA_RELEASE(h, &A, &B, &U, &Vt);
  return (traffic){.up = (long)(after.up - before.up),
                   .down = (long)(after.down - before.down)};
}

/* Squares of the smaller side travel, whatever the other one is, and whether or
 * not the columns are independent. */
static void decompositions_send_squares(void **state)
{
  la h = on("opencl");
  double step[] = {0, 0.05, 0.5, 2};
  for (int i = 0; i < 4; i++)
    for (int wide = 0; wide < 2; wide++) {
      int64_t n = FAR / 3;
      traffic near = wide ? decompose(&h, SIDE, n, step[i])
                          : decompose(&h, n, SIDE, step[i]);
      traffic far = wide ? decompose(&h, SIDE, FAR, step[i])
                         : decompose(&h, FAR, SIDE, step[i]);
      CHECK_AT_MOST((double)far.up, 1.2 * (double)near.up);
      /* |A|^2 comes in parts, one for 256 entries */
      CHECK_AT_MOST((double)far.down,
                    1.2 * (double)near.down + FAR * SIDE / 32);
    }
}

/* Cholesky of several blocks; what is not positive is found in a late one, too.
 */
static void cholesky_goes_by_blocks(void **state)
{
  enum { K = 300 };
  static double a[K * K], x[K * 3], b[K * 3];
  la h = on("opencl");
  uint64_t seed = 4;
  la_array A = la_case_new(&h, K, K), L = la_case_new(&h, K, K);
  la_array B = la_case_new(&h, K, 3), X = la_case_new(&h, K, 3);
  lapis_mat from = lapis_mat_f64(a, K, K), rhs = lapis_mat_f64(b, K, 3);
  lapis_mat got = lapis_mat_f64(x, K, 3);
  for (int i = 0; i < K * K; i++) a[i] = check_normal(&seed);
  for (int i = 0; i < K * 3; i++) b[i] = check_normal(&seed);
  OK(h.ops->upload(&h, &from, &L));
  OK(h.ops->syrk(&h, LA_N, &L, &A));
  OK(la_add_diagonal(&h, 10, &A));
  OK(la_copy(&h, &A, &L));
  OK(h.ops->upload(&h, &rhs, &B));
  OK(la_copy(&h, &B, &X));
  base_traffic before = *base_traffic_of(ctx);
  OK(h.ops->potrf(&h, &L));
  CHECK_AT_MOST((double)(base_traffic_of(ctx)->down - before.down),
                0.5 * K * K * 8);
  OK(h.ops->potrs(&h, &L, &X));
  OK(h.ops->gemm(&h, LA_N, LA_N, 1, &A, &X, -1, &B));
  OK(h.ops->download(&h, &B, &got));
  for (int i = 0; i < K * 3; i++) CHECK_NEAR(x[i], 0, 1e-11);
  la_array last = la_cols(&A, K - 1, 1), entry = la_rows(&last, K - 1, 1);
  OK(h.ops->fill(&h, 1e-3, &entry));
  assert_int_equal(h.ops->potrf(&h, &A), LAPIS_ENUMERIC);
  LA_RELEASE(&h, &A, &L, &B, &X);
}

/* ---- Gram matrices of the host's numbers ----------------------------------*/
/* Sent where it is worth the way; where it does not fit the host makes it. */
static void gram_matrices_are_sent(void **state)
{
  enum { LARGE = 1040, FEW = 100 };
  double *a = calloc((size_t)(LARGE * LARGE), sizeof *a),
         *c = calloc(LARGE * LARGE, sizeof *c);
  double *d = calloc((size_t)(LARGE * LARGE), sizeof *d);
  assert_true(a != NULL && c != NULL && d != NULL);
  la device = on("opencl"), h = la_beside(&device);
  uint64_t seed = 6;
  for (int64_t i = 0; i < LARGE * LARGE; i++) a[i] = check_normal(&seed);
  for (int t = 0; t < 2; t++) {
    la_array A = la_wrap(a, LARGE, LARGE), C = la_wrap(c, LARGE, LARGE),
             E = la_wrap(d, LARGE, LARGE);
    base_traffic before = *base_traffic_of(ctx);
    OK(la_syrk_there(&h, t ? LA_T : LA_N, &A, &C));
    base_traffic after = *base_traffic_of(ctx);
    assert_int_equal(after.launches - before.launches, 1);
    assert_int_equal(after.up - before.up, 8 * LARGE * LARGE);
    OK(h.ops->syrk(&h, t ? LA_T : LA_N, &A, &E));
    CHECK_AT_MOST(la_case_distance(&C, &E), 1e-12 * LARGE * LARGE);
    A = la_cols(&A, 0, FEW);
    OK(la_syrk_there(&h, LA_N, &A, &C));
    assert_int_equal(base_traffic_of(ctx)->launches, after.launches);
  }
  free(a), free(c), free(d);
}

/* ---- singular values ------------------------------------------------------*/
/* W += noise of this size; or of rank r, and noise. */
static void fill_ranked(double *W, int64_t m, int64_t n, int64_t r,
                        uint64_t *seed)
{
  double *u = calloc((size_t)(r * (m + n)), sizeof *u), *v = u + r * m;
  assert_non_null(u);
  for (int64_t i = 0; i < r * (m + n); i++) u[i] = check_normal(seed);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) {
      double x = W[j * m + i] + 1e-3 * check_normal(seed);
      for (int64_t c = 0; c < r; c++) x += u[c * m + i] * v[c * n + j];
      W[j * m + i] = x;
    }
  free(u);
}

/* Of one call of op_svt_apply, W having moved a little since the last; the
 * values above t are r, the first and the last by some way. */
static traffic of_a_call(int64_t m, int64_t n, int64_t r)
{
  enum { CALLS = 3 };
  la h = on("opencl");
  op_svt *s;
  svt_report told;
  traffic t = {0};
  uint64_t seed = 3;
  double *w = calloc((size_t)(m * n), sizeof *w);
  assert_non_null(w);
  la_array W = la_case_new(&h, m, n), A = la_case_new(&h, m, n);
  lapis_mat from = lapis_mat_f64(w, m, n);
  OK(op_svt_new(&h, m, n, &s));
  op_svt_force(s, SVT_SUBSPACE);
  for (int call = 0; call < CALLS; call++) {
    fill_ranked(w, m, n, call == 0 ? r : 0, &seed);
    OK(h.ops->upload(&h, &from, &W));
    base_traffic before = *base_traffic_of(ctx);
    OK(op_svt_apply(s, &W, .4 * sqrt((double)m), &A, &told));
    base_traffic after = *base_traffic_of(ctx);
    assert_int_equal(told.way, SVT_SUBSPACE);
    assert_int_equal(told.rank, r);
    t.launches = (long)(after.launches - before.launches);
    t.up = (long)(after.up - before.up);
    t.down = (long)(after.down - before.down);
  }
  op_svt_free(s);
  LA_RELEASE(&h, &W, &A);
  free(w);
  return t;
}

/* Residuals and norms are passes over blocks, and squares of the rank travel.
 */
static void check_launches(int64_t m, int64_t n, int64_t r)
{
  traffic few = of_a_call(m, n, 5), many = of_a_call(m, n, r);
  CHECK_AT_MOST((double)many.launches, 60);
  CHECK_AT_MOST((double)many.launches, (double)few.launches + 10);
  CHECK_AT_MOST((double)many.down, 8 * (double)(m * n) / 4);
  CHECK_AT_MOST((double)many.up, 8 * (double)(m * n) / 4);
}

static void launches_do_not_grow_with_the_rank(void **state)
{
  check_launches(240, 300, 25);
}

static void nor_with_a_large_one(void **state)
{
  check_launches(720, 800, 100);
}

/* ---- methods
 * ---------------------------------------------------------------*/
static void listen(int level, const char *text, void *user)
{
  traffic *t = user;
  const char *at = strchr(text, ':');
  (void)level;
  if (at == NULL || strstr(text, "kernels run by opencl") == NULL) return;
  assert_int_equal(sscanf(at,
                          ": %ld kernels run by opencl, %ld bytes sent to it, "
                          "%ld bytes back in %ld reads",
                          &t->launches, &t->up, &t->down, &t->reads),
                   4);
}

typedef struct problem {
  const char *method;
  double mu_rel; /* of mc */
  int64_t n;
  int proof; /* of factored */
} problem;

/* The objective after so many iterations, or a negative number. */
static double objective_after(const char *backend, const problem *p, int iters,
                              double *X, traffic *t)
{
  lapis_solver *s = NULL;
  lapis_data data = {.X = lapis_mat_f64(X, D, p->n)};
  lapis_rpca_settings rpca = lapis_rpca_defaults();
  lapis_mc_settings mc = lapis_mc_defaults();
  *t = (traffic){0};
  OK(lapis_ctx_set(ctx, "backend", backend));
  OK(lapis_ctx_set(ctx, "verbose", "1"));
  lapis_ctx_on_message(ctx, listen, t);
  mc.mu_rel = .02;
  rpca.stop.max_iters = mc.stop.max_iters = iters;
  rpca.stop.tol = mc.stop.tol = 0;
  mc.solver = strcmp(p->method, "fpc") == 0 ? LAPIS_MC_FPC : LAPIS_MC_ADMM;
  if (strcmp(p->method, "factored") == 0) mc.solver = LAPIS_MC_FACTORED;
  if (mc.solver == LAPIS_MC_FACTORED) mc.stop.tol = 1e-11;
  mc.proof = p->proof;
  mc.mu_rel = p->mu_rel;
  if (strcmp(p->method, "rpca") == 0)
    OK(lapis_rpca_new(ctx, &data, &rpca, &s));
  else
    OK(lapis_mc_new(ctx, &data, &mc, &s));
  assert_true(lapis_solve(s) >= 0);
  double objective = lapis_result_info(s)->objective;
  if (mc.solver != LAPIS_MC_FACTORED)
    assert_int_equal(lapis_result_info(s)->iterations, iters);
  else
    CHECK_AT_MOST(lapis_result_info(s)->gap, 1e-11);
  lapis_solver_free(s);
  lapis_ctx_on_message(ctx, NULL, NULL);
  return objective;
}

/* Rank 3 and noise, a fifth not seen. */
static void fill_data(double *X, int64_t n)
{
  uint64_t seed = 5;
  double u[3 * D], v[3];
  for (int i = 0; i < 3 * D; i++) u[i] = check_normal(&seed);
  for (int64_t j = 0; j < n; j++) {
    for (int c = 0; c < 3; c++) v[c] = check_normal(&seed);
    for (int i = 0; i < D; i++) {
      double x = 0.1 * check_normal(&seed);
      for (int c = 0; c < 3; c++) x += u[3 * i + c] * v[c];
      X[j * D + i] = check_uniform(&seed) < 0.2 ? NAN : x;
    }
  }
}

static double X[D * 2 * LONG];

static void compare(const char *device, const char *method)
{
  problem p = {method, 0.2, N, LAPIS_MC_PROOF_RANDOM};
  traffic none, there_too;
  fill_data(X, N);
  double here = objective_after("openblas", &p, 30, X, &none);
  double there = objective_after(device, &p, 30, X, &there_too);
  CHECK_NEAR(here, there, 1e-10 * here);
  assert_int_equal(none.launches, 0);
  assert_true(there_too.launches > 30);
}

/* To a gap of 1e-11, proved: its entries stay with the host, and its dense
 * products are the device's. */
static void factored_answers_as_openblas(void **state)
{
  int proofs[] = {LAPIS_MC_PROOF_RANDOM, LAPIS_MC_PROOF_EXACT};
  fill_data(X, N);
  for (int i = 0; i < 2; i++) {
    problem p = {"factored", 0.2, N, proofs[i]};
    traffic none, some;
    double here = objective_after("openblas", &p, 1000, X, &none);
    double apart = objective_after("strict", &p, 1000, X, &none);
    double there = objective_after("opencl", &p, 1000, X, &some);
    CHECK_NEAR(here, apart, 1e-10 * here);
    CHECK_NEAR(here, there, 1e-10 * here);
    assert_true(some.launches > 30);
  }
}

/* Samples without a label are sent once, for their Gram matrix; features of
 * single precision. */
static void bordered_sends_unlabelled_samples(void **state)
{
  enum { FEATURES = 800, SAMPLES = 2500, LABELLED = 60 };
  float *x = calloc(FEATURES * SAMPLES, sizeof *x);
  double y[SAMPLES], objective[2];
  uint64_t seed = 8;
  traffic t[2] = {{0}, {0}};
  assert_non_null(x);
  for (int64_t j = 0; j < SAMPLES; j++) {
    double u = check_normal(&seed);
    y[j] = j < LABELLED ? copysign(1, u) : NAN;
    for (int64_t i = 0; i < FEATURES; i++)
      x[j * FEATURES + i] =
          (float)(u * cos((double)i) + .5 * check_normal(&seed));
  }
  lapis_data data = {.X = {.dtype = LAPIS_F32,
                           .rows = FEATURES,
                           .cols = SAMPLES,
                           .ld = FEATURES,
                           .val = x},
                     .Y = lapis_mat_f64(y, 1, SAMPLES)};
  lapis_mc_settings mc = lapis_mc_defaults();
  mc.solver = LAPIS_MC_BORDERED;
  mc.mu_rel = .1;
  OK(lapis_ctx_set(ctx, "verbose", "1"));
  for (int there = 0; there < 2; there++) {
    lapis_solver *s;
    OK(lapis_ctx_set(ctx, "backend", there ? "opencl" : "openblas"));
    lapis_ctx_on_message(ctx, listen, &t[there]);
    OK(lapis_mc_new(ctx, &data, &mc, &s));
    OK(lapis_solve(s));
    objective[there] = lapis_result_info(s)->objective;
    lapis_solver_free(s);
  }
  lapis_ctx_on_message(ctx, NULL, NULL);
  CHECK_NEAR(objective[0], objective[1], 1e-10 * objective[0]);
  assert_int_equal(t[0].launches, 0);
  assert_int_equal(t[1].launches, 1);
  assert_int_equal(t[1].up, 8L * (FEATURES + 1) * (SAMPLES - LABELLED));
  free(x);
}

/* What SOME iterations more send and receive, for n samples. */
static traffic of_some_iterations(const char *method, double mu_rel, int64_t n)
{
  problem p = {method, mu_rel, n, LAPIS_MC_PROOF_RANDOM};
  traffic few, many;
  fill_data(X, n);
  (void)objective_after("opencl", &p, SOME, X, &few);
  (void)objective_after("opencl", &p, 2 * SOME, X, &many);
  return (traffic){many.launches - few.launches, many.up - few.up,
                   many.down - few.down, many.reads - few.reads};
}

/* From data to result no iteration sends an array: twice the samples make
 * little difference (sums come in 512 parts from 131072 entries on), and an
 * iteration is squares of the smaller side. */
static void check_traffic(const char *method, double mu_rel)
{
  traffic one = of_some_iterations(method, mu_rel, LONG);
  traffic two = of_some_iterations(method, mu_rel, 2 * LONG);
  assert_true(one.launches > SOME);
  CHECK_AT_MOST((double)two.up, 1.5 * (double)one.up);
  CHECK_AT_MOST((double)two.down, 1.5 * (double)one.down);
  CHECK_AT_MOST((double)two.up, SOME * 8.0 * D * D * 8.0);
}

static void iterations_send_no_array(void **state)
{
  check_traffic("rpca", 0);
  check_traffic("mc", 0.2);
}

static void slower_iterations_send_none_either(void **state)
{
  check_traffic("fpc", 0.2);
  /* a threshold below 1e-5 of the largest value: the full decomposition */
  check_traffic("mc", 1e-7);
}

/* What the device had done at call FROM and at call TO for singular values. */
enum { FROM = 13, TO = 19 };
typedef struct calls {
  int count;
  base_traffic at[TO + 1];
} calls;

static void count_calls(int level, const char *text, void *user)
{
  calls *c = user;
  (void)level;
  if (strncmp(text, "svt: ", 5) != 0) return;
  if (c->count <= TO) c->at[c->count] = *base_traffic_of(ctx);
  if (c->count >= FROM && c->count <= TO) check_says(text, "subspace");
  c->count++;
}

/* Of an iteration of admm, once the rank is that of the answer and before a
 * proof. */
static traffic of_admm(int64_t d, int64_t n, int64_t r)
{
  uint64_t seed = 5;
  calls c = {0};
  lapis_solver *s;
  double *x = calloc((size_t)(d * n), sizeof *x);
  assert_non_null(x);
  fill_ranked(x, d, n, r, &seed);
  for (int64_t i = 0; i < d * n; i++) {
    x[i] += .3 * check_normal(&seed);
    if (check_uniform(&seed) < .2) x[i] = NAN;
  }
  lapis_data data = {.X = lapis_mat_f64(x, d, n)};
  lapis_mc_settings mc = lapis_mc_defaults();
  mc.solver = LAPIS_MC_ADMM;
  mc.mu_rel = .15;
  mc.stop.tol = 0;
  mc.stop.max_iters = TO + 2;
  OK(lapis_ctx_set(ctx, "backend", "opencl"));
  OK(lapis_ctx_set(ctx, "verbose", "2"));
  lapis_ctx_on_message(ctx, count_calls, &c);
  OK(lapis_mc_new(ctx, &data, &mc, &s));
  assert_true(lapis_solve(s) >= 0);
  assert_int_equal(lapis_result_info(s)->rank, r);
  lapis_solver_free(s);
  lapis_ctx_on_message(ctx, NULL, NULL);
  free(x);
  const base_traffic *from = &c.at[FROM], *to = &c.at[TO];
  return (traffic){(long)(to->launches - from->launches) / (TO - FROM),
                   (long)(to->up - from->up) / (TO - FROM),
                   (long)(to->down - from->down) / (TO - FROM),
                   (long)(to->reads - from->reads) / (TO - FROM)};
}

static void check_admm(int64_t d, int64_t n, int64_t r)
{
  traffic t = of_admm(d, n, r);
  CHECK_AT_MOST((double)t.launches, 60);
  CHECK_AT_MOST((double)t.reads, 13);
  CHECK_AT_MOST((double)t.down, 8 * (double)(d * n) / 8);
  CHECK_AT_MOST((double)t.up, 8 * (double)(d * n) / 8);
}

static void admm_launches_few_kernels(void **state)
{
  check_admm(240, 300, 5);
  check_admm(320, 400, 25);
}

static void at_a_large_rank_too(void **state)
{
  check_admm(1100, 1200, 100);
}

static void rpca_answers_as_openblas(void **state)
{
  compare("opencl", "rpca");
}

static void mc_answers_as_openblas(void **state)
{
  compare("opencl", "mc");
}

/* First of all: a device keeps the product that it was opened with. */
static void clblast_multiplies(void **state)
{
  void *library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) skip();
  setenv("LAPIS_OPENCL_GEMM", "clblast", 1);
  la h = on("opencl:0");
  unsetenv("LAPIS_OPENCL_GEMM");
  assert_non_null(strstr(h.ops->describe(&h), " with CLBlast"));
  compare("opencl:0", "rpca");
  compare("opencl:0", "mc");
  /* what C held is not read where beta is 0, and no depth is a product, too */
  double x[] = {1, 2, 3, 4}, nan[] = {NAN, NAN, NAN, NAN}, got[4];
  lapis_mat from = lapis_mat_f64(x, 2, 2), holes = lapis_mat_f64(nan, 2, 2);
  lapis_mat to = lapis_mat_f64(got, 2, 2);
  la_array A = la_case_new(&h, 2, 2), C = la_case_new(&h, 2, 2);
  la_array none = la_cols(&A, 0, 0);
  OK(h.ops->upload(&h, &from, &A));
  OK(h.ops->upload(&h, &holes, &C));
  OK(h.ops->gemm(&h, LA_N, LA_T, 1, &A, &A, 0, &C));
  OK(h.ops->gemm(&h, LA_N, LA_T, 1, &none, &none, 2, &C));
  OK(h.ops->download(&h, &C, &to));
  CHECK_NEAR(got[0], 20, 1e-14);
  CHECK_NEAR(got[1], 28, 1e-14);
  CHECK_NEAR(got[3], 40, 1e-14);
  LA_RELEASE(&h, &A, &C);
  (void)dlclose(library);
}

int test_opencl(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clblast_multiplies),
      cmocka_unit_test(names_are_understood),
      cmocka_unit_test(memory_of_others_is_refused),
      cmocka_unit_test(too_much_is_one_sentence),
      cmocka_unit_test(forks_are_refused),
      cmocka_unit_test(decompositions_send_squares),
      cmocka_unit_test(gram_matrices_are_sent),
      cmocka_unit_test(cholesky_goes_by_blocks),
      cmocka_unit_test(launches_do_not_grow_with_the_rank),
      LONG(cmocka_unit_test(nor_with_a_large_one)),
      cmocka_unit_test(admm_launches_few_kernels),
      LONG(cmocka_unit_test(at_a_large_rank_too)),
      cmocka_unit_test(rpca_answers_as_openblas),
      cmocka_unit_test(mc_answers_as_openblas),
      cmocka_unit_test(factored_answers_as_openblas),
      cmocka_unit_test(bordered_sends_unlabelled_samples),
      cmocka_unit_test(iterations_send_no_array),
      LONG(cmocka_unit_test(slower_iterations_send_none_either)),
  };
  setenv("POCL_MEMORY_LIMIT", "1", 1);
  ctx = lapis_ctx_new();
  int failed = run_cases(tests, NULL, NULL);
  lapis_ctx_free(ctx);
  return failed;
}
