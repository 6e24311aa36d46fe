/* cuda.c - the plug-in lapis-cuda before a stand-in for CUDA's libraries
 * (tests/cuda/stand_in.c): what it loads, in which order it calls, that its
 * answers are openblas's, and one sentence for whatever fails.  Methods and
 * passes run on it as on opencl (tests/CMakeLists.txt). */
#include <dlfcn.h>

#include "command.h"

static const char fit[] =
    "fit rpca x.npy --lambda .2 --max-iters 40 -q --threads 1";

typedef struct machine {
  command c;
  char libraries[512];
} machine;

/* X of 90 x 70, so that eigenvalues are cuSOLVER's. */
static void begin(machine *m)
{
  const char *folder = getenv("LAPIS_TEST_CUDA");
  assert_non_null(folder);
  snprintf(m->libraries, sizeof m->libraries, "%s", folder);
  command_begin(&m->c);
  uint64_t seed = 3;
  static double x[70 * 90];
  double u[70], v[90];
  for (int i = 0; i < 70; i++) u[i] = check_normal(&seed);
  for (int j = 0; j < 90; j++) v[j] = check_normal(&seed);
  for (int j = 0; j < 90; j++)
    for (int i = 0; i < 70; i++)
      x[j * 70 + i] = u[i] * v[j] + (check_uniform(&seed) < .1 ? 3 : 0);
  lapis_ctx *ctx = lapis_ctx_new();
  char path[160];
  snprintf(path, sizeof path, "%s/x.npy", m->c.folder);
  lapis_named one = {.name = "X", .mat = lapis_mat_f64(x, 70, 90)};
  assert_int_equal(lapis_arrays_write(ctx, path, "npy", &one, 1), LAPIS_OK);
  lapis_ctx_free(ctx);
}

/* The command there, with variables before it. */
static int run(machine *m, const char *variables, const char *arguments)
{
  char line[2048];
  const char *lapis = getenv("LAPIS_COMMAND");
  snprintf(
      line, sizeof line,
      "cd %s && XDG_CACHE_HOME=$PWD/cache LAPIS_CUDA_LIBRARIES=%s %s %s %s "
      ">.stdout 2>.stderr </dev/null",
      m->c.folder, m->libraries, variables, lapis, arguments);
  int status = system(line);
  m->c.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(&m->c, ".stdout", m->c.out, sizeof m->c.out);
  command_slurp(&m->c, ".stderr", m->c.err, sizeof m->c.err);
  return m->c.code;
}

/* One sentence, which has these words; openblas is as good as
 * before. */
static void refuses(machine *m, const char *variables, const char *words)
{
  char line[256];
  snprintf(line, sizeof line, "%s --backend cuda -o o.npz", fit);
  assert_int_equal(run(m, variables, line), 1);
  check_says(m->c.err, words);
  char *end = strchr(m->c.err, '\n');
  assert_true(end != NULL && end[1] == '\0');
  snprintf(line, sizeof line, "%s -o o.npz", fit);
  assert_int_equal(run(m, variables, line), 0);
}

static void numbers_of(machine *m, const char *name, double *out)
{
  char path[160];
  lapis_arrays all;
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/%s", m->c.folder, name);
  assert_int_equal(lapis_arrays_read(ctx, path, &all), LAPIS_OK);
  const lapis_mat *L = NULL;
  for (int k = 0; k < all.count; k++)
    if (strcmp(all.item[k].name, "low_rank") == 0) L = &all.item[k].mat;
  assert_non_null(L);
  for (int j = 0; j < 90; j++)
    for (int i = 0; i < 70; i++) out[j * 70 + i] = lapis_mat_at(L, i, j);
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
}

static bool has_line(machine *m, const char *word)
{
  static char log[1 << 20];
  command_slurp(&m->c, "log", log, sizeof log);
  return strstr(log, word) != NULL;
}

static void forget_log(machine *m)
{
  char path[160];
  snprintf(path, sizeof path, "%s/log", m->c.folder);
  (void)unlink(path);
}

/* What was kept is no kernel any more. */
static void spoil(const machine *m)
{
  char line[256];
  snprintf(line, sizeof line,
           "for f in %s/cache/lapis/*.cubin; do "
           "[ -s $f ] && echo x >$f || exit 1; done",
           m->c.folder);
  assert_int_equal(system(line), 0);
}

/* Kernels are compiled once, and again where what was kept is of no use. */
static void answers_as_openblas(void **state)
{
  static double here[70 * 90], there[70 * 90];
  machine m;
  char line[256];
  const char *log = "CUDA_STAND_IN_LOG=log";
  begin(&m);
  snprintf(line, sizeof line, "%s -o here.npz", fit);
  assert_int_equal(run(&m, "", line), 0);
  snprintf(line, sizeof line, "%s --backend cuda:0 -o there.npz", fit);
  assert_int_equal(run(&m, log, line), 0);
  numbers_of(&m, "here.npz", here);
  numbers_of(&m, "there.npz", there);
  for (int i = 0; i < 70 * 90; i++) CHECK_NEAR(there[i], here[i], 1e-8);
  assert_true(has_line(&m, "nvrtcCompileProgram"));
  assert_true(has_line(&m, "cublasDgemm_v2_64"));
  assert_true(has_line(&m, "cusolverDnDsyevd"));
  forget_log(&m);
  assert_int_equal(run(&m, log, line), 0);
  assert_false(has_line(&m, "nvrtcCompileProgram"));
  spoil(&m);
  assert_int_equal(run(&m, log, line), 0);
  assert_true(has_line(&m, "nvrtcCompileProgram"));
  command_end(&m.c);
}

/* What others can write to is neither read nor written. */
static void a_cache_of_others_is_left_alone(void **state)
{
  machine m;
  char line[256];
  begin(&m);
  snprintf(line, sizeof line, "%s --backend cuda -o there.npz", fit);
  char shell[256];
  snprintf(shell, sizeof shell,
           "cd %s && mkdir -p cache/lapis && chmod 777 cache/lapis",
           m.c.folder);
  assert_int_equal(system(shell), 0);
  assert_int_equal(run(&m, "", line), 0);
  snprintf(shell, sizeof shell, "rmdir %s/cache/lapis", m.c.folder);
  assert_int_equal(system(shell), 0); /* it is empty */
  command_end(&m.c);
}

static void it_is_listed(void **state)
{
  machine m;
  begin(&m);
  assert_int_equal(run(&m, "", "info"), 0);
  check_says(m.c.out, "cuda:0    Stand-in, CUDA 9.0, 1.1 GB");
  command_end(&m.c);
}

static void every_failure_is_one_sentence(void **state)
{
  static const char *const ways[][2] = {
      {"CUDA_STAND_IN=cuInit=803", "driver does not start (CUDA says 803)"},
      {"CUDA_STAND_IN=none", "no device of NVIDIA"},
      {"CUDA_STAND_IN=cuDevicePrimaryCtxRetain=46", "cannot be used"},
      {"CUDA_STAND_IN=nvrtcCompileProgram=6",
       "does not compile the kernels (it says 6: kernels(7)"},
      {"CUDA_STAND_IN=cuModuleLoadData=209", "does not take the kernels"},
      {"CUDA_STAND_IN=cublasCreate_v2=1", "does not start"},
      {"CUDA_STAND_IN=cusolverDnCreate=1", "does not start"},
      {"CUDA_STAND_IN=cuMemAlloc_v2=2", "memory"},
      {"CUDA_STAND_IN=cuMemAlloc_v2@9=2", "memory"},
      {"CUDA_STAND_IN=cuLaunchKernel@20=719", "CUDA says 719"},
      {"CUDA_STAND_IN=cublasDgemm_v2_64@3=13", "failed at a product"},
      {"CUDA_STAND_IN=cusolverDnDsyevd@2=7", "failed at eigenvalues"},
      {"CUDA_STAND_IN=cuMemcpyDtoH_v2@3=719", "failed at a transfer"}};
  machine m;
  begin(&m);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    refuses(&m, ways[i][0], ways[i][1]);
  assert_int_equal(run(&m, "", "fit rpca x.npy --backend cuda:7 -q"), 1);
  check_says(m.c.err, "no CUDA device 7");
  assert_int_equal(run(&m, "", "fit rpca x.npy --backend opencl:99 -q"), 1);
  check_says(m.c.err, "no OpenCL device 99");
  assert_int_equal(run(&m, "", "fit rpca x.npy --backend cuda:x -q"), 2);
  command_end(&m.c);
}

/* A folder without one of the libraries.  Where CUDA's own is elsewhere, as
 * NVRTC may be without a driver, it is taken: it compiles the kernels, and the
 * stand-in has no use for what it makes of them. */
static void what_is_absent_is_named(void **state)
{
  static const char *const files[][2] = {
      {"libcuda.so.1", "NVIDIA's driver is not here"},
      {"libnvrtc.so.13", "NVRTC is not here"},
      {"libcublas.so.13", "cuBLAS is not here"},
      {"libcusolver.so.12", "cuSOLVER is not here"}};
  machine m;
  char line[4096], all[512];
  begin(&m);
  snprintf(all, sizeof all, "%s", m.libraries);
  snprintf(m.libraries, sizeof m.libraries, "%s/some", m.c.folder);
  for (int i = 0; i < 4; i++) {
    bool elsewhere = dlopen(files[i][0], RTLD_LAZY) != NULL;
    if (elsewhere && i != 1) continue;
    snprintf(line, sizeof line,
             "rm -rf %s && mkdir %s && cp -L %s/* %s && rm %s/%s", m.libraries,
             m.libraries, all, m.libraries, m.libraries, files[i][0]);
    assert_int_equal(system(line), 0);
    refuses(&m, "",
            elsewhere ? "does not take the kernels (CUDA says 200)"
                      : files[i][1]);
  }
  command_end(&m.c);
}

int test_cuda(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_as_openblas),
      cmocka_unit_test(a_cache_of_others_is_left_alone),
      cmocka_unit_test(it_is_listed),
      cmocka_unit_test(every_failure_is_one_sentence),
      cmocka_unit_test(what_is_absent_is_named),
  };
  return run_cases(tests, NULL, NULL);
}
