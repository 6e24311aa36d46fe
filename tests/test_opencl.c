/* test_opencl.c - a device by the plug-in lapis-opencl: what it refuses, what
 * travels, and that its answers are openblas's.  Each pass is judged by
 * test_backend and test_l1, which CI runs by way of it (through.h), and the
 * methods by their own suites on it. */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "la_case.h"

#define OK(call) assert_int_equal((call), LAPIS_OK)
enum { D = 40, N = 300 };

static lapis_ctx *ctx;

static la on(const char *name)
{
  la h;
  OK(lapis_ctx_set(ctx, "backend", name));
  OK(la_open(ctx, &h));
  return h;
}

static void refused(const char *name, const char *words)
{
  la h;
  OK(lapis_ctx_set(ctx, "backend", name));
  assert_true(la_open(ctx, &h) < 0);
  assert_non_null(strstr(lapis_ctx_error(ctx), words));
}

static void names_are_understood(void **state)
{
  (void)state;
  la any = on("opencl"), first = on("opencl:0"), again = on("opencl");
  assert_ptr_equal(any.ops, again.ops);
  assert_memory_equal(any.ops->describe(&any), "opencl ", 7);
  assert_memory_equal(first.ops->describe(&first), "opencl ", 7);
  refused("opencl:99", "no OpenCL device 99");
  refused("opencl:x", "is not known");
  refused("opencl2", "is not known");
}

static void memory_of_others_is_refused(void **state)
{
  (void)state;
  la h = on("opencl"), other = on("strict");
  double x[4] = {0};
  la_array A = la_case_new(&h, 2, 2), B = la_wrap(x, 2, 2), C;
  C = la_case_new(&other, 2, 2);
  assert_int_equal(la_copy(&h, &A, &B), LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(ctx), "memory of the host"));
  assert_int_equal(la_copy(&h, &C, &A), LAPIS_EINVAL);
  assert_int_equal(h.ops->alloc(&h, LAPIS_F32, 2, 2, &B), LAPIS_EINVAL);
  other.ops->free(&other, &C);
  h.ops->free(&h, &A);
}

/* main gives the device 1 GB; a refusal leaves it usable. */
static void too_much_is_one_sentence(void **state)
{
  (void)state;
  la h = on("opencl");
  la_array A, B = {0};
  assert_int_equal(h.ops->alloc(&h, LAPIS_F64, 20000, 20000, &A), LAPIS_ENOMEM);
  assert_non_null(strstr(lapis_ctx_error(ctx), "no memory left for an array"));
  assert_null(strchr(lapis_ctx_error(ctx), '\n'));
  OK(h.ops->alloc(&h, LAPIS_F64, 200, 200, &B));
  OK(la_add_diagonal(&h, 2, &B));
  double square;
  OK(h.ops->dot(&h, &B, &B, &square));
  CHECK_NEAR(square, 800, 0);
  h.ops->free(&h, &B);
}

static void forks_are_refused(void **state)
{
  (void)state;
  la h = on("opencl");
  (void)h;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    la again;
    bool told = la_open(ctx, &again) == LAPIS_EINVAL &&
                strstr(lapis_ctx_error(ctx), "--jobs 1") != NULL;
    _exit(told ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* ---- methods
 * ---------------------------------------------------------------*/
typedef struct traffic {
  long launches, up, down;
} traffic;

static void listen(int level, const char *text, void *user)
{
  traffic *t = user;
  const char *at = strchr(text, ':');
  (void)level;
  if (at == NULL || strstr(text, "kernels run by opencl") == NULL) return;
  assert_int_equal(sscanf(at,
                          ": %ld kernels run by opencl, %ld bytes sent to it, "
                          "%ld bytes back",
                          &t->launches, &t->up, &t->down),
                   3);
}

/* The objective after so many iterations, or a negative number. */
static double objective_after(const char *backend, const char *method,
                              int iters, double *X, traffic *t)
{
  lapis_solver *s = NULL;
  lapis_data data = {.X = lapis_mat_f64(X, D, N)};
  lapis_rpca_settings rpca = lapis_rpca_defaults();
  lapis_mc_settings mc = lapis_mc_defaults();
  *t = (traffic){0, 0, 0};
  OK(lapis_ctx_set(ctx, "backend", backend));
  OK(lapis_ctx_set(ctx, "verbose", "1"));
  lapis_ctx_on_message(ctx, listen, t);
  rpca.stop.max_iters = mc.stop.max_iters = iters;
  rpca.stop.tol = mc.stop.tol = 0;
  mc.solver = LAPIS_MC_ADMM;
  mc.mu_rel = 0.2;
  if (strcmp(method, "rpca") == 0)
    OK(lapis_rpca_new(ctx, &data, &rpca, &s));
  else
    OK(lapis_mc_new(ctx, &data, &mc, &s));
  assert_true(lapis_solve(s) >= 0);
  double objective = lapis_result_info(s)->objective;
  assert_int_equal(lapis_result_info(s)->iterations, iters);
  lapis_solver_free(s);
  lapis_ctx_on_message(ctx, NULL, NULL);
  return objective;
}

/* Rank 3 and noise, a fifth not seen. */
static void fill_data(double *X)
{
  uint64_t seed = 5;
  double u[3 * D], v[3];
  for (int i = 0; i < 3 * D; i++) u[i] = check_normal(&seed);
  for (int j = 0; j < N; j++) {
    for (int c = 0; c < 3; c++) v[c] = check_normal(&seed);
    for (int i = 0; i < D; i++) {
      double x = 0.1 * check_normal(&seed);
      for (int c = 0; c < 3; c++) x += u[3 * i + c] * v[c];
      X[j * D + i] = check_uniform(&seed) < 0.2 ? NAN : x;
    }
  }
}

static void compare(const char *device, const char *method)
{
  static double X[D * N];
  traffic none, short_run, long_run;
  fill_data(X);
  double here = objective_after("openblas", method, 30, X, &none);
  double there = objective_after(device, method, 30, X, &short_run);
  CHECK_NEAR(here, there, 1e-10 * here);
  assert_int_equal(none.launches, 0);
  (void)objective_after(device, method, 60, X, &long_run);
  assert_true(short_run.launches > 30);
  /* what 30 iterations more send is less than one array of the data, and what
   * comes back is squares of the smaller side and sums */
  CHECK_AT_MOST((double)(long_run.up - short_run.up), 30 * D * D * 8.0);
  CHECK_AT_MOST((double)(long_run.down - short_run.down), 30 * 2 * D * D * 8.0);
}

static void rpca_answers_as_openblas_and_stays_there(void **state)
{
  (void)state;
  compare("opencl", "rpca");
}

static void mc_answers_as_openblas_and_stays_there(void **state)
{
  (void)state;
  compare("opencl", "mc");
}

/* First of all: a device keeps the product that it was opened with. */
static void clblast_multiplies(void **state)
{
  (void)state;
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clblast_multiplies),
      cmocka_unit_test(names_are_understood),
      cmocka_unit_test(memory_of_others_is_refused),
      cmocka_unit_test(too_much_is_one_sentence),
      cmocka_unit_test(forks_are_refused),
      cmocka_unit_test(rpca_answers_as_openblas_and_stays_there),
      cmocka_unit_test(mc_answers_as_openblas_and_stays_there),
  };
  setenv("POCL_MEMORY_LIMIT", "1", 1);
  ctx = lapis_ctx_new();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  lapis_ctx_free(ctx);
  return failed;
}
