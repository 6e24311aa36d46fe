/* mpi.c - one fit by the processes that mpirun starts: the same answer for
 * 1 to 4 of them, one voice, and no file of a run that ended badly. */
#include <unistd.h>

#include "mpirun.h"
#include "remarks.h"

enum { FEATURES = 8, SAMPLES = 60 };

/* X of rank 2 and noise; H with holes; y, half of it known. */
static void put_data(const command *c)
{
  static double X[FEATURES * SAMPLES], H[FEATURES * SAMPLES], y[SAMPLES];
  uint64_t seed = 5;
  double A[2 * FEATURES];
  for (int k = 0; k < 2 * FEATURES; k++) A[k] = check_normal(&seed);
  for (int j = 0; j < SAMPLES; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    for (int i = 0; i < FEATURES; i++) {
      double *x = &X[j * FEATURES + i];
      *x = a * A[2 * i] + b * A[2 * i + 1] + 0.1 * check_normal(&seed);
      H[j * FEATURES + i] = check_uniform(&seed) < 0.2 ? NAN : *x;
    }
    y[j] = j % 2 == 0 ? NAN : a > 0 ? 1 : -1;
  }
  mpirun_put(c, "X.npy", X, SAMPLES, FEATURES);
  mpirun_put(c, "H.npy", H, SAMPLES, FEATURES);
  mpirun_put(c, "y.npy", y, SAMPLES, 1);
  mpirun_put(c, "new.npy", X + FEATURES * 40, 20, FEATURES);
  for (int j = 0; j < SAMPLES; j++) y[j] = X[j * FEATURES] > 0 ? 1 : -1;
  mpirun_put(c, "z.npy", y, SAMPLES, 1);
  X[FEATURES * (SAMPLES - 1)] = INFINITY; /* in the last part alone */
  mpirun_put(c, "inf.npy", X, SAMPLES, FEATURES);
  for (int k = 0; k < FEATURES * SAMPLES; k++) X[k] = fabs(X[k]);
  X[FEATURES * (SAMPLES - 1)] = -1;
  mpirun_put(c, "neg.npy", X, SAMPLES, FEATURES);
}

/* ---- the same answer ----------------------------------------------------*/
static void check_like_one(command *c, const char *fit)
{
  char arguments[400], name[20];
  double objective = 0;
  for (int n = 1; n <= 4; n++) {
    snprintf(name, sizeof name, "%d.npz", n);
    snprintf(arguments, sizeof arguments,
             "%s --mpi --threads 1 --max-iters 20 --json -o %s", fit, name);
    if (mpirun_run(c, n, "", arguments) != 0) fail_msg("%s: %s", fit, c->err);
    double now = command_info(c->out, "objective"); /* one JSON, from one */
    if (n == 1) objective = now;
    CHECK_NEAR(now / objective, 1, 1e-10);
    CHECK_NEAR(command_info(c->out, "ranks"), n, 0);
    if (n > 1) mpirun_same(c, "1.npz", name);
  }
}

static void answers_are_those_of_one(void **state)
{
  command c;
  mpirun_begin(&c);
  put_data(&c);
  check_like_one(&c, "fit mc -X X.npy -Y y.npy --mu-rel 0.05 --tol 1e-12");
  check_like_one(&c, "fit mc -X H.npy -Y y.npy --mu-rel 0.05 --tol 1e-12");
  check_like_one(&c, "fit rpca -X H.npy --tol 1e-12");
  command_end(&c);
}

/* Text is read whole by each process, which then keeps its columns. */
static void sparse_text_is_divided(void **state)
{
  command c;
  char text[SAMPLES * FEATURES * 30], *at = text;
  uint64_t seed = 8;
  mpirun_begin(&c);
  for (int j = 0; j < SAMPLES; j++) {
    at += sprintf(at, "%d", j % 2 == 0 ? 1 : -1);
    for (int i = 0; i < FEATURES; i++)
      if (check_uniform(&seed) < 0.7)
        at += sprintf(at, " %d:%.17g", i + 1, check_normal(&seed) + j % 2);
    *at++ = '\n';
  }
  command_write(&c, "d.svm", text, (size_t)(at - text));
  check_like_one(&c, "fit mc d.svm --mu-rel 0.05 --tol 1e-12");
  check_like_one(
      &c,
      "fit mc d.svm --mu-rel 0.05 --absent missing --solver admm --tol 1e-12");
  command_end(&c);
}

/* New samples divided among processes: files and lines are those of one. */
static void check_divided_answer(command *c)
{
  static char lines[sizeof c->out];
  command_run(c, "predict 1.lapis -X new.npy --tol 1e-11");
  snprintf(lines, sizeof lines, "%s", c->out);
  static const char *const divided[] = {
      "predict 1.lapis -X new.npy --tol 1e-11 --mpi --threads 1 -o divided.npz",
      "predict 1.lapis -X new.npy --tol 1e-11 --mpi --threads 1"};
  for (int i = 0; i < 2; i++)
    if (mpirun_run(c, 3, "", divided[i]) != 0) fail_msg("%s", c->err);
  assert_string_equal(c->out, lines);
  mpirun_same(c, "one.npz", "divided.npz");
  mpirun_run(c, 2, "", "predict 1.lapis -X new.npy");
  check_says(c->err, "--mpi");
}

/* New samples are answered alike by the model of one and of three processes. */
static void check_model(command *c, const char *fit)
{
  char line[400];
  snprintf(line, sizeof line, "%s --max-iters 20 --model 1.lapis", fit);
  if (command_run(c, "%s", line) != 0) fail_msg("%s", c->err);
  snprintf(line, sizeof line,
           "%s --max-iters 20 --mpi --threads 1 --model 3.lapis", fit);
  if (mpirun_run(c, 3, "", line) != 0) fail_msg("%s: %s", line, c->err);
  if (command_run(c, "predict 1.lapis -X new.npy --tol 1e-11 -o one.npz") != 0)
    fail_msg("%s", c->err);
  if (command_run(c, "predict 3.lapis -X new.npy --tol 1e-11 -o many.npz") != 0)
    fail_msg("%s", c->err);
  mpirun_same(c, "one.npz", "many.npz");
  check_divided_answer(c);
}

static void models_are_those_of_one(void **state)
{
  command c;
  mpirun_begin(&c);
  put_data(&c);
  check_model(&c, "fit mc -X H.npy -Y y.npy --mu-rel 0.05");
  check_model(&c, "fit rlda -X X.npy -Y z.npy --gamma 1 --map standard");
  command_end(&c);
}

/* ---- refusals -----------------------------------------------------------*/
static void expect(command *c, int code, const char *words)
{
  if (c->code != code || !check_has(c->err, words))
    fail_msg("exit %d, '%s'; %d and '%s' wanted", c->code, c->err, code, words);
  assert_false(command_exists(c, "r.npz"));
}

static void several_without_mpi_are_refused(void **state)
{
  command c;
  mpirun_begin(&c);
  put_data(&c);
  mpirun_run(&c, 2, "", "fit mc -X X.npy -Y y.npy --mu-rel 1 -o r.npz");
  expect(&c, 2, "--mpi divides the samples");
  mpirun_run(&c, 2, "", "cv mc -X X.npy -Y y.npy --mu-rel 1");
  expect(&c, 2, "this verb runs in one");
  mpirun_run(&c, 2, "", "fit rr -X X.npy -Y y.npy --mpi --suspects 3");
  expect(&c, 2, "--suspects is not divided");
  mpirun_run(&c, 2, "", "fit mc -X X.npy -Y y.npy --mpi");
  expect(&c, 2, "give --mu or --mu-rel");
  mpirun_run(&c, 2, "", "fit mc -X X.npy --mpi --mu-rel 1 -o r.csv");
  expect(&c, 2, "several write F.npz, or parts to DIR/");
  mpirun_run(&c, 2, "", "fit roml -X X.npy --mpi");
  expect(&c, 2,
         "roml: this method needs all samples in one process, and there are 2; "
         "run it in one, without mpirun (methods that divide their samples: "
         "mc, rr, rlda, rpca, clean, svmplus)");
  command_end(&c);
}

static void one_voice_for_an_error_in_one_part(void **state)
{
  command c;
  mpirun_begin(&c);
  put_data(&c);
  mpirun_run(&c, 3, "", "fit rpca -X inf.npy --mpi -o r.npz");
  expect(&c, 4, "(process 3 of 3)");
  assert_ptr_equal(strstr(c.err, "lapis: "), c.err); /* said once */
  assert_null(strstr(c.err + 1, "lapis: "));
  mpirun_run(&c, 3, "", "fit rpca -X neg.npy --map sqrt --mpi -o r.npz");
  expect(&c, 4, "sqrt takes 0 or more (process 3 of 3)");
  mpirun_run(&c, 3, "", "fit rpca -X none.npy --mpi -o r.npz");
  expect(&c, 4, "none.npy: cannot be opened");
  assert_null(strstr(c.err + 1, "lapis: "));
  command_end(&c);
}

/* Half of the iterations by `before`, the rest by `after` processes. */
static void check_goes_on(command *c, const char *fit, int before, int after)
{
  char line[400];
  snprintf(line, sizeof line,
           "%s --mpi --threads 1 --max-iters 20 --json -o 1.npz", fit);
  if (mpirun_run(c, 1, "", line) != 0) fail_msg("%s: %s", fit, c->err);
  double objective = command_info(c->out, "objective");
  snprintf(line, sizeof line,
           "%s --mpi --threads 1 --max-iters 10 --checkpoint run -o half.npz",
           fit);
  if (mpirun_run(c, before, "", line) != 0) fail_msg("%s: %s", fit, c->err);
  assert_true(command_exists(c, "run"));
  snprintf(line, sizeof line,
           "%s --mpi --threads 1 --max-iters 20 --checkpoint run --json -v "
           "-o many.npz",
           fit);
  if (mpirun_run(c, after, "", line) != 0) fail_msg("%s: %s", fit, c->err);
  check_says(c->err, "10");
  CHECK_NEAR(command_info(c->out, "objective") / objective, 1, 1e-10);
  mpirun_same(c, "1.npz", "many.npz");
  snprintf(line, sizeof line, "%s/run", c->folder);
  assert_int_equal(remove(line), 0); /* not at the tolerance: it stayed */
}

static void another_number_of_processes_goes_on(void **state)
{
  command c;
  mpirun_begin(&c);
  put_data(&c);
  check_goes_on(&c, "fit mc -X H.npy -Y y.npy --mu-rel 0.05 --tol 1e-12", 4, 2);
  check_goes_on(&c, "fit rpca -X H.npy --tol 1e-12", 1, 3);
  mpirun_run(&c, 2, "",
             "fit rpca -X H.npy --mpi --max-iters 3 --checkpoint run");
  mpirun_run(&c, 2, "", "fit rpca -X X.npy --mpi --checkpoint run -o r.npz");
  expect(&c, 4, "is of another run: the data's X was 8 x 60");
  command_end(&c);
}

/* The shell of rank 1 becomes lapis, and its number is killed once there is a
 * checkpoint; noise so large that the solve takes long. */
static void a_process_that_dies_ends_all(void **state)
{
  enum { ROWS = 1000, COLUMNS = 300 };
  static const char script[] =
      "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then\n"
      "  (while [ ! -s run ]; do sleep .1; done; kill -9 $$) &\n"
      "fi\n"
      "exec \"$@\"\n";
  command c;
  uint64_t seed = 3;
  double *X = calloc(ROWS * COLUMNS, sizeof *X);
  mpirun_begin(&c);
  for (int k = 0; k < ROWS * COLUMNS; k++) X[k] = check_normal(&seed);
  mpirun_put(&c, "noise.npy", X, ROWS, COLUMNS);
  free(X);
  command_write(&c, "one", script, sizeof script - 1);
  mpirun_run(&c, 2, "sh one",
             "fit rpca -X noise.npy --mpi --tol 1e-300 --max-iters 1000000000 "
             "--time-limit 300 --checkpoint run -o r.npz");
  assert_int_not_equal(c.code, 0);
  assert_false(command_exists(&c, "r.npz"));
  mpirun_run(
      &c, 3, "",
      "fit rpca -X noise.npy --mpi --tol 1e-300 --max-iters 1 --checkpoint run "
      "-v");
  assert_int_equal(c.code, 0);
  assert_non_null(strstr(c.err, RESUMED));
  command_end(&c);
}

/* What MPICH starts is joined by its own plug-in. */
static void mpich_serves_as_well(void **state)
{
  command c;
  char line[MPIRUN_WORDS], plugin[600];
  mpirun_begin(&c);
  snprintf(plugin, sizeof plugin, "%s/lapis-mpi-mpich.so",
           getenv("LAPIS_PLUGINS"));
  if (!mpirun_have("mpirun.mpich") || access(plugin, R_OK) != 0) {
    command_end(&c);
    print_message("skipped: no mpirun.mpich, or the plug-in is not built\n");
    skip();
  }
  put_data(&c);
  mpirun_run(
      &c, 1, "",
      "fit rpca -X H.npy --tol 1e-12 --max-iters 20 --mpi --threads 1 -o "
      "1.npz");
  assert_int_equal(c.code, 0);
  snprintf(line, sizeof line,
           "cd %s && mpirun.mpich -n 3 %s fit rpca -X H.npy --tol 1e-12 "
           "--max-iters 20 --mpi --threads 1 --json -o 3.npz >.stdout "
           "2>.stderr </dev/null",
           c.folder, getenv("LAPIS_COMMAND"));
  int status = system(line);
  command_slurp(&c, ".stdout", c.out, sizeof c.out);
  command_slurp(&c, ".stderr", c.err, sizeof c.err);
  if (status != 0) fail_msg("%s", c.err);
  CHECK_NEAR(command_info(c.out, "ranks"), 3, 0);
  mpirun_same(&c, "1.npz", "3.npz");
  command_end(&c);
}

static void the_command_does_not_link_mpi(void **state)
{
  command c;
  char line[MPIRUN_WORDS];
  mpirun_begin(&c);
  snprintf(line, sizeof line, "ldd %s | grep -q libmpi",
           getenv("LAPIS_COMMAND"));
  assert_int_not_equal(system(line), 0);
  command_end(&c);
}

int test_mpi(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_are_those_of_one),
      cmocka_unit_test(sparse_text_is_divided),
      LONG(cmocka_unit_test(models_are_those_of_one)),
      cmocka_unit_test(several_without_mpi_are_refused),
      cmocka_unit_test(one_voice_for_an_error_in_one_part),
      LONG(cmocka_unit_test(another_number_of_processes_goes_on)),
      cmocka_unit_test(a_process_that_dies_ends_all),
      LONG(cmocka_unit_test(mpich_serves_as_well)),
      cmocka_unit_test(the_command_does_not_link_mpi),
  };
  return run_cases(tests, NULL, NULL);
}
